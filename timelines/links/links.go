// Package links records what the pages that posts link to say of themselves, for the card below
// a post. A page is read once for all posts that link to it, by a job, and again when somebody
// links to it after a while. The picture of the card stands in the store of blobs, and is
// reached by the code of a post (Picture), for those who may read the post.
package links

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/timelines/markup"
	"riverrun/timelines/rights"
)

const (
	// fresh is how long what a page said is taken for what it says.
	fresh = 7 * 24 * time.Hour
	// maxURL is the longest address, in bytes.
	maxURL = 2048
)

// ErrNotFound says that there is no such link or picture, or the viewer may not know of it.
var ErrNotFound = errors.New("no such link")

// First returns the first web address in a text with markup, or "". A text with a spoiler has
// none: its preview would tell.
func First(body string) string {
	address, ok := markup.FirstLink(body)
	if !ok || len(address) > maxURL {
		return ""
	}
	return address
}

// Set makes an address the link of a post, "" takes it away. It returns the link's id if its page
// is to be read, else 0. The post must be locked, or new.
func Set(ctx context.Context, tx pgx.Tx, post int64, address string) (ask int64, err error) {
	if address == "" {
		if _, err := tx.Exec(ctx, `DELETE FROM post_links WHERE post_id = @post`, pgx.StrictNamedArgs{"post": post}); err != nil {
			return 0, fmt.Errorf("take a link away: %w", err)
		}
		return 0, nil
	}
	// Two posts with one new link wait for each other; only the first asks.
	const query = `
		WITH link AS (
			INSERT INTO links AS l (url) VALUES (@url)
			ON CONFLICT (url) DO UPDATE SET asked_at = CASE WHEN l.asked_at < now() - @fresh::interval THEN now() ELSE l.asked_at END
			RETURNING id, asked_at = now() AS asked
		), linked AS (
			INSERT INTO post_links (post_id, link_id) SELECT @post, id FROM link
			ON CONFLICT (post_id) DO UPDATE SET link_id = excluded.link_id
		)
		SELECT CASE WHEN asked THEN id ELSE 0 END FROM link`
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"url": address, "post": post, "fresh": fresh}).Scan(&ask)
	if err != nil {
		return 0, fmt.Errorf("set a link: %w", err)
	}
	return ask, nil
}

// Page is what a page says of itself. The zero Page says that it could not be read.
type Page struct {
	Title, About, Site, Host string
	// The rest is of its picture, if it has one.
	Picture       *blobs.Sum
	Bytes         int64
	Width, Height int
	Type          string
	Blurhash      string
}

// Address returns the address of a link, or ErrNotFound.
func Address(ctx context.Context, db files.DB, id int64) (string, error) {
	var address string
	err := db.QueryRow(ctx, `SELECT url FROM links WHERE id = @id`, pgx.StrictNamedArgs{"id": id}).Scan(&address)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("read a link: %w", err)
	}
	return address, nil
}

// Record records what a page says, and returns the posts that link to it if it says something
// else than before: they change. The card stays as it is while the page cannot be read, and while
// more than limit posts link to it: a post whose card changes needs a new version, or rivers would
// go on with the old card (R1). The posts are locked by their versions, in the order of their ids. The link is locked before them, and an edit locks its post before its
// link; if the two meet, PostgreSQL ends one, which then runs again.
func Record(ctx context.Context, tx pgx.Tx, id int64, p Page, limit int) (posts []int64, err error) {
	// Set locks the link too, so no post comes to link to it from here on. The next statement sees
	// those that did until now.
	const lock = `SELECT FROM links WHERE id = @id FOR NO KEY UPDATE`
	if _, err := tx.Exec(ctx, lock, pgx.StrictNamedArgs{"id": id}); err != nil {
		return nil, fmt.Errorf("lock a link: %w", err)
	}
	const change = `
		UPDATE links SET read_at = now(), title = @title, about = @about, site = @site, host = @host, picture = @picture,
			bytes = @bytes, width = @width, height = @height, type = @type, blurhash = @blurhash
		WHERE id = @id AND (@host <> '' OR host = '') AND (title, about, site, host, coalesce(picture, ''))
			IS DISTINCT FROM (@title, @about, @site, @host, coalesce(@picture, ''::bytea))
			AND @limit::bigint >= (SELECT count(*) FROM (SELECT FROM post_links WHERE link_id = @id LIMIT @limit::bigint + 1) l)`
	var picture []byte
	if p.Picture != nil {
		picture = p.Picture[:]
	}
	tag, err := tx.Exec(ctx, change, pgx.StrictNamedArgs{
		"id": id, "title": p.Title, "about": p.About, "site": p.Site, "host": p.Host, "picture": picture,
		"bytes": p.Bytes, "width": p.Width, "height": p.Height, "type": p.Type, "blurhash": p.Blurhash, "limit": limit,
	})
	if err != nil {
		return nil, fmt.Errorf("record a page: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil, nil
	}
	const touch = `
		WITH linking AS (
			SELECT p.id FROM posts p JOIN post_links l ON l.post_id = p.id
			WHERE l.link_id = @id AND p.deleted_at IS NULL
			ORDER BY p.id FOR NO KEY UPDATE OF p
		)
		UPDATE posts p SET version = version + 1 FROM linking l WHERE p.id = l.id
		RETURNING p.id`
	rows, err := tx.Query(ctx, touch, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return nil, fmt.Errorf("touch what links to a page: %w", err)
	}
	if posts, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
		return nil, fmt.Errorf("touch what links to a page: %w", err)
	}
	return posts, nil
}

// Picture returns the picture of the card of a post, as far as the viewer may read the post now,
// else ErrNotFound.
func Picture(ctx context.Context, db files.DB, viewer int64, code string) (files.Content, error) {
	const query = `
		SELECT l.picture, l.bytes, l.type
		FROM posts p JOIN post_links k ON k.post_id = p.id JOIN links l ON l.id = k.link_id
		WHERE p.code = @code AND p.deleted_at IS NULL AND l.picture IS NOT NULL AND ` + rights.SeenPost
	c := files.Content{State: files.Picture}
	var sum []byte
	err := db.QueryRow(ctx, query, pgx.StrictNamedArgs{"viewer": viewer, "code": code}).Scan(&sum, &c.Bytes, &c.Type)
	if errors.Is(err, pgx.ErrNoRows) {
		return files.Content{}, ErrNotFound
	}
	if err != nil {
		return files.Content{}, fmt.Errorf("find a picture: %w", err)
	}
	copy(c.Sum[:], sum)
	return c, nil
}

// Expire removes links that no post has any more, at most limit of those older than fresh.
func Expire(ctx context.Context, db files.DB, limit int) (int64, error) {
	const query = `
		DELETE FROM links WHERE id IN (
			SELECT l.id FROM links l WHERE l.asked_at < now() - @fresh::interval
				AND NOT EXISTS (SELECT FROM post_links k WHERE k.link_id = l.id) ORDER BY l.id LIMIT @limit)`
	tag, err := db.Exec(ctx, query, pgx.StrictNamedArgs{"fresh": fresh, "limit": limit})
	if err != nil {
		return 0, fmt.Errorf("expire links: %w", err)
	}
	return tag.RowsAffected(), nil
}
