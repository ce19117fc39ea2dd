package rivers

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"riverrun/timelines"
)

// writes are the sizes of the writes.
type writes struct {
	mu    sync.Mutex
	sizes []int
}

func (w *writes) Built(Kind, BuildCause, int, time.Duration) {}
func (w *writes) Wrote(entries int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sizes = append(w.sizes, entries)
}

// Many posts are written into many rivers in batches, a river's entries together. A writer
// that begins again has only the rest to do.
func TestWriterWritesInBatches(t *testing.T) {
	const viewers, posts, pairs = 7, 3, 6
	w := newTown(t)
	bob := w.person("bob")
	var all []timelines.Viewer
	for i := range viewers {
		v := w.person(fmt.Sprint("reader-", i))
		w.follow(v, "bob")
		all = append(all, v)
	}
	w.drain()
	for _, v := range all {
		w.visit(v, Home, "")
	}
	var sizes writes
	opts := DefaultOptions()
	opts.Metrics = &sizes
	s := Open(w.db.Secondary, w.store, slog.New(slog.DiscardHandler), opts)
	s.writePairs = pairs
	var touched []timelines.Touched
	want := []string{}
	for i := range posts {
		c := w.post(bob, numbered(i))
		touched = append(touched, timelines.Touched{PostID: c.PostID, Timelines: c.Touched})
		want = append([]string{numbered(i)}, want...)
	}
	if err := s.Distribute(w.ctx, touched, All); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range sizes.sizes {
		if n > pairs {
			t.Errorf("%d entries in one transaction, want at most %d", n, pairs)
		}
		total += n
	}
	if total != viewers*posts {
		t.Errorf("wrote %d entries, want %d", total, viewers*posts)
	}
	// One post changes, and only its entries are written again.
	sizes.sizes = nil
	c := w.comment(bob, w.visit(all[0], Home, "").Items[0].Fold.Text.Code, "so")
	for i := range touched {
		if touched[i].PostID == c.PostID {
			touched[i].Timelines = append(touched[i].Timelines, c.Touched...)
		}
	}
	if err := s.Distribute(w.ctx, touched, All); err != nil {
		t.Fatal(err)
	}
	total = 0
	for _, n := range sizes.sizes {
		total += n
	}
	if total != viewers {
		t.Errorf("wrote %d entries, want %d", total, viewers)
	}
	w.drain()
	for _, v := range all {
		w.shows(w.visit(v, Home, ""), want...)
	}
	w.sound()
}
