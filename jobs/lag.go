package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Behind reports whether closed rivers may still lack a change that is older than that.
// They do while its distribute job is not done (it waits, fails, runs, or belongs to a
// node that died) and while Tier 2 has not followed its note. A page that is opened
// meanwhile is brought up to date by itself (rivers.Freshen).
//
// One statement asks about both, and sees one state of the database. A job is done only
// after its note was committed, and a note is removed only when rivers have followed, so
// no change is between the two.
//
// For each state and queue the statement probes the index for fetching, in which waiting jobs come
// oldest first, and once the key of the notes. It passes over younger changes; there are
// few of them.
func Behind(ctx context.Context, pool *pgxpool.Pool, than time.Duration) (bool, error) {
	var is bool
	args := pgx.StrictNamedArgs{"queues": []string{queueNow, queueBatches}, "priority": priorityDistribute, "than": than}
	if err := pool.QueryRow(ctx, behind, args).Scan(&is); err != nil {
		return false, fmt.Errorf("ask whether rivers are behind: %w", err)
	}
	return is, nil
}

// Only the distribute jobs have the first priority of their queues. Most rows of the table are
// of finished jobs; the order within the states keeps the server to the index. It reads the
// table instead only where it believes that no job at all is that old.
const behind = `
	SELECT EXISTS (
		SELECT FROM unnest('{available,running,retryable,scheduled}'::queue.river_job_state[]) AS undone,
			unnest(@queues::text[]) AS one,
			LATERAL (
				SELECT FROM queue.river_job
				WHERE state = undone AND queue = one AND priority = @priority AND created_at < now() - @than::interval
				ORDER BY scheduled_at LIMIT 1
			) AS oldest
	) OR coalesce((
		SELECT changed_at < extract(epoch FROM now() - @than::interval) * 1000000 FROM behind ORDER BY id LIMIT 1
	), false)`
