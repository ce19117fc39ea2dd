package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Behind reports whether a change older than that is still missing, or may be, from
// rivers that nobody had open when it was made: its distribute job is not done, be it
// waiting, failing, running, or left by a node that died, or Tier 2 has still to follow
// its note. A page opened meanwhile is brought up by itself (rivers.Freshen).
//
// Both are asked in one statement, which sees one state of the database: a job is done
// only after its note was committed, and a note goes only when rivers have followed; so
// no change is between the two.
//
// For each state it is a probe of the index for fetching, in whose order those that wait
// come oldest first, and one of the notes' key. Younger changes are passed over;
// there are few of them.
func Behind(ctx context.Context, pool *pgxpool.Pool, than time.Duration) (bool, error) {
	var is bool
	args := pgx.StrictNamedArgs{"queue": queueNow, "priority": priorityDistribute, "than": than}
	if err := pool.QueryRow(ctx, behind, args).Scan(&is); err != nil {
		return false, fmt.Errorf("ask whether rivers are behind: %w", err)
	}
	return is, nil
}

// The first priority of the queue now is distribute's alone. The order within the states
// keeps the server to the index of a table which is mostly of jobs that are done. Only
// where it believes that no job at all is that old does it read the table instead.
const behind = `
	SELECT EXISTS (
		SELECT FROM unnest('{available,running,retryable,scheduled}'::queue.river_job_state[]) AS undone,
			LATERAL (
				SELECT FROM queue.river_job
				WHERE state = undone AND queue = @queue AND priority = @priority AND created_at < now() - @than::interval
				ORDER BY scheduled_at LIMIT 1
			) AS oldest
	) OR coalesce((
		SELECT changed_at < extract(epoch FROM now() - @than::interval) * 1000000 FROM behind ORDER BY id LIMIT 1
	), false)`
