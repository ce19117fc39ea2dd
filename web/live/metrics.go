package live

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// hubMetrics are the hub's figures. All of them are safe for concurrent use.
type hubMetrics struct {
	sockets  prometheus.Gauge
	frames   *prometheus.CounterVec // by type
	closed   *prometheus.CounterVec // by close code
	flush    prometheus.Histogram   // seconds one flush of a shard took
	pushed   prometheus.Histogram   // seconds from the commit to the socket
	compared *prometheus.CounterVec // by whether anything differed
	same     prometheus.Counter     // those of compared where nothing did
}

// newHubMetrics makes the figures and registers them, unless the registry is nil.
func newHubMetrics(registry prometheus.Registerer) (*hubMetrics, error) {
	m := &hubMetrics{
		sockets: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "riverrun_sockets_open", Help: "Sockets open on this node.",
		}),
		frames: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riverrun_frames_sent_total", Help: "Frames written to sockets, by type.",
		}, []string{"type"}),
		closed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riverrun_sockets_closed_total", Help: "Sockets closed by the server, by close code.",
		}, []string{"code"}),
		flush: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "riverrun_flush_seconds", Help: "Time one flush took to read and decide for all rivers of a shard.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}),
		pushed: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "riverrun_push_seconds", Help: "Time from a change's commit to the frame on a socket; from the bus's message where the commit's time is not known.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}),
		compared: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riverrun_comparisons_total", Help: "Pages compared with their rivers, by whether anything differed.",
		}, []string{"result"}),
	}
	m.same = m.compared.WithLabelValues("same")
	if registry == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.sockets, m.frames, m.closed, m.flush, m.pushed, m.compared} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}
