package rivers

import (
	"context"
	"errors"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// A writer with an older snapshot does not bring the older fold back, whether a like was
// taken back or the post deleted (R2, R4).
func TestALateFoldLoses(t *testing.T) {
	for name, newer := range map[string]func(w *town, bob timelines.Viewer, code string){
		"unliked": func(w *town, bob timelines.Viewer, code string) { w.unlike(bob, code) },
		"deleted": func(w *town, bob timelines.Viewer, code string) { w.remove(bob, code) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			bob := w.person("bob")
			p := w.post(bob, "a post")
			w.drain()
			w.visit(bob, Home, "")
			like := w.like(bob, p.Code)
			w.forget()
			ctx := pausedAt(w.ctx, afterSnapshot, func() {
				newer(w, bob, p.Code)
				w.drain()
			})
			touched := []timelines.Touched{{PostID: like.PostID, Timelines: like.Touched}}
			must(w, 0, w.rivers.Distribute(ctx, touched, All))
			if got := w.count(`SELECT version FROM folds WHERE post_id = $1`, p.PostID); got != 3 {
				t.Errorf("the fold stands at version %d, want 3", got)
			}
		})
	}
}

// blocked waits until n statements of this database wait for a lock.
func (w *town) blocked(n int) {
	w.t.Helper()
	const query = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	for began := time.Now(); w.count(query) < n; {
		if time.Since(began) > 10*time.Second {
			w.t.Fatalf("%d statements wait for a lock, want %d", w.count(query), n)
		}
	}
}

// A write that began in time, but waited past its deadline for a row, leaves the row as it
// is and says that it was too late.
func TestTheDeadlineHoldsBehindALock(t *testing.T) {
	for name, of := range map[string]func(version int64) ([]entry, []*Fold){
		"entries": func(v int64) ([]entry, []*Fold) {
			return []entry{{River: 1, PostID: 2, Version: v, Place: 4}}, nil
		},
		"folds": func(v int64) ([]entry, []*Fold) {
			return nil, []*Fold{foldOf(&snapshot.Content{PostID: 2, Version: v, Code: "x"})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			write := func(version int64, in time.Duration) (bool, error) {
				now, err := w.rivers.now(w.ctx)
				must(w, now, err)
				entries, folds := of(version)
				now.time = now.time.Add(in - writeDeadline)
				return w.rivers.write(w.ctx, entries, folds, now)
			}
			if inTime, err := write(1, time.Minute); err != nil || !inTime {
				t.Fatalf("a write in time: %v, %v", inTime, err)
			}
			other, err := w.db.Secondary.Begin(w.ctx)
			must(w, other, err)
			defer func() { _ = other.Rollback(w.ctx) }() // committed below, unless the test fails
			_, err = other.Exec(w.ctx, `SELECT FROM `+name+` WHERE post_id = 2 FOR UPDATE`)
			must(w, 0, err)
			type result struct {
				inTime bool
				err    error
			}
			done := make(chan result, 1)
			go func() {
				inTime, err := write(2, 2*time.Second)
				done <- result{inTime, err}
			}()
			w.blocked(1)
			_, err = other.Exec(w.ctx, `SELECT pg_sleep(2.1)`)
			must(w, 0, errors.Join(err, other.Commit(w.ctx)))
			if r := <-done; r.err != nil || r.inTime {
				t.Errorf("a write past its deadline: in time %v, %v, want false", r.inTime, r.err)
			}
			if got := w.count(`SELECT version FROM ` + name); got != 1 {
				t.Errorf("version %d was written past the deadline", got)
			}
		})
	}
}

// The deadline counts from the look-up, because a slow snapshot may be as old as that.
func TestTheDeadlineCountsFromTheLookUp(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	w.visit(bob, Home, "")
	p := w.post(bob, "a post")
	w.forget()
	w.rivers.deadline = time.Second
	tries := 0
	ctx := withPause(w.ctx, func(at string) {
		if at != afterSnapshot {
			return
		}
		if tries++; tries == 1 {
			w.exec(`SELECT pg_sleep(1.1)`)
		}
	})
	touched := []timelines.Touched{{PostID: p.PostID, Timelines: p.Touched}}
	must(w, 0, w.rivers.Distribute(ctx, touched, All))
	if tries != 2 {
		t.Errorf("done at try %d, want 2", tries)
	}
	w.sound()
}

// If the viewer's subscriptions change between a build's registration and its snapshot, the
// river knows it though the change's job has not come.
func TestABuildIsOfOneSnapshot(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(ann, "bob")
	w.post(bob, "from bob")
	w.post(cat, "from cat")
	w.forget()
	ctx := pausedAt(w.ctx, afterRegister, func() {
		w.follow(ann, "cat")
		w.forget()
	})
	must(w, 0, w.rivers.build(ctx, w.name(ann, Home, ""), ForVisit, nil))
	w.shows(w.visit(ann, Home, ""), "from cat", "from bob")
	w.sound()
}

// Two extensions run at once. If the shorter one ends last, it takes nothing back from the
// longer one that came to the river's end (R5).
func TestExtensionsMeet(t *testing.T) {
	w := newTown(t)
	ann, other := w.person("ann"), w.node()
	const posts = firstChunk + chunk // so that the longer one reaches the end
	for i := range posts {
		w.post(ann, numbered(i))
	}
	w.forget()
	p := w.visit(ann, Home, "")
	floor := int64(w.count(`SELECT floor FROM rivers WHERE id = $1`, p.River))
	ctx := pausedAt(w.ctx, afterEntries, func() {
		must(w, 0, other.extend(w.ctx, p.Name, p.River, floor, chunk))
	})
	must(w, 0, w.rivers.extend(ctx, p.Name, p.River, floor, PageSize))
	seen := 0
	for at := (Cursor{}); ; at = p.Next {
		var err error
		p, err = w.rivers.Visit(w.ctx, ann, p.Name, at)
		if seen += len(must(w, p, err).Items); !p.More {
			break
		}
	}
	if seen != posts {
		t.Errorf("read %d entries, want %d", seen, posts)
	}
	w.sound()
}

// My own change is in a river whose build began before it, though no job ever runs (R3).
func TestMyChangeMeetsABuild(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	p := w.post(ann, "mine")
	w.forget()
	ctx := pausedAt(w.ctx, afterSnapshot, func() {
		like := w.like(ann, p.Code)
		w.forget()
		touched := []timelines.Touched{{PostID: like.PostID, Timelines: like.Touched}}
		must(w, 0, w.rivers.Distribute(w.ctx, touched, Scope{Actor: ann.AccountID}))
	})
	must(w, 0, w.rivers.build(ctx, w.name(ann, User, "ann"), ForVisit, nil))
	if items := w.visit(ann, User, "ann").Items; len(items) != 1 || !items[0].Liked {
		t.Errorf("my like is not in %+v", items)
	}
	w.sound()
}

// builtHook is told when a river was built, before its builder returns.
type builtHook struct {
	noMetrics
	built func()
}

func (h *builtHook) Built(Kind, BuildCause, int, time.Duration) {
	if do := h.built; do != nil {
		h.built = nil
		do()
	}
}

// A later change does not join a rebuild that has swapped its river in but not returned:
// the rebuild does not know the change.
func TestAReplaceJoinsNoOlderOne(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.post(bob, "from bob")
	w.post(cat, "from cat")
	w.forget()
	hook := &builtHook{}
	w.rivers.opts.Metrics = hook
	name := w.name(ann, Home, "")
	must(w, 0, w.rivers.Lease(w.ctx, []int64{w.visit(ann, Home, "").River}))
	within, cancel := context.WithTimeout(w.ctx, 10*time.Second)
	defer cancel()
	rebuild := func() {
		if _, err := w.rivers.Rebuild(within, Stale{Name: name}); err != nil {
			t.Errorf("rebuild: %v", err)
		}
	}
	w.follow(ann, "bob")
	hook.built = func() {
		w.follow(ann, "cat")
		rebuild()
	}
	rebuild()
	w.shows(w.visit(ann, Home, ""), "from cat", "from bob")
	w.drain()
	w.sound()
}

// An entry whose fold is missing is never left out: the fold is made again.
func TestAMissingFoldIsMadeAgain(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	w.post(bob, "a post")
	w.forget()
	w.shows(w.visit(bob, Home, ""), "a post")
	w.exec(`DELETE FROM folds`)
	w.shows(w.visit(bob, Home, ""), "a post")
	if got := w.count(`SELECT count(*) FROM folds`); got != 1 {
		t.Errorf("%d folds stand, want 1", got)
	}
}

// Two narrowings may be published in any order; the clock stands at the later one (R4).
func TestTheClockNeverGoesBack(t *testing.T) {
	w := newTown(t)
	c, err := w.rivers.readSource(w.ctx)
	must(w, c, err)
	for _, n := range []int64{7, 5, 6} {
		raised, err := w.rivers.raise(w.ctx, c, timelines.History{N: n, Mark: n})
		must(w, raised, err)
		if got, mark := w.count(`SELECT n FROM clock`), w.count(`SELECT mark FROM clock`); got != 7 || mark != 7 {
			t.Errorf("after %d the clock stands at %d with mark %d, want 7", n, got, mark)
		}
	}
}
