package access_test

import (
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/access"
)

// A node counts requests anew once somebody asks, or is answered, or ceases to ask.
func TestAsking(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.setAccess(bob, timelines.Private)
	club := w.group(bob, "club", timelines.Private)
	c := access.New(w.Store)
	count := func(what string, want int) {
		t.Helper()
		w.advance(c)
		for range 2 { // counted, and remembered
			got, err := c.RequestCount(t.Context(), []int64{bob.ID, club.ID})
			w.must(err)
			w.same(what, got, want)
		}
	}
	asks := func(name string) {
		t.Helper()
		_, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, name)
		w.must(err)
	}
	count("at first", 0)
	for _, act := range []struct {
		what string
		of   string
		ends func() (timelines.Change, error)
	}{
		{"withdrawn", "bob", func() (timelines.Change, error) { return w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob") }},
		{"declined", "bob", func() (timelines.Change, error) { return w.Subscriptions.Decline(t.Context(), bob.ID, "ann", "") }},
		{"declined by the group", "club", func() (timelines.Change, error) { return w.Subscriptions.Decline(t.Context(), bob.ID, "ann", "club") }},
		{"banned", "bob", func() (timelines.Change, error) { return w.Bans.Ban(t.Context(), ann.ID, "bob") }},
		{"excluded", "bob", func() (timelines.Change, error) {
			return w.Feeds.Exclude(t.Context(), bob.ID, "", "ann")
		}},
		{"excluded from the group", "club", func() (timelines.Change, error) { return w.Groups.Exclude(t.Context(), bob.ID, "club", "ann") }},
		{"accepted", "bob", func() (timelines.Change, error) { return w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "") }},
		{"accepted by the group", "club", func() (timelines.Change, error) { return w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "club") }},
	} {
		_, err := w.Bans.Unban(t.Context(), ann.ID, "bob")
		w.must(err)
		_, err = w.Feeds.Unexclude(t.Context(), bob.ID, "", "ann")
		w.must(err)
		_, err = w.Groups.Unexclude(t.Context(), bob.ID, "club", "ann")
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
	w.setAccess(bob, timelines.Private)
	// Subscribe and Ban may each look before the other commits.
	w.must(second(w.Bans.Ban(t.Context(), ann.ID, "bob")))
	w.exec(`INSERT INTO subscription_requests (subscriber_id, account_id) VALUES ($1, $2)`, ann.ID, bob.ID)
	n, err := access.New(w.Store).RequestCount(t.Context(), []int64{bob.ID})
	w.must(err)
	w.same("counted", n, 0)
	list, err := w.Subscriptions.Requests(t.Context(), bob.ID, 0, timelines.RequestPlace{}, 10)
	w.must(err)
	w.same("listed", list, []timelines.Request(nil))
}

// A node counts members anew once somebody joined, left or was removed.
func TestMemberCount(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	club := w.group(bob, "club", timelines.Public)
	c := access.New(w.Store)
	w.advance(c)
	count := func(what string, want int) {
		t.Helper()
		got, err := c.MemberCount(t.Context(), club.ID)
		w.must(err)
		w.same(what, got, want)
	}
	count("at first", 1)
	w.member("ann", "club")
	count("remembered", 1)
	w.advance(c)
	count("one joined", 2)
	w.must(second(w.Groups.RemoveMember(t.Context(), bob.ID, "club", "ann")))
	w.advance(c)
	count("one removed", 1)
	// Only that group is counted again.
	w.exec(`DELETE FROM subscriptions WHERE account_id = $1`, club.ID) // behind the node's back
	w.must(second(w.Bans.Ban(t.Context(), bob.ID, "ann")))
	w.subscribe(w.user("flo"), "bob")
	w.group(bob, "chess", timelines.Public)
	w.member("dan", "chess")
	w.advance(c)
	count("others banned, followed, joined elsewhere", 1)
	eve := w.member("eve", "club")
	w.advance(c)
	count("one joined here", 1)
	w.must(second(w.Subscriptions.Unsubscribe(t.Context(), eve.ID, "club")))
	w.advance(c)
	count("and left", 0)
	w.exec(`TRUNCATE access_log`)
	w.member("cid", "club")
	w.exec(`TRUNCATE access_log`)
	w.advance(c)
	count("after a gap in the log", 1)
}

// A node knows anew who follows an account, and whom an account follows, once either changed,
// by whatever way.
func TestFollowers(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	club := w.group(bob, "club", timelines.Public)
	c := access.New(w.Store)
	know := func(what string, followers access.Followers, following access.Following) {
		t.Helper()
		w.advance(c)
		for range 2 { // loaded, and remembered
			found, err := c.Followers(t.Context(), []int64{bob.ID})
			w.must(err)
			w.same(what+": who follows", found[bob.ID], followers)
			follows, err := c.Following(t.Context(), ann.ID)
			w.must(err)
			w.same(what+": who is followed", follows, following)
		}
	}
	none, nobody := access.Followers{IDs: access.IDs{}}, access.Following{Groups: access.IDs{}}
	byAnn, bobOnly := access.Followers{Total: 1, IDs: access.NewIDs(ann.ID)}, access.Following{People: 1, Groups: access.IDs{}}
	know("at first", none, nobody)
	w.subscribe(ann, "bob")
	know("followed", byAnn, bobOnly)
	w.subscribe(ann, "club")
	know("joined", byAnn, access.Following{People: 1, Groups: access.NewIDs(club.ID)})
	w.must(second(w.Groups.RemoveMember(t.Context(), bob.ID, "club", "ann")))
	know("removed", byAnn, bobOnly)
	w.must(second(w.Feeds.Remove(t.Context(), bob.ID, "", "ann")))
	know("taken off the feed", none, nobody)
	w.subscribe(ann, "bob")
	know("followed again", byAnn, bobOnly)
	w.must(second(w.Feeds.Exclude(t.Context(), bob.ID, "", "ann")))
	know("excluded", none, nobody)
}

// A node counts the readers of a private feed or group anew once the set changed, by whatever
// way.
func TestReaders(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	club := w.group(bob, "club", timelines.Private)
	c := access.New(w.Store)
	count := func(what string, account timelines.Account, want int) {
		t.Helper()
		w.advance(c)
		for range 2 { // counted, and remembered
			got, err := c.Readers(t.Context(), []int64{bob.ID, club.ID})
			w.must(err)
			w.same(what, got[account.FeedID], want)
		}
	}
	count("the owner", bob, 1)
	count("the administrator", club, 1)
	for _, act := range []struct {
		what string
		of   timelines.Account
		want int
		do   func() (timelines.Change, error)
	}{
		{"admitted", bob, 2, func() (timelines.Change, error) { return w.Feeds.Admit(t.Context(), bob.ID, "", "ann") }},
		{"followed", bob, 2, func() (timelines.Change, error) {
			ch, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
			return ch, err
		}},
		{"removed", bob, 1, func() (timelines.Change, error) { return w.Feeds.Remove(t.Context(), bob.ID, "", "ann") }},
		{"admitted to the group", club, 2, func() (timelines.Change, error) { return w.Groups.Admit(t.Context(), bob.ID, "club", "ann") }},
		{"dismissed", club, 1, func() (timelines.Change, error) { return w.Groups.Dismiss(t.Context(), bob.ID, "club", "ann") }},
		{"admitted again", club, 2, func() (timelines.Change, error) { return w.Groups.Admit(t.Context(), bob.ID, "club", "ann") }},
		{"a member", club, 2, func() (timelines.Change, error) {
			ch, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "club")
			return ch, err
		}},
		{"an administrator", club, 2, func() (timelines.Change, error) { return w.Groups.Promote(t.Context(), bob.ID, "club", "ann") }},
		{"who left", club, 2, func() (timelines.Change, error) { return w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "club") }},
		{"an administrator no more", club, 1, func() (timelines.Change, error) { return w.Groups.Demote(t.Context(), bob.ID, "club", "ann") }},
	} {
		w.must(second(act.do()))
		count(act.what, act.of, act.want)
	}
}
