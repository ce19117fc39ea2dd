package main

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"riverrun/rivers"
	"riverrun/tiers"
)

// figures are the metrics of packages that know no Prometheus; jobs and web
// register their own.
type figures struct {
	builds  *prometheus.HistogramVec
	causes  *prometheus.HistogramVec
	built   *prometheus.CounterVec
	written prometheus.Counter
	tier0   prometheus.Histogram
}

var (
	_ rivers.Metrics = (*figures)(nil)
	_ tiers.Metrics  = (*figures)(nil)
)

func newFigures() *figures {
	return &figures{
		builds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "riverrun_build_seconds",
			Help:    "Time a river took to build, by kind.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 13),
		}, []string{"kind"}),
		causes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "riverrun_build_cause_seconds",
			Help:    "Time a river took to build or extend, by why that was done.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 13),
		}, []string{"cause"}),
		built: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riverrun_built_entries_total",
			Help: "Entries that builds put into their rivers, by kind.",
		}, []string{"kind"}),
		written: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "riverrun_written_entries_total",
			Help: "Entries written to live rivers because of changes.",
		}),
		tier0: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "riverrun_tier0_seconds",
			Help:    "Time from a change's commit until its actor's own rivers showed it.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 13),
		}),
	}
}

// registry returns a registry with these metrics, those of Go and the process, and more.
func (f *figures) registry(more ...prometheus.Collector) (*prometheus.Registry, error) {
	r := prometheus.NewRegistry()
	for _, c := range append(more,
		f.builds, f.causes, f.built, f.written, f.tier0,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	) {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return r, nil
}

// Built implements rivers.Metrics.
func (f *figures) Built(kind rivers.Kind, why rivers.BuildCause, entries int, took time.Duration) {
	f.causes.WithLabelValues(string(why)).Observe(took.Seconds())
	f.builds.WithLabelValues(string(kind)).Observe(took.Seconds())
	f.built.WithLabelValues(string(kind)).Add(float64(entries))
}

// Wrote implements rivers.Metrics.
func (f *figures) Wrote(entries int) { f.written.Add(float64(entries)) }

// Applied implements tiers.Metrics. The lag of tiers 1 and 2 is measured by
// their jobs, from the commit, on whichever node works them.
func (f *figures) Applied(tier string, took time.Duration) {
	if tier == "0" {
		f.tier0.Observe(took.Seconds())
	}
}
