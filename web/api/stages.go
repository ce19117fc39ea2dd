package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"riverrun/rivers"
	"riverrun/timelines/stages"
	"riverrun/timelines/tokens"
)

type (
	byStage struct {
		Code  string `path:"code" doc:"the post's code"`
		Stage string `path:"stage" pattern:"^[a-z0-9-]{1,40}$" doc:"your own name of the stage"`
	}
	newState struct {
		Code        string `path:"code" doc:"the post's code"`
		Stage       string `path:"stage" pattern:"^[a-z0-9-]{1,40}$" doc:"your own name of the stage"`
		IfMatch     string `header:"If-Match" pattern:"^(W/)?\"[0-9]{1,18}\"$" doc:"the ETag of the state that this one replaces"`
		IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"* for the first state"`
		Body        struct {
			Payload json.RawMessage `json:"payload" doc:"any JSON, at most 64 kB; the site does not read it"`
		}
	}
	oldState struct {
		Code    string `path:"code" doc:"the post's code"`
		Stage   string `path:"stage" pattern:"^[a-z0-9-]{1,40}$" doc:"your own name of the stage"`
		IfMatch string `header:"If-Match" pattern:"^(W/)?\"[0-9]{1,18}\"$" doc:"the ETag of the state; without it, any"`
	}
	// State is what programs keep beside a post.
	State struct {
		Stage   string          `json:"stage"`
		Version int64           `json:"version" doc:"another one with each write; the ETag is the same in quotes"`
		Payload json.RawMessage `json:"payload" doc:"as it was sent"`
		Changed time.Time       `json:"changed"`
	}
	oneState struct {
		ETag string `header:"ETag" doc:"the version, for If-Match"`
		Body State
	}
	writtenState struct {
		ETag string `header:"ETag" doc:"the new version, for If-Match"`
	}
)

func (a *API) registerStages() {
	const path = "/api/posts/{code}/stages/{stage}"
	get := operation(tokens.Stages, http.MethodGet, path, "get-state", "Read what a stage keeps beside a post")
	get.Description = "A stage is a step of some processing outside the site, which reads /api/changes. Programs of the token's owner alone see what it keeps, and it goes when the post is deleted."
	register(a, get, func(ctx context.Context, in *byStage) (*oneState, error) {
		var out oneState
		err := a.atPost(ctx, in.Code, func(it rivers.Item) error {
			s, err := a.cfg.Stages.Get(ctx, keyOf(ctx, it, in.Stage))
			out = oneState{tagOf(s.Version), State{in.Stage, s.Version, json.RawMessage(s.Payload), s.ChangedAt.UTC()}}
			return err
		})
		if err != nil {
			return nil, err
		}
		return &out, nil
	})

	put := quiet(operation(tokens.Stages, http.MethodPut, path, "put-state", "Keep something beside a post, if nobody else did meanwhile"))
	put.Description = fmt.Sprintf("Send If-Match with the ETag that you read, or If-None-Match: * if there was no state. If another program was faster, 412 has the present version. A post has at most %d stages.", stages.Most)
	put.Errors = append(put.Errors, http.StatusPreconditionFailed, http.StatusPreconditionRequired)
	register(a, put, func(ctx context.Context, in *newState) (*writtenState, error) {
		if (in.IfMatch == "") == (in.IfNoneMatch == "") {
			return nil, &Problem{Status: http.StatusPreconditionRequired, Code: "condition_missing", Detail: "Send either If-Match with the ETag that you read, or If-None-Match: *."}
		}
		replaces, err := versionOf(in.IfMatch)
		if err != nil {
			return nil, err
		}
		caller := callerOf(ctx)
		if !caller.WholeSite { // which has as much to keep as all others write
			if err := a.cfg.MayWrite(ctx, caller.Viewer); err != nil {
				return nil, err
			}
		}
		key, err := a.stageOf(ctx, in.Code, in.Stage)
		if err != nil {
			return nil, err
		}
		version, err := a.cfg.Stages.Put(ctx, caller.Viewer.Session, key, replaces, in.Body.Payload)
		if err != nil {
			return nil, err
		}
		return &writtenState{tagOf(version)}, nil
	})

	del := quiet(operation(tokens.Stages, http.MethodDelete, path, "delete-state", "Keep it no longer"))
	del.Errors = append(del.Errors, http.StatusPreconditionFailed)
	register(a, del, func(ctx context.Context, in *oldState) (*done, error) {
		replaces, err := versionOf(in.IfMatch)
		if err != nil {
			return nil, err
		}
		key, err := a.stageOf(ctx, in.Code, in.Stage)
		if err != nil {
			return nil, err
		}
		return nil, a.cfg.Stages.Delete(ctx, key, replaces)
	})
}

func keyOf(ctx context.Context, it rivers.Item, stage string) stages.Key {
	return stages.Key{AccountID: callerOf(ctx).Viewer.AccountID, PostID: it.PostID, Stage: stage}
}

// stageOf is the key of a stage at a post that the caller may read.
func (a *API) stageOf(ctx context.Context, code, stage string) (key stages.Key, err error) {
	err = a.atPost(ctx, code, func(it rivers.Item) error {
		key = keyOf(ctx, it, stage)
		return nil
	})
	return key, err
}

func tagOf(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// versionOf reads a tag; 0 if there is none. No state has the version 0, so a tag that says so is that of another one.
func versionOf(tag string) (int64, error) {
	if tag == "" {
		return 0, nil
	}
	version, err := strconv.ParseInt(strings.Trim(strings.TrimPrefix(tag, "W/"), `"`), 10, 64)
	if err != nil || version == 0 {
		return 0, &Problem{
			Status: http.StatusUnprocessableEntity, Code: "call_invalid", Detail: "If-Match is no ETag of a state.",
			Errors: []Detail{{"If-Match", "call_invalid", "want an ETag of a state"}},
		}
	}
	return version, nil
}
