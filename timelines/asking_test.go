package timelines

import (
	"testing"
)

// A node counts requests anew once somebody asks, or is answered, or ceases to ask.
func TestAsking(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.setAccess(bob, "", Private)
	club := w.group(bob, "club", Private)
	c := NewAccessCache(w.Store)
	count := func(what string, want int) {
		t.Helper()
		w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
		for range 2 { // counted, and remembered
			got, err := c.Asking(t.Context(), []int64{bob.ID, club.ID})
			w.must(err)
			w.same(what, got, want)
		}
	}
	asks := func(name string) {
		t.Helper()
		_, _, err := w.Subscribe(t.Context(), ann.ID, name)
		w.must(err)
	}
	count("at first", 0)
	for _, act := range []struct {
		what string
		of   string
		ends func() (Change, error)
	}{
		{"withdrawn", "bob", func() (Change, error) { return w.Unsubscribe(t.Context(), ann.ID, "bob") }},
		{"declined", "bob", func() (Change, error) { return w.Decline(t.Context(), bob.ID, "ann", "") }},
		{"declined by the group", "club", func() (Change, error) { return w.Decline(t.Context(), bob.ID, "ann", "club") }},
		{"banned", "bob", func() (Change, error) { return w.Ban(t.Context(), ann.ID, "bob") }},
		{"excluded", "bob", func() (Change, error) {
			return w.ExcludeReader(t.Context(), bob.ID, "", "ann")
		}},
		{"excluded from the group", "club", func() (Change, error) { return w.ExcludeFromGroup(t.Context(), bob.ID, "club", "ann") }},
		{"accepted", "bob", func() (Change, error) { return w.Accept(t.Context(), bob.ID, "ann", "") }},
		{"accepted by the group", "club", func() (Change, error) { return w.Accept(t.Context(), bob.ID, "ann", "club") }},
	} {
		_, err := w.Unban(t.Context(), ann.ID, "bob")
		w.must(err)
		_, err = w.UnexcludeReader(t.Context(), bob.ID, "", "ann")
		w.must(err)
		_, err = w.UnexcludeFromGroup(t.Context(), bob.ID, "club", "ann")
		w.must(err)
		asks(act.of)
		count("asked, then to be "+act.what, 1)
		w.must(second(act.ends()))
		count(act.what, 0)
	}
}

// A request that came in beside a ban is neither counted nor listed: that it waits would
// tell of the ban.
func TestAskingBesideABan(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.setAccess(bob, "", Private)
	// Subscribe has looked for bans, and Ban for requests, and both commit.
	tx, err := w.pool.Begin(t.Context())
	w.must(err)
	to, err := lockTargetTx(t.Context(), tx, "bob")
	w.must(err)
	w.must(second(w.Ban(t.Context(), ann.ID, "bob")))
	w.must(second(requestTx(t.Context(), tx, ann.ID, to.AccountID)))
	w.must(tx.Commit(t.Context()))
	n, err := NewAccessCache(w.Store).Asking(t.Context(), []int64{bob.ID})
	w.must(err)
	w.same("counted", n, 0)
	list, err := w.Requests(t.Context(), bob.ID, 0, RequestPlace{}, 10)
	w.must(err)
	w.same("listed", list, []Request(nil))
}

// A node counts members anew once somebody joined, left or was removed.
func TestMemberCount(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	club := w.group(bob, "club", Public)
	c := NewAccessCache(w.Store)
	w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
	count := func(what string, want int) {
		t.Helper()
		got, err := c.MemberCount(t.Context(), club.ID)
		w.must(err)
		w.same(what, got, want)
	}
	count("at first", 1)
	w.member("ann", "club")
	count("remembered", 1)
	w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
	count("one joined", 2)
	w.act(w.RemoveMember, bob, "club", "ann")
	w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
	count("one removed", 1)
	// Only that group is counted again.
	w.exec(`DELETE FROM subscriptions WHERE account_id = $1`, club.ID) // behind the node's back
	w.must(second(w.Ban(t.Context(), bob.ID, "ann")))
	w.subscribe(w.user("flo"), "bob")
	w.group(bob, "chess", Public)
	w.member("dan", "chess")
	w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
	count("others banned, followed, joined elsewhere", 1)
	eve := w.member("eve", "club")
	w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
	count("one joined here", 1)
	w.must(second(w.Unsubscribe(t.Context(), eve.ID, "club")))
	w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
	count("and left", 0)
	w.exec(`TRUNCATE access_log`)
	w.member("cid", "club")
	w.exec(`TRUNCATE access_log`)
	w.must(c.Advance(t.Context(), Clock{Epoch: 1, N: w.clock()}))
	count("after a gap in the log", 1)
}
