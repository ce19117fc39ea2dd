package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// countedSite is a second node of a site whose statements are counted. It is not
// started: what a node does now and then, for all pages together, belongs to no page.
type countedSite struct {
	t                  testing.TB
	handler            http.Handler
	primary, secondary *countedStatements
}

func (s *liveSite) counted() *countedSite {
	s.t.Helper()
	c := &countedSite{t: s.t, primary: &countedStatements{}, secondary: &countedStatements{}}
	open := func(pool *pgxpool.Pool, counts *countedStatements) *pgxpool.Pool {
		cfg := pool.Config()
		cfg.ConnConfig.Tracer = counts
		traced, err := pgxpool.NewWithConfig(s.t.Context(), cfg)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(traced.Close)
		return traced
	}
	log := slog.New(slog.DiscardHandler)
	store := timelines.Open(open(s.db.Primary, c.primary), nil, timelines.DefaultOptions())
	server, err := New(Config{
		Timelines: store, Rivers: rivers.Open(open(s.db.Secondary, c.secondary), store, log, rivers.DefaultOptions()),
		Tiers: s.tiers, Log: log, URL: s.http.URL, Limits: Limits{Writes: -1, SignIns: -1, SignUps: -1},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	c.handler = server.Handler()
	return c
}

// get reads a page with the session of that token, "" for none, and returns how many
// statements that cost the primary and the secondary store.
func (c *countedSite) get(address, token string) (w *httptest.ResponseRecorder, statements [2]int64) {
	c.t.Helper()
	r := httptest.NewRequestWithContext(c.t.Context(), http.MethodGet, address, nil)
	if token != "" {
		r.AddCookie(&http.Cookie{Name: "riverrun", Value: token})
	}
	w = httptest.NewRecorder()
	before := [2]int64{c.primary.n.Load(), c.secondary.n.Load()}
	c.handler.ServeHTTP(w, r)
	return w, [2]int64{c.primary.n.Load() - before[0], c.secondary.n.Load() - before[1]}
}

// TestWarmPageIsOneStatement: a page that was seen before asks the secondary store once
// and the primary store not at all, composer and names included. What is an id of one
// thing is none of another here, so that no page looks up a post as an account.
func TestWarmPageIsOneStatement(t *testing.T) {
	s := newLiveSite(t, nil)
	for table, first := range map[string]string{"accounts": "1000", "lists": "1000000", "timelines": "2000000", "posts": "3000000", "comments": "4000000"} {
		if _, err := s.db.Primary.Exec(t.Context(), `ALTER TABLE `+table+` ALTER id RESTART WITH `+first); err != nil {
			t.Fatal(err)
		}
	}
	anna, bob := s.person("anna"), s.person("bob")
	bob.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").wants(303)
	anna.visitor().post("/bob/follow").wants(303)
	anna.visitor().post("/chess-club/follow").wants(303)
	bob.visitor().post("/settings/pages", "slug", "photos", "title", "Photos", "access", "public").wants(303)
	anna.visitor().post("/lists", "title", "Some").wants(303)
	anna.visitor().post("/bob/place", "list", "some").wants(303)
	code := bob.post("Hello @anna, a heron on the #river", "bob", "bob/photos", "chess-club").Code
	anna.comment(code, "A remark")
	for _, text := range []string{"What does @anna say?", "So it is", "It is", "Is it"} {
		bob.comment(code, text) // the mention is folded away but on one page
	}
	anna.like(code)
	anna.post("Direct", "bob")
	anna.post("Nobody's business", "~eyes")
	anna.post("A secret", "anna/private")
	site := s.counted()

	one := [2]int64{0, 1}
	pages := map[string][2]int64{
		"/?mode=friends": one, "/everything?order=created": one, "/everything?lang=en": one, "/best?lang=en": one, "/anna/private": one,
	}
	replace := strings.NewReplacer("{name}", "bob", "{code}", code, "{tag}", "river", "{slug}", "photos")
	for _, page := range view.Pages {
		switch {
		case page.Kind == rivers.Search:
			// What changed since it was last brought up, the page itself, and, unless it asks
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
	}{"anna": {anna.token, len(pages)}, "nobody": {"", 16}} {
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
