package tiers_test

import (
	"context"
	"errors"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
)

// narrowing is a change after which somebody may see less.
type narrowing struct {
	name string
	do   func(s *narrowScene)
	// check fails if anything that do took away is still shown, or anything else is not.
	check func(s *narrowScene)
}

// narrowScene is bob's post, which cat commented on and likes, and ann, who follows bob.
type narrowScene struct {
	*town
	n, other      *node
	open          []*openPages
	pushes        bool // look at what comes to open pages, and not at pages asked for
	ann, bob, cat timelines.Viewer
	post          timelines.Change
	comment       timelines.Change
}

var anonymous timelines.Viewer

// newNarrowScene makes the scene; withOpen also opens pages on two more nodes.
func newNarrowScene(w *town, withOpen bool) *narrowScene {
	s := &narrowScene{town: w, n: w.quiet(), other: w.quiet()}
	if withOpen {
		s.open = []*openPages{{node: w.quiet(), called: "pushed"}, {node: w.quiet(), called: "compared", compared: true}}
	}
	s.ann, s.bob, s.cat = w.quick("ann"), w.quick("bob"), w.quick("cat")
	s.follow(s.n, s.ann, "bob")
	s.post = w.post(s.n, s.bob, "from bob")
	s.comment = w.comment(s.n, s.cat, s.post.Code, "from cat")
	s.like(s.n, s.cat, s.post.Code)
	for _, v := range []timelines.Viewer{s.ann, s.bob, s.cat, anonymous} {
		for where, it := range s.everywhere(v) {
			if it == nil && !(v == s.cat && strings.HasSuffix(where, ", home")) {
				s.t.Fatalf("account %d does not see the post in %s to begin with", v.AccountID, where)
			}
		}
	}
	return s
}

// find returns the post on a page of a node, nil if it is not there.
func (s *narrowScene) find(n *node, v timelines.Viewer, kind rivers.Kind, of string) *rivers.Item {
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

// unfold returns the post with all its comments, nil if the viewer may not read it.
func (s *narrowScene) unfold(n *node, v timelines.Viewer) *rivers.Item {
	s.t.Helper()
	it, _, err := n.rivers.Unfold(s.ctx, v, s.post.Code)
	if err != nil && !errors.Is(err, rivers.ErrNotFound) {
		s.t.Fatalf("unfold: %v", err)
	}
	return it
}

// everywhere returns what each way of looking shows, on both nodes, and opens all pages
// on the others; or, with pushes, what is brought to these.
func (s *narrowScene) everywhere(v timelines.Viewer) map[string]*rivers.Item {
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
			all[name+", "+p.what] = s.find(n, v, p.kind, p.of)
		}
		all[name+", unfolded"] = s.unfold(n, v)
	}
	for _, o := range s.open {
		for _, p := range pages {
			all[o.called+", "+p.what] = o.open(s.town, v, p.what, p.kind, p.of, s.post.PostID)
		}
	}
	return all
}

// unseenBy fails for each place where one of the viewers sees the post.
func (s *narrowScene) unseenBy(viewers ...timelines.Viewer) {
	s.t.Helper()
	for _, v := range viewers {
		for where, it := range s.everywhere(v) {
			if it != nil {
				s.t.Errorf("account %d still sees the post in %s at %+v", v.AccountID, where, it.Stamp)
			}
		}
	}
}

// seenBy fails for each place where the viewer does not see the post.
func (s *narrowScene) seenBy(v timelines.Viewer) {
	s.t.Helper()
	for where, it := range s.everywhere(v) {
		if it == nil {
			s.t.Errorf("account %d does not see the post in %s any more", v.AccountID, where)
		}
	}
}

// contentNarrowings take back what people wrote or did.
var contentNarrowings = []narrowing{
	{"a post deleted", func(s *narrowScene) { s.remove(s.n, s.bob, s.post.Code) }, func(s *narrowScene) {
		s.unseenBy(s.ann, s.bob, anonymous)
	}},
	{"a comment deleted", func(s *narrowScene) {
		s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
			return s.n.store.Comments.Delete(ctx, s.cat.AccountID, s.post.Code, s.comment.CommentID)
		})
	}, func(s *narrowScene) {
		for _, v := range []timelines.Viewer{s.ann, anonymous} {
			for where, it := range s.everywhere(v) {
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
	{"a post edited", func(s *narrowScene) {
		s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
			return s.n.store.Posts.Edit(ctx, s.bob.AccountID, s.post.Code, "nothing was said")
		})
	}, func(s *narrowScene) {
		for where, it := range s.everywhere(anonymous) {
			if it == nil || it.Fold.Text.Body != "nothing was said" {
				s.t.Errorf("%s: got %+v, want the text edited", where, it)
			}
		}
	}},
	{"a like taken back", func(s *narrowScene) { s.unlike(s.n, s.cat, s.post.Code) }, func(s *narrowScene) {
		for where, it := range s.everywhere(s.ann) {
			if it != nil && (it.Fold.Likes.Total != 0 || len(it.Fold.Likes.IDs) != 0) {
				s.t.Errorf("%s: got likes %+v, want none", where, it.Fold.Likes)
			}
			if it != nil && strings.HasSuffix(where, "likes of cat") {
				s.t.Errorf("%s: still shows the post", where)
			}
		}
	}},
}

// levelNarrowings close an account or a sub-feed.
var levelNarrowings = []narrowing{
	{"an account gone private", func(s *narrowScene) { s.setAccess(s.n, s.bob, "", timelines.Private) }, func(s *narrowScene) {
		s.unseenBy(anonymous, s.cat)
		s.seenBy(s.ann)
	}},
	{"an account gone protected", func(s *narrowScene) { s.setAccess(s.n, s.bob, "", timelines.Protected) }, func(s *narrowScene) {
		s.unseenBy(anonymous)
	}},
	{"a private account left", func(s *narrowScene) {
		s.setAccess(s.n, s.bob, "", timelines.Private)
		s.everywhere(s.ann)
		s.leave(s.n, s.ann, "bob")
	}, func(s *narrowScene) { s.unseenBy(s.ann) }},
	{"a sub-feed gone private", func(s *narrowScene) {
		s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
			return s.n.store.Feeds.Create(ctx, s.bob.AccountID, "photos", "Photos", timelines.Public)
		})
		s.move(s.n, s.bob, s.post.Code, "bob/photos")
		for _, v := range []timelines.Viewer{s.ann, anonymous} {
			if s.everywhere(v); s.find(s.other, v, rivers.Subfeed, "bob/photos") == nil {
				s.t.Errorf("account %d does not see the post in photos", v.AccountID)
			}
		}
		s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
			return s.n.store.Feeds.SetSubfeedAccess(ctx, s.bob.AccountID, "photos", timelines.Private)
		})
	}, func(s *narrowScene) {
		s.unseenBy(s.ann, anonymous)
		for _, n := range []*node{s.n, s.other} {
			name := s.name(n, anonymous, rivers.Subfeed, "bob/photos")
			if _, err := n.rivers.Visit(s.ctx, anonymous, name, rivers.Cursor{}); !errors.Is(err, rivers.ErrNotFound) {
				s.t.Errorf("the closed sub-feed: got %v, want %v", err, rivers.ErrNotFound)
			}
		}
	}},
}

// banNarrowings keep people apart, or hide the post from one of them.
var banNarrowings = []narrowing{
	{"its author banned", func(s *narrowScene) { s.ban(s.n, s.ann, "bob") }, func(s *narrowScene) {
		s.unseenBy(s.ann)
		s.seenBy(anonymous)
	}},
	{"a reader banned by its author", func(s *narrowScene) { s.ban(s.n, s.bob, "ann") }, func(s *narrowScene) { s.unseenBy(s.ann) }},
	{"an author of comments and likes banned", func(s *narrowScene) { s.ban(s.n, s.ann, "cat") }, func(s *narrowScene) {
		for where, it := range s.everywhere(s.ann) {
			switch cats := strings.HasSuffix(where, " of cat"); {
			case cats && it != nil:
				s.t.Errorf("%s: still shows the post", where)
			case cats:
			case it == nil || !it.Hides(s.cat.AccountID) || it.Likes().Total != 0 || len(it.Likes().IDs) != 0 || it.Fold.Comments.Total != 1:
				s.t.Errorf("%s: got %+v, want the post with a hidden comment and no like", where, it)
			}
		}
		for where, it := range s.everywhere(anonymous) {
			if it == nil || it.Hides(s.cat.AccountID) || it.Likes().Total != 1 {
				s.t.Errorf("%s: others got %+v, want all of it", where, it)
			}
		}
	}},
	{"the post hidden", func(s *narrowScene) {
		s.act(s.n, func(ctx context.Context) (timelines.Change, error) {
			_, c, err := s.n.store.Hides.HidePost(ctx, s.ann.AccountID, s.post.Code)
			return c, err
		})
	}, func(s *narrowScene) {
		for where, it := range s.everywhere(s.ann) {
			own := strings.HasSuffix(where, "the post") || strings.HasSuffix(where, "unfolded")
			if (it != nil) != own || it != nil && !it.Hidden {
				s.t.Errorf("%s: got %+v, want the hidden post on its own page only", where, it)
			}
		}
	}},
}

// readerNarrowings take away the right to read a feed.
var readerNarrowings = []narrowing{
	{"a reader removed from a sub-feed", func(s *narrowScene) {
		s.move(s.n, s.bob, s.post.Code, "bob/private")
		s.setReader(s.n, s.bob, s.n.store.Feeds.Admit, "private", "ann")
		s.queue.drain(s.ctx, s.chance(), s.n, s.other)
		s.seenBy(s.ann)
		s.setReader(s.n, s.bob, s.n.store.Feeds.Remove, "private", "ann")
	}, func(s *narrowScene) { s.unseenBy(s.ann) }},
	{"a reader removed from a feed", func(s *narrowScene) {
		s.setAccess(s.n, s.bob, "", timelines.Private)
		s.everywhere(s.ann)
		s.setReader(s.n, s.bob, s.n.store.Feeds.Remove, "", "ann")
	}, func(s *narrowScene) { s.unseenBy(s.ann) }},
	{"a reader left out", func(s *narrowScene) {
		s.setAccess(s.n, s.bob, "", timelines.Protected)
		s.everywhere(s.ann)
		s.setReader(s.n, s.bob, s.n.store.Feeds.Exclude, "", "ann")
	}, func(s *narrowScene) {
		s.unseenBy(s.ann)
		if s.find(s.other, s.cat, rivers.User, "bob") == nil {
			s.t.Error("cat, who was not left out, does not see it any more")
		}
	}},
}

// placeNarrowings take the post out of places.
var placeNarrowings = []narrowing{
	{"a post moved to where its author alone reads", func(s *narrowScene) {
		s.move(s.n, s.bob, s.post.Code, "bob/private")
	}, func(s *narrowScene) {
		s.unseenBy(s.ann, s.cat, anonymous)
		if s.find(s.other, s.bob, rivers.Subfeed, "bob/private") == nil || s.find(s.n, s.bob, rivers.Home, "") == nil {
			s.t.Error("bob does not see it any more")
		}
	}},
	{"a post removed from a group", func(s *narrowScene) {
		s.group(s.cat, "club", timelines.Public)
		s.move(s.n, s.bob, s.post.Code, "club")
		for _, n := range []*node{s.n, s.other} {
			if s.everywhere(s.ann); s.find(n, s.ann, rivers.Group, "club") == nil {
				s.t.Error("ann does not see the post in the group")
			}
		}
		s.takeOut(s.n, s.cat, s.post.Code, "club")
	}, func(s *narrowScene) {
		s.unseenBy(s.ann, s.cat, anonymous)
		if s.find(s.other, s.bob, rivers.Eyes, "") == nil {
			s.t.Error("bob does not see what nobody else does")
		}
	}},
	{"a post removed from one of its places", func(s *narrowScene) {
		s.group(s.cat, "club", timelines.Public)
		s.move(s.n, s.bob, s.post.Code, "club", "bob")
		for _, n := range []*node{s.n, s.other} {
			s.find(n, s.ann, rivers.Group, "club")
		}
		s.takeOut(s.n, s.cat, s.post.Code, "club")
	}, func(s *narrowScene) {
		for _, n := range []*node{s.n, s.other} {
			if it := s.find(n, s.ann, rivers.Group, "club"); it != nil {
				s.t.Errorf("the group's page still shows the post at %+v", it.Stamp)
			}
			if s.find(n, s.ann, rivers.User, "bob") == nil {
				s.t.Error("bob's page does not show the post any more")
			}
		}
	}},
}
