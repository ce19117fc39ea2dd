package access

import (
	"context"
	"maps"
	"sync"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/site"
	"riverrun/timelines/tokens"
)

// Cache holds, on one node, what decides at render who may see what.
//
// Its promise is R4: a page whose deciding statement began after a narrowing was
// acknowledged is decided with sets that know the narrowing. A narrowing takes a number
// from the primary store's access clock, writes what it concerns into access_log under
// that number, and is acknowledged only when the clock of the secondary store stands at
// least there. Each deciding statement returns that clock; Advance compares it with the
// cache's label, and if it is ahead reads the log since the label, drops what is
// concerned and takes the new label. So nothing depends on a message arriving. A load
// that was under way when anything was dropped is used by the requests that share it,
// which began earlier, and not stored.
//
// Rejected: a time to live (a stale second is a leak), and messages alone (a lost one
// is a leak for ever).
//
// It is safe for concurrent use. Only advancing holds a lock across a statement, and
// only callers that need the newer label wait for that.
type Cache struct {
	store *timelines.Store

	// advancing has one slot, for the caller that reads the log; it is taken before mu.
	// Others wait for it no longer than their contexts live.
	advancing chan struct{}

	// mu guards everything below.
	mu       sync.Mutex
	label    timelines.Clock
	labelled bool
	drops    uint64 // counts drops; a load started at another count is not stored
	loads    uint64 // counts the loads of counted tables that ended
	common   int64  // see Common
	counts   int64  // see Counts

	sessions  table[timelines.Session, session]
	sets      table[int64, *Sets]
	timelines table[int64, timelines.Timeline]
	levels    table[int64, timelines.Level]
	byID      table[int64, timelines.Account]
	ids       table[string, int64]              // by name
	subfeeds  table[int64, []timelines.Subfeed] // by account
	followers table[int64, Followers]           // by account
	following table[int64, Following]           // by account
	readers   table[int64, map[int64]int]       // how many, by account and base timeline
	requests  table[int64, int]                 // how many wait, by the account they are made to
	arrivals  table[int64, []Arrival]           // by account
	alerts    table[int64, []Alert]             // by the account whose sources they are of
	unseen    table[int64, *Sets]               // those of anonymous visitors
	site      table[int64, site.Site]
}

// Capacities. A full town of ten thousand active people fits; beyond, the least
// recently used is loaded again.
const (
	maxSets      = 10_000
	maxSessions  = 50_000
	maxTimelines = 200_000
	maxAccounts  = 50_000
)

// New returns an empty cache over the primary store.
func New(store *timelines.Store) *Cache {
	c := &Cache{store: store, advancing: make(chan struct{}, 1)}
	c.sessions = newTable(c, maxSessions, counted, c.loadSessions)
	c.sets = newTable(c, maxSets, counted, c.loadSets)
	c.timelines = newTable(c, maxTimelines, counted|immutable, c.loadTimelinesAndLevels)
	c.levels = newTable(c, maxTimelines, counted, c.loadLevels)
	c.byID = newTable(c, maxAccounts, counted, c.loadAccounts)
	c.ids = newTable(c, maxAccounts, immutable, store.Accounts.IDs)
	c.subfeeds = newTable(c, maxAccounts, counted, c.loadSubfeeds)
	c.followers = newTable(c, maxFollowed, 0, c.loadFollowers)
	c.following = newTable(c, maxAccounts, 0, c.loadFollowing)
	c.readers = newTable(c, maxAccounts, 0, c.countReaders)
	c.requests = newTable(c, maxAccounts, 0, c.countRequests)
	c.arrivals = newTable(c, maxFollowed, 0, c.loadArrivals)
	c.alerts = newTable(c, maxAccounts, 0, c.loadAlerts)
	c.unseen = newTable(c, 1, counted, c.loadUnseen)
	c.site = newTable(c, 1, counted, c.loadSite)
	return c
}

type session struct {
	accountID int64
	expiresAt time.Time
	// The id of the app token, 0 for the session of a browser, and what it allows.
	token     int64
	scopes    []tokens.Scope
	wholeSite bool
}

// Session returns the viewer that the session of a browser belongs to, or timelines.ErrSignedOut if it
// ended, or is that of an app token: these open no pages.
func (c *Cache) Session(ctx context.Context, s timelines.Session) (timelines.Viewer, error) {
	found, err := c.session(ctx, s)
	if err != nil {
		return timelines.Viewer{}, err
	}
	if found.token != 0 {
		return timelines.Viewer{}, timelines.ErrSignedOut
	}
	return timelines.Viewer{AccountID: found.accountID, Session: s}, nil
}

// session returns a session of either kind, or timelines.ErrSignedOut if it ended.
func (c *Cache) session(ctx context.Context, s timelines.Session) (session, error) {
	found, ok, err := c.sessions.one(ctx, s)
	if err != nil {
		return session{}, err
	}
	if !ok || !time.Now().Before(found.expiresAt) {
		return session{}, timelines.ErrSignedOut
	}
	return found, nil
}

// CheckSession returns timelines.ErrSignedOut if the viewer's session, be it of a browser or of an app token, ended, or if the viewer is
// anonymous and the site is private. An account without a session is not checked.
func (c *Cache) CheckSession(ctx context.Context, v timelines.Viewer) error {
	if v.Anonymous() {
		private, err := c.Private(ctx)
		if err == nil && private {
			err = timelines.ErrSignedOut
		}
		return err
	}
	if v.Session == (timelines.Session{}) {
		return nil
	}
	now, err := c.session(ctx, v.Session)
	if err != nil {
		return err
	}
	if now.accountID != v.AccountID {
		return timelines.ErrSignedOut
	}
	return nil
}

// Sets returns what decides for an account; 0 is anonymous.
func (c *Cache) Sets(ctx context.Context, accountID int64) (*Sets, error) {
	table, key := &c.sets, accountID
	if accountID == 0 {
		table, key = &c.unseen, theSite
	}
	sets, _, err := table.one(ctx, key)
	return sets, err
}

// Site returns the settings of the site: no statement while they are cached.
func (c *Cache) Site(ctx context.Context) (site.Site, error) {
	s, _, err := c.site.one(ctx, theSite)
	return s, err
}

// Private reports whether nothing is shown without signing in.
func (c *Cache) Private(ctx context.Context) (bool, error) {
	s, err := c.Site(ctx)
	return s.Shut, err
}

// Door returns who may sign up.
func (c *Cache) Door(ctx context.Context) (site.SignUp, error) {
	s, err := c.Site(ctx)
	return s.Door(c.store.Options()), err
}

// RememberedSite returns the settings of the site as this node last read them, without a statement:
// for pages that say that the store is away. ok is false if it remembers none.
func (c *Cache) RememberedSite() (s site.Site, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.site.kept.Peek(theSite)
}

// Levels returns the timelines of these ids with their levels: no statement when all of
// both are cached, nearly always one if not.
func (c *Cache) Levels(ctx context.Context, ids []int64) (Levels, error) {
	found, err := c.timelines.all(ctx, ids)
	if err != nil {
		return Levels{}, err
	}
	gates := make([]int64, 0, len(found))
	for _, t := range found {
		gates = append(gates, t.GateID)
	}
	levels, err := c.levels.all(ctx, gates)
	if err != nil {
		return Levels{}, err
	}
	return Levels{found, levels}, nil
}

// Timelines returns the timelines of these ids, without their levels, and remembers none of them:
// writers of many posts ask for more timelines than pages ever need.
func (c *Cache) Timelines(ctx context.Context, ids []int64) (map[int64]timelines.Timeline, error) {
	found := make(map[int64]timelines.Timeline, len(ids))
	var missing []int64
	c.mu.Lock()
	for _, id := range ids {
		if t, ok := c.timelines.kept.Peek(id); ok {
			found[id] = t
		} else {
			missing = append(missing, id)
		}
	}
	c.mu.Unlock()
	if len(missing) > 0 {
		read, _, err := c.loadTimelines(ctx, missing)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, read)
	}
	return found, nil
}

// Accounts returns the accounts of these ids: no statement when all are cached,
// else one. Account.Access is not kept current here; ask Levels.
func (c *Cache) Accounts(ctx context.Context, ids []int64) (map[int64]timelines.Account, error) {
	return c.byID.all(ctx, ids)
}

// RequestCount returns how many requests wait for these accounts, people and groups, all
// together: no statement while nobody asks any of them or is answered, else one.
func (c *Cache) RequestCount(ctx context.Context, accounts []int64) (total int, err error) {
	counts, err := c.Requests(ctx, accounts)
	for _, n := range counts {
		total += n
	}
	return total, err
}

// Requests is RequestCount by account.
func (c *Cache) Requests(ctx context.Context, accounts []int64) (map[int64]int, error) {
	return c.requests.all(ctx, accounts)
}

// Subfeeds returns the sub-feeds of these accounts, by account, the private one
// first, then by title: no statement when all are cached, else one. Levels says
// whether a viewer may know of them. The lists are shared and must not be changed.
func (c *Cache) Subfeeds(ctx context.Context, accounts []int64) (map[int64][]timelines.Subfeed, error) {
	return c.subfeeds.all(ctx, accounts)
}

// AccountNamed returns the account of that name with its present level, or
// timelines.ErrNotFound.
func (c *Cache) AccountNamed(ctx context.Context, name string) (timelines.Account, error) {
	id, _, err := c.ids.one(ctx, name)
	if err != nil {
		return timelines.Account{}, err
	}
	a, ok, err := c.byID.one(ctx, id)
	if err != nil {
		return timelines.Account{}, err
	}
	if !ok || a.Kind == timelines.Gone { // under a name that it had
		return timelines.Account{}, timelines.ErrNotFound
	}
	levels, err := c.Levels(ctx, []int64{a.FeedID})
	if err != nil {
		return timelines.Account{}, err
	}
	if a.Access = levels.Level(a.FeedID); a.Access == timelines.Ended {
		return timelines.Account{}, timelines.ErrNotFound
	}
	return a, nil
}
