package tiers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
)

// queue is the plainest job queue: a table of events, written in the change's
// own transaction and worked in random order. It implements timelines.Announcer.
type queue struct {
	t    testing.TB
	pool *pgxpool.Pool
}

func newQueue(t testing.TB, pool *pgxpool.Pool) *queue {
	t.Helper()
	const schema = `
		CREATE TABLE test_events (
			id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			kind text   NOT NULL,
			doc  jsonb  NOT NULL
		)`
	if _, err := pool.Exec(context.Background(), schema); err != nil {
		t.Fatalf("make the queue: %v", err)
	}
	// The next test gets the database as it was made.
	t.Cleanup(func() {
		if _, err := pool.Exec(context.Background(), `DROP TABLE test_events`); err != nil {
			t.Errorf("drop the queue: %v", err)
		}
	})
	return &queue{t: t, pool: pool}
}

// AnnounceTx implements timelines.Announcer.
func (q *queue) AnnounceTx(ctx context.Context, tx pgx.Tx, events ...timelines.Event) error {
	kinds, docs := make([]string, len(events)), make([]string, len(events))
	for i, e := range events {
		doc, err := json.Marshal(e)
		if err != nil {
			return err
		}
		kinds[i], docs[i] = fmt.Sprintf("%T", e), string(doc)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO test_events (kind, doc)
		SELECT kind, doc::jsonb FROM unnest(@kinds::text[], @docs::text[]) AS e(kind, doc)`,
		pgx.StrictNamedArgs{"kinds": kinds, "docs": docs})
	return err
}

func decodeEvent(kind string, doc []byte) (timelines.Event, error) {
	switch kind {
	case "timelines.Touched":
		var e timelines.Touched
		err := json.Unmarshal(doc, &e)
		return e, err
	case "timelines.TouchedBatch":
		var e timelines.TouchedBatch
		err := json.Unmarshal(doc, &e)
		return e, err
	case "timelines.Replace":
		var e timelines.Replace
		err := json.Unmarshal(doc, &e)
		return e, err
	case "timelines.PendingBump":
		var e timelines.PendingBump
		err := json.Unmarshal(doc, &e)
		return e, err
	case "timelines.Upkeep":
		return timelines.Upkeep{}, nil
	case "timelines.SourceReady":
		return timelines.SourceReady{}, nil // the test works the source
	}
	return nil, fmt.Errorf("no event %q", kind)
}

// luck is how carelessly events are worked.
type luck struct {
	rng *rand.Rand
	// One batch in cut is cut short and put back, one in twice is done twice at
	// once, and one in again is done and yet put back; 0: never.
	cut, twice, again int
	// One event in late is left until many more have come; 0: none.
	late int64
	// batch is how many events are taken at most.
	batch int
}

func (l luck) strikes(of int) bool { return of > 0 && l.rng.IntN(of) == 0 }

// errPutBack rolls a batch back: its events stay in the queue.
var errPutBack = errors.New("put back")

// work takes some events, in random order, and does them on a node. It returns
// how many it found.
func (q *queue) work(ctx context.Context, n *node, l luck) (int, error) {
	found := 0
	err := pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT id, kind, doc FROM test_events
			WHERE @late::bigint = 0 OR id % greatest(@late, 1) <> 0
				OR id < (SELECT max(id) FROM test_events) - 40
			ORDER BY random() LIMIT @limit FOR UPDATE SKIP LOCKED`,
			pgx.StrictNamedArgs{"limit": 1 + l.rng.IntN(l.batch), "late": l.late})
		if err != nil {
			return err
		}
		var ids []int64
		var events []timelines.Event
		var id int64
		var kind string
		var doc []byte
		if _, err := pgx.ForEachRow(rows, []any{&id, &kind, &doc}, func() error {
			e, err := decodeEvent(kind, doc)
			ids, events = append(ids, id), append(events, e)
			return err
		}); err != nil {
			return err
		}
		found = len(events)
		if found == 0 {
			return nil
		}
		if l.strikes(l.cut) {
			short, cancel := context.WithTimeout(ctx, time.Duration(l.rng.IntN(4000))*time.Microsecond)
			defer cancel()
			_ = n.perform(short, events) // whether it came to its end is a matter of luck
			return errPutBack
		}
		if err := n.perform(ctx, events); err != nil {
			return err
		}
		if l.strikes(l.twice) {
			if err := n.perform(ctx, events); err != nil {
				return err
			}
		}
		if l.strikes(l.again) {
			return errPutBack
		}
		_, err = tx.Exec(ctx, `DELETE FROM test_events WHERE id = ANY(@ids)`, pgx.StrictNamedArgs{"ids": ids})
		return err
	})
	if errors.Is(err, errPutBack) {
		err = nil
	}
	return found, err
}

// perform does what the jobs do with these events.
func (n *node) perform(ctx context.Context, events []timelines.Event) error {
	var touched []timelines.Touched
	for _, e := range events {
		switch e := e.(type) {
		case timelines.Touched:
			touched = append(touched, e)
		case timelines.TouchedBatch:
			touched = append(touched, e...)
		case timelines.Replace:
			open, err := n.tiers.Spread(ctx, e)
			if err != nil {
				return err
			}
			for _, name := range open {
				if err := n.tiers.Rebuild(ctx, name); err != nil {
					return err
				}
			}
		case timelines.PendingBump:
			if err := n.store.Maintenance.BumpBlock(ctx, e); err != nil {
				return err
			}
		case timelines.Upkeep:
			if _, err := n.store.Maintenance.UpkeepBlock(ctx); err != nil {
				return err
			}
		}
	}
	if len(touched) == 0 {
		return nil
	}
	if err := n.tiers.Distribute(ctx, touched); err != nil {
		return err
	}
	return n.tiers.Follow(ctx, touched)
}

// length is how many events wait.
func (q *queue) length(ctx context.Context) (n int) {
	if err := q.pool.QueryRow(ctx, `SELECT count(*) FROM test_events`).Scan(&n); err != nil {
		q.t.Errorf("count events: %v", err)
	}
	return n
}

// drain works until the queue is empty. Nobody else may be at work.
func (q *queue) drain(ctx context.Context, rng *rand.Rand, nodes ...*node) {
	q.t.Helper()
	for {
		n := nodes[rng.IntN(len(nodes))]
		found, err := q.work(ctx, n, luck{rng: rng, batch: 20})
		if err != nil {
			q.t.Fatalf("drain: %v", err)
		}
		if found == 0 {
			return
		}
	}
}
