package web_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines/changes"
	"riverrun/timelines/tokens"
	"riverrun/web/api"
	"riverrun/web/webtest"
)

// A call is answered although a database does not answer.
func TestProgramsDoNotWaitForDatabases(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	p := programOf(t, s.Person("ann"), tokens.Scopes...)
	hasty := &program{webtest.NewNode(t, s.DB, 500*time.Millisecond, rivers.DefaultOptions(), nil), p.token}
	hasty.wants(200, "GET", "/api/changes", "", nil)
	post := s.Person("bob").Post("hello")
	tx, err := s.DB.Primary.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `LOCK TABLE changes_head, posts`); err != nil {
		t.Fatal(err)
	}
	answered := make(chan string, 2)
	for _, call := range [][2]string{{"GET", "/api/changes"}, {"PUT", "/api/posts/" + post.Code + "/like"}} {
		go func() {
			var is api.Problem
			a := hasty.call(call[0], call[1], "", &is)
			answered <- fmt.Sprint(a.StatusCode, " ", is.Code)
		}()
	}
	late := time.After(20 * time.Second)
	for range 2 {
		select {
		case got := <-answered:
			if got[:3] != "503" {
				t.Errorf("answered %s, want 503", got)
			}
		case <-late:
			t.Error("a call waits for a lock for ever")
			late = nil
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if late != nil {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Calls wait for the log, at most twenty of an account. One whose program goes away is no fault of the site.
func TestProgramsWaitForChanges(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	one, two, his := programOf(t, ann, tokens.Changes), programOf(t, ann, tokens.Changes), programOf(t, bob, tokens.Changes)
	ann.Post("the first")
	s.RelayChanges()
	bounds, err := changes.Open(s.Store, 0).Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := "/api/changes?wait=30&after=" + strconv.FormatInt(bounds.Last, 10)
	began := time.Now()
	const most = 20
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan int, most+1)
	wait := func(p *program) {
		go func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.HTTP.URL+address, http.NoBody)
			if err != nil {
				panic(err)
			}
			r.Header.Set("Authorization", "Bearer "+p.token)
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				ended <- 0
				return
			}
			a.Body.Close()
			ended <- a.StatusCode
		}()
	}
	for i := range most + 1 {
		wait([]*program{one, two}[i%2])
	}
	if got := <-ended; got != http.StatusTooManyRequests {
		t.Errorf("one more call that waits is answered %d, want 429", got)
	}
	two.wants(200, "GET", "/api/changes?after="+strconv.FormatInt(bounds.Last, 10), "", nil)
	leave()
	for range most {
		if got := <-ended; got != 0 {
			t.Errorf("a call that was left is answered %d", got)
		}
	}
	read := make(chan []api.Line, 1)
	go func() {
		var lines []api.Line
		his.call("GET", address, "", &lines)
		read <- lines
	}()
	post := bob.Post("the second")
	s.RelayChanges()
	lines := <-read
	if len(lines) != 2 || lines[0].Code != post.Code {
		t.Errorf("who waited got %+v, want the post %s", lines, post.Code)
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("that took %v", took)
	}
	webtest.Await(t, "the calls that were left to be forgotten", func() bool {
		return one.call("GET", address[:len("/api/changes?wait=")]+"1"+address[len("/api/changes?wait=30"):], "", nil).StatusCode == 200
	})
	if n := s.Faults(); n != 0 {
		t.Errorf("%d errors are logged", n)
	}
}
