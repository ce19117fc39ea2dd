package sources_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// F14, F22, F24, F25: batches come in any order and more than once. Each answer says what happened to
// its items. Absent items go only when all batches have come.
func TestPushes(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.Push, Mode: sources.Sync, Title: "Log book", Settings: sources.Settings{MostGone: 100}})
	k, err := w.sources.Take(t.Context(), s.ID)
	w.must(err)
	defer func() { w.must(k.Close(t.Context())) }()
	push := func(load, no int64, list ...*formats.Item) []sources.Result {
		t.Helper()
		results, _, err := k.Push(t.Context(), load, sources.Batch{No: no, Asked: [32]byte{byte(no)}, Lines: w.lines(list...)})
		w.must(err)
		return results
	}
	a, b, c := item("a", "first", time.Hour), item("b", "second", 2*time.Hour), item("c", "third", 3*time.Hour)
	bad := &formats.Item{ID: "d", Bad: true, Problems: []formats.Problem{{Code: formats.TitleAndTextMissing, Level: formats.LevelError}}}
	l, err := w.sources.Receive(t.Context(), s.ID)
	w.must(err)
	w.same("second batch", push(l.No, 2, c, bad), []sources.Result{
		{ID: "c", Result: sources.ResultAdded}, {ID: "d", Result: sources.ResultRejected, Codes: []formats.Code{formats.TitleAndTextMissing}},
	})
	invalid := func(err error, code string) {
		t.Helper()
		var bad *timelines.InvalidError
		if !errors.As(err, &bad) || bad.Code != code {
			t.Errorf("got %v, want %s", err, code)
		}
	}
	invalid(w.sources.EndPush(t.Context(), s.ID, l.No, 2), "batches_missing")
	first := push(l.No, 1, a, b)
	w.same("the first batch again", push(l.No, 1, a, b), first)
	_, _, err = k.Push(t.Context(), l.No, sources.Batch{No: 1, Asked: [32]byte{7}, Lines: w.lines(c)})
	invalid(err, "batch_used")
	invalid(w.sources.EndPush(t.Context(), s.ID, l.No, 1), "batches_more")
	// A number without bounds is answered as fast.
	invalid(w.sources.EndPush(t.Context(), s.ID, l.No, math.MaxInt64), "batches_missing")
	w.same("announced", len(w.heard.ready), 0)
	for range 2 { // the answer to the first may be lost
		w.must(w.sources.EndPush(t.Context(), s.ID, l.No, 2))
	}
	invalid(w.sources.EndPush(t.Context(), s.ID, l.No, 3), "batches_missing")
	w.same("announced", w.heard.ready, []int64{s.ID})
	next, err := k.Next(t.Context())
	w.must(err)
	w.end(k, &next)
	w.same("counts", next.Counts, sources.Counts{Added: 3, Skipped: 1, Errors: 1})
	w.same("posts", w.shown(), []string{"first", "second", "third"})

	// One is changed here, one there, and one is absent.
	code := value[string](w, `SELECT code FROM posts WHERE body LIKE '[second%'`)
	_, err = w.posts.Posts.Edit(t.Context(), ann.ID, code, "in my own words")
	w.must(err)
	l, err = w.sources.Receive(t.Context(), s.ID)
	w.must(err)
	w.same("results", push(l.No, 1, item("a", "first, corrected", time.Hour), item("b", "second, corrected", 2*time.Hour)), []sources.Result{
		{ID: "a", Result: sources.ResultChanged}, {ID: "b", Result: sources.ResultSkipped},
	})
	w.must(w.sources.EndPush(t.Context(), s.ID, l.No, 1))
	if _, _, err := k.Push(t.Context(), l.No, sources.Batch{No: 2, Lines: w.lines(c)}); !errors.Is(err, sources.ErrStale) {
		t.Errorf("a batch after the end: got %v, want %v", err, sources.ErrStale)
	}
	next, err = k.Next(t.Context())
	w.must(err)
	w.end(k, &next)
	w.same("posts", w.shown(), []string{"first, corrected", "in my own words"})
	var all []sources.Result
	w.must(w.sources.Results(t.Context(), l.ID, 0, func(_ int64, r []sources.Result) error {
		all = append(all, r...)
		return nil
	}))
	w.same("results as they are read", len(all), 2)

	// F20: while an id cannot be read, nothing goes.
	l, err = w.sources.Receive(t.Context(), s.ID)
	w.must(err)
	unreadable := &formats.Item{Title: "who am I", Bad: true, Problems: []formats.Problem{{Code: formats.IDMissing, Level: formats.LevelError}}}
	push(l.No, 1, unreadable)
	w.must(w.sources.EndPush(t.Context(), s.ID, l.No, 1))
	next, err = k.Next(t.Context())
	w.must(err)
	w.end(k, &next)
	w.same("counts with an unreadable id", next.Counts, sources.Counts{Errors: 1, Unreadable: 1})
	w.same("posts", w.shown(), []string{"first, corrected", "in my own words"})

	// A program that begins anew cancels the load that it had begun.
	l, err = w.sources.Receive(t.Context(), s.ID)
	w.must(err)
	again, err := w.sources.Receive(t.Context(), s.ID)
	w.must(err)
	if _, _, err := k.Push(t.Context(), l.No, sources.Batch{No: 1, Lines: w.lines(a)}); !errors.Is(err, sources.ErrStale) {
		t.Errorf("a batch of a cancelled load: got %v, want %v", err, sources.ErrStale)
	}
	push(again.No, 1, a)
}

// A program sends its newest items, unless its source is set to full lists: the next load removes
// nothing, and an item with the title and the address of another is a new one.
func TestProgramsBeginWithNewestItems(t *testing.T) {
	w := newWorld(t)
	s := w.add(w.person("ann"), sources.New{Owner: "ann", Way: sources.Push, Title: "Bot"})
	k, err := w.sources.Take(t.Context(), s.ID)
	w.must(err)
	defer func() { w.must(k.Close(t.Context())) }()
	for _, title := range []string{"one", "two"} {
		l, err := w.sources.Receive(t.Context(), s.ID)
		w.must(err)
		_, _, err = k.Push(t.Context(), l.No, sources.Batch{No: 1, Lines: w.lines(item(title, title, time.Hour))})
		w.must(err)
		w.must(w.sources.EndPush(t.Context(), s.ID, l.No, 1))
		l, err = k.Next(t.Context())
		w.must(err)
		w.end(k, &l)
		w.same("removed", l.Removed+l.Gone, int64(0))
	}
	w.same("posts", value[int64](w, `SELECT count(*) FROM posts WHERE deleted_at IS NULL`), int64(2))

	for id := range 3 {
		build := &formats.Item{ID: fmt.Sprint("build ", id), Title: "The build passed", URL: "https://ci.example/"}
		results, _, err := k.PushItems(t.Context(), sources.Batch{Lines: w.lines(build)})
		w.must(err)
		w.same("result", results[0].Result, sources.ResultAdded)
	}
	w.same("builds", value[int64](w, `SELECT count(*) FROM posts WHERE body LIKE '%build passed%'`), int64(3))
}
