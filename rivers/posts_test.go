package rivers

import (
	"context"
	"testing"

	"riverrun/timelines"
)

// Somebody who could read a post is told when it is deleted or taken away from them, and nobody else is.
func TestPostsThatAreGone(t *testing.T) {
	for what, tc := range map[string]struct {
		takes func(w *town, ann timelines.Viewer, code string)
		// who is told that the post is gone, and who still reads it
		gone, reads []string
	}{
		"deleted": {
			func(w *town, ann timelines.Viewer, code string) { w.told(w.remove(ann, code)) },
			[]string{"ann", "bob", "dan", "all"},
			nil,
		},
		"moved": {
			func(w *town, ann timelines.Viewer, code string) {
				c, err := w.store.Posts.Revise(w.ctx, ann.AccountID, code, timelines.Revision{To: []string{"bob"}})
				w.told(must(w, c, err))
			},
			[]string{"dan"},
			[]string{"ann", "bob", "all"},
		},
		"banned": {
			func(w *town, ann timelines.Viewer, _ string) {
				c, err := w.store.Bans.Ban(w.ctx, ann.AccountID, "bob")
				w.told(must(w, c, err))
			},
			nil,
			[]string{"ann", "dan", "all"},
		},
		"deleted by somebody banned": {
			func(w *town, ann timelines.Viewer, code string) {
				c, err := w.store.Bans.Ban(w.ctx, ann.AccountID, "bob")
				w.told(must(w, c, err))
				w.told(w.remove(ann, code))
			},
			[]string{"ann", "dan", "all"},
			nil,
		},
		"edited": {
			func(w *town, ann timelines.Viewer, code string) {
				c, err := w.store.Posts.Edit(w.ctx, ann.AccountID, code, "other words")
				w.told(must(w, c, err))
			},
			nil,
			[]string{"ann", "bob", "dan", "all"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := newTown(t)
			ann, bob, dan, eve := w.person("ann"), w.person("bob"), w.person("dan"), w.person("eve")
			w.group(ann, "club", timelines.Private)
			c, err := w.store.Groups.Admit(w.ctx, ann.AccountID, "club", "bob")
			w.told(must(w, c, err))
			c, err = w.store.Groups.Admit(w.ctx, ann.AccountID, "club", "dan")
			w.told(must(w, c, err))
			post := w.post(ann, "for the club", "club")
			places := w.places(post.PostID)
			tc.takes(w, ann, post.Code)
			gone, reads := map[string]bool{}, map[string]bool{}
			for _, name := range tc.gone {
				gone[name] = true
			}
			for _, name := range tc.reads {
				reads[name] = true
			}
			for name, v := range map[string]timelines.Viewer{"ann": ann, "bob": bob, "dan": dan, "eve": eve, "nobody": {}, "all": eve} {
				now, err := w.rivers.Posts(w.ctx, v, name == "all", []AskedPost{{PostID: post.PostID, Places: places}})
				must(w, now, err)
				if got := now.Gone[post.PostID] == post.Code; got != gone[name] {
					t.Errorf("%s is told that it is gone: %t, want %t", name, got, gone[name])
				}
				if _, got := now.Items[post.PostID]; got != reads[name] {
					t.Errorf("%s reads it: %t, want %t", name, got, reads[name])
				}
			}
		})
	}
}

// A program that reads of a change in the log gets the post as it is after it, though the change has not reached the folds yet:
// no later line would bring it.
func TestPostsAreNotOlderThanTheirChange(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	post := w.post(ann, "the first words")
	places := w.places(post.PostID)
	read := func() *PostsNow {
		t.Helper()
		versions, err := w.store.Posts.Versions(w.ctx, []int64{post.PostID})
		asked := []AskedPost{{post.PostID, must(w, versions, err)[post.PostID], places}}
		now, err := w.rivers.Posts(w.ctx, ann, false, append(asked, AskedPost{PostID: post.PostID}))
		return must(w, now, err)
	}
	read()
	c, err := w.store.Posts.Edit(w.ctx, ann.AccountID, post.Code, "other words")
	must(w, c, err)
	if got := read().Items[post.PostID]; got.Fold == nil || got.Fold.Text.Body != "other words" {
		t.Errorf("after an edit the log brings %+v", got.Fold)
	}
	w.remove(ann, post.Code)
	if now := read(); now.Gone[post.PostID] != post.Code {
		t.Errorf("a deleted post is there as %+v", now.Items[post.PostID].Fold)
	}
}

// places returns the base timelines that a post stands in.
func (w *town) places(post int64) (places []int64) {
	w.t.Helper()
	if err := w.db.Primary.QueryRow(context.Background(), `SELECT decisive FROM posts WHERE id = $1`, post).Scan(&places); err != nil {
		w.t.Fatal(err)
	}
	return places
}
