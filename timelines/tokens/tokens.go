package tokens

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/rules"
	"riverrun/timelines/signins"
)

const (
	// MaxName is the longest name, in characters.
	MaxName = 60
	// Most is how many tokens an account may have.
	Most = 20

	// prefix says to people and to scanners for secrets that a text is a token.
	prefix      = "rr_"
	secretBytes = 32
)

// Store has the tokens. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the tokens of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// newToken returns a token.
func newToken() string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// SessionOf returns the session of a token. ok is false if the text cannot be one, so that no
// database need be asked. All of the text is hashed, so no cookie leads to the same session.
func SessionOf(token string) (s timelines.Session, ok bool) {
	secret, ok := strings.CutPrefix(token, prefix)
	if !ok {
		return timelines.Session{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	if err != nil || len(b) != secretBytes {
		return timelines.Session{}, false
	}
	return sha256.Sum256([]byte(token)), true
}

// New is a token to be made.
type New struct {
	Name   string
	Scopes []Scope
	Days   int // one of Days
	// WholeSite: it reads everything on the site. For administrators, with the scope Changes.
	WholeSite bool
}

// clean returns the token as it is stored.
func (n New) clean() (New, error) {
	if !rules.Storable(n.Name) {
		return n, &timelines.InvalidError{Field: "name", Code: "text_invalid"}
	}
	n.Name = strings.Join(strings.FieldsFunc(n.Name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	switch {
	case !rules.Shows(n.Name):
		return n, &timelines.InvalidError{Field: "name", Code: "title_empty"}
	case utf8.RuneCountInString(n.Name) > MaxName:
		return n, &timelines.InvalidError{Field: "name", Code: "token_name_long", Most: MaxName}
	}
	var ok bool
	n.Scopes, ok = known(n.Scopes)
	switch {
	case !ok:
		return n, &timelines.InvalidError{Field: "scope", Code: "token_scopes"}
	case n.WholeSite && !slices.Contains(n.Scopes, Changes):
		return n, &timelines.InvalidError{Field: "scope", Code: "token_whole_site"}
	case !slices.Contains(Days, n.Days):
		return n, &timelines.InvalidError{Field: "days", Code: "token_days"}
	}
	return n, nil
}

// Create makes a token for the viewer, whose password the caller has checked, and tells the viewer's
// browsers. timelines.ErrSignedOut if the viewer's session has ended, timelines.ErrForbidden if the token is
// to read the whole site and the viewer is no administrator, an InvalidError "tokens_many" if the account has
// Most tokens.
func (s *Store) Create(ctx context.Context, v timelines.Viewer, n New) (token string, c timelines.Change, err error) {
	if n, err = n.clean(); err != nil {
		return "", timelines.Change{}, err
	}
	token = newToken()
	session, _ := SessionOf(token)
	c, err = s.timelines.Narrow(ctx, func(tx pgx.Tx) (timelines.Change, []timelines.Invalidation, error) {
		c := timelines.Change{Actor: v.AccountID}
		if n.WholeSite { // before the account, as all of package admin does
			if _, err := admin.RequireTx(ctx, tx, admin.By{AccountID: v.AccountID}, admin.Administrator); err != nil {
				return c, nil, err
			}
		}
		if err := mayHaveAnotherTx(ctx, tx, v); err != nil {
			return c, nil, err
		}
		const begin = `
			WITH begun AS (
				INSERT INTO sessions (token_hash, account_id, expires_at) VALUES (@hash, @account, now() + make_interval(days => @days))
			)
			INSERT INTO app_tokens (token_hash, account_id, name, scopes, whole_site) VALUES (@hash, @account, @name, @scopes, @whole_site)`
		_, err := tx.Exec(ctx, begin, pgx.StrictNamedArgs{
			"hash": session[:], "account": v.AccountID, "days": n.Days, "name": n.Name, "scopes": n.Scopes, "whole_site": n.WholeSite,
		})
		if err != nil {
			return c, nil, fmt.Errorf("make an app token: %w", err)
		}
		tell, err := signins.TellTx(ctx, tx, v, signins.TokenMade, n.Name)
		return c, []timelines.Invalidation{tell}, err
	})
	if err != nil {
		return "", timelines.Change{}, err
	}
	return token, c, nil
}

// mayHaveAnotherTx returns timelines.ErrSignedOut if the viewer's session has ended, and an InvalidError if
// the account has enough tokens.
func mayHaveAnotherTx(ctx context.Context, tx pgx.Tx, v timelines.Viewer) error {
	if err := timelines.HoldSessionTx(ctx, tx, v); err != nil {
		return err
	}
	const query = `
		SELECT count(*) FROM app_tokens t JOIN sessions s ON s.token_hash = t.token_hash
		WHERE t.account_id = @account AND s.expires_at > now()`
	var has int
	if err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": v.AccountID}).Scan(&has); err != nil {
		return fmt.Errorf("count app tokens: %w", err)
	}
	if has >= Most {
		return &timelines.InvalidError{Code: "tokens_many", Most: Most}
	}
	return nil
}

// Token is a token as its owner sees it in the list.
type Token struct {
	ID     int64
	Name   string
	Scopes []Scope
	// WholeSite: it reads everything on the site while its owner is an administrator.
	WholeSite bool
	Made      time.Time
	Ends      time.Time
	Used      *time.Time // to within an hour; nil: not yet
}

// List returns the tokens of an account that have not ended, the newest first.
func (s *Store) List(ctx context.Context, account int64) ([]Token, error) {
	rows, err := s.timelines.Pool().Query(ctx, `
		SELECT t.id, t.name, t.scopes, t.whole_site, t.created_at AS made, s.expires_at AS ends, t.used_at AS used
		FROM app_tokens t JOIN sessions s ON s.token_hash = t.token_hash
		WHERE t.account_id = @account AND s.expires_at > now()
		ORDER BY t.id DESC`, pgx.StrictNamedArgs{"account": account})
	if err != nil {
		return nil, fmt.Errorf("read app tokens: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Token])
	if err != nil {
		return nil, fmt.Errorf("read app tokens: %w", err)
	}
	return list, nil
}

// Revoke ends a token of the viewer and tells the viewer's other browsers. It is a narrowing. A token that ended
// before stays so, and that of somebody else stays as it is.
func (s *Store) Revoke(ctx context.Context, v timelines.Viewer, id int64) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (timelines.Change, []timelines.Invalidation, error) {
		c := timelines.Change{Actor: v.AccountID}
		ended := timelines.Invalidation{Kind: timelines.InvalidSession, AccountID: v.AccountID}
		var name string
		err := tx.QueryRow(ctx, `
			DELETE FROM sessions s USING app_tokens t
			WHERE t.id = @id AND t.account_id = @account AND s.token_hash = t.token_hash
			RETURNING s.token_hash, t.name`,
			pgx.StrictNamedArgs{"id": id, "account": v.AccountID}).Scan(&ended.TokenHash, &name)
		if errors.Is(err, pgx.ErrNoRows) {
			return c, nil, nil
		}
		if err != nil {
			return c, nil, fmt.Errorf("revoke an app token: %w", err)
		}
		tell, err := signins.TellTx(ctx, tx, v, signins.TokenRevoked, name)
		return c, []timelines.Invalidation{ended, tell}, err
	})
}
