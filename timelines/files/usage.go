package files

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Usage is how many blobs of one kind there are, and how many bytes they have.
type Usage struct {
	Kind  string `json:"kind"`
	Blobs int64  `json:"blobs"`
	Bytes int64  `json:"bytes"`
}

// Kinds of Usage.
const (
	avatarKind  = "pictures of accounts"
	pictureKind = "pictures"
	waitingKind = "uploads to be made"
	otherKind   = "other files"
	linkKind    = "pictures of links"
	sourceKind  = "files of sources"
	archiveKind = "archives of accounts"
)

// UsageKinds are all kinds that Use returns.
var UsageKinds = []string{avatarKind, pictureKind, waitingKind, otherKind, linkKind, sourceKind, archiveKind}

// Use returns what the blobs that are referred to are used for, the largest kind first. It reads all
// references. Content that stands in several places counts once for each kind.
func Use(ctx context.Context, db DB) ([]Usage, error) {
	const query = `
		SELECT kind, count(*) AS blobs, sum(bytes)::bigint AS bytes FROM (
			SELECT DISTINCT CASE
					WHEN b.size LIKE 'avatar-%' THEN '` + avatarKind + `'
					WHEN b.size <> @upload THEN '` + pictureKind + `'
					WHEN f.state = 'waiting' THEN '` + waitingKind + `'
					ELSE '` + otherKind + `'
				END AS kind, b.sum, b.bytes
			FROM file_blobs b JOIN files f ON f.id = b.file_id
			UNION ALL
			SELECT DISTINCT '` + linkKind + `', picture, bytes FROM links WHERE picture IS NOT NULL
			UNION ALL
			SELECT DISTINCT '` + sourceKind + `', file, bytes FROM loads WHERE file IS NOT NULL
			UNION ALL
			SELECT DISTINCT '` + archiveKind + `', file, bytes FROM exports WHERE file IS NOT NULL
		) b GROUP BY kind ORDER BY 3 DESC, 1`
	rows, err := db.Query(ctx, query, pgx.StrictNamedArgs{"upload": Upload})
	if err != nil {
		return nil, fmt.Errorf("what files are used for: %w", err)
	}
	used, err := pgx.CollectRows(rows, pgx.RowToStructByName[Usage])
	if err != nil {
		return nil, fmt.Errorf("what files are used for: %w", err)
	}
	return used, nil
}
