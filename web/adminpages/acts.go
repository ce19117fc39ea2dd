package adminpages

import (
	"strconv"

	"riverrun/timelines/admin"
	"riverrun/web/view"
)

// actsView is the audit log.
type actsView struct {
	*view.Base
	all  []admin.Act
	next int64 // the id before which the next part begins; 0: there is none
}

func (p *Pages) acts(c Call) error {
	v := actsView{Base: c.Base()}
	before, err := strconv.ParseInt(c.Request().URL.Query().Get("before"), 10, 64)
	if err != nil || before < 0 {
		before = 0 // the newest
	}
	if v.all, err = p.staff.Acts(c.Request().Context(), "", before, perPage+1); err != nil {
		return err
	}
	if len(v.all) > perPage {
		v.all = v.all[:perPage]
		v.next = v.all[perPage-1].ID
	}
	return c.Show(actsPage(v))
}

// actText says what was done.
func actText(loc *view.Locale, a admin.Act) string {
	by := a.By
	if by == "" {
		by = loc.T("admin.act.commandline")
	} else {
		by = "@" + by
	}
	return loc.T("admin.act."+a.Kind, "by", by, "subject", a.Subject)
}
