package sources_test

import (
	"strings"
	"testing"
	"time"

	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// A source takes over what its feed says about itself, but keeps a title that its owner gave.
func TestWhatAFeedSaysOfItself(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	add := func(url, title string) sources.Source {
		return w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: url, Title: title})
	}
	found := func(s sources.Source) []any {
		s, err := w.sources.Find(t.Context(), ann.ID, s.Code)
		w.must(err)
		return []any{s.Title, s.SiteURL, s.Version, value[int64](w, `SELECT ttl FROM sources WHERE id = $1`, s.ID)}
	}
	unnamed, named := add("https://example.org/feed", ""), add("https://example.org/other", "My boat")
	w.feed = formats.Feed{Title: " Log book ", Site: "https://example.org/log", TTL: 2 * time.Hour}
	list := items("entry", 3)
	w.load(unnamed.ID, 10, list...)
	w.load(named.ID, 10, list...)
	w.same("without a title", found(unnamed), []any{"Log book", "https://example.org/log", int64(1), int64(7200)})
	w.same("with a title", found(named), []any{"My boat", "https://example.org/log", int64(1), int64(7200)})
	w.same("where posts come from", w.list(`SELECT DISTINCT via || ' ' || via_url FROM posts ORDER BY 1`),
		[]string{"Log book https://example.org/log", "My boat https://example.org/log"})

	// The feed's new name is too long, and its new address is no web address. Its items are the same.
	w.feed = formats.Feed{Title: strings.Repeat("ü", 101), Site: "javascript:alert(1)"}
	w.same("counts", w.load(unnamed.ID, 10, list...).Counts, sources.Counts{Same: 3})
	w.same("renamed", found(unnamed), []any{strings.Repeat("ü", 100), "https://example.org/log", int64(1), int64(7200)})
	w.feed = formats.Feed{}
	w.load(unnamed.ID, 10, list...)
	w.same("nothing said", found(unnamed), []any{strings.Repeat("ü", 100), "https://example.org/log", int64(1), int64(7200)})

	// The owner does not name the source by saving the title that the feed gave, only by another one.
	_, err := w.sources.Change(t.Context(), ann.ID, unnamed.Code, strings.Repeat("ü", 100), sources.Settings{})
	w.must(err)
	w.feed = formats.Feed{Title: "Log book"}
	w.load(unnamed.ID, 10, list...)
	w.same("other settings", found(unnamed)[0], any("Log book"))
	_, err = w.sources.Change(t.Context(), ann.ID, unnamed.Code, "Boats", sources.Settings{})
	w.must(err)
	w.load(unnamed.ID, 10, list...)
	w.same("named by its owner", found(unnamed)[0], any("Boats"))
}

// Nothing is taken over from a load with former settings, or from a preview.
func TestWhatAnOldFeedSaidOfItself(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: "https://example.org/feed"})
	w.feed = formats.Feed{Title: "Log book", Site: "https://example.org/log"}
	for _, change := range []string{`UPDATE loads SET version = version - 1 WHERE id = $1 RETURNING id`, `UPDATE loads SET dry = true WHERE id = $1 RETURNING id`} {
		k, err := w.sources.Take(t.Context(), s.ID)
		w.must(err)
		no := value[int64](w, `
			WITH s AS (UPDATE sources SET loads = loads + 1 WHERE id = $1 RETURNING *)
			INSERT INTO loads (source_id, no, version, way, state, settings) SELECT id, loads, version, way, 'waiting', settings FROM s RETURNING no`, s.ID)
		l, err := w.sources.Load(t.Context(), s.ID, no)
		w.must(err)
		value[int64](w, change, l.ID)
		w.must(k.Begin(t.Context(), &l, formats.Summary{Feed: w.feed}, [32]byte{1}))
		w.must(k.Close(t.Context()))
	}
	s, err := w.sources.Find(t.Context(), ann.ID, s.Code)
	w.must(err)
	w.same("title and page", []string{s.Title, s.SiteURL}, []string{"example.org", ""})
}
