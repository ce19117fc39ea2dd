package drafts_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/timelines/listings"
	"riverrun/timelines/rules"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// town is a store with people in it.
type town struct {
	*testing.T
	*timelines.Store
}

func newTown(t *testing.T) *town {
	t.Helper()
	t.Parallel()
	return &town{t, timelines.Open(testdb.New(t).Primary, nil, timelines.DefaultOptions())}
}

func (w *town) person(name string) int64 {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Title: name, Password: "a long enough one"})
	w.must(err)
	return a.ID
}

func (w *town) post(author int64, body string, to ...string) timelines.Change {
	w.Helper()
	c, err := w.Posts.Create(w.Context(), timelines.NewPost{Author: author, Body: body, To: to})
	w.must(err)
	return c
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// save keeps a draft as a form does that has seen the one there is.
func (w *town) save(account int64, place, body string) drafts.Version {
	w.Helper()
	at, err := w.Drafts.Save(w.Context(), account, drafts.Draft{Place: place, Body: body, SavedAt: w.find(account, place).SavedAt}, 1000, "")
	w.must(err)
	return drafts.Version{Place: place, SavedAt: at}
}

// find returns a draft, without a text if there is none.
func (w *town) find(account int64, place string) drafts.Draft {
	w.Helper()
	d, _, err := w.Drafts.Find(w.Context(), account, place)
	w.must(err)
	return d
}

func (w *town) body(account int64, place string) string {
	w.Helper()
	return w.find(account, place).Body
}

func TestDraftIsKeptAsItWasWritten(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	want := drafts.Draft{
		Place: "/", Body: "half a\nthought ", Language: "ru", Destinations: []string{"ann", "nobody-yet"}, Uploads: []string{"Ab_1-x"},
	}
	sent := want
	sent.Body = "half a\r\nthought "
	_, err := w.Drafts.Save(t.Context(), ann, sent, 1000, "key")
	w.must(err)
	got, found, err := w.Drafts.Find(t.Context(), ann, "/")
	w.must(err)
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(drafts.Draft{}, "SavedAt")); d != "" || !found || got.SavedAt.IsZero() {
		t.Errorf("found %v at %v (-saved +found):\n%s", found, got.SavedAt, d)
	}
	// Nobody else has it, and what they do at the same place is their own.
	if _, found, _ := w.Drafts.Find(t.Context(), bob, "/"); found {
		t.Error("bob finds the draft of ann")
	}
	w.save(bob, "/", "of bob")
	w.must(w.Drafts.Discard(t.Context(), bob, w.find(bob, "/").Version()))
	w.save(bob, "/", "of bob")
	if got := w.body(ann, "/"); got != want.Body {
		t.Errorf("after bob wrote, ann has %q", got)
	}
	// The later one wins, and an empty one is none.
	w.save(ann, "/", "another")
	if got := w.body(ann, "/"); got != "another" {
		t.Errorf("the later draft is %q", got)
	}
	w.save(ann, "/", " \n")
	if _, found, _ := w.Drafts.Find(t.Context(), ann, "/"); found {
		t.Error("an empty draft is kept")
	}
}

func TestDraftsAreBounded(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	for i := range drafts.Most {
		w.save(ann, fmt.Sprintf("/p/%010d", i), "text")
	}
	save := func(d drafts.Draft, longest int) error {
		_, err := w.Drafts.Save(t.Context(), ann, d, longest, "")
		return err
	}
	err := save(drafts.Draft{Place: "/", Body: "one more"}, 1000)
	if !errors.Is(err, drafts.ErrMany) {
		t.Errorf("one draft too many: %v", err)
	}
	w.save(ann, "/p/0000000001", "changed") // that is none more
	w.must(w.Drafts.Discard(t.Context(), ann, w.find(ann, "/p/0000000001").Version()))
	w.save(ann, "/", "one more")

	for code, d := range map[string]drafts.Draft{
		"body_long":        {Place: "/", Body: strings.Repeat("ж", 21)},
		"text_invalid":     {Place: "/", Body: "a\x00b"},
		"language_unknown": {Place: "/", Body: "x", Language: "english"},
		"to_many":          {Place: "/", Body: "x", Destinations: slices.Repeat([]string{"a"}, 51)},
		"files_loose":      {Place: "/", Body: "x", Uploads: slices.Repeat([]string{"a"}, 101)},
	} {
		if invalid, ok := errors.AsType[*rules.InvalidError](save(d, 20)); !ok || invalid.Code != code || code == "body_long" && invalid.Most != 20 {
			t.Errorf("%+.60v: %v, want %s", d, invalid, code)
		}
	}
	for _, d := range []drafts.Draft{
		{Place: "/settings?x", Body: "x"},
		{Place: "//elsewhere", Body: "x"},
		{Place: "/p/short", Body: "x"},
		{Place: "", Body: "x"},
		{Place: "/", Body: "x", Uploads: []string{"../x"}},
		{Place: "/", Body: "x", Destinations: []string{strings.Repeat("a", 101)}},
	} {
		if err := save(d, 1000); !errors.Is(err, drafts.ErrInvalid) {
			t.Errorf("%+.60v: %v, want ErrInvalid", d, err)
		}
	}
}

// A draft goes with what was made of it, in one transaction, and does not come back.
func TestDraftGoesWhenSent(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	draft := w.save(ann, "/", "a post")
	w.save(bob, "/", "of bob")
	refused := timelines.NewPost{Author: ann, Body: "a post", To: []string{"nobody-there"}, Draft: draft, Key: "k"}
	if _, err := w.Posts.Create(t.Context(), refused); err == nil {
		t.Fatal("a post to nobody was made")
	}
	if w.body(ann, "/") == "" {
		t.Error("the draft of a post that was refused is gone")
	}
	c, err := w.Posts.Create(t.Context(), timelines.NewPost{Author: ann, Body: "a post", Draft: draft, Key: "k"})
	w.must(err)
	if got := w.body(ann, "/"); got != "" {
		t.Errorf("the draft of a post is still there: %q", got)
	}
	if w.body(bob, "/") == "" {
		t.Error("the draft of somebody else is gone")
	}
	// A save that was under way and comes late.
	_, err = w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", Body: "a pos"}, 1000, "k")
	if !errors.Is(err, drafts.ErrSent) || w.body(ann, "/") != "" {
		t.Errorf("a late save: %v, and the draft is %q", err, w.body(ann, "/"))
	}
	place := "/p/" + c.Code
	draft = w.save(bob, place, "a comment")
	_, err = w.Comments.Create(t.Context(), timelines.NewComment{Author: bob, Code: c.Code, Body: "a comment", Draft: draft})
	w.must(err)
	if got := w.body(bob, place); got != "" {
		t.Errorf("the draft of a comment is still there: %q", got)
	}
}

// A form that has not seen the draft there is neither replaces nor removes it: another device
// wrote it, or another tab.
func TestAFormTouchesOnlyTheDraftItHas(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	phone := w.save(ann, "/", "a long essay")
	older := drafts.Version{Place: "/", SavedAt: phone.SavedAt.Add(-time.Microsecond)}
	for name, has := range map[string]drafts.Version{"none": {Place: "/"}, "an older one": older} {
		_, err := w.Posts.Create(t.Context(), timelines.NewPost{Author: ann, Body: "just a note", Draft: has})
		w.must(err)
		newer := &drafts.NewerError{}
		_, err = w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", Body: "just a note", SavedAt: has.SavedAt}, 1000, "")
		if !errors.As(err, &newer) || newer.Draft.Body != "a long essay" || !newer.Draft.SavedAt.Equal(phone.SavedAt) {
			t.Errorf("keeping by a form that has %s: %v, %+v", name, err, newer.Draft)
		}
		_, err = w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", SavedAt: has.SavedAt}, 1000, "") // emptied
		w.must(err)
		w.must(w.Drafts.Discard(t.Context(), ann, has))
		if got := w.body(ann, "/"); got != "a long essay" {
			t.Errorf("a form that has %s left the draft as %q", name, got)
		}
	}
	// The same text is no other: a reply was lost.
	again, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", Body: "a long essay"}, 1000, "")
	w.must(err)
	if !again.After(phone.SavedAt) {
		t.Errorf("saved at %v, then at %v", phone.SavedAt, again)
	}
	// A form that has the newest draft can replace and discard it.
	next := w.save(ann, "/", "a longer essay")
	w.must(w.Drafts.Discard(t.Context(), ann, next))
	_, err = w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", Body: "and on", SavedAt: next.SavedAt}, 1000, "")
	w.must(err)
	if got := w.body(ann, "/"); got != "and on" {
		t.Errorf("after its draft was discarded a form keeps %q", got)
	}
}

// A save that comes while its form is being sent waits for that, and leaves no draft.
func TestDraftSavedWhileSent(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	made := w.post(ann, "what the form made")
	sending, err := w.Pool().Begin(t.Context())
	w.must(err)
	_, err = sending.Exec(t.Context(), `INSERT INTO keys (account_id, post_id, key, asked) VALUES ($1, $2, 'k', sha256('x'))`, ann, made.PostID)
	w.must(err)
	w.must(drafts.RemoveTx(t.Context(), sending, ann, drafts.Version{Place: "/"}))
	saved := make(chan error, 1)
	go func() {
		_, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: "/", Body: "text"}, 1000, "k")
		saved <- err
	}()
	for waits := false; !waits; {
		select {
		case err := <-saved:
			t.Fatalf("the save did not wait: %v", err)
		default:
			w.must(w.Pool().QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits))
		}
	}
	w.must(sending.Commit(t.Context()))
	if err := <-saved; !errors.Is(err, drafts.ErrSent) || w.body(ann, "/") != "" {
		t.Errorf("the save: %v, and the draft is %q", err, w.body(ann, "/"))
	}
}

// A draft about a post that its author may not answer says nothing of the post, and the same
// whatever the reason is.
func TestDraftOfClosedPost(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	open, closed, deleted := w.post(bob, "open words"), w.post(bob, "secret words", "~eyes"), w.post(bob, "deleted words")
	_, err := w.Posts.Delete(t.Context(), bob, deleted.Code)
	w.must(err)
	eve := w.person("eve")
	of := w.post(eve, "words of eve")
	_, err = w.Bans.Ban(t.Context(), eve, "ann")
	w.must(err)
	never := "zzzzzzzzzz"
	for _, code := range []string{open.Code, closed.Code, deleted.Code, of.Code, never} {
		w.save(ann, "/p/"+code, "my words")
	}
	w.save(ann, "/", "a post")
	all, err := w.Drafts.All(t.Context(), ann)
	w.must(err)
	if len(all) != 6 || all[0].Place != "/" || all[0].Closed() {
		t.Fatalf("the list begins with %+v of %d", all[0], len(all))
	}
	for _, d := range all[1:] {
		if d.Body != "my words" {
			t.Errorf("%s: the text is %q", d.Place, d.Body)
		}
		if d.CommentOn() == open.Code {
			if d.Beginning != "open words" || d.PostAuthor != bob || d.Closed() {
				t.Errorf("of the open post: %+v", d)
			}
		} else if d.Beginning != "" || d.PostAuthor != 0 || d.Markup || !d.Closed() {
			t.Errorf("of a post closed to its reader the list says %+v", d)
		}
	}
}

// G4: a draft of a listing that is reset at sign-in is parked with its fields, and what takes its id has none.
func TestResetDraftOfAListing(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	place := drafts.ListingPlace("flea")
	fields := &listings.Fields{Price: "cheap", Currency: "EUR", Until: "soon"}
	_, err := w.Drafts.Save(t.Context(), ann, drafts.Draft{Place: place, Body: "a lamp", Listing: fields}, 1000, "")
	w.must(err)
	_, _, err = w.Accounts.SignInWith(t.Context(), "ann", "a long enough one", drafts.Arrival{Category: "/bob"})
	w.must(err)
	if d := w.find(ann, place); !cmp.Equal(d.Listing, fields) || d.Body != "a lamp" {
		t.Errorf("the listing's draft is %+v with %+v", d, d.Listing)
	}
	if d, found, err := w.Drafts.Current(t.Context(), ann); err != nil || !found || d.Place != "/bob" || d.Listing != nil {
		t.Errorf("the current draft is %+v, %v, %v", d, found, err)
	}
}
