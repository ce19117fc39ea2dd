package sources

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// AnyDue reports whether there is something to do for sources at this time: a source or a hub to be
// asked, a load that stands still, a source to be removed, pictures that wait, people to be told of a
// source, or hosts to be forgotten. It may report so although somebody does that already. It is one
// statement along indexes, and cheap where there are no sources.
func (s *Store) AnyDue(ctx context.Context) (due bool, err error) {
	const query = `
		SELECT EXISTS (SELECT FROM sources WHERE status = 'active' AND next_at <= now() AND way = 'link')
			OR EXISTS (SELECT FROM source_hubs WHERE next_at <= now())
			OR EXISTS (SELECT FROM loads WHERE ` + pending + ` AND updated_at < now() - @stalled::interval)
			OR EXISTS (SELECT FROM sources WHERE status = 'removing')
			OR EXISTS (SELECT FROM item_pictures WHERE state = 'waiting')
			OR EXISTS (SELECT FROM fetch_hosts WHERE next_at < now() - interval '1 day')
			OR EXISTS (` + untold + `)`
	err = s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"stalled": stallAfter, "day": FailsAfter}).Scan(&due)
	if err != nil {
		return false, fmt.Errorf("ask what is due: %w", err)
	}
	return due, nil
}
