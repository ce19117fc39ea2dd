package doors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/site"
)

// Store has invitations and applications. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the doors of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// Errors of this package, besides *InvitationError.
var (
	// ErrClosed: nobody may sign up, or invite.
	ErrClosed = errors.New("sign-up is closed")
	// ErrUninvited: only people who are invited may sign up.
	ErrUninvited = errors.New("sign-up needs an invitation")
	// ErrFull: as many wait to be let in as the staff can be asked to answer.
	ErrFull = errors.New("too many wait to be let in")
	// ErrMany: this person has made as many invitations as one may in a week.
	ErrMany = errors.New("too many invitations in a week")
	// ErrAnswered: this application was answered already.
	ErrAnswered = errors.New("the application is answered")
)

// MaxWaiting is how many may wait to be let in.
const MaxWaiting = 100

// MaxSentence and maxAnswer are the longest texts, in characters; the table's constraints have the
// same.
const (
	MaxSentence = 500
	maxAnswer   = 1000
)

// SignUp is a person who signs up.
type SignUp struct {
	timelines.SignUp
	Invitation string // the code of one, or empty
	// Sentence is what the staff read of the person who asks to be let in.
	Sentence string
}

// SignUp makes an account, if the door is open for it. waits: it has to be let in first. Errors: those
// of timelines.Accounts.SignUp, ErrClosed, ErrUninvited, ErrFull, *InvitationError; an InvalidError of
// the field "sentence".
func (s *Store) SignUp(ctx context.Context, n SignUp) (a timelines.Account, waits bool, c timelines.Change, err error) {
	if err := s.maySignUp(ctx, n.Invitation); err != nil {
		return a, false, c, err
	}
	a, c, err = s.timelines.Accounts.SignUpBy(ctx, n.SignUp, func(ctx context.Context, tx pgx.Tx, a timelines.Account) (drop []timelines.Invalidation, err error) {
		waits = false
		door, err := s.doorTx(ctx, tx)
		switch {
		case err != nil:
			return nil, err
		case door == site.Closed:
			return nil, ErrClosed
		case n.Invitation != "":
			return useTx(ctx, tx, n.Invitation, a.ID)
		case door == site.ByInvitation:
			return nil, ErrUninvited
		case door == site.ByApproval:
			waits = true
			return applyTx(ctx, tx, a.ID, n.Sentence)
		}
		return nil, nil
	})
	return a, waits && err == nil, c, err
}

// maySignUp returns an error if nobody could sign up so, whatever their name. It is asked before the
// name: else strangers would learn which names a closed site has.
func (s *Store) maySignUp(ctx context.Context, invitation string) error {
	is, err := site.Read(ctx, s.timelines.Pool())
	if err != nil {
		return err
	}
	switch door := is.Door(s.timelines.Options()); {
	case door == site.Closed:
		return ErrClosed
	case invitation != "":
		state, err := s.Find(ctx, invitation)
		if err == nil && state != Good {
			err = &InvitationError{State: state}
		}
		return err
	case door == site.ByInvitation:
		return ErrUninvited
	}
	return nil
}

// doorTx returns who may sign up until the transaction ends: the settings are locked.
func (s *Store) doorTx(ctx context.Context, tx pgx.Tx) (site.SignUp, error) {
	// In a statement of its own: the next sees what a change left that this one waited for.
	if _, err := tx.Exec(ctx, `SELECT FROM site FOR SHARE`); err != nil {
		return "", fmt.Errorf("lock site: %w", err)
	}
	is, err := site.Read(ctx, tx)
	return is.Door(s.timelines.Options()), err
}

// applyTx has an account wait to be let in.
func applyTx(ctx context.Context, tx pgx.Tx, account int64, sentence string) ([]timelines.Invalidation, error) {
	sentence, err := clean("sentence", sentence, MaxSentence)
	if err != nil {
		return nil, err
	}
	if sentence == "" {
		return nil, &timelines.InvalidError{Field: "sentence", Code: "sentence_empty"}
	}
	// Two at once would both find the last place free.
	if _, err := tx.Exec(ctx, `LOCK TABLE applications IN SHARE ROW EXCLUSIVE MODE`); err != nil {
		return nil, fmt.Errorf("lock applications: %w", err)
	}
	var waiting int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM applications WHERE refused_at IS NULL`).Scan(&waiting); err != nil {
		return nil, fmt.Errorf("count applications: %w", err)
	}
	if waiting >= MaxWaiting {
		return nil, ErrFull
	}
	_, err = tx.Exec(ctx, `INSERT INTO applications (account_id, sentence) VALUES (@account, @sentence)`,
		pgx.StrictNamedArgs{"account": account, "sentence": sentence})
	if err != nil {
		return nil, fmt.Errorf("store application: %w", err)
	}
	return admin.HideTx(ctx, tx, account, admin.CauseWaiting)
}

// clean trims a text of a form and checks it.
func clean(field, text string, most int) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", &timelines.InvalidError{Field: field, Code: "text_invalid"}
	case utf8.RuneCountInString(text) > most:
		return "", &timelines.InvalidError{Field: field, Code: "site_long", Most: most}
	}
	return text, nil
}
