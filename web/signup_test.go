package web

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Sign-up says all that is wrong at once, each beside its field, in a page and as JSON.
func TestSignUpSaysAllThatIsWrong(t *testing.T) {
	s := newLiveSite(t, nil)
	s.person("anna")
	v := s.visitor()
	long := strings.Repeat("x", 200)
	page := v.post("/signup", "username", "anna", "password", "short", "title", long).wants(422)
	page.has("taken", "Use at least 8 characters", `value="anna"`, long).lacks(`value="short"`)
	beside := regexp.MustCompile(`(?s)id="signup-(\w+)-hint">\s*<span class="wrong"`)
	for form, want := range map[string][]string{
		page.body: {"name", "password", "title"},
		v.post("/signup", "username", "A B", "password", "short").wants(422).lacks("taken").body:            {"name", "password"},
		v.post("/signup", "username", "anna", "password", "quite long enough").wants(422).has("taken").body: {"name"},
	} {
		var got []string
		for _, found := range beside.FindAllStringSubmatch(form, -1) {
			got = append(got, strings.Replace(found[1], "username", "name", 1))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("beside which fields something is wrong (-want +got):\n%s", d)
		}
	}

	v.header = http.Header{"Accept": {"application/json"}}
	type fault struct {
		Field, Error string
		More         []fault
	}
	var got fault
	if err := json.Unmarshal([]byte(v.post("/signup", "username", "anna", "password", "short").wants(422).body), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"name", "password"}
	fields := []string{got.Field}
	for _, is := range got.More {
		fields = append(fields, is.Field)
		if is.Error == "" || is.More != nil {
			t.Errorf("of %s it says %+v", is.Field, is)
		}
	}
	if d := cmp.Diff(want, fields); d != "" {
		t.Errorf("fields (-want +got):\n%s", d)
	}
}
