package access

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/notices"
)

// Alert tells the people in charge of a source that it asks, fails, or is gone, or somebody that
// their report is done, or that a post of theirs could not be published.
type Alert struct {
	// Report: it is about a report, and stands until its answer was seen.
	Report bool
	// Scheduled: it is about a scheduled post that could not be published, and is news until it was seen.
	Scheduled bool
	// Asks: it waits for an answer. Any other is news only until it was seen.
	Asks bool
	At   int64 // since when, in microseconds
}

// Alerts returns the alerts of the sources, reports and scheduled posts of each of these accounts. No statement while none of them changes, else
// one. They say nothing about who may know of them: that is the person, or whoever administers the group (Sets).
func (c *Cache) Alerts(ctx context.Context, accounts []int64) (map[int64][]Alert, error) {
	return c.alerts.all(ctx, accounts)
}

// Tells reports whether an alert is among what the viewer has to look at still.
func (s *Sets) Tells(a Alert) bool {
	if a.Scheduled {
		return a.At > s.AlertsSeen
	}
	return a.Report || !notices.Off(s.NoticesOff).Has(notices.Source) && (a.Asks || a.At > s.AlertsSeen)
}

func (c *Cache) loadAlerts(ctx context.Context, accounts []int64) (map[int64][]Alert, error) {
	const query = `
		SELECT owner_id, false, false, alert = 'asks', alerted_at FROM sources WHERE owner_id = ANY(@keys) AND alert <> ''
		UNION ALL
		SELECT reporter_id, true, false, false, (extract(epoch FROM done_at) * 1000000)::bigint FROM reports
		WHERE reporter_id = ANY(@keys) AND state = 'done' AND NOT answer_seen
		UNION ALL
		SELECT account_id, false, true, false, (extract(epoch FROM failed_at) * 1000000)::bigint FROM scheduled_posts
		WHERE account_id = ANY(@keys) AND failed_at IS NOT NULL`
	rows, err := c.store.Pool().Query(ctx, query, pgx.StrictNamedArgs{"keys": accounts})
	if err != nil {
		return nil, fmt.Errorf("load alerts: %w", err)
	}
	found := make(map[int64][]Alert, len(accounts))
	for _, id := range accounts {
		found[id] = nil // none is an answer too
	}
	var id int64
	var a Alert
	if _, err := pgx.ForEachRow(rows, []any{&id, &a.Report, &a.Scheduled, &a.Asks, &a.At}, func() error {
		found[id] = append(found[id], a)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("load alerts: %w", err)
	}
	return found, nil
}
