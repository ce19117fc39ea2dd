package rivers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// A search is a river of no timelines: its entries are what a query finds in the
// primary store's texts (timelines.Query, timelines.Snapshot.Search). No writer
// routes to it, so that a change costs the same whatever people search for. Who
// reads it brings it up: a visit, a push, a comparison, the reply to a form all
// begin with bringUp.
//
// What changed is known from the folds: each change of a post upserts its fold
// before it is acknowledged (R4 rests on that too), so the posts that a search may
// lack, hold wrongly or show too old are those whose folds were written by
// transactions it has not seen (folds.written, rivers.seen): a river is registered,
// and so given its first seen, before the snapshot it is built from. They alone are
// looked at, for all searches at hand in one statement; when nothing changed,
// nothing is. What a search does not find among them, and did not before, costs it no
// row (searchwrite.go). Only a river that was left alone for long, or was overtaken by
// very many changes, is retired: its next visit asks for it anew.
//
// R4: an entry says that the post's texts, as of the entry's version, have what was
// asked for. Once the fold is newer that may betray what was taken away, by an edit
// or a deleted comment, and the entry is not shown until it is brought up (finds).
// Who wrote the texts stands in the overlay, and the places asked for, so that a
// ban, a hide and a closed group are decided at render as everywhere.
//
// R3 exempts searches from showing at once what they did not find before; with
// bringUp they do so all the same.
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
	// search anew costs less.
	maxBroughtUp = 500
)

// query is what a search asks for. Its term was written by timelines.Query.
func (n Name) query() (timelines.Query, error) {
	q, err := timelines.ParseQuery(n.Term)
	if err != nil {
		return q, fmt.Errorf("read query of river: %w", err)
	}
	return q, nil
}

// scan reads the newest posts of a river below a place, by its timelines or by its
// query.
func scan(ctx context.Context, sn *timelines.Snapshot, n Name, at timelines.Scan) (timelines.Scanned, error) {
	if !specs[n.Kind].asked {
		return sn.Scan(ctx, at)
	}
	q, err := n.query()
	if err != nil {
		return timelines.Scanned{}, err
	}
	return sn.Search(ctx, q, at)
}

// takeTurn waits until another search of all texts may begin, if that is what the
// river needs. No snapshot is open meanwhile.
func (s *Store) takeTurn(ctx context.Context, n Name) (done func(), err error) {
	if !specs[n.Kind].asked {
		return func() {}, nil
	}
	select {
	case s.searching <- struct{}{}:
		return func() { <-s.searching }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to search: %w", ctx.Err())
	}
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

// askedEntryOf is entryOf of a search: its place is the post's own.
func askedEntryOf(n Name, river int64, found map[int64]timelines.Match, st *timelines.PostState) entry {
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

// finds reports whether the viewer finds the post by what the entry says: it is
// still so, and somebody wrote it whom the viewer sees. As nothing is on a page
// because of what somebody hidden did, nothing is found by what they wrote beneath
// others' posts.
func finds(n Name, sets *timelines.Sets, veil timelines.Veil, e rawEntry, f *Fold) bool {
	if e.Version < f.Version {
		return false
	}
	return slices.ContainsFunc(e.Overlay.Authors, func(id int64) bool {
		return !veil.Hides(id) && (id == f.Text.Author || !hides(sets, id))
	})
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

// bringUp brings those of the rivers of these names up that are searches and stand.
// Those that are too far behind are retired, for whoever looks at them to visit them
// again: to ask for them here would let all others wait.
func (s *Store) bringUp(ctx context.Context, names []Name) error {
	asked := make([]Name, 0, len(names))
	for _, n := range names {
		if specs[n.Kind].asked {
			asked = append(asked, n)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	for {
		late, at, err := s.changedSince(ctx, asked)
		if err != nil {
			return err
		}
		var old []int64
		late = slices.DeleteFunc(late, func(r search) bool {
			if r.old {
				old = append(old, r.id)
			}
			return r.old
		})
		if err := s.retire(ctx, old); err != nil {
			return err
		}
		held, err := s.bringUpOnce(ctx, late, at)
		if err != nil || held {
			return err
		}
	}
}

// retire ends these generations, if they still live.
func (s *Store) retire(ctx context.Context, rivers []int64) error {
	if len(rivers) == 0 {
		return nil
	}
	const query = `
		UPDATE rivers SET state = 'retired', retired_at = clock_timestamp() WHERE id IN (
			SELECT id FROM rivers WHERE id = ANY(@rivers) AND state = 'live' ORDER BY id FOR UPDATE)`
	if _, err := s.db.Exec(ctx, query, pgx.StrictNamedArgs{"rivers": rivers}); err != nil {
		return fmt.Errorf("retire searches: %w", err)
	}
	return nil
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
	a, err := s.ask(ctx, late)
	if err != nil {
		return false, err
	}
	size := max(1, s.writePairs/max(1, len(a.states)))
	for first := 0; first < len(late); first += size {
		last := min(first+size, len(late))
		held, err := s.writeAsked(ctx, late[first:last], a.entries(late, first, last), nil, at)
		if err != nil || !held {
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

// ask looks with all searches at whatever changed for one of them.
func (s *Store) ask(ctx context.Context, late []search) (answers, error) {
	var a answers
	names := make([]Name, len(late))
	changed := map[int64]struct{}{}
	for i, r := range late {
		names[i] = r.name
		for _, post := range r.posts {
			changed[post] = struct{}{}
		}
	}
	if len(changed) == 0 {
		return a, nil
	}
	posts := slices.Sorted(maps.Keys(changed))
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
			all = append(all, askedEntryOf(late[i].name, late[i].id, a.found[i], st))
		}
	}
	return all
}
