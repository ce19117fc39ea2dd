package timelines

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// History is where the primary store stands in its history. The secondary store keeps what it
// was made from (see rivers): rivers and folds of a state that was taken back since would show
// lost posts in the place of new ones, because ids are given out again.
//
// Each part finds what the others miss. A dump that is restored into the same database, or into
// a new one, changes ID, and keeps numbers and marks. A copy of the server's files keeps ID; it
// has another mark for a number that both histories drew, or is behind in N or WAL.
type History struct {
	// ID names the store: system identifier, recovery timeline and database, and the table of
	// the access clock and its file, which pg_restore --clean and TRUNCATE make anew. (VACUUM
	// FULL makes the file anew as well; that costs the rivers, which is only time.)
	ID string
	// N is the last number of the access clock, and Mark the random number drawn with it.
	N, Mark int64
	// MarkAt is the mark of the number that was asked about, -1 if the log does not know.
	MarkAt int64
	// WAL is how far the write-ahead log reaches.
	WAL int64
	// keys counts the keys and foreign keys of all tables.
	keys int64
}

// ErrRestoring says that the primary store lacks tables or keys: it is being restored, or is of
// another version.
var ErrRestoring = errors.New("the primary store is incomplete: it is being restored, or is of another version")

// History returns where the store stands, and its mark of the number n. ErrRestoring means that
// the store cannot be read as this version makes it.
func (s *Store) History(ctx context.Context, n int64) (History, error) {
	const query = `
		SELECT concat_ws('/', s.system_identifier, p.timeline_id, d.oid, t.oid, t.relfilenode), c.n, c.mark,
			CASE c.n WHEN @n THEN c.mark ELSE coalesce((SELECT l.mark FROM access_log l WHERE l.n = @n LIMIT 1), -1) END,
			(pg_current_wal_flush_lsn() - '0/0')::bigint,
			(SELECT count(*) FROM pg_constraint k WHERE k.connamespace = t.relnamespace AND k.contype IN ('p', 'u', 'f'))
		FROM access_clock c, pg_control_system() s, pg_control_checkpoint() p, pg_database d, pg_class t
		WHERE d.datname = current_database() AND t.oid = c.tableoid`
	var h History
	err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"n": n}).Scan(&h.ID, &h.N, &h.Mark, &h.MarkAt, &h.WAL, &h.keys)
	var said *pgconn.PgError
	switch {
	case err == nil:
		return h, nil
	case errors.Is(err, pgx.ErrNoRows), errors.As(err, &said) && isUndefined(said.Code):
		return h, fmt.Errorf("%w: %w", ErrRestoring, err)
	}
	return h, fmt.Errorf("read access clock: %w", err)
}

func isUndefined(code string) bool {
	switch code {
	case "3F000", // invalid_schema_name
		"42P01", // undefined_table
		"42703": // undefined_column
		return true
	}
	return false
}

// keysOfSchema is how many keys and foreign keys the migrations make.
const keysOfSchema = 268

// Whole reports whether the store has all its keys. pg_restore makes them after it has loaded the
// rows. An operator's own tables may have more.
func (h History) Whole() bool { return h.keys >= keysOfSchema }

// DrawStart draws a number of the access clock that invalidates nothing. A node that starts does
// so: a copy of the store from before is then known to be behind.
func (s *Store) DrawStart(ctx context.Context) error {
	_, err := inTx(ctx, s.core, func(tx pgx.Tx) (int64, error) { return tickTx(ctx, tx, Invalidation{Kind: invalidNothing}) })
	return err
}

// newMark returns a random number above 0.
func newMark() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	return int64(binary.BigEndian.Uint64(b[:])>>1 | 1)
}
