package strategies

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// feedsOf are the feeds of some viewers that a writer has to write: one that is live, one that
// is being built, or both.
type feedsOf struct {
	of       map[int64][]int64
	deadline time.Time
}

// lookUp returns the feeds of these viewers. Those of another setting, which another server
// made, are not written but retired: buckets are made by one setting, and nobody must read a
// feed that missed a change. So while servers differ, each change costs its readers a fill.
func (s *stored) lookUp(ctx context.Context, viewers []int64) (f feedsOf, err error) {
	const query = `
		SELECT f.id, f.viewer_id, f.setting = @setting
		FROM unnest(@viewers::bigint[]) v(id)
		CROSS JOIN LATERAL (
			SELECT id, viewer_id, epoch, setting FROM home_feeds
			WHERE viewer_id = v.id AND strategy = @strategy AND state <> 'retired' OFFSET 0) f
		JOIN clock c ON c.epoch = f.epoch`
	if f.deadline, err = s.deadline(ctx); err != nil {
		return f, err
	}
	rows, err := s.Secondary.Query(ctx, query, pgx.StrictNamedArgs{
		"viewers": viewers, "strategy": s.strategy, "setting": s.setting,
	})
	if err != nil {
		return f, fmt.Errorf("look up feeds: %w", err)
	}
	f.of = map[int64][]int64{}
	var id, viewer int64
	var ours bool
	var others []int64
	_, err = pgx.ForEachRow(rows, []any{&id, &viewer, &ours}, func() error {
		if ours {
			f.of[viewer] = append(f.of[viewer], id)
		} else {
			others = append(others, id)
		}
		return nil
	})
	if err != nil {
		return f, fmt.Errorf("look up feeds: %w", err)
	}
	if len(others) == 0 {
		return f, nil
	}
	return f, s.retireThose(ctx, `SELECT unnest(@feeds::bigint[])`, pgx.StrictNamedArgs{"feeds": others})
}

// viewersOf returns, for each post, the viewers whose homes have one of its touched timelines,
// whether or not they may open it. A viewer who follows somebody from now on fills a feed that
// knows the post.
func (s *stored) viewersOf(ctx context.Context, touched []timelines.Touched) (pairs snapshot.ViewerPairs, err error) {
	const query = `
		WITH touched AS MATERIALIZED (
			SELECT DISTINCT n.post_id, t.kind, t.their_id
			FROM unnest(@posts::bigint[], @timelines::bigint[]) n(post_id, id)
			CROSS JOIN LATERAL (SELECT kind, their_id FROM timelines WHERE id = n.id OFFSET 0) t
			WHERE t.kind = ANY(@own) OR t.kind = ANY(@followers)
		)
		SELECT post_id, their_id FROM touched
		UNION
		SELECT t.post_id, s.subscriber_id
		FROM (SELECT DISTINCT post_id, their_id FROM touched WHERE kind = ANY(@followers)) t
		CROSS JOIN LATERAL (SELECT subscriber_id FROM subscriptions WHERE account_id = t.their_id AND in_home OFFSET 0) s`
	var posts, ids []int64
	for _, t := range touched {
		for _, id := range t.Timelines {
			posts, ids = append(posts, t.PostID), append(ids, id)
		}
	}
	if len(ids) == 0 {
		return pairs, nil
	}
	rows, err := s.Primary.Pool().Query(ctx, query, homeArgs(pgx.StrictNamedArgs{"posts": posts, "timelines": ids}))
	if err != nil {
		return pairs, fmt.Errorf("read viewers of posts: %w", err)
	}
	var post, viewer int64
	_, err = pgx.ForEachRow(rows, []any{&post, &viewer}, func() error { pairs.Add(post, viewer); return nil })
	if err != nil {
		return pairs, fmt.Errorf("read viewers of posts: %w", err)
	}
	return pairs, nil
}

// push brings the present state of posts into the feeds of the viewers concerned. It is not
// told what happened. A feed with none of the touched timelines has its entry already.
func (s *stored) push(ctx context.Context, touched []timelines.Touched) error {
	pairs, err := s.viewersOf(ctx, touched)
	if err != nil {
		return err
	}
	return s.pushPairs(ctx, pairs)
}

// pushPairs brings the present state of each post into the feeds of its viewer.
func (s *stored) pushPairs(ctx context.Context, pairs snapshot.ViewerPairs) error {
	if len(pairs.Posts) == 0 {
		return nil
	}
	for {
		inTime, err := s.pushOnce(ctx, pairs)
		if err != nil || inTime {
			return err
		}
	}
}

// pushOnce reports whether it was in time.
func (s *stored) pushOnce(ctx context.Context, all snapshot.ViewerPairs) (inTime bool, err error) {
	feeds, err := s.lookUp(ctx, slices.Compact(slices.Sorted(slices.Values(all.Viewers))))
	if err != nil {
		return false, err
	}
	pause(ctx, afterLookup)
	var pairs snapshot.ViewerPairs
	for i, viewer := range all.Viewers {
		if len(feeds.of[viewer]) == 0 {
			continue
		}
		if pairs.Add(all.Posts[i], viewer); len(pairs.Posts) < s.batch {
			continue
		}
		if inTime, err := s.pushBatch(ctx, pairs, feeds); err != nil || !inTime {
			return false, err
		}
		pairs = snapshot.ViewerPairs{}
	}
	return s.pushBatch(ctx, pairs, feeds)
}

func (s *stored) pushBatch(ctx context.Context, pairs snapshot.ViewerPairs, feeds feedsOf) (inTime bool, err error) {
	if len(pairs.Posts) == 0 {
		return true, nil
	}
	var entries []stamped
	err = s.Primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) error {
		states, homes, err := readStates(ctx, sn, pairs)
		if err != nil {
			return err
		}
		for i, viewer := range pairs.Viewers {
			st := states[pairs.Posts[i]]
			if st == nil {
				continue
			}
			for _, feed := range feeds.of[viewer] {
				entries = append(entries, entryOf(feed, viewer, st, homes[viewer]))
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	pause(ctx, afterSnapshot)
	return s.write(ctx, entries, feeds.deadline)
}

// homes are timelines of viewers' homes, by viewer.
type homes map[int64]map[int64]struct{}

// readStates returns the states of posts, and for each viewer those of the posts' timelines
// that are in the viewer's home.
func readStates(ctx context.Context, sn *snapshot.Snapshot, pairs snapshot.ViewerPairs) (map[int64]*snapshot.PostState, homes, error) {
	posts := slices.Compact(slices.Sorted(slices.Values(pairs.Posts)))
	viewers := slices.Compact(slices.Sorted(slices.Values(pairs.Viewers)))
	states, err := sn.States(ctx, posts, pairs)
	if err != nil {
		return nil, nil, err
	}
	theirs, overflows := map[int64]struct{}{}, false
	for _, st := range states {
		overflows = overflows || st.Overflows
		for _, m := range st.Memberships {
			theirs[m.TimelineID] = struct{}{}
		}
	}
	if !overflows {
		among, err := homesAmong(ctx, sn, viewers, slices.Collect(maps.Keys(theirs)))
		return states, among, err
	}
	// A post stands in thousands of timelines. The homes are read whole, and then only those of
	// its memberships that are in one of them.
	whole, err := wholeHomes(ctx, sn, viewers)
	if err != nil {
		return nil, nil, err
	}
	for _, home := range whole {
		maps.Copy(theirs, home)
	}
	return states, whole, sn.MembershipsAmong(ctx, states, slices.Collect(maps.Keys(theirs)))
}

func homesAmong(ctx context.Context, sn *snapshot.Snapshot, viewers, timelines []int64) (homes, error) {
	query := `
		SELECT v.id, t.id
		FROM unnest(@timelines::bigint[]) n(id)
		CROSS JOIN LATERAL (SELECT id, kind, their_id, gate_id FROM timelines WHERE id = n.id OFFSET 0) t
		CROSS JOIN unnest(@viewers::bigint[]) v(id)
		WHERE ` + inHome
	return readHomes(ctx, sn, query, pgx.StrictNamedArgs{"viewers": viewers, "timelines": timelines})
}

func wholeHomes(ctx context.Context, sn *snapshot.Snapshot, viewers []int64) (homes, error) {
	query := `
		SELECT v.id, t.id
		FROM unnest(@viewers::bigint[]) v(id)
		CROSS JOIN LATERAL (
			SELECT account_id FROM subscriptions WHERE subscriber_id = v.id AND in_home
			UNION ALL SELECT v.id) f
		CROSS JOIN unnest(@own::text[] || @followers::text[]) k(kind)
		CROSS JOIN LATERAL (
			SELECT id, kind, their_id, gate_id FROM timelines WHERE their_id = f.account_id AND kind = k.kind OFFSET 0) t
		WHERE (f.account_id = v.id OR t.kind = ANY(@followers)) AND ` + openGate
	return readHomes(ctx, sn, query, pgx.StrictNamedArgs{"viewers": viewers})
}

func readHomes(ctx context.Context, sn *snapshot.Snapshot, query string, args pgx.StrictNamedArgs) (homes, error) {
	rows, err := sn.Tx().Query(ctx, query, homeArgs(args))
	if err != nil {
		return nil, fmt.Errorf("read homes: %w", err)
	}
	found := homes{}
	var viewer, timeline int64
	_, err = pgx.ForEachRow(rows, []any{&viewer, &timeline}, func() error {
		if found[viewer] == nil {
			found[viewer] = map[int64]struct{}{}
		}
		found[viewer][timeline] = struct{}{}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read homes: %w", err)
	}
	return found, nil
}

// entryOf is the entry of a post in a feed, by the rules of a river's entry: the place is
// max(post.fresh_at, min(entered_at) over the home's timelines that hold or once held it), and
// the feed holds it while one of them does and the viewer may read it.
func entryOf(feed, viewer int64, st *snapshot.PostState, home map[int64]struct{}) stamped {
	first, holds := int64(0), false
	for _, m := range st.Memberships {
		if _, ok := home[m.TimelineID]; !ok {
			continue
		}
		if first == 0 || m.EnteredAt < first {
			first = m.EnteredAt
		}
		holds = holds || !m.Removed
	}
	_, reads := st.Readers[viewer]
	return stamped{
		feed: feed, Entry: Entry{PostID: st.ID, Place: max(st.FreshAt, first)}, version: st.Version,
		removed: st.Deleted || !holds || !reads,
	}
}
