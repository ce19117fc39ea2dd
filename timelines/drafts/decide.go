package drafts

import "time"

// Fate is what becomes of a draft when its writer signs in.
type Fate string

// The fates of drafts. No text is lost by any of them.
const (
	// NoDraft: there is no draft that something could become of.
	NoDraft Fate = ""
	// Current: its writer goes on with it.
	Current Fate = "current"
	// Reset: its writer goes on with it. It keeps its id, is of the category asked for, and is empty:
	// its text stays as a draft with another id.
	Reset Fate = "reset"
	// Kept: it stays in the account's list, as the draft of its place, or parked if that has another.
	Kept Fate = "kept"
)

// Candidate is one of the two drafts that a writer may go on with after signing in.
type Candidate struct {
	Place   string
	SavedAt time.Time
}

// Outcome says with which draft a writer goes on.
type Outcome struct {
	Visitor, Account Fate
	New              bool // with a new, empty one of the category asked for
}

// Decide decides between the draft that was written before signing in and that of the account (G4);
// nil: there is none. category is what the writer was about to write, empty if that is not known. It is
// a place: each has one kind of form, so that it says both the kind and the destination.
//
// With a category, a draft of it is gone on with. If neither is of it, one is reset, the account's
// rather than the visitor's. If both are of it, or without a category, it is the one saved last, and
// the account's of two saved at once.
func Decide(visitor, account *Candidate, category string) Outcome {
	fits := func(c *Candidate) bool { return c != nil && (category == "" || c.Place == category) }
	fate := func(c *Candidate, f Fate) Fate {
		if c == nil {
			return NoDraft
		}
		return f
	}
	switch {
	case visitor == nil && account == nil:
		return Outcome{New: category != ""}
	case fits(visitor) && (!fits(account) || visitor.SavedAt.After(account.SavedAt)):
		return Outcome{Visitor: Current, Account: fate(account, Kept)}
	case fits(account):
		return Outcome{Visitor: fate(visitor, Kept), Account: Current}
	case account != nil:
		return Outcome{Visitor: fate(visitor, Kept), Account: Reset}
	}
	return Outcome{Visitor: Reset}
}
