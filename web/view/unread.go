package view

import (
	"bytes"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines/reads"
)

// news says how many comments of an entry are new to its viewer; more: there may be more than
// that.
type news struct {
	count int
	more  bool
}

// newComments counts the comments that came since the viewer last saw the post on its own
// page. A post that the viewer never opened is new as a whole, and has no number; unless the
// viewer wrote it, or commented on it, when what came since counts. The viewer's own comments
// are not new, and those of hidden people are not counted. On the post's own page all are
// shown, so nothing is counted.
//
// It knows the last comments only (rivers.MaxRecent). All of it is in memory.
func newComments(it *rivers.Item, viewer int64, marks reads.Marks) (n news) {
	recent := it.Fold.Comments.Recent
	if viewer == 0 || it.Full || len(recent) == 0 {
		return n
	}
	since, known := seenUpTo(it, viewer, marks)
	if !known {
		return n
	}
	for _, c := range recent {
		if c.At > since && c.By != viewer && !it.Hides(c.By) {
			n.count++
		}
	}
	n.more = recent[0].At > since && it.Fold.Comments.Total > len(recent)
	return n
}

// seenUpTo returns up to when the viewer knows the comments of a post: as the post was last
// opened, or as the viewer last commented on it, if that was later.
func seenUpTo(it *rivers.Item, viewer int64, marks reads.Marks) (at int64, known bool) {
	at, known = marks.Seen(it.PostID)
	f := it.Fold
	if _, commented := slices.BinarySearch(f.Comments.IDs, viewer); commented || f.Text.Author == viewer {
		at, known = max(at, f.Text.CreatedAt), true
	}
	for _, c := range f.Comments.Recent {
		if c.By == viewer {
			at = max(at, c.At)
		}
	}
	for i := range f.Comments.Shown {
		if c := &f.Comments.Shown[i]; c.Author == viewer {
			at = max(at, c.CreatedAt)
		}
	}
	return at, known
}

func (n news) text(loc *Locale) string {
	if n.more {
		return loc.T("entry.fresh.more", "n", loc.Number(n.count))
	}
	return loc.N("comments.new", n.count)
}

// label is text for those who do not see beside what it stands.
func (n news) label(loc *Locale) string {
	if n.more {
		return n.text(loc)
	}
	return loc.N("comments.fresh", n.count)
}

// SeenUpTo is the instant of the last comment that the post's own page shows, or of the post if
// there is none, in microseconds.
func SeenUpTo(it *rivers.Item) int64 {
	at := it.Fold.Text.CreatedAt
	for i := range it.Fold.Comments.Shown {
		at = max(at, it.Fold.Comments.Shown[i].CreatedAt)
	}
	return at
}

// firstNew returns the id of the first comment on the post's own page that is new to the
// viewer, 0 if none is.
func (e *Entry) firstNew() int64 {
	if !e.Item.Full || !e.signedIn() {
		return 0
	}
	since, known := seenUpTo(e.Item, e.Viewer.AccountID, e.marks)
	if !known {
		return 0
	}
	for i := range e.Item.Fold.Comments.Shown {
		c := &e.Item.Fold.Comments.Shown[i]
		if c.CreatedAt > since && !e.isMe(c.Author) && !e.Item.Hides(c.Author) {
			return c.ID
		}
	}
	return 0
}

// withFirstUnread puts the line of the first unread comment into the comments of a page that
// is being served. The comments are shared by all viewers, and the line is the viewer's own,
// so it is put in after they were taken from the cache. Frames never have it: on an open page
// it stays where it was, and river.js sees to that.
func withFirstUnread(e *Entry, comments []byte) ([]byte, error) {
	id := e.firstNew()
	if id == 0 {
		return comments, nil
	}
	at := bytes.Index(comments, []byte(`<div class="comment" id="`+CommentID(id)+`"`))
	if at < 0 {
		return comments, nil
	}
	line, err := Bytes(firstUnread(e.Locale))
	if err != nil {
		return nil, err
	}
	return slices.Concat(comments[:at], line, comments[at:]), nil
}
