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

	"riverrun/rivers/bytecache"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
	"riverrun/timelines/snapshot"
	"riverrun/timelines/storage"
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
	decided *decidedPages
	notices *notices.Cache
	// searching has a slot for each search of the primary store under way on this node, so
	// that searches leave it, and its connections, to others.
	searching   chan struct{}
	builds      singleflight.Group
	building    *underway
	maintenance *maintenance
	// deadline, writePairs and lookUpMost are the constants of those names, scanRows is that of
	// timelines, and people is MaxPeople. Tests set them lower.
	deadline   time.Duration
	writePairs int
	lookUpMost int
	scanRows   int64
	people     int

	// mu guards the fields below.
	mu     sync.Mutex
	codes  *simplelru.LRU[codeAt, int64] // post codes to ids
	epoch  int64                         // the last that was seen
	forget []func()                      // see OnEpoch
}

// Options are what an operator may set, and where figures go.
type Options struct {
	// GraceHome and Grace are how long a river is kept that is neither open nor visited.
	GraceHome, Grace time.Duration
	// Depth is how many posts of a home feed or a list are kept. Older ones are read from the
	// primary store. 0 means the default.
	Depth int
	// Few is how many entries of other rivers than those of its Scope a writer writes with them. It
	// bounds how much longer a request waits. Negative means none, 0 the default.
	Few int
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
	// Built: a river of that kind was built or extended for that cause, with that many entries, in that
	// time.
	Built(kind Kind, why BuildCause, entries int, took time.Duration)
	// Wrote: that many entries were written to live rivers.
	Wrote(entries int)
}

type noMetrics struct{}

func (noMetrics) Built(Kind, BuildCause, int, time.Duration) {}
func (noMetrics) Wrote(int)                                  {}

// DefaultOptions returns the options in force where nothing is set.
func DefaultOptions() Options {
	return Options{GraceHome: 24 * time.Hour, Grace: 6 * time.Hour, Depth: 1500, Few: 100, Folds: 10_000}
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
	if opts.Few == 0 {
		opts.Few = DefaultOptions().Few
	}
	opts.Few = max(opts.Few, 0)
	if opts.Depth <= 0 {
		opts.Depth = DefaultOptions().Depth
	}
	codes, err := simplelru.NewLRU[codeAt, int64](50_000, nil)
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
		decided: newDecidedPages(),
		notices: notices.NewCache(primary.Pool()),

		searching: make(chan struct{}, maxSearching),
		building:  newUnderway(),
		codes:     codes,

		deadline: writeDeadline, writePairs: writePairs, lookUpMost: lookUpMost, scanRows: snapshot.DefaultMaxRows, people: MaxPeople,
	}
	s.maintenance = newMaintenance(s)
	return s
}

// Start makes sure that the store belongs to the primary store's history, and begins to keep
// visits and the access clock.
func (s *Store) Start(ctx context.Context) error {
	// The number comes first, so that the clock row never has one that is not in the log.
	if err := s.primary.DrawStart(ctx); err != nil {
		return err
	}
	if _, err := s.settle(ctx); err != nil {
		return err
	}
	if err := s.RefreshAccess(ctx); err != nil {
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

// Decided says how the cache of decided pages is used.
func (s *Store) Decided() bytecache.Use { return s.decided.pages.Use() }

// Node returns this process's name among leases and on the bus.
func (s *Store) Node() string { return s.node }

// Tables returns what the tables of the store take, the largest first.
func (s *Store) Tables(ctx context.Context) ([]storage.Table, error) {
	return storage.Tables(ctx, s.db)
}

// Ping reports whether the store answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// newID returns a random, positive 63-bit number.
func newID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	return int64(binary.BigEndian.Uint64(b[:])>>1 | 1)
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

// codeAt is a post's code within one epoch.
type codeAt struct {
	epoch int64
	code  string
}

// postID resolves a post's code, from memory if it was seen before.
func (s *Store) postID(ctx context.Context, code string) (int64, error) {
	at := codeAt{s.access.Epoch(), code}
	s.mu.Lock()
	id, ok := s.codes.Get(at)
	s.mu.Unlock()
	if ok {
		return id, nil
	}
	id, err := s.primary.Posts.ID(ctx, code)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	s.codes.Add(at, id)
	s.mu.Unlock()
	return id, nil
}
