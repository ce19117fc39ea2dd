package view

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
)

// Parts is the HTML of one entry: the contents of those children of its
// <article> which a push may replace. Body and Comments are shared between
// viewers and come from the cache of rendered parts; the others are the
// viewer's own.
type Parts struct {
	Why, Body, Acts, Likes, Comments []byte
	// Tag is of what they were rendered from (see Renderer.Tag), Sums are of the parts,
	// but for what time it is.
	Tag  uint64
	Sums [PartCount]uint64
}

var partSeed = maphash.MakeSeed()

// Entry is one entry as components see it.
type Entry struct {
	*Base
	Item *rivers.Item
	// over: it is one too many in a row (gather.go).
	over bool
	// Rights decide the edit and delete links of the shared parts.
	Rights rights
}

// withoutViewer returns e with everything about the viewer taken away but the
// rights, which are part of the shared parts' key.
func (e *Entry) withoutViewer() *Entry {
	p := *e.Base
	p.Viewer, p.Sets, p.PageAddress, p.Code = timelines.Viewer{}, &access.Sets{}, "", ""
	p.RiverName = rivers.Name{Kind: p.RiverName.Kind, TheirID: p.RiverName.TheirID, Term: p.RiverName.Term}
	return &Entry{Base: &p, Item: e.Item, Rights: e.Special()}
}

// rights is what a viewer may do in the shared parts of an entry: like comments if signed in;
// change comments that account wrote and take back its likes; delete all comments if it
// moderates; remove them if of the site's staff.
type rights struct {
	account   int64 // 0: has no comment here and likes none
	member    bool  // signed in
	moderates bool
	staff     bool // of the site
}

// Special returns the viewer's rights in this entry: those of any member for
// nearly everybody, so that nearly everybody shares the parts rendered for them.
func (e *Entry) Special() rights {
	me := e.Viewer.AccountID
	if me == 0 {
		return rights{}
	}
	staff := e.Sets.Staff()
	if e.Item.Fold.Text.Author == me || e.inMyGroup() {
		return rights{account: me, member: true, moderates: true, staff: staff}
	}
	for i := range e.Item.Fold.Comments.Shown {
		if c := &e.Item.Fold.Comments.Shown[i]; c.Author == me || slices.Contains(c.Likes.IDs, me) {
			return rights{account: me, member: true, staff: staff}
		}
	}
	return rights{member: true, staff: staff}
}

func (e *Entry) inMyGroup() bool {
	return keepsOrder(e.Item, e.Sets)
}

// keepsOrder reports whether the viewer administers a group that the entry stands in.
func keepsOrder(it *rivers.Item, sets *access.Sets) bool {
	return slices.ContainsFunc(it.To, func(t timelines.Timeline) bool {
		return t.Kind == kinds.Group && sets.Administers.Has(t.TheirID)
	})
}

func (e *Entry) sharedKey() sharedKey {
	to := make([]int64, len(e.Item.To))
	for i, t := range e.Item.To {
		to[i] = t.ID
	}
	return sharedKey{
		post: e.Item.PostID, version: e.Item.Stamp.Fold, epoch: e.Item.Fold.Epoch, full: e.Item.Full,
		lang: e.Locale.Lang, rights: e.Special(), to: idList(to), here: e.here(), hidden: idList(HiddenCommenters(e.Item)),
		mentions: idList(e.Item.Mentions),
	}
}

func idList(ids []int64) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(strconv.FormatInt(id, 36))
		b.WriteByte('.')
	}
	return b.String()
}

// HiddenCommenters are the hidden people who wrote or like comments of the entry; the shared
// parts depend on them.
func HiddenCommenters(it *rivers.Item) []int64 {
	if len(it.HiddenUsers) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(it.HiddenUsers), func(person int64) bool {
		return !slices.Contains(it.Fold.Comments.Folded, person) && !slices.ContainsFunc(it.Fold.Comments.Shown, func(c rivers.Comment) bool {
			return c.Author == person || slices.Contains(c.Likes.IDs, person)
		})
	})
}

// here is the timeline of the group or sub-feed whose page the entry stands on, 0
// on other pages: a post that stands there only need not say so.
func (e *Entry) here() int64 {
	for _, t := range e.Item.To {
		if t.TheirID == e.RiverName.TheirID && t.Term == e.RiverName.Term &&
			(e.RiverName.Kind == rivers.Group && t.Kind == kinds.Group ||
				e.RiverName.Kind == rivers.Subfeed && t.Kind == kinds.Subfeed) {
			return t.ID
		}
	}
	return 0
}

// named lists the accounts that the shared parts name. A cached part is used again only while
// all of them have the same names.
func (e *Entry) named() []namedAs {
	f := e.Item.Fold
	ids := make([]int64, 0, 1+len(f.Comments.Shown)+len(e.Item.To))
	ids = append(ids, f.Text.Author)
	for i := range f.Comments.Shown {
		if author := f.Comments.Shown[i].Author; !e.Item.Hides(author) {
			ids = append(ids, author)
		}
	}
	ids = append(ids, e.foldedBy()...)
	for _, t := range e.Item.To {
		ids = append(ids, t.TheirID)
	}
	named := make([]namedAs, len(ids))
	for i, id := range ids {
		a := e.Account(id)
		named[i] = namedAs{name: a.Name, title: a.Title, picture: a.Picture}
	}
	for _, t := range e.Item.To {
		if t.Kind == kinds.Subfeed {
			named = append(named, namedAs{name: t.Term, title: e.subfeedTitle(e.subfeeds[t.ID])})
		}
	}
	return named
}

func (e *Entry) code() string { return e.Item.Fold.Text.Code }

// id names a part of the entry in the page.
func (e *Entry) id(part string) string { return "p-" + e.code() + "-" + part }

func (e *Entry) path() string { return "/p/" + e.code() }

func (e *Entry) author() timelines.Account { return e.Account(e.Item.Fold.Text.Author) }

// back is the address to which a form of this entry leads without river.js.
func (e *Entry) back() string {
	if e.PageAddress == "" {
		return e.path()
	}
	return e.PageAddress + "#p-" + e.code()
}

// destination is one of the places a post stands in, as its head names it.
type destination struct {
	who timelines.Account
	own bool // the author's own page
	// slug and title are those of a sub-feed of the author's, else empty.
	slug, title string
}

// destinations are the post's places that its head names. It does not name the author's page
// alone, the group or sub-feed alone whose page this is, the author's own side of a message,
// or the author's eyes (see onlyMe).
func (e *Entry) destinations() []destination {
	if len(e.Item.To) == 1 && e.Item.To[0].ID == e.here() {
		return nil
	}
	var to []destination
	own := false
	author := e.Item.Fold.Text.Author
	for _, t := range e.Item.To {
		switch {
		case t.Kind == kinds.Feed && t.TheirID == author:
			own = true
		case t.Kind == kinds.Directs && t.TheirID == author:
		case t.Kind == kinds.Eyes:
		case t.Kind == kinds.Subfeed:
			d := destination{who: e.Account(t.TheirID), slug: t.Term, title: t.Term}
			if f, ok := e.subfeeds[t.ID]; ok {
				d.title = e.subfeedTitle(f)
			}
			to = append(to, d)
		default:
			to = append(to, destination{who: e.Account(t.TheirID)})
		}
	}
	if own && len(to) > 0 {
		to = append([]destination{{who: e.author(), own: true}}, to...)
	}
	return to
}

// direct reports whether the post is a message: it stands only in people's messages.
func (e *Entry) direct() bool {
	for _, t := range e.Item.To {
		if t.Kind != kinds.Directs {
			return false
		}
	}
	return len(e.Item.To) > 0
}

// onlyMe reports whether nobody but the viewer reads the post.
func (e *Entry) onlyMe() bool {
	return len(e.Item.To) == 1 && e.Item.To[0].Kind == kinds.Eyes
}

// box is what the form for a comment on one post has of its own: the post's address, where the form
// leads back to, its key, and the id of its text.
type box struct{ place, back, key, id string }

// menuActs are all that the menu of a post may offer, in its order.
var menuActs = []string{"unhide", "hide", "unmute", "mute", "edit", "history", "edit#delete", "remove", "report", "moderate"}

// menu is what the menu of the post offers the viewer, of menuActs.
func (e *Entry) menu() []string {
	mine := e.isMe(e.Item.Fold.Text.Author)
	offers := map[string]bool{
		"unhide": e.Item.Hidden, "hide": !e.Item.Hidden && !mine,
		"unmute": e.Item.Muted, "mute": !e.Item.Muted,
		"edit": mine, "history": mine && e.Item.Fold.Text.EditedAt != 0, "edit#delete": mine,
		"remove": e.removable(), "report": !mine, "moderate": !mine && e.Sets.Staff(),
	}
	return slices.DeleteFunc(slices.Clone(menuActs), func(act string) bool { return !offers[act] })
}

// mayComment reports whether the viewer may comment: whether at least one place through which
// they read the post is not a group's that blocks them.
func (e *Entry) mayComment() bool {
	return e.signedIn() && (len(e.Item.To) == 0 || slices.ContainsFunc(e.Item.To, func(t timelines.Timeline) bool {
		return t.Kind != kinds.Group || !e.blockedBy(t.TheirID)
	}))
}

// removable reports whether the viewer may take another person's post out of a group.
func (e *Entry) removable() bool { return !e.isMe(e.Item.Fold.Text.Author) && e.inMyGroup() }

// fileTitle returns the name of an attachment, or its address if it has none.
func fileTitle(a rivers.Attachment) string {
	if a.Title != "" {
		return Unturned(a.Title)
	}
	return shownAddress(a.URL)
}

// MayEdit reports whether the viewer of the shared part may change the comment's text.
func (e *Entry) MayEdit(c *rivers.Comment) bool {
	return e.Rights.account != 0 && c.Author == e.Rights.account
}

// likesIt reports whether the viewer of the shared part likes the comment.
func (e *Entry) likesIt(c *rivers.Comment) bool {
	return e.Rights.account != 0 && slices.Contains(c.Likes.IDs, e.Rights.account)
}

// goesOn reports whether the i-th comment shown goes on where the one before it ended: it is
// by the same person, who is shown, and nothing is left out between them.
func (e *Entry) goesOn(i int) bool {
	if i == 0 || e.hidden(i) > 0 {
		return false
	}
	shown := e.Item.Fold.Comments.Shown
	return shown[i-1].Author == shown[i].Author
}

// commentLikeAct is what the button beside a comment does.
func (e *Entry) commentLikeAct(c *rivers.Comment) string {
	if e.likesIt(c) {
		return "unlike"
	}
	return "like"
}

// commentLikeTitle says what the button beside a comment does.
func (e *Entry) commentLikeTitle(c *rivers.Comment) string {
	if e.likesIt(c) {
		return e.Locale.T("entry.unlike")
	}
	return e.Locale.T("entry.like")
}

// commentLikes is the number of likes of a comment that the viewer of the shared part may
// know of.
func (e *Entry) commentLikes(c *rivers.Comment) int { return e.Item.CommentLikes(c).Total }

// MayDelete reports whether the viewer of the shared part may delete the comment: its author,
// the post's author, an administrator of a group that the post stands in.
func (e *Entry) MayDelete(c *rivers.Comment) bool {
	return e.Rights.moderates || e.MayEdit(c)
}

// hidden is how many comments the fold leaves out right before the i-th of those shown.
func (e *Entry) hidden(i int) int {
	c := e.Item.Fold.Comments
	if len(e.Item.Mentions) > 0 {
		return c.Shown[i].Skipped
	}
	if i != 1 {
		return 0
	}
	return max(c.Total-len(c.Shown), 0)
}

// foldedBy are a few people who wrote the comments that the fold leaves out, as far as the
// viewer sees them.
func (e *Entry) foldedBy() []int64 {
	return slices.DeleteFunc(slices.Clone(e.Item.Fold.Comments.Folded), e.Item.Hides)
}

// leftOutBy is foldedBy of the comments of a full fold from one up to and without another.
func (e *Entry) leftOutBy(from, to int) []int64 {
	const most = 8
	var by []int64
	for i := to - 1; i >= from && len(by) < most; i-- {
		author := e.Item.Fold.Comments.Shown[i].Author
		if !e.Item.Hides(author) && !slices.Contains(by, author) {
			by = append(by, author)
		}
	}
	return by
}

// FoldedLikes is how many likers a folded entry names when it cannot name all.
const FoldedLikes = 3

// likesShown is how many likers an entry names: on a post's own page all whom
// the fold knows.
func likesShown(full bool) int {
	if full {
		return rivers.MaxPeople
	}
	return FoldedLikes
}

// foldLikes decides who is named in a likes line: everybody if they are at most
// one more than shown, else as many as shown; the viewer first, then those the
// viewer follows, then the newest. others is how many more there are.
func foldLikes(me int64, sets *access.Sets, likes rivers.LikesFold, shown int) (named []int64, others int) {
	if len(likes.IDs) == 0 {
		return nil, likes.Total
	}
	limit := shown
	if likes.Total <= shown+1 {
		limit = shown + 1
	}
	named = make([]int64, 0, min(limit, len(likes.IDs)))
	rank := func(id int64) int {
		if id == me && me != 0 {
			return 0
		}
		if sets.Follows.Has(id) {
			return 1
		}
		return 2
	}
	for r := range 3 {
		for _, id := range likes.IDs {
			if len(named) == limit {
				break
			}
			if rank(id) == r {
				named = append(named, id)
			}
		}
	}
	return named, max(likes.Total-len(named), 0)
}

// A Component is a page or a part of one that has only to be written.
type Component = templ.Component

// Bytes writes a component that needs nothing from a request.
func Bytes(c templ.Component) ([]byte, error) {
	var b bytes.Buffer
	if err := c.Render(context.Background(), &b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
