package exports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/rights"
)

// Post is a post of the archive's owner.
type Post struct {
	ID           int64         `json:"-"`
	Code         string        `json:"code"`
	At           time.Time     `json:"at"`
	EditedAt     *time.Time    `json:"edited_at,omitempty"`
	Text         string        `json:"text"`
	Language     string        `json:"language,omitempty"`
	Place        string        `json:"place,omitempty"`
	Via          string        `json:"via,omitempty"`
	ViaURL       string        `json:"via_url,omitempty"`
	Destinations []Destination `json:"destinations"`
	Links        []Link        `json:"links,omitempty"`
	Files        []File        `json:"files,omitempty"`
	Likes        int64         `json:"likes"`
	Listing      *Listing      `json:"listing,omitempty"`
}

// Listing is what a post offers. Prices are in hundredths of the currency.
type Listing struct {
	Price     *int64     `json:"price"`
	Currency  string     `json:"currency"`
	Place     string     `json:"place"`
	Condition string     `json:"condition"`
	Until     time.Time  `json:"until"`
	State     string     `json:"state"`
	How       *string    `json:"how,omitempty"`
	Paid      *int64     `json:"paid,omitempty"`
	ClosedAt  *time.Time `json:"closed_at,omitempty"`
}

// Destination is where a post stands: a timeline of that kind. Name and Title are those of a group, of
// the recipient of a direct message, or of the feed.
type Destination struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Title string `json:"title"`
}

// Link is an attachment of a post that stands elsewhere.
type Link struct {
	URL   string `json:"url"`
	Title string `json:"title"`
}

// File is an upload of the owner. Path is its place in the archive.
type File struct {
	Path    string `json:"path"`
	Name    string `json:"name"`
	Alt     string `json:"alt,omitempty"`
	Picture bool   `json:"picture"`
}

// Comment is one that somebody wrote under a post of the owner.
type Comment struct {
	PostID   int64      `json:"-"`
	Name     string     `json:"name"`
	Title    string     `json:"title"`
	At       time.Time  `json:"at"`
	EditedAt *time.Time `json:"edited_at,omitempty"`
	Text     string     `json:"text"`
}

// PostIDs returns the ids of all posts of an account, the newest first.
func (s *Store) PostIDs(ctx context.Context, account int64) ([]int64, error) {
	rows, err := s.timelines.Pool().Query(ctx, `
		SELECT id FROM posts WHERE author_id = @account AND deleted_at IS NULL ORDER BY created_at DESC, id DESC`,
		pgx.StrictNamedArgs{"account": account})
	if err != nil {
		return nil, fmt.Errorf("list posts of an archive: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("list posts of an archive: %w", err)
	}
	return ids, nil
}

// original is the blob b of a file f from which the least is lost. An upload that became a picture is
// not kept as it came.
const original = `CROSS JOIN LATERAL (
	SELECT b.* FROM file_blobs b WHERE b.file_id = f.id
	ORDER BY array_position(ARRAY['upload', 'full', 'avatar-large', 'medium', 'avatar-small', 'thumb'], b.size) LIMIT 1) b`

// path is where the original b of a file f stands in an archive. Its name is made of what we chose:
// a name that people gave may mean anything to another system.
const path = `'files/' || f.code || CASE WHEN b.size = 'upload' THEN coalesce(substring(lower(f.name) FROM '\.[a-z0-9]{1,8}$'), '')
	ELSE '.' || split_part(b.type, '/', 2) END`

// filesOf are the uploads of @viewer that a condition on the file f holds for, as JSON.
func filesOf(condition string) string {
	return `(SELECT coalesce(json_agg(json_build_object('path', ` + path + `, 'name', f.name, 'alt', f.alt, 'picture', f.state = 'picture')
			ORDER BY f.position, f.id), '[]') FROM files f ` + original + ` WHERE f.owner_id = @viewer AND ` + condition + `)`
}

var postsQuery = `
	SELECT p.id, p.code, p.created_at AS at, p.edited_at, p.body AS text, p.lang AS language, p.place, p.via, p.via_url,
		(SELECT coalesce(json_agg(json_build_object('kind', d.kind, 'name', a.name, 'title', coalesce(t.title, a.title)) ORDER BY d.id), '[]')
			FROM timelines d JOIN accounts a ON a.id = d.their_id LEFT JOIN subfeeds t ON t.timeline_id = d.id
			WHERE d.id = ANY(p.decisive) AND ` + rights.SeenAs("a.id") + `) AS destinations,
		(SELECT coalesce(json_agg(json_build_object('url', x.url, 'title', x.title) ORDER BY x.position), '[]')
			FROM attachments x WHERE x.post_id = p.id) AS links,
		` + filesOf("f.post_id = p.id AND f.comment_id IS NULL") + ` AS files,
		CASE WHEN ` + rights.SeenPost + ` THEN (SELECT count(*) FROM likes l WHERE l.post_id = p.id AND ` + rights.UnbannedAs("l.account_id") + `)
			ELSE 0 END AS likes,
		(SELECT json_build_object('price', l.price, 'currency', l.currency, 'place', l.place, 'condition', l.condition, 'until', l.until_at,
				'state', l.state, 'how', l.how, 'paid', l.sold_price, 'closed_at', l.closed_at)
			FROM listings l WHERE l.post_id = p.id) AS listing
	FROM unnest(@ids::bigint[]) WITH ORDINALITY n (id, no) JOIN posts p ON p.id = n.id
	WHERE p.author_id = @viewer AND p.deleted_at IS NULL
	ORDER BY n.no`

var commentsQuery = `
	SELECT c.post_id, a.name, a.title, c.created_at AS at, c.edited_at, c.body AS text
	FROM unnest(@ids::bigint[]) WITH ORDINALITY n (id, no) JOIN posts p ON p.id = n.id
		JOIN comments c ON c.post_id = p.id AND c.deleted_at IS NULL JOIN accounts a ON a.id = c.author_id
	WHERE p.author_id = @viewer AND p.deleted_at IS NULL AND ` + rights.SeenPost + ` AND ` + rights.UnbannedAs("c.author_id") + `
	ORDER BY n.no, c.created_at, c.id`

// Posts calls begin for each of these posts of an account that is still there, in their order, comment for
// each comment under it that the account may read, and then end. All comments of a post may be more than
// memory holds; so they come one at a time. The first error ends it.
func (s *Store) Posts(ctx context.Context, account int64, ids []int64, begin func(Post) error, comment func(Comment) error, end func() error) error {
	rows, err := s.timelines.Pool().Query(ctx, postsQuery, pgx.StrictNamedArgs{"viewer": account, "ids": ids})
	if err != nil {
		return fmt.Errorf("read posts of an archive: %w", err)
	}
	posts, err := pgx.CollectRows(rows, pgx.RowToStructByName[Post])
	if err != nil {
		return fmt.Errorf("read posts of an archive: %w", err)
	}
	found := make([]int64, len(posts))
	for i, p := range posts {
		found[i] = p.ID
	}
	if rows, err = s.timelines.Pool().Query(ctx, commentsQuery, pgx.StrictNamedArgs{"viewer": account, "ids": found}); err != nil {
		return fmt.Errorf("read comments of an archive: %w", err)
	}
	defer rows.Close()
	at := -1 // the post that was begun
	next := func() error {
		if at >= 0 {
			if err := end(); err != nil {
				return err
			}
		}
		if at++; at == len(posts) {
			return nil
		}
		return begin(posts[at])
	}
	for rows.Next() {
		c, err := pgx.RowToStructByName[Comment](rows)
		if err != nil {
			return fmt.Errorf("read comments of an archive: %w", err)
		}
		for at < 0 || posts[at].ID != c.PostID {
			if err := next(); err != nil {
				return err
			}
		}
		if err := comment(c); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read comments of an archive: %w", err)
	}
	for at < len(posts) {
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}
