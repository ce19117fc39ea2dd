package access

import (
	"iter"
	"maps"
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// Levels are timelines with the levels that open them.
type Levels struct {
	timelines map[int64]timelines.Timeline
	levels    map[int64]timelines.Level // by gate
}

// Timeline returns a timeline by id; ok is false if there is none.
func (l Levels) Timeline(id int64) (t timelines.Timeline, ok bool) {
	t, ok = l.timelines[id]
	return t, ok
}

// Timelines are all of them, in no order.
func (l Levels) Timelines() iter.Seq[timelines.Timeline] { return maps.Values(l.timelines) }

// Level returns the level that opens a timeline: its gate's, or Public where
// only the posts decide. An unknown timeline is Private and so has no readers.
func (l Levels) Level(id int64) timelines.Level {
	t, ok := l.timelines[id]
	if ok && t.GateID == 0 {
		return timelines.Public
	}
	if level, known := l.levels[t.GateID]; ok && known {
		return level
	}
	return timelines.Private
}

// Opens reports whether the viewer of the sets may read the timeline.
func (l Levels) Opens(s *Sets, id int64) bool {
	t, ok := l.timelines[id]
	return ok && (t.GateID == 0 || s.Reads(t.GateID, l.Level(id)))
}

// OpensAny reports whether any of a post's decisive timelines is readable: the
// right to read the post.
func (l Levels) OpensAny(s *Sets, decisive []int64) bool {
	return slices.ContainsFunc(decisive, func(id int64) bool { return l.Opens(s, id) })
}

// HiddenUsers are the people one viewer does not see in one post: neither posts nor
// comments nor likes of theirs. The zero value hides nobody.
type HiddenUsers struct{ banned, bannedBy, unseen IDs }

// Has reports whether the person is hidden.
func (h HiddenUsers) Has(person int64) bool {
	return h.banned.Has(person) || h.bannedBy.Has(person) || h.unseen.Has(person)
}

// None reports whether nobody is hidden.
func (h HiddenUsers) None() bool {
	return len(h.banned) == 0 && len(h.bannedBy) == 0 && len(h.unseen) == 0
}

// Hidden returns the people hidden from the viewer of the sets in a post with these
// decisive timelines: those whom only the staff see, and everybody a ban stands between, whoever set it. Where the
// post stands in a group the viewer reads and has chosen to see banned people in,
// the viewer's own bans do not count; and an administrator of that group, who
// could not keep order there otherwise, also sees the people who have banned them.
func (l Levels) Hidden(s *Sets, decisive []int64) HiddenUsers {
	h := HiddenUsers{s.Bans, s.BannedBy, s.Unseen}
	if len(s.ShowBanned) == 0 || h.None() {
		return h
	}
	for _, id := range decisive {
		t := l.timelines[id]
		if t.Kind != kinds.Group || !l.Opens(s, id) || !s.ShowBanned.Has(t.TheirID) {
			continue
		}
		h.banned = nil
		if s.Administers.Has(t.TheirID) {
			h.bannedBy = nil
		}
	}
	return h
}
