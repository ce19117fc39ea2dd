package jobs

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/jobs/fetch"
	"riverrun/timelines"
	"riverrun/timelines/push"
)

// told is a Rivers that has something to tell one account. Each change tells it.
type told struct {
	*calls
	account int64
	latest  atomic.Int64
}

func (r *told) Told(_ context.Context, touched []timelines.Touched) ([]int64, error) {
	if len(touched) == 0 {
		return nil, nil
	}
	return []int64{r.account}, nil
}

func (r *told) News(_ context.Context, account int64) (n int, latest int64, err error) {
	if account != r.account || r.latest.Load() == 0 {
		return 0, 0, nil
	}
	return 1, r.latest.Load(), nil
}

// TestBrowsersAreTold: a browser is told once of what is new, with an encrypted body that holds
// no text; one whose subscription is over is forgotten, and so is one whose session ended.
func TestBrowsersAreTold(t *testing.T) {
	pool := prepare(t)
	got := make(chan *http.Request, 10)
	var status atomic.Int64
	status.Store(http.StatusCreated)
	both := make(chan struct{}, 2)
	maker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/push" { // answers when both of two are asked
			if both <- struct{}{}; len(both) < 2 {
				await(t, "the other browser is told too", func() bool { return len(both) == 2 })
			}
			return
		}
		if body, err := io.ReadAll(r.Body); err != nil || len(body) < 100 {
			t.Errorf("a body of %d bytes, %v", len(body), err)
		}
		w.WriteHeader(int(status.Load()))
		got <- r
	}))
	t.Cleanup(maker.Close)
	announcer, err := NewAnnouncer(quiet)
	if err != nil {
		t.Fatal(err)
	}
	store := timelines.Open(pool, announcer, timelines.DefaultOptions())
	anna, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "anna", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := store.Accounts.SignIn(t.Context(), "anna", "a long enough one")
	if err != nil {
		t.Fatal(err)
	}
	session, _ := timelines.SessionOf(token)
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	viewer := timelines.Viewer{AccountID: anna.ID, Session: session}
	browser := push.Subscription{
		Endpoint: maker.URL + "/push", P256DH: base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()),
		Auth: base64.RawURLEncoding.EncodeToString(make([]byte, 16)),
	}
	for _, bad := range []push.Subscription{{}, {Endpoint: "ftp://x", P256DH: browser.P256DH, Auth: browser.Auth}, {Endpoint: browser.Endpoint, P256DH: "x", Auth: browser.Auth}} {
		if err := store.Pushes.Subscribe(t.Context(), viewer, bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if err := store.Pushes.Subscribe(t.Context(), viewer, browser); err != nil {
		t.Fatal(err)
	}
	c := &calls{}
	r := &told{calls: c, account: anna.ID}
	cfg := config(t, pool, c)
	cfg.Rivers, cfg.Pushes, cfg.PollInterval = r, store.Pushes, 50*time.Millisecond
	if cfg.Fetch, err = fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}); err != nil {
		t.Fatal(err)
	}
	j := start(t, cfg)
	happens := func(at int64) {
		t.Helper()
		r.latest.Store(at)
		if err := j.note(t.Context(), []timelines.Touched{{PostID: probe}}, 1, true, []int64{anna.ID}); err != nil {
			t.Fatal(err)
		}
		// Events are gathered for some seconds; that time is over now.
		if _, err := pool.Exec(t.Context(), `UPDATE queue.river_job SET scheduled_at = now(), state = 'available' WHERE kind = 'push' AND state = 'scheduled'`); err != nil {
			t.Fatal(err)
		}
		await(t, "the push is worked", func() bool {
			var left int
			err := pool.QueryRow(t.Context(), `SELECT count(*) FROM queue.river_job WHERE kind = 'push' AND state <> 'completed'`).Scan(&left)
			return err == nil && left == 0
		})
	}
	subscriptions := func() (n int) {
		t.Helper()
		if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM push_subscriptions`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, unpushed := range []bool{true, false} {
		touched := []timelines.Touched{{PostID: probe, Unpushed: unpushed}}
		if err := j.distribute(t.Context(), touched, 0, 1, func() {}); err != nil {
			t.Fatal(err)
		}
		var pushes bool
		if err := pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM queue.river_job WHERE kind = 'push')`).Scan(&pushes); err != nil {
			t.Fatal(err)
		}
		if pushes == unpushed {
			t.Errorf("a push is to come: %t, after a change that says that it tells no browser: %t", pushes, unpushed)
		}
	}
	happens(0)
	happens(5)
	request := <-got
	if request.Header.Get("Topic") != "news" || request.Header.Get("TTL") == "" || request.Header.Get("Authorization") == "" {
		t.Errorf("header %v", request.Header)
	}
	happens(5) // that push told of it already
	happens(6)
	<-got
	if len(got) != 0 {
		t.Errorf("told %d times more", len(got))
	}
	failed := func() (n int) {
		t.Helper()
		if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM push_subscriptions WHERE failed_at IS NOT NULL`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for at, want := range []int{http.StatusInternalServerError, http.StatusCreated, http.StatusInternalServerError} {
		status.Store(int64(want))
		happens(int64(10 + at))
		<-got
		if n := failed(); n != (at+1)&1 {
			t.Errorf("%d subscriptions fail after an answer %d", n, want)
		}
	}
	if _, err := pool.Exec(t.Context(), `UPDATE push_subscriptions SET failed_at = failed_at - @patience::interval`, pgx.StrictNamedArgs{"patience": push.Patience}); err != nil {
		t.Fatal(err)
	}
	happens(20)
	<-got
	if n := subscriptions(); n != 0 {
		t.Errorf("%d subscriptions, want none: it failed for a week", n)
	}
	for _, path := range []string{"/one", "/two"} {
		slow := browser
		slow.Endpoint = maker.URL + path
		if err := store.Pushes.Subscribe(t.Context(), viewer, slow); err != nil {
			t.Fatal(err)
		}
	}
	happens(21)
	if len(both) != 2 || failed() != 0 {
		t.Errorf("%d of two browsers were told at once", len(both))
	}
	if _, err := pool.Exec(t.Context(), `DELETE FROM push_subscriptions`); err != nil {
		t.Fatal(err)
	}
	if err := store.Pushes.Subscribe(t.Context(), viewer, browser); err != nil {
		t.Fatal(err)
	}
	status.Store(http.StatusGone)
	happens(22)
	<-got
	if n := subscriptions(); n != 0 {
		t.Errorf("%d subscriptions, want none: it is over", n)
	}
	if err := store.Pushes.Subscribe(t.Context(), viewer, browser); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Accounts.SignOut(t.Context(), viewer); err != nil {
		t.Fatal(err)
	}
	if n := subscriptions(); n != 0 {
		t.Errorf("%d subscriptions, want none: signed out", n)
	}
}
