package rivers

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

// A river that is being built counts as open, because it is about to be. These statements
// find each river and each entry for itself, as watched does: a plan that was made while the
// tables were small would read all of them. OFFSET 0 keeps a subquery separate; it pages
// nothing. Each also returns the moment before it, alone if it finds nothing.
//
// A post that many people like and discuss stands in many timelines of one river. So the rivers come from the
// registrations first, each once, and only then each is looked at.
const (
	lookUpByTimeline = lookUpPairs + `)` + lookUpFrom + `SELECT * FROM near` + lookUpEnd
	// Where somebody waits the registrations are bounded too.
	lookUpFew  = lookUpPairs + ` LIMIT @pairs)` + lookUpFrom + `SELECT * FROM near LIMIT @most` + lookUpEnd
	lookUpOpen = lookUpPairs + `)` + lookUpFrom + `SELECT * FROM near WHERE open UNION ALL (SELECT * FROM near WHERE NOT open LIMIT @most)` + lookUpEnd

	// The rivers come first, as in every statement of a request that reads several of these tables: see emptyOnce. A statement
	// that was planned before locks the tables of its subqueries before those of its WITH, so the rivers of viewers
	// stand before the others' entries.
	lookUpMoment = `WITH m AS MATERIALIZED (
			SELECT coalesce((SELECT epoch FROM clock), 0) AS epoch, EXISTS (
				SELECT FROM rivers r WHERE r.kind = ANY(@searches) AND r.term <> '' AND (r.state = 'live' OR r.state = 'building')) AS searched), `
	lookUpPairs = lookUpMoment + `pairs AS MATERIALIZED (
			SELECT t.post_id, rt.river_id
			FROM (SELECT DISTINCT * FROM unnest(@posts::bigint[], @timelines::bigint[])) t(post_id, timeline_id)
			CROSS JOIN LATERAL (SELECT * FROM rivers_timelines rt WHERE rt.timeline_id = t.timeline_id OFFSET 0) rt`
	// The beginning of the transaction comes before what the statement sees. Whether a river is open is
	// decided once, so that it is not closed to one half of the statement and open to the other.
	lookUpFrom = `, near AS (
			SELECT t.post_id, r.*, ` + isOpen + ` AS open
			FROM (SELECT DISTINCT * FROM pairs) t
			CROSS JOIN LATERAL (SELECT * FROM rivers r WHERE r.id = t.river_id LIMIT 1) r
			WHERE r.state = 'live' OR r.state = 'building')
		SELECT now(), m.epoch, m.searched, (SELECT count(*) FROM pairs), f.post_id, f.id, f.user_id, f.kind, f.their_id, f.term, f.ord, f.version, f.needed,
			coalesce(f.open, false), coalesce(f.registered, false)
		FROM m LEFT JOIN (
		SELECT t.post_id, r.id, r.user_id, r.kind, r.their_id, r.term, r.ord, coalesce(e.version, 0) AS version,
			` + neededFrom + ` AS needed, ` + isOpen + ` AS open, false AS registered
		FROM (SELECT DISTINCT * FROM unnest(@viewed::bigint[], @viewers::bigint[])) t(post_id, user_id)
		CROSS JOIN LATERAL (SELECT * FROM rivers r WHERE r.user_id = t.user_id OFFSET 0) r
		LEFT JOIN LATERAL (SELECT * FROM entries e WHERE e.post_id = t.post_id AND e.river_id = r.id OFFSET 0) e ON true
		WHERE (r.state = 'live' OR r.state = 'building') AND (t.user_id = @actor OR e.post_id IS NOT NULL OR r.state = 'building')
			AND r.kind <> ALL(@searches)
		UNION ALL
		SELECT r.post_id, r.id, r.user_id, r.kind, r.their_id, r.term, r.ord, coalesce(e.version, 0) AS version,
			` + neededFrom + ` AS needed, r.open, true
		FROM (`
	lookUpEnd = `) r
		LEFT JOIN LATERAL (SELECT * FROM entries e WHERE e.post_id = r.post_id AND e.river_id = r.id OFFSET 0) e ON true) f ON true`
)

// lookUpMost is how many registrations a look-up reads where somebody waits: about a millisecond's. A change that
// concerns more has rivers left to Tier 1.
const lookUpMost = 2000

// found is what a writer looked up.
type found struct {
	targets []*target       // the rivers that it must write
	many    bool            // there are others, which it leaves out
	pairs   int             // registrations read
	asof    moment          // the server's time before the look-up
	stamps  map[int64]int64 // of the posts' folds, empty for an actor
	// searched: somebody has a search, which learns of changes by folds. One that is
	// registered later sees the posts in its own snapshot.
	searched bool
}

// lookUp finds the rivers that a writer must write.
func (s *Store) lookUp(ctx context.Context, touched []timelines.Touched, scope Scope) (f found, err error) {
	theirs, err := s.touchedTimelines(ctx, touched)
	if err != nil {
		return f, err
	}
	byTimeline, byViewer := concerned(touched, theirs)
	if scope.Actor != 0 {
		for _, t := range touched {
			byViewer.add(t.PostID, scope.Actor)
		}
	}
	args := pgx.StrictNamedArgs{
		"posts": byTimeline.posts, "timelines": byTimeline.others, "viewed": byViewer.posts, "viewers": byViewer.others,
		// The post may now belong in any of the actor's rivers. Somebody else's like only
		// marks entries that stand.
		"actor": scope.Actor,
		// Readers bring searches up to date.
		"searches": kindsThat(spec.isSearch),
	}
	// most is of rivers that the scope does not begin with, pairs of registrations.
	query, most, pairs := lookUpByTimeline, s.opts.Few+1, math.MaxInt64
	switch {
	case scope.Actor != 0:
		query, args["most"] = lookUpFew, most
		pairs = s.lookUpMost
		args["pairs"] = pairs
	case scope.Open:
		query, args["most"] = lookUpOpen, most
	}
	if told := toldOf(theirs); scope.Notices && len(told) > 0 {
		// It is done last, as nothing reads it. It locks a row until the statement is over.
		query = lookUpMoment + `raised AS (` + raiseNoticeClocks + `), ` + strings.TrimPrefix(query, lookUpMoment)
		args["accounts"] = told
	}
	rivers := &foundRivers{byID: map[int64]*target{}}
	others := 0
	b := &pgx.Batch{}
	b.Queue(query, args).Query(func(rows pgx.Rows) error {
		all, open, err := rivers.collect(rows, &f)
		if others = all; scope.Open {
			others -= open
		}
		return err
	})
	if f.stamps = map[int64]int64{}; scope.Actor == 0 { // who acts has made the folds old
		f.stamps = queueStamps(b, postsOf(touched))
	}
	if err := s.db.SendBatch(ctx, b).Close(); err != nil {
		return f, fmt.Errorf("look up rivers: %w", err)
	}
	if f.asof.epoch == 0 {
		// The clock was lost: nothing can be written without an epoch.
		if _, err := s.now(ctx); err != nil {
			return f, err
		}
		return s.lookUp(ctx, touched, scope)
	}
	f.targets = rivers.targets
	bounded, cut := scope.Actor != 0 || scope.Open, f.pairs == pairs
	if f.many = cut || bounded && others == most; f.many {
		f.targets = slices.DeleteFunc(f.targets, func(t *target) bool {
			return scope.Open && !t.open || !scope.Open && t.name.UserID != scope.Actor
		})
	}
	return f, nil
}

// foundRivers gathers the rows of look-ups. A river and a post may come several times.
type foundRivers struct {
	targets []*target
	byID    map[int64]*target
}

// collect adds the rows of a look-up, and returns how many rivers it found by timelines, and open ones among them. It sets
// what the look-up says besides.
func (f *foundRivers) collect(rows pgx.Rows, looked *found) (n, opened int, err error) {
	var post, id, user, their, stands, needed zeronull.Int8 // zero where nothing was found
	var kind, term, order zeronull.Text
	var open, byTimeline bool
	dest := []any{
		&looked.asof.time, &looked.asof.epoch, &looked.searched, &looked.pairs,
		&post, &id, &user, &kind, &their, &term, &order, &stands, &needed, &open, &byTimeline,
	}
	_, err = pgx.ForEachRow(rows, dest, func() error {
		if id == 0 {
			return nil
		}
		if byTimeline {
			if n++; open {
				opened++
			}
		}
		t := f.byID[int64(id)]
		if t == nil {
			name := Name{UserID: int64(user), Kind: Kind(kind), TheirID: int64(their), Term: string(term), Order: Order(order)}
			t = &target{generation{int64(id), name, map[int64]struct{}{}}, map[int64]int64{}, int64(needed), open}
			f.byID[t.id] = t
			f.targets = append(f.targets, t)
		}
		t.posts[int64(post)] = int64(stands)
		return nil
	})
	return n, opened, err
}

// neededFrom is the place from which a river r needs each entry: its floor, if it is live and
// nobody has read below that. An extension marks the river before it reads its snapshot. So
// a look-up that found no mark began before that snapshot, which sees the posts looked up.
const neededFrom = `CASE WHEN r.state = 'live' AND NOT r.extended THEN r.floor ELSE -9223372036854775808 END`

// isOpen says whether a river r is open in a browser or being built.
const isOpen = `r.state = 'building' OR EXISTS (SELECT FROM leases l WHERE l.river_id = r.id AND l.until > clock_timestamp())`

// pairs are (post, timeline) or (post, account), side by side.
type pairs struct{ posts, others []int64 }

func (p *pairs) add(post, other int64) {
	p.posts = append(p.posts, post)
	p.others = append(p.others, other)
}

// concerned says how to find the rivers that a change concerns: by the touched timelines,
// and by the owners of touched timelines of likes and saved posts. All rivers of such an
// owner show whether the owner likes the post or has saved it.
func concerned(touched []timelines.Touched, found map[int64]timelines.Timeline) (byTimeline, byViewer pairs) {
	for _, t := range touched {
		for _, id := range t.Timelines {
			byTimeline.add(t.PostID, id)
			if tl, ok := found[id]; ok && (tl.Kind == kinds.Likes || tl.Kind == kinds.Faves) {
				byViewer.add(t.PostID, tl.TheirID)
			}
		}
	}
	return byTimeline, byViewer
}

// A change with up to fewPosts posts has its node remember their timelines, as somebody is
// likely to look at these posts. Nobody may ever ask for most posts of a source's batch.
const fewPosts = 10

// touchedTimelines returns the timelines that are touched.
func (s *Store) touchedTimelines(ctx context.Context, touched []timelines.Touched) (map[int64]timelines.Timeline, error) {
	var ids []int64
	for _, t := range touched {
		ids = append(ids, t.Timelines...)
	}
	if len(touched) > fewPosts {
		return s.access.Timelines(ctx, ids)
	}
	gates, err := s.access.Levels(ctx, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]timelines.Timeline, len(ids))
	for t := range gates.Timelines() {
		found[t.ID] = t
	}
	return found, nil
}

// intersect fills in which of the posts' timelines each river is made of. A generation's timelines never
// change, so they may be read after the snapshot. It is a statement of its own: as a part of the look-up it
// was asked for each of a river's rows, and took ten times as long.
func (s *Store) intersect(ctx context.Context, targets []*target, states map[int64]*snapshot.PostState) error {
	if len(targets) == 0 {
		return nil
	}
	ids := make([]int64, len(targets))
	byRiver := make(map[int64]*target, len(targets))
	for i, t := range targets {
		ids[i] = t.id
		byRiver[t.id] = t
	}
	theirs := map[int64]struct{}{}
	for _, st := range states {
		for _, h := range st.Memberships {
			theirs[h.TimelineID] = struct{}{}
		}
	}
	if len(theirs) == 0 {
		return nil
	}
	const query = `
		SELECT river_id, timeline_id FROM rivers_timelines
		WHERE timeline_id = ANY(@timelines) AND river_id = ANY(@rivers)`
	args := pgx.StrictNamedArgs{"rivers": ids, "timelines": slices.Collect(maps.Keys(theirs))}
	var river, timeline int64
	return s.forEach(ctx, "read rivers' timelines", query, args, []any{&river, &timeline}, func() {
		byRiver[river].listed[timeline] = struct{}{}
	})
}
