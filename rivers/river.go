package rivers

import (
	"errors"
	"slices"
	"time"

	"riverrun/timelines"
)

// Order is what a river is sorted by, newest first.
type Order string

const (
	// Fresh is the order of bumping.
	Fresh Order = "fresh"
	// Created is the order of the posts' creation.
	Created Order = "created"
)

// Name names a river: whose view of which page in which order. At most one live
// river exists per name.
type Name struct {
	// UserID is the viewer; 0 names the river all anonymous visitors share.
	UserID int64
	Kind   Kind
	// TheirID is whose page it is: an account for User, Subfeed, Likes, Comments,
	// Group; a post for Post; a list for List; else 0.
	TheirID int64
	// Term is the mode of a Home or a List; the slug of a Subfeed; a hashtag's; the
	// language of an aggregate, or empty for all; the query of a Search in its
	// canonical form; else empty.
	Term  string
	Order Order
}

// Account is whose page the river is of, 0 if of no account's. A sub-feed's page is
// its owner's.
func (n Name) Account() int64 {
	if specs[n.Kind].page.isAccounts() {
		return n.TheirID
	}
	return 0
}

// Cursor is a place between two entries: everything strictly older than (Place,
// PostID) in the river's order follows it. The zero Cursor is the top.
type Cursor struct {
	Place  int64 // microseconds
	PostID int64
}

// Top reports whether c stands above all entries.
func (c Cursor) Top() bool { return c == Cursor{} }

// Above reports whether c stands above d: newer, or the top, and d is not.
func (c Cursor) Above(d Cursor) bool {
	if c.Top() || d.Top() {
		return c != d && c.Top()
	}
	return c.Place > d.Place || c.Place == d.Place && c.PostID > d.PostID
}

// Stamp is the pair of versions an entry was shown at: Entry decides place and
// overlay, Fold the text. Stamps compare only within one river id.
type Stamp struct {
	Entry int64
	Fold  int64
}

// PageSize is how many entries a page shows.
const PageSize = 25

// Page is one page of a river as its viewer may see it: everything in it has
// been decided against the viewer's access sets.
type Page struct {
	Name  Name
	River int64 // the generation's id
	Items []Item
	// More: older entries exist, or may. Next is where they begin.
	More bool
	Next Cursor
	// Beyond: some of it stands below the depth to which the river is kept.
	Beyond bool
	// Began is when the statement was sent that the decision begins with: it knows every
	// change that was acknowledged before.
	Began time.Time
	// Sets are the access sets the page was decided with, At is when.
	Sets *timelines.Sets
	At   Moment
}

// Item is one entry on a page.
type Item struct {
	PostID int64
	Place  int64 // microseconds; the river's order is (Place, PostID) descending
	Stamp  Stamp
	// Fold is shared by all viewers and must not be changed.
	Fold *Fold
	// Full is set on post pages: Fold carries all comments and the whole text.
	Full bool
	// Why are the river's timelines through which the post is here, readable ones
	// only, in order of entrance.
	Why []timelines.Timeline
	// To are the post's destinations as far as this viewer may know them. Subfeeds are
	// those of them that are sub-feeds, with what they were called when that was decided.
	To       []timelines.Timeline
	Subfeeds []timelines.Subfeed
	// Liked: the viewer likes it. Faved: the viewer keeps it.
	Liked, Faved bool
	// Hidden: the viewer hides the post, and sees it because this page shows hidden
	// ones too.
	Hidden bool
	// Mentions are the comments that mention the viewer and are unfolded on the page of
	// mentions, whole, by id. Fold is then the viewer's own copy.
	Mentions []int64
	// HiddenUsers are those of the people in the fold whom this viewer does not see, by
	// id. See Hides.
	HiddenUsers []int64
}

// Hides reports whether the viewer does not see the person: a comment of theirs is
// counted and leaves a nameless placeholder, so that a conversation still reads; a
// like is neither named nor counted.
func (it *Item) Hides(person int64) bool {
	_, hidden := slices.BinarySearch(it.HiddenUsers, person)
	return hidden
}

// CommentersOverflow reports whether so many commented that HiddenUsers may lack some who are folded
// away.
func (it *Item) CommentersOverflow() bool { return len(it.Fold.Comments.IDs) >= MaxPeople }

// LikersFolded reports whether HiddenUsers may lack some who like comments that are folded away.
func (it *Item) LikersFolded() bool {
	c := &it.Fold.Comments
	return c.Likers == nil && c.Total > len(c.Shown)
}

// Likes are the post's likes as the viewer may know of them.
func (it *Item) Likes() LikesFold { return it.withoutHidden(it.Fold.Likes) }

// CommentLikes are the likes of one of the fold's comments as the viewer may know
// of them.
func (it *Item) CommentLikes(c *Comment) LikesFold { return it.withoutHidden(c.Likes) }

func (it *Item) withoutHidden(l LikesFold) LikesFold {
	if len(it.HiddenUsers) == 0 || !slices.ContainsFunc(l.IDs, it.Hides) {
		return l
	}
	seen := slices.DeleteFunc(slices.Clone(l.IDs), it.Hides)
	return LikesFold{Total: l.Total - (len(l.IDs) - len(seen)), IDs: seen}
}

// Fold is the denormalised form of a post as pages need it, the same for all
// viewers: long parts folded, people by id only. It is immutable once made.
type Fold struct {
	PostID   int64        `json:"post_id"`
	Version  int64        `json:"version"`
	Deleted  bool         `json:"deleted"`
	Decisive []int64      `json:"decisive"` // the post's decisive timelines
	Text     Text         `json:"text_folded" db:"text_folded"`
	Likes    LikesFold    `json:"likes_folded" db:"likes_folded"`
	Faves    int          `json:"faves"` // how many keep it; nobody else learns who does
	Comments CommentsFold `json:"comments_folded" db:"comments_folded"`
	Attached []Attachment `json:"attachments_folded" db:"attachments_folded"`
}

// Text is the post itself.
type Text struct {
	Code      string `json:"code"`
	Author    int64  `json:"author"`
	Body      string `json:"body"`
	Cut       bool   `json:"cut,omitempty"`    // Body is only the beginning
	CreatedAt int64  `json:"created"`          // microseconds
	EditedAt  int64  `json:"edited,omitempty"` // microseconds, 0 never
	Via       string `json:"via,omitempty"`
	ViaURL    string `json:"via_url,omitempty"`
}

// LikesFold holds who likes a post or a comment, newest first, up to MaxPeople
// ids.
type LikesFold struct {
	Total int     `json:"n"`
	IDs   []int64 `json:"ids"`
}

// CommentsFold holds the comments a folded entry shows: all if at most
// three, else the first and the last two. On a full fold it holds all.
type CommentsFold struct {
	Total int       `json:"n"`
	Shown []Comment `json:"shown"`
	// IDs are the distinct commenters, up to MaxPeople.
	IDs []int64 `json:"ids"`
	// EditedAt is when the last edit of any of them was, 0 never. FoldedLikes are likes of
	// comments that are folded away, Likers by whom, for the readers who unfold them: unset
	// and nil if that is very much, and on JSON of before there was any.
	EditedAt    int64   `json:"edited,omitempty"`
	FoldedLikes int     `json:"likes"`
	Likers      []int64 `json:"likers"`
	// Marks are what the post's texts, its own and the comments, name with tags and
	// @names. It is nil if that is very much, and on JSON of before there was any.
	Marks []Mark `json:"marks"`
}

// Mark is a tag's or a person's timeline that a text names, and who wrote that.
type Mark struct {
	Timeline int64 `json:"t"`
	Author   int64 `json:"by"`
}

// Comment is one comment within a fold.
type Comment struct {
	ID        int64  `json:"id"`
	Author    int64  `json:"author"`
	Body      string `json:"body"`
	Cut       bool   `json:"cut,omitempty"` // Body is only the beginning
	CreatedAt int64  `json:"created"`
	EditedAt  int64  `json:"edited,omitempty"`
	Via       string `json:"via,omitempty"`
	// Likes are those of the comment. On JSON of before there were any it is zero.
	Likes LikesFold `json:"likes"`
	// Marks are the timelines that its tags and @names bring the post to; on full folds
	// only.
	Marks []int64 `json:"-"`
	// Skipped is how many comments are folded away right before this one, on a fold with
	// mentions unfolded; see Item.Mentions.
	Skipped int `json:"-"`
}

// Attachment is a link to a file that stands elsewhere.
type Attachment struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Bytes int64  `json:"bytes,omitempty"`
}

// MaxPeople is how many likers' and commenters' ids a fold keeps, and how many
// likers' of each comment; and how many marks. Where a post with more stands is
// asked of the primary store (see crowd.go).
const MaxPeople = 1000

// Errors of a visit.
var (
	// ErrForbidden: the page may not be opened by this viewer, who may know that
	// it exists (a private account's pages).
	ErrForbidden = errors.New("page is private")
	// ErrNotFound: there is no such page, or this viewer may not know of it.
	ErrNotFound = errors.New("no such page")
	// ErrSignInNeeded: only a signed-in account has this page.
	ErrSignInNeeded = errors.New("sign in first")
)
