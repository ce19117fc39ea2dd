package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
)

// silence is how long the sites of these tests wait for their stores; bounded is when a
// request must have been answered that waits no longer, on a slow machine, and far below
// what one takes without a bound.
const (
	silence = time.Second
	bounded = 5 * time.Second
)

// newRemoteSite is a site whose stores are each reached through a proxy.
func newRemoteSite(t *testing.T) (s *liveSite, primary, secondary *testdb.Proxy) {
	t.Helper()
	db := testdb.New(t)
	primary, secondary = testdb.NewProxy(t, db.Primary), testdb.NewProxy(t, db.Secondary)
	remote := *db
	remote.Primary, remote.Secondary = primary.Pool(4), secondary.Pool(4)
	s = newNode(t, &remote, silence, rivers.DefaultOptions(), nil)
	t.Cleanup(func() { // before the site stops
		primary.Open()
		secondary.Open()
	})
	return s, primary, secondary
}

// timely is an answer that did not take longer than is bounded.
func timely(t *testing.T, ask func() *answer) *answer {
	t.Helper()
	began := time.Now()
	a := ask()
	if took := time.Since(began); took > bounded {
		t.Errorf("%s: answered after %v, want it within %v", a.what, took, bounded)
	}
	return a
}

// However a store is cut off, and however many ask it, a page and a form are answered in
// time with 503, and the form's text stays.
func TestSilentStores(t *testing.T) {
	for _, which := range []string{"primary", "secondary"} {
		t.Run(which, func(t *testing.T) {
			s, primary, secondary := newRemoteSite(t)
			store := map[string]*testdb.Proxy{"primary": primary, "secondary": secondary}[which]
			v := s.person("ann").visitor()
			v.post("/posts", "body", "before", "back", "/").wants(http.StatusSeeOther)
			v.get("/").wants(http.StatusOK).has("before")
			check := func(how string) {
				t.Helper()
				var all sync.WaitGroup
				for i := range 10 { // more than there are connections
					all.Go(func() {
						// A page that nobody asked for yet needs both stores.
						page := timely(t, func() *answer { return v.get(fmt.Sprintf("/tag/%s%d", how, i)) })
						page.wants(http.StatusServiceUnavailable).lacks("our mistake")
						form := timely(t, func() *answer { return v.post("/posts", "body", "half a thought", "back", "/") })
						form.wants(http.StatusServiceUnavailable).has("half a thought").lacks("our mistake", "so nothing was saved")
						for _, a := range []*answer{page, form} {
							if a.header.Get("Retry-After") == "" {
								t.Errorf("%s: no Retry-After", a.what)
							}
						}
					})
				}
				all.Wait()
			}
			store.Shut()
			check("silent")
			// Nor when connections are closed and new ones hear nothing.
			store.Cut()
			check("closed")
			store.Open()
			until := time.Now().Add(patience)
			for v.get("/tag/again").status != http.StatusOK {
				if time.Now().After(until) {
					t.Fatalf("no page %v after the %s store was back", patience, which)
				}
			}
		})
	}
}

// A change that is committed when the other store falls silent is answered in time too,
// with word that it is saved.
func TestSilentAfterTheCommit(t *testing.T) {
	s, _, secondary := newRemoteSite(t)
	ann := s.person("ann")
	ctx, cancel := context.WithTimeout(t.Context(), silence)
	defer cancel()
	began := time.Now()
	_, err := s.tiers.Act(ctx, func(ctx context.Context) (timelines.Change, error) {
		defer secondary.Shut()
		return s.store.CreatePost(ctx, timelines.NewPost{Author: ann.account.ID, Body: "saved"})
	})
	if took := time.Since(began); !errors.Is(err, tiers.ErrBehind) || took > bounded {
		t.Errorf("got %v after %v, want ErrBehind within %v", err, took, bounded)
	}
}

// A socket whose question is not answered is closed in time with word to come back.
func TestSilentStoreAndSockets(t *testing.T) {
	s, _, secondary := newRemoteSite(t)
	ann := s.person("ann")
	ann.post("something")
	secondary.Shut()
	began := time.Now()
	g := &page{t: t, address: "/everything", shown: map[string]frame{}}
	g.connect(s, nil)
	if c := g.closed(); c.Code != closeReconnect {
		t.Errorf("closed with %v, want %d", c, closeReconnect)
	}
	if took := time.Since(began); took > bounded {
		t.Errorf("closed after %v, want it within %v", took, bounded)
	}
}

// The time a client takes to send its form is not the stores'.
func TestSlowFormIsTaken(t *testing.T) {
	s, _, _ := newRemoteSite(t)
	v := s.person("ann").visitor()
	body, pipe := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.base+"/posts", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	go func() {
		_, _ = io.Copy(pipe, strings.NewReader("back=/&body=slowly+"))
		<-time.After(2 * silence)
		_, _ = io.Copy(pipe, strings.NewReader("typed"))
		pipe.Close()
	}()
	answer, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		t.Errorf("status %d, want %d", answer.StatusCode, http.StatusSeeOther)
	}
	v.get("/").wants(http.StatusOK).has("slowly typed")
}
