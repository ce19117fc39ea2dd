package timelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A follower is always among the readers of the account's feed, whatever its level. So
// a feed that goes private keeps its followers, and one statement finds all readers.

// myHome returns the rivers that a change of the actor's own subscriptions invalidates. A
// request that finds its work done already carries them too, without announcing them: the
// first request may be committed and not answered yet, and this one completes it.
func myHome(actor int64) []Replace { return []Replace{{ViewerID: actor, Kinds: []string{RiverHome}}} }

// myFeeds is myHome with the actor's lists. The end of a subscription may have invalidated
// them, where it is no longer known which lists had the account.
func myFeeds(actor int64) []Replace {
	return []Replace{{ViewerID: actor, Kinds: []string{RiverHome, RiverList}}}
}

// unfollowed returns the rivers that the end of a subscription invalidates for the
// follower; lists are the follower's lists that had the account.
func unfollowed(subscriber int64, lists []int64) []Replace {
	if len(lists) == 0 {
		return myHome(subscriber)
	}
	return append(myHome(subscriber), listRivers(subscriber, lists...))
}

// target is the account a change names.
type target struct {
	AccountID int64
	Kind      string
	FeedID    int64
	Access    Level
}

// lockTargetTx finds the account by name and holds the level of its feed: nobody who saw
// it public may join it without a request after it has gone private.
func lockTargetTx(ctx context.Context, tx pgx.Tx, name string) (target, error) {
	if !nameForm.MatchString(name) {
		return target{}, ErrNotFound
	}
	const query = `
		SELECT a.id AS account_id, a.kind, t.id AS feed_id, t.access
		FROM ` + accountTables + ` WHERE a.name = @name
		FOR SHARE OF t`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"name": name})
	if err != nil {
		return target{}, fmt.Errorf("read account: %w", err)
	}
	to, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[target])
	if errors.Is(err, pgx.ErrNoRows) {
		return target{}, ErrNotFound
	}
	if err != nil {
		return target{}, fmt.Errorf("read account: %w", err)
	}
	if to.Access == Ended {
		return target{}, ErrNotFound
	}
	return to, nil
}

// Subscribe makes the actor follow an account. For a private account that the actor may
// not read yet it makes a request instead: then requested is true, and nothing else has
// changed. To follow twice changes nothing. ErrNotFound if there is no such account;
// ErrForbidden if it is the actor's own or a ban stands between the two; ErrExcluded if the
// feed or group excludes the actor, whatever its level.
func (s Subscriptions) Subscribe(ctx context.Context, actor int64, name string) (c Change, requested bool, err error) {
	const relation = `
		SELECT EXISTS (SELECT FROM subscriptions WHERE subscriber_id = @actor AND account_id = @account),
			EXISTS (SELECT FROM readers WHERE timeline_id = @feed AND account_id = @actor),
			EXISTS (SELECT FROM excluded WHERE timeline_id = @feed AND account_id = @actor),
			` + bannedBetween + `
		FROM accounts a WHERE a.id = @account`
	c, err = s.change(ctx, func(tx pgx.Tx) (Change, error) {
		requested = false
		to, err := lockTargetTx(ctx, tx, name)
		if err != nil {
			return Change{}, err
		}
		if to.AccountID == actor {
			return Change{}, ErrForbidden
		}
		var subscribed, reads, excluded, banned bool
		err = tx.QueryRow(ctx, relation, pgx.StrictNamedArgs{
			"actor": actor, "account": to.AccountID, "feed": to.FeedID,
		}).Scan(&subscribed, &reads, &excluded, &banned)
		switch {
		case err != nil:
			return Change{}, fmt.Errorf("read relation: %w", err)
		case subscribed:
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor, Replace: myHome(actor)})
		case banned:
			return Change{}, ErrForbidden
		case excluded:
			return Change{}, ErrExcluded
		case to.Access == Private && !reads:
			requested = true
			return requestTx(ctx, tx, actor, to.AccountID)
		}
		if err := admitTx(ctx, tx, actor, to.AccountID, to.FeedID); err != nil {
			return Change{}, err
		}
		return s.joinedTx(ctx, tx, actor, to.AccountID, myHome(actor)...)
	})
	return c, requested && err == nil, err
}

func requestTx(ctx context.Context, tx pgx.Tx, subscriber, account int64) (Change, error) {
	const query = `
		INSERT INTO subscription_requests (subscriber_id, account_id) VALUES (@subscriber, @account)
		ON CONFLICT DO NOTHING`
	tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"subscriber": subscriber, "account": account})
	if err != nil {
		return Change{}, fmt.Errorf("file request: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return Change{Actor: subscriber}, nil
	}
	return recountTx(ctx, tx, subscriber, account)
}

// admitTx makes subscriber a follower and a reader, and removes their request. A reader
// of a group who was no member is now a member. The transaction ends with joinedTx.
func admitTx(ctx context.Context, tx pgx.Tx, subscriber, account, feed int64) error {
	var one admissions
	one.add(subscriber, account, feed)
	return one.admitTx(ctx, tx)
}

// admissions are subscriptions to make: who follows which account, and the account's feed.
type admissions struct{ subscribers, accounts, feeds []int64 }

func (a *admissions) add(subscriber, account, feed int64) {
	a.subscribers, a.accounts, a.feeds = append(a.subscribers, subscriber), append(a.accounts, account), append(a.feeds, feed)
}

func (a *admissions) args() pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"subscribers": a.subscribers, "accounts": a.accounts, "feeds": a.feeds}
}

// admitTx is the function of that name for many subscriptions.
func (a *admissions) admitTx(ctx context.Context, tx pgx.Tx) error {
	// Three statements in one round trip, in the order of locks. The parts of a single
	// statement run in an unknown order.
	const drop = `
		WITH asked AS MATERIALIZED (
			SELECT r.subscriber_id, r.account_id FROM subscription_requests r
			WHERE (r.subscriber_id, r.account_id) IN (SELECT * FROM unnest(@subscribers::bigint[], @accounts::bigint[]))
			ORDER BY 1, 2 FOR UPDATE
		)
		DELETE FROM subscription_requests r USING asked
		WHERE r.subscriber_id = asked.subscriber_id AND r.account_id = asked.account_id`
	const follow = `
		INSERT INTO subscriptions (subscriber_id, account_id)
		SELECT * FROM unnest(@subscribers::bigint[], @accounts::bigint[]) ORDER BY 1, 2
		ON CONFLICT DO NOTHING`
	const read = `
		INSERT INTO readers AS r (timeline_id, account_id)
		SELECT * FROM unnest(@feeds::bigint[], @subscribers::bigint[]) ORDER BY 1, 2
		ON CONFLICT (timeline_id, account_id) DO UPDATE SET admitted = false WHERE r.admitted`
	args := a.args()
	pairs := pgx.StrictNamedArgs{"subscribers": args["subscribers"], "accounts": args["accounts"]}
	var admit pgx.Batch
	admit.Queue(drop, pairs)
	admit.Queue(follow, pairs)
	admit.Queue(read, pgx.StrictNamedArgs{"feeds": args["feeds"], "subscribers": args["subscribers"]})
	if err := tx.SendBatch(ctx, &admit).Close(); err != nil {
		return fmt.Errorf("admit subscribers: %w", err)
	}
	return nil
}

// replaceTx ends a change of one viewer's subscriptions or rights to read: it announces the
// viewer's rivers as invalidated, and makes nodes drop the viewer's access sets. Without
// rivers to replace, the viewer is the actor.
func (s *core) replaceTx(ctx context.Context, tx pgx.Tx, actor int64, replaced ...Replace) (Change, error) {
	return s.replaceAndForgetTx(ctx, tx, actor, replaced)
}

// joinedTx is replaceTx after a viewer began or ceased to follow an account, or to ask for
// it: the account's numbers of members and requests change too.
func (s *core) joinedTx(ctx context.Context, tx pgx.Tx, actor, account int64, replaced ...Replace) (Change, error) {
	return s.replaceAndForgetTx(ctx, tx, actor, replaced, Invalidation{Kind: InvalidCounts, AccountID: account})
}

func (s *core) replaceAndForgetTx(ctx context.Context, tx pgx.Tx, actor int64, replaced []Replace, also ...Invalidation) (Change, error) {
	c := Change{Actor: actor, Replace: replaced}
	if err := s.announceReplacedTx(ctx, tx, replaced); err != nil {
		return Change{}, err
	}
	viewer := actor
	if len(replaced) > 0 {
		viewer = replaced[0].ViewerID
	}
	var err error
	c.Clock, err = tickTx(ctx, tx, append(also, Invalidation{Kind: InvalidSets, AccountID: viewer})...)
	return c, err
}

// Unsubscribe ends the actor's subscription to an account, or withdraws the request for
// one. It takes the account out of the actor's lists, and ends the actor's explicit right to
// read, which matters once the account is private; an administrator of a group goes on
// reading it. Without a subscription it succeeds and changes nothing.
func (s Subscriptions) Unsubscribe(ctx context.Context, actor int64, name string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		from, err := lockTargetTx(ctx, tx, name)
		if err != nil {
			return Change{}, err
		}
		if from.AccountID == actor {
			return Change{}, ErrForbidden
		}
		args := pgx.StrictNamedArgs{"actor": actor, "account": from.AccountID}
		// The request comes first: if it is just being accepted, this waits, and the next
		// statement sees and ends the new subscription.
		withdrawn, err := tx.Exec(ctx,
			`DELETE FROM subscription_requests WHERE subscriber_id = @actor AND account_id = @account`, args)
		if err != nil {
			return Change{}, fmt.Errorf("withdraw request: %w", err)
		}
		subscribed, lists, err := endSubscriptionTx(ctx, tx, actor, from.AccountID)
		if err != nil {
			return Change{}, err
		}
		if !subscribed {
			if withdrawn.RowsAffected() > 0 {
				return recountTx(ctx, tx, actor, from.AccountID)
			}
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor, Replace: myFeeds(actor)})
		}
		const lose = `
			DELETE FROM readers r WHERE r.timeline_id = @feed AND r.account_id = @actor
				AND NOT EXISTS (SELECT FROM group_admins g WHERE g.group_id = @account AND g.account_id = @actor)`
		args["feed"] = from.FeedID
		lost, err := tx.Exec(ctx, lose, args)
		if err != nil {
			return Change{}, fmt.Errorf("take readership away: %w", err)
		}
		replaced := unfollowed(actor, lists)
		if from.Access == Private && lost.RowsAffected() > 0 {
			replaced = []Replace{{ViewerID: actor}} // posts went out of every river
		}
		return s.joinedTx(ctx, tx, actor, from.AccountID, replaced...)
	})
}

// endSubscriptionTx ends a subscription, if there is one, and returns the subscriber's
// lists that had the account. If the account may be a group, the transaction ends with
// joinedTx. It locks the subscription first: a transaction that puts the account into a
// list holds it until it is done, and is seen here.
func endSubscriptionTx(ctx context.Context, tx pgx.Tx, subscriber, account int64) (was bool, lists []int64, err error) {
	args := pgx.StrictNamedArgs{"subscriber": subscriber, "account": account}
	locked, err := tx.Exec(ctx, `
		SELECT FROM subscriptions WHERE subscriber_id = @subscriber AND account_id = @account FOR UPDATE`, args)
	if err != nil {
		return false, nil, fmt.Errorf("lock subscription: %w", err)
	}
	if locked.RowsAffected() == 0 {
		return false, nil, nil
	}
	rows, err := tx.Query(ctx, `
		SELECT list_id FROM list_members WHERE subscriber_id = @subscriber AND account_id = @account ORDER BY 1`, args)
	if lists, err = collectIDs(rows, err, "lists of a subscription"); err != nil {
		return false, nil, err
	}
	// Its rows in lists go with it.
	_, err = tx.Exec(ctx, `DELETE FROM subscriptions WHERE subscriber_id = @subscriber AND account_id = @account`, args)
	if err != nil {
		return false, nil, fmt.Errorf("end subscription: %w", err)
	}
	return true, lists, nil
}

// Relation describes one account's relation to another.
type Relation struct {
	Subscribed bool
	Requested  bool
	Admin      bool // of the group
	Banned     bool // by the actor
}

// Relation returns the actor's relation to an account. It reads the primary store each
// time; only pages of the actor's own show it.
func (s Subscriptions) Relation(ctx context.Context, actor, account int64) (Relation, error) {
	const query = `
		SELECT EXISTS (SELECT FROM subscriptions WHERE subscriber_id = @actor AND account_id = @account),
			EXISTS (SELECT FROM subscription_requests WHERE subscriber_id = @actor AND account_id = @account),
			EXISTS (SELECT FROM group_admins WHERE group_id = @account AND account_id = @actor),
			EXISTS (SELECT FROM bans WHERE account_id = @actor AND banned_id = @account)`
	var r Relation
	err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"actor": actor, "account": account}).
		Scan(&r.Subscribed, &r.Requested, &r.Admin, &r.Banned)
	if err != nil {
		return Relation{}, fmt.Errorf("read relation: %w", err)
	}
	return r, nil
}
