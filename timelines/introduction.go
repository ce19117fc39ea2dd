package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// HasPosted reports whether an account has written a post that stands somewhere.
func (s Posts) HasPosted(ctx context.Context, account int64) (posted bool, err error) {
	const query = `SELECT EXISTS (SELECT FROM posts WHERE author_id = @account AND deleted_at IS NULL)`
	if err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account}).Scan(&posted); err != nil {
		return false, fmt.Errorf("look for a post: %w", err)
	}
	return posted, nil
}
