package rivers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"riverrun/timelines"
)

// acknowledged makes a change as a node does, up to its acknowledgement: its clock is
// published and its fold written.
func (w *town) acknowledged(actor timelines.Viewer, change func(context.Context) (timelines.Change, error)) {
	w.t.Helper()
	c, err := change(w.ctx)
	must(w, c, err)
	if c.Clock != 0 {
		must(w, 0, w.rivers.PublishClock(w.ctx, c.Clock))
	}
	if c.PostID != 0 {
		touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
		must(w, 0, w.rivers.Distribute(w.ctx, touched, Scope{Actor: actor.AccountID}))
	}
}

// A decision is of one moment, whatever is acknowledged between the steps of a visit, a
// push, a comparison, or the page of one post. Nobody is shown a post that they might read
// at no moment, or one written after the right to read it was taken from them.
func TestADecisionIsOfOneMoment(t *testing.T) {
	const secret = "secret"
	type scene struct {
		*town
		bob, ann, dan timelines.Viewer
		post          timelines.Change
	}
	change := func(s *scene, actor timelines.Viewer, fn func(context.Context) (timelines.Change, error)) {
		s.acknowledged(actor, fn)
	}
	level := func(s *scene, to timelines.Level) {
		change(s, s.bob, func(ctx context.Context) (timelines.Change, error) {
			return s.store.Feeds.SetAccess(ctx, s.bob.AccountID, "", to)
		})
	}
	says := func(s *scene) {
		change(s, s.bob, func(ctx context.Context) (timelines.Change, error) {
			return s.store.Comments.Create(ctx, timelines.NewComment{Author: s.bob.AccountID, Code: s.post.Code, Body: secret})
		})
	}
	// Another viewer's page brings this node's caches to the newest clock.
	others := func(s *scene) { s.visit(s.dan, Home, "") }
	for _, c := range []struct {
		name   string
		before func(s *scene)
		while  func(s *scene)
	}{
		{"excluded before it is opened to the others", func(s *scene) { level(s, timelines.Private) }, func(s *scene) {
			change(s, s.bob, func(ctx context.Context) (timelines.Change, error) {
				return s.store.Feeds.Exclude(ctx, s.bob.AccountID, "", "ann")
			})
			level(s, timelines.Protected)
			change(s, s.bob, func(ctx context.Context) (timelines.Change, error) {
				return s.store.Posts.Edit(ctx, s.bob.AccountID, s.post.Code, secret)
			})
			others(s)
		}},
		{"spoken to after the ban", nil, func(s *scene) {
			change(s, s.ann, func(ctx context.Context) (timelines.Change, error) {
				return s.store.Bans.Ban(ctx, s.ann.AccountID, "bob")
			})
			says(s)
		}},
		{"written after it went private", nil, func(s *scene) {
			level(s, timelines.Private)
			says(s)
		}},
	} {
		for name, look := range map[string]func(s *scene, ctx context.Context) ([]Item, error){
			"page": func(s *scene, ctx context.Context) ([]Item, error) {
				p, err := s.rivers.Visit(ctx, s.ann, s.name(s.ann, Everything, ""), Cursor{})
				return p.items(), err
			},
			"push": func(s *scene, ctx context.Context) ([]Item, error) {
				seen, err := s.rivers.Flush(ctx, []Watch{{Viewer: s.ann, Name: s.name(s.ann, Everything, "")}}, []int64{s.post.PostID})
				if err != nil {
					return nil, err
				}
				return seen[0].Items, nil
			},
			"comparison": func(s *scene, ctx context.Context) ([]Item, error) {
				pages, err := s.rivers.FirstPages(ctx, []Watch{{Viewer: s.ann, Name: s.name(s.ann, Everything, "")}})
				if err != nil {
					return nil, err
				}
				return pages[0].items(), nil
			},
			"post": func(s *scene, ctx context.Context) ([]Item, error) {
				p, err := s.rivers.Visit(ctx, s.ann, Name{UserID: s.ann.AccountID, Kind: Post, TheirID: s.post.PostID, Order: Fresh}, Cursor{})
				return p.items(), err
			},
			"unfolded": func(s *scene, ctx context.Context) ([]Item, error) {
				it, _, err := s.rivers.Unfold(ctx, s.ann, s.post.Code)
				if it == nil {
					return nil, err
				}
				return []Item{*it}, err
			},
			"by number": func(s *scene, ctx context.Context) ([]Item, error) {
				now, err := s.rivers.Posts(ctx, s.ann, false, []AskedPost{{PostID: s.post.PostID}})
				if err != nil {
					return nil, err
				}
				return slices.Collect(maps.Values(now.Items)), nil
			},
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				w := newTown(t)
				s := &scene{town: w, bob: w.person("bob"), ann: w.person("ann"), dan: w.person("dan")}
				s.post = w.post(s.bob, "to be seen")
				w.drain()
				w.visit(s.ann, Everything, "") // and stands as it was
				if c.before != nil {
					c.before(s)
				}
				met := false
				items, err := look(s, pausedAt(w.ctx, beforeDeciding, func() { met = true; c.while(s) }))
				if err != nil && !slices.Contains([]error{ErrNotFound, ErrForbidden}, err) {
					t.Fatal(err)
				}
				if !met && !slices.Contains([]string{"post", "unfolded"}, name) {
					t.Fatal("nothing happened meanwhile")
				}
				for _, it := range items {
					shown := []string{it.Fold.Text.Body}
					for _, c := range it.Fold.Comments.Shown {
						if !it.Hides(c.Author) {
							shown = append(shown, c.Body)
						}
					}
					if slices.Contains(shown, secret) {
						t.Errorf("is shown %q", shown)
					}
				}
			})
		}
	}
}

func (p *Page) items() []Item {
	if p == nil {
		return nil
	}
	return p.Items
}

// A page that takes several reads is of the moment of the last. It does not show what was
// taken away between them, even if the viewer sees the same people.
func TestAPageOfManyReadsIsOfOneMoment(t *testing.T) {
	for name, narrow := range map[string]func(w *town, bob timelines.Viewer) (timelines.Change, error){
		"level": func(w *town, bob timelines.Viewer) (timelines.Change, error) {
			return w.store.Feeds.SetAccess(w.ctx, bob.AccountID, "", timelines.Private)
		},
		"reader": func(w *town, bob timelines.Viewer) (timelines.Change, error) {
			return w.store.Feeds.Exclude(w.ctx, bob.AccountID, "", "ann")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
			w.acknowledged(bob, func(ctx context.Context) (timelines.Change, error) {
				return w.store.Feeds.SetAccess(ctx, bob.AccountID, "", timelines.Protected)
			})
			w.post(bob, "older")
			for range PageSize + 1 {
				w.post(cat, "not for ann")
			}
			w.post(bob, "newest")
			w.drain()
			w.acknowledged(ann, func(ctx context.Context) (timelines.Change, error) {
				return w.store.Hides.HideAccount(ctx, ann.AccountID, "cat")
			})
			w.shows(w.visit(ann, Everything, ""), "newest", "older")
			met := false
			page, err := w.rivers.Visit(pausedAt(w.ctx, betweenReads, func() {
				met = true
				w.acknowledged(bob, func(context.Context) (timelines.Change, error) { return narrow(w, bob) })
			}), ann, w.name(ann, Everything, ""), Cursor{})
			must(w, 0, err)
			if !met {
				t.Fatal("the page took one read")
			}
			w.shows(page)
		})
	}
}

// If access changes all the time, a page comes out short rather than never.
func TestAPageIsMadeWhileAccessChanges(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.post(bob, "older")
	for range PageSize + 1 {
		w.post(cat, "not for ann")
	}
	w.post(bob, "newest")
	w.drain()
	w.acknowledged(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Hides.HideAccount(ctx, ann.AccountID, "cat")
	})
	name, changes := w.name(ann, Everything, ""), 0
	restless := withPause(w.ctx, func(at string) {
		if at == betweenReads {
			changes++
			w.acknowledged(bob, func(ctx context.Context) (timelines.Change, error) {
				return w.store.Hides.HideTerm(ctx, bob.AccountID, fmt.Sprint("word", changes))
			})
		}
	})
	page, err := w.rivers.Visit(restless, ann, name, Cursor{})
	must(w, 0, err)
	w.shows(page, "newest")
	if changes == 0 || !page.More {
		t.Fatalf("after %d changes the page says it is all there is", changes)
	}
	page, err = w.rivers.Visit(w.ctx, ann, name, page.Next)
	must(w, 0, err)
	if bodies(page)[len(page.Items)-1] != "older" {
		t.Errorf("goes on with %q", bodies(page))
	}
}
