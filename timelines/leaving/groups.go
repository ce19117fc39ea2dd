package leaving

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
)

// actDeleteGroup is a kind of acts in the audit log.
const actDeleteGroup = "delete_group"

// Within is what the deletion of a group ends.
type Within struct {
	Alone   int // posts that stand only there, which are deleted
	Also    int // posts that stay elsewhere
	Members int
	Sources int
}

// Within counts what a group has.
func (s *Store) Within(ctx context.Context, group int64) (w Within, err error) {
	const query = `
		SELECT count(*) FILTER (WHERE cardinality(p.decisive) < 2), count(*) FILTER (WHERE cardinality(p.decisive) > 1),
			(SELECT count(*) FROM subscriptions WHERE account_id = @group),
			(SELECT count(*) FROM sources WHERE owner_id = @group)
		FROM timeline_entries e JOIN posts p ON p.id = e.post_id
		WHERE e.timeline_id = (SELECT id FROM timelines WHERE kind = 'group' AND their_id = @group AND term = '') AND NOT e.withdrawn`
	err = s.timelines.Pool().QueryRow(ctx, query, pgx.StrictNamedArgs{"group": group}).Scan(&w.Alone, &w.Also, &w.Members, &w.Sources)
	if err != nil {
		return w, fmt.Errorf("count what a group has: %w", err)
	}
	return w, nil
}

// Disband deletes a group, for one of its administrators. confirm is its name, typed once more: an
// InvalidError "confirm_name" if it is another one. timelines.ErrNotFound if there is no such group or it
// is being deleted, timelines.ErrForbidden if the actor does not administer it.
func (s *Store) Disband(ctx context.Context, actor int64, name, confirm string) (timelines.Change, error) {
	if err := checkConfirm(name, confirm); err != nil {
		return timelines.Change{}, err
	}
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (timelines.Change, []timelines.Invalidation, error) {
		return s.endTx(ctx, tx, actor, name, false)
	})
}

// DeleteGroup is Disband for the staff's wish. Administrators may, for any group.
func (s *Store) DeleteGroup(ctx context.Context, by admin.By, name, confirm, reason string) (timelines.Change, error) {
	reason, err := cleanReason(by, reason)
	if err != nil {
		return timelines.Change{}, err
	}
	if err := checkConfirm(name, confirm); err != nil {
		return timelines.Change{}, err
	}
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		if by, err = admin.RequireTx(ctx, tx, by, admin.Administrator); err != nil {
			return c, nil, err
		}
		if c, drop, err = s.endTx(ctx, tx, by.AccountID, name, true); err != nil {
			return c, nil, err
		}
		// The act concerns no person, so it keeps the name and the reason.
		return c, drop, admin.RecordTx(ctx, tx, by, admin.Act{Kind: actDeleteGroup, Subject: name, Detail: reason})
	})
}

func checkConfirm(name, confirm string) error {
	if name != confirm {
		return &timelines.InvalidError{Field: "confirm", Code: "confirm_name", Value: name}
	}
	return nil
}

// endTx takes a group away from everybody, and lets its deletion begin.
func (s *Store) endTx(ctx context.Context, tx pgx.Tx, actor int64, name string, every bool) (c timelines.Change, drop []timelines.Invalidation, err error) {
	c.Actor = actor
	group, replaced, drop, err := s.timelines.Groups.EndTx(ctx, tx, actor, name, every)
	if err != nil {
		return c, nil, err
	}
	c.Replace = replaced
	_, err = tx.Exec(ctx, `INSERT INTO leaving (account_id, ends_at, by_staff) VALUES (@group, now(), @by_staff)`,
		pgx.StrictNamedArgs{"group": group, "by_staff": every})
	if err != nil {
		return c, nil, fmt.Errorf("note that a group is deleted: %w", err)
	}
	// One who joins by an invitation joins its groups. Invitations that are to no other group end, since
	// some let people in for the sake of the group alone (package doors). Those of the staff and of the
	// command line do not, and stay.
	for _, query := range []string{
		`UPDATE invitations SET withdrawn_at = now() WHERE withdrawn_at IS NULL
			AND by_id IS NOT NULL AND NOT EXISTS (SELECT FROM staff s WHERE s.account_id = invitations.by_id)
			AND id IN (SELECT invitation_id FROM invitation_groups WHERE group_id = @group)
			AND NOT EXISTS (SELECT FROM invitation_groups o WHERE o.invitation_id = invitations.id AND o.group_id <> @group)`,
		`DELETE FROM invitation_groups WHERE group_id = @group`,
	} {
		if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"group": group}); err != nil {
			return c, nil, fmt.Errorf("end invitations to a group: %w", err)
		}
	}
	hidden, err := admin.HideTx(ctx, tx, group, admin.CauseLeaving)
	if err != nil {
		return c, nil, err
	}
	return c, append(drop, hidden...), s.beginTx(ctx, tx, []int64{group})
}
