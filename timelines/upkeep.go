package timelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// A change keeps the rows that only help to find posts by itself if they are few. Many
// rows are recorded as not up to date, in the change's own transaction, and follow in
// blocks:
//
//   - gated_entries of a post in more than 200 timelines that moves (ungated_posts). They
//     are a row for every timeline the post stands in and every new place, which took 0.4
//     seconds under the lock of a post that 10,000 like, and now takes 16 ms
//     (BenchmarkMoveOfACrowd).
//   - The flags of the posts of a feed with more than flagFew whose level changes
//     (unflagged_timelines). All at once would hold the locks of 100,000 posts for 3
//     seconds; now the request takes 6 ms, and a block 16 ms (BenchmarkLevelOfMany).
//
// A reader knows in the same snapshot which rows are not up to date. It finds the missing
// posts without them (scanFew) and decides without them (rights.ReadablePost). So nothing is
// missing or wrong meanwhile, and the order of blocks and changes does not matter; only
// pages take longer. A change between two blocks begins the work again.

// upkeepBlock is how many rows one block writes, under the lock of their post or feed.
const upkeepBlock = 500

// UpkeepBlock does one block, and announces, in the same transaction, and reports whether
// more are left. Without work it does nothing. It may run on any node, any number of times
// at once.
func (s Maintenance) UpkeepBlock(ctx context.Context) (more bool, err error) {
	return inTx(ctx, s.core, func(tx pgx.Tx) (bool, error) {
		// The flags come first: while they are not up to date, everybody's pages take longer.
		flagged, err := s.flagBlockTx(ctx, tx)
		if err == nil && !flagged {
			err = s.gateBlockTx(ctx, tx)
		}
		if err != nil {
			return false, err
		}
		const left = `SELECT EXISTS (SELECT FROM unflagged_timelines) OR EXISTS (SELECT FROM ungated_posts)`
		var more bool
		if err := tx.QueryRow(ctx, left).Scan(&more); err != nil {
			return false, fmt.Errorf("look for more upkeep: %w", err)
		}
		if !more {
			return false, nil
		}
		return true, s.announceTx(ctx, tx, Upkeep{})
	})
}

// flagBlockTx sets the flags of some more posts of one feed whose level changed, and
// reports whether there was one. A further change of that level waits for the block,
// which takes milliseconds, to begin anew.
func (s Maintenance) flagBlockTx(ctx context.Context, tx pgx.Tx) (flagged bool, err error) {
	// Any of them: a feed whose level changes again and again must not delay all others.
	const behind = `SELECT timeline_id, after FROM unflagged_timelines ORDER BY random() LIMIT 1 FOR UPDATE`
	var timeline, after int64
	err = tx.QueryRow(ctx, behind).Scan(&timeline, &after)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find a feed to flag: %w", err)
	}
	const next = `
		SELECT post_id FROM timeline_entries WHERE timeline_id = @timeline AND post_id > @after
		ORDER BY post_id LIMIT @limit`
	args := pgx.StrictNamedArgs{"timeline": timeline, "after": after, "limit": s.upkeepBlock}
	rows, err := tx.Query(ctx, next, args)
	posts, err := collectIDs(rows, err, "posts to flag")
	if err != nil {
		return false, err
	}
	if err := flagTx(ctx, tx, posts); err != nil {
		return false, err
	}
	done, args := `DELETE FROM unflagged_timelines WHERE timeline_id = @timeline`, pgx.StrictNamedArgs{"timeline": timeline}
	if len(posts) == s.upkeepBlock {
		done, args["last"] = `UPDATE unflagged_timelines SET after = @last WHERE timeline_id = @timeline`, posts[len(posts)-1]
	}
	if _, err := tx.Exec(ctx, done, args); err != nil {
		return false, fmt.Errorf("note upkeep of a feed: %w", err)
	}
	return true, nil
}

// gateBlockTx updates the gated_entries of one moved post in some more of its timelines. A
// row that enters a timeline meanwhile has its own (gate_entered).
//
// Rows of places that the post has left stay. A timeline keeps at most one row for each
// place the post was ever in, and a scan that finds a post by such a row checks the post.
func (s Maintenance) gateBlockTx(ctx context.Context, tx pgx.Tx) error {
	var post, after int64
	err := tx.QueryRow(ctx, `SELECT post_id FROM ungated_posts ORDER BY post_id LIMIT 1`).Scan(&post)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find a moved post: %w", err)
	}
	args := pgx.StrictNamedArgs{"post": post}
	// The lock of the post: it does not move meanwhile, and the next statements see it as it
	// is now.
	if _, err := tx.Exec(ctx, `SELECT FROM posts WHERE id = @post FOR NO KEY UPDATE`, args); err != nil {
		return fmt.Errorf("lock moved post: %w", err)
	}
	err = tx.QueryRow(ctx, `SELECT after FROM ungated_posts WHERE post_id = @post`, args).Scan(&after)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // another block was the last
	}
	if err != nil {
		return fmt.Errorf("read upkeep of a post: %w", err)
	}
	const block = `
		WITH next AS MATERIALIZED (
			SELECT e.timeline_id FROM timeline_entries e
			WHERE e.post_id = @post AND e.timeline_id > @after ORDER BY e.timeline_id LIMIT @limit
		), gated AS (
			INSERT INTO gated_entries (timeline_id, gate_id, post_id)
			SELECT n.timeline_id, d.gate_id, p.id
			FROM next n
			JOIN timelines t ON t.id = n.timeline_id AND ` + kinds.IsGated + `
			JOIN posts p ON p.id = @post
			CROSS JOIN unnest(p.decisive) d(gate_id)
			ORDER BY 1, 2, 3
			ON CONFLICT DO NOTHING
		)
		SELECT coalesce(max(timeline_id), 0), count(*) = @limit FROM next`
	var last int64
	var full bool
	err = tx.QueryRow(ctx, block, pgx.StrictNamedArgs{"post": post, "after": after, "limit": s.upkeepBlock}).Scan(&last, &full)
	if err != nil {
		return fmt.Errorf("gate block: %w", err)
	}
	done, args := `DELETE FROM ungated_posts WHERE post_id = @post`, pgx.StrictNamedArgs{"post": post}
	if full {
		done, args["last"] = `UPDATE ungated_posts SET after = @last WHERE post_id = @post`, last
	}
	if _, err := tx.Exec(ctx, done, args); err != nil {
		return fmt.Errorf("note upkeep of a post: %w", err)
	}
	return nil
}
