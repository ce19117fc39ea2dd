package timelines

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// Sets is what decides, in memory, what one viewer may see: loaded in one
// statement, immutable, shared by all requests of the viewer until something in
// it is narrowed or widened (DESIGN: R4).
type Sets struct {
	// AccountID is the viewer; 0 anonymous.
	AccountID int64
	// Follows are the accounts subscribed to, OutOfHome those of them kept out of the
	// home feed.
	Follows, OutOfHome map[int64]struct{}
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
	// BlockedBy are the groups that keep the viewer from writing there.
	BlockedBy map[int64]struct{}
	// Bans are whom the viewer has banned, BannedBy who has banned the viewer.
	Bans, BannedBy map[int64]struct{}
	// ShowBanned are the groups in which the viewer wants to see banned people all
	// the same.
	ShowBanned map[int64]struct{}
	// Hides is what the viewer wants to be spared.
	Hides Hides

	sight string
}

// Sight names what the viewer has chosen to see and not to see by bans and hides, and
// where they keep order, which shows more of who is banned, and what one may take away:
// two pages of one viewer that were decided with equal sights differ by their
// entries' stamps only. Changes of it move no stamp, so pages carry a word for it
// beside theirs.
func (s *Sets) Sight() string {
	if s == nil {
		return "" // of a page without a river
	}
	return s.sight
}

// see computes the sight. It is called once, when the sets are loaded.
func (s *Sets) see() *Sets {
	if cmp.Or(len(s.Administers), len(s.Bans), len(s.BannedBy), len(s.Hides.Posts), len(s.Hides.Accounts), len(s.Hides.Terms)) == 0 {
		return s // nearly everybody
	}
	h := sha256.New()
	for _, set := range []map[int64]struct{}{s.Bans, s.BannedBy, s.ShowBanned, s.Administers, s.Hides.Posts, s.Hides.Accounts} {
		b := binary.BigEndian.AppendUint64(nil, uint64(len(set)))
		for _, id := range slices.Sorted(maps.Keys(set)) {
			b = binary.BigEndian.AppendUint64(b, uint64(id))
		}
		h.Write(b)
	}
	for _, t := range s.Hides.Terms {
		h.Write([]byte(strings.Join(t, " ") + "\n"))
	}
	s.sight = hex.EncodeToString(h.Sum(nil)[:8])
	return s
}

// Apart reports whether a ban stands between the viewer and a person, in
// whichever direction.
func (s *Sets) Apart(person int64) bool {
	_, mine := s.Bans[person]
	_, theirs := s.BannedBy[person]
	return mine || theirs
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
