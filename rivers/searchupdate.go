package rivers

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// search is a search that stands, with what may have changed since it was brought
// up.
type lateSearch struct {
	generation
	old   bool    // not worth bringing up
	posts []int64 // whose folds were written
	seen  string  // a pg_snapshot, as it was read
}

// moment is one of the secondary store: a time for deadlines, and exactly which
// transactions it saw.
type readPoint struct {
	asof time.Time
	seen string // a pg_snapshot
}

// searchesAmong are those of the names that are of searches.
func searchesAmong(names []Name) []Name {
	return slices.DeleteFunc(slices.Clone(names), func(n Name) bool { return !n.Kind.IsSearch() })
}

// BringUp brings those of the rivers of these names up that are searches and stand.
// Those that are too far behind are left to their next visit: to ask for them here would
// let all others wait. If nobody has them open they are retired; else they go on standing
// and are returned, and their pages are to visit them again.
func (s *Store) BringUp(ctx context.Context, names []Name) (left []Name, err error) {
	asked := searchesAmong(names)
	if len(asked) == 0 {
		return nil, nil
	}
	for {
		late, at, err := s.changedSince(ctx, asked)
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

// catchUpSearch is BringUp of one river, which is asked for anew if it is too far behind.
func (s *Store) catchUpSearch(ctx context.Context, n Name) error {
	left, err := s.BringUp(ctx, []Name{n})
	if err != nil || len(left) == 0 {
		return err
	}
	down := int64(math.MaxInt64) // a first chunk
	return s.build(ctx, n, &down)
}

// retireClosed ends those of these generations that nobody has open, and returns the
// names of the others.
func (s *Store) retireClosed(ctx context.Context, rivers map[int64]Name) (open []Name, err error) {
	if len(rivers) == 0 {
		return nil, nil
	}
	args := pgx.StrictNamedArgs{"rivers": slices.Sorted(maps.Keys(rivers))}
	if err := s.retireUnopened(ctx, "id = ANY(@rivers)", args); err != nil {
		return nil, err
	}
	// Each is found for itself, as by the FROM clause of watched.
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

// changedSince reads which of the searches stand and are behind.
//
// A snapshot has not seen what began after it and what was under way. Folds are looked
// up by just these transactions, once for all searches: to look through all that was
// written since the oldest of them began would be to do so at each look for as long as
// a long one is open, in whatever database of the server. Bounded on both sides only
// the index will do, whatever is known of the table. Of what began after the oldest
// snapshot, the newest are enough: who has not seen the last of these has not seen any
// and is too far behind.
func (s *Store) changedSince(ctx context.Context, names []Name) (late []lateSearch, at readPoint, err error) {
	const query = `
		WITH stands AS MATERIALIZED (
			SELECT r.id, r.user_id, r.kind, r.their_id, r.term, r.ord, r.updated_at, r.seen::text AS seen` +
		watched + `
			WHERE r.id IS NOT NULL
		), unseen AS MATERIALIZED (
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
				SELECT post_id FROM unseen
				WHERE NOT pg_visible_in_snapshot(written, s.seen::pg_snapshot)) AS posts
			FROM (SELECT DISTINCT seen FROM stands) s
		)
		SELECT s.id, s.user_id, s.kind, s.their_id, s.term, s.ord,
			s.updated_at < statement_timestamp() - @within::interval,
			s.updated_at < statement_timestamp() - @quiet::interval, c.posts, s.seen,
			statement_timestamp(), pg_current_snapshot()::text
		FROM stands s JOIN changed c USING (seen)
		ORDER BY s.id`
	args := namesArgs(names)
	args["within"], args["quiet"], args["most"] = broughtUpWithin, markedEvery, maxBroughtUp
	var r lateSearch
	var quiet bool // long enough to be marked again
	n := &r.name
	dest := []any{&r.id, &n.UserID, &n.Kind, &n.TheirID, &n.Term, &n.Order, &r.old, &quiet, &r.posts, &r.seen, &at.asof, &at.seen}
	err = s.forEach(ctx, "read what searches lack", query, args, dest, func() {
		r.old = r.old || len(r.posts) > maxBroughtUp
		if r.old || quiet || len(r.posts) > 0 {
			found := r
			found.posts = slices.Clone(r.posts)
			late = append(late, found)
		}
	})
	return late, at, err
}

// bringUpOnce looks at what changed and writes what became of it into the searches,
// above the floor and below, as writers do: some searches at a time (writePairs). It
// reports whether the deadline held.
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
		some := posts[:min(len(posts), maxLookedAt)]
		posts = posts[len(some):]
		saw := readPoint{asof: at.asof}
		if len(posts) == 0 {
			saw = at // with these it has seen them all
		}
		if inTime, err := s.lookAt(ctx, late, some, saw); err != nil || !inTime {
			return false, err
		}
	}
	return true, nil
}

// lookAt looks at posts with searches and writes what became of them, as bringUpOnce.
func (s *Store) lookAt(ctx context.Context, late []lateSearch, posts []int64, at readPoint) (bool, error) {
	a, err := s.ask(ctx, late, posts)
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

// answers are what one snapshot says of some posts to some searches.
type matchedPosts struct {
	found  []map[int64]timelines.Match // in the order of the searches
	states map[int64]*timelines.PostState
}

// ask looks at posts with all searches.
func (s *Store) ask(ctx context.Context, late []lateSearch, posts []int64) (matchedPosts, error) {
	var a matchedPosts
	if len(posts) == 0 {
		return a, nil
	}
	names := make([]Name, len(late))
	for i, r := range late {
		names[i] = r.name
	}
	err := s.primary.InSnapshot(ctx, func(sn *timelines.Snapshot) (err error) {
		if a.found, err = matches(ctx, sn, names, posts); err != nil {
			return err
		}
		var looks timelines.Looks
		for i, n := range names {
			for post := range a.found[i] {
				looks.Add(post, n.UserID)
			}
		}
		a.states, err = sn.States(ctx, posts, looks)
		return err
	})
	pause(ctx, afterSnapshot)
	return a, err
}

// entries are those of the searches from first up to last, with a tombstone for each
// post that one does not find.
func (a matchedPosts) entries(late []lateSearch, first, last int) []entry {
	all := make([]entry, 0, (last-first)*len(a.states))
	for i := first; i < last; i++ {
		for _, st := range a.states {
			all = append(all, foundEntryOf(late[i].generation, a.found[i], st))
		}
	}
	return all
}
