package sources_test

import (
	"errors"
	"fmt"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

func (w *world) refuses(what string, err error, code string) {
	w.Helper()
	var bad *timelines.InvalidError
	if !errors.As(err, &bad) || bad.Code != code {
		w.Errorf("%s: got %v, want %s", what, err, code)
	}
}

// F8: an uploaded file is a load that waits, and the load is announced.
func TestUploads(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	file := w.add(ann, sources.New{Owner: "ann", Way: sources.File})
	link := w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: "https://example.org/"})
	u := sources.Uploaded{Sum: [32]byte{7}, Bytes: 12, MediaType: "text/csv", Dry: true}
	load, err := w.sources.Upload(t.Context(), ann.ID, file.Code, u)
	w.must(err)
	w.same("state", load.State, sources.Waiting)
	w.same("number, bytes, type, dry", fmt.Sprint([]any{load.No, load.Bytes, load.MediaType, load.Dry, load.File[0]}), "[1 12 text/csv true 7]")
	w.same("announced", w.heard.ready, []int64{file.ID})
	_, err = w.sources.Upload(t.Context(), bob.ID, file.Code, u)
	w.failsWith("bob's", err, sources.ErrNotFound)
	_, err = w.sources.Upload(t.Context(), ann.ID, link.Code, u)
	w.refuses("a link", err, "source_way")
	_, err = w.sources.Pause(t.Context(), ann.ID, file.Code)
	w.must(err)
	_, err = w.sources.Upload(t.Context(), ann.ID, file.Code, u)
	w.refuses("a paused one", err, "source_paused")
	w.same("loads", value[int64](w, `SELECT count(*) FROM loads`), int64(1))
}

// A fetch, or a preview, that somebody asks for is announced once.
func TestAsking(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: "https://example.org/"})
	due := func() []timelines.SourceDue {
		w.heard.mu.Lock()
		defer w.heard.mu.Unlock()
		list := w.heard.due
		w.heard.due = nil
		return list
	}
	w.same("adding", due(), []timelines.SourceDue{{SourceID: s.ID}})
	claimed, err := w.sources.ClaimDue(t.Context(), s.ID)
	w.must(err)
	again, err := w.sources.ClaimDue(t.Context(), s.ID)
	w.must(err)
	w.same("claimed once", []bool{claimed, again}, []bool{true, false})
	_, err = w.sources.FetchNow(t.Context(), ann.ID, s.Code)
	w.must(err)
	w.same("fetch now", due(), []timelines.SourceDue{{SourceID: s.ID}})
	for range 2 {
		asked, err := w.sources.AskPreview(t.Context(), ann.ID, s.Code)
		w.must(err)
		w.same("preview", asked.Preview, sources.PreviewAsked)
	}
	w.same("one preview", due(), []timelines.SourceDue{{SourceID: s.ID, Preview: true}})
	_, err = w.sources.AskPreview(t.Context(), bob.ID, s.Code)
	w.failsWith("bob's preview", err, sources.ErrNotFound)
	w.must(w.sources.EndPreview(t.Context(), s.ID, sources.NotFound))
	s, err = w.sources.Find(t.Context(), ann.ID, s.Code)
	w.must(err)
	w.same("why there is none", s.Preview, string(sources.NotFound))
	_, err = w.sources.Pause(t.Context(), ann.ID, s.Code)
	w.must(err)
	_, err = w.sources.FetchNow(t.Context(), ann.ID, s.Code)
	w.must(err)
	_, err = w.sources.AskPreview(t.Context(), ann.ID, s.Code)
	w.must(err)
	w.same("paused", len(due()), 0)
	_, err = w.sources.Resume(t.Context(), ann.ID, s.Code)
	w.must(err)
	w.same("resumed", due(), []timelines.SourceDue{{SourceID: s.ID}})
}

// A held load that is discarded removes nothing, and its file is not loaded again.
func TestDiscarding(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.source(ann, "list", sources.Sync, "{}")
	w.load(s, 100, items("entry", 40)...)
	held := w.load(s, 100, items("entry", 10)...)
	w.same("state", held.State, sources.Held)
	value[int64](w, `UPDATE loads SET file = decode(repeat('07', 32), 'hex') WHERE id = $1 RETURNING id`, held.ID)
	w.must(w.sources.Discard(t.Context(), s, held.No))
	after, err := w.sources.Load(t.Context(), s, held.No)
	w.must(err)
	w.same("after", after.State, sources.Cancelled)
	w.same("ended", after.FinishedAt != nil, true)
	w.same("posts", len(w.shown()), 40)
	w.same("what was to go", value[int64](w, `SELECT count(*) FROM load_gone`), int64(0))
	w.same("its file", value[bool](w, `SELECT content = decode(repeat('07', 32), 'hex') FROM sources`), true)
	w.failsWith("again", w.sources.Discard(t.Context(), s, held.No), sources.ErrNotFound)
	w.failsWith("confirmed", w.sources.Confirm(t.Context(), s, held.No), sources.ErrNotFound)
}

// A source moves between the places of the person who added it.
func TestMoving(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	for _, group := range []string{"sailing", "rowing"} {
		_, _, err := w.posts.Groups.Create(t.Context(), timelines.NewGroup{Actor: ann.ID, Name: group, Title: group})
		w.must(err)
	}
	_, err := w.posts.Groups.Promote(t.Context(), ann.ID, "sailing", "bob")
	if err != nil {
		_, _, err = w.posts.Subscriptions.Subscribe(t.Context(), bob.ID, "sailing")
		w.must(err)
		_, err = w.posts.Groups.Promote(t.Context(), ann.ID, "sailing", "bob")
	}
	w.must(err)
	_, err = w.posts.Feeds.Create(t.Context(), ann.ID, "photos", "Photos", timelines.Public)
	w.must(err)
	s := w.add(ann, sources.New{Owner: "sailing", Way: sources.Link, URL: "https://example.org/"})
	w.add(ann, sources.New{Owner: "rowing", Way: sources.Link, URL: "https://example.org/"})
	move := func(actor timelines.Account, owner, slug string) (sources.Source, error) {
		return w.sources.Move(t.Context(), actor.ID, s.Code, owner, slug)
	}
	for code, try := range map[string]func() error{
		"to_unknown":   func() error { _, err := move(ann, "bob", ""); return err },
		"source_twice": func() error { _, err := move(ann, "rowing", ""); return err },
		"source_mover": func() error { _, err := move(bob, "bob", ""); return err },
	} {
		w.refuses(code, try(), code)
	}
	_, err = move(ann, "ann", "nowhere")
	w.refuses("a sub-feed", err, "to_unknown")
	_, err = w.sources.Move(t.Context(), bob.ID, "0000000000", "bob", "")
	w.failsWith("none", err, sources.ErrNotFound)
	moved, err := move(ann, "ann", "photos")
	w.must(err)
	w.same("moved", []any{moved.OwnerID, moved.Slug, moved.Version}, []any{ann.ID, "photos", s.Version + 1})
	_, err = w.sources.Find(t.Context(), bob.ID, s.Code)
	w.failsWith("bob, who administers the former group", err, sources.ErrNotFound)
}

// The facts that pages show of sources come in one statement for all of them.
func TestShown(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	one, two, none := w.source(ann, "one", sources.Append, "{}"), w.source(ann, "two", sources.Append, "{}"), w.source(ann, "none", sources.Append, "{}")
	bad := &formats.Item{ID: "bad", Bad: true, Problems: []formats.Problem{{Code: formats.TitleAndTextMissing, Level: formats.LevelError}}}
	warned := &formats.Item{ID: "warned", Title: "A", Problems: []formats.Problem{{Code: formats.DateOld, Level: formats.LevelWarning, Value: "1066"}}}
	w.load(one, 100, append(items("entry", 3), bad, warned)...)
	second := w.load(one, 100, append(items("entry", 4), bad, warned)...)
	value[int64](w, `UPDATE loads SET state = 'waiting' WHERE source_id = $1 AND no = 1 RETURNING id`, one)
	w.load(two, 100, items("entry", 1)...)
	ids := []int64{one, two, none}
	posts, err := w.sources.Posts(t.Context(), ids)
	w.must(err)
	w.same("posts", posts, map[int64]int{one: 5, two: 1})
	current, err := w.sources.Current(t.Context(), ids)
	w.must(err)
	w.same("current", []int64{int64(len(current)), current[one].No, current[two].No}, []int64{2, 1, 1})
	w.same("codes", current[one].Codes, map[formats.Code]int64{formats.TitleAndTextMissing: 1, formats.DateOld: 1})
	last, err := w.sources.LastError(t.Context(), second.ID)
	w.must(err)
	w.same("last error", last.ExternalID, "bad")
	for which, want := range map[sources.Which]string{
		{}:                              "[bad warned]",
		{Level: formats.LevelError}:     "[bad]",
		{Level: formats.LevelWarning}:   "[warned]",
		{Code: string(formats.DateOld)}: "[warned]",
		{Code: string(formats.DateOld), Level: formats.LevelError}: "[]",
	} {
		list, err := w.sources.Troubles(t.Context(), second.ID, which, sources.FirstTrouble, 10)
		w.must(err)
		ids := []string{}
		for _, p := range list {
			ids = append(ids, p.ExternalID)
		}
		w.same(fmt.Sprint(which), fmt.Sprint(ids), want)
	}
	k, err := w.sources.Take(t.Context(), two)
	w.must(err)
	failed := w.begin(k, two, nil)
	w.must(k.Fail(t.Context(), &failed, formats.Fatal{Code: formats.Malformed, Line: 3, Column: 7, Excerpt: "<x"}))
	w.must(k.Close(t.Context()))
	failed, err = w.sources.Load(t.Context(), two, failed.No)
	w.must(err)
	w.same("why", *failed.Problem, formats.Fatal{Code: formats.Malformed, Line: 3, Column: 7, Excerpt: "<x"})
}
