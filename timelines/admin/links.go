package admin

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Link makes an address with which a person chooses a password, once: for somebody who lost theirs,
// or who came by import. It returns the address's token. Earlier links of the person end. Only
// administrators may.
func (s *Store) Link(ctx context.Context, by By, name string) (token string, err error) {
	err = s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		by, of, err := OnTx(ctx, tx, by, Administrator, name)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM account_links WHERE account_id = @account AND purpose = @purpose`,
			pgx.StrictNamedArgs{"account": of.ID, "purpose": timelines.LinkPassword})
		if err != nil {
			return fmt.Errorf("withdraw links: %w", err)
		}
		if token, err = timelines.NewLinkTx(ctx, tx, of.ID, timelines.LinkPassword); err != nil {
			return err
		}
		return RecordTx(ctx, tx, by, Act{Kind: MakeLink, Account: of.ID, Subject: of.Name})
	})
	return token, err
}

// FirstLink makes the address by which somebody becomes the first administrator, and returns its
// token; "" if there is an administrator already.
func (s *Store) FirstLink(ctx context.Context) (token string, err error) {
	has, err := s.HasAdministrator(ctx)
	if err != nil || has {
		return "", err
	}
	err = s.timelines.InTx(ctx, func(tx pgx.Tx) (err error) {
		token, err = timelines.NewLinkTx(ctx, tx, 0, timelines.LinkAdministrator)
		return err
	})
	return token, err
}

// Claim makes a person the first administrator by the token of FirstLink. timelines.ErrNotFound if it is none,
// was used or is too old, or if there is an administrator already.
func (s *Store) Claim(ctx context.Context, account int64, token string) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = account
		// Two links that are used at once: the second finds an administrator.
		if err := LockStaffTx(ctx, tx); err != nil {
			return c, nil, err
		}
		if _, err := timelines.TakeLinkTx(ctx, tx, token, timelines.LinkAdministrator); err != nil {
			return c, nil, err
		}
		const query = `
			INSERT INTO staff (account_id, role)
			SELECT id, 'administrator' FROM accounts
			WHERE id = @account AND kind = 'user' AND NOT EXISTS (SELECT FROM staff s WHERE ` + acting + `)
			ON CONFLICT (account_id) DO UPDATE SET role = EXCLUDED.role, created_at = now()`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"account": account})
		if err != nil {
			return c, nil, fmt.Errorf("make the first administrator: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return c, nil, timelines.ErrNotFound
		}
		by, err := RequireTx(ctx, tx, By{AccountID: account}, Administrator)
		if err != nil {
			return c, nil, err
		}
		drop = []timelines.Invalidation{{Kind: timelines.InvalidSets, AccountID: account}}
		return c, drop, RecordTx(ctx, tx, by, Act{Kind: SetRole, Account: account, Subject: by.Name, Detail: string(Administrator)})
	})
}

// lapsedAtOnce is how many suspensions one transaction lifts.
const lapsedAtOnce = 500

// CleanUp lifts the suspensions whose time is over, and removes links that are too old.
func (s *Store) CleanUp(ctx context.Context) (c timelines.Change, err error) {
	for {
		lapsed, n, err := s.Lapse(ctx, lapsedAtOnce)
		if err != nil {
			return c, err
		}
		if n > 0 {
			c = lapsed
		}
		if n < lapsedAtOnce {
			break
		}
	}
	if _, err := s.timelines.Pool().Exec(ctx, `DELETE FROM account_links WHERE expires_at <= now()`); err != nil {
		return c, fmt.Errorf("remove old links: %w", err)
	}
	return c, nil
}
