package rivers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/mutants"
)

// chunk is how many posts a build or an extension stores: six pages.
const chunk = 6 * PageSize

// chunkOf is what one snapshot says of a stretch of a river.
type chunkOf struct {
	scanned timelines.Scanned
	entries []entry
	folds   []*Fold // those asked for
}

// foldsOf says which folds are computed with the entries of some posts.
type foldsOf int

const (
	// ofAll: one for each entry, in their order.
	ofAll foldsOf = iota
	// ofBehind: those that the store lacks or has older; what it has at a version is what
	// any snapshot of that version says. To be written with the entries: a fold that is
	// removed in between, because nothing linked it yet, is folded again by its reader.
	ofBehind
)

// stretch is what part of a river to read: so many posts strictly below a place,
// and down to another if that takes more (math.MaxInt64: none).
type stretch struct {
	place, post, down int64
	limit             int
	first             bool // the river's first: its timelines are to be computed again
	folds             foldsOf
}

// readChunk reads a stretch of a river from one snapshot. It returns errAgain if
// it is the first and the river's timelines in that snapshot are not the
// registered ones.
func (s *Store) readChunk(ctx context.Context, n Name, id int64, listed map[int64]struct{}, q stretch) (chunkOf, error) {
	var out chunkOf
	done, err := s.takeTurn(ctx, n)
	if err != nil {
		return out, err
	}
	defer done()
	err = s.primary.InSnapshot(ctx, func(sn *timelines.Snapshot) error {
		if q.first {
			sources, err := s.sources(ctx, sn, n)
			if err != nil {
				return err
			}
			if !sameSet(sources, listed) && !mutants.On(mutants.BuildTimelines) {
				return errAgain
			}
		}
		var err error
		out.scanned, err = scan(ctx, sn, n, timelines.Scan{
			Viewer: n.UserID, Timelines: slices.Sorted(maps.Keys(listed)), BeforePlace: q.place, BeforePost: q.post,
			Limit: q.limit, Down: q.down, ByCreation: n.Order == Created, MaxRows: s.scanRows,
		})
		if err != nil {
			return err
		}
		posts := make([]int64, len(out.scanned.Posts))
		for i, p := range out.scanned.Posts {
			posts[i] = p.PostID
		}
		out.entries, out.folds, err = s.compute(ctx, sn, n, id, listed, posts, q.folds)
		return err
	})
	return out, err
}

// compute returns the entries and the folds of posts in one river as of a
// snapshot.
//
// The contents of a post cost by far the most to read, the more so the more people like
// it, and that is the post which stands in others' rivers already, fold and all.
func (s *Store) compute(ctx context.Context, sn *timelines.Snapshot, n Name, id int64, listed map[int64]struct{},
	posts []int64, which foldsOf,
) ([]entry, []*Fold, error) {
	if len(posts) == 0 {
		return nil, nil, nil
	}
	var looks timelines.Looks
	for _, post := range posts {
		looks.Add(post, n.UserID)
	}
	states, contents, err := s.readPosts(ctx, sn, posts, looks, which)
	if err != nil {
		return nil, nil, err
	}
	if err := sn.HeldAmong(ctx, states, slices.Sorted(maps.Keys(listed))); err != nil {
		return nil, nil, err
	}
	entryOf := func(st *timelines.PostState) entry {
		return entryOf(n, id, func(t int64) bool { _, ok := listed[t]; return ok }, st)
	}
	if specs[n.Kind].asked {
		found, err := matches(ctx, sn, []Name{n}, posts)
		if err != nil {
			return nil, nil, err
		}
		entryOf = func(st *timelines.PostState) entry { return askedEntryOf(n, id, found[0], st) }
	}
	entries, folds := make([]entry, 0, len(posts)), make([]*Fold, 0, len(contents))
	for _, post := range posts {
		st, c := states[post], contents[post]
		if st == nil || c == nil && which == ofAll {
			continue
		}
		entries = append(entries, entryOf(st))
		if c != nil {
			folds = append(folds, foldOf(c))
		}
	}
	return entries, folds, nil
}

// readPosts reads the states of posts, and the contents that these folds are made of.
func (s *Store) readPosts(ctx context.Context, sn *timelines.Snapshot, posts []int64, looks timelines.Looks, which foldsOf) (
	states map[int64]*timelines.PostState, contents map[int64]*timelines.Content, err error,
) {
	if which == ofAll {
		return sn.StatesAndContents(ctx, posts, looks, s.foldDepth())
	}
	if states, err = sn.States(ctx, posts, looks); err != nil {
		return nil, nil, err
	}
	stamps, err := s.stamps(ctx, posts)
	if err != nil {
		return nil, nil, err
	}
	contents, err = s.contentsBehind(ctx, sn, states, stamps)
	return states, contents, err
}

// contentsBehind reads the contents of those posts whose folds are older than their
// states.
func (s *Store) contentsBehind(ctx context.Context, sn *timelines.Snapshot, states map[int64]*timelines.PostState,
	stamps map[int64]int64,
) (map[int64]*timelines.Content, error) {
	var behind []int64
	for id, st := range states {
		if st.Version > stamps[id] {
			behind = append(behind, id)
		}
	}
	if len(behind) == 0 {
		return nil, nil
	}
	return sn.Contents(ctx, behind, s.foldDepth())
}

// storeChunk commits a stretch's entries and folds.
//
// A build needs no second look at the primary store after it. A change that the
// chunk's snapshot did not see committed after it, and so after the river was
// registered; its writer looks up after its commit, finds the river by its
// timelines or because it is being built, and writes a greater stamp, before or
// after this. An extension does (see lookAgain; of searches, storeExtension).
func (s *Store) storeChunk(ctx context.Context, c chunkOf, asof time.Time) error {
	held, err := s.write(ctx, c.entries, c.folds, asof)
	if err != nil {
		return err
	}
	if !held {
		return errAgain
	}
	pause(ctx, afterEntries)
	return nil
}

// listed returns the timelines a river is registered for.
func (s *Store) listed(ctx context.Context, id int64) (map[int64]struct{}, error) {
	rows, err := s.db.Query(ctx, `SELECT timeline_id FROM rivers_timelines WHERE river_id = @id`,
		pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return nil, fmt.Errorf("read river's timelines: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read river's timelines: %w", err)
	}
	set := make(map[int64]struct{}, len(ids))
	for _, id := range ids {
		set[id] = struct{}{}
	}
	return set, nil
}

func sameSet(ids []int64, set map[int64]struct{}) bool {
	if len(ids) != len(set) {
		return false
	}
	return !slices.ContainsFunc(ids, func(id int64) bool { _, ok := set[id]; return !ok })
}
