package strategies

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Checker is a strategy whose stored feeds can be compared with what they should be.
type Checker interface {
	// Check compares every live feed, down to its floor, with what the primary store says now.
	// At rest, with the queues empty, there is no difference. While changes are under way a feed
	// may be behind for a moment. It holds one feed in memory at a time.
	Check(ctx context.Context) (Report, error)
}

// Report is the result of a check.
type Report struct {
	Feeds, Entries int64 // that were compared
	Differences    []Difference
}

// Difference is one disagreement between a stored feed and the primary store.
type Difference struct {
	Strategy string
	Viewer   int64
	PostID   int64
	What     string
}

func (d Difference) String() string {
	return fmt.Sprintf("home feed (%s) of %d post %d: %s", d.Strategy, d.Viewer, d.PostID, d.What)
}

// checkedFeeds is how many feeds Check lists at a time.
const checkedFeeds = 500

// liveFeed is a feed to check.
type liveFeed struct {
	ID, ViewerID, FloorPlace, FloorPost int64
}

// Check implements Checker.
func (s *stored) Check(ctx context.Context) (Report, error) {
	const query = `
		SELECT id, viewer_id, floor_place, floor_post FROM home_feeds
		WHERE strategy = @strategy AND state = 'live' AND setting = @setting AND epoch = (SELECT epoch FROM clock) AND id > @after
		ORDER BY id LIMIT @most`
	var report Report
	for after := int64(0); ; {
		rows, err := s.Secondary.Query(ctx, query, pgx.StrictNamedArgs{
			"strategy": s.strategy, "setting": s.setting, "after": after, "most": checkedFeeds,
		})
		if err != nil {
			return report, fmt.Errorf("check: %w", err)
		}
		feeds, err := pgx.CollectRows(rows, pgx.RowToStructByName[liveFeed])
		if err != nil {
			return report, fmt.Errorf("check: %w", err)
		}
		for _, f := range feeds {
			if err := s.checkFeed(ctx, f, &report); err != nil {
				return report, err
			}
			after = f.ID
		}
		if len(feeds) < checkedFeeds {
			return report, nil
		}
	}
}

func (s *stored) checkFeed(ctx context.Context, f liveFeed, report *Report) error {
	have, err := s.storedPosts(ctx, f)
	if err != nil {
		return err
	}
	want, err := s.presentPosts(ctx, f)
	if err != nil {
		return err
	}
	report.Feeds++
	report.Entries += int64(len(have))
	differ := func(post int64, format string, args ...any) {
		report.Differences = append(report.Differences, Difference{s.strategy, f.ViewerID, post, fmt.Sprintf(format, args...)})
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		switch at, ok := have[id]; {
		case !ok:
			differ(id, "missing, should stand at %d", want[id])
		case at != want[id]:
			differ(id, "stands at %d, should stand at %d", at, want[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[id]; !ok {
			differ(id, "stands at %d, should not be here", have[id])
		}
	}
	return nil
}

// storedPosts returns the places of the posts that readers of a feed find, by post.
func (s *stored) storedPosts(ctx context.Context, f liveFeed) (map[int64]int64, error) {
	const query = `
		SELECT p.post_id, p.place FROM home_feed_buckets b CROSS JOIN unnest(b.posts, b.places) p(post_id, place)
		WHERE b.feed_id = @feed AND (p.place, p.post_id) >= (@place::bigint, @post::bigint)`
	rows, err := s.Secondary.Query(ctx, query, pgx.StrictNamedArgs{"feed": f.ID, "place": f.FloorPlace, "post": f.FloorPost})
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	found := map[int64]int64{}
	var post, place int64
	_, err = pgx.ForEachRow(rows, []any{&post, &place}, func() error { found[post] = place; return nil })
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	return found, nil
}

// presentPosts returns the places of the posts that belong into a feed, by post.
func (s *stored) presentPosts(ctx context.Context, f liveFeed) (map[int64]int64, error) {
	floor := Entry{PostID: f.FloorPost, Place: f.FloorPlace}
	found := map[int64]int64{}
	for at := int64(math.MaxInt64); at > f.FloorPlace; {
		entries, scanned, err := s.chunk(ctx, f.ViewerID, f.ID, at, s.chunkSize)
		if err != nil {
			return nil, fmt.Errorf("check: %w", err)
		}
		for _, e := range entries {
			if !above(floor, e.Entry) {
				found[e.PostID] = e.Place
			}
		}
		if scanned.Finished {
			break
		}
		at = scanned.Floor
	}
	return found, nil
}

// Check implements Checker.
func (c *Cache) Check(ctx context.Context) (Report, error) { return c.stored.Check(ctx) }
