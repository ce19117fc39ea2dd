package sources_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// F3, F25: items become posts once, in their order, whatever the size of batches.
func TestALoadBecomesPosts(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "Ann’s blog", sources.Append, `{}`)
	list := items("entry", 25)
	l := w.load(source, 10, list...)
	w.same("counts", l.Counts, sources.Counts{Added: 25})
	w.same("state", l.State, sources.Done)
	w.same("posts", w.shown(), titles(list))
	w.same("where from", value[string](w, `SELECT DISTINCT via FROM posts`), "Ann’s blog")
	if n := w.heard.take(); n != 25 {
		t.Errorf("%d posts were announced, want 25", n)
	}
	before := w.list(`SELECT id || ' ' || version || ' ' || fresh_at FROM posts ORDER BY id`)
	l = w.load(source, 7, list...)
	w.same("the same again", l.Counts, sources.Counts{Same: 25})
	w.same("posts after the same again", w.list(`SELECT id || ' ' || version || ' ' || fresh_at FROM posts ORDER BY id`), before)
	if n := w.heard.take(); n != 0 {
		t.Errorf("the same again announced %d posts", n)
	}
}

// A first load lifts nothing. Later, new items come to the top, and old ones do not.
func TestNewItemsComeToTheTop(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "blog", sources.Append, `{}`)
	w.load(source, 10, item("a", "a week old", 7*24*time.Hour), item("b", "an hour old", time.Hour))
	_, err := w.posts.Posts.Create(t.Context(), timelines.NewPost{Author: ann.ID, Body: "written here"})
	w.must(err)
	w.load(source, 10, item("c", "half an hour old", time.Hour/2), item("d", "a month old", 30*24*time.Hour))
	w.same("pages show", w.shown(), []string{"half an hour old", "written here", "an hour old", "a week old", "a month old"})
}

// Items that changed change their posts, but posts that were edited or deleted here stay so.
func TestChangedItems(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "blog", sources.Append, `{}`)
	w.load(source, 10, item("a", "first", time.Hour), item("b", "second", 2*time.Hour), item("c", "third", 3*time.Hour))
	code := func(title string) string {
		return value[string](w, `SELECT code FROM posts WHERE body LIKE $1 || '%'`, title)
	}
	_, err := w.posts.Posts.Edit(t.Context(), ann.ID, code("second"), "in my own words")
	w.must(err)
	_, err = w.posts.Posts.Delete(t.Context(), ann.ID, code("third"))
	w.must(err)
	changed := []*formats.Item{item("a", "first, corrected", time.Hour), item("b", "second, corrected", 2*time.Hour), item("c", "third, corrected", 3*time.Hour)}
	l := w.load(source, 10, changed...)
	w.same("counts", l.Counts, sources.Counts{Changed: 1, Skipped: 2})
	w.same("pages show", w.shown(), []string{"first, corrected", "in my own words"})
	l = w.load(source, 10, changed...)
	w.same("counts of the same again", l.Counts, sources.Counts{Same: 3})
}

// F20, F28: a wrong item is noted and not posted, but still counts as present.
func TestWrongItems(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "list", sources.Sync, `{}`)
	good := items("entry", 10)
	w.load(source, 100, good...)
	wrong := *good[3]
	wrong.Title, wrong.Bad = "", true
	wrong.Problems = []formats.Problem{{Code: formats.TitleAndTextMissing, Level: formats.LevelError, Line: 17}}
	twin := *good[4]
	twin.Title, twin.Bad = "a twin", true
	twin.Problems = []formats.Problem{{Code: formats.IDRepeated, Level: formats.LevelError, Field: "id", Value: "entry-4"}}
	warned := *good[5]
	warned.Problems = []formats.Problem{{Code: formats.DateInvalid, Level: formats.LevelWarning, Field: "date", Value: "tomorrow"}}
	next := append([]*formats.Item{good[0], good[1], good[2], &wrong, good[4], &twin, &warned}, good[6:]...)
	l := w.load(source, 4, next...)
	w.same("counts", l.Counts, sources.Counts{Same: 9, Skipped: 1, Errors: 2, Warnings: 1})
	w.same("posts", w.shown(), titles(good))
	w.same("problems", w.list(`SELECT format('%s %s %s %s=%s %s %s', line, raw_line, code, field, value, external_id, error) FROM load_problems ORDER BY line, no`), []string{
		"3 17 title_and_text_missing = entry-3 t", "5 0 id_repeated id=entry-4 entry-4 t", "6 0 date_invalid date=tomorrow entry-5 f",
	})
	w.same("codes", value[string](w, `SELECT codes::text FROM loads WHERE no = 2`), `{"id_repeated": 1, "date_invalid": 1, "title_and_text_missing": 1}`)
}

// F22, F23: items that are absent from a full list go after the last batch. Nothing of another source
// goes.
func TestAbsentItemsGo(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	list, other := w.source(ann, "list", sources.Sync, `{}`), w.source(ann, "other", sources.Sync, `{}`)
	window := w.source(ann, "window", sources.Append, `{}`)
	all := items("entry", 40)
	w.load(list, 100, all...)
	w.load(other, 100, items("entry", 40)...)
	w.load(window, 100, items("entry", 40)...)
	l := w.load(list, 100, all[4:]...)
	w.same("counts", l.Counts, sources.Counts{Same: 36, Removed: 4, Gone: 4})
	l = w.load(window, 100, items("entry", 1)...)
	w.same("state of a window", l.State, sources.Done)
	for source, want := range map[int64]int64{list: 36, other: 40, window: 40} {
		w.same("posts", value[int64](w, `SELECT count(*) FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.source_id = $1 AND p.deleted_at IS NULL`, source), want)
	}
	// An item that comes back is posted again.
	l = w.load(list, 100, all...)
	w.same("counts", l.Counts, sources.Counts{Same: 36, Added: 4, Warnings: 4}) // the other sources have them as well
}

// G12, G15: a blocked post stays blocked, and stays the post of its item, whether the item changes, goes or comes back.
func TestABlockedItemStaysBlocked(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.admins()
	s := w.add(bob, sources.New{Owner: "sailing", Way: sources.File, Title: "list", Mode: sources.Sync})
	all := items("entry", 40)
	w.load(s.ID, 100, all...)
	const of = `SELECT p.%s FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.source_id = $1 AND i.external_id = 'entry-0'`
	post, code := value[int64](w, fmt.Sprintf(of, "id"), s.ID), value[string](w, fmt.Sprintf(of, "code"), s.ID)
	_, err := w.posts.Posts.Moderate(t.Context(), 0, code, func(context.Context, pgx.Tx, int64, int64) (timelines.Ruling, error) {
		return timelines.Ruling{Blocked: true, Reason: "spam"}, nil
	})
	w.must(err)
	is := func(when, want string) {
		t.Helper()
		w.same(when, value[string](w, `SELECT format('%s %s', status, (SELECT string_agg(kind, ' ') FROM timelines WHERE id = ANY(decisive))) FROM posts WHERE id = $1`, post), want)
		w.same("the post of the item "+when, value[int64](w, fmt.Sprintf(of, "id"), s.ID), post)
	}
	changed := *all[0]
	changed.Title = "another title"
	w.load(s.ID, 100, append([]*formats.Item{&changed}, all[1:]...)...)
	is("after a change", "2 eyes")
	if body := value[string](w, fmt.Sprintf(of, "body"), s.ID); !strings.Contains(body, "another title") {
		t.Errorf("the text is %q", body)
	}
	l := w.load(s.ID, 100, all[1:]...)
	w.same("removed", l.Removed, int64(0))
	is("after it was gone", "2 eyes")
	w.load(s.ID, 100, all...)
	is("after it came back", "2 eyes")
	// A blocked post is no reason to refuse another administrator the removal of the source.
	_, err = w.sources.Remove(t.Context(), ann.ID, s.Code, sources.Delete)
	w.must(err)
}

// F20: an item without a readable id may be any stored one, so nothing goes.
func TestUnreadableItemsHoldDeletionsBack(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "list", sources.Sync, `{}`)
	all := items("entry", 40)
	w.load(source, 100, all...)
	unreadable := &formats.Item{Title: "who am I", Bad: true, Problems: []formats.Problem{{Code: formats.IDMissing, Level: formats.LevelError}}}
	l := w.load(source, 100, append([]*formats.Item{unreadable}, all[4:]...)...)
	w.same("counts", l.Counts, sources.Counts{Same: 36, Errors: 1, Unreadable: 1})
	w.same("state", l.State, sources.Done)
	w.same("posts", len(w.shown()), 40)
}

// The guard: a load asks before it removes too much.
func TestRemovalGuard(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "list", sources.Sync, `{"most_gone": 10}`)
	all := items("entry", 60)
	w.load(source, 100, all...)
	l := w.load(source, 100, all[6:]...)
	w.same("a tenth", l.State, sources.Done)
	l = w.load(source, 100, all[12:]...)
	w.same("more than a tenth", l.State, sources.Held)
	w.same("how many would go", l.Gone, int64(6))
	w.same("posts", len(w.shown()), 54)
	w.must(w.sources.Confirm(t.Context(), source, l.No))
	w.same("announced", w.heard.ready, []int64{source})
	k, err := w.sources.Take(t.Context(), source)
	w.must(err)
	l, err = k.Next(t.Context())
	w.must(err)
	w.end(k, &l)
	w.must(k.Close(t.Context()))
	w.same("posts after somebody said yes", len(w.shown()), 48)
	if err := w.sources.Confirm(t.Context(), source, l.No); !errors.Is(err, sources.ErrNotFound) {
		t.Errorf("confirmed twice: got %v, want %v", err, sources.ErrNotFound)
	}
}

// F4: when items are gone, the settings decide whether discussed posts, or all posts, are kept.
func TestKeptPosts(t *testing.T) {
	for chosen, want := range map[string]int64{"delete": 0, "discussed": 3, "keep": 4} {
		t.Run(chosen, func(t *testing.T) {
			w := newWorld(t)
			ann, bob := w.person("ann"), w.person("bob")
			source := w.source(ann, "list", sources.Sync, `{"gone": "`+chosen+`", "most_gone": 100}`)
			all := items("entry", 4)
			w.load(source, 100, all...)
			codes := w.list(`SELECT p.code FROM source_items i JOIN posts p ON p.id = i.post_id ORDER BY i.external_id`)
			_, err := w.posts.Posts.Like(t.Context(), bob.ID, codes[0])
			w.must(err)
			_, err = w.posts.Posts.Fave(t.Context(), bob.ID, codes[1])
			w.must(err)
			_, err = w.posts.Comments.Create(t.Context(), timelines.NewComment{Author: bob.ID, Code: codes[2], Body: "a word"})
			w.must(err)
			l := w.load(source, 100)
			w.same("counts", l.Counts, sources.Counts{Gone: 4, Removed: 4 - want, Kept: want})
			w.same("posts", int64(len(w.shown())), want)
			// Their items are no longer missed, and are found again when they come back.
			l = w.load(source, 100)
			w.same("counts of the next", l.Counts, sources.Counts{})
			w.load(source, 100, all...)
			w.same("posts when all come back", len(w.shown()), 4)
		})
	}
}

// F11, F13, F21, F25, F35: one process works a source at a time, by its advisory lock. A batch is
// known by its load and its first line. It does nothing if it comes twice, or after another process
// went on.
func TestOneWorksASource(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "blog", sources.Append, `{}`)
	k, err := w.sources.Take(t.Context(), source)
	w.must(err)
	if _, err := w.sources.Take(t.Context(), source); !errors.Is(err, sources.ErrBusy) {
		t.Errorf("taken twice: got %v, want %v", err, sources.ErrBusy)
	}
	list := items("entry", 20)
	lines := w.lines(list...)
	l := w.begin(k, source, list)
	before := l
	_, err = k.Apply(t.Context(), &l, lines[:10])
	w.must(err)
	if _, err := k.Apply(t.Context(), &before, lines[:10]); !errors.Is(err, sources.ErrStale) {
		t.Errorf("the same batch again: got %v, want %v", err, sources.ErrStale)
	}
	// The server ends the connection: the lock is free, and the old holder can write no more.
	pid := value[int](w, `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	if !value[bool](w, `SELECT pg_terminate_backend($1, 5000)`, pid) {
		t.Fatal("the connection did not end")
	}
	other, err := w.sources.Take(t.Context(), source)
	w.must(err)
	if _, err := k.Apply(t.Context(), &l, lines[10:]); err == nil {
		t.Error("a holder without its lock wrote a batch")
	}
	next, err := other.Next(t.Context())
	w.must(err)
	w.same("cursor", next.Cursor, int64(10))
	_, err = other.Apply(t.Context(), &next, lines[10:])
	w.must(err)
	w.end(other, &next)
	w.same("posts", w.shown(), titles(list))
	w.must(other.Close(t.Context()))
	w.must(k.Close(t.Context()))
}
