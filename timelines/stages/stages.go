package stages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

const (
	// Most is how many stages of one account a post may have.
	Most = 20
	// MaxPayload is the longest payload, in bytes without spaces.
	MaxPayload = 64 << 10
	// Name is the form of a stage's name.
	Name = "^[a-z0-9-]{1,40}$"
)

var name = regexp.MustCompile(Name)

// Key names a state.
type Key struct {
	AccountID, PostID int64
	Stage             string
}

func (k Key) args() pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"account": k.AccountID, "post": k.PostID, "stage": k.Stage}
}

// State is what a program keeps beside a post.
type State struct {
	Version   int64
	Payload   string // JSON
	ChangedAt time.Time
}

// ChangedError says that the state is another than the write replaces. Nothing is written.
type ChangedError struct {
	Version int64 // that of the present state; 0: there is none
}

func (e *ChangedError) Error() string { return fmt.Sprintf("the state has version %d", e.Version) }

// Store has the states. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the states of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// Get returns a state, or timelines.ErrNotFound if there is none.
func (s *Store) Get(ctx context.Context, k Key) (State, error) {
	const query = `
		SELECT version, payload, changed_at FROM post_states WHERE post_id = @post AND account_id = @account AND stage = @stage`
	rows, err := s.timelines.Pool().Query(ctx, query, k.args())
	if err != nil {
		return State{}, fmt.Errorf("read a state: %w", err)
	}
	state, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[State])
	if errors.Is(err, pgx.ErrNoRows) {
		return State{}, timelines.ErrNotFound
	}
	if err != nil {
		return State{}, fmt.Errorf("read a state: %w", err)
	}
	return state, nil
}

// Put writes a state instead of that with a version, or makes it if replaces is 0. It returns the new version.
// Errors: *ChangedError if another one is there; timelines.ErrNotFound if the post is deleted;
// timelines.ErrSignedOut if the token has ended; an InvalidError "stage_name", "text_invalid" (no JSON, or no
// UTF-8), "state_large", or "stages_many" if the post has Most of the account.
func (s *Store) Put(ctx context.Context, token timelines.Session, k Key, replaces int64, payload []byte) (version int64, err error) {
	if !name.MatchString(k.Stage) {
		return 0, &timelines.InvalidError{Field: "stage", Code: "stage_name"}
	}
	text, err := clean(payload)
	if err != nil {
		return 0, err
	}
	err = s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		// The deletion of the account deletes credentials before states: it waits for this one, or this sees it. Nobody else
		// holds a post and waits for these rows.
		if err := timelines.HoldSessionTx(ctx, tx, timelines.Viewer{AccountID: k.AccountID, Session: token}); err != nil {
			return err
		}
		if err := lockPostTx(ctx, tx, k.PostID); err != nil {
			return err
		}
		args := k.args()
		args["payload"] = text
		query := `
			INSERT INTO post_states (post_id, account_id, stage, payload)
			SELECT @post::bigint, @account::bigint, @stage::text, @payload::text
			WHERE (SELECT count(*) FROM post_states WHERE post_id = @post AND account_id = @account) < @most
			ON CONFLICT DO NOTHING RETURNING version`
		if replaces == 0 {
			args["most"] = Most
		} else {
			args["version"] = replaces
			query = `
				UPDATE post_states SET payload = @payload, version = DEFAULT, changed_at = now()
				WHERE post_id = @post AND account_id = @account AND stage = @stage AND version = @version RETURNING version`
		}
		err := tx.QueryRow(ctx, query, args).Scan(&version)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return refusedTx(ctx, tx, k, replaces)
		case err != nil:
			return fmt.Errorf("write a state: %w", err)
		}
		return nil
	})
	return version, err
}

// Delete deletes a state if it has that version, or any if replaces is 0. For a state that is not there it
// succeeds in the latter case. Errors: *ChangedError.
func (s *Store) Delete(ctx context.Context, k Key, replaces int64) error {
	args := k.args()
	args["version"] = replaces
	const query = `
		DELETE FROM post_states
		WHERE post_id = @post AND account_id = @account AND stage = @stage AND @version::bigint IN (0, version)`
	return s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, query, args)
		if err != nil {
			return fmt.Errorf("delete a state: %w", err)
		}
		if tag.RowsAffected() == 0 && replaces != 0 {
			return refusedTx(ctx, tx, k, replaces)
		}
		return nil
	})
}

// clean returns a payload as it is stored.
func clean(payload []byte) (string, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, payload); err != nil || !utf8.Valid(b.Bytes()) {
		return "", &timelines.InvalidError{Field: "payload", Code: "text_invalid"}
	}
	if b.Len() > MaxPayload {
		return "", &timelines.InvalidError{Field: "payload", Code: "state_large", Most: MaxPayload}
	}
	return b.String(), nil
}

// lockPostTx locks a post. So its deletion waits and then removes the new state too, or this sees that it is
// deleted; and two stages that come at the same time are both counted.
func lockPostTx(ctx context.Context, tx pgx.Tx, post int64) error {
	tag, err := tx.Exec(ctx, `SELECT FROM posts WHERE id = @post AND deleted_at IS NULL FOR NO KEY UPDATE`, pgx.StrictNamedArgs{"post": post})
	if err == nil && tag.RowsAffected() == 0 {
		return timelines.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("lock post: %w", err)
	}
	return nil
}

// refusedTx says why nothing was written.
func refusedTx(ctx context.Context, tx pgx.Tx, k Key, replaces int64) error {
	const query = `
		SELECT coalesce((SELECT version FROM post_states WHERE post_id = @post AND account_id = @account AND stage = @stage), 0)`
	var present int64
	if err := tx.QueryRow(ctx, query, k.args()).Scan(&present); err != nil {
		return fmt.Errorf("read the version of a state: %w", err)
	}
	if replaces == 0 && present == 0 {
		return &timelines.InvalidError{Field: "stage", Code: "stages_many", Most: Most}
	}
	return &ChangedError{present}
}
