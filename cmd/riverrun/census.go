package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riverrun/rivers"
)

// census counts the live rivers each time metrics are collected. The number is that of all
// nodes: sum over one node only.
type census struct {
	rivers *rivers.Store
	log    *slog.Logger
	live   *prometheus.Desc
}

func newCensus(store *rivers.Store, log *slog.Logger) *census {
	return &census{rivers: store, log: log, live: prometheus.NewDesc("riverrun_live_rivers",
		"Live rivers of all nodes together, by kind.", []string{"kind"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *census) Describe(ch chan<- *prometheus.Desc) { ch <- c.live }

// censusTimeout bounds the count: metrics must be available when the database is slow.
const censusTimeout = 2 * time.Second

// Collect implements prometheus.Collector. If the store does not answer, this
// metric is left out and the others are served.
func (c *census) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), censusTimeout)
	defer cancel()
	counts, err := c.rivers.Census(ctx)
	if err != nil {
		c.log.WarnContext(ctx, "cannot count live rivers", "error", err)
		return
	}
	for kind, n := range counts {
		ch <- prometheus.MustNewConstMetric(c.live, prometheus.GaugeValue, float64(n), string(kind))
	}
}
