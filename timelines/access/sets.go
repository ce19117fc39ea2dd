package access

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/admin"
)

// Sets is what decides, in memory, what one viewer may see: loaded in one
// statement, immutable, shared by all requests of the viewer until something in
// it is narrowed or widened (R4 of ARCHITECTURE.md).
type Sets struct {
	// AccountID is the viewer; 0 anonymous.
	AccountID int64
	// Follows are the accounts that the viewer follows, OutOfHome those of them that are kept
	// out of the home feed.
	Follows, OutOfHome IDs
	// Lists are the viewer's own, by title.
	Lists []timelines.List
	// FriendsOnly: the home feed and lists show only posts of accounts the viewer
	// follows, where an address does not say otherwise.
	FriendsOnly bool
	// Readable are the base timelines whose explicit set admits the viewer,
	// whatever their level is at the moment.
	Readable IDs
	// Excluded are the protected timelines the viewer is excluded from.
	Excluded IDs
	// Administers are the groups the viewer administers.
	Administers IDs
	// BlockedBy are the groups that keep the viewer from writing there.
	BlockedBy IDs
	// Bans are the people the viewer has banned, BannedBy those who have banned the viewer.
	Bans, BannedBy IDs
	// ShowBanned are the groups in which the viewer wants to see banned people all
	// the same.
	ShowBanned IDs
	// Hides is what the viewer does not want to see.
	Hides
	// The viewer wants no notifications about the posts in Muted, and none of the kinds
	// in NoticesOff.
	Muted      IDs
	NoticesOff int16
	// RulesAgreed is the version of the site's rules that the viewer agreed to.
	RulesAgreed int
	// AlertsSeen is up to when the viewer has seen the alerts of sources, in microseconds.
	AlertsSeen int64

	// Events are what happened to the viewer's account lately that they have not seen, the newest
	// first.
	Events []Event
	// Role is what the viewer may do for the site.
	Role admin.Role
	// Unseen are the people whom only the staff see, and groups that are being deleted; for one of the
	// staff these groups alone. All other sets of a node share the list.
	Unseen IDs

	everything  bool // see Everything
	fingerprint string
}

// Everything returns the sets of somebody who may read everything on the site, and from whom no ban and no hide keeps anything.
func (s *Sets) Everything() *Sets {
	return &Sets{AccountID: s.AccountID, Role: s.Role, everything: true}
}

// Staff reports whether the viewer is one of the staff.
func (s *Sets) Staff() bool { return s.Role != admin.Nobody }

// Event is something that happened to an account (package signins).
type Event struct {
	Kind    string
	At      int64 // microseconds
	Device  string
	Session []byte // hash of the session that began, nil if none did
}

// Fingerprint names the viewer's bans, hides and mutes, and the groups they administer, where
// they see more of banned people and may take things away: two pages of one viewer that
// were decided with equal fingerprints differ by their entries' stamps only. A change of
// it moves no stamp, so pages carry it beside theirs.
func (s *Sets) Fingerprint() string {
	if s == nil {
		return "" // of a page without a river
	}
	return s.fingerprint
}

func (s *Sets) computeFingerprint() string {
	if cmp.Or(len(s.Role), len(s.Unseen), len(s.Administers), len(s.Bans), len(s.BannedBy), len(s.Posts), len(s.Accounts), len(s.Terms), len(s.Muted)) == 0 {
		return "" // nearly everybody
	}
	h := sha256.New()
	for _, set := range []IDs{s.Bans, s.BannedBy, s.ShowBanned, s.Administers, s.Posts, s.Accounts, s.Muted, s.Unseen} {
		b := binary.BigEndian.AppendUint64(nil, uint64(len(set)))
		for _, id := range set {
			b = binary.BigEndian.AppendUint64(b, uint64(id))
		}
		h.Write(b)
	}
	h.Write([]byte(s.Role + "\n"))
	for _, t := range s.Terms {
		h.Write([]byte(strings.Join(t, " ") + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// BlockedBetween reports whether a ban stands between the viewer and a person, in
// whichever direction, or only the staff see the person.
func (s *Sets) BlockedBetween(person int64) bool {
	return s.Bans.Has(person) || s.BannedBy.Has(person) || s.Unseen.Has(person)
}

// Reads reports whether the viewer may read a base timeline of that level.
func (s *Sets) Reads(timelineID int64, level timelines.Level) bool {
	if s.everything {
		return true
	}
	switch level {
	case timelines.Public:
		return true
	case timelines.Protected:
		return s.AccountID != 0 && !s.Excluded.Has(timelineID)
	case timelines.Private:
		return s.Readable.Has(timelineID)
	}
	return false
}

// List returns the viewer's list of that slug; ok is false if there is none.
func (s *Sets) List(slug string) (l timelines.List, ok bool) {
	i := slices.IndexFunc(s.Lists, func(l timelines.List) bool { return l.Slug == slug })
	if i < 0 {
		return timelines.List{}, false
	}
	return s.Lists[i], true
}

// OwnsList reports whether the list is the viewer's.
func (s *Sets) OwnsList(list int64) bool {
	return slices.ContainsFunc(s.Lists, func(l timelines.List) bool { return l.ID == list })
}
