package notices

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Label is a person's notice clock: the epoch of the secondary store, and the number.
type Label struct{ Epoch, N int64 }

// covers reports whether what was read at l is right for somebody who found the clock at m.
func (l Label) covers(m Label) bool { return l.Epoch == m.Epoch && l.N >= m.N }

// Event is something that was done to a post.
type Event struct {
	Kind    Kind
	Actor   int64
	Comment int64 // 0: it is about the post itself
	At      int64 // microseconds
	Unread  bool
}

// Post is a post with unread events, and what decides who may know of it.
type Post struct {
	ID, Author int64
	Decisive   []int64
	// Body is the beginning of the text, if it was asked for, and BodyCut says that there is
	// more of it.
	Body    string
	BodyCut bool
	Events  []Event // the unread ones, latest first
}

// Bounds of what is read and kept.
const (
	maxPeople = 10_000   // that a node remembers
	maxBytes  = 64 << 20 // that what it remembers of them takes, about
	maxUnread = 1000     // unread events of a person, the latest; pages show no number above 99
	maxPosts  = 300      // of one person's entries
)

// MaxEvents is how many events of each kind an entry has at most, the latest.
const MaxEvents = 50

// Cache is what a node remembers of people's notifications. Each is asked for with the label
// that a statement of the page returned, and is read anew if that is newer than what is
// remembered. It is safe for concurrent use. No lock is held across a statement.
//
// It also gathers what people have read, until it is written; see [Cache.MarkRead].
type Cache struct {
	pool *pgxpool.Pool

	// mu guards the fields below.
	mu   sync.Mutex
	kept *simplelru.LRU[int64, *about]
	// bytes is the sum of those of kept, at most most unless one person's are more.
	bytes, most int
	// read is up to when people have read what happened to posts, as far as it is not known
	// to be written.
	read map[Of]int64
}

// Of is one person's part in one post.
type Of struct{ Account, Post int64 }

// about is what is remembered of one person. The slices are never changed, only replaced.
type about struct {
	label  Label
	unread []Post
	known  bool // unread is set
	texts  bool // and has the texts
	events map[int64][]Event
	bytes  int // its size when it was last changed
}

// size is about how many bytes are remembered of the person.
func (k *about) size() int {
	const person, post, event = 300, 140, 40
	n := person
	for _, p := range k.unread {
		n += post + len(p.Body) + 8*len(p.Decisive) + event*cap(p.Events)
	}
	for _, events := range k.events {
		n += post + event*cap(events)
	}
	return n
}

// NewCache returns an empty cache over the primary store.
func NewCache(pool *pgxpool.Pool) *Cache {
	c := &Cache{pool: pool, most: maxBytes, read: map[Of]int64{}}
	var err error
	c.kept, err = simplelru.NewLRU(maxPeople, func(_ int64, k *about) { c.bytes -= k.bytes })
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return c
}

// weigh counts what is remembered of a person anew after a change, and forgets those who were not
// asked about for longest if that is too much. The person was asked about last. mu must be held.
func (c *Cache) weigh(k *about) {
	now := k.size()
	c.bytes += now - k.bytes
	k.bytes = now
	for c.bytes > c.most && c.kept.Len() > 1 {
		c.kept.RemoveOldest()
	}
}

// Ask asks about one person.
type Ask struct {
	Account int64
	Label   Label
	// Posts are the posts that Events is asked about; Unread ignores them.
	Posts []int64
	// BodyRunes is how much of the posts' texts is wanted, 0 for none; for Unread.
	BodyRunes int
}

// of returns what is remembered at that label, nil if nothing is. mu must be held.
func (c *Cache) of(a Ask) *about {
	if k, ok := c.kept.Get(a.Account); ok && k.label.covers(a.Label) {
		return k
	}
	return nil
}

// at returns what is remembered of a person, to be added to: nothing older than the label. It
// returns nil if something newer is there. mu must be held.
func (c *Cache) at(a Ask) *about {
	k, ok := c.kept.Get(a.Account)
	switch {
	case ok && k.label == a.Label:
		return k
	case ok && k.label.covers(a.Label):
		return nil
	}
	k = &about{label: a.Label, events: map[int64][]Event{}}
	c.kept.Remove(a.Account) // Add alone would not count the bytes
	c.kept.Add(a.Account, k)
	return k
}

// Unread returns the posts with unread events for each of these people, from the latest
// maxUnread events. It takes one statement for all people who are not remembered, and none
// if all are.
func (c *Cache) Unread(ctx context.Context, asks []Ask) (map[int64][]Post, error) {
	found := make(map[int64][]Post, len(asks))
	var missing []Ask
	asked := make(map[int64]struct{}, len(asks)) // somebody may have several pages open
	c.mu.Lock()
	for _, a := range asks {
		if _, again := asked[a.Account]; again {
			continue
		}
		asked[a.Account] = struct{}{}
		if k := c.of(a); k != nil && k.known && (k.texts || a.BodyRunes == 0) {
			found[a.Account] = k.unread
		} else {
			missing = append(missing, a)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	loaded, err := c.loadUnread(ctx, missing)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range missing {
		posts := c.stillUnread(a.Account, loaded[a.Account])
		found[a.Account] = posts
		if k := c.at(a); k != nil {
			k.unread, k.known, k.texts = posts, true, a.BodyRunes > 0
			c.weigh(k)
		}
	}
	return found, nil
}

// stillUnread leaves out what was read and is not written yet. mu must be held.
func (c *Cache) stillUnread(account int64, posts []Post) []Post {
	var left []Post
	for _, p := range posts {
		upto, ok := c.read[Of{account, p.ID}]
		if ok {
			events := p.Events
			p.Events = nil
			for _, e := range events {
				if e.At > upto {
					p.Events = append(p.Events, e)
				}
			}
		}
		if len(p.Events) > 0 {
			left = append(left, p)
		}
	}
	return left
}

func (c *Cache) loadUnread(ctx context.Context, asks []Ask) (map[int64][]Post, error) {
	const query = `
		SELECT a.id, n.post_id, p.author_id, p.decisive,
			CASE WHEN a.runes > 0 THEN left(p.body, a.runes) ELSE '' END, a.runes > 0 AND length(p.body) > a.runes,
			n.kinds, n.actors, n.comments, n.ats
		FROM unnest(@accounts::bigint[], @runes::integer[]) a(id, runes)
		CROSS JOIN LATERAL (
			SELECT l.post_id, array_agg(l.kind ORDER BY l.n) AS kinds, array_agg(l.actor_id ORDER BY l.n) AS actors,
				array_agg(l.comment_id ORDER BY l.n) AS comments, array_agg(l.at ORDER BY l.n) AS ats, min(l.n) AS first
			FROM (
				SELECT n.*, row_number() OVER (ORDER BY n.at DESC, n.kind, n.actor_id, n.comment_id) AS n
				FROM (
					SELECT * FROM notifications n WHERE n.account_id = a.id AND NOT n.read
					ORDER BY n.at DESC LIMIT @most) n) l
			GROUP BY l.post_id) n
		JOIN posts p ON p.id = n.post_id
		ORDER BY a.id, n.first`
	accounts, runes := make([]int64, len(asks)), make([]int32, len(asks))
	for i, a := range asks {
		accounts[i], runes[i] = a.Account, int32(a.BodyRunes)
	}
	rows, err := c.pool.Query(ctx, query, pgx.StrictNamedArgs{"accounts": accounts, "runes": runes, "most": maxUnread})
	if err != nil {
		return nil, fmt.Errorf("load unread notifications: %w", err)
	}
	found := map[int64][]Post{}
	var account int64
	var p Post
	var kinds []Kind
	var actors, comments, ats []int64
	_, err = pgx.ForEachRow(rows, []any{&account, &p.ID, &p.Author, &p.Decisive, &p.Body, &p.BodyCut, &kinds, &actors, &comments, &ats}, func() error {
		p.Events = make([]Event, len(kinds))
		for i, kind := range kinds {
			p.Events[i] = Event{kind, actors[i], comments[i], ats[i], true}
		}
		found[account] = append(found[account], p)
		p.Decisive = nil // the next row has its own
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load unread notifications: %w", err)
	}
	return found, nil
}

// Events returns what happened to these posts, for each of these people, the latest first: of
// each kind at most MaxEvents. It takes one statement for all that are not remembered, and
// reports whether there was one.
func (c *Cache) Events(ctx context.Context, asks []Ask) (found map[Of][]Event, read bool, err error) {
	found = map[Of][]Event{}
	var accounts, posts []int64
	asked := map[Of]struct{}{}
	c.mu.Lock()
	for _, a := range asks {
		k := c.of(a)
		for _, post := range a.Posts {
			if _, again := asked[Of{a.Account, post}]; again {
				continue
			}
			asked[Of{a.Account, post}] = struct{}{}
			var events []Event
			ok := false
			if k != nil {
				events, ok = k.events[post]
			}
			if ok {
				found[Of{a.Account, post}] = events
			} else {
				accounts, posts = append(accounts, a.Account), append(posts, post)
			}
		}
	}
	c.mu.Unlock()
	if len(posts) == 0 {
		return found, false, nil
	}
	loaded, err := c.loadEvents(ctx, accounts, posts)
	if err != nil {
		return nil, false, err
	}
	byAccount := make(map[int64]Ask, len(asks))
	for _, a := range asks {
		byAccount[a.Account] = a
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, post := range posts {
		of := Of{accounts[i], post}
		events := loaded[of]
		if upto, ok := c.read[of]; ok {
			for j := range events {
				events[j].Unread = events[j].Unread && events[j].At > upto
			}
		}
		found[of] = events
		if k := c.at(byAccount[of.Account]); k != nil {
			if len(k.events) >= maxPosts {
				clear(k.events)
			}
			k.events[post] = events
			c.weigh(k)
		}
	}
	return found, true, nil
}

func (c *Cache) loadEvents(ctx context.Context, accounts, posts []int64) (map[Of][]Event, error) {
	const query = `
		SELECT a.id, a.post_id, n.kind, n.actor_id, n.comment_id, n.at, NOT n.read
		FROM unnest(@accounts::bigint[], @posts::bigint[]) a(id, post_id)
		CROSS JOIN unnest(@kinds::smallint[]) k(kind)
		CROSS JOIN LATERAL (
			SELECT * FROM notifications n
			WHERE n.account_id = a.id AND n.post_id = a.post_id AND n.kind = k.kind
			ORDER BY n.at DESC LIMIT @most) n
		ORDER BY a.id, a.post_id, n.at DESC, n.kind, n.actor_id, n.comment_id`
	rows, err := c.pool.Query(ctx, query, pgx.StrictNamedArgs{"accounts": accounts, "posts": posts, "kinds": Kinds, "most": MaxEvents})
	if err != nil {
		return nil, fmt.Errorf("load notifications: %w", err)
	}
	found := map[Of][]Event{}
	var of Of
	var e Event
	_, err = pgx.ForEachRow(rows, []any{&of.Account, &of.Post, &e.Kind, &e.Actor, &e.Comment, &e.At, &e.Unread}, func() error {
		found[of] = append(found[of], e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load notifications: %w", err)
	}
	return found, nil
}

// MarkRead notes that a person has read what happened to these posts, as far as this node
// remembers it. From here on this node counts it as read. [Cache.Pending] has it written, so
// that the view of a page writes nothing.
func (c *Cache) MarkRead(account int64, posts []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.kept.Get(account)
	if !ok || !k.known {
		return
	}
	wanted := make(map[int64]struct{}, len(posts))
	for _, post := range posts {
		wanted[post] = struct{}{}
	}
	var left []Post
	for _, p := range k.unread {
		if _, read := wanted[p.ID]; !read {
			left = append(left, p)
			continue
		}
		of := Of{account, p.ID}
		c.read[of] = max(c.read[of], p.Events[0].At)
		delete(k.events, p.ID)
	}
	k.unread = left
	c.weigh(k)
}

// Pending returns what was read and is not written yet, up to when in microseconds.
func (c *Cache) Pending() map[Of]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.read) == 0 {
		return nil
	}
	pending := make(map[Of]int64, len(c.read))
	for of, upto := range c.read {
		pending[of] = upto
	}
	return pending
}

// Forget drops what was read: the ids may be those of other people and posts from now on. Marks that are
// not written yet stay, because mostly the ids are the same. If they are not, a mark is of a time
// before anything that happened to the others, and hides nothing from them.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Purge()
}

// Written takes what Pending returned off what is still to be written.
func (c *Cache) Written(pending map[Of]int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for of, upto := range pending {
		if c.read[of] == upto {
			delete(c.read, of)
		}
	}
}
