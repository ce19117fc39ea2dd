package pulse

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
)

// figures are those that a process has.
type figures struct {
	registry    *prometheus.Registry
	lag, builds *prometheus.HistogramVec
	sockets     prometheus.Gauge
}

func newFigures() *figures {
	f := &figures{
		registry: prometheus.NewRegistry(),
		lag:      prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "riverrun_tier_lag_seconds", Help: "x", Buckets: []float64{.1, .2, 1}}, []string{"tier"}),
		builds:   prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "riverrun_build_cause_seconds", Help: "x", Buckets: []float64{.1, 1}}, []string{"cause"}),
		sockets:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "riverrun_sockets_open", Help: "x"}),
	}
	f.registry.MustRegister(f.lag, f.builds, f.sockets)
	return f
}

func TestReport(t *testing.T) {
	f := newFigures()
	r := New(f.registry, nil, slog.New(slog.DiscardHandler))
	began := time.Unix(1_700_000_000, 0)
	read := func(minutes int) {
		t.Helper()
		if err := r.Read(t.Context(), began.Add(time.Duration(minutes)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	f.builds.WithLabelValues("visit").Observe(50) // before anything was read
	read(0)
	for range 20 {
		f.lag.WithLabelValues("1").Observe(.15)
	}
	f.sockets.Set(7)
	f.builds.WithLabelValues("visit").Observe(.2)
	f.builds.WithLabelValues("visit").Observe(.4)
	f.builds.WithLabelValues("change").Observe(.05)
	read(1)
	f.sockets.Set(3)
	read(3)
	got := r.Report()
	at := func(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }
	want := Report{
		From: at(0), To: at(3),
		Lag1:    Series{{at(1), .195, true}, {at(3), 0, false}},
		Lag2:    Series{{at(1), 0, false}, {at(3), 0, false}},
		Builds:  Series{{at(1), 3, true}, {at(3), 0, true}},
		Sockets: Series{{at(1), 7, true}, {at(3), 3, true}},
		Waiting: Series{{at(1), 0, false}, {at(3), 0, false}},
		Causes: []Cause{
			{"visit", 2, 300 * time.Millisecond, 955 * time.Millisecond},
			{"change", 1, 50 * time.Millisecond, 95 * time.Millisecond},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateApproxTime(0), cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() < time.Microsecond })); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if got, want := got.Sockets.Line(), "M3.0 3.0L297.0 33.9"; got != want {
		t.Errorf("line of sockets: got %q, want %q", got, want)
	}
	if got, want := got.Lag1.Line(), "M3.0 3.0h4"; got != want {
		t.Errorf("line of a value alone: got %q, want %q", got, want)
	}
}

// The samples of a window are kept, and a series of them has no more points than a chart can show.
func TestTheOldestAreForgotten(t *testing.T) {
	f := newFigures()
	r := New(f.registry, nil, slog.New(slog.DiscardHandler))
	began := time.Unix(1_700_000_000, 0)
	kept := int(Window / Every)
	for i := range kept + 10 {
		f.sockets.Set(float64(i))
		if err := r.Read(t.Context(), began.Add(time.Duration(i)*Every)); err != nil {
			t.Fatal(err)
		}
	}
	got := r.Report()
	if want := began.Add(10 * Every); !got.From.Equal(want) || got.To.Sub(got.From) != Window-Every {
		t.Errorf("from %v to %v, want from %v and %v", got.From, got.To, want, Window-Every)
	}
	if _, last, greatest, _ := got.Sockets.Range(); len(got.Sockets) > maxPoints || last != float64(kept+9) || greatest != last {
		t.Errorf("%d points that end at %v of %v, want at most %d that end at the greatest, %d", len(got.Sockets), last, greatest, maxPoints, kept+9)
	}
}

func TestRoutes(t *testing.T) {
	r := New(nil, nil, slog.New(slog.DiscardHandler))
	r.Took("GET /slow", time.Hour) // too long ago
	for i := range lastAnswers {
		r.Took("GET /slow", time.Duration(i+1)*time.Millisecond)
	}
	r.Took("GET /quick", time.Millisecond)
	ms := time.Millisecond
	want := []Route{{"GET /slow", lastAnswers + 1, 251 * ms, 476 * ms, 500 * ms}, {"GET /quick", 1, ms, ms, ms}}
	if diff := cmp.Diff(want, r.Routes(10)); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	if got := r.Routes(1); len(got) != 1 {
		t.Errorf("the slowest: got %d, want 1", len(got))
	}
}

func TestStartAndStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(newFigures().registry, nil, slog.New(slog.DiscardHandler))
		r.Start(t.Context())
		<-time.After(10*Every + time.Second) // of the bubble, which takes no time
		for range 2 {
			if err := r.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(r.ordered()); got != 11 {
			t.Errorf("%d samples after ten intervals, want 11", got)
		}
	})
}

// Waiting jobs are counted once a minute. A count that fails leaves a gap, not a zero, and no line in the log.
func TestWaitingIsCountedNowAndThen(t *testing.T) {
	var log strings.Builder
	counts, away := 0, false
	r := New(newFigures().registry, func(context.Context) (int64, error) {
		counts++
		if away {
			return 0, errors.New("away")
		}
		return 5, nil
	}, slog.New(slog.NewTextHandler(&log, nil)))
	began := time.Unix(1_700_000_000, 0)
	for i := range 13 { // two minutes
		away = i >= 6
		if err := r.Read(t.Context(), began.Add(time.Duration(i)*Every)); err != nil {
			t.Fatal(err)
		}
	}
	if counts != 3 {
		t.Errorf("counted %d times, want 3", counts)
	}
	for i, p := range r.Report().Waiting {
		if known := i < 5; p.OK != known || known && p.Value != 5 {
			t.Errorf("point %d is %+v, want one that is known: %t", i, p, known)
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log.String())
	}
}
