package adminpages

import (
	"net/url"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/web/view"
)

// moderateView asks whether to remove a comment, or a post (opinionPage). It shows nothing of it: the viewer may
// not be a reader.
type moderateView struct {
	*view.Base
	code, action string
}

const (
	moderatePost    = "/p/{code}/moderate"
	moderateComment = "/p/{code}/comments/{id}/moderate"
)

// moderateCommentPage asks whether to remove a comment.
func (p *Pages) moderateCommentPage(c Call) error {
	r := c.Request()
	code, ok := timelines.ParseCode(r.PathValue("code"))
	if !ok {
		return timelines.ErrNotFound
	}
	return c.Show(moderatePage(moderateView{Base: c.Base(), code: code, action: r.URL.Path}))
}

// maxWhy is the longest reason in the audit log, in bytes.
const maxWhy = 1000

func why(c Call) string {
	text := strings.ToValidUTF8(strings.ReplaceAll(strings.TrimSpace(c.Request().PostFormValue("why")), "\x00", ""), "")
	if len(text) > maxWhy {
		text = strings.ToValidUTF8(text[:maxWhy], "")
	}
	return text
}

func (p *Pages) removePost(c Call) error {
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.staff.RemovePost(c.Request().Context(), c.By(), c.Request().PathValue("code"), why(c)))
	}
	if err != nil {
		return err
	}
	return c.Done("/")
}

func (p *Pages) removeComment(c Call) error {
	r := c.Request()
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return timelines.ErrNotFound
	}
	if err = c.MayChange(); err == nil {
		err = c.Carry(p.staff.RemoveComment(r.Context(), c.By(), r.PathValue("code"), id, why(c)))
	}
	if err != nil {
		return err
	}
	return c.Done("/p/" + url.PathEscape(r.PathValue("code")))
}

func (p *Pages) removePosts(c Call) error {
	name := c.Request().PathValue("name")
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.staff.RemovePosts(c.Request().Context(), c.By(), name))
	}
	if err != nil {
		return p.personAgain(c, err, func(*personView) {})
	}
	return c.Done(PersonPath(name) + "?done=removing")
}
