package web

import (
	"fmt"
	"strings"
	"testing"

	"riverrun/timelines/language"
	"riverrun/web/view"
)

// A tag links to its page, where the posts stand that have it and may be read,
// and leave when they have it no more; forms on it lead back there.
func TestTagPage(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	reader, nobody := bob.visitor(), s.visitor()
	const spring = "/tag/%D0%B2%D0%B5%D1%81%D0%BD%D0%B0"
	reader.get(spring).wants(200).has("#весна", "There are none you can read yet", `data-page="`+spring+`"`)
	code := anna.post("Это #Весна, <b>и #лес</b>").Code
	anna.visitor().get(spring).wants(200).has("#Весна")
	s.followUp()
	reader.get(spring).wants(200).has(`<a href="`+spring+`">#Весна</a>`, "&lt;b&gt;и", "<h1><bdi>#весна</bdi></h1>").lacks("none you can read")
	reader.post("/p/"+code+"/like", "back", spring+"#p-"+code).leadsTo(spring + "#p-" + code)
	reader.get("/tag/%D0%92%D0%95%D0%A1%D0%9D%D0%90?order=created").leadsTo(spring + "?order=created")
	nobody.get(spring+"?order=created").wants(200).has("#Весна", spring+"?order=created")
	for _, address := range []string{"/tag/", "/tag/a-b", "/tag/%20", "/tag/%00", "/tag/%ff", "/tag/" + strings.Repeat("x", 51)} {
		reader.get(address).wants(404)
	}

	anna.post("Только тебе: #весна", "bob")
	s.followUp()
	reader.get(spring).has("Только тебе")
	nobody.get(spring).wants(200).lacks("Только тебе").has("#Весна")
	anna.edit(code, "Это лето")
	s.followUp()
	nobody.get(spring).wants(200).lacks(`class="entry"`)
}

// An open page of a tag moves by itself, from the tag's first use on.
func TestTagPageIsLive(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	g := s.open(bob, "/tag/river")
	code := anna.post("The #river").Code
	s.followUp()
	g.untilEntry(code)
	more := anna.post("Again the #River").Code
	g.untilEntry(more)
}

// Who is named finds the post among their mentions, if they may read it; nobody
// else does.
func TestMentionsPage(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, carol := s.person("anna"), s.person("bob"), s.person("carol")
	bob.visitor().get("/filter/mentions").wants(200).has("@bob in a post", `data-page="/filter/mentions"`)
	s.visitor().get("/filter/mentions").leadsTo("/login?back=%2Ffilter%2Fmentions")
	g := s.open(bob, "/filter/mentions")
	code := anna.post("Hello, @bob").Code
	g.untilEntry(code)
	anna.post("Between us: @bob", "carol")
	anna.comment(carol.post("Nothing").Code, "is it, @bob?")
	s.followUp()
	bob.visitor().get("/filter/mentions").has(`<a href="/bob">@bob</a>`, "is it,", "Nothing").lacks("Between us")
	for _, v := range []*visitor{anna.visitor(), carol.visitor()} {
		v.get("/filter/mentions").wants(200).lacks(`class="entry"`)
	}
	anna.edit(code, "Hello")
	g.untilGone(code)
}

// The author's word about a post's language is asked for where it is written and
// edited, kept, and checked.
func TestLanguageOfAPost(t *testing.T) {
	for _, code := range language.Known {
		if view.LanguageNames[code] == "" {
			t.Errorf("language %q has no name", code)
		}
	}
	s := newLiveSite(t, nil)
	v := s.person("anna").visitor()
	v.get("/").wants(200).has(`<select name="language">`, "Detect automatically", "Русский")
	v.post("/posts", "body", "hm", "language", "xx").wants(422).has("This language isn’t available")
	v.post("/posts", "body", "", "language", "ru").wants(422).has(`<option value="ru" lang="ru" selected>`)
	v.post("/posts", "body", "hm", "language", "ru", "key", "k").leadsTo("/")
	edit := "/p/" + v.get("/").code() + "/edit"
	v.get(edit).wants(200).has(`<option value="ru" lang="ru" selected>`)
	v.post(edit, "body", "hm again").wants(303)
	v.get(edit).has(`<option value="ru" lang="ru" selected>`)
	v.post(edit, "body", "hm again", "language", "xx").wants(422)
	v.post(edit, "body", "hm again", "language", "").wants(303)
	v.get(edit).has(`<option value="" selected>`)
}

// Everything, the best and the most saved are pages for everybody, each of all
// posts or of those in one language, in both orders, and live.
func TestAggregatePages(t *testing.T) {
	s := newLiveSite(t, nil)
	anna := s.person("anna")
	const russian = "Зимородок прилетал к верхней плотине, и мы его видели."
	code := anna.post(russian).Code
	best := s.open(nil, "/best?lang=ru")
	for i := range 5 {
		fan := s.person(fmt.Sprintf("fan-%d", i))
		fan.like(code)
		fan.visitor().post("/p/" + code + "/save").wants(303)
	}
	best.untilEntry(code)
	s.followUp()
	v := s.visitor()
	for _, path := range []string{"/everything", "/best", "/best/saved"} {
		for _, lang := range []string{"", "?lang=ru"} {
			v.get(path+lang).wants(200).has("Зимородок", `data-page="`+path+lang+`"`, `href="`+path+`?lang=en"`)
		}
		v.get(path+"?lang=ru&order=created").wants(200).has("Зимородок", `data-page="`+path+`?lang=ru&amp;order=created"`)
		v.get(path+"?lang=en").wants(200).lacks("Зимородок", `class="entry"`)
		v.get(path + "?lang=xx").wants(404)
	}
	v.get("/best?lang=ru").has(`<a href="/best?lang=ru" aria-current="true">Best</a>`, "<title>Best · Русский · riverrun</title>")
	reader := s.person("reader").visitor()
	reader.post("/p/"+code+"/like", "back", "/best?lang=ru#p-"+code).leadsTo("/best?lang=ru#p-" + code)
	anna.visitor().post("/p/"+code+"/edit", "body", russian, "language", "en").wants(303)
	best.untilGone(code)
}
