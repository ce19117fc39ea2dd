package api

import (
	"context"
	"fmt"
	"net/http"

	"riverrun/timelines/admin"
	"riverrun/timelines/moderation"
	"riverrun/timelines/tokens"
)

type (
	newOpinion struct {
		Body struct {
			Post     string `json:"post" doc:"the post's code"`
			Origin   string `json:"origin" pattern:"^[a-z0-9._-]{1,50}$" doc:"your program's own name"`
			ID       string `json:"opinion_id" minLength:"1" maxLength:"200" doc:"your own id: one that you send again changes nothing"`
			No       int64  `json:"no" minimum:"1" doc:"your own number: of your opinions on a post, the one with the greatest number counts, in whatever order they come"`
			Decision string `json:"decision" enum:"block,allow,note" doc:"block: only its author sees the post; allow: you do not block it any more; note: for the moderators alone"`
			Reason   string `json:"reason,omitempty" doc:"of a block, for the author; a block and a note have one"`
		}
	}
	givenOpinion struct {
		Body struct {
			Counts  bool `json:"counts" doc:"it is the one of your opinions that counts, or a note"`
			Blocked bool `json:"blocked" doc:"the post is blocked now, by you or by others"`
		}
	}
)

func (a *API) registerModeration() {
	op := operation(tokens.Moderation, http.MethodPost, "/api/moderation/opinions", "give-opinion", "Say whether a post is to be blocked")
	op.Errors = append(op.Errors, http.StatusNotFound, http.StatusUnprocessableEntity)
	op.Description = fmt.Sprintf("For programs of moderators. A post is blocked while one program says so, or the moderators do (their origin is %q). "+
		"When a moderator allows a post, what programs said before does not count any more. A moderator's programs have no say in the moderator's own posts, and only an administrator's programs in those of the staff.", moderation.Staff)
	register(a, op, func(ctx context.Context, in *newOpinion) (*givenOpinion, error) {
		o := moderation.Opinion{
			Origin: in.Body.Origin, ID: in.Body.ID, No: in.Body.No, Decision: moderation.Decision(in.Body.Decision), Reason: in.Body.Reason,
		}
		c, given, err := a.cfg.Opinions.Give(ctx, admin.By{AccountID: callerOf(ctx).Viewer.AccountID}, in.Body.Post, o)
		_, err = a.carry(ctx)(c, err)
		if err != nil {
			return nil, err
		}
		var out givenOpinion
		out.Body.Counts, out.Body.Blocked = given.Counts, given.Blocked
		return &out, nil
	})
}
