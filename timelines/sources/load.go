package sources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/sources/formats"
)

// State is how far a load is.
type State string

const (
	Receiving State = "receiving"
	Waiting   State = "waiting"
	Reading   State = "reading"
	Applying  State = "applying"
	Finishing State = "finishing"
	Sweeping  State = "sweeping"
	Previewed State = "previewed"
	Held      State = "held"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Working reports whether the load goes on by itself or through its program.
func (s State) Working() bool {
	switch s {
	case Receiving, Waiting, Reading, Applying, Finishing, Sweeping:
		return true
	}
	return false
}

// Counts says what happened to the items of a load.
type Counts struct {
	Added, Changed, Same, Skipped int64
	// Removed are posts that were deleted because their items were gone, Kept those that were not.
	Removed, Kept    int64
	Errors, Warnings int64
	// Unreadable are items whose id cannot be read, Gone the absent ones.
	Unreadable, Gone int64
}

// Load is one reading of a source.
type Load struct {
	ID       int64
	SourceID int64
	No       int64
	Version  int64
	Way      Way
	State    State
	Dry      bool
	// Items is how many items the source has: those from before, and those that this load has brought
	// so far.
	Items int64
	// Lines is the number of lines of the canonical file, nil until it is known. Cursor is how many of
	// them are applied.
	Lines  *int64
	Cursor int64
	Counts
	Settings  Settings
	CreatedAt time.Time
	// Pictures counts the pictures of its items that were added to posts, PictureErrors those that
	// could not be had. Both may still grow after the load has ended.
	Pictures, PictureErrors int64
	// UpdatedAt is when the load last made progress. FinishedAt is when it ended; nil: it has not.
	UpdatedAt  time.Time
	FinishedAt *time.Time
	// Codes says how often each code of a problem came up. It counts problems without a row, too.
	Codes map[formats.Code]int64
	// Problem is why the load failed (F31); nil: it did not.
	Problem *formats.Fatal
	// File is the SHA-256 of the bytes as they came, nil for a load that is pushed. Bytes is their
	// number. Format, MediaType, Charset and Base say how they are read (formats.Options).
	File                             []byte
	Bytes                            int64
	Format, MediaType, Charset, Base string
}

const loadColumns = `id, source_id, no, state, dry, lines, cursor, added, changed, same, skipped, removed, kept, errors, warnings,
	unreadable, gone, items, pictures, picture_errors, settings, version, way, created_at, updated_at, finished_at, codes, problem, file, bytes, format, media_type, charset, base`

func scanLoad(row pgx.Row) (l Load, err error) {
	var settings, codes, problem []byte
	err = row.Scan(&l.ID, &l.SourceID, &l.No, &l.State, &l.Dry, &l.Lines, &l.Cursor, &l.Added, &l.Changed, &l.Same, &l.Skipped,
		&l.Removed, &l.Kept, &l.Errors, &l.Warnings, &l.Unreadable, &l.Gone, &l.Items, &l.Pictures, &l.PictureErrors, &settings, &l.Version, &l.Way, &l.CreatedAt,
		&l.UpdatedAt, &l.FinishedAt, &codes, &problem, &l.File, &l.Bytes, &l.Format, &l.MediaType, &l.Charset, &l.Base)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, ErrNotFound
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(settings, &l.Settings), json.Unmarshal(codes, &l.Codes))
	}
	if err == nil && problem != nil {
		err = json.Unmarshal(problem, &l.Problem)
	}
	if err != nil {
		return l, fmt.Errorf("read load: %w", err)
	}
	return l, nil
}

// Load returns a load by its number in its source.
func (s *Store) Load(ctx context.Context, source, no int64) (Load, error) {
	return loadOf(ctx, s.pool, source, no)
}

func loadOf(ctx context.Context, db interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, source, no int64,
) (Load, error) {
	return scanLoad(db.QueryRow(ctx, `SELECT `+loadColumns+` FROM loads WHERE source_id = @source AND no = @no`,
		pgx.StrictNamedArgs{"source": source, "no": no}))
}
