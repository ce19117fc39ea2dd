package tiers_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
)

// R4: what was narrowed is shown by no node once Act returned, though no worker
// and no bus runs, whatever the node holds in memory: on no page asked for, and on
// no open one that a change is brought to or that is compared with its river.
func TestNothingNarrowedIsShown(t *testing.T) {
	type scene struct {
		*town
		n, other      *node
		open          []*openPages
		pushes        bool // what is looked at is what comes to open pages
		ann, bob, cat timelines.Viewer
		post          timelines.Change // bob's
		comment       timelines.Change // cat's in it
	}
	nobody := timelines.Viewer{}
	shows := func(s *scene, n *node, v timelines.Viewer, kind rivers.Kind, of string) *rivers.Item {
		s.t.Helper()
		name, err := n.rivers.Resolve(s.ctx, v, kind, of, rivers.Fresh)
		var page *rivers.Page
		if err == nil {
			page, err = n.rivers.Visit(s.ctx, v, name, rivers.Cursor{})
		}
		if err != nil {
			if !errors.Is(err, rivers.ErrForbidden) && !errors.Is(err, rivers.ErrNotFound) {
				s.t.Fatalf("visit %s of %q: %v", kind, of, err)
			}
			return nil
		}
		return itemOf(page.Items, s.post.PostID)
	}
	unfolds := func(s *scene, n *node, v timelines.Viewer) *rivers.Item {
		s.t.Helper()
		it, _, err := n.rivers.Unfold(s.ctx, v, s.post.Code)
		if err != nil && !errors.Is(err, rivers.ErrNotFound) {
			s.t.Fatalf("unfold: %v", err)
		}
		return it
	}
	// everywhere returns what each way of looking shows, on both nodes, and opens all
	// pages on the others; or what is brought to these.
	everywhere := func(s *scene, v timelines.Viewer) map[string]*rivers.Item {
		all := map[string]*rivers.Item{}
		if s.pushes {
			for _, o := range s.open {
				o.bring(s.town, all, v, s.post.PostID)
			}
			return all
		}
		pages := []struct {
			what string
			kind rivers.Kind
			of   string
		}{
			{"everything", rivers.Everything, ""},
			{"bob", rivers.User, "bob"},
			{"likes of cat", rivers.Likes, "cat"},
			{"comments of cat", rivers.Comments, "cat"},
			{"search of bob's", rivers.Search, "in:bob"},
			{"search by comments of cat", rivers.Search, "from:cat"},
			{"the post", rivers.Post, s.post.Code},
			{"home", rivers.Home, ""},
		}
		if v.Anonymous() {
			pages = pages[:len(pages)-1]
		}
		for name, n := range map[string]*node{"the actor's node": s.n, "the other node": s.other} {
			for _, p := range pages {
				all[name+", "+p.what] = shows(s, n, v, p.kind, p.of)
			}
			all[name+", unfolded"] = unfolds(s, n, v)
		}
		for _, o := range s.open {
			for _, p := range pages {
				all[o.called+", "+p.what] = o.open(s.town, v, p.what, p.kind, p.of, s.post.PostID)
			}
		}
		return all
	}
	none := func(s *scene, v timelines.Viewer) {
		s.t.Helper()
		for where, it := range everywhere(s, v) {
			if it != nil {
				s.t.Errorf("account %d still sees the post in %s at %+v", v.AccountID, where, it.Stamp)
			}
		}
	}
	narrowings := []struct {
		name   string
		do     func(s *scene)
		unseen func(s *scene)
	}{
		{"a post deleted", func(s *scene) { s.remove(s.n, s.bob, s.post.Code) }, func(s *scene) {
			none(s, s.ann)
			none(s, s.bob)
			none(s, nobody)
		}},
		{"a comment deleted", func(s *scene) {
			s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
				return s.n.store.DeleteComment(ctx, s.cat.AccountID, s.post.Code, s.comment.CommentID)
			})
		}, func(s *scene) {
			for _, v := range []timelines.Viewer{s.ann, nobody} {
				for where, it := range everywhere(s, v) {
					if strings.HasSuffix(where, "comments of cat") {
						if it != nil {
							s.t.Errorf("account %d still sees the post in %s", v.AccountID, where)
						}
						continue
					}
					if it == nil || it.Fold.Comments.Total != 0 || len(it.Fold.Comments.Shown) != 0 || len(it.Fold.Comments.IDs) != 0 {
						s.t.Errorf("account %d in %s: got %+v, want the post without comments", v.AccountID, where, it)
					}
				}
			}
		}},
		{"a post edited", func(s *scene) {
			s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
				return s.n.store.EditPost(ctx, s.bob.AccountID, s.post.Code, "nothing was said")
			})
		}, func(s *scene) {
			for where, it := range everywhere(s, nobody) {
				if it == nil || it.Fold.Text.Body != "nothing was said" {
					s.t.Errorf("%s: got %+v, want the text edited", where, it)
				}
			}
		}},
		{"a like taken back", func(s *scene) { s.unlike(s.n, s.cat, s.post.Code) }, func(s *scene) {
			for where, it := range everywhere(s, s.ann) {
				if it != nil && (it.Fold.Likes.Total != 0 || len(it.Fold.Likes.IDs) != 0) {
					s.t.Errorf("%s: got likes %+v, want none", where, it.Fold.Likes)
				}
				if it != nil && strings.HasSuffix(where, "likes of cat") {
					s.t.Errorf("%s: still shows the post", where)
				}
			}
		}},
		{"an account gone private", func(s *scene) { s.setAccess(s.n, s.bob, "", timelines.Private) }, func(s *scene) {
			none(s, nobody)
			none(s, s.cat)
			for where, it := range everywhere(s, s.ann) {
				if it == nil {
					s.t.Errorf("ann, who followed before, does not see the post in %s", where)
				}
			}
		}},
		{"an account gone protected", func(s *scene) { s.setAccess(s.n, s.bob, "", timelines.Protected) }, func(s *scene) {
			none(s, nobody)
		}},
		{"a private account left", func(s *scene) {
			s.setAccess(s.n, s.bob, "", timelines.Private)
			everywhere(s, s.ann)
			s.leave(s.n, s.ann, "bob")
		}, func(s *scene) { none(s, s.ann) }},
		{"its author banned", func(s *scene) { s.ban(s.n, s.ann, "bob") }, func(s *scene) {
			none(s, s.ann)
			for where, it := range everywhere(s, nobody) {
				if it == nil {
					s.t.Errorf("others do not see the post in %s any more", where)
				}
			}
		}},
		{"a reader banned by its author", func(s *scene) { s.ban(s.n, s.bob, "ann") }, func(s *scene) { none(s, s.ann) }},
		{"who comments and likes banned", func(s *scene) { s.ban(s.n, s.ann, "cat") }, func(s *scene) {
			for where, it := range everywhere(s, s.ann) {
				switch cats := strings.HasSuffix(where, " of cat"); {
				case cats && it != nil:
					s.t.Errorf("%s: still shows the post", where)
				case cats:
				case it == nil || !it.Hides(s.cat.AccountID) || it.Likes().Total != 0 || len(it.Likes().IDs) != 0 || it.Fold.Comments.Total != 1:
					s.t.Errorf("%s: got %+v, want the post with a hidden comment and no like", where, it)
				}
			}
			for where, it := range everywhere(s, nobody) {
				if it == nil || it.Hides(s.cat.AccountID) || it.Likes().Total != 1 {
					s.t.Errorf("%s: others got %+v, want all of it", where, it)
				}
			}
		}},
		{"the post hidden", func(s *scene) {
			s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
				_, c, err := s.n.store.HidePost(ctx, s.ann.AccountID, s.post.Code)
				return c, err
			})
		}, func(s *scene) {
			for where, it := range everywhere(s, s.ann) {
				own := strings.HasSuffix(where, "the post") || strings.HasSuffix(where, "unfolded")
				if (it != nil) != own || it != nil && !it.Hidden {
					s.t.Errorf("%s: got %+v, want the hidden post on its own page only", where, it)
				}
			}
		}},
		{"a post moved to where its author alone reads", func(s *scene) {
			s.move(s.n, s.bob, s.post.Code, "bob/private")
		}, func(s *scene) {
			none(s, s.ann)
			none(s, s.cat)
			none(s, nobody)
			if shows(s, s.other, s.bob, rivers.Subfeed, "bob/private") == nil || shows(s, s.n, s.bob, rivers.Home, "") == nil {
				s.t.Error("bob does not see it any more")
			}
		}},
		{"a reader removed from a sub-feed", func(s *scene) {
			s.move(s.n, s.bob, s.post.Code, "bob/private")
			s.setReader(s.n, s.bob, s.n.store.AdmitReader, "private", "ann")
			s.queue.drain(s.ctx, s.chance(), s.n, s.other)
			for where, it := range everywhere(s, s.ann) {
				if it == nil {
					s.t.Errorf("ann, admitted, does not see the post in %s", where)
				}
			}
			s.setReader(s.n, s.bob, s.n.store.RemoveReader, "private", "ann")
		}, func(s *scene) { none(s, s.ann) }},
		{"a reader removed from a feed", func(s *scene) {
			s.setAccess(s.n, s.bob, "", timelines.Private)
			everywhere(s, s.ann)
			s.setReader(s.n, s.bob, s.n.store.RemoveReader, "", "ann")
		}, func(s *scene) { none(s, s.ann) }},
		{"a reader left out", func(s *scene) {
			s.setAccess(s.n, s.bob, "", timelines.Protected)
			everywhere(s, s.ann)
			s.setReader(s.n, s.bob, s.n.store.ExcludeReader, "", "ann")
		}, func(s *scene) {
			none(s, s.ann)
			if shows(s, s.other, s.cat, rivers.User, "bob") == nil {
				s.t.Error("cat, who was not left out, does not see it any more")
			}
		}},
		{"a sub-feed gone private", func(s *scene) {
			s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
				return s.n.store.CreateSubfeed(ctx, s.bob.AccountID, "photos", "Photos", timelines.Public)
			})
			s.move(s.n, s.bob, s.post.Code, "bob/photos")
			for _, v := range []timelines.Viewer{s.ann, nobody} {
				if everywhere(s, v); shows(s, s.other, v, rivers.Subfeed, "bob/photos") == nil {
					s.t.Errorf("account %d does not see the post in photos", v.AccountID)
				}
			}
			s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
				return s.n.store.SetSubfeedAccess(ctx, s.bob.AccountID, "photos", timelines.Private)
			})
		}, func(s *scene) {
			none(s, s.ann)
			none(s, nobody)
			for _, n := range []*node{s.n, s.other} {
				name := s.name(n, nobody, rivers.Subfeed, "bob/photos")
				if _, err := n.rivers.Visit(s.ctx, nobody, name, rivers.Cursor{}); !errors.Is(err, rivers.ErrNotFound) {
					s.t.Errorf("the closed sub-feed: got %v, want %v", err, rivers.ErrNotFound)
				}
			}
		}},
		{"a post removed from a group", func(s *scene) {
			s.group(s.cat, "club", timelines.Public)
			s.move(s.n, s.bob, s.post.Code, "club")
			for _, n := range []*node{s.n, s.other} {
				if everywhere(s, s.ann); shows(s, n, s.ann, rivers.Group, "club") == nil {
					s.t.Error("ann does not see the post in the group")
				}
			}
			s.takeOut(s.n, s.cat, s.post.Code, "club")
		}, func(s *scene) {
			for _, v := range []timelines.Viewer{s.ann, s.cat, nobody} {
				none(s, v)
			}
			if shows(s, s.other, s.bob, rivers.Eyes, "") == nil {
				s.t.Error("bob does not see what nobody else does")
			}
		}},
		{"a post removed from one of its places", func(s *scene) {
			s.group(s.cat, "club", timelines.Public)
			s.move(s.n, s.bob, s.post.Code, "club", "bob")
			for _, n := range []*node{s.n, s.other} {
				shows(s, n, s.ann, rivers.Group, "club")
			}
			s.takeOut(s.n, s.cat, s.post.Code, "club")
		}, func(s *scene) {
			for _, n := range []*node{s.n, s.other} {
				if it := shows(s, n, s.ann, rivers.Group, "club"); it != nil {
					s.t.Errorf("the group's page still shows the post at %+v", it.Stamp)
				}
				if shows(s, n, s.ann, rivers.User, "bob") == nil {
					s.t.Error("bob's page does not show the post any more")
				}
			}
		}},
	}
	for _, lost := range []string{"", "folds", "entries", "clock"} {
		for _, c := range narrowings {
			name := c.name
			if lost != "" {
				name += ", and then " + lost + " lost"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := &scene{town: newTown(t)}
				s.n, s.other = s.quiet(), s.quiet()
				if lost == "" { // else open pages are loaded again, whatever they show
					s.open = []*openPages{{node: s.quiet(), called: "pushed"}, {node: s.quiet(), called: "compared", compared: true}}
				}
				s.ann, s.bob, s.cat = s.quick("ann"), s.quick("bob"), s.quick("cat")
				s.follow(s.n, s.ann, "bob")
				s.post = s.town.post(s.n, s.bob, "from bob")
				s.comment = s.town.comment(s.n, s.cat, s.post.Code, "from cat")
				s.like(s.n, s.cat, s.post.Code)
				for _, v := range []timelines.Viewer{s.ann, s.bob, s.cat, nobody} {
					for where, it := range everywhere(s, v) {
						if it == nil && !(v == s.cat && strings.HasSuffix(where, ", home")) {
							t.Fatalf("account %d does not see the post in %s to begin with", v.AccountID, where)
						}
					}
				}
				c.do(s)
				if lost != "" {
					s.execSecondary(`TRUNCATE ` + lost)
				}
				s.pushes = true
				c.unseen(s)
				s.pushes, s.open = false, nil
				c.unseen(s)
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
		return n.store.DeleteComment(ctx, bob.AccountID, post.Code, comment.CommentID)
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
	token, _, err := n.store.SignIn(w.ctx, "ann", passwordOf("ann"))
	must(w, token, err)
	session, _ := timelines.SessionOf(token)
	v := timelines.Viewer{AccountID: ann.AccountID, Session: session}
	for _, n := range []*node{n, other} {
		w.visit(n, v, rivers.Home, "")
	}
	w.act(n, func(ctx context.Context) (timelines.Change, error) { return n.store.SignOut(ctx, v) })
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
	_, err := n.store.SetAccess(w.ctx, bob.AccountID, "", timelines.Private)
	must(w, 0, err)
	see("gone private", nobody, rivers.ErrForbidden)
	see("gone private", ann, rivers.ErrForbidden)
	_, requested, err := n.store.Subscribe(w.ctx, ann.AccountID, "bob")
	if must(w, requested, err); !requested {
		t.Fatal("a private account does not ask")
	}
	_, err = n.store.Accept(w.ctx, bob.AccountID, "ann", "")
	must(w, 0, err)
	see("admitted", ann, nil)
	_, err = n.store.Unsubscribe(w.ctx, ann.AccountID, "bob")
	must(w, 0, err)
	see("left", ann, rivers.ErrForbidden)
}
