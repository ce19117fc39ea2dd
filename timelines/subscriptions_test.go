package timelines

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// reads reports whether the account stands among the readers of the feed.
func (w *town) reads(a Account, feed int64) bool {
	w.Helper()
	return value[bool](w, `SELECT EXISTS (SELECT FROM readers WHERE timeline_id = $1 AND account_id = $2)`, feed, a.ID)
}

func (w *town) relation(a, to Account) Relation {
	w.Helper()
	r, err := w.Subscriptions.Relation(w.Context(), a.ID, to.ID)
	w.must(err)
	return r
}

func TestSubscribe(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	before := w.clock()
	home := Replace{ViewerID: ann.ID, Kinds: []string{"home"}}

	c, requested, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	w.same("change", c, Change{Actor: ann.ID, Clock: before + 1, Replace: []Replace{home}})
	w.same("requested", requested, false)
	w.same("announced", w.heard.take(), []Event{home})
	w.same("logged", w.logged(before), []Invalidation{
		{N: before + 1, AccountID: bob.ID, Kind: "members"}, {N: before + 1, AccountID: ann.ID, Kind: "viewer"},
	})
	w.same("reads", w.reads(ann, bob.FeedID), true)
	w.same("relation", w.relation(ann, bob), Relation{Subscribed: true})
	w.same("the other way", w.relation(bob, ann), Relation{})

	c, requested, err = w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	w.same("change, again", c, Change{Actor: ann.ID, Clock: before + 1, Replace: []Replace{home}})
	w.same("requested, again", requested, false)

	c, err = w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	w.same("end", c, Change{Actor: ann.ID, Clock: before + 2, Replace: []Replace{home}})
	w.same("announced", w.heard.take(), []Event{home})
	w.same("reads after the end", w.reads(ann, bob.FeedID), false)
	w.same("relation after the end", w.relation(ann, bob), Relation{})

	// It narrowed what ann reads: the second answer waits for the first's number.
	c, err = w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	feeds := Replace{ViewerID: ann.ID, Kinds: []string{"home", "list"}}
	w.same("end, again", c, Change{Actor: ann.ID, Clock: before + 2, Replace: []Replace{feeds}})
	w.same("announced", w.heard.take(), []Event(nil))
	w.sound()
}

func TestSubscribeErrors(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	for name, want := range map[string]error{"nobody": ErrNotFound, "": ErrNotFound, "A\x00": ErrNotFound, "ann": ErrForbidden} {
		_, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, name)
		w.fails("Subscribe to "+name, err, want)
		_, err = w.Subscriptions.Unsubscribe(t.Context(), ann.ID, name)
		w.fails("Unsubscribe from "+name, err, want)
	}
	w.same("ann reads herself", w.reads(ann, ann.FeedID), true)
	w.setAccess(bob, "", Protected)
	w.exec(`INSERT INTO excluded (timeline_id, account_id) VALUES ($1, $2)`, bob.FeedID, ann.ID)
	_, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
	w.fails("the excluded", err, ErrForbidden)
}

func TestRequestAndAccept(t *testing.T) {
	w := newTown(t)
	ann, bob, cid := w.user("ann"), w.user("bob"), w.user("cid")
	club := w.group(bob, "club", Private)
	w.setAccess(bob, "", Private)
	bob.Access = Private
	w.heard.take()
	before := w.clock()

	for i, name := range []string{"bob", "club", "bob"} {
		c, requested, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, name)
		w.must(err)
		w.same("change", c, Change{Actor: ann.ID, Clock: []int64{before + 1, before + 2, 0}[i]})
		w.same("requested", requested, true)
	}
	w.same("clock", w.clock(), before+2)
	w.same("logged", w.logged(before), []Invalidation{{N: before + 1, AccountID: bob.ID, Kind: "members"}, {N: before + 2, AccountID: club.ID, Kind: "members"}})
	before += 2
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("reads before", w.reads(ann, bob.FeedID), false)
	w.same("relation", w.relation(ann, club), Relation{Requested: true})

	list, err := w.Subscriptions.Requests(t.Context(), bob.ID, 0, RequestPlace{}, 10)
	w.must(err)
	want := []Request{{From: ann, To: bob}, {From: ann, To: club}}
	if diff := cmp.Diff(want, list, cmpopts.IgnoreFields(Request{}, "CreatedAt")); diff != "" {
		t.Errorf("Requests (-want +got):\n%s", diff)
	}
	if age := time.Since(list[0].CreatedAt); age > time.Minute {
		t.Errorf("age of a request: got %v, want it new", age)
	}
	list, err = w.Subscriptions.Requests(t.Context(), cid.ID, 0, RequestPlace{}, 10)
	w.must(err)
	w.same("another's requests", list, []Request(nil))

	_, err = w.Subscriptions.Accept(t.Context(), cid.ID, "ann", "club")
	w.fails("who does not administer", err, ErrForbidden)
	_, err = w.Subscriptions.Accept(t.Context(), cid.ID, "ann", "")
	w.fails("who was not asked", err, ErrNotFound)
	_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "cid", "")
	w.fails("who did not ask", err, ErrNotFound)
	_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "nogroup")
	w.fails("no such group", err, ErrNotFound)
	_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "bob")
	w.fails("a person for a group", err, ErrNotFound)

	c, err := w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "")
	w.must(err)
	all := Replace{ViewerID: ann.ID}
	w.same("change", c, Change{Actor: bob.ID, Clock: before + 1, Replace: []Replace{all}})
	w.same("announced", w.heard.take(), []Event{all})
	w.same("logged", w.logged(before), []Invalidation{
		{N: before + 1, AccountID: bob.ID, Kind: "members"}, {N: before + 1, AccountID: ann.ID, Kind: "viewer"},
	})
	w.same("relation", w.relation(ann, bob), Relation{Subscribed: true})
	_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "")
	w.fails("again", err, ErrNotFound)
	_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "club")
	w.must(err)
	w.same("reads the group", w.reads(ann, club.FeedID), true)
	w.sound()

	// Leaving a private account takes posts out of every river.
	w.heard.take()
	c, err = w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	w.same("replaced", c.Replace, []Replace{all})
	w.same("announced", w.heard.take(), []Event{all})
	w.same("reads after", w.reads(ann, bob.FeedID), false)

	// An administrator leaves the group's home, and goes on reading it.
	c, err = w.Subscriptions.Unsubscribe(t.Context(), bob.ID, "club")
	w.must(err)
	w.same("replaced", c.Replace, []Replace{{ViewerID: bob.ID, Kinds: []string{"home"}}})
	w.same("administrator reads", w.reads(bob, club.FeedID), true)
	_, requested, err := w.Subscriptions.Subscribe(t.Context(), bob.ID, "club")
	w.must(err)
	w.same("administrator asks", requested, false)
}

// A person who is accepted and could read it all before has a home feed that is wrong, and
// nothing else.
func TestAcceptWhoReadsAlready(t *testing.T) {
	opened := map[string]func(w *town, bob Account, group string){
		"public":    func(w *town, bob Account, group string) { w.setAccess(bob, group, Public) },
		"protected": func(w *town, bob Account, group string) { w.setAccess(bob, group, Protected) },
		"admitted": func(w *town, bob Account, group string) {
			if group == "" {
				w.must(second(w.Feeds.Admit(t.Context(), bob.ID, "", "ann")))
			} else {
				w.act(w.Groups.Admit, bob, group, "ann")
			}
		},
		"still private": func(*town, Account, string) {},
	}
	for name, open := range opened {
		for _, group := range []string{"", "club"} {
			t.Run(name+" "+group, func(t *testing.T) {
				w := newTown(t)
				ann, bob := w.user("ann"), w.user("bob")
				asked := "bob"
				if group != "" {
					w.group(bob, group, Private)
					asked = group
				} else {
					w.setAccess(bob, "", Private)
				}
				w.subscribe(ann, asked)
				open(w, bob, group)
				w.heard.take()
				c, err := w.Subscriptions.Accept(t.Context(), bob.ID, "ann", group)
				w.must(err)
				wrong := Replace{ViewerID: ann.ID, Kinds: []string{RiverHome}}
				if name == "still private" {
					wrong.Kinds = nil
				}
				w.same("replaced", c.Replace, []Replace{wrong})
				w.same("announced", w.heard.take(), []Event{wrong})
				w.sound()
			})
		}
	}
}

// Somebody is accepted while the feed they read closes: they wait for it, did not read it
// any more then, and all their rivers are wrong.
func TestAcceptAgainstSetAccess(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.post(bob, "hello")
	w.setAccess(bob, "", Private)
	w.subscribe(ann, "bob")
	w.setAccess(bob, "", Public)
	closing := w.pauseInside()
	closed := during(func() error { return second(w.Feeds.SetAccess(t.Context(), bob.ID, "", Private)) })
	closing.reached(t)
	var c Change
	accepted := during(func() (err error) {
		c, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "")
		return err
	})
	w.waitBlocked(1)
	closing.release()
	w.must(closed())
	w.must(accepted())
	w.same("replaced", c.Replace, []Replace{{ViewerID: ann.ID}})
	w.same("reads", w.reads(ann, bob.FeedID), true)
	w.sound()
}

func TestWithdrawRequest(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.setAccess(bob, "", Private)
	w.subscribe(ann, "bob")
	before := w.clock()
	w.heard.take()
	c, err := w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	w.same("change", c, Change{Actor: ann.ID, Clock: before + 1})
	w.same("relation", w.relation(ann, bob), Relation{})
	w.same("logged", w.logged(before), []Invalidation{{N: before + 1, AccountID: bob.ID, Kind: "members"}})
	_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "")
	w.fails("accepting what was withdrawn", err, ErrNotFound)

	// Public again: who asked need not wait, and the request is answered by it.
	w.subscribe(ann, "bob")
	w.setAccess(bob, "", Public)
	w.subscribe(ann, "bob")
	w.same("relation", w.relation(ann, bob), Relation{Subscribed: true})
}

// A follower of a public account still reads it when it goes private.
func TestSubscribersOutliveGoingPrivate(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.subscribe(ann, "bob")
	p := w.post(bob, "among us")
	w.setAccess(bob, "", Private)
	_, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	_, err = w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	_, err = w.Posts.Unlike(t.Context(), ann.ID, p.Code)
	w.fails("after leaving", err, ErrNotFound)
}

// A feed goes private while somebody begins to follow it, having seen it public: they must
// ask.
func TestSubscribeAgainstGoingPrivate(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	going := w.hold()
	_, err := going.Exec(t.Context(), `UPDATE timelines SET access = 2 WHERE id = $1`, bob.FeedID)
	w.must(err)
	var requested bool
	subscribed := during(func() (err error) {
		_, requested, err = w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
		return err
	})
	w.waitBlocked(1)
	w.must(going.Commit(t.Context()))
	w.must(subscribed())
	w.same("requested", requested, true)
	w.same("reads", w.reads(ann, bob.FeedID), false)
}

// A request is taken back while it is being accepted: in the end ann, who was
// answered last, does not follow.
func TestUnsubscribeAgainstAccept(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.setAccess(bob, "", Private)
	w.subscribe(ann, "bob")
	accepting := w.pauseInside()
	accepted := during(func() error {
		_, err := w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "")
		return err
	})
	accepting.reached(t)
	left := during(func() error {
		_, err := w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
		return err
	})
	w.waitBlocked(1)
	accepting.release()
	w.must(accepted())
	w.must(left())
	w.same("relation", w.relation(ann, bob), Relation{})
	w.same("reads", w.reads(ann, bob.FeedID), false)
	w.sound()
}
