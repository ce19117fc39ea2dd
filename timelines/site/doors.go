package site

import (
	"cmp"

	"riverrun/timelines"
)

// Door returns who may sign up: as the settings say, or else the configuration.
func (s Site) Door(configured timelines.Options) SignUp {
	if s.SignUp != nil {
		return *s.SignUp
	}
	return cmp.Or(SignUp(configured.SignUp), OpenToAll)
}

// IsPrivate reports whether nothing is shown without signing in: as the settings say, or else the
// configuration.
func (s Site) IsPrivate(configured timelines.Options) bool {
	if s.Private != nil {
		return *s.Private
	}
	return configured.Private
}
