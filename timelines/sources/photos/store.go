package photos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
	"riverrun/timelines/sources/hosts"
)

// Gap is how long a host is left alone after a request for a picture. Browsers ask for the pictures
// of a page faster than that.
const Gap = 200 * time.Millisecond

// Store keeps pictures of items. It is safe for concurrent use.
type Store struct {
	pool  *pgxpool.Pool
	items timelines.Items
}

// New returns the pictures of a primary store. Everything but Record uses the pool.
func New(posts *timelines.Store, pool *pgxpool.Pool) *Store {
	return &Store{pool: pool, items: posts.Items}
}

// Photo is a picture that is to be fetched.
type Photo struct {
	ID, SourceID int64
	URL          string
	// Like is a file in the source that came from the same address with ETag and Modified; 0: there is
	// none.
	Like           int64
	ETag, Modified string
}

// Due returns hosts that have pictures to be fetched, at most limit of them, chosen at random: none
// waits for ever.
func (s *Store) Due(ctx context.Context, limit int) ([]string, error) {
	// The query steps through the index: it takes a step for each host and source, not for each
	// picture.
	const query = `
		WITH RECURSIVE pairs AS (
			(SELECT host, source_id FROM item_pictures WHERE state = 'waiting' ORDER BY host, source_id LIMIT 1)
			UNION ALL
			SELECT n.* FROM pairs CROSS JOIN LATERAL (
				SELECT g.host, g.source_id FROM item_pictures g
				WHERE g.state = 'waiting' AND (g.host, g.source_id) > (pairs.host, pairs.source_id)
				ORDER BY g.host, g.source_id LIMIT 1
			) n
		)
		SELECT host FROM (
			SELECT DISTINCT pairs.host FROM pairs CROSS JOIN LATERAL (
				SELECT FROM item_pictures g
				WHERE g.state = 'waiting' AND g.host = pairs.host AND g.source_id = pairs.source_id AND g.next_at <= now()
				ORDER BY g.next_at LIMIT 1
			) due
		) h ORDER BY random() LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"limit": limit})
	if err == nil {
		var due []string
		if due, err = pgx.CollectRows(rows, pgx.RowTo[string]); err == nil {
			return due, nil
		}
	}
	return nil, fmt.Errorf("find pictures that are due: %w", err)
}

// Claim returns the next pictures of a host, at most limit, and leaves them to the caller for some
// minutes. The sources of the host take turns.
func (s *Store) Claim(ctx context.Context, host string, limit int) ([]Photo, error) {
	const query = `
		WITH RECURSIVE has AS (
			(SELECT source_id FROM item_pictures WHERE state = 'waiting' AND host = @host ORDER BY source_id LIMIT 1)
			UNION ALL
			SELECT n.source_id FROM has CROSS JOIN LATERAL (
				SELECT g.source_id FROM item_pictures g WHERE g.state = 'waiting' AND g.host = @host AND g.source_id > has.source_id
				ORDER BY g.source_id LIMIT 1
			) n
		), due AS MATERIALIZED (
			SELECT d.id FROM has CROSS JOIN LATERAL (
				SELECT g.id, row_number() OVER (ORDER BY g.next_at, g.id) AS turn FROM (
					SELECT id, next_at FROM item_pictures
					WHERE state = 'waiting' AND host = @host AND source_id = has.source_id AND next_at <= now()
					ORDER BY next_at, id LIMIT @limit
				) g
			) d
			ORDER BY d.turn, has.source_id LIMIT @limit
		), claimed AS (
			UPDATE item_pictures g SET next_at = now() + @lease FROM due WHERE g.id = due.id AND g.state = 'waiting'
			RETURNING g.id, g.source_id, g.url
		)
		SELECT c.id, c.source_id, c.url, coalesce(l.file_id, 0), coalesce(l.etag, ''), coalesce(l.modified, '')
		FROM claimed c LEFT JOIN LATERAL (
			SELECT file_id, etag, modified FROM item_pictures
			WHERE url = c.url AND file_id IS NOT NULL AND source_id = c.source_id AND (etag <> '' OR modified <> '') LIMIT 1
		) l ON true
		ORDER BY c.id`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"host": host, "limit": limit, "lease": lease})
	if err == nil {
		var list []Photo
		if list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Photo]); err == nil {
			return list, nil
		}
	}
	return nil, fmt.Errorf("claim pictures: %w", err)
}

// Try counts an attempt at a claimed picture, and reports whether the picture still waits. So a
// picture that kills the processes that read it is given up after some tries.
func (s *Store) Try(ctx context.Context, id int64) (waits bool, err error) {
	const query = `
		UPDATE item_pictures SET tries = tries + 1, tried_at = now(), next_at = now() + @lease,
			state = CASE WHEN tries < @most THEN state ELSE 'failed' END, problem = CASE WHEN tries < @most THEN problem ELSE @problem END
		WHERE id = @id AND state = 'waiting' RETURNING state = 'waiting'`
	err = s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"id": id, "lease": lease, "most": 2 * tries, "problem": string(Unreachable)}).Scan(&waits)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("try a picture: %w", err)
	}
	return waits, nil
}

// Return gives back claimed pictures that were not tried. They are fetched after a time. It works
// even if ctx has ended.
func (s *Store) Return(ctx context.Context, ids []int64, after time.Duration) error {
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := s.pool.Exec(ctx, `UPDATE item_pictures SET next_at = now() + @after WHERE id = ANY(@ids) AND state = 'waiting'`,
		pgx.StrictNamedArgs{"ids": ids, "after": after})
	if err != nil {
		return fmt.Errorf("give pictures back: %w", err)
	}
	return nil
}

// counted returns the name under which requests for pictures of a host are counted, apart from those
// for its feeds.
func counted(host string) string { return "pictures " + host }

// Reserve lets the caller ask a host for a picture until it calls Release. If the host may not be
// asked now, Reserve returns how long to wait.
func (s *Store) Reserve(ctx context.Context, host string) (wait time.Duration, err error) {
	return hosts.Reserve(ctx, s.pool, counted(host), Gap)
}

// Release lets others ask the host after a gap, even if ctx has ended.
func (s *Store) Release(ctx context.Context, host string, gap time.Duration) error {
	return hosts.Release(ctx, s.pool, counted(host), gap)
}
