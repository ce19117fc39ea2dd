package live

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"riverrun/rivers"
)

// Sockets that come together for one page share visits, and none of them gets one that began before it
// asked.
func TestVisitsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newVisits()
		key := visitKey{name: rivers.Name{Kind: rivers.Everything}}
		begun := 0
		goOn := make(chan struct{})
		visit := func() (*stretch, error) {
			begun++ // two of one page never run at the same time
			one := &stretch{page: &rivers.Page{River: int64(begun)}}
			<-goOn
			return one, nil
		}
		var all sync.WaitGroup
		ask := func(ctx context.Context, want int64) {
			all.Go(func() {
				got, err := q.do(ctx, key, visit)
				switch {
				case want == 0:
					if !errors.Is(err, context.Canceled) {
						t.Errorf("a socket that ended: %v, want %v", err, context.Canceled)
					}
				case err != nil || got.page.River != want:
					t.Errorf("got %+v, %v; want visit %d", got, err, want)
				}
			})
			synctest.Wait()
		}
		ask(t.Context(), 1)
		ended, end := context.WithCancel(t.Context())
		ask(ended, 0) // it would make the second, and ends before
		for range 100 {
			ask(t.Context(), 2)
		}
		end()
		synctest.Wait()
		goOn <- struct{}{}
		synctest.Wait()
		ask(t.Context(), 3)
		goOn <- struct{}{}
		goOn <- struct{}{}
		all.Wait()
		if begun != 3 {
			t.Errorf("%d visits for 103 sockets, want 3", begun)
		}
		if len(q.await)+len(q.underWay)+len(q.slots) > 0 {
			t.Errorf("%d visits wait, %d are under way and %d slots are taken, want none", len(q.await), len(q.underWay), len(q.slots))
		}
	})
}

// However many pages are asked for at once, only some are visited at a time.
func TestVisitsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newVisits()
		goOn := make(chan struct{})
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				_, err := q.do(t.Context(), visitKey{epoch: int64(i)}, func() (*stretch, error) {
					<-goOn
					return nil, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if got := len(q.underWay); got != cap(q.slots) || got >= 1000 {
			t.Errorf("%d visits at once, want %d", got, cap(q.slots))
		}
		close(goOn)
		all.Wait()
	})
}
