package view

import (
	"riverrun/timelines"
)

// Search is the page of a search. Without a valid query it has no river.
type Search struct {
	*Base
	Text  string // as it was typed
	Error string
	River *River
	// Nobody are the names in the query that no account has. That there is
	// an account is no secret, whatever its level.
	Nobody []string
	// Accounts are the people and groups whose names or titles begin with the words of the query,
	// as the directories show them.
	Accounts []timelines.Account
	// Common: nothing was found because its words are too common to be searched for.
	Common bool
}

func (v Search) title() string {
	if v.Text == "" {
		return v.Locale.T("search.label")
	}
	return v.Locale.T("search.title", "q", v.Text)
}
