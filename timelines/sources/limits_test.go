package sources_test

import (
	"errors"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// apply applies one batch of a new load, and returns it with the error.
func (w *world) apply(source int64, list ...*formats.Item) (sources.Load, error) {
	w.Helper()
	k, err := w.sources.Take(w.Context(), source)
	w.must(err)
	defer func() { w.must(k.Close(w.Context())) }()
	l := w.begin(k, source, list)
	_, err = k.Apply(w.Context(), &l, w.lines(list...))
	if err == nil {
		w.end(k, &l)
	}
	return l, err
}

// A source may have only a number of items. A window may not gather more, load after load. A full
// list may replace all its items.
func TestItemsOfASource(t *testing.T) {
	w := newWorld(t)
	w.sources = w.sources.Within(sources.Limits{Items: 10})
	ann := w.person("ann")
	many := func(err error) {
		t.Helper()
		var fatal *formats.Fatal
		if !errors.As(err, &fatal) || fatal.Code != formats.ItemsMany {
			t.Errorf("got %v, want %s", err, formats.ItemsMany)
		}
	}
	window := w.source(ann, "window", sources.Append, `{}`)
	first, second := items("first", 6), items("second", 6)
	l := w.load(window, 4, first...)
	w.same("how many there are", l.Items, int64(6))
	_, err := w.apply(window, second[:4]...)
	w.must(err)
	_, err = w.apply(window, append(first[:6:6], second[4])...)
	many(err)
	l, err = w.apply(window, first...) // no new ones
	w.must(err)
	w.same("how many there are now", l.Items, int64(10))
	w.same("posts", value[int64](w, `SELECT count(*) FROM posts`), int64(10))

	list := w.source(ann, "list", sources.Sync, `{"most_gone": 100}`)
	w.load(list, 4, items("old", 10)...)
	w.same("all replaced", w.load(list, 4, items("new", 10)...).Counts, sources.Counts{Added: 10, Gone: 10, Removed: 10})
	_, err = w.apply(list, items("more", 11)...)
	many(err)

	// Pushed items are counted too.
	pushed := w.add(ann, sources.New{Owner: "ann", Way: sources.Push, Mode: sources.Append})
	for no, want := range []string{"", "", "items_many"} {
		k, err := w.sources.Take(t.Context(), pushed.ID)
		w.must(err)
		l, err := w.sources.Receive(t.Context(), pushed.ID)
		w.must(err)
		batch := w.lines(items("push", 5*(no+1))[5*no:]...)
		_, _, err = k.Push(t.Context(), l.No, sources.Batch{No: 1, Asked: [32]byte{1}, Lines: batch})
		var bad *timelines.InvalidError
		if (want != "") != errors.As(err, &bad) || bad != nil && (bad.Code != want || bad.Most != 10) || want == "" && err != nil {
			t.Errorf("batch %d: got %v, want %q", no, err, want)
		}
		w.must(k.Close(t.Context()))
	}
}

func TestLimits(t *testing.T) {
	w := newWorld(t)
	usual := sources.DefaultLimits()
	w.same("by default", w.sources.Limits(), usual)
	other := usual
	other.Soonest = 2 * time.Hour
	s := w.sources.Within(sources.Limits{Soonest: 2 * time.Hour}).On(w.pool)
	w.same("one is set", s.Limits(), other)
	w.same("a feed that asks for nothing", s.Limits().Period(0), 2*time.Hour)
}
