package stages_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/leaving"
	"riverrun/timelines/stages"
)

func TestMain(m *testing.M) { testdb.Main(m) }

type world struct {
	*testing.T
	*timelines.Store
	stages *stages.Store
}

func newWorld(t *testing.T) *world {
	t.Parallel()
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	store := timelines.Open(testdb.New(t).Primary, silent{}, o)
	return &world{t, store, stages.Open(store)}
}

// silent announces nothing.
type silent struct{}

func (silent) AnnounceTx(context.Context, pgx.Tx, ...timelines.Event) error { return nil }

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// person signs somebody up and in. Their session stands for that of a token.
func (w *world) person(name string) timelines.Viewer {
	w.Helper()
	_, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Password: "a long enough one"})
	w.must(err)
	cookie, a, err := w.Accounts.SignIn(w.Context(), name, "a long enough one")
	w.must(err)
	session, _ := timelines.SessionOf(cookie)
	return timelines.Viewer{AccountID: a.ID, Session: session}
}

func (w *world) post(v timelines.Viewer) timelines.Change {
	w.Helper()
	c, err := w.Posts.Create(w.Context(), timelines.NewPost{Author: v.AccountID, Body: "hello"})
	w.must(err)
	return c
}

func (w *world) put(v timelines.Viewer, post int64, stage string, replaces int64, payload string) (int64, error) {
	return w.stages.Put(w.Context(), v.Session, stages.Key{AccountID: v.AccountID, PostID: post, Stage: stage}, replaces, []byte(payload))
}

func (w *world) count(where string, args ...any) (n int) {
	w.Helper()
	w.must(w.Pool().QueryRow(w.Context(), `SELECT count(*) FROM post_states WHERE `+where, args...).Scan(&n))
	return n
}

func (w *world) code(err error, want string) {
	w.Helper()
	if is, ok := errors.AsType[*timelines.InvalidError](err); !ok || is.Code != want {
		w.Errorf("got %v, want the code %s", err, want)
	}
}

func (w *world) changed(err error, present int64) {
	w.Helper()
	if is, ok := errors.AsType[*stages.ChangedError](err); !ok || is.Version != present {
		w.Errorf("got %v, want that version %d is there", err, present)
	}
}

// If several programs replace one version, one succeeds; and so of those that make a state.
func TestOneOfManyWritesWins(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	post := w.post(ann).PostID
	var last int64
	for _, what := range []string{"make", "replace", "replace again"} {
		var mu sync.Mutex // guards won and lost
		won, lost := map[int64]string{}, []error{}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				payload := fmt.Sprint(i)
				version, err := w.put(ann, post, "language", last, payload)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					lost = append(lost, err)
				} else {
					won[version] = payload
				}
			})
		}
		all.Wait()
		got, err := w.stages.Get(t.Context(), stages.Key{AccountID: ann.AccountID, PostID: post, Stage: "language"})
		w.must(err)
		if len(won) != 1 || got.Version <= last || won[got.Version] != got.Payload {
			t.Fatalf("%s: %v won, the state is %+v", what, won, got)
		}
		for _, err := range lost {
			w.changed(err, got.Version)
		}
		last = got.Version
	}
}

// A version that a program knows from a state that was deleted replaces nothing that came later.
func TestNoVersionComesTwice(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	key := stages.Key{AccountID: ann.AccountID, PostID: w.post(ann).PostID, Stage: "language"}
	first, err := w.put(ann, key.PostID, key.Stage, 0, `"en"`)
	w.must(err)
	w.changed(w.stages.Delete(t.Context(), key, first+1), first)
	w.must(w.stages.Delete(t.Context(), key, first))
	w.changed(w.stages.Delete(t.Context(), key, first), 0)
	w.must(w.stages.Delete(t.Context(), key, 0))
	if _, err := w.stages.Get(t.Context(), key); !errors.Is(err, timelines.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	_, err = w.put(ann, key.PostID, key.Stage, first, `"ru"`)
	w.changed(err, 0)
	second, err := w.put(ann, key.PostID, key.Stage, 0, `"ru"`)
	w.must(err)
	_, err = w.put(ann, key.PostID, key.Stage, first, `"de"`)
	w.changed(err, second)
}

// The bounds of a state, and how many there may be, also of those that come at the same time.
func TestBounds(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	post := w.post(ann).PostID
	long := `"` + strings.Repeat("x", stages.MaxPayload-2) + `"`
	version, err := w.put(ann, post, strings.Repeat("a", 40), 0, " "+long+" ") // spaces do not count
	w.must(err)
	for _, stage := range []string{"", "A", "a b", "a/b", "é", strings.Repeat("a", 41), "a\n"} {
		_, err = w.put(ann, post, stage, 0, `1`)
		w.code(err, "stage_name")
	}
	_, err = w.put(ann, post, "a", 0, long[:1]+"y"+long[1:])
	w.code(err, "state_large")
	for _, payload := range []string{``, `{`, `1 2`, "\"\xff\"", "\"\x00\""} {
		_, err = w.put(ann, post, "a", 0, payload)
		w.code(err, "text_invalid")
	}
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for _, payload := range []string{`null`, `"\u0000\ud800"`, `1e999999`, `{"a":1,"a":2}`, deep} {
		version, err = w.put(ann, post, strings.Repeat("a", 40), version, payload)
		w.must(err)
		got, err := w.stages.Get(t.Context(), stages.Key{AccountID: ann.AccountID, PostID: post, Stage: strings.Repeat("a", 40)})
		if err != nil || got.Payload != payload || !json.Valid([]byte(got.Payload)) {
			t.Errorf("%.30s reads %.30s, %v", payload, got.Payload, err)
		}
	}
	var all sync.WaitGroup
	errs := make([]error, stages.Most+4)
	for i := range errs {
		all.Go(func() { _, errs[i] = w.put(ann, post, fmt.Sprint("stage-", i), 0, `{}`) })
	}
	all.Wait()
	refused := 0
	for _, err := range errs {
		if err != nil {
			refused++
			w.code(err, "stages_many")
		}
	}
	if there := w.count("true"); refused != 5 || there != stages.Most {
		t.Errorf("%d refused, %d states; want 5, %d", refused, there, stages.Most)
	}
	_, err = w.put(bob, post, "stage-0", 0, `{}`) // counts of his own
	w.must(err)
}

// A state goes with its post and its account, and none comes to a post that is deleted or from a token that ended.
func TestStatesGo(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	gone, stays := w.post(ann), w.post(ann)
	for _, v := range []timelines.Viewer{ann, bob} {
		for _, c := range []timelines.Change{gone, stays} {
			_, err := w.put(v, c.PostID, "language", 0, `"en"`)
			w.must(err)
		}
	}
	var before, after int64
	version := `SELECT version FROM posts WHERE id = $1`
	w.must(w.Pool().QueryRow(t.Context(), version, stays.PostID).Scan(&before))
	_, err := w.put(ann, stays.PostID, "preview", 0, `1`)
	w.must(err)
	if w.must(w.Pool().QueryRow(t.Context(), version, stays.PostID).Scan(&after)); after != before {
		t.Errorf("a state changed the post from version %d to %d", before, after)
	}
	_, err = w.Posts.Delete(t.Context(), ann.AccountID, gone.Code)
	w.must(err)
	if w.count("post_id = $1", gone.PostID) != 0 || w.count("true") != 3 {
		t.Error("the states of a deleted post are there, or others are not")
	}
	if _, err = w.put(bob, gone.PostID, "language", 0, `"en"`); !errors.Is(err, timelines.ErrNotFound) {
		t.Errorf("of a deleted post: got %v, want ErrNotFound", err)
	}
	l := leaving.Open(w.Store)
	_, err = l.Delete(t.Context(), admin.By{}, "bob", "", true)
	w.must(err)
	if _, err = w.put(bob, stays.PostID, "preview", 0, `1`); !errors.Is(err, timelines.ErrSignedOut) {
		t.Errorf("of an ended token: got %v, want ErrSignedOut", err)
	}
	carry := func(_ context.Context, c timelines.Change, err error) (timelines.Change, error) { return c, err }
	distribute := func(context.Context, []timelines.Touched) error { return nil }
	for more := true; more; {
		more, err = l.Step(t.Context(), bob.AccountID, carry, distribute)
		w.must(err)
	}
	if his, hers := w.count("account_id = $1", bob.AccountID), w.count("account_id = $1", ann.AccountID); his != 0 || hers != 2 {
		t.Errorf("%d states of the account that is gone, want 0; %d of the other, want 2", his, hers)
	}
}

// A state that comes while its post is deleted goes with it.
func TestAStateOfAPostThatIsBeingDeleted(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	for range 20 {
		c := w.post(ann)
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := w.put(ann, c.PostID, "language", 0, `1`); err != nil && !errors.Is(err, timelines.ErrNotFound) {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := w.Posts.Delete(t.Context(), ann.AccountID, c.Code); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
	}
	if n := w.count("true"); n != 0 {
		t.Errorf("%d states of deleted posts", n)
	}
}
