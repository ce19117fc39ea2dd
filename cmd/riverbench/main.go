// Command riverbench measures a riverrun from outside: it makes a town, starts "riverrun serve" as a
// user would, sends requests and follows pages as many signed-in people's browsers do, and prints
// one table. "riverbench -h" lists its rows.
package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"riverrun/cmd/riverbench/report"
	"riverrun/cmd/riverbench/site"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "riverbench:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	site     site.Config
	rows     []row
	repeats  int
	during   time.Duration // of one measurement
	rest     time.Duration // how long nothing happens
	watchers int
	sockets  int
	rivers   int

	json, benchstat string
	baseline        string
	update          bool
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := site.Directory()
	if err != nil {
		return nil, err
	}
	fs := flag.NewFlagSet("riverbench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Float64Var(&o.site.Scale, "scale", 0.1, "size of the town, 0.005 to 10; 1 has 2,000 people and 200,000 posts")
	fs.IntVar(&o.site.Posts, "posts", 0, "how many posts the town has; 0 is the number for its size. More posts bring no more comments and likes")
	fs.Uint64Var(&o.site.Seed, "seed", 1, "of the town, and of what is done in it")
	fs.StringVar(&o.site.Dir, "dir", dir, "where the towns are kept between runs")
	fs.StringVar(&o.site.Riverrun, "riverrun", filepath.Join(filepath.Dir(self), "riverrun"), "the program to measure")
	fs.IntVar(&o.repeats, "repeats", 3, "how often each row is measured")
	fs.DurationVar(&o.during, "during", 2*time.Second, "how long one measurement takes")
	fs.DurationVar(&o.rest, "rest", 10*time.Second, "how long the rows idle and sockets have nothing happen")
	fs.IntVar(&o.watchers, "watchers", 500, "how many open pages the row watch has")
	fs.IntVar(&o.sockets, "sockets", 1000, "how many open pages the rows sockets and crash have")
	fs.IntVar(&o.rivers, "rivers", 1000, "how many people have a home page in the row rivers")
	fs.StringVar(&o.json, "json", "", "a file for the figures as JSON")
	fs.StringVar(&o.benchstat, "benchstat", "", "a file for the figures as benchstat reads them")
	fs.StringVar(&o.baseline, "baseline", "", "a file of ratios to a yardstick; a row that is half again worse is an error")
	fs.BoolVar(&o.update, "update", false, "write the ratios of this run into the file of -baseline instead")
	fs.Usage = func() {
		fmt.Fprint(stderr, "usage: riverbench [flags] [row...]\n       riverbench strategies -h\n       riverbench charts run.json directory\n\nrows, all of them if none is named:\n")
		for _, r := range rows {
			fmt.Fprintf(stderr, "  %-12s %s\n", r.name, r.summary)
		}
		fmt.Fprint(stderr, "\nflags:\n")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	o.site.Log = stderr
	if o.site.Scale < 0.005 || o.site.Scale > 10 {
		return nil, fmt.Errorf("-scale %g: want 0.005 to 10", o.site.Scale)
	}
	if o.site.Posts != 0 && (o.site.Posts < 100 || o.site.Posts > 20_000_000) {
		return nil, fmt.Errorf("-posts %d: want 100 to 20,000,000", o.site.Posts)
	}
	if o.repeats < 1 || o.watchers < 1 || o.sockets < 1 || o.rivers < 1 {
		return nil, errors.New("-repeats, -watchers, -sockets, -rivers: want 1 or more")
	}
	if o.during <= 0 || o.rest <= 0 {
		return nil, errors.New("-during, -rest: want a time")
	}
	if o.update && o.baseline == "" {
		return nil, errors.New("-update needs -baseline")
	}
	for _, name := range fs.Args() {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no row %q", name)
		}
		o.rows = append(o.rows, rows[i])
	}
	if len(o.rows) == 0 {
		o.rows = rows
	}
	// Each repeat of cold and of herd needs somebody who has never come.
	if people := o.site.Size().Accounts; people/2 < 2*o.repeats {
		return nil, fmt.Errorf("a town of %d people is too small for %d repeats", people, o.repeats)
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	switch {
	case len(args) > 0 && args[0] == "strategies":
		return runStrategies(ctx, args[1:], stdout, stderr)
	case len(args) > 0 && args[0] == "charts":
		return runCharts(args[1:])
	}
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	build, err := buildOf(o.site.Riverrun)
	if err != nil {
		return fmt.Errorf("-riverrun: %w", err)
	}
	s, err := site.Open(ctx, o.site)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	b, err := newBench(ctx, o, s)
	if err != nil {
		return err
	}
	defer b.close()
	result := &report.Run{At: time.Now(), Machine: machine(), Build: build, Seed: o.site.Seed, Scale: o.site.Scale, Posts: o.site.Size().Posts}
	if err := o.measure(ctx, result, stdout, b.repeat); err != nil || o.baseline == "" {
		return err
	}
	return judge(o, result, stdout)
}

// measure measures all rows by repeat, and prints and saves them. Where a row fails, the rows before
// it are not lost.
func (o *options) measure(ctx context.Context, result *report.Run, stdout io.Writer, repeat func(context.Context, row) ([]report.Figure, error)) error {
	all := func() error {
		for _, r := range o.rows {
			for i := range o.repeats {
				fmt.Fprintf(o.site.Log, "%s %d/%d\n", r.name, i+1, o.repeats)
				figures, err := repeat(ctx, r)
				if err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
				result.Add(figures...)
			}
		}
		return nil
	}
	return errors.Join(all(), result.Table(stdout), save(o.json, result.JSON), save(o.benchstat, result.Benchstat))
}

// save writes a file, unless its name is empty.
func save(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func machine() string {
	name := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores of %s", runtime.NumCPU(), name)
}

// buildOf names the commit that a program was made of.
func buildOf(program string) (string, error) {
	file, err := exec.LookPath(program)
	if err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", program, err)
	}
	return commit(info), nil
}

// ownBuild names the commit that this program was made of.
func ownBuild() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return commit(info)
}

// commit is the short name of a build's commit, with a plus if its files had been changed.
func commit(info *debug.BuildInfo) string {
	name, changed := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			name = s.Value[:min(8, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	return name + changed
}
