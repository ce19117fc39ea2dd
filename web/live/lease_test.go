package live_test

import (
	"sync"
	"testing"
	"time"

	"riverrun/web/live"
	"riverrun/web/webtest"
)

// Step 9: a page is read for a socket only after its river's lease is committed. Otherwise Tier 1
// could pass the river over between the two.
func TestLeasedBeforeTheVisit(t *testing.T) {
	paused := &pausedRivers{}
	s := webtest.New(t, func(c *live.Config) {
		paused.Rivers = c.Rivers
		c.Rivers, c.Beat = paused, make(chan time.Time)
	})
	s.Person("ann").Post("something")
	g := s.Open(nil, "/everything")
	_ = g.Conn.CloseNow()
	leases := func() (n int) {
		const query = `SELECT count(*) FROM leases WHERE river_id = $1`
		if err := s.DB.Secondary.QueryRow(t.Context(), query, parseID(t, g.River)).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	webtest.Await(t, "the lease to be given up", func() bool { return leases() == 0 })
	visited := make(chan int, 1)
	paused.before = sync.OnceFunc(func() { visited <- leases() })
	g.Follow(s, nil)
	if n := <-visited; n != 1 {
		t.Errorf("at the visit the river has %d leases, want 1", n)
	}
}
