package web

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
)

// farRivers are rivers whose pages below the first take long, or fail.
type farRivers struct {
	riverSource
	skew   atomic.Int64 // nanoseconds, of the hub's clock
	each   time.Duration
	fails  error
	visits atomic.Int64
}

func (r *farRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	r.visits.Add(1)
	if c.Top() {
		return r.riverSource.Visit(ctx, v, n, c)
	}
	r.skew.Add(int64(r.each))
	if r.fails != nil {
		return nil, r.fails
	}
	return r.riverSource.Visit(ctx, v, n, c)
}

// A long page is compared with as much of its river as there is time for: what is below
// neither keeps it from being told how it stands nor closes it, and who claims to show
// what there is not reads no more than the first page.
func TestLongPagesAreTold(t *testing.T) {
	for _, tc := range []struct {
		name    string
		page    string
		each    time.Duration
		fails   error
		claimed bool
		most    int64 // visits, two of them of the first page
	}{
		{name: "at once", page: "/everything", most: 6},
		{name: "slow", page: "/everything", each: 300 * time.Millisecond, most: 4},
		{name: "too broad below", page: "/search?q=common", fails: timelines.ErrBroad, most: 3},
		{name: "away", page: "/everything", fails: rivers.ErrUnavailable, most: 3},
		{name: "claimed", page: "/everything", claimed: true, most: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			far := &farRivers{each: tc.each, fails: tc.fails}
			s := newLiveSite(t, func(c *hubConfig) {
				far.riverSource = c.rivers
				c.rivers, c.hear, c.beat = far, deaf, make(chan time.Time)
				c.now = func() time.Time { return time.Now().Add(time.Duration(far.skew.Load())) }
			})
			ann, bob := s.person("ann"), s.person("bob")
			g := &page{t: t, address: tc.page, shown: map[string]frame{}, river: "0"}
			for i := range 4*rivers.PageSize + 1 {
				code := bob.post("a common post").Code
				if tc.claimed {
					code = fmt.Sprintf("%010d", i)
				}
				g.shown[code] = frame{Version: "1.1"}
			}
			s.followUp()
			g.follow(s, ann)
			if got := far.visits.Load(); got > tc.most {
				t.Errorf("%d visits, want %d at most", got, tc.most)
			}
		})
	}
}
