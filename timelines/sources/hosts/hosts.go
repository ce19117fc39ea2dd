// Package hosts keeps the limit of requests to other hosts across nodes: one at a time, with a gap.
// Feeds and their pictures are counted apart, so that neither waits for all of the other.
package hosts

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Lease is how long a host is left alone if a node dies while asking it. A request that takes longer
// does not keep other requests from the host.
const Lease = 2 * time.Minute

// DB is a pool, a connection or a transaction.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Host returns the name under which requests for an address are counted: its host, with the port if it
// is not the usual one.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Host)
	for _, port := range []string{":80", ":443"} {
		host = strings.TrimSuffix(host, port)
	}
	return host
}

// Reserve lets the caller ask a host until it calls Release, and keeps all other nodes from it
// meanwhile. If the host may not be asked now, Reserve returns how long to wait: at most until the
// request that is under way has its answer. If another node reserves the host at this very moment,
// Reserve returns gap.
func Reserve(ctx context.Context, db DB, host string, gap time.Duration) (wait time.Duration, err error) {
	// The wait is counted from the clock, not from now(): this statement may begin before the
	// statement that reserves the host, and then wait for it.
	const query = `
		WITH reserved AS (
			INSERT INTO fetch_hosts AS h (host, next_at) VALUES (@host, now() + @lease)
			ON CONFLICT (host) DO UPDATE SET next_at = EXCLUDED.next_at WHERE h.next_at <= now()
			RETURNING 0::bigint
		)
		SELECT * FROM reserved
		UNION ALL
		SELECT greatest(1, (extract(epoch FROM next_at - clock_timestamp()) * 1000000)::bigint) FROM fetch_hosts
		WHERE host = @host AND NOT EXISTS (SELECT FROM reserved)`
	var left int64
	err = db.QueryRow(ctx, query, pgx.StrictNamedArgs{"host": host, "lease": Lease}).Scan(&left)
	if errors.Is(err, pgx.ErrNoRows) {
		return gap, nil // another node reserved it at this moment, for the first time
	}
	if err != nil {
		return 0, fmt.Errorf("reserve a host: %w", err)
	}
	return time.Duration(left) * time.Microsecond, nil
}

// Release lets others ask a host again after a gap, even if ctx has ended.
func Release(ctx context.Context, db DB, host string, gap time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := db.Exec(ctx, `UPDATE fetch_hosts SET next_at = now() + @gap WHERE host = @host`,
		pgx.StrictNamedArgs{"host": host, "gap": gap})
	if err != nil {
		return fmt.Errorf("release a host: %w", err)
	}
	return nil
}
