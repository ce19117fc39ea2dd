package timelines

import (
	"context"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/drafts"
	"riverrun/timelines/edits"
	"riverrun/timelines/publishing"
	"riverrun/timelines/scheduled"
	"riverrun/timelines/snapshot"
)

// Store is the primary store. Its methods are divided by subject. It is safe for
// concurrent use.
type Store struct {
	*core
	Accounts      Accounts
	Groups        Groups
	Subscriptions Subscriptions
	Feeds         Feeds
	Lists         Lists
	Bans          Bans
	Hides         Hides
	Notices       Notices
	Posts         Posts
	Comments      Comments
	Drafts        *drafts.Store
	Scheduled     *scheduled.Store
	Edits         *edits.Store
	Files         Files
	Links         Links
	Pushes        Pushes
	Imports       Imports
	Items         Items
	Publishing    *publishing.Store
	Maintenance   Maintenance
}

// The subjects of a Store.
type (
	// Accounts are people and groups, with their profiles, passwords and sessions.
	Accounts struct{ *core }
	// Groups have members, administrators, readers and a rule for writers.
	Groups struct{ *core }
	// Subscriptions are made at once or, where an account is private, requested.
	Subscriptions struct{ *core }
	// Feeds are a person's feed and sub-feeds, with their levels and readers.
	Feeds struct{ *core }
	// Lists are pages of some of the accounts that a person follows.
	Lists struct{ *core }
	// Bans keep two people apart.
	Bans struct{ *core }
	// Hides are what a person does not want to see.
	Hides struct{ *core }
	// Notices tell people what happens that concerns them.
	Notices struct{ *core }
	// Posts stand in timelines; people like and save them.
	Posts struct{ *core }
	// Comments stand under posts; people like them.
	Comments struct{ *core }
	// Files are pictures and files that people upload.
	Files struct{ *core }
	// Links are what posts link to.
	Links struct{ *core }
	// Pushes are the browsers that get a push when something is new.
	Pushes struct{ *core }
	// Imports bring in what was written elsewhere.
	Imports struct{ *core }
	// Maintenance is the work in blocks that changes leave to jobs, and the removal of
	// what has expired.
	Maintenance struct{ *core }
)

// core is what all subjects share: the database, the rules and the steps of a change.
type core struct {
	pool     *pgxpool.Pool
	announce Announcer
	opts     Options
	hashing  hashing // what bounds the hashing of passwords
	// limits bound searches; flagFew and upkeepBlock are the constants of those names. Tests set
	// them lower.
	limits               snapshot.Limits
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
	// for it to stand in best-of, MostFaved how many must save it for it to stand in
	// most-faved.
	BestOf, MostFaved int
	// PostFiles and CommentFiles are how many files may be attached to a post and to a comment.
	PostFiles, CommentFiles int
	// FirstDay is how long somebody who signed up on the page is a stranger (strangers.go); 0: nobody
	// is. FirstDayPosts is how many posts a stranger may write in an hour.
	FirstDay      time.Duration
	FirstDayPosts int
	// Previews: pages that posts link to are read.
	Previews bool
	// SignUp says who may sign up (a site.SignUp), and Private that nothing is shown without signing
	// in, as long as the site's settings do not say.
	SignUp  string
	Private bool
	// HashCost is the cost of the hash of a new password. It is no setting: only tests use
	// less than the default.
	HashCost argon2id.Params
}

// DefaultOptions returns the rules in force where nothing is set.
func DefaultOptions() Options {
	return Options{
		LocalBumpMaxAge: 30 * 24 * time.Hour, SessionAge: 90 * 24 * time.Hour, BestOf: 5, MostFaved: 5,
		PostFiles: 20, CommentFiles: 4, Previews: true, SignUp: "open", FirstDay: 24 * time.Hour, FirstDayPosts: 5,
		HashCost: recommendedCost,
	}
}

// Open returns the store behind pool. Every change is announced through
// announce within its own transaction; nil announces nothing, for commands
// that only read. The pool's connections should have plan_cache_mode = force_generic_plan: searches
// ask for plans of their own, all other statements have one good plan.
func Open(pool *pgxpool.Pool, announce Announcer, opts Options) *Store {
	c := &core{
		pool: pool, announce: announce, opts: opts, hashing: newHashing(),
		limits: snapshot.DefaultLimits(), flagFew: flagFew, upkeepBlock: upkeepBlock,
	}
	return &Store{
		c,
		Accounts{c},
		Groups{c},
		Subscriptions{c},
		Feeds{c},
		Lists{c},
		Bans{c},
		Hides{c},
		Notices{c},
		Posts{c},
		Comments{c},
		drafts.Open(pool),
		scheduled.Open(pool),
		edits.Open(pool),
		Files{c},
		Links{c},
		Pushes{c},
		Imports{c},
		Items{c},
		publishing.Open(pool),
		Maintenance{c},
	}
}

// Pool returns the pool of the store's database, for package access, and for searches, which
// have statements of their own.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// InSnapshot calls fn with a snapshot of the store.
func (s *Store) InSnapshot(ctx context.Context, fn func(*snapshot.Snapshot) error) error {
	return snapshot.Read(ctx, s.pool, s.limits, fn)
}

// ReadPosts reads posts as of one instant. See snapshot.ReadPosts.
func (s *Store) ReadPosts(ctx context.Context, posts []int64, viewers snapshot.ViewerPairs, withContents bool, d snapshot.Depth) (
	map[int64]*snapshot.PostState, map[int64]*snapshot.Content, error,
) {
	return snapshot.ReadPosts(ctx, s.pool, posts, viewers, withContents, d)
}

// Ping reports whether the store answers.
func (s *Store) Ping(ctx context.Context) error { return s.pool.Ping(ctx) }

// Announcer passes on the events of a change, so that rivers follow. Its one method runs
// inside the change's transaction: the events of a committed change are never lost, and
// those of one that is rolled back never existed. The job queue implements it; this package
// does not know the queue.
type Announcer interface {
	AnnounceTx(ctx context.Context, tx pgx.Tx, events ...Event) error
}

// Event is what is announced: Touched, TouchedBatch, Replace, PendingBump, Upkeep, Prepare,
// ReadPage, SourceReady, SourceDue, RemovePosts, MakeExport or ChangeSeveral.
type Event interface{ event() }

// Touched says that the post entered, left or was bumped in these timelines,
// or, with none, that only its fold changed. If its decisive timelines changed
// or it was deleted, all its timelines count as touched.
type Touched struct {
	PostID    int64
	Timelines []int64
	// Change is the Name of the change, set when it is announced; 0 if it has none.
	Change uint64
	// Unpushed: nobody whom the change tells has a browser that is told while it is closed (package push).
	Unpushed bool
}

// TouchedBatch are the posts that one transaction of an import or of a source made or changed.
// They come to rivers together, after what people did.
type TouchedBatch []Touched

// River kinds of more than one timeline that a Replace names. A river kind that shows
// timelines of one kind has the name of that kind. Package rivers has all river kinds.
const (
	RiverHome = "home"
	RiverList = "list"
	RiverUser = "user"
)

// Replace says that a change of access or subscription invalidated the named rivers.
type Replace struct {
	// ViewerID is the viewer whose rivers these are. It is 0 with Everybody or AccountID set:
	// all viewers.
	ViewerID  int64
	Everybody bool
	// AccountID, if not 0, is an account that gained or lost a timeline. The rivers are those of
	// the account's own pages, for all viewers, and the home feeds and lists of its followers.
	AccountID int64
	// Kinds limits the river kinds concerned; none means every kind.
	Kinds []string
	// Terms limits them further to rivers of these terms; it needs Kinds.
	Terms []string
	// TheirIDs limits them further to the pages of these accounts or lists; none means
	// every page.
	TheirIDs []int64
	// Tx is the transaction of the change, set when it is announced: a river that was built
	// from a snapshot that sees it is not replaced. 0: unknown, so every river is replaced.
	Tx int64
}

// PendingBump says that rows of the post in filter timelines must still follow
// its fresh_at; Maintenance.BumpBlock does one block of them.
type PendingBump struct {
	PostID int64
	// After is the last timeline id already done.
	After int64
}

// Upkeep says that a feed of many posts changed its level, and that the flags of its posts
// are not up to date. Maintenance.UpkeepBlock updates one block of them.
type Upkeep struct{}

func (Touched) event()      {}
func (TouchedBatch) event() {}
func (Replace) event()      {}
func (PendingBump) event()  {}
func (Upkeep) event()       {}

// Change is a committed change as Tier 0 needs it. The caller of a method that returns one passes it to tiers.Tiers.Carry
// with the next statement.
type Change struct {
	// Name is a random name of the change, one for its transaction. The jobs of its posts have it too, so
	// that a job can tell what its node has done already. It is 0 if nothing
	// changed, and of most changes that no post is part of.
	Name uint64
	// Actor made the change.
	Actor int64
	// PostID and Code name the post; 0 and empty for a change of access or subscription.
	PostID int64
	Code   string
	// CommentID is the comment made or edited, 0 if none.
	CommentID int64
	// Touched as in the event of that name.
	Touched []int64
	// Waits: the new post waits for the approval of a group (approval.go).
	Waits bool
	// Clock is the number drawn from the access clock, 0 if none was: the
	// secondary store's clock must stand at least there before a success is
	// answered.
	Clock int64
	// Replace names the rivers that the change invalidated.
	Replace []Replace
	// Rewritten are posts of a source that have other texts now, or are gone. No page may show
	// them as they were once the change is acknowledged.
	Rewritten []Touched
	// Repeated is set when the form's key had been seen: nothing changed, and the
	// ids are those of the first time.
	Repeated bool
}
