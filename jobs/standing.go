package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/storage"
)

// Standing is how the queue stands, for all nodes together.
type Standing struct {
	// Nodes is how many processes say that they live and work jobs.
	Nodes  int
	Queues []Queue
	// Behind is how many changes Tier 2 has still to bring to closed rivers, and BehindFor how long
	// the oldest waits.
	Behind    int64
	BehindFor time.Duration
}

// Queue is how one queue stands.
type Queue struct {
	Name string
	// Waiting are due or will be, and Running are worked.
	Waiting, Running int64
	// Oldest is how long the job waits that was due first.
	Oldest time.Duration
	// Failing are waiting after many failures; they are tried again and again.
	Failing int64
	// Orphaned are running since more than a minute by the name of a node that does not live.
	Orphaned int64
	// Longest is how long the job runs that a living node began first.
	Longest time.Duration
	// Discarded will not be tried again. MissedChores are the same of periodic jobs, whose next run
	// does what they did not.
	Discarded, MissedChores int64
}

// manySnoozes is after how many failures in a row a job counts as failing: some two minutes.
const manySnoozes = 30

// Stand reads how the queue stands. It changes nothing.
//
// It reads every unfinished and discarded job, by the index for fetching, which begins with the state.
// Nodes are counted by their locks: package jobs alone holds shared advisory locks of one key.
func Stand(ctx context.Context, pool *pgxpool.Pool) (Standing, error) {
	const alive = `
		SELECT DISTINCT pid, (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
		WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND mode = 'ShareLock'
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	const whole = `
		SELECT (SELECT count(*) FROM (` + alive + `) a), count(*),
			coalesce(greatest(extract(epoch FROM clock_timestamp()) - min(changed_at) / 1000000.0, 0), 0)::float8
		FROM behind`
	const byQueue = `
		WITH alive AS (` + alive + `), undone AS (
			SELECT queue, state, metadata, max_attempts, scheduled_at, attempted_at,
				state IN ('available', 'retryable', 'scheduled', 'pending') AS waits,
				hashtextextended(attempted_by[cardinality(attempted_by)], 0) = ANY (ARRAY(SELECT key FROM alive)) AS lives
			FROM queue.river_job WHERE state IN ('available', 'retryable', 'scheduled', 'pending', 'running', 'discarded')
		)
		SELECT queue AS name,
			count(*) FILTER (WHERE waits) AS waiting,
			count(*) FILTER (WHERE state = 'running') AS running,
			coalesce(max(extract(epoch FROM now() - scheduled_at)) FILTER (WHERE waits AND scheduled_at < now()), 0)::float8 AS oldest,
			count(*) FILTER (WHERE waits AND jsonb_typeof(metadata -> 'snoozes') = 'number' AND (metadata ->> 'snoozes')::numeric >= @many) AS failing,
			count(*) FILTER (WHERE state = 'running' AND NOT coalesce(lives, false) AND attempted_at < now() - interval '1 minute') AS orphaned,
			coalesce(max(extract(epoch FROM now() - attempted_at)) FILTER (WHERE state = 'running' AND lives), 0)::float8 AS longest,
			count(*) FILTER (WHERE state = 'discarded' AND max_attempts > 1) AS discarded,
			count(*) FILTER (WHERE state = 'discarded' AND max_attempts = 1) AS missed_chores
		FROM undone GROUP BY queue ORDER BY queue`
	var s Standing
	var behindFor float64
	if err := pool.QueryRow(ctx, whole).Scan(&s.Nodes, &s.Behind, &behindFor); err != nil {
		return s, fmt.Errorf("how the job queue stands: %w", err)
	}
	s.BehindFor = seconds(behindFor)
	rows, err := pool.Query(ctx, byQueue, pgx.StrictNamedArgs{"many": manySnoozes})
	if err != nil {
		return s, fmt.Errorf("how the job queue stands: %w", err)
	}
	var q Queue
	var oldest, longest float64
	_, err = pgx.ForEachRow(rows, []any{&q.Name, &q.Waiting, &q.Running, &oldest, &q.Failing, &q.Orphaned, &longest, &q.Discarded, &q.MissedChores}, func() error {
		q.Oldest, q.Longest = seconds(oldest), seconds(longest)
		s.Queues = append(s.Queues, q)
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("how the job queue stands: %w", err)
	}
	return s, nil
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// Urgent reports whether people with a page open wait for the queue's jobs.
func (q Queue) Urgent() bool { return q.Name == queueNow || q.Name == queueRebuild }

// Connections is how many connections to the primary store a node with the workers of cfg may open,
// besides those of Config.Pool.
func Connections(cfg Config) int {
	cfg = cfg.withDefaults()
	return workersConnections(cfg) + sourcesConnections + 1 // presence
}

// KindStanding is how the jobs of one kind stand.
type KindStanding struct {
	Kind string
	// Waiting are due or will be, and Running are worked. Failed are those of the waiting that fail
	// again and again, and those that will not be tried again.
	Waiting, Running, Failed int64
}

// StandByKind is Stand for each kind of jobs that has any, most of them first. It reads the same jobs.
func StandByKind(ctx context.Context, db storage.DB) ([]KindStanding, error) {
	const query = `
		SELECT kind, count(*) FILTER (WHERE waits) AS waiting, count(*) FILTER (WHERE state = 'running') AS running,
			count(*) FILTER (WHERE state = 'discarded' OR waits AND jsonb_typeof(metadata -> 'snoozes') = 'number' AND (metadata ->> 'snoozes')::numeric >= @many) AS failed
		FROM (
			SELECT kind, state, metadata, state IN ('available', 'retryable', 'scheduled', 'pending') AS waits
			FROM queue.river_job WHERE state IN ('available', 'retryable', 'scheduled', 'pending', 'running', 'discarded')) undone
		GROUP BY kind ORDER BY count(*) DESC, kind`
	rows, err := db.Query(ctx, query, pgx.StrictNamedArgs{"many": manySnoozes})
	if err != nil {
		return nil, fmt.Errorf("how jobs stand: %w", err)
	}
	kinds, err := pgx.CollectRows(rows, pgx.RowToStructByName[KindStanding])
	if err != nil {
		return nil, fmt.Errorf("how jobs stand: %w", err)
	}
	return kinds, nil
}
