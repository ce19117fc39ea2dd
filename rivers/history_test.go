package rivers

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"riverrun/timelines"
)

// narrows closes the viewer's feed or opens it, which draws a number of the access clock.
func (w *town) narrows(v timelines.Viewer, level timelines.Level) timelines.Change {
	w.t.Helper()
	c, err := w.store.Feeds.SetAccess(w.ctx, v.AccountID, "", level)
	must(w, c, err)
	must(w, 0, w.rivers.PublishClock(w.ctx, c.Clock))
	return c
}

// A store is emptied, folds too, when the primary store is of another history than it was.
func TestAnotherHistoryEmptiesTheStore(t *testing.T) {
	back := `WITH gone AS (DELETE FROM access_log WHERE n = (SELECT n FROM access_clock) RETURNING n)
		UPDATE access_clock c SET n = gone.n - 1, mark = (SELECT mark FROM access_log WHERE n = gone.n - 1 LIMIT 1) FROM gone`
	for _, c := range []struct {
		what string
		do   func(w *town, ann timelines.Viewer)
	}{
		{"a number was taken back", func(w *town, _ timelines.Viewer) { w.execPrimary(back) }},
		{"a number was taken back and drawn again", func(w *town, ann timelines.Viewer) {
			w.execPrimary(back)
			w.narrows(ann, timelines.Protected)
		}},
		{"a number was taken back, and two drawn", func(w *town, ann timelines.Viewer) {
			w.execPrimary(back)
			w.narrows(ann, timelines.Protected)
			w.narrows(ann, timelines.Public)
		}},
		{"a number was taken back, and a node started", func(w *town, _ timelines.Viewer) {
			w.execPrimary(back)
			w.node()
		}},
		{"the log of writes is behind", func(w *town, _ timelines.Viewer) { w.exec(`UPDATE clock SET wal = wal + 1000000000`) }},
		{"the table was loaded anew", func(w *town, _ timelines.Viewer) {
			w.execPrimary(`CREATE TABLE kept AS SELECT * FROM access_clock`)
			w.execPrimary(`TRUNCATE access_clock`)
			w.execPrimary(`INSERT INTO access_clock (n, id, mark) SELECT n, id, mark FROM kept`)
			w.execPrimary(`DROP TABLE kept`)
		}},
		{"the clock is lost", func(w *town, _ timelines.Viewer) { w.exec(`DELETE FROM clock`) }},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newTown(t)
			ann := w.person("ann")
			w.post(ann, "a post")
			w.visit(ann, User, "ann")
			w.narrows(ann, timelines.Private)
			before := w.clock()
			c.do(w, ann)
			if err := w.rivers.catchUp(w.ctx); err != nil {
				t.Fatal(err)
			}
			if got := w.clock(); got.Epoch == before.Epoch {
				t.Errorf("the epoch is as it was")
			}
			if got := w.count(`SELECT (SELECT count(*) FROM folds) + (SELECT count(*) FROM entries) + (SELECT count(*) FROM rivers)`); got != 0 {
				t.Errorf("%d rows stand, want none", got)
			}
			w.drain()
			w.shows(w.visit(ann, User, "ann"), "a post")
			w.sound()
		})
	}
}

// noticed is how soon a running node knows that the primary store was restored.
const noticed = 5 * time.Second

// A node notices in time whatever else it does from time to time, however long that takes.
func TestARestoreIsNoticedBesideSlowWork(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "a post")
	slow, release, forgot := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once sync.Once
	opts := DefaultOptions()
	opts.Restore = func(context.Context) error {
		once.Do(func() { close(slow) })
		<-release
		return nil
	}
	s := Open(w.db.Secondary, w.store, slog.New(slog.DiscardHandler), opts)
	s.OnEpoch(func() { close(forgot) })
	must(w, 0, s.Start(w.ctx))
	<-slow
	w.exec(`UPDATE clock SET wal = wal + 1000000000`)
	select {
	case <-forgot:
	case <-time.After(noticed):
		t.Errorf("%v after a restore the node has not noticed", noticed)
	}
	close(release)
	must(w, 0, s.Stop(w.ctx))
}

// A node is idle while it serves no page and follows none: looks at the clock are as frequent as ever
// while somebody reads, or has a page open.
func TestAnIdleNode(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	k := w.rivers.maintenance
	long := func() { k.lastUse.Store(time.Now().Add(-2 * idleAfter).UnixNano()) }
	n := Name{UserID: ann.AccountID, Kind: Home, Order: Fresh}
	for what, use := range map[string]func() error{
		"a visit":         func() error { _, err := w.rivers.Visit(w.ctx, ann, n, Cursor{}); return err },
		"a followed page": func() error { _, err := w.rivers.Flush(w.ctx, []Watch{{Viewer: ann, Name: n}}, nil); return err },
	} {
		if long(); !k.idle() {
			t.Errorf("before %s: not idle", what)
		}
		if err := use(); err != nil || k.idle() {
			t.Errorf("after %s: idle %t, %v", what, k.idle(), err)
		}
	}
}

// A look writes the clock where something was written in the primary store, and not because the last
// look did so.
func TestALookThatWritesTheClock(t *testing.T) {
	was := source{epoch: 1, primary: "p", n: 7, mark: 3, wal: 1000}
	for name, test := range map[string]struct {
		now    timelines.History
		stands bool
	}{
		"nothing was written":     {timelines.History{N: 7, WAL: 1000}, true},
		"the clock was written":   {timelines.History{N: 7, WAL: 1000 + ownWAL}, true},
		"a post was written":      {timelines.History{N: 7, WAL: 1000 + 4*ownWAL}, false},
		"a narrowing was written": {timelines.History{N: 8, WAL: 1000}, false},
	} {
		if got := was.stands(test.now); got != test.stands {
			t.Errorf("%s: stands %t, want %t", name, got, test.stands)
		}
	}
}

// However long a restore takes, each node says once that it goes on, and once that it is over.
func TestARestoreIsLoggedTwice(t *testing.T) {
	w := newTown(t)
	var text bytes.Buffer
	s := Open(w.db.Secondary, w.store, slog.New(slog.NewTextHandler(&text, nil)), DefaultOptions())
	looks := func(times int, succeeds bool) {
		t.Helper()
		for range times {
			if got := s.maintenance.looks(w.ctx); got != succeeds {
				t.Errorf("a look: %t, want %t\n%s", got, succeeds, text.String())
			}
		}
	}
	looks(1, true)
	w.execPrimary(`ALTER TABLE access_clock RENAME TO elsewhere`)
	looks(3, false)
	w.execPrimary(`ALTER TABLE elsewhere RENAME TO access_clock`)
	w.execPrimary(`ALTER TABLE access_clock DROP CONSTRAINT access_clock_pkey`)
	looks(3, false)
	w.execPrimary(`ALTER TABLE access_clock ADD CONSTRAINT access_clock_pkey PRIMARY KEY (id)`)
	looks(3, true)
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "is being restored") || !strings.Contains(lines[1], "was restored") {
		t.Errorf("got %q, want one line for the beginning and one for the end", lines)
	}
}

// Neither a start, nor two at once beside narrowings, nor a trimmed log makes rivers cold.
func TestAStartKeepsRivers(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "a post")
	w.visit(ann, User, "ann")
	before := w.clock()
	var starts sync.WaitGroup
	for range 2 {
		starts.Go(func() { w.node() })
	}
	for i := range 10 {
		c, err := w.store.Feeds.SetAccess(w.ctx, ann.AccountID, "", []timelines.Level{timelines.Private, timelines.Protected}[i%2])
		must(w, c, err)
		must(w, 0, w.rivers.PublishClock(w.ctx, c.Clock))
	}
	starts.Wait()
	// A long silence, after which the log is trimmed and a number is drawn.
	w.execPrimary(`UPDATE access_log SET created_at = now() - interval '30 days'`)
	trimmed, err := w.store.Maintenance.TrimAccessLog(w.ctx, time.Hour)
	must(w, trimmed, err)
	c, err := w.store.Feeds.SetAccess(w.ctx, ann.AccountID, "", timelines.Private)
	must(w, c, err)
	must(w, 0, w.rivers.catchUp(w.ctx))
	if got := w.clock(); got.Epoch != before.Epoch || got.N != c.Clock {
		t.Errorf("clock %+v, want the epoch of %+v and number %d", got, before, c.Clock)
	}
	if got := w.count(`SELECT count(*) FROM folds`); got != 1 {
		t.Errorf("%d folds stand, want 1", got)
	}
}

// Rows that were read before the store was emptied are not written after that, whatever writes
// them.
func TestALateWriterWritesNothingIntoAnotherEpoch(t *testing.T) {
	for _, c := range []struct {
		what  string
		write func(ctx context.Context, w *town, ann timelines.Viewer, p timelines.Change) error
	}{
		{"a change's writer", func(ctx context.Context, w *town, ann timelines.Viewer, p timelines.Change) error {
			like := w.like(ann, p.Code)
			return w.rivers.Distribute(ctx, []timelines.Touched{{PostID: p.PostID, Timelines: like.Touched}}, All)
		}},
		{"a builder", func(ctx context.Context, w *town, ann timelines.Viewer, _ timelines.Change) error {
			w.exec(`DELETE FROM folds`)
			return w.rivers.build(ctx, w.name(ann, Everything, ""), ForVisit, nil)
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newTown(t)
			ann := w.person("ann")
			p := w.post(ann, "lost")
			w.visit(ann, User, "ann")
			ctx := pausedAt(w.ctx, afterSnapshot, func() {
				w.execPrimary(`UPDATE posts SET body = 'restored' WHERE id = $1`, p.PostID)
				w.exec(`UPDATE clock SET wal = wal + 1000000000`)
				must(w, 0, w.rivers.catchUp(w.ctx))
			})
			if err := c.write(ctx, w, ann, p); err != nil {
				t.Fatal(err)
			}
			if got := w.count(`SELECT count(*) FROM folds WHERE text_folded->>'body' = 'lost'`); got != 0 {
				t.Errorf("the lost text is stored")
			}
			// Nobody would remove them, nor the folds that they link.
			if got := w.count(`SELECT count(*) FROM entries WHERE river_id NOT IN (SELECT id FROM rivers)`); got != 0 {
				t.Errorf("%d entries of lost rivers are stored", got)
			}
			w.drain()
			w.shows(w.visit(ann, User, "ann"), "restored")
			w.sound()
		})
	}
}

// A build is not registered with a snapshot that it took in another epoch: a restored store gives
// out the numbers of transactions again, and the river would not be replaced for the changes
// whose numbers it seems to know.
func TestABuildIsRegisteredInItsEpoch(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "a post")
	n := w.name(ann, User, "ann")
	var tx int64
	ctx := pausedAt(w.ctx, beforeRegister, func() {
		var err error
		tx, err = w.store.TxNow(w.ctx)
		must(w, tx, err)
		w.exec(`UPDATE clock SET wal = wal + 1000000000`)
		must(w, 0, w.rivers.catchUp(w.ctx))
	})
	must(w, 0, w.rivers.build(ctx, n, ForVisit, nil))
	args := nameArgs(n)
	args["tx"] = tx
	if got := w.count(`SELECT count(*) FROM rivers r WHERE `+named+` AND `+unawareOfTx, args); got != 0 {
		t.Errorf("%d rivers have a snapshot of the former epoch", got)
	}
	w.shows(w.visit(ann, User, "ann"), "a post")
}

// A node that did not empty the store itself forgets what it remembers of the former epoch, and
// a request whose names were resolved then is refused.
func TestMemoryGoesWithTheEpoch(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	p := w.post(ann, "lost")
	other := w.node()
	forgot := false
	other.OnEpoch(func() { forgot = true })
	n := w.name(bob, User, "ann")
	see := func(ctx context.Context, name Name) (*Page, error) { return other.Visit(ctx, bob, name, Cursor{}) }
	page, err := see(w.ctx, n)
	w.shows(must(w, page, err), "lost")
	id, err := other.postID(w.ctx, p.Code)
	must(w, id, err)
	ctx := other.AtEpoch(w.ctx)
	page, err = see(ctx, n)
	w.shows(must(w, page, err), "lost")

	// In the restored store another post has the id and the version, and ann's name is bob's.
	w.execPrimary(`UPDATE posts SET body = 'restored', code = 'zzzzzzzzzz' WHERE id = $1`, p.PostID)
	w.execPrimary(`UPDATE accounts SET name = CASE name WHEN 'ann' THEN 'former' ELSE 'ann' END WHERE name IN ('ann', 'bob')`)
	w.exec(`UPDATE clock SET wal = wal + 1000000000`)
	must(w, 0, w.rivers.catchUp(w.ctx))

	if _, err := see(ctx, n); !errors.Is(err, ErrMoved) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("a request from before: %v, want ErrMoved", err)
	}
	page, err = see(w.ctx, n)
	w.shows(must(w, page, err), "restored")
	if _, err := other.postID(w.ctx, p.Code); !errors.Is(err, timelines.ErrNotFound) {
		t.Errorf("the lost code: %v, want ErrNotFound", err)
	}
	a, err := other.access.AccountNamed(w.ctx, "ann")
	if must(w, a, err).ID != bob.AccountID {
		t.Errorf("the name ann is of account %d, want %d", a.ID, bob.AccountID)
	}
	if !forgot {
		t.Error("others are not told to forget")
	}
}

// While tables or keys of the primary store are missing nothing is served, and afterwards all is.
func TestNothingIsServedDuringARestore(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "a post")
	w.visit(ann, User, "ann")
	n := w.name(ann, User, "ann")
	closed := func(when string) {
		t.Helper()
		if err := w.rivers.catchUp(w.ctx); !errors.Is(err, timelines.ErrRestoring) {
			t.Errorf("%s: %v, want ErrRestoring", when, err)
		}
		if _, err := w.rivers.Visit(w.ctx, ann, n, Cursor{}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("a visit, %s: %v, want ErrUnavailable", when, err)
		}
	}
	w.execPrimary(`ALTER TABLE access_clock RENAME TO elsewhere`)
	closed("without a table")
	w.execPrimary(`ALTER TABLE elsewhere RENAME TO access_clock`)
	w.execPrimary(`ALTER TABLE access_clock DROP CONSTRAINT access_clock_pkey`)
	closed("without a key")
	w.execPrimary(`ALTER TABLE access_clock ADD CONSTRAINT access_clock_pkey PRIMARY KEY (id)`)
	w.shows(w.visit(ann, User, "ann"), "a post")
	w.sound()
}

// A store of another history has no clock from the first moment on, however long its tables have to be
// waited for.
func TestTheClockGoesFirst(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "a post")
	w.visit(ann, User, "ann")
	w.exec(`UPDATE clock SET wal = wal + 1000000000`)
	clocks := -1
	ctx := pausedAt(w.ctx, afterClock, func() { clocks = w.count(`SELECT count(*) FROM clock`) })
	must(w, 0, w.rivers.catchUp(ctx))
	if clocks != 0 {
		t.Errorf("%d clocks stand while the tables are emptied, want none", clocks)
	}
}

// A page whose entries were read in one epoch shows nothing of the next one, whose posts may have the
// same ids and versions.
func TestAPageIsOfOneEpoch(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.post(ann, "in the open")
	w.visit(bob, Everything, "")
	other := w.node() // has in memory all that it decides by, but no folds
	n := w.name(bob, Everything, "")
	p, err := other.Visit(w.ctx, bob, n, Cursor{})
	must(w, p, err)
	other.folds = newFoldCache(10)
	ctx := pausedAt(w.ctx, beforeDeciding, func() {
		w.execPrimary(`UPDATE timelines SET access = 2 WHERE kind = 'feed' AND their_id = $1`, ann.AccountID)
		w.execPrimary(`UPDATE posts SET body = 'a secret', is_public = false`)
		w.exec(`UPDATE clock SET wal = wal + 1000000000`)
		must(w, 0, w.rivers.catchUp(w.ctx))
		w.shows(w.visit(ann, User, "ann"), "a secret")
	})
	p, err = other.Visit(ctx, bob, n, Cursor{})
	if err == nil && len(p.Items) > 0 {
		t.Errorf("bob is shown %q", bodies(p))
	}
}

// A page that is read, or a change that comes, while a node empties the store waits for it, and does not stand in its way.
func TestPagesAndChangesDuringTheEmptyingOfTheStore(t *testing.T) {
	for _, c := range []struct {
		name string
		ask  func(w *town, ann timelines.Viewer, p timelines.Change) error
	}{
		{"a page", func(w *town, ann timelines.Viewer, _ timelines.Change) error {
			_, err := w.rivers.Visit(w.ctx, ann, w.name(ann, Home, ""), Cursor{})
			return err
		}},
		{"a change that tells somebody", func(w *town, ann timelines.Viewer, p timelines.Change) error {
			var told []int64
			query := `SELECT array_agg(id) FROM timelines WHERE kind = 'notifications'`
			if err := w.db.Primary.QueryRow(w.ctx, query).Scan(&told); err != nil {
				return err
			}
			told = append(told, p.Touched...)
			touched := []timelines.Touched{{PostID: p.PostID, Timelines: told}}
			return w.rivers.Distribute(w.ctx, touched, Scope{Actor: ann.AccountID, Notices: true})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTown(t)
			ann := w.person("ann")
			p := w.post(ann, "a post")
			w.drain()
			w.visit(ann, Home, "")
			tx, err := w.db.Secondary.Begin(w.ctx)
			must(w, tx, err)
			defer func() { _ = tx.Rollback(w.ctx) }()
			lock := func(table string) {
				if _, err := tx.Exec(w.ctx, `LOCK TABLE `+table+` IN ACCESS EXCLUSIVE MODE NOWAIT`); err != nil {
					t.Fatalf("%s: %v", table, err)
				}
			}
			lock("rivers")
			asked := make(chan error, 1)
			go func() { asked <- c.ask(w, ann, p) }()
			w.blocked(1)
			for _, table := range []string{"folds", "entries", "rivers_timelines", "visits", "leases", "notice_clocks", "home_feeds", "home_feed_buckets", "home_feed_posts", "home_feed_operations", "home_strategy"} {
				lock(table)
			}
			must(w, 0, tx.Commit(w.ctx))
			must(w, 0, <-asked)
		})
	}
}
