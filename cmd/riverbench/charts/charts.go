// Package charts draws the figures of riverbench strategies as SVG. A chart has no script and
// needs no font of its own, and its colours follow the reader's choice of light or dark.
package charts

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"riverrun/cmd/riverbench/ramps"
)

// Chart is one figure of all strategies along a ramp.
type Chart struct {
	// File is the name of its file.
	File string
	// Ramp and Figure are what it shows.
	Ramp, Figure string
	Title        string
	// Least is the least value that is shown: what a strategy stores that stores nothing would
	// only stretch the axis.
	Least float64
}

// All are the charts of a run.
var All = []Chart{
	{File: "followers-post.svg", Ramp: "followers", Figure: ramps.PostP50, Title: "A post, until it is in all feeds: median"},
	{File: "followers-rows.svg", Ramp: "followers", Figure: ramps.Rows, Title: "Rows that a post writes into feeds", Least: 0.5},
	{File: "lifted-comment.svg", Ramp: "lifted", Figure: ramps.LiftP50, Title: "A comment that lifts an old post, until it is in all feeds: median"},
	{File: "followed-read.svg", Ramp: "followed", Figure: ramps.ReadP50, Title: "The first page: median"},
	{File: "depth-read.svg", Ramp: "depth", Figure: ramps.ReadP50, Title: "A page further down: median"},
	{File: "ratio-together.svg", Ramp: "ratio", Figure: ramps.Together, Title: "Reads and posts together, everybody active, in a second"},
	{File: "zipf-together.svg", Ramp: "zipf", Figure: ramps.Together, Title: "Reads and posts together, soon after a beginning without feeds, in a second"},
	{File: "active-together.svg", Ramp: "active", Figure: ramps.Together, Title: "Reads and posts together, some of the people active, in a second"},
	{File: "active-bytes.svg", Ramp: "active", Figure: ramps.Bytes, Title: "What the feeds take", Least: 0.05},
}

// series is one line of a chart.
type series struct {
	name, class string
	points      []point
}

type point struct{ x, y float64 }

// Draw writes the chart of a run. A chart without points is an error.
func (c Chart) Draw(w io.Writer, run *ramps.Run) error {
	all := c.series(run)
	if len(all) == 0 {
		return fmt.Errorf("the run has no %s on the ramp %s", c.Figure, c.Ramp)
	}
	ramp := ramps.Ramps[slices.IndexFunc(ramps.Ramps, func(r ramps.Ramp) bool { return r.Name == c.Ramp })]
	unit := ""
	for _, f := range ramps.Figures {
		if f.Name == c.Figure {
			unit = f.Unit
		}
	}
	d := newDrawing(all)
	d.open(c.Title, unit)
	d.axes(ramp.X)
	for _, s := range all {
		d.line(s)
	}
	d.labels(all)
	_, err := io.WriteString(w, d.String()+"</svg>\n")
	return err
}

// series are the lines of a chart, in the order of the run. Points at 0 have no place on a
// logarithmic axis and are left out too.
func (c Chart) series(run *ramps.Run) (all []series) {
	for _, p := range run.Points {
		y, ok := p.Values[c.Figure]
		if p.Ramp != c.Ramp || !ok || y <= 0 || y < c.Least {
			continue
		}
		name, class := p.Strategy, p.Strategy
		if p.Content == ramps.Embedded {
			name, class = name+", embedded", class+" embedded"
		}
		i := slices.IndexFunc(all, func(s series) bool { return s.name == name })
		if i < 0 {
			all, i = append(all, series{name: name, class: class}), len(all)
		}
		all[i].points = append(all[i].points, point{p.X, y})
	}
	for _, s := range all {
		slices.SortFunc(s.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	}
	return all
}

// Sizes in pixels.
const (
	width, height            = 720, 380
	left, right, top, bottom = 64, 150, 48, 48
	// apart is how far two labels stand from each other.
	apart = 15
)

// scale places values along an axis: by their logarithms, or evenly if a value is 0.
type scale struct {
	from, to float64
	log      bool
	begin    float64 // in pixels
	end      float64
}

func (s scale) at(v float64) float64 {
	a, b, c := s.from, s.to, v
	if s.log {
		a, b, c = math.Log(a), math.Log(b), math.Log(c)
	}
	if a == b {
		return (s.begin + s.end) / 2
	}
	return s.begin + (c-a)/(b-a)*(s.end-s.begin)
}

// ticks are the values that an axis names: powers of ten, and 2 and 5 times those where there is
// room.
func (s scale) ticks() (ticks []float64) {
	if !s.log {
		for v := s.from; v <= s.to; v += (s.to - s.from) / 4 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	factors := []float64{1}
	if math.Log10(s.to/s.from) < 3 {
		factors = []float64{1, 2, 5}
	}
	for e := math.Floor(math.Log10(s.from)); e <= math.Ceil(math.Log10(s.to)); e++ {
		for _, f := range factors {
			if v := f * math.Pow(10, e); v >= s.from*0.999 && v <= s.to*1.001 {
				ticks = append(ticks, v)
			}
		}
	}
	return ticks
}

// drawing is an SVG under way.
type drawing struct {
	strings.Builder
	x, y scale
	xs   []float64 // where something was measured
}

func newDrawing(all []series) *drawing {
	d := &drawing{}
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range all {
		for _, p := range s.points {
			lowX, highX, lowY, highY = min(lowX, p.x), max(highX, p.x), min(lowY, p.y), max(highY, p.y)
			if !slices.Contains(d.xs, p.x) {
				d.xs = append(d.xs, p.x)
			}
		}
	}
	slices.Sort(d.xs)
	d.x = scale{lowX, highX, lowX > 0, left, width - right}
	d.y = scale{lowY * 0.8, highY * 1.25, true, height - bottom, top}
	return d
}

// style has the colours. Each strategy has one, in both schemes; embedded content is a broken line.
const style = `<style>
text{font:12px system-ui,sans-serif;fill:#444}
.title{font-size:14px;font-weight:600;fill:#111}
.grid{stroke:#e4e4e4}
.line{fill:none;stroke-width:2;stroke-linejoin:round}
.embedded{stroke-dasharray:5 4}
svg{--read:#8a6d00;--timed:#c2410c;--sized:#a21caf;--cache:#15803d;--aggregator:#64748b;--rivers:#1d4ed8;background:#fff}
@media(prefers-color-scheme:dark){
text{fill:#bbb}.title{fill:#eee}.grid{stroke:#333}
svg{--read:#e0b93c;--timed:#fb923c;--sized:#e879f9;--cache:#4ade80;--aggregator:#94a3b8;--rivers:#7aa7ff;background:#161616}
}
.read{stroke:var(--read)}.timed{stroke:var(--timed)}.sized{stroke:var(--sized)}
.cache{stroke:var(--cache)}.aggregator{stroke:var(--aggregator)}.rivers{stroke:var(--rivers);stroke-width:3}
text.read,text.timed,text.sized,text.cache,text.aggregator,text.rivers{stroke:none}
text.read{fill:var(--read)}text.timed{fill:var(--timed)}text.sized{fill:var(--sized)}
text.cache{fill:var(--cache)}text.aggregator{fill:var(--aggregator)}text.rivers{fill:var(--rivers);font-weight:600}
</style>
`

func (d *drawing) open(title, unit string) {
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, escaped(title))
	d.WriteString(style)
	d.text(left, 22, "title", "start", title)
	if unit != "" {
		d.text(left-8, top-10, "", "end", unit)
	}
}

func (d *drawing) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`+"\n", x, y, class, anchor, escaped(text))
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

func (d *drawing) axes(x string) {
	for _, v := range d.y.ticks() {
		y := d.y.at(v)
		fmt.Fprintf(d, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" class="grid"/>`+"\n", left, width-right, y, y)
		d.text(left-8, y+4, "", "end", number(v))
	}
	for _, v := range d.xs {
		d.text(d.x.at(v), height-bottom+18, "", "middle", number(v))
	}
	d.text((left+width-right)/2, height-10, "", "middle", x)
}

// number is short: 20000 is 20k.
func number(v float64) string {
	suffix := ""
	switch {
	case v >= 1e6:
		v, suffix = v/1e6, "M"
	case v >= 1e4:
		v, suffix = v/1e3, "k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + suffix
}

func (d *drawing) line(s series) {
	var path []string
	for _, p := range s.points {
		path = append(path, fmt.Sprintf("%.1f,%.1f", d.x.at(p.x), d.y.at(p.y)))
	}
	fmt.Fprintf(d, `<polyline points="%s" class="line %s"/>`+"\n", strings.Join(path, " "), s.class)
}

// labels names each line at its end, and moves names apart that would cover each other.
func (d *drawing) labels(all []series) {
	type label struct {
		series
		y float64
	}
	var labels []label
	for _, s := range all {
		labels = append(labels, label{s, d.y.at(s.points[len(s.points)-1].y)})
	}
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	for i := 1; i < len(labels); i++ {
		labels[i].y = max(labels[i].y, labels[i-1].y+apart)
	}
	// Those that were moved past the lower end push the others up again.
	limit := float64(height - bottom)
	for i := len(labels) - 1; i >= 0; i-- {
		labels[i].y = min(labels[i].y, limit)
		limit = labels[i].y - apart
	}
	for _, l := range labels {
		strategy, _, _ := strings.Cut(l.class, " ")
		d.text(width-right+8, l.y+4, strategy, "start", l.name)
	}
}
