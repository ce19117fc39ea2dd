package snapshot

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// Content is what a fold is made of: a post with its likes, comments and attachments as of
// one snapshot, the same for all viewers. Its fields are named like the columns of
// contentColumns.
type Content struct {
	PostID    int64
	Version   int64
	Deleted   bool
	Decisive  []int64
	Code      string
	AuthorID  int64
	Body      string // at most as many characters and lines as asked for
	BodyCut   bool
	Markup    bool  // Body is read as markup
	CreatedAt int64 // microseconds
	EditedAt  int64 // microseconds, 0 never
	Via       string
	ViaURL    string
	Place     string
	Likes     int     // all likers
	LikerIDs  []int64 // newest first, bounded
	Faves     int     // all who keep it
	Comments  int     // all comments not deleted
	// CommentsEditedAt is when one of the comments was last edited, in microseconds; 0 never.
	CommentsEditedAt int64
	// CommenterIDs are distinct and bounded.
	CommenterIDs []int64
	Shown        []ShownComment // oldest first
	// Recent are the authors and instants of the last comments, oldest first, as many as the
	// depth asks for.
	Recent []RecentComment
	// FoldedLikes counts the likes of comments if some comments are not Shown, and
	// FoldedLikerIDs are the distinct people who gave them. Both are unset if there are very
	// many, or very many comments.
	FoldedLikes    int
	FoldedLikerIDs []int64
	// FoldedAuthorIDs are distinct people who wrote the comments that are not Shown, at most
	// foldedAuthors, those first who wrote last.
	FoldedAuthorIDs []int64
	// Marked are the timelines to which tags and @names bring the post, each with the authors
	// of those texts; nil if there are very many.
	Marked   []Marked
	Attached []Attached
	// Card is what the page of the post's first link says of itself; nil if it says nothing.
	Card *Card
	// Listing is what the post offers; nil if it is no listing.
	Listing *Listing
	// Held: it waits for approval, or is blocked (publishing.Status).
	Held string
}

// Marked is a tag's or a person's timeline that a text of the post names, and the text's
// author.
type Marked struct {
	Timeline int64 `json:"timeline"`
	Author   int64 `json:"author"`
}

// RecentComment says who made a comment and when, in microseconds.
type RecentComment struct {
	By int64 `json:"by"`
	At int64 `json:"at"`
}

// ShownComment is a comment in a Content; instants are in microseconds. Its JSON names are
// those of the rows aggregated in SQL.
type ShownComment struct {
	ID        int64  `json:"id"`
	AuthorID  int64  `json:"author_id"`
	Body      string `json:"body"`
	BodyCut   bool   `json:"body_cut"`
	Markup    bool   `json:"markup"`
	CreatedAt int64  `json:"created_at"`
	EditedAt  int64  `json:"edited_at"`
	Via       string `json:"via"`
	// Likes counts all who like it. LikerIDs names them, newest first and bounded.
	Likes    int     `json:"likes"`
	LikerIDs []int64 `json:"liker_ids"`
	// Marks are the timelines to which its tags and @names bring the post, if the Depth asks
	// for them.
	Marks    []int64    `json:"marks"`
	Attached []Attached `json:"attached"`
}

// Attached is an attachment in a Content: a link to a file elsewhere, or an upload.
type Attached struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Bytes int64  `json:"bytes"`
	// The rest is of uploads (timelines/files): Code and State always, and what a picture has.
	Code     string `json:"code"`
	State    string `json:"state"`
	Type     string `json:"type"`
	Alt      string `json:"alt"`
	Blurhash string `json:"blurhash"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
}

// Card is what a page says of itself.
type Card struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	About string `json:"about,omitempty"`
	Site  string `json:"site,omitempty"`
	Host  string `json:"host"`
	// Width and Height are those of its picture in pixels, 0 if it has none.
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Type     string `json:"type,omitempty"`
	Blurhash string `json:"blurhash,omitempty"`
}

// Listing is what a listing offers (package listings). Prices are hundredths of the currency, and Until is
// the end of its last day, in microseconds.
type Listing struct {
	Price     *int64 `json:"price,omitempty"`
	Currency  string `json:"currency"`
	Place     string `json:"place,omitempty"`
	Condition string `json:"condition"`
	Until     int64  `json:"until"`
	State     string `json:"state"`
	How       string `json:"how,omitempty"`
	Paid      *int64 `json:"paid,omitempty"`
}

// uploads makes the JSON of the uploads f that a condition selects, in their order. The size
// and the type are those of what is fetched: the picture, or the file as it came.
func uploads(where string) string {
	return `(SELECT coalesce(jsonb_agg(jsonb_build_object('code', f.code, 'state', f.state, 'title', f.name, 'alt', f.alt,
			'blurhash', f.blurhash, 'width', f.width, 'height', f.height, 'bytes', coalesce(b.bytes, f.bytes), 'type', coalesce(b.type, ''))
			ORDER BY f.position, f.id), '[]')
		FROM files f LEFT JOIN file_blobs b ON b.file_id = f.id AND b.size = CASE f.state WHEN 'picture' THEN 'full' ELSE 'upload' END
		WHERE ` + where + `)`
}

var (
	postUploads    = uploads(`f.post_id = p.id AND f.comment_id IS NULL`)
	commentUploads = uploads(`f.comment_id = s.id`)
)

// Depth says how much of a post a Content carries.
type Depth struct {
	BodyRunes    int // longest body, in characters
	BodyLines    int // and in lines (FirstLines)
	CommentRunes int // longest comment
	CommentLines int
	First, Last  int  // comments from the beginning and from the end
	Recent       int  // comments that are read for author and instant alone
	Marks        bool // of each comment
	People       int  // ids of likers, of commenters, and of comments' likers; marks; comments looked at for likers
}

// foldedLikes is how many likes of folded comments are read at most.
func (d Depth) foldedLikes() int { return 4 * d.People }

// foldedAuthors is how many authors of folded comments are named, and foldedLooked how many
// of these comments are looked at for them.
const (
	foldedAuthors = 8
	foldedLooked  = 100
)

// Contents reads these posts, by id, in one statement. A post that does not
// exist is absent; a deleted one has Deleted set and nothing else but its
// stamp.
func (sn *Snapshot) Contents(ctx context.Context, posts []int64, d Depth) (map[int64]*Content, error) {
	batch := &pgx.Batch{}
	contents := queueContents(batch, posts, d)
	if err := sn.tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read contents: %w", err)
	}
	return contents, nil
}

// contentColumns, contentJoins and contentWhere make the statement of Contents.
var contentColumns = `p.id AS post_id, p.version, p.deleted_at IS NOT NULL AS deleted, p.decisive, p.code, p.author_id,
		left(p.body, @body_runes) AS body, length(p.body) > @body_runes AS body_cut, p.markup, p.via, p.via_url, p.place,
		(extract(epoch FROM p.created_at) * 1000000)::bigint AS created_at,
		coalesce((extract(epoch FROM p.edited_at) * 1000000)::bigint, 0) AS edited_at,
		CASE p.status WHEN 1 THEN 'waiting' WHEN 2 THEN 'blocked' ELSE '' END AS held,
		(SELECT count(*) FROM likes l WHERE l.post_id = p.id) AS likes,
		ARRAY(SELECT l.account_id FROM likes l WHERE l.post_id = p.id
			ORDER BY l.created_at DESC, l.account_id DESC LIMIT @people) AS liker_ids,
		(SELECT count(*) FROM faves f WHERE f.post_id = p.id) AS faves,
		talk.comments, talk.edited_at AS comments_edited_at,
		ARRAY(SELECT DISTINCT c.author_id FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL
			ORDER BY c.author_id LIMIT @people) AS commenter_ids,
		(SELECT coalesce(jsonb_agg(jsonb_build_object(
				'id', s.id, 'author_id', s.author_id, 'body', left(s.body, @comment_runes),
				'body_cut', length(s.body) > @comment_runes, 'markup', s.markup,
				'created_at', (extract(epoch FROM s.created_at) * 1000000)::bigint,
				'edited_at', coalesce((extract(epoch FROM s.edited_at) * 1000000)::bigint, 0),
				'via', s.via,
				'likes', (SELECT count(*) FROM comment_likes l WHERE l.comment_id = s.id),
				'liker_ids', ARRAY(SELECT l.account_id FROM comment_likes l WHERE l.comment_id = s.id
					ORDER BY l.created_at DESC, l.account_id DESC LIMIT @people),
				'marks', CASE WHEN @marks THEN ARRAY(SELECT m.timeline_id FROM text_marks m
					WHERE m.post_id = p.id AND m.comment_id = s.id) END,
				'attached', ` + commentUploads + `) ORDER BY s.created_at, s.id), '[]')
		FROM (
			(SELECT * FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL
				ORDER BY c.created_at, c.id LIMIT @first)
			UNION
			(SELECT * FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL
				ORDER BY c.created_at DESC, c.id DESC LIMIT @last)) s) AS shown,
		(SELECT coalesce(jsonb_agg(jsonb_build_object('by', r.author_id, 'at', (extract(epoch FROM r.created_at) * 1000000)::bigint)
			ORDER BY r.created_at, r.id), '[]')
		FROM (SELECT c.id, c.author_id, c.created_at FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL
			ORDER BY c.created_at DESC, c.id DESC LIMIT @recent) r) AS recent,
		folded.likes AS folded_likes, folded.liker_ids AS folded_liker_ids,
		ARRAY(SELECT w.author_id
			FROM (SELECT c.author_id, row_number() OVER () AS place
				FROM (SELECT c.author_id FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL
					ORDER BY c.created_at DESC, c.id DESC
					OFFSET @last LIMIT least(greatest(talk.comments - @first - @last, 0), @folded_looked)) c) w
			GROUP BY w.author_id ORDER BY min(w.place) LIMIT @folded_authors) AS folded_author_ids,
		(SELECT CASE count(*) WHEN 0 THEN '[]' WHEN @people THEN NULL ELSE jsonb_agg(jsonb_build_object(
			'timeline', m.timeline_id, 'author', m.author_id) ORDER BY m.timeline_id, m.author_id) END
		FROM (SELECT DISTINCT m.timeline_id, coalesce(c.author_id, p.author_id) AS author_id
			FROM text_marks m LEFT JOIN comments c ON c.id = m.comment_id
			WHERE m.post_id = p.id LIMIT @people) m) AS marked,
		(SELECT coalesce(jsonb_agg(jsonb_build_object('url', a.url, 'title', a.title, 'bytes', a.bytes)
			ORDER BY a.position), '[]') FROM attachments a WHERE a.post_id = p.id) || ` + postUploads + ` AS attached,
		(SELECT jsonb_build_object('url', l.url, 'title', l.title, 'about', l.about, 'site', l.site, 'host', l.host,
				'width', l.width, 'height', l.height, 'type', l.type, 'blurhash', l.blurhash)
			FROM post_links k JOIN links l ON l.id = k.link_id WHERE k.post_id = p.id AND l.host <> '') AS card,
		(SELECT jsonb_build_object('price', l.price, 'currency', l.currency, 'place', l.place, 'condition', l.condition,
				'until', (extract(epoch FROM l.until_at) * 1000000)::bigint, 'state', l.state, 'how', coalesce(l.how, ''), 'paid', l.sold_price)
			FROM listings l WHERE l.post_id = p.id) AS listing`

const (
	contentJoins = `
	FROM posts p
	CROSS JOIN LATERAL (
		SELECT count(*) AS comments, coalesce((extract(epoch FROM max(c.edited_at)) * 1000000)::bigint, 0) AS edited_at
		FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL) talk
	CROSS JOIN LATERAL (
		SELECT count(*) AS likes, coalesce(array_agg(DISTINCT l.account_id), '{}') AS liker_ids
		FROM (
			SELECT l.account_id
			FROM (SELECT c.id FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL
				AND talk.comments BETWEEN @first::bigint + @last + 1 AND @people) c
			JOIN comment_likes l ON l.comment_id = c.id LIMIT @likes) l) folded`
	contentWhere = ` WHERE p.id = ANY(@posts)`
)

func contentArgs(posts []int64, d Depth) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{
		"posts": posts, "body_runes": d.BodyRunes, "comment_runes": d.CommentRunes,
		"first": d.First, "last": d.Last, "recent": d.Recent, "people": d.People, "likes": d.foldedLikes(), "marks": d.Marks,
		"folded_looked": foldedLooked, "folded_authors": foldedAuthors,
	}
}

// queueContents adds the statement of Contents to a batch, which fills the map.
func queueContents(batch *pgx.Batch, posts []int64, d Depth) map[int64]*Content {
	found := make(map[int64]*Content, len(posts))
	batch.Queue(`SELECT `+contentColumns+contentJoins+contentWhere, contentArgs(posts, d)).Query(func(rows pgx.Rows) error {
		contents, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[Content])
		for _, c := range contents {
			found[c.PostID] = c.finish(d)
		}
		return err
	})
	return found
}

// finish does what the statement could not.
func (c *Content) finish(d Depth) *Content {
	if c.Deleted {
		c = &Content{PostID: c.PostID, Version: c.Version, Deleted: true, Code: c.Code}
	}
	c.cut(d)
	return c
}

// cut cuts off what the depth does not allow, as far as the statement could not.
func (c *Content) cut(d Depth) {
	c.Body, c.BodyCut = cutLines(c.Body, d.BodyLines, c.BodyCut)
	for i := range c.Shown {
		said := &c.Shown[i]
		said.Body, said.BodyCut = cutLines(said.Body, d.CommentLines, said.BodyCut)
	}
	if c.Comments > d.First+d.Last && c.Comments > d.People || c.FoldedLikes == d.foldedLikes() {
		c.FoldedLikes, c.FoldedLikerIDs = 0, nil
	}
}

// cutLines cuts a body after some lines. The second result says whether anything is
// missing, as cut did before.
func cutLines(body string, lines int, cut bool) (string, bool) {
	first := FirstLines(body, lines)
	return first, cut || len(first) < len(body)
}

// FirstLines returns the beginning of a text that shows as at most n lines, if no line is
// too wide. A blank line counts as one, but several in a row are shown as one, and those at
// the beginning not at all.
func FirstLines(text string, n int) string {
	shown, blank := 0, true
	for from := 0; from < len(text); {
		to := len(text)
		if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
			to = from + i
		}
		was := blank
		if blank = strings.Trim(text[from:to], " \t") == ""; !blank || !was {
			shown++
		}
		if shown > n {
			return strings.TrimRightFunc(text[:from], unicode.IsSpace)
		}
		from = to + 1
	}
	return text
}
