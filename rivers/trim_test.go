package rivers

import (
	"slices"
	"testing"

	"riverrun/timelines"
)

// A home feed that has grown far past its depth is cut back to it, and no reader or writer
// notices.
func TestARiverGrownFarIsTrimmed(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.told(w.follow(ann, "bob"))
	var made []timelines.Change
	for i := range chunk + 30 {
		made = append(made, w.post(bob, numbered(i)))
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
	river := w.visit(ann, Home, "").River
	kept := func() int {
		return w.count(`SELECT count(*) FROM entries e JOIN rivers r ON r.id = e.river_id AND r.state = 'live' AND r.kind = 'home'`)
	}
	expire := func(trimmed int64) {
		t.Helper()
		gone, err := w.rivers.Expire(w.ctx)
		if must(w, gone, err).Trimmed != trimmed {
			t.Errorf("expire: got %+v, want %d trimmed", gone, trimmed)
		}
		w.sound()
	}
	const depth = 40
	w.rivers.opts.Depth = depth
	expire(0) // raised; but a late writer could still bring an older state of what is below
	if got := kept(); got != len(want) {
		t.Errorf("%d entries stand, want %d: too young to be removed", got, len(want))
	}
	w.exec(`UPDATE entries SET updated_at = updated_at - interval '1 hour'`)
	w.exec(`UPDATE rivers SET floor = -9223372036854775808, finished = true`) // as before
	expire(int64(len(want) - depth))
	if got := kept(); got != depth {
		t.Errorf("%d entries stand, want %d", got, depth)
	}
	expire(0)
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("read to its end: %d entries, want %d as before: %q", len(got), len(want), got)
	}
	if got := w.visit(ann, Home, "").River; got != river {
		t.Errorf("another generation was built")
	}

	// A removed entry comes back where it belongs: lifted to the top, or below the floor,
	// where nobody sees it twice.
	w.comment(cat, made[0].Code, "indeed")
	w.like(bob, made[1].Code)
	w.drain()
	if got := w.visit(ann, Home, ""); got.Items[0].Fold.Text.Body != numbered(0) {
		t.Errorf("lifted from below the floor: got %q at the top", bodies(got)[:2])
	}
	back := read()
	slices.Sort(back)
	slices.Sort(want)
	if !slices.Equal(back, want) {
		t.Errorf("after one was lifted: %d entries, want the same %d", len(back), len(want))
	}
	w.sound()

	// Pages of one timeline are kept as deep as they were read.
	page := w.visit(ann, User, "bob")
	w.exec(`UPDATE entries SET updated_at = updated_at - interval '1 hour'`)
	expire(0)
	if got := w.count(`SELECT count(*) FROM entries WHERE river_id = $1`, page.River); got != chunk {
		t.Errorf("%d entries of a page of one timeline, want %d", got, chunk)
	}
}

// Whatever happens around a trim, everything above the floor is there (R5).
func TestTrimMeetsExtension(t *testing.T) {
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
			w.exec(`UPDATE entries SET updated_at = updated_at - interval '1 hour'`)
			w.rivers.opts.Depth = 20
			ctx := pausedAt(w.ctx, point, func() {
				if _, err := w.rivers.Expire(w.ctx); err != nil {
					t.Error(err)
				}
			})
			if err := w.rivers.extend(ctx, p.Name, p.River, floor, chunk); err != nil {
				t.Fatal(err)
			}
			if got := int64(w.count(`SELECT floor FROM rivers WHERE id = $1`, p.River)); got <= floor {
				t.Errorf("the floor fell to %d in spite of the trim", got)
			}
			// An extension that begins from an earlier floor does nothing at all.
			if err := w.rivers.extend(w.ctx, p.Name, p.River, floor, chunk); err != nil {
				t.Fatal(err)
			}
			w.sound()
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
			// With a greater depth again, it is extended from its present floor.
			w.rivers.opts.Depth = 1000
			if p, err := w.rivers.Visit(w.ctx, ann, p.Name, Cursor{Place: floor, PostID: 1}); err != nil || p.Beyond {
				t.Errorf("kept deeper again: beyond %v, %v", p.Beyond, err)
			}
			w.sound()
		})
	}
}
