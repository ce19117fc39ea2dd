package timelines

import (
	"regexp"
	"slices"
)

// ReservedNames are the names no account can have: every first segment of an
// address in use or planned. A page whose address begins otherwise takes its
// segment from here, and a test of the web holds it to that.
var ReservedNames = []string{
	"admin", "about", "api", "best", "everything", "feeds", "files", "filter", "groups",
	"healthz", "help", "lists", "login", "logout", "me", "media", "metrics", "most-faved", "notifications", "ops",
	"p", "people", "posts", "readyz", "search", "settings", "signup", "sources", "static",
	"tag", "ws",
}

// officialNames are no addresses, but people would take such an account for the site
// itself or for those who run it. No new account gets one; an import gives the account
// another name, as it does where a name is taken.
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

// ReservedSlugs are what no sub-feed can be called: the second segments of an
// account's addresses in use or planned, forms included. A test of the web holds
// it to that.
var ReservedSlugs = []string{
	"about", "accept", "admins", "admit", "ban", "best", "block", "comments", "decline", "demote", "directs",
	"discussions", "dismiss", "edit", "exclude", "eyes", "faves", "feed", "feeds", "filter", "follow", "followers", "following", "hide", "hide-banned", "invite",
	"likes", "lists", "manage", "members", "mentions", "notifications", "place", "posts", PrivateSlug, "promote", "readers", "refuse",
	"remove", "saved", "search", "settings", "show-banned", "sources", "subscribe", "subscribers", "subscriptions", "tags", "unban",
	"unblock", "unexclude", "unfollow", "unhide", "unsubscribe",
}

// PrivateSlug is the slug of the private sub-feed everybody has from the
// beginning (source: 004).
const PrivateSlug = "private"

// slugForm is what sub-feeds and lists are called in addresses; also the lists_slug
// constraint of the database.
var slugForm = regexp.MustCompile(`^[a-z0-9-]{1,35}$`)

// IsSlug reports whether a sub-feed could be called so.
func IsSlug(slug string) bool { return slugForm.MatchString(slug) }

// checkSlug returns what is wrong with the slug of a new sub-feed, or nil.
func checkSlug(slug string) error {
	switch {
	case slices.Contains(ReservedSlugs, slug):
		return &InvalidError{Field: "slug", Code: "slug_reserved", Value: slug}
	case !slugForm.MatchString(slug):
		return &InvalidError{Field: "slug", Code: "slug_format"}
	}
	return nil
}

// nameForm is what accounts may be called, also the accounts_name constraint of the
// database; newNameForm is what new ones are, so that each can be named in a text by
// its @name (package marks). Names of before stay, and imports keep those of their
// source: people are known by them, addresses lead to them, and nobody can be asked for
// another. So the constraint is the wider form.
var (
	nameForm    = regexp.MustCompile(`^[a-z0-9-]{3,35}$`)
	newNameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,33}[a-z0-9]$`)
)

// checkName returns what is wrong with the name of a new account, or nil.
func checkName(name string) error {
	switch {
	case reserved(name):
		return &InvalidError{Field: "name", Code: "name_reserved", Value: name}
	case !newNameForm.MatchString(name):
		return &InvalidError{Field: "name", Code: "name_format"}
	}
	return nil
}

// IsName reports whether an account could be called so, be it one of before.
func IsName(name string) bool { return nameForm.MatchString(name) }

// importable reports whether an import may make an account of that name.
func importable(name string) bool {
	return nameForm.MatchString(name) && !reserved(name)
}
