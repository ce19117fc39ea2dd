package reads

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"
)

const (
	// maxReaders is how many people's marks a node remembers: as many as it remembers access sets
	// of, for the people of open pages.
	maxReaders = 10_000
	// flushEvery is how long marks wait to be written.
	flushEvery = 5 * time.Second
	// reloadAfter is how old what a node remembers may be until it is read again.
	reloadAfter = 5 * time.Minute
	// reloadAtOnce is how many people's marks one statement reads again.
	reloadAtOnce = 20
)

// Cache has the marks of the people who read on this node. It is safe for concurrent use. No
// lock is held across a statement.
type Cache struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	// tell passes on what was written to the other nodes.
	tell    func([]Mark)
	loading singleflight.Group
	now     func() time.Time

	// mu guards what follows, and the maps of the readers.
	mu      sync.Mutex
	readers *simplelru.LRU[int64, *reader]
	pending map[key]int64 // not written yet

	quit context.CancelFunc
	done chan struct{}
}

type key struct{ account, post int64 }

// reader is what a node remembers of one person.
type reader struct {
	seen     map[int64]int64 // by post
	version  uint64          // of seen; see versionOf
	loadedAt time.Time
	used     bool // since it was loaded
}

// versionOf returns a number that is another one when one of the marks of posts has grown, and is
// the same when the same marks are read again after they were forgotten. It is not 0.
func versionOf(seen map[int64]int64) uint64 {
	version := uint64(1)
	for post, at := range seen {
		if post != Home { // no open page shows that
			version += uint64(at)
		}
	}
	return version
}

// New returns a cache over the primary store. tell is called with marks that were written; it
// must not block. Marks are kept in memory until Start.
func New(pool *pgxpool.Pool, log *slog.Logger, tell func([]Mark)) *Cache {
	readers, err := simplelru.NewLRU[int64, *reader](maxReaders, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &Cache{pool: pool, log: log, tell: tell, now: time.Now, readers: readers, pending: map[key]int64{}}
}

// Marks are those of one person. The zero Marks are nobody's: no post was opened.
type Marks struct {
	cache  *Cache
	reader *reader
}

// Of returns the account's marks. If they cannot be read, they are empty: a page without
// numbers is better than none.
func (c *Cache) Of(ctx context.Context, account int64) Marks {
	if c == nil || account == 0 {
		return Marks{}
	}
	if m, ok := c.kept(account); ok {
		return m
	}
	_, err, _ := c.loading.Do(strconv.FormatInt(account, 10), func() (any, error) { return nil, c.load(ctx, []int64{account}) })
	if err != nil {
		c.log.WarnContext(ctx, "read marks are unknown", "account", account, "error", err)
		return Marks{}
	}
	m, _ := c.kept(account)
	return m
}

func (c *Cache) kept(account int64) (Marks, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.readers.Get(account)
	if !ok {
		return Marks{}, false
	}
	r.used = true
	return Marks{c, r}, true
}

// load reads the marks of these accounts and remembers them, together with those that are not
// written yet.
func (c *Cache) load(ctx context.Context, accounts []int64) error {
	began := c.now()
	found, err := load(ctx, c.pool, accounts)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for account, seen := range found {
		for k, at := range c.pending {
			if k.account == account {
				seen[k.post] = max(seen[k.post], at)
			}
		}
		r, again := c.readers.Peek(account)
		if !again {
			c.readers.Add(account, &reader{seen: seen, version: versionOf(seen), loadedAt: began})
			continue
		}
		// Pages under way go on with the same reader. Marks that came while the statement was
		// under way stay.
		for post, at := range r.seen {
			if seen[post] != 0 || len(seen) < maxMarks {
				seen[post] = max(seen[post], at)
			}
		}
		r.seen, r.version, r.loadedAt, r.used = seen, versionOf(seen), began, false
	}
	return nil
}

// Seen returns up to when the person was shown the post's comments, in microseconds, or the
// home page; ok is false if it was not opened, as far as the node knows.
func (m Marks) Seen(post int64) (at int64, ok bool) {
	if m.reader == nil {
		return 0, false
	}
	m.cache.mu.Lock()
	defer m.cache.mu.Unlock()
	at, ok = m.reader.seen[post]
	return at, ok
}

// Version changes whenever one of the account's marks does. It is 0 while the node remembers
// none.
func (c *Cache) Version(account int64) uint64 {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.readers.Peek(account); ok {
		r.used = true // a page is open that shows them
		return r.version
	}
	return 0
}

// See notes that somebody was shown the comments of a post. It is written soon.
func (c *Cache) See(m Mark) {
	if c == nil || m.Account == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key{m.Account, m.Post}
	if r, ok := c.readers.Peek(m.Account); ok && r.seen[m.Post] >= m.Seen {
		return
	}
	c.pending[k] = max(c.pending[k], m.Seen)
	c.takeOne(m)
}

// Take takes marks that another node has written.
func (c *Cache) Take(marks []Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range marks {
		c.takeOne(m)
	}
}

// takeOne is Take of one mark, with mu held. A person of too many marks is read again.
func (c *Cache) takeOne(m Mark) {
	r, ok := c.readers.Peek(m.Account)
	if !ok || r.seen[m.Post] >= m.Seen {
		return
	}
	if m.Post != Home {
		r.version += uint64(m.Seen - r.seen[m.Post])
	}
	r.seen[m.Post] = m.Seen
	if len(r.seen) > 2*maxMarks {
		c.readers.Remove(m.Account)
	}
}

// Forget drops what was read: the ids may be those of other people and posts from now on. Marks that are
// not written yet stay, because mostly the ids are the same. If they are not, a mark is of a time
// before anything that the others wrote, and hides nothing from them.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readers.Purge()
}

// Stale has everything read again, after messages of other nodes were lost.
func (c *Cache) Stale() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.readers.Values() {
		r.loadedAt = time.Time{}
	}
}

// Start begins to write marks and to read again what is old.
func (c *Cache) Start(ctx context.Context) {
	ctx, c.quit = context.WithCancel(context.WithoutCancel(ctx))
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			within, cancel := context.WithTimeout(ctx, flushEvery)
			if err := c.turn(within); err != nil && ctx.Err() == nil {
				c.log.WarnContext(ctx, "read marks not kept", "error", err)
			}
			cancel()
		}
	}()
}

// turn writes what is pending and reads again what is old.
func (c *Cache) turn(ctx context.Context) error {
	if err := c.Flush(ctx); err != nil {
		return err
	}
	return c.reload(ctx)
}

// Stop ends what Start began, and writes the marks that wait.
func (c *Cache) Stop(ctx context.Context) error {
	if c.quit == nil {
		return nil
	}
	c.quit()
	<-c.done
	return c.Flush(ctx)
}

// Flush writes the marks that wait. If that fails they go on waiting.
func (c *Cache) Flush(ctx context.Context) error {
	c.mu.Lock()
	pending := c.pending
	c.pending = map[key]int64{}
	c.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	marks := sorted(pending)
	if err := write(ctx, c.pool, marks); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		for k, at := range pending {
			c.pending[k] = max(c.pending[k], at)
		}
		return err
	}
	c.tell(marks)
	return nil
}

// reload reads again the marks of some people that are old, and forgets those of people who
// did not come since.
func (c *Cache) reload(ctx context.Context) error {
	c.mu.Lock()
	var old []int64
	for _, account := range c.readers.Keys() {
		r, _ := c.readers.Peek(account)
		switch {
		case c.now().Sub(r.loadedAt) < reloadAfter:
		case !r.used:
			c.readers.Remove(account)
		case len(old) < reloadAtOnce:
			old = append(old, account)
		}
	}
	c.mu.Unlock()
	if len(old) == 0 {
		return nil
	}
	return c.load(ctx, old)
}
