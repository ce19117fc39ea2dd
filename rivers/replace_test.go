package rivers

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// After a change of subscriptions my own rivers are cold at once, and a build that began
// before is not joined.
func TestSubscribingReplacesMyHome(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.post(bob, "his")
	w.post(ann, "mine")
	w.shows(w.visit(ann, Home, ""), "mine")
	for _, r := range w.follow(ann, "bob").Replace {
		if err := w.rivers.Retire(w.ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	w.shows(w.visit(ann, Home, ""), "mine", "his")
	c, err := w.store.Subscriptions.Unsubscribe(w.ctx, ann.AccountID, "bob")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Replace {
		if err := w.rivers.Retire(w.ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	w.shows(w.visit(ann, Home, ""), "mine")
	w.drain()
	w.sound()
}

// A river built by a visit after the change was committed knows the change. The job builds
// nothing more, and tells the pages still open on the old generation.
func TestARiverThatKnowsTheChangeIsNotReplaced(t *testing.T) {
	for _, open := range []bool{false, true} {
		w := newTown(t)
		ann, bob := w.person("ann"), w.person("bob")
		w.post(bob, "his")
		w.post(ann, "mine")
		name := w.name(ann, Home, "")
		lease := func(p *Page) {
			if open {
				must(w, 0, w.rivers.Lease(w.ctx, []int64{p.River}))
			}
		}
		lease(w.visit(ann, Home, ""))
		w.forget()
		change := w.follow(ann, "bob")
		for _, r := range change.Replace {
			must(w, 0, w.rivers.Retire(w.ctx, r))
		}
		p := w.visit(ann, Home, "")
		w.shows(p, "mine", "his")
		lease(p)
		// This holds whatever else changed meanwhile, and in whatever order the jobs are
		// worked.
		w.follow(bob, "ann")
		slices.Reverse(w.events)
		for range 2 { // and when a job is worked twice
			for _, e := range w.events {
				names, err := w.replace(e.(timelines.Replace))
				must(w, 0, err)
				if mine := e.(timelines.Replace).ViewerID == ann.AccountID; slices.Contains(names, name) != (open && mine) {
					t.Errorf("open %t, %+v: told of %v", open, e, names)
				}
			}
		}
		if got := w.count(`SELECT count(*) FROM rivers WHERE user_id = $1`, ann.AccountID); got != 2 {
			t.Errorf("open %t: %d generations, want 2", open, got)
		}
		if got := w.visit(ann, Home, "").River; got != p.River {
			t.Errorf("open %t: generation %d serves, want %d", open, got, p.River)
		}
		w.sound()
	}
}

// A generation is as old as the state it was built from. One that was begun before the
// change's commit does not know the change, however long it lives before the job looks.
func TestARiverBuiltBeforeTheCommitIsReplaced(t *testing.T) {
	for _, open := range []bool{false, true} {
		w := newTown(t)
		ann, bob := w.person("ann"), w.person("bob")
		w.post(bob, "his")
		w.post(ann, "mine")
		w.forget()
		var before *Page
		w.within = func() {
			before = w.visit(ann, Home, "")
			if open {
				must(w, 0, w.rivers.Lease(w.ctx, []int64{before.River}))
			}
		}
		w.follow(ann, "bob")
		w.shows(before, "mine")
		w.drain()
		p := w.visit(ann, Home, "")
		w.shows(p, "mine", "his")
		if p.River == before.River {
			t.Errorf("open %t: the old generation still serves", open)
		}
		w.sound()
	}
}

func TestABuildUnderWayIsOvertakenByAReplace(t *testing.T) {
	for _, point := range []string{afterRegister, afterSnapshot, afterEntries} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob := w.person("ann"), w.person("bob")
			w.post(bob, "his")
			w.post(ann, "mine")
			ctx := pausedAt(w.ctx, point, func() {
				w.follow(ann, "bob")
				w.drain()
			})
			if err := w.rivers.build(ctx, w.name(ann, Home, ""), ForVisit, nil); err != nil {
				t.Fatal(err)
			}
			w.shows(w.visit(ann, Home, ""), "mine", "his")
			w.sound()
		})
	}
}

// A visitor's build that finds the river live does nothing. A replace that comes meanwhile
// does not take that for its own work.
func TestAReplaceJoinsNoVisitorsBuild(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.post(bob, "his")
	w.post(ann, "mine")
	n := w.name(ann, Home, "")
	old := w.visit(ann, Home, "")
	w.follow(ann, "bob")
	down := int64(0)
	began, end := make(chan struct{}), make(chan struct{})
	go w.rivers.builds.Do(buildKey(n, false), func() (any, error) { close(began); <-end; return nil, nil })
	<-began
	defer close(end)
	replaced := make(chan error, 1)
	go func() { replaced <- w.rivers.build(w.ctx, n, ForVisit, &down) }()
	select {
	case err := <-replaced:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the replace waits for the visitor's build")
	}
	if p := w.visit(ann, Home, ""); p.River == old.River {
		t.Errorf("the old generation still serves")
	}
}

// An open river is rebuilt down to its old floor, and swapped. A closed one is retired.
func TestReplaceRebuildsOpenRiversOnly(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	for i := range 2*chunk + 5 {
		w.post(ann, numbered(i))
	}
	w.forget()
	name := w.name(ann, Home, "")
	at := Cursor{}
	for range chunk/PageSize + 1 {
		p, err := w.rivers.Visit(w.ctx, ann, name, at)
		if err != nil {
			t.Fatal(err)
		}
		at = p.Next
	}
	open := w.visit(ann, Home, "")
	closed := w.visit(ann, Everything, "")
	if err := w.rivers.Lease(w.ctx, []int64{open.River}); err != nil {
		t.Fatal(err)
	}
	floor := w.count(`SELECT floor FROM rivers WHERE id = $1`, open.River)
	swapped, err := w.replace(timelines.Replace{ViewerID: ann.AccountID})
	if err != nil {
		t.Fatal(err)
	}
	if len(swapped) != 1 || swapped[0] != name {
		t.Errorf("swapped %v, want %v", swapped, name)
	}
	if got := w.count(`SELECT count(*) FROM rivers WHERE state = 'live' AND id IN ($1, $2)`, open.River, closed.River); got != 0 {
		t.Errorf("%d of the old generations live", got)
	}
	if got := w.count(`SELECT floor FROM rivers WHERE state = 'live' AND kind = 'home'`); got > floor {
		t.Errorf("rebuilt down to %d, want %d", got, floor)
	}
	seen, err := w.rivers.Flush(w.ctx, []Watch{{Viewer: ann, Name: name, River: open.River}}, nil)
	if err != nil || !seen[0].Swapped {
		t.Errorf("an open page is not told of the swap: %+v, %v", seen, err)
	}
	w.sound()
}

// A river that was read to its end and has grown since is not rebuilt to its end.
func TestReplaceRebuildsToADepth(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	for i := range chunk + 5 {
		w.post(ann, numbered(i))
	}
	w.forget()
	p := w.visit(ann, User, "ann")
	floor := int64(w.count(`SELECT floor FROM rivers WHERE id = $1`, p.River))
	if err := w.rivers.extend(w.ctx, p.Name, p.River, floor, chunk); err != nil {
		t.Fatal(err)
	}
	if err := w.rivers.Lease(w.ctx, []int64{p.River}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ grown, finished int }{{0, 1}, {deepest, 0}} {
		w.exec(`INSERT INTO entries (river_id, post_id, version, fresh_at)
			SELECT r.id, -i, 1, $1::bigint + i FROM rivers r, generate_series(1, $2::int) i WHERE r.state = 'live'`, p.Items[0].Place, c.grown)
		if _, err := w.replace(timelines.Replace{ViewerID: ann.AccountID}); err != nil {
			t.Fatal(err)
		}
		if got := w.count(`SELECT count(*) FROM rivers WHERE state = 'live' AND finished`); got != c.finished {
			t.Errorf("with %d entries above: %d rivers rebuilt to the end, want %d", c.grown, got, c.finished)
		}
		if err := w.rivers.Lease(w.ctx, []int64{w.visit(ann, User, "ann").River}); err != nil {
			t.Fatal(err)
		}
	}
	w.sound()
}

// A like that was taken back is no reason any more, though no job tells the rivers that had
// it for one (R4).
func TestAReasonTakenBackIsNoneAtOnce(t *testing.T) {
	w := newTown(t)
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	w.follow(ann, "cat")
	w.follow(ann, "dan")
	p := w.post(bob, "a stranger's")
	w.like(cat, p.Code)
	c := w.comment(dan, p.Code, "well")
	w.forget()
	w.shows(w.visit(ann, Home, ""), "a stranger's")
	told := func(c timelines.Change) {
		t.Helper()
		touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
		if err := w.rivers.Distribute(w.ctx, touched, Scope{Actor: c.Actor}); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := w.store.Comments.Delete(w.ctx, bob.AccountID, p.Code, c.CommentID)
	told(must(w, deleted, err))
	page := w.visit(ann, Home, "")
	w.shows(page, "a stranger's")
	if why := page.Items[0].Why; len(why) != 1 || why[0].Kind != kinds.Likes {
		t.Errorf("it is here for %+v, want cat's likes alone", why)
	}
	told(w.unlike(cat, p.Code))
	w.shows(w.visit(ann, Home, ""))
	w.drain()
	w.sound()
}

// Nothing narrowed is shown after the acknowledgement, though no job and no bus ever runs
// (R4): the fold and the clock alone see to it, on every node.
func TestNarrowingNeedsNoQueue(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(ann, "bob")
	other := w.node()
	p := w.post(bob, "from bob")
	c := w.comment(cat, p.Code, "to be deleted")
	w.like(cat, p.Code)
	see := func(want ...string) {
		t.Helper()
		for _, node := range []*Store{w.rivers, other} {
			for _, kind := range []Kind{Home, Everything} {
				page, err := node.Visit(w.ctx, ann, w.name(ann, kind, ""), Cursor{})
				if err != nil {
					t.Fatal(err)
				}
				w.shows(page, want...)
			}
		}
	}
	see("from bob")
	fold := func(c timelines.Change) {
		t.Helper()
		err := w.rivers.Distribute(w.ctx, []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}, Scope{Actor: c.Actor})
		if err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := w.store.Comments.Delete(w.ctx, cat.AccountID, p.Code, c.CommentID)
	if err != nil {
		t.Fatal(err)
	}
	fold(deleted)
	fold(w.unlike(cat, p.Code))
	for _, node := range []*Store{w.rivers, other} {
		page, err := node.Visit(w.ctx, ann, w.name(ann, Home, ""), Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		if f := page.Items[0].Fold; f.Comments.Total != 0 || len(f.Comments.Shown) != 0 || f.Likes.Total != 0 {
			t.Errorf("a deleted comment or like is shown: %+v %+v", f.Comments, f.Likes)
		}
	}
	// bob goes private. ann, who follows him, stays, and anonymous pages do not show it.
	closed, err := w.store.Feeds.SetAccess(w.ctx, bob.AccountID, "", timelines.Private)
	if err != nil {
		t.Fatal(err)
	}
	anonymous := func(node *Store) int {
		t.Helper()
		page, err := node.Visit(w.ctx, timelines.Viewer{}, w.name(timelines.Viewer{}, Everything, ""), Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	for _, node := range []*Store{w.rivers, other} {
		anonymous(node)
	}
	if closed.Clock == 0 {
		t.Fatal("going private drew no number")
	}
	if err := w.rivers.PublishClock(w.ctx, closed.Clock); err != nil {
		t.Fatal(err)
	}
	see("from bob")
	for _, node := range []*Store{w.rivers, other} {
		if got := anonymous(node); got != 0 {
			t.Errorf("nobody sees %d private posts", got)
		}
	}
	// Somebody who stops following a private account loses the right to read it.
	left, err := w.store.Subscriptions.Unsubscribe(w.ctx, ann.AccountID, "bob")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.rivers.PublishClock(w.ctx, left.Clock); err != nil {
		t.Fatal(err)
	}
	see()
	fold(w.remove(bob, p.Code))
	w.drain()
	w.sound()
}

// After signing out the session may see nothing, on nodes that have it cached too.
func TestSignOutIsANarrowing(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "mine", "ann")
	token, _, err := w.store.Accounts.SignIn(w.ctx, "ann", "long enough ann")
	if err != nil {
		t.Fatal(err)
	}
	session, _ := timelines.SessionOf(token)
	other := w.node()
	v, err := other.Access().Session(w.ctx, session)
	if err != nil || v.AccountID != ann.AccountID {
		t.Fatalf("session: %+v, %v", v, err)
	}
	name := w.name(ann, Home, "")
	if _, err := other.Visit(w.ctx, v, name, Cursor{}); err != nil {
		t.Fatal(err)
	}
	c, err := w.store.Accounts.SignOut(w.ctx, v)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.rivers.PublishClock(w.ctx, c.Clock); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Visit(w.ctx, v, name, Cursor{}); !errors.Is(err, timelines.ErrSignedOut) {
		t.Errorf("after signing out: got %v, want %v", err, timelines.ErrSignedOut)
	}
	seen, err := other.Flush(w.ctx, []Watch{{Viewer: v, Name: name}}, nil)
	if err != nil || !seen[0].SignedOut {
		t.Errorf("a watch after signing out: %+v, %v", seen, err)
	}
}

// If a node dies between a narrowing's commit and its acknowledgement, another publishes
// the clock.
func TestAnUnpublishedClockIsCaughtUp(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	w.post(bob, "not for everybody")
	w.shows(w.visit(timelines.Viewer{}, Everything, ""), "not for everybody")
	c, err := w.store.Feeds.SetAccess(w.ctx, bob.AccountID, "", timelines.Private)
	must(w, c, err)
	if err := w.rivers.catchUp(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.shows(w.visit(timelines.Viewer{}, Everything, ""))
	if got := w.count(`SELECT n FROM clock`); got != int(c.Clock) {
		t.Errorf("clock stands at %d, want %d", got, c.Clock)
	}
}

// A river that is closed before its turn comes is not built, and the old generation does
// not serve either.
func TestClosedBeforeItIsRebuilt(t *testing.T) {
	w := newTown(t)
	ann, nobody := w.person("ann"), timelines.Viewer{}
	w.post(ann, "a post")
	stays, closes := w.visit(nobody, User, "ann"), w.visit(nobody, Everything, "")
	if err := w.rivers.Lease(w.ctx, []int64{stays.River, closes.River}); err != nil {
		t.Fatal(err)
	}
	open, err := w.rivers.Spread(w.ctx, timelines.Replace{ViewerID: 0})
	if err != nil || len(open) != 2 {
		t.Fatalf("open are %v, %v; want two", open, err)
	}
	w.exec(`UPDATE leases SET until = clock_timestamp() WHERE river_id = $1`, closes.River)
	for _, r := range open {
		if _, err := w.rivers.Rebuild(w.ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.count(`SELECT count(*) FROM rivers WHERE state = 'live' AND id <> $1 AND kind = 'user'`, stays.River); got != 1 {
		t.Errorf("the open river has %d new generations, want 1", got)
	}
	if got := w.count(`SELECT count(*) FROM rivers WHERE state <> 'retired' AND kind = 'everything'`); got != 0 {
		t.Errorf("the closed river has %d generations that are not retired, want none", got)
	}
	w.sound()
}

// A river that several changes invalidated is rebuilt once, after the last of them.
func TestRebuiltOnceForManyChanges(t *testing.T) {
	w := newTown(t)
	ann, nobody := w.person("ann"), timelines.Viewer{}
	w.post(ann, "a post")
	p := w.visit(nobody, User, "ann")
	must(w, 0, w.rivers.Lease(w.ctx, []int64{p.River}))
	var all []Stale
	for range 3 {
		stale, err := w.rivers.Spread(w.ctx, timelines.Replace{ViewerID: 0})
		all = append(all, must(w, stale, err)...)
	}
	if len(all) != 3 {
		t.Fatalf("three changes made %d rivers wrong, want 3", len(all))
	}
	for range 2 { // and when a job is worked twice
		for _, r := range all {
			if tell, err := w.rivers.Rebuild(w.ctx, r); err != nil || !tell {
				t.Fatalf("%t, %v, want pages to be told", tell, err)
			}
		}
	}
	if got := w.count(`SELECT count(*) FROM rivers WHERE kind = 'user'`); got != 2 {
		t.Errorf("%d generations, want 2", got)
	}
	stale, err := w.rivers.Spread(w.ctx, timelines.Replace{ViewerID: 0})
	for _, r := range must(w, stale, err) {
		_, err := w.rivers.Rebuild(w.ctx, r)
		must(w, 0, err)
	}
	if got := w.count(`SELECT count(*) FROM rivers WHERE kind = 'user'`); got != 3 {
		t.Errorf("after one more change %d generations, want 3", got)
	}
	w.sound()
}

// No river is made of a page that is closed to its viewer.
func TestAClosedPageIsNotRebuilt(t *testing.T) {
	w := newTown(t)
	ann, nobody := w.person("ann"), timelines.Viewer{}
	w.group(ann, "club", timelines.Public)
	w.drain()
	p := w.visit(nobody, Group, "club")
	must(w, 0, w.rivers.Lease(w.ctx, []int64{p.River}))
	w.change(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Feeds.SetAccess(ctx, ann.AccountID, "club", timelines.Private)
	})
	w.drain()
	if got := w.count(`SELECT count(*) FROM rivers WHERE kind = 'group' AND state <> 'retired'`); got != 0 {
		t.Errorf("%d rivers of the closed page, want none", got)
	}
	w.sound()
}
