package web_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/web/webtest"
)

// Sign-up says all that is wrong at once, each beside its field, in a page and as JSON.
func TestSignUpSaysAllThatIsWrong(t *testing.T) {
	s := webtest.New(t, nil)
	s.Person("anna")
	v := s.Visitor()
	long := strings.Repeat("x", 200)
	page := v.Post("/signup", "username", "anna", "password", "short", "title", long).Wants(422)
	page.Has("taken", "Use at least 8 characters", `value="anna"`, long).Lacks(`value="short"`)
	beside := regexp.MustCompile(`(?s)id="signup-(\w+)-hint">\s*<span class="wrong"`)
	for form, want := range map[string][]string{
		page.Body: {"name", "password", "title"},
		v.Post("/signup", "username", "A B", "password", "short").Wants(422).Lacks("taken").Body:            {"name", "password"},
		v.Post("/signup", "username", "anna", "password", "quite long enough").Wants(422).Has("taken").Body: {"name"},
	} {
		var got []string
		for _, found := range beside.FindAllStringSubmatch(form, -1) {
			got = append(got, strings.Replace(found[1], "username", "name", 1))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("beside which fields something is wrong (-want +got):\n%s", d)
		}
	}

	v.Header = http.Header{"Accept": {"application/json"}}
	type fault struct {
		Field, Error string
		More         []fault
	}
	var got fault
	if err := json.Unmarshal([]byte(v.Post("/signup", "username", "anna", "password", "short").Wants(422).Body), &got); err != nil {
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
