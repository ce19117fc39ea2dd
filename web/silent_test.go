package web_test

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
	"riverrun/web"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// silence is how long the sites of these tests wait for their stores; bounded is when a
// request must have been answered that waits no longer, on a slow machine, and far below
// what one takes without a bound.
const (
	silence = time.Second
	bounded = 5 * time.Second
)

// newRemoteSite is a site whose stores are each reached through a proxy.
func newRemoteSite(t *testing.T) (s *webtest.Site, primary, secondary *testdb.Proxy) {
	t.Helper()
	db := testdb.New(t)
	primary, secondary = testdb.NewProxy(t, db.Primary), testdb.NewProxy(t, db.Secondary)
	remote := *db
	remote.Primary, remote.Secondary = primary.Pool(4), secondary.Pool(4)
	s = webtest.NewNode(t, &remote, silence, rivers.DefaultOptions(), nil)
	t.Cleanup(func() { // before the site stops
		primary.Open()
		secondary.Open()
	})
	return s, primary, secondary
}

// timely is an answer that did not take longer than is bounded.
func timely(t *testing.T, ask func() *webtest.Answer) *webtest.Answer {
	t.Helper()
	began := time.Now()
	a := ask()
	if took := time.Since(began); took > bounded {
		t.Errorf("%s: answered after %v, want it within %v", a.What, took, bounded)
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
			v := s.Person("ann").Visitor()
			v.Post("/posts", "body", "before", "back", "/").Wants(http.StatusSeeOther)
			v.Get("/").Wants(http.StatusOK).Has("before")
			check := func(how string) {
				t.Helper()
				var all sync.WaitGroup
				for i := range 10 { // more than there are connections
					all.Go(func() {
						// A page that nobody asked for yet needs both stores.
						page := timely(t, func() *webtest.Answer { return v.Get(fmt.Sprintf("/tag/%s%d", how, i)) })
						page.Wants(http.StatusServiceUnavailable).Lacks("our mistake")
						form := timely(t, func() *webtest.Answer { return v.Post("/posts", "body", "half a thought", "back", "/") })
						form.Wants(http.StatusServiceUnavailable).Has("half a thought").Lacks("our mistake", "so nothing was saved")
						files := timely(t, func() *webtest.Answer {
							return v.PostFiles("/posts", []webtest.Upload{{Name: "lake.txt", Content: []byte("lake")}}, "body", "half a picture")
						})
						files.Wants(http.StatusServiceUnavailable).Has("half a picture").Lacks("our mistake", "so nothing was saved")
						for _, a := range []*webtest.Answer{page, form, files} {
							if a.Header.Get("Retry-After") == "" {
								t.Errorf("%s: no Retry-After", a.What)
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
			until := time.Now().Add(webtest.Patience)
			for v.Get("/tag/again").Status != http.StatusOK {
				if time.Now().After(until) {
					t.Fatalf("no page %v after the %s store was back", webtest.Patience, which)
				}
			}
		})
	}
}

// A change that is committed when the other store falls silent is answered in time too,
// with word that it is saved.
func TestSilentAfterTheCommit(t *testing.T) {
	s, _, secondary := newRemoteSite(t)
	ann := s.Person("ann")
	ctx, cancel := context.WithTimeout(t.Context(), silence)
	defer cancel()
	began := time.Now()
	c, err := s.Store.Posts.Create(ctx, timelines.NewPost{Author: ann.Account.ID, Body: "saved"})
	secondary.Shut()
	_, err = s.Tiers.Carry(ctx, c, err)
	if took := time.Since(began); !errors.Is(err, tiers.ErrBehind) || took > bounded {
		t.Errorf("got %v after %v, want ErrBehind within %v", err, took, bounded)
	}
}

// A socket whose question is not answered is closed in time with word to come back.
func TestSilentStoreAndSockets(t *testing.T) {
	s, _, secondary := newRemoteSite(t)
	ann := s.Person("ann")
	ann.Post("something")
	secondary.Shut()
	began := time.Now()
	g := &webtest.Page{T: t, Address: "/everything", Shown: map[string]webtest.Frame{}}
	g.Connect(s, nil)
	if c := g.Closed(); c.Code != live.CloseReconnect {
		t.Errorf("closed with %v, want %d", c, live.CloseReconnect)
	}
	if took := time.Since(began); took > bounded {
		t.Errorf("closed after %v, want it within %v", took, bounded)
	}
}

// The time a client takes to send its form is not the stores'.
func TestSlowFormIsTaken(t *testing.T) {
	s, _, _ := newRemoteSite(t)
	v := s.Person("ann").Visitor()
	body, pipe := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.Base+"/posts", body)
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
	answer, err := v.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		t.Errorf("status %d, want %d", answer.StatusCode, http.StatusSeeOther)
	}
	v.Get("/").Wants(http.StatusOK).Has("slowly typed")
}

// Nor does it make a page one of the slowest.
func TestSlowFormIsNoSlowPage(t *testing.T) {
	body, pipe := io.Pipe()
	go func() {
		_, _ = pipe.Write([]byte("slow"))
		<-time.After(silence)
		_, _ = pipe.Write([]byte("ly"))
		pipe.Close()
	}()
	if took := web.Took(body); took >= silence {
		t.Errorf("a form that took %v to come: timed with %v", silence, took)
	}
}
