package web

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
)

// entryParts is the HTML of one entry: the contents of those children of its
// <article> which a push may replace. Body and Comments are shared between
// viewers and come from the cache of rendered parts; the others are the
// viewer's own.
type entryParts struct {
	Why, Body, Acts, Likes, Comments []byte
	// veil is of what they were rendered from (see Server.veil), sums are of the parts,
	// but for what time it is.
	veil uint64
	sums [parts]uint64
}

var partSeed = maphash.MakeSeed()

// entryView is one entry as components see it.
type entryView struct {
	*present
	item *rivers.Item
	// rights decide the edit and delete links of the shared parts.
	rights rights
}

// withoutViewer returns e with everything about the viewer taken away but the
// rights, which are part of the shared parts' key.
func (e *entryView) withoutViewer() *entryView {
	p := *e.present
	p.viewer, p.sets, p.page, p.code = timelines.Viewer{}, &timelines.Sets{}, "", ""
	p.river = rivers.Name{Kind: p.river.Kind, TheirID: p.river.TheirID, Term: p.river.Term}
	return &entryView{present: &p, item: e.item, rights: e.special()}
}

// rights is what somebody may do in the shared parts of an entry: like comments,
// if signed in; change what that account wrote and take back what it likes; and,
// if it moderates, take away all comments.
type rights struct {
	account   int64 // 0: has no comment here and likes none
	member    bool  // signed in
	moderates bool
}

// special returns the viewer's rights in this entry: those of any member for
// nearly everybody, so that nearly everybody shares the parts rendered for them.
func (e *entryView) special() rights {
	me := e.viewer.AccountID
	if me == 0 {
		return rights{}
	}
	if e.item.Fold.Text.Author == me || e.inMyGroup() {
		return rights{account: me, member: true, moderates: true}
	}
	for i := range e.item.Fold.Comments.Shown {
		if c := &e.item.Fold.Comments.Shown[i]; c.Author == me || slices.Contains(c.Likes.IDs, me) {
			return rights{account: me, member: true}
		}
	}
	return rights{member: true}
}

func (e *entryView) inMyGroup() bool {
	return keepsOrder(e.item, e.sets)
}

// keepsOrder reports whether the viewer administers a group that the entry stands in.
func keepsOrder(it *rivers.Item, sets *timelines.Sets) bool {
	return slices.ContainsFunc(it.To, func(t timelines.Timeline) bool {
		_, administers := sets.Administers[t.TheirID]
		return t.Kind == timelines.KindGroup && administers
	})
}

func (e *entryView) sharedKey() sharedKey {
	to := make([]int64, len(e.item.To))
	for i, t := range e.item.To {
		to[i] = t.ID
	}
	return sharedKey{
		post: e.item.PostID, version: e.item.Stamp.Fold, full: e.item.Full,
		lang: e.loc.lang, rights: e.special(), to: idList(to), here: e.here(), veiled: idList(veiledComments(e.item)),
		mentions: idList(e.item.Mentions),
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

// veiledComments are those hidden people who wrote or like comments of the entry:
// the shared parts depend on them.
func veiledComments(it *rivers.Item) []int64 {
	if len(it.Veiled) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(it.Veiled), func(person int64) bool {
		return !slices.ContainsFunc(it.Fold.Comments.Shown, func(c rivers.Comment) bool {
			return c.Author == person || slices.Contains(c.Likes.IDs, person)
		})
	})
}

// here is the timeline of the group or sub-feed whose page the entry stands on, 0
// on other pages: a post that stands there only need not say so.
func (e *entryView) here() int64 {
	for _, t := range e.item.To {
		if t.TheirID == e.river.TheirID && t.Term == e.river.Term &&
			(e.river.Kind == rivers.Group && t.Kind == timelines.KindGroup ||
				e.river.Kind == rivers.Subfeed && t.Kind == timelines.KindSubfeed) {
			return t.ID
		}
	}
	return 0
}

// named lists the accounts as the shared parts name them: a part kept for
// others is used again only while all of them are called the same.
func (e *entryView) named() []namedAs {
	f := e.item.Fold
	ids := make([]int64, 0, 1+len(f.Comments.Shown)+len(e.item.To))
	ids = append(ids, f.Text.Author)
	for i := range f.Comments.Shown {
		if author := f.Comments.Shown[i].Author; !e.item.Hides(author) {
			ids = append(ids, author)
		}
	}
	for _, t := range e.item.To {
		ids = append(ids, t.TheirID)
	}
	named := make([]namedAs, len(ids))
	for i, id := range ids {
		a := e.account(id)
		named[i] = namedAs{name: a.Name, title: a.Title}
	}
	for _, t := range e.item.To {
		if t.Kind == timelines.KindSubfeed {
			named = append(named, namedAs{name: t.Term, title: e.subfeedTitle(e.subfeeds[t.ID])})
		}
	}
	return named
}

func (e *entryView) code() string { return e.item.Fold.Text.Code }

// id names a part of the entry in the page.
func (e *entryView) id(part string) string { return "p-" + e.code() + "-" + part }

func (e *entryView) path() string { return "/p/" + e.code() }

func (e *entryView) author() timelines.Account { return e.account(e.item.Fold.Text.Author) }

// back is where a form of this entry leads without river.js.
func (e *entryView) back() string {
	if e.page == "" {
		return e.path()
	}
	return e.page + "#p-" + e.code()
}

// destination is one of the places a post stands in, as its head names it.
type destination struct {
	who timelines.Account
	own bool // the author's own page
	// slug and title are those of a sub-feed of the author's, else empty.
	slug, title string
}

// destinations are where the post stands besides the obvious: its author's page
// alone, the group or sub-feed alone whose page this is, the author's own side of
// a direct message and what is for their eyes only (see onlyMe) are not spelt out.
func (e *entryView) destinations() []destination {
	if len(e.item.To) == 1 && e.item.To[0].ID == e.here() {
		return nil
	}
	var to []destination
	own := false
	author := e.item.Fold.Text.Author
	for _, t := range e.item.To {
		switch {
		case t.Kind == timelines.KindFeed && t.TheirID == author:
			own = true
		case t.Kind == timelines.KindDirects && t.TheirID == author:
		case t.Kind == timelines.KindEyes:
		case t.Kind == timelines.KindSubfeed:
			d := destination{who: e.account(t.TheirID), slug: t.Term, title: t.Term}
			if f, ok := e.subfeeds[t.ID]; ok {
				d.title = e.subfeedTitle(f)
			}
			to = append(to, d)
		default:
			to = append(to, destination{who: e.account(t.TheirID)})
		}
	}
	if own && len(to) > 0 {
		to = append([]destination{{who: e.author(), own: true}}, to...)
	}
	return to
}

// direct reports whether the post stands in people's directs only.
func (e *entryView) direct() bool {
	for _, t := range e.item.To {
		if t.Kind != timelines.KindDirects {
			return false
		}
	}
	return len(e.item.To) > 0
}

// onlyMe reports whether nobody but the viewer reads the post.
func (e *entryView) onlyMe() bool {
	return len(e.item.To) == 1 && e.item.To[0].Kind == timelines.KindEyes
}

// mayComment reports whether the viewer may comment: some place through which they
// read the post is not that of a group which blocks them.
func (e *entryView) mayComment() bool {
	return e.signedIn() && (len(e.item.To) == 0 || slices.ContainsFunc(e.item.To, func(t timelines.Timeline) bool {
		return t.Kind != timelines.KindGroup || !e.blockedBy(t.TheirID)
	}))
}

// removable reports whether the viewer may take somebody else's post out of a
// group.
func (e *entryView) removable() bool { return !e.isMe(e.item.Fold.Text.Author) && e.inMyGroup() }

// fileTitle is what an attachment is called, its address if it has no name.
func fileTitle(a rivers.Attachment) string {
	if a.Title != "" {
		return unturned(a.Title)
	}
	return shownAddress(a.URL)
}

// mayEdit reports whether the comment's text may be changed by whom the shared
// part is for.
func (e *entryView) mayEdit(c *rivers.Comment) bool {
	return e.rights.account != 0 && c.Author == e.rights.account
}

// likesIt reports whether whom the shared part is for likes the comment.
func (e *entryView) likesIt(c *rivers.Comment) bool {
	return e.rights.account != 0 && slices.Contains(c.Likes.IDs, e.rights.account)
}

// commentLikeLabel says what the button beside a comment does and how many like
// it.
func (e *entryView) commentLikeLabel(c *rivers.Comment) string {
	label := e.loc.T("comment.like")
	if e.likesIt(c) {
		label = e.loc.T("comment.unlike")
	}
	if n := e.commentLikes(c); n > 0 {
		label += ". " + e.loc.N("likes.total", n)
	}
	return label
}

// commentLikes is how many like a comment, as far as whom the shared part is for
// may know.
func (e *entryView) commentLikes(c *rivers.Comment) int { return e.item.CommentLikes(c).Total }

// mayDelete reports whether whom the shared part is for may take the comment
// away: its author, the post's, an administrator of a group the post stands in.
func (e *entryView) mayDelete(c *rivers.Comment) bool {
	return e.rights.moderates || e.mayEdit(c)
}

// hidden is how many comments the fold leaves out right before the i-th of those shown.
func (e *entryView) hidden(i int) int {
	c := e.item.Fold.Comments
	if len(e.item.Mentions) > 0 {
		return c.Shown[i].Skipped
	}
	if i != 1 {
		return 0
	}
	return max(c.Total-len(c.Shown), 0)
}

// foldedLikes is how many likers a folded entry names when it cannot name all.
const foldedLikes = 3

// likesShown is how many likers an entry names: on a post's own page all whom
// the fold knows.
func likesShown(full bool) int {
	if full {
		return rivers.MaxPeople
	}
	return foldedLikes
}

// foldLikes decides who is named in a likes line: everybody if they are at most
// one more than shown, else as many as shown; the viewer first, then those the
// viewer follows, then the newest. others is how many more there are.
func foldLikes(me int64, sets *timelines.Sets, likes rivers.LikesFold, shown int) (named []int64, others int) {
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
		if _, friend := sets.Follows[id]; friend {
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

// render writes a component that needs nothing from a request.
func render(c templ.Component) ([]byte, error) {
	var b bytes.Buffer
	if err := c.Render(context.Background(), &b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
