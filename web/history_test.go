package web_test

import (
	"fmt"
	"testing"

	"riverrun/web/webtest"
)

// The author of a post sees what each edit changed; nobody else does, whatever they may read.
func TestHistoryIsTheAuthors(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	code := ann.Post("the zqlast boat <leaves>").Code
	v, other := ann.Visitor(), bob.Visitor()
	address := "/p/" + code + "/history"
	v.Get("/p/" + code).Wants(200).Lacks(address)
	v.Get(address).Wants(200).Has("No edits are kept")
	ann.Edit(code, "the first boat <leaves>")
	page := v.Get(address).Wants(200).Has("<span>the </span><del>zqlast</del><ins>first</ins><span> boat &lt;leaves&gt;</span></div>")
	if got := page.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("the browser keeps a copy: %q", got)
	}
	v.Get("/p/"+code).Wants(200).Has(`<a href="`+address+`"`, "Show edits")
	v.Get("/everything").Wants(200).Has(`<a href="` + address + `"`)

	other.Get("/p/"+code).Wants(200).Lacks(address, "zqlast")
	other.Get(address).Wants(403).Lacks("zqlast")
	s.Visitor().Get(address).Wants(303)
	secret := ann.Post("zqlast words", "~eyes").Code
	ann.Edit(secret, "other words")
	other.Get("/p/" + secret + "/history").Wants(404)
	other.Get("/p/zzzzzzzzzz/history").Wants(404)
	v.Get(address + "?before=x").Wants(400)

	for i := range 12 {
		ann.Edit(code, fmt.Sprintf("boat number %d leaves", i))
	}
	v.Get(address).Wants(200).Has("<ins>11</ins>", "<del>10</del>", address+"?before=").Lacks("zqlast")
	ann.Remove(code)
	v.Get(address).Wants(404)
}
