package admin_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/admin"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const password = "a long enough one"

// town is a site's store with people in it, and with what a node remembers of it.
type town struct {
	*testing.T
	*timelines.Store
	staff *admin.Store
	cache *access.Cache
}

func newTown(t *testing.T) *town {
	t.Helper()
	t.Parallel()
	store := timelines.Open(testdb.New(t).Primary, nil, timelines.DefaultOptions())
	return &town{t, store, admin.Open(store), access.New(store)}
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) person(name string) timelines.Account {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Title: name, Password: password})
	w.must(err)
	return a
}

// member is a person with a role, and the By of what they do.
func (w *town) member(name string, role admin.Role) admin.By {
	w.Helper()
	a := w.person(name)
	w.done(w.staff.SetRole(w.Context(), admin.By{}, name, role))
	return admin.By{AccountID: a.ID}
}

// done is a change that is acknowledged: the node knows of it.
func (w *town) done(c timelines.Change, err error) {
	w.Helper()
	w.must(err)
	w.must(w.cache.Advance(w.Context(), timelines.Clock{Epoch: 1, N: c.Clock}))
}

func (w *town) sets(viewer int64) *access.Sets {
	w.Helper()
	s, err := w.cache.Sets(w.Context(), viewer)
	w.must(err)
	return s
}

func wants(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestRoles(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	if has, err := w.staff.HasAdministrator(ctx); err != nil || has {
		t.Fatalf("administrators on a new site: %t, %v", has, err)
	}
	ann, bob := w.member("ann", admin.Administrator), admin.By{AccountID: w.person("bob").ID}
	cat := w.person("cat")
	set := func(by admin.By, name string, role admin.Role) error {
		_, err := w.staff.SetRole(ctx, by, name, role)
		return err
	}
	wants(t, "a stranger", set(bob, "bob", admin.Administrator), timelines.ErrForbidden)
	w.must(set(ann, "bob", admin.Moderator))
	wants(t, "a moderator", set(bob, "cat", admin.Moderator), timelines.ErrForbidden)
	wants(t, "nobody", set(ann, "nobody", admin.Moderator), timelines.ErrNotFound)
	wants(t, "the last", set(ann, "ann", admin.Nobody), admin.ErrLastAdministrator)
	wants(t, "the last becomes a moderator", set(ann, "ann", admin.Moderator), admin.ErrLastAdministrator)
	if w.sets(cat.ID).Role != admin.Nobody {
		t.Error("cat has a role")
	}
	w.done(w.staff.SetRole(ctx, ann, "cat", admin.Administrator))
	if got := w.sets(cat.ID).Role; got != admin.Administrator {
		t.Errorf("a node that remembers cat has the role %q", got)
	}
	w.done(w.staff.SetRole(ctx, admin.By{AccountID: cat.ID}, "ann", admin.Nobody))
	wants(t, "no longer an administrator", set(ann, "bob", admin.Nobody), timelines.ErrForbidden)
	w.must(set(admin.By{}, "cat", admin.Nobody))
	staff, err := w.staff.Staff(ctx)
	w.must(err)
	if len(staff) != 1 || staff[0].Name != "bob" || staff[0].Role != admin.Moderator {
		t.Errorf("staff: %+v", staff)
	}
	acts, err := w.staff.Acts(ctx, "", 0, 100)
	w.must(err)
	var got []string
	for _, a := range acts {
		got = append(got, a.By+" "+a.Kind+" "+a.Subject+" "+a.Detail)
	}
	want := []string{
		" role cat ", "cat role ann ", "ann role cat administrator", "ann role bob moderator", " role ann administrator",
	}
	if !slices.Equal(got, want) {
		t.Errorf("acts:\n%q, want\n%q", got, want)
	}
	about, err := w.staff.Acts(ctx, "cat", 0, 100)
	w.must(err)
	if len(about) != 3 {
		t.Errorf("%d acts about cat, want 3: %+v", len(about), about)
	}
}

// Two administrators who unmake each other leave one.
func TestTwoAdministratorsUnmakeEachOther(t *testing.T) {
	w := newTown(t)
	ann, bob := w.member("ann", admin.Administrator), w.member("bob", admin.Administrator)
	errs := make(chan error, 2)
	for by, name := range map[admin.By]string{ann: "bob", bob: "ann"} {
		go func() {
			_, err := w.staff.SetRole(t.Context(), by, name, admin.Nobody)
			errs <- err
		}()
	}
	first, second := <-errs, <-errs
	if (first == nil) == (second == nil) {
		t.Errorf("got %v and %v, want one to succeed", first, second)
	}
	if has, err := w.staff.HasAdministrator(t.Context()); err != nil || !has {
		t.Errorf("an administrator is left: %t, %v", has, err)
	}
}

func TestSuspension(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann, mod := w.member("ann", admin.Administrator), w.member("mia", admin.Moderator)
	bob, eve := w.person("bob"), w.person("eve")
	token, _, err := w.Accounts.SignIn(ctx, "eve", password)
	w.must(err)
	session, _ := timelines.SessionOf(token)
	if _, err := w.cache.Session(ctx, session); err != nil {
		t.Fatal(err)
	}
	suspend := func(by admin.By, name string, terms admin.Suspension) error {
		_, err := w.staff.Suspend(ctx, by, name, terms)
		return err
	}
	spam := admin.Suspension{Reason: "spam"}
	wants(t, "a stranger", suspend(admin.By{AccountID: bob.ID}, "eve", spam), timelines.ErrForbidden)
	wants(t, "oneself", suspend(mod, "mia", spam), admin.ErrSelf)
	wants(t, "a moderator an administrator", suspend(mod, "ann", spam), admin.ErrStaff)
	var invalid *timelines.InvalidError
	if err := suspend(mod, "eve", admin.Suspension{}); !errors.As(err, &invalid) || invalid.Code != "reason_empty" {
		t.Errorf("no reason: %v", err)
	}
	w.done(w.staff.Suspend(ctx, mod, "eve", spam))
	if _, err := w.cache.Session(ctx, session); !errors.Is(err, timelines.ErrSignedOut) {
		t.Errorf("the session of somebody suspended: %v", err)
	}
	var is *timelines.SuspendedError
	if _, _, err := w.Accounts.SignIn(ctx, "eve", password); !errors.As(err, &is) || is.Reason != "spam" || is.Ends != nil {
		t.Errorf("signing in: %v", err)
	}
	_, _, err = w.Accounts.SignIn(ctx, "eve", "another password")
	wants(t, "a stranger who guesses", err, timelines.ErrBadCredentials)
	if w.sets(bob.ID).BlockedBetween(eve.ID) || w.sets(0).BlockedBetween(eve.ID) {
		t.Error("eve is hidden, and was only to be silenced")
	}

	w.done(w.staff.Suspend(ctx, ann, "eve", admin.Suspension{Reason: "spam", Hide: true}))
	for viewer, hidden := range map[int64]bool{0: true, bob.ID: true, ann.AccountID: false, mod.AccountID: false} {
		if got := w.sets(viewer).BlockedBetween(eve.ID); got != hidden {
			t.Errorf("hidden from %d: %t, want %t", viewer, got, hidden)
		}
		if hidden && w.sets(viewer).Fingerprint() == "" {
			t.Errorf("pages of %d do not notice", viewer)
		}
	}
	found, err := w.Accounts.Directory(ctx, timelines.User, "", 10)
	w.must(err)
	if slices.ContainsFunc(found, func(a timelines.Account) bool { return a.Name == "eve" }) {
		t.Error("the directory has somebody who is hidden")
	}

	w.done(w.staff.Restore(ctx, mod, "eve"))
	if w.sets(bob.ID).BlockedBetween(eve.ID) || w.sets(0).BlockedBetween(eve.ID) {
		t.Error("eve is restored, and hidden")
	}
	_, _, err = w.Accounts.SignIn(ctx, "eve", password)
	w.must(err)
}

// A suspension for a time ends by itself.
func TestSuspensionLapses(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	mod, eve, bob := w.member("mia", admin.Moderator), w.person("eve"), w.person("bob")
	ends := time.Now().Add(time.Hour)
	w.done(w.staff.Suspend(ctx, mod, "eve", admin.Suspension{Reason: "rest", Ends: &ends, Hide: true}))
	var is *timelines.SuspendedError
	if _, _, err := w.Accounts.SignIn(ctx, "eve", password); !errors.As(err, &is) || is.Ends == nil || !is.Ends.Equal(ends.Truncate(time.Microsecond)) {
		t.Errorf("signing in: %v", err)
	}
	if _, n, err := w.staff.Lapse(ctx, 10); err != nil || n != 0 {
		t.Errorf("lifted %d, %v, before its time", n, err)
	}
	if _, err := w.Pool().Exec(ctx, `UPDATE suspensions SET ends_at = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Accounts.SignIn(ctx, "eve", password); err != nil {
		t.Errorf("its time is over: %v", err)
	}
	if _, n, err := w.staff.Lapse(ctx, 10); err != nil || n != 1 {
		t.Errorf("lifted %d, %v, want 1", n, err)
	}
	n, err := w.AccessClock(ctx)
	w.done(timelines.Change{Clock: n}, err)
	if w.sets(bob.ID).BlockedBetween(eve.ID) {
		t.Error("eve is still hidden")
	}
	acts, err := w.staff.Acts(ctx, "eve", 0, 1)
	w.must(err)
	if len(acts) != 1 || acts[0].Kind != admin.Restore || acts[0].By != "" {
		t.Errorf("acts: %+v", acts)
	}
}

// Somebody signs in while they are being suspended. Either the session is ended or it is never begun.
func TestSuspendedWhileSigningIn(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	w.person("eve")
	tx, err := w.Pool().Begin(ctx)
	w.must(err)
	for _, query := range []string{ // as Suspend does
		`SELECT FROM accounts WHERE name = 'eve' FOR NO KEY UPDATE`,
		`INSERT INTO suspensions (account_id, reason) SELECT id, 'spam' FROM accounts WHERE name = 'eve'`,
		`DELETE FROM sessions`,
	} {
		if _, err := tx.Exec(ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	answer := make(chan error)
	go func() {
		_, _, err := w.Accounts.SignIn(ctx, "eve", password)
		answer <- err
	}()
	for waits := 0; waits == 0; {
		w.must(w.Pool().QueryRow(ctx, `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waits))
	}
	w.must(tx.Commit(ctx))
	var is *timelines.SuspendedError
	if err := <-answer; !errors.As(err, &is) {
		t.Errorf("signing in: got %v, want a *SuspendedError", err)
	}
}

// An address that works once has somebody choose a password; it ends sessions, as any new password.
func TestLinks(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann, mia, bob := w.member("ann", admin.Administrator), w.member("mia", admin.Moderator), w.person("bob")
	_, err := w.staff.Link(ctx, mia, "bob")
	wants(t, "a moderator", err, timelines.ErrForbidden)
	first, err := w.staff.Link(ctx, ann, "bob")
	w.must(err)
	token, err := w.staff.Link(ctx, admin.By{}, "bob")
	w.must(err)
	_, err = w.Accounts.Linked(ctx, first, timelines.LinkPassword)
	wants(t, "a link that a later one ended", err, timelines.ErrNotFound)
	if a, err := w.Accounts.Linked(ctx, token, timelines.LinkPassword); err != nil || a.ID != bob.ID {
		t.Errorf("the link is for %q, %v", a.Name, err)
	}
	const chosen = "quite another one"
	session, _, err := w.Accounts.SignIn(ctx, "bob", password)
	w.must(err)
	c, name, err := w.Accounts.ChoosePassword(ctx, token, chosen)
	if w.done(c, err); name != "bob" {
		t.Errorf("chosen for %q", name)
	}
	s, _ := timelines.SessionOf(session)
	_, err = w.cache.Session(ctx, s)
	wants(t, "a session from before", err, timelines.ErrSignedOut)
	_, _, err = w.Accounts.SignIn(ctx, "bob", chosen)
	w.must(err)
	_, _, err = w.Accounts.ChoosePassword(ctx, token, "a third one, for now")
	wants(t, "a used link", err, timelines.ErrNotFound)
	for _, none := range []string{"", "x", session} {
		_, _, err = w.Accounts.ChoosePassword(ctx, none, chosen)
		wants(t, "no link", err, timelines.ErrNotFound)
	}
	token, err = w.staff.Link(ctx, admin.By{}, "bob")
	w.must(err)
	_, err = w.Pool().Exec(ctx, `UPDATE account_links SET expires_at = now()`)
	w.must(err)
	_, err = w.Accounts.Linked(ctx, token, timelines.LinkPassword)
	wants(t, "an old link", err, timelines.ErrNotFound)
	_, err = w.staff.CleanUp(ctx)
	w.must(err)
	var left int
	w.must(w.Pool().QueryRow(ctx, `SELECT count(*) FROM account_links`).Scan(&left))
	if left != 0 {
		t.Errorf("%d old links are left", left)
	}
}

// The link that a new site prints makes its administrator, once.
func TestFirstAdministrator(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann, bob := w.person("ann"), w.person("bob")
	one, err := w.staff.FirstLink(ctx)
	w.must(err)
	two, err := w.staff.FirstLink(ctx) // of another node
	w.must(err)
	_, err = w.staff.Claim(ctx, bob.ID, "nonsense")
	wants(t, "no link", err, timelines.ErrNotFound)
	w.done(w.staff.Claim(ctx, ann.ID, one))
	if w.sets(ann.ID).Role != admin.Administrator {
		t.Error("ann is no administrator")
	}
	_, err = w.staff.Claim(ctx, bob.ID, one)
	wants(t, "a used link", err, timelines.ErrNotFound)
	_, err = w.staff.Claim(ctx, bob.ID, two)
	wants(t, "a link of a site that has an administrator", err, timelines.ErrNotFound)
	if again, err := w.staff.FirstLink(ctx); err != nil || again != "" {
		t.Errorf("another link: %q, %v", again, err)
	}
}

// The sources of somebody who is suspended bring nothing.
func TestSourcesOfASuspendedPerson(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	mia, eve := w.member("mia", admin.Moderator), w.person("eve")
	begin := func() error {
		return w.InTx(ctx, func(tx pgx.Tx) error {
			_, err := w.Items.Begin(ctx, tx, timelines.ItemPlace{Author: eve.ID, To: "eve"})
			return err
		})
	}
	w.must(begin())
	w.done(w.staff.Suspend(ctx, mia, "eve", admin.Suspension{Reason: "spam"}))
	var invalid *timelines.InvalidError
	if err := begin(); !errors.As(err, &invalid) || invalid.Code != "to_forbidden" {
		t.Errorf("got %v, want to_forbidden", err)
	}
	w.done(w.staff.Restore(ctx, mia, "eve"))
	w.must(begin())
}
