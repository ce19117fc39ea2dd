package jobs

import (
	"testing"

	"riverrun/timelines"
)

// G22: the periodic job makes block after block of listings expired, until none is left.
func TestListingsLapse(t *testing.T) {
	t.Parallel()
	left, blocks := 2*listingsAtOnce+1, 0
	c := &calls{listings: func(limit int) (timelines.Change, bool, error) {
		blocks++
		if limit != listingsAtOnce {
			t.Errorf("a block of %d, want %d", limit, listingsAtOnce)
		}
		left -= min(left, limit)
		return timelines.Change{}, left > 0, nil
	}}
	w := &lapseWorker{jobs: &Jobs{cfg: Config{Tiers: c, Timelines: c}}}
	if err := w.Work(t.Context(), nil); err != nil || left != 0 || blocks != 3 {
		t.Errorf("%d listings are left after %d blocks (%v)", left, blocks, err)
	}
}
