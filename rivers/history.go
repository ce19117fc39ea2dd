package rivers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riverrun/timelines"
)

// All that is in the secondary store belongs to one history of the primary store. If that was
// restored from a copy, ids of lost posts are given out again, and a fold of a lost post would
// be shown in the place of a new one. So the clock row says where the primary store stood
// (source), and settle compares both ways: the present place of the primary store may not be
// behind that place, and that place must be in the primary store's log. If it is not,
// everything here is removed, folds too, and a new epoch begins. A node settles before it
// serves, and each second while it runs (each third second while it serves and follows no page).
//
// All that is remembered or being written belongs to an epoch: see moment (writers),
// foldCache, and AtEpoch (requests under way).

// source is a clock row: the store's epoch, and where the primary store stood that the rivers
// were made from. The zero source is that of a store without a clock.
type source struct {
	epoch   int64
	primary string
	n, mark int64
	wal     int64
}

// of reports whether the primary store's history goes on from here. The source must have been
// read first: what was written here was read there before, so it is ahead only if that store
// has gone back.
func (c source) of(h timelines.History) bool {
	return c.primary == h.ID && c.n <= h.N && c.mark == h.MarkAt && c.wal <= h.WAL
}

// settle makes sure that the store belongs to the primary store's history and stands where that
// stands: it raises the clock, or empties the store. It returns the clock.
func (s *Store) settle(ctx context.Context) (timelines.Clock, error) {
	for range 10 {
		was, err := s.readSource(ctx)
		if err != nil {
			return timelines.Clock{}, err
		}
		pause(ctx, betweenClocks)
		now, err := s.primary.History(ctx, was.n)
		if err != nil && !errors.Is(err, timelines.ErrRestoring) {
			return timelines.Clock{}, err
		}
		if err == nil && was.epoch != 0 && was.of(now) {
			if raised, err := s.raise(ctx, was, now); err != nil || raised {
				return timelines.Clock{Epoch: was.epoch, N: now.N}, err
			}
			continue // somebody else was here
		}
		if err == nil && !now.Whole() {
			err = timelines.ErrRestoring
		}
		if err != nil {
			// Until the primary store is whole there is no clock, and without one nothing is
			// served: rivers of half its rows would stay.
			if was.epoch != 0 {
				err = errors.Join(err, s.empty(ctx, was.epoch, nil))
			}
			return timelines.Clock{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		if was.epoch != 0 {
			s.log.WarnContext(ctx, "the primary store was restored from a copy, rivers are made anew",
				"rivers_of", was.primary, "was_at", was.n, "primary", now.ID, "is_at", now.N)
		}
		next := source{newID(), now.ID, now.N, now.Mark, now.WAL}
		if err := s.empty(ctx, was.epoch, &next); err != nil {
			return timelines.Clock{}, err
		}
	}
	return timelines.Clock{}, fmt.Errorf("clock row keeps changing: %w", ErrUnavailable)
}

func (s *Store) readSource(ctx context.Context) (c source, err error) {
	const query = `SELECT epoch, primary_id, n, mark, wal FROM clock`
	err = s.db.QueryRow(ctx, query).Scan(&c.epoch, &c.primary, &c.n, &c.mark, &c.wal)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return c, fmt.Errorf("read access clock: %w", err)
	}
	return c, nil
}

// ownWAL is how many bytes of write-ahead log the raising of the clock takes by itself, with room
// for what PostgreSQL notes beside it. The smallest change of a post takes several times as many.
const ownWAL = 256

// stands reports whether the row may stay as it is, because at most the raising of the clock was
// written since. If each look raised it for the one before, an idle site would never rest.
func (c source) stands(now timelines.History) bool {
	return c.n == now.N && c.wal <= now.WAL && now.WAL-c.wal <= ownWAL
}

// raise brings the clock row to where the primary store stands, if it is still of that epoch. A
// number only grows, and its mark goes with it. raised is false if there is no such row.
func (s *Store) raise(ctx context.Context, was source, now timelines.History) (raised bool, err error) {
	if was.stands(now) {
		return true, nil
	}
	const query = `
		UPDATE clock SET n = greatest(n, @n), mark = CASE WHEN n < @n THEN @mark ELSE mark END, wal = greatest(wal, @wal)
		WHERE epoch = @epoch`
	tag, err := s.db.Exec(ctx, query, pgx.StrictNamedArgs{"epoch": was.epoch, "n": now.N, "mark": now.Mark, "wal": now.WAL})
	if err != nil {
		return false, fmt.Errorf("raise access clock: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// emptyLock is held while a process empties the store or gives it an epoch.
const emptyLock = 0x72697665726d7074

// emptyPatience is how long one attempt to empty the store waits for a lock. It is longer than
// deadlock_timeout, after which PostgreSQL ends an autovacuum that is in the way.
const emptyPatience = 3 * time.Second

// empty removes everything from the store, if it still has that epoch (0: none), and gives it
// another, or none. Writers that read before do not write after: they hold their tables until
// their commit, and their statements compare the epoch (see moment).
//
// The clock goes first, by itself: without one nothing is served, however long the tables have
// to be waited for.
func (s *Store) empty(ctx context.Context, epoch int64, next *source) error {
	if epoch != 0 {
		if _, err := s.db.Exec(ctx, `DELETE FROM clock WHERE epoch = @epoch`, pgx.StrictNamedArgs{"epoch": epoch}); err != nil {
			return fmt.Errorf("empty the secondary store: %w", err)
		}
	}
	pause(ctx, afterClock)
	for {
		err := s.emptyOnce(ctx, next)
		var said *pgconn.PgError
		if err == nil || !errors.As(err, &said) || said.Code != "55P03" && said.Code != "40P01" { // lock_not_available, deadlock_detected
			return err
		}
		if ctx.Err() != nil {
			return err
		}
	}
}

// emptyOnce is one attempt. It does nothing if there is a clock: then another node was here.
func (s *Store) emptyOnce(ctx context.Context, next *source) error {
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		const begin = `SELECT set_config('lock_timeout', @patience, true), pg_advisory_xact_lock(@lock)`
		args := pgx.StrictNamedArgs{"patience": fmt.Sprint(emptyPatience.Milliseconds()), "lock": int64(emptyLock)}
		if _, err := tx.Exec(ctx, begin, args); err != nil {
			return err
		}
		var done bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM clock)`).Scan(&done); err != nil || done {
			return err
		}
		// The order is that in which writers take the tables. A trigger deletes the clock.
		const truncate = `TRUNCATE rivers, folds, entries, rivers_timelines, visits, leases, notice_clocks, home_feeds, home_feed_buckets, home_feed_posts, home_feed_operations, home_strategy`
		if _, err := tx.Exec(ctx, truncate); err != nil || next == nil {
			return err
		}
		const insert = `
			INSERT INTO clock (epoch, primary_id, n, mark, wal) VALUES (@epoch, @primary, @n, @mark, @wal)`
		_, err := tx.Exec(ctx, insert, pgx.StrictNamedArgs{
			"epoch": next.epoch, "primary": next.primary, "n": next.n, "mark": next.mark, "wal": next.wal,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("empty the secondary store: %w", err)
	}
	return nil
}

// PublishClock brings the store's access clock to at least n. A narrowing is acknowledged
// only after it returned nil. It makes a lost clock row anew, with a new epoch, so that all
// rivers that stand there are cold.
func (s *Store) PublishClock(ctx context.Context, n int64) error {
	at, err := s.settle(ctx)
	if err == nil && at.N < n {
		// The number was drawn in a history that is gone, and what it narrowed with it.
		return fmt.Errorf("the primary store has gone back: %w", ErrUnavailable)
	}
	return err
}

// RefreshAccess reads the access clock and brings this node's cache of access there. A
// decision from the primary store alone, such as the right to send a form, begins with it:
// it knows every narrowing acknowledged before.
func (s *Store) RefreshAccess(ctx context.Context) error {
	_, err := s.clock(ctx)
	return err
}

// clock reads the access clock, which it makes anew if it is lost, and brings the cache
// there.
func (s *Store) clock(ctx context.Context) (timelines.Clock, error) {
	for range 3 {
		var c timelines.Clock
		err := s.db.QueryRow(ctx, `SELECT epoch, n FROM clock`).Scan(&c.Epoch, &c.N)
		if errors.Is(err, pgx.ErrNoRows) {
			if _, err := s.settle(ctx); err != nil {
				return c, err
			}
			continue
		}
		if err != nil {
			return c, fmt.Errorf("read access clock: %w", err)
		}
		return c, s.advance(ctx, c)
	}
	return timelines.Clock{}, fmt.Errorf("clock row keeps vanishing: %w", ErrUnavailable)
}

// advance brings the node to the clock that a statement returned. If it is of another epoch, the
// node forgets what it remembers of the one before.
func (s *Store) advance(ctx context.Context, c timelines.Clock) error {
	if err := s.access.Advance(ctx, c); err != nil {
		return err
	}
	s.mu.Lock()
	before, forget := s.epoch, s.forget
	s.epoch = c.Epoch
	s.mu.Unlock()
	if before != 0 && before != c.Epoch {
		s.notices.Forget()
		// A restored primary store has other tables and types than prepared statements know.
		s.primary.Pool().Reset()
		for _, f := range forget {
			f()
		}
	}
	if at := epochOf(ctx); at != 0 && at != c.Epoch {
		return ErrMoved
	}
	return nil
}

// OnEpoch has forget called whenever this node finds a new epoch: ids may be those of other
// posts and accounts from now on. It must be called before Start.
func (s *Store) OnEpoch(forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget = append(s.forget, forget)
}

// ErrMoved says that the store's epoch is not that of AtEpoch. All that was resolved then must
// be resolved again.
var ErrMoved = fmt.Errorf("rivers are made anew: %w", ErrUnavailable)

type epochKey struct{}

// AtEpoch returns a context for a request whose viewer and names are resolved from now on. The
// ids of the request mean nothing in another epoch, so what it asks for fails with ErrMoved
// once the node finds one.
func (s *Store) AtEpoch(ctx context.Context) context.Context { return WithEpoch(ctx, s.access.Epoch()) }

// WithEpoch is AtEpoch for a request that was resolved in that epoch.
func WithEpoch(ctx context.Context, epoch int64) context.Context {
	return context.WithValue(ctx, epochKey{}, epoch)
}

func epochOf(ctx context.Context) int64 {
	epoch, _ := ctx.Value(epochKey{}).(int64)
	return epoch
}

// moment is a moment of the secondary store, taken before a writer reads anything that it will
// write. A write is bound to it twice: it must come before a deadline, and in the same epoch.
type moment struct {
	time  time.Time // of the server
	epoch int64
}

// momentColumns are those of a moment.
const momentColumns = `clock_timestamp(), coalesce((SELECT epoch FROM clock), 0)`

// inEpoch is the condition that a writer's epoch still stands. It is true of all of its
// statement: whoever empties the store waits for the statement's tables, and a statement that
// waits for them looks after it.
const inEpoch = `EXISTS (SELECT FROM clock WHERE epoch = @epoch)`

// bind adds the arguments of a write at the moment.
func (s *Store) bind(args pgx.StrictNamedArgs, at moment) pgx.StrictNamedArgs {
	args["deadline"], args["epoch"] = at.time.Add(s.deadline), at.epoch
	return args
}

// now returns the present moment of the secondary server, by which all deadlines are kept.
func (s *Store) now(ctx context.Context) (moment, error) {
	for range 3 {
		var at moment
		if err := s.db.QueryRow(ctx, `SELECT `+momentColumns).Scan(&at.time, &at.epoch); err != nil {
			return at, fmt.Errorf("read clock: %w", err)
		}
		if at.epoch != 0 {
			return at, nil
		}
		if _, err := s.settle(ctx); err != nil {
			return at, err
		}
	}
	return moment{}, fmt.Errorf("clock row keeps vanishing: %w", ErrUnavailable)
}
