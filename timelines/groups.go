package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// NewGroup is a group about to be made.
type NewGroup struct {
	Actor  int64
	Name   string
	Title  string
	About  string
	Access Level
}

// Create makes a group whose administrator and first member is the actor. Until
// Groups.SetWriters, anyone may post to a public group, and members to another.
// It returns an InvalidError, or ErrNameTaken: people and groups share one space
// of names.
func (s Groups) Create(ctx context.Context, n NewGroup) (Account, Change, error) {
	if err := checkName(n.Name); err != nil {
		return Account{}, Change{}, err
	}
	title, err := cleanTitle(n.Title)
	if err != nil {
		return Account{}, Change{}, err
	}
	about, err := cleanAbout(n.About)
	if err != nil {
		return Account{}, Change{}, err
	}
	if n.Access < Public || n.Access > Private {
		return Account{}, Change{}, &InvalidError{Field: "level", Code: "level_unknown"}
	}
	var group Account
	c, err := s.change(ctx, func(tx pgx.Tx) (Change, error) {
		id, err := insertAccountTx(ctx, tx, Group, n.Name, title, about, "")
		if err != nil {
			return Change{}, err
		}
		// Nobody else knows the timeline yet, so it needs no lock, and there are no flags.
		const found = `
			WITH led AS (
				INSERT INTO group_admins (group_id, account_id) VALUES (@group, @actor)
			)
			UPDATE timelines SET access = @level, writers = @writers WHERE kind = 'group' AND their_id = @group AND term = ''`
		_, err = tx.Exec(ctx, found, pgx.StrictNamedArgs{
			"group": id, "actor": n.Actor, "level": n.Access, "writers": firstWriters(n.Access),
		})
		if err != nil {
			return Change{}, fmt.Errorf("found group: %w", err)
		}
		if group, err = accountTx(ctx, tx, id); err != nil {
			return Change{}, err
		}
		if err := admitTx(ctx, tx, n.Actor, id, group.FeedID); err != nil {
			return Change{}, err
		}
		return s.joinedTx(ctx, tx, n.Actor, id, myHome(n.Actor)...)
	})
	if err != nil {
		return Account{}, Change{}, err
	}
	return group, c, nil
}

// SetProfile changes a group's title and description, as Accounts.SetProfile does a
// person's: ErrNotFound if there is no such group, ErrForbidden if the actor does
// not administer it.
func (s Groups) SetProfile(ctx context.Context, actor int64, group, title, about string) (Change, error) {
	title, err := cleanTitle(title)
	if err != nil {
		return Change{}, err
	}
	about, err = cleanAbout(about)
	if err != nil {
		return Change{}, err
	}
	if !nameForm.MatchString(group) {
		return Change{}, ErrNotFound
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		_, err := tx.Exec(ctx, `SELECT FROM accounts WHERE name = @name AND kind = 'group' FOR NO KEY UPDATE`,
			pgx.StrictNamedArgs{"name": group})
		if err != nil {
			return Change{}, fmt.Errorf("lock account: %w", err)
		}
		g, err := lockGroupTx(ctx, tx, actor, group)
		if err != nil {
			return Change{}, err
		}
		_, err = tx.Exec(ctx, `UPDATE accounts SET title = @title, about = @about WHERE id = @group`,
			pgx.StrictNamedArgs{"group": g.ID, "title": title, "about": about})
		if err != nil {
			return Change{}, fmt.Errorf("change group: %w", err)
		}
		clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidAccount, AccountID: g.ID})
		return Change{Actor: actor, Clock: clock}, err
	})
}
