package sources_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	jobs "riverrun/jobs/sources"
	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

func TestMain(m *testing.M) {
	if os.Getenv(killed+"DATABASE") != "" {
		os.Exit(m.Run()) // it has a database
	}
	testdb.Main(m)
}

// world is a store with one source in it.
type world struct {
	testing.TB
	pool   *pgxpool.Pool
	run    jobs.Runner
	source int64
	blobs  string // their folder
}

func newWorld(t testing.TB, mode sources.Mode) *world {
	t.Helper()
	pool := testdb.New(t).Primary
	posts := timelines.Open(pool, nil, timelines.DefaultOptions())
	dir := t.TempDir()
	files, err := blobs.Location{}.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, pool: pool, blobs: dir}
	w.run = jobs.Runner{
		Sources: sources.Open(posts), Blobs: files, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
		Carry: func(_ context.Context, c timelines.Change, err error) (timelines.Change, error) { return c, err },
		Yield: func(ctx context.Context) error { return ctx.Err() },
	}
	ann, err := posts.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Title: "Ann", Password: "wharf-otter-lamp"})
	w.must(err)
	w.must(pool.QueryRow(t.Context(), `
		INSERT INTO sources (owner_id, added_by, code, way, mode, title, settings)
		VALUES ($1, $1, '0123456789', 'file', $2, 'A list', '{"most_gone": 100}') RETURNING id`, ann.ID, mode).Scan(&w.source))
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// upload makes a load of a file.
func (w *world) upload(content string) int64 {
	w.Helper()
	sum, size, err := w.run.Blobs.Put(w.Context(), strings.NewReader(content), 1<<30)
	w.must(err)
	var no int64
	w.must(w.pool.QueryRow(w.Context(), `
		WITH s AS (UPDATE sources SET loads = loads + 1 WHERE id = $1 RETURNING *)
		INSERT INTO loads (source_id, no, version, way, state, settings, file, bytes, created_at)
		SELECT id, loads, version, way, 'waiting', settings, $2, $3, '2026-11-24T10:00:00Z' FROM s RETURNING no`,
		w.source, sum[:], size).Scan(&no))
	return no
}

func (w *world) load(no int64) sources.Load {
	w.Helper()
	l, err := w.run.Sources.Load(w.Context(), w.source, no)
	w.must(err)
	return l
}

func (w *world) list(sql string) []string {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), sql)
	w.must(err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	return list
}

// holds returns everything in the store about the source, except ids, codes, and times that its items
// do not give.
func (w *world) holds() []string {
	w.Helper()
	var all []string
	for _, query := range []string{
		`SELECT format('%s %s %s %s', i.external_id, encode(i.hash, 'hex'), i.kept, p.body) FROM source_items i JOIN posts p ON p.id = i.post_id ORDER BY 1`,
		`SELECT format('%s %s %s', p.body, CASE WHEN p.created_at = date_trunc('hour', p.created_at) THEN p.created_at END, p.deleted_at IS NOT NULL) FROM posts p ORDER BY 1`,
		`SELECT format('%s %s %s %s', p.body, t.kind, t.term, e.withdrawn) FROM timeline_entries e JOIN posts p ON p.id = e.post_id
			JOIN timelines t ON t.id = e.timeline_id ORDER BY 1`,
		`SELECT format('%s %s %s %s %s %s %s %s %s %s %s', no, state, lines, cursor, added, changed, same, skipped, removed, gone, codes) FROM loads ORDER BY no`,
		`SELECT format('%s %s %s', line, code, value) FROM load_problems ORDER BY load_id, line, no`,
	} {
		all = append(all, w.list(query)...)
	}
	return all
}

// csv returns a list of items; every tenth is wrong.
func csv(from, to int, text string) string {
	var b strings.Builder
	b.WriteString("id,title,text,date\n")
	for i := from; i < to; i++ {
		date := fmt.Sprintf("2026-10-%02dT10:00:00Z", 1+i%28)
		if i%10 == 3 {
			date = "some day"
		}
		fmt.Fprintf(&b, "item-%d,Number %d,%s,%s\n", i, i, text, date)
	}
	return b.String()
}

// F14: a file comes in, and its items become posts.
func TestRunLoadsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sources.Sync)
	first, second := w.upload(csv(0, 1200, "as it was")), w.upload(csv(100, 1300, "as it was"))
	w.must(w.run.Run(t.Context(), w.source))
	l := w.load(first)
	if d := cmp.Diff(sources.Counts{Added: 1200, Warnings: 120}, l.Counts); d != "" || l.State != sources.Done {
		t.Errorf("first load: %s (-want +got):\n%s", l.State, d)
	}
	l = w.load(second)
	if d := cmp.Diff(sources.Counts{Added: 100, Same: 1100, Removed: 100, Gone: 100, Warnings: 120}, l.Counts); d != "" || l.State != sources.Done {
		t.Errorf("second load: %s (-want +got):\n%s", l.State, d)
	}
}

// F15, F31: a file that cannot be used changes nothing, and the load says where it is broken.
func TestABrokenFileChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sources.Sync)
	w.upload(csv(0, 30, "as it was"))
	w.must(w.run.Run(t.Context(), w.source))
	before := w.list(`SELECT id || ' ' || version || ' ' || (deleted_at IS NULL) FROM posts ORDER BY id`)
	broken := w.upload(`<?xml version="1.0"?><rss version="2.0"><channel><title>x</title><item><guid>1</guid><title>one</title></item><item><gu`)
	w.must(w.run.Run(t.Context(), w.source))
	if l := w.load(broken); l.State != sources.Failed {
		t.Errorf("a broken file: %s, want failed", l.State)
	}
	if got := w.list(`SELECT problem ->> 'code' FROM loads WHERE state = 'failed'`); len(got) != 1 || got[0] != string(formats.Truncated) {
		t.Errorf("problem: %q, want %s", got, formats.Truncated)
	}
	if d := cmp.Diff(before, w.list(`SELECT id || ' ' || version || ' ' || (deleted_at IS NULL) FROM posts ORDER BY id`)); d != "" {
		t.Errorf("a broken file changed posts:\n%s", d)
	}
}

var errCut = errors.New("cut off")

// F12, F25: wherever loads are cut off, they go on, and end the same way as undisturbed ones.
func TestCutOffLoadsGoOn(t *testing.T) {
	t.Parallel()
	files := []string{csv(0, 1600, "as it was"), csv(200, 1700, "as it was"), csv(200, 1650, "as it is now")}
	calm := newWorld(t, sources.Sync)
	for _, f := range files {
		calm.upload(f)
	}
	calm.must(calm.run.Run(t.Context(), calm.source))
	want := calm.holds()

	w := newWorld(t, sources.Sync)
	for _, f := range files {
		w.upload(f)
	}
	seed, _ := testdb.Chance(t)
	until, cuts := 0, 0
	run := w.run
	run.Blobs = &cutBlobs{run.Blobs, &until}
	run.Yield = func(context.Context) error {
		if until--; until < 0 {
			return errCut
		}
		return nil
	}
	run.Carry = func(_ context.Context, c timelines.Change, err error) (timelines.Change, error) {
		if until--; err == nil && until < 0 {
			err = errCut // after the commit
		}
		return c, err
	}
	for {
		until = int(seed>>(cuts%32)) & 7
		err := run.Run(t.Context(), w.source)
		if err == nil {
			break
		}
		if !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		if cuts++; cuts > 1000 {
			t.Fatal("it never ends")
		}
	}
	if cuts < 3 {
		t.Errorf("only cut off %d times", cuts)
	}
	if d := cmp.Diff(want, w.holds()); d != "" {
		t.Errorf("after %d cuts (-undisturbed +cut off):\n%s", cuts, d)
	}
}

// A run whose source becomes another one between two batches ends, and leaves that one's load alone.
func TestARunEndsWithItsSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sources.Append)
	w.upload(csv(0, 1600, "as it was"))
	state := `SELECT format('%s %s of %s', state, cursor, lines) FROM loads`
	var before []string
	batches := 0
	w.run.Yield = func(ctx context.Context) error {
		if batches++; batches == 2 {
			_, err := w.pool.Exec(ctx, `UPDATE sources SET code = 'zzzzzzzzzz'`)
			w.must(err)
			before = w.list(state)
		}
		return ctx.Err()
	}
	w.must(w.run.Run(t.Context(), w.source))
	if d := cmp.Diff(before, w.list(state)); d != "" || len(before) != 1 {
		t.Errorf("the other source's load (-before +after):\n%s", d)
	}
}

// cutBlobs are cut off while they are read.
type cutBlobs struct {
	blobs.Store
	until *int
}

func (c *cutBlobs) Open(ctx context.Context, sum blobs.Sum, size int64) (io.ReadSeekCloser, error) {
	if *c.until--; *c.until < 0 {
		return nil, errCut
	}
	return c.Store.Open(ctx, sum, size)
}

// Canonical files are not left behind.
func TestCanonicalFilesGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sources.Append)
	w.upload(csv(0, 30, "x"))
	var said bytes.Buffer
	w.run.Log = slog.New(slog.NewTextHandler(&said, nil))
	w.must(w.run.Run(t.Context(), w.source))
	left, err := readDir(w.run.Dir)
	w.must(err)
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if !strings.Contains(said.String(), "items=30") {
		t.Errorf("the log does not say what was read: %s", said.String())
	}
}

func readDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// A dry load says what would happen, and changes nothing. Then the same file is applied.
func TestPreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sources.Sync)
	w.upload(csv(0, 40, "as it was"))
	w.must(w.run.Run(t.Context(), w.source))
	before := w.list(`SELECT id || ' ' || version || ' ' || body FROM posts ORDER BY id`)
	// Two items go, three are changed, ten are new.
	next := csv(2, 50, "as it was")
	for _, id := range []int{7, 8, 9} {
		next = strings.Replace(next, fmt.Sprintf("item-%d,Number %d", id, id), fmt.Sprintf("item-%d,Another %d", id, id), 1)
	}
	no := w.upload(next)
	_, err := w.pool.Exec(t.Context(), `UPDATE loads SET dry = true WHERE no = $1`, no)
	w.must(err)
	w.must(w.run.Run(t.Context(), w.source))
	l := w.load(no)
	if d := cmp.Diff(sources.Counts{Added: 10, Changed: 3, Same: 35, Gone: 2, Warnings: 5}, l.Counts); d != "" || l.State != sources.Previewed {
		t.Errorf("preview: %s (-want +got):\n%s", l.State, d)
	}
	if d := cmp.Diff(before, w.list(`SELECT id || ' ' || version || ' ' || body FROM posts ORDER BY id`)); d != "" {
		t.Errorf("a preview changed posts:\n%s", d)
	}
	applied, err := w.run.Sources.ApplyPreview(t.Context(), w.source, no)
	w.must(err)
	w.must(w.run.Run(t.Context(), w.source))
	l = w.load(applied)
	if d := cmp.Diff(sources.Counts{Added: 10, Changed: 3, Same: 35, Gone: 2, Removed: 2, Warnings: 5}, l.Counts); d != "" || l.State != sources.Done {
		t.Errorf("applied: %s (-want +got):\n%s", l.State, d)
	}
	if _, err := w.run.Sources.ApplyPreview(t.Context(), w.source, applied); !errors.Is(err, sources.ErrNotFound) {
		t.Errorf("applied what is no preview: got %v", err)
	}
}

// F15: a load fails if its author may not post there any more, and is not tried for ever.
func TestAPlaceThatIsClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sources.Append)
	posts := timelines.Open(w.pool, nil, timelines.DefaultOptions())
	bob, err := posts.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "bob", Title: "Bob", Password: "wharf-otter-lamp"})
	w.must(err)
	group, _, err := posts.Groups.Create(t.Context(), timelines.NewGroup{Actor: bob.ID, Name: "rowing", Title: "Rowing", Access: timelines.Private})
	w.must(err)
	_, err = w.pool.Exec(t.Context(), `UPDATE sources SET owner_id = $1`, group.ID)
	w.must(err)
	no := w.upload("id,title\n1,One\n")
	w.must(w.run.Run(t.Context(), w.source))
	if l := w.load(no); l.State != sources.Failed {
		t.Errorf("the load is %s, want failed", l.State)
	}
	if got := w.list(`SELECT s.problem || ' ' || (l.problem ->> 'code') || ' ' || (l.problem ->> 'excerpt') FROM sources s, loads l`); len(got) != 1 || got[0] != "place_closed place_closed rowing" {
		t.Errorf("problem: %v", got)
	}
}
