package reports_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/reports"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// town is a site's store with its reports.
type town struct {
	*testing.T
	store   *timelines.Store
	reports *reports.Store
}

func newTown(t *testing.T) *town {
	t.Parallel()
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	store := timelines.Open(testdb.New(t).Primary, nil, o)
	return &town{t, store, reports.Open(store)}
}

func (w *town) person(name string) timelines.Account {
	w.Helper()
	a, err := w.store.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Password: "a long enough one"})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func (w *town) staff(name string, role admin.Role) admin.By {
	w.Helper()
	a := w.person(name)
	if _, err := admin.Open(w.store).SetRole(w.Context(), admin.By{}, name, role); err != nil {
		w.Fatal(err)
	}
	return admin.By{AccountID: a.ID}
}

// refused fails unless err is an InvalidError of that code.
func (w *town) refused(what string, err error, code string) {
	w.Helper()
	var is *timelines.InvalidError
	if !errors.As(err, &is) || is.Code != code {
		w.Errorf("%s: got %v, want %s", what, err, code)
	}
}

// A thing is reported once by a person until the report is done, and a report that is done stays so.
func TestStates(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob := w.person("bob")
	w.person("eve")
	mia := w.staff("mia", admin.Moderator)
	eve := reports.Thing{Name: "eve"}
	_, err := w.reports.File(ctx, bob.ID, eve, "boring", "")
	w.refused("no reason", err, "report_reason")
	_, err = w.reports.File(ctx, bob.ID, reports.Thing{Name: "bob"}, reports.Spam, "")
	w.refused("oneself", err, "report_self")
	code, err := w.reports.File(ctx, bob.ID, eve, reports.Spam, " pills ")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.reports.File(ctx, bob.ID, eve, reports.Abuse, "")
	w.refused("again", err, "report_again")
	state := func(want reports.State, open int) {
		t.Helper()
		r, err := w.reports.Get(ctx, code)
		if err != nil || r.State != want || r.Reporter != "bob" || r.Account != "eve" || r.Body != "pills" {
			t.Errorf("got %+v, %v, want %s", r, err, want)
		}
		if n, err := w.reports.Open(ctx); err != nil || n != open {
			t.Errorf("got %d open, %v, want %d", n, err, open)
		}
	}
	state(reports.Waiting, 1)
	if _, err := w.reports.Take(ctx, mia, code); err != nil {
		t.Error(err)
	}
	state(reports.Taken, 1)
	_, err = w.reports.End(ctx, mia, code, "nobody", "")
	w.refused("no outcome", err, "report_outcome")
	if c, err := w.reports.End(ctx, mia, code, "nothing", "It is a chemist."); err != nil || c.Clock == 0 {
		t.Errorf("the reporter is not told: %+v, %v", c, err)
	}
	state(reports.Done, 0)
	_, err = w.reports.Take(ctx, mia, code)
	w.refused("take what is done", err, "report_done")
	if _, err := w.reports.AddNote(ctx, mia, code, "for the others"); err != nil {
		t.Errorf("a note about what is done: %v", err)
	}
	if _, err := w.reports.File(ctx, bob.ID, eve, reports.Spam, ""); err != nil {
		t.Errorf("again, once it is done: %v", err)
	}
	if _, err := w.reports.Take(ctx, admin.By{AccountID: bob.ID}, code); !errors.Is(err, timelines.ErrForbidden) {
		t.Errorf("somebody who is not of the staff takes a report: %v", err)
	}
}

// Nobody answers reports about themselves, and only administrators those about the staff.
func TestReportsAboutTheStaff(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob := w.person("bob")
	mia, max, ada := w.staff("mia", admin.Moderator), w.staff("max", admin.Moderator), w.staff("ada", admin.Administrator)
	code, err := w.reports.File(ctx, bob.ID, reports.Thing{Name: "max"}, reports.Abuse, "")
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[admin.By]error{mia: admin.ErrStaff, max: admin.ErrSelf} {
		if _, err := w.reports.Take(ctx, by, code); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if _, err := w.reports.Take(ctx, ada, code); err != nil {
		t.Error(err)
	}
}

// No more than MostADay reports of one person slip in when they come at once.
func TestManyReportsAtOnce(t *testing.T) {
	w := newTown(t)
	bob := w.person("bob")
	for i := range reports.MostADay + 5 {
		w.person("eve-" + strconv.Itoa(i))
	}
	var made, refused atomic.Int32
	var all sync.WaitGroup
	for i := range reports.MostADay + 5 {
		all.Go(func() {
			_, err := w.reports.File(context.WithoutCancel(t.Context()), bob.ID, reports.Thing{Name: "eve-" + strconv.Itoa(i)}, reports.Spam, "")
			var is *timelines.InvalidError
			switch {
			case err == nil:
				made.Add(1)
			case errors.As(err, &is) && is.Code == "reports_many":
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != reports.MostADay || refused.Load() != 5 {
		t.Errorf("%d made, %d refused", made.Load(), refused.Load())
	}
}
