package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"riverrun/web/webtest"
)

// A site with several feeds offers them on the source's page; its address and its mode can be changed there,
// and a form that cannot be used says why.
func TestAddressOfASource(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	f.rss("One")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><title>A site</title><link rel="alternate" type="application/rss+xml" title="Posts &lt;all&gt;" href="`+f.link+`">
			<link rel="alternate" type="application/atom+xml" title="Comments" href="`+f.link+`/comments"><link rel="alternate" type="text/xml" href="javascript:alert(1)">`)
	}))
	t.Cleanup(site.Close)
	ann := f.Person("ann").Visitor()
	at := leadsToSource(ann.Post("/settings/sources", "way", "link", "url", site.URL))
	ann.Get(at).Wants(200).Lacks("several feeds")
	f.work()
	ann.Get(at).Wants(200).Has("This site has several feeds", "Posts &lt;all&gt;", `value="`+f.link+`" checked`, "Comments", `action="`+at+`/feed"`).Lacks("javascript:")
	f.hasPost("One", true)

	f.rss("One", "A comment")
	ann.Post(at+"/feed", "url", f.link+"/comments").LeadsTo(at + "?saved")
	ann.Get(at).Has("Fetching…", `value="`+f.link+`/comments" checked`)
	f.work()
	ann.Get(at).Has("This site has several feeds", "1 new", "2 posts", `name="url"`, `value="append" checked`)
	versions := f.ids(`SELECT version FROM sources`)
	ann.Post(at+"/feed", "url", f.link+"/comments").LeadsTo(at + "?saved")
	ann.Post(at+"/from", "url", f.link+"/comments", "mode", "append").LeadsTo(at + "?saved")
	if got := f.ids(`SELECT version FROM sources`); !slices.Equal(got, versions) {
		t.Errorf("forms saved as they were: version %d of the source, want %d", got, versions)
	}

	leadsToSource(ann.Post("/settings/sources", "way", "link", "url", f.link))
	for text, form := range map[string][]string{
		"already a source here":        {"url", f.link, "mode", "append"},
		"isn’t an address on the web":  {"url", "ftp://<x>", "mode", "append"},
		"isn’t an address on the web.": {"url", " ", "mode", "append"},
		"Choose one of these":          {"url", f.link + "/2", "mode", "sometimes"},
	} {
		a := ann.Post(at+"/from", form...).Wants(422)
		if !strings.Contains(webtest.ReadText([]byte(a.Body)), text) {
			t.Errorf("%q: the page does not say %q", form, text)
		}
	}
	ann.Post(at+"/from", "url", "ftp://<x>", "mode", "sync").Has(`value="ftp://&lt;x&gt;"`, `value="sync" checked`)
	ann.Post(at+"/feed", "url", f.link).Wants(422).Has("already a source here")
	ann.Post(at + "/feed").Wants(422)

	ann.Post(at+"/from", "url", f.link+"/comments", "mode", "sync").LeadsTo(at + "?saved")
	ann.Get(at).Has("A full list: what disappears from it is removed", `value="sync" checked`, "If an item disappears from the list")
	bob := f.Person("bob").Visitor()
	bob.Post(at+"/from", "url", f.link+"/3").Wants(404)
	bob.Post(at+"/feed", "url", f.link+"/3").Wants(404)
}
