package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// The page for people who make feeds tells of each field and each code, in both languages, and what
// it offers to programs is right: xmllint finds the example to be of the schema.
func TestFeedHelp(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	nobody := s.Visitor()
	for lang, words := range map[string][]string{"en": {"Feeds for sources", "The item has no id."}, "ru": {"Ленты для источников", "У записи нет идентификатора."}} {
		nobody.Header.Set("Accept-Language", lang)
		page := nobody.Get("/help/feeds").Wants(200).Has(words...)
		for _, c := range formats.Codes {
			page.Has(`id="code-` + string(c.Code) + `"`)
		}
		for _, p := range sources.Problems {
			page.Has(`id="code-` + string(p) + `"`)
		}
		for _, f := range formats.Fields {
			page.Has("<code>" + f.Name + "</code>")
		}
		page.Has("/help/feeds.xsd", "/help/feeds.xml", "/help/feeds.csv", "/help/feeds.ndjson", s.HTTP.URL+"/api/sources/$SOURCE/loads/1/batches")
		nobody.Get("/").Has(`href="/help/feeds"`)
	}
	dir := t.TempDir()
	save := func(name string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(nobody.Get("/help/"+name).Wants(200).Body), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	// The command that the page names.
	if out, err := exec.CommandContext(t.Context(), "xmllint", "--noout", "--schema", save("feeds.xsd"), save("feeds.xml")).CombinedOutput(); err != nil {
		t.Errorf("xmllint: %v\n%s", err, out)
	}
	for name, format := range map[string]formats.Format{"feeds.xml": formats.XML, "feeds.csv": formats.CSV, "feeds.ndjson": formats.NDJSON} {
		file, err := os.Open(save(name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		found, err := formats.Canonical(new(strings.Builder), file, formats.Options{})
		if err != nil || found.Format != format || found.Lines != 2 || len(found.Codes) > 0 {
			t.Errorf("%s is read as %+v, %v", name, found, err)
		}
	}
}

// The push API does what its page shows.
func TestFeedHelpPushes(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	p := newPusher(s, s.Person("ann"), sources.New{Title: "Harbour"})
	status := map[string]int{"": 201, "/1/batches": 200, "/1/finish": 202, "/1/results": 200}
	for _, step := range view.PushSteps {
		if step.Method == "GET" {
			p.await("/1")
		}
		if got := strings.TrimSpace(p.wants(status[step.Path], step.Method, step.Path, step.Body)); got != step.Answer &&
			step.Path != "/1/finish" { // its end may have come already
			t.Errorf("%s %s: got\n%s\nwant\n%s", step.Method, step.Path, got, step.Answer)
		}
	}
	// The single item is another source's.
	one := newPusher(s, s.Person("bob"), sources.New{Title: "Harbour"})
	one.base = strings.TrimSuffix(one.base, "/loads")
	got := strings.TrimSpace(one.wants(200, view.PushItem.Method, view.PushItem.Path, view.PushItem.Body))
	got = regexp.MustCompile(`/p/\w+`).ReplaceAllString(strings.ReplaceAll(got, s.HTTP.URL, "SITE"), "/p/CODE")
	if got != view.PushItem.Answer {
		t.Errorf("a single item: got\n%s\nwant\n%s", got, view.PushItem.Answer)
	}
}

// TestRefusalsHaveTexts: each code that the push API refuses with is on the page.
func TestRefusalsHaveTexts(t *testing.T) {
	t.Parallel()
	found := 0
	for _, name := range []string{"api.go", "apibatch.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`code: +"([a-z_]+)"|case ((?:"batch[a-z_]+"(?:, )?)+):`).FindAllStringSubmatch(string(source), -1) {
			for code := range strings.SplitSeq(strings.ReplaceAll(m[1]+m[2], `"`, ""), ", ") {
				found++
				for _, l := range view.Locales {
					if view.CallText(l, code) == "" {
						t.Errorf("%s has no text in %s", code, l.Lang)
					}
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("found %d codes only", found)
	}
}
