package web

import (
	"context"
	"errors"
	"net/http"

	"riverrun/timelines"
	"riverrun/web/view"
)

// approvals serves the posts that wait for a group to its administrators.
type approvals struct{ *Server }

func (s approvals) routes(mux router) {
	mux.Handle("POST /{name}/waiting/{code}/approve", s.members(s.approve))
	mux.Handle("POST /{name}/waiting/{code}/refuse", s.members(s.refuse))
}

// waitingPage is how many posts a page of them has.
const waitingPage = 20

func (s approvals) list(w http.ResponseWriter, r *request) error {
	v, err := s.page(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.WaitingPage(v))
}

// view reads the page that the request is of. After a post that is gone meanwhile it begins anew.
func (s approvals) page(r *request) (v view.Waiting, err error) {
	ctx := r.Context()
	if v.Base, v.Group, err = s.led(r, r.PathValue("name")); err != nil {
		return v, err
	}
	v.After = r.FormValue("after")
	v.Done = view.Answer(r.URL.Query().Get("done"))
	var after int64
	if v.After != "" {
		after, err = s.timelines.Posts.ID(ctx, v.After)
		if err != nil && !errors.Is(err, timelines.ErrNotFound) {
			return v, err
		}
	}
	if v.Posts, err = s.timelines.Posts.Waiting(ctx, r.viewer.AccountID, v.Group.ID, after, waitingPage+1); err != nil {
		return v, err
	}
	if len(v.Posts) > waitingPage {
		v.Posts = v.Posts[:waitingPage]
		v.Next = v.Posts[waitingPage-1].Code
	}
	authors := make([]int64, len(v.Posts))
	for i, p := range v.Posts {
		authors[i] = p.AuthorID
	}
	return v, s.Server.view.NameAccounts(ctx, v.Base, authors)
}

func (s approvals) approve(w http.ResponseWriter, r *request) error {
	return s.answer(w, r, view.AnswerPublished, s.timelines.Posts.Approve)
}

func (s approvals) refuse(w http.ResponseWriter, r *request) error {
	return s.answer(w, r, view.AnswerRefused, func(ctx context.Context, actor int64, group, code string) (timelines.Change, error) {
		return s.timelines.Posts.Refuse(ctx, actor, group, code, r.PostFormValue("reason"))
	})
}

// answer gives an answer about a post, and leads back to the list, also if another administrator was faster.
func (s approvals) answer(w http.ResponseWriter, r *request, done view.Answer,
	give func(ctx context.Context, actor int64, group, code string) (timelines.Change, error),
) error {
	_, group, err := s.led(r, r.PathValue("name"))
	if err != nil {
		return err
	}
	if _, ok := timelines.ParseCode(r.PathValue("code")); !ok {
		return errNoPage
	}
	if err = s.mayChange(r); err == nil {
		_, err = s.carry(r)(give(r.Context(), r.viewer.AccountID, group.Name, r.PathValue("code")))
	}
	if errors.Is(err, timelines.ErrNotFound) {
		done, err = view.AnswerLate, nil
	}
	if err == nil {
		return s.done(w, r, view.WaitingPath(group.Name)+"?done="+string(done))
	}
	is, err := s.formError(r, err)
	if err != nil {
		return err
	}
	v, err := s.page(r)
	if err != nil {
		return err
	}
	v.Code, v.Reason, v.Error = r.PathValue("code"), r.PostFormValue("reason"), is
	return s.redisplay(w, r, is, view.WaitingPage(v))
}

// setApproval says whether posts to a group wait for its administrators.
func (s settings) setApproval(w http.ResponseWriter, r *request) error {
	group := r.PostFormValue("group")
	err := s.mayChange(r)
	if err == nil {
		_, err = s.carry(r)(s.timelines.Groups.SetApproval(r.Context(), r.viewer.AccountID, group, r.PostFormValue("approves") != ""))
	}
	if err != nil {
		return groups(s).manageAgain(w, r, group, err, func(*view.Manage) {})
	}
	return s.done(w, r, view.ManagePath(group)+"?saved")
}
