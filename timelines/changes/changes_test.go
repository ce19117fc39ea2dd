package changes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/changes"
)

func TestMain(m *testing.M) { testdb.Main(m) }

type town struct {
	testing.TB
	*timelines.Store
	log *changes.Store
}

func newTown(tb testing.TB) *town {
	tb.Helper()
	if t, ok := tb.(*testing.T); ok {
		t.Parallel()
	}
	store := timelines.Open(testdb.New(tb).Primary, nil, timelines.DefaultOptions())
	return &town{tb, store, changes.Open(store, 0)}
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) person(name string) timelines.Account {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Title: name, Password: "a long enough one"})
	w.must(err)
	return a
}

func (w *town) post(author timelines.Account, to ...string) timelines.Change {
	w.Helper()
	c, err := w.Posts.Create(w.Context(), timelines.NewPost{Author: author.ID, Body: "hello", To: to})
	w.must(err)
	return c
}

// relay moves everything to the log.
func (w *town) relay() {
	w.Helper()
	_, err := w.log.RelayAll(w.Context())
	w.must(err)
}

// after returns the log after a number.
func (w *town) after(seq int64) []changes.Change {
	w.Helper()
	found, err := w.log.Read(w.Context(), seq, 10_000)
	w.must(err)
	return found
}

func (w *town) bounds() changes.Bounds {
	w.Helper()
	b, err := w.log.Bounds(w.Context())
	w.must(err)
	return b
}

// postsOf are the posts of changes.
func postsOf(list []changes.Change) (posts []int64) {
	for _, c := range list {
		if c.Kind == changes.Post {
			posts = append(posts, c.PostID)
		}
	}
	return posts
}

// G7: each change of a post is in the outbox by the time it is acknowledged, with the places that the post stood in
// before, and the log has them in order.
func TestEachChangeIsInTheLog(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.relay()
	from := w.bounds().Last

	p := w.post(ann, "ann", "bob")
	comment, err := w.Comments.Create(t.Context(), timelines.NewComment{Author: bob.ID, Code: p.Code, Body: "a word"})
	w.must(err)
	_, err = w.Posts.Like(t.Context(), bob.ID, p.Code)
	w.must(err)
	_, err = w.Posts.Delete(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.relay()
	got := w.after(from)
	if want := []int64{p.PostID, p.PostID, p.PostID, comment.PostID}; !slices.Equal(postsOf(got), want) {
		t.Fatalf("changes of posts %v, want %v", postsOf(got), want)
	}
	var last int64
	for i, c := range got {
		if c.Kind != changes.Post {
			continue
		}
		if c.Version <= last {
			t.Errorf("version %d comes after %d", c.Version, last)
		}
		last = c.Version
		if (len(c.Places) > 0) != (i > 0) {
			t.Errorf("change %d says it stood in %v", i, c.Places)
		}
	}
}

// A transaction that is rolled back leaves nothing in the outbox.
func TestWhatIsNotCommittedIsNoChange(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	p := w.post(ann)
	w.relay()
	before := w.bounds()
	undone := errors.New("undone")
	err := pgx.BeginFunc(t.Context(), w.Pool(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `UPDATE posts SET version = version + 1 WHERE id = $1`, p.PostID); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	w.relay()
	if after := w.bounds(); after != before {
		t.Errorf("the log ends at %+v, want %+v", after, before)
	}
}

// The changes of a post that many like at once go together, in their order: a batch waits for the disk.
func TestChangesOfAPostGoTogether(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.relay()
	one, two := w.post(ann), w.post(ann)
	for range 2 {
		for _, c := range []timelines.Change{one, two} {
			_, err := w.Posts.Edit(t.Context(), ann.ID, c.Code, fmt.Sprint(time.Now().UnixNano()))
			w.must(err)
		}
	}
	shards, err := w.log.Waiting(t.Context())
	w.must(err)
	if len(shards) != 1 {
		t.Fatalf("shards %v of one author", shards)
	}
	bounds := w.bounds()
	moved, more, err := w.log.Relay(t.Context(), shards)
	w.must(err)
	if moved != 6 || more {
		t.Errorf("moved %d, more: %t; want 6 and no more", moved, more)
	}
	versions := map[int64][]int64{}
	for _, c := range w.after(bounds.Last) {
		versions[c.PostID] = append(versions[c.PostID], c.Version)
	}
	for _, p := range []timelines.Change{one, two} {
		if got, want := versions[p.PostID], []int64{1, 2, 3}; !slices.Equal(got, want) {
			t.Errorf("versions %v of post %d, want %v", got, p.PostID, want)
		}
	}
}

// A change that takes long to commit comes after those that were relayed meanwhile, and a reader who has read those gets it.
func TestALateCommitIsNotSkipped(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	late, other := w.post(ann), w.post(bob)
	w.relay()
	tx, err := w.Pool().Begin(t.Context())
	w.must(err)
	_, err = tx.Exec(t.Context(), `UPDATE posts SET version = version + 1 WHERE id = $1`, late.PostID)
	w.must(err)
	_, err = w.Posts.Like(t.Context(), ann.ID, other.Code)
	w.must(err)
	w.relay()
	read := w.bounds()
	w.must(tx.Commit(t.Context()))
	w.relay()
	if got := postsOf(w.after(read.Last)); !slices.Equal(got, []int64{late.PostID}) {
		t.Errorf("after what was read come %v, want %v", got, late.PostID)
	}
}

// Relays race, and readers follow them meanwhile: each row comes once, and no reader misses any. One post's versions come
// in order.
func TestRelaysRace(t *testing.T) {
	w := newTown(t)
	people := []timelines.Account{w.person("ann"), w.person("bob"), w.person("cid")}
	w.relay()
	begin := w.bounds()
	ctx, stop := context.WithCancel(t.Context())
	var relays, writers sync.WaitGroup
	var shards []int // they overlap, and wait for each other
	for shard := range changes.Shards {
		shards = append(shards, shard)
	}
	for range 3 {
		relays.Go(func() {
			for ctx.Err() == nil {
				for first := range shards {
					if _, _, err := w.log.Relay(ctx, shards[first:]); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				}
			}
		})
	}
	var read []changes.Change
	relays.Go(func() {
		for at := begin.Last; ctx.Err() == nil; {
			found, err := w.log.Read(ctx, at, 7)
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			for _, c := range found {
				at = c.Seq
				read = append(read, c)
			}
		}
	})
	posts := []timelines.Change{w.post(people[0]), w.post(people[1])}
	for _, p := range people {
		writers.Go(func() {
			for range 10 {
				for _, post := range posts {
					for _, do := range []func(context.Context, int64, string) (timelines.Change, error){w.Posts.Like, w.Posts.Unlike} {
						if _, err := do(t.Context(), p.ID, post.Code); err != nil {
							t.Error(err)
						}
					}
				}
			}
		})
	}
	writers.Wait()
	for {
		shards, err := w.log.Waiting(t.Context())
		w.must(err)
		if len(shards) == 0 {
			break
		}
	}
	end := w.bounds()
	stop()
	relays.Wait()
	all := w.after(begin.Last)
	if d := cmp.Diff(all[:len(read)], read); d != "" {
		t.Errorf("the reader read otherwise (-log +read):\n%s", d)
	}
	versions := map[int64]int64{}
	for _, c := range all {
		if c.Kind != changes.Post {
			continue
		}
		if want := versions[c.PostID] + 1; c.Version != want {
			t.Errorf("post %d comes at version %d, want %d", c.PostID, c.Version, want)
		}
		versions[c.PostID] = c.Version
	}
	for _, p := range posts {
		if versions[p.PostID] != 61 || all[len(all)-1].Seq != end.Last {
			t.Errorf("post %d ends at version %d of 61, the log at %d of %d", p.PostID, versions[p.PostID], all[len(all)-1].Seq, end.Last)
		}
	}
}

// The log is kept in whole days, and a reader that was not done with one that is gone is told.
func TestTheLogIsKeptForDays(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	now := time.Now()
	w.log.SetClock(func() time.Time { return now })
	w.post(ann)
	w.relay()
	old := w.bounds()
	now = now.Add(8 * 24 * time.Hour)
	p := w.post(ann)
	w.relay()
	w.must(w.log.Trim(t.Context()))
	if got := postsOf(w.after(old.Last)); !slices.Equal(got, []int64{p.PostID}) {
		t.Errorf("after the old rows come %v, want %d", got, p.PostID)
	}
	for what, after := range map[string]int64{"too old": old.Last - 1, "of another history": 1 << 50, "the beginning": 0} {
		var gone *changes.GoneError
		if _, err := w.log.Read(t.Context(), after, 10); !errors.As(err, &gone) || gone.First != old.Last {
			t.Errorf("%s: %v, want that it begins after %d", what, err, old.Last)
		}
	}
	// A whole turn of the ring later the same tables serve again.
	for range 40 {
		now = now.Add(24 * time.Hour)
		w.must(w.log.Trim(t.Context()))
		p = w.post(ann)
		w.relay()
	}
	bounds := w.bounds()
	if got := w.after(bounds.First); len(got) != 8 || got[7].PostID != p.PostID {
		t.Errorf("%d rows are kept, want those of 8 days", len(got))
	}
}

// A change of who may read something is in the log too.
func TestAccessIsAChange(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.relay()
	begin := w.bounds()
	_, err := w.Feeds.SetAccess(t.Context(), ann.ID, "", timelines.Private)
	w.must(err)
	_, err = w.Bans.Ban(t.Context(), ann.ID, "bob")
	w.must(err)
	w.relay()
	var levels, viewers []int64
	for _, c := range w.after(begin.Last) {
		switch c.Kind {
		case changes.Level:
			levels = append(levels, c.TimelineID)
		case changes.Viewer:
			viewers = append(viewers, c.AccountID)
		}
	}
	slices.Sort(viewers)
	if !slices.Contains(levels, ann.FeedID) || !slices.Contains(viewers, bob.ID) {
		t.Errorf("levels %v, viewers %v; want %d, and %d", levels, viewers, ann.FeedID, bob.ID)
	}
}

// The relay is cut off at 200 random points while people write. No change is lost, none comes twice, and those of one post
// stay in order.
func TestRelayIsCutOff(t *testing.T) {
	w := newTown(t)
	people := []timelines.Account{w.person("ann"), w.person("bob")}
	posts := []timelines.Change{w.post(people[0]), w.post(people[1])}
	done := make(chan struct{})
	var writers sync.WaitGroup
	for _, p := range people {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				do := []func(context.Context, int64, string) (timelines.Change, error){w.Posts.Like, w.Posts.Unlike}[i%2]
				for _, post := range posts {
					if _, err := do(t.Context(), p.ID, post.Code); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	cut := 0
	for cut < 200 {
		ctx, cancel := context.WithTimeout(t.Context(), rand.N(6*time.Millisecond))
		if _, err := w.log.RelayAll(ctx); err != nil {
			cut++
		}
		cancel()
	}
	close(done)
	writers.Wait()
	w.relay()
	wrong, err := w.log.Check(t.Context())
	w.must(err)
	if len(wrong) > 0 {
		t.Errorf("the log is wrong: %v", wrong)
	}
	if _, err := w.Pool().Exec(t.Context(), `DELETE FROM changes WHERE version = 2`); err != nil {
		t.Fatal(err)
	}
	if wrong, err = w.log.Check(t.Context()); err != nil || len(wrong) != 2 {
		t.Errorf("with gaps the check says %v, %v", wrong, err)
	}
}
