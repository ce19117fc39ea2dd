package web

import (
	"cmp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// Limits bound how fast one address, name or account may act. The zero Limits
// are the defaults.
type Limits struct {
	// Writes is how many changes an account may make at once, and per minute from
	// then on; 0: 60, below zero: no limit. It may upload four times as many files.
	Writes int
	// SignIns is how many sign-ins from one address may fail at once, and per ten
	// minutes from then on; 0: 100, below zero: no limit of sign-ins at all. At most
	// ten of them may use the same name. A club or a conference shares one address.
	SignIns int
	// SignUps is how many accounts one address may make at once, and per hour from
	// then on, and as many drafts without signing in; 0: 60, below zero: no limit. A club or a conference shares one address.
	SignUps int
	// Searches is how many times one account, or one address of anonymous visitors, may
	// search at once, and per minute from then on; 0: 60, below zero: no limit. Its open pages
	// may follow as many.
	Searches int
	// Pushes is how many requests the program of one source may make at once, and per minute from
	// then on; 0: 600, below zero: no limit, neither of requests nor of bytes. A source may push
	// 2 GiB at once, and per hour from then on.
	Pushes int
}

type limits struct {
	writes, uploads, drafts, visitorSaves, visitorDrafts, signUp, search, liveSearch, names *limiter
	// The limits of sign-ins: tries of one address, tries of one address with one name, and
	// the failures that put a name under attack (signin.go).
	signInAddress, signInPair *limiter
	signInName                *tally
	underWay                  *underWay // sign-ins, per address
	arriving                  *underWay // files, per account
	// The limits of pushes, per source: requests, kilobytes, and batches in memory; "" counts those
	// of all sources.
	pushes, pushBytes *limiter
	pushing           *underWay
}

func newLimits(l Limits) *limits {
	signIns := cmp.Or(l.SignIns, 100)
	pushBytes := 2 << 20
	if l.Pushes < 0 {
		pushBytes = -1
	}
	return &limits{
		writes:        newLimiter(cmp.Or(l.Writes, 60), time.Minute),
		uploads:       newLimiter(4*cmp.Or(l.Writes, 60), time.Minute),
		drafts:        newLimiter(3*cmp.Or(l.Writes, 60), time.Minute), // one a second, in three tabs
		visitorSaves:  newLimiter(3*cmp.Or(l.Writes, 60), time.Minute), // of one address
		visitorDrafts: newLimiter(cmp.Or(l.SignUps, 60), time.Hour),    // new ones: they take from the room of all
		signInAddress: newLimiter(signIns, 10*time.Minute),
		signInPair:    newLimiter(min(signIns, 10), 10*time.Minute),
		signInName:    newTally(10 * time.Minute),
		underWay:      &underWay{keys: map[string]int{}},
		arriving:      &underWay{keys: map[string]int{}},
		signUp:        newLimiter(cmp.Or(l.SignUps, 60), time.Hour),
		search:        newLimiter(cmp.Or(l.Searches, 60), time.Minute),
		liveSearch:    newLimiter(cmp.Or(l.Searches, 60), time.Minute),
		pushes:        newLimiter(cmp.Or(l.Pushes, 600), time.Minute),
		pushBytes:     newLimiter(pushBytes, time.Hour),
		pushing:       &underWay{keys: map[string]int{}},
		names:         newLimiter(5*cmp.Or(l.Searches, 60), time.Minute), // one for each letter or two that somebody types
	}
}

// limiter allows each key n acts at once and n more per period. It remembers a
// bounded number of keys; one that is pushed out starts afresh, which only many
// thousands of keys at once can bring about. It is safe for concurrent use.
type limiter struct {
	n   int // below zero: everything is allowed
	per time.Duration

	mu   sync.Mutex // guards keys
	keys *simplelru.LRU[string, *rate.Limiter]
}

const (
	maxLimited = 20_000
	// maxLimitedKey is how many bytes of a key are remembered: more than any name with an
	// address has. Keys that differ only after that count together.
	maxLimitedKey = 128
)

func newLimiter(n int, per time.Duration) *limiter {
	keys, err := simplelru.NewLRU[string, *rate.Limiter](maxLimited, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &limiter{n: n, per: per, keys: keys}
}

// limitedError is an errLimited that knows when to try again.
type limitedError struct{ after time.Duration }

func (e *limitedError) Error() string { return errLimited.Error() + ": again in " + e.after.String() }

func (e *limitedError) Unwrap() error { return errLimited }

// allow counts one act of the key; a *limitedError if it is one too many.
func (l *limiter) allow(key string) error { return l.take(key, 1) }

// forget takes back one act that was allowed.
func (l *limiter) forget(key string) { _ = l.take(key, -1) } // fewer are never too many

// take counts n acts of the key; a *limitedError if it has fewer left.
func (l *limiter) take(key string, n int) error {
	if l.n < 0 {
		return nil
	}
	key = key[:min(len(key), maxLimitedKey)]
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.keys.Get(key)
	if !ok {
		found = rate.NewLimiter(rate.Every(l.per/time.Duration(l.n)), l.n)
		// A key may be part of a whole form, which would stay in memory with it.
		l.keys.Add(strings.Clone(key), found)
	}
	now := time.Now()
	if found.AllowN(now, n) {
		return nil
	}
	missing := float64(n) - found.TokensAt(now)
	return &limitedError{time.Duration(missing * float64(l.per) / float64(l.n))}
}

// tally counts events of each key within a time that begins with the first of them. Like
// limiter it remembers a bounded number of keys. It is safe for concurrent use.
type tally struct {
	per time.Duration

	mu   sync.Mutex // guards keys
	keys *simplelru.LRU[string, *counted]
}

type counted struct {
	n     int
	since time.Time
}

func newTally(per time.Duration) *tally {
	keys, err := simplelru.NewLRU[string, *counted](maxLimited, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &tally{per: per, keys: keys}
}

// add adds n, which may be 0, and returns how many there are.
func (t *tally) add(key string, n int, now time.Time) int {
	key = key[:min(len(key), maxLimitedKey)]
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.keys.Get(key)
	if ok && now.Sub(found.since) > t.per {
		ok = false
	}
	if !ok {
		if n == 0 {
			return 0
		}
		found = &counted{since: now}
		t.keys.Add(strings.Clone(key), found)
	}
	found.n += n
	return found.n
}

// underWay counts the tries under way for each key. It is safe for concurrent use.
type underWay struct {
	mu   sync.Mutex // guards keys
	keys map[string]int
}

// add adds n and returns how many there are.
func (u *underWay) add(key string, n int) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.keys[key] += n
	now := u.keys[key]
	if now == 0 {
		delete(u.keys, key)
	}
	return now
}

func accountKey(id int64) string { return strconv.FormatInt(id, 10) }
