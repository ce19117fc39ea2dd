package web

import (
	"strings"
	"testing"

	"riverrun/timelines"
)

// A page's word for what it was decided with is known again, and says nothing: who
// is banned by nobody has one too, and it is never the same.
func TestSeal(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	sets := func(p *person) *timelines.Sets {
		t.Helper()
		sets, err := s.rivers.Access().Sets(t.Context(), p.account.ID)
		if err != nil {
			t.Fatal(err)
		}
		return sets
	}
	s.open(ann, "/everything")
	word := s.server.seal(sets(ann))
	if !s.server.isSealed(word, sets(ann)) || word == s.server.seal(sets(ann)) || len(word) != 2*sealSize {
		t.Errorf("the word is %q", word)
	}
	bob.ban("ann")
	s.open(ann, "/everything")
	if s.server.isSealed(word, sets(ann)) {
		t.Error("the word of before the ban is taken for that of now")
	}
	for _, wrong := range []string{"", "x", word[:8], word + "00", strings.Repeat("0", len(word))} {
		if s.server.isSealed(wrong, sets(ann)) {
			t.Errorf("%q is taken for a seal", wrong)
		}
	}
}
