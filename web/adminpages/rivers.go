package adminpages

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
	"riverrun/web/view"
)

// riverView is the river of one page, as one person has it.
type riverView struct {
	*view.Base
	page, as string // as they were asked for
	it       *rivers.Inspection
	// accounts are those that the page names.
	accounts map[int64]timelines.Account
	// here is how many sockets of this process show the river, anonymous how many show the page without
	// signing in.
	here, anonymous int
	saved           string
	err             view.FormError
}

func riverPath(page, as string) string {
	q := url.Values{"name": {page}}
	if as != "" {
		q.Set("as", as)
	}
	return riversPath + "?" + q.Encode()
}

func (p *Pages) river(c Call) error {
	asked := c.Request().URL.Query()
	v, err := p.riverView(c, asked.Get("name"), asked.Get("as"))
	if err == nil {
		if asked.Get("done") == "rebuilt" {
			v.saved = v.Locale.T("inspect.rebuilt")
		}
		return c.Show(riverPage(v))
	}
	return p.riverAgain(c, v, err)
}

// riverAgain shows the form again with what is wrong.
func (p *Pages) riverAgain(c Call, v riverView, err error) error {
	return c.Again(err, func(is view.FormError) (view.Component, error) {
		v.Base, v.it, v.err = c.Base(), nil, is
		return riverPage(v), nil
	})
}

// riverView looks a river up; without a page there is only the form.
func (p *Pages) riverView(c Call, page, as string) (riverView, error) {
	ctx := c.Request().Context()
	v := riverView{Base: c.Base(), page: strings.TrimSpace(page), as: strings.TrimPrefix(strings.TrimSpace(as), "@")}
	if v.page == "" {
		return v, nil
	}
	n, err := p.process.RiverOf(ctx, v.page, v.as)
	if err != nil {
		return v, err
	}
	if v.it, err = p.process.Rivers.Inspect(ctx, n); err != nil {
		return v, err
	}
	v.here, v.anonymous = p.process.Sockets(n)
	accounts, err := p.process.Rivers.Access().Accounts(ctx, v.it.Accounts())
	v.accounts = accounts
	return v, err
}

// rebuildRiver makes a river anew. It is recorded before, so that none is rebuilt without a record.
func (p *Pages) rebuildRiver(c Call) error {
	ctx, r := c.Request().Context(), c.Request()
	v, err := p.riverView(c, r.PostFormValue("name"), r.PostFormValue("as"))
	if err == nil && (v.it == nil || v.it.River == 0) {
		err = &timelines.InvalidError{Field: "name", Code: "river_none"}
	}
	if err == nil {
		err = p.staff.RecordRebuild(ctx, c.By(), v.page, v.as)
	}
	if err == nil {
		err = p.process.Tiers.Remake(ctx, v.it.Name)
	}
	switch {
	case err == nil:
		return c.Done(riverPath(v.page, v.as) + "&done=rebuilt")
	case errors.Is(err, rivers.ErrNotFound), errors.Is(err, rivers.ErrForbidden):
		err = &timelines.InvalidError{Field: "name", Code: "river_gone"} // between the question and the act
	}
	return p.riverAgain(c, v, err)
}

// kindName is the name of a kind of rivers or timelines.
func kindName(loc *view.Locale, kind string) string {
	if text, ok := loc.Texts["inspect.kind."+kind]; ok {
		return text
	}
	return kind
}

// ofAccount is the name of an account, as it stands behind what is the account's.
func (v riverView) ofAccount(id int64) string {
	if a, ok := v.accounts[id]; ok {
		return " @" + a.Name
	}
	return ""
}

// kind is what kind of page it is, and whose.
func (v riverView) kind() string {
	n := v.it.Name
	text := kindName(v.Locale, string(n.Kind)) + v.ofAccount(n.Account())
	if n.Term != "" {
		text += " · " + n.Term
	}
	if n.Order != rivers.Fresh {
		text += " · " + v.Locale.T("inspect.created")
	}
	return text
}

// viewer is who has the river.
func (v riverView) viewer() string {
	if v.it.Name.UserID == 0 {
		return v.Locale.T("inspect.viewer.nobody")
	}
	return strings.TrimSpace(v.ofAccount(v.it.Name.UserID))
}

func (v riverView) timeline(t timelines.Timeline) string {
	text := kindName(v.Locale, t.Kind)
	if t.Kind != kinds.Post {
		text += v.ofAccount(t.TheirID)
	}
	if t.Term != "" {
		text += " · " + t.Term
	}
	return text
}

func (v riverView) floor() time.Time { return time.UnixMicro(v.it.Floor) }
