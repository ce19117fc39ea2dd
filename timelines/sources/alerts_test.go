package sources_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/sources"
)

// Only a change of an alert moves the access clock, and a source that is locked is left to the next time.
func TestTellingOfSources(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.Link, URL: "https://example.org/feed"})
	tells := func(what string, want bool, alert sources.Alert) {
		t.Helper()
		c, err := w.sources.TellAll(t.Context())
		w.must(err)
		w.same(what+": somebody is told", c.Clock > 0, want)
		w.same(what, sources.Alert(value[string](w, `SELECT alert FROM sources WHERE id = $1`, s.ID)), alert)
	}
	set := func(sql string) { value[int64](w, `UPDATE sources SET `+sql+` WHERE id = $1 RETURNING id`, s.ID) }
	tells("at first", false, "")
	set(`problem = 'not_found', failures = 1`)
	tells("it fails", false, "")
	set(`failing_since = failing_since - interval '24 hours'`)
	tells("for a day", true, sources.AlertFails)
	tells("still", false, sources.AlertFails)
	set(`status = 'paused'`)
	tells("paused", true, "")
	set(`status = 'active'`)
	tells("resumed", true, sources.AlertFails)
	set(`problem = ''`)
	tells("it works", true, "")
	set(`problem = 'not_found'`)
	tells("a failure begins its own day", false, "")

	tx, err := w.pool.Begin(t.Context())
	w.must(err)
	_, err = tx.Exec(t.Context(), `UPDATE sources SET problem = 'gone', status = 'paused'`)
	w.must(err)
	tells("while it is locked", false, "")
	w.must(tx.Commit(t.Context()))
	tells("gone", true, sources.AlertGone)

	list, err := w.sources.Alerts(t.Context(), ann.ID, 10)
	w.must(err)
	w.same("alerts", len(list), 1)
	list, err = w.sources.Alerts(t.Context(), w.person("bob").ID, 10)
	w.must(err)
	w.same("alerts of others", len(list), 0)

	// It is removed, and gone before anybody is told.
	was, err := w.sources.Find(t.Context(), ann.ID, s.Code)
	w.must(err)
	set(`status = 'removing'`)
	value[int64](w, `DELETE FROM sources WHERE id = $1 RETURNING id`, s.ID)
	c, err := w.sources.Tell(t.Context(), was)
	w.must(err)
	w.same("somebody is told that it is removed", c.Clock > 0, true)
}

// The look every few seconds reads by its indexes.
func TestTellingReadsNoOtherSources(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	value[int64](w, `
		WITH made AS (
			INSERT INTO sources (owner_id, added_by, code, way, mode, title, url, problem, failing_since)
			SELECT $1, $1, lpad(n::text, 10, '0'), 'link', 'append', 'x', 'https://example.org/' || n, '', NULL FROM generate_series(1, 20000) n
			RETURNING 1
		) SELECT count(*) FROM made`, ann.ID)
	_, err := w.pool.Exec(t.Context(), `ANALYZE sources, loads`)
	w.must(err)
	rows, err := w.pool.Query(t.Context(), `EXPLAIN `+sources.TellAllQuery, pgx.StrictNamedArgs{"day": sources.FailsAfter})
	w.must(err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	if plan := strings.Join(lines, "\n"); !strings.Contains(plan, "sources_alert_idx") || strings.Contains(plan, "Seq Scan on sources") {
		t.Errorf("the plan:\n%s", plan)
	}
}
