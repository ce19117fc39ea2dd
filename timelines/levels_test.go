package timelines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

// soundReading compares what everybody may read, by every statement that looks at
// flags, with what the levels alone say.
func (w *town) soundReading(when string) {
	w.Helper()
	people := append(value[[]int64](w, `SELECT array_agg(id ORDER BY id) FROM accounts WHERE kind = 'user'`), 0)
	timelines := value[[]int64](w, `
		SELECT array_agg(id ORDER BY id) FROM timelines WHERE kind IN ('feed', 'group', 'everything') AND term = ''`)
	const byLevels = `
		SELECT p.id FROM posts p WHERE p.deleted_at IS NULL AND EXISTS (
			SELECT FROM timelines t WHERE t.id = ANY(p.decisive) AND (t.access = 0 OR t.access = 1 AND $1 <> 0
				OR t.access = 2 AND EXISTS (SELECT FROM readers r WHERE r.timeline_id = t.id AND r.account_id = $1)))
		ORDER BY p.id`
	w.must(w.InSnapshot(w.Context(), func(sn *snapshot.Snapshot) error {
		posts := valueFrom[[]int64](w, sn.Tx(), `SELECT array_agg(id) FROM posts`)
		var pairs snapshot.ViewerPairs
		for _, post := range posts {
			for _, viewer := range people {
				pairs.Add(post, viewer)
			}
		}
		states, err := sn.States(w.Context(), posts, pairs)
		if err != nil {
			return err
		}
		for _, viewer := range people {
			rows, err := sn.Tx().Query(w.Context(), byLevels, viewer)
			want, err := collectIDs(rows, err, "posts by levels")
			if err != nil {
				return err
			}
			var state, scanned, searched []int64
			for id, st := range states {
				if _, reads := st.Readers[viewer]; reads {
					state = append(state, id)
				}
			}
			top := snapshot.Scan{
				Viewer: viewer, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 10_000, Down: math.MaxInt64,
				Timelines: timelines,
			}
			found, err := sn.Scan(w.Context(), top)
			if err != nil {
				return err
			}
			for _, p := range found.Posts {
				scanned = append(scanned, p.PostID)
			}
			if found, err = sn.Search(w.Context(), w.query("hello"), top); err != nil {
				return err
			}
			for _, p := range found.Posts {
				searched = append(searched, p.PostID)
			}
			for how, got := range map[string][]int64{"states": state, "scans": scanned, "searches": searched} {
				slices.Sort(got)
				if !slices.Equal(got, want) {
					w.Errorf("%s: %s say that %d reads %v, want %v", when, how, viewer, got, want)
				}
			}
		}
		return nil
	}))
}

// A feed with many posts is closed, opened, or both, whatever else happens between
// the blocks that flag its posts: at every moment everybody reads what the levels
// say, and in the end the flags say so too.
func TestFlagsFollowInBlocks(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newTown(t)
			w.flagFew, w.upkeepBlock = 3, 4
			chance := rand.New(rand.NewPCG(seed, 1))
			bob, ann := w.user("bob"), w.user("ann")
			w.user("cat")
			w.group(bob, "club", Public)
			w.subscribe(ann, "bob")
			var posts []Change
			for i := range 11 {
				posts = append(posts, w.post(bob, "hello", [][]string{{"bob"}, {"club"}, {"bob", "club"}}[i%3]...))
			}
			behind := 0
			for step := range 40 {
				what := ""
				switch p := chance.IntN(10); {
				case p < 4:
					group, level := []string{"", "club"}[chance.IntN(2)], Level(chance.IntN(3))
					what = fmt.Sprintf("%q set %v", group, level)
					w.setAccess(bob, group, level)
				case p < 7:
					what = "a block"
					_, err := w.Maintenance.UpkeepBlock(t.Context())
					w.must(err)
				case p == 7:
					what = "a move"
					to := [][]string{{"bob"}, {"club"}, {"bob", "club"}, {"bob/private"}}[chance.IntN(4)]
					_, err := w.Posts.Revise(t.Context(), bob.ID, posts[chance.IntN(len(posts))].Code, Revision{To: to})
					w.must(err)
				case p == 8:
					what = "a post"
					posts = append(posts, w.post(bob, "hello", [][]string{{"bob"}, {"club"}}[chance.IntN(2)]...))
				default:
					what = "a deletion"
					i := chance.IntN(len(posts))
					_, err := w.Posts.Delete(t.Context(), bob.ID, posts[i].Code)
					w.must(err)
					posts = slices.Delete(posts, i, i+1)
				}
				behind += value[int](w, `SELECT count(*)::int FROM unflagged_timelines`)
				w.soundReading(fmt.Sprintf("step %d, %s", step, what))
			}
			if behind == 0 {
				t.Error("no flags were ever behind")
			}
			w.keptUp()
			w.same("flags behind", value[int](w, `SELECT count(*)::int FROM unflagged_timelines`), 0)
			w.soundReading("in the end")
			w.sound()
		})
	}
}

// There and back, with each number of blocks between: the flags end as the level
// does.
func TestLevelThereAndBack(t *testing.T) {
	for blocks := range 6 {
		for _, there := range []Level{Public, Private} {
			t.Run(fmt.Sprint(there, " after ", blocks), func(t *testing.T) {
				w := newTown(t)
				w.flagFew, w.upkeepBlock = 3, 4
				bob := w.user("bob")
				back := Public + Private - there
				w.setAccess(bob, "", back)
				for range 14 {
					w.post(bob, "hello")
				}
				w.keptUp()
				w.heard.take()
				c := w.setAccess(bob, "", there)
				w.same("announced", w.heard.take(), append([]Event{Upkeep{}}, replacements(c.Replace)...))
				w.soundReading("there")
				for range blocks {
					_, err := w.Maintenance.UpkeepBlock(t.Context())
					w.must(err)
				}
				w.soundReading("before it goes back")
				w.setAccess(bob, "", back)
				w.soundReading("back")
				w.keptUp()
				w.soundReading("in the end")
				w.sound()
			})
		}
	}
}

// scansOf returns how often what fn does in a snapshot scans a table, as the server
// counts.
func (w *town) scansOf(sn *snapshot.Snapshot, table string, fn func() error) int {
	w.Helper()
	const query = `SELECT (seq_scan + idx_scan)::int FROM pg_stat_xact_user_tables WHERE relid = $1::text::regclass`
	before := valueFrom[int](w, sn.Tx(), query, table)
	w.must(fn())
	return valueFrom[int](w, sn.Tx(), query, table) - before
}

// As long as no flags are behind, no post that all may read has its gates asked, and
// one look tells that of all posts. While those of one feed are, its own posts alone
// have.
func TestOnlyPostsWhoseFlagsAreBehindAskTheirGates(t *testing.T) {
	w := newTown(t)
	w.flagFew = 3
	bob := w.user("bob")
	club := w.group(bob, "club", Public)
	var posts []int64
	var pairs snapshot.ViewerPairs
	for range 6 {
		for _, to := range []string{"bob", "club"} {
			post := w.post(bob, "hello", to).PostID
			posts = append(posts, post)
			pairs.Add(post, 0)
		}
	}
	everything := w.timeline(kinds.Everything, 0)
	hello := w.query("hello")
	asked := func(table string) map[string]int {
		t.Helper()
		got := map[string]int{}
		w.must(w.InSnapshot(t.Context(), func(sn *snapshot.Snapshot) error {
			of := func(timeline int64, byCreation bool) snapshot.Scan {
				return snapshot.Scan{
					Timelines: []int64{timeline}, ByCreation: byCreation, Limit: 100,
					BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Down: math.MaxInt64,
				}
			}
			for name, timeline := range map[string]int64{"bob": bob.FeedID, "club": club.FeedID, "everything": everything} {
				for order, byCreation := range map[string]bool{"fresh": false, "created": true} {
					got[name+", "+order] = w.scansOf(sn, table, func() error {
						_, err := sn.Scan(t.Context(), of(timeline, byCreation))
						return err
					})
				}
			}
			got["search"] = w.scansOf(sn, table, func() error {
				_, err := sn.Search(t.Context(), hello, of(0, false))
				return err
			})
			got["states"] = w.scansOf(sn, table, func() error {
				_, err := sn.States(t.Context(), posts, pairs)
				return err
			})
			return nil
		}))
		return got
	}
	each := func(ofBob, ofClub, ofAll int) map[string]int {
		return map[string]int{
			"bob, fresh": ofBob, "bob, created": ofBob, "club, fresh": ofClub, "club, created": ofClub,
			"everything, fresh": ofAll, "everything, created": ofAll, "states": ofAll,
			"search": 2 * ofAll, // by a walk through all posts, and by the index of words, as they are so few
		}
	}
	w.same("gates asked while no flags are behind", asked("timelines"), each(0, 0, 0))
	w.same("looks for flags that are behind", asked("unflagged_timelines"), each(1, 1, 1))
	w.setAccess(bob, "club", Protected)
	w.same("gates asked while those of the club are", asked("timelines"), each(0, 6, 6))
	w.setAccess(bob, "club", Public)
	w.keptUp()
	w.same("gates asked when they have followed", asked("timelines"), each(0, 0, 0))
}

// A change of level waits for none of many posts, and so holds none.
func TestALevelOfManyLocksNoPost(t *testing.T) {
	w := newTown(t)
	w.flagFew = 3
	bob := w.user("bob")
	for range 5 {
		w.post(bob, "hello")
	}
	tx := w.hold()
	_, err := tx.Exec(t.Context(), `SELECT FROM posts FOR UPDATE`)
	w.must(err)
	w.setAccess(bob, "", Protected) // would wait for ever
	w.must(tx.Rollback(t.Context()))
	w.keptUp()
	w.sound()

	// A block of nothing announces no other one.
	w.heard.take()
	more, err := w.Maintenance.UpkeepBlock(t.Context())
	w.must(err)
	w.same("more", more, false)
	w.same("announced", w.heard.take(), []Event(nil))
}

// Blocks run side by side with changes of level.
func TestFlagBlocksAtOnce(t *testing.T) {
	w := newTown(t)
	w.flagFew, w.upkeepBlock = 3, 2
	bob := w.user("bob")
	w.group(bob, "club", Public)
	for range 12 {
		w.post(bob, "hello", "bob", "club")
	}
	done := make([]func() error, 0, 4)
	for i := range 4 {
		done = append(done, during(func() error {
			for n := range 8 {
				var err error
				if i < 2 {
					_, err = w.Feeds.SetAccess(t.Context(), bob.ID, []string{"", "club"}[i], []Level{Private, Public, Protected}[n%3])
				} else {
					_, err = w.Maintenance.UpkeepBlock(t.Context())
				}
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for _, wait := range done {
		w.must(wait())
	}
	w.keptUp()
	w.soundReading("in the end")
	w.sound()
}

// A feed whose level changes before every block keeps no other's flags from being set,
// whichever of the two is the older, in one block or in several.
func TestALevelChangedOftenDelaysNoOther(t *testing.T) {
	for _, olderRests := range []bool{false, true} {
		t.Run(fmt.Sprint("the older rests ", olderRests), func(t *testing.T) {
			w := newTown(t)
			w.flagFew, w.upkeepBlock = 1, 2
			restless, other := w.user("ann"), w.user("bob")
			if olderRests {
				restless, other = other, restless
			}
			for range 5 {
				w.post(restless, "hello")
				w.post(other, "hello")
			}
			w.setAccess(other, "", Private)
			behind := func() bool {
				return value[bool](w, `SELECT EXISTS (SELECT FROM unflagged_timelines WHERE timeline_id = $1)`, other.FeedID)
			}
			if !behind() {
				t.Fatal("no flags are behind")
			}
			// Three of the blocks must be the other's. That fewer of 60 are, if each is with
			// a chance of one half, happens once in 10^14 times.
			for blocks := 0; behind(); blocks++ {
				if blocks == 60 {
					t.Fatalf("%d blocks, and flags are still behind", blocks)
				}
				w.setAccess(restless, "", []Level{Private, Public}[blocks%2])
				_, err := w.Maintenance.UpkeepBlock(t.Context())
				w.must(err)
			}
			w.same("flags", value[[]bool](w, `SELECT array_agg(is_public) FROM posts WHERE author_id = $1`, other.ID),
				make([]bool, 5))
			w.keptUp()
			w.sound()
		})
	}
}

// The level of a feed with 100,000 posts: what it costs the request, in blocks as it
// is done and all at once as for few; and what one block costs.
func BenchmarkLevelOfMany(b *testing.B) {
	w := newTown(b)
	bob := w.user("bob")
	_, err := inTx(b.Context(), w.core, func(tx pgx.Tx) (struct{}, error) {
		_, err := tx.Exec(b.Context(), `
			WITH made AS (
				INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive)
				SELECT $1, i, to_timestamp(i / 1000000.0), true, lpad(i::text, 10, '0'), 'hello', ARRAY[$2::bigint]
				FROM generate_series(1, $3::int) i
				RETURNING id, fresh_at)
			INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
			SELECT $2, id, fresh_at, fresh_at, fresh_at FROM made`, bob.ID, bob.FeedID, large(100_000))
		return struct{}{}, err
	})
	w.must(err)
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	level := Public
	turn := func() {
		level = Public + Private - level
		w.setAccess(bob, "", level)
	}
	for _, bm := range []struct {
		name string
		few  int
		do   func(b *testing.B)
	}{
		{"request", flagFew, func(*testing.B) { turn() }},
		{"block", flagFew, func(b *testing.B) {
			b.StopTimer()
			turn()
			b.StartTimer()
			_, err := w.Maintenance.UpkeepBlock(b.Context())
			w.must(err)
		}},
		{"all-at-once", math.MaxInt32, func(*testing.B) { turn() }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			w.keptUp()
			w.flagFew = bm.few
			for b.Loop() {
				bm.do(b)
			}
			w.flagFew = flagFew
		})
	}
}
