package sources_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

func (w *world) add(actor timelines.Account, n sources.New) sources.Source {
	w.Helper()
	s, err := w.sources.Add(w.Context(), actor.ID, n)
	w.must(err)
	return s
}

func (w *world) group(admin timelines.Account, name string) timelines.Account {
	w.Helper()
	g, _, err := w.posts.Groups.Create(w.Context(), timelines.NewGroup{Actor: admin.ID, Name: name, Title: name, Access: timelines.Public})
	w.must(err)
	return g
}

// F1, F2: a person, and the administrators of a group, may add several sources each. Nobody else
// knows of them.
func TestWhoManagesSources(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.group(ann, "sailing")
	mine := w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: " https://www.example.org/feed "})
	w.same("title until the feed says its own", mine.Title, "example.org")
	w.same("mode until the format is known", mine.Mode, sources.Append)
	ours := w.add(ann, sources.New{Owner: "sailing", Way: sources.Push, Title: "Log book"})
	w.same("mode of pushes", ours.Mode, sources.Append)
	for name, want := range map[string]error{"ann": timelines.ErrForbidden, "sailing": timelines.ErrForbidden, "nobody": timelines.ErrNotFound} {
		if _, err := w.sources.Add(t.Context(), bob.ID, sources.New{Owner: name, Way: sources.File}); !errors.Is(err, want) {
			t.Errorf("bob adds one to %s: got %v, want %v", name, err, want)
		}
		if _, err := w.sources.List(t.Context(), bob.ID, name); !errors.Is(err, want) {
			t.Errorf("bob lists those of %s: got %v, want %v", name, err, want)
		}
	}
	for what, do := range map[string]func(actor int64, code string) error{
		"find":   func(a int64, c string) error { _, err := w.sources.Find(t.Context(), a, c); return err },
		"pause":  func(a int64, c string) error { _, err := w.sources.Pause(t.Context(), a, c); return err },
		"resume": func(a int64, c string) error { _, err := w.sources.Resume(t.Context(), a, c); return err },
		"fetch":  func(a int64, c string) error { _, err := w.sources.FetchNow(t.Context(), a, c); return err },
		"from": func(a int64, c string) error {
			_, err := w.sources.SetFrom(t.Context(), a, c, sources.From{Mode: sources.Append})
			return err
		},
		"token": func(a int64, c string) error { _, err := w.sources.Token(t.Context(), a, c); return err },
		"change": func(a int64, c string) error {
			_, err := w.sources.Change(t.Context(), a, c, "Another", sources.Settings{})
			return err
		},
	} {
		for _, s := range []sources.Source{mine, ours} {
			if err := do(bob.ID, s.Code); !errors.Is(err, sources.ErrNotFound) {
				t.Errorf("bob: %s: got %v, want %v", what, err, sources.ErrNotFound)
			}
			if err := do(ann.ID, s.Code); err != nil {
				t.Errorf("ann: %s: %v", what, err)
			}
		}
	}
	if _, err := w.sources.Remove(t.Context(), bob.ID, mine.Code, sources.Delete); !errors.Is(err, sources.ErrNotFound) {
		t.Errorf("bob removes it: got %v, want %v", err, sources.ErrNotFound)
	}
	list, err := w.sources.List(t.Context(), ann.ID, "ann")
	w.must(err)
	if len(list) != 1 || list[0].Code != mine.Code || list[0].Version != 2 || list[0].Title != "Another" {
		t.Errorf("ann's sources: %+v", list)
	}
}

func TestBadSources(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	link := func(url string) sources.New { return sources.New{Owner: "ann", Way: sources.Link, URL: url} }
	w.add(ann, link("https://example.org/feed"))
	for code, n := range map[string]sources.New{
		"url_invalid":      link("ftp://example.org/"),
		"source_twice":     link("https://example.org/feed"),
		"way_unknown":      {Owner: "ann", Way: "pigeon"},
		"mode_unknown":     {Owner: "ann", Way: sources.File, Mode: "sometimes"},
		"format_unknown":   {Owner: "ann", Way: sources.File, Format: "doc"},
		"title_long":       {Owner: "ann", Way: sources.File, Title: strings.Repeat("ü", 101)},
		"title_invalid":    {Owner: "ann", Way: sources.File, Title: "a\x00b"},
		"settings_invalid": {Owner: "ann", Way: sources.File, Settings: sources.Settings{MostGone: 101}},
		"to_unknown":       {Owner: "ann", Way: sources.File, Slug: "photos"},
	} {
		_, err := w.sources.Add(t.Context(), ann.ID, n)
		var bad *timelines.InvalidError
		if !errors.As(err, &bad) || bad.Code != code {
			t.Errorf("%+v: got %v, want %s", n, err, code)
		}
	}
	for _, url := range []string{"", "example", "javascript:alert(1)", "https://", "https://ann:secret@example.org/", "http://" + strings.Repeat("a", 2048)} {
		if _, err := w.sources.Add(t.Context(), ann.ID, link(url)); err == nil {
			t.Errorf("added %q", url)
		}
	}
	for i := range w.sources.Limits().Sources - 1 {
		w.add(ann, link(fmt.Sprintf("https://example.org/%d", i)))
	}
	var bad *timelines.InvalidError
	if _, err := w.sources.Add(t.Context(), ann.ID, link("https://example.org/more")); !errors.As(err, &bad) || bad.Code != "source_many" {
		t.Errorf("one too many: got %v, want source_many", err)
	}
}

// An address needs no scheme, and may have the scheme of feeds. This holds for each way to give an
// address.
func TestAddressesAsPeopleWriteThem(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	for given, want := range map[string]string{
		"blog.example.com":          "https://blog.example.com",
		"feed://example.com/a":      "https://example.com/a",
		"feed:http://example.com/b": "http://example.com/b",
		" https://example.com/c ":   "https://example.com/c",
	} {
		w.same(given, w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: given}).URL, want)
	}
	if _, err := w.sources.Add(t.Context(), ann.ID, sources.New{Owner: "ann", Way: sources.Link, URL: "feed:blog.example.com"}); err == nil {
		t.Error("the same address was added twice")
	}
	list, err := formats.ParseOPML(strings.NewReader(`<opml><body>
		<outline text="a" xmlUrl="feed://example.com/a"/><outline text="d" xmlUrl="example.com/d"/><outline text="e" xmlUrl="example"/>
		<outline text="f" xmlUrl="atom.xml"/></body></opml>`))
	w.must(err)
	became, err := w.sources.AddMany(t.Context(), ann.ID, "ann", "", list)
	w.must(err)
	var as []string
	for _, one := range became {
		as = append(as, string(one.As)+" "+one.URL)
	}
	w.same("the list", as, []string{"there https://example.com/a", "added https://example.com/d", "invalid example", "invalid atom.xml"})
}

// A token opens its own source, until the source gets a new one or is removed.
func TestTokens(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s, other := w.add(ann, sources.New{Owner: "ann", Way: sources.Push}), w.add(ann, sources.New{Owner: "ann", Way: sources.Push})
	first, err := w.sources.Token(t.Context(), ann.ID, s.Code)
	w.must(err)
	found, err := w.sources.Pushed(t.Context(), s.Code, first)
	w.must(err)
	w.same("found", found.ID, s.ID)
	fails := func(what, code, token string) {
		t.Helper()
		if _, err := w.sources.Pushed(t.Context(), code, token); !errors.Is(err, sources.ErrNotFound) {
			t.Errorf("%s: got %v, want %v", what, err, sources.ErrNotFound)
		}
	}
	fails("another source", other.Code, first)
	fails("no token", s.Code, "")
	second, err := w.sources.Token(t.Context(), ann.ID, s.Code)
	w.must(err)
	fails("the former token", s.Code, first)
	_, err = w.sources.Remove(t.Context(), ann.ID, s.Code, sources.Keep)
	w.must(err)
	fails("a source that is removed", s.Code, second)
}

// F4, F23, F32: when a source is removed, its posts are kept or deleted as chosen, nothing else
// changes, and the row of the source goes last.
func TestRemovingASource(t *testing.T) {
	for chosen, want := range map[string]int{sources.Delete: 0, sources.KeepDiscussed: 1, sources.Keep: 450} {
		t.Run(chosen, func(t *testing.T) {
			w := newWorld(t)
			ann, bob := w.person("ann"), w.person("bob")
			s, other := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Title: "one"}), w.add(ann, sources.New{Owner: "ann", Way: sources.File, Title: "other"})
			w.load(s.ID, 500, items("entry", 450)...)
			w.load(s.ID, 500, items("entry", 450)...)
			w.load(other.ID, 500, items("entry", 30)...)
			code := value[string](w, `SELECT p.code FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.source_id = $1 AND i.external_id = 'entry-7'`, s.ID)
			_, err := w.posts.Posts.Like(t.Context(), bob.ID, code)
			w.must(err)
			k, err := w.sources.Take(t.Context(), s.ID)
			w.must(err)
			if _, _, err := k.Remove(t.Context()); !errors.Is(err, sources.ErrStale) {
				t.Errorf("nobody asked for it: got %v, want %v", err, sources.ErrStale)
			}
			_, err = w.sources.Remove(t.Context(), ann.ID, s.Code, chosen)
			w.must(err)
			w.same("announced", w.heard.ready, []int64{s.ID})
			steps := 0
			for gone := false; !gone; steps++ {
				_, gone, err = k.Remove(t.Context())
				w.must(err)
			}
			w.must(k.Close(t.Context()))
			if steps < 5 {
				t.Errorf("it took %d steps, want several for 450 posts and two loads", steps)
			}
			w.same("posts", len(w.shown()), want+30)
			w.same("rows left", value[int64](w, `SELECT count(*) FROM source_items WHERE source_id <> $1`, other.ID)+
				value[int64](w, `SELECT count(*) FROM loads WHERE source_id <> $1`, other.ID)+value[int64](w, `SELECT count(*) FROM sources WHERE id <> $1`, other.ID), int64(0))
			w.same("the other source", value[int64](w, `SELECT count(*) FROM source_items WHERE source_id = $1`, other.ID), int64(30))
		})
	}
}

// F32: twenty loads are kept, and always the last one that succeeded.
func TestCleanUp(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.File})
	for range 5 {
		w.load(s.ID, 10, items("entry", 1)...)
	}
	for range 30 {
		w.load(s.ID, 10, items("entry", 1)...)
		value[int64](w, `UPDATE loads SET state = 'failed' WHERE id = (SELECT max(id) FROM loads) RETURNING id`)
	}
	n, err := w.sources.CleanUp(t.Context(), 3)
	w.must(err)
	w.same("removed at a time", n, int64(3))
	_, err = w.sources.CleanUp(t.Context(), 1000)
	w.must(err)
	list, err := w.sources.Loads(t.Context(), s.ID, 0, 100)
	w.must(err)
	var nos []int64
	for _, l := range list {
		nos = append(nos, l.No)
	}
	want := []int64{}
	for no := int64(35); no > 15; no-- {
		want = append(want, no)
	}
	w.same("loads", nos, append(want, 5))
	next, err := w.sources.Loads(t.Context(), s.ID, 33, 2)
	w.must(err)
	w.same("next ones", []int64{next[0].No, next[1].No}, []int64{32, 31})
}
