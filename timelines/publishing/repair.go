package publishing

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Difference is a counter that was wrong.
type Difference struct {
	Author   int64
	Status   Status
	Imported bool
	// Counted is what the counter said, Posts how many posts there are.
	Counted, Posts int64
}

// String says what is wrong.
func (d Difference) String() string {
	return fmt.Sprintf("counter of account %d, status %d, imported %t: %d, want %d", d.Author, d.Status, d.Imported, d.Counted, d.Posts)
}

// differences counts the posts of authors by the index, and compares. One snapshot has both.
const differences = `
	SELECT author_id AS author, status, imported, coalesce(c.posts, 0) AS counted, coalesce(p.n, 0) AS posts
	FROM (SELECT author_id, status, imported, posts FROM author_counters WHERE author_id = ANY(@authors)) c
	FULL JOIN (
		SELECT author_id, status, imported, count(*) AS n FROM posts WHERE author_id = ANY(@authors) AND status < 5 GROUP BY 1, 2, 3
	) p USING (author_id, status, imported)
	WHERE coalesce(c.posts, 0) <> coalesce(p.n, 0)
	ORDER BY 1, 2, 3`

// Compare returns the counters of authors that differ from the number of their posts.
func (s *Store) Compare(ctx context.Context, authors ...int64) ([]Difference, error) {
	return compare(ctx, s.pool, authors)
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func compare(ctx context.Context, db querier, authors []int64) ([]Difference, error) {
	rows, err := db.Query(ctx, differences, pgx.StrictNamedArgs{"authors": authors})
	var found []Difference
	if err == nil {
		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[Difference])
	}
	if err != nil {
		return nil, fmt.Errorf("compare counters: %w", err)
	}
	return found, nil
}

// Repair makes an author's counters right, and returns those that were wrong. Writers of that author
// wait for one statement of at most ten rows (see the package's comment). Repairs of one
// author come one after the other.
func (s *Store) Repair(ctx context.Context, author int64) (wrong []Difference, err error) {
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		const alone = `SELECT pg_advisory_xact_lock(hashtextextended('author_counters', @author))`
		if _, err := tx.Exec(ctx, alone, pgx.StrictNamedArgs{"author": author}); err != nil {
			return err
		}
		if wrong, err = compare(ctx, tx, []int64{author}); err != nil {
			return err
		}
		var counts Counts
		for _, d := range wrong {
			counts.Add(author, d.Status, d.Imported, d.Posts-d.Counted)
		}
		return counts.ApplyTx(ctx, tx)
	})
	if err != nil {
		return nil, fmt.Errorf("repair counters: %w", err)
	}
	return wrong, nil
}

// RepairEach is Repair for those of the authors whose counters differ. Beside an error it returns those repaired so far.
func (s *Store) RepairEach(ctx context.Context, authors ...int64) (wrong []Difference, err error) {
	found, err := s.Compare(ctx, authors...)
	if err != nil {
		return nil, err
	}
	found = slices.CompactFunc(found, func(a, b Difference) bool { return a.Author == b.Author })
	for _, d := range found {
		repaired, err := s.Repair(ctx, d.Author)
		if err != nil {
			return wrong, err
		}
		wrong = append(wrong, repaired...)
	}
	return wrong, nil
}

// RepairSample is RepairEach for at most limit people, from a random one on. All nodes together do it once
// in 24 hours at most: if it was done since, no author is checked.
func (s *Store) RepairSample(ctx context.Context, limit int) (checked int, wrong []Difference, err error) {
	// One of several nodes changes the row; the others wait for it, and then find it too young.
	const claim = `UPDATE counter_checks SET checked_at = now() WHERE checked_at <= now() - interval '24 hours'`
	tag, err := s.pool.Exec(ctx, claim)
	if err != nil {
		return 0, nil, fmt.Errorf("claim the check of counters: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return 0, nil, nil
	}
	authors, err := s.Sample(ctx, limit)
	if err != nil {
		return 0, nil, err
	}
	wrong, err = s.RepairEach(ctx, authors...)
	return len(authors), wrong, err
}

// After returns at most limit people with ids above one, in their order: all who may have posts or counters.
func (s *Store) After(ctx context.Context, author int64, limit int) ([]int64, error) {
	const query = `SELECT id FROM accounts WHERE id > @after AND kind <> 'group' ORDER BY id LIMIT @limit`
	return s.authors(ctx, query, pgx.StrictNamedArgs{"after": author, "limit": limit})
}

// Sample returns at most limit people who follow each other by id, from a random one on.
func (s *Store) Sample(ctx context.Context, limit int) ([]int64, error) {
	const query = `
		SELECT id FROM accounts WHERE id >= (SELECT (random() * max(id))::bigint FROM accounts) AND kind <> 'group'
		ORDER BY id LIMIT @limit`
	return s.authors(ctx, query, pgx.StrictNamedArgs{"limit": limit})
}

func (s *Store) authors(ctx context.Context, query string, args pgx.StrictNamedArgs) ([]int64, error) {
	rows, err := s.pool.Query(ctx, query, args)
	var ids []int64
	if err == nil {
		ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	if err != nil {
		return nil, fmt.Errorf("choose authors: %w", err)
	}
	return ids, nil
}
