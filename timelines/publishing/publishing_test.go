package publishing_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/publishing"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// town is a store with people in it.
type town struct {
	testing.TB
	*timelines.Store
}

func newTown(tb testing.TB) *town {
	tb.Helper()
	if t, ok := tb.(*testing.T); ok {
		t.Parallel()
	}
	return &town{tb, timelines.Open(testdb.New(tb).Primary, nil, timelines.DefaultOptions())}
}

func (w *town) person(name string) timelines.Account {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Title: name, Password: "a long enough one"})
	w.must(err)
	return a
}

func (w *town) post(author timelines.Account, body string) timelines.Change {
	w.Helper()
	c, err := w.Posts.Create(w.Context(), timelines.NewPost{Author: author.ID, Body: body})
	w.must(err)
	return c
}

// bring stores posts as a source does.
func (w *town) bring(author timelines.Account, bodies ...string) []int64 {
	w.Helper()
	var ids []int64
	w.inTx(func(tx pgx.Tx) error {
		x, err := w.Items.Begin(w.Context(), tx, timelines.ItemPlace{Author: author.ID, To: author.Name, Via: "feed"})
		if err != nil {
			return err
		}
		var posts []timelines.ItemPost
		for _, body := range bodies {
			posts = append(posts, timelines.ItemPost{Body: body, CreatedAt: time.Now()})
		}
		if ids, err = x.Create(w.Context(), posts); err != nil {
			return err
		}
		_, err = x.End(w.Context())
		return err
	})
	return ids
}

func (w *town) inTx(do func(pgx.Tx) error) {
	w.Helper()
	w.must(pgx.BeginFunc(w.Context(), w.Pool(), do))
}

// move gives posts another status.
func (w *town) move(to publishing.Status, posts ...int64) {
	w.Helper()
	w.inTx(func(tx pgx.Tx) error {
		var counts publishing.Counts
		if err := counts.MoveTx(w.Context(), tx, posts, to); err != nil {
			return err
		}
		return counts.ApplyTx(w.Context(), tx)
	})
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) numbers(author timelines.Account) publishing.Numbers {
	w.Helper()
	n, err := w.Publishing.Numbers(w.Context(), author.ID)
	w.must(err)
	return n
}

// bodies returns the texts of a preset, page by page.
func (w *town) bodies(author timelines.Account, preset publishing.Preset, limit int) []string {
	w.Helper()
	var texts []string
	var below publishing.Place
	for {
		posts, err := w.Publishing.Page(w.Context(), author.ID, preset, below, limit)
		w.must(err)
		for _, p := range posts {
			texts, below = append(texts, p.Beginning), p.Place()
		}
		if len(posts) < limit {
			return texts
		}
	}
}

// G10: a preset is computed when a post is saved, and its pages go down by the date of creation.
func TestPresets(t *testing.T) {
	w := newTown(t)
	bob, ann := w.person("bob"), w.person("ann")
	first, second := w.post(bob, "first"), w.post(bob, "second")
	w.bring(bob, "third", "fourth")
	fifth := w.post(bob, "fifth")
	w.post(ann, "hers")
	w.move(publishing.Closed, first.PostID)
	w.move(publishing.Blocked, second.PostID)
	if _, err := w.Posts.Delete(t.Context(), bob.ID, fifth.Code); err != nil {
		t.Fatal(err)
	}
	want := map[publishing.Preset][]string{
		publishing.PresetAll:       {"fourth", "third", "second", "first"},
		publishing.PresetPublished: {"fourth", "third"},
		publishing.PresetImported:  {"fourth", "third"},
		publishing.PresetBlocked:   {"second"},
		publishing.PresetClosed:    {"first"},
		publishing.PresetWaiting:   nil,
		publishing.PresetExpired:   nil,
	}
	numbers := w.numbers(bob)
	for preset, texts := range want {
		for limit := range 4 {
			if diff := cmp.Diff(texts, w.bodies(bob, preset, limit+1)); diff != "" {
				t.Errorf("%s in pages of %d:\n%s", preset, limit+1, diff)
			}
		}
		if got := numbers.Posts[preset]; got != int64(len(texts)) {
			t.Errorf("%s: counted %d, want %d", preset, got, len(texts))
		}
	}
	if numbers.PublishedEver != 5 {
		t.Errorf("published %d posts ever, want 5: what was deleted counts too", numbers.PublishedEver)
	}
}

// G11: a counter that is wrong is repaired beside the author's writers, and nothing of theirs is lost.
func TestRepairBesideWriters(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	w.bring(bob, "one", "two")
	spoil := func(by int) {
		t.Helper()
		_, err := w.Pool().Exec(t.Context(), `
			INSERT INTO author_counters AS a (author_id, status, imported, posts) VALUES ($1, 0, false, $2), ($1, 3, true, $2)
			ON CONFLICT (author_id, status, imported) DO UPDATE SET posts = a.posts + EXCLUDED.posts`, bob.ID, by)
		w.must(err)
	}
	spoil(1000)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				c, err := w.Posts.Create(t.Context(), timelines.NewPost{Author: bob.ID, Body: fmt.Sprint(i, n)})
				if err == nil && n%3 == 0 {
					_, err = w.Posts.Delete(t.Context(), bob.ID, c.Code)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 5 {
		wrong, err := w.Publishing.Repair(t.Context(), bob.ID)
		w.must(err)
		if len(wrong) != 2 {
			t.Errorf("repaired %+v, want two counters", wrong)
		}
		spoil(-7)
	}
	if _, err := w.Publishing.Repair(t.Context(), bob.ID); err != nil {
		t.Fatal(err)
	}
	stop()
	writers.Wait()
	if wrong, err := w.Publishing.Compare(t.Context(), bob.ID); err != nil || len(wrong) > 0 {
		t.Errorf("after the repair %+v (%v)", wrong, err)
	}
}

// G23: a total is the sum of ten rows, and writers of one author at once seldom wait for each other.
func TestTotalsAreSharded(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	for range 60 {
		w.inTx(func(tx pgx.Tx) error {
			return publishing.CountTx(t.Context(), tx, func(c *publishing.Counts) {
				c.Grow(bob.ID, publishing.ClosedEver, "", 1)
				c.Grow(bob.ID, publishing.Earned, "EUR", 250)
			})
		})
	}
	n := w.numbers(bob)
	if n.ClosedEver != 60 || n.Earned["EUR"] != 60*250 {
		t.Errorf("closed %d, earned %v", n.ClosedEver, n.Earned)
	}
	var slots int
	w.must(w.Pool().QueryRow(t.Context(), `SELECT count(*) FROM author_totals WHERE author_id = $1 AND total = 'closed'`, bob.ID).Scan(&slots))
	if slots < 5 || slots > 10 {
		t.Errorf("%d rows, want ten, or nearly", slots)
	}
}

// A post that is in a status already is not counted again.
func TestMovingTwiceCountsOnce(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	p := w.post(bob, "bicycle")
	w.move(publishing.Closed, p.PostID)
	w.move(publishing.Closed, p.PostID, p.PostID)
	if n := w.numbers(bob).Posts[publishing.PresetClosed]; n != 1 {
		t.Errorf("counted %d closed posts, want 1", n)
	}
}

// The decisions of moderators stay, and what is closed stays closed, whatever becomes of a listing.
func TestOnlyPublishedAndExpiredPostsMove(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	for from, moves := range map[publishing.Status]bool{
		publishing.Published: true, publishing.Expired: true,
		publishing.Waiting: false, publishing.Blocked: false, publishing.Closed: false,
	} {
		for _, to := range []publishing.Status{publishing.Published, publishing.Expired} {
			p := w.post(bob, "bicycle")
			w.move(from, p.PostID)
			w.move(to, p.PostID)
			var got publishing.Status
			w.must(w.Pool().QueryRow(t.Context(), `SELECT status FROM posts WHERE id = $1`, p.PostID).Scan(&got))
			if (got == to) != (moves || from == to) {
				t.Errorf("from %d to %d: got %d", from, to, got)
			}
		}
	}
	if wrong, err := w.Publishing.Compare(t.Context(), bob.ID); err != nil || len(wrong) > 0 {
		t.Errorf("counters: %+v (%v)", wrong, err)
	}
}

// G11: of two repairs of one author at once, the second looks when the first is done.
func TestTwoRepairsAtOnce(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	w.post(bob, "hello")
	_, err := w.Pool().Exec(t.Context(), `UPDATE author_counters SET posts = posts + 100 WHERE author_id = $1`, bob.ID)
	w.must(err)
	var repairs sync.WaitGroup
	w.inTx(func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT FROM author_counters WHERE author_id = $1 FOR UPDATE`, bob.ID); err != nil {
			return err
		}
		for range 2 {
			repairs.Go(func() {
				if _, err := w.Publishing.Repair(t.Context(), bob.ID); err != nil {
					t.Error(err)
				}
			})
		}
		for waiting := 0; waiting < 2; { // for the row, or for the other repair
			const query = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
			if err := w.Pool().QueryRow(t.Context(), query).Scan(&waiting); err != nil {
				return err
			}
		}
		return nil
	})
	repairs.Wait()
	if wrong, err := w.Publishing.Compare(t.Context(), bob.ID); err != nil || len(wrong) > 0 {
		t.Errorf("after two repairs %+v (%v)", wrong, err)
	}
}

// A source's batch changes the counters once, whatever it brings.
func TestABatchCountsOnce(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	bodies := make([]string, 100)
	for i := range bodies {
		bodies[i] = fmt.Sprint("item ", i)
	}
	w.bring(bob, bodies...)
	var rows, total int
	w.must(w.Pool().QueryRow(t.Context(), `SELECT count(*), sum(value) FROM author_totals WHERE author_id = $1`, bob.ID).Scan(&rows, &total))
	if rows != 1 || total != 100 {
		t.Errorf("%d rows with %d, want one with 100", rows, total)
	}
	texts := w.bodies(bob, publishing.PresetImported, 30)
	if slices.Sort(texts); len(slices.Compact(texts)) != 100 {
		t.Errorf("%d posts in the pages, want 100", len(texts))
	}
}
