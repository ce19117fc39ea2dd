package tiers_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// sourced is a town with a source of ann's that programs push to.
type sourced struct {
	*town
	n       *node
	ann     timelines.Viewer
	sources *sources.Store
	source  sources.Source
}

// push loads a full list of items, and sweeps what is absent.
func (w *sourced) push(items ...*formats.Item) sources.Load {
	w.t.Helper()
	var file []byte
	for _, it := range items {
		file = formats.AppendLine(file, it)
	}
	in, err := formats.ReadCanonical(bytes.NewReader(file), 0)
	must(w.town, in, err)
	var lines []*formats.Line
	for range items {
		l, err := in.Next()
		lines = append(lines, must(w.town, l, err).Clone())
	}
	l, err := w.sources.Receive(w.ctx, w.source.ID)
	must(w.town, l, err)
	k := w.take()
	w.act(w.n, func(ctx context.Context) (timelines.Change, error) {
		_, c, err := k.Push(ctx, l.No, sources.Batch{No: 1, Lines: lines})
		return c, err
	})
	if err := w.sources.EndPush(w.ctx, w.source.ID, l.No, 1); err != nil {
		w.t.Fatal(err)
	}
	l, err = k.Next(w.ctx)
	must(w.town, l, err)
	if err := k.Finish(w.ctx, &l); err != nil {
		w.t.Fatal(err)
	}
	for l.State == sources.Sweeping {
		w.act(w.n, func(ctx context.Context) (timelines.Change, error) { return k.Sweep(ctx, &l) })
	}
	if err := k.Close(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (w *sourced) take() *sources.Work {
	w.t.Helper()
	k, err := w.sources.Take(w.ctx, w.source.ID)
	return must(w.town, k, err)
}

// settle does what was announced, and checks all rivers.
func (w *sourced) settle(when string) {
	w.t.Helper()
	w.queue.drain(w.ctx, rand.New(rand.NewPCG(1, 2)), w.n)
	w.sound(w.n, when)
}

// Whatever a source does to posts, the rivers that hold them follow: what changes, and what stays as it was.
func TestRiversFollowSources(t *testing.T) {
	w := &sourced{town: newTown(t)}
	w.n = w.quiet()
	w.ann = w.person("ann")
	bob := w.person("bob")
	w.follow(w.n, bob, "ann")
	w.sources = sources.Open(w.store)
	s, err := w.sources.Add(w.ctx, w.ann.AccountID, sources.New{
		Owner: "ann", Way: sources.Push, Title: "A list", Mode: sources.Sync,
		Settings: sources.Settings{MostGone: 100, Gone: sources.KeepDiscussed},
	})
	w.source = must(w.town, s, err)
	item := func(id string) *formats.Item {
		return &formats.Item{ID: id, Title: "Item " + id, At: time.Now().Add(-time.Hour).UTC().Truncate(time.Second)}
	}
	a, b, c, d := item("a"), item("b"), item("c"), item("d")
	w.push(a, b, c, d)
	w.queue.drain(w.ctx, rand.New(rand.NewPCG(1, 2)), w.n)
	w.visit(w.n, bob, rivers.Home, "")
	w.visit(w.n, w.ann, rivers.Home, "")
	w.visit(w.n, timelines.Viewer{}, rivers.User, "ann")
	w.settle("after the first load")

	// The owner's rivers may get the new text after the job of the change has told browsers. So browsers hear
	// of it again then.
	told := map[int64]bool{}
	unhear := w.n.tiers.Subscribe(func(m tiers.Message) {
		for _, post := range m.Posts {
			told[post] = true
		}
	})
	d.Title = "Item D"
	w.push(a, b, c, d)
	unhear()
	page := w.visit(w.n, w.ann, rivers.Home, "")
	for _, it := range page.Items {
		if is := it.Fold.Text.Body == d.Title; told[it.PostID] != is {
			t.Errorf("browsers heard of %q: %v, want %v", it.Fold.Text.Body, told[it.PostID], is)
		}
	}
	w.shows(page, "Item D", "Item c", "Item b", "Item a")
	w.settle("after the text of an item was changed")

	a.Categories, b.Author = []string{"Travel"}, "Somebody"
	if l := w.push(a, b, c, d); l.Same != 2 || l.Changed != 0 {
		t.Errorf("a category and an author that no post shows: %+v", l.Counts)
	}
	w.settle("after items got a category and an author")

	page = w.visit(w.n, bob, rivers.Home, "")
	for _, it := range page.Items {
		if body := it.Fold.Text.Body; body == "Item a" || body == "Item b" {
			w.like(w.n, bob, it.Fold.Text.Code)
		}
	}
	w.settle("after likes")
	if l := w.push(b, c); l.Kept != 1 || l.Removed != 1 {
		t.Errorf("a sweep that keeps what is discussed: %+v", l.Counts)
	}
	w.settle("after a sweep")

	if _, err := w.sources.Remove(w.ctx, w.ann.AccountID, w.source.Code, sources.KeepDiscussed); err != nil {
		t.Fatal(err)
	}
	k := w.take()
	for gone := false; !gone; {
		w.act(w.n, func(ctx context.Context) (c timelines.Change, err error) {
			c, gone, err = k.Remove(ctx)
			return c, err
		})
	}
	if err := k.Close(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.settle("after the source was removed")
	w.shows(w.visit(w.n, bob, rivers.Home, ""), "Item b", "Item a")
}

// Once it is acknowledged that a source took a post away, or wrote a word that its reader hides, the post counts as an
// unread notification no more (R4).
func TestSourcesTakeBackNotifications(t *testing.T) {
	w := &sourced{town: newTown(t)}
	w.n = w.quiet()
	w.ann = w.person("ann")
	bob, cat := w.person("bob"), w.person("cat")
	w.sources = sources.Open(w.store)
	s, err := w.sources.Add(w.ctx, w.ann.AccountID, sources.New{
		Owner: "ann", Way: sources.Push, Title: "A list", Mode: sources.Sync, Settings: sources.Settings{MostGone: 100},
	})
	w.source = must(w.town, s, err)
	a := &formats.Item{ID: "a", Title: "An apple", At: time.Now().Add(-time.Hour).UTC().Truncate(time.Second)}
	w.push(a)
	w.act(w.n, func(ctx context.Context) (timelines.Change, error) {
		return w.n.store.Hides.HideTerm(ctx, bob.AccountID, "pear")
	})
	var code string
	if err := w.db.Primary.QueryRow(w.ctx, `SELECT code FROM posts`).Scan(&code); err != nil {
		t.Fatal(err)
	}
	w.comment(w.n, bob, code, "Is it ripe?")
	w.comment(w.n, cat, code, "It is.")
	w.queue.drain(w.ctx, rand.New(rand.NewPCG(1, 2)), w.n)
	unread := func(who timelines.Viewer, want int) {
		t.Helper()
		n, _, err := w.n.rivers.News(w.ctx, who.AccountID)
		if got := must(w.town, n, err); got != want {
			t.Errorf("account %d has %d unread notifications, want %d", who.AccountID, got, want)
		}
	}
	unread(w.ann, 1)
	unread(bob, 1)
	a.Title = "A pear"
	w.push(a)
	unread(w.ann, 1)
	unread(bob, 0)
	w.push()
	unread(w.ann, 0)
	w.settle("after the item is gone")
}
