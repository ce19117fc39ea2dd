package web_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/leaving"
	"riverrun/web/webtest"
)

// keepsBy returns the token by which somebody whose account is to be deleted keeps it.
func keepsBy(t *testing.T, v *webtest.Visitor, name string) string {
	t.Helper()
	link := keepLink.FindStringSubmatch(v.Post("/login", "username", name, "password", webtest.Password).Wants(http.StatusForbidden).Body)
	if link == nil {
		t.Fatal("no way back")
	}
	return link[1]
}

// The page with the button stays open while the deletion begins.
func TestKeptTooLate(t *testing.T) {
	s := webtest.New(t, nil)
	ann, nobody := s.Person("ann"), s.Visitor()
	ann.Visitor().Post("/settings/delete", "present", webtest.Password).Wants(http.StatusSeeOther)
	link := keepsBy(t, nobody, "ann")
	if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE leaving SET begun = true`); err != nil {
		t.Fatal(err)
	}
	nobody.Post("/login/keep", "link", link).Wants(http.StatusConflict).Has("cannot be kept any more")
}

// Somebody who is suspended too learns of both, and can keep the account.
func TestLeavingAndSuspended(t *testing.T) {
	s := webtest.New(t, nil)
	ann, mia, nobody := s.Person("ann"), s.Person("mia"), s.Visitor()
	inCharge(mia, admin.Administrator)
	ann.Visitor().Post("/settings/delete", "present", webtest.Password).Wants(http.StatusSeeOther)
	mia.Visitor().Post("/admin/people/ann/suspend", "reason", "too many boats", "days", "7").Wants(http.StatusSeeOther)
	nobody.Post("/login", "username", "ann", "password", webtest.Password).Wants(http.StatusForbidden).Has("will be deleted on", "too many boats")
	nobody.Post("/login/keep", "link", keepsBy(t, nobody, "ann")).Wants(http.StatusOK)
	nobody.Post("/login", "username", "ann", "password", webtest.Password).Wants(http.StatusForbidden).Has("too many boats").Lacks("will be deleted")
}

// A write that passed its checks before the account was hidden, and commits when all else is deleted.
func TestWrittenLate(t *testing.T) {
	s := webtest.New(t, nil)
	ctx, store := t.Context(), leaving.Open(s.Store)
	ann, bob := s.Person("ann"), s.Person("bob")
	post := bob.Post("hello")
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return store.Delete(ctx, admin.By{}, "ann", "spam", true)
	})
	step := func() (more bool) {
		t.Helper()
		more, err := store.Step(ctx, ann.Account.ID, s.Tiers.Carry, s.Tiers.Distribute)
		if err != nil {
			t.Fatal(err)
		}
		return more
	}
	for removing := true; removing; {
		step()
		if err := s.DB.Primary.QueryRow(ctx, `SELECT EXISTS (SELECT FROM removals)`).Scan(&removing); err != nil {
			t.Fatal(err)
		}
	}
	late, err := s.DB.Primary.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`INSERT INTO likes (post_id, account_id, created_at) SELECT id, $1, now() FROM posts WHERE code = $2`,
		`INSERT INTO muted_posts (post_id, account_id) SELECT id, $1 FROM posts WHERE code = $2`,
	} {
		if _, err := late.Exec(ctx, query, ann.Account.ID, post.Code); err != nil {
			t.Fatal(err)
		}
	}
	over := make(chan bool)
	go func() {
		defer close(over)
		for step() {
		}
	}()
	webtest.Await(t, "the step to wait", func() bool {
		var n int
		err := s.DB.Primary.QueryRow(ctx, `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
		return err == nil && n > 0
	})
	if err := late.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	<-over
	var left int
	err = s.DB.Primary.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM likes WHERE account_id = $1) + (SELECT count(*) FROM muted_posts WHERE account_id = $1)
			+ (SELECT count(*) FROM leaving)`, ann.Account.ID).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
}

// applicant makes somebody who was refused a month ago.
func applicant(t *testing.T, s *webtest.Site, name string) *webtest.Person {
	t.Helper()
	p := s.Person(name)
	_, err := s.DB.Primary.Exec(t.Context(), `
		INSERT INTO applications (account_id, refused_at, sentence) SELECT id, now() - interval '31 days', 'hello' FROM accounts WHERE name = $1`, name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The chore skips somebody whom the staff let in just now, and takes nothing amiss when they delete one.
func TestDueWhileTheStaffDecide(t *testing.T) {
	s := webtest.New(t, nil)
	ctx, store := t.Context(), leaving.Open(s.Store)
	applicant(t, s, "eve")
	admitted, err := s.DB.Primary.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admitted.Exec(ctx, `DELETE FROM applications`); err != nil {
		t.Fatal(err)
	}
	if n, err := store.Due(ctx, 10); n != 0 || err != nil {
		t.Errorf("%d are due, %v; want nobody", n, err)
	}
	if err := admitted.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	deleted := applicant(t, s, "max")
	tx, err := s.DB.Primary.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO leaving (account_id, ends_at, by_staff) VALUES ($1, now() + interval '7 days', true)`, deleted.Account.ID); err != nil {
		t.Fatal(err)
	}
	due := make(chan error)
	go func() {
		n, err := store.Due(ctx, 10)
		if err == nil && n > 0 {
			err = errors.New("somebody is due too early")
		}
		due <- err
	}()
	webtest.Await(t, "the chore to wait", func() bool {
		var n int
		err := s.DB.Primary.QueryRow(ctx, `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
		return err == nil && n > 0
	})
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-due; err != nil {
		t.Error(err)
	}
	var acts int
	if err := s.DB.Primary.QueryRow(ctx, `SELECT count(*) FROM acts WHERE kind = 'delete_account'`).Scan(&acts); err != nil || acts != 0 {
		t.Errorf("%d acts of the chore, %v; want none", acts, err)
	}
}

// Name suggestions offer nobody who leaves.
func TestNamesOfThoseWhoLeave(t *testing.T) {
	s := webtest.New(t, nil)
	ann, b, nobody := s.Person("ann"), s.Person("bob").Visitor(), s.Visitor()
	const names, offered = "/search/names?q=an", `data-name="ann"`
	b.Get(names).Wants(http.StatusOK).Has(offered)
	ann.Visitor().Post("/settings/delete", "present", webtest.Password).Wants(http.StatusSeeOther)
	b.Get(names).Wants(http.StatusOK).Lacks(offered)
	nobody.Post("/login/keep", "link", keepsBy(t, nobody, "ann")).Wants(http.StatusOK)
	b.Get(names).Wants(http.StatusOK).Has(offered)
}

// The same import, run again, brings nobody back who was deleted, nor what they wrote; another one gives
// the name to nobody else.
func TestImportedAgain(t *testing.T) {
	s := webtest.New(t, nil)
	ctx, store := t.Context(), leaving.Open(s.Store)
	ann := timelines.ImportedAccount{ExternalID: "ann", Kind: timelines.User, Name: "ann", Title: "Ann"}
	ben := timelines.ImportedAccount{ExternalID: "ben", Kind: timelines.User, Name: "ben", Title: "Ben"}
	at := time.Date(2014, 1, 1, 0, 0, 0, 0, time.UTC)
	post := func(key string, author, to timelines.ImportedAccount) timelines.Imported {
		return timelines.Imported{ExternalID: key, Body: "hello", CreatedAt: at, Author: author, To: []timelines.ImportedAccount{to}}
	}
	talked := post("3", ben, ben)
	talked.Comments = []timelines.ImportedComment{{ExternalID: "3/1", Body: "a word", CreatedAt: at, Author: ann}}
	talked.Likes = []timelines.ImportedLike{{CreatedAt: at, Account: ann}}
	both := talked
	both.To = []timelines.ImportedAccount{ann, ben}
	imports := func(source string, posts ...timelines.Imported) timelines.Tally {
		t.Helper()
		im, err := s.Store.Imports.Start(ctx, source)
		if err != nil {
			t.Fatal(err)
		}
		_, err = im.Add(ctx, posts)
		if err := errors.Join(err, im.Close(ctx)); err != nil {
			t.Fatal(err)
		}
		return im.Tally()
	}
	imports("friendfeed", post("1", ann, ann))
	mia := s.Person("mia")
	again := func(when string) {
		t.Helper()
		tally := imports("friendfeed", post("1", ann, ann), post("2", ann, ann), talked, both, post("4", ben, ann))
		if tally.Left != 1 || tally.New.Comments+tally.New.Likes != 0 || tally.There.Posts > 1 {
			t.Errorf("an import %s: %+v; want nothing of the one who left", when, tally)
		}
	}
	mia.Act(func(ctx context.Context) (c timelines.Change, err error) {
		return store.Delete(ctx, admin.By{}, "ann", "spam", false)
	})
	again("before the deletion")
	mia.Act(func(ctx context.Context) (c timelines.Change, err error) {
		return store.Delete(ctx, admin.By{}, "ann", "spam", true)
	})
	var id int64
	if err := s.DB.Primary.QueryRow(ctx, `SELECT account_id FROM leaving`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		var err error
		if more, err = store.Step(ctx, id, s.Tiers.Carry, s.Tiers.Distribute); err != nil {
			t.Fatal(err)
		}
	}
	again("after the deletion")
	imports("elsewhere", post("1", ann, ann))
	s.Visitor().Get("/ann").Wants(http.StatusNotFound)
	s.Visitor().Get("/ann-2").Wants(http.StatusOK)
	var left int
	err := s.DB.Primary.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM posts WHERE author_id = $1 AND deleted_at IS NULL) + (SELECT count(*) FROM comments WHERE author_id = $1)
			+ (SELECT count(*) FROM accounts WHERE name = 'ann-3')`, id).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d things of the one who left, %v", left, err)
	}
}
