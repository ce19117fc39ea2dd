package strategies_test

import (
	"fmt"
	"testing"

	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// Feeds that nobody reads for a month, and builds that nobody goes on with, are dropped. Those
// that are in use stay.
func TestFeedsOutOfUseAreDropped(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.act(w.posting(bob, "one"))
	sized, timed := strategies.NewSized(w.stores(), 4), strategies.NewTimed(w.stores(), 0)
	w.all = map[string]strategies.Strategy{"sized": sized, "timed": timed}
	w.same("before", ann, bob)
	w.exec(`INSERT INTO home_feeds (id, viewer_id, epoch, setting, strategy, visited_at)
		SELECT 1000 + i, 1000 + i, epoch, 4, 'sized', clock_timestamp() - i * interval '40 minutes' FROM clock, generate_series(1, 2) i`)
	w.exec(`UPDATE home_feeds SET visited_at = clock_timestamp() - interval '31 days' WHERE viewer_id = $1`, ann.AccountID)
	w.exec(`UPDATE home_feeds SET visited_at = clock_timestamp() - interval '29 days' WHERE viewer_id = $1`, bob.AccountID)
	for _, s := range []strategies.Expirer{sized, timed} {
		if err := s.Expire(w.ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, left := range []struct {
		viewer int64
		feeds  int
	}{{ann.AccountID, 0}, {bob.AccountID, 2}, {1001, 1}, {1002, 0}} {
		if n := w.count(`SELECT count(*) FROM home_feeds WHERE viewer_id = $1 AND state <> 'retired'`, left.viewer); n != left.feeds {
			t.Errorf("account %d has %d feeds, want %d", left.viewer, n, left.feeds)
		}
	}
	w.same("after", ann, bob)
}

// A change that concerns everybody drops all feeds of the strategy, however many they are, and a
// feed of very many posts is removed in blocks. So no statement holds the locks of them all.
func TestManyFeedsGoInBlocks(t *testing.T) {
	t.Parallel()
	const feeds, posts = 1200, 2500
	w := newTown(t)
	ann := w.person("ann")
	sized := strategies.NewSized(w.stores(), 4)
	if _, err := sized.Page(w.ctx, ann, rivers.Cursor{}, 5); err != nil {
		t.Fatal(err)
	}
	w.exec(`INSERT INTO home_feeds (id, viewer_id, epoch, setting, strategy, state)
		SELECT i, 1000000 + i, epoch, 4, 'sized', 'live' FROM clock, generate_series(1, $1::int) i`, feeds)
	w.exec(`INSERT INTO home_feed_posts (feed_id, post_id, version, place) SELECT 1, i, 1, i FROM generate_series(1, $1::int) i`, posts)
	w.exec(`INSERT INTO home_feed_buckets (feed_id, low_place, low_post, posts, places)
		SELECT 1, i, i, ARRAY[i], ARRAY[i] FROM generate_series(1, $1::int) i`, posts)
	for _, trigger := range []string{
		`CREATE FUNCTION bounded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF (SELECT count(*) FROM old_rows) > 1000 THEN RAISE 'one statement took % rows', (SELECT count(*) FROM old_rows); END IF;
			RETURN NULL; END $$`,
		`CREATE TRIGGER bounded AFTER UPDATE ON home_feeds REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION bounded()`,
		`CREATE TRIGGER bounded AFTER DELETE ON home_feed_posts REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION bounded()`,
		`CREATE TRIGGER bounded AFTER DELETE ON home_feed_buckets REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION bounded()`,
	} {
		w.exec(trigger)
	}
	if err := sized.Apply(w.ctx, timelines.Replace{Everybody: true}); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`SELECT count(*) FROM home_feeds WHERE state <> 'retired'`); n != 0 {
		t.Errorf("%d feeds stand, want none", n)
	}
	const age = `UPDATE home_feeds SET retired_at = retired_at - interval '1 hour' WHERE id % 2 = $1`
	for half := range 2 {
		w.exec(age, half)
	}
	if err := sized.Expire(w.ctx); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"home_feeds", "home_feed_posts", "home_feed_buckets"} {
		if n := w.count(fmt.Sprintf(`SELECT count(*) FROM %s`, table)); n != 0 {
			t.Errorf("%d rows of %s are left, want none", n, table)
		}
	}
}
