package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

func TestSearchPage(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	anna.Post("The white cats sleep")
	code := anna.Post("Кошки спят").Code
	bob.Comment(code, "Dogs bark")
	anna.Post("A cat for bob alone", "bob")

	for name, v := range map[string]*webtest.Visitor{"nobody": s.Visitor(), "anna": anna.Visitor(), "bob": bob.Visitor()} {
		v.Get("/").Wants(200).Has(`role="search"`, `action="/search"`)
		v.Get("/search").Wants(200).Has(`name="q"`, "from:name", `<meta name="robots" content="noindex"`, "Search · riverrun</title>").Lacks("data-river")
		v.Get("/search?q=++").Wants(200).Lacks("data-river")
		found := v.Get("/search?q=Cat").Wants(200).Has("The white cats sleep", `value="Cat"`, `data-page="/search?q=Cat"`, "Search: Cat",
			`href="/search?q=Cat&amp;order=created"`, `content="noindex"`).Lacks("Кошки", "from:name", "/feeds/")
		if mine := strings.Contains(found.Body, "for bob alone"); mine != (name != "nobody") {
			t.Errorf("%s finds the direct: %v", name, mine)
		}
		v.Get("/search?q=barking+dog").Wants(200).Has("Кошки спят")
		v.Get("/search?q=кошка&order=created").Wants(200).Has("Кошки спят")
		v.Get("/search?q=%22cats+white%22").Wants(200).Has("Nothing found", "from:name", `value="&#34;cats white&#34;"`)
		v.Get("/search?q=in:nobody-here").Wants(200).Has("Nothing found", "Nobody here is called “nobody-here”.")
		v.Get("/search?q=-cat").Wants(400).Has("Add at least one word to find", `value="-cat"`, `content="noindex"`)
		v.Get("/search?q=" + strings.Repeat("x", 300)).Wants(400).Has("too long")
		v.Get("/search?q=" + url.QueryEscape(words(20))).Wants(400).Has("too many words")
		v.Get("/search?q=a%00%ffb").Wants(400).Has("can’t be saved", `value="ab"`)
		v.Get("/feeds/search.atom?q=cat").Wants(404)
	}
	russian := s.Visitor()
	russian.Header.Set("Accept-Language", "ru")
	russian.Get("/search?q=zebra").Wants(200).Has("ничего не нашлось", "Поиск: zebra")
	russian.Get("/search?q=-x").Wants(400).Has("Добавьте хотя бы одно слово")
	for range 30 {
		anna.Post("Many more cats")
	}
	older := s.Visitor().Get("/search?q=cat").Wants(200).Has("before=", `rel="next"`)
	link := linkAfter(older.Body, `class="older"`)
	s.Visitor().Get(link).Wants(200).Has("The white cats sleep", "Back to the newest")
}

// Above the posts stand people and groups who are called so: whatever the viewer may read
// of them, and no more of them than the directories show.
func TestSearchFindsAccounts(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	anna.Visitor().Post("/settings", "title", "Анна Ёлкина", "about", "About anna").Wants(303)
	anna.Visitor().Post("/groups", "name", "closed-club", "title", "Annals of the Weir", "about", "About the club", "access", "private").Wants(303)
	bob.Post("Ann was here")
	for range 26 {
		bob.Post("Елка from:bob")
	}
	for name, v := range map[string]*webtest.Visitor{"nobody": s.Visitor(), "anna": anna.Visitor(), "bob": bob.Visitor()} {
		t.Run(name, func(t *testing.T) {
			v.T = t
			v.Get("/search?q=ann").Wants(200).Has("<h2>People and groups</h2>", `href="/anna"`, "Анна Ёлкина", "@anna",
				`href="/closed-club"`, "Annals of the Weir", "private", "Ann was here").Lacks("About anna", "About the club")
			found := v.Get("/search?q=елк").Wants(200).Has(`class="found"`, `href="/anna"`)
			if _, main, _ := strings.Cut(found.Body, "<main"); strings.Contains(main, "closed-club") {
				t.Errorf("a group of another name is found:\n%s", main)
			}
			if strings.Index(found.Body, `class="found"`) > strings.Index(found.Body, `id="river"`) {
				t.Error("people stand below the posts")
			}
			for _, q := range []string{"zebra", "%23ann", "from:bob", "from:bob+ann", "in:anna"} {
				v.Get("/search?q=" + q).Wants(200).Lacks(`class="found"`)
			}
			// They stand above the newest posts, not above each page of them.
			older := linkAfter(v.Get("/search?q=елк").Wants(200).Has(`class="found"`).Body, `class="older"`)
			v.Get(older).Wants(200).Has("Back to the newest").Lacks(`class="found"`)
		})
	}
	v := bob.Visitor()
	v.Post("/settings", "title", "<b>Annie</b>").Wants(303)
	s.Visitor().Get("/search?q=annie").Wants(200).Has("&lt;b&gt;Annie&lt;/b&gt;").Lacks("<b>Annie")
	for i := range 11 {
		s.Person(fmt.Sprintf("carl%02d", i))
	}
	if got := strings.Count(s.Visitor().Get("/search?q=carl").Wants(200).Body, `class="who" href="/carl`); got != web.MostAccounts {
		t.Errorf("%d accounts, want %d", got, web.MostAccounts)
	}
}

// Operators are understood in Russian, and the help says so.
func TestSearchInRussian(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	anna.Post("Первая")
	bob.Post("Вторая")
	v := anna.Visitor()
	v.Header.Set("Accept-Language", "ru")
	for _, q := range []string{"от:меня", "От:Я", "from:me", "В:anna", "от:anna"} {
		v.Get("/search?q="+url.QueryEscape(q)).Wants(200).Has("Первая").Lacks("Вторая", "Здесь нет никого")
	}
	v.Get("/search").Wants(200).Has("от:имя", "от:меня", "в:имя", "from:")
	anna.Visitor().Get("/search").Wants(200).Has("from:name", "from:me", "in:name")
	// Somebody who is not signed in has written nothing.
	s.Visitor().Get("/search?q=from:me").Wants(200).Has("Nothing found").Lacks("Nobody here is called")
}

// A search whose words are so common that they are passed over says so, and does not
// claim that nothing has them.
func TestSearchForCommonWords(t *testing.T) {
	s := webtest.New(t, nil)
	anna := s.Person("anna")
	anna.Post("To be or not to be, that is the question about a cat")
	anna.Post("Быть или не быть, вот хорошо")
	v := s.Visitor()
	const common, nothing = "These words are too common", "Nothing found"
	for _, q := range []string{"the", "THE", `"to be"`, "to be or not to be", "хорошо", "быть", "the и", "the in:anna", "the in:nobody-here"} {
		v.Get("/search?q="+url.QueryEscape(q)).Wants(200).Has(common, "from:name").Lacks(nothing)
	}
	for _, q := range []string{"zebra", "the zebra", "the #zebra", "the from:nobody-here", "in:nobody-here", "#the"} {
		v.Get("/search?q=" + url.QueryEscape(q)).Wants(200).Has(nothing).Lacks(common)
	}
	for _, q := range []string{"the cat", "the from:anna", "in:anna"} {
		v.Get("/search?q="+url.QueryEscape(q)).Wants(200).Has("that is the question").Lacks(common, nothing)
	}
	v.Header.Set("Accept-Language", "ru")
	v.Get("/search?q=быть").Wants(200).Has("Эти слова встречаются слишком часто").Lacks("ничего не нашлось")
}

// A search says which of its names nobody has. It says nothing of those that others have,
// even of ones that the viewer may read.
func TestSearchNamesNobody(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	anna.Visitor().Post("/settings/access", "level", "private").LeadsTo("/settings?saved")
	anna.Visitor().Post("/groups", "name", "layoffs", "title", "Layoffs", "access", "private").LeadsTo("/layoffs")
	bob.Post("A white cat")
	anna.Visitor().Post("/bob/ban").LeadsTo("/bob")
	for name, v := range map[string]*webtest.Visitor{"nobody": s.Visitor(), "anna": anna.Visitor(), "bob": bob.Visitor()} {
		v.Get("/search?q=cat+from:bob+from:anna+in:bob+in:bob/nothing+in:layoffs+-in:anna").Wants(200).Lacks("Nobody here is called")
		for _, q := range []string{"cat+-from:Carol", "from:@carol+in:carol", "in:bob+in:carol", "from:carol+-in:layoffs+from:anna"} {
			if got := strings.Count(v.Get("/search?q="+q).Wants(200).Body, "Nobody here is called"); got != 1 {
				t.Errorf("%s searches for %s and is told %d times that nobody has a name, want once", name, q, got)
			}
		}
		v.Get("/search?q=from:carol+in:"+url.QueryEscape("<b>")).Wants(200).
			Has("Nobody here is called “carol”.", "Nobody here is called “&lt;b&gt;”.")
		v.Get("/search?q=-from:carol").Wants(400).Lacks("Nobody here")
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
	s := webtest.New(t, nil)
	s.Server.SetLimits(web.Limits{Searches: 2, Writes: -1, SignIns: -1}) // the hub has them too
	v := s.Visitor()
	v.Get("/search?q=a1").Wants(200)
	v.Get("/search?q=a2").Wants(200)
	v.Get("/search?q=a3").Wants(http.StatusTooManyRequests)
	v.Get("/search").Wants(200)
	s.Person("anna").Visitor().Get("/search?q=a4").Wants(200)

	// Nor can they be asked for by sockets alone.
	s.Open(nil, "/search?q=b1")
	s.Open(nil, "/search?q=b2")
	conn, _, err := s.Dial(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &webtest.Page{T: t, Conn: conn, Address: "/search?q=b3", Shown: map[string]webtest.Frame{}}
	g.Subscribe()
	if c := g.Closed(); c.Code != live.CloseTooFast {
		t.Errorf("closed with %v, want %d", c, live.CloseTooFast)
	}
	s.Open(nil, "/everything")
}

// A search that costs too much is answered, not failed.
func TestBroadSearchPage(t *testing.T) {
	s := webtest.New(t, nil)
	s.Person("anna").Post("word")
	if _, err := s.DB.Primary.Exec(t.Context(), `
		ALTER TABLE texts RENAME TO texts_kept;
		CREATE VIEW texts AS SELECT t.* FROM texts_kept t, pg_sleep(1000)`); err != nil {
		t.Fatal(err)
	}
	s.Visitor().Get("/search?q=word").Wants(400).Has("Add another word", `value="word"`)
}

func TestSearchInABrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Post("an old word")
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/everything")
	b.Do(chromedp.SendKeys(chromedp.CSS(`.find input`), "words\r"))
	b.Await("the search", `location.pathname === '/search'`)
	b.Live()
	webtest.Eval[bool](b, `window.same = true`)
	code := ann.Post("a new word").Code
	b.Shows(code, "body", "a new word")
	b.Do(chromedp.Click(chromedp.CSS(`#news button`)))
	b.Do(chromedp.Click(chromedp.CSS(`#p-` + code + ` > .acts form button`)))
	b.Pressed(code, "heart", true)
	bob.Comment(code, "indeed")
	b.Shows(code, "comments", "indeed")
	ann.Edit(code, "nothing of the kind")
	b.Await("the post to go", `!document.querySelector('#p-`+code+`')`)
	if !webtest.Eval[bool](b, `window.same === true`) {
		t.Error("the page was loaded again")
	}
	b.EqualsReload()
	b.Visit("/search?q=zebra")
	b.Live()
	b.Await("word that nothing was found", `!document.querySelector('.note.empty').hidden`)
	zebra := ann.Post("a zebra").Code
	b.Shows(zebra, "body", "a zebra")
	b.Await("no such word", `document.querySelector('.note.empty').hidden`)
}
