package rivers

import (
	"fmt"
	"log/slog"
	"testing"
)

// Searches that find nothing among the changed posts write nothing, however many they are.
func TestSearchesThatFindNothingWriteNothing(t *testing.T) {
	const searches, posts, pairs = 12, 10, 25
	w := newTown(t)
	ann := w.person("ann")
	var sizes writes
	opts := DefaultOptions()
	opts.Metrics = &sizes
	s := Open(w.db.Secondary, w.store, slog.New(slog.DiscardHandler), opts)
	s.writePairs = pairs
	var watches []Watch
	for i := range searches {
		p := w.visit(ann, Search, fmt.Sprint("cat", i))
		watches = append(watches, Watch{Viewer: ann, Name: p.Name, River: p.River})
	}
	flushed := func(ids []int64, items int) {
		t.Helper()
		var names []Name
		for _, watch := range watches {
			names = append(names, watch.Name)
		}
		if left, err := s.BringUp(w.ctx, names); err != nil || len(left) > 0 {
			t.Fatalf("bring up: %v is left, %v", left, err)
		}
		seen, err := s.Flush(w.ctx, watches, ids)
		must(w, seen, err)
		for i := range seen {
			if len(seen[i].Items) != items || seen[i].Swapped {
				t.Errorf("search %d: %+v, want %d posts", i, seen[i], items)
			}
		}
		w.sound()
	}
	var ids []int64
	for i := range posts {
		ids = append(ids, w.says(ann, numbered(i)).PostID)
	}
	flushed(ids, 0)
	if n := w.count(`SELECT count(*) FROM entries`); n != 0 {
		t.Errorf("%d searches that find nothing among %d posts wrote %d entries", searches, posts, n)
	}
	// Found posts are written in batches, a search's entries together.
	all := ""
	for i := range searches {
		all += fmt.Sprintf("cat%d ", i)
	}
	for i := range ids {
		ids[i] = w.says(ann, all).PostID
	}
	flushed(ids, posts)
	if n := w.count(`SELECT count(*) FROM entries`); n != searches*posts {
		t.Errorf("%d entries stand, want %d", n, searches*posts)
	}
	for _, n := range sizes.sizes {
		if n > pairs {
			t.Errorf("%d entries in one transaction, want at most %d", n, pairs)
		}
	}
}
