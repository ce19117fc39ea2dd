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

// Lease is how long a host waits for a node that died while it asked it. A request that takes longer
// keeps no others from the host.
const Lease = 2 * time.Minute

// DB is a pool, a connection or a transaction.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Of is what requests of an address are counted under: its host, and its port if it is an odd one.
func Of(address string) string {
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

// Reserve lets the caller ask a host, until it calls Release, and no other node meanwhile. If it may
// not be asked now, Reserve returns how long that lasts: at most until the request that is under way
// has its answer. gap is returned for a host that somebody else reserves in this moment.
func Reserve(ctx context.Context, db DB, host string, gap time.Duration) (wait time.Duration, err error) {
	// The wait is counted from the clock: the statement may begin before the one that reserves the host,
	// and wait for it.
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
		return gap, nil // another node reserved it in this moment, for the first time
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
