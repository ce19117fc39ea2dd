package adminpages

import (
	"riverrun/timelines/admin"
)

// mayDelete reports whether the viewer may delete the person's account, or keep it.
func (v personView) mayDelete() bool { return v.mayAct() && v.role == admin.Administrator }

func (p *Pages) deleteAccount(c Call) error {
	name, reason := c.Request().PathValue("name"), c.Request().PostFormValue("leave_reason")
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.leaving.Delete(c.Request().Context(), c.By(), name, reason, false))
	}
	if err != nil {
		return p.personAgain(c, err, func(v *personView) { v.leaveReason = reason })
	}
	return c.Done(PersonPath(name) + "?done=leaving")
}

func (p *Pages) keepAccount(c Call) error {
	name := c.Request().PathValue("name")
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.leaving.Keep(c.Request().Context(), c.By(), name))
	}
	if err != nil {
		return p.personAgain(c, err, func(*personView) {})
	}
	return c.Done(PersonPath(name) + "?done=kept")
}
