package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// Values of the label tier.
const (
	tier1 = "1"
	tier2 = "2"
)

// metrics are those of the jobs of one node. The depth of the queue is the same for all
// nodes and is counted when it is asked for.
type metrics struct {
	lag      *prometheus.HistogramVec
	seconds  *prometheus.HistogramVec
	failures *prometheus.CounterVec
	checked  prometheus.Counter
	wrong    prometheus.Counter
	overdue  prometheus.Histogram
	depth    *depth
}

func newMetrics(j *Jobs) *metrics {
	return &metrics{
		lag: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "riverrun_tier_lag_seconds",
			Help:    "Time from a change's commit until it was applied to the open rivers (tier 1) and to all live rivers (tier 2).",
			Buckets: []float64{.002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 300},
		}, []string{"tier"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "riverrun_job_seconds",
			Help:    "Time a job took that succeeded.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 5, 30},
		}, []string{"kind"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riverrun_job_failures_total",
			Help: "Times a job failed; it is tried again unless it is a chore.",
		}, []string{"kind"}),
		checked: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "riverrun_counters_checked_total",
			Help: "People whose counters were compared with their posts, some once a day.",
		}),
		wrong: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "riverrun_counters_wrong_total",
			Help: "Counters of people's posts that were wrong, and were repaired.",
		}),
		overdue: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "riverrun_scheduled_lag_seconds",
			Help:    "Time from when a scheduled post was due until it was published.",
			Buckets: []float64{1, 2, 5, 10, 30, 60, 300, 3600},
		}),
		depth: newDepth(j),
	}
}

// applied measures the lag of a change announced at changedAt (microseconds).
// The clocks of two nodes may disagree; a negative lag counts as none.
func (m *metrics) applied(tier string, changedAt int64) {
	m.lag.WithLabelValues(tier).Observe(max(0, time.Since(time.UnixMicro(changedAt)).Seconds()))
}

func (m *metrics) took(kind string, d time.Duration) {
	m.seconds.WithLabelValues(kind).Observe(d.Seconds())
}

func (m *metrics) failed(kind string) { m.failures.WithLabelValues(kind).Inc() }

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.lag, m.seconds, m.failures, m.checked, m.wrong, m.overdue}
}

// register registers all or none.
func (m *metrics) register(r, counts prometheus.Registerer) error {
	var done []func() bool
	add := func(to prometheus.Registerer, all ...prometheus.Collector) error {
		for _, c := range all {
			if to == nil {
				continue
			}
			if err := to.Register(c); err != nil {
				for _, undo := range done {
					undo()
				}
				return fmt.Errorf("register metrics: %w", err)
			}
			done = append(done, func() bool { return to.Unregister(c) })
		}
		return nil
	}
	if err := add(r, m.collectors()...); err != nil {
		return err
	}
	return add(counts, m.depth)
}

func (m *metrics) unregister(r, counts prometheus.Registerer) {
	if r != nil {
		for _, c := range m.collectors() {
			r.Unregister(c)
		}
	}
	if counts != nil {
		counts.Unregister(m.depth)
	}
}

// depth counts the jobs and notes that wait, each time metrics are collected.
type depth struct {
	jobs    *Jobs
	waiting *prometheus.Desc
	behind  *prometheus.Desc
}

func newDepth(j *Jobs) *depth {
	return &depth{
		jobs: j,
		waiting: prometheus.NewDesc("riverrun_jobs_waiting",
			"Jobs not finished, those being worked included, on all nodes together.", []string{"queue"}, nil),
		behind: prometheus.NewDesc("riverrun_behind_notes",
			"Changes that tier 2 has still to bring to closed rivers.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (d *depth) Describe(ch chan<- *prometheus.Desc) {
	ch <- d.waiting
	ch <- d.behind
}

// depthTimeout bounds the count: metrics must be available when the database is slow.
const depthTimeout = 2 * time.Second

// Collect implements prometheus.Collector. If the database does not answer, its
// two metrics are left out and the others are served.
func (d *depth) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), depthTimeout)
	defer cancel()
	waiting, behind, err := d.count(ctx)
	if err != nil {
		d.jobs.cfg.Log.WarnContext(ctx, "cannot count waiting jobs", "error", err)
		return
	}
	for _, queue := range queues {
		ch <- prometheus.MustNewConstMetric(d.waiting, prometheus.GaugeValue, float64(waiting[queue]), queue)
	}
	ch <- prometheus.MustNewConstMetric(d.behind, prometheus.GaugeValue, float64(behind))
}

func (d *depth) count(ctx context.Context) (waiting map[string]int64, behind int64, err error) {
	// The table behind is counted under its own name; the queues' names are ours.
	const query = `
		SELECT queue, count(*) FROM queue.river_job
		WHERE state IN ('available', 'running', 'retryable', 'scheduled') GROUP BY queue
		UNION ALL
		SELECT 'behind', count(*) FROM behind`
	rows, err := d.jobs.pool.Query(ctx, query)
	if err != nil {
		return nil, 0, err
	}
	waiting = map[string]int64{}
	var name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		if name == "behind" {
			behind = n
			return nil
		}
		waiting[name] = n
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("count jobs: %w", err)
	}
	return waiting, behind, nil
}

// Waiting counts the jobs that are not finished, on all nodes together, as riverrun_jobs_waiting does.
func Waiting(ctx context.Context, pool *pgxpool.Pool) (n int64, err error) {
	const query = `SELECT count(*) FROM queue.river_job WHERE state IN ('available', 'running', 'retryable', 'scheduled')`
	if err := pool.QueryRow(ctx, query).Scan(&n); err != nil {
		return 0, fmt.Errorf("count waiting jobs: %w", err)
	}
	return n, nil
}
