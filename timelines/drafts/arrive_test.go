package drafts_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/timelines/rules"
)

const password = "a long enough one"

func owner(n byte) drafts.Owner { return drafts.Owner{n, 1} }

// bytes is an owner as it is stored.
func bytes(n byte) []byte { o := owner(n); return o[:] }

// write keeps a draft of a visitor as a form does that has seen the one there is.
func (w *town) write(o drafts.Owner, place, body string) {
	w.Helper()
	d := drafts.Draft{Place: place, Body: body, Destinations: []string{"somebody"}, Language: "ru"}
	all, err := w.Drafts.Visitors(w.Context(), o)
	w.must(err)
	for _, has := range all {
		if has.Place == place {
			d.SavedAt = has.SavedAt
		}
	}
	_, err = w.Drafts.SaveVisitors(w.Context(), o, d)
	w.must(err)
}

func (w *town) signIn(name string, brings drafts.Arrival) {
	w.Helper()
	_, _, err := w.Accounts.SignInWith(w.Context(), name, password, brings)
	w.must(err)
}

// id returns the id of the draft with that text, of an account or a visitor, 0 if there is none.
func (w *town) id(body string) (id int64) {
	w.Helper()
	w.must(w.Pool().QueryRow(w.Context(), `
		SELECT coalesce(max(id), 0) FROM (SELECT id, body FROM drafts UNION ALL SELECT id, body FROM visitor_drafts) d WHERE body = $1`, body).Scan(&id))
	return id
}

// all are the account's drafts as "place text", those parked with a "-" before them, by text.
func (w *town) all(account int64) []string {
	w.Helper()
	list, err := w.Drafts.All(w.Context(), account)
	w.must(err)
	var all []string
	for _, d := range list {
		mark := ""
		if d.Parked {
			mark = "-"
		}
		all = append(all, mark+d.Place+" "+d.Body)
	}
	slices.Sort(all)
	return all
}

// TestArrive: the transaction that begins a session does what Decide says (G3, G4), and no text is lost.
func TestArrive(t *testing.T) {
	w := newTown(t)
	type draft struct{ place, body string }
	for i, tt := range []struct {
		name             string
		account, visitor []draft // each saved later than the one before; the visitor's after the account's
		accountLater     bool
		category         string
		place, body      string   // of the current draft then
		same             string   // the text whose draft keeps its id in the current one
		all              []string // the texts that are listed
	}{
		{name: "(a) none, none", category: "/", place: "/"},
		{
			name: "(a) the account's is reset", account: []draft{{"/ann", "A"}}, category: "/", place: "/", same: "A",
			all: []string{"/ann A"},
		},
		{
			name: "(a) the visitor's is reset", visitor: []draft{{"/ann", "V"}}, category: "/", place: "/", same: "V",
			all: []string{"/ann V"},
		},
		{
			name: "(a) the account's rather than the visitor's", account: []draft{{"/ann", "A"}}, visitor: []draft{{"/bob", "V"}}, category: "/",
			place: "/", same: "A", all: []string{"/ann A", "/bob V"},
		},
		{
			name: "(a) both of one other place", account: []draft{{"/ann", "A"}}, visitor: []draft{{"/ann", "V"}}, category: "/",
			place: "/", same: "A", all: []string{"-/ann A", "/ann V"},
		},
		{
			name: "(b) the visitor's", account: []draft{{"/ann", "A"}}, visitor: []draft{{"/", "V"}}, category: "/",
			place: "/", body: "V", same: "V", all: []string{"/ V", "/ann A"},
		},
		{
			name: "(b) the account's", account: []draft{{"/", "A"}}, visitor: []draft{{"/ann", "V"}}, category: "/",
			place: "/", body: "A", same: "A", all: []string{"/ A", "/ann V"},
		},
		{
			name: "(b) the account's, which is not the one saved last", account: []draft{{"/", "A"}, {"/ann", "B"}}, category: "/",
			place: "/", body: "A", same: "A", all: []string{"/ A", "/ann B"},
		},
		{
			name: "(b) the visitor's, which is not the one saved last", visitor: []draft{{"/", "V"}, {"/ann", "W"}}, category: "/",
			place: "/", body: "V", same: "V", all: []string{"/ V", "/ann W"},
		},
		{
			name: "(c) both, the visitor's is newer", account: []draft{{"/", "A"}}, visitor: []draft{{"/", "V"}}, category: "/",
			place: "/", body: "V", same: "V", all: []string{"-/ A", "/ V"},
		},
		{
			name: "(c) both, the account's is newer", account: []draft{{"/", "A"}}, visitor: []draft{{"/", "V"}}, accountLater: true, category: "/",
			place: "/", body: "A", same: "A", all: []string{"-/ V", "/ A"},
		},
		{
			name: "(c) no category, the visitor's is newer", account: []draft{{"/", "A"}}, visitor: []draft{{"/ann", "V"}, {"/bob", "W"}},
			place: "/bob", body: "W", same: "W", all: []string{"/ A", "/ann V", "/bob W"},
		},
		{
			name: "(c) no category, the account's is newer", account: []draft{{"/", "A"}}, visitor: []draft{{"/", "V"}}, accountLater: true,
			place: "/", body: "A", same: "A", all: []string{"-/ V", "/ A"},
		},
		{name: "(c) no category, the visitor's alone", visitor: []draft{{"/", "V"}}, place: "/", body: "V", same: "V", all: []string{"/ V"}},
		{name: "(c) no category, the account's alone", account: []draft{{"/", "A"}}, place: "/", body: "A", same: "A", all: []string{"/ A"}},
	} {
		name, o := fmt.Sprintf("person%d", i), owner(byte(i))
		who := w.person(name)
		text := func(body string) string { return body + name } // of this row alone
		ours := func() {
			for _, d := range tt.account {
				w.save(who, d.place, text(d.body))
			}
		}
		if !tt.accountLater {
			ours()
		}
		for _, d := range tt.visitor {
			w.write(o, d.place, text(d.body))
		}
		if tt.accountLater {
			ours()
		}
		same := w.id(text(tt.same))
		w.signIn(name, drafts.Arrival{Owner: o, Category: tt.category})
		d, found, err := w.Drafts.Current(t.Context(), who)
		w.must(err)
		body := ""
		if tt.body != "" {
			body = text(tt.body)
		}
		if !found || d.Place != tt.place || d.Body != body {
			t.Errorf("%s: the current draft is %q at %q, want %q at %q", tt.name, d.Body, d.Place, body, tt.place)
		}
		var current int64
		w.must(w.Pool().QueryRow(t.Context(), `SELECT draft_id FROM current_drafts WHERE account_id = $1`, who).Scan(&current))
		if tt.same != "" && current != same {
			t.Errorf("%s: the current draft has the id %d, want %d of %q", tt.name, current, same, tt.same)
		}
		want := []string{}
		for _, listed := range tt.all {
			want = append(want, text(listed))
		}
		if got := w.all(who); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: listed %q, want %q", tt.name, got, want)
		}
		if left, err := w.Drafts.Visitors(t.Context(), o); err != nil || len(left) != 0 {
			t.Errorf("%s: the visitor still has %v, %v", tt.name, left, err)
		}
		// The form of the current draft stores into it.
		_, err = w.Drafts.Save(t.Context(), who, drafts.Draft{Place: d.Place, Body: "and on", SavedAt: d.SavedAt}, 1000, "")
		w.must(err)
		if d, _, _ := w.Drafts.Current(t.Context(), who); d.Body != "and on" {
			t.Errorf("%s: gone on with, it is %q", tt.name, d.Body)
		}
	}
	// All fields of a visitor's draft come along.
	ann := w.person("ann")
	w.write(owner(200), "/", "whole")
	w.signIn("ann", drafts.Arrival{Owner: owner(200)})
	if d := w.find(ann, "/"); d.Body != "whole" || d.Language != "ru" || !slices.Equal(d.Destinations, []string{"somebody"}) {
		t.Errorf("what came along is %+v", d)
	}
}

// A draft that another takes the place of is parked, opened again, and written by the form that has it.
func TestParkedDraft(t *testing.T) {
	w := newTown(t)
	ann, bob, o := w.person("ann"), w.person("bob"), owner(1)
	first := w.save(ann, "/", "first")
	w.write(o, "/", "second")
	w.signIn("ann", drafts.Arrival{Owner: o, Category: "/"})
	// A form that has the parked one stores into it, and the one in its place stays.
	at, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", Body: "first, and on", SavedAt: first.SavedAt}, 1000, "")
	w.must(err)
	if got := w.all(ann); !slices.Equal(got, []string{"-/ first, and on", "/ second"}) {
		t.Fatalf("the drafts are %q", got)
	}
	if d, _, _ := w.Drafts.Current(t.Context(), ann); d.Body != "first, and on" || !d.SavedAt.Equal(at) {
		t.Errorf("the current draft is %+v", d)
	}
	parked := func() string {
		t.Helper()
		list, err := w.Drafts.All(t.Context(), ann)
		w.must(err)
		for _, d := range list {
			if d.Parked {
				return d.Code
			}
		}
		t.Fatal("none is parked")
		return ""
	}
	if _, err := w.Drafts.Reopen(t.Context(), bob, parked()); !errors.Is(err, drafts.ErrNotFound) {
		t.Errorf("opened by somebody else: %v", err)
	}
	place, err := w.Drafts.Reopen(t.Context(), ann, parked())
	w.must(err)
	if got := w.all(ann); place != "/" || !slices.Equal(got, []string{"-/ second", "/ first, and on"}) {
		t.Errorf("opened at %s, the drafts are %q", place, got)
	}
	// Sent, its own draft goes and no other.
	_, err = w.Posts.Create(t.Context(), timelines.NewPost{Author: ann, Body: "x", Draft: drafts.Version{Place: "/", SavedAt: at}})
	w.must(err)
	if got := w.all(ann); !slices.Equal(got, []string{"-/ second"}) {
		t.Errorf("after it was sent the drafts are %q", got)
	}
	if _, found, _ := w.Drafts.Current(t.Context(), ann); found {
		t.Error("a draft that was sent is still the current one")
	}
}

// An account that has as many drafts as it may signs in all the same, and loses nothing.
func TestArriveWithTooMany(t *testing.T) {
	w := newTown(t)
	ann, o := w.person("ann"), owner(1)
	for i := range drafts.Most {
		w.save(ann, fmt.Sprintf("/p/%010d", i), "text")
	}
	for i := range drafts.MostOfVisitor {
		w.write(o, fmt.Sprintf("/place%d", i), "of a visitor")
	}
	w.signIn("ann", drafts.Arrival{Owner: o, Category: "/"})
	if n := len(w.all(ann)); n != drafts.Most+drafts.MostOfVisitor {
		t.Errorf("there are %d drafts", n)
	}
	if _, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/bob", Body: "one more"}, 1000, ""); !errors.Is(err, drafts.ErrMany) {
		t.Errorf("one more: %v", err)
	}
	w.save(ann, "/place0", "of a visitor, changed")
}

// Two sign-ins at once with one cookie move its drafts once.
func TestArriveTwiceAtOnce(t *testing.T) {
	w := newTown(t)
	for i := range 5 {
		names := []string{fmt.Sprintf("ann%d", i), fmt.Sprintf("bob%d", i)}
		ann, bob, o := w.person(names[0]), w.person(names[1]), owner(byte(i))
		w.write(o, "/", "only once")
		w.write(o, "/place", "this too")
		var all sync.WaitGroup
		for _, name := range append(names, names[0]) {
			all.Go(func() {
				if _, _, err := w.Accounts.SignInWith(t.Context(), name, password, drafts.Arrival{Owner: o}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if a, b := len(w.all(ann)), len(w.all(bob)); a+b != 2 || a != 0 && b != 0 {
			t.Errorf("ann has %d of the two drafts, bob %d", a, b)
		}
	}
}

// A visitor's save that is under way while they sign in (G4) does not land behind: it waits, is told that its draft is gone,
// and goes on in the account's draft with the text that it has.
func TestSavedWhileArriving(t *testing.T) {
	w := newTown(t)
	ann, o := w.person("ann"), owner(1)
	w.write(o, "/", "begun")
	all, err := w.Drafts.Visitors(t.Context(), o)
	w.must(err)
	d := drafts.Draft{Place: "/", Body: "begun, and on", SavedAt: all[0].SavedAt}
	arriving, err := w.Pool().Begin(t.Context())
	w.must(err)
	w.must(drafts.ArriveTx(t.Context(), arriving, ann, drafts.Arrival{Owner: o}))
	saved := make(chan error, 1)
	go func() {
		_, err := w.Drafts.SaveVisitors(t.Context(), o, d)
		saved <- err
	}()
	for waits := false; !waits; {
		select {
		case err := <-saved:
			t.Fatalf("the save did not wait: %v", err)
		default:
			w.must(w.Pool().QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits))
		}
	}
	w.must(arriving.Commit(t.Context()))
	if err := <-saved; !errors.Is(err, drafts.ErrGone) {
		t.Errorf("the late save: %v, want ErrGone", err)
	}
	if left, err := w.Drafts.Visitors(t.Context(), o); err != nil || len(left) > 0 {
		t.Errorf("the visitor has %v, %v", left, err)
	}
	// The form sends its text again, as the account's by now.
	_, err = w.Drafts.Save(t.Context(), ann, d, 1000, "")
	w.must(err)
	if got := w.all(ann); !slices.Equal(got, []string{"/ begun, and on"}) {
		t.Errorf("the drafts are %q", got)
	}
	// A visitor who did not sign in keeps a text anew whose draft went.
	if _, err := w.Drafts.SaveVisitors(t.Context(), owner(2), d); !errors.Is(err, drafts.ErrGone) {
		t.Errorf("of a draft that went: %v, want ErrGone", err)
	}
	d.SavedAt = time.Time{}
	_, err = w.Drafts.SaveVisitors(t.Context(), owner(2), d)
	w.must(err)
}

// A sign-in that is refused leaves the drafts where they are.
func TestArriveOrNot(t *testing.T) {
	w := newTown(t)
	ann, o := w.person("ann"), owner(1)
	w.write(o, "/", "kept")
	if _, _, err := w.Accounts.SignInWith(t.Context(), "ann", "a wrong password", drafts.Arrival{Owner: o}); !errors.Is(err, timelines.ErrBadCredentials) {
		t.Fatal(err)
	}
	_, err := w.Pool().Exec(t.Context(), `INSERT INTO suspensions (account_id, reason) VALUES ($1, '')`, ann)
	w.must(err)
	suspended := &timelines.SuspendedError{}
	if _, _, err := w.Accounts.SignInWith(t.Context(), "ann", password, drafts.Arrival{Owner: o}); !errors.As(err, &suspended) {
		t.Fatal(err)
	}
	if all, err := w.Drafts.Visitors(t.Context(), o); err != nil || len(all) != 1 || len(w.all(ann)) != 0 {
		t.Errorf("the visitor has %v, ann %q: %v", all, w.all(ann), err)
	}
}

func TestVisitorsDraftsAreBounded(t *testing.T) {
	w := newTown(t)
	o, long := owner(1), &rules.InvalidError{}
	save := func(o drafts.Owner, place, body string) error {
		_, err := w.Drafts.SaveVisitors(t.Context(), o, drafts.Draft{Place: place, Body: body, Uploads: []string{"Ab_1-x"}})
		return err
	}
	for _, place := range []string{"/p/0123456789", "/filter/messages?to=bob", "/filter/only-me", "/a", "//x", ""} {
		if err := save(o, place, "x"); !errors.Is(err, drafts.ErrInvalid) {
			t.Errorf("at %q: %v, want ErrInvalid", place, err)
		}
	}
	if err := save(o, "/", strings.Repeat("ж", rules.VisitorLong.Most+1)); !errors.As(err, &long) || long.Code != rules.VisitorLong.Code || long.Most != rules.VisitorLong.Most {
		t.Errorf("too long: %v", err)
	}
	w.must(save(o, "/", strings.Repeat("𝄞", rules.VisitorLong.Most)))
	for i := range drafts.MostOfVisitor - 1 {
		w.must(save(o, fmt.Sprintf("/place%d", i), "text"))
	}
	if err := save(o, "/bob", "text"); !errors.Is(err, drafts.ErrMany) {
		t.Errorf("one too many: %v", err)
	}
	newer := &drafts.NewerError{}
	if err := save(o, "/place0", "another"); !errors.As(err, &newer) || newer.Draft.Body != "text" {
		t.Errorf("by a form that has not seen it: %v", err)
	}
	w.write(o, "/place0", "changed")
	w.fill(drafts.MostOfVisitors-drafts.MostOfVisitor, 31*24*time.Hour)
	w.write(o, "/place0", "changed again")
	// The sweep goes in blocks, and leaves what was saved since.
	if n, err := w.Drafts.ExpireVisitors(t.Context(), 30*24*time.Hour, 1000); err != nil || n != 1000 {
		t.Errorf("one block of the sweep: %d, %v", n, err)
	}
	n, err := w.Maintenance.ExpireVisitorDrafts(t.Context(), 30*24*time.Hour, 20_000)
	if want := int64(drafts.MostOfVisitors - drafts.MostOfVisitor - 1000); err != nil || n != want {
		t.Errorf("the sweep: %d, %v, want %d", n, err, want)
	}
	if all, err := w.Drafts.Visitors(t.Context(), o); err != nil || len(all) != drafts.MostOfVisitor {
		t.Errorf("after the sweep the visitor has %d: %v", len(all), err)
	}
}

// fill stores drafts of that many further visitors, all saved that long ago.
func (w *town) fill(n int, ago time.Duration) {
	w.Helper()
	_, err := w.Pool().Exec(w.Context(), `
		INSERT INTO visitor_drafts (saved_at, owner, place, language, body, destinations)
		SELECT now() - $2::interval, sha256(gen_random_uuid()::text::bytea), '/', '', 'text', '{}' FROM generate_series(1, $1)`, n, ago)
	w.must(err)
}

// The whole site keeps no more than its bound (G3). Texts of the last day stay; older ones make room, the oldest first.
func TestFullSiteOfVisitors(t *testing.T) {
	w := newTown(t)
	save := func(n byte, place string) error {
		_, err := w.Drafts.SaveVisitors(t.Context(), owner(n), drafts.Draft{Place: place, Body: "new"})
		return err
	}
	has := func(n byte) int {
		t.Helper()
		all, err := w.Drafts.Visitors(t.Context(), owner(n))
		w.must(err)
		return len(all)
	}
	count := func() (n int) {
		t.Helper()
		w.must(w.Pool().QueryRow(t.Context(), `SELECT count(*) FROM visitor_drafts`).Scan(&n))
		return n
	}
	age := func(n byte, ago time.Duration) {
		t.Helper()
		_, err := w.Pool().Exec(t.Context(), `UPDATE visitor_drafts SET saved_at = now() - $2::interval WHERE owner = $1`, bytes(n), ago)
		w.must(err)
	}
	w.fill(drafts.MostOfVisitors-2, drafts.SafeOfVisitors-time.Hour)
	w.write(owner(1), "/", "of the last day")
	w.write(owner(2), "/", "of the last day")
	if err := save(3, "/"); !errors.Is(err, drafts.ErrFull) {
		t.Errorf("among texts of the last day: %v", err)
	}
	w.write(owner(1), "/", "gone on with")
	age(1, drafts.SafeOfVisitors+2*time.Hour)
	age(2, drafts.SafeOfVisitors+time.Hour)
	for i, want := range [][3]int{{0, 1, 1}, {0, 0, 2}} {
		w.must(save(3, fmt.Sprintf("/place%d", i)))
		if got := [3]int{has(1), has(2), has(3)}; got != want || count() != drafts.MostOfVisitors {
			t.Errorf("draft %d: the visitors have %v of %d, want %v of %d", i, got, count(), want, drafts.MostOfVisitors)
		}
	}
	if err := save(4, "/"); !errors.Is(err, drafts.ErrFull) {
		t.Errorf("with no older ones left: %v", err)
	}
	// Somebody who has as many as they may makes no room for another.
	for i := 2; i < drafts.MostOfVisitor; i++ {
		_, err := w.Pool().Exec(t.Context(), `DELETE FROM visitor_drafts WHERE id = (SELECT min(id) FROM visitor_drafts WHERE owner <> $1)`, bytes(3))
		w.must(err)
		w.must(save(3, fmt.Sprintf("/place%d", i)))
	}
	_, err := w.Pool().Exec(t.Context(), `UPDATE visitor_drafts SET saved_at = now() - interval '2 days' WHERE owner <> $1`, bytes(3))
	w.must(err)
	if err := save(3, "/bob"); !errors.Is(err, drafts.ErrMany) || count() != drafts.MostOfVisitors {
		t.Errorf("one too many: %v, %d are kept", err, count())
	}
	// Those who come at once exceed the bound for a moment; the next one brings it down.
	w.fill(7, 0)
	w.must(save(5, "/"))
	if n := count(); n != drafts.MostOfVisitors {
		t.Errorf("%d are kept, want %d", n, drafts.MostOfVisitors)
	}
}

// The key is the same for all nodes, and stays.
func TestVisitorKey(t *testing.T) {
	w := newTown(t)
	first, err := w.Drafts.VisitorKey(t.Context())
	w.must(err)
	second, err := drafts.Open(w.Pool()).VisitorKey(t.Context())
	w.must(err)
	if len(first) != 32 || !slices.Equal(first, second) {
		t.Errorf("one node has the key %x, another %x", first, second)
	}
}

// An empty draft, which is there to be gone on with, takes no room, and any form may replace it.
func TestEmptyDraft(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	for i := range drafts.Most - 1 {
		w.save(ann, fmt.Sprintf("/p/%010d", i), "text")
	}
	w.signIn("ann", drafts.Arrival{Category: "/chess-club"})
	if d, found, _ := w.Drafts.Current(t.Context(), ann); !found || d.Place != "/chess-club" || !slices.Equal(d.Destinations, []string{"chess-club"}) {
		t.Fatalf("the current draft is %+v", d)
	}
	if n := len(w.all(ann)); n != drafts.Most-1 {
		t.Errorf("%d drafts are listed", n)
	}
	_, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/chess-club", Body: "of a form from before"}, 1000, "")
	w.must(err)
	w.must(w.Drafts.Discard(t.Context(), ann, w.find(ann, "/chess-club").Version()))
	w.signIn("ann", drafts.Arrival{Category: "/chess-club"})
	w.save(ann, "/bob", "the hundredth")
	if d := w.find(ann, "/chess-club"); !d.SavedAt.IsZero() {
		t.Errorf("after another is current, there still is %+v", d)
	}
}
