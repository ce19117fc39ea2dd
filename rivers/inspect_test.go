package rivers

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An inspection says how a river stands, and builds none.
func TestInspect(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	w.post(bob, "his")
	w.post(ann, "mine")
	name := w.name(ann, Home, "")
	inspect := func(n Name) *Inspection {
		t.Helper()
		it, err := w.rivers.Inspect(w.ctx, n)
		must(w, 0, err)
		return it
	}
	if it := inspect(name); it.River != 0 || it.Nodes != 0 || it.AllReaders != 0 {
		t.Errorf("before the visit: got %+v, want no river", it)
	}
	p := w.visit(ann, Home, "")
	it := inspect(name)
	timelines := w.count(`SELECT count(*) FROM rivers_timelines WHERE river_id = $1`, p.River)
	if it.River != p.River || it.Entries != 2 || it.Why != ForVisit || it.Nodes != 0 || !it.Finished || it.Building ||
		int64(it.AllTimelines) != int64(timelines) || len(it.Timelines) != it.AllTimelines || it.Began.IsZero() {
		t.Errorf("after the visit: got %+v; want river %d with 2 entries of %d timelines", it, p.River, timelines)
	}
	must(w, 0, w.rivers.Lease(w.ctx, []int64{p.River, w.visit(bob, Home, "").River, w.visit(bob, Everything, "").River}))
	if it := inspect(name); it.Nodes != 1 || !slices.Equal(it.Readers, []int64{ann.AccountID}) {
		t.Errorf("open: got %d processes and readers %v, want 1 and ann alone", it.Nodes, it.Readers)
	}
	// A page of all: the rivers of others are the same page.
	if it := inspect(w.name(ann, Everything, "")); it.River != 0 || it.AllReaders != 1 || !slices.Equal(it.Readers, []int64{bob.AccountID}) {
		t.Errorf("everything: got %+v, want no river of ann, and bob as its reader", it)
	}
	w.follow(ann, "bob")
}

// A river that is rebuilt by request holds the same as before, in another generation that says why.
func TestRemake(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	for i := range 30 {
		w.post(bob, fmt.Sprint(i))
	}
	w.drain()
	name := w.name(ann, Home, "")
	if err := w.rivers.Remake(w.ctx, name); !errors.Is(err, ErrNotFound) {
		t.Errorf("without a river: got %v, want ErrNotFound", err)
	}
	before := w.visit(ann, Home, "")
	entries := func(river int64) map[int64]entry {
		t.Helper()
		var floor int64
		must(w, 0, w.db.Secondary.QueryRow(w.ctx, `SELECT floor FROM rivers WHERE id = $1`, river).Scan(&floor))
		all, err := w.rivers.storedEntries(w.ctx, live{id: river, floor: floor})
		must(w, 0, err)
		for id, e := range all {
			e.River = 0
			all[id] = e
		}
		return all
	}
	was := entries(before.River)
	must(w, 0, w.rivers.Remake(w.ctx, name))
	it, err := w.rivers.Inspect(w.ctx, name)
	must(w, 0, err)
	if it.River == before.River || it.Why != ForRequest {
		t.Errorf("got generation %d because of %q, want another than %d because of %q", it.River, it.Why, before.River, ForRequest)
	}
	if diff := cmp.Diff(was, entries(it.River), cmp.AllowUnexported(entry{}, overlay{})); diff != "" || len(was) != 30 {
		t.Errorf("%d entries before; the rebuilt river differs (-was +is):\n%s", len(was), diff)
	}
	w.sound()
}

// Counts are of all that stands, whoever built it.
func TestCounts(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.post(bob, "his")
	w.drain()
	open := w.visit(ann, Everything, "")
	w.visit(bob, Everything, "")
	w.visit(bob, Home, "")
	must(w, 0, w.rivers.Lease(w.ctx, []int64{open.River}))
	got, err := w.rivers.Counts(w.ctx, time.Minute)
	must(w, 0, err)
	want := []KindCount{{Kind: Everything, Live: 2, Open: 1, Entries: 2}, {Kind: Home, Live: 1, Entries: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// Entries are counted of the first rivers of a kind, however many stand.
func TestCountsReadSomeRivers(t *testing.T) {
	w := newTown(t)
	const rivers, each = 3 * countedOfKind, 5
	w.exec(`INSERT INTO rivers (id, user_id, their_id, epoch, floor, state, kind, knows)
		SELECT i, i, 0, c.epoch, 0, 'live', 'home', '1:1:' FROM clock c, generate_series(1, $1::int) i`, rivers)
	w.exec(`INSERT INTO entries (river_id, post_id, version, fresh_at)
		SELECT i, p, 1, p FROM generate_series(1, $1::int) i, generate_series(1, $2::int) p`, rivers, each)
	asked := &questions{}
	store := Open(traced(t, w.db.SecondaryURL, asked), w.store, slog.New(slog.DiscardHandler), DefaultOptions())
	got, err := store.Counts(w.ctx, time.Minute)
	must(w, 0, err)
	if diff := cmp.Diff([]KindCount{{Kind: Home, Live: rivers, Entries: rivers * each, Estimated: true}}, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	looked := 0
	for _, d := range asked.take() {
		if !strings.Contains(d.SQL, "FROM entries") {
			continue
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			looked++
			if n := w.explainedIn(mode, d.SQL, d.Args...).looksAt("entries"); n != countedOfKind*each {
				t.Errorf("%s: looks at %d entries, want those of %d rivers, %d", mode, n, countedOfKind, countedOfKind*each)
			}
		}
	}
	if looked != 2 {
		t.Errorf("%d plans, want 2", looked)
	}
}
