package adminpages

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/doors"
	"riverrun/timelines/leaving"
	"riverrun/web/view"
)

// perPage is how many people, or acts, a page has.
const perPage = 50

// peopleView is the list of people.
type peopleView struct {
	*view.Base
	which admin.Filter
	query string
	all   []admin.Person
	next  string
}

func (p *Pages) people(c Call) error {
	ctx, asked := c.Request().Context(), c.Request().URL.Query()
	v := peopleView{Base: c.Base(), which: admin.Filter(asked.Get("which")), query: strings.TrimSpace(asked.Get("q"))}
	if !slices.Contains(admin.Filters, v.which) {
		v.which = admin.Everybody
	}
	var err error
	if v.query != "" {
		v.all, err = p.staff.Find(ctx, v.query, perPage)
	} else {
		v.all, err = p.staff.People(ctx, v.which, asked.Get("after"), perPage+1)
	}
	if err != nil {
		return err
	}
	if len(v.all) > perPage {
		v.all = v.all[:perPage]
		v.next = v.all[perPage-1].Name
	}
	return c.Show(peoplePage(v))
}

func filterPath(which admin.Filter) string {
	if which == admin.Everybody {
		return peoplePath
	}
	return peoplePath + "?" + url.Values{"which": {string(which)}}.Encode()
}

// nextPath is the address of the next part of the list.
func (v peopleView) nextPath() string {
	q := url.Values{"after": {v.next}}
	if v.which != admin.Everybody {
		q.Set("which", string(v.which))
	}
	return peoplePath + "?" + q.Encode()
}

// personView is the page about one person.
type personView struct {
	*view.Base
	who   admin.Person
	by    admin.By
	role  admin.Role // the viewer's
	wrote admin.Wrote
	acts  []admin.Act
	came  doors.Origin
	saved string
	link  string // a new address at which the person chooses a password
	form  suspensionForm
	// leaving says when the account is deleted; nil: it stays.
	leaving     *leaving.Leaving
	leaveReason string
	err         view.FormError
}

// suspensionForm is the form as it was sent.
type suspensionForm struct {
	reason, days string
	hide         bool
}

// mayAct reports whether the viewer may suspend the person.
func (v personView) mayAct() bool {
	return v.who.ID != v.by.AccountID && (v.who.Role == admin.Nobody || v.role == admin.Administrator)
}

func (p *Pages) personView(c Call) (personView, error) {
	ctx := c.Request().Context()
	v := personView{Base: c.Base(), by: c.By(), role: c.Role(), form: suspensionForm{days: "7", hide: true}}
	var err error
	if v.who, err = p.staff.Person(ctx, c.Request().PathValue("name")); err != nil {
		return v, err
	}
	if v.who.Suspended != nil {
		v.form = suspensionForm{reason: v.who.Reason, hide: v.who.Hidden}
	}
	if asked := c.Request().URL.Query(); asked.Has("reason") { // from a report
		v.form.reason = asked.Get("reason")
	}
	if v.wrote, err = p.staff.Wrote(ctx, v.who.ID); err != nil {
		return v, err
	}
	if v.came, err = p.doors.store.Origin(ctx, v.who.ID); err != nil {
		return v, err
	}
	if v.leaving, err = p.leaving.Find(ctx, v.who.ID); err != nil {
		return v, err
	}
	v.acts, err = p.staff.Acts(ctx, v.who.Name, 0, perPage)
	return v, err
}

func (p *Pages) person(c Call) error {
	v, err := p.personView(c)
	if err != nil {
		return err
	}
	if done := c.Request().URL.Query().Get("done"); slices.Contains([]string{"suspended", "restored", "role", "removing", "leaving", "kept"}, done) {
		v.saved = v.Locale.T("admin.done." + done)
	}
	return c.Show(personPage(v))
}

// again shows the page with the error of one of its forms.
func (p *Pages) personAgain(c Call, err error, asSent func(*personView)) error {
	return c.Again(err, func(is view.FormError) (view.Component, error) {
		v, err := p.personView(c)
		v.err = is
		asSent(&v)
		return personPage(v), err
	})
}

// days are the lengths of a suspension that the form offers, in days; "" is for good.
var days = []string{"1", "7", "30", "365", ""}

func (p *Pages) suspend(c Call) error {
	r := c.Request()
	form := suspensionForm{reason: r.PostFormValue("reason"), days: r.PostFormValue("days"), hide: r.PostFormValue("hide") != ""}
	terms := admin.Suspension{Reason: form.reason, Hide: form.hide}
	err := error(&timelines.InvalidError{Field: "days", Code: "ends_past"})
	if slices.Contains(days, form.days) {
		terms.Ends = endsIn(form.days, time.Now())
		if err = c.MayChange(); err == nil {
			err = c.Carry(p.staff.Suspend(r.Context(), c.By(), r.PathValue("name"), terms))
		}
	}
	if err != nil {
		return p.personAgain(c, err, func(v *personView) { v.form = form })
	}
	return c.Done(PersonPath(r.PathValue("name")) + "?done=suspended")
}

func endsIn(days string, now time.Time) *time.Time {
	n, err := strconv.Atoi(days)
	if err != nil {
		return nil // for good
	}
	ends := now.Add(time.Duration(n) * 24 * time.Hour)
	return &ends
}

func (p *Pages) restore(c Call) error {
	name := c.Request().PathValue("name")
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.staff.Restore(c.Request().Context(), c.By(), name))
	}
	if err != nil {
		return p.personAgain(c, err, func(*personView) {})
	}
	return c.Done(PersonPath(name) + "?done=restored")
}

func (p *Pages) setRole(c Call) error {
	name, role := c.Request().PathValue("name"), admin.Role(c.Request().PostFormValue("role"))
	err := error(&timelines.InvalidError{Field: "role", Code: "role_unknown"})
	if slices.Contains(admin.Roles, role) {
		if err = c.MayChange(); err == nil {
			err = c.Carry(p.staff.SetRole(c.Request().Context(), c.By(), name, role))
		}
	}
	if err != nil {
		return p.personAgain(c, err, func(*personView) {})
	}
	if name == c.Base().Account(c.By().AccountID).Name && role == admin.Nobody {
		return c.Done("/") // no page here is theirs any more
	}
	return c.Done(PersonPath(name) + "?done=role")
}
