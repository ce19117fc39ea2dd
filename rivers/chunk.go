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

// chunk is how many posts a build or an extension stores: six pages.
const chunk = 6 * PageSize

// chunkOf is what one snapshot says of a stretch of a river.
type chunkOf struct {
	scanned timelines.Scanned
	entries []entry
	folds   []*Fold
}

// stretch is what part of a river to read: so many posts strictly below a place,
// and down to another if that takes more (math.MaxInt64: none).
type stretch struct {
	place, post, down int64
	limit             int
	first             bool // the river's first: its timelines are to be computed again
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
			if !sameSet(sources, listed) {
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
		out.entries, out.folds, err = s.compute(ctx, sn, n, id, listed, posts)
		return err
	})
	return out, err
}

// compute returns the entries and the folds of posts in one river as of a
// snapshot.
func (s *Store) compute(ctx context.Context, sn *timelines.Snapshot, n Name, id int64, listed map[int64]struct{},
	posts []int64,
) ([]entry, []*Fold, error) {
	if len(posts) == 0 {
		return nil, nil, nil
	}
	var looks timelines.Looks
	for _, post := range posts {
		looks.Add(post, n.UserID)
	}
	states, contents, err := sn.StatesAndContents(ctx, posts, looks, s.foldDepth())
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
	entries, folds := make([]entry, 0, len(posts)), make([]*Fold, 0, len(posts))
	for _, post := range posts {
		st, c := states[post], contents[post]
		if st == nil || c == nil {
			continue
		}
		entries = append(entries, entryOf(st))
		folds = append(folds, foldOf(c))
	}
	return entries, folds, nil
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
