package live_test

import (
	"runtime"
	"testing"
	"time"

	"riverrun/web/live"
	"riverrun/web/webtest"
)

// BenchmarkMemoryOfSockets is what the hub keeps of an open page while nothing happens: on the heap and
// as stacks. The clients are in this process too, and have one connection each and no goroutine.
func BenchmarkMemoryOfSockets(b *testing.B) {
	s := webtest.New(b, func(c *live.Config) { c.Beat, c.PerAddress = make(chan time.Time), 10_000 })
	ann := s.Person("ann")
	for range 25 {
		ann.Post("a post of some words")
	}
	s.FollowUp()
	open := func(n float64) {
		want := s.Figure("riverrun_frames_sent_total", "ok") + n
		for range int(n) {
			subscribeRaw(s, rawSocket(s), "/everything")
		}
		webtest.Await(b, "the sockets to be answered", func() bool { return s.Figure("riverrun_frames_sent_total", "ok") == want })
	}
	used := func() (heap, stacks uint64) {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, m.StackInuse
	}
	open(10) // what all sockets share
	heap, stacks := used()
	sockets := 1000.0
	if testing.Short() { // to see that it runs
		sockets = 50
	}
	for b.Loop() {
		open(sockets)
	}
	heapNow, stacksNow := used()
	n := sockets * float64(b.N)
	b.ReportMetric((float64(heapNow)-float64(heap))/n, "heap-B/socket")
	b.ReportMetric((float64(stacksNow)-float64(stacks))/n, "stack-B/socket")
}
