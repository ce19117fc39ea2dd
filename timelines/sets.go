package timelines

import "slices"

// Sets is what decides, in memory, what one viewer may see: loaded in one
// statement, immutable, shared by all requests of the viewer until something in
// it is narrowed or widened (DESIGN: R4).
type Sets struct {
	// AccountID is the viewer; 0 anonymous.
	AccountID int64
	// Follows are the accounts subscribed to, Apart those of them kept out of the
	// home feed.
	Follows, Apart map[int64]struct{}
	// Lists are the viewer's own, by title.
	Lists []List
	// FriendsOnly: the home feed and lists show, where an address does not say, only
	// what those one follows post.
	FriendsOnly bool
	// Readable are the base timelines whose explicit set admits the viewer,
	// whatever their level is at the moment.
	Readable map[int64]struct{}
	// Excluded are the protected timelines the viewer is excluded from.
	Excluded map[int64]struct{}
	// Administers are the groups the viewer administers.
	Administers map[int64]struct{}
}

// Reads reports whether the viewer may read a base timeline of that level.
func (s *Sets) Reads(timelineID int64, level Level) bool {
	switch level {
	case Public:
		return true
	case Protected:
		if s.AccountID == 0 {
			return false
		}
		_, out := s.Excluded[timelineID]
		return !out
	case Private:
		_, in := s.Readable[timelineID]
		return in
	}
	return false
}

// List returns the viewer's list of that slug; ok is false if there is none.
func (s *Sets) List(slug string) (l List, ok bool) { return listOf(s.Lists, slug) }

// Owns reports whether the list is the viewer's.
func (s *Sets) Owns(list int64) bool {
	return slices.ContainsFunc(s.Lists, func(l List) bool { return l.ID == list })
}

// Includes reports whether the account is in the list.
func (l List) Includes(account int64) bool {
	_, in := slices.BinarySearch(l.Members, account)
	return in
}
