package web

import (
	"sync"
	"testing"
	"time"

	"riverrun/rivers"
)

// Step 9: a page is read for a socket only once its river's lease is committed. Else
// Tier 1 would pass the river by between the two.
func TestLeasedBeforeTheVisit(t *testing.T) {
	paused := &pausedRivers{}
	s := newLiveSite(t, func(c *HubConfig) {
		paused.HubRivers = c.Rivers
		c.Rivers, c.Beat = paused, make(chan time.Time)
	})
	s.person("ann").post("something")
	g := s.open(nil, "/everything")
	_ = g.conn.CloseNow()
	leases := func() (n int) {
		const query = `SELECT count(*) FROM leases WHERE river_id = $1`
		if err := s.db.Secondary.QueryRow(t.Context(), query, parseID(t, g.river)).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	await(t, "the lease to be given up", func() bool { return leases() == 0 })
	visited := make(chan int, 1)
	paused.before = sync.OnceFunc(func() { visited <- leases() })
	g.follow(s, nil)
	if n := <-visited; n != 1 {
		t.Errorf("at the visit the river has %d leases, want 1", n)
	}
}

// Of what waits for a slow reader only the newest state of a post is kept.
func TestTheNewestUpdateWaits(t *testing.T) {
	s := &socket{wake: make(chan struct{}, 1)}
	for version := range int64(3) {
		s.offer([]*update{{post: 1, item: &rivers.Item{Stamp: rivers.Stamp{Entry: version}}}})
	}
	if got := s.take().pending[1].item.Stamp.Entry; got != 2 {
		t.Errorf("version %d waits, want 2", got)
	}
}
