package timelines

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// ImportedFollow is a subscription from elsewhere, by the ids that Accounts returned.
type ImportedFollow struct {
	Subscriber int64 // a person
	Account    int64 // a person or a group
}

// Follow makes many subscriptions in one transaction and announces them. They are dated now.
// Each leaves what Subscriptions.Subscribe leaves, or, for a private account, Subscribe and
// the owner's Accept: the subscriber follows and reads the account, and asks for nothing any
// more. A pair changes nothing if it stands already, if both are the same account, if a ban
// stands between them, or if the account's feed excludes the subscriber.
//
// It returns ErrNotFound, and stores nothing, if an id is no account's or a subscriber is a
// group. The caller gives the Change to the tiers. Memory and locks grow with the batch, and
// nobody can post to these accounts or follow them before it is committed. Fifty thousand
// pairs are a good size.
func (im *Import) Follow(ctx context.Context, follows []ImportedFollow) (Change, error) {
	c, err := inTxOn(ctx, im.conn, func(tx pgx.Tx) (Change, error) {
		return im.store.followTx(ctx, tx, follows)
	})
	if err != nil {
		return Change{}, fmt.Errorf("import: %w", err)
	}
	return c, nil
}

// followTx makes the subscriptions that are missing. It takes its locks in the order of the
// package: the feeds, requests, subscriptions, readers, then the clock.
func (s *core) followTx(ctx context.Context, tx pgx.Tx, follows []ImportedFollow) (Change, error) {
	feeds, err := lockFeedsToFollowTx(ctx, tx, follows)
	if err != nil {
		return Change{}, err
	}
	missing, opened, err := missingFollowsTx(ctx, tx, follows, feeds)
	if err != nil || len(missing.subscribers) == 0 {
		return Change{}, err
	}
	if err := missing.admitTx(ctx, tx); err != nil {
		return Change{}, err
	}
	c := Change{Replace: followedRivers(missing.subscribers, opened)}
	if err := s.announceReplacedTx(ctx, tx, c.Replace); err != nil {
		return Change{}, err
	}
	var invalid []Invalidation
	for _, id := range union(missing.subscribers, nil) {
		invalid = append(invalid, Invalidation{Kind: InvalidSets, AccountID: id})
	}
	for _, id := range union(missing.accounts, nil) {
		invalid = append(invalid, Invalidation{Kind: InvalidCounts, AccountID: id})
	}
	c.Clock, err = tickTx(ctx, tx, invalid...)
	return c, err
}

// lockFeedsToFollowTx locks the feeds of all accounts that are to be followed and returns them by
// account.
//
// Subscribe only holds the level. This lock is stronger, because somebody may ask to follow
// an account while a batch makes them follow it: they wait here, and then find that they
// follow. Otherwise their request would stand beside the subscription.
func lockFeedsToFollowTx(ctx context.Context, tx pgx.Tx, follows []ImportedFollow) (map[int64]int64, error) {
	const people = `
		SELECT count(*) FROM unnest(@subscribers::bigint[]) s (id)
		WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.id = s.id AND a.kind = 'user')`
	const lock = `
		SELECT a.id, t.id FROM ` + accountTables + ` WHERE a.id = ANY(@accounts)
		ORDER BY t.id FOR NO KEY UPDATE OF t`
	var subscribers, accounts []int64
	for _, f := range follows {
		subscribers, accounts = append(subscribers, f.Subscriber), append(accounts, f.Account)
	}
	var strangers int
	err := tx.QueryRow(ctx, people, pgx.StrictNamedArgs{"subscribers": union(subscribers, nil)}).Scan(&strangers)
	if err != nil {
		return nil, fmt.Errorf("find subscribers: %w", err)
	}
	accounts = union(accounts, nil)
	rows, err := tx.Query(ctx, lock, pgx.StrictNamedArgs{"accounts": accounts})
	if err != nil {
		return nil, fmt.Errorf("lock feeds: %w", err)
	}
	feeds := make(map[int64]int64, len(accounts))
	var account, feed int64
	_, err = pgx.ForEachRow(rows, []any{&account, &feed}, func() error {
		feeds[account] = feed
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("lock feeds: %w", err)
	}
	if strangers > 0 || len(feeds) < len(accounts) {
		return nil, fmt.Errorf("follow %d accounts, of which %d are known, by %d strangers: %w", len(accounts), len(feeds), strangers, ErrNotFound)
	}
	return feeds, nil
}

// missingFollowsTx returns the subscriptions that may be made and are not there, and the
// subscribers who may read something from then on that they could not read before. The feeds
// are locked, so the answer stays true.
func missingFollowsTx(ctx context.Context, tx pgx.Tx, follows []ImportedFollow, feeds map[int64]int64) (missing admissions, opened map[int64]bool, err error) {
	const query = `
		SELECT DISTINCT f.subscriber_id, f.account_id, f.feed_id, t.access = 2 AND NOT EXISTS (
			SELECT FROM readers r WHERE r.timeline_id = f.feed_id AND r.account_id = f.subscriber_id)
		FROM unnest(@subscribers::bigint[], @accounts::bigint[], @feeds::bigint[]) AS f (subscriber_id, account_id, feed_id)
		JOIN timelines t ON t.id = f.feed_id
		WHERE f.subscriber_id <> f.account_id
			AND NOT EXISTS (SELECT FROM subscriptions s
				WHERE s.subscriber_id = f.subscriber_id AND s.account_id = f.account_id)
			AND NOT EXISTS (SELECT FROM excluded x WHERE x.timeline_id = f.feed_id AND x.account_id = f.subscriber_id)
			AND NOT EXISTS (SELECT FROM bans b WHERE (b.account_id, b.banned_id) IN
				((f.subscriber_id, f.account_id), (f.account_id, f.subscriber_id)))`
	var asked admissions
	for _, f := range follows {
		asked.add(f.Subscriber, f.Account, feeds[f.Account])
	}
	rows, err := tx.Query(ctx, query, asked.args())
	if err != nil {
		return admissions{}, nil, fmt.Errorf("find missing subscriptions: %w", err)
	}
	opened = map[int64]bool{}
	var subscriber, account, feed int64
	var opens bool
	_, err = pgx.ForEachRow(rows, []any{&subscriber, &account, &feed, &opens}, func() error {
		missing.add(subscriber, account, feed)
		opened[subscriber] = opened[subscriber] || opens
		return nil
	})
	if err != nil {
		return admissions{}, nil, fmt.Errorf("find missing subscriptions: %w", err)
	}
	return missing, opened, nil
}

// followedRivers returns the rivers that new subscriptions invalidate: the home feeds of the
// subscribers, or all rivers of those to whom a private feed opened, because its posts may
// come into any of them.
func followedRivers(subscribers []int64, opened map[int64]bool) []Replace {
	viewers := union(subscribers, nil)
	if len(viewers) > manyReaders {
		everybody := Replace{Everybody: true, Kinds: []string{RiverHome}}
		if slices.Contains(slices.Collect(maps.Values(opened)), true) {
			everybody.Kinds = nil
		}
		return []Replace{everybody}
	}
	var replaced []Replace
	for _, id := range viewers {
		if opened[id] {
			replaced = append(replaced, Replace{ViewerID: id})
		} else {
			replaced = append(replaced, myHome(id)...)
		}
	}
	return replaced
}
