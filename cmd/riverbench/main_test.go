package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/cmd/riverbench/report"
	"riverrun/cmd/riverbench/town"
	"riverrun/migrations"
	"riverrun/migrations/localpg"
	"riverrun/migrations/testdb"
)

// All rows of the table come out of a small town, as they do out of a large one.
func TestRiverbench(t *testing.T) {
	dir := testdb.Dir(t)
	program := filepath.Join(dir, "riverrun")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=auto", "-o", program, "../riverrun").CombinedOutput(); err != nil {
		t.Fatalf("build riverrun: %v\n%s", err, out)
	}
	// Towns of an older generator or schema, of the same size and of another one.
	towns := filepath.Join(dir, "bench")
	counts := func(scale float64) string {
		s := town.SizeOf(scale)
		return fmt.Sprintf("_%d_%d_%d_%d", s.Accounts, s.Groups, s.Posts, s.Likes)
	}
	same, other := counts(0.005), counts(0.01)
	databases(t, towns, "town_1"+same, "town_2"+same+"_0_1", "town_1"+other)
	file := filepath.Join(dir, "run.json")
	var table bytes.Buffer
	err := run(t.Context(), []string{
		"-riverrun", program, "-dir", towns, "-scale", "0.005", "-repeats", "1", "-during", "20ms",
		"-rest", "100ms", "-watchers", "20", "-sockets", "20", "-rivers", "10", "-json", file,
	}, &table, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got report.Run
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	newest, err := migrations.Newest()
	if err != nil {
		t.Fatal(err)
	}
	kept, want := databases(t, towns), []string{"postgres", "town_1" + other, fmt.Sprintf("town_1%s_%d_%d", same, town.Version, newest)}
	slices.Sort(want)
	if !slices.Equal(kept, want) {
		t.Errorf("after the run: got the databases %v, want %v", kept, want)
	}
	if want := commitOf(t, program); got.Build != want {
		t.Errorf("the build is %s, want %s, that of the program", got.Build, want)
	}
	found := map[string]float64{}
	for _, f := range got.Figures {
		if len(f.Values) != 1 {
			t.Errorf("%s, %s: got %d values, want 1", f.Row, f.Name, len(f.Values))
		}
		if f.Row == "watch" && f.Peer != 0 {
			t.Errorf("watch, %s: got the peer's %v, which was measured with 500 watchers", f.Name, f.Peer)
		}
		found[f.Row+" "+f.Name] = f.Median()
	}
	for _, r := range rows {
		if !strings.Contains(table.String(), "\n"+r.name+" ") {
			t.Errorf("the table lacks the row %s:\n%s", r.name, table.String())
		}
	}
	for _, name := range []string{
		"home p50", "home page", "single p50", "cold p50", "like p50", "like statements", "comment p50", "post p50", "pushed p50 at 100/s", "watch like, last of 20", "sockets opened", "crash the server is back", "crash median of 20", "older pages down",
		"older p50", "group p50", "best p50", "search p50", "search first, p50", "rivers many, rivers", "rivers many, like", "rivers many, entries",
		"client scripts, compressed",
	} {
		if found[name] <= 0 {
			t.Errorf("%s: got %v, want more than 0", name, found[name])
		}
	}
	// Some aims are of more watchers and sockets.
	number := regexp.MustCompile(`(of|for) \d+$`)
	measured := map[string]bool{}
	for name := range found {
		measured[number.ReplaceAllString(name, "n")] = true
	}
	for name := range aims {
		if !measured[number.ReplaceAllString(name, "n")] {
			t.Errorf("an aim of %q, which is not measured", name)
		}
	}
	for _, f := range got.Figures {
		if name := f.Row + " " + f.Name; f.Aim != 0 && (name == "sockets memory of the server" || name == "watch like, processor, server") {
			t.Errorf("%s: got the aim %v, which is for more open pages", name, f.Aim)
		}
	}
	for name, want := range map[string]float64{"herd builds": 1} {
		if found[name] != want {
			t.Errorf("%s: got %v, want %v", name, found[name], want)
		}
	}
}

// databases makes these databases in the PostgreSQL of a directory, and returns the names of all.
func databases(t *testing.T, dir string, names ...string) []string {
	t.Helper()
	cluster, err := localpg.Start(t.Context(), localpg.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	conn, err := pgx.Connect(t.Context(), cluster.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.Query(t.Context(), `SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY datname COLLATE "C"`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	return all
}

// commitOf is the commit of a program, as go names it.
func commitOf(t *testing.T, program string) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`vcs\.revision=(\w{8})`).FindSubmatch(text)
	if found == nil {
		return "unknown"
	}
	name := string(found[1])
	if strings.Contains(string(text), "vcs.modified=true") {
		name += "+"
	}
	return name
}

// The rows before one that fails are printed and saved.
func TestARowThatFails(t *testing.T) {
	dir := t.TempDir()
	o := &options{rows: []row{{name: "home"}, {name: "single"}}, repeats: 2, json: filepath.Join(dir, "json"), benchstat: filepath.Join(dir, "benchstat")}
	o.site.Log = t.Output()
	wrong := errors.New("wrong")
	var table bytes.Buffer
	err := o.measure(t.Context(), &report.Run{}, &table, func(_ context.Context, r row) ([]report.Figure, error) {
		if r.name == "single" {
			return nil, wrong
		}
		return []report.Figure{{Row: r.name, Name: "p50", Values: []float64{2.5}}}, nil
	})
	if !errors.Is(err, wrong) || !strings.Contains(err.Error(), "single") {
		t.Errorf("got %v, want that single is wrong", err)
	}
	texts := map[string]string{"the table": table.String()}
	for _, file := range []string{o.json, o.benchstat} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	for name, text := range texts {
		if !strings.Contains(text, "2.5") {
			t.Errorf("%s lacks the row home: %s", name, text)
		}
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{{"-scale", "11"}, {"-repeats", "0"}, {"-watchers", "0"}, {"-during", "0"}, {"-scale", "0.02", "-repeats", "11"}, {"-update"}, {"-posts", "5"}, {"-rivers", "0"}, {"nothing"}, {"-nothing"}} {
		if _, err := parse(args, t.Output()); err == nil {
			t.Errorf("parse(%q): no error", args)
		}
	}
}
