package rivers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// change makes a change and does what Tier 0 does before the reply, and nothing else.
func (w *town) change(who timelines.Viewer, fn func(context.Context) (timelines.Change, error)) timelines.Change {
	w.t.Helper()
	c, err := fn(w.ctx)
	must(w, c, err)
	if c.Clock != 0 {
		if err := w.rivers.PublishClock(w.ctx, c.Clock); err != nil {
			w.t.Fatal(err)
		}
	}
	if c.PostID != 0 {
		touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
		if err := w.rivers.Distribute(w.ctx, touched, Scope{Actor: who.AccountID}); err != nil {
			w.t.Fatal(err)
		}
	}
	return c
}

func (w *town) says(who timelines.Viewer, body string, to ...string) timelines.Change {
	w.t.Helper()
	return w.change(who, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Create(ctx, timelines.NewPost{Author: who.AccountID, Body: body, To: to})
	})
}

func (w *town) remarks(who timelines.Viewer, code, body string) timelines.Change {
	w.t.Helper()
	return w.change(who, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Comments.Create(ctx, timelines.NewComment{Author: who.AccountID, Code: code, Body: body})
	})
}

// A live search shows the present state, though no writer finds it and no job runs. It
// stays the same river.
func TestASearchFollows(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	one := w.says(ann, "one cat")
	first := w.visit(bob, Search, "cats")
	w.shows(first, "one cat")
	byCreation := first.Name
	byCreation.Order = Created
	two := w.says(ann, "two cats")
	w.says(ann, "a dog")
	sees := func(want ...string) {
		t.Helper()
		p := w.visit(bob, Search, "Cats ")
		w.shows(p, want...)
		if p.River != first.River {
			t.Errorf("the search was asked for anew: river %d, was %d", p.River, first.River)
		}
	}
	sees("two cats", "one cat")
	remark := w.remarks(bob, one.Code, "more cats")
	sees("one cat", "two cats")
	p, err := w.rivers.Visit(w.ctx, bob, byCreation, Cursor{})
	w.shows(must(w, p, err), "two cats", "one cat")
	w.change(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Edit(ctx, ann.AccountID, one.Code, "one horse")
	})
	sees("one horse", "two cats") // by the comment
	w.change(bob, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Comments.Delete(ctx, bob.AccountID, one.Code, remark.CommentID)
	})
	sees("two cats")
	w.change(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Edit(ctx, ann.AccountID, one.Code, "one cat again")
	})
	sees("one cat again", "two cats")
	w.change(bob, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Like(ctx, bob.AccountID, two.Code)
	})
	it, _, err := w.rivers.Entry(w.ctx, bob, first.Name, two.PostID)
	if err != nil || !it.Liked {
		t.Errorf("the reply to my like: %+v, %v", it, err)
	}
	w.change(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Delete(ctx, ann.AccountID, two.Code)
	})
	sees("one cat again")
	w.sound()
	// It has no timelines, and writers do not find it.
	if n := w.count(`SELECT count(*) FROM rivers_timelines WHERE river_id = $1`, first.River); n != 0 {
		t.Errorf("the search is of %d timelines", n)
	}
	looked, err := w.rivers.lookUp(w.ctx, []timelines.Touched{{PostID: one.PostID}}, Scope{Actor: bob.AccountID})
	if err != nil || slices.ContainsFunc(looked.targets, func(x *target) bool { return x.name.Kind == Search }) {
		t.Errorf("a writer routes to searches: %v, %v", looked.targets, err)
	}
}

// A search does not show a post that changed before its entry was updated: the text that
// matched may have been taken away (R4).
func TestAnOutdatedEntryOfASearchIsNotShown(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	p := w.says(ann, "a secret")
	w.shows(w.visit(timelines.Viewer{}, Search, "secret"), "a secret")
	n := w.name(timelines.Viewer{}, Search, "secret")
	w.change(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Edit(ctx, ann.AccountID, p.Code, "nothing")
	})
	raw, err := w.rivers.readPage(w.ctx, n, Cursor{}, 10)
	must(w, raw, err)
	if len(raw.entries) != 1 || !raw.entries[0].outdated() {
		t.Fatalf("got %+v, want the entry as it was", raw.entries)
	}
	sets, err := w.rivers.access.Sets(w.ctx, 0)
	must(w, sets, err)
	items, _, err := w.rivers.decide(w.ctx, n, sets, raw.label(), raw.entries)
	if err != nil || len(items) != 0 {
		t.Errorf("got %+v, %v, want nothing", items, err)
	}
	seen, err := w.rivers.Flush(w.ctx, []Watch{{Name: n}}, []int64{p.PostID})
	if err != nil || len(seen[0].Items) != 0 || len(seen[0].Gone) != 1 {
		t.Errorf("a push: %+v, %v, want the post gone", seen, err)
	}
	w.sound()
}

// A ban between viewer and author keeps a search from finding by the author's words, and so
// does a hide of the author or the post, or a place that is closed now.
func TestASearchDecidesAtRender(t *testing.T) {
	w := newTown(t)
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	w.group(bob, "den", timelines.Private)
	w.follow(ann, "bob")
	p := w.says(bob, "a post")
	remark := w.remarks(cat, p.Code, "a word")
	finds := func(v timelines.Viewer, query string, want ...string) {
		t.Helper()
		w.shows(w.visit(v, Search, query), want...)
	}
	act := func(who timelines.Viewer, do func(context.Context, int64, string) (timelines.Change, error), name string) {
		t.Helper()
		w.change(who, func(ctx context.Context) (timelines.Change, error) { return do(ctx, who.AccountID, name) })
	}
	both := func(want ...string) {
		t.Helper()
		finds(ann, "word", want...)
		finds(ann, "from:cat", want...)
		finds(ann, "post", "a post")
		finds(dan, "word", "a post")
	}
	both("a post")
	act(ann, w.store.Bans.Ban, "cat")
	both()
	w.sound()
	act(ann, w.store.Bans.Unban, "cat")
	both("a post")
	act(cat, w.store.Bans.Ban, "ann")
	both()
	act(cat, w.store.Bans.Unban, "ann")
	act(ann, w.store.Hides.HideAccount, "cat")
	both()
	w.remarks(dan, p.Code, "another word")
	finds(ann, "word", "a post")
	finds(ann, "from:cat word")
	act(ann, w.store.Hides.UnhideAccount, "cat")
	finds(ann, "from:cat word", "a post")
	act(ann, w.store.Hides.HideAccount, "bob")
	finds(ann, "post")
	act(ann, w.store.Hides.UnhideAccount, "bob")
	act(ann, func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
		_, c, err := w.store.Hides.HidePost(ctx, actor, code)
		return c, err
	}, p.Code)
	finds(ann, "post")
	finds(ann, "word")
	act(bob, w.store.Bans.Ban, "dan")
	finds(dan, "word")
	finds(dan, "in:bob")
	act(cat, func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
		return w.store.Comments.Delete(ctx, actor, code, remark.CommentID)
	}, p.Code)
	finds(cat, "from:cat")

	// In a group the viewer may see banned people; nothing else changes that.
	w.store.Subscriptions.Subscribe(w.ctx, cat.AccountID, "den")
	act(bob, func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
		return w.store.Subscriptions.Accept(ctx, actor, name, "den")
	}, "cat")
	w.drain()
	w.says(bob, "open and closed", "bob", "den")
	finds(cat, "in:den", "open and closed")
	finds(dan, "in:den")
	act(cat, w.store.Subscriptions.Unsubscribe, "den")
	finds(cat, "in:den")
	finds(cat, "closed", "open and closed")
	finds(cat, "closed -in:den", "open and closed")

	// The same holds in a sub-feed.
	act(bob, func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
		return w.store.Feeds.Create(ctx, actor, name, name, timelines.Private)
	}, "diary")
	admit := func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
		return w.store.Feeds.Admit(ctx, actor, "diary", name)
	}
	remove := func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
		return w.store.Feeds.Remove(ctx, actor, "diary", name)
	}
	w.says(bob, "dear diary", "bob/diary")
	w.says(bob, "open and noted", "bob", "bob/diary")
	finds(cat, "in:bob/diary")
	act(bob, admit, "cat")
	w.drain()
	finds(cat, "in:bob/diary", "open and noted", "dear diary")
	finds(cat, "noted -in:bob/diary")
	finds(dan, "in:bob/diary")
	act(bob, remove, "cat")
	finds(cat, "in:bob/diary")
	finds(cat, "noted", "open and noted")
	finds(cat, "noted in:bob/diary")
	w.drain()
	w.sound()
	finds(cat, "noted -in:bob/diary", "open and noted")
}

// Narrowings hold for a search, whatever stands still.
func TestASearchNarrows(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	nobody := timelines.Viewer{}
	w.says(bob, "words of bob")
	w.says(bob, "words to ann", "ann")
	w.shows(w.visit(nobody, Search, "words"), "words of bob")
	w.shows(w.visit(ann, Search, "words"), "words to ann", "words of bob")
	w.change(bob, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Feeds.SetAccess(ctx, bob.AccountID, "", timelines.Protected)
	})
	w.shows(w.visit(nobody, Search, "words"))
	w.shows(w.visit(ann, Search, "words"), "words to ann", "words of bob")
	w.change(bob, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Feeds.SetAccess(ctx, bob.AccountID, "", timelines.Private)
	})
	w.shows(w.visit(ann, Search, "words"), "words to ann")
	w.change(bob, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Feeds.SetAccess(ctx, bob.AccountID, "", timelines.Public)
	})
	w.drain()
	w.shows(w.visit(nobody, Search, "words"), "words of bob")
	w.sound()
}

// Pages go on, in both orders, while posts come and go.
func TestASearchInPages(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	var posts []timelines.Change
	var want []string
	for i := range chunk + 2*PageSize {
		posts = append(posts, w.says(ann, numbered(i)))
		want = append([]string{numbered(i)}, want...)
	}
	for _, order := range []Order{Fresh, Created} {
		n := w.name(timelines.Viewer{}, Search, "post")
		n.Order = order
		var got []string
		for at := (Cursor{}); ; {
			p, err := w.rivers.Visit(w.ctx, timelines.Viewer{}, n, at)
			got = append(got, bodies(must(w, p, err))...)
			if !p.More {
				break
			}
			at = p.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %d posts, want %d", order, len(got), len(want))
		}
	}
	w.change(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Edit(ctx, ann.AccountID, posts[3].Code, "deep down")
	})
	w.sound()
}

// A search that was left alone for long, or overtaken by very many changes, is searched
// anew. One that no change concerned is only marked.
func TestASearchLeftAlone(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.says(ann, "a word")
	first := w.visit(ann, Search, "word")
	age := func(by string) {
		w.exec(`UPDATE rivers SET updated_at = updated_at - $1::interval`, by)
		w.exec(`UPDATE folds SET updated_at = updated_at - $1::interval`, by)
	}
	age("4 minutes")
	if again := w.visit(ann, Search, "word"); again.River != first.River {
		t.Errorf("a quiet search was asked for anew")
	}
	age("4 minutes")
	w.says(ann, "word two")
	if again := w.visit(ann, Search, "word"); again.River != first.River || len(again.Items) != 2 {
		t.Errorf("a search brought up late: %v, river %v", bodies(again), again.River == first.River)
	}
	age("6 minutes")
	w.exec(`DELETE FROM folds`) // as an expiry would
	w.says(ann, "word three")
	w.exec(`DELETE FROM folds`)
	if again := w.visit(ann, Search, "word"); again.River == first.River || len(again.Items) != 3 {
		t.Errorf("an old search: %v, river %v", bodies(again), again.River == first.River)
	}
	w.sound()
	first = w.visit(ann, Search, "word")
	w.exec(`INSERT INTO folds (post_id, version, decisive, text_folded, likes_folded, comments_folded, attachments_folded)
		SELECT 1000000 + i, 1, '{}', '{}', '{}', '{}', '[]' FROM generate_series(1, $1::int) i`, maxUpdated+1)
	// Its own readers visit it again, and no others wait for that.
	everything := w.visit(ann, Everything, "")
	p := w.says(ann, "word four")
	push := func() []Seen {
		t.Helper()
		seen, err := w.rivers.Flush(w.ctx, []Watch{
			{Viewer: ann, Name: first.Name, River: first.River}, {Viewer: ann, Name: everything.Name, River: everything.River},
		}, []int64{p.PostID})
		return must(w, seen, err)
	}
	if seen := push(); seen[0].Swapped || len(seen[0].Items)+len(seen[0].Gone) > 0 || len(seen[1].Items) != 1 {
		t.Errorf("a push to a search far behind: %+v", seen)
	}
	if left, err := w.rivers.BringUp(w.ctx, []Name{first.Name}); err != nil || len(left) > 0 {
		t.Errorf("bringing up a search far behind that nobody has open: %v is left to stand, %v", left, err)
	}
	if seen := push(); !seen[0].Swapped {
		t.Errorf("a push to a search that is retired: %+v", seen)
	}
	if again := w.visit(ann, Search, "word"); again.River == first.River || len(again.Items) != 4 {
		t.Error("a search far behind was not asked for anew")
	}
}

// A fold is not missed if its writer commits long after it wrote.
func TestASearchWaitsForNoCommit(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	p := w.says(ann, "a horse")
	w.visit(ann, Everything, "")
	first := w.visit(ann, Search, "cat")
	tx, err := w.db.Secondary.Begin(w.ctx)
	must(w, tx, err)
	defer func() { _ = tx.Rollback(w.ctx) }()
	// The writer has written the fold and waits for an entry.
	if _, err := tx.Exec(w.ctx, `SELECT FROM entries WHERE post_id = $1 FOR UPDATE`, p.PostID); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	c, err := w.store.Comments.Create(w.ctx, timelines.NewComment{Author: ann.AccountID, Code: p.Code, Body: "a cat"})
	must(w, c, err)
	go func() {
		written <- w.rivers.Distribute(w.ctx, []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}, All)
	}()
	for w.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
		select {
		case err := <-written:
			t.Fatalf("nobody waits: %v", err)
		default:
		}
	}
	w.says(ann, "another cat")
	w.shows(w.visit(ann, Search, "cat"), "another cat")
	if err := tx.Rollback(w.ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	w.exec(`UPDATE folds SET updated_at = updated_at - interval '1 minute'`)
	again := w.visit(ann, Search, "cat")
	w.shows(again, "another cat", "a horse")
	if again.River != first.River {
		t.Error("the search was asked for anew")
	}
	w.sound()
}

// Many searches are updated together, each with the posts that concern it.
func TestSearchesTogether(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	var watches []Watch
	for i := range 5 {
		p := w.visit(ann, Search, fmt.Sprintf("word%d", i))
		watches = append(watches, Watch{Viewer: ann, Name: p.Name, River: p.River})
	}
	everything := w.visit(ann, Everything, "")
	watches = append(watches, Watch{Viewer: ann, Name: everything.Name, River: everything.River})
	var posts []int64
	for i := range 5 {
		posts = append(posts, w.says(ann, fmt.Sprintf("word%d and word%d", i, (i+1)%5)).PostID)
	}
	var names []Name
	for _, watch := range watches {
		names = append(names, watch.Name)
	}
	left, err := w.rivers.BringUp(w.ctx, names)
	must(w, left, err)
	if len(left) != 0 {
		t.Errorf("left to be visited: %v", left)
	}
	seen, err := w.rivers.Flush(w.ctx, watches, posts)
	must(w, seen, err)
	for i := range 5 {
		if len(seen[i].Items) != 2 || seen[i].Swapped {
			t.Errorf("search %d: %+v", i, seen[i])
		}
	}
	if len(seen[5].Items) != 5 {
		t.Errorf("everything: %d posts", len(seen[5].Items))
	}
	pages, err := w.rivers.FirstPages(w.ctx, watches)
	must(w, pages, err)
	for i := range 5 {
		if pages[i] == nil || len(pages[i].Items) != 2 {
			t.Errorf("first page %d: %+v", i, pages[i])
		}
	}
	w.sound()
	// Nobody can name another person's search.
	if _, err := w.rivers.Visit(w.ctx, timelines.Viewer{}, watches[0].Name, Cursor{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("another's search: %v", err)
	}
}

// However many searches are updated, and whomever they name, it is one statement for the
// names and one for the posts.
func TestManySearchesAreUpdatedInTwoStatements(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	p := w.says(ann, "a word")
	pool, n := counted(t, w.db.PrimaryURL)
	store := timelines.Open(pool, w, timelines.DefaultOptions())
	q, problem := snapshot.ParseQuery("word from:ann in:ann -from:nobody")
	if problem != "" {
		t.Fatal(problem)
	}
	costs := func(searches int) int64 {
		t.Helper()
		before := n.n.Load()
		err := store.InSnapshot(w.ctx, func(sn *snapshot.Snapshot) error {
			asked := slices.Repeat([]snapshot.ViewerQuery{{Viewer: ann.AccountID, Query: q}}, searches)
			found, err := sn.Matches(w.ctx, asked, []int64{p.PostID})
			if err == nil && (len(found) != searches || len(found[searches-1]) != 1) {
				t.Errorf("got %v, want the post %d times", found, searches)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n.n.Load() - before
	}
	if one, many := costs(1), costs(20); many != one {
		t.Errorf("20 searches cost %d statements, one %d", many, one)
	}
}

// Two nodes update the same search. One has found a post in an older snapshot. It writes
// while the other, with a newer one, has matched but not yet written. Nothing outdated is
// left, though nobody looks at that change again.
func TestASearchIsUpdatedByTwoNodes(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	p := w.visit(ann, Search, "cat")
	other := w.node()
	post := w.says(ann, "a cat")
	read, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ctx := pausedAt(w.ctx, afterSnapshot, func() {
			close(read)
			<-goOn
		})
		done <- other.catchUpSearch(ctx, p.Name)
	}()
	<-read
	w.change(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Edit(ctx, ann.AccountID, post.Code, "a dog")
	})
	ctx := pausedAt(w.ctx, afterSnapshot, func() {
		close(goOn)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if _, err := w.rivers.BringUp(ctx, []Name{p.Name}); err != nil {
		t.Fatal(err)
	}
	w.sound()
	w.shows(w.visit(ann, Search, "cat"))
}
