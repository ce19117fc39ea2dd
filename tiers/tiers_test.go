package tiers_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
)

// entryIn is the entry of a post in a river as it stands, nil if it holds none.
func (w *town) entryIn(n *node, v timelines.Viewer, name rivers.Name, post int64) *rivers.Item {
	w.t.Helper()
	it, _, err := n.rivers.Entry(w.ctx, v, name, post)
	if err != nil && !errors.Is(err, rivers.ErrNotFound) {
		w.t.Fatalf("entry of post %d in %s: %v", post, name.Kind, err)
	}
	return it
}

// My own change is in all my rivers when Carry returns, though no job and no bus
// ever runs (R3).
func TestMyChangeIsInMyRivers(t *testing.T) {
	w := newTown(t)
	n, other := w.quiet(), w.quiet()
	ann, bob := w.person("ann"), w.person("bob")
	w.group(ann, "club", timelines.Public)
	w.post(n, bob, "his")
	// All of ann's rivers stand before she does anything.
	type page struct {
		kind rivers.Kind
		of   string
	}
	pages := []page{
		{rivers.Home, ""},
		{rivers.Everything, ""},
		{rivers.User, "ann"},
		{rivers.User, "bob"},
		{rivers.Likes, "ann"},
		{rivers.Comments, "ann"},
		{rivers.Discussions, ""},
		{rivers.Directs, ""},
		{rivers.Group, "club"},
		{rivers.Faves, ""},
	}
	see := func(when string, want map[page][]string) {
		t.Helper()
		for _, n := range []*node{n, other} {
			for _, p := range pages {
				if want, ok := want[p]; ok {
					w.shows(w.visit(n, ann, p.kind, p.of), want...)
				} else {
					w.visit(n, ann, p.kind, p.of)
				}
			}
		}
		if t.Failed() {
			t.Fatal(when)
		}
	}
	home, everything, mine, his := pages[0], pages[1], pages[2], pages[3]
	likes, comments, discussions, directs, club, faved := pages[4], pages[5], pages[6], pages[7], pages[8], pages[9]
	see("at first", map[page][]string{home: nil, everything: {"his"}, his: {"his"}, mine: nil})

	w.post(n, ann, "to the club", "club")
	w.post(n, ann, "mine")
	w.post(n, ann, "to bob", "bob")
	see("after posting", map[page][]string{
		home: {"to bob", "mine", "to the club"}, everything: {"mine", "to the club", "his"}, mine: {"mine"},
		club: {"to the club"}, directs: {"to bob"}, discussions: {"to bob", "mine", "to the club"},
	})

	code := w.visit(n, ann, rivers.User, "bob").Items[0].Fold.Text.Code
	c := w.like(n, ann, code)
	see("after liking", map[page][]string{
		home: {"his", "to bob", "mine", "to the club"}, likes: {"his"}, discussions: {"his", "to bob", "mine", "to the club"},
	})
	for _, p := range []page{home, everything, his, likes, discussions} {
		it := w.entryIn(other, ann, w.name(n, ann, p.kind, p.of), c.PostID)
		if it == nil || !it.Liked || !slices.Equal(it.Fold.Likes.IDs, []int64{ann.AccountID}) {
			t.Errorf("my like in %s: got %+v", p.kind, it)
		}
	}
	w.comment(n, ann, code, "well said")
	see("after commenting", map[page][]string{comments: {"his"}, his: {"his"}})
	for _, p := range []page{home, everything, his, likes, comments, discussions} {
		it := w.entryIn(other, ann, w.name(n, ann, p.kind, p.of), c.PostID)
		if it == nil || it.Fold.Comments.Total != 1 || it.Fold.Comments.Shown[0].Body != "well said" {
			t.Errorf("my comment in %s: got %+v", p.kind, it)
		}
	}
	w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.Fave(ctx, ann.AccountID, code)
	})
	see("after keeping", map[page][]string{faved: {"his"}})
	for _, p := range []page{home, everything, his, likes, comments, discussions, faved} {
		it := w.entryIn(other, ann, w.name(n, ann, p.kind, p.of), c.PostID)
		if it == nil || !it.Faved || it.Fold.Faves != 1 {
			t.Errorf("what I keep in %s: got %+v", p.kind, it)
		}
	}
	w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.Unfave(ctx, ann.AccountID, code)
	})
	see("after letting go", map[page][]string{faved: nil})
	w.unlike(n, ann, code)
	see("after unliking", map[page][]string{likes: nil, comments: {"his"}})

	w.follow(n, ann, "bob")
	w.unlike(n, ann, code) // nothing to take back: nothing changes
	w.leave(n, ann, "bob")
	w.follow(n, ann, "bob")
	w.visit(n, ann, rivers.Home, "")
	w.post(n, bob, "his second") // reaches ann by Tier 1 and 2 only
	see("after following", map[page][]string{home: {"his", "to bob", "mine", "to the club"}})
	w.leave(n, ann, "bob")
	w.follow(n, ann, "bob")
	see("after following again", map[page][]string{home: {"his second", "his", "to bob", "mine", "to the club"}})

	posts := w.visit(n, ann, rivers.User, "ann")
	w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.Edit(ctx, ann.AccountID, posts.Items[0].Fold.Text.Code, "mine, better")
	})
	see("after editing", map[page][]string{mine: {"mine, better"}})
	w.remove(n, ann, posts.Items[0].Fold.Text.Code)
	see("after deleting", map[page][]string{home: {"his second", "his", "to bob", "to the club"}, mine: nil})
	w.queue.drain(w.ctx, w.chance(), n)
	w.sound(n, "at rest")
}

// A river of mine that is just being built, from a snapshot older than my
// change, shows it when both are done: Tier 0 writes into it too.
func TestMyChangeIsInARiverBeingBuilt(t *testing.T) {
	w := newTown(t)
	n, other := w.quiet(), w.quiet()
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(n, ann, "bob")
	c := w.post(n, bob, "his")
	// The builder comes to its entries and no further.
	gate, err := w.db.Secondary.Begin(w.ctx)
	must(w, 0, err)
	_, err = gate.Exec(w.ctx, `LOCK TABLE entries IN SHARE ROW EXCLUSIVE MODE`)
	must(w, 0, err)
	waiting := func(want int) {
		t.Helper()
		for w.countSecondary(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) != want {
			if t.Failed() {
				t.Fatal("nobody waits")
			}
		}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	name := w.name(n, ann, rivers.Home, "")
	wg.Go(func() {
		if _, err := n.rivers.Visit(w.ctx, ann, name, rivers.Cursor{}); err != nil {
			t.Errorf("visit: %v", err)
		}
	})
	waiting(1)
	wg.Go(func() {
		like, err := other.store.Posts.Like(w.ctx, ann.AccountID, c.Code)
		if _, err := other.tiers.Carry(w.ctx, like, err); err != nil {
			t.Errorf("like: %v", err)
		}
	})
	waiting(2)
	if err := gate.Rollback(w.ctx); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if it := w.entryIn(n, ann, name, c.PostID); it == nil || !it.Liked || it.Fold.Likes.Total != 1 {
		t.Errorf("my like in the river just built: got %+v", it)
	}
}

// A change whose rivers cannot be told is no success; the same form again, where
// they can be, completes it.
func TestBehind(t *testing.T) {
	w := newTown(t)
	n, cut := w.quiet(), w.quiet()
	ann, bob := w.person("ann"), w.person("bob")
	w.post(n, ann, "first")
	w.visit(n, ann, rivers.Home, "")
	create := func(n *node) func(context.Context) (timelines.Change, error) {
		return func(ctx context.Context) (timelines.Change, error) {
			return n.store.Posts.Create(ctx, timelines.NewPost{Author: ann.AccountID, Body: "second", Key: "once"})
		}
	}
	off := slog.New(slog.DiscardHandler)
	gone := testdb.Open(t, w.db.SecondaryURL)
	far := rivers.Open(gone, cut.store, off, rivers.DefaultOptions())
	behind := tiers.New(tiers.Config{Timelines: cut.store, Rivers: far, Secondary: gone, Log: off})
	gone.Close()

	first, err := create(cut)(w.ctx)
	first, err = behind.Carry(w.ctx, first, err)
	if !errors.Is(err, tiers.ErrBehind) || first.PostID == 0 {
		t.Fatalf("with the secondary store gone: got %+v, %v, want %v and a post", first, err, tiers.ErrBehind)
	}
	w.shows(w.visit(n, ann, rivers.Home, ""), "first")
	again, err := create(cut)(w.ctx)
	if again, err = behind.Carry(w.ctx, again, err); !errors.Is(err, tiers.ErrBehind) || again.PostID != first.PostID {
		t.Errorf("the same key, still gone: got %+v, %v, want %v", again, err, tiers.ErrBehind)
	}
	again = w.act(n, create(n))
	if !again.Repeated || again.PostID != first.PostID {
		t.Errorf("the same key: got %+v, want post %d, repeated", again, first.PostID)
	}
	w.shows(w.visit(n, ann, rivers.Home, ""), "second", "first")

	// Changes without a key are completed by doing them again too: a like, a level, an end
	// of a subscription.
	like := func(s *timelines.Store) func(context.Context) (timelines.Change, error) {
		return func(ctx context.Context) (timelines.Change, error) {
			return s.Posts.Like(ctx, ann.AccountID, first.Code)
		}
	}
	c, err := like(cut.store)(w.ctx)
	if _, err := behind.Carry(w.ctx, c, err); !errors.Is(err, tiers.ErrBehind) {
		t.Errorf("like: got %v, want %v", err, tiers.ErrBehind)
	}
	w.act(n, like(n.store))
	if it := w.entryIn(n, ann, w.name(n, ann, rivers.Home, ""), first.PostID); it == nil || !it.Liked {
		t.Errorf("a like done again: got %+v", it)
	}
	private := func(s *timelines.Store) func(context.Context) (timelines.Change, error) {
		return func(ctx context.Context) (timelines.Change, error) {
			return s.Feeds.SetAccess(ctx, ann.AccountID, "", timelines.Private)
		}
	}
	w.shows(w.visit(n, bob, rivers.User, "ann"), "second", "first")
	c, err = private(cut.store)(w.ctx)
	if _, err := behind.Carry(w.ctx, c, err); !errors.Is(err, tiers.ErrBehind) {
		t.Errorf("going private: got %v, want %v", err, tiers.ErrBehind)
	}
	w.act(n, private(n.store))
	if _, err := n.rivers.Visit(w.ctx, bob, w.name(n, bob, rivers.User, "ann"), rivers.Cursor{}); !errors.Is(err, rivers.ErrForbidden) {
		t.Errorf("gone private by asking twice: got %v, want %v", err, rivers.ErrForbidden)
	}
}

// Subscribing and leaving have no key; done again they complete what a failure
// left undone: my home feed follows at once.
func TestSubscribeAgainAfterAFailure(t *testing.T) {
	w := newTown(t)
	n, cut := w.quiet(), w.quiet()
	ann, bob := w.person("ann"), w.person("bob")
	w.post(n, bob, "his")
	off := slog.New(slog.DiscardHandler)
	gone := testdb.Open(t, w.db.SecondaryURL)
	far := rivers.Open(gone, cut.store, off, rivers.DefaultOptions())
	behind := tiers.New(tiers.Config{Timelines: cut.store, Rivers: far, Secondary: gone, Log: off})
	gone.Close()
	w.shows(w.visit(n, ann, rivers.Home, ""))
	c, _, err := cut.store.Subscriptions.Subscribe(w.ctx, ann.AccountID, "bob")
	if _, err := behind.Carry(w.ctx, c, err); !errors.Is(err, tiers.ErrBehind) {
		t.Fatalf("subscribe: got %v, want %v", err, tiers.ErrBehind)
	}
	w.follow(n, ann, "bob")
	w.shows(w.visit(n, ann, rivers.Home, ""), "his")
	c, err = cut.store.Subscriptions.Unsubscribe(w.ctx, ann.AccountID, "bob")
	if _, err := behind.Carry(w.ctx, c, err); !errors.Is(err, tiers.ErrBehind) {
		t.Fatalf("unsubscribe: got %v, want %v", err, tiers.ErrBehind)
	}
	w.leave(n, ann, "bob")
	w.shows(w.visit(n, ann, rivers.Home, ""))
}

// An error of the change itself is returned as it is, and nothing is told.
func TestCarryReturnsTheChangesError(t *testing.T) {
	w := newTown(t)
	n := w.quiet()
	ann := w.person("ann")
	heard := 0
	defer n.tiers.Subscribe(func(tiers.Message) { heard++ })()
	c, err := n.store.Posts.Like(w.ctx, ann.AccountID, "0000000000")
	_, err = n.tiers.Carry(w.ctx, c, err)
	if !errors.Is(err, timelines.ErrNotFound) || errors.Is(err, tiers.ErrBehind) || heard != 0 {
		t.Errorf("got %v, %d messages, want %v, none", err, heard, timelines.ErrNotFound)
	}
}

// applied counts what tiers report of Tier 0.
type applied int

func (n *applied) Applied(tier string, _ time.Duration) {
	if tier == "0" {
		*n++
	}
}

// An empty change is not measured: it would make Tier 0 look faster than it is. A change with one thing to carry is
// measured.
func TestCarryOfAnEmptyChangeDoesNothing(t *testing.T) {
	w := newTown(t)
	n := w.quiet()
	ann, bob := w.person("ann"), w.person("bob")
	post := w.post(n, bob, "his")
	touched := timelines.Touched{PostID: post.PostID, Timelines: post.Touched}
	for _, tc := range []struct {
		what string
		c    timelines.Change
		err  error
		want applied
	}{
		{"an empty change", timelines.Change{}, nil, 0},
		{"an actor alone", timelines.Change{Name: 1, Actor: ann.AccountID}, nil, 0},
		{"an error", timelines.Change{Actor: bob.AccountID, PostID: post.PostID, Touched: post.Touched}, timelines.ErrNotFound, 0},
		{"a post", timelines.Change{Actor: bob.AccountID, PostID: post.PostID, Touched: post.Touched}, nil, 1},
		{"a post of a form sent again", timelines.Change{Actor: bob.AccountID, PostID: post.PostID, Touched: post.Touched, Repeated: true}, nil, 1},
		{"a clock", timelines.Change{Actor: ann.AccountID, Clock: 1}, nil, 1},
		{"a rewritten post", timelines.Change{Actor: ann.AccountID, Rewritten: []timelines.Touched{touched}}, nil, 1},
		{"a river", timelines.Change{Actor: ann.AccountID, Replace: []timelines.Replace{{ViewerID: ann.AccountID}}}, nil, 1},
	} {
		var got applied
		measured := tiers.New(tiers.Config{
			Timelines: n.store, Rivers: n.rivers, Secondary: n.secondary, Log: slog.New(slog.DiscardHandler), Metrics: &got,
		})
		if _, err := measured.Carry(w.ctx, tc.c, tc.err); !errors.Is(err, tc.err) {
			t.Errorf("%s: got error %v, want %v", tc.what, err, tc.err)
		}
		if got != tc.want {
			t.Errorf("%s: Tier 0 was measured %d times, want %d", tc.what, got, tc.want)
		}
	}
}

// A browser that leaves between the commit and Tier 0 leaves no river behind.
func TestCarryOutlivesItsRequest(t *testing.T) {
	w := newTown(t)
	n := w.quiet()
	ann := w.person("ann")
	w.visit(n, ann, rivers.Home, "")
	ctx, leave := context.WithCancel(w.ctx)
	c, err := n.store.Posts.Create(ctx, timelines.NewPost{Author: ann.AccountID, Body: "mine"})
	leave()
	_, err = n.tiers.Carry(ctx, c, err)
	if err != nil {
		t.Errorf("got %v, want success", err)
	}
	w.shows(w.visit(n, ann, rivers.Home, ""), "mine")
}

// Tier 1 brings a change to open rivers and no others, Tier 2 to the rest.
func TestTiersDivideTheRivers(t *testing.T) {
	w := newTown(t)
	n := w.quiet()
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(n, ann, "cat")
	w.follow(n, bob, "cat")
	w.queue.drain(w.ctx, w.chance(), n)
	open, closed := w.visit(n, ann, rivers.Home, ""), w.visit(n, bob, rivers.Home, "")
	if err := n.rivers.Lease(w.ctx, []int64{open.River}); err != nil {
		t.Fatal(err)
	}
	var heard []tiers.Message
	defer n.tiers.Subscribe(func(m tiers.Message) { heard = append(heard, m) })()
	c := w.post(n, cat, "news")
	held := func(when string, wantOpen, wantClosed int) {
		t.Helper()
		const query = `SELECT count(*) FROM entries WHERE river_id = $1 AND post_id = $2 AND NOT deleted`
		if got := w.countSecondary(query, open.River, c.PostID); got != wantOpen {
			t.Errorf("%s: %d entries in the open river, want %d", when, got, wantOpen)
		}
		if got := w.countSecondary(query, closed.River, c.PostID); got != wantClosed {
			t.Errorf("%s: %d entries in the closed river, want %d", when, got, wantClosed)
		}
	}
	touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
	held("after Carry", 0, 0)
	if err := n.tiers.Distribute(w.ctx, touched); err != nil {
		t.Fatal(err)
	}
	held("after Tier 1", 1, 0)
	if err := n.tiers.Follow(w.ctx, touched); err != nil {
		t.Fatal(err)
	}
	held("after Tier 2", 1, 1)
	// Each tier speaks, though the second found nothing left to do for open rivers,
	// and again when it is repeated.
	if err := n.tiers.Distribute(w.ctx, touched); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, m := range heard {
		if slices.Contains(m.Posts, c.PostID) {
			told++
		}
	}
	if told != 3 {
		t.Errorf("hubs were told %d times of %v, want 3", told, heard)
	}
}

// The job of a change finds what its node has finished, and does nothing again. Another node, or one that
// did not get so far, does all.
func TestAJobOfAFinishedChangeDoesNothing(t *testing.T) {
	w := newTown(t)
	w.few = rivers.DefaultOptions().Few
	n, other := w.quiet(), w.quiet()
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(n, ann, "bob")
	w.queue.drain(w.ctx, w.chance(), n)
	w.visit(n, ann, rivers.Home, "")
	c := w.post(n, bob, "news")
	w.shows(w.visit(n, ann, rivers.Home, ""), "news")
	touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
	for _, job := range []struct {
		what   string
		on     *node
		change uint64
		want   int
	}{{"its own", n, c.Name, 0}, {"another change's", n, c.Name + 2, 1}, {"another node's", other, c.Name, 1}} {
		told := 0
		stop := job.on.tiers.Subscribe(func(tiers.Message) { told++ })
		left, err := job.on.tiers.DistributeFirst(w.ctx, touched, job.change)
		stop()
		if left || err != nil || told != job.want {
			t.Errorf("%s job: left %t, %v, %d messages, want %d", job.what, left, err, told, job.want)
		}
	}
}

// The job of a finished change tells the other nodes once more, as the first message may be lost.
func TestAJobOfAFinishedChangeTellsOtherNodes(t *testing.T) {
	w := newTown(t)
	w.few = rivers.DefaultOptions().Few
	n, other := w.node(), w.node()
	bob := w.person("bob")
	e := &ear{t: t, heard: make(chan tiers.Message, 100)}
	defer other.tiers.Subscribe(func(m tiers.Message) { e.heard <- m })()
	c := w.post(n, bob, "news")
	e.until(isPost(c.PostID))
	if _, err := n.tiers.DistributeFirst(w.ctx, []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}, c.Name); err != nil {
		t.Fatal(err)
	}
	e.until(isPost(c.PostID))
}

// A running node brings its own change to open rivers by itself, before any job.
func TestANodeRunsTier1AtOnce(t *testing.T) {
	w := newTown(t)
	n, other := w.node(), w.node()
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(n, ann, "bob")
	page := w.visit(other, ann, rivers.Home, "")
	if err := other.rivers.Lease(w.ctx, []int64{page.River}); err != nil {
		t.Fatal(err)
	}
	e := &ear{t: t, heard: make(chan tiers.Message, 100)}
	defer other.tiers.Subscribe(func(m tiers.Message) { e.heard <- m })()
	c := w.post(n, bob, "news")
	e.until(isPost(c.PostID))
	if it := w.entryIn(other, ann, page.Name, c.PostID); it == nil {
		t.Error("the other node's hub is told, and its open river does not hold the post")
	}
}

func TestTiersStop(t *testing.T) {
	w := newTown(t)
	n := w.quiet()
	ann := w.person("ann")
	w.visit(n, ann, rivers.Home, "")
	before := goleak.IgnoreCurrent()
	tr := tiers.New(tiers.Config{
		Timelines: n.store, Rivers: n.rivers, Secondary: n.secondary, Log: slog.New(slog.DiscardHandler),
	})
	if err := tr.Start(w.ctx); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		c, err := n.store.Posts.Create(w.ctx, timelines.NewPost{Author: ann.AccountID, Body: "mine"})
		if _, err := tr.Carry(w.ctx, c, err); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Stop(w.ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	goleak.VerifyNone(t, before)
}

// A post that very many like is bumped in their timelines block by block; rivers
// made of these follow each block, and those of the comment's own timelines at
// once.
func TestABumpInBlocksReachesEveryRiver(t *testing.T) {
	w := newTown(t)
	n := w.quiet()
	ann, bob := w.quick("ann"), w.quick("bob")
	famous := w.post(n, ann, "famous")
	w.crowd(famous.PostID)
	if err := n.tiers.Follow(w.ctx, []timelines.Touched{{PostID: famous.PostID}}); err != nil {
		t.Fatal(err)
	}
	w.post(n, ann, "later")
	w.queue.drain(w.ctx, w.chance(), n)
	w.follow(n, bob, ghostPrefix+"7")
	w.queue.drain(w.ctx, w.chance(), n)
	w.shows(w.visit(n, bob, rivers.User, "ann"), "later", "famous")
	before := w.visit(n, bob, rivers.Likes, ghostPrefix+"7").Items[0]
	w.visit(n, bob, rivers.Home, "")
	w.comment(n, ann, famous.Code, "up")
	blocks := 0
	for w.queue.length(w.ctx) > 0 {
		found, err := w.queue.work(w.ctx, n, luck{rng: w.chance(), batch: 1})
		blocks += must(w, found, err)
	}
	if blocks < 3 { // the comment's own, the block, and what the block moved
		t.Errorf("%d events, want a block's too", blocks)
	}
	w.shows(w.visit(n, bob, rivers.User, "ann"), "famous", "later")
	for _, p := range []*rivers.Page{w.visit(n, bob, rivers.Likes, ghostPrefix+"7"), w.visit(n, bob, rivers.Home, "")} {
		if it := p.Items[0]; it.Place <= before.Place || it.Stamp.Entry <= before.Stamp.Entry {
			t.Errorf("%s: entry at %d, %+v, was at %d, %+v before the bump", p.Name.Kind, it.Place, it.Stamp, before.Place, before.Stamp)
		}
	}
	w.sound(n, "at rest")
	w.agree("at rest", []timelines.Viewer{{}, ann, bob}, -1, n)
}
