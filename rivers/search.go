package rivers

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// A search is a river of no timelines: its entries are what a query finds in the
// primary store's texts (timelines.Query, timelines.Snapshot.Search). No writer
// routes to it, so that a change costs the same whatever people search for. Its readers
// bring it up: a visit and the reply to a form begin with catchUpSearch, and hubs call BringUp
// for those that are open. A push brings up only what it asks about and the search holds
// already (see searchshown.go): what was taken away leaves open pages as fast as on all
// others, and only what is newly found waits.
//
// What changed is known from the folds: each change of a post upserts its fold
// before it is acknowledged (R4 rests on that too), so the posts that a search may
// lack, hold wrongly or show too old are those whose folds were written by
// transactions it has not seen (folds.written, rivers.seen): a river is registered,
// and so given its first seen, before the snapshot it is built from. They alone are
// looked at, for all searches at hand in one statement; when nothing changed,
// nothing is. What a search does not find among them, and did not before, costs it no
// row (searchwrite.go). Only a river that was left alone for long, or was overtaken by
// very many changes, is asked for anew, by its next visit. Until then it stands if
// it is open, so that a push can still take from the page what is to go.
//
// R4: an entry says that the post's texts, as of the entry's version, have what was
// asked for. Once the fold is newer that may betray what was taken away, by an edit
// or a deleted comment, and the entry is not shown until it is brought up (finds).
// Who wrote the texts stands in the overlay, and the places asked for, so that a
// ban, a hide and a closed group are decided at render as everywhere.
//
// R3 exempts searches from showing at once what they did not find before; with
// catchUpSearch they do so all the same.
//
// Rejected: asking the whole query each second (hundreds of milliseconds for a
// common word, for the sake of the few posts that changed); handing changes to
// searches in Tier 1 (each like in the site would pay for each search that is open).

const (
	// searchGrace is how long a search that nobody looks at is kept.
	searchGrace = 30 * time.Minute
	// broughtUpWithin is how old a search may be to be brought up. Folds that nothing
	// links are kept longer (see keep).
	broughtUpWithin = keep / 2
	// markedEvery is how long a search may stand as it is marked while nothing changes:
	// well within the time in which it can be brought up.
	markedEvery = broughtUpWithin / 4
	// maxSearching is how many searches of all texts one node makes at once; more wait.
	maxSearching = 4
	// maxBroughtUp is how many posts are looked at; if more changed, asking for the
	// search anew costs less. It is more than change while a search is asked for, be the
	// town ever so busy: else it would be asked for again as soon as it stands.
	maxBroughtUp = 5000
	// maxLookedAt is how many are looked at in one statement.
	maxLookedAt = 500
)

// query is what a search asks for. Its term was written by timelines.Query.
func (n Name) query() (timelines.Query, error) {
	q, err := timelines.ParseQuery(n.Term)
	if err != nil {
		return q, fmt.Errorf("read query of river: %w", err)
	}
	return q, nil
}

// fromSearch is the content of searches.
type fromSearch struct{}

func (fromSearch) timelineIDs(context.Context, *timelines.Snapshot, Name) ([]int64, error) {
	return nil, nil
}

// inSnapshot waits until another search of all texts may begin. No snapshot is open
// meanwhile.
func (fromSearch) inSnapshot(ctx context.Context, s *Store, fn func(*timelines.Snapshot) error) error {
	select {
	case s.searching <- struct{}{}:
		defer func() { <-s.searching }()
		return s.primary.InSnapshot(ctx, fn)
	case <-ctx.Done():
		return fmt.Errorf("wait to search: %w", ctx.Err())
	}
}

func (fromSearch) scan(ctx context.Context, sn *timelines.Snapshot, n Name, at timelines.Scan) (timelines.Scanned, error) {
	q, err := n.query()
	if err != nil {
		return timelines.Scanned{}, err
	}
	return sn.Search(ctx, q, at)
}

func (fromSearch) entries(ctx context.Context, sn *timelines.Snapshot, g generation, states map[int64]*timelines.PostState) (
	func(*timelines.PostState) entry, error,
) {
	found, err := matches(ctx, sn, []Name{g.name}, slices.Collect(maps.Keys(states)))
	if err != nil {
		return nil, err
	}
	return func(st *timelines.PostState) entry { return foundEntryOf(g.name, g.id, found[0], st) }, nil
}

// storeExtension commits what an extension read. It does not look again at what changed
// meanwhile: the search's next reader does.
func (fromSearch) storeExtension(ctx context.Context, s *Store, g generation, c chunkOf, asof time.Time) error {
	inTime, err := s.writeSearches(ctx, []search{{id: g.id}}, c.entries, c.folds, moment{asof: asof})
	if err != nil {
		return err
	}
	if !inTime {
		return errAgain
	}
	pause(ctx, afterEntries)
	return nil
}

// reasons are the places that the query asks for and the viewer may open. The viewer must
// find the post by what the entry says: that is still so, and it was written by somebody
// the viewer sees. As nothing is on a page because of what a hidden account did, nothing
// is found by what it wrote beneath others' posts.
func (fromSearch) reasons(d decider, e rawEntry, f *Fold, hidden timelines.Veil) ([]timelines.Timeline, bool) {
	if e.Version < f.Version || !slices.ContainsFunc(e.Overlay.Authors, func(id int64) bool {
		return !hidden.Hides(id) && (id == f.Text.Author || !hides(d.sets, id))
	}) {
		return nil, false
	}
	why := slices.DeleteFunc(d.confirmed(e, f, hidden), func(t timelines.Timeline) bool {
		return d.sets.Apart(t.TheirID) // that page is closed to the viewer
	})
	return why, len(why) > 0 || len(e.Overlay.Timelines) == 0
}

// matches looks at some posts with the queries of several searches.
func matches(ctx context.Context, sn *timelines.Snapshot, names []Name, posts []int64) ([]map[int64]timelines.Match, error) {
	asked := make([]timelines.Asked, len(names))
	for i, n := range names {
		q, err := n.query()
		if err != nil {
			return nil, err
		}
		asked[i] = timelines.Asked{Viewer: n.UserID, Query: q}
	}
	return sn.Matches(ctx, asked, posts)
}

// foundEntryOf is entryOf of a search: its place is the post's own.
func foundEntryOf(n Name, river int64, found map[int64]timelines.Match, st *timelines.PostState) entry {
	e := entry{River: river, PostID: st.ID, Version: st.Version, Place: st.FreshAt}
	if n.Order == Created {
		e.Place = st.CreatedAt
	}
	m, ok := found[st.ID]
	_, reads := st.Readers[n.UserID]
	if st.Deleted || !ok || !reads {
		e.Deleted = true
		return e
	}
	e.Overlay.Timelines, e.Overlay.Authors = m.Places, m.Authors
	_, e.Overlay.Liked = st.Likers[n.UserID]
	_, e.Overlay.Faved = st.Favers[n.UserID]
	return e
}

// search is a search that stands, with what may have changed since it was brought
// up.
type search struct {
	id    int64
	name  Name
	old   bool    // not worth bringing up
	posts []int64 // whose folds were written
	seen  string  // a pg_snapshot, as it was read
}

// moment is one of the secondary store: a time for deadlines, and exactly which
// transactions it saw.
type moment struct {
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
		late = slices.DeleteFunc(late, func(r search) bool {
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
	rows, err := s.db.Query(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("read open searches: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read open searches: %w", err)
	}
	for _, id := range ids {
		open = append(open, rivers[id])
	}
	return open, nil
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
func (s *Store) changedSince(ctx context.Context, names []Name) (late []search, at moment, err error) {
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
	rows, err := s.db.Query(ctx, query, args)
	if err != nil {
		return nil, at, fmt.Errorf("read what searches lack: %w", err)
	}
	var r search
	var quiet bool // long enough to be marked again
	n := &r.name
	dest := []any{&r.id, &n.UserID, &n.Kind, &n.TheirID, &n.Term, &n.Order, &r.old, &quiet, &r.posts, &r.seen, &at.asof, &at.seen}
	_, err = pgx.ForEachRow(rows, dest, func() error {
		r.old = r.old || len(r.posts) > maxBroughtUp
		if r.old || quiet || len(r.posts) > 0 {
			found := r
			found.posts = slices.Clone(r.posts)
			late = append(late, found)
		}
		return nil
	})
	if err != nil {
		return nil, at, fmt.Errorf("read what searches lack: %w", err)
	}
	return late, at, nil
}

// bringUpOnce looks at what changed and writes what became of it into the searches,
// above the floor and below, as writers do: some searches at a time (writePairs). It
// reports whether the deadline held.
func (s *Store) bringUpOnce(ctx context.Context, late []search, at moment) (bool, error) {
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
		saw := moment{asof: at.asof}
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
func (s *Store) lookAt(ctx context.Context, late []search, posts []int64, at moment) (bool, error) {
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
type answers struct {
	found  []map[int64]timelines.Match // in the order of the searches
	states map[int64]*timelines.PostState
}

// ask looks at posts with all searches.
func (s *Store) ask(ctx context.Context, late []search, posts []int64) (answers, error) {
	var a answers
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
func (a answers) entries(late []search, first, last int) []entry {
	all := make([]entry, 0, (last-first)*len(a.states))
	for i := first; i < last; i++ {
		for _, st := range a.states {
			all = append(all, foundEntryOf(late[i].name, late[i].id, a.found[i], st))
		}
	}
	return all
}
