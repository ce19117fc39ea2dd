package timelines

import (
	"context"
	"slices"
	"testing"
)

// groupActs are the four changes of a group's explicit sets.
type groupAct = func(ctx context.Context, actor int64, group, name string) (Change, error)

// Each change at each level: whose rivers are wrong, and what is told again changes
// nothing.
func TestGroupReaders(t *testing.T) {
	for _, level := range []Level{Public, Protected, Private} {
		t.Run(level.String(), func(t *testing.T) {
			w := newTown(t)
			bob, ann := w.user("bob"), w.user("ann")
			club := w.group(bob, "club", level)
			p := w.post(bob, "among us", "club")
			w.heard.take()
			step := func(what string, do groupAct, replaces bool, reads bool) {
				t.Helper()
				before := w.clock()
				want, announced := Change{Actor: bob.ID, Clock: before + 1}, []Event(nil)
				if replaces {
					all := Replace{ViewerID: ann.ID}
					want.Replace, announced = []Replace{all}, []Event{all}
				}
				w.same(what, w.act(do, bob, "club", "ann"), want)
				w.same(what+": announced", w.heard.take(), announced)
				w.same(what+": logged", w.logged(before), []Invalidation{
					{N: before + 1, AccountID: club.ID, Kind: "members"}, {N: before + 1, AccountID: ann.ID, Kind: "viewer"},
				})
				w.same(what+": reads", w.mayRead(ann.ID, p.PostID), reads)
				w.same(what+", again", w.act(do, bob, "club", "ann"), Change{Actor: bob.ID, Clock: before + 1})
				w.same(what+", again: announced", w.heard.take(), []Event(nil))
				w.sound()
			}
			protected, private := level == Protected, level == Private
			step("excluded", w.Groups.Exclude, protected, level == Public)
			step("let in again", w.Groups.Unexclude, protected, !private)
			step("admitted", w.Groups.Admit, private, true)
			w.same("relation of who is admitted", w.relation(ann, club), Relation{})
			step("dismissed", w.Groups.Dismiss, private, !private)
			// The last word counts.
			step("admitted", w.Groups.Admit, private, true)
			step("excluded, being admitted", w.Groups.Exclude, !(level == Public), level == Public)
			w.same("reads explicitly", w.reads(ann, club.FeedID), false)
			step("admitted, being excluded", w.Groups.Admit, !(level == Public), true)
			w.same("excluded", w.excludedFrom(club), []string(nil))
		})
	}
}

func (w *town) excludedFrom(group Account) []string {
	w.Helper()
	return names(w)(w.Groups.Excluded(w.Context(), group.ID, "", 100))
}

func (w *town) admittedTo(group Account) []string {
	w.Helper()
	return names(w)(w.Groups.Admitted(w.Context(), group.ID, "", 100))
}

// names are those of a list that is read without an error.
func names(w *town) func([]Account, error) []string {
	return func(list []Account, err error) (names []string) {
		w.Helper()
		w.must(err)
		for _, a := range list {
			names = append(names, a.Name)
		}
		return names
	}
}

// An excluded person neither joins nor asks, at any level, cannot post or comment where they
// cannot read, and has no request waiting.
func TestExcludedFromAGroup(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	club := w.group(bob, "club", Private)
	_, err := w.Groups.SetWriters(t.Context(), bob.ID, "club", WritersAnyone)
	w.must(err)
	p := w.post(bob, "among us", "club")
	w.subscribe(ann, "club")
	w.same("asked", w.relation(ann, club), Relation{Requested: true})
	w.act(w.Groups.Exclude, bob, "club", "ann")
	w.same("the request", w.relation(ann, club), Relation{})
	_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "club")
	w.fails("accept", err, ErrNotFound)
	for _, level := range []Level{Private, Protected, Public} {
		w.setAccess(bob, "club", level)
		_, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "club")
		w.fails("join "+level.String(), err, ErrExcluded)
		w.fails("join "+level.String(), err, ErrForbidden)
		_, err = w.Posts.Create(t.Context(), NewPost{Author: ann.ID, Body: "me too", To: []string{"club"}})
		_, told := w.Comments.Create(t.Context(), NewComment{Author: ann.ID, Code: p.Code, Body: "me too"})
		if level == Public {
			w.must(err)
			w.must(told)
			continue
		}
		w.invalid("post "+level.String(), err, "to_forbidden")
		w.fails("comment "+level.String(), told, ErrNotFound)
	}
	w.act(w.Groups.Unexclude, bob, "club", "ann")
	w.subscribe(ann, "club")
	w.same("joined", w.relation(ann, club), Relation{Subscribed: true})
	w.sound()
}

// An admitted person may join without asking, is then no longer listed as a reader who is
// no member, and loses all access by leaving or by being removed.
func TestAdmittedToAGroup(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	club := w.group(bob, "club", Private)
	p := w.post(bob, "among us", "club")
	for name, end := range map[string]func(who Account){
		"leaver":  func(who Account) { _, err := w.Subscriptions.Unsubscribe(t.Context(), who.ID, "club"); w.must(err) },
		"removed": func(who Account) { w.act(w.Groups.RemoveMember, bob, "club", who.Name) },
	} {
		who := w.user(name)
		w.act(w.Groups.Admit, bob, "club", name)
		w.same("admitted", w.admittedTo(club), []string{name})
		_, err := w.Posts.Create(t.Context(), NewPost{Author: who.ID, Body: "me too", To: []string{"club"}})
		w.invalid("members post here", err, "to_forbidden")
		w.setAccess(bob, "club", Public)
		w.setAccess(bob, "club", Private)
		w.same("read after the level went and came back", w.mayRead(who.ID, p.PostID), true)
		_, requested, err := w.Subscriptions.Subscribe(t.Context(), who.ID, "club")
		w.must(err)
		w.same("must ask", requested, false)
		w.same("admitted, as a member", w.admittedTo(club), []string(nil))
		w.sound()
		_, err = w.Groups.Dismiss(t.Context(), bob.ID, "club", name)
		w.invalid("dismiss a member", err, "member_remove")
		end(who)
		w.same("read after", w.mayRead(who.ID, p.PostID), false)
		w.sound()
	}
}

// Somebody joins, asks, or is accepted while they are excluded: whichever comes
// first, nobody is both.
func TestExcludeAgainstJoining(t *testing.T) {
	for name, tc := range map[string]struct {
		level Level
		asked bool
		join  func(w *town, bob, ann Account) error
		want  error // of who comes second
	}{
		"join": {Protected, false, func(w *town, _, ann Account) error {
			_, _, err := w.Subscriptions.Subscribe(w.Context(), ann.ID, "club")
			return err
		}, ErrExcluded},
		"ask": {Private, false, func(w *town, _, ann Account) error {
			_, _, err := w.Subscriptions.Subscribe(w.Context(), ann.ID, "club")
			return err
		}, ErrExcluded},
		"accept": {Private, true, func(w *town, bob, _ Account) error {
			_, err := w.Subscriptions.Accept(w.Context(), bob.ID, "ann", "club")
			return err
		}, ErrNotFound},
	} {
		exclude := func(w *town, bob, _ Account) error {
			_, err := w.Groups.Exclude(w.Context(), bob.ID, "club", "ann")
			return err
		}
		start := func(t *testing.T) (w *town, bob, ann Account) {
			w = newTown(t)
			bob, ann = w.user("bob"), w.user("ann")
			w.group(bob, "club", tc.level)
			if tc.asked {
				w.subscribe(ann, "club")
			}
			return w, bob, ann
		}
		// meet runs two changes. The first has done everything but draw its number, and waits;
		// asking draws none, so it cannot be made to wait.
		meet := func(t *testing.T, first, second func(w *town, bob, ann Account) error) (w *town, one, two error) {
			w, bob, ann := start(t)
			clock := w.hold()
			_, err := clock.Exec(t.Context(), `SELECT FROM access_clock FOR UPDATE`)
			w.must(err)
			waitOne := during(func() error { return first(w, bob, ann) })
			w.waitBlocked(1)
			waitTwo := during(func() error { return second(w, bob, ann) })
			w.waitBlocked(2)
			w.must(clock.Rollback(t.Context()))
			return w, waitOne(), waitTwo()
		}
		t.Run("exclude, then "+name, func(t *testing.T) {
			w, one, two := meet(t, exclude, tc.join)
			w.must(one)
			w.fails(name, two, tc.want)
			w.sound()
		})
		if name == "ask" {
			continue
		}
		t.Run(name+", then exclude", func(t *testing.T) {
			w, one, two := meet(t, tc.join, exclude)
			w.must(one)
			w.invalid("exclude", two, "member_remove")
			w.sound()
		})
	}
}

// Both lists come in pages.
func TestGroupReadersArePaged(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	club, other := w.group(bob, "club", Private), w.group(bob, "pub", Private)
	var in, out []string
	for _, name := range []string{"r-5", "r-1", "r-3", "r-2", "r-4"} {
		w.user(name)
		w.user("x" + name)
		w.act(w.Groups.Admit, bob, "club", name)
		w.act(w.Groups.Exclude, bob, "club", "x"+name)
		w.act(w.Groups.Exclude, bob, "pub", name)
		in, out = append(in, name), append(out, "x"+name)
	}
	slices.Sort(in)
	slices.Sort(out)
	for what, tc := range map[string]struct {
		read func(context.Context, int64, string, int) ([]Account, error)
		of   Account
		want []string
	}{
		"admitted":           {w.Groups.Admitted, club, in},
		"excluded":           {w.Groups.Excluded, club, out},
		"admitted elsewhere": {w.Groups.Admitted, other, nil},
		"excluded elsewhere": {w.Groups.Excluded, other, in},
	} {
		w.same(what, inPages(w, tc.read, tc.of.ID, 2), tc.want)
	}
}

// inPages reads a list by name to its end.
func inPages(w *town, read func(context.Context, int64, string, int) ([]Account, error), of int64, limit int) []string {
	w.Helper()
	var all []string
	for after := ""; ; after = all[len(all)-1] {
		page := names(w)(read(w.Context(), of, after, limit))
		if len(page) > limit {
			w.Fatalf("a page of %d, want %d at most", len(page), limit)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
	}
}
