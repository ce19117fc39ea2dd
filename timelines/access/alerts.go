package access

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/notices"
)

// Alert tells the people in charge of a source that it asks, fails, or is gone, or somebody that
// their report is done, that a post of theirs could not be published, was blocked or refused, or that posts wait for
// a group.
type Alert struct {
	// Report: it is about a report, and stands until its answer was seen.
	Report bool
	// Scheduled: it is about a scheduled post that could not be published, and is news until it was seen.
	Scheduled bool
	// Moderated: it is about a post of theirs that was blocked, or that a group refused, and is news until it was seen.
	Moderated bool
	// Approval: Posts posts wait for the approval of the group.
	Approval bool
	Posts    int
	// Asks: it waits for an answer. Any other is news only until it was seen.
	Asks bool
	At   int64 // since when, in microseconds
}

// Alerts returns the alerts of the sources, reports and scheduled posts of each of these accounts. No statement while none of them changes, else
// one. They say nothing about who may know of them: that is the person, or whoever administers the group (Sets).
func (c *Cache) Alerts(ctx context.Context, accounts []int64) (map[int64][]Alert, error) {
	return c.alerts.all(ctx, accounts)
}

// OfSource reports whether it is about a source.
func (a Alert) OfSource() bool { return !a.Report && !a.Scheduled && !a.Moderated && !a.Approval }

// Tells reports whether an alert is among what the viewer has to look at still.
func (s *Sets) Tells(a Alert) bool {
	if a.Scheduled || a.Moderated {
		return a.At > s.AlertsSeen
	}
	return a.Report || a.Approval || !notices.Off(s.NoticesOff).Has(notices.Source) && (a.Asks || a.At > s.AlertsSeen)
}

func (c *Cache) loadAlerts(ctx context.Context, accounts []int64) (map[int64][]Alert, error) {
	const query = `
		SELECT owner_id, '', alert = 'asks', alerted_at FROM sources WHERE owner_id = ANY(@keys) AND alert <> ''
		UNION ALL
		SELECT reporter_id, 'report', false, (extract(epoch FROM done_at) * 1000000)::bigint FROM reports
		WHERE reporter_id = ANY(@keys) AND state = 'done' AND NOT answer_seen
		UNION ALL
		SELECT account_id, 'scheduled', false, (extract(epoch FROM failed_at) * 1000000)::bigint FROM scheduled_posts
		WHERE account_id = ANY(@keys) AND failed_at IS NOT NULL
		UNION ALL
		SELECT author_id, 'moderated', false, (extract(epoch FROM max(blocked_at)) * 1000000)::bigint FROM held_posts
		WHERE author_id = ANY(@keys) AND blocked_at IS NOT NULL GROUP BY 1
		UNION ALL
		SELECT author_id, 'moderated', false, (extract(epoch FROM max(refused_at)) * 1000000)::bigint FROM approvals
		WHERE author_id = ANY(@keys) AND refused_at IS NOT NULL GROUP BY 1
		UNION ALL
		SELECT a.group_id, 'approval', false, count(*) FROM approvals a JOIN posts p ON p.id = a.post_id
		WHERE a.group_id = ANY(@keys) AND a.refused_at IS NULL AND p.status = 1
			AND NOT EXISTS (SELECT FROM unseen_accounts u WHERE u.account_id = a.author_id)
		GROUP BY 1`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"keys": accounts})
	if err != nil {
		return nil, fmt.Errorf("load alerts: %w", err)
	}
	found := make(map[int64][]Alert, len(accounts))
	for _, id := range accounts {
		found[id] = nil // none is an answer too
	}
	var id int64
	var about string
	var a Alert
	if _, err := pgx.ForEachRow(rows, []any{&id, &about, &a.Asks, &a.At}, func() error {
		a.Report, a.Scheduled, a.Moderated, a.Approval = about == "report", about == "scheduled", about == "moderated", about == "approval"
		a.Posts = 0
		if a.Approval {
			a.Posts, a.At = int(a.At), 0
		}
		found[id] = append(found[id], a)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("load alerts: %w", err)
	}
	return found, nil
}
