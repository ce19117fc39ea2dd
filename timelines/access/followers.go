package access

import (
	"context"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"
)

// How much of who follows whom a node remembers. An account may have very many followers; of
// more than followersKept only some are known by id, which is enough to name a few of them.
const (
	maxFollowed   = 4_000
	followersKept = 5_000
	groupsKept    = 500
)

// Followers are the accounts that follow an account, or the members of a group. They say
// nothing about who may know of them (see Sets.Reads, Sets.BlockedBetween).
type Followers struct {
	Total int
	// IDs are all of them, or those with the lowest ids if there are very many.
	IDs IDs
}

// Following is whom an account follows: how many people, and which groups. At most groupsKept
// groups are known. A group that somebody joined by an import, before they ever signed in, may be
// missing until something else changes for them.
type Following struct {
	People int
	Groups IDs
}

// Followers returns the followers of these accounts, by account: no statement for an account
// that nobody followed or ceased to follow since they were loaded, else one.
func (c *Cache) Followers(ctx context.Context, accounts []int64) (map[int64]Followers, error) {
	return c.followers.all(ctx, accounts)
}

// Following returns whom an account follows: no statement while that and the account's rights
// are as they were, else one.
func (c *Cache) Following(ctx context.Context, account int64) (Following, error) {
	f, _, err := c.following.one(ctx, account)
	return f, err
}

// MemberCount returns how many members a group has, as Followers does.
func (c *Cache) MemberCount(ctx context.Context, group int64) (int, error) {
	f, _, err := c.followers.one(ctx, group)
	return f.Total, err
}

// Readers returns how many are in the explicit set of each feed, sub-feed or group of these
// accounts, by timeline: who may read it while it is private, its owner included. No statement
// while none of these sets changed, else one.
func (c *Cache) Readers(ctx context.Context, accounts []int64) (map[int64]int, error) {
	found, err := c.readers.all(ctx, accounts)
	if err != nil {
		return nil, err
	}
	all := map[int64]int{}
	for _, counts := range found {
		maps.Copy(all, counts)
	}
	return all, nil
}

func (c *Cache) countReaders(ctx context.Context, accounts []int64) (map[int64]map[int64]int, error) {
	const query = `
		SELECT t.their_id, t.id, (SELECT count(*) FROM readers r WHERE r.timeline_id = t.id)
		FROM timelines t WHERE t.kind = ANY('{feed,subfeed,group}') AND t.their_id = ANY(@keys)`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"keys": accounts})
	if err != nil {
		return nil, fmt.Errorf("count readers: %w", err)
	}
	found := make(map[int64]map[int64]int, len(accounts))
	for _, id := range accounts {
		found[id] = map[int64]int{}
	}
	var id, timeline int64
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&id, &timeline, &n}, func() error { found[id][timeline] = n; return nil }); err != nil {
		return nil, fmt.Errorf("count readers: %w", err)
	}
	return found, nil
}

func (c *Cache) loadFollowers(ctx context.Context, accounts []int64) (map[int64]Followers, error) {
	const query = `
		SELECT k.id, (SELECT count(*) FROM subscriptions s WHERE s.account_id = k.id) AS total,
			ARRAY(SELECT s.subscriber_id FROM subscriptions s WHERE s.account_id = k.id ORDER BY 1 LIMIT @kept) AS ids
		FROM unnest(@keys::bigint[]) k (id)`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"keys": accounts, "kept": followersKept})
	if err != nil {
		return nil, fmt.Errorf("load followers: %w", err)
	}
	found := make(map[int64]Followers, len(accounts))
	var id int64
	var f Followers
	if _, err := pgx.ForEachRow(rows, []any{&id, &f.Total, &f.IDs}, func() error {
		found[id] = f
		f.IDs = nil // the next row must not be read into the same array
		return nil
	}); err != nil {
		return nil, fmt.Errorf("load followers: %w", err)
	}
	return found, nil
}

func (c *Cache) loadFollowing(ctx context.Context, accounts []int64) (map[int64]Following, error) {
	const query = `
		SELECT k.id,
			(SELECT count(*) FROM subscriptions s JOIN accounts a ON a.id = s.account_id
				WHERE s.subscriber_id = k.id AND a.kind = 'user'),
			ARRAY(SELECT a.id FROM subscriptions s JOIN accounts a ON a.id = s.account_id
				WHERE s.subscriber_id = k.id AND a.kind = 'group' ORDER BY 1 LIMIT @kept)
		FROM unnest(@keys::bigint[]) k (id)`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"keys": accounts, "kept": groupsKept})
	if err != nil {
		return nil, fmt.Errorf("load whom accounts follow: %w", err)
	}
	found := make(map[int64]Following, len(accounts))
	var id int64
	var f Following
	if _, err := pgx.ForEachRow(rows, []any{&id, &f.People, &f.Groups}, func() error {
		found[id] = f
		f.Groups = nil // the next row must not be read into the same array
		return nil
	}); err != nil {
		return nil, fmt.Errorf("load whom accounts follow: %w", err)
	}
	return found, nil
}
