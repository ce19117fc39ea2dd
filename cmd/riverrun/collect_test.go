package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"riverrun/web/webtest"
)

func TestPercentOf(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 1600},
		{1 << 20, 1600},
		{16 << 20, 400},
		{32 << 20, 200},
		{64 << 20, 100},
		{1 << 30, 100},
	} {
		if got := percentOf(c.live); got != c.want {
			t.Errorf("percentOf(%d MB) = %d, want %d", c.live>>20, got, c.want)
		}
	}
}

func TestShouldGive(t *testing.T) {
	const mb = 1 << 20
	for name, c := range map[string]struct {
		earlier, now heap
		want         bool
	}{
		"quiet, with garbage":                    {heap{allocated: 900 * mb}, heap{901 * mb, 30 * mb, 60 * mb}, true},
		"busy":                                   {heap{allocated: 900 * mb}, heap{920 * mb, 30 * mb, 60 * mb}, false},
		"too little to give":                     {heap{allocated: 900 * mb}, heap{901 * mb, 10 * mb, 30 * mb}, false},
		"many open pages, at rest":               {heap{allocated: 900 * mb}, heap{960 * mb, 300 * mb, 200 * mb}, true},
		"many open pages, and little was gained": {heap{allocated: 900 * mb}, heap{960 * mb, 300 * mb, 140 * mb}, false},
	} {
		if got := c.now.shouldGive(c.earlier); got != c.want {
			t.Errorf("%s: should give back: %t, want %t", name, got, c.want)
		}
	}
}

// Holes between objects in use cannot be returned, so a heap that has many of them is not collected again and again.
func TestHolesAreNotSpare(t *testing.T) {
	objects := make([][]byte, 200<<10)
	for i := range objects {
		objects[i] = make([]byte, 512)
	}
	for i := range objects {
		if i%4 != 0 {
			objects[i] = nil
		}
	}
	debug.FreeOSMemory()
	h := readHeap()
	if h.shouldGive(h) {
		t.Errorf("%d MB in use and %d MB to give back: collected again for nothing", h.live>>20, h.spare>>20)
	}
	runtime.KeepAlive(objects)
}

// A quiet server returns what it no longer uses to the operating system.
func TestGiveBack(t *testing.T) {
	t.Setenv("GOGC", "")
	released := func() uint64 {
		m := []metrics.Sample{{Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(m)
		return m[0].Value.Uint64()
	}
	garbage := make([][]byte, 200)
	for i := range garbage {
		garbage[i] = make([]byte, 1<<20)
	}
	runtime.KeepAlive(garbage)
	runtime.GC() // as Go does every two minutes
	before := released()
	defer giveBack(10 * time.Millisecond)()
	look, late := time.NewTicker(10*time.Millisecond), time.After(webtest.Patience)
	defer look.Stop()
	for released() < before+100<<20 {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("from %d MB that were given back it went to %d, want 100 more", before>>20, released()>>20)
		}
	}
}
