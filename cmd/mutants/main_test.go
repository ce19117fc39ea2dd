package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each mutant still fits the sources, and its test is there.
func TestTheTableIsWhole(t *testing.T) {
	root := filepath.Join("..", "..")
	names := map[string]bool{}
	for _, m := range mutants {
		if names[m.name] {
			t.Errorf("two mutants are called %s", m.name)
		}
		names[m.name] = true
		if len(m.edits) == 0 {
			t.Errorf("%s changes nothing", m.name)
		}
		for _, e := range m.edits {
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				t.Fatal(err)
			}
			if edited, err := e.apply(string(text)); err != nil || edited == string(text) {
				t.Errorf("%s: the text is as before, or %v", m.name, err)
			}
		}
		test, _, _ := strings.Cut(m.decides, "/")
		if !hasTest(t, filepath.Join(root, filepath.FromSlash(m.folder)), test) {
			t.Errorf("%s: there is no %s in %s", m.name, test, m.folder)
		}
	}
	if len(mutants) < 40 {
		t.Errorf("the table has %d mutants", len(mutants))
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
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
