package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"riverrun/rivers/lines"
	"riverrun/timelines/tokens"
)

const (
	changesPath = "/api/changes"
	// maxChanges is how many rows of the log one answer covers.
	maxChanges = 500
	// maxWait is how long an answer may wait for the first change.
	maxWait = 30 * time.Second
)

type (
	// Line is a line of the log, as the owner of the token may see it when it is read.
	Line = lines.Line
	// Post is a post as the token's owner may see it.
	Post = lines.Post

	changesAfter struct {
		After int64 `query:"after" minimum:"0" doc:"seq of the last line that was read; without it, the log is read from where it begins"`
		Limit int   `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"how many changes to look through"`
		Wait  int   `query:"wait" minimum:"0" maximum:"30" doc:"how many seconds to wait if there is none yet; 20 calls of an account may wait at a time"`
	}
)

func (a *API) registerChanges() {
	op := operation(tokens.Changes, http.MethodGet, changesPath, "read-changes", "Follow what happens to posts")
	op.Description = "One JSON object a line (application/x-ndjson). The last line of an answer has the kind end. A change that the owner may know nothing of has no line. Two changes of a post that nobody read yet both come with its present state. The log is kept for some days; 410 says where it begins."
	op.Errors = append(op.Errors, http.StatusGone)
	op.Responses = map[string]*huma.Response{"200": {
		Description: "lines", Content: map[string]*huma.MediaType{"application/x-ndjson": {Schema: a.huma.OpenAPI().Components.Schemas.Schema(typeOf[Line](), true, "")}},
	}}
	register(a, op, func(ctx context.Context, in *changesAfter) (*huma.StreamResponse, error) {
		found, err := a.lines(ctx, in)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(out huma.Context) {
			out.SetHeader("Content-Type", "application/x-ndjson")
			out.SetHeader("Cache-Control", "no-store")
			enc := json.NewEncoder(out.BodyWriter())
			for i := range found {
				if err := enc.Encode(&found[i]); err != nil {
					return // the caller is gone
				}
			}
		}}, nil
	})
}

// lines reads the log after a number, and waits for it if the caller wants that.
func (a *API) lines(ctx context.Context, in *changesAfter) ([]Line, error) {
	after := in.After
	if after == 0 {
		bounded, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
		b, err := a.cfg.Changes.Bounds(bounded)
		cancel()
		if err != nil {
			return nil, err
		}
		after = b.First
	}
	caller := callerOf(ctx)
	if in.Wait > 0 {
		if err := a.follows.wait(ctx, caller.Viewer.AccountID, after, min(time.Duration(in.Wait)*time.Second, maxWait)); err != nil {
			return nil, err
		}
	}
	bounded, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	found, upTo, err := a.log.Read(bounded, lines.Reader{Viewer: caller.Viewer, WholeSite: caller.WholeSite}, after, min(in.Limit, maxChanges))
	return append(found, lines.End(upTo)), err
}
