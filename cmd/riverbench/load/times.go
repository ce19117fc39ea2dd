package load

import (
	"math"
	"slices"
	"time"
)

// Times are how long requests took, sorted.
type Times []time.Duration

// Quantile is the shortest of the times that a share q of the requests did not exceed; 0 if there were none.
func (t Times) Quantile(q float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	return t[max(0, int(math.Ceil(q*float64(len(t))))-1)]
}

// Milliseconds is the quantile as reports show it.
func (t Times) Milliseconds(q float64) float64 { return t.Quantile(q).Seconds() * 1000 }

// Sorted returns all of these times.
func Sorted(all ...[]time.Duration) Times {
	t := slices.Concat(all...)
	slices.Sort(t)
	return t
}
