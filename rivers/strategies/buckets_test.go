package strategies_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// A place belongs to the period that it falls in, also before 1970, and places of different
// periods never share one (001's original names periods by a modulo).
func TestPeriods(t *testing.T) {
	const day = int64(24 * time.Hour / time.Microsecond)
	for _, c := range []struct{ place, want int64 }{
		{0, 0}, {1, 0}, {day - 1, 0}, {day, day}, {8*day + 5, 8 * day}, {-1, -day}, {-day, -day}, {-day - 1, -2 * day},
	} {
		if got := strategies.PeriodOf(c.place, day); got != c.want {
			t.Errorf("period of %d: got %d, want %d", c.place, got, c.want)
		}
	}
}

// In timed buckets a silence costs nothing: there are no rows for it, and pages by anchor go
// on below it. A bump takes a post out of its old bucket into the one of its new place.
func TestTimedBuckets(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	var codes []string
	for i := range 12 {
		codes = append(codes, w.act(w.posting(bob, fmt.Sprint(i))).Code)
	}
	// Four posts now, four a week ago, four ten years before.
	for i, code := range codes {
		ago := time.Duration(i/4*i/4) * 400 * 24 * time.Hour
		for _, query := range []string{
			`UPDATE posts SET fresh_at = fresh_at - $2 WHERE code = $1`,
			`UPDATE timeline_entries e SET fresh_at = e.fresh_at - $2, entered_at = entered_at - $2
				FROM posts p WHERE p.id = e.post_id AND p.code = $1`,
		} {
			if _, err := w.db.Primary.Exec(w.ctx, query, code, ago.Microseconds()); err != nil {
				t.Fatal(err)
			}
		}
	}
	timed := strategies.NewTimed(w.stores(), 24*time.Hour)
	w.all = map[string]strategies.Strategy{"timed": timed}
	w.same("filled", ann)
	const buckets = `SELECT count(*) FROM home_feed_buckets b JOIN home_feeds f ON f.id = b.feed_id WHERE f.state = 'live'`
	before := w.count(buckets)
	if before < 3 || before > 12 {
		t.Fatalf("%d buckets, want no more than there are periods with posts", before)
	}
	w.does(w.commenting(bob, codes[11])) // the oldest
	w.same("after a bump", ann)
	const twice = `SELECT count(*) FROM (
		SELECT feed_id, post FROM home_feed_buckets b, unnest(b.posts) post GROUP BY 1, 2 HAVING count(*) > 1) twice`
	if n := w.count(twice); n != 0 {
		t.Errorf("%d posts stand in two buckets", n)
	}
	// Another period is another feed.
	w.all["timed"] = strategies.NewTimed(w.stores(), time.Hour)
	w.same("of another period", ann)
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live' AND setting = $1`, time.Hour.Microseconds()); n != 1 {
		t.Errorf("%d feeds of the new period, want 1", n)
	}
}

// No bucket is over its size, however many write at once, and pages go on by anchor from one
// to the next.
func TestSizedBuckets(t *testing.T) {
	t.Parallel()
	const size, writers, each = 5, 6, 12
	w := newTown(t)
	ann := w.person("ann")
	var people []timelines.Viewer
	for i := range writers {
		people = append(people, w.person(fmt.Sprintf("bob%d", i)))
		w.act(w.following(ann, fmt.Sprintf("bob%d", i)))
	}
	sized := strategies.NewSized(w.stores(), size)
	w.all = map[string]strategies.Strategy{"sized": sized}
	w.same("before", ann)
	var writing sync.WaitGroup
	for _, v := range people {
		writing.Go(func() {
			var code string
			for i := range each {
				change := w.posting(v, fmt.Sprint(i))
				if i%4 == 3 {
					change = w.commenting(v, code)
				}
				c, err := change(w.ctx)
				c, err = w.tiers.Carry(w.ctx, c, err)
				if err == nil {
					code = c.Code
					err = sized.Apply(w.ctx, strategies.Events(c)...)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	// Posts that come out of order split a bucket in the middle, so none needs to be full.
	const largest = `SELECT coalesce(max(cardinality(posts)), 0) FROM home_feed_buckets`
	if n := w.count(largest); n > size {
		t.Errorf("the largest bucket holds %d posts, want at most %d", n, size)
	}
	w.same("after", ann)
	// Feeds grow on top, and their lower buckets stay full.
	before := w.count(`SELECT count(*) FROM home_feed_buckets`)
	for i := range 3 * size {
		w.does(w.posting(people[0], fmt.Sprint("one more ", i)))
	}
	if n := w.count(`SELECT count(*) FROM home_feed_buckets`); n > before+3 {
		t.Errorf("%d posts made %d buckets of %d", 3*size, n-before, size)
	}
	if n := w.count(largest); n != size {
		t.Errorf("the largest bucket holds %d posts, want %d", n, size)
	}
	w.all["sized"] = strategies.NewSized(w.stores(), 2)
	w.same("of another size", ann)
	if n := w.count(`SELECT max(cardinality(posts)) FROM home_feed_buckets b JOIN home_feeds f ON f.id = b.feed_id WHERE f.state = 'live'`); n != 2 {
		t.Errorf("the largest bucket of the new size holds %d posts, want 2", n)
	}
}

// A cache keeps as many posts as it may, serves below them from the primary store, and is
// dropped when nobody reads it.
func TestCaches(t *testing.T) {
	t.Parallel()
	const size = 7
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.following(ann, "bob"))
	for i := range 20 {
		w.act(w.posting(bob, fmt.Sprint(i)))
	}
	cache := strategies.NewCache(w.stores(), strategies.NewRead(w.store, 0), size, time.Hour)
	w.all = map[string]strategies.Strategy{"cache": cache}
	kept := func() int {
		t.Helper()
		return w.count(`SELECT coalesce(sum(cardinality(posts)), 0) FROM home_feed_buckets b JOIN home_feeds f ON f.id = b.feed_id WHERE f.state = 'live'`)
	}
	w.same("made", ann)
	if n := kept(); n != size {
		t.Errorf("the cache keeps %d posts, want %d", n, size)
	}
	for i := range 5 {
		code := w.does(w.posting(bob, fmt.Sprint("pushed ", i))).Code
		w.same("after a push", ann)
		if i%2 == 1 {
			w.does(named(w.store.Posts.Delete, bob, code))
			w.same("after a deletion", ann)
		}
		if n := kept(); n > size {
			t.Errorf("the cache keeps %d posts, want at most %d", n, size)
		}
	}
	w.same("another's", bob)
	if err := cache.Expire(w.ctx); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live'`); n != 2 {
		t.Errorf("%d caches, want 2: both were just read", n)
	}
	w.exec(`UPDATE home_feeds SET visited_at = visited_at - interval '2 hours'`)
	if _, err := cache.Page(w.ctx, bob, rivers.Cursor{}, 3); err != nil {
		t.Fatal(err)
	}
	if err := cache.Expire(w.ctx); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live' AND viewer_id = $1`, bob.AccountID); n != 1 {
		t.Errorf("bob reads, and has %d caches", n)
	}
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live' AND viewer_id = $1`, ann.AccountID); n != 0 {
		t.Errorf("ann read nothing for hours, and has %d caches", n)
	}
	w.does(w.posting(bob, "while ann is away"))
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state = 'live' AND viewer_id = $1`, ann.AccountID); n != 0 {
		t.Errorf("a push made ann a cache")
	}
	w.same("made again", ann)
}
