package rivers

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// keep is how long rows that a late writer could revive are kept after they went out of
// use. No writer may write for nearly that long.
const keep = 10 * time.Minute

// opensSoon is how long after a visit its page may still open a socket.
const opensSoon = time.Minute

// expireBatch bounds how many rows one statement of Expire retires or removes. removeBatch
// bounds how many rivers are removed at once with their entries, which are thousands if the
// rivers were read a few pages deep.
const (
	expireBatch = 1000
	removeBatch = 50
)

// Expired counts what an expiry removed.
type Expired struct {
	Rivers     int64 // live rivers idle beyond their grace, or far beyond their depth, retired
	Removed    int64 // retired rivers removed with their entries
	Entries    int64 // entries removed with them
	Tombstones int64
	Folds      int64 // folds no entry links any more
}

// Expire throws idle rivers away (source: 004, the cron job; protocol, step 10). It retires
// rivers that nobody has open, if they were not visited within their kind's grace or have
// grown far past their depth. It removes rivers that were retired long enough ago, with
// their entries, and old tombstones, and folds that nothing links. It works in batches and
// in key order, so that nobody waits long.
//
// Ages are measured by statement_timestamp(). Unlike the clock it stands still during a
// statement, so that an index can be used.
func (s *Store) Expire(ctx context.Context) (Expired, error) {
	var out Expired
	if err := s.maintenance.flush(ctx); err != nil {
		return out, err
	}
	kinds := Kinds()
	graces := make([]time.Duration, len(kinds))
	for i, k := range kinds {
		graces[i] = s.grace(k)
	}
	var err error
	if out.Rivers, err = s.batches(ctx, "retire idle rivers", retireIdle, pgx.StrictNamedArgs{
		"kinds": kinds, "graces": graces, "batch": expireBatch,
	}); err != nil {
		return out, err
	}
	deep, err := s.batches(ctx, "retire deep rivers", retireDeep, pgx.StrictNamedArgs{
		"kinds": followBasedKinds(), "most": 2 * s.opts.Depth, "soon": opensSoon, "batch": expireBatch,
	})
	out.Rivers += deep
	if err != nil {
		return out, err
	}
	args := pgx.StrictNamedArgs{"keep": keep, "batch": expireBatch}
	if _, err := s.batches(ctx, "retire cold rivers", retireCold, args); err != nil {
		return out, err
	}
	for {
		removed, entries, err := s.removeRetired(ctx)
		if err != nil {
			return out, err
		}
		out.Removed += removed
		out.Entries += entries
		if removed < removeBatch {
			break
		}
	}
	if out.Tombstones, err = s.batches(ctx, "remove tombstones", removeTombstones, args); err != nil {
		return out, err
	}
	if out.Folds, err = s.batches(ctx, "remove folds", removeFolds, args); err != nil {
		return out, err
	}
	if _, err = s.batches(ctx, "remove stale leases", removeLeases, args); err != nil {
		return out, err
	}
	_, err = s.batches(ctx, "remove stale visits", removeVisits, args)
	return out, err
}

// One pass serves all kinds. Joined to a table of kinds it takes three times as long,
// because the server goes through that table for each river.
const retireIdle = retireThose + `
	r.id IN (
		SELECT r.id FROM rivers r LEFT JOIN visits v ON v.river_id = r.id
		WHERE r.state = 'live'
			AND greatest(v.visited_at, r.created_at) <
				statement_timestamp() - (@graces::interval[])[array_position(@kinds::text[], r.kind)]
			AND NOT EXISTS (SELECT FROM leases l WHERE l.river_id = r.id AND l.until > statement_timestamp())
		ORDER BY r.id LIMIT @batch FOR UPDATE OF r)`

// A river that is read every day grows at its top and is never idle. If it is kept to a depth
// and has grown to twice that, its next visit builds it anew, unless a page shows it now or
// was just served, as far as visits are written. Tombstones count too, so that the index
// alone answers.
//
// Rejected: removing the entries below the depth. It spares a build every few hundred posts,
// and each extension would have to know of it.
const retireDeep = retireThose + `
	r.id IN (
		SELECT r.id FROM rivers r
		WHERE r.state = 'live' AND r.kind = ANY(@kinds) AND @most::bigint < (
				SELECT count(*) FROM (
					SELECT FROM entries e WHERE e.river_id = r.id AND e.fresh_at >= r.floor LIMIT @most::bigint + 1) newest)
			AND NOT EXISTS (SELECT FROM leases l WHERE l.river_id = r.id AND l.until > statement_timestamp())
			AND NOT EXISTS (SELECT FROM visits v WHERE v.river_id = r.id AND v.visited_at > statement_timestamp() - @soon::interval)
		ORDER BY r.id LIMIT @batch FOR UPDATE)`

// These are rivers of another epoch, and builds whose builder died.
const retireCold = retireThose + `
	r.id IN (
		SELECT id FROM rivers
		WHERE state <> 'retired' AND (epoch IS DISTINCT FROM (SELECT epoch FROM clock)
			OR state = 'building' AND updated_at < statement_timestamp() - @keep::interval)
		ORDER BY id LIMIT @batch FOR UPDATE)`

const removeTombstones = `
	DELETE FROM entries WHERE (river_id, post_id) IN (
		SELECT river_id, post_id FROM entries
		WHERE deleted AND buried_at < statement_timestamp() - @keep::interval
		ORDER BY river_id, post_id LIMIT @batch FOR UPDATE)`

// A reader folds again if a fold is removed while an entry that links it is being written.
const removeFolds = `
	DELETE FROM folds WHERE post_id IN (
		SELECT post_id FROM folds f
		WHERE updated_at < statement_timestamp() - @keep::interval
			AND NOT EXISTS (SELECT FROM entries e WHERE e.post_id = f.post_id)
		ORDER BY post_id LIMIT @batch FOR UPDATE)`

const removeLeases = `
	DELETE FROM leases WHERE (river_id, node) IN (
		SELECT river_id, node FROM leases
		WHERE until < statement_timestamp() - @keep::interval
		ORDER BY river_id, node LIMIT @batch FOR UPDATE)`

// A page may be closed long after its river was removed, and closing it is a visit too.
const removeVisits = `
	DELETE FROM visits WHERE river_id IN (
		SELECT river_id FROM visits v
		WHERE visited_at < statement_timestamp() - @keep::interval
			AND NOT EXISTS (SELECT FROM rivers r WHERE r.id = v.river_id)
		ORDER BY river_id LIMIT @batch FOR UPDATE OF v)`

// batches repeats a statement until it changes less than a batch of rows.
func (s *Store) batches(ctx context.Context, what, query string, args pgx.StrictNamedArgs) (int64, error) {
	var total int64
	for {
		tag, err := s.db.Exec(ctx, query, args)
		if err != nil {
			return total, fmt.Errorf("%s: %w", what, err)
		}
		total += tag.RowsAffected()
		if tag.RowsAffected() < expireBatch {
			return total, nil
		}
	}
}

func (s *Store) removeRetired(ctx context.Context) (rivers, entries int64, err error) {
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		const pick = `
			SELECT id FROM rivers
			WHERE state = 'retired' AND retired_at < statement_timestamp() - @keep::interval
			ORDER BY id LIMIT @batch FOR UPDATE SKIP LOCKED`
		rows, err := tx.Query(ctx, pick, pgx.StrictNamedArgs{"keep": keep, "batch": removeBatch})
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(ids) == 0 {
			return err
		}
		args := pgx.StrictNamedArgs{"rivers": ids}
		// All statements lock in key order: a late writer, a visit or another expiry may be at
		// the same rows.
		tag, err := tx.Exec(ctx, `
			DELETE FROM entries WHERE (river_id, post_id) IN (
				SELECT river_id, post_id FROM entries WHERE river_id = ANY(@rivers)
				ORDER BY river_id, post_id FOR UPDATE)`, args)
		if err != nil {
			return err
		}
		entries = tag.RowsAffected()
		for _, query := range []string{
			`DELETE FROM rivers_timelines WHERE river_id = ANY(@rivers)`,
			`DELETE FROM visits WHERE river_id IN (
				SELECT river_id FROM visits WHERE river_id = ANY(@rivers) ORDER BY river_id FOR UPDATE)`,
			`DELETE FROM leases WHERE (river_id, node) IN (
				SELECT river_id, node FROM leases WHERE river_id = ANY(@rivers) ORDER BY river_id, node FOR UPDATE)`,
			`DELETE FROM rivers WHERE id = ANY(@rivers)`,
		} {
			if tag, err = tx.Exec(ctx, query, args); err != nil {
				return err
			}
		}
		rivers = tag.RowsAffected()
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("remove retired rivers: %w", err)
	}
	return rivers, entries, nil
}
