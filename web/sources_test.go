package web_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/xuri/excelize/v2"

	"riverrun/jobs/fetch"
	loads "riverrun/jobs/sources"
	"riverrun/timelines/sources"
	"riverrun/web/webtest"
)

// flow is a site whose sources are fetched and loaded when a test says so.
type flow struct {
	*webtest.Site
	sources *sources.Store
	runner  loads.Runner
	fetcher loads.Fetcher
	// feed is the answer of the server of feeds. asked counts the requests.
	feed  atomic.Pointer[string]
	asked atomic.Int64
	link  string
}

func newFlow(t testing.TB) *flow {
	t.Helper()
	f := &flow{Site: webtest.New(t, nil)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.asked.Add(1)
		feed := f.feed.Load()
		if feed == nil || r.URL.Path == "/missing" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		io.WriteString(w, *feed)
	}))
	t.Cleanup(server.Close)
	client, err := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	if err != nil {
		t.Fatal(err)
	}
	f.link, f.sources = server.URL+"/feed", sources.Open(f.Store)
	log := slog.New(slog.DiscardHandler)
	f.runner = loads.Runner{
		Sources: f.sources, Blobs: f.Blobs, Carry: f.Tiers.Carry, Log: log, Dir: t.TempDir(),
		Yield: func(context.Context) error { return nil },
	}
	f.fetcher = loads.Fetcher{Sources: f.sources, Blobs: f.Blobs, Client: client, Log: log, Dir: t.TempDir()}
	return f
}

// rss makes the server answer with a feed whose items have these titles.
func (f *flow) rss(titles ...string) {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>Anna’s blog</title>`)
	for _, title := range titles {
		fmt.Fprintf(&b, "<item><guid>%s</guid><title>%s</title></item>", title, title)
	}
	b.WriteString(`</channel></rss>`)
	text := b.String()
	f.feed.Store(&text)
}

func (f *flow) ids(sql string) []int64 {
	f.T.Helper()
	rows, err := f.DB.Primary.Query(f.T.Context(), sql)
	if err != nil {
		f.T.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		f.T.Fatal(err)
	}
	return ids
}

func (f *flow) hasPost(text string, want bool) {
	f.T.Helper()
	got := len(f.ids(`SELECT id FROM posts WHERE deleted_at IS NULL AND body LIKE '`+text+`%'`)) > 0
	if got != want {
		f.T.Errorf("a post that begins with %q: got %v, want %v", text, got, want)
	}
}

// work does the work of the jobs: it fetches due sources, makes previews, and works all loads.
func (f *flow) work() {
	f.T.Helper()
	ctx := f.T.Context()
	if _, err := f.DB.Primary.Exec(ctx, `DELETE FROM fetch_hosts`); err != nil { // their gap is tested elsewhere
		f.T.Fatal(err)
	}
	due, err := f.sources.Claim(ctx, 100)
	if err != nil {
		f.T.Fatal(err)
	}
	for _, id := range due {
		if _, err := f.fetcher.Fetch(ctx, id); err != nil {
			f.T.Fatal(err)
		}
		if _, err := f.DB.Primary.Exec(ctx, `DELETE FROM fetch_hosts`); err != nil {
			f.T.Fatal(err)
		}
	}
	for _, id := range f.ids(`SELECT id FROM sources WHERE preview = 'asked'`) {
		o, err := f.fetcher.Preview(ctx, id)
		if err == nil {
			err = f.sources.EndPreview(ctx, id, o.Problem)
		}
		if err != nil {
			f.T.Fatal(err)
		}
	}
	for _, id := range f.ids(`SELECT id FROM sources ORDER BY id`) {
		if err := f.runner.Run(ctx, id); err != nil {
			f.T.Fatal(err)
		}
	}
}

var sourceAddress = regexp.MustCompile(`^/sources/[0-9a-z]{10}$`)

// leadsToSource returns the address of the source that an answer leads to.
func leadsToSource(a *webtest.Answer) string {
	a.T.Helper()
	a.Wants(303)
	at, _, _ := strings.Cut(a.Header.Get("Location"), "?")
	if !sourceAddress.MatchString(at) {
		a.T.Fatalf("%s leads to %q, want a source", a.What, at)
	}
	return at
}

// upload returns a file of a form.
func upload(field, name, content string) []webtest.Upload {
	return []webtest.Upload{{Field: field, Name: name, Content: []byte(content)}}
}

// A link is added, fetched and loaded. Its page shows this, and all that is done with the source (F1,
// F5).
func TestSourceOfALink(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	f.rss("One", "Two")
	ann := f.Person("ann").Visitor()
	ann.Get("/settings").Wants(200).Has(`href="/settings/sources"`)
	ann.Get("/settings/sources").Wants(200).Has("There are no sources yet", `name="url"`, `name="opml"`).Lacks("data-again")
	at := leadsToSource(ann.Post("/settings/sources", "way", "link", "url", f.link, "title", "My <blog>"))
	ann.Get(at).Wants(200).Has("My &lt;blog&gt;", "Fetching…", `data-again="`+at+`"`, "<noscript>", "Look again")
	ann.Get("/settings/sources").Has("Fetching…", `data-again="/settings/sources"`)
	f.work()
	ann.Get(at).Wants(200).Has("Up to date just now", "Next in 3", "2 new", "2 posts", "/loads/1").Lacks("data-again", "Fetching…")
	ann.Get("/settings/sources").Wants(200).Has("My &lt;blog&gt;", "127.0.0.1", "2 posts").Lacks("data-again")
	ann.Get(at+"/loads/1").Wants(200).Has("Load 1", "done").Lacks("data-again", ".csv")
	ann.Get("/ann").Has("One", "Two")

	// Its form is saved unchanged.
	ann.Get(at).Has(`value="My &lt;blog&gt;"`, `value="beginning" checked`)
	ann.Post(at+"/change", "title", "My <blog>", "form", "", "linked_title", "1", "text", "beginning", "tags", "", "groups", "", "only", "", "without", "").LeadsTo(at + "?saved")
	ann.Post(at+"/from", "url", f.link, "mode", "append").LeadsTo(at + "?saved")
	if versions := f.ids(`SELECT version FROM sources`); !slices.Equal(versions, []int64{1}) {
		t.Errorf("a form saved as it was: version %d of the source, want 1", versions)
	}

	// river.js asks for a piece of the page.
	ann.Header.Set("X-River-Page", "1")
	ann.Get(at).Wants(200).Has(`id="source-title"`, `id="source-now"`, `id="source-acts"`, `id="source-loads"`).Lacks("<html", "<details")
	ann.Get("/settings/sources").Wants(200).Has(`id="sources"`).Lacks("<html", "<form")
	ann.Get(at + "/loads/1").Wants(200).Has(`id="load-now"`).Lacks("<html")
	ann.Header.Del("X-River-Page")

	// The preview shows a change, and then the change is made.
	f.rss("One", "Two!", "Three")
	ann.Post(at + "/preview").LeadsTo(at)
	ann.Get(at).Has("Fetching a preview…", "data-again")
	f.work()
	ann.Get(at).Wants(200).Has("2 would be new", at+"/apply", `name="no" value="2"`)
	f.hasPost("Three", false)
	ann.Post(at+"/apply", "no", "2").LeadsTo(at)
	f.work()
	ann.Get(at).Lacks(at + "/apply")
	f.hasPost("Three", true)
	ann.Post(at+"/apply", "no", "3").LeadsTo(at + "?stale")
	ann.Get(at + "?stale").Has("This changed in the meantime")
	ann.Post(at+"/apply", "no", "x").Wants(400)
	ann.Post(at+"/nothing", "no", "1").Wants(404)

	// The source is paused, and then fetched at once.
	ann.Post(at + "/pause").LeadsTo(at)
	ann.Get(at).Has("Paused", at+"/resume").Lacks(at+"/fetch", at+"/pause")
	ann.Post(at + "/resume").LeadsTo(at)
	before := f.asked.Load()
	ann.Post(at + "/fetch").LeadsTo(at)
	ann.Get(at).Has("Fetching…")
	f.work()
	if f.asked.Load() == before {
		t.Error("it was not fetched")
	}

	// The form has rules, and shows mistakes in them.
	ann.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public").Wants(303)
	sent := []string{"groups", "Regatta = @sailing", "title", "Renamed", "form", "{author}: {title}", "text", "whole", "all_tags", "1", "tags", "Boats = #sailing\na = b = #c\nAds =", "only", "a\r\n\r\n b c "}
	ann.Post(at+"/change", sent...).LeadsTo(at + "?saved")
	ann.Get(at+"?saved").Wants(200).Has("Saved", "Renamed", "{author}: {title}", "Boats = #sailing\na = b = #c\nAds =", "Regatta = sailing", `href="/settings/tags"`, ">a\nb c<", `value="whole" checked`, `name="all_tags" value="1" checked`)
	for text, form := range map[string][]string{
		"Fill this in":             {"title", " "},
		"Use {title} in it":        {"title", "T", "form", "without"},
		"like this: Boats":         {"title", "T", "text", "none", "tags", "no sign"},
		"100 lines and 10 groups":  {"title", "T", "groups", "no sign"},
		"called “nobody”":          {"title", "T", "groups", "Boats = nobody"},
		"Choose how much":          {"title", "T", "text", "some"},
		"At most 100 lines of":     {"title", "T", "only", strings.Repeat("x", 101)},
		"Choose one of these, and": {"title", "T", "gone", "burn"},
		"a number from 1 to 100":   {"title", "T", "most_gone", "many"},
	} {
		a := ann.Post(at+"/change", form...).Wants(422)
		if !strings.Contains(webtest.ReadText([]byte(a.Body)), text) {
			t.Errorf("%q: the page does not say %q", form, text)
		}
	}

	// Its link breaks.
	f.feed.Store(nil)
	ann.Post(at + "/fetch")
	f.work()
	ann.Get(at).Has("(404)", "We try again in ").Lacks("data-again")
	ann.Post(at + "/preview")
	f.work()
	ann.Get(at).Has("There is no preview.")
	ru := ann
	ru.Post("/settings/look", "theme", "", "language", "ru")
	ru.Get(at).Has("Попробуем ещё раз", "Предпросмотра не будет", "История", "Скачать сейчас")
	ru.Get("/settings/sources").Has("Источники", "Что уже подключено")

	// The source is removed, with its posts as chosen.
	ru.Post(at+"/remove", "gone", "").Wants(422)
	ru.Post(at+"/remove", "gone", "delete").LeadsTo("/settings/sources")
	ru.Get("/settings/sources").Has("Удаляется…", "data-again")
	ru.Get(at).Wants(200).Has("Удаляется…").Lacks("/remove", "/pause")
	f.work()
	ru.Get("/settings/sources").Has("Источников пока нет")
	ru.Get(at).Wants(404)
	f.hasPost("Three", false)
}

// If a source cannot be added, the form says why, beside the field, and keeps the text that was
// typed.
func TestBadSources(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	ann := f.Person("ann").Visitor()
	ann.Post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public")
	leadsToSource(ann.Post("/settings/sources", "url", f.link, "to", "ann/photos", "mode", "sync")) // the fields show that it is a link
	ann.Get("/settings/sources").Has("to Photos")
	for _, tt := range []struct {
		text string
		form []string
	}{
		{"isn’t an address on the web", []string{"way", "link", "url", "ftp://x", "title", "Kept title"}},
		{"already a source here", []string{"way", "link", "url", f.link}},
		{"Nobody here is called", []string{"way", "link", "url", f.link + "1", "to", "bob"}},
		{"Nobody here is called", []string{"way", "link", "url", f.link + "1", "to", "ann/nowhere"}},
		{"Choose one of these", []string{"way", "link", "url", f.link + "1", "mode", "sometimes"}},
		{"Choose how it comes", []string{"way", "pigeon"}},
		{"Choose how it comes", nil},
		{"Choose a file", []string{"way", "file"}},
		{"Choose a file", []string{"way", "opml"}},
	} {
		a := ann.Post("/settings/sources", tt.form...).Wants(422).Has(tt.text)
		if slices.Contains(tt.form, "Kept title") {
			a.Has(`value="Kept title"`, `value="ftp://x"`)
		}
	}
	if n := len(f.ids(`SELECT id FROM sources`)); n != 1 {
		t.Errorf("%d sources, want 1", n)
	}
	for i := range sources.DefaultLimits().Sources - 1 {
		ann.Post("/settings/sources", "way", "link", "url", fmt.Sprint(f.link, "/", i)).Wants(303)
	}
	ann.Post("/settings/sources", "way", "link", "url", f.link+"/more").Wants(422).Has("There can be only 50 sources here")
}

// F8: files come with the form and are loaded. Items that are absent from the next file go, and a
// load that would remove too much asks first.
func TestSourceOfFiles(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	ann := f.Person("ann").Visitor()
	rows := func(n int) string {
		var b strings.Builder
		b.WriteString("id,title\n")
		for i := range n {
			fmt.Fprintf(&b, "i%d,Item %d\n", i, i)
		}
		return b.String()
	}
	at := leadsToSource(ann.PostFiles("/settings/sources", upload("file", "boats.csv", rows(40)), "way", "file"))
	ann.Get(at).Has("boats", "Reading…", "data-again", "A full list")
	f.work()
	ann.Get(at).Has("40 new", "40 posts", "CSV")
	// A preview comes first.
	ann.PostFiles(at+"/file", upload("file", "boats.csv", rows(10)), "dry", "1").LeadsTo(at)
	f.work()
	ann.Get(at).Has("30 would go", at+"/apply")
	ann.PostFiles(at+"/file", upload("file", "boats.csv", rows(10))).LeadsTo(at)
	f.work()
	ann.Get(at).Has("30 items are gone", at+"/confirm", at+"/discard", "their posts will be deleted")
	ann.Get("/settings/sources").Has("Asks you: 30 posts would go")
	ann.Post(at+"/discard", "no", "3").LeadsTo(at)
	ann.Get(at).Has("cancelled").Lacks(at + "/confirm")
	ann.Post(at+"/confirm", "no", "3").LeadsTo(at + "?stale")
	ann.PostFiles(at+"/file", upload("file", "boats.csv", rows(9))).LeadsTo(at)
	f.work()
	ann.Post(at+"/confirm", "no", "4").LeadsTo(at)
	f.work()
	ann.Get(at).Has("31 removed", "9 posts")

	// A file that is no feed is refused at once, in the words of its code, and nothing of it is kept.
	before := len(f.ids(`SELECT id FROM loads`))
	ann.PostFiles(at+"/file", upload("file", "page.html", "<!DOCTYPE html><html><body>Hello")).Wants(422).Has("This is a page, not a feed")
	ann.PostFiles(at+"/file", upload("file", "empty.csv", "")).Wants(422).Has("The file is empty")
	ann.PostFiles(at+"/file", nil).Wants(422).Has("Choose a file")
	ann.PostFiles("/settings/sources", upload("file", "x.bin", "\x00\x01\x02"), "way", "file", "title", "Kept").Wants(422).Has(`value="Kept"`)
	f.BlobsFull.Store(true)
	ann.PostFiles(at+"/file", upload("file", "boats.csv", rows(9))).Wants(503)
	f.BlobsFull.Store(false)
	ann.Post(at + "/pause")
	ann.PostFiles(at+"/file", upload("file", "boats.csv", rows(9))).Wants(422).Has("The source is paused")
	if after := len(f.ids(`SELECT id FROM loads`)); after != before {
		t.Errorf("%d loads were made", after-before)
	}
	if n := len(f.ids(`SELECT id FROM sources`)); n != 1 {
		t.Errorf("%d sources, want 1", n)
	}
}

// A file of rows without dates does not change what a follower's home page shows.
func TestAFirstLoadLeavesHomePages(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	// Bob looks before the load and dan after it: if nobody has a page open, it is built when somebody
	// visits it.
	ann, bob, cat, dan := f.Person("ann"), f.Person("bob"), f.Person("cat"), f.Person("dan")
	for _, p := range []*webtest.Person{bob, dan} {
		p.Subscribe("ann")
		p.Subscribe("cat")
	}
	for i := range 30 {
		cat.Post(fmt.Sprint("Tide ", i))
	}
	texts := regexp.MustCompile(`(Tide|Row) \d+`)
	home := func(p *webtest.Person) []string { return texts.FindAllString(p.Visitor().Get("/").Wants(200).Body, -1) }
	before := home(bob)
	if len(before) < 25 {
		t.Fatalf("the home page shows %v", before)
	}
	var rows strings.Builder
	rows.WriteString("id,title\n")
	for i := range 300 {
		fmt.Fprintf(&rows, "%d,Row %d\n", i, i)
	}
	ann.Visitor().PostFiles("/settings/sources", upload("file", "rows.csv", rows.String()), "way", "file")
	f.work()
	if after := home(dan); !slices.Equal(after, before) {
		t.Errorf("the home page shows %v, and showed %v", after, before)
	}
	ann.Visitor().Get("/ann").Has("Row 0", "Row 24").Lacks("Row 299")
}

// A list brings many links: each is added once, and the page counts the results.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	ann := f.Person("ann").Visitor()
	leadsToSource(ann.Post("/settings/sources", "way", "link", "url", "https://there.example/feed"))
	list := `<opml version="1.0"><body><outline text="Sea"><outline text="A" xmlUrl="https://a.example/feed"/>` +
		`<outline text="B" xmlUrl="https://b.example/feed"/></outline><outline text="C" xmlUrl="https://there.example/feed"/>` +
		`<outline text="bad" xmlUrl="javascript:alert(1)"/><outline text="a folder"/></body></opml>`
	const to = "/settings/sources?added=2&there=1&invalid=1&many=0"
	ann.PostFiles("/settings/sources", upload("opml", "feeds.opml", list), "way", "opml").LeadsTo(to)
	ann.Get(to).Wants(200).Has("2 sources added", "1 was already here", "1 has no valid address", ">A<", ">B<").Lacks("found no more room")
	ann.PostFiles("/settings/sources", upload("opml", "feeds.opml", "no list"), "way", "opml").Wants(422)
	ann.Get("/settings/sources?added=x&there=-1").Wants(200).Has("0 sources added")
}

// An address needs no scheme on the page either, and a wrong address is explained.
func TestAddressesOnThePage(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	f.rss("One")
	ann := f.Person("ann").Visitor()
	leadsToSource(ann.Post("/settings/sources", "way", "link", "url", " feed:"+f.link))
	ann.Post("/settings/sources", "way", "link", "url", f.link).Wants(422).Has("already a source here")
	ann.Post("/settings/sources", "way", "link", "url", "example").Wants(422).Has("like blog.example.com", `value="example"`)
}

// A source for a program has a token, which is shown once.
func TestSourceOfAProgram(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	ann := f.Person("ann").Visitor()
	at := leadsToSource(ann.Post("/settings/sources", "way", "push", "title", "Log book"))
	ann.Get(at).Has("Nothing has come yet", "POST /api"+at+"/loads", "There is none yet").Lacks(at + "/fetch")
	a := ann.Post(at + "/token").Wants(200).Has("Copy it now")
	if got := a.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("the page of a token may be kept: %q", got)
	}
	token := regexp.MustCompile(`<code>([\w-]{32})</code>`).FindStringSubmatch(a.Body)
	if token == nil {
		t.Fatalf("no token on the page:\n%s", webtest.ReadText([]byte(a.Body)))
	}
	if _, err := f.sources.Pushed(t.Context(), strings.TrimPrefix(at, "/sources/"), token[1]); err != nil {
		t.Errorf("the token opens nothing: %v", err)
	}
	ann.Get(at).Has("There is one").Lacks(token[1])
	link := leadsToSource(ann.Post("/settings/sources", "way", "link", "url", f.link))
	ann.Post(link + "/token").Wants(404)
}

// The person who added a source moves it to other places of their own.
func TestMovingASource(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	f.rss("One")
	ann, bob := f.Person("ann").Visitor(), f.Person("bob").Visitor()
	ann.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public")
	bob.Post("/sailing/follow")
	ann.Post("/sailing/promote", "name", "bob")
	at := leadsToSource(ann.Post("/settings/sources", "way", "link", "url", f.link))
	f.work()
	ann.Get(at).Has(`<option value="sailing">`).Lacks(`<option value="ann">`)
	ann.Post(at+"/move", "to", "sailing").LeadsTo(at + "?moved")
	ann.Get(at).Has("Sources of Sailing", `href="/sailing/sources"`, `<option value="ann">`)
	bob.Get(at).Wants(200).Has("Only the person who added the source can move it").Lacks("<select id=\"move-to\"")
	bob.Post(at+"/move", "to", "bob").Wants(422)
	ann.Post(at+"/move", "to", "bob").Wants(422)
	ann.Get("/sailing/sources").Has(at)
	f.rss("One", "Two")
	ann.Post(at + "/fetch")
	f.work()
	f.Visitor().Get("/sailing").Wants(200).Has("Two").Lacks("One")
}

// Only people who may manage a source learn of it, and only as long as they may.
func TestStrangersToSources(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	f.rss("One")
	ann, bob, cat, nobody := f.Person("ann").Visitor(), f.Person("bob").Visitor(), f.Person("cat").Visitor(), f.Visitor()
	ann.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public")
	bob.Post("/sailing/follow")
	ann.Post("/sailing/promote", "name", "bob")
	mine := leadsToSource(ann.Post("/settings/sources", "way", "link", "url", f.link))
	ours := leadsToSource(bob.Post("/sailing/sources", "way", "link", "url", f.link))
	f.work()
	acts := []string{"fetch", "preview", "pause", "resume", "change", "token", "move", "remove", "confirm", "discard", "apply", "file"}
	closed := func(who string, v *webtest.Visitor, at string) {
		t.Helper()
		for _, page := range []string{at, at + "/loads/1", at + "/loads/1.csv", at + "/loads/1.xlsx"} {
			if a := v.Get(page); a.Status != 404 {
				t.Errorf("%s: GET %s: %d, want 404", who, page, a.Status)
			}
		}
		for _, act := range acts {
			if a := v.Post(at+"/"+act, "no", "1", "gone", "delete", "title", "X", "to", who); a.Status != 404 {
				t.Errorf("%s: POST %s/%s: %d, want 404", who, at, act, a.Status)
			}
		}
		put := f.BlobsPut.Load()
		if a := v.PostFiles(at+"/file", upload("file", "a.csv", "id,title\n1,A\n")); a.Status != 404 || f.BlobsPut.Load() != put {
			t.Errorf("%s: a file for %s: %d, and %d files were kept", who, at, a.Status, f.BlobsPut.Load()-put)
		}
	}
	closed("bob", bob, mine)
	closed("cat", cat, mine)
	closed("cat", cat, ours)
	for _, page := range []string{"/sailing/sources", "/ann/sources", "/nobody-here/sources"} {
		cat.Get(page).Wants(404)
		cat.Post(page, "way", "link", "url", f.link+"2").Wants(404)
		cat.PostFiles(page, upload("file", "a.csv", "id,title\n1,A\n"), "way", "file").Wants(404)
	}
	cat.Get("/sailing").Lacks("/sailing/sources")
	for _, page := range []string{"/settings/sources", mine, mine + "/loads/1"} {
		nobody.Get(page).Wants(303)
	}
	nobody.Post(mine+"/remove", "gone", "delete").Wants(303)
	nobody.PostFiles(mine+"/file", upload("file", "a.csv", "id,title\n1,A\n")).Wants(303)
	nobody.Get("/sailing/sources").Wants(303)

	ann.Get("/sailing/manage").Has(`href="/sailing/sources"`)
	ann.Get("/sailing/sources").Wants(200).Has(ours, "Sailing")
	ann.Get(ours).Wants(200).Has("Added by", "/bob")
	bob.Get(ours).Wants(200)
	ann.Post("/sailing/demote", "name", "bob")
	closed("bob, who was an administrator", bob, ours)
	bob.Get("/sailing/sources").Wants(404)
	ann.Get(ours).Wants(200)

	for _, bad := range []string{
		"/sources/x", "/sources/0000000000", "/sources/%00", mine + "/loads/x", mine + "/loads/99", mine + "/loads/01", mine + "/loads/1.pdf", mine + "/loads/-1",
		mine + "/loads/99999999999999999999", mine + "?before=x", mine + "?before=-1", mine + "/loads/1?level=no", mine + "/loads/1?code=A%00", mine + "/loads/1?after=x",
		mine + "/loads/1?after=1.99999",
	} {
		ann.Get(bad).Wants(404)
	}
}

// F5, F29, F36: the problems of a load's items, filtered, page by page, and as tables.
func TestProblemsOfALoad(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	ann := f.Person("ann").Visitor()
	var b strings.Builder
	b.WriteString("id,title,date\n")
	for i := range 60 {
		fmt.Fprintf(&b, "w%d,Item %d,=SUM(A%d)\n", i, i, i)
	}
	b.WriteString(",Nameless,\n@cmd,,\n")
	at := leadsToSource(ann.PostFiles("/settings/sources", upload("file", "boats.csv", b.String()), "way", "file"))
	f.work()
	page := ann.Get(at+"/loads/1").Wants(200).Has("2 errors", "60 warnings", "/loads/1.csv", "/loads/1.xlsx", "The item has no id", "Write it as 2026")
	rows := func(a *webtest.Answer) int { return strings.Count(a.Body, `<td class="line"`) }
	if n := rows(page); n != 50 {
		t.Errorf("the first page has %d problems, want 50", n)
	}
	next := regexp.MustCompile(`rel="next" href="([^"#]*)`).FindStringSubmatch(page.Body)
	if next == nil {
		t.Fatal("there is no next page")
	}
	if n := rows(ann.Get(strings.ReplaceAll(next[1], "&amp;", "&")).Wants(200).Lacks(`rel="next"`)); n != 12 {
		t.Errorf("the second page has %d problems, want 12", n)
	}
	for query, want := range map[string]int{"level=error": 2, "level=warning": 50, "code=id_missing": 1, "code=none": 0, "level=error&code=date_invalid": 0} {
		if n := rows(ann.Get(at + "/loads/1?" + query).Wants(200)); n != want {
			t.Errorf("%s: %d problems, want %d", query, n, want)
		}
	}
	table := ann.Get(at + "/loads/1.csv").Wants(200)
	if got := table.Header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="riverrun-`) {
		t.Errorf("the table is %q", got)
	}
	all, err := csv.NewReader(strings.NewReader(table.Body)).ReadAll()
	if err != nil || len(all) != 63 || len(all[0]) != 9 {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	formulas := 0
	for _, row := range all {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				t.Errorf("a cell would be a formula: %q", cell)
			}
			if strings.HasPrefix(cell, "'=SUM") || cell == "'@cmd" {
				formulas++
			}
		}
	}
	if formulas != 61 {
		t.Errorf("%d cells are kept from being formulas, want 61", formulas)
	}
	sheet := ann.Get(at + "/loads/1.xlsx?level=error").Wants(200)
	book, err := excelize.OpenReader(bytes.NewReader([]byte(sheet.Body)))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	cells, err := book.GetRows(book.GetSheetName(0))
	if err != nil || len(cells) != 3 || cells[1][1] != "id_missing" {
		t.Errorf("the sheet: %q, %v", cells, err)
	}
	if kind, err := book.GetCellType(book.GetSheetName(0), "E2"); err != nil || kind == excelize.CellTypeFormula {
		t.Errorf("a cell is a formula: %v, %v", kind, err)
	}

	// F26: a partner shows the problems.
	if _, err := f.DB.Primary.Exec(t.Context(), `UPDATE sources SET errors_visible = false, origin = 'Parsers'`); err != nil {
		t.Fatal(err)
	}
	ann.Get(at+"/loads/1").Wants(200).Has("Parsers shows the problems").Lacks("Item 1<", "/loads/1.csv", "Nameless", "The item has no id")
	ann.Get(at + "/loads/1.csv").Wants(404)
	ann.Get(at + "/loads/1.xlsx").Wants(404)
}

// The history is listed page by page.
func TestHistoryOfASource(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	ann := f.Person("ann").Visitor()
	at := leadsToSource(ann.PostFiles("/settings/sources", upload("file", "a.csv", "id,title\n1,A\n"), "way", "file"))
	if _, err := f.DB.Primary.Exec(t.Context(), `
		WITH more AS (INSERT INTO loads (source_id, no, version, way, state, finished_at) SELECT id, n, 1, 'file', 'done', now() FROM sources, generate_series(2, 25) n)
		UPDATE sources SET loads = 25`); err != nil {
		t.Fatal(err)
	}
	ann.Get(at).Wants(200).Has("/loads/25", "/loads/6\"", at+"?before=6").Lacks("/loads/5\"")
	ann.Get(at+"?before=6").Wants(200).Has("/loads/5\"", "/loads/1\"").Lacks("/loads/6\"", "?before=")
}
