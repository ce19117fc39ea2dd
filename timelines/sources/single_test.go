package sources_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// single pushes items without a load of their own, and returns the load that they made.
func (w *world) single(store *sources.Store, source int64, items ...*formats.Item) (sources.Load, error) {
	w.Helper()
	k, err := store.Take(w.Context(), source)
	w.must(err)
	defer func() { w.must(k.Close(w.Context())) }()
	if _, _, err := k.PushItems(w.Context(), sources.Batch{Lines: w.lines(items...)}); err != nil {
		return sources.Load{}, err
	}
	list, err := w.sources.Loads(w.Context(), source, 0, 1)
	w.must(err)
	return list[0], nil
}

// A source is not counted for each single item, unless it has nearly as many items as it may have.
func TestSingleItemsAreCountedOn(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.source(ann, "list", sources.Sync, `{"most_gone": 100}`)
	few := w.sources.Within(sources.Limits{Items: 20})
	has := func(what string, id string, want int64) {
		t.Helper()
		l, err := w.single(few, s, item(id, id, time.Hour))
		w.must(err)
		w.same(what, l.Items, want)
	}
	has("the first", "a", 1)
	has("the second", "b", 2)
	has("again", "b", 2)
	w.load(s, 10, items("entry", 10)...) // a and b are gone
	has("after a list", "c", 11)
	value[int64](w, `UPDATE loads SET items = 15 WHERE no = (SELECT loads FROM sources WHERE id = $1) RETURNING items`, s)
	has("as the last load says", "d", 16)
	value[int64](w, `UPDATE loads SET items = 18 WHERE no = (SELECT loads FROM sources WHERE id = $1) RETURNING items`, s)
	has("counted, for it may be too many", "e", 13)
	for i := range 7 {
		has("more", fmt.Sprint("more", i), int64(14+i))
	}
	var bad *timelines.InvalidError
	if _, err := w.single(few, s, item("f", "f", time.Hour)); !errors.As(err, &bad) || bad.Code != "items_many" {
		t.Errorf("one too many: got %v, want items_many", err)
	}
}

// F32: single items do not push the loads of lists out of what is kept.
func TestSingleItemsLeaveTheHistory(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.source(ann, "list", sources.Append, `{}`)
	for range 3 {
		w.load(s, 10, items("entry", 2)...)
	}
	for i := range 30 {
		_, err := w.single(w.sources, s, item(fmt.Sprint("single", i), fmt.Sprint("single ", i), time.Hour))
		w.must(err)
	}
	w.load(s, 10, items("entry", 2)...)
	_, err := w.sources.CleanUp(t.Context(), 1000)
	w.must(err)
	w.same("loads", w.list(`SELECT no::text FROM loads WHERE source_id = $1 ORDER BY loads.no`, s),
		[]string{"1", "2", "3", "29", "30", "31", "32", "33", "34"})

	// Old lists go as ever.
	for range 20 {
		w.load(s, 10, items("entry", 2)...)
	}
	_, err = w.sources.CleanUp(t.Context(), 1000)
	w.must(err)
	w.same("first loads", w.list(`SELECT no::text FROM loads WHERE source_id = $1 ORDER BY loads.no LIMIT 7`, s),
		[]string{"29", "30", "31", "32", "33", "35", "36"})
}

// The first list of a source is no news, though single items came before.
func TestAFirstListAfterSingleItems(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.source(ann, "list", sources.Append, `{}`)
	_, err := w.single(w.sources, s, item("a", "Single", time.Minute))
	w.must(err)
	_, err = w.posts.Posts.Create(t.Context(), timelines.NewPost{Author: ann.ID, Body: "Written here"})
	w.must(err)
	list := items("entry", 9)[1:] // an hour old, and older
	w.load(s, 10, list...)
	w.same("at the top", w.shown()[0], "Written here")
	w.load(s, 10, append(list, item("late", "Late news", time.Minute))...)
	w.same("at the top after the second list", w.shown()[0], "Late news")
}

// An item that comes alone while a list waits for an answer is there: the answer does not remove it,
// whether it comes before or after.
func TestSingleItemsAreNotGone(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.source(ann, "list", sources.Sync, `{}`)
	all := items("x", 20)
	w.load(s, 30, all...)
	held := w.load(s, 30, all[:5]...)
	w.same("state", held.State, sources.Held)
	w.same("gone", held.Gone, int64(15))
	l, err := w.single(w.sources, s, all[10])
	w.must(err)
	w.same("the same item", l.Same, int64(1))
	asked, err := w.sources.Load(t.Context(), s, held.No)
	w.must(err)
	w.same("gone after the item came", asked.Gone, int64(14))

	w.must(w.sources.Confirm(t.Context(), s, held.No))
	_, err = w.single(w.sources, s, all[11])
	w.must(err)
	k, err := w.sources.Take(t.Context(), s)
	w.must(err)
	defer func() { w.must(k.Close(t.Context())) }()
	swept, err := w.sources.Load(t.Context(), s, held.No)
	w.must(err)
	for swept.State == sources.Sweeping {
		_, err = k.Sweep(t.Context(), &swept)
		w.must(err)
	}
	w.same("state", swept.State, sources.Done)
	w.same("gone, removed", []int64{swept.Gone, swept.Removed}, []int64{13, 13})
	w.same("posts", value[int64](w, `SELECT count(*) FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.source_id = $1 AND p.deleted_at IS NULL`, s), int64(7))
}
