package load

import (
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i))
	}
	for _, c := range []struct {
		all  []time.Duration
		q    float64
		want time.Duration
	}{
		{nil, 0.5, 0},
		{[]time.Duration{7}, 0, 7},
		{[]time.Duration{7}, 1, 7},
		{[]time.Duration{2, 1}, 0.5, 1}, // half of them did not exceed it
		{[]time.Duration{3, 1, 2}, 0.5, 2},
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 0.991, 100},
		{hundred, 1, 100},
		{hundred, 0, 1},
	} {
		if got := Sorted(c.all).Quantile(c.q); got != c.want {
			t.Errorf("the quantile %g of %d times: got %d, want %d", c.q, len(c.all), got, c.want)
		}
	}
}
