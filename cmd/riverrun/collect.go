package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
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
