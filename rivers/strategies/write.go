package strategies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// stamped is the state of one post in one feed, as of a version of the post.
type stamped struct {
	Entry
	feed    int64
	version int64
	removed bool   // the feed does not hold it
	text    string // if feeds embed texts
	// again: it applies at the stored version too, because the feed's sources changed, and not
	// the post.
	again bool
	// knows, if set, is that of the feed when it was looked up, see errMoved.
	knows string
}

// errMoved: a feed follows another change of its sources than when it was looked up. The entry
// may be of before that change, and the blocks of the change may have passed it, so that nobody
// would remove it.
var errMoved = errors.New("feed has other sources now")

// move is a write that applies: where the post stood and where it stands, each if it did.
type move struct {
	stamped
	stood bool
	from  Entry
}

// stays reports whether the feed holds the post where it stood, so that no bucket changes.
func (m move) stays() bool {
	return m.stood && !m.removed && m.from == m.Entry || !m.stood && m.removed
}

// changed are rows to be written.
type changed struct {
	moves   []move
	buckets []*bucket // one without entries is removed
}

// write brings entries into feeds, in one transaction of five statements, however many they
// are. A write applies only if its version is greater than the stored one (or as great, see again), the feed is not
// retired, its setting is ours, its epoch is the store's, and the deadline has not passed. It reports whether it
// was in time. Errors: errMoved.
//
// The row of each feed is locked first, in the order of ids. So two writers of a feed take
// turns, and no bucket grows past its size between reading and writing it.
func (s *stored) write(ctx context.Context, entries []stamped, deadline time.Time) (inTime bool, err error) {
	if len(entries) == 0 {
		return true, nil
	}
	err = pgx.BeginFunc(ctx, s.Secondary, func(tx pgx.Tx) error {
		feeds, stored, late, err := s.lockTx(ctx, tx, entries, deadline)
		if inTime = !late; err != nil || late {
			return err
		}
		var c changed
		var touched []stamped
		for _, e := range entries {
			was, ok := stored[rowOf(e)]
			if _, locked := feeds[e.feed]; !locked || ok && (was.version > e.version || was.version == e.version && !e.again) {
				continue
			}
			m := move{stamped: e, stood: ok && !was.removed, from: was.Entry}
			stays := m.stays() && s.Texts == nil
			if stays && ok && was.version == e.version {
				continue
			}
			stored[rowOf(e)] = e
			if c.moves = append(c.moves, m); stays {
				continue
			}
			if m.stood {
				touched = append(touched, was)
			}
			if !m.removed {
				touched = append(touched, e)
			}
		}
		if len(c.moves) == 0 {
			return nil
		}
		var buckets map[int64][]*bucket
		if len(touched) > 0 {
			if buckets, err = s.bucketsTx(ctx, tx, touched); err != nil {
				return err
			}
		}
		c.buckets = s.trim(s.arrange(buckets, c.moves), feeds)
		return s.saveTx(ctx, tx, c)
	})
	if err != nil {
		return false, fmt.Errorf("write feeds: %w", err)
	}
	return inTime, nil
}

// row is the key of a post in a feed.
type row struct{ feed, post int64 }

func rowOf(e stamped) row { return row{e.feed, e.PostID} }

// lockTx locks the feeds of these entries that may be written, and reads what is stored of
// their posts. feeds says of each whether it is live. Errors: errMoved.
func (s *stored) lockTx(ctx context.Context, tx pgx.Tx, entries []stamped, deadline time.Time) (feeds map[int64]bool, stored map[row]stamped, late bool, err error) {
	const lock = `
		SELECT id, state = 'live', knows::text FROM home_feeds
		WHERE id = ANY(@feeds) AND state <> 'retired' AND setting = @setting AND epoch = (SELECT epoch FROM clock)
		ORDER BY id FOR UPDATE`
	const read = `
		SELECT p.feed_id, p.post_id, p.version, p.place, p.removed_at IS NOT NULL
		FROM unnest(@feeds::bigint[], @posts::bigint[]) n(feed_id, post_id)
		CROSS JOIN LATERAL (SELECT * FROM home_feed_posts WHERE feed_id = n.feed_id AND post_id = n.post_id OFFSET 0) p`
	ids, posts := make([]int64, len(entries)), make([]int64, len(entries))
	for i, e := range entries {
		ids[i], posts[i] = e.feed, e.PostID
	}
	feeds, stored = map[int64]bool{}, map[row]stamped{}
	know := map[int64]string{}
	b := &pgx.Batch{}
	args := pgx.StrictNamedArgs{"feeds": slices.Compact(slices.Sorted(slices.Values(ids))), "setting": s.setting}
	b.Queue(lock, args).Query(func(rows pgx.Rows) error {
		var id int64
		var live bool
		var knows string
		_, err := pgx.ForEachRow(rows, []any{&id, &live, &knows}, func() error { feeds[id], know[id] = live, knows; return nil })
		return err
	})
	b.Queue(`SELECT clock_timestamp() > @deadline`, pgx.StrictNamedArgs{"deadline": deadline}).
		QueryRow(func(r pgx.Row) error { return r.Scan(&late) })
	b.Queue(read, pgx.StrictNamedArgs{"feeds": ids, "posts": posts}).Query(func(rows pgx.Rows) error {
		var e stamped
		_, err := pgx.ForEachRow(rows, []any{&e.feed, &e.PostID, &e.version, &e.Place, &e.removed}, func() error {
			stored[rowOf(e)] = e
			return nil
		})
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, nil, false, err
	}
	for _, e := range entries {
		if _, locked := feeds[e.feed]; locked && e.knows != "" && e.knows != know[e.feed] {
			return nil, nil, false, errMoved
		}
	}
	return feeds, stored, late, nil
}

// bucketsTx returns the buckets in whose ranges the entries stand, by feed, as far as there
// are any. The feeds must be locked.
func (s *stored) bucketsTx(ctx context.Context, tx pgx.Tx, entries []stamped) (map[int64][]*bucket, error) {
	const query = `
		SELECT b.feed_id, b.low_place, b.low_post, b.posts, b.places, b.texts
		FROM (
			SELECT DISTINCT l.* FROM unnest(@feeds::bigint[], @places::bigint[], @posts::bigint[]) n(feed_id, place, post_id)
			CROSS JOIN LATERAL (
				SELECT feed_id, low_place, low_post FROM home_feed_buckets
				WHERE feed_id = n.feed_id AND (low_place, low_post) <= (n.place, n.post_id)
				ORDER BY low_place DESC, low_post DESC LIMIT 1) l
		) l
		CROSS JOIN LATERAL (
			SELECT * FROM home_feed_buckets
			WHERE feed_id = l.feed_id AND low_place = l.low_place AND low_post = l.low_post OFFSET 0) b
		ORDER BY 1, 2, 3`
	feeds, places, posts := columns(entries)
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"feeds": feeds, "places": places, "posts": posts})
	if err != nil {
		return nil, fmt.Errorf("read buckets: %w", err)
	}
	found := map[int64][]*bucket{}
	var feed int64
	var low Entry
	var held, at []int64
	var texts []string
	_, err = pgx.ForEachRow(rows, []any{&feed, &low.Place, &low.PostID, &held, &at, &texts}, func() error {
		found[feed] = append(found[feed], newBucket(feed, low, held, at, texts))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read buckets: %w", err)
	}
	return found, nil
}

func columns(entries []stamped) (feeds, places, posts []int64) {
	for _, e := range entries {
		feeds, places, posts = append(feeds, e.feed), append(places, e.Place), append(posts, e.PostID)
	}
	return feeds, places, posts
}

// saveTx writes rows of feeds that are locked.
func (s *stored) saveTx(ctx context.Context, tx pgx.Tx, c changed) error {
	const savePosts = `
		INSERT INTO home_feed_posts (feed_id, post_id, version, place, removed_at)
		SELECT feed_id, post_id, version, place, CASE WHEN removed THEN clock_timestamp() END
		FROM unnest(@feeds::bigint[], @posts::bigint[], @versions::bigint[], @places::bigint[], @removed::boolean[])
			AS n(feed_id, post_id, version, place, removed)
		ORDER BY feed_id, post_id
		ON CONFLICT (feed_id, post_id) DO UPDATE SET version = excluded.version, place = excluded.place, removed_at = excluded.removed_at
		WHERE excluded.version >= home_feed_posts.version`
	// The rows keep their versions.
	const dropPosts = `
		UPDATE home_feed_posts p SET removed_at = clock_timestamp()
		FROM unnest(@feeds::bigint[], @places::bigint[], @posts::bigint[]) n(feed_id, place, post_id)
		WHERE p.feed_id = n.feed_id AND p.post_id = n.post_id AND p.removed_at IS NULL`
	const removeBuckets = `
		DELETE FROM home_feed_buckets b USING unnest(@feeds::bigint[], @places::bigint[], @posts::bigint[]) n(feed_id, place, post_id)
		WHERE b.feed_id = n.feed_id AND b.low_place = n.place AND b.low_post = n.post_id`
	const saveBuckets = `
		INSERT INTO home_feed_buckets (feed_id, low_place, low_post, most, posts, places, texts)
		SELECT feed_id, low_place, low_post, @most,
			array_agg(post_id ORDER BY place DESC, post_id DESC), array_agg(place ORDER BY place DESC, post_id DESC),
			array_agg(text ORDER BY place DESC, post_id DESC) FILTER (WHERE text IS NOT NULL)
		FROM unnest(@feeds::bigint[], @low_places::bigint[], @low_posts::bigint[], @places::bigint[], @posts::bigint[], @texts::text[])
			AS n(feed_id, low_place, low_post, place, post_id, text)
		GROUP BY feed_id, low_place, low_post
		ON CONFLICT (feed_id, low_place, low_post) DO UPDATE SET posts = excluded.posts, places = excluded.places,
			texts = excluded.texts, most = excluded.most`
	const raiseFloors = `
		UPDATE home_feeds f SET floor_place = n.place, floor_post = n.post_id
		FROM unnest(@feeds::bigint[], @places::bigint[], @posts::bigint[]) n(feed_id, place, post_id)
		WHERE f.id = n.feed_id AND (f.floor_place, f.floor_post) < (n.place, n.post_id)`
	var empty, floors, dropped, held []stamped
	var lowPlaces, lowPosts []int64
	var texts []string
	for _, b := range c.buckets {
		if len(b.entries) == 0 {
			empty = append(empty, stamped{feed: b.feed, Entry: b.low})
		}
		for _, e := range b.entries {
			held = append(held, stamped{feed: b.feed, Entry: e})
			lowPlaces, lowPosts = append(lowPlaces, b.low.Place), append(lowPosts, b.low.PostID)
			if s.Texts != nil {
				texts = append(texts, b.texts[e.PostID])
			}
		}
		for _, e := range b.dropped {
			dropped = append(dropped, stamped{feed: b.feed, Entry: e})
		}
		if len(b.dropped) > 0 {
			floors = append(floors, stamped{feed: b.feed, Entry: b.entries[len(b.entries)-1]})
		}
	}
	batch := &pgx.Batch{}
	queue := func(query string, entries []stamped, more pgx.StrictNamedArgs) {
		if len(entries) == 0 {
			return
		}
		args := pgx.StrictNamedArgs{}
		args["feeds"], args["places"], args["posts"] = columns(entries)
		maps.Copy(args, more)
		batch.Queue(query, args)
	}
	moved, versions, removed := make([]stamped, len(c.moves)), make([]int64, len(c.moves)), make([]bool, len(c.moves))
	for i, m := range c.moves {
		moved[i], versions[i], removed[i] = m.stamped, m.version, m.removed
	}
	queue(savePosts, moved, pgx.StrictNamedArgs{"versions": versions, "removed": removed})
	queue(dropPosts, dropped, nil)
	queue(removeBuckets, empty, nil)
	queue(saveBuckets, held, pgx.StrictNamedArgs{"low_places": lowPlaces, "low_posts": lowPosts, "texts": texts, "most": s.most()})
	queue(raiseFloors, floors, nil)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("save feeds: %w", err)
	}
	return nil
}
