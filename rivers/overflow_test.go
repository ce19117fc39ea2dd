package rivers

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// smallFolds returns a town whose folds keep only two ids of people and two marks.
func smallFolds(t *testing.T) *town {
	w := newTown(t)
	w.rivers.people = 2
	return w
}

// acted does what a request does before its reply, and nothing that workers do.
func (w *town) acted(c timelines.Change) {
	w.t.Helper()
	w.forget()
	if err := w.rivers.Distribute(w.ctx, []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}, Scope{Actor: c.Actor}); err != nil {
		w.t.Fatal(err)
	}
}

// A person who takes a like or a comment back is shown nowhere with it after the reply,
// though the fold has no room for everybody and no worker runs (R4). People who have not
// taken theirs back still stand where they stood.
func TestTakenBackFromAnOverflow(t *testing.T) {
	for _, tc := range []struct {
		name string
		kind Kind
		do   func(w *town, v timelines.Viewer, code string) (takeBack func() timelines.Change)
	}{
		{"a like", Likes, func(w *town, v timelines.Viewer, code string) func() timelines.Change {
			w.like(v, code)
			return func() timelines.Change { return w.unlike(v, code) }
		}},
		{"the last comment", Comments, func(w *town, v timelines.Viewer, code string) func() timelines.Change {
			c := w.comment(v, code, "well")
			return func() timelines.Change {
				c, err := w.store.Comments.Delete(w.ctx, v.AccountID, code, c.CommentID)
				return must(w, c, err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := smallFolds(t)
			ann, bob := w.person("ann"), w.person("bob")
			names := []string{"cat", "dan", "eve", "fay"}
			people := make([]timelines.Viewer, len(names))
			p := w.post(bob, "hello")
			takeBack := make([]func() timelines.Change, len(names))
			for i, name := range names {
				people[i] = w.person(name)
				takeBack[i] = tc.do(w, people[i], p.Code)
			}
			w.follow(ann, "cat")
			w.follow(ann, "fay")
			w.forget()
			open := w.visit(ann, Home, "")
			for i, name := range names {
				w.shows(w.visit(ann, tc.kind, name), "hello")
				w.acted(takeBack[i]())
				w.shows(w.visit(ann, tc.kind, name))
				w.shows(w.visit(people[i], tc.kind, name))
				for _, late := range names[i+1:] {
					w.shows(w.visit(ann, tc.kind, late), "hello")
				}
				if home := w.visit(ann, Home, ""); i < len(names)-1 {
					w.shows(home, "hello") // by fay
				} else {
					w.shows(home)
				}
			}
			seen, err := w.rivers.Flush(w.ctx, []Watch{{Viewer: ann, Name: open.Name, River: open.River}}, []int64{p.PostID})
			if err != nil || len(seen[0].Items) != 0 || len(seen[0].Gone) != 1 {
				t.Errorf("pushed: got %+v, %v; want it gone", seen, err)
			}
			// The person likes it again and is there again, and a comment's author may have other
			// comments.
			c := w.like(people[0], p.Code)
			w.acted(c)
			w.forget()
			w.shows(w.visit(people[0], Likes, "cat"), "hello")
		})
	}
}

// A tag's page, and the mentions, hold posts marked by somebody whom the viewer sees, and
// lose them at once when the mark goes. That is also so for a post with more marks than a
// fold keeps.
func TestMarksOfAnOverflow(t *testing.T) {
	w := smallFolds(t)
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	p := w.post(bob, "a #weir at the #sea #shore")
	byCat := w.comment(cat, p.Code, "a #river, @ann")
	byDan := w.comment(dan, p.Code, "another #river, @ann")
	all := func(want ...string) {
		t.Helper()
		w.shows(w.visit(ann, Hashtag, "river"), want...)
		w.shows(w.visit(ann, Mentions, ""), want...)
	}
	body := "a #weir at the #sea #shore"
	all(body)
	w.forget()
	ban := func(name string) {
		t.Helper()
		c, err := w.store.Bans.Ban(w.ctx, ann.AccountID, name)
		w.publish(must(w, c, err))
	}
	remove := func(v timelines.Viewer, comment int64) {
		t.Helper()
		c, err := w.store.Comments.Delete(w.ctx, v.AccountID, p.Code, comment)
		w.acted(must(w, c, err))
	}
	ban("cat")
	all(body) // by dan
	remove(dan, byDan.CommentID)
	all() // by cat, whom ann does not see
	w.shows(w.visit(dan, Hashtag, "river"), body)
	remove(cat, byCat.CommentID)
	w.shows(w.visit(dan, Hashtag, "river"))
	w.shows(w.visit(dan, Hashtag, "shore"), body)
	c, err := w.store.Posts.Edit(w.ctx, bob.AccountID, p.Code, "a #weir at the #sea and what is more a #brook")
	w.acted(must(w, c, err))
	w.shows(w.visit(dan, Hashtag, "shore"))
	ban("bob")
	w.shows(w.visit(ann, Hashtag, "weir"))
}

// publish brings the rivers' clock to a narrowing, as its request does.
func (w *town) publish(c timelines.Change) {
	w.t.Helper()
	if err := w.rivers.PublishClock(w.ctx, c.Clock); err != nil {
		w.t.Fatal(err)
	}
}

// The primary store is asked only about posts that overflow, and only where the fold does
// not name the person: once for a page, and once for all open pages.
func TestOnlyOverflowsAreAskedAbout(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	names := []string{"cat", "dan", "eve", "fay"} // of each post two have room in the fold
	var people []timelines.Viewer
	for _, name := range names {
		people = append(people, w.person(name))
		w.follow(ann, name)
	}
	var posts []int64
	for i := range 5 {
		p := w.post(bob, numbered(i)+" #river")
		posts = append(posts, p.PostID)
		for _, v := range people {
			w.like(v, p.Code)
			w.comment(v, p.Code, "well")
		}
	}
	w.like(people[0], w.post(bob, "hardly liked").Code)
	w.follow(bob, "ann")
	w.comment(ann, w.post(ann, "quiet #weir").Code, "indeed")
	primary, asked := counted(t, w.db.PrimaryURL)
	w.store = timelines.Open(primary, w, timelines.DefaultOptions())
	w.rivers = Open(w.db.Secondary, w.store, slog.New(slog.DiscardHandler), DefaultOptions())
	w.rivers.people = 2
	var watches []Watch
	for _, tc := range []struct {
		who  timelines.Viewer
		kind Kind
		of   string
		want int64
	}{
		{ann, Likes, "cat", 1},    // the first to like
		{ann, Likes, "fay", 0},    // the last
		{ann, Comments, "cat", 0}, // kept in order of their ids
		{ann, Comments, "fay", 1},
		{ann, Home, "", 1},
		{bob, Home, "", 0},
		{bob, User, "bob", 0},
		{bob, Everything, "", 0},
		{bob, Hashtag, "weir", 0},
		{timelines.Viewer{}, Likes, "dan", 1},
	} {
		n := w.name(tc.who, tc.kind, tc.of)
		for round := range 3 {
			before := asked.n.Load()
			p, err := w.rivers.Visit(w.ctx, tc.who, n, Cursor{})
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				watches = append(watches, Watch{Viewer: tc.who, Name: n, River: p.River})
				continue // built
			}
			if got := asked.n.Load() - before; got != tc.want {
				t.Errorf("%s of %q: %d statements to the primary store, want %d", tc.kind, tc.of, got, tc.want)
			}
		}
	}
	flush := func(want int64, posts ...int64) {
		t.Helper()
		before := asked.n.Load()
		if _, err := w.rivers.Flush(w.ctx, watches, posts); err != nil {
			t.Fatal(err)
		}
		if got := asked.n.Load() - before; got != want {
			t.Errorf("a push of %d posts to all pages: %d statements to the primary store, want %d", len(posts), got, want)
		}
	}
	flush(1, posts...)
	flush(0)
	before := asked.n.Load()
	if _, err := w.rivers.FirstPages(context.Background(), watches); err != nil || asked.n.Load() != before+1 {
		t.Errorf("a comparison of all pages: %d statements, %v; want 1", asked.n.Load()-before, err)
	}
}

// questions remembers the statements of a pool.
type questions struct {
	mu    sync.Mutex // guards asked
	asked []pgx.TraceQueryStartData
}

func (q *questions) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = append(q.asked, d)
	return ctx
}
func (q *questions) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// take returns the statements since the last call.
func (q *questions) take() []pgx.TraceQueryStartData {
	q.mu.Lock()
	defer q.mu.Unlock()
	asked := q.asked
	q.asked = nil
	return asked
}

// pairs returns how often each pair of a post and a timeline was asked about since then,
// and fails if anything else was asked.
func (q *questions) pairs(t *testing.T) map[timelines.Hold]int {
	t.Helper()
	asked := map[timelines.Hold]int{}
	for _, d := range q.take() {
		var posts, of []int64
		if len(d.Args) == 1 {
			named, _ := d.Args[0].(pgx.StrictNamedArgs)
			posts, _ = named["posts"].([]int64)
			of, _ = named["timelines"].([]int64)
		}
		if len(posts) == 0 || len(posts) != len(of) {
			t.Fatalf("asked with %v, want pairs of posts and timelines", d.Args)
		}
		for i, post := range posts {
			asked[timelines.Hold{PostID: post, TimelineID: of[i]}]++
		}
	}
	return asked
}

// Many pages need to know of the same people in the same posts, as friends of one are
// friends of many. That is asked once for all of them, not once for each.
func TestAnOverflowIsAskedAboutOnceForManyPages(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	var people, readers []timelines.Viewer
	for _, name := range []string{"cat", "dan", "eve", "fay"} {
		people = append(people, w.person(name))
	}
	for _, name := range []string{"ann", "gus", "hal"} {
		reader := w.person(name)
		readers = append(readers, reader)
		for _, friend := range []string{"cat", "dan", "eve", "fay"} {
			w.follow(reader, friend)
		}
	}
	var posts []int64
	for i := range 5 {
		p := w.post(bob, numbered(i))
		posts = append(posts, p.PostID)
		for _, v := range people {
			w.like(v, p.Code)
			w.comment(v, p.Code, "well")
		}
	}
	var asked questions
	w.store = timelines.Open(traced(t, w.db.PrimaryURL, &asked), w, timelines.DefaultOptions())
	w.rivers = Open(w.db.Secondary, w.store, slog.New(slog.DiscardHandler), DefaultOptions())
	w.rivers.people = 2
	var watches []Watch
	for _, v := range readers {
		for kind, of := range map[Kind]string{Home: "", Likes: "cat", Comments: "fay"} {
			p := w.visit(v, kind, of)
			watches = append(watches, Watch{Viewer: v, Name: p.Name, River: p.River})
		}
	}
	for how, look := range map[string]func([]Watch) error{
		"a push": func(watches []Watch) error {
			_, err := w.rivers.Flush(w.ctx, watches, posts)
			return err
		},
		"a comparison": func(watches []Watch) error {
			_, err := w.rivers.FirstPages(w.ctx, watches)
			return err
		},
	} {
		ask := func(watches ...Watch) map[timelines.Hold]int {
			t.Helper()
			if err := look(watches); err != nil {
				t.Fatal(err)
			}
			return asked.pairs(t)
		}
		if err := look(watches); err != nil {
			t.Fatal(err)
		}
		asked.take() // what is in memory now
		want, singly := map[timelines.Hold]int{}, 0
		for _, watch := range watches {
			for pair := range ask(watch) {
				want[pair] = 1
				singly++
			}
		}
		// Two likes and two comments of each post have no room in the fold. Each reader's home
		// feed needs all four, and two pages more need one each.
		if len(want) != 4*len(posts) || singly != len(readers)*6*len(posts) {
			t.Fatalf("%s: the pages need %d pairs, %d of them different", how, singly, len(want))
		}
		if got := ask(watches...); !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v, each pair by how often it is asked about", how, got, want)
		}
	}
}
