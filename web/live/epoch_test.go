package live_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// movedRivers count visits, and those that were refused because of another epoch. They call before
// each, if it is set.
type movedRivers struct {
	live.Rivers
	before        func()
	moved, visits atomic.Int64
}

func (m *movedRivers) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	if m.before != nil {
		m.before()
	}
	page, err := m.Rivers.Visit(ctx, v, n, c)
	if errors.Is(err, rivers.ErrMoved) {
		m.moved.Add(1)
	}
	m.visits.Add(1)
	return page, err
}

// A page that was opened with the names of one epoch is opened again in the next one, in which its
// address may mean another page, and only once.
func TestAPageIsOpenedAgainInAnotherEpoch(t *testing.T) {
	for _, when := range []string{"before", "while"} {
		t.Run(when+" the restore", func(t *testing.T) {
			moved := &movedRivers{}
			s := webtest.New(t, func(c *live.Config) {
				moved.Rivers = c.Rivers
				c.Rivers, c.Beat = moved, make(chan time.Time)
			})
			ann, bob := s.Person("ann"), s.Person("bob")
			anns, bobs := ann.Post("a word of ann's"), bob.Post("a word of bob's")
			restore := func() { s.Restore(ann, bob) }
			if when == "while" {
				moved.before = sync.OnceFunc(restore)
			}
			g := s.Open(nil, "/ann")
			if when == "before" {
				restore()
				s.Tell(tiers.Message{All: true})
				g.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
			}
			if g.Shows(anns.Code) || !g.Shows(bobs.Code) {
				t.Errorf("the page shows %v, want %s alone", g.Shown, bobs.Code)
			}
			before := moved.visits.Load()
			s.Tell(tiers.Message{All: true})
			webtest.Await(t, "the page to be visited", func() bool { return moved.visits.Load() > before })
			if got := moved.moved.Load(); got != 1 {
				t.Errorf("the page is opened again %d times, want once", got)
			}
		})
	}
}
