package timelines

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"riverrun/timelines/mutants"
)

// AccessCache holds, on one node, what decides at render who may see what:
// sessions, each viewer's Sets, timelines with their levels, accounts.
//
// Its promise is R4: a page whose deciding statement began after a narrowing
// was acknowledged is decided with sets that know the narrowing. A narrowing
// takes a number from the primary store's access clock, writes what it concerns
// into access_log under that number, and is acknowledged only when the clock of
// the secondary store stands at least there. Each deciding statement returns
// that clock; Advance compares it with the cache's label, and if it is ahead
// reads the log since the label, drops what is concerned and takes the new
// label. So nothing depends on a message arriving. A load that was under way
// when anything was dropped is used by its own request, which began earlier,
// and not stored.
//
// Rejected: a time to live (a stale second is a leak), and messages alone (a
// lost one is a leak for ever).
//
// It is safe for concurrent use. No lock is held across a statement, but for
// advancing, which only those who need the newer label wait for.
type AccessCache struct {
	store *Store

	// advancing has a slot for who reads the log; taken before mu. Others who wait for it
	// wait no longer than their contexts live.
	advancing chan struct{}

	// mu guards everything below.
	mu        sync.Mutex
	label     Clock
	labelled  bool
	drops     uint64 // counts drops; a load started at another count is not stored
	loads     uint64 // counts loads that ended, of what decides or says how it is called
	common    int64  // see Common
	sets      *simplelru.LRU[int64, *Sets]
	sessions  *simplelru.LRU[Session, cachedSession]
	timelines *simplelru.LRU[int64, Timeline] // immutable, never dropped
	levels    *simplelru.LRU[int64, Level]
	accounts  *simplelru.LRU[int64, Account]
	members   *simplelru.LRU[int64, int]       // how many, by group
	asking    *simplelru.LRU[int64, int]       // how many ask to subscribe or join, by whom they ask
	subfeeds  *simplelru.LRU[int64, []Subfeed] // by account
	names     *simplelru.LRU[string, int64]    // immutable, never dropped
}

type cachedSession struct {
	accountID int64
	expiresAt time.Time
}

// Capacities. A full town of ten thousand active people fits; beyond, the least
// recently used is loaded again.
const (
	maxSets      = 10_000
	maxSessions  = 50_000
	maxTimelines = 200_000
	maxAccounts  = 50_000
)

// NewAccessCache returns an empty cache over the store.
func NewAccessCache(store *Store) *AccessCache {
	return &AccessCache{
		store:     store,
		advancing: make(chan struct{}, 1),
		sets:      newLRU[int64, *Sets](maxSets),
		sessions:  newLRU[Session, cachedSession](maxSessions),
		timelines: newLRU[int64, Timeline](maxTimelines),
		levels:    newLRU[int64, Level](maxTimelines),
		accounts:  newLRU[int64, Account](maxAccounts),
		members:   newLRU[int64, int](maxAccounts),
		asking:    newLRU[int64, int](maxAccounts),
		subfeeds:  newLRU[int64, []Subfeed](maxAccounts),
		names:     newLRU[string, int64](maxAccounts),
	}
}

func newLRU[K comparable, V any](size int) *simplelru.LRU[K, V] {
	l, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return l
}

// begin returns the count of drops before a load.
func (c *AccessCache) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drops
}

// stands reports whether nothing was dropped since that count. mu must be held.
func (c *AccessCache) stands(drops uint64) bool {
	return c.drops == drops || mutants.On(mutants.StaleLoad)
}

// Session returns who a session belongs to, or ErrSignedOut if nobody any more.
func (c *AccessCache) Session(ctx context.Context, s Session) (Viewer, error) {
	c.mu.Lock()
	found, ok := c.sessions.Get(s)
	c.mu.Unlock()
	if !ok {
		drops := c.begin()
		loaded, err := c.store.session(ctx, s)
		if err != nil {
			return Viewer{}, err
		}
		c.mu.Lock()
		c.loads++
		if c.stands(drops) {
			c.sessions.Add(s, loaded)
		}
		c.mu.Unlock()
		found = loaded
	}
	if !time.Now().Before(found.expiresAt) {
		return Viewer{}, ErrSignedOut
	}
	return Viewer{AccountID: found.accountID, Session: s}, nil
}

// Still returns ErrSignedOut if the viewer's session ended. A viewer without a
// session is not checked.
func (c *AccessCache) Still(ctx context.Context, v Viewer) error {
	if v.Session == (Session{}) {
		return nil
	}
	now, err := c.Session(ctx, v.Session)
	if err != nil {
		return err
	}
	if now.AccountID != v.AccountID {
		return ErrSignedOut
	}
	return nil
}

var anonymousSets = &Sets{}

// Sets returns what decides for an account; 0 is anonymous.
func (c *AccessCache) Sets(ctx context.Context, accountID int64) (*Sets, error) {
	if accountID == 0 {
		return anonymousSets, nil
	}
	c.mu.Lock()
	found, ok := c.sets.Get(accountID)
	c.mu.Unlock()
	if ok {
		return found, nil
	}
	drops := c.begin()
	loaded, err := c.store.loadSets(ctx, accountID)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.loads++
	if c.stands(drops) {
		c.sets.Add(accountID, loaded)
	}
	c.mu.Unlock()
	return loaded, nil
}

// Gates returns the timelines of these ids with their levels: no statement when
// all are cached, else one.
func (c *AccessCache) Gates(ctx context.Context, ids []int64) (Gates, error) {
	g := Gates{timelines: make(map[int64]Timeline, len(ids)), levels: make(map[int64]Level, len(ids))}
	var missing []int64
	c.mu.Lock()
	drops := c.drops
	for _, id := range ids {
		if _, ok := g.timelines[id]; ok {
			continue
		}
		t, ok := c.timelines.Get(id)
		if ok && t.GateID != 0 {
			level, known := c.levels.Get(t.GateID)
			if ok = known; ok {
				g.levels[t.GateID] = level
			}
		}
		if !ok {
			missing = append(missing, id)
			continue
		}
		g.timelines[id] = t
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return g, nil
	}
	loaded, err := c.store.loadGates(ctx, missing)
	if err != nil {
		return Gates{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads++
	for _, l := range loaded {
		g.timelines[l.ID] = l.Timeline
		c.timelines.Add(l.ID, l.Timeline)
		if l.GateID != 0 {
			g.levels[l.GateID] = l.Access
			if c.stands(drops) {
				c.levels.Add(l.GateID, l.Access)
			}
		}
	}
	return g, nil
}

// Accounts returns the accounts of these ids: no statement when all are cached,
// else one. Account.Access is not kept current here; ask Gates.
func (c *AccessCache) Accounts(ctx context.Context, ids []int64) (map[int64]Account, error) {
	found := make(map[int64]Account, len(ids))
	var missing []int64
	c.mu.Lock()
	drops := c.drops
	for _, id := range ids {
		if a, ok := c.accounts.Get(id); ok {
			found[id] = a
		} else if id != 0 {
			missing = append(missing, id)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	loaded, err := c.store.AccountsByID(ctx, missing)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads++
	for _, a := range loaded {
		found[a.ID] = a
		if c.stands(drops) {
			c.accounts.Add(a.ID, a)
		}
		c.names.Add(a.Name, a.ID)
	}
	return found, nil
}

// MemberCount returns how many members a group has: no statement while nobody
// joined or left it since it was counted.
func (c *AccessCache) MemberCount(ctx context.Context, group int64) (int, error) {
	c.mu.Lock()
	n, ok := c.members.Get(group)
	drops := c.drops
	c.mu.Unlock()
	if ok {
		return n, nil
	}
	n, err := c.store.countMembers(ctx, group)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stands(drops) {
		c.members.Add(group, n)
	}
	return n, nil
}

// Asking returns how many requests wait for these accounts, people and groups, all
// together: no statement while nobody asks any of them or is answered, else one.
func (c *AccessCache) Asking(ctx context.Context, accounts []int64) (total int, err error) {
	var missing []int64
	c.mu.Lock()
	for _, id := range accounts {
		n, ok := c.asking.Get(id)
		if !ok {
			missing = append(missing, id)
		}
		total += n
	}
	drops := c.drops
	c.mu.Unlock()
	if len(missing) == 0 {
		return total, nil
	}
	counts, err := c.store.countRequests(ctx, missing)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range missing {
		if c.stands(drops) {
			c.asking.Add(id, counts[id])
		}
		total += counts[id]
	}
	return total, nil
}

// Subfeeds returns the sub-feeds of these accounts, by account, the private one
// first, then by title: no statement when all are cached, else one. Whether
// somebody may know of them is for Gates to say. The lists are shared and must
// not be changed.
func (c *AccessCache) Subfeeds(ctx context.Context, accounts []int64) (map[int64][]Subfeed, error) {
	found := make(map[int64][]Subfeed, len(accounts))
	var missing []int64
	c.mu.Lock()
	drops := c.drops
	for _, id := range accounts {
		if list, ok := c.subfeeds.Get(id); ok {
			found[id] = list
		} else if id != 0 {
			missing = append(missing, id)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	loaded, err := c.store.subfeedsOf(ctx, missing)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads++
	for _, id := range missing {
		found[id] = loaded[id]
		if c.stands(drops) {
			c.subfeeds.Add(id, loaded[id])
		}
	}
	return found, nil
}

// AccountNamed returns the account of that name with its present level, or
// ErrNotFound.
func (c *AccessCache) AccountNamed(ctx context.Context, name string) (Account, error) {
	c.mu.Lock()
	id, ok := c.names.Get(name)
	c.mu.Unlock()
	if !ok {
		a, err := c.store.AccountByName(ctx, name)
		if err != nil {
			return Account{}, err
		}
		c.mu.Lock()
		c.names.Add(name, a.ID)
		c.mu.Unlock()
		id = a.ID
	}
	accounts, err := c.Accounts(ctx, []int64{id})
	if err != nil {
		return Account{}, err
	}
	a, ok := accounts[id]
	if !ok {
		return Account{}, ErrNotFound
	}
	gates, err := c.Gates(ctx, []int64{a.FeedID})
	if err != nil {
		return Account{}, err
	}
	a.Access = gates.Level(a.FeedID)
	return a, nil
}
