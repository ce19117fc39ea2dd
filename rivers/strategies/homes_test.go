package strategies_test

import (
	"slices"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// While the processes of a site have different strategies, home pages are right in each of them,
// and no change of a feed is lost.
func TestProcessesOfDifferentStrategies(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	timed, sized, live := strategies.NewHomes("timed", w.stores()), strategies.NewHomes("sized", w.stores()), strategies.NewHomes("rivers", w.stores())
	starts := func(name string) {
		t.Helper()
		if err := strategies.Select(w.ctx, w.db.Secondary, name); err != nil {
			t.Fatal(err)
		}
	}
	name := rivers.Name{UserID: ann.AccountID, Kind: rivers.Home, Order: rivers.Fresh}
	pages := func(when string, of ...*strategies.Homes) {
		t.Helper()
		want := w.oracle(ann)
		for i, h := range of {
			page, err := h.Visit(w.ctx, ann, name, rivers.Cursor{})
			var got []strategies.Entry
			for _, it := range must(w, page, err).Items {
				got = append(got, strategies.Entry{PostID: it.PostID, Place: it.Place})
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: page of process %d: got %v, want %v", when, i, got, want)
			}
		}
	}
	keeps := func(h *strategies.Homes, want bool) {
		t.Helper()
		if got, err := h.Keeps(w.ctx); err != nil || got != want {
			t.Errorf("keeps feeds: got %v (%v), want %v", got, err, want)
		}
	}
	post := func(body string) (events []timelines.Event) {
		t.Helper()
		return strategies.Events(w.act(w.posting(bob, body)))
	}

	starts("timed")
	pages("at first", timed, sized)
	keeps(live, true)
	events := post("worked by another process")
	for name, h := range map[string]*strategies.Homes{"rivers": live, "sized": sized} {
		_, _, err := h.ApplyStep(w.ctx, strategies.Progress{}, events[0])
		if err == nil || !strings.Contains(err.Error(), "start all with the same RIVERRUN_HOME") {
			t.Errorf("%s: a step in a process of another strategy: got %v", name, err)
		}
	}
	if _, _, err := timed.ApplyStep(w.ctx, strategies.Progress{}, events[0]); err != nil {
		t.Fatal(err)
	}
	pages("after a post", timed, sized)

	w.exec(`UPDATE home_strategy SET strategy = 'rivers'`) // the old feeds are there
	live = strategies.NewHomes("rivers", w.stores())
	keeps(live, false)
	events = post("brought into no feed")
	if _, _, err := timed.ApplyStep(w.ctx, strategies.Progress{}, events[0]); err != nil {
		t.Errorf("a step of a process that is left over: %v", err)
	}
	pages("after rivers were selected", timed, sized)
	if err := live.Expire(w.ctx); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state <> 'retired'`); n != 0 {
		t.Errorf("%d feeds are left of strategies that are not selected", n)
	}

	w.exec(`TRUNCATE home_strategy, home_feeds, home_feed_buckets, home_feed_posts`)
	pages("after a loss of the secondary store", sized, timed)
	if selected, err := strategies.Selected(w.ctx, w.db.Secondary); err != nil || selected != "sized" {
		t.Errorf("after a loss of the secondary store: %q is selected (%v), want sized", selected, err)
	}
}
