package rivers

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// Scope says which of the rivers concerned a writer writes first. It writes the others too if
// they are few (Options.Few), and leaves them to another writer if not. So where few rivers follow a
// change, it costs one look-up, one snapshot and one write in all.
type Scope struct {
	// Actor begins with this account's live and building rivers (Tier 0). All the post's
	// timelines then count as touched.
	Actor int64
	// Open begins with rivers that are open in a browser or being built (Tier 1).
	Open bool
	// Notices also raises the notice clocks of the people whose notifications the change concerns. That
	// must have happened before a change is acknowledged that takes a notification back.
	Notices bool
}

// All is the scope of Tier 2: every live and building river.
var All = Scope{}

// target is a river that a writer found. It lists only those of its timelines that hold or
// once held one of the posts.
type target struct {
	generation
	// posts are the posts the look-up found it for, with the versions of their entries there,
	// 0 for none.
	posts map[int64]int64
	// needed is the place below which it needs no entry of a new post.
	needed int64
	open   bool // in a browser, or being built
}

// Distribute brings the rivers concerned up to the present state of these posts, and the
// posts' folds with them (protocol, steps 3 and 4). It takes a handful of statements for
// every two thousand entries.
//
// It is not told what happened. It reads the present state and writes it with its stamp, so
// it may run late, twice, or at the same time as another writer, and the end is the same.
// Registered timelines say which rivers a change concerns (and, for one's own like, the
// owner of the river), never the entries that stand: an entry is a function of its river's
// timelines, so a river none of whose timelines was touched has its entry already. A like
// of a post that ten thousand rivers hold writes the fold once.
func (s *Store) Distribute(ctx context.Context, touched []timelines.Touched, scope Scope) error {
	_, err := s.DistributeFirst(ctx, touched, scope)
	return err
}

// DistributeFirst is Distribute. It reports whether rivers beyond the scope are left.
func (s *Store) DistributeFirst(ctx context.Context, touched []timelines.Touched, scope Scope) (left bool, err error) {
	if len(touched) == 0 {
		return false, nil
	}
	for {
		left, inTime, err := s.distributeOnce(ctx, touched, scope)
		if err != nil || inTime {
			return left, err
		}
		s.log.WarnContext(ctx, "writer missed its deadline, starts again", "posts", len(touched))
	}
}

func (s *Store) distributeOnce(ctx context.Context, touched []timelines.Touched, scope Scope) (left, inTime bool, err error) {
	looked, err := s.lookUp(ctx, touched, scope)
	if err != nil {
		return false, false, err
	}
	pause(ctx, afterLookup)
	posts := postsOf(touched)
	var versions map[int64]int64
	if scope.Actor == 0 {
		if posts, versions, err = s.behind(ctx, posts, &looked); err != nil || len(posts) == 0 {
			return looked.many, err == nil, err
		}
	}
	targets := looked.targets
	slices.SortFunc(targets, func(a, b *target) int { return cmp.Compare(a.id, b.id) })
	for first := true; first || len(targets) > 0; first = false {
		w := batch{posts: posts, stamps: looked.stamps, versions: versions, asof: looked.asof, actor: first && scope.Actor != 0}
		w.targets, targets = s.cutBatch(targets)
		if !first {
			w.posts = postsFor(w.targets)
		}
		if inTime, err := s.writeBatch(ctx, w); err != nil || !inTime {
			return false, false, err
		}
	}
	return looked.many, true, nil
}

// writePairs is how many entries a writer writes in one transaction. Other writers of the
// same entries wait no longer than that takes, some tens of milliseconds; above all the
// writer whose request waits (Tier 0). Because of the stamps the result is the same as if
// all were written at once. A writer that is cut off has written some of it, and starts
// again with the rest.
const writePairs = 2000

// batch is a part of a writer's work: some of its rivers.
type batch struct {
	targets []*target
	posts   []int64
	stamps  map[int64]int64 // of the posts' folds; updated as they are written
	// versions are those of the posts after the look-up, not set for an actor.
	versions map[int64]int64
	asof     moment
	// actor: a request waits, whose change has just made the folds old.
	actor bool
}

// cutBatch takes a batch of rivers, at least one.
func (s *Store) cutBatch(targets []*target) (now, rest []*target) {
	pairs := 0
	for i, t := range targets {
		if pairs += len(t.posts); i > 0 && pairs > s.writePairs {
			return targets[:i], targets[i:]
		}
	}
	return targets, nil
}

// writeBatch reads the present state of the batch's posts. It writes it into the batch's
// rivers, and writes the folds that are older. It reports whether it was in time.
func (s *Store) writeBatch(ctx context.Context, w batch) (bool, error) {
	states, contents, err := s.readBatch(ctx, w)
	if err != nil {
		return false, err
	}
	pause(ctx, afterSnapshot)
	if err := s.intersect(ctx, w.targets, states); err != nil {
		return false, err
	}
	var entries []entry
	for _, t := range w.targets {
		for id, stands := range t.posts {
			// An entry that stands at the version is the same as in any snapshot of it.
			if st := states[id]; st != nil && stands < st.Version && concerns(st, t.generation) {
				entries = append(entries, entryOf(t.generation, st))
			}
		}
	}
	folds := make([]*Fold, 0, len(contents))
	for _, c := range contents {
		folds = append(folds, foldOf(c))
	}
	inTime, err := s.write(ctx, entries, folds, w.asof)
	if err != nil || !inTime {
		return false, err
	}
	for _, f := range folds {
		f.Epoch = w.asof.epoch
		s.folds.put(f, false)
		w.stamps[f.PostID] = f.Version
	}
	return true, nil
}

// readBatch reads the states of the batch's posts from one snapshot, and the contents of
// those whose folds are older, or of all for an actor: in one round trip, unless a post stands in very
// many timelines, or has just changed again, or of many posts only some folds are older.
func (s *Store) readBatch(ctx context.Context, w batch) (
	states map[int64]*snapshot.PostState, contents map[int64]*snapshot.Content, err error,
) {
	var viewers snapshot.ViewerPairs
	for _, t := range w.targets {
		for id := range t.posts {
			viewers.Add(id, t.name.UserID)
		}
	}
	stale := 0
	for _, id := range w.posts {
		if w.actor || w.stamps[id] < w.versions[id] {
			stale++
		}
	}
	whole := (stale == 0 || stale == len(w.posts)) && !slices.ContainsFunc(w.posts, s.mayOverflow)
	if whole {
		if states, contents, err = s.primary.ReadPosts(ctx, w.posts, viewers, stale > 0, s.foldDepth()); err != nil {
			return nil, nil, err
		}
	}
	for id, st := range states {
		whole = whole && !st.Overflows && (contents[id] != nil || st.Version <= w.stamps[id])
	}
	if whole {
		return states, contents, nil
	}
	err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		if states, err = sn.States(ctx, w.posts, viewers); err != nil {
			return err
		}
		if err := s.readOverflows(ctx, sn, w.targets, states); err != nil {
			return err
		}
		contents, err = s.staleContents(ctx, sn, states, w.stamps)
		return err
	})
	return states, contents, err
}

// mayOverflow guesses by the fold in memory whether a post stands in very many timelines: who likes it
// or talks there brings it into two.
func (s *Store) mayOverflow(post int64) bool {
	f := s.folds.get(s.access.Epoch(), post, 0, false)
	return f != nil && f.Likes.Total+f.Comments.Total > snapshot.MaxMemberships/2
}

// readOverflows reads the memberships of the posts that stand in very many timelines, as
// far as these rivers are made of those. A generation's timelines never change, so they may
// be read at any time.
func (s *Store) readOverflows(ctx context.Context, sn *snapshot.Snapshot, targets []*target, states map[int64]*snapshot.PostState) error {
	var concerned []int64
	for _, t := range targets {
		for id := range t.posts {
			if st := states[id]; st != nil && st.Overflows {
				concerned = append(concerned, t.id)
				break
			}
		}
	}
	if len(concerned) == 0 {
		return nil
	}
	const query = `SELECT DISTINCT timeline_id FROM rivers_timelines WHERE river_id = ANY(@rivers)`
	listed, err := collect(ctx, s, "read rivers' timelines", query, pgx.StrictNamedArgs{"rivers": concerned}, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	return sn.MembershipsAmong(ctx, states, listed)
}

// behind returns the posts that are left to do, and the posts' present versions: their folds or entries that were looked up
// stand below the posts' present versions. A job that repeats what its node did at once
// finds none. From the rivers found it takes the posts that they need not hold, or whose
// entries stand at these versions.
//
// A post of the first version that has no fold needs none here, if no river was found for
// it and there is no search. The first page that shows the post makes its fold, and cannot
// make an older one. So a post of an import costs nothing more until somebody looks at it. A
// post that was changed needs its fold: somebody may be about to store one from before the
// change.
func (s *Store) behind(ctx context.Context, posts []int64, looked *found) (left []int64, versions map[int64]int64, err error) {
	if versions, err = s.primary.Posts.Versions(ctx, posts); err != nil {
		return nil, nil, err
	}
	if len(posts) > fewPosts {
		if looked.targets, err = s.leaveOutDeep(ctx, looked.targets, versions); err != nil {
			return nil, nil, err
		}
	}
	held := map[int64]bool{} // posts with a river, and whether an entry is behind
	for _, t := range looked.targets {
		for id, stands := range t.posts {
			is := stands < versions[id]
			held[id] = held[id] || is
			if !is {
				delete(t.posts, id)
			}
		}
	}
	looked.targets = slices.DeleteFunc(looked.targets, func(t *target) bool { return len(t.posts) == 0 })
	for _, id := range posts {
		version, stamp := versions[id], looked.stamps[id]
		entryBehind, shown := held[id]
		unseen := stamp == 0 && version == firstVersion && !shown && !looked.searched
		if entryBehind || stamp < version && !unseen {
			left = append(left, id)
		}
	}
	return left, versions, nil
}

// leaveOutDeep takes those new posts from the rivers that would stand below all that anybody
// has read there: a source's first load brings years of them. It returns the rivers that
// still have posts. It leaves such a river as a build would. A post that was changed has its
// entry written, because another writer may be about to write an older one.
func (s *Store) leaveOutDeep(ctx context.Context, targets []*target, versions map[int64]int64) ([]*target, error) {
	mayLack := func(t *target, id int64) bool {
		return t.needed > math.MinInt64 && t.posts[id] == 0 && versions[id] == firstVersion
	}
	ask := map[int64]struct{}{}
	for _, t := range targets {
		for id := range t.posts {
			if mayLack(t, id) {
				ask[id] = struct{}{}
			}
		}
	}
	if len(ask) == 0 {
		return targets, nil
	}
	var states map[int64]*snapshot.PostState
	err := s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		states, err = sn.States(ctx, slices.Collect(maps.Keys(ask)), snapshot.ViewerPairs{})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		for id := range t.posts {
			st := states[id]
			if mayLack(t, id) && st != nil && st.Version == firstVersion && highest(st, t.name.Order) < t.needed {
				delete(t.posts, id)
			}
		}
	}
	return slices.DeleteFunc(targets, func(t *target) bool { return len(t.posts) == 0 }), nil
}

// highest returns a place that the post is not above in any river of that order.
func highest(st *snapshot.PostState, o Order) int64 {
	if o == Created {
		return st.CreatedAt
	}
	if st.Overflows {
		return math.MaxInt64
	}
	place := st.FreshAt
	for _, m := range st.Memberships {
		place = max(place, m.EnteredAt)
	}
	return place
}

// firstVersion is the version of a new post.
const firstVersion = 1

// concerns reports whether any of the generation's timelines holds or once held the post:
// the actor's other rivers need no row for it. A membership stays when the post is removed,
// so a river that holds a post is always concerned. A deleted post has no memberships, and
// concerns every river.
func concerns(st *snapshot.PostState, g generation) bool {
	return st.Deleted || slices.ContainsFunc(st.Memberships, func(h snapshot.Membership) bool { return g.lists(h.TimelineID) })
}

func postsFor(targets []*target) []int64 {
	set := map[int64]struct{}{}
	for _, t := range targets {
		for id := range t.posts {
			set[id] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func postsOf(touched []timelines.Touched) []int64 {
	set := make(map[int64]struct{}, len(touched))
	for _, t := range touched {
		set[t.PostID] = struct{}{}
	}
	return slices.Sorted(maps.Keys(set))
}
