package access_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/access"
)

// A load counts when it ends, not only when it begins: what a statement under way has
// yet to read may be newer than what is decided meanwhile, and is in the cache when that
// is put together.
func TestALoadCountsWhenItEnds(t *testing.T) {
	for what, load := range map[string]func(ctx context.Context, c *access.Cache, ann timelines.Account) error{
		"sets": func(ctx context.Context, c *access.Cache, ann timelines.Account) error {
			return second(c.Sets(ctx, ann.ID))
		},
		"levels": func(ctx context.Context, c *access.Cache, ann timelines.Account) error {
			return second(c.Levels(ctx, []int64{ann.FeedID}))
		},
		"sub-feeds": func(ctx context.Context, c *access.Cache, ann timelines.Account) error {
			return second(c.Subfeeds(ctx, []int64{ann.ID}))
		},
		"accounts": func(ctx context.Context, c *access.Cache, ann timelines.Account) error {
			return second(c.Accounts(ctx, []int64{ann.ID}))
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := newTown(t)
			ann := w.user("ann")
			c := access.New(w.Store)
			held := w.hold()
			_, err := held.Exec(t.Context(), `LOCK TABLE timelines, subfeeds, accounts, excluded IN ACCESS EXCLUSIVE MODE`)
			w.must(err)
			loaded := during(func() error { return load(t.Context(), c, ann) })
			w.waitBlocked()
			_, underway := c.Label()
			w.must(held.Rollback(t.Context()))
			w.must(loaded())
			if _, ended := c.Label(); ended == underway {
				t.Errorf("counts %d loads while it is under way and when it ended", ended)
			}
		})
	}
}

// A node that finds any number missing in the log, be it the first, the last or
// one between, forgets everything: it cannot know what stood there (R4).
func TestAdvanceOverATrimmedLog(t *testing.T) {
	for at, name := range []string{"first", "between", "last"} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			people := []timelines.Account{w.user("ann"), w.user("bob"), w.user("cat")}
			narrowed := people[at].FeedID
			c := access.New(w.Store)
			n := w.clock()
			w.must(c.Advance(t.Context(), timelines.Clock{Epoch: 1, N: n}))
			level := func() timelines.Level {
				g, err := c.Levels(t.Context(), []int64{narrowed})
				w.must(err)
				return g.Level(narrowed)
			}
			w.same("level before", level(), timelines.Public)
			for _, p := range people {
				w.setAccess(p, timelines.Private)
			}
			w.exec(`DELETE FROM access_log WHERE n = $1`, n+int64(at)+1)
			w.same("level the cache remembers", level(), timelines.Public)
			w.advance(c)
			w.same("level after", level(), timelines.Private)
		})
	}
}

// atEnd is a tracer that does something when the next statement has been answered, before
// the one who asked goes on.
type atEnd struct{ next atomic.Pointer[func()] }

func (*atEnd) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (a *atEnd) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {
	if do := a.next.Swap(nil); do != nil {
		(*do)()
	}
}

// A load that began before a change may arrive after the cache has advanced to it. The
// request that began it may use it, and nobody else (R4).
func TestALoadUnderWayIsNotStored(t *testing.T) {
	type scene struct {
		*town
		c        *access.Cache
		ann, bob timelines.Account
		session  timelines.Session
	}
	type step func(s *scene) (any, error)
	cases := []struct {
		what   string
		load   step
		change func(s *scene) (timelines.Change, error)
	}{
		{"sets", func(s *scene) (any, error) {
			sets, err := s.c.Sets(t.Context(), s.ann.ID)
			return len(sets.Excluded), err
		}, func(s *scene) (timelines.Change, error) { return s.Feeds.Exclude(t.Context(), s.bob.ID, "", "ann") }},
		{"levels", func(s *scene) (any, error) {
			g, err := s.c.Levels(t.Context(), []int64{s.bob.FeedID})
			return g.Level(s.bob.FeedID), err
		}, func(s *scene) (timelines.Change, error) {
			return s.Feeds.SetAccess(t.Context(), s.bob.ID, "", timelines.Private)
		}},
		{"levels alone", func(s *scene) (any, error) {
			g, err := s.c.Levels(t.Context(), []int64{s.bob.FeedID})
			return g.Level(s.bob.FeedID), err
		}, func(s *scene) (timelines.Change, error) {
			return s.Feeds.SetAccess(t.Context(), s.bob.ID, "", timelines.Private)
		}},
		{"session", func(s *scene) (any, error) {
			_, err := s.c.Session(t.Context(), s.session)
			return errors.Is(err, timelines.ErrSignedOut), nil
		}, func(s *scene) (timelines.Change, error) {
			return s.Accounts.SignOut(t.Context(), timelines.Viewer{AccountID: s.ann.ID, Session: s.session})
		}},
		{"sub-feeds", func(s *scene) (any, error) {
			all, err := s.c.Subfeeds(t.Context(), []int64{s.bob.ID})
			return len(all[s.bob.ID]), err
		}, func(s *scene) (timelines.Change, error) {
			return s.Feeds.Create(t.Context(), s.bob.ID, "photos", "Photos", timelines.Public)
		}},
		{"accounts", func(s *scene) (any, error) {
			all, err := s.c.Accounts(t.Context(), []int64{s.bob.ID})
			return all[s.bob.ID].Title, err
		}, func(s *scene) (timelines.Change, error) {
			return s.Accounts.SetProfile(t.Context(), s.bob.ID, "Robert", "", "")
		}},
		{"members", func(s *scene) (any, error) { return s.c.MemberCount(t.Context(), s.bob.ID) }, func(s *scene) (timelines.Change, error) {
			c, _, err := s.Subscriptions.Subscribe(t.Context(), s.ann.ID, "bob")
			return c, err
		}},
		{"requests", func(s *scene) (any, error) { return s.c.RequestCount(t.Context(), []int64{s.bob.ID}) }, func(s *scene) (timelines.Change, error) {
			s.setAccess(s.bob, timelines.Private)
			c, _, err := s.Subscriptions.Subscribe(t.Context(), s.ann.ID, "bob")
			return c, err
		}},
	}
	for _, tc := range cases {
		t.Run(tc.what, func(t *testing.T) {
			w := newTown(t)
			s := &scene{town: w, ann: w.user("ann"), bob: w.user("bob")}
			tracer := &atEnd{}
			s.c = access.New(w.tracedBy(tracer))
			if tc.what == "session" {
				w.user("dan")
				token, dan, err := w.Accounts.SignIn(t.Context(), "dan", password)
				w.must(err)
				s.ann = dan
				s.session, _ = timelines.SessionOf(token)
			}
			w.advance(s.c)
			meanwhile := func() {
				_, err := tc.change(s)
				w.must(err)
				w.advance(s.c)
			}
			if tc.what == "levels alone" {
				w.must(second(tc.load(s))) // reads the timelines too
				w.setAccess(s.bob, timelines.Protected)
				w.advance(s.c)
			}
			tracer.next.Store(&meanwhile)
			w.must(second(tc.load(s)))
			after, err := tc.load(s)
			w.must(err)
			anew := *s
			anew.c = access.New(w.Store)
			want, err := tc.load(&anew)
			w.must(err)
			if after != want {
				t.Errorf("after the change the cache still says %v, want %v", after, want)
			}
		})
	}
}

// A number drawn since the clock was read is not covered by the label, though its rows
// may stand in the log already: they were not asked for (R4).
func TestTheLabelIsNoNewerThanWhatWasRead(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	c := access.New(w.Store)
	n := w.clock()
	w.must(c.Advance(t.Context(), timelines.Clock{Epoch: 1, N: n}))
	level := func(a timelines.Account) timelines.Level {
		g, err := c.Levels(t.Context(), []int64{a.FeedID})
		w.must(err)
		return g.Level(a.FeedID)
	}
	w.same("levels before", []timelines.Level{level(ann), level(bob)}, []timelines.Level{timelines.Public, timelines.Public})
	w.setAccess(ann, timelines.Private)
	w.setAccess(bob, timelines.Private)
	w.must(c.Advance(t.Context(), timelines.Clock{Epoch: 1, N: n + 1}))
	w.same("levels after the first", []timelines.Level{level(ann), level(bob)}, []timelines.Level{timelines.Private, timelines.Public})
	w.must(c.Advance(t.Context(), timelines.Clock{Epoch: 1, N: n + 2}))
	w.same("levels after the second", []timelines.Level{level(ann), level(bob)}, []timelines.Level{timelines.Private, timelines.Private})
}
