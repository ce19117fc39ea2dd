package web_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

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
		more, err := store.Step(ctx, ann.Account.ID, s.Tiers.Act, s.Tiers.Distribute)
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

