package timelines

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riverrun/timelines/outage"
)

// maxAttempts bounds how often a transaction that lost a race is run. Locks are taken in
// one order, so a second attempt is rare and a third practically never happens.
const maxAttempts = 5

// unchanged ends a transaction that found nothing to do: it is rolled back, the
// version it drew with it, and its Change is returned as a success.
type unchanged struct{ Change Change }

func (*unchanged) Error() string { return "nothing to change" }

// change runs fn in a transaction as inTx does. fn returns *unchanged as its
// error to roll back and succeed.
func (s *core) change(ctx context.Context, fn func(pgx.Tx) (Change, error)) (Change, error) {
	name := newName()
	c, err := inTx(ctx, s, func(tx pgx.Tx) (Change, error) {
		if account, is := ctx.Value(unattended{}).(int64); is {
			if err := maySpeakTx(ctx, tx, account); err != nil {
				return Change{}, err
			}
		}
		c, err := fn(named{tx, name})
		c.Name = name
		return c, err
	})
	if same := (*unchanged)(nil); errors.As(err, &same) {
		return same.Change, nil
	}
	return c, err
}

// named is the transaction of a change that has a name. announceTx gives the name to the events.
type named struct {
	pgx.Tx
	name uint64
}

// newName returns a random name for a change, which is not 0.
func newName() uint64 { return rand.Uint64() | 1 }

// unattended is the key of a context of Unattended.
type unattended struct{}

// Unattended returns a context for changes that a job makes in the name of somebody whose session nobody has
// checked. Each of them begins with the error that signing in would return now, if it would: a *SuspendedError, *LeavingError
// or *WaitingError (IsSilenced). A suspension that comes at the same time waits for the change, or the change for it.
func Unattended(ctx context.Context, account int64) context.Context {
	return context.WithValue(ctx, unattended{}, account)
}

// IsSilenced reports whether an error says that an account may not sign in, so that no job may write in its name.
func IsSilenced(err error) bool {
	_, suspended := errors.AsType[*SuspendedError](err)
	_, leaving := errors.AsType[*LeavingError](err)
	_, waiting := errors.AsType[*WaitingError](err)
	return suspended || leaving || waiting
}

// inTx runs fn in one READ COMMITTED transaction and commits it if fn returns
// nil. It is the one place where lost races are retried: fn may run several
// times and must keep nothing from one attempt to the next.
//
// It asks for READ COMMITTED by name, whatever the server's default is: this package
// relies on each statement's own snapshot, which begins after the post's lock.
//
// A cancelled ctx makes pgx close the connection, and the server rolls back.
func inTx[T any](ctx context.Context, s *core, fn func(pgx.Tx) (T, error)) (T, error) {
	return inTxOn(ctx, s.pool, fn)
}

// beginner begins transactions: the pool, or a connection that keeps something
// of its own between them.
type beginner interface {
	BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error)
}

// inTxOn is inTx on a pool or on one connection.
func inTxOn[T any](ctx context.Context, db beginner, fn func(pgx.Tx) (T, error)) (T, error) {
	var out T
	for attempt := 1; ; attempt++ {
		err := pgx.BeginTxFunc(ctx, db, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
			out, err = fn(tx)
			return err
		})
		if err == nil {
			return out, nil
		}
		if attempt == maxAttempts || !lostRace(err) {
			var none T
			if outage.RolledBack(err) {
				err = fmt.Errorf("%w: %w", ErrNotSaved, err)
			}
			return none, err
		}
		if err := pause(ctx, attempt); err != nil {
			var none T
			return none, err
		}
	}
}

// lostRace reports whether the server ended the transaction in favour of another one, or it gave way to
// one itself, so that it may succeed when it runs again.
func lostRace(err error) bool {
	if errors.Is(err, errPlacesChanged) {
		return true
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	const serializationFailure, deadlockDetected = "40001", "40P01"
	return pg.Code == serializationFailure || pg.Code == deadlockDetected
}

// pause waits for a random time, longer with each attempt, so that two losers do not meet
// again.
func pause(ctx context.Context, attempt int) error {
	t := time.NewTimer(rand.N(time.Duration(attempt) * 10 * time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// announceTx announces events within the change's own transaction, whose number each
// Replace gets, and whose name each Touched.
func (s *core) announceTx(ctx context.Context, tx pgx.Tx, events ...Event) error {
	if s.announce == nil || len(events) == 0 {
		return nil
	}
	events = slices.Clone(events) // the caller's own
	n, _ := tx.(named)
	var number int64
	for i, e := range events {
		if t, ok := e.(Touched); ok {
			t.Change = n.name
			events[i] = t
			continue
		}
		r, ok := e.(Replace)
		if !ok || r.Tx != 0 {
			continue
		}
		if number == 0 {
			var err error
			if number, err = txNumber(ctx, tx); err != nil {
				return err
			}
		}
		r.Tx = number
		events[i] = r
	}
	if err := s.announce.AnnounceTx(ctx, tx, events...); err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	return nil
}

// announceReplacedTx announces rivers that a change invalidated, and writes the change's
// transaction into the list, so that the Change has the number that its jobs have.
func (s *core) announceReplacedTx(ctx context.Context, tx pgx.Tx, list []Replace) error {
	if err := s.numberTx(ctx, tx, list); err != nil {
		return err
	}
	return s.announceTx(ctx, tx, replacements(list)...)
}

// numberTx writes the number of the transaction into a list. Nothing is written if nobody is
// told of changes.
func (s *core) numberTx(ctx context.Context, tx pgx.Tx, list []Replace) error {
	if s.announce == nil || len(list) == 0 {
		return nil
	}
	number, err := txNumber(ctx, tx)
	for i := range list {
		list[i].Tx = number
	}
	return err
}

// TxNow returns the number of a transaction that began after everything committed before
// the call: a snapshot that sees it sees these too.
func (s *Store) TxNow(ctx context.Context) (int64, error) { return txNumber(ctx, s.pool) }

// txNumber returns the number of the transaction under way, which gets one if it had
// none.
func txNumber(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (n int64, err error) {
	if err := db.QueryRow(ctx, `SELECT pg_current_xact_id()::text::bigint`).Scan(&n); err != nil {
		return 0, fmt.Errorf("read transaction number: %w", err)
	}
	return n, nil
}

// replacements are the events of a change's Replace.
func replacements(list []Replace) []Event {
	events := make([]Event, len(list))
	for i, r := range list {
		events[i] = r
	}
	return events
}

// queueIDs adds a statement to a batch that returns ids.
func queueIDs(b *pgx.Batch, query string, args pgx.StrictNamedArgs, found *[]int64) {
	b.Queue(query, args).Query(func(rows pgx.Rows) (err error) {
		*found, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
}

func collectIDs(rows pgx.Rows, err error, what string) ([]int64, error) {
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return ids, nil
}
