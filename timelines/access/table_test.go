package access

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// desk is a table whose loads wait until they are let go. A load finds what stands there when it begins.
type desk struct {
	table[int, string]
	now   atomic.Value // what stands under all keys
	loads [][]int      // the keys of each; guarded by mu
	mu    sync.Mutex
	let   chan struct{} // closed: no load waits any more
}

func newDesk() *desk {
	d := &desk{let: make(chan struct{})}
	d.now.Store("old")
	d.table = newTable(&Cache{}, 1000, counted, func(ctx context.Context, missing []int) (map[int]string, error) {
		d.mu.Lock()
		d.loads = append(d.loads, missing)
		d.mu.Unlock()
		found := make(map[int]string, len(missing))
		for _, key := range missing {
			found[key] = fmt.Sprint(key, " ", d.now.Load())
		}
		select {
		case <-d.let:
			return found, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return d
}

// busy has as many loads under way as may be, of keys from 1001 on.
func (d *desk) busy(ctx context.Context, asking *sync.WaitGroup) {
	for i := range maxLoads {
		asking.Go(func() { _, _, _ = d.one(ctx, 1001+i) })
		synctest.Wait()
	}
}

// wants asks for a key and fails if something else is found under it.
func (d *desk) wants(t *testing.T, ctx context.Context, key int, want string) {
	t.Helper()
	if got, ok, err := d.one(ctx, key); err != nil || !ok || got != want {
		t.Errorf("found %q, %v, %v, want %q", got, ok, err, want)
	}
}

func TestManyShareALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		var asking sync.WaitGroup
		d.busy(t.Context(), &asking)
		const more = 2*maxKeys + maxKeys/2
		for i := range more {
			asking.Go(func() { d.wants(t, t.Context(), 1+i, fmt.Sprint(1+i, " old")) })
			asking.Go(func() { d.wants(t, t.Context(), 1+i, fmt.Sprint(1+i, " old")) })
			synctest.Wait()
		}
		close(d.let)
		asking.Wait()
		if got, want := len(d.loads), maxLoads+3; got != want {
			t.Errorf("%d loads for %d callers, want %d", got, maxLoads+2*more, want)
		}
		for _, keys := range d.loads {
			if len(keys) > maxKeys {
				t.Errorf("a load of %d keys, want at most %d", len(keys), maxKeys)
			}
		}
	})
}

// A caller gets what was read after the call, as it may know of a change that a load under way
// does not (R4).
func TestALoadUnderWayIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		var asking sync.WaitGroup
		asking.Go(func() { d.wants(t, t.Context(), 1, "1 old") })
		synctest.Wait()
		d.now.Store("new")
		asking.Go(func() { d.wants(t, t.Context(), 1, "1 new") })
		synctest.Wait()
		close(d.let)
		asking.Wait()
	})
}

// If the one who was to load goes, another of those who wait loads.
func TestALoadThatIsGivenUp(t *testing.T) {
	gone := func(t *testing.T, d *desk, asking *sync.WaitGroup) context.CancelFunc {
		ctx, cancel := context.WithCancel(t.Context())
		asking.Go(func() {
			if _, _, err := d.one(ctx, 1); !errors.Is(err, context.Canceled) {
				t.Errorf("the one who went: %v, want %v", err, context.Canceled)
			}
		})
		synctest.Wait()
		return cancel
	}
	t.Run("before it begins", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk()
			var asking sync.WaitGroup
			d.busy(t.Context(), &asking)
			cancel := gone(t, d, &asking)
			asking.Go(func() { d.wants(t, t.Context(), 2, "2 old") })
			synctest.Wait()
			cancel()
			synctest.Wait()
			close(d.let)
			asking.Wait()
		})
	})
	t.Run("under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk()
			var asking sync.WaitGroup
			ctx, free := context.WithCancel(t.Context())
			d.busy(ctx, &asking)
			cancel := gone(t, d, &asking)
			asking.Go(func() { d.wants(t, t.Context(), 2, "2 old") })
			synctest.Wait()
			free() // the load of both begins
			synctest.Wait()
			cancel()
			synctest.Wait()
			close(d.let)
			asking.Wait()
		})
	})
	t.Run("by a panic", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk()
			var asking sync.WaitGroup
			d.busy(t.Context(), &asking)
			load := d.load
			d.load = func(ctx context.Context, missing []int) (map[int]string, error) {
				d.load = load
				panic("the load")
			}
			asking.Go(func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic is kept from the one who loads")
					}
				}()
				_, _, _ = d.one(t.Context(), 1)
			})
			synctest.Wait()
			asking.Go(func() { d.wants(t, t.Context(), 2, "2 old") })
			synctest.Wait()
			close(d.let)
			asking.Wait()
		})
	})
}
