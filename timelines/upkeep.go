package timelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The flags of the posts of a feed with more than flagFew whose level changes are recorded as
// not up to date (unflagged_timelines), in the change's own transaction, and follow in
// blocks. All at once would hold the locks of 100,000 posts for 3 seconds; now the request
// takes 6 ms, and a block 16 ms (BenchmarkLevelOfMany).
//
// A reader knows in the same snapshot which flags are not up to date, and decides without
// them (rights.ReadablePost). So nothing is missing or wrong meanwhile, and the order of
// blocks and changes does not matter; only pages take longer. A change between two blocks
// begins the work again.

// upkeepBlock is how many rows one block writes, under the lock of their feed.
const upkeepBlock = 500

// UpkeepBlock does one block, and announces, in the same transaction, and reports whether
// more are left. Without work it does nothing. It may run on any node, any number of times
// at once.
func (s Maintenance) UpkeepBlock(ctx context.Context) (more bool, err error) {
	return inTx(ctx, s.core, func(tx pgx.Tx) (bool, error) {
		if err := s.flagBlockTx(ctx, tx); err != nil {
			return false, err
		}
		var more bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM unflagged_timelines)`).Scan(&more); err != nil {
			return false, fmt.Errorf("look for more upkeep: %w", err)
		}
		if !more {
			return false, nil
		}
		return true, s.announceTx(ctx, tx, Upkeep{})
	})
}

// flagBlockTx sets the flags of some more posts of one feed whose level changed. A further
// change of that level waits for the block, which takes milliseconds, and then begins anew.
func (s Maintenance) flagBlockTx(ctx context.Context, tx pgx.Tx) error {
	// Any of them: a feed whose level changes again and again must not delay all others.
	const behind = `SELECT timeline_id, after FROM unflagged_timelines ORDER BY random() LIMIT 1 FOR UPDATE`
	var timeline, after int64
	err := tx.QueryRow(ctx, behind).Scan(&timeline, &after)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find a feed to flag: %w", err)
	}
	// The order is that of creation. If the last post has left the feed meanwhile, all begins anew.
	const next = `
		SELECT post_id FROM timeline_entries
		WHERE timeline_id = @timeline AND (created_at, post_id) > (
			coalesce((SELECT e.created_at FROM timeline_entries e WHERE e.post_id = @after AND e.timeline_id = @timeline), -9223372036854775808), @after)
		ORDER BY created_at, post_id LIMIT @limit`
	args := pgx.StrictNamedArgs{"timeline": timeline, "after": after, "limit": s.upkeepBlock}
	rows, err := tx.Query(ctx, next, args)
	posts, err := collectIDs(rows, err, "posts to flag")
	if err != nil {
		return err
	}
	if err := flagTx(ctx, tx, posts); err != nil {
		return err
	}
	done, args := `DELETE FROM unflagged_timelines WHERE timeline_id = @timeline`, pgx.StrictNamedArgs{"timeline": timeline}
	if len(posts) == s.upkeepBlock {
		done, args["last"] = `UPDATE unflagged_timelines SET after = @last WHERE timeline_id = @timeline`, posts[len(posts)-1]
	}
	if _, err := tx.Exec(ctx, done, args); err != nil {
		return fmt.Errorf("note upkeep of a feed: %w", err)
	}
	return nil
}
