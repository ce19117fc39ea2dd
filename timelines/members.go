package timelines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// governed is a group that is locked for a change of its members, administrators or
// readers.
type governed struct {
	ID     int64
	FeedID int64
	Access Level
}

// lockGroupTx finds the group by name and locks its timeline until the transaction ends:
// changes of administrators, blocks and members wait for each other, and for posts and
// subscriptions under way, which hold the row. Only then it reads whether the actor
// administers the group. So if two administrators demote each other at the same time, one
// finds that they are no administrator any more.
//
// ErrNotFound if there is no such group, ErrForbidden if the actor does not
// administer it.
func lockGroupTx(ctx context.Context, tx pgx.Tx, actor int64, name string) (governed, error) {
	g, err := anyGroupTx(ctx, tx, name)
	if err != nil {
		return governed{}, err
	}
	const leads = `SELECT EXISTS (SELECT FROM group_admins WHERE group_id = @group AND account_id = @actor)`
	var administers bool
	err = tx.QueryRow(ctx, leads, pgx.StrictNamedArgs{"group": g.ID, "actor": actor}).Scan(&administers)
	if err != nil {
		return governed{}, fmt.Errorf("lock group: %w", err)
	}
	if !administers {
		return governed{}, ErrForbidden
	}
	return g, nil
}

// anyGroupTx is lockGroupTx for somebody who may do it to any group.
func anyGroupTx(ctx context.Context, tx pgx.Tx, name string) (governed, error) {
	if !nameForm.MatchString(name) {
		return governed{}, ErrNotFound
	}
	const lock = `
		SELECT a.id, t.id AS feed_id, t.access
		FROM ` + accountTables + ` WHERE a.name = @name AND a.kind = 'group'
		FOR NO KEY UPDATE OF t`
	rows, err := tx.Query(ctx, lock, pgx.StrictNamedArgs{"name": name})
	if err != nil {
		return governed{}, fmt.Errorf("lock group: %w", err)
	}
	g, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[governed])
	if errors.Is(err, pgx.ErrNoRows) {
		return governed{}, ErrNotFound
	}
	if err != nil {
		return governed{}, fmt.Errorf("lock group: %w", err)
	}
	if g.Access == Ended {
		return governed{}, ErrNotFound
	}
	return g, nil
}

// standing says what a person is in a governed group.
type standing struct {
	ID        int64
	Member    bool
	Admin     bool
	LastAdmin bool // and nobody else is
	Blocked   bool
	Admitted  bool // reads it without being a member
	Excluded  bool
}

// appoint is moderate for a change of who administers the group, after endTokensTx.
func (s Groups) appoint(ctx context.Context, actor int64, group, name string,
	change func(pgx.Tx, governed, standing) (Change, error),
) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		if err := endTokensTx(ctx, tx, actor, group, name); err != nil {
			return Change{}, err
		}
		return moderateTx(ctx, tx, actor, group, name, change)
	})
}

// moderate runs a change that one of the group's administrators makes to one person.
func (s Groups) moderate(ctx context.Context, actor int64, group, name string,
	change func(pgx.Tx, governed, standing) (Change, error),
) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) { return moderateTx(ctx, tx, actor, group, name, change) })
}

func moderateTx(ctx context.Context, tx pgx.Tx, actor int64, group, name string,
	change func(pgx.Tx, governed, standing) (Change, error),
) (Change, error) {
	g, err := lockGroupTx(ctx, tx, actor, group)
	if err != nil {
		return Change{}, err
	}
	who, err := standingTx(ctx, tx, g, name)
	if err != nil {
		return Change{}, err
	}
	return change(tx, g, who)
}

// standingTx finds a person by name, or returns an InvalidError "name_unknown". The
// group is locked, so the answer stays true.
func standingTx(ctx context.Context, tx pgx.Tx, g governed, name string) (standing, error) {
	const query = `
		SELECT a.id,
			EXISTS (SELECT FROM subscriptions s WHERE s.subscriber_id = a.id AND s.account_id = @group) AS member,
			led.admin, led.admin AND NOT led.others AS last_admin,
			EXISTS (SELECT FROM group_blocks b WHERE b.group_id = @group AND b.account_id = a.id) AS blocked,
			EXISTS (SELECT FROM readers r WHERE r.timeline_id = @feed AND r.account_id = a.id AND r.admitted) AS admitted,
			EXISTS (SELECT FROM excluded x WHERE x.timeline_id = @feed AND x.account_id = a.id) AS excluded
		FROM accounts a CROSS JOIN LATERAL (
			SELECT EXISTS (SELECT FROM group_admins g WHERE g.group_id = @group AND g.account_id = a.id) AS admin,
				EXISTS (SELECT FROM group_admins g WHERE g.group_id = @group AND g.account_id <> a.id) AS others) led
		WHERE a.name = @name AND a.kind = 'user'`
	unknown := &InvalidError{Field: "name", Code: "name_unknown", Value: strings.ToValidUTF8(name, "")}
	if !nameForm.MatchString(name) {
		return standing{}, unknown
	}
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"group": g.ID, "feed": g.FeedID, "name": name})
	if err != nil {
		return standing{}, fmt.Errorf("read standing: %w", err)
	}
	who, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[standing])
	if errors.Is(err, pgx.ErrNoRows) {
		return standing{}, unknown
	}
	if err != nil {
		return standing{}, fmt.Errorf("read standing: %w", err)
	}
	return who, nil
}

// forgetViewerTx ends a change that lets one account do more or less, but not read or
// follow: nodes drop its access sets, and no river is invalidated.
func forgetViewerTx(ctx context.Context, tx pgx.Tx, actor, viewer int64, also ...Invalidation) (Change, error) {
	clock, err := tickTx(ctx, tx, append(also, Invalidation{Kind: InvalidSets, AccountID: viewer})...)
	return Change{Actor: actor, Clock: clock}, err
}

// endTokensTx ends the tokens that a person made for programs that push to the group's sources: they
// go with the appointment, and nothing of a former one is left for the next. It comes before the group
// is locked, as a batch of a source holds the source when it waits for the group; without the right to
// it the transaction is rolled back. The table is of package sources, which is built on this one.
func endTokensTx(ctx context.Context, tx pgx.Tx, actor int64, group, name string) error {
	if !nameForm.MatchString(group) || !nameForm.MatchString(name) {
		return nil // the change says so
	}
	const query = `
		WITH ends AS MATERIALIZED (
			SELECT s.id FROM sources s JOIN accounts a ON a.id = s.token_by JOIN accounts g ON g.id = s.owner_id
			WHERE a.name = @name AND g.name = @group AND g.kind = 'group'
				AND EXISTS (SELECT FROM group_admins m WHERE m.group_id = g.id AND m.account_id = @actor)
			ORDER BY s.id FOR NO KEY UPDATE OF s
		)
		UPDATE sources s SET token_hash = NULL, token_by = NULL FROM ends WHERE s.id = ends.id`
	if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"actor": actor, "group": group, "name": name}); err != nil {
		return fmt.Errorf("end tokens: %w", err)
	}
	return nil
}

// Promote makes a member one of the group's administrators, and lifts a block.
// Promoting an administrator changes nothing. ErrNotFound if there is no such group,
// ErrForbidden if the actor does not administer it; an InvalidError "name_unknown" if
// nobody has the name, "member_none" if the account is no member.
func (s Groups) Promote(ctx context.Context, actor int64, group, name string) (Change, error) {
	return s.appoint(ctx, actor, group, name, func(tx pgx.Tx, g governed, who standing) (Change, error) {
		switch {
		case who.Admin:
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		case !who.Member:
			return Change{}, &InvalidError{Field: "name", Code: "member_none", Value: name}
		}
		// Members are readers already. An administrator stays one when the membership ends
		// (Unsubscribe).
		const query = `
			WITH lifted AS (
				DELETE FROM group_blocks WHERE group_id = @group AND account_id = @who
			)
			INSERT INTO group_admins (group_id, account_id) VALUES (@group, @who)`
		if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"group": g.ID, "who": who.ID}); err != nil {
			return Change{}, fmt.Errorf("promote: %w", err)
		}
		return forgetViewerTx(ctx, tx, actor, who.ID)
	})
}

// Demote makes somebody, or the actor, no longer an administrator of the group. If they
// are no member of a private group, they can no longer read it. Demoting somebody who is
// no administrator changes nothing. The errors are those of Promote, and an InvalidError
// "admin_last" for a group's only administrator.
func (s Groups) Demote(ctx context.Context, actor int64, group, name string) (Change, error) {
	return s.appoint(ctx, actor, group, name, func(tx pgx.Tx, g governed, who standing) (Change, error) {
		switch {
		case !who.Admin:
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		case who.LastAdmin:
			return Change{}, &InvalidError{Field: "name", Code: "admin_last", Value: name}
		}
		_, err := tx.Exec(ctx, `DELETE FROM group_admins WHERE group_id = @group AND account_id = @who`,
			pgx.StrictNamedArgs{"group": g.ID, "who": who.ID})
		if err != nil {
			return Change{}, fmt.Errorf("demote: %w", err)
		}
		if who.Member {
			return forgetViewerTx(ctx, tx, actor, who.ID)
		}
		if err := loseReadershipTx(ctx, tx, g.FeedID, who.ID); err != nil {
			return Change{}, err
		}
		recount := Invalidation{Kind: InvalidCounts, AccountID: g.ID} // a reader less
		if g.Access != Private {
			return forgetViewerTx(ctx, tx, actor, who.ID, recount)
		}
		return s.replaceAndForgetTx(ctx, tx, actor, []Replace{{ViewerID: who.ID}}, recount)
	})
}

// RemoveMember ends a member's subscription to the group, and with it the right to read a
// private one. They may join or ask again. Removing somebody who is no member changes
// nothing. The errors are those of Promote, with "admin_demote" for an administrator
// instead of "member_none".
func (s Groups) RemoveMember(ctx context.Context, actor int64, group, name string) (Change, error) {
	return s.moderate(ctx, actor, group, name, func(tx pgx.Tx, g governed, who standing) (Change, error) {
		switch {
		case who.Admin:
			return Change{}, &InvalidError{Field: "name", Code: "admin_demote", Value: name}
		case !who.Member:
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		_, lists, err := endSubscriptionTx(ctx, tx, who.ID, g.ID)
		if err != nil {
			return Change{}, err
		}
		if err := loseReadershipTx(ctx, tx, g.FeedID, who.ID); err != nil {
			return Change{}, err
		}
		replaced := unfollowed(who.ID, lists)
		if g.Access == Private {
			replaced = []Replace{{ViewerID: who.ID}} // posts went out of every river
		}
		return s.joinedTx(ctx, tx, actor, g.ID, replaced...)
	})
}

// loseReadershipTx removes an account from a feed's readers, unless it is still a
// follower or an administrator.
func loseReadershipTx(ctx context.Context, tx pgx.Tx, feed, account int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM readers WHERE timeline_id = @feed AND account_id = @account`,
		pgx.StrictNamedArgs{"feed": feed, "account": account})
	if err != nil {
		return fmt.Errorf("take readership away: %w", err)
	}
	return nil
}

// Administrators returns at most limit of the group's administrators, members or not, by
// name, after the name given; an empty name is the beginning.
func (s Groups) Administrators(ctx context.Context, group int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `SELECT account_id FROM group_admins WHERE group_id = @of`, group, after, limit)
}

// Member is a member of a group.
type Member struct {
	Account
	Blocked bool // for the eyes of administrators
}

// Members returns at most limit members of the group who do not administer it, by name,
// after the name given; an empty name is the beginning. Everybody who may open the group
// may know them.
func (s Groups) Members(ctx context.Context, group int64, after string, limit int) ([]Member, error) {
	// The planner reads and sorts the members, or, if they are a large part of all accounts,
	// the accounts by name.
	const query = `
		SELECT ` + accountColumns + `,
			EXISTS (SELECT FROM group_blocks b WHERE b.group_id = @group AND b.account_id = a.id) AS blocked
		FROM ` + accountTables + `
		WHERE a.id = ANY(ARRAY(
			SELECT m.id FROM subscriptions s JOIN accounts m ON m.id = s.subscriber_id
			WHERE s.account_id = @group AND m.name > @after
				AND NOT EXISTS (SELECT FROM unseen_accounts u WHERE u.account_id = m.id)
				AND NOT EXISTS (SELECT FROM group_admins g WHERE g.group_id = @group AND g.account_id = m.id)
			ORDER BY m.name LIMIT @limit))
		ORDER BY a.name`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"group": group, "after": after, "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Member])
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	return list, nil
}
