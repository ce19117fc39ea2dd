package changes

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
)

// Shards is how many parts the outbox has. Each is relayed by one process at a time.
const Shards = 16

const (
	// batch is how many of the oldest rows the relay looks at in one transaction, as many of each shard.
	batch = 2000
	// ring is how many days the log has tables for.
	ring = 32
	// DefaultDays is how many days the log is kept, and MostDays how many it may be kept: one day of the ring is written, and
	// one is for clocks that differ.
	DefaultDays = 7
	MostDays    = ring - 2
	// dayBit is the lowest bit of a number that says the day.
	dayBit = 32
)

// Store has the log.
type Store struct {
	pool *pgxpool.Pool
	days int64
	now  func() time.Time
}

// Open returns the log of a store. It keeps that many whole days, from 1 to MostDays; 0: DefaultDays.
func Open(s *timelines.Store, days int) *Store {
	return &Store{pool: s.Pool(), days: int64(cmp.Or(days, DefaultDays)), now: time.Now}
}

// Waiting returns the shards that have rows for the relay.
func (s *Store) Waiting(ctx context.Context) ([]int, error) {
	const query = `
		SELECT s FROM generate_series(0, @shards - 1) s
		WHERE EXISTS (SELECT FROM outbox o WHERE o.shard = s) ORDER BY s`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"shards": Shards})
	var shards []int
	if err == nil {
		shards, err = pgx.CollectRows(rows, pgx.RowTo[int])
	}
	if err != nil {
		return nil, fmt.Errorf("look into the outbox: %w", err)
	}
	return shards, nil
}

// Relay moves the oldest rows of these shards to the log. The shards are in order. It returns how many it moved, and whether
// there may be more. It waits while another process relays one of the shards.
func (s *Store) Relay(ctx context.Context, shards []int) (moved int64, more bool, err error) {
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		// Readers go on after a number, so no crash of the database may give it to another row. All take the
		// locks in the order of the shards, so none waits for another in a circle.
		const lock = `
			SELECT pg_advisory_xact_lock(hashtextextended('outbox', s)), set_config('synchronous_commit', 'on', true)
			FROM unnest(@shards::bigint[]) s`
		if _, err := tx.Exec(ctx, lock, pgx.StrictNamedArgs{"shards": shards}); err != nil {
			return err
		}
		first := s.today() << dayBit
		each := max(1, batch/len(shards))
		// The last statement: whoever wants the next number waits until the commit.
		const query = `
			WITH oldest AS (
				SELECT o.* FROM unnest(@shards::smallint[]) s
				CROSS JOIN LATERAL (SELECT * FROM outbox o WHERE o.shard = s ORDER BY o.id LIMIT @each) o
			), taken AS (
				DELETE FROM outbox o USING oldest w WHERE o.shard = w.shard AND o.id = w.id
			), many AS (
				SELECT count(*) AS n FROM oldest
			), head AS (
				UPDATE changes_head h SET seq = greatest(h.seq, @first) + many.n FROM many WHERE many.n > 0
				RETURNING h.seq, many.n
			), numbered AS (
				SELECT head.seq - head.n + row_number() OVER (ORDER BY o.id) AS seq, o.* FROM oldest o, head
			), logged AS (
				INSERT INTO changes (seq, slot, shard, id, kind, post_id, version, account_id, timeline_id, made_at, places)
				SELECT seq, (seq >> @bit) % @ring, shard, id, kind, post_id, version, account_id, timeline_id, made_at, places
				FROM numbered
			)
			SELECT n, EXISTS (SELECT FROM oldest GROUP BY shard HAVING count(*) = @each) FROM many`
		return tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
			"shards": shards, "each": each, "first": first, "bit": dayBit, "ring": ring,
		}).Scan(&moved, &more)
	})
	if err != nil {
		return 0, false, fmt.Errorf("relay shards %v of the outbox: %w", shards, err)
	}
	return moved, more, nil
}

// RelayAll moves all that is in the outbox when it is called, and returns how many rows it moved. All shards go together:
// each transaction is four statements, and waits for the disk.
func (s *Store) RelayAll(ctx context.Context) (moved int64, err error) {
	for more := true; more; {
		shards, err := s.Waiting(ctx)
		if err != nil || len(shards) == 0 {
			return moved, err
		}
		var n int64
		if n, more, err = s.Relay(ctx, shards); err != nil {
			return moved, err
		}
		moved += n
	}
	return moved, nil
}

// Trim empties the tables of the days that are not kept any more. It must run at least once a day.
func (s *Store) Trim(ctx context.Context) error {
	const query = `
		SELECT d.slot, last.seq FROM generate_series(0, @ring - 1) AS d (slot)
		CROSS JOIN LATERAL (SELECT max(seq) AS seq FROM changes c WHERE c.slot = d.slot) last
		WHERE last.seq < @below`
	type full struct {
		Slot int
		Seq  int64
	}
	below := (s.today() - s.days) << dayBit
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"ring": ring, "below": below})
	var old []full
	if err == nil {
		old, err = pgx.CollectRows(rows, pgx.RowToStructByPos[full])
	}
	for _, day := range old {
		if err == nil {
			err = s.empty(ctx, day.Slot, day.Seq)
		}
	}
	if err != nil {
		return fmt.Errorf("trim the log of changes: %w", err)
	}
	return nil
}

// empty empties the table of a slot, whose last number is given. TRUNCATE waits for readers of that table; if they take
// long, the next run tries again.
func (s *Store) empty(ctx context.Context, slot int, last int64) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		const note = `UPDATE changes_head SET trimmed = greatest(trimmed, @last)`
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '5s'`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `TRUNCATE changes_`+strconv.Itoa(slot)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, note, pgx.StrictNamedArgs{"last": last}) // last: the relay waits for this row
		return err
	})
}

func (s *Store) today() int64 { return s.now().Unix() / int64(24*time.Hour/time.Second) }
