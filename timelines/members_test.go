package timelines

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
)

func (w *town) member(name, group string) Account {
	w.Helper()
	a := w.user(name)
	w.subscribe(a, group)
	return a
}

func (w *town) administrators(group Account) []string {
	w.Helper()
	list, err := w.Groups.Administrators(w.Context(), group.ID, "", 100)
	w.must(err)
	names := []string{}
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}

func TestPromoteAndDemote(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	club := w.group(bob, "club", Public)
	ann := w.member("ann", "club")
	w.act(w.Groups.Block, bob, "club", "ann")
	w.heard.take()
	before := w.clock()

	viewer := func(n int64) []Invalidation { return []Invalidation{{N: n, AccountID: ann.ID, Kind: "viewer"}} }
	c := w.act(w.Groups.Promote, bob, "club", "ann")
	w.same("promoted", c, Change{Actor: bob.ID, Clock: before + 1})
	w.same("logged", w.logged(before), viewer(before+1))
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("administrators", w.administrators(club), []string{"ann", "bob"})
	w.same("relation", w.relation(ann, club), Relation{Subscribed: true, Admin: true})
	w.writes(ann, "club", true, "an administrator who had been blocked")
	w.sound()
	w.heard.take()

	c = w.act(w.Groups.Promote, bob, "club", "ann")
	w.same("promoted again", c, Change{Actor: bob.ID, Clock: before + 1})
	c = w.act(w.Groups.Demote, ann, "club", "bob")
	w.same("demoted", c, Change{Actor: ann.ID, Clock: before + 2})
	c = w.act(w.Groups.Demote, ann, "club", "bob")
	w.same("demoted again", c, Change{Actor: ann.ID, Clock: before + 2})
	w.same("a demoted member reads", w.reads(bob, club.FeedID), true)
	w.same("announced", w.heard.take(), []Event(nil))

	_, err := w.Groups.Demote(t.Context(), ann.ID, "club", "ann")
	w.invalid("the last administrator", err, "admin_last")
	w.same("administrators", w.administrators(club), []string{"ann"})
	w.act(w.Groups.Promote, ann, "club", "bob")
	w.act(w.Groups.Demote, ann, "club", "ann")
	w.same("administrators", w.administrators(club), []string{"bob"})
	w.sound()
}

// An administrator who left reads on, until they are none any more.
func TestDemoteAMemberWhoLeft(t *testing.T) {
	for _, level := range []Level{Public, Protected, Private} {
		t.Run(level.String(), func(t *testing.T) {
			w := newTown(t)
			bob := w.user("bob")
			club := w.group(bob, "club", Public)
			ann := w.member("ann", "club")
			w.act(w.Groups.Promote, bob, "club", "ann")
			p := w.post(bob, "among us", "club")
			w.setAccess(bob, "club", level)
			_, err := w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "club")
			w.must(err)
			w.same("reads before", w.reads(ann, club.FeedID), true)
			_, err = w.Posts.Like(t.Context(), ann.ID, p.Code)
			w.must(err)
			w.heard.take()
			before := w.clock()

			want, announced, after := Change{Actor: bob.ID, Clock: before + 1}, []Event(nil), error(nil)
			if level == Private {
				all := Replace{ViewerID: ann.ID}
				want.Replace, announced, after = []Replace{all}, []Event{all}, ErrNotFound
			}
			w.same("demoted", w.act(w.Groups.Demote, bob, "club", "ann"), want)
			w.same("announced", w.heard.take(), announced)
			w.same("logged", w.logged(before), []Invalidation{
				{N: before + 1, AccountID: club.ID, Kind: "members"}, {N: before + 1, AccountID: ann.ID, Kind: "viewer"},
			})
			w.same("reads after", w.reads(ann, club.FeedID), false)
			_, err = w.Posts.Unlike(t.Context(), ann.ID, p.Code)
			w.fails("the post after", err, after)
			w.sound()
		})
	}
}

func TestRemoveMember(t *testing.T) {
	for _, level := range []Level{Public, Protected, Private} {
		t.Run(level.String(), func(t *testing.T) {
			w := newTown(t)
			bob := w.user("bob")
			club := w.group(bob, "club", Public)
			ann := w.member("ann", "club")
			p := w.post(bob, "among us", "club")
			w.setAccess(bob, "club", level)
			w.heard.take()
			before := w.clock()

			wrong, after := Replace{ViewerID: ann.ID, Kinds: []string{"home"}}, error(nil)
			if level == Private {
				wrong, after = Replace{ViewerID: ann.ID}, ErrNotFound
			}
			c := w.act(w.Groups.RemoveMember, bob, "club", "ann")
			w.same("removed", c, Change{Actor: bob.ID, Clock: before + 1, Replace: []Replace{wrong}})
			w.same("announced", w.heard.take(), []Event{wrong})
			w.same("logged", w.logged(before), []Invalidation{
				{N: before + 1, AccountID: club.ID, Kind: "members"}, {N: before + 1, AccountID: ann.ID, Kind: "viewer"},
			})
			w.same("relation", w.relation(ann, club), Relation{})
			w.same("reads", w.reads(ann, club.FeedID), false)
			_, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
			w.fails("the post after", err, after)
			w.same("removed again", w.act(w.Groups.RemoveMember, bob, "club", "ann"), Change{Actor: bob.ID, Clock: before + 1})
			_, requested, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "club")
			w.must(err)
			w.same("joining again must be asked for", requested, level == Private)
			w.sound()
		})
	}
}

func TestModerationErrors(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.group(bob, "club", Public)
	w.group(ann, "pub", Public)
	w.member("cid", "club")
	for what, do := range map[string]func(ctx context.Context, actor int64, group, name string) (Change, error){
		"promote": w.Groups.Promote, "demote": w.Groups.Demote, "block": w.Groups.Block, "unblock": w.Groups.Unblock, "remove": w.Groups.RemoveMember,
		"exclude": w.Groups.Exclude, "unexclude": w.Groups.Unexclude, "admit": w.Groups.Admit, "dismiss": w.Groups.Dismiss,
	} {
		for _, tc := range []struct {
			name  string
			actor Account
			group string
			whom  string
			want  error // nil: code
			code  string
		}{
			{"who administers another group", ann, "club", "cid", ErrForbidden, ""},
			{"no group", bob, "nogroup", "cid", ErrNotFound, ""},
			{"a person for a group", bob, "bob", "cid", ErrNotFound, ""},
			{"no name of a group", bob, "b\x00b", "cid", ErrNotFound, ""},
			{"nobody", bob, "club", "nobody", nil, "name_unknown"},
			{"a group for a person", bob, "club", "pub", nil, "name_unknown"},
			{"no name", bob, "club", "\xff\x00", nil, "name_unknown"},
		} {
			_, err := do(t.Context(), tc.actor.ID, tc.group, tc.whom)
			if tc.want != nil {
				w.fails(what+": "+tc.name, err, tc.want)
				continue
			}
			w.invalid(what+": "+tc.name, err, tc.code)
		}
	}
	_, err := w.Groups.Promote(t.Context(), bob.ID, "club", "ann")
	w.invalid("promote who is no member", err, "member_none")
	_, err = w.Groups.Block(t.Context(), bob.ID, "club", "bob")
	w.invalid("block an administrator", err, "admin_demote")
	_, err = w.Groups.RemoveMember(t.Context(), bob.ID, "club", "bob")
	w.invalid("remove an administrator", err, "admin_demote")
	for what, do := range map[string]func(ctx context.Context, actor int64, group, name string) (Change, error){
		"exclude": w.Groups.Exclude, "dismiss": w.Groups.Dismiss,
	} {
		_, err = do(t.Context(), bob.ID, "club", "bob")
		w.invalid(what+" an administrator", err, "admin_demote")
		_, err = do(t.Context(), bob.ID, "club", "cid")
		w.invalid(what+" a member", err, "member_remove")
	}
	w.sound()
}

// Two administrators do to each other what ends with one of them: the second
// finds that they may not any more.
func TestAdministratorsAgainstEachOther(t *testing.T) {
	for name, second := range map[string]func(*town) func(context.Context, int64, string, string) (Change, error){
		"demote":  func(w *town) func(context.Context, int64, string, string) (Change, error) { return w.Groups.Demote },
		"promote": func(w *town) func(context.Context, int64, string, string) (Change, error) { return w.Groups.Promote },
		"block":   func(w *town) func(context.Context, int64, string, string) (Change, error) { return w.Groups.Block },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			bob := w.user("bob")
			club := w.group(bob, "club", Public)
			ann := w.member("ann", "club")
			w.member("cid", "club")
			w.act(w.Groups.Promote, bob, "club", "ann")
			// The first has done all but draw its number.
			clock := w.hold()
			_, err := clock.Exec(t.Context(), `SELECT FROM access_clock FOR UPDATE`)
			w.must(err)
			one := during(func() error {
				_, err := w.Groups.Demote(t.Context(), bob.ID, "club", "ann")
				return err
			})
			w.waitBlocked(1)
			whom := "cid"
			if name == "demote" {
				whom = "bob"
			}
			two := during(func() error {
				_, err := second(w)(t.Context(), ann.ID, "club", whom)
				return err
			})
			w.waitBlocked(2)
			w.must(clock.Rollback(t.Context()))
			w.must(one())
			w.fails("who was demoted meanwhile", two(), ErrForbidden)
			w.same("administrators", w.administrators(club), []string{"bob"})
			w.sound()
		})
	}
}

// All administrators step down at once, again and again: one is left.
func TestAllAdministratorsStepDownAtOnce(t *testing.T) {
	w := newTown(t)
	people := []Account{w.user("ann"), w.user("bob"), w.user("cid")}
	club := w.group(people[0], "club", Public)
	for _, a := range people[1:] {
		w.subscribe(a, "club")
	}
	for range 10 {
		lead, err := w.Groups.Administrators(t.Context(), club.ID, "", 100)
		w.must(err)
		for _, a := range people {
			w.act(w.Groups.Promote, lead[0], "club", a.Name)
		}
		var waits []func() error
		for i, a := range people {
			whom := people[(i+1)%len(people)].Name
			waits = append(waits, during(func() error {
				_, err := w.Groups.Demote(t.Context(), a.ID, "club", whom)
				return err
			}))
		}
		for _, wait := range waits {
			var bad *InvalidError
			if err := wait(); err != nil && !errors.Is(err, ErrForbidden) && !errors.As(err, &bad) {
				t.Errorf("Demote: %v", err)
			}
		}
		if left := w.administrators(club); len(left) == 0 {
			t.Fatal("nobody administers the group any more")
		}
	}
	w.sound()
}

// A member leaves while they are made an administrator, and while they are none
// any more: who reads in the end is who is one of both.
func TestUnsubscribeAgainstPromoteAndDemote(t *testing.T) {
	for name, reads := range map[string]bool{"promote": true, "demote": false} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			bob := w.user("bob")
			club := w.group(bob, "club", Public)
			ann := w.member("ann", "club")
			w.setAccess(bob, "club", Private)
			do := w.Groups.Promote
			if name == "demote" {
				w.act(w.Groups.Promote, bob, "club", "ann")
				do = w.Groups.Demote
			}
			clock := w.hold()
			_, err := clock.Exec(t.Context(), `SELECT FROM access_clock FOR UPDATE`)
			w.must(err)
			changed := during(func() error {
				_, err := do(t.Context(), bob.ID, "club", "ann")
				return err
			})
			w.waitBlocked(1)
			left := during(func() error {
				_, err := w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "club")
				return err
			})
			w.waitBlocked(2)
			w.must(clock.Rollback(t.Context()))
			w.must(changed())
			w.must(left())
			w.same("reads", w.reads(ann, club.FeedID), reads)
			w.sound()
		})
	}
}

func TestDecline(t *testing.T) {
	w := newTown(t)
	ann, bob, cid := w.user("ann"), w.user("bob"), w.user("cid")
	club := w.group(bob, "club", Private)
	w.setAccess(bob, "", Private)
	w.subscribe(ann, "bob")
	w.subscribe(ann, "club")
	w.heard.take()
	before := w.clock()

	for what, tc := range map[string]struct {
		actor       Account
		name, group string
		want        error
	}{
		"who does not administer": {cid, "ann", "club", ErrForbidden},
		"who was not asked":       {cid, "ann", "", ErrNotFound},
		"who did not ask":         {bob, "cid", "", ErrNotFound},
		"no name":                 {bob, "\xff", "", ErrNotFound},
		"no such group":           {bob, "ann", "nogroup", ErrNotFound},
	} {
		_, err := w.Subscriptions.Decline(t.Context(), tc.actor.ID, tc.name, tc.group)
		w.fails(what, err, tc.want)
	}
	for group, to := range map[string]Account{"": bob, "club": club} {
		c, err := w.Subscriptions.Decline(t.Context(), bob.ID, "ann", group)
		w.must(err)
		w.same("declined", c, Change{Actor: bob.ID, Clock: w.clock()})
		w.same("logged", w.logged(c.Clock-1), []Invalidation{{N: c.Clock, AccountID: to.ID, Kind: "members"}})
		w.same("relation", w.relation(ann, to), Relation{})
		w.same("reads", w.reads(ann, to.FeedID), false)
		_, err = w.Subscriptions.Decline(t.Context(), bob.ID, "ann", group)
		w.fails("declined again", err, ErrNotFound)
		_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", group)
		w.fails("accepted after", err, ErrNotFound)
		w.subscribe(ann, to.Name)
		w.same("asked again", w.relation(ann, to), Relation{Requested: true})
	}
	w.same("clock", w.clock(), before+4) // two asked again
	w.same("announced", w.heard.take(), []Event(nil))
}

func TestMembers(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	club := w.group(bob, "club", Public)
	var all []string
	for i := range 7 {
		name := "m" + strconv.Itoa(i) + "-m"
		w.member(name, "club")
		all = append(all, name)
	}
	w.member("other", "bob")
	w.act(w.Groups.Promote, bob, "club", "m3-m")
	w.act(w.Groups.Block, bob, "club", "m5-m")
	all = slices.DeleteFunc(all, func(name string) bool { return name == "m3-m" })

	var paged []string
	for after, pages := "", 0; ; pages++ {
		page, err := w.Groups.Members(t.Context(), club.ID, after, 2)
		w.must(err)
		if len(page) == 0 {
			w.same("pages", pages, 3)
			break
		}
		for _, m := range page {
			paged = append(paged, m.Name)
			w.same("blocked "+m.Name, m.Blocked, m.Name == "m5-m")
		}
		after = paged[len(paged)-1]
	}
	w.same("members", paged, all)
	w.same("administrators", w.administrators(club), []string{"bob", "m3-m"})
	w.act(w.Groups.Block, bob, "club", "m2-m")
	w.act(w.Groups.Block, bob, "club", "m0-m")
	w.same("blocked", inPages(w, w.Groups.Blocked, club.ID, 2), []string{"m0-m", "m2-m", "m5-m"})
}

func TestSetGroupProfile(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	club := w.group(bob, "club", Public)
	before := w.clock()
	c, err := w.Groups.SetProfile(t.Context(), bob.ID, "club", " The  Club ", "us\r\n")
	w.must(err)
	w.same("change", c, Change{Actor: bob.ID, Clock: before + 1})
	w.same("logged", w.logged(before), []Invalidation{{N: before + 1, AccountID: club.ID, Kind: "account"}})
	got, err := w.Accounts.ByName(t.Context(), "club")
	w.must(err)
	club.Title, club.About = "The Club", "us"
	w.same("account", got, club)
	_, err = w.Groups.SetProfile(t.Context(), ann.ID, "club", "Mine", "")
	w.fails("who does not administer", err, ErrForbidden)
	_, err = w.Groups.SetProfile(t.Context(), bob.ID, "ann", "Mine", "")
	w.fails("a person", err, ErrNotFound)
	_, err = w.Groups.SetProfile(t.Context(), bob.ID, "club", " ", "")
	w.invalid("no title", err, "title_empty")
}
