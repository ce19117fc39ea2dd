package adminpages

import (
	"riverrun/timelines"
	"riverrun/timelines/moderation"
	"riverrun/web/view"
)

const opinionOnPost = "/p/{code}/opinion"

// opinionPath is the address of the form for an opinion on a post.
func opinionPath(code string) string { return "/p/" + code + "/opinion" }

// opinionView is what the staff see of a post and the opinions on it, and the form for another one. It shows the text if
// the viewer may read it, or might if it were not blocked.
type opinionView struct {
	*view.Base
	code string
	post moderation.Post
	err  view.FormError
	// As the form was sent.
	decision moderation.Decision
	reason   string
}

// shownRunes is how much of a text the page shows.
const shownRunes = 2000

// back is where one goes on without deciding. A blocked post has no page for the staff.
func (v opinionView) back() string {
	if v.post.Blocked {
		return Path
	}
	return "/p/" + v.code
}

// mayDecide reports whether the viewer may decide about the post, as far as the page knows.
func (v opinionView) mayDecide() bool { return v.post.Author != v.Viewer.AccountID }

func (p *Pages) opinionView(c Call, code string) (v opinionView, err error) {
	v.Base, v.decision = c.Base(), moderation.Block
	var ok bool
	if v.code, ok = timelines.ParseCode(code); !ok {
		return v, timelines.ErrNotFound
	}
	if v.post, err = p.opinions.Find(c.Request().Context(), c.By().AccountID, v.code); v.post.Blocked {
		v.decision = moderation.Allow
	}
	return v, err
}

// moderatePostPage asks what is to become of a post.
func (p *Pages) moderatePostPage(c Call) error {
	v, err := p.opinionView(c, c.Request().PathValue("code"))
	if err != nil {
		return err
	}
	saved := ""
	if c.Request().URL.Query().Get("done") == "decided" {
		saved = v.Locale.T("admin.done.decided")
	}
	return c.Show(opinionPage(v, saved))
}

// decide takes the opinion of one of the staff.
func (p *Pages) decide(c Call) error {
	r := c.Request()
	decision, reason := moderation.Decision(r.PostFormValue("decision")), r.PostFormValue("reason")
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.opinions.Decide(r.Context(), c.By(), r.PathValue("code"), decision, reason))
	}
	if err == nil {
		return c.Done("/p/" + r.PathValue("code") + "/moderate?done=decided")
	}
	return c.Again(err, func(is view.FormError) (view.Component, error) {
		v, err := p.opinionView(c, r.PathValue("code"))
		v.err, v.decision, v.reason = is, decision, reason
		return opinionPage(v, ""), err
	})
}
