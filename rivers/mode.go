package rivers

// Mode says how much of what followed accounts do brings a post into the home feed or a
// list (source: 000, the friend feed).
//
// It is part of the river's name, not a property of the account that changes what one river
// is made of. So both pages stay warm, switching between them replaces nothing, an address
// means the same in each tab, and an open page goes on showing what it showed. An account
// chooses only which mode an address shows that names none.
type Mode string

const (
	// WithActivity also shows posts of others that followed accounts like or comment on.
	WithActivity Mode = ""
	// FriendsOnly shows what followed accounts post, what is posted in one's groups, one's
	// own posts, and messages.
	FriendsOnly Mode = "friends"
)

// HasModes reports whether rivers of the kind have modes. They are made of what followed
// accounts do.
func (k Kind) HasModes() bool { return specs[k].followBased }

// In returns the name of the same page in a mode. The kind must have modes.
func (n Name) In(m Mode) Name {
	n.Term = string(m)
	return n
}

// Mode returns the mode of a river whose kind has modes.
func (n Name) Mode() Mode { return Mode(n.Term) }
