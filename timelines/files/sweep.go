package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/blobs"
)

// Grace is how long a blob that nothing refers to is kept: longer than it takes from storing an
// upload to recording it.
const Grace = 6 * time.Hour

// leftover is how old what a crash left behind in the store of blobs is when it is removed.
const leftover = 24 * time.Hour

// batch is how many blobs one statement asks about.
const batch = 1000

// holdLock is the key of the advisory lock that keeps blobs: "keepblob" in ASCII. A copy of the
// store of blobs shares it, and a sweep takes it for each batch that it removes.
const holdLock = 0x6b656570626c6f62

// Hold waits until no sweep removes blobs, and keeps others from it until the connection is closed.
// So every blob that a later transaction finds a reference to stays, even if the reference goes.
func Hold(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock_shared(@key)`, pgx.StrictNamedArgs{"key": int64(holdLock)}); err != nil {
		return fmt.Errorf("hold blobs: %w", err)
	}
	return nil
}

// errHeld says that blobs are held: the next sweep removes them.
var errHeld = errors.New("blobs are held")

// Sweep removes blobs that nothing refers to and that are older than before, which is at least
// Grace ago, and returns how many. While blobs are held it removes none.
func Sweep(ctx context.Context, db *pgxpool.Pool, store blobs.Store, before time.Time) (n int, err error) {
	// First what is quick to find: a walk through a very large store may end before its time.
	if err = store.DeleteLeftovers(ctx, before.Add(Grace-leftover)); err != nil {
		return 0, fmt.Errorf("sweep blobs: %w", err)
	}
	err = eachOlder(ctx, store, before, func(sums [][]byte) error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			// The lock comes first: what was referred to when blobs were held is not asked about.
			var free bool
			err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(@key)`, pgx.StrictNamedArgs{"key": int64(holdLock)}).Scan(&free)
			if err != nil {
				return err
			}
			if !free {
				return errHeld
			}
			loose, err := unreferenced(ctx, tx, sums)
			for _, s := range loose {
				gone, err := store.DeleteOlder(ctx, blobs.Sum(s), before)
				if gone {
					n++
				}
				if err != nil {
					return err
				}
			}
			return err
		})
	})
	if err != nil && !errors.Is(err, errHeld) {
		return n, fmt.Errorf("sweep blobs: %w", err)
	}
	return n, nil
}

// eachOlder calls do for batches of the blobs that are older than before.
func eachOlder(ctx context.Context, store blobs.Store, before time.Time, do func(sums [][]byte) error) error {
	var sums [][]byte
	err := store.Walk(ctx, func(sum blobs.Sum, _ int64, modified time.Time) error {
		if !modified.Before(before) {
			return nil
		}
		if sums = append(sums, sum[:]); len(sums) < batch {
			return nil
		}
		err := do(sums)
		sums = sums[:0]
		return err
	})
	if err != nil || len(sums) == 0 {
		return err
	}
	return do(sums)
}

// unreferenced returns those of the sums that no file refers to.
func unreferenced(ctx context.Context, db DB, sums [][]byte) ([][]byte, error) {
	const query = `SELECT s FROM unnest(@sums::bytea[]) s 
		WHERE NOT EXISTS (SELECT FROM file_blobs b WHERE b.sum = s) AND NOT EXISTS (SELECT FROM links l WHERE l.picture = s)
			AND NOT EXISTS (SELECT FROM loads l WHERE l.file = s) AND NOT EXISTS (SELECT FROM exports e WHERE e.file = s)`
	rows, err := db.Query(ctx, query, pgx.StrictNamedArgs{"sums": sums})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[[]byte])
}

// Report is what Check found.
type Report struct {
	// Blobs is how many are referred to.
	Blobs int
	// Missing have a reference and no blob, or a blob of another size.
	Missing []string
	// Orphaned have had no reference for twice the Grace: the sweep does not run.
	Orphaned []string
}

// Check compares the references with the store of blobs.
func Check(ctx context.Context, db DB, store blobs.Store) (Report, error) {
	var r Report
	// In blocks: no statement stays open while the store is asked.
	after := []byte{}
	for {
		const query = `
			SELECT sum, max(bytes) FROM (
				SELECT * FROM (SELECT DISTINCT sum, bytes FROM file_blobs WHERE sum > @after ORDER BY sum LIMIT @limit) f
				UNION ALL
				SELECT * FROM (SELECT DISTINCT picture, bytes FROM links WHERE picture > @after ORDER BY picture LIMIT @limit) l
				UNION ALL
				SELECT * FROM (SELECT DISTINCT file, bytes FROM loads WHERE file > @after ORDER BY file LIMIT @limit) s
				UNION ALL
				SELECT * FROM (SELECT DISTINCT file, bytes FROM exports WHERE file > @after ORDER BY file LIMIT @limit) e
			) b GROUP BY sum ORDER BY sum LIMIT @limit`
		rows, err := db.Query(ctx, query, pgx.StrictNamedArgs{"after": after, "limit": batch})
		if err != nil {
			return r, fmt.Errorf("check blobs: %w", err)
		}
		type reference struct {
			Sum []byte
			Max int64
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByName[reference])
		if err != nil {
			return r, fmt.Errorf("check blobs: %w", err)
		}
		if len(found) == 0 {
			break
		}
		for _, f := range found {
			r.Blobs++
			blob, err := store.Open(ctx, blobs.Sum(f.Sum), f.Max)
			switch {
			case err == nil:
				err = blob.Close()
			case errors.Is(err, blobs.ErrNotFound), errors.Is(err, blobs.ErrDamaged):
				r.Missing, err = append(r.Missing, fmt.Sprintf("blob %s: %v", blobs.Sum(f.Sum), err)), nil
			}
			if err != nil {
				return r, fmt.Errorf("check blobs: %w", err)
			}
		}
		after = found[len(found)-1].Sum
	}
	err := eachOlder(ctx, store, time.Now().Add(-2*Grace), func(sums [][]byte) error {
		loose, err := unreferenced(ctx, db, sums)
		for _, s := range loose {
			r.Orphaned = append(r.Orphaned, fmt.Sprintf("blob %s: nothing refers to it", blobs.Sum(s)))
		}
		return err
	})
	if err != nil {
		return r, fmt.Errorf("check blobs: %w", err)
	}
	return r, nil
}
