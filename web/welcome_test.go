package web_test

import (
	"strings"
	"testing"

	"riverrun/web/webtest"
)

// A new account is led from step to step by plain forms, may leave at any time, and comes back
// to what is not done.
func TestIntroduction(t *testing.T) {
	s := webtest.New(t, nil)
	bob := s.Person("bob")
	bob.Post("hello", "bob")
	s.Person("cat").Subscribe("bob")
	v := s.Visitor()
	v.Get("/welcome/you").Wants(303)
	v.Post("/signup", "username", "ann", "password", "quite long enough").LeadsTo("/welcome/you")
	v.Get("/").Wants(200).Has(`href="/welcome"`)
	v.Get("/welcome").LeadsTo("/welcome/you")
	v.Get("/welcome/you").Wants(200).Has(`type="file"`, `value="ann"`, `aria-current="step"`).Lacks("done")
	v.Post("/welcome/you", "title", strings.Repeat("x", 101), "about", "a painter").Wants(422).Has("a painter", `role="alert"`)
	v.Post("/welcome/you", "title", "Ann Lee", "about", "a painter").LeadsTo("/welcome/people")
	v.Get("/welcome").LeadsTo("/welcome/people")
	v.Get("/welcome/people").Wants(200).Has(`action="/bob/follow"`, `name="back" value="/welcome/people"`, "done")
	v.Post("/bob/follow", "back", "/welcome/people").LeadsTo("/welcome/people")
	v.Get("/welcome/people").Wants(200).Has("You follow 1 already").Lacks(`action="/bob/follow"`)
	v.Get("/welcome").LeadsTo("/welcome/post")
	v.Get("/welcome/post").Wants(200).Has(`action="/posts"`, `name="back" value="/"`)
	v.Post("/posts", "body", "Hello from Ann", "back", "/").LeadsTo("/")
	v.Get("/").Wants(200).Has("Hello from Ann", "hello").Lacks(`href="/welcome"`)
	v.Get("/welcome").LeadsTo("/welcome/people") // there are always more people
	// Somebody who was on the way to a page gets there.
	s.Visitor().Post("/signup", "username", "dan", "password", "quite long enough", "back", "/bob").LeadsTo("/bob")
}

// The step of the first post goes on with a text that was begun before, without scripts too (G3).
func TestWelcomeHasTheDraft(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Person("ann").Visitor()
	v.Get("/welcome/post").Wants(200).Has(`name="draft" value="/"`, `name="saved" value=""`)
	v.Post("/drafts", "draft", "/", "body", "my first words").Wants(303)
	v.Get("/welcome/post").Wants(200).Has(">my first words</textarea>", `name="saved" value="`+savedAt(v, "/")+`"`, `name="back" value="/"`)
}
