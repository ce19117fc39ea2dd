package rivers

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/snapshot"
)

// content says where the posts of a kind's rivers come from. There are two. Rivers of
// timelines (fromTimelines) are found by the writers of a change. Searches (fromSearch)
// hold what a query finds; no writer finds them, and their readers bring them up to date.
// Everything else is the same for both: generations, deadlines, and how a river is visited,
// extended, decided, checked and explained.
//
// Two questions stay outside, because each is about many rivers in one statement:
// searchesAmong picks the rivers that their readers bring up to date, and lookUp leaves
// these out.
type content interface {
	// timelineIDs returns the timelines that a river is registered for, as far as its viewer
	// may read them.
	timelineIDs(ctx context.Context, sn *snapshot.Snapshot, n Name) ([]int64, error)
	// inSnapshot calls fn with a snapshot to read a stretch of a river from.
	inSnapshot(ctx context.Context, s *Store, fn func(*snapshot.Snapshot) error) error
	// scan reads the newest posts of a river below a place.
	scan(ctx context.Context, sn *snapshot.Snapshot, n Name, at snapshot.Scan) (snapshot.Scanned, error)
	// entries returns a function that computes the river's entry of each of these posts.
	entries(ctx context.Context, sn *snapshot.Snapshot, g generation, states map[int64]*snapshot.PostState) (
		func(*snapshot.PostState) entry, error)
	// storeExtension commits what was read to extend a live river, from a snapshot taken
	// after asof. It returns errAgain if the deadline passed.
	storeExtension(ctx context.Context, s *Store, g generation, c chunkOf, asof moment) error
	// reasons returns the timelines by which the viewer may know that an entry is here, in
	// order of entrance. ok is false if nothing that the viewer may know brings it here.
	reasons(d decider, e rawEntry, f *Fold, hidden access.HiddenUsers) (why []timelines.Timeline, ok bool)
}

// generation is one generation of a river, with the timelines it is registered for. They
// never change: a river of other timelines is another generation.
type generation struct {
	id     int64
	name   Name
	listed map[int64]struct{}
}

func (g generation) content() content { return specs[g.name.Kind].content }

func (g generation) lists(timeline int64) bool {
	_, ok := g.listed[timeline]
	return ok
}

func (g generation) timelineIDs() []int64 { return slices.Sorted(maps.Keys(g.listed)) }

// generation reads the timelines that a river is registered for.
func (s *Store) generation(ctx context.Context, n Name, id int64) (generation, error) {
	g := generation{id: id, name: n}
	const query = `SELECT timeline_id FROM rivers_timelines WHERE river_id = @id`
	ids, err := collect(ctx, s, "read river's timelines", query, pgx.StrictNamedArgs{"id": id}, pgx.RowTo[int64])
	g.listed = setOf(ids)
	return g, err
}

func setOf(ids []int64) map[int64]struct{} {
	set := make(map[int64]struct{}, len(ids))
	for _, id := range ids {
		set[id] = struct{}{}
	}
	return set
}

// fromTimelines is the content of rivers made of timelines. The function returns them, as
// far as the river's viewer may read them.
type fromTimelines func(context.Context, *snapshot.Snapshot, Name) ([]int64, error)

func (c fromTimelines) timelineIDs(ctx context.Context, sn *snapshot.Snapshot, n Name) ([]int64, error) {
	return c(ctx, sn, n)
}

func (fromTimelines) inSnapshot(ctx context.Context, s *Store, fn func(*snapshot.Snapshot) error) error {
	return s.primary.InSnapshot(ctx, fn)
}

func (fromTimelines) scan(ctx context.Context, sn *snapshot.Snapshot, n Name, at snapshot.Scan) (snapshot.Scanned, error) {
	at.ByEvent = specs[n.Kind].notices
	return sn.Scan(ctx, at)
}

func (fromTimelines) entries(ctx context.Context, sn *snapshot.Snapshot, g generation, states map[int64]*snapshot.PostState) (
	func(*snapshot.PostState) entry, error,
) {
	return func(st *snapshot.PostState) entry { return entryOf(g, st) }, sn.MembershipsAmong(ctx, states, g.timelineIDs())
}

// storeExtension looks at the posts once more after its commit. A like concerns every river
// of the person who likes that holds the post, whether or not it is made of likes. The
// like's writer finds live rivers by their entries, and may have looked before these stood
// here.
func (fromTimelines) storeExtension(ctx context.Context, s *Store, g generation, c chunkOf, asof moment) error {
	if err := s.storeChunk(ctx, c, asof); err != nil {
		return err
	}
	moved, err := s.movedSince(ctx, c.entries)
	if err != nil || len(moved) == 0 {
		return err
	}
	var again chunkOf
	err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		again.entries, again.folds, err = s.compute(ctx, sn, g, moved, staleFolds)
		return err
	})
	if err != nil {
		return err
	}
	return s.storeChunk(ctx, again, asof)
}

// movedSince returns the posts whose versions are greater than their entries'.
func (s *Store) movedSince(ctx context.Context, entries []entry) ([]int64, error) {
	versions, err := s.primary.Posts.Versions(ctx, postIDs(entries))
	if err != nil {
		return nil, err
	}
	var moved []int64
	for _, e := range entries {
		if versions[e.PostID] > e.Version {
			moved = append(moved, e.PostID)
		}
	}
	return moved, nil
}

func (fromTimelines) reasons(d decider, e rawEntry, f *Fold, hidden access.HiddenUsers) ([]timelines.Timeline, bool) {
	why := d.confirmed(e, f, hidden)
	return why, len(why) > 0 || !specs[d.name.Kind].reasons
}
