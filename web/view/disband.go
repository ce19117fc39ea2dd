package view

import (
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/leaving"
)

// DisbandPath is the page on which a group is deleted.
func DisbandPath(group string) string { return "/" + group + "/delete" }

// Disband is the page on which a group is deleted.
type Disband struct {
	*Base
	leaving.Within
	Who             timelines.Account // the group
	Confirm, Reason string            // as they were sent
	Error           FormError
}

// staffs reports whether the viewer is in charge of the site, and not of the group.
func (v Disband) staffs() bool { return !v.Administers(v.Who.ID) }

// disbands reports whether the viewer may delete a group because they are in charge of the site.
func (p *Base) disbands(a timelines.Account) bool {
	return a.Kind == timelines.Group && p.Sets != nil && p.Sets.Role == admin.Administrator && !p.Administers(a.ID)
}
