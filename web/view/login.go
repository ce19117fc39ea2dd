package view

import (
	"github.com/a-h/templ"
)

// Login is the sign-in form, empty or as it was sent.
type Login struct {
	Name, Back string
	Error      string
	Kept       *KeptForm // the form that signing in is for, nil: a page
}

// action is where the form goes.
func (f Login) action() templ.SafeURL {
	if f.Kept != nil {
		return templ.SafeURL(f.Kept.Address)
	}
	return "/login"
}
