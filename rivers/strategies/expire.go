package strategies

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// retire drops the feeds of these viewers, live and building.
func (s *stored) retire(ctx context.Context, viewers []int64) error {
	if len(viewers) == 0 {
		return nil
	}
	const which = `SELECT f.id FROM unnest(@viewers::bigint[]) v(id)
		CROSS JOIN LATERAL (
			SELECT id FROM home_feeds WHERE viewer_id = v.id AND strategy = @strategy AND state <> 'retired' OFFSET 0) f`
	return s.retireThose(ctx, which, pgx.StrictNamedArgs{"viewers": viewers, "strategy": s.strategy})
}

// retireAll drops all feeds of the strategy.
func (s *stored) retireAll(ctx context.Context) error {
	const which = `SELECT id FROM home_feeds WHERE strategy = @strategy AND state <> 'retired'`
	return s.retireThose(ctx, which, pgx.StrictNamedArgs{"strategy": s.strategy})
}

func (s *stored) retireThose(ctx context.Context, which string, args pgx.StrictNamedArgs) error {
	query := `
		UPDATE home_feeds SET state = 'retired', retired_at = clock_timestamp()
		WHERE id IN (SELECT id FROM home_feeds WHERE id IN (` + which + `) ORDER BY id FOR UPDATE) AND state <> 'retired'`
	if _, err := s.Secondary.Exec(ctx, query, args); err != nil {
		return fmt.Errorf("retire feeds: %w", err)
	}
	return nil
}

// removeBatch is how many feeds, and how many rows of removed posts, one statement removes.
const (
	removeFeeds = 20
	removePosts = 1000
)

// Expire implements Expirer. It removes retired feeds and the rows of removed posts, when no
// writer can be under way any more that would revive them. It removes those of all strategies.
func (s *stored) Expire(ctx context.Context) error {
	// A writer that came late finds no row of the feed to lock, and writes nothing.
	const feeds = `
		WITH gone AS (
			SELECT id FROM home_feeds WHERE state = 'retired' AND retired_at < clock_timestamp() - @kept::interval
			ORDER BY retired_at LIMIT @most
		), buckets AS (
			DELETE FROM home_feed_buckets b USING gone g WHERE b.feed_id = g.id
		), posts AS (
			DELETE FROM home_feed_posts p USING gone g WHERE p.feed_id = g.id
		)
		DELETE FROM home_feeds f USING gone g WHERE f.id = g.id`
	const posts = `
		DELETE FROM home_feed_posts WHERE (feed_id, post_id) IN (
			SELECT feed_id, post_id FROM home_feed_posts
			WHERE removed_at IS NOT NULL AND removed_at < clock_timestamp() - @kept::interval
			ORDER BY feed_id, post_id LIMIT @most FOR UPDATE)
			AND removed_at IS NOT NULL AND removed_at < clock_timestamp() - @kept::interval`
	for _, remove := range []struct {
		query string
		most  int64
	}{{feeds, removeFeeds}, {posts, removePosts}} {
		for {
			tag, err := s.Secondary.Exec(ctx, remove.query, pgx.StrictNamedArgs{"kept": keptFor, "most": remove.most})
			if err != nil {
				return fmt.Errorf("expire feeds: %w", err)
			}
			if tag.RowsAffected() < remove.most {
				break
			}
		}
	}
	return nil
}
