package timelines

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/blobs"
	"riverrun/timelines/links"
	"riverrun/timelines/snapshot"
)

func (w *town) card(post int64) *snapshot.Card {
	w.Helper()
	var card *snapshot.Card
	w.must(w.InSnapshot(w.Context(), func(sn *snapshot.Snapshot) error {
		found, err := sn.Contents(w.Context(), []int64{post}, snapshot.Depth{BodyRunes: 100, BodyLines: 9, First: 1})
		card = found[post].Card
		return err
	}))
	return card
}

func TestLinksOfPosts(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	const page = "https://example.org/a?b=c"
	post := func(body string, to ...string) Change {
		t.Helper()
		c, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: body, To: to})
		w.must(err)
		return c
	}
	reads := func() (asked []int64) {
		for _, e := range w.heard.take() {
			if r, ok := e.(ReadPage); ok {
				asked = append(asked, r.LinkID)
			}
		}
		return asked
	}
	first := post("see [this](" + page + ") and https://example.com")
	asked := reads()
	w.same("asks once", len(asked), 1)
	address, err := w.Links.Address(t.Context(), asked[0])
	w.must(err)
	w.same("address", address, page)
	second := post(page, ToEyes)
	w.same("asks not again", len(reads()), 0)
	spoiler := post("||how it ends|| " + page)
	w.same("a spoiler", len(reads()), 0)
	w.same("nothing yet", w.card(first.PostID), (*snapshot.Card)(nil))

	version := w.version(first.PostID)
	sum := blobs.Sum{7}
	w.must(w.Links.Record(t.Context(), asked[0], links.Page{Title: "A page", Host: "example.org", Picture: &sum, Bytes: 5, Width: 4, Height: 3, Type: "image/png"}))
	w.same("announced", w.heard.take(), []Event{Touched{PostID: first.PostID}, Touched{PostID: second.PostID}})
	w.same("a new version", w.version(first.PostID), version+1)
	w.same("card", w.card(second.PostID), &snapshot.Card{URL: page, Title: "A page", Host: "example.org", Width: 4, Height: 3, Type: "image/png"})
	w.same("without a card", w.card(spoiler.PostID), (*snapshot.Card)(nil))
	w.must(w.Links.Record(t.Context(), asked[0], links.Page{Title: "A page", Host: "example.org", Picture: &sum, Bytes: 5, Width: 4, Height: 3, Type: "image/png"}))
	w.same("the same again", w.heard.take(), []Event(nil))
	w.must(w.Links.Record(t.Context(), asked[0], links.Page{})) // it cannot be read any more
	w.same("nothing read", w.heard.take(), []Event(nil))
	w.same("what was read", w.card(first.PostID).Title, "A page")

	for _, tc := range []struct {
		what   string
		viewer int64
		code   string
		want   bool
	}{
		{"everybody", 0, first.Code, true},
		{"the author", bob.ID, second.Code, true},
		{"who may not read the post", ann.ID, second.Code, false},
		{"another post", bob.ID, spoiler.Code, false},
		{"none", bob.ID, "0000000000", false},
	} {
		c, err := w.Links.Picture(t.Context(), tc.viewer, tc.code)
		if got := err == nil; got != tc.want || err == nil && c.Sum != sum || err != nil && !errors.Is(err, links.ErrNotFound) {
			t.Errorf("%s: got %v, %v", tc.what, c, err)
		}
	}
	_, err = w.Posts.Edit(t.Context(), bob.ID, first.Code, "no link any more")
	w.must(err)
	w.same("edited away", w.card(first.PostID), (*snapshot.Card)(nil))
	_, err = w.Posts.Delete(t.Context(), bob.ID, second.Code)
	w.must(err)
	w.heard.take()
	w.must(w.Links.Record(t.Context(), asked[0], links.Page{Title: "Another", Host: "example.org"}))
	w.same("nobody links any more", w.heard.take(), []Event(nil))
}

// A page to which more posts link than can follow keeps its card as it is, or gets none: else
// some posts would have another card with no new version.
func TestManyLinkToAPage(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	first := w.post(bob, "https://example.org/a")
	id := value[int64](w, `SELECT id FROM links`)
	record := func(title string, limit int) []int64 {
		t.Helper()
		posts, err := inTx(t.Context(), w.core, func(tx pgx.Tx) ([]int64, error) {
			return links.Record(t.Context(), tx, id, links.Page{Title: title, Host: "example.org"}, limit)
		})
		w.must(err)
		return posts
	}
	second := w.post(bob, "https://example.org/a")
	w.same("the first time", record("A page", 1), []int64(nil))
	w.same("no card", w.card(first.PostID), (*snapshot.Card)(nil))
	w.same("as many as can follow", record("A page", 2), []int64{first.PostID, second.PostID})
	version := w.version(first.PostID)
	w.same("one too many", record("Another", 1), []int64(nil))
	w.same("the card", w.card(first.PostID).Title, "A page")
	w.same("the version", w.version(first.PostID), version)
}
