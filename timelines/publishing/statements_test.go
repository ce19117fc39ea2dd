package publishing_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
	"riverrun/timelines/publishing"
)

// statements counts what connections are asked, as a tracer of them.
type statements struct{ all, counting atomic.Int64 }

func (s *statements) hear(sql string) {
	s.all.Add(1)
	if strings.Contains(sql, "author_counters") {
		s.counting.Add(1)
	}
}

// numbers returns how many statements there were, and how many of them change counters.
func (s *statements) numbers() (all, counting int64) { return s.all.Load(), s.counting.Load() }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.hear(data.SQL)
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	s.hear(data.SQL)
}

func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// tracedBy is the store over connections of its own whose statements are heard.
func (w *town) tracedBy(tracer pgx.QueryTracer) *timelines.Store {
	w.Helper()
	config := w.Pool().Config()
	config.ConnConfig.Tracer = tracer
	return timelines.Open(w.pool(config), nil, timelines.DefaultOptions())
}

func (w *town) pool(config *pgxpool.Config) *pgxpool.Pool {
	w.Helper()
	pool, err := pgxpool.NewWithConfig(w.Context(), config)
	w.must(err)
	w.Cleanup(pool.Close)
	return pool
}

// G11: making a post and deleting it each cost one statement for the counters and totals.
func TestASaveCountsInOneStatement(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	var heard statements
	w.Store = w.tracedBy(&heard)
	p := w.post(ann, "hello")
	if _, counting := heard.numbers(); counting != 1 {
		t.Errorf("making a post counted by %d statements, want 1", counting)
	}
	if _, err := w.Posts.Delete(t.Context(), ann.ID, p.Code); err != nil {
		t.Fatal(err)
	}
	if _, counting := heard.numbers(); counting != 2 {
		t.Errorf("making and deleting it counted by %d statements, want 2", counting)
	}
}

// G10: a page of any preset, wherever it begins, reads few posts of an author who has many, in whichever plan the server makes.
func TestAPageReadsFewPosts(t *testing.T) {
	w := newTown(t)
	const n, page = 4000, 26
	author, now := w.prolific("ann", n)
	w.prolific("bob", n)
	for _, filled := range w.Pool().AcquireAllIdle(t.Context()) { // what these read is counted before
		_, err := filled.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
		filled.Release()
		w.must(err)
	}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		config := w.Pool().Config()
		config.MaxConns = 1 // one connection counts what it reads
		config.ConnConfig.RuntimeParams["plan_cache_mode"] = mode
		pool := w.pool(config)
		store := publishing.Open(pool)
		read := func() (rows int64) {
			t.Helper()
			if _, err := pool.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`); err != nil {
				t.Fatal(err)
			}
			w.must(pool.QueryRow(t.Context(), `
				SELECT (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'posts')
					+ (SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = 'posts')`).Scan(&rows))
			return rows
		}
		for _, preset := range publishing.Presets {
			for where, below := range places(now, n) {
				before := read()
				posts, err := store.Page(t.Context(), author.ID, preset, below, page)
				w.must(err)
				// Ten ranges at most, each as long as a page, and the page itself.
				if rows := read() - before; len(posts) == 0 || rows < int64(len(posts)) || rows > 11*page {
					t.Errorf("%s, %s, %s: %d posts of %d that were read", mode, preset, where, len(posts), rows)
				}
			}
		}
	}
}
