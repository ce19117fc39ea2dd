package web

import (
	"context"
	"net/http"

	"riverrun/timelines"
	"riverrun/web/view"
)

// introduction leads a new account through its first steps: who one is, whom to follow, a first
// post. It sees from the account which steps are done. So it stores nothing, and one may leave
// at any time.
type introduction struct{ *Server }

func (s introduction) routes(mux router) {
	mux.Handle("GET /welcome", s.members(s.next))
	mux.Handle("GET "+view.WelcomeYou, s.members(s.you))
	mux.Handle("POST "+view.WelcomeYou, s.withPicture(s.ownPicture, s.setYou))
	mux.Handle("GET "+view.WelcomePeople, s.members(s.people))
	mux.Handle("GET "+view.WelcomePost, s.members(s.post))
}

// next leads to the first step that is not done.
func (s introduction) next(w http.ResponseWriter, r *request) error {
	steps, err := s.steps(r, "")
	if err != nil {
		return err
	}
	return redirect(w, r, steps.Next())
}

// steps are the steps of the viewer of a page.
func (s introduction) steps(r *request, here string) (view.Steps, error) {
	posted, err := s.timelines.Posts.HasPosted(r.Context(), r.viewer.AccountID)
	return view.Steps{
		Here: here, You: r.me.Picture != "" || r.me.About != "", People: len(r.sets.Follows) > 0, Post: posted,
	}, err
}

func (s introduction) you(w http.ResponseWriter, r *request) error {
	steps, err := s.steps(r, view.WelcomeYou)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.WelcomeYouPage(s.simple(r), steps, r.profileForm(r.me)))
}

func (s introduction) setYou(w http.ResponseWriter, r *request) error {
	form := r.profileForm(r.me)
	err := s.saveProfile(r, s.ownPicture, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.Accounts.SetProfile(ctx, r.viewer.AccountID, form.Title, form.About, r.me.Language)
	})
	if err == nil {
		return s.done(w, r, view.WelcomePeople)
	}
	if form.Error, err = s.formError(r, err); err != nil {
		return err
	}
	steps, err := s.steps(r, view.WelcomeYou)
	if err != nil {
		return err
	}
	return s.redisplay(w, r, form.Error, view.WelcomeYouPage(s.simple(r), steps, form))
}

func (s introduction) people(w http.ResponseWriter, r *request) error {
	steps, err := s.steps(r, view.WelcomePeople)
	if err != nil {
		return err
	}
	p := s.simple(r)
	return s.html(w, r, http.StatusOK, view.WelcomePeoplePage(p, steps, s.suggest(r.Context(), p).Now(view.SuggestedFirst)))
}

func (s introduction) post(w http.ResponseWriter, r *request) error {
	steps, err := s.steps(r, view.WelcomePost)
	if err != nil {
		return err
	}
	p := s.simple(r)
	if err := s.nameFollows(r, p); err != nil {
		return err
	}
	d, found, err := s.draftToWrite(r, "")
	if err != nil {
		return err
	}
	c := view.ComposerOf(d)
	c.Back = "/"
	if err := posts(s).fill(r, p, &c, d); err != nil {
		return err
	}
	keepNoCopy(w, found)
	return s.html(w, r, http.StatusOK, view.WelcomePostPage(p, steps, c))
}
