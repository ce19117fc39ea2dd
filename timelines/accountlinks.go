package timelines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// LinkPurpose is what an address that works once is for.
type LinkPurpose string

// The purposes.
const (
	// LinkPassword has somebody choose a password, the first or a new one.
	LinkPassword LinkPurpose = "password"
	// LinkAppeal lets a suspended person write to the staff.
	LinkAppeal LinkPurpose = "appeal"
	// LinkAdministrator makes the first administrator of a site. It belongs to no account.
	LinkAdministrator LinkPurpose = "administrator"
)

// LinkAge is how long a link works.
const LinkAge = 7 * 24 * time.Hour

// NewLinkTx makes a link for an account, 0 for LinkAdministrator, and returns its token. Only the
// token's hash is stored, so it cannot be read again.
func NewLinkTx(ctx context.Context, tx pgx.Tx, account int64, purpose LinkPurpose) (token string, err error) {
	token = newToken()
	hash, _ := SessionOf(token)
	_, err = tx.Exec(ctx, `
		INSERT INTO account_links (account_id, expires_at, purpose, token_hash)
		VALUES (nullif(@account::bigint, 0), now() + @age::interval, @purpose, @hash)`,
		pgx.StrictNamedArgs{"account": account, "age": LinkAge, "purpose": purpose, "hash": hash[:]})
	if err != nil {
		return "", fmt.Errorf("make link: %w", err)
	}
	return token, nil
}

// TakeLinkTx uses up a link and returns its account, or ErrNotFound if it is none, was used, or is
// too old.
func TakeLinkTx(ctx context.Context, tx pgx.Tx, token string, purpose LinkPurpose) (account int64, err error) {
	hash, ok := SessionOf(token)
	if !ok {
		return 0, ErrNotFound
	}
	err = tx.QueryRow(ctx, `
		DELETE FROM account_links WHERE token_hash = @hash AND purpose = @purpose AND expires_at > now()
		RETURNING coalesce(account_id, 0)`,
		pgx.StrictNamedArgs{"hash": hash[:], "purpose": purpose}).Scan(&account)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("use link: %w", err)
	}
	return account, nil
}

// Linked returns the account that a link is for, or ErrNotFound. It does not use the link up.
func (s Accounts) Linked(ctx context.Context, token string, purpose LinkPurpose) (Account, error) {
	hash, ok := SessionOf(token)
	if !ok {
		return Account{}, ErrNotFound
	}
	const query = `
		SELECT ` + accountColumns + ` FROM ` + accountTables + `
		WHERE a.id = (SELECT account_id FROM account_links WHERE token_hash = @hash AND purpose = @purpose AND expires_at > now())`
	return oneAccount(s.pool.Query(ctx, query, pgx.StrictNamedArgs{"hash": hash[:], "purpose": purpose}))
}

// ChoosePassword is ChangePassword for whoever has a link of LinkPassword, which it uses up. It
// also returns the account's name, with an error too if the link is good. ErrNotFound if the link is none, was used, or is too old.
func (s Accounts) ChoosePassword(ctx context.Context, token, password string) (c Change, name string, err error) {
	a, err := s.Linked(ctx, token, LinkPassword)
	if err != nil {
		return Change{}, "", err
	}
	if err := checkPassword(password, a.Name, a.Title); err != nil {
		return Change{}, a.Name, err
	}
	hash, err := s.hashPassword(ctx, password)
	if err != nil {
		return Change{}, a.Name, err
	}
	c, err = s.change(ctx, func(tx pgx.Tx) (Change, error) {
		if _, err := TakeLinkTx(ctx, tx, token, LinkPassword); err != nil {
			return Change{}, err
		}
		return s.storePasswordTx(ctx, tx, a.Name, hash)
	})
	return c, a.Name, err
}
