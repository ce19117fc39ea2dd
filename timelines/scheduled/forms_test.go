package scheduled_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/drafts"
	"riverrun/timelines/files"
	"riverrun/timelines/scheduled"
)

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
		// Skipped by the clocks.
		{"2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:30:00Z"},
		{"2027-03-14T02:30", "America/New_York", "2027-03-14T07:30:00Z"},
		{"2027-09-05T00:30", "America/Santiago", "2027-09-05T04:30:00Z"},
		{"2011-12-30T10:00", "Pacific/Apia", "2011-12-30T20:00:00Z"}, // a whole day
		// Shown twice by the clocks.
		{"2027-10-31T02:30", "Europe/Berlin", "2027-10-31T00:30:00Z"},
		{"2027-11-07T01:30", "America/New_York", "2027-11-07T05:30:00Z"},
		{"2027-04-03T23:30", "America/Santiago", "2027-04-04T02:30:00Z"},
		// Around a change.
		{"2027-03-14T01:59", "America/New_York", "2027-03-14T06:59:00Z"},
		{"2027-03-14T03:00", "America/New_York", "2027-03-14T07:00:00Z"},
		{"2027-10-31T01:59", "Europe/Berlin", "2027-10-30T23:59:00Z"},
		{"2027-10-31T03:00", "Europe/Berlin", "2027-10-31T02:00:00Z"},
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
