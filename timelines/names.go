package timelines

import (
	"regexp"
	"slices"
)

// ReservedNames are the names that no account can have: every first segment of an address
// in use or planned. A test of package web checks that each page's address begins with one
// of them, unless it begins with an account's name.
var ReservedNames = []string{
	"admin", "about", "api", "best", "drafts", "everything", "feeds", "files", "filter", "groups",
	"healthz", "help", "lists", "login", "logout", "me", "media", "metrics", "most-faved", "notifications", "ops",
	"p", "people", "posts", "push", "readyz", "rules", "scheduled", "search", "settings", "signup", "sources", "static",
	"tag", "welcome", "ws",
}

// officialNames are no addresses, but people would take such an account for the site
// itself or for its operators. No new account gets one. An import gives the account
// another name, as it does for a name that is taken.
var officialNames = []string{
	"abuse", "admins", "administrator", "administrators", "billing", "contact", "helpdesk", "hostmaster", "info", "legal",
	"messages", "mod", "moderation", "moderator", "moderators", "mods", "noreply", "no-reply", "official", "operator", "operators",
	"owner", "postmaster", "privacy", "riverrun", "root", "saved", "security", "service", "site", "staff", "superuser", "support",
	"sysadmin", "sysop", "system", "team", "webmaster",
}

// reserved reports whether no new account can have the name.
func reserved(name string) bool {
	return slices.Contains(ReservedNames, name) || slices.Contains(officialNames, name)
}

// ReservedSlugs are the slugs that no sub-feed can have: the second segments of an
// account's addresses in use or planned, those of forms included. A test of package web
// checks that.
var ReservedSlugs = []string{
	"about", "accept", "admins", "admit", "ban", "best", "block", "comments", "decline", "delete", "demote", "directs",
	"discussions", "dismiss", "edit", "exclude", "eyes", "faves", "feed", "feeds", "filter", "follow", "followers", "following", "hide", "hide-banned", "invite",
	"likes", "lists", "manage", "members", "mentions", "notifications", "place", "posts", "private", "promote", "readers", "refuse",
	"remove", "saved", "search", "settings", "show-banned", "sources", "subscribe", "subscribers", "subscriptions", "tags", "unban",
	"unblock", "unexclude", "unfollow", "unhide", "unsubscribe", "waiting",
}

// slugForm is the form of the slugs of sub-feeds and lists; the lists_slug constraint of
// the database has the same.
var slugForm = regexp.MustCompile(`^[a-z0-9-]{1,35}$`)

// IsSlug reports whether s has the form of a sub-feed's slug.
func IsSlug(slug string) bool { return slugForm.MatchString(slug) }

// checkSlug returns an error if a new sub-feed cannot have the slug.
func checkSlug(slug string) error {
	switch {
	case slices.Contains(ReservedSlugs, slug):
		return &InvalidError{Field: "slug", Code: "slug_reserved", Value: slug}
	case !slugForm.MatchString(slug):
		return &InvalidError{Field: "slug", Code: "slug_format"}
	}
	return nil
}

// nameForm is the form of accounts' names; the accounts_name constraint of the database has
// the same. newNameForm is the form of new names, so that an @name in a text can mean each
// of them (package marks). Older names stay, and imports keep the names of their source:
// people are known by them, addresses lead to them, and nobody can be asked for another. So
// the constraint has the wider form.
var (
	nameForm    = regexp.MustCompile(`^[a-z0-9-]{3,35}$`)
	newNameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,33}[a-z0-9]$`)
)

// checkName returns an error if a new account cannot have the name.
func checkName(name string) error {
	switch {
	case reserved(name):
		return &InvalidError{Field: "name", Code: "name_reserved", Value: name}
	case !newNameForm.MatchString(name):
		return &InvalidError{Field: "name", Code: "name_format"}
	}
	return nil
}

// IsName reports whether name has the form of an account's name, old or new.
func IsName(name string) bool { return nameForm.MatchString(name) }

// importable reports whether an import may make an account of that name.
func importable(name string) bool {
	return nameForm.MatchString(name) && !reserved(name)
}
