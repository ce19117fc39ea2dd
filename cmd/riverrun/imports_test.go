package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "riverrun"

// folders are all top-level folders that hold code, and what each may import of the others.
// Everything that is not in may is banned, for the reason given. Tests may import what they
// like: a test of the whole needs the whole.
var folders = map[string]struct {
	may []string
	why string
}{
	"cmd":        {may: []string{"web", "jobs", "tiers", "rivers", "timelines", "migrations"}},
	"web":        {may: []string{"tiers", "rivers", "timelines"}, why: "a page must come out the same whichever node runs the jobs, and a node may run none"},
	"jobs":       {may: []string{"tiers", "rivers", "timelines"}, why: "a job must run where nobody serves pages"},
	"tiers":      {may: []string{"rivers", "timelines"}, why: "tiers says what follows a change; who asks and when is above it"},
	"rivers":     {may: []string{"timelines"}, why: "rivers are made from timelines, by whoever needs them"},
	"timelines":  {why: "the primary store is true without anything that is made from it"},
	"migrations": {why: "SQL stands for itself: a migration that calls code changes with it"},
}

// within are packages that may not import some others of their own folder.
var within = []struct{ importer, imported, why string }{
	{"riverrun/timelines", "riverrun/timelines/access", "the store decides by SQL, in the transaction that writes; what nodes remember is for pages"},
	{"riverrun/web/view", "riverrun/web", "an entry is rendered for pages and for sockets: what renders it knows neither"},
	{"riverrun/web/view", "riverrun/web/live", "an entry is rendered for pages and for sockets: what renders it knows neither"},
	{"riverrun/web/live", "riverrun/web", "the hub is told by its configuration what it needs of the site, and can be run without it"},
}

// harnesses are packages that tests share. They import what they like, as tests do, and
// only tests import them.
var harnesses = []string{"web/webtest"}

// outside are packages of others that only some of ours may import.
var outside = []struct {
	path string
	only []string // folders, or packages in them
	why  string
}{
	{"github.com/riverqueue/river", []string{"jobs", "cmd"}, "whoever inserts a job does it through a one-method interface of its own, so that the queue can be replaced"},
	{"github.com/a-h/templ", []string{"web/view", "web/adminpages"}, "HTML is made where pages are"},
	{"github.com/yuin/goldmark", []string{"timelines/markup"}, "the pages and what counts mentions must agree on the grammar"},
	{"github.com/minio/minio-go", []string{"timelines/blobs"}, "where blobs are kept is a setting"},
	{"github.com/xuri/excelize", []string{"web"}, "tables are made for those who look at pages"},
	{"github.com/coder/websocket", []string{"web/live", "cmd/riverbench/load"}, // there as a client
		"the hub owns every socket, or a slow reader is nobody's"},
}

// violations checks a graph of packages, importer to imported, both by path.
func violations(graph map[string][]string) []string {
	var found []string
	for importer, imports := range graph {
		from := folder(importer)
		rule, known := folders[from]
		if !known {
			found = append(found, fmt.Sprintf("%s: no such folder in the layout; a part that grows becomes a sub-package of the folder whose store it owns", importer))
			continue
		}
		if in(importer, harnesses) {
			continue
		}
		for _, imported := range imports {
			if in(imported, harnesses) {
				found = append(found, fmt.Sprintf("%s imports %s: it is for tests alone", importer, imported))
			}
			if to := folder(imported); to != "" && to != from && !slices.Contains(rule.may, to) {
				why := rule.why
				if to == "migrations" {
					why = "only cmd and tests make databases"
				}
				found = append(found, fmt.Sprintf("%s imports %s: %s", importer, imported, why))
			}
			for _, w := range within {
				if importer == w.importer && imported == w.imported {
					found = append(found, fmt.Sprintf("%s imports %s: %s", importer, imported, w.why))
				}
			}
			for _, o := range outside {
				if (imported == o.path || strings.HasPrefix(imported, o.path+"/")) && !in(importer, o.only) {
					found = append(found, fmt.Sprintf("%s imports %s: %s", importer, imported, o.why))
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// in reports whether a package of ours is, or stands in, one of these.
func in(pkg string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return pkg == module+"/"+f || strings.HasPrefix(pkg, module+"/"+f+"/")
	})
}

// folder is the top-level folder of a package of ours, "" for others'.
func folder(pkg string) string {
	rest, ours := strings.CutPrefix(pkg, module+"/")
	if !ours {
		if pkg == module {
			return "."
		}
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

func TestImportsPointOneWay(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	graph := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		graph[p.ImportPath] = p.Imports
	}
	if len(graph[module+"/cmd/riverrun"]) == 0 {
		t.Fatalf("go list found no imports of cmd/riverrun among %d packages", len(graph))
	}
	for _, v := range violations(graph) {
		t.Error(v)
	}
}

func TestViolationsAreFound(t *testing.T) {
	got := violations(map[string][]string{
		"riverrun/cmd/riverrun":      {"riverrun/web", "riverrun/migrations", "github.com/riverqueue/river"},
		"riverrun/web":               {"riverrun/jobs", "riverrun/web/x", "github.com/a-h/templ", "github.com/coder/websocket", "riverrun/web/webtest", "net/http"},
		"riverrun/web/live":          {"riverrun/web", "riverrun/web/view", "github.com/coder/websocket"},
		"riverrun/jobs":              {"riverrun/web", "github.com/riverqueue/river/riverdriver", "github.com/jackc/pgx/v5"},
		"riverrun/web/webtest":       {"riverrun/web", "riverrun/web/live", "riverrun/migrations/testdb", "github.com/coder/websocket"},
		"riverrun/web/view":          {"riverrun/web", "riverrun/rivers", "github.com/a-h/templ/runtime"},
		"riverrun/rivers":            {"riverrun/tiers", "github.com/coder/websocket", "github.com/a-h/templates"},
		"riverrun/rivers/strategies": {"riverrun/migrations/localpg"},
		"riverrun/timelines":         {"riverrun/rivers", "github.com/riverqueue/river/rivertype"},
		"riverrun/util":              {"strings"},
		"riverrun":                   nil,
	})
	for i := range got {
		got[i], _, _ = strings.Cut(got[i], ":")
	}
	want := []string{
		"riverrun/jobs imports riverrun/web",
		"riverrun/rivers imports github.com/coder/websocket",
		"riverrun/rivers imports riverrun/tiers",
		"riverrun/rivers/strategies imports riverrun/migrations/localpg",
		"riverrun/timelines imports github.com/riverqueue/river/rivertype",
		"riverrun/timelines imports riverrun/rivers",
		"riverrun/util",
		"riverrun/web imports github.com/a-h/templ",
		"riverrun/web imports github.com/coder/websocket",
		"riverrun/web imports riverrun/jobs",
		"riverrun/web imports riverrun/web/webtest",
		"riverrun/web/live imports riverrun/web",
		"riverrun/web/view imports riverrun/web",
		"riverrun",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// TestNoOtherFolderHoldsCode sees what go list does not: code in other languages,
// and folders that hold files of other systems only.
func TestNoOtherFolderHoldsCode(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && strings.HasPrefix(d.Name(), ".") || rel == "bin" {
				return filepath.SkipDir
			}
			return nil
		}
		top, _, nested := strings.Cut(filepath.ToSlash(rel), "/")
		if _, known := folders[top]; nested && known {
			return nil
		}
		switch path.Ext(file) {
		case ".go", ".templ", ".sql", ".js", ".sh", ".py":
			t.Errorf("%s stands in none of the folders of the layout", rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
