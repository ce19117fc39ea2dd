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
	id   int64
	name Name
	// posts are those the look-up found it for.
	posts  []int64
	listed map[int64]struct{}
}

// Distribute brings the rivers concerned up to the present state of these posts,
// and the posts' folds with them (DESIGN: the protocol, steps 3 and 4). Set-based: the
// number of statements does not depend on that of the posts or rivers.
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
		held, err := s.distributeOnce(ctx, touched, scope)
		if err != nil || held {
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
	var states map[int64]*timelines.PostState
	var contents map[int64]*timelines.Content
	err = s.primary.InSnapshot(ctx, func(sn *timelines.Snapshot) (err error) {
		if scope.Actor != 0 {
			// The actor waits, and the change has just made the fold old.
			states, contents, err = sn.StatesAndContents(ctx, posts, viewersOf(targets), foldDepth)
			return err
		}
		if states, err = sn.States(ctx, posts, viewersOf(targets)); err != nil {
			return err
		}
		var behind []int64
		for id, st := range states {
			if st.Version > stamps[id] {
				behind = append(behind, id)
			}
		}
		if len(behind) > 0 {
			contents, err = sn.Contents(ctx, behind, foldDepth)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	pause(ctx, afterSnapshot)
	if err := s.intersect(ctx, targets, states); err != nil {
		return false, err
	}
	var entries []entry
	for _, t := range targets {
		listed := func(id int64) bool { _, ok := t.listed[id]; return ok }
		for _, id := range t.posts {
			if st := states[id]; st != nil && concerns(st, listed) {
				entries = append(entries, entryOf(t.name, t.id, listed, st))
			}
		}
	}
	folds := make([]*Fold, 0, len(contents))
	for _, c := range contents {
		folds = append(folds, foldOf(c))
	}
	held, err := s.write(ctx, entries, folds, asof)
	if err != nil || !held {
		return false, err
	}
	for _, f := range folds {
		s.folds.put(f, false)
	}
	return true, nil
}

// concerns reports whether any listed timeline holds or held the post: an
// actor's other rivers need no row for it. A row of a timeline once there stays,
// withdrawn or not, so a river that holds a post is always concerned.
func concerns(st *timelines.PostState, listed func(int64) bool) bool {
	return slices.ContainsFunc(st.Held, func(h timelines.Held) bool { return listed(h.TimelineID) })
}

func postsOf(touched []timelines.Touched) []int64 {
	set := make(map[int64]struct{}, len(touched))
	for _, t := range touched {
		set[t.PostID] = struct{}{}
	}
	return slices.Sorted(maps.Keys(set))
}

func viewersOf(targets []*target) []int64 {
	set := make(map[int64]struct{}, len(targets))
	for _, t := range targets {
		set[t.name.UserID] = struct{}{}
	}
	return slices.Sorted(maps.Keys(set))
}

// lookUp finds the rivers a writer must write, with this server's time before
// the look-up and the stamps of the posts' folds.
func (s *Store) lookUp(ctx context.Context, touched []timelines.Touched, scope Scope) (
	targets []*target, asof time.Time, stamps map[int64]int64, err error,
) {
	// A river being built counts as open: it is about to be.
	const byTimeline = `
		SELECT t.post_id, r.id, r.user_id, r.kind, r.their_id, r.term, r.ord, r.state = 'building'
		FROM (SELECT DISTINCT * FROM unnest(@posts::bigint[], @timelines::bigint[])) t(post_id, timeline_id)
		JOIN rivers_timelines rt ON rt.timeline_id = t.timeline_id
		JOIN rivers r ON r.id = rt.river_id
		WHERE (r.state = 'live' OR r.state = 'building')` + whenOpen + `
		GROUP BY t.post_id, r.id`
	const byActor = `
		SELECT a.post_id, r.id, r.user_id, r.kind, r.their_id, r.term, r.ord, r.state = 'building'
		FROM (SELECT DISTINCT * FROM unnest(@posts::bigint[], @actors::bigint[])) a(post_id, user_id)
		JOIN rivers r ON r.user_id = a.user_id
		WHERE (r.state = 'live' OR r.state = 'building')` + whenOpen
	var byTimelines, byActors pairs
	if scope.Actor != 0 {
		for _, t := range touched {
			byActors.add(t.PostID, scope.Actor)
		}
	} else if byTimelines, byActors, err = s.concerned(ctx, touched); err != nil {
		return nil, asof, nil, err
	}
	b := &pgx.Batch{}
	b.Queue(`SELECT clock_timestamp()`).QueryRow(func(row pgx.Row) error { return row.Scan(&asof) })
	byRiver := map[int64]*target{}
	collect := func(rows pgx.Rows) error {
		var post, id int64
		var n Name
		var building bool
		dest := []any{&post, &id, &n.UserID, &n.Kind, &n.TheirID, &n.Term, &n.Order, &building}
		_, err := pgx.ForEachRow(rows, dest, func() error {
			if building && takenOut(ctx, stepBuilding) {
				return nil
			}
			t := byRiver[id]
			if t == nil {
				t = &target{id: id, name: n, listed: map[int64]struct{}{}}
				byRiver[id] = t
				targets = append(targets, t)
			}
			if !slices.Contains(t.posts, post) {
				t.posts = append(t.posts, post)
			}
			return nil
		})
		return err
	}
	if len(byTimelines.posts) > 0 {
		b.Queue(byTimeline, pgx.StrictNamedArgs{
			"posts": byTimelines.posts, "timelines": byTimelines.others, "open": scope.Open,
		}).Query(collect)
	}
	if len(byActors.posts) > 0 {
		b.Queue(byActor, pgx.StrictNamedArgs{
			"posts": byActors.posts, "actors": byActors.others, "open": scope.Open,
		}).Query(collect)
	}
	posts := postsOf(touched)
	stamps = make(map[int64]int64, len(posts))
	b.Queue(`SELECT post_id, version FROM folds WHERE post_id = ANY(@posts)`, pgx.StrictNamedArgs{"posts": posts}).
		Query(func(rows pgx.Rows) error {
			var id, version int64
			_, err := pgx.ForEachRow(rows, []any{&id, &version}, func() error {
				stamps[id] = version
				return nil
			})
			return err
		})
	if err := s.db.SendBatch(ctx, b).Close(); err != nil {
		return nil, asof, nil, fmt.Errorf("look up rivers: %w", err)
	}
	return targets, asof, stamps, nil
}

// whenOpen keeps rivers open in a browser, or being built: those are about to be.
const whenOpen = `
	AND (NOT @open OR r.state = 'building'
		OR EXISTS (SELECT FROM leases l WHERE l.river_id = r.id AND l.until > clock_timestamp()))`

// pairs are (post, timeline) or (post, account), side by side.
type pairs struct{ posts, others []int64 }

func (p *pairs) add(post, other int64) {
	p.posts = append(p.posts, post)
	p.others = append(p.others, other)
}

// concerned says by what the rivers concerned are found: by their timelines;
// and, where a likes timeline was touched, by whose it is, as all rivers of that
// account show whether it likes the post.
func (s *Store) concerned(ctx context.Context, touched []timelines.Touched) (byTimeline, byActor pairs, err error) {
	var ids []int64
	for _, t := range touched {
		ids = append(ids, t.Timelines...)
	}
	gates, err := s.access.Gates(ctx, ids)
	if err != nil {
		return byTimeline, byActor, err
	}
	for _, t := range touched {
		for _, id := range t.Timelines {
			byTimeline.add(t.PostID, id)
			if tl, ok := gates.Timeline(id); ok && tl.Kind == timelines.KindLikes {
				byActor.add(t.PostID, tl.TheirID)
			}
		}
	}
	return byTimeline, byActor, nil
}

// intersect fills in which of the posts' timelines each river is made of. A
// river's list never changes (another list is another river), so it may be read
// after the snapshot.
func (s *Store) intersect(ctx context.Context, targets []*target, states map[int64]*timelines.PostState) error {
	if len(targets) == 0 {
		return nil
	}
	ids := make([]int64, len(targets))
	byRiver := make(map[int64]*target, len(targets))
	for i, t := range targets {
		ids[i] = t.id
		byRiver[t.id] = t
	}
	held := map[int64]struct{}{}
	for _, st := range states {
		for _, h := range st.Held {
			held[h.TimelineID] = struct{}{}
		}
	}
	const query = `
		SELECT river_id, timeline_id FROM rivers_timelines
		WHERE timeline_id = ANY(@timelines) AND river_id = ANY(@rivers)`
	rows, err := s.db.Query(ctx, query, pgx.StrictNamedArgs{
		"rivers": ids, "timelines": slices.Sorted(maps.Keys(held)),
	})
	if err != nil {
		return fmt.Errorf("read rivers' timelines: %w", err)
	}
	var river, timeline int64
	_, err = pgx.ForEachRow(rows, []any{&river, &timeline}, func() error {
		byRiver[river].listed[timeline] = struct{}{}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read rivers' timelines: %w", err)
	}
	return nil
}
