package notices

// Kind is a kind of event, as the column of that name has it.
type Kind int16

// The kinds of events. A number never changes its meaning: rows have it, and settings have its
// bit.
const (
	Like        Kind = 1 + iota // somebody likes my post
	CommentLike                 // somebody likes my comment
	Comment                     // somebody comments on my post
	After                       // somebody comments where I did before
	Mention                     // somebody names me in a post or a comment
	Message                     // somebody sends me a message, or comments on one
	// Source is no kind of event: no row has it. It stands for the alerts of sources (timelines/sources/alerts.go),
	// which can be switched off as events can.
	Source
)

// Kinds are all kinds of events, in the order in which settings list them. Choices are all that can be switched off.
var (
	Kinds   = []Kind{Comment, After, Mention, Message, Like, CommentLike}
	Choices = append(Kinds[:len(Kinds):len(Kinds)], Source)
)

// Off is a set of kinds that a person does not want.
type Off int16

// Has reports whether the kind is in the set.
func (o Off) Has(k Kind) bool { return o&k.bit() != 0 }

// With returns the set with the kind added.
func (o Off) With(k Kind) Off { return o | k.bit() }

func (k Kind) bit() Off { return 1 << (k - 1) }
