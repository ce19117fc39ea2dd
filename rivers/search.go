package rivers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

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
	return func(st *timelines.PostState) entry { return foundEntryOf(g, found[0], st) }, nil
}

// storeExtension commits what an extension read. It does not look again at what changed
// meanwhile: the search's next reader does.
func (fromSearch) storeExtension(ctx context.Context, s *Store, g generation, c chunkOf, asof time.Time) error {
	inTime, err := s.writeSearches(ctx, []lateSearch{{generation: g}}, c.entries, c.folds, readPoint{asof: asof})
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
func foundEntryOf(g generation, found map[int64]timelines.Match, st *timelines.PostState) entry {
	m, ok := found[st.ID]
	return newEntry(g, st, st.FreshAt, ok, overlay{Timelines: m.Places, Authors: m.Authors})
}
