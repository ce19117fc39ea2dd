package ramps

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"riverrun/cmd/riverbench/site"
	"riverrun/migrations/testdb"
)

// All strategies come up the ramps, also in a crowd of a few people. The ramps on which each place
// has a store of its own are for one strategy here.
func TestMeasure(t *testing.T) {
	of := func(strategies, ramps []string) []Point {
		points, err := Measure(t.Context(), Config{
			Site: site.Config{Dir: testdb.Dir(t), Seed: 1, Scale: 0.01, Log: t.Output()}, During: 20 * time.Millisecond,
			Strategies: strategies, Ramps: ramps,
		})
		if err != nil {
			t.Fatal(err)
		}
		return points
	}
	points := slices.Concat(of(nil, []string{"followers", "lifted", "followed", "depth", "ratio"}), of([]string{"cache"}, []string{"zipf", "active"}))
	for _, s := range subjects {
		for _, r := range Ramps {
			if r.cold && s.name != "cache" {
				continue
			}
			for _, x := range r.at(sizeOf(0.01)) {
				i := slices.IndexFunc(points, func(p Point) bool {
					return p.Strategy == s.name && p.Content == s.content && p.Ramp == r.Name && p.X == x
				})
				if i < 0 {
					t.Errorf("%s, %s: nothing of %s at %g", s.name, s.content, r.Name, x)
					continue
				}
				values := points[i].Values
				if values[Reads]+values[Posts]+values[Lifts] <= 0 {
					t.Errorf("%s, %s, %s at %g: nothing was done: %v", s.name, s.content, r.Name, x, values)
				}
				// A strategy that stores feeds writes a post into that of each follower, and read into none. (The store's clock is written now and then.)
				if wrote := values[Rows]; r.Name == "followers" && (s.name == "read") != (wrote < 1) {
					t.Errorf("%s, %s: a post for %g followers writes %g rows", s.name, s.content, x, wrote)
				}
				if wrote := values[LiftRows]; r.Name == "lifted" && (s.name == "read") != (wrote < 1) {
					t.Errorf("%s, %s: a comment for %g followers writes %g rows", s.name, s.content, x, wrote)
				}
			}
		}
	}
	run := &Run{Points: points}
	var table, text bytes.Buffer
	if err := run.Table(&table); err != nil {
		t.Fatal(err)
	}
	for _, r := range Ramps {
		if !strings.Contains(table.String(), "\n"+r.Name+": ") {
			t.Errorf("the table lacks %s:\n%s", r.Name, table.String())
		}
	}
	if err := run.JSON(&text); err != nil {
		t.Fatal(err)
	}
	if again, err := Read(&text); err != nil || len(again.Points) != len(points) {
		t.Errorf("read the run again: %d points, %v, want %d", len(again.Points), err, len(points))
	}
}
