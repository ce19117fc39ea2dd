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
	"riverrun/timelines/blobs"
	"riverrun/timelines/drafts"
	"riverrun/timelines/files"
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

// TestCancel: a cancelled post becomes a draft, put aside if its place has one. If there is no room for it, it stays
// until its author says that it may go.
func TestCancel(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	p := w.schedule(ann, "first", "ann")
	if _, _, err := w.Posts.Cancel(t.Context(), bob, p.Version(), true); !errors.Is(err, scheduled.ErrGone) {
		t.Errorf("bob cancels it: %v", err)
	}
	if _, found, _ := w.Scheduled.Find(t.Context(), bob, p.Code); found {
		t.Error("bob finds it")
	}
	if _, kept, err := w.Posts.Cancel(t.Context(), ann, p.Version(), false); err != nil || !kept {
		t.Errorf("kept %v, %v", kept, err)
	}
	d, _, err := w.Drafts.Find(t.Context(), ann, "/")
	w.must(err)
	if d.Body != "first" || len(d.Destinations) != 1 || d.Destinations[0] != "ann" || len(w.all(ann)) > 0 {
		t.Errorf("the draft is %+v", d)
	}
	p = w.schedule(ann, "second")
	if _, kept, err := w.Posts.Cancel(t.Context(), ann, p.Version(), false); err != nil || !kept || len(w.all(ann)) != 0 {
		t.Errorf("beside another draft: kept %v, %v, %d left", kept, err, len(w.all(ann)))
	}
	if d, _, err := w.Drafts.Find(t.Context(), ann, "/"); err != nil || d.Body != "first" {
		t.Errorf("the draft of the place is %+v, %v", d, err)
	}
	for i := range drafts.Most - 2 {
		_, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: fmt.Sprintf("/group-%d", i), Body: "text"}, 1000, "")
		w.must(err)
	}
	p = w.schedule(ann, "third")
	if _, kept, err := w.Posts.Cancel(t.Context(), ann, p.Version(), false); err != nil || kept || len(w.all(ann)) != 1 {
		t.Errorf("beside as many drafts as there may be: kept %v, %v, %d left", kept, err, len(w.all(ann)))
	}
	if _, kept, err := w.Posts.Cancel(t.Context(), ann, p.Version(), true); err != nil || kept || len(w.all(ann)) != 0 {
		t.Errorf("thrown away: kept %v, %v, %d left", kept, err, len(w.all(ann)))
	}
	if _, _, err := w.Posts.Cancel(t.Context(), ann, p.Version(), true); !errors.Is(err, scheduled.ErrGone) {
		t.Errorf("twice: %v", err)
	}
}

// TestSentOnce: a form that is sent twice schedules one post, removes the draft it was written in, and a
// draft that is saved later than that is not kept.
func TestSentOnce(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	at, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", Body: "half"}, 1000, "")
	w.must(err)
	n := timelines.NewPost{Author: ann, Body: "whole", Key: "k1", Draft: drafts.Version{Place: "/", SavedAt: at}}
	when := in(time.Hour)
	for i := range 2 {
		c, err := w.Posts.Schedule(t.Context(), n, when)
		if err != nil || c.Repeated != (i == 1) {
			t.Errorf("time %d: repeated %v, %v", i, c.Repeated, err)
		}
	}
	n.Body = "another"
	_, err = w.Posts.Schedule(t.Context(), n, when)
	wantCode(t, err, "key_used")
	if _, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", Body: "half"}, 1000, "k1"); !errors.Is(err, drafts.ErrSent) {
		t.Errorf("a late draft: %v", err)
	}
	if _, found, _ := w.Drafts.Find(t.Context(), ann, "/"); found || len(w.all(ann)) != 1 {
		t.Errorf("draft: %v, scheduled: %d", found, len(w.all(ann)))
	}
	// Saving an edit twice counts once too, and making a post of it at once ends it.
	p := w.all(ann)[0]
	n.Key, n.Draft, n.Scheduled = "k2", drafts.Version{}, p.Version()
	for i := range 2 {
		c, err := w.Posts.Schedule(t.Context(), n, when)
		if err != nil || c.Repeated != (i == 1) {
			t.Errorf("edit %d: repeated %v, %v", i, c.Repeated, err)
		}
	}
	n.Key = "k3"
	if _, err := w.Posts.Schedule(t.Context(), n, when); !errors.Is(err, scheduled.ErrGone) {
		t.Errorf("an edit of a former version: %v", err)
	}
	n.Scheduled = w.all(ann)[0].Version()
	_, err = w.Posts.Create(t.Context(), n)
	w.must(err)
	w.wantPosts(ann, "another")
	if len(w.all(ann)) != 0 {
		t.Error("it is still scheduled")
	}
}

// TestSentOnceForGood (G4): a form counts once although its post was published, cancelled or changed by another form
// meanwhile, and a draft of it that is saved after that is not kept.
func TestSentOnceForGood(t *testing.T) {
	for name, end := range map[string]func(w *town, author int64, p scheduled.Post) error{
		"published by the job": func(w *town, _ int64, _ scheduled.Post) error {
			_, _, err := w.Maintenance.PublishDue(w.Context(), w.arrive()[0])
			return err
		},
		"published by its author": func(w *town, author int64, p scheduled.Post) error {
			_, err := w.Posts.PublishScheduled(w.Context(), author, p.Code)
			return err
		},
		"published as changed": func(w *town, author int64, p scheduled.Post) error {
			_, err := w.Posts.Create(w.Context(), timelines.NewPost{Author: author, Body: "changed", Key: "k2", Scheduled: p.Version()})
			return err
		},
		"cancelled": func(w *town, author int64, p scheduled.Post) error {
			_, _, err := w.Posts.Cancel(w.Context(), author, p.Version(), false)
			return err
		},
		"changed": func(w *town, author int64, p scheduled.Post) error {
			_, err := w.Posts.Schedule(w.Context(), timelines.NewPost{Author: author, Body: "changed", Key: "k2", Scheduled: p.Version()}, in(2*time.Hour))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			ann, when := w.person("ann"), in(time.Hour)
			file, err := w.Files.Add(t.Context(), files.New{Owner: ann, Name: "a.txt", Sum: blobs.Sum{1}, Bytes: 1})
			w.must(err)
			n := timelines.NewPost{Author: ann, Body: "once", Key: "k1", Files: []files.Attachment{{Code: file, Alt: "a"}}}
			_, err = w.Posts.Schedule(t.Context(), n, when)
			w.must(err)
			w.must(end(w, ann, w.all(ann)[0]))
			left := w.all(ann)
			_, err = w.Maintenance.ExpireKeys(t.Context(), time.Minute)
			w.must(err)
			if c, err := w.Posts.Schedule(t.Context(), n, when); err != nil || !c.Repeated {
				t.Errorf("sent again: repeated %v, %v", c.Repeated, err)
			}
			_, err = w.Posts.Schedule(t.Context(), n, in(3*time.Hour))
			wantCode(t, err, "key_used")
			_, err = w.Posts.Create(t.Context(), n)
			wantCode(t, err, "key_used")
			if d := cmp.Diff(left, w.all(ann)); d != "" {
				t.Errorf("scheduled (-before the form came again +after):\n%s", d)
			}
			if _, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", Body: "half"}, 1000, "k1"); !errors.Is(err, drafts.ErrSent) {
				t.Errorf("a late draft: %v", err)
			}
		})
	}
}

// A key is kept as long after the time of its post as that of a post which is published at once.
func TestKeysOfScheduledPostsExpire(t *testing.T) {
	w := newTown(t)
	n := timelines.NewPost{Author: w.person("ann"), Body: "x", Key: "k1"}
	_, err := w.Posts.Schedule(t.Context(), n, in(time.Hour))
	w.must(err)
	for expired, age := range []time.Duration{-30 * time.Minute, -2 * time.Hour} {
		if n, err := w.Maintenance.ExpireKeys(t.Context(), age); err != nil || n != int64(expired) {
			t.Errorf("at age %v %d expire, want %d: %v", age, n, expired, err)
		}
	}
	if c, err := w.Posts.Schedule(t.Context(), n, in(2*time.Hour)); err != nil || c.Repeated {
		t.Errorf("after its key expired: repeated %v, %v", c.Repeated, err)
	}
}

func TestBounds(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	for _, tc := range []struct {
		at   timelines.When
		body string
		want string
	}{
		{in(30 * time.Second), "x", "due_past"},
		{in(-time.Hour), "x", "due_past"},
		{in(367 * 24 * time.Hour), "x", "due_far"},
		{in(time.Hour), "", "body_empty"},
		{in(time.Hour), strings.Repeat("x", timelines.MaxPostRunes+1), "body_long"},
	} {
		_, err := w.Posts.Schedule(t.Context(), timelines.NewPost{Author: ann, Body: tc.body}, tc.at)
		wantCode(t, err, tc.want)
	}
	_, err := w.Pool().Exec(t.Context(), `
		INSERT INTO scheduled_posts (account_id, due_at, saved_at, code, zone, place, language, body, destinations, uploads)
		SELECT $1, now() + interval '1 hour', now(), 'c' || n, 'UTC', '/', '', 'x', '{}', '{}' FROM generate_series(1, $2) n`, ann, scheduled.Most-1)
	w.must(err)
	var wg sync.WaitGroup
	for range 3 { // all together want the last place
		wg.Go(func() {
			if _, err := w.Posts.Schedule(t.Context(), timelines.NewPost{Author: ann, Body: "x"}, in(time.Hour)); err != nil {
				var invalid *timelines.InvalidError
				if !errors.As(err, &invalid) || invalid.Code != "scheduled_many" {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(w.all(ann)); n != scheduled.Most {
		t.Errorf("ann has %d", n)
	}
	w.schedule(bob, "y")
	// An edit takes no further place.
	p := w.all(ann)[0]
	_, err = w.Posts.Schedule(t.Context(), timelines.NewPost{Author: ann, Body: "z", Scheduled: p.Version()}, in(2*time.Hour))
	w.must(err)
}

// TestFilesWait: files of a scheduled post are kept for it, with what was said of them, and are attached when it is
// published. If one is gone, it is not published.
func TestFilesWait(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	var codes []string
	for _, name := range []string{"a.txt", "b.txt"} {
		code, err := w.Files.Add(t.Context(), files.New{Owner: ann, Name: name, Sum: blobs.Sum{1}, Bytes: 1})
		w.must(err)
		codes = append(codes, code)
	}
	of := func(author int64, list ...string) timelines.NewPost {
		n := timelines.NewPost{Author: author}
		for _, code := range list {
			n.Files = append(n.Files, files.Attachment{Code: code, Alt: "about " + code})
		}
		return n
	}
	_, err := w.Posts.Schedule(t.Context(), of(bob, codes[0]), in(time.Hour))
	wantCode(t, err, "file_unknown")
	for _, code := range codes {
		_, err = w.Posts.Schedule(t.Context(), of(ann, code), in(time.Hour))
		w.must(err)
	}
	_, err = w.Maintenance.ExpireFiles(t.Context(), 0)
	w.must(err)
	w.must(w.Files.Discard(t.Context(), ann, codes[1]))
	for _, d := range w.arrive() {
		_, published, err := w.Maintenance.PublishDue(t.Context(), d)
		if err != nil || published != (d.Uploads[0] == codes[0]) {
			t.Errorf("%v: published %v, %v", d.Uploads, published, err)
		}
	}
	var alt string
	w.must(w.Pool().QueryRow(t.Context(), `SELECT alt FROM files WHERE code = $1 AND post_id IS NOT NULL`, codes[0]).Scan(&alt))
	if want := "about " + codes[0]; alt != want {
		t.Errorf("said of the file: %q, want %q", alt, want)
	}
	if all := w.all(ann); len(all) != 1 || all[0].Problem.Code != "file_unknown" {
		t.Errorf("left: %+v", all)
	}
}

// TestFilesOfScheduledPostsAreNotLoose: they are no uploads that stand in nothing, until their post is cancelled.
func TestFilesOfScheduledPostsAreNotLoose(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	upload := func() (string, error) {
		return w.Files.Add(t.Context(), files.New{Owner: ann, Name: "a.txt", Sum: blobs.Sum{1}, Bytes: 1})
	}
	fill := func(n int) (list []files.Attachment) {
		for range n {
			code, err := upload()
			w.must(err)
			list = append(list, files.Attachment{Code: code})
		}
		return list
	}
	for range 10 {
		_, err := w.Posts.Schedule(t.Context(), timelines.NewPost{Author: ann, Body: "x", Files: fill(files.Loose / 10)}, in(time.Hour))
		w.must(err)
	}
	w.must(w.Files.MayAdd(t.Context(), ann, 0))
	fill(files.Loose)
	_, err := upload()
	wantCode(t, err, "files_loose")
	wantCode(t, w.Files.MayAdd(t.Context(), ann, 0), "files_loose")
	rest, err := w.Pool().Exec(t.Context(), `DELETE FROM files WHERE code NOT IN (SELECT unnest(uploads) FROM scheduled_posts)`)
	if err != nil || rest.RowsAffected() != files.Loose {
		t.Fatalf("%d files are left of no post: %v", rest.RowsAffected(), err)
	}
	for _, p := range w.all(ann) {
		_, _, err := w.Posts.Cancel(t.Context(), ann, p.Version(), false)
		w.must(err)
	}
	wantCode(t, w.Files.MayAdd(t.Context(), ann, 0), "files_loose")
}

// TestTimesInZones: a time is read in the zone that the form names.
func TestTimesInZones(t *testing.T) {
	for _, tc := range []struct{ due, zone, want string }{
		{"2027-01-15T18:30", "", "2027-01-15T18:30:00Z"},
		{"2027-01-15T18:30", "UTC", "2027-01-15T18:30:00Z"},
		{"2027-01-15T18:30:00", "Europe/Berlin", "2027-01-15T17:30:00Z"},
		{"2027-07-15T18:30", "Europe/Berlin", "2027-07-15T16:30:00Z"},
		{"2027-07-15T18:30", "America/New_York", "2027-07-15T22:30:00Z"},
		{"2027-07-15T18:30", "Asia/Kolkata", "2027-07-15T13:00:00Z"},
		{"2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:30:00Z"}, // skipped by the clocks
		{"2027-07-15", "UTC", "due_format"},
		{"tomorrow", "UTC", "due_format"},
		{"", "UTC", "due_format"},
		{"2027-02-30T10:00", "UTC", "due_format"},
		{"2027-07-15T18:30", "Local", "due_zone"},
		{"2027-07-15T18:30", "Mars/Olympus", "due_zone"},
		{"2027-07-15T18:30", "../../etc/passwd", "due_zone"},
	} {
		w, err := timelines.ParseWhen(tc.due, tc.zone)
		got := w.At.UTC().Format(time.RFC3339)
		if invalid := (*timelines.InvalidError)(nil); errors.As(err, &invalid) {
			got = invalid.Code
		}
		if got != tc.want {
			t.Errorf("%q in %q: %s, want %s", tc.due, tc.zone, got, tc.want)
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
