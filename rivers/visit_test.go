package rivers

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

func TestEveryKindShowsItsPosts(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.group(bob, "sailing", timelines.Public)
	w.follow(ann, "bob")
	w.post(bob, "bob's feed")
	w.post(bob, "to the group", "sailing")
	strange := w.post(cat, "a stranger's")
	w.post(cat, "for ann", "ann")
	talked := w.post(cat, "talked about")
	w.like(bob, strange.Code)
	w.comment(bob, talked.Code, "indeed")
	mine := w.post(ann, "my own")

	w.shows(w.visit(ann, Home, ""), "my own", "talked about", "a stranger's", "for ann", "bob's feed")
	w.shows(w.visit(ann, User, "bob"), "bob's feed")
	w.shows(w.visit(ann, Group, "sailing"), "to the group")
	w.shows(w.visit(ann, Likes, "bob"), "a stranger's")
	w.shows(w.visit(ann, Comments, "bob"), "talked about")
	w.shows(w.visit(ann, Directs, ""), "for ann")
	w.shows(w.visit(ann, Discussions, ""), "my own")
	w.shows(w.visit(ann, Post, mine.Code), "my own")
	everything := []string{"my own", "talked about", "a stranger's", "to the group", "bob's feed"}
	w.shows(w.visit(ann, Everything, ""), everything...)
	w.shows(w.visit(timelines.Viewer{}, Everything, ""), everything...)
	w.sound()
}

// An entry's reasons are the river's timelines that hold the post, in order of entrance.
func TestHomeSaysWhy(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(ann, "bob")
	p := w.post(cat, "a stranger's")
	w.like(bob, p.Code)
	w.comment(bob, p.Code, "and I say so")
	it := w.visit(ann, Home, "").Items[0]
	var got []string
	for _, tl := range it.Why {
		if tl.TheirID != bob.AccountID {
			t.Errorf("reason %+v is not bob's", tl)
		}
		got = append(got, tl.Kind)
	}
	if want := []string{kinds.Likes, kinds.Comments}; !slices.Equal(got, want) {
		t.Errorf("why: got %v, want %v", got, want)
	}
}

// A friend's like lifts a stranger's post into my feed, once. A second friend's does not,
// and like-unlike-like does not.
func TestAFriendsLikeLiftsOnce(t *testing.T) {
	w := newTown(t)
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	w.follow(ann, "bob")
	w.follow(ann, "cat")
	old := w.post(dan, "old")
	w.post(bob, "first")
	w.like(bob, old.Code)
	w.shows(w.visit(ann, Home, ""), "old", "first")
	w.post(bob, "second")
	w.like(cat, old.Code)
	w.drain()
	w.shows(w.visit(ann, Home, ""), "second", "old", "first")
	w.unlike(bob, old.Code)
	w.unlike(cat, old.Code)
	w.drain()
	w.shows(w.visit(ann, Home, ""), "second", "first")
	w.like(cat, old.Code)
	w.drain()
	w.shows(w.visit(ann, Home, ""), "second", "old", "first")
	w.sound()
	if n := w.visit(dan, Home, ""); len(n.Items) != 1 {
		t.Errorf("dan, who follows nobody, sees %q", bodies(n))
	}
}

func TestOlderEntriesHaveNoHolesAndNoDoubles(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	const total = 2*chunk + 40
	for i := range total {
		c := w.post(bob, numbered(i))
		if i%3 == 0 {
			w.like(bob, c.Code)
		}
	}
	name := w.name(ann, Home, "")
	var got []string
	at := Cursor{}
	for pages := 0; ; pages++ {
		p, err := w.rivers.Visit(w.ctx, ann, name, at)
		if err != nil {
			t.Fatal(err)
		}
		if floor := w.count(`SELECT count(*) FROM entries`); floor > (pages+2)*PageSize+chunk {
			t.Fatalf("page %d: %d entries stored, deeper than asked for", pages, floor)
		}
		got = append(got, bodies(p)...)
		if !p.More {
			break
		}
		at = p.Next
	}
	want := make([]string, total)
	for i := range want {
		want[i] = numbered(total - 1 - i)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d posts, want %d in order; got %q", len(got), total, got)
	}
	w.sound()
}

// Imports bring hundreds of posts of the same instant. All stand at one place, and the
// river goes on below them.
func TestManyPostsAtOnePlace(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "below")
	const n = 2*chunk + 50
	for i := range n {
		w.post(ann, numbered(i))
	}
	w.forget()
	for _, query := range []string{
		`UPDATE posts SET fresh_at = (SELECT max(fresh_at) FROM posts), created_at = (SELECT max(created_at) FROM posts) WHERE body <> 'below'`,
		`UPDATE timeline_entries e SET entered_at = p.fresh_at, fresh_at = p.fresh_at, created_at = (extract(epoch FROM p.created_at) * 1000000)::bigint FROM posts p WHERE p.id = e.post_id`,
	} {
		if _, err := w.db.Primary.Exec(w.ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	for _, order := range []Order{Fresh, Created} {
		name := w.name(ann, User, "ann")
		name.Order = order
		ctx, cancel := context.WithTimeout(w.ctx, 20*time.Second)
		defer cancel()
		seen, at := 0, Cursor{}
		for {
			p, err := w.rivers.Visit(ctx, ann, name, at)
			if err != nil {
				t.Fatalf("%s: after %d posts: %v", order, seen, err)
			}
			seen += len(p.Items)
			if !p.More {
				break
			}
			at = p.Next
		}
		if seen != n+1 {
			t.Errorf("%s: read %d posts, want %d", order, seen, n+1)
		}
	}
	w.sound()
}

// Deleting the last post of a page does not break the way to older ones.
func TestACursorOutlivesItsPost(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	var last timelines.Change
	for i := range PageSize + 2 {
		c := w.post(ann, numbered(i))
		if i == 2 {
			last = c
		}
	}
	p := w.visit(ann, User, "ann")
	text := w.rivers.FormatCursor(p.Next, p.Items[len(p.Items)-1].Fold.Text.Code)
	if p.Next.PostID != last.PostID {
		t.Fatalf("page ends at %d, want %d", p.Next.PostID, last.PostID)
	}
	w.remove(ann, last.Code)
	w.drain()
	at, err := w.node().Cursor(w.ctx, ann, text)
	if err != nil {
		t.Fatalf("cursor at a deleted post: %v", err)
	}
	older, err := w.rivers.Visit(w.ctx, ann, p.Name, at)
	if err != nil {
		t.Fatal(err)
	}
	w.shows(older, numbered(1), numbered(0))
}

// counter counts the statements of a pool.
type counter struct{ n atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (c *counter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	c.n.Add(int64(d.Batch.Len()))
	return ctx
}
func (c *counter) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (c *counter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func counted(t *testing.T, url string) (*pgxpool.Pool, *counter) {
	t.Helper()
	c := &counter{}
	return traced(t, url, c), c
}

// traced returns a pool that tells a tracer of its statements.
func traced(t *testing.T, url string, tracer pgx.QueryTracer) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ConnConfig.Tracer = tracer
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// A warm page is one SQL statement, by the driver's tracer and by the server's
// own count.
func TestAWarmPageIsOneStatement(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	w.group(bob, "sailing", timelines.Private)
	w.follow(bob, "ann")
	var code string
	for i := range 40 {
		code = w.post(bob, numbered(i)).Code
		w.like(bob, code)
		w.comment(bob, code, "well")
	}
	w.post(bob, "direct", "ann")
	primary, primaryCount := counted(t, w.db.PrimaryURL)
	secondary, secondaryCount := counted(t, w.db.SecondaryURL)
	w.store = timelines.Open(primary, w, timelines.DefaultOptions())
	// Work that is done from time to time for all pages together belongs to no page: the
	// town's own node is stopped, and this one is not started.
	if err := w.rivers.Stop(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.rivers = Open(secondary, w.store, slog.New(slog.DiscardHandler), DefaultOptions())
	token, _, err := w.store.Accounts.SignIn(w.ctx, "ann", "long enough ann")
	if err != nil {
		t.Fatal(err)
	}
	session, ok := timelines.SessionOf(token)
	if !ok {
		t.Fatal("a token that is none")
	}
	pages := []Name{
		w.name(ann, Home, ""), w.name(ann, User, "bob"), w.name(ann, Likes, "bob"), w.name(ann, Comments, "bob"),
		w.name(ann, Discussions, ""), w.name(ann, Directs, ""), w.name(ann, Faves, ""), w.name(ann, Everything, ""), w.name(ann, Post, code),
	}
	look := func(n Name) {
		v, err := w.rivers.Access().Session(w.ctx, session)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.rivers.Visit(w.ctx, v, n, Cursor{}); err != nil {
			t.Fatalf("%s: %v", n.Kind, err)
		}
	}
	for _, n := range pages {
		look(n)
	}
	if _, err := w.db.Primary.Exec(w.ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`); err != nil {
		t.Fatal(err)
	}
	served := func() (n int64) {
		// It counts the statements of this test's two databases, without its own.
		const query = `
			SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
			WHERE d.datname = ANY($1) AND query NOT LIKE '%pg_stat_statements%'`
		names := []string{primary.Config().ConnConfig.Database, secondary.Config().ConnConfig.Database}
		if err := w.db.Primary.QueryRow(w.ctx, query, names).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const times = 100
	for _, n := range pages {
		before, p, s := served(), primaryCount.n.Load(), secondaryCount.n.Load()
		for range times {
			look(n)
		}
		if got := served() - before; got != times {
			t.Errorf("%s: the servers counted %d statements in %d pages", n.Kind, got, times)
		}
		if got := primaryCount.n.Load() - p; got != 0 {
			t.Errorf("%s: %d statements to the primary store", n.Kind, got)
		}
		if got := secondaryCount.n.Load() - s; got != times {
			t.Errorf("%s: %d statements to the secondary store in %d pages", n.Kind, got, times)
		}
	}
}

func TestAThousandVisitorsAreOneBuild(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	w.post(bob, "hello")
	other := w.node()
	n := w.name(timelines.Viewer{}, Everything, "")
	var wg sync.WaitGroup
	for i := range 1000 {
		node := w.rivers
		if i%2 == 1 {
			node = other
		}
		wg.Go(func() {
			p, err := node.Visit(w.ctx, timelines.Viewer{}, n, Cursor{})
			if err != nil || len(p.Items) != 1 {
				t.Errorf("visit: %v, %v", p, err)
			}
		})
	}
	wg.Wait()
	if got := w.count(`SELECT count(*) FROM rivers`); got != 1 {
		t.Errorf("%d rivers made, want 1", got)
	}
}

func TestARefusedPageMakesNoRiver(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	if _, err := w.store.Feeds.SetAccess(w.ctx, bob.AccountID, "", timelines.Private); err != nil {
		t.Fatal(err)
	}
	secret := w.post(bob, "secret")
	for _, c := range []struct {
		viewer timelines.Viewer
		kind   Kind
		of     string
		want   error
	}{
		{ann, User, "bob", ErrForbidden},
		{ann, Likes, "bob", ErrForbidden},
		{ann, Comments, "bob", ErrForbidden},
		{timelines.Viewer{}, User, "bob", ErrForbidden},
		{ann, Post, secret.Code, ErrNotFound},
		{timelines.Viewer{}, Post, secret.Code, ErrNotFound},
	} {
		_, err := w.rivers.Visit(w.ctx, c.viewer, w.name(c.viewer, c.kind, c.of), Cursor{})
		if !errors.Is(err, c.want) {
			t.Errorf("%s of %s: got %v, want %v", c.kind, c.of, err, c.want)
		}
	}
	// Nobody can name another person's river.
	if _, err := w.rivers.Visit(w.ctx, ann, w.name(bob, Directs, ""), Cursor{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("another one's directs: got %v, want %v", err, ErrNotFound)
	}
	for _, kind := range []Kind{Home, Directs, Discussions, Faves} {
		if _, err := w.rivers.Resolve(w.ctx, timelines.Viewer{}, kind, "", Fresh); !errors.Is(err, ErrSignInNeeded) {
			t.Errorf("%s for nobody: got %v, want %v", kind, err, ErrSignInNeeded)
		}
	}
	if got := w.count(`SELECT count(*) FROM rivers`); got != 0 {
		t.Errorf("%d rivers made for refused pages", got)
	}
	w.shows(w.visit(bob, Post, secret.Code), "secret")
}

// A fold shows the first and last comments, and likes up to a number. A post's own page
// shows all.
func TestFoldsAndFullFolds(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	p := w.post(ann, "talk")
	for i := range 7 {
		w.comment(ann, p.Code, numbered(i))
	}
	shown := func(it Item) (all []string) {
		for _, c := range it.Fold.Comments.Shown {
			all = append(all, c.Body)
		}
		return all
	}
	folded := w.visit(ann, User, "ann").Items[0]
	if got, want := shown(folded), []string{numbered(0), numbered(5), numbered(6)}; !slices.Equal(got, want) {
		t.Errorf("folded comments: got %q, want %q", got, want)
	}
	if folded.Fold.Comments.Total != 7 || folded.Full {
		t.Errorf("fold: %+v", folded.Fold.Comments)
	}
	full := w.visit(ann, Post, p.Code).Items[0]
	if got := shown(full); len(got) != 7 || !full.Full {
		t.Errorf("full fold shows %q", got)
	}
	w.comment(ann, p.Code, "one more")
	w.drain()
	if got := shown(w.visit(ann, Post, p.Code).Items[0]); len(got) != 8 || got[7] != "one more" {
		t.Errorf("full fold after a comment shows %q", got)
	}
	w.sound()
}

// A person who saves a post has it among their saved posts, fresh there and nowhere else.
// Others learn only how many have saved it.
func TestFaves(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(cat, "ann")
	first := w.post(bob, "first")
	w.post(bob, "second")
	w.visit(ann, Everything, "")
	c, err := w.store.Posts.Fave(w.ctx, ann.AccountID, first.Code)
	must(w, c, err)
	w.drain()
	w.shows(w.visit(ann, Faves, ""), "first")
	w.shows(w.visit(ann, Everything, ""), "second", "first")
	w.shows(w.visit(cat, Home, ""))
	w.shows(w.visit(cat, Faves, ""))
	for who, want := range map[timelines.Viewer]bool{ann: true, cat: false, {}: false} {
		it := w.visit(who, Everything, "").Items[1]
		if it.Faved != want || it.Fold.Faves != 1 {
			t.Errorf("for %d: kept %v of %d, want %v of 1", who.AccountID, it.Faved, it.Fold.Faves, want)
		}
	}
	c, err = w.store.Posts.Unfave(w.ctx, ann.AccountID, first.Code)
	must(w, c, err)
	w.drain()
	w.shows(w.visit(ann, Faves, ""))
	if it := w.visit(ann, Everything, "").Items[1]; it.Faved || it.Fold.Faves != 0 {
		t.Errorf("after letting go: kept %v of %d", it.Faved, it.Fold.Faves)
	}
	w.sound()
}

// A page that takes two reads is decided with one state of the viewer's hides. A page that
// says it was made after a hide has nothing that the hide took away between the two reads;
// otherwise nothing would ever take it off an open page.
func TestAPageHasOneStateOfHides(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.post(bob, "older")
	for range PageSize + 1 {
		w.post(cat, "not for ann")
	}
	newest := w.post(bob, "newest")
	w.drain()
	_, err := w.store.Hides.HideAccount(w.ctx, ann.AccountID, "cat")
	must(w, 0, err)
	w.shows(w.visit(ann, Everything, ""), "newest", "older")
	met := false
	ctx := pausedAt(w.ctx, betweenReads, func() {
		met = true
		_, c, err := w.store.Hides.HidePost(w.ctx, ann.AccountID, newest.Code)
		must(w, 0, err)
		must(w, 0, w.rivers.PublishClock(w.ctx, c.Clock))
	})
	page, err := w.rivers.Visit(ctx, ann, w.name(ann, Everything, ""), Cursor{})
	must(w, 0, err)
	if !met {
		t.Fatal("the page took one read")
	}
	w.shows(page, "older")
}
