package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Figure is one thing that was measured, once in each repeat.
type Figure struct {
	// Row is what was measured ("home"), Name says which of its figures this is ("p50"), in Unit
	// ("ms").
	Row  string `json:"row"`
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Values are in the order of the repeats.
	Values []float64 `json:"values"`
	// Peer is the same figure of the FreeFeed server, measured on another machine; 0
	// if it was not measured.
	Peer float64 `json:"peer,omitempty"`
	// Aim is the figure that we want; 0 if we want nothing of it.
	Aim float64 `json:"aim,omitempty"`
	// Rate says that more is better.
	Rate bool `json:"rate,omitempty"`
}

// Median is the middle value, or the mean of the two in the middle; 0 if there is none.
func (f Figure) Median() float64 {
	if len(f.Values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.Values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Ratio says how many times as good as the peer's the median is; 0 if that is not known.
func (f Figure) Ratio() float64 {
	mine := f.Median()
	switch {
	case f.Peer == 0 || mine == 0:
		return 0
	case f.Rate:
		return mine / f.Peer
	}
	return f.Peer / mine
}

// Missed says how many times as good the median would have to be for the aim to be met; 0 if it is, or
// if there is none.
func (f Figure) Missed() float64 {
	mine := f.Median()
	if f.Aim == 0 || mine == 0 {
		return 0
	}
	missed := mine / f.Aim
	if f.Rate {
		missed = 1 / missed
	}
	if missed < 1.005 { // it would be printed as 1.00
		return 0
	}
	return missed
}

// Run is all that was measured in one run of riverbench.
type Run struct {
	At      time.Time `json:"at"`
	Machine string    `json:"machine"`
	// Build is the commit of the riverrun that was measured.
	Build string  `json:"build"`
	Seed  uint64  `json:"seed"`
	Scale float64 `json:"scale"`
	// Posts is how many the town had when the run began.
	Posts   int      `json:"posts"`
	Figures []Figure `json:"figures"`
}

// Add adds the figures of one repeat of a row. Those of the same row and name are one Figure.
func (r *Run) Add(figures ...Figure) {
	for _, f := range figures {
		i := slices.IndexFunc(r.Figures, func(g Figure) bool { return g.Row == f.Row && g.Name == f.Name })
		if i < 0 {
			r.Figures = append(r.Figures, f)
			continue
		}
		r.Figures[i].Values = append(r.Figures[i].Values, f.Values...)
	}
}

// Table prints the run for people.
func (r *Run) Table(w io.Writer) error {
	fmt.Fprintf(w, "riverrun %s, seed %d, scale %g, %d posts, %s, %s\n\n", r.Build, r.Seed, r.Scale, r.Posts, r.Machine, r.At.Format(time.DateTime))
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "row\tfigure\tmedian\tminimum\tmaximum\tunit\tpeer\tratio\taim\tmissed")
	row, compared, wanted := "", false, false
	for _, f := range r.Figures {
		shown := f.Row
		if shown == row {
			shown = ""
		}
		row = f.Row
		peer, ratio := "", ""
		if f.Peer > 0 {
			peer, compared = short(f.Peer), true
		}
		if times := f.Ratio(); times > 0 {
			ratio = "x" + short(times)
		}
		aim, missed := "", ""
		if f.Aim > 0 {
			aim, wanted = short(f.Aim), true
		}
		if times := f.Missed(); times > 0 {
			missed = "x" + short(times)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", shown, f.Name, short(f.Median()), short(slices.Min(f.Values)),
			short(slices.Max(f.Values)), f.Unit, peer, ratio, aim, missed)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	notes := ""
	if compared {
		notes += "\npeer: a FreeFeed server in a town of scale 1, on another day and maybe another machine, so the ratio is a hint\n"
	}
	if wanted {
		notes += "\naim: what we want in a town of scale 1 on two cores; missed: how many times as good it would have to be\n"
	}
	_, err := io.WriteString(w, notes)
	return err
}

// short has three digits that count.
func short(v float64) string {
	switch size := math.Abs(v); {
	case size >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case size >= 10:
		return fmt.Sprintf("%.1f", v)
	case size >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// JSON prints the run for programs.
func (r *Run) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Benchstat prints the run as Go benchmarks print theirs: one line for each repeat of a row.
func (r *Run) Benchstat(w io.Writer) error {
	var rows []string
	repeats := 0
	for _, f := range r.Figures {
		if !slices.Contains(rows, f.Row) {
			rows = append(rows, f.Row)
		}
		repeats = max(repeats, len(f.Values))
	}
	for _, row := range rows {
		for i := range repeats {
			line := "Benchmark" + strings.ToUpper(row[:1]) + row[1:] + " 1"
			some := false
			for _, f := range r.Figures {
				if f.Row == row && i < len(f.Values) {
					line += fmt.Sprintf(" %g %s/%s", f.Values[i], strings.ReplaceAll(f.Name, " ", "-"), strings.ReplaceAll(f.Unit, " ", "-"))
					some = true
				}
			}
			if !some {
				continue
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
	}
	return nil
}
