package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/blobs"
)

// Grace is how long a blob that nothing refers to is kept: longer than it takes from storing an
// upload to recording it.
const Grace = 6 * time.Hour

// leftover is how old what a crash left behind in the store of blobs is when it is removed.
const leftover = 24 * time.Hour

// batch is how many blobs one statement asks about.
const batch = 1000

// Sweep removes blobs that nothing refers to and that are older than before, which is at least
// Grace ago, and returns how many.
func Sweep(ctx context.Context, db DB, store blobs.Store, before time.Time) (n int, err error) {
	// First what is quick to find: a walk through a very large store may end before its time.
	if err = store.DeleteLeftovers(ctx, before.Add(Grace-leftover)); err != nil {
		return 0, fmt.Errorf("sweep blobs: %w", err)
	}
	err = unreferenced(ctx, db, store, before, func(sum blobs.Sum) error {
		gone, err := store.DeleteOlder(ctx, sum, before)
		if gone {
			n++
		}
		return err
	})
	if err != nil {
		return n, fmt.Errorf("sweep blobs: %w", err)
	}
	return n, nil
}

// unreferenced calls found for each blob that is older than before and that no file refers to.
func unreferenced(ctx context.Context, db DB, store blobs.Store, before time.Time, found func(blobs.Sum) error) error {
	var sums [][]byte
	ask := func() error {
		if len(sums) == 0 {
			return nil
		}
		const query = `SELECT s FROM unnest(@sums::bytea[]) s 
			WHERE NOT EXISTS (SELECT FROM file_blobs b WHERE b.sum = s) AND NOT EXISTS (SELECT FROM links l WHERE l.picture = s)
				AND NOT EXISTS (SELECT FROM loads l WHERE l.file = s)`
		rows, err := db.Query(ctx, query, pgx.StrictNamedArgs{"sums": sums})
		if err != nil {
			return err
		}
		loose, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return err
		}
		for _, s := range loose {
			if err := found(blobs.Sum(s)); err != nil {
				return err
			}
		}
		sums = sums[:0]
		return nil
	}
	err := store.Walk(ctx, func(sum blobs.Sum, _ int64, modified time.Time) error {
		if !modified.Before(before) {
			return nil
		}
		if sums = append(sums, sum[:]); len(sums) == batch {
			return ask()
		}
		return nil
	})
	return errors.Join(err, ask())
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
	err := unreferenced(ctx, db, store, time.Now().Add(-2*Grace), func(sum blobs.Sum) error {
		r.Orphaned = append(r.Orphaned, fmt.Sprintf("blob %s: nothing refers to it", sum))
		return nil
	})
	if err != nil {
		return r, fmt.Errorf("check blobs: %w", err)
	}
	return r, nil
}
