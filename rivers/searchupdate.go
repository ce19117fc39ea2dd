package rivers

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/snapshot"
)

// lateSearch is a live search, with what may have changed since it was brought up to date.
type lateSearch struct {
	generation
	old   bool    // too far behind to be updated
	posts []int64 // those whose folds were written
	seen  string  // a pg_snapshot, as it was read
}

// readPoint is a moment of the secondary store: a time for deadlines, and the transactions
// it saw.
type readPoint struct {
	asof moment
	seen string // a pg_snapshot
}

// searchesAmong returns the names of searches.
func searchesAmong(names []Name) []Name {
	return slices.DeleteFunc(slices.Clone(names), func(n Name) bool { return !n.Kind.IsSearch() })
}

// BringUp brings up to date the live rivers of these names that are searches. A search that
// is too far behind is left to its next visit, because searching anew here would let all
// the others wait. If nobody has it open it is retired. If somebody does, it stays and is
// returned in left, and its pages must visit it again.
func (s *Store) BringUp(ctx context.Context, names []Name) (left []Name, err error) {
	searches := searchesAmong(names)
	if len(searches) == 0 {
		return nil, nil
	}
	for {
		late, at, err := s.changedSince(ctx, searches)
		if err != nil {
			return nil, err
		}
		old := map[int64]Name{}
		late = slices.DeleteFunc(late, func(r lateSearch) bool {
			if r.old {
				old[r.id] = r.name
			}
			return r.old
		})
		if left, err = s.retireClosed(ctx, old); err != nil {
			return nil, err
		}
		inTime, err := s.bringUpOnce(ctx, late, at)
		if err != nil || inTime {
			return left, err
		}
	}
}

// catchUpSearch is BringUp of one river, which is searched anew if it is too far behind.
func (s *Store) catchUpSearch(ctx context.Context, n Name) error {
	left, err := s.BringUp(ctx, []Name{n})
	if err != nil || len(left) == 0 {
		return err
	}
	down := int64(math.MaxInt64) // a first chunk
	return s.build(ctx, n, ForSearch, &down)
}

// retireClosed retires those of these generations that nobody has open, and returns the
// names of the others.
func (s *Store) retireClosed(ctx context.Context, rivers map[int64]Name) (open []Name, err error) {
	if len(rivers) == 0 {
		return nil, nil
	}
	args := pgx.StrictNamedArgs{"rivers": slices.Sorted(maps.Keys(rivers))}
	if err := s.retireUnopened(ctx, "id = ANY(@rivers)", args); err != nil {
		return nil, err
	}
	// This finds each river for itself, as watched does.
	const query = `
		SELECT r.id FROM unnest(@rivers::bigint[]) AS w(id)
		CROSS JOIN LATERAL (SELECT id, state FROM rivers WHERE id = w.id LIMIT 1) r
		WHERE r.state = 'live'`
	ids, err := collect(ctx, s, "read open searches", query, args, pgx.RowTo[int64])
	for _, id := range ids {
		open = append(open, rivers[id])
	}
	return open, err
}

// changedSince returns the searches that stand and are behind.
//
// A snapshot has not seen the transactions that began after it and those that were under
// way. Folds are looked up by just these transactions, once for all searches. Looking
// through all folds written since the oldest transaction under way would repeat that look
// for as long as a long transaction is open, in any database of the server. Bounds on both
// sides make the server use the index, whatever it knows of the table. Among transactions
// that began after the oldest snapshot the newest are enough: a search that has seen none
// of these is too far behind.
func (s *Store) changedSince(ctx context.Context, names []Name) (late []lateSearch, at readPoint, err error) {
	const query = `
		WITH stands AS MATERIALIZED (
			SELECT r.id, r.user_id, r.kind, r.their_id, r.term, r.ord, r.updated_at, r.seen::text AS seen` +
		watched + `
			WHERE r.id IS NOT NULL
		), missed AS MATERIALIZED (
			(SELECT post_id, written FROM folds
			WHERE written BETWEEN (SELECT min(pg_snapshot_xmax(seen::pg_snapshot)) FROM stands)
				AND pg_snapshot_xmax(pg_current_snapshot())
			ORDER BY written DESC LIMIT @most + 1)
			UNION
			SELECT post_id, written FROM folds
			WHERE written = ANY(ARRAY(SELECT pg_snapshot_xip(seen::pg_snapshot) FROM stands))
				AND written BETWEEN (SELECT min(pg_snapshot_xmin(seen::pg_snapshot)) FROM stands)
				AND pg_snapshot_xmax(pg_current_snapshot())
		), changed AS MATERIALIZED (
			SELECT s.seen, ARRAY(
				SELECT post_id FROM missed
				WHERE NOT pg_visible_in_snapshot(written, s.seen::pg_snapshot)) AS posts
			FROM (SELECT DISTINCT seen FROM stands) s
		)
		SELECT s.id, s.user_id, s.kind, s.their_id, s.term, s.ord,
			s.updated_at < statement_timestamp() - @within::interval,
			s.updated_at < statement_timestamp() - @quiet::interval, c.posts, s.seen,
			statement_timestamp(), (SELECT epoch FROM clock), pg_current_snapshot()::text
		FROM stands s JOIN changed c USING (seen)
		ORDER BY s.id`
	args := namesArgs(names)
	args["within"], args["quiet"], args["most"] = updatedWithin, markedEvery, maxUpdated
	var r lateSearch
	var quiet bool // long enough unchanged to be marked again
	n := &r.name
	dest := []any{&r.id, &n.UserID, &n.Kind, &n.TheirID, &n.Term, &n.Order, &r.old, &quiet, &r.posts, &r.seen, &at.asof.time, &at.asof.epoch, &at.seen}
	err = s.forEach(ctx, "read what searches lack", query, args, dest, func() {
		r.old = r.old || len(r.posts) > maxUpdated
		if r.old || quiet || len(r.posts) > 0 {
			found := r
			found.posts = slices.Clone(r.posts)
			late = append(late, found)
		}
	})
	return late, at, err
}

// bringUpOnce matches the changed posts and writes the result into the searches, above the
// floor and below, as writers do, some searches at a time (writePairs). It reports whether
// it was in time.
func (s *Store) bringUpOnce(ctx context.Context, late []lateSearch, at readPoint) (bool, error) {
	if len(late) == 0 {
		return true, nil
	}
	pause(ctx, afterLookup)
	changed := map[int64]struct{}{}
	for _, r := range late {
		for _, post := range r.posts {
			changed[post] = struct{}{}
		}
	}
	posts := slices.Sorted(maps.Keys(changed))
	for first := true; first || len(posts) > 0; first = false {
		some := posts[:min(len(posts), maxMatched)]
		posts = posts[len(some):]
		saw := readPoint{asof: at.asof}
		if len(posts) == 0 {
			saw = at // with these the searches have seen all of them
		}
		if inTime, err := s.matchAndWrite(ctx, late, some, saw); err != nil || !inTime {
			return false, err
		}
	}
	return true, nil
}

// matchAndWrite matches posts with searches and writes the result, for bringUpOnce.
func (s *Store) matchAndWrite(ctx context.Context, late []lateSearch, posts []int64, at readPoint) (bool, error) {
	a, err := s.matchPosts(ctx, late, posts)
	if err != nil {
		return false, err
	}
	size := max(1, s.writePairs/max(1, len(a.states)))
	for first := 0; first < len(late); first += size {
		last := min(first+size, len(late))
		inTime, err := s.writeSearches(ctx, late[first:last], a.entries(late, first, last), nil, at)
		if err != nil || !inTime {
			return false, err
		}
	}
	return true, nil
}

// matchedPosts is what one snapshot says about some posts to some searches.
type matchedPosts struct {
	found  []map[int64]snapshot.Match // in the order of the searches
	states map[int64]*snapshot.PostState
}

// matchPosts matches posts with all searches.
func (s *Store) matchPosts(ctx context.Context, late []lateSearch, posts []int64) (matchedPosts, error) {
	var a matchedPosts
	if len(posts) == 0 {
		return a, nil
	}
	names := make([]Name, len(late))
	for i, r := range late {
		names[i] = r.name
	}
	err := s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		if a.found, err = matches(ctx, sn, names, posts); err != nil {
			return err
		}
		var viewers snapshot.ViewerPairs
		for i, n := range names {
			for post := range a.found[i] {
				viewers.Add(post, n.UserID)
			}
		}
		a.states, err = sn.States(ctx, posts, viewers)
		return err
	})
	pause(ctx, afterSnapshot)
	return a, err
}

// entries returns the entries of the searches from first up to last, with a tombstone for
// each post that a search does not find.
func (a matchedPosts) entries(late []lateSearch, first, last int) []entry {
	all := make([]entry, 0, (last-first)*len(a.states))
	for i := first; i < last; i++ {
		for _, st := range a.states {
			all = append(all, foundEntryOf(late[i].generation, a.found[i], st))
		}
	}
	return all
}
