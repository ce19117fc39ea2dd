package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The explicit sets of a group's levels, which its administrators keep (source:
// 000, "Права на чтение постов"). Members and administrators read a group at every
// level. A private group is also read by people it admits, and a protected one by every
// signed-in person it does not exclude. As with feeds, a set counts while the group has
// its level, and is kept while it has another: a change of level removes nobody from
// either set.
//
// Nobody is in both sets, and the last action counts: excluding somebody ends their
// admission, and admitting them ends the exclusion. No member, no administrator and
// nobody who asks to join is excluded. So an excluded person can neither join nor ask,
// whatever the level (ErrExcluded). Otherwise one moment in which the group is public
// would make them a member for good. Apart from that, an excluded account reads a public
// group like any other.
//
// The errors of all four are ErrNotFound if there is no such group, ErrForbidden if
// the actor does not administer it, and InvalidErrors: "name_unknown" if nobody has
// the name, and, where a method names them, "admin_demote" for an administrator and
// "member_remove" for a member, whose membership must end first.

// Exclude closes a protected group to a person: a narrowing, as
// Feeds.Exclude. A request to join is dropped, and so is an admission. Excluding
// again changes nothing. InvalidErrors "admin_demote" and "member_remove".
func (s Groups) Exclude(ctx context.Context, actor int64, group, name string) (Change, error) {
	// Any of these rows may be there or not. Their order does not matter: every other
	// transaction that changes them waits for the group's timeline, which is locked.
	const query = `
		WITH dismissed AS (
			DELETE FROM readers WHERE timeline_id = @feed AND account_id = @who
		)
		INSERT INTO excluded (timeline_id, account_id) VALUES (@feed, @who)`
	return s.moderate(ctx, actor, group, name, func(tx pgx.Tx, g governed, who standing) (Change, error) {
		if err := outside(who, name); err != nil {
			return Change{}, err
		}
		if who.Excluded {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		declined, err := dropRequestTx(ctx, tx, who.ID, g.ID)
		if err != nil {
			return Change{}, err
		}
		read := g.Access == Protected || g.Access == Private && who.Admitted
		return s.setGroupReaderTx(ctx, tx, actor, g, who, query, read, declined...)
	})
}

// Unexclude undoes Groups.Exclude; it restores no admission and no request.
func (s Groups) Unexclude(ctx context.Context, actor int64, group, name string) (Change, error) {
	const query = `DELETE FROM excluded WHERE timeline_id = @feed AND account_id = @who`
	return s.moderate(ctx, actor, group, name, func(tx pgx.Tx, g governed, who standing) (Change, error) {
		if !who.Excluded {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		return s.setGroupReaderTx(ctx, tx, actor, g, who, query, g.Access == Protected)
	})
}

// Admit lets a person read a private group. It does not make them a member: they
// are not counted, nothing comes to their home feed, and they may post only if the
// group's rule lets readers post (WritersAnyone). They may join without asking, as a
// reader of a private feed may follow it, and leaving then ends the admission too. A
// request to join goes on waiting. Admitting a reader, member or administrator changes
// nothing.
func (s Groups) Admit(ctx context.Context, actor int64, group, name string) (Change, error) {
	const query = `
		WITH let_in AS (
			DELETE FROM excluded WHERE timeline_id = @feed AND account_id = @who
		)
		INSERT INTO readers (timeline_id, account_id, admitted) VALUES (@feed, @who, true)`
	return s.moderate(ctx, actor, group, name, func(tx pgx.Tx, g governed, who standing) (Change, error) {
		if who.Member || who.Admin || who.Admitted {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		read := g.Access == Private || g.Access == Protected && who.Excluded
		return s.setGroupReaderTx(ctx, tx, actor, g, who, query, read)
	})
}

// Dismiss undoes Groups.Admit: a narrowing, as Feeds.Remove. Dismissing somebody
// who is not admitted changes nothing. InvalidErrors "admin_demote" and "member_remove",
// since these people would go on reading.
func (s Groups) Dismiss(ctx context.Context, actor int64, group, name string) (Change, error) {
	const query = `DELETE FROM readers WHERE timeline_id = @feed AND account_id = @who`
	return s.moderate(ctx, actor, group, name, func(tx pgx.Tx, g governed, who standing) (Change, error) {
		if err := outside(who, name); err != nil {
			return Change{}, err
		}
		if !who.Admitted {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		return s.setGroupReaderTx(ctx, tx, actor, g, who, query, g.Access == Private)
	})
}

// outside returns an InvalidError for a member or an administrator.
func outside(who standing, name string) error {
	switch {
	case who.Admin:
		return &InvalidError{Field: "name", Code: "admin_demote", Value: name}
	case who.Member:
		return &InvalidError{Field: "name", Code: "member_remove", Value: name}
	}
	return nil
}

// setGroupReaderTx runs the statement that moves a person into or out of a set. If they
// read more or less from now on, it invalidates their rivers.
func (s *core) setGroupReaderTx(ctx context.Context, tx pgx.Tx, actor int64, g governed, who standing,
	query string, reads bool, also ...Invalidation,
) (Change, error) {
	args := pgx.StrictNamedArgs{"feed": g.FeedID, "who": who.ID}
	if _, err := tx.Exec(ctx, query, args); err != nil {
		return Change{}, fmt.Errorf("change readers of a group: %w", err)
	}
	also = append(also, Invalidation{Kind: InvalidCounts, AccountID: g.ID})
	if !reads {
		return forgetViewerTx(ctx, tx, actor, who.ID, also...)
	}
	return s.replaceAndForgetTx(ctx, tx, actor, []Replace{{ViewerID: who.ID}}, also...)
}

// Admitted returns at most limit of the people the group admits who are not members, by
// name, after the name given; an empty name is the beginning. It is for the group's
// administrators.
func (s Groups) Admitted(ctx context.Context, group int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `
		SELECT r.account_id FROM readers r JOIN timelines t ON t.id = r.timeline_id
		WHERE t.kind = 'group' AND t.their_id = @of AND t.term = '' AND r.admitted`, group, after, limit)
}

// Excluded is Groups.Admitted for the people the group excludes.
func (s Groups) Excluded(ctx context.Context, group int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `
		SELECT x.account_id FROM excluded x JOIN timelines t ON t.id = x.timeline_id
		WHERE t.kind = 'group' AND t.their_id = @of AND t.term = ''`, group, after, limit)
}
