package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// TestEveryKindHasAPage: a river kind has a row, a row has its texts in both
// languages, and the page at its address, its socket and its feed are of that kind. A
// kind that is added has none before somebody gives it one.
func TestEveryKindHasAPage(t *testing.T) {
	s := newLiveSite(t, nil)
	ann := s.person("anna")
	v := ann.visitor()
	v.post("/groups", "name", "sailing", "title", "Sailing", "access", "public").wants(303)
	v.post("/lists", "title", "Some").wants(303)
	v.post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public").wants(303)
	code := ann.post("A #tag").Code
	viewer := timelines.Viewer{AccountID: ann.account.ID}
	for _, page := range view.Pages {
		name := "anna"
		if page.Kind == rivers.Group {
			name = "sailing"
		}
		path := strings.NewReplacer("{name}", name, "{code}", code, "{tag}", "tag", "{slug}", "photos").Replace(page.Path)
		if page.Kind == rivers.List {
			path = "/lists/some"
		}
		query := url.Values{}
		switch page.By {
		case "lang":
			query.Set("lang", "ru")
		case "q":
			query.Set("q", "tag")
		}
		address := page.Address(path, query)
		if page.Path == "/{name}/faves" {
			continue // it leads to /filter/saved
		}
		at, n, err := s.server.riverAt(t.Context(), viewer, path, query)
		if err != nil || at.Path != page.Path || n.Kind != page.Kind {
			t.Errorf("%s is of %+v on %s, %v; want %s on %s", address, n, at.Path, err, page.Kind, page.Path)
			continue
		}
		follow := view.RiverAddress(address, n.Order, view.ModeParam(n), "")
		answer := v.get(address).wants(200).has(`data-page="` + strings.ReplaceAll(follow, "&", "&amp;") + `"`)
		if !strings.Contains(answer.body, `id="river"`) {
			t.Errorf("%s shows no river", address)
		}
		// What is called something is called so in both languages.
		for _, l := range view.Locales {
			for _, key := range []string{page.Title, page.Empty} {
				if text := l.T(key); key != "" && text == key {
					t.Errorf("%s: %q is in no catalogue of %s", page.Path, key, l.Lang)
				}
			}
			if (page.Title == "") != (page.Kind == rivers.Post) {
				t.Errorf("%s has the title %q", page.Path, page.Title)
			}
		}
		// Its feed is there if a feed reader may have it, and says the same name.
		feed := "/feeds" + path + ".atom"
		if len(query) > 0 {
			feed += "?" + query.Encode()
		}
		got := s.visitor().get(feed)
		if offered := strings.Contains(answer.body, `href="`+strings.ReplaceAll(feed, "&", "&amp;")+`"`); offered != (got.status == 200) {
			t.Errorf("%s offers a feed: %t, and %s answers %d", address, offered, feed, got.status)
		}
	}
	// Those of the documents have one (DESIGN §9).
	for _, kind := range []rivers.Kind{
		rivers.Home, rivers.List, rivers.User, rivers.Subfeed, rivers.Eyes, rivers.Likes, rivers.Comments, rivers.Faves,
		rivers.Discussions, rivers.Directs, rivers.Group, rivers.Post, rivers.Everything, rivers.Best, rivers.MostFaved,
		rivers.Hashtag, rivers.Mentions, rivers.Search,
	} {
		if !slices.ContainsFunc(view.Pages, func(p view.Page) bool { return p.Kind == kind }) {
			t.Errorf("rivers of kind %s have no page", kind)
		}
	}
}

// A page of my own under a name is nobody else's, and of nobody who is not.
func TestMyPageUnderMyName(t *testing.T) {
	s := newLiveSite(t, nil)
	ann := s.person("anna")
	s.person("bob").visitor().get("/anna/faves").wants(404)
	s.visitor().get("/anna/faves").wants(404)
	ann.visitor().get("/anna/faves").wants(301)
	ann.visitor().get("/nobody-here/faves").wants(404)
}

// What one kind cannot be sorted by, its addresses do not offer.
func TestAPostHasOneOrder(t *testing.T) {
	s := newLiveSite(t, nil)
	ann := s.person("anna")
	code := ann.post("words").Code
	first := ann.visitor().get("/p/" + code).wants(200)
	ann.visitor().get("/p/"+code+"?order=created").wants(200).has(`data-page="/p/`+code+`"`, riverID(first.body))
}

// riverID is the attribute that tells a page's river.
func riverID(body string) string {
	_, rest, _ := strings.Cut(body, `data-river="`)
	id, _, _ := strings.Cut(rest, `"`)
	return `data-river="` + id + `"`
}
