package timelines

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// checkKey returns what is wrong with a form's key. The empty key is none: the
// form may be sent as often as anybody likes.
func checkKey(key string) error {
	if !storable(key) || utf8.RuneCountInString(key) > maxKeyRunes {
		return &InvalidError{Field: "key", Code: "key_long"}
	}
	return nil
}

// recordKeyTx remembers that the account's form with this key made the post, or
// the comment in it. If the key had been seen, it returns *unchanged with what
// was made the first time.
func recordKeyTx(ctx context.Context, tx pgx.Tx, account int64, key string, post, comment int64) error {
	if key == "" {
		return nil
	}
	// Two transactions with one key: the second waits in the unique index for the
	// first. An update that changes nothing returns the row that won, whereas DO
	// NOTHING and a look afterwards could miss a row removed between.
	const query = `
		INSERT INTO keys (account_id, key, post_id, comment_id)
		VALUES (@account, @key, @post, nullif(@comment::bigint, 0))
		ON CONFLICT (account_id, key) DO UPDATE SET key = EXCLUDED.key
		RETURNING coalesce(post_id, 0), coalesce(comment_id, 0)`
	var madePost, madeComment int64
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"account": account, "key": key, "post": post, "comment": comment,
	}).Scan(&madePost, &madeComment)
	if err != nil {
		return fmt.Errorf("record key: %w", err)
	}
	if madePost == post && madeComment == comment {
		return nil
	}
	first := Change{Actor: account, PostID: madePost, CommentID: madeComment, Repeated: true}
	// A statement of its own: what the first transaction committed while the
	// insert waited is not in the insert's snapshot.
	err = tx.QueryRow(ctx, `SELECT code FROM posts WHERE id = @post`,
		pgx.StrictNamedArgs{"post": madePost}).Scan(&first.Code)
	if err != nil {
		return fmt.Errorf("read what the key made: %w", err)
	}
	return &unchanged{first}
}

// ExpireKeys forgets keys older than olderThan and returns how many. A form sent
// again after that does its work again.
func (s *Store) ExpireKeys(ctx context.Context, olderThan time.Duration) (int64, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM keys WHERE created_at < now() - @age::interval`,
		pgx.StrictNamedArgs{"age": olderThan})
	if err != nil {
		return 0, fmt.Errorf("expire keys: %w", err)
	}
	return tag.RowsAffected(), nil
}
