package rivers

import (
	"slices"
	"testing"
)

// A home feed that has grown far past its depth is built anew as soon as nobody has it open.
// Its reader sees no difference.
func TestARiverGrownFarIsBuiltAnew(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.told(w.follow(ann, "bob"))
	for i := range chunk + 30 {
		w.post(bob, numbered(i))
	}
	w.forget()
	n := w.name(ann, Home, "")
	read := func() (all []string) {
		t.Helper()
		for at := (Cursor{}); ; {
			p, err := w.rivers.Visit(w.ctx, ann, n, at)
			all = append(all, bodies(must(w, p, err))...)
			if !p.More {
				return all
			}
			at = p.Next
		}
	}
	want := read()
	river, page := w.visit(ann, Home, "").River, w.visit(ann, User, "bob").River
	expire := func(retired int64) {
		t.Helper()
		gone, err := w.rivers.Expire(w.ctx)
		if must(w, gone, err).Rivers != retired {
			t.Errorf("expire: got %+v, want %d retired", gone, retired)
		}
		w.sound()
	}
	w.rivers.opts.Depth = (chunk + 30) / 2
	expire(0) // as deep as it may grow
	w.rivers.opts.Depth = 40
	must(w, 0, w.rivers.Lease(w.ctx, []int64{river}))
	expire(0) // it is open
	must(w, 0, w.rivers.Unlease(w.ctx, []int64{river}))
	expire(1)
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("read to its end: %d entries, want %d as before: %q", len(got), len(want), got)
	}
	if got := w.visit(ann, Home, "").River; got == river {
		t.Errorf("no other generation was built")
	}
	// Pages of one timeline are kept as deep as they were read.
	if got := w.visit(ann, User, "bob").River; got != page {
		t.Errorf("a page of one timeline was built anew")
	}
}
