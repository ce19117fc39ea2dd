package sources

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Alert tells the people in charge of a source that it needs them: the person whose source it is, or the present
// administrators of the group. It ends by itself when it is not true any more.
//
// The columns failing_since, alert and alerted_at are written here alone, from what the source and its loads are then.
// So nothing that changes a source or a load has to know of alerts.
type Alert string

const (
	AlertAsks  Alert = "asks"  // a load is held until somebody decides
	AlertFails Alert = "fails" // a link has failed for FailsAfter
	AlertGone  Alert = "gone"  // the link's server says that there is nothing any more
)

// FailsAfter is how long a link must fail before there is an alert.
const FailsAfter = 24 * time.Hour

// The alert that a source s is to have, and since when it has its problem.
const (
	alertOf = `CASE
		WHEN s.status = 'removing' THEN ''
		WHEN EXISTS (SELECT FROM loads l WHERE l.source_id = s.id AND l.state = 'held') THEN 'asks'
		WHEN s.problem = 'gone' THEN 'gone'
		WHEN s.way = 'link' AND s.status = 'active' AND s.problem <> '' AND s.failing_since <= now() - @day::interval THEN 'fails'
		ELSE '' END`
	failingSince = `CASE WHEN s.problem <> '' THEN coalesce(s.failing_since, now()) END`
)

// alertsAre brings the alerts of the locked sources to the present, and returns the owners of those whose alert changed.
const alertsAre = `
	, present AS (
		SELECT s.id, s.alert AS was, ` + failingSince + ` AS since, ` + alertOf + ` AS alert FROM locked s
	), changed AS (
		UPDATE sources s SET failing_since = n.since, alert = n.alert,
			alerted_at = CASE WHEN n.alert = n.was THEN s.alerted_at WHEN n.alert = '' THEN 0
				ELSE (extract(epoch FROM clock_timestamp()) * 1000000)::bigint END
		FROM present n WHERE s.id = n.id AND (s.failing_since IS DISTINCT FROM n.since OR s.alert <> n.alert)
		RETURNING s.owner_id, n.alert <> n.was AS told
	)
	SELECT owner_id FROM changed WHERE told`

// untold are the sources whose alerts are not those of the present.
const untold = `
	SELECT s.id FROM (
		SELECT id FROM sources WHERE problem <> '' OR failing_since IS NOT NULL OR alert <> ''
		UNION SELECT source_id FROM loads WHERE state = 'held'
	) any_of JOIN sources s USING (id)
	WHERE s.failing_since IS DISTINCT FROM ` + failingSince + ` OR s.alert <> ` + alertOf

const tellAll = `
	WITH locked AS MATERIALIZED (
		SELECT * FROM sources WHERE id IN (` + untold + `)
		FOR NO KEY UPDATE SKIP LOCKED
	)` + alertsAre

// TellAll brings the alerts of all sources to the present. The Change is empty if no alert changed: then Carry does
// nothing. A source that is locked, as for a load, is left to the next time, so that this never waits.
func (s *Store) TellAll(ctx context.Context) (timelines.Change, error) {
	return s.tell(ctx, tellAll, pgx.StrictNamedArgs{"day": FailsAfter})
}

// Tell does the same for a source that somebody has changed, and was as given before: also if it is gone meanwhile, or
// has another owner.
func (s *Store) Tell(ctx context.Context, was Source) (timelines.Change, error) {
	const query = `
		WITH locked AS MATERIALIZED (
			SELECT * FROM sources WHERE id = @source FOR NO KEY UPDATE
		)` + alertsAre + `
		UNION
		SELECT o.id FROM (SELECT @owner::bigint UNION SELECT owner_id FROM locked) o (id)
		WHERE NOT EXISTS (SELECT FROM locked WHERE owner_id = @owner)`
	return s.tell(ctx, query, pgx.StrictNamedArgs{"source": was.ID, "owner": was.OwnerID, "day": FailsAfter})
}

func (s *Store) tell(ctx context.Context, query string, args pgx.StrictNamedArgs) (timelines.Change, error) {
	c, err := inTx(ctx, s.pool, func(tx pgx.Tx) (timelines.Change, error) {
		rows, err := tx.Query(ctx, query, args)
		if err != nil {
			return timelines.Change{}, err
		}
		owners, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(owners) == 0 {
			return timelines.Change{}, err
		}
		slices.Sort(owners)
		return s.posts.Items.Alerted(ctx, tx, slices.Compact(owners))
	})
	if err != nil {
		return c, fmt.Errorf("tell of sources: %w", err)
	}
	return c, nil
}

// Alerting is a source with an alert.
type Alerting struct {
	Code, Title string
	OwnerID     int64
	Alert       Alert
	At          int64 // since when, in microseconds
}

// Alerts returns at most limit of the alerts that the actor is told, questions first, then the latest first.
func (s *Store) Alerts(ctx context.Context, actor int64, limit int) ([]Alerting, error) {
	const query = `
		SELECT s.code, s.title, s.owner_id, s.alert, s.alerted_at AS at
		FROM sources s
		WHERE s.owner_id IN (SELECT @actor UNION ALL SELECT group_id FROM group_admins WHERE account_id = @actor) AND s.alert <> ''
		ORDER BY s.alert = 'asks' DESC, s.alerted_at DESC, s.id LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"actor": actor, "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Alerting])
	if err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	return list, nil
}
