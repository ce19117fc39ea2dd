package rivers

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// composed is a page of posts that come in these parts, and which posts it has.
func (w *town) composed(v timelines.Viewer, before Cursor, parts ...Chosen) (*Page, []int64) {
	w.t.Helper()
	p, err := w.rivers.Compose(w.ctx, v, w.name(v, Home, ""), before, func(context.Context, Cursor, int) (Chosen, error) {
		next := parts[0]
		if len(parts) > 1 {
			parts = parts[1:]
		}
		return next, nil
	})
	p = must(w, p, err)
	var posts []int64
	for _, i := range p.Items {
		posts = append(posts, i.PostID)
	}
	return p, posts
}

// A part that ended at a coarser moment is followed by one that has some of its posts again. Each is
// on the page once, and none is on the next page again.
func TestAComposedPageHasAPostOnce(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	var posts []snapshot.Placed
	for i := range 4 {
		posts = append(posts, snapshot.Placed{PostID: w.post(ann, fmt.Sprint(i)).PostID, Place: int64(4000 - i)})
	}
	coarse := Cursor{Place: 1<<20 - 1, PostID: 1}
	_, got := w.composed(ann, Cursor{}, Chosen{Posts: posts[:2:2], More: true, Next: coarse}, Chosen{Posts: append([]snapshot.Placed(nil), posts...)})
	if diff := cmp.Diff([]int64{posts[0].PostID, posts[1].PostID, posts[2].PostID, posts[3].PostID}, got); diff != "" {
		t.Errorf("posts of a page (-want +got):\n%s", diff)
	}
	none := Chosen{More: true, Next: coarse}
	p, _ := w.composed(ann, Cursor{}, Chosen{Posts: posts[:2:2], More: true, Next: coarse}, none)
	if want := (Cursor{Place: posts[1].Place, PostID: posts[1].PostID}); !p.More || p.Next != want {
		t.Errorf("a short page goes on at %+v, more %v; want %+v below its last entry", p.Next, p.More, want)
	}
}

// A page that ends among posts of one moment goes on among them.
func TestAComposedPagePassesNothingOver(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	at := Cursor{Place: 4000, PostID: 7}
	before := Cursor{Place: 4001, PostID: 1}
	if p, _ := w.composed(ann, before, Chosen{More: true, Next: at}); !p.More || p.Next != at {
		t.Errorf("the page goes on at %+v, more %v; want %+v", p.Next, p.More, at)
	}
}
