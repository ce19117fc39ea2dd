package timelines

import "testing"

// A node that finds any number missing in the log, be it the first, the last or
// one between, forgets everything: it cannot know what stood there (R4).
func TestAdvanceOverATrimmedLog(t *testing.T) {
	for at, name := range []string{"first", "between", "last"} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			people := []Account{w.user("ann"), w.user("bob"), w.user("cat")}
			narrowed := people[at].FeedID
			c := NewAccessCache(w.Store)
			n := w.clock()
			w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: n}))
			level := func() Level {
				g, err := c.Gates(t.Context(), []int64{narrowed})
				w.must(err)
				return g.Level(narrowed)
			}
			w.same("level before", level(), Public)
			for _, p := range people {
				w.setAccess(p, "", Private)
			}
			w.exec(`DELETE FROM access_log WHERE n = $1`, n+int64(at)+1)
			w.same("level the cache remembers", level(), Public)
			w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
			w.same("level after", level(), Private)
		})
	}
}
