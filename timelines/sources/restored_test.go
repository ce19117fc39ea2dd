package sources_test

import (
	"errors"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/photos"
)

// becomes makes a source another one of an owner, as a restore does that gives its id to that one. Its
// loads have the ids, numbers and states of those that were there.
func (w *world) becomes(source int64, owner timelines.Account) {
	w.Helper()
	_, err := w.pool.Exec(w.Context(), `
		UPDATE sources SET code = lpad(id::text, 10, 'z'), owner_id = $2, added_by = $2 WHERE id = $1`, source, owner.ID)
	w.must(err)
}

// A load that is under way while the primary store is restored does nothing to the source that has its
// source's id from then on, or to the load that has its own.
func TestALoadEndsWithItsSource(t *testing.T) {
	for _, c := range []struct {
		what    string
		replace func(w *world, source int64)
	}{
		{"another source", func(w *world, source int64) { w.becomes(source, w.person("bob")) }},
		{"another load", func(w *world, _ int64) {
			_, err := w.pool.Exec(w.Context(), `UPDATE loads SET created_at = created_at - interval '1 second'`)
			w.must(err)
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newWorld(t)
			source := w.source(w.person("ann"), "private list", sources.Sync, `{"wait_pictures": true}`)
			k, err := w.sources.Take(t.Context(), source)
			w.must(err)
			list := items("entry", 20)
			lines := w.lines(list...)
			l := w.begin(k, source, list)
			_, err = k.Apply(t.Context(), &l, lines[:10])
			w.must(err)
			c.replace(w, source)
			state := func() []string {
				return w.list(`
					SELECT concat_ws(' ', state, cursor, failures, s.problem, (SELECT count(*) FROM source_hubs)) FROM loads l JOIN sources s ON s.id = source_id`)
			}
			before := state()
			_, err = k.Apply(t.Context(), &l, lines[10:])
			w.failsWith("the next batch", err, sources.ErrStale)
			_, err = k.Hold(t.Context(), &l, lines[10:])
			w.failsWith("holding the next batch", err, sources.ErrStale)
			w.failsWith("a first pass", k.Begin(t.Context(), &l, formats.Summary{Lines: 20}, [32]byte{9}), sources.ErrStale)
			l.Way = sources.Link
			w.failsWith("a hub", k.Hub(t.Context(), &l, formats.Feed{Hub: "https://example.org/hub", Self: "https://example.org/feed"}), sources.ErrStale)
			w.failsWith("a failure", k.Fail(t.Context(), &l, formats.Fatal{Code: formats.Page}), sources.ErrStale)
			_, err = k.Failed(t.Context(), &l)
			w.failsWith("a failed try", err, sources.ErrStale)
			w.same("the other load", state(), before)
			w.same("posts", w.shown(), titles(list[:10]))
			w.must(k.Close(t.Context()))
		})
	}
}

// The holder of a source works no load of another source with its id, and does not remove that source.
func TestWorkIsOfOneSource(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "list", sources.Append, `{}`)
	k, err := w.sources.Take(t.Context(), source)
	w.must(err)
	w.begin(k, source, items("entry", 2))
	w.becomes(source, w.person("bob"))
	_, err = k.Next(t.Context())
	w.failsWith("the next load", err, sources.ErrNotFound)
	_, _, err = k.PushItems(t.Context(), sources.Batch{Lines: w.lines(items("pushed", 1)...)})
	if err == nil || len(w.shown()) > 0 {
		t.Errorf("items pushed to the former source: %v, and these posts: %q", err, w.shown())
	}
	_, err = w.pool.Exec(t.Context(), `UPDATE sources SET status = 'removing'`)
	w.must(err)
	_, _, err = k.Remove(t.Context())
	w.failsWith("a removal", err, sources.ErrStale)
	w.must(k.Close(t.Context()))
}

// A file that was fetched for a source becomes no load of the source that has its id after a restore.
func TestAFetchEndsWithItsSource(t *testing.T) {
	w := newWorld(t)
	source := w.link(w.person("ann"), "https://example.org/feed", 0)
	f := w.fetching(w.sources, source)
	link, err := f.Target(t.Context())
	w.must(err)
	w.becomes(source, w.person("bob"))
	row := func() []string { return w.list(`SELECT s::text FROM sources s`) }
	before := row()
	for _, d := range []sources.Fetched{
		{File: aFile}, {File: aFile, Dry: true}, {Problem: sources.Gone}, {URL: "https://example.org/ann-only"},
	} {
		d.Version = link.Version
		if _, err := f.Record(t.Context(), d); !errors.Is(err, sources.ErrStale) {
			t.Errorf("record %+v: got %v, want %v", d, err, sources.ErrStale)
		}
	}
	w.must(f.Postpone(t.Context(), link.Version, time.Hour))
	w.same("the other source", row(), before)
	w.same("loads", value[int64](w, `SELECT count(*) FROM loads`), int64(0))
	w.must(f.Close(t.Context()))
}

// A picture that was fetched is not attached in place of the picture that has its id after a restore.
func TestAPictureIsOfItsAddress(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "A blog", sources.Append, `{}`)
	w.load(source, 10, with(item("1", "One", time.Hour), "a.png"))
	w.fetchAll("img.example", func(p photos.Photo) photos.Outcome {
		_, err := w.pool.Exec(t.Context(), `UPDATE item_pictures SET url = 'https://img.example/b.png'`)
		w.must(err)
		return asNamed(p)
	})
	w.same("attached", w.attached(), []string{})
	w.same("the other picture", w.list(`SELECT state || ' ' || url FROM item_pictures`), []string{"waiting https://img.example/b.png"})
}
