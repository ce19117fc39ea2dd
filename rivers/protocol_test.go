package rivers

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// change is something that somebody does to a post of bob's that ann's home holds.
type change struct {
	name string
	do   func(w *town, ann, bob, cat timelines.Viewer, code string)
}

var changes = []change{
	{"a new post", func(w *town, _, bob, _ timelines.Viewer, _ string) { w.post(bob, "new") }},
	{"a bumping comment", func(w *town, _, _, cat timelines.Viewer, code string) { w.comment(cat, code, "up") }},
	{"a like that brings it", func(w *town, _, bob, _ timelines.Viewer, code string) { w.like(bob, code) }},
	{"my own like", func(w *town, ann, _, _ timelines.Viewer, code string) { w.like(ann, code) }},
	{"like, unlike", func(w *town, ann, _, _ timelines.Viewer, code string) { w.like(ann, code); w.unlike(ann, code) }},
	{"a deletion", func(w *town, _, bob, _ timelines.Viewer, code string) { w.remove(bob, code) }},
	{"an edit", func(w *town, _, bob, _ timelines.Viewer, code string) {
		_, err := w.store.Posts.Edit(w.ctx, bob.AccountID, code, "edited")
		must(w, 0, err)
	}},
}

// pausedAt runs fn while a writer pauses at a point, the first time it comes there.
func pausedAt(ctx context.Context, point string, fn func()) context.Context {
	done := false
	return withPause(ctx, func(at string) {
		if at == point && !done {
			done = true
			fn()
		}
	})
}

// A change may come at any step of a build, and the river ends right: the change's writer
// sees the river, or the builder's snapshot sees the change (R1, R5).
func TestBuildMeetsChange(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
			w.follow(ann, "bob")
			for _, point := range []string{afterRegister, afterSnapshot, afterEntries} {
				code := w.post(bob, "one").Code
				w.post(bob, "two")
				w.drain()
				w.exec(`UPDATE rivers SET state = 'retired', retired_at = now()`)
				met := false
				ctx := pausedAt(w.ctx, point, func() {
					met = true
					c.do(w, ann, bob, cat, code)
					w.drain()
				})
				if err := w.rivers.build(ctx, w.name(ann, Home, ""), ForVisit, nil); err != nil {
					t.Fatalf("%s: %v", point, err)
				}
				if !met {
					t.Fatalf("no build came to %s", point)
				}
				w.soundAt(point)
				if got := w.count(`SELECT count(*) FROM rivers WHERE state = 'live'`); got != 1 {
					t.Errorf("%s: %d live rivers, want 1", point, got)
				}
			}
		})
	}
}

// The same holds for "older entries" and a change while an extension is under way.
func TestExtensionMeetsChange(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
			w.follow(ann, "bob")
			deep := map[string]string{}
			points := []string{afterSnapshot, afterEntries}
			for _, point := range points {
				deep[point] = w.post(bob, "deep, for "+point).Code
			}
			for i := range chunk + 10 {
				w.post(bob, numbered(i))
			}
			for _, point := range points {
				w.drain()
				w.exec(`UPDATE rivers SET state = 'retired', retired_at = now()`)
				p := w.visit(ann, Home, "")
				floor := int64(w.count(`SELECT floor FROM rivers WHERE id = $1`, p.River))
				met := false
				ctx := pausedAt(w.ctx, point, func() {
					met = true
					c.do(w, ann, bob, cat, deep[point])
					w.drain()
				})
				if err := w.rivers.extend(ctx, p.Name, p.River, floor, chunk); err != nil {
					t.Fatalf("%s: %v", point, err)
				}
				if !met {
					t.Fatalf("no extension came to %s", point)
				}
				w.soundAt(point)
			}
		})
	}
}

// I like a post that an extension is just bringing into a river not made of my likes. The
// entry shows it, even if the node that ran Tier 0 died.
func TestExtensionMeetsALikeFoundByItsActor(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	deep := w.post(bob, "deep")
	for i := range chunk + 10 {
		w.post(bob, numbered(i))
	}
	w.drain()
	p := w.visit(ann, User, "bob")
	floor := int64(w.count(`SELECT floor FROM rivers WHERE id = $1`, p.River))
	ctx := pausedAt(w.ctx, afterSnapshot, func() {
		w.like(ann, deep.Code)
		w.drain()
	})
	if err := w.rivers.extend(ctx, p.Name, p.River, floor, chunk); err != nil {
		t.Fatal(err)
	}
	w.sound()
}

// If two writers meet, the one with the older snapshot cannot win, whichever writes last
// (R2): like-unlike and back end as they stand in the primary store.
func TestALateWriterLoses(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(ann, "bob")
	p := w.post(cat, "a stranger's")
	w.post(bob, "his own")
	w.forget()
	w.shows(w.visit(ann, Home, ""), "his own")
	for _, point := range []string{afterLookup, afterSnapshot} {
		like := w.like(bob, p.Code)
		w.forget()
		met := false
		ctx := pausedAt(w.ctx, point, func() {
			met = true
			w.unlike(bob, p.Code)
			w.drain()
		})
		touched := []timelines.Touched{{PostID: like.PostID, Timelines: like.Touched}}
		if err := w.rivers.Distribute(ctx, touched, All); err != nil {
			t.Fatal(err)
		}
		if !met {
			t.Fatalf("no writer came to %s", point)
		}
		w.shows(w.visit(ann, Home, ""), "his own")
		w.soundAt(point) // what has no reason left is not shown, but stands
		w.like(bob, p.Code)
		w.drain()
		w.shows(w.visit(ann, Home, ""), "a stranger's", "his own")
		w.unlike(bob, p.Code)
		w.drain()
	}
	w.sound()
}

// A job that repeats finished work finds nothing left to do.
func TestARepeatedWriterEndsEarly(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(ann, "bob")
	w.forget()
	w.visit(ann, Home, "")
	c := w.post(bob, "hello")
	w.comment(cat, c.Code, "well")
	w.like(bob, c.Code)
	w.mu.Lock()
	var touched []timelines.Touched
	for _, e := range w.events {
		touched = append(touched, e.(timelines.Touched))
	}
	w.mu.Unlock()
	for _, want := range []bool{true, false} {
		came := false
		ctx := withPause(w.ctx, func(point string) { came = came || point == afterSnapshot })
		if err := w.rivers.Distribute(ctx, touched, All); err != nil {
			t.Fatal(err)
		}
		if came != want {
			t.Errorf("took a snapshot: %v, want %v", came, want)
		}
	}
	w.drain()
	w.sound()
}

// A writer that finds no entry in a river leaves a tombstone, so that a writer with an
// older snapshot cannot bring the post back.
func TestATombstoneStandsBeforeItsEntry(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	w.post(bob, "first")
	w.forget()
	p := w.visit(ann, Home, "")
	c := w.post(bob, "short-lived")
	touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
	ctx := pausedAt(w.ctx, afterSnapshot, func() {
		w.remove(bob, c.Code)
		w.drain()
		if got := w.count(`SELECT count(*) FROM entries WHERE river_id = $1 AND post_id = $2 AND deleted`, p.River, c.PostID); got != 1 {
			t.Errorf("%d tombstones, want 1", got)
		}
	})
	if err := w.rivers.Distribute(ctx, touched, All); err != nil {
		t.Fatal(err)
	}
	w.shows(w.visit(ann, Home, ""), "first")
	w.sound()
}

// A writer past its deadline writes nothing, and says so.
func TestTheDeadlineHolds(t *testing.T) {
	w := newTown(t)
	e := entry{River: 1, PostID: 2, Version: 3, Place: 4}
	f := foldOf(&snapshot.Content{PostID: 2, Version: 3, Code: "x"})
	now, err := w.rivers.now(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	late := now
	late.time = now.time.Add(-writeDeadline - time.Second)
	for _, c := range []struct {
		asof moment
		held bool
		rows int
	}{{late, false, 0}, {now, true, 1}} {
		held, err := w.rivers.write(w.ctx, []entry{e}, []*Fold{f}, c.asof)
		if err != nil || held != c.held {
			t.Errorf("write as of %v: got %v, %v, want %v", c.asof, held, err, c.held)
		}
		if got := w.count(`SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM folds)`); got != 2*c.rows {
			t.Errorf("write as of %v: %d rows, want %d", c.asof, got, 2*c.rows)
		}
	}
}

// A builder past its deadline does not swap its river in, and an extension past its
// deadline does not lower the floor. Each begins again.
func TestTheDeadlineHoldsToTheEnd(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	for i := range chunk + PageSize {
		w.post(ann, numbered(i))
	}
	w.drain()
	w.rivers.deadline = 2 * time.Second
	n := w.name(ann, User, "ann")
	for what, step := range map[string]func(context.Context) error{
		"build": func(ctx context.Context) error { return w.rivers.build(ctx, n, ForVisit, nil) },
		"extension": func(ctx context.Context) error {
			_, err := w.rivers.Visit(ctx, ann, n, Cursor{Place: math.MinInt64 + 1, PostID: 1})
			return err
		},
	} {
		w.exec(`TRUNCATE clock, rivers, rivers_timelines, entries, folds`)
		if what == "extension" {
			w.visit(ann, User, "ann")
		}
		tries := 0
		ctx := withPause(w.ctx, func(at string) {
			if at != afterEntries {
				return
			}
			if tries++; tries == 1 {
				w.exec(`SELECT pg_sleep(2.1)`)
			}
		})
		if err := step(ctx); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if tries != 2 {
			t.Errorf("%s: done at try %d, want 2", what, tries)
		}
	}
	w.sound()
}

// Losing any table, or all, costs only time (R7). Losing one is losing the epoch.
func TestAnyTableMayBeLost(t *testing.T) {
	for _, table := range []string{"clock", "rivers", "rivers_timelines", "entries", "folds", "visits", "leases", "notice_clocks", "clock, rivers, rivers_timelines, entries, folds, visits, leases, notice_clocks"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob := w.person("ann"), w.person("bob")
			w.follow(ann, "bob")
			w.post(bob, "one")
			p := w.visit(ann, Home, "")
			w.exec(`TRUNCATE ` + table)
			c := w.post(bob, "two")
			w.like(ann, c.Code)
			w.drain()
			again := w.visit(ann, Home, "")
			w.shows(again, "two", "one")
			if again.River == p.River {
				t.Errorf("the river of the lost epoch still serves")
			}
			w.sound()
		})
	}
}

// A river that another epoch left behind does not serve.
func TestARiverOfAnotherEpochDoesNotServe(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "one")
	left := w.visit(ann, Home, "")
	w.exec(`UPDATE rivers SET epoch = epoch - 1`)
	now := w.visit(ann, Home, "")
	w.shows(now, "one")
	if now.River == left.River {
		t.Error("the river of the epoch before still serves")
	}
}

// A builder whose epoch is lost during the build does not swap its river in.
func TestALostEpochStopsABuild(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "one")
	ctx := pausedAt(w.ctx, afterEntries, func() { w.exec(`TRUNCATE entries`) })
	must(w, 0, w.rivers.build(ctx, w.name(ann, Home, ""), ForVisit, nil))
	if live, err := isLive(w.ctx, w.rivers.db, w.name(ann, Home, "")); err != nil || !live {
		t.Errorf("after the build a river of this epoch stands: %v, %v", live, err)
	}
	w.shows(w.visit(ann, Home, ""), "one")
	w.sound()
}

// A builder that died is taken over.
func TestADeadBuilderIsTakenOver(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "one")
	n := w.name(ann, Home, "")
	if _, joined, err := w.rivers.register(w.ctx, n, ForVisit, false); err != nil || joined {
		t.Fatalf("register: joined %v, %v", joined, err)
	}
	if _, joined, err := w.rivers.register(w.ctx, n, ForVisit, false); err != nil || !joined {
		t.Fatalf("register beside a living builder: joined %v, %v", joined, err)
	}
	w.exec(`UPDATE rivers SET updated_at = updated_at - interval '4100 milliseconds'`)
	if _, joined, err := w.rivers.register(w.ctx, n, ForVisit, false); err != nil || joined {
		t.Errorf("register beside a builder that was silent for four seconds: joined %v, %v", joined, err)
	}
	w.exec(`UPDATE rivers SET updated_at = updated_at - interval '4100 milliseconds' WHERE state = 'building'`)
	w.shows(w.visit(ann, Home, ""), "one")
}

// A builder that only takes long is not taken over: it gives signs of life.
func TestASlowBuilderIsNotTakenOver(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "one")
	n := w.name(ann, Home, "")
	ctx := pausedAt(w.ctx, afterSnapshot, func() {
		w.exec(`UPDATE rivers SET updated_at = updated_at - interval '5 seconds'`)
		old := `SELECT count(*) FROM rivers WHERE state = 'building' AND updated_at < clock_timestamp() - interval '4 seconds'`
		for began := time.Now(); w.count(old) != 0; {
			if time.Since(began) > builderDead {
				t.Error("no sign of life")
				return
			}
		}
		if _, joined, err := w.rivers.register(w.ctx, n, ForVisit, false); err != nil || !joined {
			t.Errorf("register beside a slow builder: joined %v, %v", joined, err)
		}
	})
	if err := w.rivers.build(ctx, n, ForVisit, nil); err != nil {
		t.Fatal(err)
	}
	w.shows(w.visit(ann, Home, ""), "one")
}

// Idle rivers go. They are retired after their kind's grace, and removed when no late
// writer can revive them. Open and visited rivers stay.
func TestExpire(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "mine")
	gone := w.post(ann, "gone")
	home, user, open := w.visit(ann, Home, ""), w.visit(ann, User, "ann"), w.visit(ann, Everything, "")
	w.remove(ann, gone.Code)
	w.drain()
	if err := w.rivers.Lease(w.ctx, []int64{open.River}); err != nil {
		t.Fatal(err)
	}
	expire := func() Expired {
		t.Helper()
		e, err := w.rivers.Expire(w.ctx)
		return must(w, e, err)
	}
	if got := expire(); got != (Expired{}) {
		t.Errorf("expired %+v of what is in use", got)
	}
	// Seven hours later, the others are beyond their grace, and home is within its own.
	age := func(hours int) {
		w.exec(`UPDATE rivers SET created_at = created_at - make_interval(hours => $1), retired_at = retired_at - make_interval(hours => $1)`, hours)
		w.exec(`UPDATE visits SET visited_at = visited_at - make_interval(hours => $1)`, hours)
		w.exec(`UPDATE entries SET updated_at = updated_at - make_interval(hours => $1)`, hours)
		w.exec(`UPDATE folds SET updated_at = updated_at - make_interval(hours => $1)`, hours)
	}
	age(7)
	if got := expire(); got.Rivers != 1 || got.Removed != 0 || got.Tombstones == 0 {
		t.Errorf("after 7 h: expired %+v, want the user page retired and tombstones removed", got)
	}
	if got := w.count(`SELECT count(*) FROM rivers WHERE id = $1 AND state = 'retired'`, user.River); got != 1 {
		t.Error("the user page is not retired")
	}
	age(18)
	got := expire()
	if got.Rivers != 1 || got.Removed != 1 || got.Entries != 1 {
		t.Errorf("after 25 h: expired %+v, want home retired and the user page removed", got)
	}
	if n := w.count(`SELECT count(*) FROM rivers WHERE id = $1 AND state = 'retired'`, home.River); n != 1 {
		t.Error("home is not retired")
	}
	w.exec(`DELETE FROM leases`)
	w.rivers.maintenance.visited(user.River) // a page closed after its river was removed
	expire()
	age(1)
	expire()
	age(1)
	expire()
	for _, table := range []string{"rivers", "rivers_timelines", "entries", "folds", "visits"} {
		if n := w.count(`SELECT count(*) FROM ` + table); n != 0 {
			t.Errorf("%d rows left in %s", n, table)
		}
	}
	w.shows(w.visit(ann, Home, ""), "mine")
	w.sound()
}

// A flush says the same as a visit, for many watches in one statement, and tells nothing
// that its viewer may not see.
func TestFlushShowsWhatAPageShows(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(ann, "bob")
	p := w.post(bob, "hello")
	w.forget()
	home, all := w.visit(ann, Home, ""), w.visit(cat, Everything, "")
	secret := w.post(bob, "for ann only", "ann")
	w.drain()
	watches := []Watch{
		{Viewer: ann, Name: home.Name, River: home.River},
		{Viewer: cat, Name: all.Name, River: all.River},
		{Viewer: ann, Name: home.Name, River: 42},
	}
	seen, err := w.rivers.Flush(w.ctx, watches, []int64{p.PostID, secret.PostID})
	if err != nil {
		t.Fatal(err)
	}
	show := func(s Seen) (all []string) {
		for _, it := range s.Items {
			all = append(all, it.Fold.Text.Body)
		}
		return all
	}
	if got, want := show(seen[0]), []string{"for ann only", "hello"}; !slices.Equal(got, want) {
		t.Errorf("ann's home: got %q, want %q", got, want)
	}
	if got, want := show(seen[1]), []string{"hello"}; !slices.Equal(got, want) || len(seen[1].Gone) != 0 {
		t.Errorf("cat's everything: got %q, gone %v, want %q", got, seen[1].Gone, want)
	}
	if !seen[2].Swapped {
		t.Error("a generation that does not stand is not swapped")
	}
	w.remove(bob, p.Code)
	w.drain()
	seen, err = w.rivers.Flush(w.ctx, watches, []int64{p.PostID})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if len(seen[i].Gone) != 1 || seen[i].Gone[0].Code != p.Code {
			t.Errorf("watch %d after the deletion: %+v", i, seen[i])
		}
	}
}

// Rivers that are opened while Tier 2 is far behind are brought up to date at once.
func TestFreshen(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	gone := w.post(bob, "gone")
	w.post(bob, "stays")
	w.visit(ann, Home, "")
	w.remove(bob, gone.Code)
	w.post(bob, "new")
	w.forget() // Tier 2 never came
	if err := w.rivers.Freshen(w.ctx, w.name(ann, Home, "")); err != nil {
		t.Fatal(err)
	}
	w.shows(w.visit(ann, Home, ""), "new", "stays")
	w.sound()
}
