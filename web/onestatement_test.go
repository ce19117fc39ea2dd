package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// countedSite is a second node of a site whose statements are counted. It is not
// started: what a node does now and then, for all pages together, belongs to no page.
type countedSite struct {
	t                  testing.TB
	handler            http.Handler
	primary, secondary *webtest.CountedStatements
}

func countedNode(s *webtest.Site) *countedSite {
	s.T.Helper()
	c := &countedSite{t: s.T, primary: &webtest.CountedStatements{}, secondary: &webtest.CountedStatements{}}
	open := func(pool *pgxpool.Pool, counts *webtest.CountedStatements) *pgxpool.Pool {
		cfg := pool.Config()
		cfg.ConnConfig.Tracer = counts
		traced, err := pgxpool.NewWithConfig(s.T.Context(), cfg)
		if err != nil {
			s.T.Fatal(err)
		}
		s.T.Cleanup(traced.Close)
		return traced
	}
	log := slog.New(slog.DiscardHandler)
	store := timelines.Open(open(s.DB.Primary, c.primary), nil, timelines.DefaultOptions())
	server, err := web.New(web.Config{
		Timelines: store, Rivers: rivers.Open(open(s.DB.Secondary, c.secondary), store, log, rivers.DefaultOptions()),
		Tiers: s.Tiers, Log: log, URL: s.HTTP.URL, Limits: web.Limits{Writes: -1, SignIns: -1, SignUps: -1},
	})
	if err != nil {
		s.T.Fatal(err)
	}
	c.handler = server.Handler()
	return c
}

// get reads a page with the session of that token, "" for none, and returns how many
// statements that cost the primary and the secondary store.
func (c *countedSite) get(address, token string) (w *httptest.ResponseRecorder, statements [2]int64) {
	c.t.Helper()
	r := httptest.NewRequestWithContext(c.t.Context(), http.MethodGet, address, nil)
	r.Host = "localhost"
	if token != "" {
		r.AddCookie(&http.Cookie{Name: "riverrun", Value: token})
	}
	w = httptest.NewRecorder()
	before := [2]int64{c.primary.N.Load(), c.secondary.N.Load()}
	c.handler.ServeHTTP(w, r)
	return w, [2]int64{c.primary.N.Load() - before[0], c.secondary.N.Load() - before[1]}
}

// TestWarmPageIsOneStatement: a page that was seen before asks the secondary store once and
// the primary store not at all, composer and names included. An id of one thing is no id of
// another here, so that no page looks up a post as an account.
func TestWarmPageIsOneStatement(t *testing.T) {
	s := webtest.New(t, nil)
	for table, first := range map[string]string{"accounts": "1000", "lists": "1000000", "timelines": "2000000", "posts": "3000000", "comments": "4000000"} {
		if _, err := s.DB.Primary.Exec(t.Context(), `ALTER TABLE `+table+` ALTER id RESTART WITH `+first); err != nil {
			t.Fatal(err)
		}
	}
	anna, bob := s.Person("anna"), s.Person("bob")
	bob.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").Wants(303)
	anna.Visitor().Post("/bob/follow").Wants(303)
	anna.Visitor().Post("/chess-club/follow").Wants(303)
	bob.Visitor().Post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public").Wants(303)
	anna.Visitor().Post("/lists", "title", "Some").Wants(303)
	anna.Visitor().Post("/bob/place", "list", "some").Wants(303)
	code := bob.Post("Hello @anna, a heron on the #river", "bob", "bob/photos", "chess-club").Code
	anna.Comment(code, "A remark")
	for _, text := range []string{"What does @anna say?", "So it is", "It is", "Is it"} {
		bob.Comment(code, text) // the mention is folded away but on one page
	}
	anna.Like(code)
	anna.Post("Direct", "bob")
	anna.Post("Nobody's business", "~eyes")
	anna.Post("A secret", "anna/private")
	site := countedNode(s)

	one := [2]int64{0, 1}
	pages := map[string][2]int64{
		"/?mode=friends": one, "/everything?order=created": one, "/everything?lang=en": one, "/best?lang=en": one, "/anna/private": one,
	}
	replace := strings.NewReplacer("{name}", "bob", "{code}", code, "{tag}", "river", "{slug}", "photos")
	for _, page := range view.Pages {
		switch {
		case page.Kind == rivers.Search:
			// It loads changes since it last advanced, the page itself, and, unless it asks
			// for neither, people by their names.
			pages["/search?q=heron"] = [2]int64{1, 2}
			pages["/search?q=from:bob+river"] = [2]int64{1, 2}
			pages["/search?q=%23river"] = [2]int64{0, 2}
		case page.Kind == rivers.Group:
			pages["/chess-club"] = one
		case page.Kind == rivers.List:
			pages["/lists/some"] = one
		case page.Path == "/{name}/faves":
			// It leads to /filter/saved.
		default:
			pages[replace.Replace(page.Path)] = one
		}
	}
	for name, who := range map[string]struct {
		token string
		pages int // that are for them to see
	}{"anna": {anna.Token, len(pages)}, "nobody": {"", 16}} {
		seen := 0
		for address, want := range pages {
			site.get(address, who.token) // builds the river
			if w, _ := site.get(address, who.token); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `id="river"`) {
				continue
			}
			seen++
			if _, got := site.get(address, who.token); got != want {
				t.Errorf("%s: GET %s warm: %d statements of the primary and secondary store, want %d", name, address, got, want)
			}
		}
		if seen != who.pages {
			t.Errorf("%s saw %d pages, want %d", name, seen, who.pages)
		}
	}
}

// TestASocketReadsItsSession: after a restart the sockets of all open pages come at once, before a node
// remembers anything, so each reads its session and nothing else until it is taken.
func TestASocketReadsItsSession(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	anna.Follow(bob)
	w, got := countedNode(s).get("/ws", anna.Token)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("a node that was not started answers %d, want %d", w.Code, http.StatusServiceUnavailable)
	}
	if want := [2]int64{1, 0}; got != want {
		t.Errorf("%d statements of the primary and secondary store, want %d", got, want)
	}
}

// TestNamesCountNothing: what is offered for each letter of a name shows no number of unread
// notifications, and none is counted for it.
func TestNamesCountNothing(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("cat")
	c := countedNode(s)
	c.get("/search/names?q=c", ann.Token)
	w, statements := c.get("/search/names?q=c", ann.Token)
	if got := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(got, `data-name="cat"`) {
		t.Fatalf("%d: %.200s", w.Code, got)
	}
	if want := [2]int64{1, 0}; statements != want {
		t.Errorf("%v statements, want %v", statements, want)
	}
}
