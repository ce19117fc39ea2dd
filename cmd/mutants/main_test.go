package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
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

// All mutants compile. Those whose edits leave each other room are checked together.
func TestMutantsCompile(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	built := listPackages(t, root)
	for rest := mutants; len(rest) > 0; {
		var later []mutant
		var names []string
		texts, folders := map[string]string{}, map[string]bool{}
		for _, m := range rest {
			if after, ok := applied(t, root, texts, m.edits); ok {
				texts, names = after, append(names, m.name)
			} else {
				later = append(later, m)
			}
		}
		for file := range texts {
			folders[path.Dir(file)] = true
		}
		if len(later) == len(rest) {
			t.Fatalf("%d mutants do not fit the sources", len(later))
		}
		for _, folder := range slices.Sorted(maps.Keys(folders)) {
			if err := built.check(folder, texts); err != nil {
				t.Errorf("%v with %q", err, names)
			}
		}
		rest = later
	}
}

// packages are the program's packages as built, by import path.
type packages map[string]builtPackage

type builtPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

func listPackages(t *testing.T, root string) packages {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := packages{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p builtPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	return all
}

// check looks for what the compiler would refuse in the package of a folder, with these texts
// in place of its files. Its imports are as they were built.
func (all packages) check(folder string, texts map[string]string) error {
	p := all["riverrun/"+folder]
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		var source any
		if text := texts[folder+"/"+name]; text != "" {
			source = text
		}
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(all[path].Export)
	})}
	_, err := conf.Check(p.ImportPath, fset, files, nil)
	return err
}

// applied returns the edited files with further edits; ok is false if one does not fit.
func applied(t *testing.T, root string, texts map[string]string, edits []edit) (after map[string]string, ok bool) {
	t.Helper()
	after = maps.Clone(texts)
	for _, e := range edits {
		if after[e.file] == "" {
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				t.Fatal(err)
			}
			after[e.file] = string(text)
		}
		edited, err := e.apply(after[e.file])
		if err != nil {
			return nil, false
		}
		after[e.file] = edited
	}
	return after, true
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
