package timelines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Accept grants the request of the account named: to the actor's own feed, or,
// if a group is named, to that group. ErrNotFound if there is no such request or
// group, ErrForbidden if the actor does not administer the group.
func (s Subscriptions) Accept(ctx context.Context, actor int64, name, group string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		feed, err := askedFeedTx(ctx, tx, actor, group)
		if err != nil {
			return Change{}, err
		}
		if !nameForm.MatchString(name) {
			return Change{}, ErrNotFound
		}
		subscriber, account, err := takeRequestTx(ctx, tx, feed, name)
		if err != nil {
			return Change{}, err
		}
		was, err := readershipTx(ctx, tx, feed, subscriber)
		if err != nil {
			return Change{}, err
		}
		if err := admitTx(ctx, tx, subscriber, account, feed); err != nil {
			return Change{}, err
		}
		replaced := []Replace{{ViewerID: subscriber}} // posts come into every river
		if was.open {
			replaced = myHome(subscriber)
		}
		return s.joinedTx(ctx, tx, actor, account, replaced...)
	})
}

// Decline turns down the request of the account named, to the actor's own feed or to a
// group. That account is told nothing and may ask again. The errors are those of Accept.
func (s Subscriptions) Decline(ctx context.Context, actor int64, name, group string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		feed, err := askedFeedTx(ctx, tx, actor, group)
		if err != nil {
			return Change{}, err
		}
		if !nameForm.MatchString(name) {
			return Change{}, ErrNotFound
		}
		_, account, err := takeRequestTx(ctx, tx, feed, name)
		if err != nil {
			return Change{}, err
		}
		return recountTx(ctx, tx, actor, account)
	})
}

// askedFeedTx is governedFeedTx for the answer to a request. It locks the feed before the
// request: the person is not excluded meanwhile, and the feed's level does not change
// between the question whether they read it and the answer.
func askedFeedTx(ctx context.Context, tx pgx.Tx, actor int64, group string) (feed int64, err error) {
	if group != "" {
		g, err := lockGroupTx(ctx, tx, actor, group)
		return g.FeedID, err
	}
	if feed, err = governedFeedTx(ctx, tx, actor, group); err != nil {
		return 0, err
	}
	const lock = `SELECT FROM timelines WHERE id = @feed FOR SHARE`
	if _, err := tx.Exec(ctx, lock, pgx.StrictNamedArgs{"feed": feed}); err != nil {
		return 0, fmt.Errorf("lock feed: %w", err)
	}
	return feed, nil
}

// takeRequestTx deletes the request of the account named to the owner of a feed, or
// returns ErrNotFound. If two people answer it, or one answers and the other withdraws it,
// the second finds it gone.
func takeRequestTx(ctx context.Context, tx pgx.Tx, feed int64, name string) (subscriber, account int64, err error) {
	const take = `
		DELETE FROM subscription_requests r
		USING accounts a, timelines t
		WHERE a.name = @name AND t.id = @feed
			AND r.subscriber_id = a.id AND r.account_id = t.their_id
		RETURNING r.subscriber_id, r.account_id`
	err = tx.QueryRow(ctx, take, pgx.StrictNamedArgs{"name": name, "feed": feed}).Scan(&subscriber, &account)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, ErrNotFound
	}
	if err != nil {
		return 0, 0, fmt.Errorf("take request: %w", err)
	}
	return subscriber, account, nil
}

// dropRequestTx drops a request. If there was one, nodes have to count again.
func dropRequestTx(ctx context.Context, tx pgx.Tx, subscriber, account int64) ([]Invalidation, error) {
	tag, err := tx.Exec(ctx, `DELETE FROM subscription_requests WHERE subscriber_id = @subscriber AND account_id = @account`,
		pgx.StrictNamedArgs{"subscriber": subscriber, "account": account})
	if err != nil {
		return nil, fmt.Errorf("drop request: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil, nil
	}
	return []Invalidation{{Kind: InvalidCounts, AccountID: account}}, nil
}

// recountTx ends a change of the requests to an account, and of nothing else.
func recountTx(ctx context.Context, tx pgx.Tx, actor, account int64) (Change, error) {
	clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidCounts, AccountID: account})
	return Change{Actor: actor, Clock: clock}, err
}

// Request is somebody's wish to follow a private account.
type Request struct {
	From      Account
	To        Account
	CreatedAt time.Time
}

// RequestPlace is the place of a request in the order of requests, after which a list goes
// on. The zero RequestPlace is before all.
type RequestPlace struct {
	CreatedAt time.Time
	From, To  string // names of accounts, which part what came at one instant
}

// Place returns the request's place in the order of requests.
func (r Request) Place() RequestPlace { return RequestPlace{r.CreatedAt, r.From.Name, r.To.Name} }

// Requests returns at most limit of the requests that wait for the actor's answer, oldest
// first, after a place: requests to the actor and to the groups the actor administers, or,
// if group is not 0, to that group alone.
func (s Subscriptions) Requests(ctx context.Context, actor, group int64, after RequestPlace, limit int) ([]Request, error) {
	// It reads as many of each account as could be needed, in the order of the index, and then
	// takes the first of all.
	const query = `
		SELECT r.subscriber_id, r.account_id, r.created_at
		FROM (
			SELECT @actor::bigint WHERE @group = 0
			UNION ALL
			SELECT group_id FROM group_admins WHERE account_id = @actor AND @group IN (0, group_id)
		) asked (id)
		JOIN accounts t ON t.id = asked.id
		CROSS JOIN LATERAL (
			SELECT q.subscriber_id, q.account_id, q.created_at, a.name
			FROM subscription_requests q JOIN accounts a ON a.id = q.subscriber_id
			WHERE q.account_id = t.id AND q.created_at >= @at AND (q.created_at, a.name, t.name) > (@at, @from, @to)
				AND (t.id <> @actor OR NOT ` + bannedBetween + `) AND ` + seen + `
			ORDER BY q.created_at, a.name LIMIT @limit) r
		ORDER BY r.created_at, r.name, t.name LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{
		"actor": actor, "group": group, "at": after.CreatedAt, "from": after.From, "to": after.To, "limit": limit,
	})
	if err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	var ids []int64
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Request, err error) {
		err = row.Scan(&r.From.ID, &r.To.ID, &r.CreatedAt)
		ids = append(ids, r.From.ID, r.To.ID)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	accounts, err := Accounts(s).ByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]Account, len(accounts))
	for _, a := range accounts {
		byID[a.ID] = a
	}
	for i := range list {
		list[i].From, list[i].To = byID[list[i].From.ID], byID[list[i].To.ID]
	}
	return list, nil
}
