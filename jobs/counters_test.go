package jobs

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// G11: once a day, on all nodes together, the counters of some authors are repaired, and a wrong one is told.
func TestCountersAreRepairedOnceADay(t *testing.T) {
	pool := prepare(t)
	exec := func(sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO accounts (id, kind, name, title) OVERRIDING SYSTEM VALUE VALUES (7, 'user', 'ann', 'Ann')`)
	var out bytes.Buffer
	node := func() (keep func(), figure func(string) float64) {
		registry := prometheus.NewRegistry()
		cfg := config(t, pool, &calls{})
		cfg.Metrics, cfg.Log = registry, slog.New(slog.NewTextHandler(&out, nil))
		j, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, j) })
		return func() {
				t.Helper()
				if err := (&housekeepWorker{jobs: j}).Work(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}, func(name string) float64 {
				t.Helper()
				return gathered(t, registry, name, "")
			}
	}
	first, figure := node()
	second, other := node()
	const spoil = `INSERT INTO author_counters AS a (author_id, status, imported, posts) VALUES (7, 0, false, 3)
		ON CONFLICT (author_id, status, imported) DO UPDATE SET posts = EXCLUDED.posts`
	left := func() int { return count(t, pool, `SELECT posts FROM author_counters WHERE author_id = 7`) }
	exec(spoil)
	exec(`UPDATE counter_checks SET checked_at = now() - interval '23 hours'`)
	first()
	if got := left(); got != 3 {
		t.Errorf("within a day: the counter is %d, want it left alone", got)
	}
	// The sample begins at a random id: all are chosen that are not before it.
	for n := 0; left() == 3; n++ {
		if n == 100 {
			t.Fatal("never repaired")
		}
		exec(`UPDATE counter_checks SET checked_at = now() - interval '25 hours'`)
		first()
	}
	exec(spoil)
	second()
	if got := left(); got != 3 {
		t.Errorf("again on another node: the counter is %d, want it left alone", got)
	}
	if said := out.String(); strings.Count(said, "level=WARN") != 1 ||
		!strings.Contains(said, `msg="a counter was wrong" account=7 status=0 imported=false counted=3 posts=0`) {
		t.Errorf("the log has %q", said)
	}
	for name, want := range map[string]float64{"riverrun_counters_checked_total": 1, "riverrun_counters_wrong_total": 1} {
		if got := figure(name); got < want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
		if got := other(name); got != 0 {
			t.Errorf("%s of the other node is %v, want 0", name, got)
		}
	}
}
