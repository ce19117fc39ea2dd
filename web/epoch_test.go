package web_test

import (
	"strings"
	"testing"

	"riverrun/web/webtest"
)

// A page whose address was read with the names of one epoch is answered with those of the next, if
// the node learns of that only as it reads the river.
func TestAPageIsOfItsNamesEpoch(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Post("a word of ann's")
	bob.Post("a word of bob's")
	node := countedNode(s) // does not look for restores by itself
	shows := func(when, want, not string) {
		t.Helper()
		w, _ := node.get("/ann", "")
		if text := w.Body.String(); !strings.Contains(text, want) || strings.Contains(text, not) {
			t.Errorf("%s: status %d, want %q and not %q in\n%s", when, w.Code, want, not, text)
		}
	}
	shows("before", "a word of ann", "a word of bob")
	s.Restore(ann, bob)
	shows("after", "a word of bob", "a word of ann")
}
