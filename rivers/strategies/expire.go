package strategies

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// lacking is the condition on a feed that it may lack the change of a transaction; 0: it may.
const lacking = `(@change::bigint = 0 OR NOT pg_visible_in_snapshot(@change::bigint::text::xid8, knows))`

// lackingOf is the transaction that feeds are compared with. The operations of an aggregator feed
// make it know later transactions without reading all posts that those opened, so its feeds are
// dropped whatever they know.
func (s *stored) lackingOf(tx int64) int64 {
	if s.depth > 0 {
		return 0
	}
	return tx
}

// retire drops the feeds of these viewers, live and building, except those that were filled with
// the change of that transaction; 0: all.
func (s *stored) retire(ctx context.Context, viewers []int64, tx int64) error {
	if len(viewers) == 0 {
		return nil
	}
	const which = `SELECT f.id FROM unnest(@viewers::bigint[]) v(id)
		CROSS JOIN LATERAL (
			SELECT id, knows FROM home_feeds WHERE viewer_id = v.id AND strategy = @strategy AND state <> 'retired' OFFSET 0) f
		WHERE ` + lacking
	return s.retireThose(ctx, which, pgx.StrictNamedArgs{"viewers": viewers, "strategy": s.strategy, "change": s.lackingOf(tx)})
}

// retireBlock is how many feeds one statement retires.
const retireBlock = 500

// retireAll is retire for all viewers, block by block in the order of ids. Feeds that are registered
// meanwhile know what changed.
func (s *stored) retireAll(ctx context.Context, tx int64) error {
	const block = `
		WITH block AS MATERIALIZED (
			SELECT id FROM home_feeds WHERE strategy = @strategy AND state <> 'retired' AND id > @after
			ORDER BY id LIMIT @block
		), retired AS (
			UPDATE home_feeds SET state = 'retired', retired_at = clock_timestamp()
			WHERE id = ANY(ARRAY(SELECT id FROM home_feeds WHERE id = ANY(ARRAY(SELECT id FROM block)) ORDER BY id FOR UPDATE)) AND state <> 'retired' AND ` + lacking + `
		)
		SELECT coalesce(max(id), 0), count(*) FROM block`
	for after, n := int64(0), retireBlock; n == retireBlock; {
		args := pgx.StrictNamedArgs{"strategy": s.strategy, "after": after, "block": retireBlock, "change": s.lackingOf(tx)}
		if err := s.Secondary.QueryRow(ctx, block, args).Scan(&after, &n); err != nil {
			return fmt.Errorf("retire feeds: %w", err)
		}
	}
	return nil
}

// retireIdle drops feeds that nobody read for as long as they are kept, and builds that nobody
// goes on with, in blocks. A page is remembered to the minute.
func (s *stored) retireIdle(ctx context.Context) error {
	const read = `SELECT id FROM home_feeds
		WHERE strategy = @strategy AND state <> 'retired' AND visited_at < clock_timestamp() - @idle::interval
		ORDER BY visited_at LIMIT @block`
	const built = `SELECT id FROM home_feeds
		WHERE strategy = @strategy AND state = 'building' AND visited_at < clock_timestamp() - @idle::interval
		ORDER BY visited_at LIMIT @block`
	for _, some := range []struct {
		which string
		idle  time.Duration
	}{{read, s.idle}, {built, buildIdle}} {
		query := `
			UPDATE home_feeds SET state = 'retired', retired_at = clock_timestamp()
			WHERE id = ANY(ARRAY(SELECT id FROM home_feeds WHERE id = ANY(ARRAY(` + some.which + `)) ORDER BY id FOR UPDATE))
				AND state <> 'retired' AND visited_at < clock_timestamp() - @idle::interval`
		for n := int64(retireBlock); n == retireBlock; {
			args := pgx.StrictNamedArgs{"strategy": s.strategy, "idle": some.idle, "block": retireBlock}
			tag, err := s.Secondary.Exec(ctx, query, args)
			if err != nil {
				return fmt.Errorf("drop idle feeds: %w", err)
			}
			n = tag.RowsAffected()
		}
	}
	return nil
}

func (s *stored) retireThose(ctx context.Context, which string, args pgx.StrictNamedArgs) error {
	query := `
		UPDATE home_feeds SET state = 'retired', retired_at = clock_timestamp()
		WHERE id = ANY(ARRAY(SELECT id FROM home_feeds WHERE id = ANY(ARRAY(` + which + `)) ORDER BY id FOR UPDATE)) AND state <> 'retired'`
	if _, err := s.Secondary.Exec(ctx, query, args); err != nil {
		return fmt.Errorf("retire feeds: %w", err)
	}
	return nil
}

// removeBlock is how many rows one statement removes, and removeFeeds of how many feeds at once.
const (
	removeBlock = 1000
	removeFeeds = 20
)

// Expire implements Expirer. It drops the feeds of this strategy that nobody reads. Then it
// removes retired feeds and the rows of removed posts, when no writer can be under way any more
// that would revive them. It removes those of all strategies, each block in a transaction of its
// own. Rows that another server removes at the same time are left to it.
func (s *stored) Expire(ctx context.Context) error {
	if err := s.retireIdle(ctx); err != nil {
		return err
	}
	const gone = `SELECT id FROM home_feeds WHERE state = 'retired' AND retired_at < clock_timestamp() - @kept::interval
		ORDER BY retired_at LIMIT @block`
	for n := removeFeeds; n == removeFeeds; {
		rows, err := s.Secondary.Query(ctx, gone, pgx.StrictNamedArgs{"kept": keptFor, "block": removeFeeds})
		if err != nil {
			return fmt.Errorf("read retired feeds: %w", err)
		}
		feeds, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return fmt.Errorf("read retired feeds: %w", err)
		}
		removed, err := s.removeFeeds(ctx, feeds)
		if err != nil {
			return err
		}
		n = int(removed) // others are under way with the rest
	}
	// A writer locks the feed first and then these rows, and never waits for this.
	const posts = `
		DELETE FROM home_feed_posts WHERE (feed_id, post_id) IN (
			SELECT feed_id, post_id FROM home_feed_posts
			WHERE removed_at IS NOT NULL AND removed_at < clock_timestamp() - @kept::interval
			ORDER BY removed_at LIMIT @block FOR UPDATE SKIP LOCKED)
			AND removed_at IS NOT NULL AND removed_at < clock_timestamp() - @kept::interval`
	return s.removeBlocks(ctx, posts, pgx.StrictNamedArgs{"kept": keptFor})
}

// removeFeeds removes retired feeds with all below them, and says how many. A writer that came
// late finds no row of the feed to lock, and writes nothing.
func (s *stored) removeFeeds(ctx context.Context, feeds []int64) (int64, error) {
	const posts = `
		DELETE FROM home_feed_posts WHERE (feed_id, post_id) IN (
			SELECT p.feed_id, p.post_id FROM unnest(@feeds::bigint[]) f(id)
			CROSS JOIN LATERAL (
				SELECT feed_id, post_id FROM home_feed_posts WHERE feed_id = f.id
				ORDER BY post_id LIMIT @block FOR UPDATE SKIP LOCKED) p LIMIT @block)`
	const buckets = `
		DELETE FROM home_feed_buckets WHERE (feed_id, low_place, low_post) IN (
			SELECT b.feed_id, b.low_place, b.low_post FROM unnest(@feeds::bigint[]) f(id)
			CROSS JOIN LATERAL (
				SELECT feed_id, low_place, low_post FROM home_feed_buckets WHERE feed_id = f.id
				ORDER BY low_place, low_post LIMIT @block FOR UPDATE SKIP LOCKED) b LIMIT @block)`
	const rest = `
		DELETE FROM home_feeds f WHERE id IN (SELECT id FROM home_feeds WHERE id = ANY(@feeds) ORDER BY id FOR UPDATE SKIP LOCKED)
			AND NOT EXISTS (SELECT FROM home_feed_posts WHERE feed_id = f.id)
			AND NOT EXISTS (SELECT FROM home_feed_buckets WHERE feed_id = f.id)`
	for _, query := range []string{posts, buckets} {
		if err := s.removeBlocks(ctx, query, pgx.StrictNamedArgs{"feeds": feeds}); err != nil {
			return 0, err
		}
	}
	tag, err := s.Secondary.Exec(ctx, rest, pgx.StrictNamedArgs{"feeds": feeds})
	if err != nil {
		return 0, fmt.Errorf("remove feeds: %w", err)
	}
	return tag.RowsAffected(), nil
}

// removeBlocks repeats a statement that removes a block of rows, until less are left.
func (s *stored) removeBlocks(ctx context.Context, query string, args pgx.StrictNamedArgs) error {
	args["block"] = removeBlock
	for n := int64(removeBlock); n == removeBlock; {
		tag, err := s.Secondary.Exec(ctx, query, args)
		if err != nil {
			return fmt.Errorf("remove rows of feeds: %w", err)
		}
		n = tag.RowsAffected()
	}
	return nil
}
