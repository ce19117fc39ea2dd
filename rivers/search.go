package rivers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/snapshot"
)

// A search is a river that holds what a query finds in the primary store's texts
// (snapshot.Query, snapshot.Snapshot.Search). It has no timelines, and no writer looks it
// up, so that a change costs the same whatever people search for. Its readers bring it up
// to date. A visit, and the reply to a form, begin with catchUpSearch; hubs call BringUp
// for open searches. A push updates only the posts it asks about, and only where a search
// holds them already (see searchshown.go). So what was taken away leaves open searches as
// fast as all other pages, and only newly found posts wait.
//
// Folds tell what changed: each change of a post upserts its fold before it is acknowledged
// (R4 rests on that too), and new posts of loads and imports get theirs while there is any
// search. So a search may be wrong only about posts whose folds were written by transactions
// that it has not seen (folds.written, rivers.seen). A river is registered, with its first
// seen, before the snapshot it is built from. Only those posts are matched again, for all the
// searches in one statement, and none if nothing changed. A post that the search does not
// find and did not hold costs no row (searchwrite.go). A
// search that was left alone for long, or that very many changes overtook, is searched anew
// by its next visit. Until then it stands if it is open, so that a push can still remove
// posts from the page.
//
// R4: an entry says that the post's texts matched the query at the entry's version. A newer
// fold may be without the matching text, by an edit or a deleted comment, so such an entry
// is not shown until it is updated (reasons). The overlay names the authors of the matching
// texts and the places that the query asks for, so that bans, hides and closed groups are
// decided at render, as everywhere.
//
// R3 does not require that a search shows one's new post at once. It does, by
// catchUpSearch.
//
// Rejected: searching all texts each second (hundreds of milliseconds for a common word,
// for the few posts that changed); handing changes to searches in Tier 1 (each like on the
// site would pay for each open search).

const (
	// searchGrace is how long a search is kept after its last reader.
	searchGrace = 30 * time.Minute
	// updatedWithin is how old a search may be to be updated. Folds that nothing links are
	// kept longer (see keep).
	updatedWithin = keep / 2
	// markedEvery is how often a search is marked as updated while nothing changes. That is
	// well within the time in which it can be updated.
	markedEvery = updatedWithin / 4
	// maxSearching is how many searches of all texts one node makes at once. More wait.
	maxSearching = 4
	// maxUpdated is how many changed posts an update matches. If more changed, searching
	// anew costs less. It is more than can change during a search, however busy the site is;
	// otherwise the new search would be too old as soon as it stands.
	maxUpdated = 5000
	// maxMatched is how many posts are matched in one statement.
	maxMatched = 500
)

// query returns the query of a search. snapshot.Query wrote its term.
func (n Name) query() (snapshot.Query, error) {
	q, problem := snapshot.ParseQuery(n.Term)
	if problem != "" {
		return q, fmt.Errorf("read query of river: %s", problem)
	}
	return q, nil
}

// fromSearch is the content of searches.
type fromSearch struct{}

func (fromSearch) timelineIDs(context.Context, *snapshot.Snapshot, Name) ([]int64, error) {
	return nil, nil
}

// inSnapshot waits until another search of all texts may begin. No snapshot is open while
// it waits.
func (fromSearch) inSnapshot(ctx context.Context, s *Store, fn func(*snapshot.Snapshot) error) error {
	select {
	case s.searching <- struct{}{}:
		defer func() { <-s.searching }()
		return s.primary.InSnapshot(ctx, fn)
	case <-ctx.Done():
		return fmt.Errorf("wait to search: %w", ctx.Err())
	}
}

func (fromSearch) scan(ctx context.Context, sn *snapshot.Snapshot, n Name, at snapshot.Scan) (snapshot.Scanned, error) {
	q, err := n.query()
	if err != nil {
		return snapshot.Scanned{}, err
	}
	return sn.Search(ctx, q, at)
}

func (fromSearch) entries(ctx context.Context, sn *snapshot.Snapshot, g generation, states map[int64]*snapshot.PostState) (
	func(*snapshot.PostState) entry, error,
) {
	found, err := matches(ctx, sn, []Name{g.name}, slices.Collect(maps.Keys(states)))
	if err != nil {
		return nil, err
	}
	return func(st *snapshot.PostState) entry { return foundEntryOf(g, found[0], st) }, nil
}

// storeExtension does not look again at posts that changed meanwhile: the search's next
// reader does.
func (fromSearch) storeExtension(ctx context.Context, s *Store, g generation, c chunkOf, asof moment) error {
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

// reasons returns the places that the query asks for and that the viewer may open. The
// entry must still be true, and the viewer must see somebody who wrote a matching text. The
// texts of an account that the viewer hides bring no post of others here, as everywhere.
func (fromSearch) reasons(d decider, e rawEntry, f *Fold, hidden access.HiddenUsers) ([]timelines.Timeline, bool) {
	if e.Version < f.Version || !slices.ContainsFunc(e.Overlay.Authors, func(id int64) bool {
		return !hidden.Has(id) && (id == f.Text.Author || !hides(d.sets, id))
	}) {
		return nil, false
	}
	why := slices.DeleteFunc(d.confirmed(e, f, hidden), func(t timelines.Timeline) bool {
		return d.sets.BlockedBetween(t.TheirID) // that page is closed to the viewer
	})
	return why, len(why) > 0 || len(e.Overlay.Timelines) == 0
}

// matches matches some posts with the queries of several searches.
func matches(ctx context.Context, sn *snapshot.Snapshot, names []Name, posts []int64) ([]map[int64]snapshot.Match, error) {
	queries := make([]snapshot.ViewerQuery, len(names))
	for i, n := range names {
		q, err := n.query()
		if err != nil {
			return nil, err
		}
		queries[i] = snapshot.ViewerQuery{Viewer: n.UserID, Query: q}
	}
	return sn.Matches(ctx, queries, posts)
}

// foundEntryOf is entryOf of a search, in which a post stands at its own place.
func foundEntryOf(g generation, found map[int64]snapshot.Match, st *snapshot.PostState) entry {
	m, ok := found[st.ID]
	return newEntry(g, st, st.FreshAt, ok, overlay{Timelines: m.Places, Authors: m.Authors})
}
