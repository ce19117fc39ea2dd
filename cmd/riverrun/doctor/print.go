package doctor

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Print writes the report for people.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range r.Checks {
		fmt.Fprintf(table, "%s\t%s\t%s\n", c.Status, c.Name, line(c.Found))
		if c.Do != "" {
			fmt.Fprintf(table, "\t\t→ %s\n", line(c.Do))
		}
	}
	if len(r.Tables) > 0 {
		fmt.Fprintf(table, "\nThe largest tables, with their indexes:\n")
	}
	for _, t := range r.Tables {
		fmt.Fprintf(table, "%s\t%s\t%s\n", size(t.Bytes), t.Store, t.Name)
	}
	if len(r.Files) > 0 {
		fmt.Fprintf(table, "\nFiles:\n")
	}
	for _, f := range r.Files {
		fmt.Fprintf(table, "%s\t%d\t%s\n", size(f.Bytes), f.Blobs, f.Kind)
	}
	fmt.Fprintf(table, "\nchecks %d ok %d warn %d fail\n", r.Count(OK), r.Count(Warn), r.Count(Fail))
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line keeps a row on its line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
