package tiers_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
)

// heard remembers the statements of a pool, those of batches too.
type heard struct {
	mu  sync.Mutex // guards sql
	sql []string
}

func (h *heard) add(sql string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sql = append(h.sql, strings.Join(strings.Fields(sql), " "))
}

// take returns the statements since the last call.
func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.sql
	h.sql = nil
	return taken
}

func (h *heard) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	h.add(d.SQL)
	return ctx
}
func (h *heard) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (h *heard) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (h *heard) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	h.add(d.SQL)
}
func (h *heard) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// A change and all that follows from it before its answer costs few statements, however many rivers show
// the post: one look-up, one snapshot with its setting, and one write, besides the change's own
// transaction.
func TestAChangeCostsFewStatements(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	open := func(pool *pgxpool.Pool) (*pgxpool.Pool, *heard) {
		h := &heard{}
		cfg := pool.Config()
		cfg.ConnConfig.Tracer = h
		traced, err := pgxpool.NewWithConfig(w.ctx, cfg)
		t.Cleanup(must(w, traced, err).Close)
		return traced, h
	}
	primary, ofPrimary := open(w.db.Primary)
	secondary, ofSecondary := open(w.db.Secondary)
	log := slog.New(slog.DiscardHandler)
	opts := options
	opts.BestOf = 10 // nothing comes near
	n := &node{secondary: secondary, store: timelines.Open(primary, w.queue, opts)}
	// They are not started: what a node does now and then, for all changes together, belongs to none.
	n.rivers = rivers.Open(secondary, n.store, log, rivers.DefaultOptions())
	n.tiers = tiers.New(tiers.Config{Timelines: n.store, Rivers: n.rivers, Secondary: secondary, Log: log})
	w.follow(n, ann, "bob")
	w.follow(n, cat, "bob")
	post := w.post(n, bob, "first")
	for _, v := range []timelines.Viewer{ann, bob, cat} {
		w.visit(n, v, rivers.Home, "")
	}
	w.like(n, ann, post.Code) // the node knows these timelines from now on
	w.comment(n, ann, post.Code, "so")
	w.unlike(n, ann, post.Code)
	for _, c := range []struct {
		name               string
		primary, secondary int
		act                func() timelines.Change
	}{
		{"a like", 10, 2, func() timelines.Change { return w.like(n, ann, post.Code) }},
		{"its end", 11, 2, func() timelines.Change { return w.unlike(n, ann, post.Code) }},
		{"a comment", 13, 2, func() timelines.Change { return w.comment(n, ann, post.Code, "well said") }},
		{"a post", 13, 2, func() timelines.Change { return w.post(n, bob, "second") }},
	} {
		ofPrimary.take()
		ofSecondary.take()
		c.act()
		if got := ofPrimary.take(); len(got) != c.primary {
			t.Errorf("%s: %d statements to the primary store, want %d:\n%s", c.name, len(got), c.primary, strings.Join(got, "\n"))
		}
		if got := ofSecondary.take(); len(got) != c.secondary {
			t.Errorf("%s: %d statements to the secondary store, want %d:\n%s", c.name, len(got), c.secondary, strings.Join(got, "\n"))
		}
	}
	w.sound(n, "at last")
}
