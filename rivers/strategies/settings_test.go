package strategies_test

import (
	"fmt"
	"testing"
	"time"

	"riverrun/rivers/strategies"
)

// While servers are restarted one by one with another setting, some write feeds of one setting
// and some of the other. Neither writes into the other's, and both show what is there.
func TestTwoSettingsAtOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	var codes []string
	for i := range 12 {
		codes = append(codes, w.act(w.posting(bob, fmt.Sprint(i))).Code)
	}
	read := strategies.NewRead(w.store, 0)
	for name, of := range map[string][2]strategies.Strategy{
		"timed": {strategies.NewTimed(w.stores(), time.Hour), strategies.NewTimed(w.stores(), time.Millisecond)},
		"sized": {strategies.NewSized(w.stores(), 5), strategies.NewSized(w.stores(), 2)},
		"cache": {strategies.NewCache(w.stores(), read, 7, 0), strategies.NewCache(w.stores(), read, 3, 0)},
	} {
		for i := range 6 {
			reads, writes := of[i%2], of[(i+1)%2]
			w.all = map[string]strategies.Strategy{name: reads}
			w.same("before", ann)
			change := w.commenting(bob, codes[i])
			switch i {
			case 2, 3:
				change = w.posting(bob, "new")
			case 4, 5:
				change = named(w.store.Posts.Delete, bob, codes[len(codes)-1])
				codes = codes[:len(codes)-1]
			}
			c := w.act(change)
			written := w.count(`SELECT coalesce(max(version), 0) FROM home_feed_posts WHERE post_id = $1`, c.PostID)
			if err := writes.Apply(w.ctx, strategies.Events(c)...); err != nil {
				t.Errorf("%s: write a feed of another setting: %v", name, err)
			}
			if now := w.count(`SELECT coalesce(max(version), 0) FROM home_feed_posts WHERE post_id = $1`, c.PostID); now != written {
				t.Errorf("%s: a post was written into a feed of another setting", name)
			}
			w.same("after", ann)
			// A writer of its own setting that looked up before finds the feed retired.
			c = w.act(w.commenting(bob, codes[5]))
			late := strategies.PausedAt(w.ctx, strategies.AfterSnapshot, func() {
				if err := writes.Apply(w.ctx, strategies.Events(c)...); err != nil {
					t.Fatal(err)
				}
			})
			if err := reads.Apply(late, strategies.Events(c)...); err != nil {
				t.Fatal(err)
			}
			w.same("after a late writer", ann)
		}
	}
}
