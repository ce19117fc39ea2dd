package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
)

func TestSearchPage(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	anna.post("The white cats sleep")
	code := anna.post("Кошки спят").Code
	bob.comment(code, "Dogs bark")
	anna.post("A cat for bob alone", "bob")

	for name, v := range map[string]*visitor{"nobody": s.visitor(), "anna": anna.visitor(), "bob": bob.visitor()} {
		v.get("/").wants(200).has(`role="search"`, `action="/search"`)
		v.get("/search").wants(200).has(`name="q"`, "from:name", `<meta name="robots" content="noindex"`, "<title>Search · riverrun</title>").lacks("data-river")
		v.get("/search?q=++").wants(200).lacks("data-river")
		found := v.get("/search?q=Cat").wants(200).has("The white cats sleep", `value="Cat"`, `data-page="/search?q=Cat"`, "Search: Cat",
			`href="/search?q=Cat&amp;order=created"`, `content="noindex"`).lacks("Кошки", "from:name", "/feeds/")
		if mine := strings.Contains(found.body, "for bob alone"); mine != (name != "nobody") {
			t.Errorf("%s finds the direct: %v", name, mine)
		}
		v.get("/search?q=barking+dog").wants(200).has("Кошки спят")
		v.get("/search?q=кошка&order=created").wants(200).has("Кошки спят")
		v.get("/search?q=%22cats+white%22").wants(200).has("Nothing found", "from:name", `value="&#34;cats white&#34;"`)
		v.get("/search?q=in:nobody-here").wants(200).has("Nothing found", "Nobody here is called “nobody-here”.")
		v.get("/search?q=-cat").wants(400).has("Add at least one word to find", `value="-cat"`, `content="noindex"`)
		v.get("/search?q=" + strings.Repeat("x", 300)).wants(400).has("too long")
		v.get("/search?q=" + url.QueryEscape(words(20))).wants(400).has("too many words")
		v.get("/search?q=a%00%ffb").wants(400).has("can’t be saved", `value="ab"`)
		v.get("/feeds/search.atom?q=cat").wants(404)
	}
	russian := s.visitor()
	russian.header.Set("Accept-Language", "ru")
	russian.get("/search?q=zebra").wants(200).has("Не найдено ничего", "Поиск: zebra")
	russian.get("/search?q=-x").wants(400).has("Добавьте хотя бы одно слово")
	for range 30 {
		anna.post("Many more cats")
	}
	older := s.visitor().get("/search?q=cat").wants(200).has("before=", `rel="next"`)
	link := linkAfter(older.body, `class="older"`)
	s.visitor().get(link).wants(200).has("The white cats sleep", "Back to the newest")
}

// Above the posts stand people and groups who are called so: whatever the viewer may read
// of them, and no more of them than the directories show.
func TestSearchFindsAccounts(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	anna.visitor().post("/settings", "title", "Анна Ёлкина", "about", "About anna").wants(303)
	anna.visitor().post("/groups", "name", "closed-club", "title", "Annals of the Weir", "about", "About the club", "access", "private").wants(303)
	bob.post("Ann was here")
	for range 26 {
		bob.post("Елка from:bob")
	}
	for name, v := range map[string]*visitor{"nobody": s.visitor(), "anna": anna.visitor(), "bob": bob.visitor()} {
		t.Run(name, func(t *testing.T) {
			v.t = t
			v.get("/search?q=ann").wants(200).has("<h2>People and groups</h2>", `href="/anna"`, "Анна Ёлкина", "@anna",
				`href="/closed-club"`, "Annals of the Weir", "private", "Ann was here").lacks("About")
			found := v.get("/search?q=елк").wants(200).has(`class="found"`, `href="/anna"`).lacks("closed-club")
			if strings.Index(found.body, `class="found"`) > strings.Index(found.body, `id="river"`) {
				t.Error("people stand below the posts")
			}
			for _, q := range []string{"zebra", "%23ann", "from:bob", "from:bob+ann", "in:anna"} {
				v.get("/search?q=" + q).wants(200).lacks(`class="found"`)
			}
			// They stand above the newest posts, not above each page of them.
			older := linkAfter(v.get("/search?q=елк").wants(200).has(`class="found"`).body, `class="older"`)
			v.get(older).wants(200).has("Back to the newest").lacks(`class="found"`)
		})
	}
	v := bob.visitor()
	v.post("/settings", "title", "<b>Annie</b>").wants(303)
	s.visitor().get("/search?q=annie").wants(200).has("&lt;b&gt;Annie&lt;/b&gt;").lacks("<b>Annie")
	for i := range 11 {
		s.person(fmt.Sprintf("carl%02d", i))
	}
	if got := strings.Count(s.visitor().get("/search?q=carl").wants(200).body, `class="who" href="/carl`); got != mostAccounts {
		t.Errorf("%d accounts, want %d", got, mostAccounts)
	}
}

// Operators are understood in Russian, and the help says so.
func TestSearchInRussian(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	anna.post("Первая")
	bob.post("Вторая")
	v := anna.visitor()
	v.header.Set("Accept-Language", "ru")
	for _, q := range []string{"от:меня", "От:Я", "from:me", "В:anna", "от:anna"} {
		v.get("/search?q="+url.QueryEscape(q)).wants(200).has("Первая").lacks("Вторая", "Здесь нет никого")
	}
	v.get("/search").wants(200).has("от:имя", "от:меня", "в:имя", "from:")
	anna.visitor().get("/search").wants(200).has("from:name", "from:me", "in:name")
	// Somebody who is not signed in has written nothing.
	s.visitor().get("/search?q=from:me").wants(200).has("Nothing found").lacks("Nobody here is called")
}

// A search whose words are so common that they are passed over says so, and does not
// claim that nothing has them.
func TestSearchForCommonWords(t *testing.T) {
	s := newLiveSite(t, nil)
	anna := s.person("anna")
	anna.post("To be or not to be, that is the question about a cat")
	anna.post("Быть или не быть, вот хорошо")
	v := s.visitor()
	const common, nothing = "These words are too common", "Nothing found"
	for _, q := range []string{"the", "THE", `"to be"`, "to be or not to be", "хорошо", "быть", "the и", "the in:anna", "the in:nobody-here"} {
		v.get("/search?q="+url.QueryEscape(q)).wants(200).has(common, "from:name").lacks(nothing)
	}
	for _, q := range []string{"zebra", "the zebra", "the #zebra", "the from:nobody-here", "in:nobody-here", "#the"} {
		v.get("/search?q=" + url.QueryEscape(q)).wants(200).has(nothing).lacks(common)
	}
	for _, q := range []string{"the cat", "the from:anna", "in:anna"} {
		v.get("/search?q="+url.QueryEscape(q)).wants(200).has("that is the question").lacks(common, nothing)
	}
	v.header.Set("Accept-Language", "ru")
	v.get("/search?q=быть").wants(200).has("Эти слова слишком частые").lacks("Не найдено")
}

// A search says which of its names nobody has. Of those that somebody has it says
// nothing, whatever they let the viewer read.
func TestSearchNamesNobody(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	anna.visitor().post("/settings/access", "level", "private").leadsTo("/settings?saved")
	anna.visitor().post("/groups", "name", "layoffs", "title", "Layoffs", "access", "private").leadsTo("/layoffs")
	bob.post("A white cat")
	anna.visitor().post("/bob/ban").leadsTo("/bob")
	for name, v := range map[string]*visitor{"nobody": s.visitor(), "anna": anna.visitor(), "bob": bob.visitor()} {
		v.get("/search?q=cat+from:bob+from:anna+in:bob+in:bob/nothing+in:layoffs+-in:anna").wants(200).lacks("Nobody here is called")
		for _, q := range []string{"cat+-from:Carol", "from:@carol+in:carol", "in:bob+in:carol", "from:carol+-in:layoffs+from:anna"} {
			if got := strings.Count(v.get("/search?q="+q).wants(200).body, "Nobody here is called"); got != 1 {
				t.Errorf("%s searches for %s and is told %d times that nobody has a name, want once", name, q, got)
			}
		}
		v.get("/search?q=from:carol+in:"+url.QueryEscape("<b>")).wants(200).
			has("Nobody here is called “carol”.", "Nobody here is called “&lt;b&gt;”.")
		v.get("/search?q=-from:carol").wants(400).lacks("Nobody here")
	}
}

// words are as many different ones.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" word" + string(rune('a'+i)))
	}
	return b.String()
}

// linkAfter is the first address after a mark.
func linkAfter(body, mark string) string {
	_, rest, _ := strings.Cut(body, mark)
	_, rest, _ = strings.Cut(rest, `href="`)
	link, _, _ := strings.Cut(rest, `"`)
	return strings.ReplaceAll(link, "&amp;", "&")
}

func TestSearchesAreLimited(t *testing.T) {
	s := newLiveSite(t, nil)
	*s.server.limits = *newLimits(Limits{Searches: 2, Writes: -1, SignIns: -1}) // the hub has them too
	v := s.visitor()
	v.get("/search?q=a1").wants(200)
	v.get("/search?q=a2").wants(200)
	v.get("/search?q=a3").wants(http.StatusTooManyRequests)
	v.get("/search").wants(200)
	s.person("anna").visitor().get("/search?q=a4").wants(200)

	// Nor can they be asked for by sockets alone.
	s.open(nil, "/search?q=b1")
	s.open(nil, "/search?q=b2")
	conn, _, err := s.dial(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &page{t: t, conn: conn, address: "/search?q=b3", shown: map[string]frame{}}
	g.subscribe()
	if c := g.closed(); c.Code != closeTooFast {
		t.Errorf("closed with %v, want %d", c, closeTooFast)
	}
	s.open(nil, "/everything")
}

// A search that costs too much is answered, not failed.
func TestBroadSearchPage(t *testing.T) {
	s := newLiveSite(t, nil)
	s.person("anna").post("word")
	if _, err := s.db.Primary.Exec(t.Context(), `
		ALTER TABLE texts RENAME TO texts_kept;
		CREATE VIEW texts AS SELECT t.* FROM texts_kept t, pg_sleep(1000)`); err != nil {
		t.Fatal(err)
	}
	s.visitor().get("/search?q=word").wants(400).has("Add another word", `value="word"`)
}

// What comes is pushed to an open search at the next beat; one beat brings up the
// searches once, whoever looks and however much changed, and none where nothing did.
func TestSearchIsPushed(t *testing.T) {
	beat := make(chan time.Time)
	found := make(chan []rivers.Name, 100)
	s := newLiveSite(t, func(c *hubConfig) {
		c.beat, c.compareEvery = beat, 1000
		c.rivers = countedFinds{c.rivers, found}
	})
	ann, bob := s.person("ann"), s.person("bob")
	first := ann.post("first word")
	g, again := s.open(nil, "/search?q=Words"), s.open(nil, "/search?q=Words")
	if len(g.shown) != 1 {
		t.Fatalf("%d entries are shown, want 1", len(g.shown))
	}
	noted := func(changes ...timelines.Change) {
		t.Helper()
		f := s.server.hub.finder
		await(t, "what changed to be noted", func() bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			return !slices.ContainsFunc(changes, func(c timelines.Change) bool { _, ok := f.posts[c.PostID]; return !ok })
		})
	}
	second, other := bob.post("second word"), bob.post("something else")
	bob.comment(other.Code, "a word at last")
	bob.edit(other.Code, "something else still")
	noted(second, other)
	if len(found) > 0 {
		t.Error("the searches were brought up before the beat")
	}
	beat <- time.Now()
	for _, p := range []*page{g, again} {
		for len(p.shown) < 3 {
			p.until("an entry", func(f frame) bool { return f.T == "entry" })
		}
		for _, c := range []timelines.Change{first, second, other} {
			if _, there := p.shown[c.Code]; !there {
				t.Errorf("%s is not shown", c.Code)
			}
		}
	}
	if names := <-found; len(names) == 0 || len(found) > 0 {
		t.Errorf("the beat brought up %v, and others %d times more; want it to do so once", names, len(found))
	}
	third := ann.post("third word")
	ann.remove(third.Code)
	noted(third)
	beat <- time.Now()
	<-found
	beat <- time.Now()
	beat <- time.Now() // the one before was heard
	if len(found) > 0 {
		t.Error("searches were brought up though nothing changed")
	}
	// The first word is said no more.
	ann.edit(first.Code, "nothing")
	g.untilGone(first.Code)
	n := rivers.Name{Kind: rivers.Search, Term: "words", Order: rivers.Fresh}
	g.sameAsReload(s, nil, n)
}

// countedFinds tells which searches are brought up.
type countedFinds struct {
	riverSource
	found chan []rivers.Name
}

func (c countedFinds) BringUp(ctx context.Context, names []rivers.Name) ([]rivers.Name, error) {
	c.found <- names
	return c.riverSource.BringUp(ctx, names)
}

// What a change takes from an open search goes at once, as from all pages: no beat comes,
// and nothing is found meanwhile.
func TestSearchLosesAtOnce(t *testing.T) {
	s := newLiveSite(t, func(c *hubConfig) {
		c.beat = make(chan time.Time)
		c.rivers = busyFinder{c.rivers}
	})
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	write := func(change func(context.Context) (timelines.Change, error)) { bob.act(change) }
	for _, c := range []struct {
		what string
		do   func(code string)
	}{
		{"an edit", func(code string) { bob.edit(code, "nothing") }},
		{"a deletion", func(code string) { bob.remove(code) }},
		{"a move to eyes-only", func(code string) {
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.store.SetDestinations(ctx, bob.account.ID, code, []string{timelines.ToEyes})
			})
		}},
		{"a level", func(string) {
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.store.SetAccess(ctx, bob.account.ID, "", timelines.Private)
			})
		}},
		{"somebody's exclusion", func(string) {
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.store.ExcludeReader(ctx, bob.account.ID, "", "ann")
			})
		}},
		{"a ban by its author", func(string) { bob.ban("ann") }},
		{"a ban by the reader", func(string) { ann.ban("bob") }},
	} {
		t.Run(c.what, func(t *testing.T) {
			level := timelines.Public
			if c.what == "somebody's exclusion" {
				level = timelines.Protected
			}
			write(func(ctx context.Context) (timelines.Change, error) {
				return s.store.SetAccess(ctx, bob.account.ID, "", level)
			})
			cats, bobs := cat.post("the word of cat"), bob.post("the word of bob")
			g := s.open(ann, "/search?q=word")
			if _, shows := g.shown[bobs.Code]; !shows {
				t.Fatalf("%d entries are shown, and not bob's", len(g.shown))
			}
			c.do(bobs.Code)
			g.untilGone(bobs.Code)
			if _, shows := g.shown[cats.Code]; !shows {
				t.Error("what is still found is gone too")
			}
			// What it goes on showing changes at once as well.
			cat.edit(cats.Code, "the word of cat again")
			g.until("the edit", func(f frame) bool { return strings.Contains(f.HTML+f.Parts["body"], "cat again") })
			_ = g.conn.CloseNow()
			ann.unban("bob")
			bob.unban("ann")
		})
	}
}

// busyFinder never comes to bring searches up.
type busyFinder struct{ riverSource }

func (busyFinder) BringUp(ctx context.Context, _ []rivers.Name) ([]rivers.Name, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// busySearch lets something happen after each visit.
type busySearch struct {
	riverSource
	visits atomic.Int64
	then   atomic.Pointer[func()]
}

func (b *busySearch) Visit(ctx context.Context, v timelines.Viewer, n rivers.Name, c rivers.Cursor) (*rivers.Page, error) {
	page, err := b.riverSource.Visit(ctx, v, n, c)
	b.visits.Add(1)
	if then := b.then.Load(); then != nil {
		(*then)()
	}
	return page, err
}

// A search can be subscribed to in the busiest town: however much changes between any two
// steps, and though what is stored is built anew each time.
func TestSubscribeToASearchInABusyTown(t *testing.T) {
	busy := &busySearch{}
	s := newLiveSite(t, func(c *hubConfig) {
		busy.riverSource = c.rivers
		c.rivers, c.hear, c.beat = busy, deaf, make(chan time.Time)
	})
	first := s.person("ann").post("a word")
	changes := func(n int) func() {
		const folds = `
			INSERT INTO folds (post_id, version, decisive, text_folded, likes_folded, comments_folded, attachments_folded)
			SELECT 1000000 + i, 1, '{}', '{}', '{}', '{}', '[]' FROM generate_series(1, $1::int) i
			ON CONFLICT (post_id) DO UPDATE SET version = folds.version + 1, written = excluded.written`
		return func() {
			if _, err := s.db.Secondary.Exec(t.Context(), folds, n); err != nil {
				t.Error(err)
			}
		}
	}
	standing := func() (id string) {
		const query = `SELECT id::text FROM rivers WHERE kind = 'search' AND state = 'live'`
		if err := s.db.Secondary.QueryRow(t.Context(), query).Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	for _, c := range []struct {
		what  string
		then  func()
		stays bool // the generation does
	}{
		{"much changes", changes(2000), true},
		{"more changes than it is worth to look at", changes(6000), false},
		{"it is built anew", func() { s.replace(timelines.Replace{Everybody: true}) }, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			g := s.open(nil, "/search?q=word")
			_ = g.conn.CloseNow()
			was := g.river
			busy.visits.Store(0)
			busy.then.Store(&c.then)
			g.follow(s, nil)
			visits := busy.visits.Load()
			busy.then.Store(nil)
			if most := int64(maxSwaps + 2); visits > most {
				t.Errorf("answered after %d visits, want %d at most", visits, most)
			}
			if c.stays && g.river != was {
				t.Error("the search was asked for anew")
			}
			if _, shows := g.shown[first.Code]; !shows {
				t.Errorf("%d entries are shown, and not the one there is", len(g.shown))
			}
			// What came last, a reload finds first.
			name := rivers.Name{Kind: rivers.Search, Term: "word", Order: rivers.Fresh}
			if _, err := s.rivers.Visit(t.Context(), timelines.Viewer{}, name, rivers.Cursor{}); err != nil {
				t.Fatal(err)
			}
			for g.river != standing() {
				s.server.hub.message(tiers.Message{All: true})
				g.until("what stands", func(f frame) bool { return f.T == "ok" })
			}
			g.sameAsReload(s, nil, name)
			_ = g.conn.CloseNow()
		})
	}
}

// What the bus lost, a comparison finds.
func TestSearchIsHealed(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *hubConfig) {
		c.beat, c.compareEvery = beat, 1
		c.hear = func(func(tiers.Message)) func() { return func() {} }
	})
	ann := s.person("ann")
	g := s.open(nil, "/search?q=word")
	code := ann.post("a word").Code
	beat <- time.Now()
	g.untilEntry(code)
}

// A search of somebody else's making closes, and no node minds.
func TestSearchSocketOfNothing(t *testing.T) {
	s := newLiveSite(t, nil)
	if _, err := s.server.pageOf(t.Context(), timelines.Viewer{}, "/search", url.Values{}); !noPage(err) {
		t.Errorf("a search for nothing: got %v, want a missing page", err)
	}
	if code, _ := s.server.hub.closeFor(t.Context(), errors.Join(timelines.ErrBroad)); code != closeNoPage {
		t.Errorf("a broad search closes with %d, want %d", code, closeNoPage)
	}
}

func TestSearchInABrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	ann.post("an old word")
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/everything")
	b.do(chromedp.SendKeys(chromedp.CSS(`.find input`), "words\r"))
	b.await("the search", `location.pathname === '/search'`)
	b.live()
	eval[bool](b, `window.same = true`)
	code := ann.post("a new word").Code
	b.shows(code, "body", "a new word")
	b.do(chromedp.Click(chromedp.CSS(`#news button`)))
	b.do(chromedp.Click(chromedp.CSS(`#p-` + code + `-acts form button`)))
	b.shows(code, "acts", "Unlike")
	bob.comment(code, "indeed")
	b.shows(code, "comments", "indeed")
	ann.edit(code, "nothing of the kind")
	b.await("the post to go", `!document.querySelector('#p-`+code+`')`)
	if !eval[bool](b, `window.same === true`) {
		t.Error("the page was loaded again")
	}
	b.equalsReload()
	b.visit("/search?q=zebra")
	b.live()
	b.await("word that nothing was found", `!document.querySelector('.note.empty').hidden`)
	zebra := ann.post("a zebra").Code
	b.shows(zebra, "body", "a zebra")
	b.await("no such word", `document.querySelector('.note.empty').hidden`)
}
