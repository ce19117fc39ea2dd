package timelines

import (
	"regexp"
	"slices"
)

// ReservedNames are the names no account can have: every first segment of an
// address in use or planned. A page whose address begins otherwise takes its
// segment from here, and a test of the web holds it to that.
var ReservedNames = []string{
	"admin", "about", "api", "best", "everything", "feeds", "filter", "groups",
	"healthz", "help", "lists", "login", "logout", "metrics", "most-faved", "ops",
	"p", "people", "posts", "readyz", "search", "settings", "signup", "sources", "static",
	"tag", "ws",
}

// nameForm is also the accounts_name constraint of the database.
var nameForm = regexp.MustCompile(`^[a-z0-9-]{3,35}$`)

// checkName returns what is wrong with the name of a new account, or nil.
func checkName(name string) error {
	switch {
	case slices.Contains(ReservedNames, name):
		return &InvalidError{Field: "name", Code: "name_reserved", Value: name}
	case !nameForm.MatchString(name):
		return &InvalidError{Field: "name", Code: "name_format"}
	}
	return nil
}
