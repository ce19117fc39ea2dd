package sources_test

import (
	"errors"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// F33: with another address a source is fetched at once, as if it had just been added, and its items stay
// what they are.
func TestAnotherAddress(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: "https://example.org/feed"})
	w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: "https://example.org/other"})
	list := items("entry", 4)
	w.load(s.ID, 10, list[:3]...)
	k, err := w.sources.Take(t.Context(), s.ID)
	w.must(err)
	defer func() { w.must(k.Close(t.Context())) }()
	waits := w.begin(k, s.ID, list[:2])
	waits.Way = sources.Link
	w.must(k.Hub(t.Context(), &waits, formats.Feed{Hub: "https://hub.example/", Self: "https://example.org/feed"}))
	_, err = w.pool.Exec(t.Context(), `
		UPDATE sources SET status = 'paused', problem = 'gone', failures = 7, etag = '"1"', modified = 'yesterday', content = '\x01', ttl = 60,
			site_url = 'https://example.org/', next_at = NULL, fetched_at = now(), preview = 'gone', format = 'rss' WHERE id = $1`, s.ID)
	w.must(err)
	w.heard.due = nil

	moved, err := w.sources.SetFrom(t.Context(), ann.ID, s.Code, sources.From{URL: "feed://new.example.org/feed", Mode: sources.Append})
	w.must(err)
	w.same("source", []string{moved.URL, string(moved.Status), moved.Problem, moved.SiteURL, moved.Preview}, []string{"https://new.example.org/feed", "active", "", "", ""})
	w.same("version", moved.Version, int64(2))
	if moved.NextAt == nil || moved.NextAt.After(time.Now()) || moved.FetchedAt != nil || moved.SucceededAt != nil || moved.Failures != 0 {
		t.Errorf("it is not as if it were new: %+v", moved)
	}
	w.same("forgotten", value[bool](w, `SELECT etag = '' AND modified = '' AND content IS NULL AND ttl = 0 AND host = 'new.example.org' FROM sources WHERE id = $1`, s.ID), true)
	w.same("hubs", value[int64](w, `SELECT count(*) FROM source_hubs`), int64(0))
	w.same("asked for", w.heard.due, []timelines.SourceDue{{SourceID: s.ID}})
	if _, err := k.Apply(t.Context(), &waits, w.lines(list[:2]...)); !errors.Is(err, sources.ErrStale) {
		t.Errorf("a load of the former address: got %v, want %v", err, sources.ErrStale)
	}
	w.must(k.Close(t.Context()))
	w.same("the same items", w.load(s.ID, 10, list...).Counts, sources.Counts{Same: 3, Added: 1})
	k, err = w.sources.Take(t.Context(), s.ID)
	w.must(err)

	for address, want := range map[string]string{
		"https://example.org/other": "source_twice", "example.org/other": "source_twice", "ftp://example.org/": "url_invalid",
		"javascript:alert(1)": "url_invalid", "https://ann:secret@example.org/": "url_invalid",
	} {
		var bad *timelines.InvalidError
		if _, err := w.sources.SetFrom(t.Context(), ann.ID, s.Code, sources.From{URL: address}); !errors.As(err, &bad) || bad.Code != want || bad.Field != "url" {
			t.Errorf("%s: got %v, want %s", address, err, want)
		}
	}
	same, err := w.sources.SetFrom(t.Context(), ann.ID, s.Code, sources.From{URL: " new.example.org/feed ", Mode: sources.Append})
	w.must(err)
	w.same("version as it was", same.Version, int64(2))
	var bad *timelines.InvalidError
	file := w.add(ann, sources.New{Owner: "ann", Way: sources.File})
	if _, err := w.sources.SetFrom(t.Context(), ann.ID, file.Code, sources.From{URL: "https://example.org/"}); !errors.As(err, &bad) || bad.Code != "url_invalid" {
		t.Errorf("an address for a file: got %v, want url_invalid", err)
	}
	if _, err := w.sources.SetFrom(t.Context(), ann.ID, file.Code, sources.From{Mode: "sometimes"}); !errors.As(err, &bad) || bad.Code != "mode_unknown" {
		t.Errorf("no mode: got %v, want mode_unknown", err)
	}
}

// A source that becomes a full list removes nothing before its next load, which asks as usual; one that
// becomes a window asks, and removes, no more.
func TestAnotherMode(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.Push, Title: "Log"})
	w.load(s.ID, 50, items("entry", 20)...)
	turn := func(mode sources.Mode) {
		t.Helper()
		turned, err := w.sources.SetFrom(t.Context(), ann.ID, s.Code, sources.From{Mode: mode})
		w.must(err)
		w.same("mode", turned.Mode, mode)
	}
	posts := func() int64 {
		return value[int64](w, `SELECT count(*) FROM posts WHERE deleted_at IS NULL`)
	}
	// A load that is being sent while the mode changes is no full list.
	l, err := w.sources.Receive(t.Context(), s.ID)
	w.must(err)
	turn(sources.Sync)
	if err := w.sources.EndPush(t.Context(), s.ID, l.No, 0); !errors.Is(err, sources.ErrStale) {
		t.Errorf("the end of what was sent before: got %v, want %v", err, sources.ErrStale)
	}
	w.same("posts", posts(), int64(20))
	held := w.load(s.ID, 50, items("entry", 2)...)
	w.same("next load", held.State, sources.Held)
	w.same("posts", posts(), int64(20))
	turn(sources.Append)
	if err := w.sources.Confirm(t.Context(), s.ID, held.No); !errors.Is(err, sources.ErrNotFound) {
		t.Errorf("the question of before: got %v, want %v", err, sources.ErrNotFound)
	}
	w.same("a window", w.load(s.ID, 50, items("entry", 1)...).State, sources.Done)
	w.same("posts", posts(), int64(20))
	w.same("rows left", value[int64](w, `SELECT count(*) FROM load_gone`), int64(0))
}
