package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// Many who read a feed first at the same time fill it once: one builds, and the others wait.
func TestAFeedIsFilledOnce(t *testing.T) {
	t.Parallel()
	const others = 4
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	for i := range 9 {
		w.act(w.posting(bob, fmt.Sprint(i)))
	}
	s := strategies.NewSized(w.stores(), 4)
	w.all = map[string]strategies.Strategy{"sized": s}
	var reading sync.WaitGroup
	arrived := make(chan struct{}, 2*others)
	first := strategies.PausedAt(w.ctx, strategies.AfterSnapshot, func() {
		for range others {
			read := strategies.PausedAt(w.ctx, strategies.Waiting, func() { arrived <- struct{}{} })
			reading.Go(func() {
				if _, err := s.Page(read, ann, rivers.Cursor{}, 5); err != nil {
					t.Error(err)
				}
			})
		}
		for range others {
			select {
			case <-arrived:
			case <-time.After(20 * time.Second):
				t.Error("a reader does not wait for the build")
			}
		}
	})
	if _, err := s.Page(first, ann, rivers.Cursor{}, 5); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	w.same("after", ann)
}

// A build that fails is gone on with at once, and one that is late each time ends.
func TestABuildThatFails(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann := w.person("ann")
	w.act(w.posting(ann, "one"))
	s := strategies.NewSized(w.stores(), 4)
	w.all = map[string]strategies.Strategy{"sized": s}
	strategies.SetWriteDeadline(s, -time.Second)
	if err := s.Fill(w.ctx, ann.AccountID); !errors.Is(err, rivers.ErrUnavailable) {
		t.Errorf("a fill that is always late: got %v, want %v", err, rivers.ErrUnavailable)
	}
	w.same("meanwhile", ann)
	strategies.SetWriteDeadline(s, 0)
	waits := 0
	ctx := strategies.PausedEach(w.ctx, strategies.Waiting, func() { waits++ })
	if _, err := s.Page(ctx, ann, rivers.Cursor{}, 5); err != nil || waits != 0 {
		t.Errorf("the next reader waited %d times and got %v, want it to go on with the fill", waits, err)
	}
	w.same("after", ann)
	// A builder that gives no sign of life is taken over, also by a fill that another asked for.
	w.exec(`INSERT INTO home_feeds (id, viewer_id, epoch, setting, strategy, visited_at)
		SELECT 1, 1000, epoch, 4, 'sized', clock_timestamp() - interval '6 seconds' FROM clock`)
	if err := s.Fill(context.WithoutCancel(ctx), 1000); err != nil || waits != 0 {
		t.Errorf("a fill whose builder is dead waited %d times and got %v", waits, err)
	}
}

// A change of what somebody follows fills the feed once, however often it is applied, and while
// it is filled too. The next change fills it again.
func TestAChangeFillsAFeedOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.posting(bob, "one"))
	s := strategies.NewSized(w.stores(), 4)
	w.all = map[string]strategies.Strategy{"sized": s}
	w.same("before", ann)
	fills := 0
	for _, change := range []func(context.Context) (timelines.Change, error){
		w.following(ann, "bob"), named(w.store.Subscriptions.Unsubscribe, ann, "bob"),
	} {
		w.act(change)
		tx, err := w.store.TxNow(w.ctx)
		followed := timelines.Replace{ViewerID: ann.AccountID, Tx: must(w, tx, err)}
		var joining sync.WaitGroup
		waits := make(chan struct{})
		ctx := strategies.PausedAt(w.ctx, strategies.AfterSnapshot, func() {
			joins := strategies.PausedAt(w.ctx, strategies.Waiting, func() { close(waits) })
			joining.Go(func() {
				if err := s.Apply(joins, followed); err != nil {
					t.Error(err)
				}
			})
			select {
			case <-waits:
			case <-time.After(20 * time.Second):
				t.Error("the second time does not wait for the first")
			}
		})
		if err := s.Apply(ctx, followed); err != nil {
			t.Fatal(err)
		}
		joining.Wait()
		if err := s.Apply(w.ctx, followed); err != nil {
			t.Fatal(err)
		}
		fills++
		if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'retired'`); n != fills {
			t.Errorf("%d feeds were replaced, want %d", n, fills)
		}
		w.same("after", ann)
	}
}

// A change that concerns everybody, or the followers of an account, drops the feeds that were filled
// before it, and no others.
func TestAFeedThatKnowsAChangeStays(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	tx := func() int64 {
		tx, err := w.store.TxNow(w.ctx)
		return must(w, tx, err)
	}
	for _, name := range []string{"timed", "sized", "cache"} {
		s := w.all[name]
		apply := func(when string, want int, r timelines.Replace) {
			t.Helper()
			if _, err := s.Page(w.ctx, ann, rivers.Cursor{}, 5); err != nil {
				t.Fatal(err)
			}
			if r.Tx == 0 {
				r.Tx = tx()
			}
			if err := s.Apply(w.ctx, r); err != nil {
				t.Fatal(err)
			}
			if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live' AND strategy = $1`, name); n != want {
				t.Errorf("%s: %d feeds stand after %s, want %d", name, n, when, want)
			}
		}
		was := tx()
		apply("an old change of an account", 1, timelines.Replace{AccountID: bob.AccountID, Tx: was})
		apply("an old change of everybody", 1, timelines.Replace{Everybody: true, Tx: was})
		apply("a change of an account", 0, timelines.Replace{AccountID: bob.AccountID})
		apply("a change of everybody", 0, timelines.Replace{Everybody: true})
	}
}

// A feed that takes long to fill makes no page wait for it. Pages come from the primary store
// meanwhile, and each goes on with the fill.
func TestPagesWhileALargeFeedIsFilled(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.act(w.following(ann, "bob"))
	var codes []string
	for i := range 14 {
		codes = append(codes, w.act(w.posting(bob, fmt.Sprint(i))).Code)
	}
	w.act(w.posting(cat, "of cat"))
	for name, s := range map[string]strategies.Strategy{
		"timed": strategies.NewTimed(w.stores(), time.Hour), "sized": strategies.NewSized(w.stores(), 4),
	} {
		wants := func(when string, feeds int) {
			t.Helper()
			page, err := s.Page(w.ctx, ann, rivers.Cursor{}, 25)
			if want := w.oracle(ann); !slices.Equal(must(w, page, err).Entries, want) {
				t.Errorf("%s, %s: got %v, want %v", name, when, page.Entries, want)
			}
			if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live' AND strategy = $1`, name); n != feeds {
				t.Errorf("%s, %s: %d live feeds, want %d", name, when, n, feeds)
			}
		}
		strategies.SetFillChunk(s, 5)
		strategies.SetFillFor(s, time.Nanosecond)
		wants("the first page", 0)
		for _, change := range []func(context.Context) (timelines.Change, error){
			w.posting(bob, "between two chunks"), named(w.store.Posts.Delete, bob, codes[len(codes)-2]), named(w.store.Posts.Delete, bob, codes[1]),
		} {
			if err := s.Apply(w.ctx, strategies.Events(w.act(change))...); err != nil {
				t.Fatal(err)
			}
		}
		codes = append(codes[:len(codes)-2], codes[len(codes)-1])
		codes = append(codes[:1], codes[2:]...)
		wants("the second page", 0)
		wants("the third page", 1)
		events := strategies.Events(w.act(w.following(ann, "cat")))
		if err := s.ApplyOwn(w.ctx, ann.AccountID, events...); err != nil {
			t.Fatal(err)
		}
		wants("after a follow", 0)
		if err := s.Apply(w.ctx, events...); err != nil {
			t.Fatal(err)
		}
		wants("after its job", 1)
		w.act(named(w.store.Subscriptions.Unsubscribe, ann, "cat"))
	}
}
