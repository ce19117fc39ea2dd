package leaving

import (
	"cmp"
	"fmt"

	"riverrun/timelines"
)

// atOnce is how many rows of a table one transaction deletes.
const atOnce = 500

// part is rows of one table that belong to the account, or say something of it.
type part struct {
	table string
	query string
	// drops is the kind of what nodes forget of the accounts that the query returns, or empty.
	drops string
	// homes: the home feeds and lists of these accounts are made anew, since they are made of other
	// timelines then.
	homes bool
	most  int // rows at once; 0: atOnce
}

func (p part) limit() int { return cmp.Or(p.most, atOnce) }

// parts are all rows but those that stay (see the package's comment), in the order of locks of package
// timelines. A test finds what is missing here.
var parts = []part{
	deleting("source_items", `source_id IN (SELECT id FROM sources WHERE owner_id = @account OR added_by = @account)`),
	{table: "loads", query: deleting("loads", `source_id IN (SELECT id FROM sources WHERE owner_id = @account OR added_by = @account)`).query, most: 10},
	deleting("sources", `owner_id = @account`),
	deleting("sources", `added_by = @account`),
	changing("sources", `token_hash = NULL, token_by = NULL`, `token_by = @account`),
	deleting("dictionary_words", `owner_id = @account`),

	deleting("text_marks", `timeline_id IN (`+own+`)`),
	deleting("readers", `timeline_id IN (`+own+`)`).dropping("account_id", timelines.InvalidSets),
	deleting("excluded", `timeline_id IN (`+own+`)`).dropping("account_id", timelines.InvalidSets),
	deleting("readers", `account_id = @account`),
	deleting("excluded", `account_id = @account`),
	deleting("timelines", `kind = 'subfeed' AND their_id = @account`),
	deleting("group_admins", `account_id = @account`),
	deleting("group_admins", `group_id = @account`),
	deleting("group_blocks", `account_id = @account`),
	deleting("group_blocks", `group_id = @account`),
	// The picture of a group stays with the group.
	changing("files", `owner_id = account_id`, `owner_id = @account AND account_id <> @account`),
	deleting("files", `owner_id = @account`),
	deleting("files", `account_id = @account`), // the picture of this group
	deleting("notifications", `account_id = @account`),
	deleting("keys", `account_id = @account`),
	deleting("strangers", `account_id = @account`),

	deleting("subscription_requests", `subscriber_id = @account`).dropping("account_id", timelines.InvalidCounts),
	deleting("subscription_requests", `account_id = @account`),
	deleting("subscriptions", `subscriber_id = @account`).dropping("account_id", timelines.InvalidCounts),
	deleting("subscriptions", `account_id = @account`).dropping("subscriber_id", timelines.InvalidSets).withHomes(),
	deleting("lists", `account_id = @account`),
	deleting("bans", `account_id = @account`).dropping("banned_id", timelines.InvalidSets),
	deleting("bans", `banned_id = @account`).dropping("account_id", timelines.InvalidSets),
	deleting("show_banned", `account_id = @account`),
	deleting("show_banned", `group_id = @account`).dropping("account_id", timelines.InvalidSets),
	deleting("hidden_accounts", `account_id = @account`),
	deleting("hidden_accounts", `hidden_id = @account`).dropping("account_id", timelines.InvalidSets),
	deleting("hidden_posts", `account_id = @account`),
	deleting("hidden_terms", `account_id = @account`),
	deleting("muted_posts", `account_id = @account`),
	deleting("reads", `account_id = @account`),
	deleting("home_visits", `account_id = @account`),

	deleting("credentials", `account_id = @account`),
	deleting("sessions", `account_id = @account`),
	deleting("app_tokens", `account_id = @account`),
	deleting("webhooks", `account_id = @account`),
	deleting("post_states", `account_id = @account`), // after the sessions (package stages)
	deleting("account_links", `account_id = @account`),
	deleting("account_events", `account_id = @account`),
	deleting("push_subscriptions", `account_id = @account`),
	deleting("push_due", `account_id = @account`),
	deleting("current_drafts", `account_id = @account`),
	deleting("drafts", `account_id = @account`),
	deleting("bulk_acts", `account_id = @account`),
	deleting("approvals", `author_id = @account`).dropping("group_id", timelines.InvalidCounts),
	deleting("approvals", `group_id = @account`),
	deleting("held_posts", `author_id = @account`),
	changing("opinions", `by_id = NULL`, `by_id = @account`),
	deleting("author_counters", `author_id = @account`),
	deleting("author_totals", `author_id = @account`),
	deleting("scheduled_posts", `account_id = @account`),
	deleting("exports", `account_id = @account`),

	// An import does not bring the person back (timelines.findAccounts).
	changing("origins", `external_id = 'sha256:' || encode(sha256(convert_to(external_id, 'UTF8')), 'hex'), title = ''`,
		`kind = 'account' AND their_id = @account AND external_id NOT LIKE 'sha256:%'`),
	deleting("invitations", `by_id = @account`),
	deleting("invitation_groups", `group_id = @account`),
	deleting("invited", `account_id = @account`),
	deleting("applications", `account_id = @account`),
	// A report of something that still stands goes on without its reporter.
	changing("reports", `reporter_id = NULL, body = ''`, `reporter_id = @account`),
	deleting("reports", `account_id = @account`),
	changing("reports", `taken_by = NULL`, `taken_by = @account`),
	changing("reports", `done_by = NULL`, `done_by = @account`),
	// Notes of one of the staff stay without the name.
	changing("report_notes", `by_id = NULL, by_name = '—'`, `by_id = @account`),
	changing("suspensions", `by_id = NULL`, `by_id = @account`),
	deleting("suspensions", `account_id = @account`),
	deleting("staff", `account_id = @account`),
	changing("acts", `account_id = NULL, detail = '', subject = CASE subject WHEN (SELECT name FROM accounts WHERE id = @account) THEN '—' ELSE subject END`,
		`account_id = @account`),
	changing("acts", `by_id = NULL, by_name = '—'`, `by_id = @account`),
	// They name people by the address of a page, and as its viewer.
	changing("acts", `subject = '—', detail = ''`, `kind = 'rebuild_river' AND EXISTS (
		SELECT FROM accounts a WHERE a.id = @account AND (subject || ' ' || detail) ~* ('(^|[^a-z0-9-])' || a.name || '($|[^a-z0-9-])'))`),
	deleting("unseen_accounts", `account_id = @account AND cause <> 'leaving'`),
}

// own are the timelines of the account.
const own = `SELECT id FROM timelines WHERE their_id = @account AND kind IN (
	'feed', 'group', 'subfeed', 'eyes', 'directs', 'likes', 'comments', 'discussions', 'faves', 'mentions', 'notifications')`

func deleting(table, which string) part {
	return part{table: table, query: fmt.Sprintf(
		`DELETE FROM %[1]s WHERE ctid = ANY(ARRAY(SELECT ctid FROM %[1]s WHERE %[2]s LIMIT @limit)) RETURNING 0::bigint`, table, which)}
}

func changing(table, to, which string) part {
	return part{table: table, query: fmt.Sprintf(
		`UPDATE %[1]s SET %[3]s WHERE ctid = ANY(ARRAY(SELECT ctid FROM %[1]s WHERE %[2]s LIMIT @limit)) RETURNING 0::bigint`, table, which, to)}
}

// dropping returns the part with a column of accounts of whom nodes forget something.
func (p part) dropping(column, kind string) part {
	p.query = p.query[:len(p.query)-len("0::bigint")] + column
	p.drops = kind
	return p
}

func (p part) withHomes() part {
	p.homes = true
	return p
}
