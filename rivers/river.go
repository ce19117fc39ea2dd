package rivers

import (
	"errors"
	"slices"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
	"riverrun/timelines/snapshot"
)

// Order is what a river is sorted by, newest first.
type Order string

const (
	// Fresh is the order of bumping.
	Fresh Order = "fresh"
	// Created is the order of the posts' creation.
	Created Order = "created"
)

// Name names a river: a page, its viewer, and its order. At most one live river exists per
// name.
type Name struct {
	// UserID is the viewer; 0 names the river that all anonymous visitors share.
	UserID int64
	Kind   Kind
	// TheirID is the owner of the page: an account for User, Subfeed, Likes, Comments and
	// Group; a post for Post; a list for List; 0 for the others.
	TheirID int64
	// Term is the mode of a Home or a List, the slug of a Subfeed, the tag of a Hashtag, the
	// language of an aggregate (empty for all), or the query of a Search in its canonical
	// form. Other kinds have none.
	Term  string
	Order Order
}

// Account returns the account whose page the river is, 0 if it is no account's. A
// sub-feed's page is its owner's.
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

// Above reports whether c stands above d. The top stands above everything but itself.
func (c Cursor) Above(d Cursor) bool {
	if c.Top() || d.Top() {
		return c != d && c.Top()
	}
	return c.Place > d.Place || c.Place == d.Place && c.PostID > d.PostID
}

// Stamp is the pair of versions that an entry was shown at. Entry decides place and
// overlay, Fold the text. Stamps compare only within one generation of a river.
type Stamp struct {
	Entry int64
	Fold  int64
}

// PageSize is how many entries a page shows.
const PageSize = 25

// Page is one page of a river as its viewer may see it. Everything in it has been decided
// against the viewer's access sets.
type Page struct {
	Name  Name
	River int64 // the generation's id
	Items []Item
	// More: older entries exist, or may exist. Next is where they begin.
	More bool
	Next Cursor
	// Beyond: some of the entries stand below the depth to which the river is kept.
	Beyond bool
	// Decision is the number of the decision, in this process. Two pages of one number have the same items,
	// decided with the same sets at the same clock of access. 0: nobody else has it.
	Decision uint64
	// Began is when the first deciding statement was sent. The page knows every change
	// acknowledged before.
	Began time.Time
	// Sets are the access sets that the page was decided with, and At is the moment.
	Sets *access.Sets
	At   Moment
	// Label is what the viewer's notifications were at that moment; see Unread.
	Label notices.Label
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
	// Why are the river's timelines that bring the post here, in order of entrance. The
	// viewer may read all of them.
	Why []timelines.Timeline
	// To are the post's destinations that this viewer may know of. Subfeeds are the sub-feeds
	// among them, with their titles at that moment.
	To       []timelines.Timeline
	Subfeeds []timelines.Subfeed
	// Liked: the viewer likes it. Faved: the viewer keeps it.
	Liked, Faved bool
	// Hidden: the viewer hides the post, and sees it because this page shows hidden posts
	// too.
	Hidden bool
	// Muted: the viewer gets no notifications of the post.
	Muted bool
	// Notice is set among notifications: why the post is there.
	Notice *Notice
	// Mentions are the ids of the comments that mention the viewer and are shown whole on the
	// page of mentions. Fold is then the viewer's own copy.
	Mentions []int64
	// HiddenUsers are the ids of the people in the fold whom this viewer does not see, in
	// order. See Hides.
	HiddenUsers []int64
}

// Hides reports whether the viewer does not see the person. A comment of such a person is
// counted and leaves a nameless placeholder, so that the conversation still reads; a like
// is neither named nor counted.
func (it *Item) Hides(person int64) bool {
	_, hidden := slices.BinarySearch(it.HiddenUsers, person)
	return hidden
}

// CommentersOverflow reports whether HiddenUsers may lack some people whose comments are
// folded away, because many people commented.
func (it *Item) CommentersOverflow() bool { return len(it.Fold.Comments.IDs) >= MaxPeople }

// LikersFolded reports whether HiddenUsers may lack people who like comments that are
// folded away.
func (it *Item) LikersFolded() bool {
	c := &it.Fold.Comments
	return c.Likers == nil && c.Total > len(c.Shown)
}

// Likes returns the post's likes that the viewer may know of.
func (it *Item) Likes() LikesFold { return it.withoutHidden(it.Fold.Likes) }

// CommentLikes returns the likes of one of the fold's comments that the viewer may know of.
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
	// Epoch is that of the store when the fold was asked for. Folds of one post and version are
	// the same only within it.
	Epoch int64 `json:"-" db:"-"`
}

// Text is the post itself.
type Text struct {
	Code      string `json:"code"`
	Author    int64  `json:"author"`
	Body      string `json:"body"`
	Cut       bool   `json:"cut,omitempty"`    // Body is only the beginning
	Markup    bool   `json:"markup,omitempty"` // Body is read as markup (timelines/markup)
	CreatedAt int64  `json:"created"`          // microseconds
	EditedAt  int64  `json:"edited,omitempty"` // microseconds, 0 never
	Via       string `json:"via,omitempty"`
	ViaURL    string `json:"via_url,omitempty"`
	// Place is where it was made, or what it tells of, as its source says.
	Place string `json:"place,omitempty"`
	// Card is what the page of the first link says of itself, or nil.
	Card *Card `json:"card,omitempty"`
	// Listing is what the post offers, or nil.
	Listing *Listing `json:"listing,omitempty"`
	// Held says that the post waits for approval (HeldWaiting) or is blocked (HeldBlocked): only its author reads it.
	Held Held `json:"held,omitempty"`
}

// Held is why only the author reads a post, or empty.
type Held string

// The reasons.
const (
	HeldWaiting Held = "waiting"
	HeldBlocked Held = "blocked"
)

// Listing is what a listing offers.
type Listing snapshot.Listing

// Card is what a page says of itself.
type Card snapshot.Card

// LikesFold holds the ids of the people who like a post or a comment, newest first, up to
// MaxPeople.
type LikesFold struct {
	Total int     `json:"n"`
	IDs   []int64 `json:"ids"`
}

// CommentsFold holds the comments that a folded entry shows: all if there are at most
// three, or the first and the last two. On a full fold it holds all.
type CommentsFold struct {
	Total int       `json:"n"`
	Shown []Comment `json:"shown"`
	// IDs are the distinct commenters, up to MaxPeople.
	IDs []int64 `json:"ids"`
	// EditedAt is when one of the comments was last edited, 0 for never. FoldedLikes counts
	// the likes of comments that are folded away, and Likers are the ids of those who like
	// them, for readers who unfold them. Both are unset if there are very many.
	EditedAt    int64   `json:"edited,omitempty"`
	FoldedLikes int     `json:"likes"`
	Likers      []int64 `json:"likers"`
	// Folded are a few of the people who wrote the comments that are folded away, those first
	// who wrote last. On the page of mentions it is unset where a mention is unfolded.
	Folded []int64 `json:"from,omitempty"`
	// Recent are the authors and instants of the last comments, oldest first, up to MaxRecent.
	// A full fold has none: it has the comments.
	Recent []RecentComment `json:"recent,omitempty"`
	// Marks are the timelines that the texts of the post and its comments name by tags and
	// @names. It is nil if there are very many.
	Marks []Mark `json:"marks"`
}

// RecentComment says who made a comment and when, in microseconds.
type RecentComment struct {
	By int64 `json:"by"`
	At int64 `json:"at"`
}

// MaxRecent is how many of the last comments a fold knows the authors and instants of. By these
// a page counts what is new to its viewer.
const MaxRecent = 30

// Mark is a tag's or a person's timeline that a text names, and the author of that text.
type Mark struct {
	Timeline int64 `json:"t"`
	Author   int64 `json:"by"`
}

// Comment is one comment within a fold.
type Comment struct {
	ID        int64  `json:"id"`
	Author    int64  `json:"author"`
	Body      string `json:"body"`
	Cut       bool   `json:"cut,omitempty"`    // Body is only the beginning
	Markup    bool   `json:"markup,omitempty"` // as Text.Markup
	CreatedAt int64  `json:"created"`
	EditedAt  int64  `json:"edited,omitempty"`
	Via       string `json:"via,omitempty"`
	// Likes are the likes of the comment.
	Likes    LikesFold    `json:"likes"`
	Attached []Attachment `json:"files,omitempty"`
	// Marks are the timelines to which the comment's tags and @names bring the post. Only
	// full folds have them.
	Marks []int64 `json:"-"`
	// Skipped is how many comments are folded away right before this one, on a fold that
	// shows mentions (see Item.Mentions).
	Skipped int `json:"-"`
}

// Attachment is a link to a file that stands elsewhere, or an upload, which has a Code.
type Attachment struct {
	URL   string `json:"url,omitempty"`
	Title string `json:"title"`
	Bytes int64  `json:"bytes,omitempty"`
	// The rest is of uploads; see timelines/files.
	Code  string `json:"code,omitempty"`
	State string `json:"state,omitempty"`
	// Type, Alt, Blurhash, and Width and Height in pixels are of a picture.
	Type     string `json:"type,omitempty"`
	Alt      string `json:"alt,omitempty"`
	Blurhash string `json:"blurhash,omitempty"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
}

// MaxPeople is how many ids of likers and commenters a fold keeps, how many likers of each
// comment, and how many marks. Where a post with more of them stands, the primary store is
// asked (see overflow.go).
const MaxPeople = 1000

// These are the errors of a visit.
var (
	// ErrForbidden: this viewer may not open the page, but may know that it exists (a private
	// account's page).
	ErrForbidden = errors.New("page is private")
	// ErrNotFound: there is no such page, or this viewer may not know of it.
	ErrNotFound = errors.New("no such page")
	// ErrSignInNeeded: only people who are signed in have this page.
	ErrSignInNeeded = errors.New("sign in first")
)
