package sources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The first keys of the advisory locks of sources. The second key is the id of the source. Only 32
// bits of the id count, so two sources whose ids are 2^32 apart wait for each other.
const (
	workLocks  = 7245_016
	fetchLocks = 7245_017
)

// held is a source whose advisory lock a process holds on a connection.
type held struct {
	source int64
	// code tells the source from another one that has its id since the primary store was restored from a
	// copy. The lock outlives a restore, so each statement that writes for the source compares the code.
	// It is empty if there was no such source.
	code string
	conn *pgxpool.Conn
}

// lock takes an advisory lock of a source on a connection, which holds it until unlock. It returns
// ErrBusy if the lock is taken. The lock is free when the process or its connection dies.
func (s *Store) lock(ctx context.Context, locks int, source int64) (held, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return held{}, fmt.Errorf("lock a source: %w", err)
	}
	h := held{source: source, conn: conn}
	var locked bool
	err = conn.QueryRow(ctx, `
		SELECT pg_try_advisory_lock(@locks, @source::bigint::bit(32)::int), coalesce((SELECT code FROM sources WHERE id = @source), '')`,
		pgx.StrictNamedArgs{"locks": locks, "source": source}).Scan(&locked, &h.code)
	if err != nil {
		// The lock may have been taken, so the connection must not go back to the pool.
		return held{}, errors.Join(fmt.Errorf("lock a source: %w", err), conn.Hijack().Close(context.WithoutCancel(ctx)))
	}
	if !locked {
		conn.Release()
		return held{}, ErrBusy
	}
	return h, nil
}

// unlock frees a lock, even if ctx has ended (F11: whatever happened).
func unlock(ctx context.Context, conn *pgxpool.Conn, locks int, source int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if conn.Conn().IsClosed() {
		conn.Release()
		return nil
	}
	var unlocked bool
	err := conn.QueryRow(ctx, `SELECT pg_advisory_unlock(@locks, @source::bigint::bit(32)::int)`,
		pgx.StrictNamedArgs{"locks": locks, "source": source}).Scan(&unlocked)
	if err == nil && unlocked {
		conn.Release()
		return nil
	}
	if err != nil {
		err = fmt.Errorf("unlock a source: %w", err)
	}
	return errors.Join(err, conn.Hijack().Close(ctx)) // the lock is free when its connection ends
}
