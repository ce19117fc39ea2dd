package timelines

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/drafts"
)

// tokenBytes is the number of random bytes in a session's token.
const tokenBytes = 32

// newToken returns a new session's token, in the form of the cookie.
func newToken() string {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// SessionOf returns the session of a cookie. ok is false if the text cannot be a token, so
// that no database need be asked.
func SessionOf(token string) (s Session, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != tokenBytes {
		return Session{}, false
	}
	return sha256.Sum256(b), true
}

// SignIn begins a session, which lives for Options.SessionAge, and returns its token. Only
// its hash is stored, so the token cannot be read again. A wrong name and a wrong password
// are both ErrBadCredentials, after the same work.
func (s Accounts) SignIn(ctx context.Context, name, password string) (token string, a Account, err error) {
	return s.SignInWith(ctx, name, password, drafts.Arrival{})
}

// SignInWith is SignIn of somebody who brings drafts, which move to the account with the session or not
// at all. The session of a new account begins here too, and that of somebody who was let in.
func (s Accounts) SignInWith(ctx context.Context, name, password string, brings drafts.Arrival) (token string, a Account, err error) {
	a, hash, err := s.credentials(ctx, name)
	if err != nil {
		return "", Account{}, err
	}
	ok, err := s.verifyPassword(ctx, password, hash)
	if err != nil {
		return "", Account{}, err
	}
	if !ok {
		return "", Account{}, ErrBadCredentials
	}
	token = newToken()
	session, _ := SessionOf(token)
	// Hashing took a while. If the password was changed meanwhile, the sessions of the old
	// one have ended, and this must not be one more. So the row must still hold the hash that
	// was verified. It is locked, so that a change of the password waits and then ends this
	// session too; so is the account, for a suspension. The next statement sees a suspension that
	// this one waited for.
	const lock = `
		SELECT FROM credentials c JOIN accounts a ON a.id = c.account_id
		WHERE c.account_id = @account AND c.password_hash = @password_hash
		FOR SHARE`
	const begin = `
		INSERT INTO sessions (token_hash, account_id, expires_at) VALUES (@token_hash, @account, now() + @age::interval)`
	_, err = inTx(ctx, s.core, func(tx pgx.Tx) (struct{}, error) {
		var none struct{}
		tag, err := tx.Exec(ctx, lock, pgx.StrictNamedArgs{"account": a.ID, "password_hash": hash})
		if err != nil {
			return none, fmt.Errorf("begin session: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return none, ErrBadCredentials
		}
		if err := checkMaySignInTx(ctx, tx, a); err != nil {
			return none, err
		}
		_, err = tx.Exec(ctx, begin, pgx.StrictNamedArgs{"token_hash": session[:], "account": a.ID, "age": s.opts.SessionAge})
		if err != nil {
			return none, fmt.Errorf("begin session: %w", err)
		}
		return none, drafts.ArriveTx(ctx, tx, a.ID, brings)
	})
	if err != nil {
		return "", Account{}, err
	}
	return token, a, nil
}

// HoldSessionTx returns ErrSignedOut if the viewer's session has ended. A new password and a suspension lock these rows before
// they end all sessions. So they come first, and the session has ended here, or they wait for this transaction, and then see what
// it made in the name of the session. Two such transactions of one account come one after the other.
func HoldSessionTx(ctx context.Context, tx pgx.Tx, v Viewer) error {
	const lock = `
		SELECT FROM credentials c JOIN accounts a ON a.id = c.account_id
		WHERE c.account_id = @account FOR NO KEY UPDATE OF c FOR SHARE OF a`
	if _, err := tx.Exec(ctx, lock, pgx.StrictNamedArgs{"account": v.AccountID}); err != nil {
		return fmt.Errorf("lock credentials: %w", err)
	}
	const query = `SELECT EXISTS (SELECT FROM sessions WHERE token_hash = @session AND account_id = @account AND expires_at > now())`
	var holds bool
	if err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": v.AccountID, "session": v.Session[:]}).Scan(&holds); err != nil {
		return fmt.Errorf("look for a session: %w", err)
	}
	if !holds {
		return ErrSignedOut
	}
	return nil
}

// silencedAccount is true if @account is suspended now, or is to be deleted, or is gone.
const silencedAccount = `(EXISTS (SELECT FROM suspensions WHERE account_id = @account AND coalesce(ends_at > now(), true))
	OR EXISTS (SELECT FROM leaving WHERE account_id = @account)
	OR EXISTS (SELECT FROM accounts WHERE id = @account AND kind = '` + Gone + `'))`

// MaySignIn returns the error that SignIn returns for the right password, if the account may not sign in now.
func (s Accounts) MaySignIn(ctx context.Context, a Account) error {
	_, err := inTx(ctx, s.core, func(tx pgx.Tx) (struct{}, error) { return struct{}{}, checkMaySignInTx(ctx, tx, a) })
	return err
}

// checkMaySignInTx returns a *LeavingError, a *SuspendedError or a *WaitingError if the account may not sign in now.
func checkMaySignInTx(ctx context.Context, tx pgx.Tx, a Account) error {
	suspended, err := suspensionTx(ctx, tx, a)
	if err != nil {
		return err
	}
	// First, for it can be too late to keep the account once the suspension is over.
	if err := checkLeavingTx(ctx, tx, a, suspended); err != nil {
		return err
	}
	if suspended != nil {
		return suspended
	}
	return checkWaitingTx(ctx, tx, a)
}

// suspensionTx returns how the account is suspended now, or nil.
func suspensionTx(ctx context.Context, tx pgx.Tx, a Account) (*SuspendedError, error) {
	const query = `SELECT reason, ends_at FROM suspensions WHERE account_id = @account AND coalesce(ends_at > now(), true)`
	is := &SuspendedError{Account: a}
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": a.ID}).Scan(&is.Reason, &is.Ends)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read suspension: %w", err)
	}
	return is, nil
}

// checkWaitingTx returns a *WaitingError if the account was not let in (package doors).
func checkWaitingTx(ctx context.Context, tx pgx.Tx, a Account) error {
	const query = `SELECT created_at, refused_at, answer FROM applications WHERE account_id = @account`
	is := &WaitingError{Account: a}
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": a.ID}).Scan(&is.Since, &is.Refused, &is.Answer)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read application: %w", err)
	}
	return is
}

// VerifyPassword returns ErrBadCredentials unless the account of that name signs
// in with this password. It signs nobody in and takes as long as SignIn.
func (s Accounts) VerifyPassword(ctx context.Context, name, password string) error {
	_, hash, err := s.credentials(ctx, name)
	if err != nil {
		return err
	}
	ok, err := s.verifyPassword(ctx, password, hash)
	if err == nil && !ok {
		err = ErrBadCredentials
	}
	return err
}

// credentials returns the account of that name and its password's hash; both
// are zero if there is no such account, the hash alone if it cannot sign in.
func (s Accounts) credentials(ctx context.Context, name string) (a Account, hash string, err error) {
	if !nameForm.MatchString(name) {
		return Account{}, "", nil
	}
	a, err = s.ByName(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return Account{}, "", nil
	}
	if err != nil {
		return Account{}, "", err
	}
	err = s.pool.QueryRow(ctx, `SELECT password_hash FROM credentials WHERE account_id = @account`,
		pgx.StrictNamedArgs{"account": a.ID}).Scan(&hash)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Account{}, "", fmt.Errorf("read credentials: %w", err)
	}
	return a, hash, nil
}

// SignOut ends the viewer's session. It is a narrowing: Change.Clock is set, even if the
// session had ended already, since the request that ended it may not be answered yet.
func (s Accounts) SignOut(ctx context.Context, v Viewer) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		tag, err := tx.Exec(ctx, `DELETE FROM sessions WHERE token_hash = @hash`,
			pgx.StrictNamedArgs{"hash": v.Session[:]})
		if err != nil {
			return Change{}, fmt.Errorf("end session: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return s.acknowledgeTx(ctx, tx, Change{Actor: v.AccountID})
		}
		clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidSession, AccountID: v.AccountID, TokenHash: v.Session[:]})
		return Change{Actor: v.AccountID, Clock: clock}, err
	})
}

// endSessionsTx ends all the account's sessions and returns the invalidations.
func endSessionsTx(ctx context.Context, tx pgx.Tx, account int64) ([]Invalidation, error) {
	rows, err := tx.Query(ctx, `DELETE FROM sessions WHERE account_id = @account RETURNING token_hash, account_id`,
		pgx.StrictNamedArgs{"account": account})
	if err != nil {
		return nil, fmt.Errorf("end sessions: %w", err)
	}
	ended, err := pgx.CollectRows(rows, endedSession)
	if err != nil {
		return nil, fmt.Errorf("end sessions: %w", err)
	}
	return ended, nil
}

func endedSession(row pgx.CollectableRow) (Invalidation, error) {
	f := Invalidation{Kind: InvalidSession}
	err := row.Scan(&f.TokenHash, &f.AccountID)
	return f, err
}

// ExpireSessions removes at most limit expired sessions and returns how many. This is no
// narrowing: nodes know when the sessions they remember expire.
func (s Maintenance) ExpireSessions(ctx context.Context, limit int) (int64, error) {
	// Skipping locked rows lets two nodes do this at the same time.
	const query = `
		DELETE FROM sessions WHERE token_hash IN (
			SELECT token_hash FROM sessions WHERE expires_at <= now()
			ORDER BY expires_at LIMIT @limit FOR UPDATE SKIP LOCKED)
		RETURNING token_hash, account_id`
	return inTx(ctx, s.core, func(tx pgx.Tx) (int64, error) {
		rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"limit": limit})
		if err != nil {
			return 0, fmt.Errorf("expire sessions: %w", err)
		}
		ended, err := pgx.CollectRows(rows, endedSession)
		if err != nil {
			return 0, fmt.Errorf("expire sessions: %w", err)
		}
		if len(ended) == 0 {
			return 0, nil
		}
		_, err = tickTx(ctx, tx, ended...)
		return int64(len(ended)), err
	})
}
