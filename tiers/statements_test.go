package tiers_test

import (
	"context"
	"log/slog"
	"slices"
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

// traced returns a pool like that one, and what is said to it.
func (w *town) traced(pool *pgxpool.Pool) (*pgxpool.Pool, *heard) {
	w.t.Helper()
	h := &heard{}
	cfg := pool.Config()
	cfg.ConnConfig.Tracer = h
	traced, err := pgxpool.NewWithConfig(w.ctx, cfg)
	w.t.Cleanup(must(w, traced, err).Close)
	return traced, h
}

// A change and all that follows from it before its answer costs few statements, however many rivers show
// the post: one look-up, one snapshot with its setting, and one write, besides the change's own
// transaction.
func TestAChangeCostsFewStatements(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	primary, ofPrimary := w.traced(w.db.Primary)
	secondary, ofSecondary := w.traced(w.db.Secondary)
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
		{"a like", 8, 3, func() timelines.Change { return w.like(n, ann, post.Code) }},
		{"its end", 8, 3, func() timelines.Change { return w.unlike(n, ann, post.Code) }},
		{"a comment", 12, 3, func() timelines.Change { return w.comment(n, ann, post.Code, "well said") }},
		{"a post", 13, 3, func() timelines.Change { return w.post(n, bob, "second") }},
	} {
		ofPrimary.take()
		ofSecondary.take()
		c.act()
		inPrimary, inSecondary := ofPrimary.take(), ofSecondary.take()
		t.Logf("%s: %d statements to the primary store, %d to the secondary", c.name, len(inPrimary), len(inSecondary))
		if len(inPrimary) != c.primary {
			t.Errorf("%s: want %d statements to the primary store, got:\n%s", c.name, c.primary, strings.Join(inPrimary, "\n"))
		}
		if len(inSecondary) != c.secondary {
			t.Errorf("%s: want %d statements to the secondary store, got:\n%s", c.name, c.secondary, strings.Join(inSecondary, "\n"))
		}
	}
	w.sound(n, "at last")
}

// The job of a comment costs its node no statement to know that Tier 1 is done, and whether closed rivers miss the
// comment, and whom it tells: all rivers have it, or only the open ones.
func TestTheJobOfACommentCostsNoStatements(t *testing.T) {
	for _, c := range []struct {
		name string
		few  int
		left bool
	}{{"few rivers", rivers.DefaultOptions().Few, false}, {"more than few", -1, true}} {
		t.Run(c.name, func(t *testing.T) {
			w := newTown(t)
			ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
			primary, ofPrimary := w.traced(w.db.Primary)
			secondary, ofSecondary := w.traced(w.db.Secondary)
			n := &node{secondary: secondary, store: timelines.Open(primary, w.queue, options)}
			log, opts := slog.New(slog.DiscardHandler), rivers.DefaultOptions()
			opts.Few = c.few
			n.rivers = rivers.Open(secondary, n.store, log, opts)
			n.tiers = tiers.New(tiers.Config{Timelines: n.store, Rivers: n.rivers, Secondary: secondary, Log: log})
			if err := n.tiers.Start(w.ctx); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := n.tiers.Stop(w.ctx); err != nil {
					t.Error(err)
				}
			}()
			w.follow(n, cat, "bob")
			post := w.post(n, bob, "first")
			w.visit(n, cat, rivers.Home, "") // closed
			e := &ear{t: t, heard: make(chan tiers.Message, 100)}
			defer n.tiers.Subscribe(func(m tiers.Message) { e.heard <- m })()
			made, err := n.store.Comments.Create(w.ctx, timelines.NewComment{Author: ann.AccountID, Code: post.Code, Body: "well said"})
			made, err = n.tiers.Carry(w.ctx, made, err)
			if err != nil {
				t.Fatal(err)
			}
			e.until(isPost(made.PostID)) // Tier 1 is done
			ofPrimary.take()
			ofSecondary.take()
			touched := []timelines.Touched{{PostID: made.PostID, Timelines: made.Touched}}
			left, err := n.tiers.DistributeFirst(w.ctx, touched, made.Name)
			if err != nil || left != c.left {
				t.Errorf("the job: left %t, %v, want %t", left, err, c.left)
			}
			told, err := n.rivers.Told(w.ctx, touched)
			if err != nil || !slices.Equal(told, []int64{bob.AccountID}) {
				t.Errorf("the job tells %v, %v, want the author of the post, %d", told, err, bob.AccountID)
			}
			said := slices.DeleteFunc(append(ofPrimary.take(), ofSecondary.take()...), func(sql string) bool {
				return strings.Contains(sql, "pg_notify") // the bus, for many changes together
			})
			if len(said) > 0 {
				t.Errorf("the job cost %d statements, want none:\n%s", len(said), strings.Join(said, "\n"))
			}
		})
	}
}
