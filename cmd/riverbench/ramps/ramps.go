package ramps

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// Content says where the text of a page's posts comes from.
const (
	// Linked: it is read for the posts of a page, all at once (001's content service).
	Linked = "linked"
	// Embedded: a copy of it stands in each feed.
	Embedded = "embedded"
	// Folds: the strategy links posts and reads all that a page shows by itself, with comments and
	// likes. Rivers do.
	Folds = "folds"
)

// Point is what was measured of one strategy at one place of a ramp.
type Point struct {
	Ramp     string `json:"ramp"`
	Strategy string `json:"strategy"`
	Content  string `json:"content"`
	// X is where on the ramp.
	X float64 `json:"x"`
	// Values are the figures by name, see Figures. One that was not measured there is missing.
	Values map[string]float64 `json:"values"`
}

// Names of figures.
const (
	ReadP50, ReadP99, Reads, ReadCPU = "read p50", "read p99", "reads", "cpu per read"
	PostP50, PostP99, Posts, PostCPU = "post p50", "post p99", "posts", "cpu per post"
	Rows                             = "rows per post"
	LiftP50, LiftP99, Lifts, LiftCPU = "comment p50", "comment p99", "comments", "cpu per comment"
	LiftRows                         = "rows per comment"
	Bytes                            = "bytes stored"
	Together, TogetherCPU            = "reads and posts", "cpu of each"
)

// Figures are all figures, with their units, in the order of tables.
var Figures = []struct{ Name, Unit string }{
	{ReadP50, "ms"},
	{ReadP99, "ms"},
	{Reads, "/s"},
	{ReadCPU, "ms"},
	{PostP50, "ms"},
	{PostP99, "ms"},
	{Posts, "/s"},
	{PostCPU, "ms"},
	{Rows, ""},
	{LiftP50, "ms"},
	{LiftP99, "ms"},
	{Lifts, "/s"},
	{LiftCPU, "ms"},
	{LiftRows, ""},
	{Bytes, "MB"},
	{Together, "/s"},
	{TogetherCPU, "ms"},
}

// Run is all that was measured in one run.
type Run struct {
	At      time.Time `json:"at"`
	Machine string    `json:"machine"`
	Build   string    `json:"build"`
	Seed    uint64    `json:"seed"`
	Scale   float64   `json:"scale"`
	// Took is how long the whole run took, in seconds.
	Took   float64 `json:"took"`
	Points []Point `json:"points"`
}

// JSON prints the run for programs.
func (r *Run) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Read reads what JSON wrote.
func Read(from io.Reader) (*Run, error) {
	r := &Run{}
	return r, json.NewDecoder(from).Decode(r)
}

// Table prints the run for people: a table for each ramp.
func (r *Run) Table(w io.Writer) error {
	fmt.Fprintf(w, "strategies of home feeds, riverbench %s, seed %d, scale %g, %s, %s, %.0f s\n", r.Build, r.Seed, r.Scale, r.Machine,
		r.At.Format(time.DateTime), r.Took)
	for _, ramp := range Ramps {
		points := slices.DeleteFunc(slices.Clone(r.Points), func(p Point) bool { return p.Ramp != ramp.Name })
		if len(points) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s: %s\n\n", ramp.Name, ramp.Summary)
		if err := table(w, ramp, points); err != nil {
			return err
		}
	}
	return nil
}

func table(w io.Writer, ramp Ramp, points []Point) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "%s\tstrategy\tcontent\t", ramp.X)
	var shown []string
	for _, f := range Figures {
		if slices.ContainsFunc(points, func(p Point) bool { _, ok := p.Values[f.Name]; return ok }) {
			shown = append(shown, f.Name)
			name := f.Name
			if f.Unit != "" {
				name += " " + f.Unit
			}
			fmt.Fprintf(tab, "%s\t", name)
		}
	}
	fmt.Fprintln(tab)
	slices.SortStableFunc(points, func(a, b Point) int { return int(1e6*a.X) - int(1e6*b.X) })
	for _, p := range points {
		fmt.Fprintf(tab, "%g\t%s\t%s\t", p.X, p.Strategy, p.Content)
		for _, name := range shown {
			text := ""
			if v, ok := p.Values[name]; ok {
				text = short(v)
			}
			fmt.Fprintf(tab, "%s\t", text)
		}
		fmt.Fprintln(tab)
	}
	return tab.Flush()
}

// short has three digits that count.
func short(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
