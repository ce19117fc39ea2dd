package report

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	r := &Run{Build: "x", Seed: 1, Scale: 0.1, Machine: "2 cores"}
	for _, v := range []float64{3, 1, 2} {
		r.Add(Figure{Row: "home", Name: "p50", Unit: "ms", Values: []float64{v}, Peer: 75, Aim: 0.5},
			Figure{Row: "home", Name: "requests", Unit: "/s", Values: []float64{100 * v}, Peer: 20, Aim: 500, Rate: true})
	}
	r.Add(Figure{Row: "idle", Name: "statements", Unit: "/s", Values: []float64{2.5}, Aim: 2.5})
	var out strings.Builder
	if err := r.Table(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"home  p50         2       1        3        ms    75    x37.5  0.500  x4",
		"      requests    200     100      300      /s    20    x10    500    x2.50",
		"idle  statements  2.50    2.50     2.50     /s                 2.50   \n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := r.Benchstat(&out); err != nil {
		t.Fatal(err)
	}
	const want = "BenchmarkHome 1 3 p50/ms 300 requests//s\nBenchmarkHome 1 1 p50/ms 100 requests//s\n" +
		"BenchmarkHome 1 2 p50/ms 200 requests//s\nBenchmarkIdle 1 2.5 statements//s\n"
	if out.String() != want {
		t.Errorf("for benchstat: got\n%swant\n%s", out.String(), want)
	}
}

// Only a table that has figures of the peer says where they come from.
func TestTheTableSaysWhereThePeerWasMeasured(t *testing.T) {
	for _, peer := range []float64{0, 75} {
		r := &Run{}
		r.Add(Figure{Row: "home", Name: "p50", Unit: "ms", Values: []float64{2}, Peer: peer})
		var out strings.Builder
		if err := r.Table(&out); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Contains(out.String(), "FreeFeed"), peer > 0; got != want {
			t.Errorf("peer %g: got %t, want %t:\n%s", peer, got, want, out.String())
		}
	}
}

func TestMedianOfAnEvenNumber(t *testing.T) {
	if got := (Figure{Values: []float64{4, 1, 3, 2}}).Median(); got != 2.5 {
		t.Errorf("got %v, want 2.5", got)
	}
}
