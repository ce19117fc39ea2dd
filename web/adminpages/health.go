package adminpages

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/rivers"
	"riverrun/web/pulse"
	"riverrun/web/view"
)

// slowest is how many routes the page shows.
const slowest = 20

// healthView is how the site is.
type healthView struct {
	*view.Base
	since                time.Time
	was                  pulse.Report
	rivers               []rivers.KindCount
	jobs                 []JobKind
	jobless              bool // nobody knows how the jobs stand
	riversLack, jobsLack lack
	routes               []pulse.Route
}

func (p *Pages) health(c Call) error {
	ctx := c.Request().Context()
	v := healthView{
		Base: c.Base(), since: p.process.Pulse.Since(), was: p.process.Pulse.Report(),
		jobless: p.process.Jobs == nil, routes: p.process.Pulse.Routes(slowest),
	}
	v.riversLack = p.part(ctx, "rivers", func(ctx context.Context) (err error) {
		v.rivers, err = p.process.Rivers.Counts(ctx, countingTime)
		return err
	})
	if !v.jobless {
		v.jobsLack = p.part(ctx, "jobs", p.inTime(func(ctx context.Context, tx pgx.Tx) (err error) {
			v.jobs, err = p.process.Jobs(ctx, tx)
			return err
		}))
	}
	return c.Show(healthPage(v))
}

// figure is a number with its name.
type figure struct{ label, value string }

// figures are the numbers of all processes together.
func (v healthView) figures() []figure {
	var live, open, waiting, failed int64
	for _, k := range v.rivers {
		live, open = live+k.Live, open+k.Open
	}
	for _, k := range v.jobs {
		waiting, failed = waiting+k.Waiting, failed+k.Failed
	}
	var all []figure
	if v.riversLack == "" {
		all = append(all, figure{v.Locale.T("health.live"), v.number(live)}, figure{v.Locale.T("health.open"), v.number(open)})
	}
	if !v.jobless && v.jobsLack == "" {
		all = append(all, figure{v.Locale.T("health.jobs.waiting"), v.number(waiting)}, figure{v.Locale.T("health.jobs.failed"), v.number(failed)})
	}
	return all
}

func (v healthView) number(n int64) string { return v.Locale.Number(int(n)) }

// entries is how many entries the rivers of a kind have, and whether that is an estimate.
func (v healthView) entries(k rivers.KindCount) string {
	if k.Estimated {
		return "≈ " + v.number(k.Entries)
	}
	return v.number(k.Entries)
}

// chart is one figure over time.
type chart struct {
	title string
	of    pulse.Series
	text  func(float64) string // a value, as people read it
}

func (v healthView) charts() []chart {
	count := func(n float64) string { return v.number(int64(n + .5)) }
	lasting := func(n float64) string { return tookText(v.Locale, time.Duration(n*float64(time.Second))) }
	return []chart{
		{v.Locale.T("health.lag.one"), v.was.Lag1, lasting},
		{v.Locale.T("health.lag.two"), v.was.Lag2, lasting},
		{v.Locale.T("health.builds"), v.was.Builds, func(n float64) string { return decimal(v.Locale, n) }},
		{v.Locale.T("health.sockets"), v.was.Sockets, count},
		{v.Locale.T("health.waiting"), v.was.Waiting, count},
	}
}

// said is a chart in words.
func (c chart) said(loc *view.Locale) string {
	least, last, greatest, ok := c.of.Range()
	if !ok {
		return loc.T("health.none")
	}
	return loc.T("health.range", "least", c.text(least), "last", c.text(last), "most", c.text(greatest))
}

// tookText is how long something took: 12 ms, 1.4 s, 3 min.
func tookText(loc *view.Locale, d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return loc.T("health.ms", "n", decimal(loc, float64(d)/float64(time.Millisecond)))
	case d < time.Second:
		return loc.T("health.ms", "n", d.Milliseconds())
	case d < 2*time.Minute:
		return loc.T("health.seconds", "n", decimal(loc, d.Seconds()))
	}
	return loc.T("health.minutes", "n", int(d.Minutes()))
}

// decimal writes a number with one digit behind the point, unless it is whole.
func decimal(loc *view.Locale, n float64) string {
	text := strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0")
	if loc.Lang == "ru" {
		text = strings.ReplaceAll(text, ".", ",")
	}
	return text
}

// viewBox is that of a chart.
var viewBox = fmt.Sprintf("0 0 %d %d", pulse.Width, pulse.Height)
