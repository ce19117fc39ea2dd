package timelines

import (
	"errors"
	"testing"
	"time"

	"riverrun/timelines/kinds"
)

// The copies of a post in several archives are of different age: a later one
// knows comments that an earlier one does not, and the other way round. Rows of
// who talks on late, which lifts nothing, still stand where scans look for them.
func TestImportOfLaterAndEarlierTalk(t *testing.T) {
	const day = 24 * time.Hour
	first, second := remark("1/b", "ben", 3*day), remark("1/c", "ben", 5*day)
	for name, order := range map[string][]ImportedComment{
		"later":   {first, second},
		"earlier": {second, first},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			for _, c := range order {
				p := tale("1")
				p.Comments = []ImportedComment{c}
				w.importPosts(10, p)
			}
			post, ben := w.imported(originPost, "1"), w.importedAccount("ben")
			at := Micros(noon.Add(3 * day))
			for _, kind := range []string{kinds.Comments, kinds.Discussions} {
				w.same(kind, w.row(w.timeline(kind, ben.ID), post), row{EnteredAt: at, FreshAt: at})
			}
			w.sound()
		})
	}
}

// A comment that stands under two posts is an error that names it, not a
// database's.
func TestImportOfACommentUnderTwoPosts(t *testing.T) {
	w := newTown(t)
	im, err := w.Imports.Start(t.Context(), FriendFeedSource)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close(t.Context())
	one, two := tale("1"), tale("2")
	one.Comments = []ImportedComment{remark("1/b", "ben", time.Hour)}
	two.Comments = []ImportedComment{remark("1/b", "ben", time.Hour)}
	var invalid *InvalidError
	if _, err := im.Add(t.Context(), []Imported{one, two}); !errors.As(err, &invalid) || invalid.Code != "comment_twice" {
		t.Errorf("got %v, want an InvalidError comment_twice", err)
	}
}

// An archive that knows another place of a blocked post does not put the post there.
func TestImportAgainOfABlockedPost(t *testing.T) {
	w := newTown(t)
	first := tale("1")
	w.importPosts(10, first)
	post := w.imported(originPost, "1")
	p := Change{PostID: post, Code: value[string](w, `SELECT code FROM posts WHERE id = $1`, post)}
	w.rule(p.Code, Ruling{Blocked: true, Reason: "spam"})
	where := w.places(p)
	again := tale("1")
	again.To = append(again.To, club("pub"))
	again.Comments = []ImportedComment{remark("1/b", "ben", 1)}
	w.importPosts(10, again)
	w.same("places of a blocked post", w.places(p), where)
	w.rule(p.Code, Ruling{})
	w.same("places after the block", w.places(p), "group of club")
	w.importPosts(10, again)
	w.same("places after one more import", w.places(p), "group of club, group of pub")
	w.soundAggregates()
}
