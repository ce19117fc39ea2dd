package web_test

import (
	"fmt"
	"strings"
	"testing"

	"riverrun/timelines/language"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// A tag links to its page, where the posts stand that have it and may be read,
// and leave when they have it no more; forms on it lead back there.
func TestTagPage(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	reader, nobody := bob.Visitor(), s.Visitor()
	const spring = "/tag/%D0%B2%D0%B5%D1%81%D0%BD%D0%B0"
	reader.Get(spring).Wants(200).Has("#весна", "There are none you can read yet", `data-page="`+spring+`"`)
	code := anna.Post("Это #Весна, <b>и #лес</b>").Code
	anna.Visitor().Get(spring).Wants(200).Has("#Весна")
	s.FollowUp()
	reader.Get(spring).Wants(200).Has(`href="`+spring+`">#Весна</a>`, "&lt;b&gt;и", "<h1><bdi>#весна</bdi></h1>").Lacks("none you can read")
	reader.Post("/p/"+code+"/like", "back", spring+"#p-"+code).LeadsTo(spring + "#p-" + code)
	reader.Get("/tag/%D0%92%D0%95%D0%A1%D0%9D%D0%90?order=created").LeadsTo(spring + "?order=created")
	nobody.Get(spring+"?order=created").Wants(200).Has("#Весна", spring+"?order=created")
	for _, address := range []string{"/tag/", "/tag/a-b", "/tag/%20", "/tag/%00", "/tag/%ff", "/tag/" + strings.Repeat("x", 51)} {
		reader.Get(address).Wants(404)
	}

	anna.Post("Только тебе: #весна", "bob")
	s.FollowUp()
	reader.Get(spring).Has("Только тебе")
	nobody.Get(spring).Wants(200).Lacks("Только тебе").Has("#Весна")
	anna.Edit(code, "Это лето")
	s.FollowUp()
	nobody.Get(spring).Wants(200).Lacks(`class="entry"`)
}

// An open page of a tag moves by itself, from the tag's first use on.
func TestTagPageIsLive(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	g := s.Open(bob, "/tag/river")
	code := anna.Post("The #river").Code
	s.FollowUp()
	g.UntilEntry(code)
	more := anna.Post("Again the #River").Code
	g.UntilEntry(more)
}

// A person who is named finds the post among their mentions, if they may read it. Nobody
// else does.
func TestMentionsPage(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, carol := s.Person("anna"), s.Person("bob"), s.Person("carol")
	bob.Visitor().Get("/filter/mentions").Wants(200).Has("@bob in a post", `data-page="/filter/mentions"`)
	s.Visitor().Get("/filter/mentions").LeadsTo("/login?back=%2Ffilter%2Fmentions")
	g := s.Open(bob, "/filter/mentions")
	code := anna.Post("Hello, @bob").Code
	g.UntilEntry(code)
	anna.Post("Between us: @bob", "carol")
	anna.Comment(carol.Post("Nothing").Code, "is it, @bob?")
	s.FollowUp()
	bob.Visitor().Get("/filter/mentions").Has(`href="/bob">@bob</a>`, "is it,", "Nothing").Lacks("Between us")
	for _, v := range []*webtest.Visitor{anna.Visitor(), carol.Visitor()} {
		v.Get("/filter/mentions").Wants(200).Lacks(`class="entry"`)
	}
	anna.Edit(code, "Hello")
	g.UntilGone(code)
}

// The author's word about a post's language is asked for where it is written and
// edited, kept, and checked.
func TestLanguageOfAPost(t *testing.T) {
	for _, code := range language.Known {
		if view.LanguageNames[code] == "" {
			t.Errorf("language %q has no name", code)
		}
	}
	s := webtest.New(t, nil)
	v := s.Person("anna").Visitor()
	v.Get("/").Wants(200).Has(`<select name="language">`, "Language: automatic", "Русский")
	v.Post("/posts", "body", "hm", "language", "xx").Wants(422).Has("This language isn’t available")
	v.Post("/posts", "body", "", "language", "ru").Wants(422).Has(`<option value="ru" lang="ru" selected>`)
	v.Post("/posts", "body", "hm", "language", "ru", "key", "k").LeadsTo("/")
	edit := "/p/" + v.Get("/").Code() + "/edit"
	v.Get(edit).Wants(200).Has(`<option value="ru" lang="ru" selected>`)
	v.Post(edit, "body", "hm again").Wants(303)
	v.Get(edit).Has(`<option value="ru" lang="ru" selected>`)
	v.Post(edit, "body", "hm again", "language", "xx").Wants(422)
	v.Post(edit, "body", "hm again", "language", "").Wants(303)
	v.Get(edit).Has(`<option value="" selected>`)
}

// Everything, the best and the most saved are pages for everybody, each of all
// posts or of those in one language, in both orders, and live.
func TestAggregatePages(t *testing.T) {
	s := webtest.New(t, nil)
	anna := s.Person("anna")
	const russian = "Зимородок прилетал к верхней плотине, и мы его видели."
	code := anna.Post(russian).Code
	best := s.Open(nil, "/best?lang=ru")
	for i := range 5 {
		fan := s.Person(fmt.Sprintf("fan-%d", i))
		fan.Like(code)
		fan.Visitor().Post("/p/" + code + "/save").Wants(303)
	}
	best.UntilEntry(code)
	s.FollowUp()
	v := s.Visitor()
	for _, path := range []string{"/everything", "/best", "/best/saved"} {
		for _, lang := range []string{"", "?lang=ru"} {
			v.Get(path+lang).Wants(200).Has("Зимородок", `data-page="`+path+lang+`"`, `href="`+path+`?lang=en"`)
		}
		v.Get(path+"?lang=ru&order=created").Wants(200).Has("Зимородок", `data-page="`+path+`?lang=ru&amp;order=created"`)
		v.Get(path+"?lang=en").Wants(200).Lacks("Зимородок", `class="entry"`)
		v.Get(path + "?lang=xx").Wants(404)
	}
	v.Get("/best?lang=ru").Has(`<a href="/best?lang=ru" aria-current="true">Best</a>`, "<title>Best · Русский · riverrun</title>")
	reader := s.Person("reader").Visitor()
	reader.Post("/p/"+code+"/like", "back", "/best?lang=ru#p-"+code).LeadsTo("/best?lang=ru#p-" + code)
	anna.Visitor().Post("/p/"+code+"/edit", "body", russian, "language", "en").Wants(303)
	best.UntilGone(code)
}
