package live

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"riverrun/rivers"
	"riverrun/timelines/access"
	"riverrun/web/view"
)

// An update is what one flush found out about one post in one river. All sockets of the topic
// share it, and each decides whether its page is concerned.
type update struct {
	batch *batch
	watch rivers.Watch
	post  int64
	// One of item and gone is set.
	item      *rivers.Item
	gone      *rivers.Gone
	sets      *access.Sets
	changedAt time.Time // when the change was committed, or else heard of; zero if neither is known
}

// A batch is what one statement decided, with the HTML made of it. An entry is rendered once
// for all viewers who see it alike, and equal HTML is encoded once for everybody.
type batch struct {
	pages Pages
	// began is when the deciding statement was sent. The batch knows each change that was
	// acknowledged before, and may lack later ones.
	began time.Time

	// mu guards the maps, but not their values.
	mu       sync.Mutex
	rendered map[renderKey]*rendered
	encoded  map[string]json.RawMessage // HTML as JSON strings
}

type renderKey struct {
	renderContext view.Context
	post          int64
}

// A rendered entry is ready to be put into frames. once guards the other fields.
type rendered struct {
	once sync.Once
	err  error
	part [view.PartCount]json.RawMessage
	sum  [view.PartCount]uint64
	tag  uint64
	html json.RawMessage
}

func newBatch(pages Pages, began time.Time) *batch {
	return &batch{
		pages: pages, began: began,
		rendered: make(map[renderKey]*rendered), encoded: make(map[string]json.RawMessage),
	}
}

// render returns the entry as viewers of that context get it. The first caller renders it on
// its own goroutine, and the others wait for that.
func (b *batch) render(ctx context.Context, l view.Context, n rivers.Name, sets *access.Sets, it *rivers.Item) (*rendered, error) {
	key := renderKey{l, it.PostID}
	b.mu.Lock()
	r := b.rendered[key]
	if r == nil {
		r = new(rendered)
		b.rendered[key] = r
	}
	b.mu.Unlock()
	r.once.Do(func() {
		r.err = errUnrendered // stays if rendering panics
		// The context of the calling socket ends with it, while others wait.
		r.err = r.make(context.WithoutCancel(ctx), b, l, n, sets, it)
	})
	return r, r.err
}

var errUnrendered = errors.New("entry not rendered")

func (r *rendered) make(ctx context.Context, b *batch, l view.Context, n rivers.Name, sets *access.Sets, it *rivers.Item) error {
	made, whole, err := b.pages.Entry(ctx, l, n, sets, *it)
	if err != nil {
		return err
	}
	for p, html := range [view.PartCount][]byte{made.Why, made.Body, made.Acts, made.Likes, made.Comments} {
		if r.part[p], err = b.encode(html); err != nil {
			return err
		}
	}
	r.sum, r.tag = made.Sums, made.Tag
	r.html, err = jsonHTML(whole)
	return err
}

// encode is jsonHTML, called once for equal parts of one batch.
func (b *batch) encode(html []byte) (json.RawMessage, error) {
	b.mu.Lock()
	found, ok := b.encoded[string(html)]
	b.mu.Unlock()
	if ok {
		return found, nil
	}
	made, err := jsonHTML(html)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.encoded[string(html)] = made
	b.mu.Unlock()
	return made, nil
}

// shown is an entry as a page shows it, as far as the server knows.
type shown struct {
	code     string
	stamp    rivers.Stamp
	position int64
	// item is what the last frame was made of, and sum are the checksums of its parts. They
	// are unset while the page shows what it was served with, which the server did not keep.
	item *rivers.Item
	sum  [view.PartCount]uint64
	// tag is what the viewer's sets made of the entry, 0 while the server does not know.
	tag uint64
}

// forget has the server assume that it does not know what the page shows of the entry.
func (e *shown) forget() { e.stamp, e.item, e.tag = rivers.Stamp{}, nil, 0 }

// otherPeople reports whether other people may be hidden in the item than in what the page
// shows.
func (e *shown) otherPeople(it *rivers.Item) bool {
	return e.item == nil || !slices.Equal(e.item.HiddenUsers, it.HiddenUsers) || e.item.CommentersOverflow() || it.CommentersOverflow()
}

// changed returns the parts that differ from what the page shows. The times in them do not
// count, as the page keeps those up to date by itself.
func (e *shown) changed(it *rivers.Item, r *rendered) (set [view.PartCount]json.RawMessage) {
	if e.item == nil {
		return r.part
	}
	for p := range view.PartCount {
		if r.sum[p] != e.sum[p] {
			set[p] = r.part[p]
		}
	}
	was, is := e.item, it
	if !slices.Equal(view.HiddenCommenters(was), view.HiddenCommenters(is)) || !sameFolded(&was.Fold.Comments, &is.Fold.Comments) {
		set[view.PartComments] = r.part[view.PartComments]
	}
	return set
}

// sameFolded reports whether the comments that are folded away are as they were, as far as a
// fold says. If not, a page that unfolded them has to fetch them again.
func sameFolded(was, is *rivers.CommentsFold) bool {
	return was.EditedAt == is.EditedAt && was.FoldedLikes == is.FoldedLikes && slices.Equal(was.Likers, is.Likers)
}

// newer reports whether one number of a is greater than that of b. Each number of a stamp only
// grows within one river (R2).
func newer(a, b rivers.Stamp) bool { return a.Entry > b.Entry || a.Fold > b.Fold }

// later returns the stamp of a page that was sent both.
func later(a, b rivers.Stamp) rivers.Stamp {
	return rivers.Stamp{Entry: max(a.Entry, b.Entry), Fold: max(a.Fold, b.Fold)}
}
