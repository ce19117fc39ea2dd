package exports

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/drafts"
	"riverrun/timelines/rights"
)

// atOnce is how many rows of a section one statement reads.
const atOnce = 1000

// Section is a part of an archive besides the posts: rows of JSON, which SQL makes.
type Section struct {
	Name string
	// query returns the columns key1, key2 and row, and is about @viewer.
	query string
	// keys is how many keys a row has: the query goes on after @key1, or (@key1, @key2), with @limit
	// rows. 0: nobody has many of them, and one statement reads them all.
	keys int
}

// met is true for an account a whom no ban keeps apart from @viewer, and that is not unseen.
var met = `(` + rights.SeenAs("a.id") + ` AND NOT EXISTS (SELECT FROM bans x
	WHERE (x.account_id, x.banned_id) IN ((@viewer::bigint, a.id), (a.id, @viewer::bigint))))`

// names are those of the accounts that a query of account_id returns, as JSON.
func names(ids string) string {
	return `(SELECT coalesce(json_agg(a.name ORDER BY a.name), '[]') FROM (` + ids + `) i JOIN accounts a ON a.id = i.account_id WHERE ` + met + `)`
}

// accountsOf are accounts a with the time of a row r of a table that belongs to @viewer by its column of,
// and names the account by its column other; condition is about a.
func accountsOf(table, of, other, condition string) string {
	return `SELECT a.id AS key1, 0::bigint AS key2, json_build_object('name', a.name, 'title', a.title, 'at', r.created_at) AS row
		FROM ` + table + ` r JOIN accounts a ON a.id = r.` + other + `
		WHERE r.` + of + ` = @viewer AND r.` + other + ` > @key1 AND ` + condition + `
		ORDER BY r.` + other + ` LIMIT @limit`
}

// postsOf are posts by a table of reactions. They are found by the timeline of the reaction, whose
// index has the order; its rows outlive a reaction that was taken back.
func postsOf(table, kind string) string {
	return `SELECT e.created_at AS key1, e.post_id AS key2, json_build_object('post', p.code, 'at', r.created_at) AS row
		FROM timelines t JOIN timeline_entries e ON e.timeline_id = t.id
			JOIN ` + table + ` r ON r.post_id = e.post_id AND r.account_id = t.their_id JOIN posts p ON p.id = e.post_id
		WHERE t.kind = '` + kind + `' AND t.their_id = @viewer AND t.term = '' AND (e.created_at, e.post_id) > (@key1::bigint, @key2::bigint)
			AND p.deleted_at IS NULL
		ORDER BY e.created_at, e.post_id LIMIT @limit`
}

// Sections are all of them, in the order in which archives have them.
var Sections = []Section{
	{Name: "feeds", query: `
		SELECT t.id AS key1, 0 AS key2, json_build_object('kind', t.kind, 'slug', t.term, 'title', f.title,
			'access', (ARRAY['public', 'protected', 'private'])[t.access + 1], 'writers', nullif(t.writers, ''),
			'readers', ` + names(`SELECT account_id FROM readers WHERE timeline_id = t.id AND account_id <> @viewer`) + `,
			'excluded', ` + names(`SELECT account_id FROM excluded WHERE timeline_id = t.id`) + `) AS row
		FROM timelines t LEFT JOIN subfeeds f ON f.timeline_id = t.id
		WHERE t.their_id = @viewer AND t.kind IN ('feed', 'subfeed', 'directs') ORDER BY t.id`},
	{Name: "comments", keys: 2, query: `
		SELECT c.post_id AS key1, c.id AS key2, json_build_object('post', p.code, 'at', c.created_at, 'edited_at', c.edited_at,
			'text', c.body, 'files', ` + filesOf("f.comment_id = c.id") + `) AS row
		FROM comments c JOIN posts p ON p.id = c.post_id
		WHERE c.author_id = @viewer AND c.deleted_at IS NULL AND p.deleted_at IS NULL AND (c.post_id, c.id) > (@key1::bigint, @key2::bigint)
		ORDER BY c.post_id, c.id LIMIT @limit`},
	{Name: "likes", keys: 2, query: postsOf("likes", "likes")},
	{Name: "comment_likes", keys: 1, query: `
		SELECT l.comment_id AS key1, 0::bigint AS key2, json_build_object('post', p.code, 'comment', l.comment_id, 'at', l.created_at) AS row
		FROM comment_likes l JOIN comments c ON c.id = l.comment_id JOIN posts p ON p.id = c.post_id
		WHERE l.account_id = @viewer AND c.deleted_at IS NULL AND p.deleted_at IS NULL AND l.comment_id > @key1
		ORDER BY l.comment_id LIMIT @limit`},
	{Name: "faves", keys: 2, query: postsOf("faves", "faves")},
	{Name: "subscriptions", keys: 1, query: accountsOf("subscriptions", "subscriber_id", "account_id", `a.kind = 'user' AND `+met)},
	{Name: "subscribers", keys: 1, query: accountsOf("subscriptions", "account_id", "subscriber_id", met)},
	{Name: "requests_sent", keys: 1, query: accountsOf("subscription_requests", "subscriber_id", "account_id", met)},
	{Name: "requests_received", keys: 1, query: accountsOf("subscription_requests", "account_id", "subscriber_id", met)},
	{Name: "lists", query: `
		SELECT l.id AS key1, 0 AS key2, json_build_object('slug', l.slug, 'title', l.title, 'at', l.created_at,
			'members', ` + names(`SELECT account_id FROM list_members WHERE list_id = l.id`) + `) AS row
		FROM lists l WHERE l.account_id = @viewer ORDER BY l.id`},
	{Name: "groups", keys: 1, query: accountsOf("subscriptions", "subscriber_id", "account_id", `a.kind = 'group' AND `+met)},
	{Name: "groups_administered", query: `
		SELECT a.id AS key1, 0 AS key2, json_build_object('name', a.name, 'title', a.title) AS row
		FROM group_admins g JOIN accounts a ON a.id = g.group_id WHERE g.account_id = @viewer ORDER BY a.name`},
	{Name: "bans", keys: 1, query: accountsOf("bans", "account_id", "banned_id", rights.SeenAs("a.id"))},
	{Name: "hidden_people", keys: 1, query: accountsOf("hidden_accounts", "account_id", "hidden_id", met)},
	{Name: "hidden_posts", keys: 1, query: `
		SELECT h.post_id AS key1, 0::bigint AS key2, json_build_object('post', p.code, 'at', h.created_at) AS row
		FROM hidden_posts h JOIN posts p ON p.id = h.post_id
		WHERE h.account_id = @viewer AND p.deleted_at IS NULL AND h.post_id > @key1
		ORDER BY h.post_id LIMIT @limit`},
	{Name: "muted_posts", keys: 1, query: `
		SELECT h.post_id AS key1, 0::bigint AS key2, json_build_object('post', p.code, 'at', h.created_at) AS row
		FROM muted_posts h JOIN posts p ON p.id = h.post_id
		WHERE h.account_id = @viewer AND p.deleted_at IS NULL AND h.post_id > @key1
		ORDER BY h.post_id LIMIT @limit`},
	{Name: "hidden_words", query: `
		SELECT 0 AS key1, 0 AS key2, json_build_object('word', term, 'at', created_at) AS row
		FROM hidden_terms WHERE account_id = @viewer ORDER BY term`},
	{Name: "words_of_tags", query: `
		SELECT 0 AS key1, 0 AS key2, json_build_object('tag', tag, 'word', word) AS row
		FROM dictionary_words WHERE owner_id = @viewer ORDER BY no`},
	{Name: "drafts", query: `
		SELECT 0 AS key1, 0 AS key2, json_build_object('place', place, 'at', saved_at, 'destinations', destinations, 'text', body,
			'language', nullif(language, ''), 'files', ` + filesOf("f.code = ANY(drafts.uploads)") + `, 'listing', listing, 'parked', parked,
			'current', EXISTS (SELECT FROM current_drafts c WHERE c.draft_id = drafts.id)) AS row
		FROM drafts WHERE account_id = @viewer AND ` + drafts.Written + ` ORDER BY place, id`},
	{Name: "scheduled_posts", query: `
		SELECT 0 AS key1, 0 AS key2, json_build_object('code', code, 'due_at', due_at, 'zone', zone, 'at', saved_at, 'destinations', destinations,
			'text', body, 'language', nullif(language, ''), 'files', ` + filesOf("f.code = ANY(scheduled_posts.uploads)") + `,
			'failed_at', failed_at, 'problem', nullif(problem, '')) AS row
		FROM scheduled_posts WHERE account_id = @viewer ORDER BY due_at, code`},
	{Name: "held_posts", query: `
		SELECT h.post_id AS key1, 0 AS key2, json_build_object('post', p.code, 'blocked_at', h.blocked_at, 'reason', nullif(h.reason, '')) AS row
		FROM held_posts h JOIN posts p ON p.id = h.post_id WHERE p.author_id = @viewer ORDER BY h.post_id`},
	{Name: "approvals", query: `
		SELECT a.post_id AS key1, a.group_id AS key2, json_build_object('post', p.code, 'group', g.name, 'asked_at', a.asked_at,
			'refused_at', a.refused_at, 'reason', nullif(a.reason, '')) AS row
		FROM approvals a JOIN posts p ON p.id = a.post_id JOIN accounts g ON g.id = a.group_id
		WHERE p.author_id = @viewer ORDER BY a.post_id, a.group_id`},
	{Name: "sources", query: `
		SELECT id AS key1, 0 AS key2, json_build_object('code', code, 'way', way, 'mode', mode, 'status', status, 'title', title,
			'url', nullif(url, ''), 'site', nullif(site_url, ''), 'feed', nullif(slug, ''), 'at', created_at) AS row
		FROM sources WHERE owner_id = @viewer ORDER BY id`},
	{Name: "sessions", query: `
		SELECT 0 AS key1, 0 AS key2, json_build_object('device', device, 'at', created_at, 'used_at', used_at, 'expires_at', expires_at) AS row
		FROM sessions s WHERE account_id = @viewer AND NOT EXISTS (SELECT FROM app_tokens t WHERE t.token_hash = s.token_hash)
		ORDER BY created_at`},
	{Name: "app_tokens", query: `
		SELECT t.id AS key1, 0 AS key2, json_build_object('name', t.name, 'scopes', t.scopes, 'whole_site', t.whole_site,
			'at', t.created_at, 'used_at', t.used_at, 'expires_at', s.expires_at) AS row
		FROM app_tokens t JOIN sessions s ON s.token_hash = t.token_hash WHERE t.account_id = @viewer ORDER BY t.id`},
	{Name: "webhooks", query: `
		SELECT id AS key1, 0 AS key2, json_build_object('url', url, 'whole_site', whole_site, 'at', created_at, 'state', state) AS row
		FROM webhooks WHERE account_id = @viewer ORDER BY id`},
	{Name: "post_states", keys: 2, query: `
		SELECT s.post_id AS key1, s.version AS key2, json_build_object('post', p.code, 'stage', s.stage, 'version', s.version,
			'at', s.changed_at, 'payload', s.payload) AS row
		FROM post_states s JOIN posts p ON p.id = s.post_id
		WHERE s.account_id = @viewer AND (s.post_id, s.version) > (@key1::bigint, @key2::bigint)
		ORDER BY s.post_id, s.version LIMIT @limit`},
	{Name: "account_events", query: `
		SELECT 0 AS key1, 0 AS key2, json_build_object('kind', kind, 'device', device, 'at', to_timestamp(at / 1000000.0)) AS row
		FROM account_events WHERE account_id = @viewer ORDER BY at`},
	{Name: "reports", query: `
		SELECT r.id AS key1, 0 AS key2, json_build_object('code', r.code, 'kind', r.kind, 'at', r.created_at, 'reason', nullif(r.reason, ''),
			'post', p.code, 'comment', r.comment_id, 'text', r.body, 'state', r.state, 'outcome', nullif(r.outcome, ''),
			'answer', nullif(r.answer, ''), 'done_at', r.done_at) AS row
		FROM reports r LEFT JOIN posts p ON p.id = r.post_id WHERE r.reporter_id = @viewer ORDER BY r.id`},
	{Name: "invitations", query: `
		SELECT i.id AS key1, 0 AS key2, json_build_object('at', i.created_at, 'expires_at', i.expires_at, 'withdrawn_at', i.withdrawn_at,
			'uses', i.uses, 'used', i.used, 'note', i.note,
			'groups', ` + names(`SELECT group_id AS account_id FROM invitation_groups WHERE invitation_id = i.id`) + `,
			'came', ` + names(`SELECT account_id FROM invited WHERE invitation_id = i.id`) + `) AS row
		FROM invitations i WHERE i.by_id = @viewer ORDER BY i.id`},
}

// row is a row of a Section, and the key after which the next ones come.
type row struct {
	Key1, Key2 int64
	Row        json.RawMessage
}

// Rows calls do for each row of a section of an account.
func (s *Store) Rows(ctx context.Context, account int64, of Section, do func(json.RawMessage) error) error {
	for last := (row{}); ; {
		args := pgx.StrictNamedArgs{"viewer": account}
		if of.keys > 0 {
			args["key1"], args["limit"] = last.Key1, atOnce
		}
		if of.keys > 1 {
			args["key2"] = last.Key2
		}
		rows, err := s.timelines.Pool().Query(ctx, of.query, args)
		if err != nil {
			return fmt.Errorf("read %s of an archive: %w", of.Name, err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
		if err != nil {
			return fmt.Errorf("read %s of an archive: %w", of.Name, err)
		}
		for _, r := range found {
			if err := do(r.Row); err != nil {
				return err
			}
		}
		if of.keys == 0 || len(found) < atOnce {
			return nil
		}
		last = found[len(found)-1]
	}
}

// Profile returns what an account says of itself and its settings, as JSON.
func (s *Store) Profile(ctx context.Context, account int64) (json.RawMessage, error) {
	const query = `
		SELECT json_build_object('name', a.name, 'title', a.title, 'about', a.about, 'at', a.created_at, 'language', nullif(a.language, ''),
			'home_of_friends_only', a.friends_only, 'notices_off', a.notices_off,
			'groups_show_banned', (SELECT coalesce(json_agg(g.name ORDER BY g.name), '[]')
				FROM show_banned s JOIN accounts g ON g.id = s.group_id WHERE s.account_id = a.id),
			'invited_at', (SELECT created_at FROM invited WHERE account_id = a.id))
		FROM accounts a WHERE a.id = @account`
	var profile json.RawMessage
	if err := s.timelines.Pool().QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account}).Scan(&profile); err != nil {
		return nil, fmt.Errorf("read the profile of an archive: %w", err)
	}
	return profile, nil
}
