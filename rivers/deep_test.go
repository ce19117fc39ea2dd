package rivers

import (
	"slices"
	"testing"
)

// A home feed that has grown far past its depth is built anew when nobody has it open. Its
// reader sees no difference.
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
	expire(0) // it may be opened at any moment
	w.exec(`UPDATE visits SET visited_at = visited_at - interval '2 minutes'`)
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

// A river may be retired while it is extended. Its reader gets all entries (R5).
func TestADeepRiverIsRetiredDuringAnExtension(t *testing.T) {
	for _, point := range []string{afterSnapshot, afterEntries} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann := w.person("ann")
			for i := range chunk + 60 {
				w.post(ann, numbered(i))
			}
			w.forget()
			p := w.visit(ann, Home, "")
			floor := int64(w.count(`SELECT floor FROM rivers WHERE id = $1`, p.River))
			ctx := pausedAt(w.ctx, point, func() {
				w.rivers.opts.Depth = 20
				must(w, 0, w.rivers.maintenance.flush(w.ctx))
				w.exec(`UPDATE visits SET visited_at = visited_at - interval '2 minutes'`)
				if gone, err := w.rivers.Expire(w.ctx); err != nil || gone.Rivers != 1 {
					t.Errorf("expire: got %+v, %v; want the river retired", gone, err)
				}
			})
			must(w, 0, w.rivers.extend(ctx, p.Name, p.River, floor, chunk))
			w.sound()
			w.rivers.opts.Depth = 1000
			seen := 0
			for at := (Cursor{}); ; at = p.Next {
				var err error
				p, err = w.rivers.Visit(w.ctx, ann, p.Name, at)
				if seen += len(must(w, p, err).Items); !p.More {
					break
				}
			}
			if seen != chunk+60 {
				t.Errorf("read %d entries, want %d", seen, chunk+60)
			}
			w.sound()
		})
	}
}
