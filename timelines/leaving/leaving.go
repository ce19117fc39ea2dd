package leaving

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
)

// Grace is how long an account can be kept.
const Grace = 7 * 24 * time.Hour

// maxReason is the longest reason, in characters.
const maxReason = 1000

// Kinds of acts in the audit log.
const (
	actDelete = "delete_account"
	actKeep   = "keep_account"
)

// ErrBegun: the account is being deleted, and cannot be kept any more.
var ErrBegun = errors.New("the account is being deleted")

// Store deletes accounts. It is safe for concurrent use.
type Store struct {
	timelines *timelines.Store
	staff     *admin.Store
}

// Open returns what deletes accounts of that store.
func Open(t *timelines.Store) *Store { return &Store{t, admin.Open(t)} }

// Leaving is an account that is to be deleted.
type Leaving struct {
	Ends    time.Time // until then it can be kept
	Begun   bool      // it is too late for that
	ByStaff bool      // only the staff can keep it
	Reason  string    // of the staff
}

// Find returns how it stands with an account, nil if it is not to be deleted.
func (s *Store) Find(ctx context.Context, account int64) (*Leaving, error) {
	var l Leaving
	err := s.timelines.Pool().QueryRow(ctx, `SELECT ends_at, begun, by_staff, reason FROM leaving WHERE account_id = @account`,
		pgx.StrictNamedArgs{"account": account}).Scan(&l.Ends, &l.Begun, &l.ByStaff, &l.Reason)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read when an account is deleted: %w", err)
	}
	return &l, nil
}

// Alone returns the groups that the account administers alone, by name. They stay, and nobody is in
// charge of them then.
func (s *Store) Alone(ctx context.Context, account int64) ([]timelines.Account, error) {
	const query = `
		SELECT g.group_id FROM group_admins g
		WHERE g.account_id = @account AND NOT EXISTS (
			SELECT FROM group_admins o WHERE o.group_id = g.group_id AND o.account_id <> @account)`
	rows, err := s.timelines.Pool().Query(ctx, query, pgx.StrictNamedArgs{"account": account})
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	return s.timelines.Accounts.ByID(ctx, ids)
}

// Leave begins the deletion of one's own account, and returns until when it can be kept.
// admin.ErrLastAdministrator if nobody else is in charge of the site. One that is to be deleted already stays so.
func (s *Store) Leave(ctx context.Context, account int64) (c timelines.Change, ends time.Time, err error) {
	c, err = s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = account
		if err := admin.LastTx(ctx, tx, account); err != nil {
			return c, nil, err
		}
		if _, err := tx.Exec(ctx, `SELECT FROM accounts WHERE id = @account FOR NO KEY UPDATE`, pgx.StrictNamedArgs{"account": account}); err != nil {
			return c, nil, fmt.Errorf("lock account: %w", err)
		}
		drop, ends, err = hideTx(ctx, tx, account, false, Grace, "")
		return c, drop, err
	})
	return c, ends, err
}

// Delete is Leave for the staff's wish, which the person reads who signs in. Administrators may, within
// the bounds of admin.Store.Suspend. atOnce leaves nobody time to keep it.
func (s *Store) Delete(ctx context.Context, by admin.By, name, reason string, atOnce bool) (timelines.Change, error) {
	reason, err := cleanReason(by, reason)
	if err != nil {
		return timelines.Change{}, err
	}
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		if err := admin.LockStaffTx(ctx, tx); err != nil {
			return c, nil, err
		}
		by, of, err := admin.OnTx(ctx, tx, by, admin.Administrator, name)
		if err != nil {
			return c, nil, err
		}
		if !by.CommandLine() { // two administrators who delete each other
			if err := admin.LastTx(ctx, tx, of.ID); err != nil {
				return c, nil, err
			}
		}
		wait, detail := Grace, reason
		if atOnce {
			wait, detail = 0, strings.TrimSpace(reason+" (at once)")
		}
		if drop, _, err = hideTx(ctx, tx, of.ID, true, wait, reason); err != nil {
			return c, nil, err
		}
		if atOnce {
			if err := s.beginTx(ctx, tx, []int64{of.ID}); err != nil {
				return c, nil, err
			}
		}
		return c, drop, admin.RecordTx(ctx, tx, by, admin.Act{Kind: actDelete, Account: of.ID, Subject: of.Name, Detail: detail})
	})
}

// cleanReason returns a reason of the staff without spaces around it, or an InvalidError.
func cleanReason(by admin.By, reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	switch {
	case reason == "" && !by.CommandLine():
		return "", &timelines.InvalidError{Field: "leave_reason", Code: "reason_empty"}
	case utf8.RuneCountInString(reason) > maxReason:
		return "", &timelines.InvalidError{Field: "leave_reason", Code: "reason_long", Most: maxReason}
	case !utf8.ValidString(reason) || strings.ContainsRune(reason, 0):
		return "", &timelines.InvalidError{Field: "leave_reason", Code: "text_invalid"}
	}
	return reason, nil
}

// hideTx notes that a locked account is to be deleted, hides it, and ends all that it is signed in by. A
// second wish does not give it more time.
func hideTx(ctx context.Context, tx pgx.Tx, account int64, byStaff bool, wait time.Duration, reason string) (drop []timelines.Invalidation, ends time.Time, err error) {
	const query = `
		INSERT INTO leaving AS l (account_id, ends_at, by_staff, reason) VALUES (@account, now() + @wait::interval, @by_staff, @reason)
		ON CONFLICT (account_id) DO UPDATE
		SET ends_at = least(l.ends_at, EXCLUDED.ends_at), by_staff = l.by_staff OR EXCLUDED.by_staff,
			reason = CASE WHEN EXCLUDED.by_staff THEN EXCLUDED.reason ELSE l.reason END
		RETURNING ends_at`
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account, "wait": wait, "by_staff": byStaff, "reason": reason}).Scan(&ends)
	if err != nil {
		return nil, ends, fmt.Errorf("note that an account is deleted: %w", err)
	}
	if drop, err = admin.HideTx(ctx, tx, account, admin.CauseLeaving); err != nil {
		return nil, ends, err
	}
	ended, err := timelines.EndSessionsTx(ctx, tx, account)
	if err != nil {
		return nil, ends, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM account_links WHERE account_id = @account`, pgx.StrictNamedArgs{"account": account}); err != nil {
		return nil, ends, fmt.Errorf("withdraw links: %w", err)
	}
	return append(drop, ended...), ends, nil
}

// Keep ends a deletion, whoever wished it, while it has not begun (ErrBegun). Administrators may. An
// account that is not to be deleted stays as it is.
func (s *Store) Keep(ctx context.Context, by admin.By, name string) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		by, of, err := admin.OnTx(ctx, tx, by, admin.Administrator, name)
		if err != nil {
			return c, nil, err
		}
		was, drop, err := keepTx(ctx, tx, of.ID)
		if err != nil || !was {
			return c, nil, err
		}
		return c, drop, admin.RecordTx(ctx, tx, by, admin.Act{Kind: actKeep, Account: of.ID, Subject: of.Name})
	})
}

// KeepLink makes an address by which a person keeps their own account, and returns its token. Earlier
// ones end.
func (s *Store) KeepLink(ctx context.Context, account int64) (token string, err error) {
	err = s.timelines.InTx(ctx, func(tx pgx.Tx) (err error) {
		_, err = tx.Exec(ctx, `DELETE FROM account_links WHERE account_id = @account AND purpose = @purpose`,
			pgx.StrictNamedArgs{"account": account, "purpose": timelines.LinkKeep})
		if err != nil {
			return fmt.Errorf("withdraw links: %w", err)
		}
		token, err = timelines.NewLinkTx(ctx, tx, account, timelines.LinkKeep)
		return err
	})
	return token, err
}

// KeepOwn is Keep for the person of a KeepLink, which it uses up. timelines.ErrNotFound if the token is
// none, was used or is too old, timelines.ErrForbidden if the staff wished the deletion.
func (s *Store) KeepOwn(ctx context.Context, token string) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		if c.Actor, err = timelines.TakeLinkTx(ctx, tx, token, timelines.LinkKeep); err != nil {
			return c, nil, err
		}
		if _, err := tx.Exec(ctx, `SELECT FROM accounts WHERE id = @account FOR NO KEY UPDATE`, pgx.StrictNamedArgs{"account": c.Actor}); err != nil {
			return c, nil, fmt.Errorf("lock account: %w", err)
		}
		var byStaff bool
		err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM leaving WHERE account_id = @account AND by_staff)`,
			pgx.StrictNamedArgs{"account": c.Actor}).Scan(&byStaff)
		if err != nil {
			return c, nil, fmt.Errorf("read when an account is deleted: %w", err)
		}
		if byStaff {
			return c, nil, timelines.ErrForbidden
		}
		_, drop, err = keepTx(ctx, tx, c.Actor)
		return c, drop, err
	})
}

// keepTx ends the deletion of a locked account, and reports whether there was one.
func keepTx(ctx context.Context, tx pgx.Tx, account int64) (was bool, drop []timelines.Invalidation, err error) {
	var begun bool
	err = tx.QueryRow(ctx, `SELECT begun FROM leaving WHERE account_id = @account FOR UPDATE`, pgx.StrictNamedArgs{"account": account}).Scan(&begun)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, fmt.Errorf("read when an account is deleted: %w", err)
	}
	if begun {
		return true, nil, ErrBegun
	}
	if _, err := tx.Exec(ctx, `DELETE FROM leaving WHERE account_id = @account`, pgx.StrictNamedArgs{"account": account}); err != nil {
		return true, nil, fmt.Errorf("keep an account: %w", err)
	}
	drop, err = admin.ShowTx(ctx, tx, account, admin.CauseLeaving)
	return true, drop, err
}
