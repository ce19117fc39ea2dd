package api

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// callLimits count the calls of each token.
type callLimits struct {
	perMinute int

	mu     sync.Mutex // guards tokens
	tokens *simplelru.LRU[int64, *rate.Limiter]
}

// maxCounted is how many tokens are counted; one that is pushed out starts afresh.
const maxCounted = 10_000

func newCallLimits(perMinute int) *callLimits {
	tokens, err := simplelru.NewLRU[int64, *rate.Limiter](maxCounted, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &callLimits{perMinute: perMinute, tokens: tokens}
}

// take counts a call, and returns how many more there may be, or how long to wait for this one.
func (l *callLimits) take(token int64) (left int, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of, ok := l.tokens.Get(token)
	if !ok {
		of = rate.NewLimiter(rate.Every(time.Minute/time.Duration(l.perMinute)), l.perMinute)
		l.tokens.Add(token, of)
	}
	now := time.Now()
	if !of.AllowN(now, 1) {
		return 0, time.Duration((1 - of.TokensAt(now)) * float64(time.Minute) / float64(l.perMinute))
	}
	return int(of.TokensAt(now)), 0
}
