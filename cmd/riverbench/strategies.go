package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"riverrun/cmd/riverbench/charts"
	"riverrun/cmd/riverbench/ramps"
	"riverrun/cmd/riverbench/site"
)

// strategiesUsage is what "riverbench strategies -h" prints before the flags.
const strategiesUsage = `usage: riverbench strategies [flags] [ramp...]

Compares the ways to make home feeds (rivers/strategies) on the ramps:
`

// runStrategies is "riverbench strategies".
func runStrategies(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	dir, err := site.Directory()
	if err != nil {
		return err
	}
	c := ramps.Config{Site: site.Config{Log: stderr}}
	var json, only string
	fs := flag.NewFlagSet("riverbench strategies", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Float64Var(&c.Site.Scale, "scale", 1, "size of the crowd, 0.01 to 10; 1 has 1,024 who read, and 5,000 whom somebody follows")
	fs.Uint64Var(&c.Site.Seed, "seed", 1, "of the crowd, and of what is done in it")
	fs.StringVar(&c.Site.Dir, "dir", dir, "where the PostgreSQL is kept between runs")
	fs.DurationVar(&c.During, "during", time.Second, "how long one measurement takes")
	fs.StringVar(&only, "only", "", "the strategies to measure, with commas between them; all if it is empty")
	fs.StringVar(&json, "json", "", "a file for the figures as JSON")
	fs.Usage = func() {
		fmt.Fprint(stderr, strategiesUsage)
		for _, r := range ramps.Ramps {
			fmt.Fprintf(stderr, "  %-12s %s\n", r.Name, r.Summary)
		}
		fmt.Fprintf(stderr, "\nstrategies: %s\n\nflags:\n", strings.Join(ramps.Names(), ", "))
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return err
	}
	if c.Site.Scale < 0.01 || c.Site.Scale > 10 {
		return fmt.Errorf("-scale %g: want 0.01 to 10", c.Site.Scale)
	}
	if c.During <= 0 {
		return errors.New("-during: want a time")
	}
	for _, name := range fs.Args() {
		if !slices.ContainsFunc(ramps.Ramps, func(r ramps.Ramp) bool { return r.Name == name }) {
			return fmt.Errorf("there is no ramp %q", name)
		}
	}
	c.Ramps = fs.Args()
	if only != "" {
		c.Strategies = strings.Split(only, ",")
	}
	for _, name := range c.Strategies {
		if !slices.Contains(ramps.Names(), name) {
			return fmt.Errorf("there is no strategy %q", name)
		}
	}
	result := &ramps.Run{At: time.Now(), Machine: machine(), Build: ownBuild(), Seed: c.Site.Seed, Scale: c.Site.Scale}
	points, err := ramps.Measure(ctx, c)
	result.Points, result.Took = points, time.Since(result.At).Seconds()
	// Where one strategy fails, the figures of those before it are not lost.
	return errors.Join(err, result.Table(stdout), save(json, result.JSON))
}

// runCharts is "riverbench charts": it draws what "riverbench strategies -json" wrote.
func runCharts(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: riverbench charts run.json directory")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	run, err := ramps.Read(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	for _, c := range charts.All {
		err := save(filepath.Join(args[1], c.File), func(w io.Writer) error { return c.Draw(w, run) })
		if err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
	}
	return nil
}
