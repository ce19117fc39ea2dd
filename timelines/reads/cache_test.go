package reads

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// town has two people, two posts, and any number of nodes.
type town struct {
	*testing.T
	pool     *pgxpool.Pool
	ann, bob int64
	one, two int64
}

func newTown(t *testing.T) *town {
	t.Helper()
	t.Parallel()
	w := &town{T: t, pool: testdb.New(t).Primary}
	store := timelines.Open(w.pool, nil, timelines.DefaultOptions())
	for name, id := range map[string]*int64{"ann": &w.ann, "bob": &w.bob} {
		a, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: name, Title: name, Password: "a long enough one"})
		w.must(err)
		*id = a.ID
	}
	for _, id := range []*int64{&w.one, &w.two} {
		c, err := store.Posts.Create(t.Context(), timelines.NewPost{Author: w.ann, Body: "words"})
		w.must(err)
		*id = c.PostID
	}
	return w
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// node is a cache that tells others.
func (w *town) node(others ...*Cache) *Cache {
	return New(w.pool, slog.New(slog.DiscardHandler), func(marks []Mark) {
		for _, c := range others {
			c.Take(marks)
		}
	})
}

func (w *town) seen(c *Cache, account, post, want int64) {
	w.Helper()
	if got, ok := c.Of(w.Context(), account).Seen(post); got != want || ok != (want != 0) {
		w.Errorf("account %d has seen post %d up to %d (%v), want %d", account, post, got, ok, want)
	}
}

func TestMarksGrow(t *testing.T) {
	w := newTown(t)
	other := w.node()
	c := w.node(other)
	w.seen(c, w.ann, w.one, 0)
	w.seen(other, w.ann, w.one, 0)
	before := other.Version(w.ann)
	c.See(Mark{w.ann, w.one, 20})
	c.See(Mark{w.ann, w.one, 10}) // an older page
	c.See(Mark{0, w.one, 30})     // nobody
	w.seen(c, w.ann, w.one, 20)
	w.seen(c, w.bob, w.one, 0)
	w.seen(other, w.ann, w.one, 0) // it does not know yet
	w.must(c.Flush(t.Context()))
	w.seen(other, w.ann, w.one, 20)
	if other.Version(w.ann) == before {
		t.Error("the version did not change with a mark")
	}
	w.seen(w.node(), w.ann, w.one, 20) // from the store

	// The home page has a mark too, which changes no number on an open page.
	was := c.Version(w.ann)
	c.See(Mark{w.ann, Home, 70})
	if c.Version(w.ann) != was {
		t.Error("a visit of the home page changes the version")
	}
	w.must(c.Flush(t.Context()))
	w.seen(w.node(), w.ann, Home, 70)
	w.seen(w.node(), w.bob, Home, 0)

	// Two nodes that do not hear of each other: the later instant stays.
	a, b := w.node(), w.node()
	a.See(Mark{w.ann, w.two, 50})
	b.See(Mark{w.ann, w.two, 40})
	w.must(a.Flush(t.Context()))
	w.must(b.Flush(t.Context()))
	w.seen(w.node(), w.ann, w.two, 50)
}

// A reader who is forgotten and remembered again has the same version, unless marks came meanwhile.
func TestVersionOutlivesForgetting(t *testing.T) {
	w := newTown(t)
	c := w.node()
	c.See(Mark{w.ann, w.one, 20})
	c.See(Mark{w.ann, Home, 70})
	w.must(c.Flush(t.Context()))
	again := func() uint64 {
		c.readers.Purge()
		if got := c.Version(w.ann); got != 0 {
			t.Errorf("the version of somebody forgotten is %d", got)
		}
		c.Of(t.Context(), w.ann)
		return c.Version(w.ann)
	}
	was := again()
	if got := again(); got != was || got == 0 {
		t.Errorf("remembered again at version %d, was %d", got, was)
	}
	c.See(Mark{w.ann, w.two, 20})
	now := c.Version(w.ann)
	if got := again(); got != now || got == was {
		t.Errorf("remembered again at version %d, want %d, which is not %d", got, now, was)
	}
}

// A mark of an account or a post that is gone does not keep the others from being written.
func TestMarksOfWhatIsGone(t *testing.T) {
	w := newTown(t)
	c := w.node()
	c.See(Mark{w.ann, 1 << 40, 20})
	c.See(Mark{1 << 40, w.one, 20})
	c.See(Mark{w.ann, w.one, 20})
	w.must(c.Flush(t.Context()))
	w.seen(w.node(), w.ann, w.one, 20)
}

// Marks that could not be written wait for the next time.
func TestMarksWaitForTheStore(t *testing.T) {
	w := newTown(t)
	c := w.node()
	_, err := w.pool.Exec(t.Context(), `ALTER TABLE reads RENAME TO away`)
	w.must(err)
	if _, ok := c.Of(t.Context(), w.ann).Seen(w.one); ok {
		t.Error("a mark without a store")
	}
	c.See(Mark{w.ann, w.one, 20})
	if err := c.Flush(t.Context()); err == nil {
		t.Fatal("a flush without a store succeeded")
	}
	_, err = w.pool.Exec(t.Context(), `ALTER TABLE away RENAME TO reads`)
	w.must(err)
	w.seen(c, w.ann, w.one, 20)
	w.must(c.Flush(t.Context()))
	w.seen(w.node(), w.ann, w.one, 20)
}

// A lost message is healed when what is remembered is old; people who do not come any more
// are forgotten.
func TestMarksAreReadAgain(t *testing.T) {
	w := newTown(t)
	now := time.Now()
	deaf := w.node()
	deaf.now = func() time.Time { return now }
	w.seen(deaf, w.ann, w.one, 0)
	c := w.node()
	c.See(Mark{w.ann, w.one, 20})
	w.must(c.Flush(t.Context()))
	w.must(deaf.turn(t.Context()))
	w.seen(deaf, w.ann, w.one, 0)
	now = now.Add(reloadAfter)
	w.must(deaf.turn(t.Context()))
	w.seen(deaf, w.ann, w.one, 20)

	c.See(Mark{w.ann, w.one, 30})
	w.must(c.Flush(t.Context()))
	deaf.Stale()
	w.must(deaf.turn(t.Context()))
	w.seen(deaf, w.ann, w.one, 30)
	for range 2 {
		now = now.Add(reloadAfter)
		w.must(deaf.turn(t.Context()))
	}
	if slices.Contains(deaf.readers.Keys(), w.ann) {
		t.Error("somebody who did not come for long is still remembered")
	}
}
