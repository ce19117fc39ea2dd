package main

import "testing"

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
