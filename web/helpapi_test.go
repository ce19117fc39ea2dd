package web_test

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"riverrun/rivers/lines"
	"riverrun/timelines/tokens"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// The page for people who write programs has each operation of the API's document, in both languages, and its
// example is answered as it says.
func TestAPIHelp(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	nobody, ann := s.Visitor(), s.Person("ann")
	var doc described
	if err := json.Unmarshal([]byte(nobody.Get("/api/openapi.json").Wants(200).Body), &doc); err != nil || len(doc.Paths) < 10 {
		t.Fatalf("%d paths, %v", len(doc.Paths), err)
	}
	for lang, word := range map[string]string{"en": "How to begin", "ru": "С чего начать"} {
		nobody.Header.Set("Accept-Language", lang)
		page := nobody.Get("/help/api").Wants(200).Has(word, `href="/settings/tokens"`, s.HTTP.URL+"/api/posts", html.EscapeString(view.APIExample))
		for path, ops := range doc.Paths {
			for method, op := range ops {
				_, about, found := strings.Cut(page.Body, `id="`+op.ID+`"`)
				about, _, _ = strings.Cut(about, "</details>")
				parts := []string{"<code>" + strings.ToUpper(method) + " " + path + "</code>", html.EscapeString(op.Summary)}
				for _, scope := range merged(op.Security)["token"] {
					parts = append(parts, ">"+scope+"</code>")
				}
				for _, part := range parts {
					if !found || !strings.Contains(about, part) {
						t.Errorf("in %s, %s has no %s: %s", lang, op.ID, part, about)
					}
				}
			}
		}
		page.Has(`id="webhooks"`, `href="/settings/hooks"`, `href="#read-changes"`, html.EscapeString(view.HookExample))
		page.Has("<code>payload</code>", "<code>If-Match</code>", `href="#type-Comment"`, `id="type-Comment"`, "<code>liked_by</code>")
		page.Has(`id="of-source"`, `id="of-hub"`, `href="#type-Item"`, `href="#type-LoadEnd"`, "<code>batches</code>", `href="/help/feeds#push"`)
		nobody.Get("/help/feeds").Wants(200).Has(`href="/help/api"`)
	}
	var delivery struct {
		Changes []lines.Line `json:"changes"`
	}
	if err := json.Unmarshal([]byte(view.HookExample), &delivery); err != nil || toJSON(delivery) != view.HookExample {
		t.Errorf("the page says %s, a delivery has %s, %v", view.HookExample, toJSON(delivery), err)
	}
	ann.Visitor().Get("/settings/tokens").Wants(200).Has(`href="/help/api"`)
	programOf(t, ann, tokens.Write).wants(201, "POST", "/api/posts", view.APIExample, nil)
	var want, got any
	if err := json.Unmarshal([]byte(view.APIRefusal), &want); err != nil {
		t.Fatal(err)
	}
	programOf(t, ann, tokens.Read).wants(403, "POST", "/api/posts", view.APIExample, &got)
	if w, g := toJSON(want), toJSON(got); w != g {
		t.Errorf("the refusal is %s, the page says %s", g, w)
	}
}

func toJSON(v any) string {
	b, _ := json.Marshal(v) // of what came as JSON
	return string(b)
}

// Each code that the API and the states of programs answer with is on the page, with a text in both languages.
func TestCodesOfTheAPIHaveTexts(t *testing.T) {
	t.Parallel()
	nobody := webtest.New(t, nil).Visitor()
	found := 0
	for _, pattern := range []string{"api/*.go", "../timelines/stages/stages.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`Code(?:: +|, p\.Detail = )"([a-z_]+)"`).FindAllStringSubmatch(string(source), -1) {
				found++
				for _, lang := range []string{"en", "ru"} {
					nobody.Header.Set("Accept-Language", lang)
					if page := nobody.Get("/help/api").Wants(200).Body; !strings.Contains(page, `id="code-`+m[1]+`"`) || strings.Contains(page, "apihelp.code.") {
						t.Errorf("%s: %s is not on the page in %s, or has no text", name, m[1], lang)
					}
				}
			}
		}
	}
	if found < 12 {
		t.Errorf("found %d codes only", found)
	}
}
