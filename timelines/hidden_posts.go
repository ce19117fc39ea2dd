package timelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/markup"
	"riverrun/timelines/rights"
)

// postTable is a table of posts that a person does not want to see, or to hear of.
type postTable struct {
	name    string
	most    int64  // posts of one person
	tooMany string // the code of the InvalidError
}

var (
	hiddenPosts = postTable{"hidden_posts", 10_000, "hides_many"}
	mutedPosts  = postTable{"muted_posts", 10_000, "mutes_many"}
)

// addPost is HidePost, for either table.
func (s Hides) addPost(ctx context.Context, t postTable, actor int64, code string) (post int64, c Change, err error) {
	code, ok := ParseCode(code)
	if !ok {
		return 0, Change{}, ErrNotFound
	}
	c, err = s.set(ctx, actor, func(tx pgx.Tx) (int64, error) {
		const find = `SELECT p.id FROM posts p WHERE p.code = @code AND p.deleted_at IS NULL AND ` + rights.SeenPost
		err := tx.QueryRow(ctx, find, pgx.StrictNamedArgs{"code": code, "viewer": actor}).Scan(&post)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, ErrNotFound
		}
		if err != nil {
			return 0, err
		}
		insert := `INSERT INTO ` + t.name + ` (account_id, post_id) VALUES (@actor, @what) ON CONFLICT DO NOTHING`
		count := `SELECT count(*) FROM ` + t.name + ` WHERE account_id = @actor`
		return hideTx(ctx, tx, insert, count, t.most, t.tooMany, actor, post)
	})
	return post, c, err
}

// removePost is UnhidePost, for either table. An actor who can no longer read the post may only
// learn whether it was in the table.
func (s Hides) removePost(ctx context.Context, t postTable, actor int64, code string) (post int64, c Change, err error) {
	code, ok := ParseCode(code)
	if !ok {
		return 0, Change{}, ErrNotFound
	}
	c, err = s.set(ctx, actor, func(tx pgx.Tx) (int64, error) {
		query := `
			WITH found AS (
				SELECT p.id, h.post_id IS NOT NULL AS there
				FROM posts p LEFT JOIN ` + t.name + ` h ON h.post_id = p.id AND h.account_id = @viewer
				WHERE p.code = @code AND (h.post_id IS NOT NULL OR p.deleted_at IS NULL AND ` + rights.SeenPost + `)
			), removed AS (
				DELETE FROM ` + t.name + ` h USING found f WHERE h.account_id = @viewer AND h.post_id = f.id
			)
			SELECT id, there FROM found`
		var there bool
		err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": code, "viewer": actor}).Scan(&post, &there)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, ErrNotFound
		}
		if err != nil || !there {
			return 0, err
		}
		return 1, nil
	})
	return post, c, err
}

// beginningRunes is how much of a post a list of posts needs, in characters.
const beginningRunes = 200

// listPosts is Posts, for either table.
func (s Hides) listPosts(ctx context.Context, t postTable, actor int64, before HiddenPost, limit int) ([]HiddenPost, error) {
	query := `
		SELECT p.code, p.author_id, left(p.body, @longest + 1) AS beginning, p.markup, h.created_at AS hidden_at
		FROM ` + t.name + ` h JOIN posts p ON p.id = h.post_id
		WHERE h.account_id = @viewer AND p.deleted_at IS NULL AND ` + rights.SeenPost + `
			AND (h.created_at, h.post_id) < (coalesce(@before::timestamptz, 'infinity'), coalesce((SELECT id FROM posts WHERE code = @code), 0))
		ORDER BY h.created_at DESC, h.post_id DESC LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{
		"viewer": actor, "before": olderThan(before), "code": before.Code, "limit": limit, "longest": beginningRunes,
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t.name, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[HiddenPost])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t.name, err)
	}
	for i, p := range list {
		if p.Markup {
			list[i].Beginning = markup.Cut(p.Beginning, beginningRunes)
		}
	}
	return list, nil
}
