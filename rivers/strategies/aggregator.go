package strategies

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// Aggregator is the aggregator feed of source 000: a feed with the posts of the feeds that it
// subscribes to, kept to a depth L. An event adds a post "only to those aggregators that do not
// yet hold it"; changes of feeds are done "in the background, in small blocks, newest first,
// resumable: [operation, source, target, max_ord_processed]"; posts that come by such a change
// "inherit the order of the feed they come from".
//
// Ours does the same. The rows of an aggregator are kept in buckets, as those of [Sized], and so
// are read and written as they are. A follow or an unfollow is an operation of a feed
// (home_feed_operations), and Apply works the operations of the feeds concerned, a block in each
// transaction. A process that ends in the middle leaves the rest to the next Apply for that feed,
// or to Expire. It differs in these points:
//
//   - The operations come of comparing the feed's sources with those of the present. So nothing
//     depends on the order in which events arrive: 000 leaves open how somebody is followed, left
//     and followed again without a wrong end.
//   - A change of rights drops the feed, and its next reader fills one, because it may open posts of
//     any source.
//   - A post's place is computed from the primary store, not from when it came into the feed. 000
//     has the problem that a post which fell off the end "can enter for the first time again and be
//     bumped", and the remedy never to lift posts older than some age. Here a post that fell off
//     comes back to its old place, below the end. Whether an event lifts a post that was never
//     in the feed is decided once, by its age, when the event is stored
//     (timelines.Options.LocalBumpMaxAge).
//   - Below the end pages go on by [Read]. 000 says that a search is then needed.
//   - An event about a post that the feed holds at the same place writes only the post's version.
type Aggregator struct {
	*stored
	// atWork has room for the operations that this node works at once. Each holds a connection
	// while its block takes another.
	atWork chan struct{}
}

// AggregatorDepth is how many posts an aggregator keeps if nothing else is said, and up to twice as
// many as it grows.
const AggregatorDepth = 1000

// operationsAtOnce is how many operations a node works at once.
const operationsAtOnce = 2

// NewAggregator returns the strategy with feeds of that many posts; 0 means AggregatorDepth. read
// serves what is below them.
func NewAggregator(s Stores, read *Read, depth int) *Aggregator {
	if depth <= 0 {
		depth = AggregatorDepth
	}
	a := &Aggregator{newStored(s, "aggregator", int64(depth), &sizes{BucketSize}, read), make(chan struct{}, operationsAtOnce)}
	a.depth = depth
	return a
}

// Apply implements Strategy.
func (a *Aggregator) Apply(ctx context.Context, events ...timelines.Event) error {
	c := sorted(events)
	if err := a.dropped(ctx, c); err != nil {
		return err
	}
	if err := a.follow(ctx, c.viewers); err != nil {
		return err
	}
	return a.push(ctx, c.touched)
}

// ApplyStep implements Stepper.
func (a *Aggregator) ApplyStep(ctx context.Context, from Progress, event timelines.Event) (next Progress, more bool, err error) {
	return a.step(ctx, from, event, a.follow)
}

// ApplyOwn implements Strategy.
func (a *Aggregator) ApplyOwn(ctx context.Context, actor int64, events ...timelines.Event) error {
	c := sorted(events)
	if err := a.follow(ctx, slices.DeleteFunc(c.viewers, func(v ofViewer) bool { return v.viewer != actor })); err != nil {
		return err
	}
	return a.pushOwn(ctx, actor, c.touched)
}

// follow brings feeds to what their viewers follow and may read now.
func (a *Aggregator) follow(ctx context.Context, changed []ofViewer) error {
	var anew []int64
	for i := range changed {
		c := &changed[i]
		if c.rights {
			anew = append(anew, c.viewer)
			continue
		}
		var err error
		if c.tx == 0 {
			if c.tx, err = a.Primary.TxNow(ctx); err != nil {
				return err
			}
		}
		feed, err := a.plan(ctx, *c)
		if err != nil {
			return err
		}
		for more := feed != 0; more; {
			if more, err = a.workOn(ctx, feed); err != nil {
				return err
			}
		}
	}
	// A feed that knows a change of rights may know it by a later plan, which read no posts for it.
	if err := a.retire(ctx, anew, 0); err != nil {
		return err
	}
	// A feed that knows the change now is left as it is. One that is being filled, and has read
	// before the change, is filled anew.
	return a.replaceAll(ctx, slices.DeleteFunc(changed, func(c ofViewer) bool { return c.rights }))
}

// plan stores the operations that bring a viewer's live feed to its present sources, and returns
// the feed, 0 if there is none. The row of the feed is locked before the sources are read, so that
// the last one to plan is the one who read last.
//
// A post's place depends on all sources that hold it. So a follow may also move a post of the feed
// below the feed's end, which the posts of the new source do not reach. An unfollow may raise one from
// there that the feed does not hold. Therefore both first decide the posts of the feed anew, and an
// unfollow then adds the posts of all sources that are left. Both take time by the depth of the feed.
func (a *Aggregator) plan(ctx context.Context, c ofViewer) (feed int64, err error) {
	const lock = `
		SELECT id, sources, ` + knowing + ` FROM home_feeds f
		WHERE viewer_id = @viewer AND strategy = @strategy AND state = 'live' AND setting = @setting AND epoch = (SELECT epoch FROM clock)
		FOR UPDATE`
	const add = `
		INSERT INTO home_feed_operations (feed_id, n, operation, sources)
		SELECT @feed, coalesce((SELECT max(n) FROM home_feed_operations WHERE feed_id = @feed), 0) + 1, @operation, @sources`
	const keep = `UPDATE home_feeds SET sources = @sources, knows = @knows::text::pg_snapshot WHERE id = @feed`
	err = pgx.BeginFunc(ctx, a.Secondary, func(tx pgx.Tx) error {
		args := a.name(c.viewer)
		args["setting"], args["change"] = a.setting, c.tx
		var was, now []int64
		var known bool
		err := tx.QueryRow(ctx, lock, args).Scan(&feed, &was, &known)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil || known {
			return err
		}
		var knows string
		err = a.Primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
			if knows, err = sn.Sees(ctx); err == nil {
				now, err = sn.Home(ctx, c.viewer, false)
			}
			return err
		})
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		left, added := without(was, now), without(now, was)
		if len(left) > 0 {
			added = now
		}
		if len(left)+len(added) > 0 {
			b.Queue(add, pgx.StrictNamedArgs{"feed": feed, "operation": "remove", "sources": append([]int64{}, left...)})
			b.Queue(add, pgx.StrictNamedArgs{"feed": feed, "operation": "add", "sources": append([]int64{}, added...)})
		}
		b.Queue(keep, pgx.StrictNamedArgs{"feed": feed, "sources": now, "knows": knows})
		return tx.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return 0, fmt.Errorf("plan changes of a feed: %w", err)
	}
	return feed, nil
}

// without returns those of some ids that are not among others.
func without(ids, others []int64) (left []int64) {
	except := make(map[int64]struct{}, len(others))
	for _, id := range others {
		except[id] = struct{}{}
	}
	for _, id := range ids {
		if _, ok := except[id]; !ok {
			left = append(left, id)
		}
	}
	return left
}

// operation is a row of home_feed_operations, with its feed.
type operation struct {
	N       int
	Kind    string
	Sources []int64
	Place   int64
	Post    int64
	Viewer  int64
	Floor   int64
}

// workOn works the next block of a feed, and reports whether there was one. The row of its
// operation is locked meanwhile, so that nobody writes what an earlier block has read after a later
// one. A block that is not committed as done is done again: stamps make that harmless.
func (a *Aggregator) workOn(ctx context.Context, feed int64) (worked bool, err error) {
	select {
	case a.atWork <- struct{}{}:
		defer func() { <-a.atWork }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	const next = `
		SELECT o.n, o.operation AS kind, o.sources, o.place, o.post, f.viewer_id AS viewer, f.floor_place AS floor
		FROM home_feed_operations o JOIN home_feeds f ON f.id = o.feed_id AND f.state = 'live'
		WHERE o.feed_id = @feed ORDER BY o.n LIMIT 1 FOR UPDATE OF o`
	const progress = `UPDATE home_feed_operations SET place = @place, post = @post WHERE feed_id = @feed AND n = @n`
	const done = `DELETE FROM home_feed_operations WHERE feed_id = @feed AND n = @n`
	err = pgx.BeginFunc(ctx, a.Secondary, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, next, pgx.StrictNamedArgs{"feed": feed})
		if err != nil {
			return err
		}
		o, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[operation])
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		worked = true
		block := a.addBlock
		if o.Kind == "remove" {
			block = a.removeBlock
		}
		at, finished, err := block(ctx, feed, o)
		if err != nil {
			return err
		}
		pause(ctx, afterBlock)
		if o.Kind == "add" && !finished {
			if finished, err = a.endTx(ctx, tx, feed, at); err != nil {
				return err
			}
		}
		if finished {
			_, err = tx.Exec(ctx, done, pgx.StrictNamedArgs{"feed": feed, "n": o.N})
			return err
		}
		_, err = tx.Exec(ctx, progress, pgx.StrictNamedArgs{"feed": feed, "n": o.N, "place": at.Place, "post": at.PostID})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("work a change of a feed: %w", err)
	}
	return worked, nil
}

// endTx makes a place the end of a feed, if the feed holds as many posts above it as it is to keep.
// Otherwise the first follow of somebody with a hundred thousand posts would add them all. Posts
// below the end stay until the feed is filled anew.
func (a *Aggregator) endTx(ctx context.Context, tx pgx.Tx, feed int64, at rivers.Cursor) (ends bool, err error) {
	const query = `
		UPDATE home_feeds SET floor_place = @place, floor_post = @post
		WHERE id = @feed AND (floor_place, floor_post) < (@place::bigint, @post::bigint) AND @depth <= (
			SELECT coalesce(sum(cardinality(posts)), 0) FROM home_feed_buckets WHERE feed_id = @feed AND low_place >= @place)`
	tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"feed": feed, "place": at.Place, "post": at.PostID, "depth": a.depth})
	if err != nil {
		return false, fmt.Errorf("end a feed: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// addBlock adds the next posts, down to the feed's end. It scans all sources: a post of a new one may
// stand at the place of another's row, and the new rows alone do not lead there.
func (a *Aggregator) addBlock(ctx context.Context, feed int64, o operation) (at rivers.Cursor, finished bool, err error) {
	deadline, err := a.deadline(ctx)
	if err != nil {
		return at, false, err
	}
	var entries []stamped
	err = a.Primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) error {
		home, err := sn.Home(ctx, o.Viewer, false)
		if err != nil {
			return err
		}
		if len(without(o.Sources, home)) == len(o.Sources) { // all of them are left since
			finished = true
			return nil
		}
		scanned, err := scanOn(ctx, sn, scanBelow(o.Viewer, home, rivers.Cursor{Place: o.Place, PostID: o.Post}, a.chunkSize))
		if err != nil {
			return err
		}
		versions, err := versionsOf(ctx, sn, scanned.Posts)
		if err != nil {
			return err
		}
		for _, p := range scanned.Posts {
			if p.Place >= o.Floor {
				entries = append(entries, stamped{feed: feed, Entry: Entry(p), version: versions[p.PostID], again: true})
			}
		}
		at, finished = rivers.Cursor{Place: scanned.Floor, PostID: math.MinInt64}, scanned.Finished || scanned.Floor < o.Floor
		return a.embed(ctx, sn, entries)
	})
	if err != nil {
		return at, false, err
	}
	pause(ctx, afterSnapshot)
	return at, finished, a.writeBlock(ctx, entries, deadline)
}

// removeBlock decides the next posts of the feed anew, since its sources changed. A post that
// another source holds stays, perhaps at another place.
func (a *Aggregator) removeBlock(ctx context.Context, feed int64, o operation) (at rivers.Cursor, finished bool, err error) {
	deadline, err := a.deadline(ctx)
	if err != nil {
		return at, false, err
	}
	buckets := max(1, a.chunkSize/a.most())
	f, err := a.readFeed(ctx, o.Viewer, rivers.Cursor{Place: o.Place, PostID: o.Post}, buckets)
	if err != nil || f == nil || f.id != feed {
		return at, true, err // a feed that is not live is not read any more
	}
	var pairs snapshot.ViewerPairs
	for _, b := range f.buckets {
		for _, e := range b.entries {
			pairs.Add(e.PostID, o.Viewer)
		}
	}
	entries, err := a.stampedOf(ctx, pairs, map[int64][]int64{o.Viewer: {feed}})
	if err != nil {
		return at, false, err
	}
	for i := range entries {
		entries[i].again = true
	}
	if finished = len(f.buckets) < buckets; !finished {
		at = f.buckets[len(f.buckets)-1].low.cursor()
	}
	pause(ctx, afterSnapshot)
	return at, finished, a.writeBlock(ctx, entries, deadline)
}

// Expire implements Expirer. It also goes on with operations whose process has ended, and drops feeds
// that grew past twice their depth, which are filled anew when they are next read.
func (a *Aggregator) Expire(ctx context.Context) error {
	const orphans = `DELETE FROM home_feed_operations o WHERE NOT EXISTS (SELECT FROM home_feeds f WHERE f.id = o.feed_id AND f.state = 'live')`
	if _, err := a.Secondary.Exec(ctx, orphans); err != nil {
		return fmt.Errorf("remove operations of feeds: %w", err)
	}
	for {
		var feed int64
		const left = `SELECT coalesce(min(o.feed_id), 0) FROM home_feed_operations o JOIN home_feeds f ON f.id = o.feed_id AND f.state = 'live'`
		if err := a.Secondary.QueryRow(ctx, left).Scan(&feed); err != nil {
			return fmt.Errorf("find operations of feeds: %w", err)
		}
		if feed == 0 {
			break
		}
		for more := true; more; {
			var err error
			if more, err = a.workOn(ctx, feed); err != nil {
				return err
			}
		}
	}
	const deep = `SELECT f.id FROM home_feeds f
		WHERE f.strategy = @strategy AND f.state = 'live'
			AND (SELECT count(*) FROM home_feed_buckets b WHERE b.feed_id = f.id) > @buckets`
	most := 2*a.depth/a.most() + 1 // buckets that grew on top are full
	if err := a.retireThose(ctx, deep, pgx.StrictNamedArgs{"strategy": a.strategy, "buckets": most}); err != nil {
		return err
	}
	return a.stored.Expire(ctx)
}
