package edits

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/rights"
)

// Most is how many former texts of a post are kept.
const Most = 50

// KeepTx keeps the present text of a locked post, which is about to be replaced by body. The
// same text replaces nothing.
func KeepTx(ctx context.Context, tx pgx.Tx, post int64, body string) error {
	const keep = `
		INSERT INTO former_texts (post_id, replaced_at, body)
		SELECT id, clock_timestamp(), body FROM posts WHERE id = @post AND body <> @body`
	// At most one is beyond the bound, but for a bound that was lowered.
	const bound = `
		DELETE FROM former_texts WHERE post_id = @post AND replaced_at NOT IN (
			SELECT replaced_at FROM former_texts WHERE post_id = @post ORDER BY replaced_at DESC LIMIT @most)`
	var batch pgx.Batch
	batch.Queue(keep, pgx.StrictNamedArgs{"post": post, "body": body})
	batch.Queue(bound, pgx.StrictNamedArgs{"post": post, "most": Most})
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("keep former text: %w", err)
	}
	return nil
}

// RemoveTx removes the former texts of posts that are being deleted.
func RemoveTx(ctx context.Context, tx pgx.Tx, posts []int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM former_texts WHERE post_id = ANY(@posts)`, pgx.StrictNamedArgs{"posts": posts})
	if err != nil {
		return fmt.Errorf("remove former texts: %w", err)
	}
	return nil
}

// Store reads former texts. It is safe for concurrent use.
type Store struct{ pool *pgxpool.Pool }

// Open returns the former texts behind pool.
func Open(pool *pgxpool.Pool) *Store { return &Store{pool} }

// An Edit replaced one text by another.
type Edit struct {
	At      time.Time
	Was, Is string
}

// Of returns up to limit edits of a post, the last one first: those before an instant, or, if
// that is zero, the last ones. It returns none unless the post is the account's own and the
// account may read it. Edits before those that are kept are unknown.
func (s *Store) Of(ctx context.Context, account int64, code string, before time.Time, limit int) ([]Edit, error) {
	const query = `
		SELECT at, was, "is" FROM (
			SELECT f.replaced_at AS at, f.body AS was, coalesce(lag(f.body) OVER (ORDER BY f.replaced_at DESC), p.body) AS "is"
			FROM posts p JOIN former_texts f ON f.post_id = p.id
			WHERE p.code = @code AND p.author_id = @viewer AND p.deleted_at IS NULL AND ` + rights.SeenPost + `) e
		WHERE @before::timestamptz IS NULL OR at < @before
		ORDER BY at DESC LIMIT @limit`
	var until *time.Time
	if !before.IsZero() {
		until = &before
	}
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"viewer": account, "code": code, "before": until, "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("read edits: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[Edit])
	if err != nil {
		return nil, fmt.Errorf("read edits: %w", err)
	}
	return found, nil
}
