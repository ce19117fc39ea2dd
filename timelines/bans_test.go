package timelines

import (
	"testing"
)

// After a ban neither of the two can answer the other, write to the other or ask to read
// the other. Lifting it brings everything back.
func TestBanKeepsApart(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann, bob, cat := w.user("ann"), w.user("bob"), w.user("cat")
	post := w.post(bob, "hello")
	said := w.comment(bob, post.Code)
	thirds := w.post(cat, "of a third")
	remark := w.comment(bob, thirds.Code)
	w.subscribe(ann, "bob")

	answers := func(actor Account, of, comment Change) map[string]error {
		_, err := w.Posts.Like(ctx, actor.ID, of.Code)
		found := map[string]error{"like": err}
		_, found["fave"] = w.Posts.Fave(ctx, actor.ID, of.Code)
		_, found["comment"] = w.Comments.Create(ctx, NewComment{Author: actor.ID, Code: of.Code, Body: "yes"})
		_, found["like comment"] = w.Comments.Like(ctx, actor.ID, of.Code, comment.CommentID)
		_, found["like comment elsewhere"] = w.Comments.Like(ctx, actor.ID, thirds.Code, remark.CommentID)
		_, _, found["hide"] = w.Hides.HidePost(ctx, actor.ID, of.Code)
		return found
	}
	// Somebody who asks for the form of another person's post learns no more than from the post.
	forms := func(want error) {
		t.Helper()
		w.fails("its text for ann's form", second(w.Posts.Body(ctx, ann.ID, post.Code)), want)
		w.fails("its language for ann's form", second(w.Posts.Language(ctx, ann.ID, post.Code)), want)
		w.fails("its places for ann's form", second(w.Posts.Destinations(ctx, ann.ID, post.Code)), want)
	}
	forms(ErrForbidden)
	for _, banner := range []struct {
		who  Account
		whom string
	}{{ann, "bob"}, {bob, "ann"}} {
		c, err := w.Bans.Ban(ctx, banner.who.ID, banner.whom)
		w.must(err)
		if c.Clock == 0 || len(c.Replace) != 0 || c.PostID != 0 {
			t.Errorf("%s bans %s: got %+v, want the clock and nothing else", banner.who.Name, banner.whom, c)
		}
		for what, err := range answers(ann, post, said) {
			w.fails("with a ban by "+banner.who.Name+", "+what, err, ErrNotFound)
		}
		forms(ErrNotFound)
		_, err = w.Posts.Create(ctx, NewPost{Author: ann.ID, Body: "psst", To: []string{"bob"}})
		w.invalid("a direct to bob", err, "to_forbidden")
		_, err = w.Posts.Create(ctx, NewPost{Author: bob.ID, Body: "psst", To: []string{"ann"}})
		w.invalid("a direct to ann", err, "to_forbidden")
		_, _, err = w.Subscriptions.Subscribe(ctx, bob.ID, "ann")
		w.fails("bob subscribes to ann", err, ErrForbidden)

		again, err := w.Bans.Ban(ctx, banner.who.ID, banner.whom)
		w.must(err)
		if again.Clock < c.Clock {
			t.Errorf("a second ban carries clock %d, the first %d", again.Clock, c.Clock)
		}
		if _, err := w.Bans.Unban(ctx, banner.who.ID, banner.whom); err != nil {
			t.Error(err)
		}
		for what, err := range answers(ann, post, said) {
			if err != nil {
				t.Errorf("after the ban by %s was lifted, %s: %v", banner.who.Name, what, err)
			}
		}
		w.must(second(w.Posts.Unlike(ctx, ann.ID, post.Code)))
	}
	if relation, err := w.Subscriptions.Relation(ctx, ann.ID, bob.ID); err != nil || !relation.Subscribed {
		t.Errorf("after all that: got %+v, %v, want ann still subscribed to bob", relation, err)
	}
	for name, want := range map[string]error{"ann": ErrForbidden, "nobody-here": ErrNotFound, "..": ErrNotFound} {
		_, err := w.Bans.Ban(ctx, ann.ID, name)
		w.fails("ann bans "+name, err, want)
	}
	w.group(cat, "club", Public)
	_, err := w.Bans.Ban(ctx, ann.ID, "club")
	w.fails("ann bans a group", err, ErrForbidden)
}

// Where the viewer shows banned people, in a group the viewer reads, one's own bans
// count for nothing; the other's do, but for who leads the group.
func TestShowBannedInGroup(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann, bob, cat := w.user("ann"), w.user("bob"), w.user("cat")
	w.group(cat, "club", Public)
	post := w.post(bob, "in the club", "club")
	likes := func(actor Account) error { _, err := w.Posts.Like(ctx, actor.ID, post.Code); return err }
	w.must(second(w.Bans.Ban(ctx, ann.ID, "bob")))
	w.must(second(w.Bans.Ban(ctx, cat.ID, "bob")))

	w.fails("ann likes", likes(ann), ErrNotFound)
	c, err := w.Bans.ShowBanned(ctx, ann.ID, "club", true)
	w.must(err)
	if c.Clock == 0 {
		t.Errorf("showing banned people: got %+v, want the clock", c)
	}
	w.must(likes(ann))

	w.must(second(w.Bans.Ban(ctx, bob.ID, "ann")))
	w.fails("ann likes, banned by bob as well", likes(ann), ErrNotFound)
	w.must(second(w.Bans.Ban(ctx, bob.ID, "cat")))
	w.fails("cat, who leads the club, likes", likes(cat), ErrNotFound)
	w.must(second(w.Bans.ShowBanned(ctx, cat.ID, "club", true)))
	w.must(likes(cat))

	w.must(second(w.Bans.Unban(ctx, bob.ID, "ann")))
	w.setAccess(cat, "club", Private)
	w.fails("ann, who reads the club no more, likes", likes(ann), ErrNotFound)
	w.setAccess(cat, "club", Public)
	w.must(likes(ann))
	w.must(second(w.Bans.ShowBanned(ctx, ann.ID, "club", false)))
	w.fails("ann hides banned people again, and likes", likes(ann), ErrNotFound)

	for name, want := range map[string]error{"bob": ErrNotFound, "nobody-here": ErrNotFound} {
		_, err := w.Bans.ShowBanned(ctx, ann.ID, name, true)
		w.fails("show banned people in "+name, err, want)
	}
}

// A request does not outlive a ban, and none is shown across one.
func TestBanWithdrawsRequests(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann, bob := w.user("ann"), w.user("bob")
	w.setAccess(ann, "", Private)
	w.setAccess(bob, "", Private)
	w.subscribe(bob, "ann")
	w.subscribe(ann, "bob")
	w.must(second(w.Bans.Ban(ctx, ann.ID, "bob")))
	if n := value[int64](w, `SELECT count(*) FROM subscription_requests`); n != 0 {
		t.Errorf("%d requests outlive the ban", n)
	}
	w.exec(`INSERT INTO subscription_requests (subscriber_id, account_id) VALUES ($1, $2)`, bob.ID, ann.ID)
	waiting, err := w.Subscriptions.Requests(ctx, ann.ID, 0, RequestPlace{}, 10)
	w.must(err)
	if len(waiting) != 0 {
		t.Errorf("ann is shown the request of whom she banned: %+v", waiting)
	}
	banned, err := w.Bans.Banned(ctx, ann.ID, "", 10)
	w.must(err)
	if len(banned) != 1 || banned[0].ID != bob.ID {
		t.Errorf("ann has banned %+v, want bob", banned)
	}
}
