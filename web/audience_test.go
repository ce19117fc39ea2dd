package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// The form for a post says who can read what it would send, by the present levels and sets.
func TestAudience(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	v := ann.Visitor()
	v.Post("/groups", "name", "rowers", "title", "Rowers", "access", "private").LeadsTo("/rowers")
	v.Get("/").Has(`<span role="status">Everybody can read this</span>`, "Nobody but you can read this yet: group Rowers")
	ann.SetAccess("", timelines.Protected)
	v.Get("/").Has(`<span role="status">Everybody who is signed in can read this</span>`)
	bob.Subscribe("ann")
	ann.SetAccess("", timelines.Private)
	v.Get("/").Has(`<span role="status">2 people can read this: readers of your page</span>`)
	v.Get("/rowers").Has(`<span role="status">Nobody but you can read this yet: group Rowers</span>`)
	v.Post("/rowers/admit", "name", "bob").Wants(303)
	v.Get("/rowers").Has(`<span role="status">2 people can read this: group Rowers</span>`)
	v.Post("/rowers/dismiss", "name", "bob").Wants(303)
	v.Get("/rowers").Has(`<span role="status">Nobody but you can read this yet: group Rowers</span>`)
	v.Get("/filter/only-me").Has(`<span role="status">Only you can read this</span>`)
	v.Get("/filter/messages").Has(`<span role="status">Only you and the people you name can read this.</span>`)
}

// Where destinations are typed, groups are offered too that take one's posts. Nobody is offered
// with whom a ban stands between, and no group that one may not read.
func TestDestinationsOffered(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	a := ann.Visitor()
	a.Post("/groups", "name", "canoes", "title", "Canoes", "access", "public").LeadsTo("/canoes")
	a.Post("/groups", "name", "cellar", "title", "Cellar", "access", "private").LeadsTo("/cellar")
	a.Post("/groups", "name", "closed-shop", "title", "Closed shop", "access", "public").LeadsTo("/closed-shop")
	a.Post("/settings/writing", "group", "closed-shop", "writers", "admins").Wants(303)
	a.Post("/settings/writing", "group", "canoes", "writers", "anyone").Wants(303)
	v := bob.Visitor()
	// The forms for a group that takes posts of those who are no members know its readers, too.
	for _, form := range []string{"/canoes", "/posts/new?place=%2Fcanoes"} {
		v.Get(form).Wants(200).Has(`<span role="status">Everybody can read this</span>`, `value="canoes" checked data-level="0" data-who="group Canoes" data-alone="Everybody can read this"`)
	}
	v.Get("/posts/new?place=%2Fcellar").Wants(200).Has(`value="cellar" checked>`).Lacks("group Cellar")
	v.Get("/search/names?to&q=c").Wants(200).Has(`data-name="canoes"`, `data-name="cat"`, "Everybody can read this").
		Lacks("cellar", "closed-shop")
	v.Get("/search/names?q=c").Wants(200).Has(`data-name="cat"`).Lacks("canoes")
	a.Get("/search/names?to&q=c").Wants(200).Has(`data-name="canoes"`, `data-name="cellar"`, `data-name="closed-shop"`)
	cat.Ban("bob")
	ann.SetAccess("canoes", timelines.Private)
	v.Get("/search/names?to&q=c").Wants(200).Lacks("canoes", `data-name="cat"`)
}

// In a browser the line follows what is chosen and typed, and destinations complete.
func TestAudienceInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("bob")
	s.Person("cat")
	v := ann.Visitor()
	ann.SetAccess("", timelines.Private)
	v.Post("/groups", "name", "rowers", "title", "Rowers", "access", "private").LeadsTo("/rowers")
	v.Post("/rowers/admit", "name", "bob").Wants(303)
	v.Post("/groups", "name", "canoes", "title", "Canoes", "access", "public").LeadsTo("/canoes")
	v.Post("/canoes/unfollow").LeadsTo("/canoes")
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/")
	b.Live()
	says := func(text string) {
		t.Helper()
		b.Await("the line", `document.querySelector('.audience span').textContent === `+"`"+text+"`")
	}
	says("Nobody but you can read this yet: readers of your page")
	b.Do(chromedp.Click(chromedp.CSS(`#composer textarea`)), chromedp.Click(chromedp.CSS(`#composer .to summary`)))
	b.Do(chromedp.Click(chromedp.CSS(`.chip [value="rowers"]`)))
	says("2 people can read this: group Rowers")
	b.Do(chromedp.Click(chromedp.CSS(`.chip [value="ann"]`)))
	says("Can read this: readers of your page, group Rowers")
	b.Do(chromedp.Click(chromedp.CSS(`.chip [value="ann"]`)), chromedp.Click(chromedp.CSS(`.chip [value="rowers"]`)))
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer .people input`), "bo"))
	says("") // nobody knows yet who that is
	b.Await("bob", `document.querySelector('#names [data-name=bob]')`)
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer .people input`), "\t"))
	says("You and bob can read this")
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer .people input`), "can"))
	b.Await("the group", `document.querySelector('#names [data-name=canoes]')`)
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer .people input`), "\t"))
	b.Await("both chosen", `[...document.querySelectorAll('.chip :checked')].map((box) => box.value).join() === 'bob,canoes' && !document.querySelector('#composer .people input').value`)
	says("Everybody can read this")
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "hello"), chromedp.Click(chromedp.CSS(`#composer .send > button`)))
	b.CodeOf("hello")
	says("Nobody but you can read this yet: readers of your page")
}
