package exports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
)

const (
	// Keep is how long an archive may be downloaded, and Pause how long after one was made its owner
	// may ask for another.
	Keep  = 7 * 24 * time.Hour
	Pause = 24 * time.Hour
)

// ErrGone says that the wish is done, was taken back or has another one in its place.
var ErrGone = errors.New("the archive is not to be made any more")

// Store has the wishes. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the wishes of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// State is how it stands with a wish.
type State string

// The states of a wish. The zero State: nothing was asked for, or it is removed already.
const (
	Waiting State = "waiting"
	Making  State = "making"
	Ready   State = "ready"
	Failed  State = "failed"
)

// Export is the last wish of an account.
type Export struct {
	State       State
	AskedAt     time.Time
	FinishedAt  *time.Time
	ExpiresAt   *time.Time
	Done, Total int64 // steps of the making
	Bytes       int64
	File        []byte // the sum of the blob
}

// Working reports whether the archive is still to come.
func (e Export) Working() bool { return e.State == Waiting || e.State == Making }

// Again is when its owner may ask for another one.
func (e Export) Again() time.Time {
	if e.State != Ready {
		return time.Time{}
	}
	return e.FinishedAt.Add(Pause)
}

// Sum is the sum of the blob of one that is ready.
func (e Export) Sum() blobs.Sum { return blobs.Sum(e.File) }

// Ask asks for an archive of all that the account has, with pages in a language (en or ru), in place of
// the last one. While one is being made it changes nothing. An InvalidError "export_soon": one was made
// within the Pause.
func (s *Store) Ask(ctx context.Context, account int64, language string) error {
	return s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		// The row of the account orders the wishes of two requests.
		const query = `
			INSERT INTO exports (account_id, language) VALUES (@account, @language)
			ON CONFLICT (account_id) DO UPDATE SET id = DEFAULT, language = excluded.language, state = 'waiting', asked_at = now(),
				finished_at = NULL, expires_at = NULL, file = NULL, bytes = 0, done = 0, total = 0
			WHERE exports.state = 'failed' OR exports.state = 'ready' AND exports.finished_at <= now() - @pause::interval
			RETURNING id`
		var id int64
		err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account, "language": language, "pause": Pause}).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			var made bool
			const read = `SELECT state = 'ready' FROM exports WHERE account_id = @account`
			if err := tx.QueryRow(ctx, read, pgx.StrictNamedArgs{"account": account}).Scan(&made); err != nil {
				return fmt.Errorf("ask for an archive: %w", err)
			}
			if made {
				return &timelines.InvalidError{Field: "export", Code: "export_soon"}
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("ask for an archive: %w", err)
		}
		return s.timelines.AnnounceTx(ctx, tx, timelines.MakeExport{ID: id})
	})
}

// Find returns the last wish of an account, the zero Export if there is none or its archive is too
// old.
func (s *Store) Find(ctx context.Context, account int64) (Export, error) {
	rows, err := s.timelines.Pool().Query(ctx, `
		SELECT state, asked_at, finished_at, expires_at, done, total, bytes, file
		FROM exports WHERE account_id = @account AND (expires_at IS NULL OR expires_at > now())`,
		pgx.StrictNamedArgs{"account": account})
	if err != nil {
		return Export{}, fmt.Errorf("read archive: %w", err)
	}
	e, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Export])
	if errors.Is(err, pgx.ErrNoRows) {
		return Export{}, nil
	}
	if err != nil {
		return Export{}, fmt.Errorf("read archive: %w", err)
	}
	return e, nil
}

// Wish is an archive to be made.
type Wish struct {
	ID        int64
	AccountID int64
	Name      string // of the account
	Title     string
	Language  string
	Begun     time.Time
}

// Begin begins to make an archive, or begins anew after a crash. ErrGone.
func (s *Store) Begin(ctx context.Context, id int64) (Wish, error) {
	rows, err := s.timelines.Pool().Query(ctx, `
		UPDATE exports e SET state = 'making', done = 0,
			total = 2 * (SELECT count(*) FROM posts p WHERE p.author_id = e.account_id AND p.deleted_at IS NULL)
				+ (SELECT count(*) FROM files f WHERE f.owner_id = e.account_id)
		FROM accounts a
		WHERE e.id = @id AND a.id = e.account_id AND e.state IN ('waiting', 'making')
		RETURNING e.id, e.account_id, a.name, a.title, e.language, now() AS begun`,
		pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return Wish{}, fmt.Errorf("begin an archive: %w", err)
	}
	w, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Wish])
	if errors.Is(err, pgx.ErrNoRows) {
		return Wish{}, ErrGone
	}
	if err != nil {
		return Wish{}, fmt.Errorf("begin an archive: %w", err)
	}
	return w, nil
}

// Progress notes how many steps of the making are done. ErrGone.
func (s *Store) Progress(ctx context.Context, id, done int64) error {
	return s.update(ctx, "note how far an archive is",
		`UPDATE exports SET done = least(@done, total) WHERE id = @id AND state = 'making'`,
		pgx.StrictNamedArgs{"id": id, "done": done})
}

// Finish says that the archive stands in the store of blobs. ErrGone: it is not wanted any more, or
// another node was faster; the blob is swept.
func (s *Store) Finish(ctx context.Context, id int64, sum blobs.Sum, bytes int64) error {
	return s.update(ctx, "finish an archive", `
		UPDATE exports SET state = 'ready', done = total, file = @file, bytes = @bytes,
			finished_at = now(), expires_at = now() + @keep::interval
		WHERE id = @id AND state = 'making'`,
		pgx.StrictNamedArgs{"id": id, "file": sum[:], "bytes": bytes, "keep": Keep})
}

// Fail says that the archive cannot be made. ErrGone.
func (s *Store) Fail(ctx context.Context, id int64) error {
	return s.update(ctx, "give an archive up", `
		UPDATE exports SET state = 'failed', finished_at = now(), expires_at = now() + @keep::interval
		WHERE id = @id AND state IN ('waiting', 'making')`,
		pgx.StrictNamedArgs{"id": id, "keep": Keep})
}

func (s *Store) update(ctx context.Context, what, query string, args pgx.StrictNamedArgs) error {
	tag, err := s.timelines.Pool().Exec(ctx, query, args)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrGone
	}
	return nil
}

// Expire removes the archives that were kept long enough, and returns how many. Their blobs are
// swept.
func (s *Store) Expire(ctx context.Context) (int64, error) {
	tag, err := s.timelines.Pool().Exec(ctx, `DELETE FROM exports WHERE expires_at <= now()`)
	if err != nil {
		return 0, fmt.Errorf("remove old archives: %w", err)
	}
	return tag.RowsAffected(), nil
}
