// Command mutants shows that each step of the protocol has a test that notices when the
// step is done wrong: `make mutants`. It is a tool for who changes riverrun, and no part
// of what is installed.
//
// First all tests of the table must pass. Then each mutant is compiled, as an overlay over
// the sources, and runs with the one test that is to notice it. A mutant is caught if that
// test fails in an assertion of its own. A mutant that does not compile, or a test that
// panics or does not end, says nothing about the promise, and counts as survived. One line
// is printed for each, and the exit code is 1 if one survives.
package main

import (
	"bytes"
	"context"
	"encoding/json"
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
	chosen := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool {
		return !like.MatchString(m.name) && !like.MatchString(m.decides)
	})
	dir, err := os.MkdirTemp("", "riverrun-mutants-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // temporary
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	r := &runner{root: root, dir: dir}
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

// runner runs tests of the sources under root, compiled into dir.
type runner struct{ root, dir string }

// compile compiles the tests of a folder with these edits of the sources, into a directory
// of their own.
func (r *runner) compile(ctx context.Context, folder string, edits []edit) (binary string, err error) {
	dir, err := os.MkdirTemp(r.dir, "")
	if err != nil {
		return "", err
	}
	list, err := r.overlay(dir, edits)
	if err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "tests")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, "./"+folder)
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the tests of %s: %w\n%s", folder, err, text)
	}
	return binary, nil
}

// overlay writes the edited sources into dir, and returns the file that names them for go
// build.
func (r *runner) overlay(dir string, edits []edit) (list string, err error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, e := range edits {
		path := filepath.Join(r.root, filepath.FromSlash(e.file))
		if overlay.Replace[path] == "" {
			overlay.Replace[path] = path
		}
		text, err := os.ReadFile(overlay.Replace[path])
		if err != nil {
			return "", err
		}
		edited, err := e.apply(string(text))
		if err != nil {
			return "", err
		}
		overlay.Replace[path] = filepath.Join(dir, strings.ReplaceAll(e.file, "/", "-"))
		if err := os.WriteFile(overlay.Replace[path], []byte(edited), 0o600); err != nil {
			return "", err
		}
	}
	doc, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, doc, 0o600)
}

// apply returns the text of the file with the edit.
func (e edit) apply(text string) (string, error) {
	if n := strings.Count(text, e.old); n != 1 {
		return "", fmt.Errorf("%s has this %d times, want once: %s", e.file, n, e.old)
	}
	return strings.Replace(text, e.old, e.new, 1), nil
}

// prepare runs the tests of the chosen mutants without any mutant.
func (r *runner) prepare(ctx context.Context, chosen []mutant) error {
	tests := map[string][]string{} // whole ones together, parts of one each by itself
	for _, m := range chosen {
		if !slices.Contains(tests[m.folder], m.decides) {
			tests[m.folder] = append(tests[m.folder], m.decides)
		}
	}
	for folder, names := range tests {
		binary, err := r.compile(ctx, folder, nil)
		if err != nil {
			return err
		}
		whole := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.Contains(name, "/") })
		parts := slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, "/") })
		if len(whole) > 0 {
			parts = append(parts, "("+strings.Join(whole, "|")+")")
		}
		for _, name := range parts {
			if text, err := r.test(ctx, binary, folder, anchored(name)); err != nil || strings.Contains(text, "no tests to run") {
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

// test runs compiled tests of a folder and returns their output.
func (r *runner) test(ctx context.Context, binary, folder, names string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.count=1", "-test.run="+names, "-test.timeout="+patience.String())
	cmd.Dir = folder
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
func (r *runner) tryAll(ctx context.Context, out io.Writer, chosen []mutant, times, atOnce int) (survived int) {
	var mu sync.Mutex // guards out and survived
	var all sync.WaitGroup
	next := make(chan mutant)
	for range atOnce {
		all.Go(func() {
			for m := range next {
				began := time.Now()
				verdict, said := r.try(ctx, m)
				mu.Lock()
				if verdict != "caught" {
					survived++
				}
				fmt.Fprintf(out, "%-8s  %s  by %s %s%s (%.1fs)\n", verdict, m.name, m.folder, m.decides, said, time.Since(began).Seconds())
				mu.Unlock()
			}
		})
	}
	for range times {
		for _, m := range chosen {
			if ctx.Err() == nil {
				next <- m
			}
		}
	}
	close(next)
	all.Wait()
	return survived
}

// try runs one mutant with its test.
func (r *runner) try(ctx context.Context, m mutant) (verdict, said string) {
	binary, err := r.compile(ctx, m.folder, m.edits)
	if err != nil {
		return "survived", ", which did not run: " + err.Error()
	}
	text, err := r.test(ctx, binary, m.folder, anchored(m.decides))
	// It is not used again, and some tens of binaries fill a small disk.
	if err := os.RemoveAll(filepath.Dir(binary)); err != nil {
		return "survived", ", whose binary stays: " + err.Error()
	}
	name, _, _ := strings.Cut(m.decides, "/")
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
