package rivers

import (
	"context"
	"maps"

	"riverrun/timelines/snapshot"
)

// firstChunk is how many posts a build stores: the page that waits for it, the next one, and the post that says
// that there is more. Nearly all of the cost of a first visit is in proportion to it. chunk is how many an
// extension adds.
const (
	firstChunk = 2*PageSize + 1
	chunk      = 3 * PageSize
)

// chunkOf is what one snapshot says about a stretch of a river.
type chunkOf struct {
	scanned snapshot.Scanned
	entries []entry
	folds   []*Fold // the folds asked for
}

// foldsOf says which folds are computed together with the entries of some posts.
type foldsOf int

const (
	// allFolds: one fold for each entry, in the order of the entries.
	allFolds foldsOf = iota
	// staleFolds: the folds that the store lacks or has at an older version. A fold that it
	// has at a version is the same as in any snapshot of that version. They must be written
	// together with the entries. A fold that is removed in between, because nothing linked it
	// yet, is folded again by its reader.
	staleFolds
)

// stretch is the part of a river to read: up to limit posts strictly below a place, and
// down to another place if that takes more (math.MaxInt64: none).
type stretch struct {
	place, post, down int64
	limit             int
	first             bool // the river's first, for which its timelines are computed again
	folds             foldsOf
}

// readChunk reads a stretch of a river from one snapshot. It returns errAgain if the
// stretch is the river's first and the river's timelines in that snapshot are not the
// registered ones.
func (s *Store) readChunk(ctx context.Context, g generation, q stretch) (chunkOf, error) {
	var out chunkOf
	c := g.content()
	err := c.inSnapshot(ctx, s, func(sn *snapshot.Snapshot) error {
		if q.first {
			ids, err := c.timelineIDs(ctx, sn, g.name)
			if err != nil {
				return err
			}
			if !maps.Equal(setOf(ids), g.listed) {
				return errAgain
			}
		}
		var err error
		out.scanned, err = c.scan(ctx, sn, g.name, snapshot.Scan{
			Viewer: g.name.UserID, Timelines: g.timelineIDs(), BeforePlace: q.place, BeforePost: q.post,
			Limit: q.limit, Down: q.down, ByCreation: g.name.Order == Created, MaxRows: s.scanRows,
		})
		if err != nil {
			return err
		}
		posts := make([]int64, len(out.scanned.Posts))
		for i, p := range out.scanned.Posts {
			posts[i] = p.PostID
		}
		out.entries, out.folds, err = s.compute(ctx, sn, g, posts, q.folds)
		return err
	})
	return out, err
}

// compute returns the entries and folds of posts in one river as of a snapshot.
//
// Contents cost by far the most to read, and they cost the more the more people like a
// post. But such a post stands in other rivers already, and its fold with it.
func (s *Store) compute(ctx context.Context, sn *snapshot.Snapshot, g generation, posts []int64, which foldsOf) ([]entry, []*Fold, error) {
	if len(posts) == 0 {
		return nil, nil, nil
	}
	var viewers snapshot.ViewerPairs
	for _, post := range posts {
		viewers.Add(post, g.name.UserID)
	}
	states, contents, err := s.readPosts(ctx, sn, g, posts, viewers, which)
	if err != nil {
		return nil, nil, err
	}
	entryOf, err := g.content().entries(ctx, sn, g, states)
	if err != nil {
		return nil, nil, err
	}
	entries, folds := make([]entry, 0, len(posts)), make([]*Fold, 0, len(contents))
	for _, post := range posts {
		st, c := states[post], contents[post]
		if st == nil || c == nil && which == allFolds {
			continue
		}
		entries = append(entries, entryOf(st))
		if c != nil {
			folds = append(folds, foldOf(c))
		}
	}
	return entries, folds, nil
}

// readPosts reads the states of posts in one river, and the contents that the folds are made
// of.
func (s *Store) readPosts(ctx context.Context, sn *snapshot.Snapshot, g generation, posts []int64, viewers snapshot.ViewerPairs, which foldsOf) (
	states map[int64]*snapshot.PostState, contents map[int64]*snapshot.Content, err error,
) {
	if which == allFolds {
		return sn.StatesAndContents(ctx, posts, viewers, s.foldDepth())
	}
	if states, err = sn.StatesAmong(ctx, posts, viewers, g.timelineIDs()); err != nil {
		return nil, nil, err
	}
	stamps, err := s.stamps(ctx, posts)
	if err != nil {
		return nil, nil, err
	}
	contents, err = s.staleContents(ctx, sn, states, stamps)
	return states, contents, err
}

// staleContents reads the contents of the posts whose folds are older than their states.
func (s *Store) staleContents(ctx context.Context, sn *snapshot.Snapshot, states map[int64]*snapshot.PostState,
	stamps map[int64]int64,
) (map[int64]*snapshot.Content, error) {
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

// storeChunk commits the entries and folds of a stretch.
//
// A build needs no second look at the primary store after it. A change that the chunk's
// snapshot did not see was committed after the snapshot, and so after the river was
// registered. Its writer looks up rivers after that commit. It finds this one by its
// timelines or because it is being built, and writes a greater stamp, before or after this
// write. An extension does need a second look: see content.storeExtension.
func (s *Store) storeChunk(ctx context.Context, c chunkOf, asof moment) error {
	inTime, err := s.write(ctx, c.entries, c.folds, asof)
	if err != nil {
		return err
	}
	if !inTime {
		return errAgain
	}
	pause(ctx, afterEntries)
	return nil
}
