package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/tokens"
)

type (
	byCode struct {
		Code string `path:"code" doc:"the post's code"`
	}
	byName struct {
		Name string `path:"name" doc:"the account's name"`
	}
	byComment struct {
		Code string `path:"code" doc:"the post's code"`
		ID   int64  `path:"id" doc:"the comment's id"`
	}
	newPost struct {
		Key  string `header:"Idempotency-Key" doc:"your own word for this call; a call that is repeated with it makes nothing a second time"`
		Body struct {
			Text     string   `json:"text" doc:"at most 100,000 characters"`
			To       []string `json:"to,omitempty" doc:"as in Post.to; without it, the owner's own feed"`
			Language string   `json:"language,omitempty" doc:"two letters; without it, guessed"`
			Plain    bool     `json:"plain,omitempty" doc:"the text has no markup"`
		}
	}
	changedPost struct {
		Code string `path:"code" doc:"the post's code"`
		Body struct {
			Text     *string  `json:"text,omitempty"`
			To       []string `json:"to,omitempty" doc:"all places from now on"`
			Language *string  `json:"language,omitempty"`
		}
	}
	newComment struct {
		Code string `path:"code" doc:"the post's code"`
		Key  string `header:"Idempotency-Key" doc:"as of a post"`
		Body struct {
			Text  string `json:"text" doc:"at most 20,000 characters"`
			Plain bool   `json:"plain,omitempty"`
		}
	}
	changedComment struct {
		Code string `path:"code" doc:"the post's code"`
		ID   int64  `path:"id" doc:"the comment's id"`
		Body struct {
			Text string `json:"text"`
		}
	}
	onePost struct {
		Body Post
	}
	madePost struct {
		Location string `header:"Location"`
		Body     Post
	}
	// done is the answer where there is nothing to say.
	done struct{}
)

func (a *API) registerPosts() {
	register(a, operation(tokens.Read, http.MethodGet, "/api/posts/{code}", "get-post", "Read a post with all its comments"),
		func(ctx context.Context, in *byCode) (*onePost, error) { return a.answer(ctx, in.Code) })
	register(a, made(operation(tokens.Write, http.MethodPost, "/api/posts", "create-post", "Write a post")),
		func(ctx context.Context, in *newPost) (*madePost, error) {
			actor, err := a.mayWrite(ctx)
			if err != nil {
				return nil, err
			}
			c, err := a.carry(ctx)(a.cfg.Timelines.Posts.Create(ctx, timelines.NewPost{
				Author: actor, Body: in.Body.Text, To: in.Body.To, Language: in.Body.Language, Plain: in.Body.Plain, Key: in.Key,
			}))
			return a.answerMade(ctx, c, err)
		})
	register(a, operation(tokens.Write, http.MethodPatch, "/api/posts/{code}", "change-post", "Change a post of your own, or where it stands"),
		func(ctx context.Context, in *changedPost) (*onePost, error) {
			actor, err := a.mayWrite(ctx)
			if err != nil {
				return nil, err
			}
			change := timelines.Revision{Body: in.Body.Text, To: in.Body.To, Language: in.Body.Language}
			_, err = a.carry(ctx)(a.cfg.Timelines.Posts.Revise(ctx, actor, in.Code, change))
			if err != nil {
				return nil, err
			}
			return a.answer(ctx, in.Code)
		})
	posts, comments := a.cfg.Timelines.Posts, a.cfg.Timelines.Comments
	a.acts(http.MethodDelete, "/api/posts/{code}", "delete-post", "Delete a post of your own", posts.Delete)
	a.acts(http.MethodPut, "/api/posts/{code}/like", "like-post", "Like a post", posts.Like)
	a.acts(http.MethodDelete, "/api/posts/{code}/like", "unlike-post", "Take a like back", posts.Unlike)
	a.acts(http.MethodPut, "/api/posts/{code}/save", "save-post", "Save a post", posts.Fave)
	a.acts(http.MethodDelete, "/api/posts/{code}/save", "unsave-post", "Save a post no longer", posts.Unfave)

	register(a, made(operation(tokens.Write, http.MethodPost, "/api/posts/{code}/comments", "create-comment", "Comment on a post")),
		func(ctx context.Context, in *newComment) (*madePost, error) {
			actor, err := a.mayWrite(ctx)
			if err != nil {
				return nil, err
			}
			comment := timelines.NewComment{Author: actor, Code: in.Code, Body: in.Body.Text, Plain: in.Body.Plain, Key: in.Key}
			c, err := a.carry(ctx)(comments.Create(ctx, comment))
			return a.answerMade(ctx, c, err)
		})
	register(a, operation(tokens.Write, http.MethodPatch, "/api/posts/{code}/comments/{id}", "change-comment", "Change a comment of your own"),
		func(ctx context.Context, in *changedComment) (*onePost, error) {
			actor, err := a.mayWrite(ctx)
			if err != nil {
				return nil, err
			}
			_, err = a.carry(ctx)(comments.Edit(ctx, actor, in.Code, in.ID, in.Body.Text))
			if err != nil {
				return nil, err
			}
			return a.answer(ctx, in.Code)
		})
	a.actsOnComment(http.MethodDelete, "/api/posts/{code}/comments/{id}", "delete-comment", "Delete a comment of your own", comments.Delete)
	a.actsOnComment(http.MethodPut, "/api/posts/{code}/comments/{id}/like", "like-comment", "Like a comment", comments.Like)
	a.actsOnComment(http.MethodDelete, "/api/posts/{code}/comments/{id}/like", "unlike-comment", "Take a like of a comment back", comments.Unlike)

	register(a, quiet(operation(tokens.Write, http.MethodPut, "/api/accounts/{name}/follow", "follow", "Follow a person or a group, or ask to")),
		func(ctx context.Context, in *byName) (*done, error) {
			actor, err := a.mayWrite(ctx)
			if err != nil {
				return nil, err
			}
			c, _, err := a.cfg.Timelines.Subscriptions.Subscribe(ctx, actor, in.Name)
			_, err = a.carry(ctx)(c, err)
			return nil, err
		})
	register(a, quiet(operation(tokens.Write, http.MethodDelete, "/api/accounts/{name}/follow", "unfollow", "Follow a person or a group no longer")),
		func(ctx context.Context, in *byName) (*done, error) {
			actor, err := a.mayWrite(ctx)
			if err != nil {
				return nil, err
			}
			_, err = a.carry(ctx)(a.cfg.Timelines.Subscriptions.Unsubscribe(ctx, actor, in.Name))
			return nil, err
		})
}

func made(op huma.Operation) huma.Operation {
	op.DefaultStatus = http.StatusCreated
	return op
}

func quiet(op huma.Operation) huma.Operation {
	op.DefaultStatus = http.StatusNoContent
	return op
}

// acts registers what one does to a post.
func (a *API) acts(method, path, id, summary string, do func(context.Context, int64, string) (timelines.Change, error)) {
	register(a, quiet(operation(tokens.Write, method, path, id, summary)), func(ctx context.Context, in *byCode) (*done, error) {
		actor, err := a.mayWrite(ctx)
		if err != nil {
			return nil, err
		}
		_, err = a.carry(ctx)(do(ctx, actor, in.Code))
		return nil, err
	})
}

// actsOnComment registers what one does to a comment.
func (a *API) actsOnComment(method, path, id, summary string, do func(context.Context, int64, string, int64) (timelines.Change, error)) {
	register(a, quiet(operation(tokens.Write, method, path, id, summary)), func(ctx context.Context, in *byComment) (*done, error) {
		actor, err := a.mayWrite(ctx)
		if err != nil {
			return nil, err
		}
		_, err = a.carry(ctx)(do(ctx, actor, in.Code, in.ID))
		return nil, err
	})
}

// answer is a post as the caller may see it now.
func (a *API) answer(ctx context.Context, code string) (*onePost, error) {
	var found []Post
	err := a.atPost(ctx, code, func(it rivers.Item) (err error) {
		found, err = a.log.Posts(ctx, []rivers.Item{it})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &onePost{found[0]}, nil
}

// atPost reads, at one moment, what an answer says of a post that the caller may read.
func (a *API) atPost(ctx context.Context, code string, read func(rivers.Item) error) error {
	id, err := a.cfg.Timelines.Posts.ID(ctx, code)
	if err != nil {
		return err
	}
	caller := callerOf(ctx)
	return a.cfg.Rivers.AtOneMoment(ctx, func() (rivers.Moment, error) {
		now, err := a.cfg.Rivers.Posts(ctx, caller.Viewer, caller.WholeSite, []rivers.AskedPost{{PostID: id}})
		if err != nil {
			return rivers.Moment{}, err
		}
		it, ok := now.Items[id]
		if !ok {
			return now.At, rivers.ErrNotFound
		}
		return now.At, read(it)
	})
}

// answerMade is the answer to a change that made something.
func (a *API) answerMade(ctx context.Context, c timelines.Change, err error) (*madePost, error) {
	if err != nil {
		return nil, err
	}
	now, err := a.answer(ctx, c.Code)
	if err != nil {
		return nil, err
	}
	return &madePost{Location: "/api/posts/" + c.Code, Body: now.Body}, nil
}
