package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

// F17: people and administrators of groups edit which words give which tags, without scripts.
func TestWordsAndTagsOnPages(t *testing.T) {
	s := webtest.New(t, nil)
	a, b := s.Person("anna").Visitor(), s.Person("bob").Visitor()
	a.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	a.Get("/settings").Wants(200).Has("/settings/tags")
	a.Get("/chess-club/manage").Wants(200).Has("/chess-club/tags")
	for _, page := range []string{"/settings/tags", "/chess-club/tags"} {
		a.Get(page).Wants(200).Has(`action="`+page+`"`, "#boats: ship").Lacks(`class="saved`)
		a.Post(page, "words", "Boats: ship, sail\r\nopen science").LeadsTo(page + "?saved")
		a.Get(page+"?saved").Wants(200).Has(`class="saved`, "#boats: ship, sail\n#open_science\n")
		a.Post(page, "words", "boats: ship\nsail, sailor").Wants(422).Has("“sail, sailor” isn’t a tag", "boats: ship\nsail, sailor", `aria-invalid="true"`)
		a.Get(page).Has("#boats: ship, sail\n#open_science\n")
		a.Post(page).LeadsTo(page + "?saved")
		a.Get(page).Wants(200).Lacks("open_science")
		s.Visitor().Get(page).LeadsTo("/login?back=" + map[bool]string{true: "%2Fsettings%2Ftags", false: "%2Fchess-club%2Ftags"}[page == "/settings/tags"])
	}
	b.Get("/chess-club/tags").Wants(403)
	b.Post("/chess-club/tags", "words", "x").Wants(403)
	b.Get("/anna/tags").Wants(404)
	b.Get("/nobody-here/tags").Wants(404)
}

// F17: a person who writes a post is offered the tags of the words in it, by the dictionaries of the
// places that it goes to.
func TestOfferedTags(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	ann.Post("an earlier post")
	v := ann.Visitor()
	v.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").Wants(303)
	v.Post("/settings/tags", "words", "boats: ship\nweather: rain").Wants(303)
	v.Post("/chess-club/tags", "words", "chess: rook").Wants(303)
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/")
	b.Live()
	const text = `#compose textarea`
	offered := func(want string) {
		t.Helper()
		b.Await("offered: "+want, `[...document.querySelectorAll('#compose .offered button')].map((b) => b.textContent).join() === '`+want+`'`)
	}
	b.Do(chromedp.Click(chromedp.CSS(text)), chromedp.SendKeys(chromedp.CSS(text), "Rain on a ship, and a rook"))
	offered("#weather,#boats")
	b.Do(chromedp.Click(chromedp.CSS(`#compose .offered button`)))
	b.Await("the tag in the text", `document.querySelector('#compose textarea').value === 'Rain on a ship, and a rook #weather'`)
	offered("#boats")
	webtest.Eval[bool](b, `(() => { document.querySelector('#compose .adding').open = true; document.querySelector('#compose [value=chess-club]').click(); return true; })()`)
	b.Do(chromedp.SendKeys(chromedp.CSS(text), "!"))
	offered("#chess")
	b.Do(chromedp.Click(chromedp.CSS(`#compose .send > button`)))
	b.CodeOf("Rain on a ship, and a rook #weather!")
	offered("")
}
