package timelines

import (
	"errors"
	"testing"
	"time"
)

// When people lose the right to post somewhere, they lose the right to change their posts there, by
// form and by source. They may still delete a post, and take it out of the place.
func TestBarredPosts(t *testing.T) {
	leave := func(w *town, ann, _ Account) {
		_, err := w.Subscriptions.Unsubscribe(w.Context(), ann.ID, "club")
		w.must(err)
	}
	for name, tc := range map[string]struct {
		level   Level
		end     func(w *town, ann, bob Account)
		by      string // the place
		missing bool   // ann cannot read it any more where it stands alone
	}{
		"blocked": {Public, func(w *town, _, bob Account) { w.act(w.Groups.Block, bob, "club", "ann") }, "club", false},
		"removed and blocked": {Private, func(w *town, _, bob Account) {
			w.act(w.Groups.RemoveMember, bob, "club", "ann")
			w.act(w.Groups.Block, bob, "club", "ann")
		}, "club", true},
		"removed":                 {Private, func(w *town, _, bob Account) { w.act(w.Groups.RemoveMember, bob, "club", "ann") }, "club", true},
		"left":                    {Private, leave, "club", true},
		"a stricter policy":       {Public, func(w *town, _, bob Account) { w.setWriters(bob, "club", WritersAdmins) }, "club", false},
		"of members, left":        {Public, func(w *town, ann, bob Account) { w.setWriters(bob, "club", WritersMembers); leave(w, ann, bob) }, "club", false},
		"nothing, a message":      {Public, func(w *town, _, bob Account) { w.setWriters(bob, "", WritersNobody) }, "", false},
		"nothing, in one's own":   {Public, func(w *town, ann, _ Account) { w.setWriters(ann, "", WritersNobody) }, "", false},
		"nothing, still a member": {Private, func(*town, Account, Account) {}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			ann, bob := w.user("ann"), w.user("bob")
			w.group(bob, "club", Public)
			w.subscribe(ann, "club")
			w.setAccess(bob, "club", tc.level)
			place := tc.by
			switch {
			case name == "nothing, a message":
				place = "bob"
			case place == "":
				place = "club"
			}
			text := "in a place"
			alone, both, own := w.post(ann, text, place), w.post(ann, text, "ann", place), w.post(ann, text)
			source := ItemPlace{Author: ann.ID, To: "ann", Also: []string{"club"}}
			var item int64
			if place == "club" {
				item = w.makeItems(source, ItemPost{Body: text, To: "club", CreatedAt: time.Now()})[0]
			} else {
				item = w.makeItems(source, ItemPost{Body: text, CreatedAt: time.Now()})[0]
				code := value[string](w, `SELECT code FROM posts WHERE id = $1`, item)
				_, err := w.Posts.Revise(t.Context(), ann.ID, code, Revision{To: []string{"ann", place}})
				w.must(err)
			}
			tc.end(w, ann, bob)

			// By form.
			for _, p := range []Change{alone, both} {
				version := w.version(p.PostID)
				_, err := w.Posts.Edit(t.Context(), ann.ID, p.Code, "other words")
				_, other := w.Posts.Revise(t.Context(), ann.ID, p.Code, Revision{Body: &text, Language: new("ru")})
				switch {
				case tc.by == "":
					w.must(err)
					w.must(other)
				case tc.missing && p.PostID == alone.PostID:
					w.fails("an edit", err, ErrNotFound)
				default:
					w.invalid("an edit", err, "to_closed")
					w.invalid("another language", other, "to_closed")
					if bad, ok := errors.AsType[*InvalidError](err); ok {
						w.same("the place", bad.Value, tc.by)
					}
					_, err = w.Posts.Edit(t.Context(), ann.ID, p.Code, text)
					w.must(err) // changes nothing
					w.same("version", w.version(p.PostID), version)
				}
			}
			_, err := w.Posts.Edit(t.Context(), ann.ID, own.Code, "other words")
			w.must(err)

			// By source.
			var also int64
			w.items(ItemPlace{Author: ann.ID, To: "ann"}, func(x *ItemsTx) error {
				made, err := x.Create(t.Context(), []ItemPost{{Body: text, CreatedAt: time.Now()}})
				also = made[0]
				return err
			})
			edited, open := []int64{item, also}, []int64{item, also}
			barred := map[int64]string{}
			if tc.by != "" {
				edited, open, barred = []int64{also}, []int64{also}, map[int64]string{item: tc.by}
			}
			w.items(ItemPlace{Author: ann.ID, To: "ann"}, func(x *ItemsTx) error {
				got, err := x.Open(t.Context(), []int64{item, also})
				w.must(err)
				w.same("open", got, open)
				got, not, err := x.Edit(t.Context(), []ItemPost{{ID: item, Body: "the source"}, {ID: also, Body: "the source"}})
				w.same("edited", got, edited)
				w.same("barred", not, barred)
				return err
			})

			// It can be taken out, with other words, and deleted.
			if tc.by == "" {
				return
			}
			_, err = w.Posts.Revise(t.Context(), ann.ID, both.Code, Revision{Body: new("other words"), To: []string{"ann"}})
			w.must(err)
			if !tc.missing {
				_, err = w.Posts.Delete(t.Context(), ann.ID, alone.Code)
				w.must(err)
			}
			w.items(ItemPlace{Author: ann.ID, To: "ann"}, func(x *ItemsTx) error {
				gone, err := x.Delete(t.Context(), []int64{item}, true)
				w.same("deleted", gone, []int64{item})
				return err
			})
		})
	}
}
