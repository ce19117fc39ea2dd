package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sources calls fn with every Go file of ours.
func sources(t *testing.T, fn func(path, text string)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path) // it was found there
		fn(filepath.ToSlash(rel), string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each mutant there is runs somewhere and has one test that decides, and no two names
// are alike.
func TestTheTableIsWhole(t *testing.T) {
	declared := map[string]bool{} // by constant, whether the program asks for it
	names := regexp.MustCompile(`(?m)^\t(\w+)\s+Mutant = "`)
	tests := map[string]bool{}
	sources(t, func(path, text string) {
		for _, found := range names.FindAllStringSubmatch(text, -1) {
			declared[found[1]] = false
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(text, -1) {
				tests[filepath.Dir(path)+" "+found[1]] = true
			}
		}
	})
	sources(t, func(path, text string) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "cmd/mutants/") {
			return
		}
		for _, found := range regexp.MustCompile(`mutants\.(?:On|SQL)\(mutants\.(\w+)`).FindAllStringSubmatch(text, -1) {
			declared[found[1]] = true
		}
	})
	table, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, used := range declared {
		if n := strings.Count(string(table), "{mutants."+name+","); n != 1 {
			t.Errorf("%s stands %d times in the table, want 1", name, n)
		}
		if !used {
			t.Errorf("no step asks whether %s runs", name)
		}
	}
	if len(declared) != len(trials) || len(trials) < 20 {
		t.Errorf("%d mutants are declared and %d in the table", len(declared), len(trials))
	}
	said := map[string]bool{}
	for _, tr := range trials {
		test, _, _ := strings.Cut(tr.decides, "/")
		if !tests[tr.folder+" "+test] {
			t.Errorf("%s: there is no %s in %s", tr.mutant, test, tr.folder)
		}
		if said[string(tr.mutant)] {
			t.Errorf("two mutants are called %s", tr.mutant)
		}
		said[string(tr.mutant)] = true
	}
}

// Nothing but a test starts a mutant.
func TestOnlyTestsStartMutants(t *testing.T) {
	starters := []string{}
	sources(t, func(path, text string) {
		if strings.Contains(text, "mutants.Start(") && path != "cmd/mutants/main_test.go" {
			starters = append(starters, path)
		}
	})
	for _, path := range starters {
		if !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s starts a mutant, and is no test", path)
		}
	}
	if len(starters) == 0 || !slices.Contains(starters, "rivers/main_test.go") {
		t.Errorf("mutants are started in %v", starters)
	}
}

func TestJudge(t *testing.T) {
	exit := &exec.ExitError{}
	failed := "=== RUN   TestA\n--- FAIL: TestA (0.1s)\n    a_test.go:3: wrong\nFAIL\n"
	for i, tc := range []struct {
		text string
		err  error
		want string
	}{
		{"--- PASS: TestA (0.1s)\nPASS\n", nil, "survived"},
		{failed, exit, "caught"},
		{failed, fmt.Errorf("run: %w", exit), "caught"},
		{failed, errors.New("no such file"), "survived"},
		{strings.ReplaceAll(failed, "TestA", "TestAB"), exit, "survived"},
		{failed + "panic: test timed out after 1m0s\n", exit, "survived"},
		{failed + "panic: runtime error\n", exit, "survived"},
		{"testdb: start PostgreSQL: no\n", exit, "survived"},
	} {
		if got, said := judge("TestA", tc.text, tc.err); got != tc.want {
			t.Errorf("case %d: got %q%s, want %q", i, got, said, tc.want)
		}
	}
}
