package timelines

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/push"
)

// browser is a subscription as browsers make them.
func browser(name string) push.Subscription {
	key := base64.RawURLEncoding.EncodeToString
	return push.Subscription{Endpoint: "https://push.example/" + name, P256DH: key(make([]byte, 65)), Auth: key(make([]byte, 16))}
}

// subscriber is a person who is signed in.
func (w *town) subscriber(name string) Viewer {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), SignUp{Name: name, Password: "a long enough one"})
	w.must(err)
	token, _, err := w.Accounts.SignIn(w.Context(), name, "a long enough one")
	w.must(err)
	session, _ := SessionOf(token)
	return Viewer{AccountID: a.ID, Session: session}
}

// TestOldestBrowserGivesWay: beyond the bound the one goes that was not heard of for longest, and
// never one that was subscribed again just now.
func TestOldestBrowserGivesWay(t *testing.T) {
	w := newTown(t)
	ann := w.subscriber("ann")
	for i := range push.Most {
		w.must(w.Pushes.Subscribe(t.Context(), ann, browser(fmt.Sprint(i))))
	}
	w.must(w.Pushes.Subscribe(t.Context(), ann, browser("0"))) // again
	w.must(w.Pushes.Subscribe(t.Context(), ann, browser("new")))
	for name, want := range map[string]bool{"0": true, "1": false, "2": true, "new": true} {
		has, err := w.Pushes.Has(t.Context(), ann, browser(name).Endpoint)
		w.must(err)
		w.same("browser "+name+" is told", has, want)
	}
}

// TestLostPush: while a job waits to tell an account's browsers, no other is made; if it is lost,
// another one is made some minutes later.
func TestLostPush(t *testing.T) {
	w := newTown(t)
	ann := w.subscriber("ann")
	w.must(w.Pushes.Subscribe(t.Context(), ann, browser("a")))
	want := func(what string, n int) {
		t.Helper()
		due, err := inTx(t.Context(), w.core, func(tx pgx.Tx) ([]int64, error) {
			return push.Want(t.Context(), tx, []int64{ann.AccountID, 12345})
		})
		w.must(err)
		w.same(what+": jobs", len(due), n)
	}
	want("the first", 1)
	want("while it waits", 0)
	list, _, err := w.Pushes.Take(t.Context(), ann.AccountID)
	w.must(err)
	w.same("browsers", len(list), 1)
	want("the next", 1)
	w.exec(`UPDATE push_due SET waits_since = waits_since - $1::interval`, push.Lost/2)
	want("while that waits for long", 0)
	w.exec(`UPDATE push_due SET waits_since = waits_since - $1::interval`, push.Lost)
	want("when it is lost", 1)
	want("while that waits", 0)
}

// A like says that nobody is to be pushed to, so that its job need not ask, unless the author has a browser and is told of
// the like. To take it back tells nobody.
func TestALikeSaysWhetherItPushes(t *testing.T) {
	w := newTown(t)
	ann, bob := w.subscriber("ann"), w.user("bob")
	unpushed := func(act func(context.Context, int64, string) (Change, error), actor int64, c Change) bool {
		t.Helper()
		w.heard.take()
		_, err := act(t.Context(), actor, c.Code)
		w.must(err)
		events := w.heard.take()
		if len(events) != 1 {
			t.Fatalf("announced %v", events)
		}
		return events[0].(Touched).Unpushed
	}
	p := w.post(Account{ID: ann.AccountID, Name: "ann"}, "hello")
	w.same("a like, without a browser", unpushed(w.Posts.Like, bob.ID, p), true)
	w.same("its end", unpushed(w.Posts.Unlike, bob.ID, p), true)
	w.must(w.Pushes.Subscribe(t.Context(), ann, browser("one")))
	w.same("a like, with a browser", unpushed(w.Posts.Like, bob.ID, p), false)
	w.same("its end, with a browser", unpushed(w.Posts.Unlike, bob.ID, p), true)
	w.same("one's own like", unpushed(w.Posts.Like, ann.AccountID, p), true)
	w.same("a post saved", unpushed(w.Posts.Fave, bob.ID, p), true)
}
