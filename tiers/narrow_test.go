package tiers_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/timelines"
)

// R4: what was narrowed is shown by no node once Carry returned, though no worker
// and no bus runs, whatever the node holds in memory: on no page asked for, and on
// no open one that a change is brought to or that is compared with its river. After each
// narrowing nothing is lost, or one table that the seed chooses, or each in turn if
// RIVERRUN_SOAK is set.
func TestNothingNarrowedIsShown(t *testing.T) {
	seed, times := testdb.Chance(t)
	narrowings := slices.Concat(contentNarrowings, levelNarrowings, banNarrowings, readerNarrowings, placeNarrowings)
	tables := []string{"folds", "entries", "clock"}
	for at, lost := range append([]string{""}, tables...) {
		for i, c := range narrowings {
			if lost != "" && times == 1 && (uint64(i+at)+seed)%uint64(len(tables)) != 0 {
				continue
			}
			name := c.name
			if lost != "" {
				name += ", and then " + lost + " lost"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				// Once something is lost, open pages are loaded again, whatever they show.
				s := newNarrowScene(newTown(t), lost == "")
				c.do(s)
				if lost != "" {
					s.execSecondary(`TRUNCATE ` + lost)
				}
				s.pushes = true
				c.check(s)
				s.pushes, s.open = false, nil
				c.check(s)
				s.queue.drain(s.ctx, s.chance(), s.n, s.other)
				s.sound(s.n, "at rest")
			})
		}
	}
}

// A fold that no river links any more is thrown away; a node which remembers an
// older one must not take that for the present.
func TestAForgottenFoldIsNotAnOldOne(t *testing.T) {
	w := newTown(t)
	n, other := w.quiet(), w.quiet()
	bob := w.person("bob")
	post := w.post(n, bob, "from bob")
	comment := w.comment(n, bob, post.Code, "a slip")
	if it, _, err := other.rivers.Unfold(w.ctx, bob, post.Code); err != nil || it.Fold.Comments.Total != 1 {
		t.Fatalf("to begin with: %+v, %v", it, err)
	}
	w.act(n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Comments.Delete(ctx, bob.AccountID, post.Code, comment.CommentID)
	})
	w.execSecondary(`UPDATE folds SET updated_at = updated_at - interval '1 hour'`)
	expired, err := n.rivers.Expire(w.ctx)
	if err != nil || expired.Folds != 1 {
		t.Fatalf("expired %+v, %v, want one fold", expired, err)
	}
	it, _, err := other.rivers.Unfold(w.ctx, bob, post.Code)
	if err != nil || it.Fold.Comments.Total != 0 || len(it.Fold.Comments.Shown) != 0 {
		t.Errorf("after the comment was deleted: got %+v, %v, want none", it.Fold.Comments, err)
	}
}

// No page of an ended session, on any node.
func TestSignOutReachesAllNodes(t *testing.T) {
	w := newTown(t)
	n, other := w.quiet(), w.quiet()
	ann := w.person("ann")
	token, _, err := n.store.Accounts.SignIn(w.ctx, "ann", passwordOf("ann"))
	must(w, token, err)
	session, _ := timelines.SessionOf(token)
	v := timelines.Viewer{AccountID: ann.AccountID, Session: session}
	for _, n := range []*node{n, other} {
		w.visit(n, v, rivers.Home, "")
	}
	w.act(n, func(ctx context.Context) (timelines.Change, error) { return n.store.Accounts.SignOut(ctx, v) })
	for i, n := range []*node{n, other} {
		_, err := n.rivers.Visit(w.ctx, v, w.name(n, ann, rivers.Home, ""), rivers.Cursor{})
		if !errors.Is(err, timelines.ErrSignedOut) {
			t.Errorf("node %d after signing out: got %v, want %v", i, err, timelines.ErrSignedOut)
		}
	}
}

// A node that dies between the commit and Tier 0 has acknowledged nothing; the
// change's job completes it: levels and admissions take effect everywhere.
func TestTheJobCompletesWhatACrashLeft(t *testing.T) {
	w := newTown(t)
	n, other := w.quiet(), w.quiet()
	ann, bob := w.person("ann"), w.person("bob")
	nobody := timelines.Viewer{}
	w.post(n, bob, "from bob")
	// see looks at bob's page on both nodes once the jobs are done.
	see := func(when string, v timelines.Viewer, want error) {
		t.Helper()
		w.queue.drain(w.ctx, w.chance(), n)
		for i, n := range []*node{n, other} {
			p, err := n.rivers.Visit(w.ctx, v, w.name(n, v, rivers.User, "bob"), rivers.Cursor{})
			if !errors.Is(err, want) {
				t.Errorf("%s: account %d on node %d: got %v, want %v", when, v.AccountID, i, err, want)
			} else if err == nil {
				w.shows(p, "from bob")
			}
		}
	}
	see("at first", nobody, nil)
	see("at first", ann, nil)
	_, err := n.store.Feeds.SetAccess(w.ctx, bob.AccountID, "", timelines.Private)
	must(w, 0, err)
	see("gone private", nobody, rivers.ErrForbidden)
	see("gone private", ann, rivers.ErrForbidden)
	_, requested, err := n.store.Subscriptions.Subscribe(w.ctx, ann.AccountID, "bob")
	if must(w, requested, err); !requested {
		t.Fatal("a private account does not ask")
	}
	_, err = n.store.Subscriptions.Accept(w.ctx, bob.AccountID, "ann", "")
	must(w, 0, err)
	see("admitted", ann, nil)
	_, err = n.store.Subscriptions.Unsubscribe(w.ctx, ann.AccountID, "bob")
	must(w, 0, err)
	see("left", ann, rivers.ErrForbidden)
}
