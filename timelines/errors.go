package timelines

import (
	"errors"
	"fmt"

	"riverrun/timelines/rules"
)

// Errors of the store. Callers match them with errors.Is; any other error is a fault of
// the server or its database.
var (
	// ErrNotFound: there is no such thing, or the actor may not know of it.
	ErrNotFound = errors.New("not found")
	// ErrForbidden: the actor may see it but may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrBlocked, which is an ErrForbidden: all groups through which the actor reads the
	// post block the actor.
	ErrBlocked = fmt.Errorf("blocked by the group: %w", ErrForbidden)
	// ErrExcluded, which is an ErrForbidden: the account excludes the actor from its
	// readers.
	ErrExcluded = fmt.Errorf("excluded from reading: %w", ErrForbidden)
	// ErrNameTaken: the name belongs to another account.
	ErrNameTaken = errors.New("name taken")
	// ErrBadCredentials: there is no such account, or it has no password or another one.
	ErrBadCredentials = errors.New("wrong name or password")
	// ErrBusy: too many passwords are waiting to be checked.
	ErrBusy = errors.New("too many passwords at once")
	// ErrSignedOut: the session ended.
	ErrSignedOut = errors.New("signed out")
	// ErrNotSaved: the database could not make the change, because it lacks disk or memory
	// or takes no writes at the moment, and rolled it back. It is never returned where the
	// change may have been committed.
	ErrNotSaved = errors.New("not saved")
)

// InvalidError describes an invalid input. Its Code is stable, and the catalogues translate it. Those of
// posts, comments, drafts, destinations, files and listings are rows of package rules. The others stand where they
// are checked: "name_format",
// "name_reserved", "password_short", "password_long", "password_common", "password_name",
// "password_pattern", "title_empty", "title_direction",
// "slug_format", "slug_reserved", "slug_taken", "subfeeds_many", "subfeed_full",
// "level_unknown", "writers_unknown", "name_unknown", "member_none", "member_remove", "admin_last",
// "admin_demote", "list_taken", "list_unknown", "lists_many", "member_unknown",
// "hides_many", "reader_self", "term_empty", "term_long", "term_person", "query_nothing", "query_long", "query_terms",
// "query_currency",
// and of imports
// "comment_twice" (one key under two posts) and "kind_other" (a group that stands
// here as a person).
type InvalidError = rules.InvalidError
