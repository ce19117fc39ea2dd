package sources_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// world is a store with sources.
type world struct {
	testing.TB
	pool    *pgxpool.Pool
	posts   *timelines.Store
	sources *sources.Store
	heard   *announced
	// feed is what the files of loads say about themselves.
	feed formats.Feed
	// dry makes loads that apply nothing.
	dry bool
}

// announced remembers which posts were announced.
type announced struct {
	mu    sync.Mutex
	posts []int64
	ready []int64 // sources
	due   []timelines.SourceDue
}

func (a *announced) AnnounceTx(_ context.Context, _ pgx.Tx, events ...timelines.Event) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range events {
		if e, ok := e.(timelines.SourceReady); ok {
			a.ready = append(a.ready, e.SourceID)
		}
		if e, ok := e.(timelines.SourceDue); ok {
			a.due = append(a.due, e)
		}
		if e, ok := e.(timelines.TouchedBatch); ok {
			for _, t := range e {
				a.posts = append(a.posts, t.PostID)
			}
		}
	}
	return nil
}

func (a *announced) take() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.posts)
	a.posts = nil
	return n
}

// all returns the posts announced since the last take.
func (a *announced) all() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]int64{}, a.posts...)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{TB: t, pool: testdb.New(t).Primary, heard: &announced{}}
	w.posts = timelines.Open(w.pool, w.heard, timelines.DefaultOptions())
	w.sources = sources.Open(w.posts)
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) person(name string) timelines.Account {
	w.Helper()
	a, err := w.posts.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Title: name, Password: "wharf-otter-lamp"})
	w.must(err)
	return a
}

func value[T any](w *world, sql string, args ...any) T {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), sql, args...)
	w.must(err)
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
	return v
}

func (w *world) list(sql string, args ...any) []string {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), sql, args...)
	w.must(err)
	v, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	return v
}

func (w *world) same(what string, got, want any) {
	w.Helper()
	if d := cmp.Diff(want, got); d != "" {
		w.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// source adds a source for an owner.
func (w *world) source(owner timelines.Account, title string, mode sources.Mode, settings string) int64 {
	w.Helper()
	return value[int64](w, `
		INSERT INTO sources (owner_id, added_by, code, way, mode, title, settings)
		VALUES ($1, $1, lpad(replace((SELECT count(*) FROM sources)::text, ' ', ''), 10, '0'), 'file', $2, $3, $4) RETURNING id`,
		owner.ID, mode, title, settings)
}

// begin makes a load of a source, and does its first pass.
func (w *world) begin(k *sources.Work, source int64, items []*formats.Item) sources.Load {
	w.Helper()
	no := value[int64](w, `
		WITH s AS (UPDATE sources SET loads = loads + 1 WHERE id = $1 RETURNING *)
		INSERT INTO loads (source_id, no, version, way, state, settings, dry)
		SELECT id, loads, version, way, 'waiting', settings, $2 FROM s RETURNING no`, source, w.dry)
	l, err := w.sources.Load(w.Context(), source, no)
	w.must(err)
	found := formats.Summary{Lines: len(items), Feed: w.feed}
	for _, it := range items {
		if it.ID == "" {
			found.Unknown++
		}
	}
	w.must(k.Begin(w.Context(), &l, found, [32]byte{byte(no), byte(len(items))}))
	return l
}

// announces checks that do announces the posts whose version changes, and no others.
func (w *world) announces(do func()) {
	w.Helper()
	versions := func() map[int64]int64 {
		rows, err := w.pool.Query(w.Context(), `SELECT id, version FROM posts`)
		w.must(err)
		of := map[int64]int64{}
		var post, version int64
		_, err = pgx.ForEachRow(rows, []any{&post, &version}, func() error {
			of[post] = version
			return nil
		})
		w.must(err)
		return of
	}
	before, heard := versions(), len(w.heard.all())
	do()
	raised := []int64{}
	for post, version := range versions() {
		if before[post] != version {
			raised = append(raised, post)
		}
	}
	announced := slices.Clone(w.heard.all()[heard:])
	slices.Sort(raised)
	slices.Sort(announced)
	w.same("posts announced, of those of other versions", slices.Compact(announced), raised)
}

// load applies items in batches of this size, and ends the load unless somebody has to be asked.
func (w *world) load(source int64, batch int, items ...*formats.Item) (l sources.Load) {
	w.Helper()
	w.announces(func() { l = w.loadUnheard(source, batch, items...) })
	return l
}

func (w *world) loadUnheard(source int64, batch int, items ...*formats.Item) sources.Load {
	w.Helper()
	k, err := w.sources.Take(w.Context(), source)
	w.must(err)
	defer func() { w.must(k.Close(w.Context())) }()
	l := w.begin(k, source, items)
	for chunk := range slices.Chunk(w.lines(items...), batch) {
		_, err := k.Apply(w.Context(), &l, chunk)
		w.must(err)
	}
	w.end(k, &l)
	return l
}

// lines returns the canonical lines of items.
func (w *world) lines(items ...*formats.Item) []*formats.Line {
	w.Helper()
	var file []byte
	for _, it := range items {
		file = formats.AppendLine(file, it)
	}
	in, err := formats.ReadCanonical(bytes.NewReader(file), 0)
	w.must(err)
	var list []*formats.Line
	for range items {
		l, err := in.Next()
		w.must(err)
		list = append(list, l.Clone())
	}
	return list
}

func (w *world) end(k *sources.Work, l *sources.Load) {
	w.Helper()
	if l.State == sources.Finishing {
		w.must(k.Finish(w.Context(), l))
	}
	for l.State == sources.Sweeping {
		_, err := k.Sweep(w.Context(), l)
		w.must(err)
	}
}

// shown are the first lines of the posts there are, without the links of titles, the newest first.
func (w *world) shown() []string {
	w.Helper()
	return w.list(`SELECT regexp_replace(split_part(body, E'\n', 1), '^\[(.*)\]\(.*\)$', '\1') FROM posts WHERE deleted_at IS NULL ORDER BY fresh_at DESC, id DESC`)
}

// item returns an item whose title names it.
func item(id, title string, age time.Duration) *formats.Item {
	return &formats.Item{ID: id, Title: title, URL: "https://example.org/" + id, At: time.Now().Add(-age).UTC().Truncate(time.Microsecond)}
}

func items(prefix string, n int) []*formats.Item {
	list := make([]*formats.Item, n)
	for i := range list {
		list[i] = item(fmt.Sprintf("%s-%d", prefix, i), fmt.Sprintf("%s number %d", prefix, i), time.Duration(i)*time.Hour)
	}
	return list
}

func titles(list []*formats.Item) []string {
	var all []string
	for _, it := range list {
		all = append(all, strings.TrimSpace(it.Title))
	}
	return all
}
