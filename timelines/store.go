package timelines

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is the primary store. It is safe for concurrent use.
type Store struct {
	pool     *pgxpool.Pool
	announce Announcer
	opts     Options
	hashing  hashing // what bounds the hashing of passwords
	// maxTexts, maxFound, searchTimeout, flagFew and upkeepBlock are the constants of those names;
	// tests set them lower.
	maxTexts, maxFound   int64
	searchTimeout        time.Duration
	flagFew, upkeepBlock int
}

// Options are the rules an operator may set.
type Options struct {
	// LocalBumpMaxAge is how old a post may be for an entrance into a filter
	// timeline (a like, a first comment) to lift it there; 0 means any age.
	LocalBumpMaxAge time.Duration
	// SessionAge is how long a session lives after signing in.
	SessionAge time.Duration
	// BestOf is how many people besides its author must like a post or comment on it
	// for it to stand in best-of, MostFaved how many must keep it to stand in
	// most-faved.
	BestOf, MostFaved int
	// HashCost is what the hash of a new password takes. It is no setting: less than the
	// default is for tests alone.
	HashCost HashCost
}

// DefaultOptions returns the rules in force where nothing is set.
func DefaultOptions() Options {
	return Options{
		LocalBumpMaxAge: 30 * 24 * time.Hour, SessionAge: 90 * 24 * time.Hour, BestOf: 5, MostFaved: 5,
		HashCost: recommendedCost,
	}
}

// Open returns the store behind pool. Every change is announced through
// announce within its own transaction; nil announces nothing, for commands
// that only read.
func Open(pool *pgxpool.Pool, announce Announcer, opts Options) *Store {
	return &Store{
		pool: pool, announce: announce, opts: opts, hashing: newHashing(),
		maxTexts: maxTexts, maxFound: maxFound, searchTimeout: searchTimeout, flagFew: flagFew, upkeepBlock: upkeepBlock,
	}
}

// Ping reports whether the store answers.
func (s *Store) Ping(ctx context.Context) error { return s.pool.Ping(ctx) }

// Announcer carries events of a change to whoever makes rivers follow. Its one
// method runs inside the change's transaction, so that a committed change is
// never forgotten and one rolled back is never heard of. The job queue
// implements it; this package does not know the queue.
type Announcer interface {
	AnnounceTx(ctx context.Context, tx pgx.Tx, events ...Event) error
}

// Event is what is announced: Touched, Replace, PendingBump or Upkeep.
type Event interface{ event() }

// Touched says that the post entered, left or was bumped in these timelines,
// or, with none, that only its fold changed. If its decisive timelines changed
// or it was deleted, all its timelines count as touched.
type Touched struct {
	PostID    int64
	Timelines []int64
}

// Replace says that an access or subscription change made the named rivers
// wrong as a whole.
type Replace struct {
	// ViewerID is whose rivers; 0 with Everybody or Of set: all viewers'.
	ViewerID  int64
	Everybody bool
	// Of, if not 0, is an account one of whose timelines came or went: the account's
	// own pages, whoever looks at them, and home feed and lists of those who follow it.
	Of int64
	// Kinds limits the river kinds concerned; none means every kind.
	Kinds []string
	// Terms limits them further to rivers of these terms; it needs Kinds.
	Terms []string
	// TheirIDs limits them further to the pages of these accounts or lists; none means
	// every page.
	TheirIDs []int64
	// Tx is the transaction that changed it, set as it is announced: what was built from
	// a snapshot that sees it needs no replacing. 0: not known, so whatever stands is wrong.
	Tx int64
}

// PendingBump says that rows of the post in filter timelines must still follow
// its fresh_at; BumpBlock does one block of them.
type PendingBump struct {
	PostID int64
	// After is the last timeline id already done.
	After int64
}

// Upkeep says that what helps to find posts is behind; UpkeepBlock does one block of
// it, whatever it is of.
type Upkeep struct{}

func (Touched) event()     {}
func (Replace) event()     {}
func (PendingBump) event() {}
func (Upkeep) event()      {}

// Change is a committed change as Tier 0 needs it.
type Change struct {
	// Actor is who did it.
	Actor int64
	// PostID and Code name the post concerned; 0 if the change is one of access or
	// subscription only.
	PostID int64
	Code   string
	// CommentID is the comment made or edited, 0 if none.
	CommentID int64
	// Touched as in the event of that name.
	Touched []int64
	// Clock is the number drawn from the access clock, 0 if none was: the
	// secondary store's clock must stand at least there before a success is
	// answered.
	Clock int64
	// Replace lists rivers that are wrong as a whole from now on.
	Replace []Replace
	// Repeated is set when the form's key had been seen: nothing changed, and the
	// ids are those of the first time.
	Repeated bool
}
