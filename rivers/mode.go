package rivers

// Mode is how much of what those one follows do brings a post into the home feed
// or a list (source: 000, the friend feed).
//
// It is part of the river's name, and not a property of the account that changes
// what one river is made of: both pages are kept warm, to go from one to the
// other replaces nothing, an address means the same in each tab, and a page that
// is open goes on showing what it showed. What an account chooses is only which
// of the two an address shows that does not say.
type Mode string

const (
	// WithActivity: also posts of others that they like or comment on.
	WithActivity Mode = ""
	// FriendsOnly: what they post, what is posted in one's groups, one's own and
	// directs.
	FriendsOnly Mode = "friends"
)

// HasModes reports whether rivers of the kind have modes: they are made of what those
// one follows do, for several reasons.
func (k Kind) HasModes() bool { return specs[k].followBased }

// In returns the name of the same page in a mode. Its kind must have modes.
func (n Name) In(m Mode) Name {
	n.Term = string(m)
	return n
}

// Mode returns the mode of a river whose kind has modes.
func (n Name) Mode() Mode { return Mode(n.Term) }
