package web

import (
	"net/http"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/web/view"
)

// staffPages serves the pages of those who are in charge.
type staffPages struct{ *Server }

func (s staffPages) routes(mux router) {
	for _, route := range s.admin.Routes() {
		mux.Handle(route.Pattern, s.members(func(w http.ResponseWriter, r *request) error {
			if !r.sets.Role.Covers(route.Least) {
				return errNoPage
			}
			return route.Handle(&staffCall{s.Server, w, r})
		}))
	}
}

// staffCall is an adminpages.Call.
type staffCall struct {
	*Server
	w http.ResponseWriter
	r *request
}

func (c *staffCall) Request() *http.Request { return c.r.Request }

func (c *staffCall) By() admin.By { return admin.By{AccountID: c.r.viewer.AccountID} }

func (c *staffCall) Role() admin.Role { return c.r.sets.Role }

func (c *staffCall) Base() *view.Base { return c.simple(c.r) }

func (c *staffCall) MayChange() error { return c.mayChange(c.r) }

func (c *staffCall) Carry(change timelines.Change, err error) error {
	_, err = c.carry(c.r)(change, err)
	return err
}

func (c *staffCall) Show(page view.Component) error { return c.html(c.w, c.r, http.StatusOK, page) }

func (c *staffCall) Again(err error, page func(view.FormError) (view.Component, error)) error {
	is, err := c.formError(c.r, err)
	if err != nil {
		return err
	}
	again, err := page(is)
	if err != nil {
		return err
	}
	return c.redisplay(c.w, c.r, is, again)
}

func (c *staffCall) Address(path string) string { return c.url.String() + path }

func (c *staffCall) Done(address string) error { return c.done(c.w, c.r, address) }
