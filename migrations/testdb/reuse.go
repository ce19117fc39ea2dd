package testdb

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A template is what a new database holds. Its copies have the same oids.
type template struct {
	rows      map[string]string // the rows that migrations insert, as JSON, by table
	sequences []int64           // the last value of each, in the order of oids; 0 if there is none
	catalog   string            // fingerprint
}

// Tables of ours with at least one page: also of rows that were deleted or rolled back.
const filledTables = `SELECT coalesce(array_agg(oid::regclass::text), '{}') FROM pg_class
	WHERE oid >= 16384 AND relkind = 'r' AND pg_relation_size(oid) > 0`

// empty deletes all rows. To truncate tables takes longer, and has each connection parse and plan
// all its statements again. But deleted rows take space, which nobody reclaims here: when a
// table has 256 kB, it and those that refer to it are truncated.
const empty = `DO $$
	DECLARE
		name text;
		bytes bigint;
	BEGIN
		FOR name, bytes IN
			SELECT oid::regclass::text, pg_relation_size(oid) + CASE reltoastrelid WHEN 0 THEN 0 ELSE pg_relation_size(reltoastrelid) END
			FROM pg_class WHERE oid >= 16384 AND relkind = 'r' AND pg_relation_size(oid) > 0
		LOOP
			IF bytes > 262144 THEN
				EXECUTE 'TRUNCATE ' || name || ' CASCADE';
			ELSE
				EXECUTE 'DELETE FROM ' || name;
			END IF;
		END LOOP;
	END $$`

const lastValues = `SELECT array_agg(coalesce(pg_sequence_last_value(seqrelid), 0) ORDER BY seqrelid) FROM pg_sequence`

// Every change of a table, an index, a function, a trigger, a constraint, a namespace or a setting
// leaves another xmin or another row. ANALYZE leaves statistics, VACUUM a count of rows.
const fingerprint = `SELECT concat_ws(' ',
	(SELECT sum(hashtext(concat(attrelid, ' ', attnum, ' ', xmin))) FROM pg_attribute WHERE attrelid >= 16384),
	(SELECT sum(hashtext(concat(oid, ' ', xmin))) FROM pg_proc WHERE oid >= 16384),
	(SELECT sum(hashtext(concat(oid, ' ', xmin))) FROM pg_trigger WHERE oid >= 16384),
	(SELECT sum(hashtext(concat(oid, ' ', xmin))) FROM pg_constraint WHERE oid >= 16384),
	(SELECT sum(hashtext(concat(oid, ' ', xmin))) FROM pg_namespace),
	(SELECT count(*) FROM pg_statistic WHERE starelid >= 16384),
	(SELECT sum(reltuples) FROM pg_class WHERE oid >= 16384 AND relkind = 'r'),
	(SELECT count(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
		WHERE d.datname = current_database()))`

func describe(ctx context.Context, pool *pgxpool.Pool) (template, error) {
	tm := template{rows: map[string]string{}}
	var tables []string
	if err := pool.QueryRow(ctx, filledTables).Scan(&tables); err != nil {
		return tm, err
	}
	for _, table := range tables {
		var rows string
		if err := pool.QueryRow(ctx, "SELECT json_agg(t) FROM "+table+" t").Scan(&rows); err != nil {
			return tm, err
		}
		tm.rows[table] = rows
	}
	if err := pool.QueryRow(ctx, lastValues).Scan(&tm.sequences); err != nil {
		return tm, err
	}
	return tm, pool.QueryRow(ctx, fingerprint).Scan(&tm.catalog)
}

// restore empties a database and fills it as the template is filled. It reports false if
// the database cannot be made equal to the template, or if somebody still uses it. The
// pools are all there are to the database.
func (tm template) restore(ctx context.Context, pools []*pgxpool.Pool) (bool, error) {
	var conn *pgx.Conn
	var pids []uint32
	for _, pool := range pools {
		if pool.Stat().AcquiredConns() > 0 {
			return false, nil
		}
		if err := pool.Ping(ctx); err != nil { // makes a connection if there is none
			return false, nil
		}
		for _, c := range pool.AcquireAllIdle(ctx) {
			defer c.Release()
			// A connection that a test had cut off gives an error here, and not in the next test.
			const end = "UNLISTEN *; RESET ALL; SELECT pg_advisory_unlock_all(), pg_stat_force_next_flush()"
			if _, err := c.Exec(ctx, end); err != nil {
				return false, nil
			}
			conn = c.Conn()
			pids = append(pids, conn.PgConn().PID())
		}
	}
	var others int
	err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> ALL ($1)`, pids).Scan(&others)
	if err != nil || others > 0 {
		return false, err
	}
	var catalog string
	if err := conn.QueryRow(ctx, fingerprint).Scan(&catalog); err != nil || catalog != tm.catalog {
		return false, err
	}
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return tm.refill(ctx, tx) }); err != nil {
		return false, fmt.Errorf("empty %s: %w", conn.Config().Database, err)
	}
	return true, nil
}

func (tm template) refill(ctx context.Context, tx pgx.Tx) error {
	// Rows that migrations insert have gone through the triggers before.
	if _, err := tx.Exec(ctx, "SELECT pg_stat_reset(), set_config('session_replication_role', 'replica', true)"); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, empty); err != nil {
		return err
	}
	for table, rows := range tm.rows {
		_, err := tx.Exec(ctx, "INSERT INTO "+table+" OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::"+table+", $1)", rows)
		if err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `SELECT setval(seqrelid, CASE last WHEN 0 THEN seqstart ELSE last END, last <> 0)
		FROM (SELECT *, row_number() OVER (ORDER BY seqrelid) AS n FROM pg_sequence) s
		JOIN unnest($1::bigint[]) WITH ORDINALITY AS w (last, n) USING (n)`, tm.sequences)
	return err
}

// take returns an emptied pair, nil if there is none.
func (s *server) take() *DB {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 {
		return nil
	}
	db := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return db
}

// giveBack empties a pair for the next test. It drops a pair whose schema or settings
// the test changed, or to which it left connections.
func (s *server) giveBack(ctx context.Context, t testing.TB, db *DB) {
	whole := true
	for i, address := range []string{db.PrimaryURL, db.SecondaryURL} {
		if !whole {
			break
		}
		var err error
		if whole, err = s.templates[i].restore(ctx, s.pools(db, address)); err != nil {
			t.Errorf("testdb: %v", err)
		}
	}
	if whole {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free = append(s.free, db)
		return
	}
	for _, pool := range append(s.pools(db, db.PrimaryURL), s.pools(db, db.SecondaryURL)...) {
		closePool(t, pool)
	}
	if err := s.drop(ctx, db); err != nil {
		t.Errorf("testdb: drop the databases: %v", err)
	}
}

// pools returns all pools that a database has outside of Open.
func (s *server) pools(db *DB, address string) []*pgxpool.Pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if address == db.PrimaryURL {
		return append([]*pgxpool.Pool{db.Primary}, s.spare[address]...)
	}
	return append([]*pgxpool.Pool{db.Secondary}, s.spare[address]...)
}

// takePool returns a pool that an earlier test opened to a database, nil if there is none.
func (s *server) takePool(address string) *pgxpool.Pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	spare := s.spare[address]
	if len(spare) == 0 {
		return nil
	}
	s.spare[address] = spare[1:]
	return spare[0]
}

func (s *server) givePool(t testing.TB, address string, pool *pgxpool.Pool) {
	if pool.Stat().AcquiredConns() > 0 || pool.Ping(context.Background()) != nil {
		closePool(t, pool) // waits for connections; the test may have closed it
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare[address] = append(s.spare[address], pool)
}
