package adminpages

import (
	"net/url"

	"riverrun/timelines"
	"riverrun/web/view"
)

// Addresses that work once.
const (
	claimPath    = Path + "/claim"
	passwordPath = "/login/link"
)

// ClaimPath is the address by which somebody becomes the first administrator.
func ClaimPath(token string) string { return claimPath + "?" + url.Values{"link": {token}}.Encode() }

// PasswordPath is the address at which somebody chooses a password.
func PasswordPath(token string) string {
	return passwordPath + "?" + url.Values{"link": {token}}.Encode()
}

// claimForm asks whoever has the link of a new site whether they want to be in charge.
func (p *Pages) claimForm(c Call) error {
	claimed, err := p.staff.HasAdministrator(c.Request().Context())
	if err != nil {
		return err
	}
	if claimed {
		return timelines.ErrNotFound
	}
	return c.Show(claimPage(c.Base(), c.Request().URL.Query().Get("link"), ""))
}

func (p *Pages) claim(c Call) error {
	token := c.Request().PostFormValue("link")
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.staff.Claim(c.Request().Context(), c.By().AccountID, token))
	}
	if err != nil {
		return c.Again(err, func(is view.FormError) (view.Component, error) {
			return claimPage(c.Base(), token, is.At("")), nil
		})
	}
	return c.Done(Path)
}

// newLink makes an address at which a person chooses a password, and shows it once.
func (p *Pages) newLink(c Call) error {
	token, err := p.staff.Link(c.Request().Context(), c.By(), c.Request().PathValue("name"))
	if err != nil {
		return p.personAgain(c, err, func(*personView) {})
	}
	v, err := p.personView(c)
	if err != nil {
		return err
	}
	v.link = c.Address(PasswordPath(token))
	return c.Show(personPage(v))
}
