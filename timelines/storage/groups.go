package storage

import (
	"cmp"
	"slices"
	"strings"
)

// Group is a kind of what a host stores: some tables together.
type Group string

// The groups of both stores. Search has no tables of its own: it is the indexes that find words.
const (
	Texts         Group = "texts"
	Entries       Group = "entries" // which posts stand in which timelines
	Reactions     Group = "reactions"
	People        Group = "people"
	Files         Group = "files" // their names and places, not their content
	Previews      Group = "previews"
	Sources       Group = "sources"
	Notifications Group = "notifications"
	Staff         Group = "staff"
	Changes       Group = "changes" // the log that programs read, and what they keep
	Jobs          Group = "jobs"
	Search        Group = "search"
	Rivers        Group = "rivers"
	Folds         Group = "folds"
	HomeFeeds     Group = "homefeeds"
	Other         Group = "other"
)

// Groups are all of them.
var Groups = []Group{Texts, Entries, Reactions, People, Files, Previews, Sources, Notifications, Staff, Changes, Jobs, Search, Rivers, Folds, HomeFeeds, Other}

// tables says which tables belong to which group; storage_test.go holds it to the schema. Those of the
// schema queue are jobs.
var tables = map[Group]string{
	Texts:         "posts comments texts text_marks former_texts drafts attachments origins removals reads author_counters author_totals bulk_acts counter_checks current_drafts visitor_drafts visitor_keys scheduled_posts listings held_posts approvals",
	Entries:       "timelines timeline_entries subfeeds unflagged_timelines behind home_visits",
	Reactions:     "likes comment_likes faves hidden_posts hidden_terms muted_posts",
	People:        "accounts credentials sessions readers excluded subscriptions subscription_requests lists list_members group_admins group_blocks keys bans show_banned hidden_accounts account_events account_links app_tokens webhooks exports leaving left_names strangers access_clock access_log",
	Files:         "files file_blobs",
	Previews:      "links post_links",
	Sources:       "sources loads source_items load_seen load_gone load_problems load_batches item_pictures fetch_hosts source_hubs dictionary_words",
	Notifications: "notifications push_keys push_subscriptions push_due",
	Staff:         "staff suspensions unseen_accounts acts site reports report_notes invitations invitation_groups invited applications opinions",
	Changes:       "outbox changes_head webhooks post_states streams",
	Rivers:        "rivers rivers_timelines entries visits leases clock notice_clocks",
	Folds:         "folds",
	HomeFeeds:     "home_feeds home_feed_posts home_feed_buckets home_feed_operations home_strategy",
}

// GroupOf returns the group of a table.
func GroupOf(table string) Group {
	if strings.HasPrefix(table, "queue.") {
		return Jobs
	}
	if strings.HasPrefix(table, "changes_") {
		return Changes // a day of the log
	}
	for group, names := range tables {
		if slices.Contains(strings.Fields(names), table) {
			return group
		}
	}
	return Other
}

// Use is how many bytes a group takes.
type Use struct {
	Group Group
	Bytes int64
}

// ByGroup adds up the tables of each group that has any, the largest first.
func ByGroup(all []Table) []Use {
	sums := map[Group]int64{}
	for _, t := range all {
		sums[GroupOf(t.Name)] += t.Bytes - t.Search
		if t.Search > 0 {
			sums[Search] += t.Search
		}
	}
	var uses []Use
	for _, g := range Groups {
		if n, ok := sums[g]; ok {
			uses = append(uses, Use{g, n})
		}
	}
	slices.SortStableFunc(uses, func(a, b Use) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return uses
}
