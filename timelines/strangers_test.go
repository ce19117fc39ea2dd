package timelines

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"riverrun/timelines/kinds"
)

// stranger is somebody who signed up on the page just now.
func (w *town) stranger(name string) Account {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), SignUp{Name: name, Password: "a long enough one", Stranger: true})
	w.must(err)
	return a
}

func (w *town) notified(a Account) (n int) {
	w.Helper()
	w.must(w.Pool().QueryRow(w.Context(), `SELECT count(*) FROM notifications WHERE account_id = $1`, a.ID).Scan(&n))
	return n
}

// A minute-old account writes as fast as it can, on two nodes.
func TestStrangersFlood(t *testing.T) {
	w := newTown(t)
	nodes := []*Store{w.Store, Open(w.Pool(), nil, DefaultOptions())}
	eve, bob := w.stranger("eve"), w.user("bob")
	write := func(author Account, i int) error {
		_, err := nodes[i%2].Posts.Create(t.Context(), NewPost{Author: author.ID, Body: rand.Text()}) // the same words would wait for each other
		return err
	}
	for i := range 4 {
		w.must(write(eve, i))
	}
	// Six meet at the last free place, the others come after them.
	const more, atOnce = 58, 6
	first := w.hold()
	if _, err := first.Exec(t.Context(), `SELECT FROM strangers FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	made := make(chan error, more)
	for i := range atOnce {
		go func() { made <- write(eve, i) }()
	}
	w.waitBlocked(atOnce)
	w.must(first.Rollback(t.Context()))
	for i := range more - atOnce {
		go func() { made <- write(eve, i) }()
	}
	n := 0
	for range more {
		err := <-made
		var slow *StrangerError
		switch {
		case err == nil:
			n++
		case !errors.As(err, &slow):
			t.Error(err)
		case slow.Comments || slow.Most != 5 || slow.After <= 59*time.Minute || slow.After > time.Hour:
			t.Errorf("refused with %+v", slow)
		}
	}
	if n != 1 {
		t.Errorf("%d of the last %d posts were made, want 1", n, more)
	}
	for i := range 7 {
		w.must(write(bob, i)) // made by a command
	}

	// A deleted post makes no room; an hour does, one by one; a form that comes again is no new post.
	var code string
	w.must(w.Pool().QueryRow(t.Context(), `SELECT code FROM posts WHERE author_id = $1 LIMIT 1`, eve.ID).Scan(&code))
	_, err := w.Posts.Delete(t.Context(), eve.ID, code)
	w.must(err)
	var slow *StrangerError
	if err := write(eve, 0); !errors.As(err, &slow) {
		t.Errorf("after deleting one: %v", err)
	}
	w.exec(`UPDATE strangers SET posts[1] = posts[1] - interval '1 hour', posts[2] = posts[2] - interval '50 minutes'`)
	again := NewPost{Author: eve.ID, Body: "later", Key: "k"}
	once, err := w.Posts.Create(t.Context(), again)
	w.must(err)
	if second, err := w.Posts.Create(t.Context(), again); err != nil || second.Code != once.Code || !second.Repeated {
		t.Errorf("the form again: %+v, %v", second, err)
	}
	if err := write(eve, 0); !errors.As(err, &slow) || slow.After > 10*time.Minute || slow.After < 9*time.Minute {
		t.Errorf("after an hour: %v, %+v", err, slow)
	}
	w.exec(`UPDATE strangers SET ends_at = now()`)
	for i := range 7 {
		w.must(write(eve, i))
	}
	w.must(w.Maintenance.ExpireStrangers(t.Context()))
	w.sound()
}

func TestStrangersComments(t *testing.T) {
	w := newTown(t)
	eve, bob := w.stranger("eve"), w.user("bob")
	p := w.post(bob, "hello")
	for range FirstDayComments {
		w.comment(eve, p.Code)
	}
	_, err := w.Comments.Create(t.Context(), NewComment{Author: eve.ID, Code: p.Code, Body: "and"})
	var slow *StrangerError
	if !errors.As(err, &slow) || !slow.Comments || slow.Most != FirstDayComments {
		t.Errorf("one comment more: %v", err)
	}
	w.exec(`INSERT INTO staff (account_id, role) VALUES ($1, 'moderator')`, eve.ID)
	w.comment(eve, p.Code)
}

// A host that does not want it.
func TestNoStrangers(t *testing.T) {
	w := newTown(t)
	eve, bob := w.stranger("eve"), w.user("bob")
	opts := DefaultOptions()
	opts.FirstDay = 0
	w.Store = Open(w.Pool(), w.heard, opts)
	for range 7 {
		w.post(eve, "@bob", "bob", "eve")
	}
	if n := w.notified(bob); n != 14 {
		t.Errorf("bob was told of %d, want 14", n)
	}
}

// A stranger's messages and mentions reach those who follow them, or are in a group with them.
func TestStrangersReach(t *testing.T) {
	w := newTown(t)
	eve, bob, fan, mate, admin := w.stranger("eve"), w.user("bob"), w.user("fan"), w.user("mate"), w.user("admin")
	w.group(admin, "club", Public)
	w.subscribe(fan, "eve")
	w.subscribe(mate, "club")
	w.subscribe(eve, "club")
	w.subscribe(eve, "bob")
	for _, to := range []string{"fan", "mate"} {
		w.post(eve, "a message", to)
	}
	for _, to := range [][]string{{"bob"}, {"fan", "bob"}} {
		_, err := w.Posts.Create(t.Context(), NewPost{Author: eve.ID, Body: "a message", To: to})
		w.invalid("a message to somebody else", err, "to_stranger")
	}
	sent := w.post(eve, "a message", "fan")
	_, err := w.Posts.Revise(t.Context(), eve.ID, sent.Code, Revision{To: []string{"fan", "bob"}})
	w.invalid("a message that bob is added to", err, "to_stranger")

	body := "@bob @fan @mate @eve"
	p := w.post(bob, "hello")
	count := map[string]int{"bob": w.notified(bob), "fan": w.notified(fan), "mate": w.notified(mate)}
	named := w.post(eve, body)
	text := "nobody"
	_, err = w.Posts.Edit(t.Context(), eve.ID, named.Code, text)
	w.must(err)
	_, err = w.Posts.Edit(t.Context(), eve.ID, named.Code, body)
	w.must(err)
	_, err = w.Comments.Create(t.Context(), NewComment{Author: eve.ID, Code: p.Code, Body: body})
	w.must(err)
	for a, want := range map[*Account][2]int{&bob: {1, 0}, &fan: {2, 2}, &mate: {2, 2}} { // bob: of a comment on his post
		if got := w.notified(*a) - count[a.Name]; got != want[0] {
			t.Errorf("%s was told of %d, want %d", a.Name, got, want[0])
		}
		var n int
		w.must(w.Pool().QueryRow(t.Context(), `SELECT count(*) FROM timeline_entries WHERE timeline_id = $1 AND NOT withdrawn`,
			w.timeline(kinds.Mentions, a.ID)).Scan(&n))
		if n != want[1] {
			t.Errorf("%s has %d mentions, want %d", a.Name, n, want[1])
		}
	}
}
