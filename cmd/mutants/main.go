// Command mutants shows that each step of the protocol has a test that notices when the
// step is done wrong: `make mutants`. It is a tool for who changes riverrun, and no part
// of what is installed.
//
// It compiles the tests of each package once. First all tests of the table must pass;
// then each mutant runs with the one test that is to notice it. A mutant is caught if
// that test fails in an assertion of its own. A test that panics or does not end says
// nothing about the promise, and counts as survived. One line is printed for each, and
// the exit code is 1 if one survives.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	only := flags.String("only", "", "run the mutants whose name or test matches this `expression`")
	times := flags.Int("times", 1, "run each so many `times`")
	atOnce := flags.Int("at-once", 2, "run so `many` at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	like, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(trials), func(t trial) bool {
		return !like.MatchString(string(t.mutant)) && !like.MatchString(t.decides)
	})
	dir, err := os.MkdirTemp("", "riverrun-mutants-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // temporary
	r := &runner{dir: dir}
	if err := r.prepare(ctx, chosen); err != nil {
		return err
	}
	survived := r.tryAll(ctx, out, chosen, *times, *atOnce)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if survived > 0 {
		return fmt.Errorf("%d of %d survived", survived, len(chosen)**times)
	}
	return nil
}

// runner runs tests compiled into a directory.
type runner struct{ dir string }

func (r *runner) binary(folder string) string {
	return filepath.Join(r.dir, strings.ReplaceAll(folder, "/", "-")+".test")
}

// prepare compiles the tests, and runs those named without a mutant.
func (r *runner) prepare(ctx context.Context, chosen []trial) error {
	tests := map[string][]string{} // whole ones together, parts of one each by itself
	for _, t := range chosen {
		if !slices.Contains(tests[t.folder], t.decides) {
			tests[t.folder] = append(tests[t.folder], t.decides)
		}
	}
	for folder, names := range tests {
		build := exec.CommandContext(ctx, "go", "test", "-c", "-o", r.binary(folder), "./"+folder)
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("compile the tests of %s: %w\n%s", folder, err, text)
		}
		whole := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.Contains(name, "/") })
		parts := slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, "/") })
		if len(whole) > 0 {
			parts = append(parts, "("+strings.Join(whole, "|")+")")
		}
		for _, name := range parts {
			if text, err := r.test(ctx, folder, anchored(name), ""); err != nil || strings.Contains(text, "no tests to run") {
				return fmt.Errorf("tests of %s do not pass without any mutant: %w\n%s", folder, err, text)
			}
		}
	}
	return nil
}

// anchored is the expression for go test -run that finds exactly one test, or that part
// of one.
func anchored(name string) string {
	test, part, _ := strings.Cut(name, "/")
	if part != "" {
		part = "/^" + part
	}
	return "^" + test + "$" + part
}

// patience bounds one run of a test binary. None takes long unless it hangs.
const patience = 4 * time.Minute

// test runs tests of a folder with a mutant, "" for none, and returns what they say.
func (r *runner) test(ctx context.Context, folder, names, mutant string) (string, error) {
	cmd := exec.CommandContext(ctx, r.binary(folder), "-test.v", "-test.count=1", "-test.run="+names, "-test.timeout="+patience.String())
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "RIVERRUN_MUTANT="+mutant)
	// Asked to stop, it takes its database server with it.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	return text.String(), err
}

// tryAll tries the mutants and prints a line for each as it ends. It returns how many
// survived.
func (r *runner) tryAll(ctx context.Context, out io.Writer, chosen []trial, times, atOnce int) (survived int) {
	var mu sync.Mutex // guards out and survived
	var all sync.WaitGroup
	next := make(chan trial)
	for range atOnce {
		all.Go(func() {
			for t := range next {
				began := time.Now()
				verdict, said := r.try(ctx, t)
				mu.Lock()
				if verdict != "caught" {
					survived++
				}
				fmt.Fprintf(out, "%-8s  %s  by %s %s%s (%.1fs)\n", verdict, t.mutant, t.folder, t.decides, said, time.Since(began).Seconds())
				mu.Unlock()
			}
		})
	}
	for range times {
		for _, t := range chosen {
			if ctx.Err() == nil {
				next <- t
			}
		}
	}
	close(next)
	all.Wait()
	return survived
}

// try runs one mutant with its test.
func (r *runner) try(ctx context.Context, t trial) (verdict, said string) {
	text, err := r.test(ctx, t.folder, anchored(t.decides), string(t.mutant))
	name, _, _ := strings.Cut(t.decides, "/")
	return judge(name, text, err)
}

// judge says what a run of a test with a mutant shows.
func judge(name, text string, err error) (verdict, said string) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "survived", ", which passed"
	case !errors.As(err, &exit):
		return "survived", ", which did not run: " + err.Error()
	case strings.Contains(text, "panic: test timed out"):
		return "survived", ", which did not end"
	case strings.Contains(text, "panic: "), strings.Contains(text, "fatal error: "):
		return "survived", ", which panicked"
	case !strings.Contains(text, "--- FAIL: "+name+" "):
		return "survived", ", of which nothing was heard"
	}
	return "caught", ""
}
