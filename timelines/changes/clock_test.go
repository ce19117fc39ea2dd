package changes_test

import (
	"slices"
	"testing"
	"time"
)

// A node's clock was far ahead for a while. Readers still get what was numbered then, and all that comes after it.
func TestAClockThatWasAhead(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann)
	w.relay()
	begin := w.bounds()
	now := time.Now()
	w.log.SetClock(func() time.Time { return now })
	var want []int64
	for _, days := range []int{0, 100, 0, 1} {
		now = time.Now().Add(time.Duration(days) * 24 * time.Hour)
		want = append(want, w.post(ann).PostID)
		w.relay()
	}
	now = time.Now()
	if got := postsOf(w.after(begin.Last)); !slices.Equal(got, want) {
		t.Errorf("the log has the posts %v, want %v", got, want)
	}
}
