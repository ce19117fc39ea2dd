package web_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// TestEveryKindHasAPage: a river kind has a row, a row has its texts in both
// languages, and the page at its address, its socket and its feed are of that kind. A
// kind that is added has none before somebody gives it one.
func TestEveryKindHasAPage(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("anna")
	v := ann.Visitor()
	v.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public").Wants(303)
	v.Post("/lists", "title", "Some").Wants(303)
	v.Post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public").Wants(303)
	code := ann.Post("A #tag").Code
	viewer := timelines.Viewer{AccountID: ann.Account.ID}
	for _, page := range view.Pages {
		name := "anna"
		if page.Kind == rivers.Group || page.Filtered {
			name = "sailing"
		}
		path := strings.NewReplacer("{name}", name, "{code}", code, "{tag}", "tag", "{slug}", "photos").Replace(page.Path)
		if page.Kind == rivers.List {
			path = "/lists/some"
		}
		query := url.Values{}
		if page.Filtered {
			query.Set("state", "active")
		}
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
		at, n, err := s.Server.RiverAt(t.Context(), viewer, path, query)
		if err != nil || at.Path != page.Path || n.Kind != page.Kind {
			t.Errorf("%s is of %+v on %s, %v; want %s on %s", address, n, at.Path, err, page.Kind, page.Path)
			continue
		}
		follow := view.RiverAddress(address, n.Order, view.ModeParam(n), "")
		answer := v.Get(address).Wants(200).Has(`data-page="` + strings.ReplaceAll(follow, "&", "&amp;") + `"`)
		if !strings.Contains(answer.Body, `id="river"`) {
			t.Errorf("%s shows no river", address)
		}
		// A kind that has a name has it in both languages.
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
		got := s.Visitor().Get(feed)
		if offered := strings.Contains(answer.Body, `href="`+strings.ReplaceAll(feed, "&", "&amp;")+`"`); offered != (got.Status == 200) {
			t.Errorf("%s offers a feed: %t, and %s answers %d", address, offered, feed, got.Status)
		}
	}
	// Those of the documents have one (ARCHITECTURE.md).
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
	s := webtest.New(t, nil)
	ann := s.Person("anna")
	s.Person("bob").Visitor().Get("/anna/faves").Wants(404)
	s.Visitor().Get("/anna/faves").Wants(404)
	ann.Visitor().Get("/anna/faves").Wants(301)
	ann.Visitor().Get("/nobody-here/faves").Wants(404)
}

// The addresses of a kind offer only orders that it has.
func TestAPostHasOneOrder(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("anna")
	code := ann.Post("words").Code
	first := ann.Visitor().Get("/p/" + code).Wants(200)
	ann.Visitor().Get("/p/"+code+"?order=created").Wants(200).Has(`data-page="/p/`+code+`"`, riverID(first.Body))
}

// riverID is the attribute that tells a page's river.
func riverID(body string) string {
	_, rest, _ := strings.Cut(body, `data-river="`)
	id, _, _ := strings.Cut(rest, `"`)
	return `data-river="` + id + `"`
}
