package main

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// spare is how much a server may allocate, in bytes, before Go collects garbage. By itself Go collects
// when the heap has doubled. A small site holds some twenty megabytes, and would spend a fifth of its
// processor time on collecting them dozens of times a second. A large site doubles by more than this,
// and nothing changes for it.
const spare = 64 << 20

// collectLess lets the heap grow by spare, or to its double if that is more, from one collection to the
// next. The setting GOGC, if it is there, is left alone.
var collectLess = sync.OnceFunc(func() {
	if os.Getenv("GOGC") != "" {
		return
	}
	at := 0
	collected(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		percent := percentOf(live[0].Value.Uint64())
		// Each setting stops the world for a moment.
		if at == 0 || math.Abs(float64(percent-at)) > float64(at)/8 {
			debug.SetGCPercent(percent)
			at = percent
		}
	})
})

// percentOf is the percentage of a live heap by which it may grow.
func percentOf(live uint64) int {
	return int(max(100, min(spare*100/max(live, 1), 1600)))
}

// collected calls do once after each collection, as long as the process runs.
func collected(do func()) {
	// An object that nothing refers to is found by the next collection, which runs its finalizer.
	type sentinel struct{ _ [16]byte }
	var again func(*sentinel)
	again = func(*sentinel) {
		do()
		runtime.SetFinalizer(&sentinel{}, again)
	}
	again(nil)
}

const (
	// quietEvery is how often the server looks whether it is quiet.
	quietEvery = 10 * time.Second
	// quietAllocs is how many bytes a quiet server allocates in that time, or a quarter of what it has in use. Open pages
	// that nothing happens to allocate some.
	quietAllocs = 16 << 20
	// worthwhile is how much memory is given back at least, or half of what is in use: that takes a collection.
	worthwhile = 32 << 20
)

// heap is what the process has of its heap, in bytes.
type heap struct {
	allocated uint64 // since the process began
	live      uint64 // at the last collection
	spare     uint64 // garbage, and whole pages that are kept for the next requests
}

func readHeap() heap {
	m := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(m)
	live, objects := m[1].Value.Uint64(), m[2].Value.Uint64()
	// Holes between objects in use count for nothing: they cannot be returned.
	return heap{m[0].Value.Uint64(), live, max(objects, live) - live + m[3].Value.Uint64()}
}

// shouldGive reports whether the server was quiet since an earlier look, and has memory that is worth giving back.
func (h heap) shouldGive(earlier heap) bool {
	return h.allocated-earlier.allocated < max(quietAllocs, h.live/4) && h.spare > max(worthwhile, h.live/2)
}

// giveBack returns memory to the operating system while the server is quiet, until stop is called. By itself Go keeps as much
// as the heap may grow by, and a small host pays for it all day and night.
func giveBack(every time.Duration) (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for earlier := readHeap(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now := readHeap()
			if now.shouldGive(earlier) {
				debug.FreeOSMemory()
				now = readHeap()
			}
			earlier = now
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
