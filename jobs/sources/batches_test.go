package sources_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/sources"
)

// F14: a batch writes at most MostItems, and looks at more lines where few have changed.
func TestBatchesGrowWhereFewChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sources.Sync)
	type batch struct{ lines, written int64 }
	var batches []batch
	var before sources.Load
	carry := w.run.Carry
	w.run.Carry = func(ctx context.Context, c timelines.Change, err error) (timelines.Change, error) {
		c, err = carry(ctx, c, err)
		if err == nil && before.No > 0 {
			l := w.load(before.No)
			if l.Cursor > before.Cursor {
				batches = append(batches, batch{l.Cursor - before.Cursor, l.Added + l.Changed - before.Added - before.Changed})
			}
			before = l
		}
		return c, err
	}
	const all = 6000
	file := func(from, to int) string {
		var b strings.Builder
		b.WriteString("id,title,text\n")
		for i := range all {
			text := "as it was"
			if i >= from && i < to {
				text = "changed"
			}
			fmt.Fprintf(&b, "item-%d,Number %d,%s\n", i, i, text)
		}
		return b.String()
	}
	run := func(content string, most int, want sources.Counts) {
		t.Helper()
		batches, before = nil, sources.Load{No: w.upload(content)}
		w.must(w.run.Run(t.Context(), w.source))
		l := w.load(before.No)
		if l.State != sources.Done || l.Counts != want {
			t.Errorf("got %s, %+v, want %+v", l.State, l.Counts, want)
		}
		var lines int64
		for _, b := range batches {
			lines += b.lines
			if b.lines > sources.MostLines || b.written > sources.MostItems {
				t.Errorf("a batch looked at %d lines and wrote %d items", b.lines, b.written)
			}
		}
		if lines != all || len(batches) > most {
			t.Errorf("%d lines in batches %v, want %d in at most %d batches", lines, batches, all, most)
		}
	}
	run(file(0, 0), all/sources.MostItems, sources.Counts{Added: all})
	run(file(0, 0)+"\n", 4, sources.Counts{Same: all})
	run(file(1900, 2800), 7, sources.Counts{Same: all - 900, Changed: 900})
}
