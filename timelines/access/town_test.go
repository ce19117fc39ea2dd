package access_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/access"
)

func TestMain(m *testing.M) {
	testdb.Main(m)
}

// town is a store with people in it.
type town struct {
	testing.TB
	*timelines.Store
}

func newTown(t *testing.T) *town {
	t.Helper()
	t.Parallel()
	return &town{t, open(testdb.New(t).Primary)}
}

func open(pool *pgxpool.Pool) *timelines.Store {
	options := timelines.DefaultOptions()
	options.HashCost.Memory, options.HashCost.Iterations = 64, 1 // people sign up fast
	return timelines.Open(pool, silent{}, options)
}

// silent announces nothing.
type silent struct{}

func (silent) AnnounceTx(context.Context, pgx.Tx, ...timelines.Event) error { return nil }

// tracedBy returns the same store behind a pool with that tracer.
func (w *town) tracedBy(tracer pgx.QueryTracer) *timelines.Store {
	w.Helper()
	config := w.Pool().Config()
	config.ConnConfig.Tracer = tracer
	pool, err := pgxpool.NewWithConfig(w.Context(), config)
	w.must(err)
	w.Cleanup(pool.Close)
	return open(pool)
}

const password = "quite long enough"

func (w *town) user(name string) timelines.Account {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Title: name, Password: password})
	w.must(err)
	return a
}

func (w *town) group(admin timelines.Account, name string, level timelines.Level) timelines.Account {
	w.Helper()
	g, _, err := w.Groups.Create(w.Context(), timelines.NewGroup{Actor: admin.ID, Name: name, Title: name, Access: level})
	w.must(err)
	return g
}

func (w *town) member(name, group string) timelines.Account {
	w.Helper()
	a := w.user(name)
	w.subscribe(a, group)
	return a
}

func (w *town) subscribe(actor timelines.Account, name string) {
	w.Helper()
	_, _, err := w.Subscriptions.Subscribe(w.Context(), actor.ID, name)
	w.must(err)
}

func (w *town) post(author timelines.Account, to ...string) timelines.Change {
	w.Helper()
	c, err := w.Posts.Create(w.Context(), timelines.NewPost{Author: author.ID, Body: "hello", To: to})
	w.must(err)
	return c
}

func (w *town) setAccess(actor timelines.Account, level timelines.Level) {
	w.Helper()
	w.must(second(w.Feeds.SetAccess(w.Context(), actor.ID, "", level)))
}

// advance brings the cache to the clock as it stands.
func (w *town) advance(c *access.Cache) {
	w.Helper()
	w.must(c.Advance(w.Context(), timelines.Clock{Epoch: 1, N: w.clock()}))
}

func (w *town) clock() int64 {
	w.Helper()
	n, err := w.AccessClock(w.Context())
	w.must(err)
	return n
}

func (w *town) exec(sql string, args ...any) {
	w.Helper()
	_, err := w.Pool().Exec(w.Context(), sql, args...)
	w.must(err)
}

// hold opens a transaction that a test keeps open while others meet it.
func (w *town) hold() pgx.Tx {
	w.Helper()
	tx, err := w.Pool().Begin(w.Context())
	w.must(err)
	w.Cleanup(func() {
		if err := tx.Rollback(context.Background()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			w.Errorf("roll back a held transaction: %v", err)
		}
	})
	return tx
}

// waitBlocked returns when a statement in this database waits for a lock.
func (w *town) waitBlocked() {
	w.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for waits := 0; waits == 0; runtime.Gosched() {
		w.must(w.Pool().QueryRow(w.Context(), `SELECT count(*)::int FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waits))
		if time.Now().After(deadline) {
			w.Fatal("never saw a statement wait for a lock")
		}
	}
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) same(what string, got, want any) {
	w.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// during starts fn and returns what waits for its end.
func during[T any](fn func() T) (wait func() T) {
	done := make(chan T, 1)
	go func() { done <- fn() }()
	return func() T { return <-done }
}

func second[T any](_ T, err error) error { return err }
