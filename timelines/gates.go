package timelines

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
