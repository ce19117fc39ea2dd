package exports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/blobs"
)

// Upload is the original of an upload.
type Upload struct {
	ID    int64
	Path  string
	At    time.Time
	Bytes int64
	File  []byte // the sum of its blob
}

// Sum is the sum of its blob.
func (u Upload) Sum() blobs.Sum { return blobs.Sum(u.File) }

const uploadsQuery = `
	SELECT f.id, ` + path + ` AS path, f.created_at AS at, b.bytes, b.sum AS file
	FROM files f ` + original + `
	WHERE f.owner_id = @account AND f.id > @after ORDER BY f.id LIMIT @limit`

// Uploads returns at most limit uploads of an account after the one of an id.
func (s *Store) Uploads(ctx context.Context, account, after int64, limit int) ([]Upload, error) {
	rows, err := s.timelines.Pool().Query(ctx, uploadsQuery, pgx.StrictNamedArgs{"account": account, "after": after, "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("list uploads of an archive: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[Upload])
	if err != nil {
		return nil, fmt.Errorf("list uploads of an archive: %w", err)
	}
	return found, nil
}
