package rivers

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/mutants"
)

// Scope is which of the rivers concerned a writer writes.
type Scope struct {
	// Actor limits the writer to this account's live and building rivers (Tier 0),
	// and counts all the post's timelines as touched.
	Actor int64
	// Open limits it to rivers open in a browser, and those being built (Tier 1).
	Open bool
}

// All is the scope of Tier 2: every live and building river.
var All = Scope{}

// target is a river a writer found, with those of its timelines that hold or
// held one of the posts.
type target struct {
	generation
	// posts are those the look-up found it for, with the versions of the entries
	// that stood there, 0 for none.
	posts map[int64]int64
}

// Distribute brings the rivers concerned up to the present state of these posts,
// and the posts' folds with them (DESIGN: the protocol, steps 3 and 4). Set-based: a
// handful of statements for every two thousand entries.
//
// It does not say what happened: it reads the present state and writes it with
// its stamp, so it may run late, twice, or at the same time as another, and the
// end is the same. Which rivers a change concerns is a question of registered
// timelines (and, for one's own like, of whose river it is), never of who holds
// the post: an entry is a function of its river's timelines' rows of the post, so
// a river none of whose timelines was touched has the entry it had, and a like in
// a post that ten thousand rivers hold writes the fold once.
func (s *Store) Distribute(ctx context.Context, touched []timelines.Touched, scope Scope) error {
	if len(touched) == 0 {
		return nil
	}
	for {
		inTime, err := s.distributeOnce(ctx, touched, scope)
		if err != nil || inTime {
			return err
		}
		s.log.WarnContext(ctx, "writer missed its deadline, starts again", "posts", len(touched))
	}
}

func (s *Store) distributeOnce(ctx context.Context, touched []timelines.Touched, scope Scope) (bool, error) {
	targets, asof, stamps, err := s.lookUp(ctx, touched, scope)
	if err != nil {
		return false, err
	}
	pause(ctx, afterLookup)
	posts := postsOf(touched)
	if scope.Actor == 0 {
		done, err := s.current(ctx, posts, targets, stamps)
		if err != nil || done {
			return done, err
		}
	}
	slices.SortFunc(targets, func(a, b *target) int { return compareInt(a.id, b.id) })
	for first := true; first || len(targets) > 0; first = false {
		w := batch{posts: posts, stamps: stamps, asof: asof, actor: first && scope.Actor != 0}
		w.targets, targets = s.cutBatch(targets)
		if !first {
			w.posts = postsFor(w.targets)
		}
		if inTime, err := s.writeBatch(ctx, w); err != nil || !inTime {
			return false, err
		}
	}
	return true, nil
}

// writePairs is how many entries a writer writes in one transaction: others who
// write the same entries, above all the one whose request waits (Tier 0), wait no
// longer than that takes, some tens of milliseconds. The stamps make it the same
// as if all were written at once; a writer that is cut off has done what it has
// done, and starts again with the rest.
const writePairs = 2000

// batch is a part of a writer's work: some of its rivers.
type batch struct {
	targets []*target
	posts   []int64
	stamps  map[int64]int64 // of the posts' folds; brought up as they are written
	asof    time.Time
	// actor: somebody waits who has just made the folds old.
	actor bool
}

// cutBatch divides rivers, at least one from the rest.
func (s *Store) cutBatch(targets []*target) (now, rest []*target) {
	pairs := 0
	for i, t := range targets {
		if pairs += len(t.posts); i > 0 && pairs > s.writePairs {
			return targets[:i], targets[i:]
		}
	}
	return targets, nil
}

// writeBatch reads the present state of the batch's posts and writes it into its
// rivers, and the folds that are behind. It reports whether the deadline held.
func (s *Store) writeBatch(ctx context.Context, w batch) (bool, error) {
	var looks timelines.Looks
	for _, t := range w.targets {
		for id := range t.posts {
			looks.Add(id, t.name.UserID)
		}
	}
	var states map[int64]*timelines.PostState
	var contents map[int64]*timelines.Content
	err := s.primary.InSnapshot(ctx, func(sn *timelines.Snapshot) (err error) {
		if w.actor {
			if states, contents, err = sn.StatesAndContents(ctx, w.posts, looks, s.foldDepth()); err != nil {
				return err
			}
			return s.readOverflows(ctx, sn, w.targets, states)
		}
		if states, err = sn.States(ctx, w.posts, looks); err != nil {
			return err
		}
		if err := s.readOverflows(ctx, sn, w.targets, states); err != nil {
			return err
		}
		contents, err = s.staleContents(ctx, sn, states, w.stamps)
		return err
	})
	if err != nil {
		return false, err
	}
	pause(ctx, afterSnapshot)
	if mutants.On(mutants.LateDeadline) {
		w.asof = time.Now()
	}
	if err := s.intersect(ctx, w.targets, states); err != nil {
		return false, err
	}
	var entries []entry
	for _, t := range w.targets {
		for id, stands := range t.posts {
			// What stands at the version is what any snapshot of it says.
			if st := states[id]; st != nil && stands < st.Version && concerns(st, t.generation) {
				entries = append(entries, entryOf(t.generation, st))
			}
		}
	}
	folds := make([]*Fold, 0, len(contents))
	for _, c := range contents {
		folds = append(folds, foldOf(c))
	}
	if w.actor && mutants.On(mutants.FoldBeforeReply) {
		folds = nil
	}
	inTime, err := s.write(ctx, entries, folds, w.asof)
	if err != nil || !inTime {
		return false, err
	}
	for _, f := range folds {
		s.folds.put(f, false)
		w.stamps[f.PostID] = f.Version
	}
	return true, nil
}

// uncrowd reads which timelines of these rivers hold the crowded posts. A river's
// list never changes, so it may be read at any time.
func (s *Store) readOverflows(ctx context.Context, sn *timelines.Snapshot, targets []*target, states map[int64]*timelines.PostState) error {
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

// current reports whether there is nothing left to do: the folds and entries
// looked up stand at the posts' present versions, and what stands at a version is
// what any snapshot of it says. A job that repeats what its node did at once ends
// here.
func (s *Store) current(ctx context.Context, posts []int64, targets []*target, stamps map[int64]int64) (bool, error) {
	versions, err := s.primary.Versions(ctx, posts)
	if err != nil {
		return false, err
	}
	for id, v := range versions {
		if stamps[id] < v {
			return false, nil
		}
	}
	for _, t := range targets {
		for id, stands := range t.posts {
			if stands < versions[id] {
				return false, nil
			}
		}
	}
	return true, nil
}

// concerns reports whether any listed timeline holds or held the post: an
// actor's other rivers need no row for it. A row of a timeline once there stays,
// withdrawn or not, so a river that holds a post is always concerned; a deleted post has
// none, and concerns them all.
func concerns(st *timelines.PostState, g generation) bool {
	return st.Deleted || slices.ContainsFunc(st.Memberships, func(h timelines.Membership) bool { return g.lists(h.TimelineID) })
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
