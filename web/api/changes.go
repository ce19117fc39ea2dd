package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"riverrun/rivers"
	"riverrun/timelines/changes"
	"riverrun/timelines/kinds"
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
	changesAfter struct {
		After int64 `query:"after" minimum:"0" doc:"seq of the last line that was read; without it, the log is read from where it begins"`
		Limit int   `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"how many changes to look through"`
		Wait  int   `query:"wait" minimum:"0" maximum:"30" doc:"how many seconds to wait if there is none yet"`
	}
	// Line is a line of the log, as the owner of the token may see it when it is read.
	Line struct {
		Seq  string `json:"seq" doc:"where to go on: after of the next call"`
		ID   string `json:"id,omitempty" doc:"names the change, also if it comes twice"`
		Kind string `json:"kind" enum:"post,gone,access,end" doc:"post: it was made or changed, and this is how it is now; gone: it was deleted, or the owner may not read it any more; access: what the owner may read changed, so ask again for what you keep, of the account that is named, or of all; end: nothing more up to seq"`
		Code string `json:"code,omitempty" doc:"the post's, of post and gone"`
		Of   string `json:"of,omitempty" doc:"the account, of access"`
		Post *Post  `json:"post,omitempty"`
		// At is when the change was made.
		At *time.Time `json:"at,omitempty"`
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
		lines, err := a.lines(ctx, in)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(out huma.Context) {
			out.SetHeader("Content-Type", "application/x-ndjson")
			out.SetHeader("Cache-Control", "no-store")
			enc := json.NewEncoder(out.BodyWriter())
			for i := range lines {
				if err := enc.Encode(&lines[i]); err != nil {
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
		b, err := a.cfg.Changes.Bounds(ctx)
		if err != nil {
			return nil, err
		}
		after = b.First
	}
	if in.Wait > 0 {
		if err := a.follows.wait(ctx, after, min(time.Duration(in.Wait)*time.Second, maxWait)); err != nil {
			return nil, err
		}
	}
	rows, err := a.cfg.Changes.Read(ctx, after, min(in.Limit, maxChanges))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return []Line{{Seq: number(after), Kind: "end"}}, nil
	}
	var lines []Line
	err = a.cfg.Rivers.AtOneMoment(ctx, func() (at rivers.Moment, err error) {
		lines, at, err = a.decide(ctx, rows)
		return at, err
	})
	return append(lines, Line{Seq: number(rows[len(rows)-1].Seq), Kind: "end"}), err
}

// decide makes lines of rows. It is the same as with pages: what the owner may not know has no line.
func (a *API) decide(ctx context.Context, rows []changes.Change) ([]Line, rivers.Moment, error) {
	caller := callerOf(ctx)
	var asked []rivers.AskedPost
	var levels []int64
	last := map[int64]int64{} // the last row of each post
	for _, c := range rows {
		switch c.Kind {
		case changes.Post:
			asked = append(asked, rivers.AskedPost{PostID: c.PostID, Places: c.Places})
			last[c.PostID] = c.Seq
		case changes.Level:
			levels = append(levels, c.TimelineID)
		}
	}
	now, err := a.cfg.Rivers.Posts(ctx, caller.Viewer, caller.WholeSite, asked)
	if err != nil {
		return nil, rivers.Moment{}, err
	}
	items := make([]rivers.Item, 0, len(now.Items))
	for _, it := range now.Items {
		items = append(items, it)
	}
	rendered, err := a.render(ctx, items)
	if err != nil {
		return nil, rivers.Moment{}, err
	}
	posts := make(map[int64]*Post, len(items))
	for i, it := range items {
		posts[it.PostID] = &rendered[i]
	}
	gates, err := a.cfg.Rivers.Access().Levels(ctx, levels)
	if err != nil {
		return nil, rivers.Moment{}, err
	}
	var owners []int64
	for t := range gates.Timelines() {
		owners = append(owners, t.TheirID)
	}
	named, err := a.cfg.Rivers.Access().Accounts(ctx, owners)
	if err != nil {
		return nil, rivers.Moment{}, err
	}
	var lines []Line
	for _, c := range rows {
		line := Line{Seq: number(c.Seq), ID: number(int64(c.Shard)) + ":" + number(c.ID), At: &c.MadeAt}
		switch c.Kind {
		case changes.Post:
			if p := posts[c.PostID]; p != nil {
				line.Kind, line.Code, line.Post = "post", p.Code, p
			} else if code, gone := now.Gone[c.PostID]; gone {
				line.Kind, line.Code = "gone", code
			} else {
				continue
			}
			if last[c.PostID] != c.Seq {
				continue // a later line of this answer says the same
			}
		case changes.Level:
			t, ok := gates.Timeline(c.TimelineID)
			if !ok || gates.Opens(now.Sets, t.ID) {
				continue
			}
			line.Kind = "access"
			if t.Kind != kinds.Subfeed { // whose names not everybody knows
				line.Of = named[t.TheirID].Name
			}
		case changes.Viewer:
			if c.AccountID != caller.Viewer.AccountID {
				continue
			}
			line.Kind = "access"
		case changes.Unseen:
			line.Kind = "access"
		}
		lines = append(lines, line)
	}
	return lines, now.At, nil
}
