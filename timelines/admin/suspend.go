package admin

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// maxReason is the longest reason, in characters.
const maxReason = 1000

// Suspension keeps somebody from signing in.
type Suspension struct {
	// Reason is told to the person who tries to sign in.
	Reason string
	// Ends is when it ends by itself; nil: never.
	Ends *time.Time
	// Hide: only the staff see the person's page, posts, comments and likes. Otherwise they stay.
	Hide bool
}

// Suspend ends a person's sessions and keeps them from signing in, as of the acknowledgement of the
// change. A person who is suspended already gets the new terms. Moderators may, but only
// administrators to the staff (ErrStaff), and nobody to themselves (ErrSelf).
func (s *Store) Suspend(ctx context.Context, by By, name string, terms Suspension) (timelines.Change, error) {
	terms.Reason = strings.TrimSpace(terms.Reason)
	switch {
	case terms.Reason == "":
		return timelines.Change{}, &timelines.InvalidError{Field: "reason", Code: "reason_empty"}
	case utf8.RuneCountInString(terms.Reason) > maxReason:
		return timelines.Change{}, &timelines.InvalidError{Field: "reason", Code: "reason_long", Most: maxReason}
	case !utf8.ValidString(terms.Reason) || strings.ContainsRune(terms.Reason, 0):
		return timelines.Change{}, &timelines.InvalidError{Field: "reason", Code: "text_invalid"}
	case terms.Ends != nil && !terms.Ends.After(time.Now()):
		return timelines.Change{}, &timelines.InvalidError{Field: "ends", Code: "ends_past"}
	}
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		by, of, err := OnTx(ctx, tx, by, Moderator, name)
		if err != nil {
			return c, nil, err
		}
		const query = `
			INSERT INTO suspensions (account_id, by_id, ends_at, reason)
			VALUES (@account, nullif(@by::bigint, 0), @ends, @reason)
			ON CONFLICT (account_id) DO UPDATE SET by_id = EXCLUDED.by_id, ends_at = EXCLUDED.ends_at, reason = EXCLUDED.reason`
		_, err = tx.Exec(ctx, query, pgx.StrictNamedArgs{"account": of.ID, "by": by.AccountID, "ends": terms.Ends, "reason": terms.Reason})
		if err != nil {
			return c, nil, fmt.Errorf("suspend: %w", err)
		}
		change := ShowTx
		if terms.Hide {
			change = HideTx
		}
		drop, err = change(ctx, tx, of.ID, causeSuspended)
		if err != nil {
			return c, nil, err
		}
		ended, err := timelines.EndSessionsTx(ctx, tx, of.ID)
		if err != nil {
			return c, nil, err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM account_links WHERE account_id = @account`, pgx.StrictNamedArgs{"account": of.ID}); err != nil {
			return c, nil, fmt.Errorf("withdraw links: %w", err)
		}
		return c, append(drop, ended...), RecordTx(ctx, tx, by, Act{Kind: Suspend, Account: of.ID, Subject: of.Name, Detail: terms.text()})
	})
}

// text is the terms as the audit log has them.
func (s Suspension) text() string {
	var b strings.Builder
	b.WriteString(s.Reason)
	if s.Ends != nil {
		fmt.Fprintf(&b, " (until %s)", s.Ends.UTC().Format("2006-01-02 15:04"))
	}
	if s.Hide {
		b.WriteString(" (hidden)")
	}
	return b.String()
}

// Restore lifts a suspension. One that is lifted already stays so.
func (s *Store) Restore(ctx context.Context, by By, name string) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		by, of, err := OnTx(ctx, tx, by, Moderator, name)
		if err != nil {
			return c, nil, err
		}
		tag, err := tx.Exec(ctx, `DELETE FROM suspensions WHERE account_id = @account`, pgx.StrictNamedArgs{"account": of.ID})
		if err != nil {
			return c, nil, fmt.Errorf("restore: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return c, nil, nil
		}
		if drop, err = ShowTx(ctx, tx, of.ID, causeSuspended); err != nil {
			return c, nil, err
		}
		return c, drop, RecordTx(ctx, tx, by, Act{Kind: Restore, Account: of.ID, Subject: of.Name})
	})
}

// Lapse lifts at most limit suspensions whose time is over, and returns how many.
func (s *Store) Lapse(ctx context.Context, limit int) (c timelines.Change, lifted int, err error) {
	c, err = s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		const query = `
			WITH over AS (
				DELETE FROM suspensions WHERE account_id IN (
					SELECT account_id FROM suspensions WHERE ends_at <= now() ORDER BY ends_at LIMIT @limit FOR UPDATE SKIP LOCKED)
				RETURNING account_id
			), shown AS (
				DELETE FROM unseen_accounts u USING over o WHERE u.account_id = o.account_id AND u.cause = 'suspended'
			), recorded AS (
				INSERT INTO acts (by_name, kind, account_id, subject, detail)
				SELECT '', @kind, a.id, a.name, 'its time is over' FROM over o JOIN accounts a ON a.id = o.account_id
			)
			SELECT count(*) FROM over`
		if err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"limit": limit, "kind": Restore}).Scan(&lifted); err != nil {
			return c, nil, fmt.Errorf("lift suspensions: %w", err)
		}
		if lifted > 0 {
			drop = []timelines.Invalidation{{Kind: timelines.InvalidUnseen}}
		}
		return c, drop, nil
	})
	return c, lifted, err
}

// Causes for which an account is unseen; the table says more.
const (
	causeSuspended = "suspended"
	CauseWaiting   = "waiting"
	CauseLeaving   = "leaving"
	CauseRemoval   = "removal"
)

// HideTx makes an account unseen for a cause: only the staff see its page, posts, comments and
// likes. It returns what nodes must drop.
func HideTx(ctx context.Context, tx pgx.Tx, account int64, cause string) ([]timelines.Invalidation, error) {
	return unseenTx(ctx, tx, account, cause, `
		INSERT INTO unseen_accounts (account_id, cause) VALUES (@account, @cause) ON CONFLICT DO NOTHING`)
}

// ShowTx takes a cause away. The account is seen again if it was the last.
func ShowTx(ctx context.Context, tx pgx.Tx, account int64, cause string) ([]timelines.Invalidation, error) {
	return unseenTx(ctx, tx, account, cause, `DELETE FROM unseen_accounts WHERE account_id = @account AND cause = @cause`)
}

func unseenTx(ctx context.Context, tx pgx.Tx, account int64, cause, query string) ([]timelines.Invalidation, error) {
	tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"account": account, "cause": cause})
	if err != nil {
		return nil, fmt.Errorf("change who is seen: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil, nil
	}
	return []timelines.Invalidation{{Kind: timelines.InvalidUnseen, AccountID: account}}, nil
}
