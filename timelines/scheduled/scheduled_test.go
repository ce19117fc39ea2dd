package scheduled_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/leaving"
	"riverrun/timelines/scheduled"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// town is a store with people in it, and something that ends transactions at their last step.
type town struct {
	*testing.T
	*timelines.Store
	breaks *breaks
}

// breaks is an announcer that fails while it is on, as a node that dies before its commit.
type breaks struct {
	mu sync.Mutex
	on bool
}

var errBroken = errors.New("the node dies")

func (b *breaks) AnnounceTx(context.Context, pgx.Tx, ...timelines.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on {
		return errBroken
	}
	return nil
}

func (b *breaks) set(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.on = on
}

func newTown(t *testing.T) *town {
	t.Helper()
	t.Parallel()
	b := &breaks{}
	return &town{t, timelines.Open(testdb.New(t).Primary, b, timelines.DefaultOptions()), b}
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) person(name string) int64 {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Title: name, Password: "a long enough one"})
	w.must(err)
	return a.ID
}

func in(d time.Duration) timelines.When { return timelines.When{At: time.Now().Add(d), Zone: "UTC"} }

// schedule has a post wait for its time, and returns it.
func (w *town) schedule(author int64, body string, to ...string) scheduled.Post {
	w.Helper()
	_, err := w.Posts.Schedule(w.Context(), timelines.NewPost{Author: author, Body: body, To: to}, in(time.Hour))
	w.must(err)
	for _, p := range w.all(author) {
		if p.Body == body {
			return p
		}
	}
	w.Fatalf("%q is not in the list", body)
	return scheduled.Post{}
}

func (w *town) all(account int64) []scheduled.Post {
	w.Helper()
	all, err := w.Scheduled.All(w.Context(), account)
	w.must(err)
	return all
}

// arrive makes the time of all scheduled posts come, and returns them.
func (w *town) arrive() []scheduled.Due {
	w.Helper()
	_, err := w.Pool().Exec(w.Context(), `UPDATE scheduled_posts SET due_at = now() - interval '1 second'`)
	w.must(err)
	return w.due()
}

func (w *town) due() []scheduled.Due {
	w.Helper()
	due, err := w.Maintenance.PostsDue(w.Context(), scheduled.Due{}, 1000)
	w.must(err)
	if any, err := w.Maintenance.AnyPostDue(w.Context()); err != nil || any != (len(due) > 0) {
		w.Errorf("AnyPostDue: %v, %v; %d are due", any, err, len(due))
	}
	return due
}

// posts are the texts of an author's posts.
func (w *town) posts(author int64) []string {
	w.Helper()
	rows, err := w.Pool().Query(w.Context(), `SELECT body FROM posts WHERE author_id = $1 AND deleted_at IS NULL ORDER BY id`, author)
	w.must(err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	return list
}

func (w *town) wantPosts(author int64, want ...string) {
	w.Helper()
	if d := cmp.Diff(want, w.posts(author), cmpopts.EquateEmpty()); d != "" {
		w.Errorf("posts (-want +got):\n%s", d)
	}
}

// TestPublishedOnce (G4): racing workers, and their author at that moment, make one post of a
// scheduled one, as if it were written then.
func TestPublishedOnce(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	before := w.schedule(ann, "good morning")
	if d := w.due(); len(d) > 0 {
		t.Errorf("before its time %v is due", d)
	}
	due := w.arrive()
	began := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	published := 0
	for range 4 {
		wg.Go(func() {
			_, done, err := w.Maintenance.PublishDue(t.Context(), due[0])
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			} else if done {
				published++
			}
		})
	}
	wg.Go(func() {
		_, err := w.Posts.PublishScheduled(t.Context(), ann, before.Code)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			published++
		case !errors.Is(err, scheduled.ErrGone) && !errors.Is(err, timelines.ErrNotFound):
			t.Error(err)
		}
	})
	wg.Wait()
	if published != 1 {
		t.Errorf("published %d times", published)
	}
	w.wantPosts(ann, "good morning")
	var at time.Time
	w.must(w.Pool().QueryRow(t.Context(), `SELECT created_at FROM posts WHERE author_id = $1`, ann).Scan(&at))
	if at.Before(began.Add(-time.Second)) {
		t.Errorf("published as of %v, which is before %v", at, began)
	}
	if all := w.all(ann); len(all) > 0 {
		t.Errorf("still scheduled: %v", all)
	}
}

// TestCrashPublishesOnce (G4): a transaction that ends before its commit leaves the post scheduled,
// and one that was committed leaves nothing to repeat.
func TestCrashPublishesOnce(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.schedule(ann, "once")
	due := w.arrive()
	w.breaks.set(true)
	if _, published, err := w.Maintenance.PublishDue(t.Context(), due[0]); !errors.Is(err, errBroken) || published {
		t.Fatalf("published %v: %v", published, err)
	}
	w.breaks.set(false)
	w.wantPosts(ann)
	if again := w.due(); len(again) != 1 {
		t.Fatalf("after the crash %d are due", len(again))
	}
	for i, want := range []bool{true, false} {
		if _, published, err := w.Maintenance.PublishDue(t.Context(), due[0]); err != nil || published != want {
			t.Errorf("try %d: published %v, %v", i, published, err)
		}
	}
	w.wantPosts(ann, "once")
}

// TestEditedWhilePublished (G4): an edit that comes while the job holds the version before stands. The job publishes
// nothing of the old text, and the new one waits for its own time.
func TestEditedWhilePublished(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	before := w.schedule(ann, "the old text")
	due := w.arrive()
	_, err := w.Posts.Schedule(t.Context(), timelines.NewPost{Author: ann, Body: "the new text", Scheduled: before.Version()}, in(time.Hour))
	w.must(err)
	if _, published, err := w.Maintenance.PublishDue(t.Context(), due[0]); err != nil || published {
		t.Errorf("published %v: %v", published, err)
	}
	w.wantPosts(ann)
	if all := w.all(ann); len(all) != 1 || all[0].Body != "the new text" || all[0].Failed() {
		t.Fatalf("scheduled are %+v, want the new text", all)
	}
	_, published, err := w.Maintenance.PublishDue(t.Context(), w.arrive()[0])
	if err != nil || !published {
		t.Errorf("at the time of the edit: published %v, %v", published, err)
	}
	w.wantPosts(ann, "the new text")
}

// TestRightsOfTheMoment (G4): what its author may not publish any more stays with its reason,
// and can be changed and tried again. A bad destination is refused at once.
func TestRightsOfTheMoment(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	_, _, err := w.Groups.Create(t.Context(), timelines.NewGroup{Actor: bob, Name: "club", Title: "Club", Access: timelines.Public})
	w.must(err)
	for to, code := range map[string]string{"nobody-here": "to_unknown", "~eyes ann": "to_eyes"} {
		_, err := w.Posts.Schedule(t.Context(), timelines.NewPost{Author: ann, Body: "x", To: strings.Fields(to)}, in(time.Hour))
		wantCode(t, err, code)
	}
	w.schedule(ann, "to the club", "club")
	_, err = w.Groups.Block(t.Context(), bob, "club", "ann")
	w.must(err)
	due := w.arrive()
	c, published, err := w.Maintenance.PublishDue(t.Context(), due[0])
	if err != nil || published || c.Clock == 0 {
		t.Errorf("published %v, clock %d: %v", published, c.Clock, err)
	}
	p := w.all(ann)[0]
	if !p.Failed() || p.Problem.Code != "to_forbidden" || p.Value != "club" {
		t.Errorf("after it could not be published: %+v", p)
	}
	if again := w.due(); len(again) > 0 {
		t.Errorf("it is tried again: %v", again)
	}
	_, err = w.Posts.PublishScheduled(t.Context(), ann, p.Code)
	wantCode(t, err, "to_forbidden")
	c, err = w.Posts.Schedule(t.Context(), timelines.NewPost{Author: ann, Body: "to my page", Scheduled: p.Version()}, in(time.Hour))
	w.must(err)
	if after := w.all(ann); len(after) != 1 || after[0].Failed() || after[0].Problem.Code != "" || after[0].Code != p.Code || c.Clock == 0 {
		t.Errorf("after it was changed: %+v, clock %d", after, c.Clock)
	}
	// The version that the job had read is no more.
	if _, published, err := w.Maintenance.PublishDue(t.Context(), due[0]); err != nil || published {
		t.Errorf("a former version: published %v, %v", published, err)
	}
	due = w.arrive()
	if _, published, err := w.Maintenance.PublishDue(t.Context(), due[0]); err != nil || !published {
		t.Errorf("published %v, %v", published, err)
	}
	w.wantPosts(ann, "to my page")
}

// TestSilentAuthors: somebody who is suspended, or about to leave, publishes nothing.
func TestSilentAuthors(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.person("eve") // somebody must stay in charge
	w.schedule(ann, "of ann")
	w.schedule(bob, "of bob")
	_, err := admin.Open(w.Store).Suspend(t.Context(), admin.By{}, "ann", admin.Suspension{Reason: "spam"})
	w.must(err)
	_, _, err = leaving.Open(w.Store).Leave(t.Context(), bob)
	w.must(err)
	for _, d := range w.arrive() {
		if _, published, err := w.Maintenance.PublishDue(t.Context(), d); err != nil || published {
			t.Errorf("%q: published %v, %v", d.Body, published, err)
		}
	}
	w.wantPosts(ann)
	w.wantPosts(bob)
	for account, want := range map[int64]string{ann: timelines.DueSuspended, bob: timelines.DueLeaving} {
		if got := w.all(account)[0].Problem.Code; got != want {
			t.Errorf("problem %q, want %q", got, want)
		}
	}
}

// TestDueInOrder: what is due comes in pages, the oldest first.
func TestDueInOrder(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	for i := range 5 {
		w.schedule(ann, fmt.Sprint(i))
	}
	_, err := w.Pool().Exec(t.Context(), `UPDATE scheduled_posts SET due_at = now() - body::int * interval '1 minute'`)
	w.must(err)
	var got []string
	for after := (scheduled.Due{}); ; {
		page, err := w.Maintenance.PostsDue(t.Context(), after, 2)
		w.must(err)
		for _, after = range page {
			got = append(got, after.Body)
		}
		if len(page) < 2 {
			break
		}
	}
	if d := cmp.Diff([]string{"4", "3", "2", "1", "0"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var invalid *timelines.InvalidError
	if !errors.As(err, &invalid) || invalid.Code != code {
		t.Errorf("error %v, want the code %s", err, code)
	}
}
