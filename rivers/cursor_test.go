package rivers

import (
	"math"
	"testing"
)

// If a page ends among posts that its viewer may not read, its cursor names a coarse moment
// above them, as long as that moves on, and skips nothing.
func TestACursorNamesNoMomentOfOthers(t *testing.T) {
	const floor = 1_763_683_260_123_456
	for name, from := range map[string]Cursor{
		"from the top":            {},
		"from a day later":        {Place: floor + 86_400_000_000, PostID: 1},
		"from ten minutes later":  {Place: floor + 600_000_000, PostID: 1},
		"from a moment later":     {Place: floor + 1, PostID: 1},
		"from the very same one":  {Place: floor, PostID: 1},
		"from where it had begun": {Place: floor | 1<<30 - 1, PostID: math.MaxInt64},
	} {
		next := NextBelow(floor, from)
		switch near := !from.Top() && from.Place < floor|(1<<20-1)+1; {
		case !from.Top() && next.Place >= from.Place:
			t.Errorf("%s: %d does not come on", name, next.Place)
		case next.Place < floor-1:
			t.Errorf("%s: %d passes posts over", name, next.Place)
		case !near && next.Place&(1<<20-1) != 1<<20-1:
			t.Errorf("%s: %d names the moment %d", name, next.Place, int64(floor))
		}
	}
}
