package timelines

import (
	"iter"
	"maps"
)

// Gates are timelines with the levels that open them.
type Gates struct {
	timelines map[int64]Timeline
	levels    map[int64]Level
}

// Timeline returns a timeline by id; ok is false if there is none.
func (g Gates) Timeline(id int64) (t Timeline, ok bool) {
	t, ok = g.timelines[id]
	return t, ok
}

// Timelines are all of them, in no order.
func (g Gates) Timelines() iter.Seq[Timeline] { return maps.Values(g.timelines) }

// Level returns the level that opens a timeline: its gate's, or Public where
// only the posts decide. An unknown timeline is Private and so has no readers.
func (g Gates) Level(id int64) Level {
	t, ok := g.timelines[id]
	if !ok {
		return Private
	}
	if t.GateID == 0 {
		return Public
	}
	level, ok := g.levels[t.GateID]
	if !ok {
		return Private
	}
	return level
}

// Opens reports whether the viewer of the sets may read the timeline.
func (g Gates) Opens(s *Sets, id int64) bool {
	t, ok := g.timelines[id]
	if !ok {
		return false
	}
	if t.GateID == 0 {
		return true
	}
	return s.Reads(t.GateID, g.Level(id))
}

// OpensAny reports whether any of a post's decisive timelines is readable: the
// right to read the post.
func (g Gates) OpensAny(s *Sets, decisive []int64) bool {
	for _, id := range decisive {
		if g.Opens(s, id) {
			return true
		}
	}
	return false
}

// Veil is whom one viewer does not see in one post: neither posts nor comments
// nor likes of theirs. The zero Veil hides nobody.
type Veil struct{ mine, theirs map[int64]struct{} }

// Hides reports whether the person is not seen.
func (v Veil) Hides(person int64) bool {
	_, mine := v.mine[person]
	_, theirs := v.theirs[person]
	return mine || theirs
}

// None reports whether nobody is hidden.
func (v Veil) None() bool { return len(v.mine) == 0 && len(v.theirs) == 0 }

// Veil returns who is hidden from the viewer of the sets in a post with these
// decisive timelines: everybody a ban stands between, whoever set it. Where the
// post stands in a group the viewer reads and has chosen to see banned people in,
// the viewer's own bans do not count; and an administrator of that group, who
// could else not keep order there, sees also who has banned them.
func (g Gates) Veil(s *Sets, decisive []int64) Veil {
	v := Veil{mine: s.Bans, theirs: s.BannedBy}
	if len(s.ShowBanned) == 0 || v.None() {
		return v
	}
	for _, id := range decisive {
		t, ok := g.timelines[id]
		if !ok || t.Kind != KindGroup || !g.Opens(s, id) {
			continue
		}
		if _, shown := s.ShowBanned[t.TheirID]; !shown {
			continue
		}
		v.mine = nil
		if _, administers := s.Administers[t.TheirID]; administers {
			v.theirs = nil
		}
	}
	return v
}
