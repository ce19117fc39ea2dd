// Package storage says what takes the room of a site: tables of either store, and accounts with much in
// the primary one. It changes nothing. Questions that read whole tables end early (Within): a page asks
// them.
package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DB is what can be asked: a pool or a transaction.
type DB interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Table is a table with its indexes.
type Table struct {
	// Name has the schema before it, unless that is public.
	Name  string
	Bytes int64
	// Search is how many of the bytes are of indexes that find words.
	Search int64
}

// Tables returns the tables of a store, the largest first.
func Tables(ctx context.Context, db DB) ([]Table, error) {
	const query = `
		SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname AS name,
			pg_total_relation_size(c.oid) AS bytes,
			(SELECT coalesce(sum(pg_relation_size(i.indexrelid)), 0)::bigint
				FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam
				WHERE i.indrelid = c.oid AND a.amname = 'gin') AS search
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'm') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
		ORDER BY 2 DESC, 1`
	return collect[Table](ctx, db, "sizes of tables", query, nil)
}

// Owner is an account with much in the primary store.
type Owner struct {
	Name         string
	Posts, Files int64
	// Bytes are those of the files.
	Bytes int64
}

// standing is how many posts of an account a stand. The index of posts by their authors counts all, and
// that of removed ones what is left of these.
const standing = `(SELECT count(*) FROM posts p WHERE p.author_id = a.id) - (SELECT count(*) FROM posts p WHERE p.author_id = a.id AND p.deleted_at IS NOT NULL)`

// MostFiles returns the accounts whose uploads have the most bytes. It reads all references to files.
func MostFiles(ctx context.Context, db DB, most int) ([]Owner, error) {
	const query = `
		SELECT a.name, ` + standing + ` AS posts, o.files, o.bytes
		FROM (
			SELECT f.owner_id, count(DISTINCT f.id) AS files, sum(b.bytes)::bigint AS bytes
			FROM file_blobs b JOIN files f ON f.id = b.file_id JOIN accounts a ON a.id = f.owner_id
			WHERE a.kind <> 'gone'
			GROUP BY f.owner_id ORDER BY 3 DESC, 1 LIMIT @most) o
		JOIN accounts a ON a.id = o.owner_id ORDER BY o.bytes DESC, a.id`
	return collect[Owner](ctx, db, "accounts with most files", query, pgx.StrictNamedArgs{"most": most})
}

// MostPosts returns the accounts with the most posts that stand. It reads the index of all posts by their
// authors, and that of what is left of removed ones.
func MostPosts(ctx context.Context, db DB, most int) ([]Owner, error) {
	const query = `
		SELECT a.name, o.posts, coalesce(f.files, 0) AS files, coalesce(f.bytes, 0) AS bytes
		FROM (
			SELECT w.author_id, w.n - coalesce(r.n, 0) AS posts
			FROM (SELECT author_id, count(*) AS n FROM posts GROUP BY author_id) w
			LEFT JOIN (SELECT author_id, count(*) AS n FROM posts WHERE deleted_at IS NOT NULL GROUP BY author_id) r USING (author_id)
			JOIN accounts a ON a.id = w.author_id
			WHERE a.kind <> 'gone' AND w.n > coalesce(r.n, 0)
			ORDER BY 2 DESC, 1 LIMIT @most) o
		JOIN accounts a ON a.id = o.author_id
		LEFT JOIN LATERAL (
			SELECT count(DISTINCT f.id) AS files, sum(b.bytes)::bigint AS bytes
			FROM files f JOIN file_blobs b ON b.file_id = f.id WHERE f.owner_id = a.id) f ON true
		ORDER BY o.posts DESC, a.id`
	return collect[Owner](ctx, db, "accounts with most posts", query, pgx.StrictNamedArgs{"most": most})
}

func collect[T any](ctx context.Context, db DB, what, query string, args pgx.StrictNamedArgs) ([]T, error) {
	rows, err := db.Query(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return found, nil
}

// ErrSlow: an answer took longer than it may.
var ErrSlow = errors.New("too much to read in time")

// Within asks something that reads whole tables and may take no longer than that.
func Within(ctx context.Context, pool *pgxpool.Pool, most time.Duration, ask func(pgx.Tx) error) error {
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		const bound = `SELECT set_config('statement_timeout', @most::text, true)`
		if _, err := tx.Exec(ctx, bound, pgx.StrictNamedArgs{"most": fmt.Sprintf("%dms", most.Milliseconds())}); err != nil {
			return fmt.Errorf("bound a question: %w", err)
		}
		return ask(tx)
	})
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "57014" { // query_canceled
		return ErrSlow
	}
	return err
}
