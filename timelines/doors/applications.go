package doors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
)

// Kinds of acts in the audit log.
const (
	actAdmit    = "admit"
	actRefuse   = "refuse"
	actInvite   = "invite"
	actWithdraw = "withdraw"
)

// Application is a person who waits to be let in, or was refused.
type Application struct {
	AccountID int64
	Name      string
	Title     string
	At        time.Time
	Sentence  string
	Refused   *time.Time // nil: the person waits
	Answer    string
}

// Account is the person as pages name them.
func (a Application) Account() timelines.Account {
	return timelines.Account{ID: a.AccountID, Kind: timelines.User, Name: a.Name, Title: a.Title}
}

// Waiting returns at most limit people who wait to be let in, the first ones first, those after the
// account of that id.
func (s *Store) Waiting(ctx context.Context, after int64, limit int) ([]Application, error) {
	return s.applications(ctx, `WHERE p.refused_at IS NULL AND p.account_id > @at ORDER BY p.account_id`, after, limit)
}

// Refused returns at most limit people who were refused, the newest accounts first, those before the
// account of that id; 0 is the beginning.
func (s *Store) Refused(ctx context.Context, before int64, limit int) ([]Application, error) {
	return s.applications(ctx, `WHERE p.refused_at IS NOT NULL AND (@at::bigint = 0 OR p.account_id < @at) ORDER BY p.account_id DESC`, before, limit)
}

func (s *Store) applications(ctx context.Context, which string, at int64, limit int) ([]Application, error) {
	rows, err := s.timelines.Pool().Query(ctx, `
		SELECT p.account_id, a.name, a.title, p.created_at AS at, p.sentence, p.refused_at AS refused, p.answer
		FROM applications p JOIN accounts a ON a.id = p.account_id `+which+` LIMIT @limit`,
		pgx.StrictNamedArgs{"at": at, "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("read applications: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Application])
	if err != nil {
		return nil, fmt.Errorf("read applications: %w", err)
	}
	return list, nil
}

// CountWaiting returns how many wait to be let in.
func (s *Store) CountWaiting(ctx context.Context) (n int, err error) {
	err = s.timelines.Pool().QueryRow(ctx, `SELECT count(*) FROM applications WHERE refused_at IS NULL`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count applications: %w", err)
	}
	return n, nil
}

// Admit lets a person in who waits, or was refused. Moderators may. ErrAnswered if the person is in
// already, timelines.ErrNotFound if there is none of that name.
func (s *Store) Admit(ctx context.Context, by admin.By, name string) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		by, account, err := s.applicationTx(ctx, tx, by, name)
		if err != nil {
			return c, nil, err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM applications WHERE account_id = @account`, pgx.StrictNamedArgs{"account": account}); err != nil {
			return c, nil, fmt.Errorf("admit: %w", err)
		}
		if drop, err = admin.ShowTx(ctx, tx, account, admin.CauseWaiting); err != nil {
			return c, nil, err
		}
		return c, drop, admin.RecordTx(ctx, tx, by, admin.Act{Kind: actAdmit, Account: account, Subject: name})
	})
}

// Refuse does not let a person in who waits. The answer, which may be empty, is told at the person's
// next sign-in. One who was refused before gets the new answer. Errors: as of Admit.
func (s *Store) Refuse(ctx context.Context, by admin.By, name, answer string) (timelines.Change, error) {
	answer, err := clean("answer", answer, maxAnswer)
	if err != nil {
		return timelines.Change{}, err
	}
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		by, account, err := s.applicationTx(ctx, tx, by, name)
		if err != nil {
			return c, nil, err
		}
		_, err = tx.Exec(ctx, `UPDATE applications SET refused_at = now(), answer = @answer WHERE account_id = @account`,
			pgx.StrictNamedArgs{"account": account, "answer": answer})
		if err != nil {
			return c, nil, fmt.Errorf("refuse: %w", err)
		}
		return c, nil, admin.RecordTx(ctx, tx, by, admin.Act{Kind: actRefuse, Account: account, Subject: name, Detail: answer})
	})
}

// applicationTx checks that by may answer, and finds and locks an application.
func (s *Store) applicationTx(ctx context.Context, tx pgx.Tx, by admin.By, name string) (_ admin.By, account int64, err error) {
	if by, err = admin.RequireTx(ctx, tx, by, admin.Moderator); err != nil {
		return by, 0, err
	}
	if !timelines.IsName(name) {
		return by, 0, timelines.ErrNotFound
	}
	// The account's row first, as it is locked by all who do something to a person.
	err = tx.QueryRow(ctx, `SELECT id FROM accounts WHERE name = @name AND kind = 'user' FOR NO KEY UPDATE`,
		pgx.StrictNamedArgs{"name": name}).Scan(&account)
	if errors.Is(err, pgx.ErrNoRows) {
		return by, 0, timelines.ErrNotFound
	}
	if err != nil {
		return by, 0, fmt.Errorf("read account: %w", err)
	}
	tag, err := tx.Exec(ctx, `SELECT FROM applications WHERE account_id = @account FOR UPDATE`, pgx.StrictNamedArgs{"account": account})
	if err != nil {
		return by, 0, fmt.Errorf("read application: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return by, 0, ErrAnswered
	}
	return by, account, nil
}
