package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Bans (source: 000, 004). A ban hides two people from each other: posts, comments and
// likes, on every page and in every push, and neither can answer the other. It changes no
// stored post, timeline, subscription or reader, so all of these are as before when it is
// lifted; only requests between the two are gone. It is decided where something is shown
// (access.Levels.Hidden), and where something is done (rights.Unbanned). Setting and lifting
// it move the access clock, and no river changes.

// bannedBetween is true if a ban stands between @actor and the account a.
const bannedBetween = `EXISTS (SELECT FROM bans b
	WHERE (b.account_id, b.banned_id) IN ((@actor::bigint, a.id), (a.id, @actor::bigint)))`

// Ban bans a person: from the acknowledgement on neither sees the other's page, posts,
// comments or likes. Requests between the two are withdrawn. Banning twice changes nothing.
// ErrNotFound if there is no such account, ErrForbidden if it is the actor's own
// or a group.
func (s Bans) Ban(ctx context.Context, actor int64, name string) (Change, error) {
	return s.setBan(ctx, actor, name, `
		WITH waiting AS MATERIALIZED (
			SELECT subscriber_id, account_id FROM subscription_requests
			WHERE (subscriber_id, account_id) IN ((@actor, @account), (@account, @actor))
			ORDER BY 1, 2 FOR UPDATE
		), withdrawn AS (
			DELETE FROM subscription_requests r USING waiting w
			WHERE (r.subscriber_id, r.account_id) = (w.subscriber_id, w.account_id)
		)
		INSERT INTO bans (account_id, banned_id) VALUES (@actor, @account) ON CONFLICT DO NOTHING`)
}

// Unban lifts the actor's own ban, with the same errors. A ban set by the other person
// stays.
func (s Bans) Unban(ctx context.Context, actor int64, name string) (Change, error) {
	return s.setBan(ctx, actor, name, `DELETE FROM bans WHERE account_id = @actor AND banned_id = @account`)
}

func (s Bans) setBan(ctx context.Context, actor int64, name, query string) (Change, error) {
	return s.setShown(ctx, actor, name, func(to target) (string, []int64, error) {
		if to.AccountID == actor || to.Kind != User {
			return "", nil, ErrForbidden
		}
		return query, []int64{actor, to.AccountID}, nil
	})
}

// ShowBanned sets whether the actor sees banned people in a group; see
// access.Levels.Hidden. ErrNotFound if there is no such group.
func (s Bans) ShowBanned(ctx context.Context, actor int64, group string, show bool) (Change, error) {
	query := `DELETE FROM show_banned WHERE account_id = @actor AND group_id = @account`
	if show {
		query = `INSERT INTO show_banned (account_id, group_id) VALUES (@actor, @account) ON CONFLICT DO NOTHING`
	}
	return s.setShown(ctx, actor, group, func(to target) (string, []int64, error) {
		if to.Kind != Group {
			return "", nil, ErrNotFound
		}
		return query, []int64{actor}, nil
	})
}

// setShown runs a statement that changes what some viewers see, and no river.
// statement gets the account that the name means, and returns the SQL and the viewers.
func (s Bans) setShown(ctx context.Context, actor int64, name string,
	statement func(target) (query string, viewers []int64, err error),
) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		to, err := lockTargetTx(ctx, tx, name)
		if err != nil {
			return Change{}, err
		}
		query, viewers, err := statement(to)
		if err != nil {
			return Change{}, err
		}
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"actor": actor, "account": to.AccountID})
		if err != nil {
			return Change{}, fmt.Errorf("change what is seen: %w", err)
		}
		c := Change{Actor: actor}
		if tag.RowsAffected() == 0 {
			return s.acknowledgeTx(ctx, tx, c)
		}
		forgotten := make([]Invalidation, len(viewers))
		for i, v := range viewers {
			forgotten[i] = Invalidation{Kind: InvalidSets, AccountID: v}
		}
		c.Clock, err = tickTx(ctx, tx, forgotten...)
		return c, err
	})
}

// Banned returns at most limit of the people the actor has banned, by name, after the
// name given; an empty name is the beginning.
func (s Bans) Banned(ctx context.Context, actor int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `SELECT banned_id FROM bans WHERE account_id = @of`, actor, after, limit)
}
