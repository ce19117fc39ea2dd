package timelines

import "time"

// Level says who may read a base timeline (source: 000, "Права на чтение постов").
type Level int16

const (
	// Public: everybody, signed in or not.
	Public Level = 0
	// Protected: every signed-in account except those explicitly excluded.
	Protected Level = 1
	// Private: readers explicitly admitted, and nobody else.
	Private Level = 2
)

// String returns the level's name as forms and addresses use it.
func (l Level) String() string {
	switch l {
	case Public:
		return "public"
	case Protected:
		return "protected"
	case Private:
		return "private"
	}
	return "unknown"
}

// ParseLevel is the inverse of Level.String.
func ParseLevel(s string) (Level, bool) {
	for _, l := range []Level{Public, Protected, Private} {
		if s == l.String() {
			return l, true
		}
	}
	return 0, false
}

// Timeline kinds.
const (
	KindFeed = "feed"
	// KindSubfeed: a person's further feeds, each with its own term.
	KindSubfeed = "subfeed"
	// KindEyes: posts "for your eyes only" (source: 004).
	KindEyes        = "eyes"
	KindDirects     = "directs"
	KindGroup       = "group"
	KindLikes       = "likes"
	KindComments    = "comments"
	KindDiscussions = "discussions"
	KindFaves       = "faves"
	KindMentions    = "mentions"
	KindPost        = "post"
	KindEverything  = "everything"
	KindBest        = "best"
	KindMostFaved   = "mostfaved"
	KindHashtag     = "hashtag"
)

// River kinds of more than one timeline that a Replace names. A river kind that shows
// timelines of one kind has the name of that kind. Package rivers has all river kinds.
const (
	RiverHome = "home"
	RiverList = "list"
	RiverUser = "user"
)

// Account kinds.
const (
	User  = "user"
	Group = "group"
)

// Account is a user or a group.
type Account struct {
	ID        int64
	CreatedAt time.Time
	Kind      string // User or Group
	Name      string // unique, [a-z0-9-], 3 to 35
	Title     string // shown name
	About     string
	Language  string // chosen in the settings, or empty
	// FeedID is the timeline of its own posts: feed of a user, group of a group.
	FeedID int64
	// Access is that timeline's level.
	Access Level
	// Writers says who may post to the group, or write directs to the user.
	Writers Writers
}

// Micros is an instant as the order columns hold it: microseconds since 1970.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Timeline is everything about a timeline that never changes, which is all but its
// level. access.Cache knows the level.
type Timeline struct {
	ID      int64
	Kind    string
	TheirID int64
	Term    string
	GateID  int64 // the timeline whose level decides; 0 none
}
