package access

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/site"
)

// The loads of the cache's tables. Each is one statement and so reads one snapshot.

func (c *Cache) readLog(ctx context.Context, after, upto int64) ([]timelines.Invalidation, error) {
	const query = `
		SELECT n, kind, account_id, timeline_id, token_hash
		FROM access_log WHERE n > @after AND n <= @upto ORDER BY n`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"after": after, "upto": upto})
	if err != nil {
		return nil, fmt.Errorf("read access log: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[timelines.Invalidation])
	if err != nil {
		return nil, fmt.Errorf("read access log: %w", err)
	}
	return found, nil
}

// byKey runs a query whose keys are @keys, and collects its two columns, a key and a value.
func byKey[K comparable, V any](ctx context.Context, c *Cache, what, query string, keys []K) (map[K]V, error) {
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"keys": keys})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", what, err)
	}
	found := make(map[K]V, len(keys))
	var key K
	var v V
	if _, err := pgx.ForEachRow(rows, []any{&key, &v}, func() error { found[key] = v; return nil }); err != nil {
		return nil, fmt.Errorf("load %s: %w", what, err)
	}
	return found, nil
}

func (c *Cache) loadSessions(ctx context.Context, keys []timelines.Session) (map[timelines.Session]session, error) {
	const query = `
		SELECT s.token_hash, s.account_id, s.expires_at, coalesce(t.id, 0), t.scopes, coalesce(t.whole_site, false)
		FROM sessions s LEFT JOIN app_tokens t ON t.token_hash = s.token_hash
		WHERE s.token_hash = ANY(@hashes) AND s.expires_at > now()`
	hashes := make([][]byte, len(keys))
	for i := range keys {
		hashes[i] = keys[i][:]
	}
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"hashes": hashes})
	if err != nil {
		return nil, fmt.Errorf("load sessions: %w", err)
	}
	found := make(map[timelines.Session]session, len(keys))
	var hash []byte
	var s session
	_, err = pgx.ForEachRow(rows, []any{&hash, &s.accountID, &s.expiresAt, &s.token, &s.scopes, &s.wholeSite}, func() error {
		found[timelines.Session(hash)] = s
		s.scopes = nil // the next row's are others
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load sessions: %w", err)
	}
	return found, nil
}

// loadSets has one column for each set: the field of Sets with that name, and of Hides.
func (c *Cache) loadSets(ctx context.Context, keys []int64) (map[int64]*Sets, error) {
	const query = `
		SELECT
			k.id AS account_id,
			ARRAY(SELECT account_id FROM subscriptions WHERE subscriber_id = k.id ORDER BY 1) AS follows,
			ARRAY(SELECT account_id FROM subscriptions WHERE subscriber_id = k.id AND NOT in_home ORDER BY 1) AS out_of_home,
			(SELECT coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'slug', l.slug, 'title', l.title,
					'members', ARRAY(SELECT m.account_id FROM list_members m WHERE m.list_id = l.id ORDER BY 1))
				ORDER BY l.title, l.id), '[]') FROM lists l WHERE l.account_id = k.id) AS lists,
			coalesce((SELECT friends_only FROM accounts WHERE id = k.id), false) AS friends_only,
			ARRAY(SELECT timeline_id FROM readers WHERE account_id = k.id ORDER BY 1) AS readable,
			ARRAY(SELECT timeline_id FROM excluded WHERE account_id = k.id ORDER BY 1) AS excluded,
			ARRAY(SELECT group_id FROM group_admins WHERE account_id = k.id ORDER BY 1) AS administers,
			ARRAY(SELECT group_id FROM group_blocks WHERE account_id = k.id ORDER BY 1) AS blocked_by,
			ARRAY(SELECT banned_id FROM bans WHERE account_id = k.id ORDER BY 1) AS bans,
			ARRAY(SELECT account_id FROM bans WHERE banned_id = k.id ORDER BY 1) AS banned_by,
			ARRAY(SELECT group_id FROM show_banned WHERE account_id = k.id ORDER BY 1) AS show_banned,
			ARRAY(SELECT post_id FROM hidden_posts WHERE account_id = k.id ORDER BY 1) AS posts,
			ARRAY(SELECT post_id FROM muted_posts WHERE account_id = k.id ORDER BY 1) AS muted,
			coalesce((SELECT notices_off FROM accounts WHERE id = k.id), 0::smallint) AS notices_off,
			coalesce((SELECT alerts_seen FROM accounts WHERE id = k.id), 0) AS alerts_seen,
			coalesce((SELECT rules_agreed FROM accounts WHERE id = k.id), 0) AS rules_agreed,
			ARRAY(SELECT hidden_id FROM hidden_accounts WHERE account_id = k.id ORDER BY 1) AS accounts,
			(SELECT coalesce(jsonb_agg(string_to_array(term, ' ') ORDER BY term), '[]')
				FROM hidden_terms WHERE account_id = k.id) AS terms,
			coalesce((SELECT role FROM staff WHERE account_id = k.id), '') AS role,
			ARRAY(SELECT DISTINCT u.account_id FROM unseen_accounts u JOIN accounts a ON a.id = u.account_id
				WHERE a.kind = 'group' AND EXISTS (SELECT FROM staff WHERE account_id = k.id) ORDER BY 1) AS unseen,
			(SELECT coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'at', at, 'device', device, 'session', encode(token_hash, 'base64'))
				ORDER BY at DESC), '[]')
				FROM (SELECT * FROM account_events WHERE account_id = k.id ORDER BY at DESC LIMIT 5) e) AS events
		FROM unnest(@keys::bigint[]) k (id)`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"keys": keys})
	if err != nil {
		return nil, fmt.Errorf("load access sets: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[Sets])
	if err != nil {
		return nil, fmt.Errorf("load access sets: %w", err)
	}
	unseen, _, err := c.unseen.one(ctx, theSite)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]*Sets, len(list))
	for _, sets := range list {
		if !sets.Staff() {
			sets.Unseen = unseen.Unseen
		}
		sets.fingerprint = sets.computeFingerprint()
		found[sets.AccountID] = sets
	}
	return found, nil
}

// theSite is the key of what there is one of.
const theSite = 1

// loadUnseen returns what decides for anonymous visitors, with the list that all sets share.
func (c *Cache) loadUnseen(ctx context.Context, _ []int64) (map[int64]*Sets, error) {
	rows, err := c.store.Pool().Query(ctx, `SELECT DISTINCT account_id FROM unseen_accounts ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("load unseen accounts: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("load unseen accounts: %w", err)
	}
	sets := &Sets{Unseen: ids}
	sets.fingerprint = sets.computeFingerprint()
	return map[int64]*Sets{theSite: sets}, nil
}

func (c *Cache) loadSite(ctx context.Context, _ []int64) (map[int64]site.Site, error) {
	s, err := site.Read(ctx, c.store.Pool())
	if err != nil {
		return nil, err
	}
	s.Shut = s.IsPrivate(c.store.Options())
	return map[int64]site.Site{theSite: s}, nil
}

func (c *Cache) loadTimelinesAndLevels(ctx context.Context, ids []int64) (map[int64]timelines.Timeline, error) {
	c.mu.Lock()
	began := c.state()
	c.mu.Unlock()
	found, levels, err := c.loadTimelines(ctx, ids)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads++ // before anybody finds one of the levels: see Label
	c.levels.keep(levels, began)
	return found, nil
}

// loadTimelines also returns the levels of the timelines' gates, by gate.
func (c *Cache) loadTimelines(ctx context.Context, ids []int64) (
	found map[int64]timelines.Timeline, levels map[int64]timelines.Level, err error,
) {
	// Each by its index step: a plan that was made while the table was small would read all of it.
	const query = `
		SELECT t.id, t.kind, t.their_id, t.term, coalesce(t.gate_id, 0), coalesce(g.access, 0::smallint)
		FROM unnest(@ids::bigint[]) AS n (id)
		CROSS JOIN LATERAL (SELECT * FROM timelines WHERE id = n.id OFFSET 0) t
		LEFT JOIN LATERAL (SELECT access FROM timelines WHERE id = t.gate_id OFFSET 0) g ON true`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"ids": ids})
	if err != nil {
		return nil, nil, fmt.Errorf("load timelines: %w", err)
	}
	found, levels = make(map[int64]timelines.Timeline, len(ids)), map[int64]timelines.Level{}
	var t timelines.Timeline
	var level timelines.Level
	_, err = pgx.ForEachRow(rows, []any{&t.ID, &t.Kind, &t.TheirID, &t.Term, &t.GateID, &level}, func() error {
		found[t.ID] = t
		if t.GateID != 0 {
			levels[t.GateID] = level
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("load timelines: %w", err)
	}
	return found, levels, nil
}

func (c *Cache) loadLevels(ctx context.Context, gates []int64) (map[int64]timelines.Level, error) {
	return byKey[int64, timelines.Level](ctx, c, "levels", `
		SELECT t.id, t.access FROM unnest(@keys::bigint[]) AS n (id)
		CROSS JOIN LATERAL (SELECT id, access FROM timelines WHERE id = n.id OFFSET 0) t`, gates)
}

func (c *Cache) loadAccounts(ctx context.Context, ids []int64) (map[int64]timelines.Account, error) {
	list, err := c.store.Accounts.ByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]timelines.Account, len(list))
	for _, a := range list {
		found[a.ID] = a
	}
	return found, nil
}

func (c *Cache) loadSubfeeds(ctx context.Context, accounts []int64) (map[int64][]timelines.Subfeed, error) {
	const query = `
		SELECT t.id AS timeline_id, t.their_id AS account_id, t.term AS slug, coalesce(f.title, '') AS title
		FROM timelines t LEFT JOIN subfeeds f ON f.timeline_id = t.id
		WHERE t.kind = 'subfeed' AND t.their_id = ANY(@accounts)
		ORDER BY t.their_id, f.timeline_id IS NOT NULL, f.title, t.term`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"accounts": accounts})
	if err != nil {
		return nil, fmt.Errorf("load sub-feeds: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[timelines.Subfeed])
	if err != nil {
		return nil, fmt.Errorf("load sub-feeds: %w", err)
	}
	found := make(map[int64][]timelines.Subfeed, len(accounts))
	for _, id := range accounts {
		found[id] = nil // no sub-feeds is an answer too
	}
	for _, f := range list {
		found[f.AccountID] = append(found[f.AccountID], f)
	}
	return found, nil
}

// countRequests leaves out a request that came beside a ban, or from somebody who is unseen, as Subscriptions.Requests does.
func (c *Cache) countRequests(ctx context.Context, accounts []int64) (map[int64]int, error) {
	return byKey[int64, int](ctx, c, "numbers of requests", `
		SELECT k.id, (SELECT count(*) FROM subscription_requests r
			WHERE r.account_id = k.id AND NOT EXISTS (SELECT FROM bans b
				WHERE (b.account_id, b.banned_id) IN ((r.account_id, r.subscriber_id), (r.subscriber_id, r.account_id)))
				AND NOT EXISTS (SELECT FROM unseen_accounts u WHERE u.account_id = r.subscriber_id))
		FROM unnest(@keys::bigint[]) k (id)`, accounts)
}
