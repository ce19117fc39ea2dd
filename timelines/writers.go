package timelines

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/rights"
	"riverrun/timelines/rules"
)

// Writers says who may put posts into a timeline that is not only its owner's (source: 000,
// "Кто может писать"). It does not depend on the level, which says who may read.
type Writers string

// A group's timeline has the policies anyone, members and administrators. A person's
// messages have anyone, people the person follows, those who follow back as well, and nobody.
const (
	// WritersAnyone is any signed-in account; in a group, any that may read it.
	WritersAnyone   Writers = "anyone"
	WritersMembers  Writers = "members"
	WritersAdmins   Writers = "admins"
	WritersFollowed Writers = "followed"
	WritersMutual   Writers = "mutual"
	WritersNobody   Writers = "nobody"
)

// WritersOf returns the policies that an account of a kind may choose among, the most open
// first: for posts to a group, for messages to a user.
func WritersOf(accountKind string) []Writers {
	if accountKind == Group {
		return []Writers{WritersAnyone, WritersMembers, WritersAdmins}
	}
	return []Writers{WritersAnyone, WritersFollowed, WritersMutual, WritersNobody}
}

// firstWriters returns the policy of a new group with this level. Later changes of the
// level do not change it.
func firstWriters(level Level) Writers {
	if level == Public {
		return WritersAnyone
	}
	return WritersMembers
}

// writable is true for a timeline t, a group's or one of a person's messages, into which
// @author may put posts: the policy allows it, the author may read the group and
// is not blocked there, no ban stands between the author and the person. It is false
// for timelines that only their owners write into.
var writable = `(CASE t.writers
	WHEN 'anyone' THEN true
	WHEN 'members' THEN EXISTS (SELECT FROM subscriptions s WHERE s.subscriber_id = @author AND s.account_id = t.their_id)
		OR EXISTS (SELECT FROM group_admins g WHERE g.group_id = t.their_id AND g.account_id = @author)
	WHEN 'admins' THEN EXISTS (SELECT FROM group_admins g WHERE g.group_id = t.their_id AND g.account_id = @author)
	WHEN 'followed' THEN EXISTS (SELECT FROM subscriptions s WHERE s.subscriber_id = t.their_id AND s.account_id = @author)
	WHEN 'mutual' THEN EXISTS (SELECT FROM subscriptions s WHERE s.subscriber_id = t.their_id AND s.account_id = @author)
		AND EXISTS (SELECT FROM subscriptions s WHERE s.subscriber_id = @author AND s.account_id = t.their_id)
	ELSE false END
	AND NOT EXISTS (SELECT FROM bans b
		WHERE (b.account_id, b.banned_id) IN ((@author::bigint, t.their_id), (t.their_id, @author::bigint)))
	AND NOT EXISTS (SELECT FROM unseen_accounts u WHERE u.account_id = t.their_id)
	AND (t.kind <> 'group' OR ` + unblocked + ` AND ` + rights.OpenTo("t", "@author::bigint") + `))`

// checkWritableTx returns an InvalidError "to_forbidden" for a destination that the author
// may not write to. The destinations' rows are locked (lockLevelsTx), so policies and
// blocks stay as this statement finds them. The subscriptions of a message's recipient may
// change meanwhile; they count as they are now.
func checkWritableTx(ctx context.Context, tx pgx.Tx, author int64, found []destination) error {
	var asked []int64
	for _, d := range found {
		if d.Kind == kinds.Group || d.Kind == kinds.Directs {
			asked = append(asked, d.TimelineID)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	query := `SELECT t.id FROM timelines t WHERE t.id = ANY(@timelines) AND NOT ` + writable
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"author": author, "timelines": asked})
	if err != nil {
		return fmt.Errorf("check destinations: %w", err)
	}
	refused, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("check destinations: %w", err)
	}
	for _, d := range found {
		if slices.Contains(refused, d.TimelineID) {
			return rules.ToForbidden.Broken(d.Name)
		}
	}
	return nil
}

// SetWriters sets who may send messages to the actor, or, if a group is named,
// who may post to it: an InvalidError "writers_unknown" if that is none of
// WritersOf, ErrNotFound if there is no such group, ErrForbidden if the actor
// does not administer it.
//
// It hides nothing from anybody, so nothing has to wait for its clock. The number it draws
// only makes nodes, which remember the policy with the account, offer the right forms.
func (s Groups) SetWriters(ctx context.Context, actor int64, group string, who Writers) (Change, error) {
	kind := User
	if group != "" {
		kind = Group
	}
	if !slices.Contains(WritersOf(kind), who) {
		return Change{}, &InvalidError{Field: "writers", Code: "writers_unknown"}
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		account, of := actor, kinds.Directs
		if group != "" {
			g, err := lockGroupTx(ctx, tx, actor, group)
			if err != nil {
				return Change{}, err
			}
			account, of = g.ID, kinds.Group
		} else if _, err := accountTx(ctx, tx, actor); err != nil {
			return Change{}, err
		}
		// The update is the lock: a post that relies on the policy holds the row.
		const query = `
			UPDATE timelines SET writers = @who
			WHERE kind = @kind AND their_id = @account AND term = '' AND writers <> @who`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"who": who, "kind": of, "account": account})
		if err != nil {
			return Change{}, fmt.Errorf("set writers: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidAccount, AccountID: account})
		return Change{Actor: actor, Clock: clock}, err
	})
}
