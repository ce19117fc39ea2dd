package rivers

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
	"riverrun/timelines/snapshot"
)

// Store is the secondary store as one node uses it. It is safe for concurrent use. It keeps
// visits and leases once Start was called.
type Store struct {
	db      *pgxpool.Pool
	primary *timelines.Store
	access  *access.Cache
	opts    Options
	log     *slog.Logger
	node    string

	folds   *foldCache
	notices *notices.Cache
	// searching has a slot for each search of the primary store under way on this node, so
	// that searches leave it, and its connections, to others.
	searching   chan struct{}
	builds      singleflight.Group
	building    *underway
	maintenance *maintenance
	// deadline and writePairs are the constants of those names, scanRows is that of
	// timelines, and people is MaxPeople. Tests set them lower.
	deadline   time.Duration
	writePairs int
	scanRows   int64
	people     int

	// mu guards the fields below.
	mu    sync.Mutex
	codes *simplelru.LRU[string, int64] // post codes to ids, valid within one epoch
	epoch int64                         // the last that adopt saw
}

// Options are what an operator may set, and where figures go.
type Options struct {
	// GraceHome and Grace are how long a river is kept that is neither open nor visited.
	GraceHome, Grace time.Duration
	// Depth is how many posts of a home feed or a list are kept. Older ones are read from the
	// primary store. 0 means the default.
	Depth int
	// Folds is how many decoded folds this node keeps in memory.
	Folds int
	// Metrics receives figures; nil drops them.
	Metrics Metrics
	// Restore makes the store's tables again if they were lost (R7), or does nothing.
	// Maintenance calls it before each of its turns. nil means that lost tables stay lost.
	Restore func(context.Context) error
}

// Metrics is told what the store does. Implementations must be safe for
// concurrent use and quick.
type Metrics interface {
	// Built: a river of that kind was built, with that many entries, in that time.
	Built(kind Kind, entries int, took time.Duration)
	// Wrote: that many entries were written to live rivers.
	Wrote(entries int)
}

type noMetrics struct{}

func (noMetrics) Built(Kind, int, time.Duration) {}
func (noMetrics) Wrote(int)                      {}

// DefaultOptions returns the options in force where nothing is set.
func DefaultOptions() Options {
	return Options{GraceHome: 24 * time.Hour, Grace: 6 * time.Hour, Depth: 1500, Folds: 10_000}
}

// writeDeadline is how long after its look-up a writer may still write. Rows that a late
// writer could revive are kept longer (see Expire).
const writeDeadline = 60 * time.Second

// ErrUnavailable: the secondary store gave no answer.
var ErrUnavailable = errors.New("rivers unavailable")

// Open returns the store in db. Its rivers are made from primary.
func Open(db *pgxpool.Pool, primary *timelines.Store, log *slog.Logger, opts Options) *Store {
	if opts.Metrics == nil {
		opts.Metrics = noMetrics{}
	}
	if opts.Restore == nil {
		opts.Restore = func(context.Context) error { return nil }
	}
	if opts.Folds <= 0 {
		opts.Folds = DefaultOptions().Folds
	}
	if opts.Depth <= 0 {
		opts.Depth = DefaultOptions().Depth
	}
	codes, err := simplelru.NewLRU[string, int64](50_000, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	s := &Store{
		db:      db,
		primary: primary,
		access:  access.New(primary),
		opts:    opts,
		log:     log,
		node:    fmt.Sprintf("%016x", newID()),
		folds:   newFoldCache(opts.Folds),
		notices: notices.NewCache(primary.Pool()),

		searching: make(chan struct{}, maxSearching),
		building:  newUnderway(),
		codes:     codes,

		deadline: writeDeadline, writePairs: writePairs, scanRows: snapshot.DefaultMaxRows, people: MaxPeople,
	}
	s.maintenance = newMaintenance(s)
	return s
}

// Start makes sure that the store belongs to this primary store, and begins to keep visits
// and the access clock.
func (s *Store) Start(ctx context.Context) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	s.maintenance.start()
	return nil
}

// Stop ends builds under way, writes the visits not yet written, and gives up this node's
// leases. It returns when nothing of the store runs any more.
func (s *Store) Stop(ctx context.Context) error {
	err := errors.Join(s.building.stop(ctx), s.maintenance.stop(ctx))
	_, unlease := s.db.Exec(ctx, `DELETE FROM leases WHERE node = @node`, pgx.StrictNamedArgs{"node": s.node})
	return errors.Join(err, unlease)
}

// Access returns this node's cache of who may see what.
func (s *Store) Access() *access.Cache { return s.access }

// Node returns this process's name among leases and on the bus.
func (s *Store) Node() string { return s.node }

// Ping reports whether the store answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// newID returns a random, positive 63-bit number.
func newID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	return int64(binary.BigEndian.Uint64(b[:])>>1 | 1)
}

// adopt gives the store an epoch if it has none. It gives it a new one if its rivers were
// built from another primary store, or from a later state of this one than it has now,
// because it was restored from a copy.
//
// The clock here is read first. A number published here was drawn there before, so it is
// greater only if that store has gone back. Read the other way round, a narrowing in
// between would make all rivers cold.
func (s *Store) adopt(ctx context.Context) error {
	var epoch, n int64
	var of string
	err := s.db.QueryRow(ctx, `SELECT epoch, n, primary_id FROM clock`).Scan(&epoch, &n, &of)
	lost := errors.Is(err, pgx.ErrNoRows)
	if err != nil && !lost {
		return fmt.Errorf("adopt secondary store: %w", err)
	}
	pause(ctx, betweenClocks)
	now, primaryID, err := s.primary.AccessClock(ctx)
	if err != nil {
		return err
	}
	if !lost && of == primaryID && n <= now {
		s.forgetAfter(epoch)
		return nil
	}
	// If several nodes do this at once, one of them makes the epoch.
	query := `UPDATE clock SET epoch = @epoch, n = @n, primary_id = @primary WHERE epoch = @seen`
	args := pgx.StrictNamedArgs{"epoch": newID(), "n": now, "primary": primaryID, "seen": epoch}
	if lost {
		query = `INSERT INTO clock (epoch, n, primary_id) VALUES (@epoch, @n, @primary) ON CONFLICT DO NOTHING`
		delete(args, "seen")
	}
	if _, err := s.db.Exec(ctx, query, args); err != nil {
		return fmt.Errorf("adopt secondary store: %w", err)
	}
	s.forgetAfter(0)
	return nil
}

// forgetAfter drops what this node remembers of posts if the store's epoch has changed
// since the last call (0: a new one, not read yet). Its memory may come from a
// primary store that was taken back since, and be newer than anything there.
func (s *Store) forgetAfter(epoch int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch == 0 || s.epoch != epoch {
		s.codes.Purge()
		s.folds.purge()
	}
	s.epoch = epoch
}

// PublishClock brings the store's access clock to at least n. A narrowing is acknowledged
// only after it returned nil. It makes a lost clock row anew, with a new epoch, so that all
// rivers that stand there are cold.
func (s *Store) PublishClock(ctx context.Context, n int64) error {
	const query = `UPDATE clock SET n = greatest(n, @n)`
	tag, err := s.db.Exec(ctx, query, pgx.StrictNamedArgs{"n": n})
	if err != nil {
		return fmt.Errorf("publish access clock: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return nil
	}
	_, primaryID, err := s.primary.AccessClock(ctx)
	if err != nil {
		return err
	}
	// Another node may have made the row meanwhile with an older n, hence greatest.
	const upsert = `
		INSERT INTO clock (epoch, n, primary_id) VALUES (@epoch, @n, @primary)
		ON CONFLICT (id) DO UPDATE SET n = greatest(clock.n, excluded.n)`
	if _, err := s.db.Exec(ctx, upsert, pgx.StrictNamedArgs{"epoch": newID(), "n": n, "primary": primaryID}); err != nil {
		return fmt.Errorf("publish access clock: %w", err)
	}
	return nil
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
			if err := s.adopt(ctx); err != nil {
				return c, err
			}
			continue
		}
		if err != nil {
			return c, fmt.Errorf("read access clock: %w", err)
		}
		return c, s.access.Advance(ctx, c)
	}
	return timelines.Clock{}, fmt.Errorf("clock row keeps vanishing: %w", ErrUnavailable)
}

// collect returns the rows of a query. Its errors begin with what.
func collect[T any](ctx context.Context, s *Store, what, query string, args pgx.StrictNamedArgs, to pgx.RowToFunc[T]) ([]T, error) {
	rows, err := s.db.Query(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	found, err := pgx.CollectRows(rows, to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return found, nil
}

// forEach scans each row of a query into dest and calls fn. Its errors begin with what.
func (s *Store) forEach(ctx context.Context, what, query string, args pgx.StrictNamedArgs, dest []any, fn func()) error {
	rows, err := s.db.Query(ctx, query, args)
	if err == nil {
		_, err = pgx.ForEachRow(rows, dest, func() error { fn(); return nil })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func notFound(err error) error {
	if errors.Is(err, timelines.ErrNotFound) {
		return ErrNotFound
	}
	return err
}

// postID resolves a post's code, from memory if it was seen before.
func (s *Store) postID(ctx context.Context, code string) (int64, error) {
	s.mu.Lock()
	id, ok := s.codes.Get(code)
	s.mu.Unlock()
	if ok {
		return id, nil
	}
	id, err := s.primary.Posts.ID(ctx, code)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	s.codes.Add(code, id)
	s.mu.Unlock()
	return id, nil
}
