package view

import (
	"github.com/a-h/templ"

	"riverrun/timelines/site"
)

// Login is the sign-in form, empty or as it was sent.
type Login struct {
	Name, Back string
	Error      string
	Door       site.SignUp // who may sign up
	Kept       *KeptForm   // the form that signing in is for, nil: a page
	Visitor    bool        // it is for a text that was written without signing in
}

// action is where the form goes.
func (f Login) action() templ.SafeURL {
	if f.Kept != nil {
		return templ.SafeURL(f.Kept.Address)
	}
	return "/login"
}
