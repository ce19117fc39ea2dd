package rivers

import (
	"slices"
	"strings"
	"testing"

	"riverrun/timelines"
)

// The hidden people of an entry are those of the very fold that is shown, authors and
// likers of any of it: on pages of all kinds, pushed, and unfolded, and also where the
// post's own page shows a newer fold than the one its river is decided by.
func TestHiddenUsersAreOfTheFoldThatIsShown(t *testing.T) {
	for _, tc := range []struct {
		name string
		// people is how many ids the folds keep, 0 for as many as usual.
		people int
		does   func(w *town, bob timelines.Viewer, p timelines.Change)
		// late: the change is stored, and no fold was written anew.
		late bool
	}{
		{name: "a comment", does: func(w *town, bob timelines.Viewer, p timelines.Change) {
			w.acted(w.comment(bob, p.Code, "of bob's"))
		}},
		{name: "a comment that is folded away", does: func(w *town, bob timelines.Viewer, p timelines.Change) {
			w.acted(w.comment(bob, p.Code, "of bob's"))
			w.talk(p, "eve", "eve")
		}},
		{name: "a like", does: func(w *town, bob timelines.Viewer, p timelines.Change) { w.acted(w.like(bob, p.Code)) }},
		{name: "a like of a comment", does: func(w *town, bob timelines.Viewer, p timelines.Change) {
			said := w.talk(p, "eve")[0]
			w.acted(w.likeComment(bob, p.Code, said))
		}},
		{name: "a like of a comment that is folded away", does: func(w *town, bob timelines.Viewer, p timelines.Change) {
			said := w.talk(p, "eve", "eve", "eve")[0]
			w.acted(w.likeComment(bob, p.Code, said))
		}},
		{name: "a comment after more people than a fold keeps", people: 2, does: func(w *town, bob timelines.Viewer, p timelines.Change) {
			w.talk(p, "dan", "eve")
			w.acted(w.comment(bob, p.Code, "of bob's"))
		}},
		{name: "a comment whose fold is not written yet", late: true, does: func(w *town, bob timelines.Viewer, p timelines.Change) {
			w.comment(bob, p.Code, "of bob's")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			if tc.people > 0 {
				w.rivers.people = tc.people
			}
			ann, cat := w.person("ann"), w.person("cat")
			w.person("dan")
			w.person("eve")
			bob := w.person("bob")
			w.group(cat, "club", timelines.Public)
			for _, name := range []string{"cat", "club"} {
				w.follow(ann, name)
			}
			w.list(ann, "Some", "cat")
			p := w.post(cat, "a word #tag for @ann", "cat", "club")
			w.acted(w.comment(cat, p.Code, "of cat's"))
			w.acted(w.like(ann, p.Code))
			w.acted(w.like(cat, p.Code))
			c, err := w.store.Bans.Ban(w.ctx, ann.AccountID, "bob")
			w.told(must(w, c, err))
			pages := []struct {
				kind Kind
				of   string
			}{
				{Home, ""},
				{Everything, ""},
				{User, "cat"},
				{Group, "club"},
				{Likes, "cat"},
				{Discussions, ""},
				{Search, "word"},
				{Comments, "cat"},
				{List, "some"},
				{Hashtag, "tag"},
				{Mentions, ""},
				{Post, p.Code},
			}
			names := map[Kind]Watch{}
			for _, page := range pages {
				at := w.visit(ann, page.kind, page.of)
				names[page.kind] = Watch{Viewer: ann, Name: at.Name, River: at.River}
			}
			tc.does(w, bob, p)
			w.rivers.folds.purge()
			looked := 0
			look := func(where string, it *Item) {
				t.Helper()
				if it.PostID != p.PostID {
					return
				}
				looked++
				knows := slices.Contains(it.Fold.Likes.IDs, bob.AccountID) || slices.Contains(it.Fold.Comments.IDs, bob.AccountID) ||
					slices.Contains(it.Fold.Comments.Likers, bob.AccountID)
				for _, c := range it.Fold.Comments.Shown {
					knows = knows || c.Author == bob.AccountID || slices.Contains(c.Likes.IDs, bob.AccountID)
				}
				if !knows && tc.late && !strings.Contains(where, string(Post)) {
					return // older than what bob did
				}
				if !knows || !it.Hides(bob.AccountID) {
					t.Errorf("%s: hides %v; what bob did is there: %v", where, it.HiddenUsers, knows)
				}
			}
			for _, page := range pages {
				for _, it := range w.visit(ann, page.kind, page.of).Items {
					look(string(page.kind), &it)
				}
				seen, err := w.rivers.Flush(w.ctx, []Watch{names[page.kind]}, []int64{p.PostID})
				for _, it := range must(w, seen, err)[0].Items {
					look("push to "+string(page.kind), &it)
				}
			}
			it, _, err := w.rivers.Unfold(w.ctx, ann, p.Code)
			if must(w, it, err); it != nil {
				look("unfolded "+string(Post), it)
			}
			now, err := w.rivers.Posts(w.ctx, ann, false, []AskedPost{{PostID: p.PostID}})
			for _, it := range must(w, now, err).Items {
				look("by number "+string(Post), &it)
			}
			if want := 2*len(pages) + 2; looked < want-1 { // another search may stand now
				t.Errorf("the post was looked at in %d places, want %d", looked, want)
			}
		})
	}
}

// talk makes people comment, one after the other, and returns their comments.
func (w *town) talk(p timelines.Change, names ...string) (said []int64) {
	w.t.Helper()
	for _, name := range names {
		a, err := w.store.Accounts.ByName(w.ctx, name)
		c := w.comment(timelines.Viewer{AccountID: must(w, a, err).ID}, p.Code, "of "+name+"'s")
		w.acted(c)
		said = append(said, c.CommentID)
	}
	return said
}

func (w *town) likeComment(who timelines.Viewer, code string, id int64) timelines.Change {
	w.t.Helper()
	c, err := w.store.Comments.Like(w.ctx, who.AccountID, code, id)
	return must(w, c, err)
}
