package tokens

import "slices"

// Scope is something that a token allows. Within it the program may do what its person may, and no more.
type Scope string

// The scopes.
const (
	Read       Scope = "read"
	Write      Scope = "write"
	Changes    Scope = "changes" // the log of changes
	Moderation Scope = "moderation"
	Stages     Scope = "stages" // what programs keep beside posts
)

// Scopes are all of them, in the order of the form.
var Scopes = []Scope{Read, Write, Changes, Moderation, Stages}

// Days are the choices of how long a token is good.
var Days = []int{7, 30, 90, 365}

// known returns the scopes without repetition in their order; ok is false if there are none, or one is
// unknown.
func known(sent []Scope) (in []Scope, ok bool) {
	for _, s := range Scopes {
		if slices.Contains(sent, s) {
			in = append(in, s)
		}
	}
	unknown := slices.ContainsFunc(sent, func(s Scope) bool { return !slices.Contains(Scopes, s) })
	return in, len(in) > 0 && !unknown
}
