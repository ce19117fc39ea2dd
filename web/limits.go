package web

import (
	"net"
	"net/http"
	"net/netip"
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
	// then on; 0: 60, below zero: no limit.
	Writes int
	// SignIns is how many times a password may be tried at once for one name or
	// from one address, and per minute from then on; 0: 10, below zero: no limit.
	SignIns int
	// SignUps is how many accounts one address may make at once, and per hour from
	// then on; 0: 60, below zero: no limit. A club or a conference shares one address.
	SignUps int
	// Searches is how many times one account, or one address without one, may search
	// at once, and per minute from then on; 0: 60, below zero: no limit. As many may
	// its open pages follow.
	Searches int
}

type limits struct {
	writes, signInName, signInAddress, signUp, search, liveSearch *limiter
}

func newLimits(l Limits) *limits {
	or := func(n, otherwise int) int {
		if n == 0 {
			return otherwise
		}
		return n
	}
	return &limits{
		writes:        newLimiter(or(l.Writes, 60), time.Minute),
		signInName:    newLimiter(or(l.SignIns, 10), time.Minute),
		signInAddress: newLimiter(or(l.SignIns, 10), time.Minute),
		signUp:        newLimiter(or(l.SignUps, 60), time.Hour),
		search:        newLimiter(or(l.Searches, 60), time.Minute),
		liveSearch:    newLimiter(or(l.Searches, 60), time.Minute),
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
	// maxLimitedKey is how much of a key is remembered, in bytes: more than any
	// name has. What begins the same beyond that is counted together.
	maxLimitedKey = 64
)

func newLimiter(n int, per time.Duration) *limiter {
	keys, err := simplelru.NewLRU[string, *rate.Limiter](maxLimited, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &limiter{n: n, per: per, keys: keys}
}

// allow counts one act of the key; errLimited if it is one too many.
func (l *limiter) allow(key string) error {
	if l.n < 0 {
		return nil
	}
	key = key[:min(len(key), maxLimitedKey)]
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.keys.Get(key)
	if !ok {
		found = rate.NewLimiter(rate.Every(l.per/time.Duration(l.n)), l.n)
		// A key may be part of a whole form, which would be kept with it.
		l.keys.Add(strings.Clone(key), found)
	}
	if !found.Allow() {
		return errLimited
	}
	return nil
}

func accountKey(id int64) string { return strconv.FormatInt(id, 10) }

// addressKey is what stands for a request's origin among limits: the client's
// IPv4 address or IPv6 /64. Behind a proxy on this machine it is the address
// that proxy saw, which it appended to X-Forwarded-For; from anywhere else the
// header is a claim and not believed.
func addressKey(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	peer, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if peer.IsLoopback() {
		if forwarded := r.Header.Values("X-Forwarded-For"); len(forwarded) > 0 {
			hops := strings.Split(forwarded[len(forwarded)-1], ",")
			if seen, err := netip.ParseAddr(strings.TrimSpace(hops[len(hops)-1])); err == nil {
				peer = seen
			}
		}
	}
	peer = peer.Unmap()
	if peer.Is4() {
		return peer.String()
	}
	network, err := peer.WithZone("").Prefix(64)
	if err != nil {
		return peer.String()
	}
	return network.String()
}
