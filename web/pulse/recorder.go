package pulse

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

const (
	// Every is how often figures are read, and Window how long they are kept.
	Every  = 10 * time.Second
	Window = 3 * time.Hour
)

// recount is how often waiting jobs are counted: all processes ask their one store.
const recount = time.Minute

// recountTime bounds the count.
const recountTime = 2 * time.Second

// Recorder keeps the figures. It is safe for concurrent use.
type Recorder struct {
	from prometheus.Gatherer // nil: there are none, and only routes are kept
	// count counts the jobs of all processes that wait; nil: nobody knows. Only Read uses it and the
	// next two fields.
	count   func(context.Context) (int64, error)
	counted time.Time
	waiting Figure
	log     *slog.Logger
	since   time.Time

	quit, done chan struct{}
	once       sync.Once

	// mu guards the fields below. It is held for moments only.
	mu      sync.Mutex
	samples []sample // a ring, once it is full; next is where the oldest stands
	next    int
	routes  map[string]*answers
}

// sample is what the figures were at one moment. Figures of lags and builds grow as long as the process
// runs.
type sample struct {
	at               time.Time
	sockets, waiting Figure
	lag              map[string]histogram // by tier
	builds           map[string]histogram // by cause
}

// Figure is a value; OK: it is known.
type Figure struct {
	Value float64
	OK    bool
}

// histogram counts values up to each bound, as Prometheus does.
type histogram struct {
	count   uint64
	sum     float64
	bounds  []float64
	buckets []uint64
}

// New returns a recorder that begins with Start. It gathers often: from must not ask a database. An error
// of count is not told: the store's own users tell it.
func New(from prometheus.Gatherer, count func(context.Context) (int64, error), log *slog.Logger) *Recorder {
	return &Recorder{from: from, count: count, log: log, since: time.Now(), quit: make(chan struct{}), routes: map[string]*answers{}}
}

// Start begins to read figures, until Stop; the end of ctx ends nothing.
func (r *Recorder) Start(ctx context.Context) {
	if r.from == nil {
		return
	}
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		r.run(context.WithoutCancel(ctx))
	}()
}

func (r *Recorder) run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for failed := false; ; {
		err := r.Read(ctx, time.Now())
		if err != nil && !failed { // the next may fail for the same reason
			r.log.WarnContext(ctx, "figures of this process not kept", "error", err)
		}
		failed = err != nil
		select {
		case <-r.quit:
			return
		case <-tick.C:
		}
	}
}

// Stop ends the reading and waits for it.
func (r *Recorder) Stop(ctx context.Context) error {
	r.once.Do(func() { close(r.quit) })
	if r.done == nil {
		return nil
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read reads the figures once.
func (r *Recorder) Read(ctx context.Context, now time.Time) error {
	families, err := r.from.Gather()
	if err != nil {
		return err
	}
	s := sample{at: now, waiting: r.recount(ctx, now), lag: map[string]histogram{}, builds: map[string]histogram{}}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetName() {
			case "riverrun_sockets_open":
				s.sockets = Figure{m.GetGauge().GetValue(), true}
			case "riverrun_tier_lag_seconds":
				s.lag[m.GetLabel()[0].GetValue()] = histogramOf(m.GetHistogram())
			case "riverrun_build_cause_seconds":
				s.builds[m.GetLabel()[0].GetValue()] = histogramOf(m.GetHistogram())
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) < int(Window/Every) {
		r.samples = append(r.samples, s)
		return nil
	}
	r.samples[r.next] = s
	r.next = (r.next + 1) % len(r.samples)
	return nil
}

// recount returns how many jobs wait, as it was counted a moment ago.
func (r *Recorder) recount(ctx context.Context, now time.Time) Figure {
	if r.count == nil || !r.counted.IsZero() && now.Sub(r.counted) < recount {
		return r.waiting
	}
	ctx, cancel := context.WithTimeout(ctx, recountTime)
	defer cancel()
	n, err := r.count(ctx)
	r.counted, r.waiting = now, Figure{float64(n), err == nil}
	return r.waiting
}

func histogramOf(h *dto.Histogram) histogram {
	own := histogram{count: h.GetSampleCount(), sum: h.GetSampleSum()}
	for _, b := range h.GetBucket() {
		own.bounds, own.buckets = append(own.bounds, b.GetUpperBound()), append(own.buckets, b.GetCumulativeCount())
	}
	return own
}

// since returns what was added since an earlier moment.
func (h histogram) since(earlier histogram) histogram {
	added := histogram{count: h.count - earlier.count, sum: h.sum - earlier.sum, bounds: h.bounds, buckets: slices.Clone(h.buckets)}
	for i := range earlier.buckets {
		added.buckets[i] -= earlier.buckets[i]
	}
	return added
}

// quantile estimates a quantile, as Prometheus does: evenly within a bucket. A value above the last
// bound counts as that bound. ok is false if there are no values.
func (h histogram) quantile(q float64) (value float64, ok bool) {
	if h.count == 0 {
		return 0, false
	}
	rank := q * float64(h.count)
	low, below := 0.0, uint64(0)
	for i, n := range h.buckets {
		if float64(n) >= rank {
			if n == below {
				return h.bounds[i], true
			}
			return low + (h.bounds[i]-low)*(rank-float64(below))/float64(n-below), true
		}
		low, below = h.bounds[i], n
	}
	return low, true
}

// lastAnswers is how many answers of each route are kept.
const lastAnswers = 500

// answers are those of one route.
type answers struct {
	count int
	took  []time.Duration // a ring of the last ones
}

// Took notes how long an answer took.
func (r *Recorder) Took(route string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.routes[route]
	if a == nil {
		a = &answers{}
		r.routes[route] = a
	}
	if len(a.took) < lastAnswers {
		a.took = append(a.took, took)
	} else {
		a.took[a.count%lastAnswers] = took
	}
	a.count++
}

// Route is how quickly the requests of a route were answered lately.
type Route struct {
	Pattern string
	// Count is how many there were since the process began. The times are of the last 500.
	Count         int
	P50, P95, Max time.Duration
}

// Routes returns the slowest routes, the slowest first.
func (r *Recorder) Routes(most int) []Route {
	r.mu.Lock()
	took := make(map[string][]time.Duration, len(r.routes))
	all := make([]Route, 0, len(r.routes))
	for pattern, a := range r.routes {
		took[pattern] = slices.Clone(a.took)
		all = append(all, Route{Pattern: pattern, Count: a.count})
	}
	r.mu.Unlock()
	for i := range all {
		t := took[all[i].Pattern]
		slices.Sort(t)
		at := func(q float64) time.Duration { return t[min(int(q*float64(len(t))), len(t)-1)] }
		all[i].P50, all[i].P95, all[i].Max = at(.5), at(.95), t[len(t)-1]
	}
	slices.SortFunc(all, func(a, b Route) int {
		if a.P95 != b.P95 {
			return int(b.P95 - a.P95)
		}
		return int(b.Max - a.Max)
	})
	return all[:min(most, len(all))]
}

// ordered returns the samples, the oldest first.
func (r *Recorder) ordered() []sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.samples[r.next:], r.samples[:r.next])
}

// Since is when the recorder was made, with the process.
func (r *Recorder) Since() time.Time { return r.since }

// Report is how the process was.
type Report struct {
	// From and To are the first and the last moment that is known; they are zero if none is.
	From, To time.Time
	// Lag1 and Lag2 are the 95th percentile of what the tiers took for a change, in seconds.
	Lag1, Lag2 Series
	// Builds are rivers that were built or extended in a minute.
	Builds Series
	// Sockets were open here. Waiting are jobs of all processes together.
	Sockets, Waiting Series
	// Causes are why rivers were built, the most frequent first.
	Causes []Cause
}

// Cause is how often rivers were built for one cause between From and To.
type Cause struct {
	Name  string
	Count uint64
	// Mean is how long a build took on average, and P95 the 95th percentile.
	Mean, P95 time.Duration
}

// maxPoints is how many points a series has at most.
const maxPoints = 120

// Report puts the samples together.
func (r *Recorder) Report() Report {
	all := r.ordered()
	if len(all) == 0 {
		return Report{}
	}
	first, last := all[0], all[len(all)-1]
	report := Report{From: first.at, To: last.at}
	step := (len(all)-1)/maxPoints + 1
	for i := 0; i+1 < len(all); i += step {
		a, b := all[i], all[min(i+step, len(all)-1)]
		highest := func(of func(sample) Figure) Point {
			p := Point{At: b.at}
			for _, s := range all[i+1 : min(i+step, len(all)-1)+1] {
				if f := of(s); f.OK {
					p.Value, p.OK = max(p.Value, f.Value), true
				}
			}
			return p
		}
		lag := func(tier string) Point {
			value, ok := b.lag[tier].since(a.lag[tier]).quantile(.95)
			return Point{b.at, value, ok}
		}
		report.Lag1, report.Lag2 = append(report.Lag1, lag("1")), append(report.Lag2, lag("2"))
		report.Builds = append(report.Builds, Point{b.at, float64(b.built()-a.built()) / b.at.Sub(a.at).Minutes(), true})
		report.Sockets = append(report.Sockets, highest(func(s sample) Figure { return s.sockets }))
		report.Waiting = append(report.Waiting, highest(func(s sample) Figure { return s.waiting }))
	}
	for _, name := range slices.Sorted(maps.Keys(last.builds)) {
		h := last.builds[name].since(first.builds[name])
		if h.count == 0 {
			continue
		}
		p95, _ := h.quantile(.95) // there is a value
		report.Causes = append(report.Causes, Cause{name, h.count, seconds(h.sum / float64(h.count)), seconds(p95)})
	}
	slices.SortStableFunc(report.Causes, func(a, b Cause) int { return int(b.Count) - int(a.Count) })
	return report
}

func (s sample) built() (n uint64) {
	for _, h := range s.builds {
		n += h.count
	}
	return n
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// Series is a figure over time.
type Series []Point

// Point is the value of a figure at the end of a short while; OK: there is one.
type Point struct {
	At    time.Time
	Value float64
	OK    bool
}

// Range returns the least, the last and the greatest value; ok is false if there is none.
func (s Series) Range() (least, last, greatest float64, ok bool) {
	for _, p := range s {
		if !p.OK {
			continue
		}
		if !ok {
			least, greatest = p.Value, p.Value
		}
		least, last, greatest, ok = min(least, p.Value), p.Value, max(greatest, p.Value), true
	}
	return least, last, greatest, ok
}
