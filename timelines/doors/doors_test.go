package doors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/admin"
	"riverrun/timelines/doors"
	"riverrun/timelines/site"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const password = "a long enough one"

// town is a site's store with people in it, and with what a node remembers of it.
type town struct {
	*testing.T
	*timelines.Store
	doors *doors.Store
	cache *access.Cache
}

// newTown is a town whose door is configured so.
func newTown(t *testing.T, door site.SignUp) *town {
	t.Helper()
	t.Parallel()
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations, o.SignUp = 64, 1, string(door)
	store := timelines.Open(testdb.New(t).Primary, nil, o)
	return &town{t, store, doors.Open(store), access.New(store)}
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) wants(what string, got, want error) {
	w.Helper()
	if !errors.Is(got, want) {
		w.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (w *town) person(name string) timelines.Account {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Password: password})
	w.must(err)
	return a
}

// member is somebody of the staff.
func (w *town) member(name string, role admin.Role) admin.By {
	w.Helper()
	a := w.person(name)
	_, err := admin.Open(w.Store).SetRole(w.Context(), admin.By{}, name, role)
	w.must(err)
	return admin.By{AccountID: a.ID}
}

// done is a change that is acknowledged: the node knows of it.
func (w *town) done(c timelines.Change, err error) {
	w.Helper()
	w.must(err)
	w.must(w.cache.Advance(w.Context(), timelines.Clock{Epoch: 1, N: c.Clock}))
}

func (w *town) set(door site.SignUp) {
	w.Helper()
	w.done(site.Open(w.Store).Set(w.Context(), admin.By{}, func(s *site.Site) { s.SignUp = &door }))
}

// comes is somebody who signs up by an invitation, which may be empty, with a sentence.
func (w *town) comes(name, invitation string) (waits bool, err error) {
	_, waits, c, err := w.doors.SignUp(w.Context(), doors.SignUp{
		SignUp: timelines.SignUp{Name: name, Password: password}, Invitation: invitation, Sentence: "I know ann.",
	})
	if err == nil {
		err = w.cache.Advance(w.Context(), timelines.Clock{Epoch: 1, N: c.Clock})
	}
	return waits, err
}

func (w *town) invite(by admin.By, uses int, groups ...string) doors.Invitation {
	w.Helper()
	i, err := w.doors.Invite(w.Context(), by, doors.New{Uses: uses, Days: 7, Groups: groups})
	w.must(err)
	return i
}

func (w *town) isNot(what string, err error, want doors.State) {
	w.Helper()
	var is *doors.InvitationError
	if !errors.As(err, &is) || is.State != want {
		w.Errorf("%s: got %v, want an invitation that is %s", what, err, want)
	}
}

func TestEachDoor(t *testing.T) {
	w := newTown(t, site.Closed)
	ctx := t.Context()
	_, err := w.comes("bob", "")
	w.wants("closed by the configuration", err, doors.ErrClosed)
	w.person("mona")
	_, err = w.comes("mona", "")
	w.wants("a name that is taken, to a stranger", err, doors.ErrClosed)
	_, err = w.doors.Invite(ctx, admin.By{}, doors.New{Uses: 1, Days: 1})
	w.wants("an invitation to a closed site", err, doors.ErrClosed)

	w.set(site.OpenToAll)
	if waits, err := w.comes("bob", ""); err != nil || waits {
		t.Errorf("open: waits %t, %v", waits, err)
	}
	_, err = w.comes("bob", "")
	w.wants("a name that is taken", err, timelines.ErrNameTaken)
	i := w.invite(admin.By{}, 5)

	w.set(site.ByInvitation)
	_, err = w.comes("cat", "")
	w.wants("nobody invited", err, doors.ErrUninvited)
	_, err = w.comes("mona", "")
	w.wants("nobody invited a name that is taken", err, doors.ErrUninvited)
	_, err = w.comes("mona", "abcde12345")
	w.isNot("no invitation for a name that is taken", err, doors.Unknown)
	if waits, err := w.comes("cat", i.Code); err != nil || waits {
		t.Errorf("invited: waits %t, %v", waits, err)
	}

	w.set(site.ByApproval)
	if waits, err := w.comes("dan", i.Code); err != nil || waits {
		t.Errorf("invited where others wait: waits %t, %v", waits, err)
	}
	if waits, err := w.comes("eve", ""); err != nil || !waits {
		t.Errorf("asks to be let in: waits %t, %v", waits, err)
	}

	w.set(site.Closed)
	_, err = w.comes("fay", i.Code)
	w.wants("invited to a closed site", err, doors.ErrClosed)
	w.done(site.Open(w.Store).Set(ctx, admin.By{}, func(s *site.Site) { s.SignUp = nil }))
	_, err = w.comes("fay", "")
	w.wants("as configured again", err, doors.ErrClosed)
	w.person("fay") // the command line has no door

	found, err := w.doors.Invitations(ctx, 0, 0, 10)
	w.must(err)
	if len(found) != 1 || !slices.Equal(found[0].Came, []string{"cat", "dan"}) || found[0].Used != 2 || found[0].State != doors.Good {
		t.Errorf("invitations: %+v", found)
	}
}

func TestInvitationsThatLetNobodyIn(t *testing.T) {
	w := newTown(t, site.ByInvitation)
	ctx := t.Context()
	mia, bob, cat := w.member("mia", admin.Moderator), admin.By{AccountID: w.person("bob").ID}, admin.By{AccountID: w.person("cat").ID}
	fails := func(what, code string, want doors.State) {
		t.Helper()
		_, err := w.comes("new", code)
		w.isNot(what, err, want)
		if got, err := w.doors.Find(ctx, code); err != nil || got != want {
			t.Errorf("%s: found it %s, %v", what, got, err)
		}
	}
	fails("of another site", strings.Repeat("A", 26), doors.Unknown)
	fails("no code", "'; --\x00", doors.Unknown)

	spent := w.invite(mia, 1)
	if _, err := w.comes("dan", spent.Code); err != nil {
		t.Fatal(err)
	}
	fails("spent", spent.Code, doors.Spent)

	withdrawn := w.invite(bob, 1)
	w.wants("somebody else withdraws it", w.doors.Withdraw(ctx, cat, withdrawn.Code), timelines.ErrNotFound)
	w.must(w.doors.Withdraw(ctx, bob, withdrawn.Code))
	w.must(w.doors.Withdraw(ctx, mia, withdrawn.Code))
	fails("withdrawn", withdrawn.Code, doors.Withdrawn)

	expired := w.invite(mia, 1)
	if _, err := w.Pool().Exec(ctx, `UPDATE invitations SET expires_at = now() WHERE code = $1`, expired.Code); err != nil {
		t.Fatal(err)
	}
	fails("expired", expired.Code, doors.Expired)

	ofBob := w.invite(bob, 1)
	w.done(admin.Open(w.Store).Suspend(ctx, mia, "bob", admin.Suspension{Reason: "spam"}))
	fails("of somebody suspended", ofBob.Code, doors.Withdrawn)
	if _, err := w.Accounts.ByName(ctx, "new"); !errors.Is(err, timelines.ErrNotFound) {
		t.Errorf("an account was made: %v", err)
	}
}

// Two who use the last of an invitation at once: one is refused.
func TestTwoUseTheLast(t *testing.T) {
	w := newTown(t, site.ByInvitation)
	i := w.invite(admin.By{}, 3)
	if _, err := w.comes("ann", i.Code); err != nil {
		t.Fatal(err)
	}
	const racers = 6
	errs := make(chan error, racers)
	for n := range racers {
		go func() {
			_, _, _, err := w.doors.SignUp(t.Context(), doors.SignUp{
				SignUp: timelines.SignUp{Name: fmt.Sprint("racer", n), Password: password}, Invitation: i.Code,
			})
			errs <- err
		}()
	}
	in := 0
	for range racers {
		if err := <-errs; err == nil {
			in++
		} else {
			w.isNot("one too many", err, doors.Spent)
		}
	}
	if in != 2 {
		t.Errorf("%d came in, want 2", in)
	}
}

func TestWhoMayInvite(t *testing.T) {
	w := newTown(t, site.ByInvitation)
	ctx := t.Context()
	mia, bob := w.member("mia", admin.Moderator), admin.By{AccountID: w.person("bob").ID}
	try := func(by admin.By, n doors.New) error {
		n.Days = 7
		_, err := w.doors.Invite(ctx, by, n)
		return err
	}
	var invalid *timelines.InvalidError
	if err := try(bob, doors.New{Uses: 2}); !errors.As(err, &invalid) || invalid.Field != "uses" {
		t.Errorf("for two newcomers: %v", err)
	}
	for range doors.PerWeek {
		w.must(try(bob, doors.New{Uses: 1}))
	}
	w.wants("one more in that week", try(bob, doors.New{Uses: 1}), doors.ErrMany)
	if _, err := w.Pool().Exec(ctx, `UPDATE invitations SET created_at = now() - interval '8 days'`); err != nil {
		t.Fatal(err)
	}
	w.must(try(bob, doors.New{Uses: 1}))
	for range doors.PerWeek + 1 {
		w.must(try(mia, doors.New{Uses: 100}))
	}
	w.set(site.ByApproval)
	w.wants("past the staff", try(bob, doors.New{Uses: 1}), timelines.ErrForbidden)

	for name, of := range map[string]admin.By{"sailing": bob, "chess": mia} {
		_, _, err := w.Groups.Create(ctx, timelines.NewGroup{Actor: of.AccountID, Name: name, Title: name, Access: timelines.Private})
		w.must(err)
	}
	w.wants("another's group", try(bob, doors.New{Uses: 1, Groups: []string{"sailing", "chess"}}), timelines.ErrForbidden)
	w.wants("the staff to another's group", try(mia, doors.New{Uses: 1, Groups: []string{"sailing"}}), timelines.ErrForbidden)
	w.wants("no group", try(bob, doors.New{Uses: 1, Groups: []string{"nothing"}}), timelines.ErrNotFound)
	if err := try(bob, doors.New{Uses: 50, Groups: []string{"sailing"}}); !errors.As(err, &invalid) || invalid.Code != "invitation_uses" {
		t.Errorf("for many, past the staff: %v", err)
	}
	i, later := w.invite(bob, 1, "sailing"), w.invite(bob, 1, "sailing")
	if !slices.Equal(i.Groups, []string{"sailing"}) || i.By != "bob" {
		t.Errorf("the invitation: %+v", i)
	}
	if waits, err := w.comes("new", i.Code); err != nil || waits {
		t.Fatalf("waits %t, %v", waits, err)
	}
	group, err := w.Accounts.ByName(ctx, "sailing")
	w.must(err)
	came, err := w.Accounts.ByName(ctx, "new")
	w.must(err)
	sets, err := w.cache.Sets(ctx, came.ID)
	w.must(err)
	if !slices.Equal(sets.Follows, []int64{group.ID}) || !slices.Contains(sets.Readable, group.FeedID) {
		t.Errorf("the newcomer follows %v and reads %v, want the group %d", sets.Follows, sets.Readable, group.FeedID)
	}
	if o, err := w.doors.Origin(ctx, came.ID); err != nil || !o.Invited || o.By != "bob" {
		t.Errorf("how the newcomer came: %+v, %v", o, err)
	}
	if o, err := w.doors.Origin(ctx, bob.AccountID); err != nil || o.Invited || !slices.Equal(o.Brought, []string{"new"}) {
		t.Errorf("whom bob brought: %+v, %v", o, err)
	}

	if _, err := w.Pool().Exec(ctx, `DELETE FROM group_admins WHERE account_id = $1`, bob.AccountID); err != nil {
		t.Fatal(err)
	}
	_, err = w.comes("late", later.Code)
	w.isNot("of somebody no longer in charge of the group", err, doors.Withdrawn)
}

func TestApproval(t *testing.T) {
	w := newTown(t, site.ByApproval)
	ctx := t.Context()
	mia, bob := w.member("mia", admin.Moderator), w.person("bob")
	signsIn := func(name string) error {
		_, _, err := w.Accounts.SignIn(ctx, name, password)
		return err
	}
	_, _, _, err := w.doors.SignUp(ctx, doors.SignUp{SignUp: timelines.SignUp{Name: "eve", Password: password}, Sentence: " "})
	var invalid *timelines.InvalidError
	if !errors.As(err, &invalid) || invalid.Code != "sentence_empty" {
		t.Errorf("without a sentence: %v", err)
	}
	for _, name := range []string{"eve", "dan"} {
		if waits, err := w.comes(name, ""); err != nil || !waits {
			t.Fatalf("%s waits %t, %v", name, waits, err)
		}
	}
	eve, err := w.Accounts.ByName(ctx, "eve")
	w.must(err)
	hidden := func(viewer int64) bool {
		t.Helper()
		s, err := w.cache.Sets(ctx, viewer)
		w.must(err)
		return s.BlockedBetween(eve.ID)
	}
	if !hidden(0) || !hidden(bob.ID) || hidden(mia.AccountID) {
		t.Error("whoever waits is hidden from all but the staff")
	}
	var is *timelines.WaitingError
	if err := signsIn("eve"); !errors.As(err, &is) || is.Refused != nil {
		t.Errorf("signing in while waiting: %v", err)
	}
	_, _, err = w.Accounts.SignIn(ctx, "eve", "another password")
	w.wants("a stranger who guesses", err, timelines.ErrBadCredentials)

	list, err := w.doors.Waiting(ctx, 0, 10)
	w.must(err)
	if len(list) != 2 || list[0].Name != "eve" || list[0].Sentence != "I know ann." {
		t.Errorf("waiting: %+v", list)
	}
	_, err = w.doors.Admit(ctx, admin.By{AccountID: bob.ID}, "eve")
	w.wants("a stranger admits", err, timelines.ErrForbidden)
	_, err = w.doors.Admit(ctx, mia, "nobody")
	w.wants("nobody is admitted", err, timelines.ErrNotFound)
	w.done(w.doors.Refuse(ctx, mia, "eve", "We do not know you."))
	if err := signsIn("eve"); !errors.As(err, &is) || is.Refused == nil || is.Answer != "We do not know you." {
		t.Errorf("signing in when refused: %v", err)
	}
	w.done(w.doors.Admit(ctx, mia, "dan"))
	w.must(signsIn("dan"))
	_, err = w.doors.Refuse(ctx, mia, "dan", "")
	w.wants("refused after admitted", err, doors.ErrAnswered)
	if refused, err := w.doors.Refused(ctx, 0, 10); err != nil || len(refused) != 1 || refused[0].Name != "eve" {
		t.Errorf("refused: %+v, %v", refused, err)
	}
	w.done(w.doors.Admit(ctx, mia, "eve"))
	w.must(signsIn("eve"))
	if hidden(0) || hidden(bob.ID) {
		t.Error("eve is let in, and hidden")
	}
	acts, err := admin.Open(w.Store).Acts(ctx, "", 0, 3)
	w.must(err)
	var got []string
	for _, a := range acts {
		got = append(got, a.By+" "+a.Kind+" "+a.Subject+" "+a.Detail)
	}
	if want := []string{"mia admit eve ", "mia admit dan ", "mia refuse eve We do not know you."}; !slices.Equal(got, want) {
		t.Errorf("acts: %q, want %q", got, want)
	}
}

func TestBacklog(t *testing.T) {
	w := newTown(t, site.ByApproval)
	if _, err := w.Pool().Exec(t.Context(), `
		WITH made AS (INSERT INTO accounts (kind, name, title) SELECT 'user', 'w' || n, 'w' FROM generate_series(101, $1) n RETURNING id)
		INSERT INTO applications (account_id, sentence) SELECT id, 'please' FROM made`, 100+doors.MaxWaiting-1); err != nil {
		t.Fatal(err)
	}
	if waits, err := w.comes("ann", ""); err != nil || !waits {
		t.Errorf("the last place: waits %t, %v", waits, err)
	}
	_, err := w.comes("bob", "")
	w.wants("one too many", err, doors.ErrFull)
	if n, err := w.doors.CountWaiting(t.Context()); err != nil || n != doors.MaxWaiting {
		t.Errorf("%d wait, %v", n, err)
	}
	i := w.invite(admin.By{}, 1)
	if waits, err := w.comes("bob", i.Code); err != nil || waits {
		t.Errorf("invited: waits %t, %v", waits, err)
	}
	w.done(w.doors.Refuse(t.Context(), admin.By{}, "ann", ""))
	if _, err := w.comes("cat", ""); err != nil {
		t.Error(err)
	}
}

// A site closes while somebody signs up: the sign-up comes before, or it is refused.
func TestClosedWhileSigningUp(t *testing.T) {
	w := newTown(t, site.OpenToAll)
	ctx := t.Context()
	tx, err := w.Pool().Begin(ctx)
	w.must(err)
	for _, query := range []string{`SELECT FROM site FOR UPDATE`, `UPDATE site SET signup = 'closed'`} { // as site.Set does
		if _, err := tx.Exec(ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	answer := make(chan error)
	go func() {
		_, _, _, err := w.doors.SignUp(context.WithoutCancel(ctx), doors.SignUp{SignUp: timelines.SignUp{Name: "late", Password: password}})
		answer <- err
	}()
	for waits := 0; waits == 0; {
		w.must(w.Pool().QueryRow(ctx, `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waits))
	}
	w.must(tx.Commit(ctx))
	w.wants("signing up", <-answer, doors.ErrClosed)
}
