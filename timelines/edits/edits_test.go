package edits_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/edits"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestEditsAreKeptForTheAuthor(t *testing.T) {
	t.Parallel()
	db := testdb.New(t).Primary
	store := timelines.Open(db, nil, timelines.DefaultOptions())
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	person := func(name string) int64 {
		a, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: name, Title: name, Password: "a long enough one"})
		must(a, err)
		return a.ID
	}
	ann, bob := person("ann"), person("bob")
	c, err := store.Posts.Create(t.Context(), timelines.NewPost{Author: ann, Body: "text 0"})
	must(c, err)
	of := func(account int64, before time.Time, limit int) []edits.Edit {
		t.Helper()
		found, err := store.Edits.Of(t.Context(), account, c.Code, before, limit)
		must(found, err)
		return found
	}
	if got := of(ann, time.Time{}, 10); len(got) != 0 {
		t.Errorf("a post that was never edited has %+v", got)
	}
	for i := range 60 {
		must(store.Posts.Edit(t.Context(), ann, c.Code, fmt.Sprint("text ", i+1)))
		must(store.Posts.Edit(t.Context(), ann, c.Code, fmt.Sprint("text ", i+1))) // the same again
	}
	all := of(ann, time.Time{}, 100)
	if len(all) != edits.Most {
		t.Fatalf("%d edits are kept, want %d", len(all), edits.Most)
	}
	for i, e := range all {
		if e.Was != fmt.Sprint("text ", 59-i) || e.Is != fmt.Sprint("text ", 60-i) || i > 0 && !e.At.Before(all[i-1].At) {
			t.Errorf("edit %d is %+v", i, e)
		}
	}
	if d := cmp.Diff(all[3:5], of(ann, all[2].At, 2)); d != "" {
		t.Errorf("the next two (-want +got):\n%s", d)
	}
	if got := of(bob, time.Time{}, 10); len(got) != 0 {
		t.Errorf("somebody else gets %+v", got)
	}
	must(store.Posts.Delete(t.Context(), ann, c.Code))
	var left int
	must(nil, db.QueryRow(t.Context(), `SELECT count(*) FROM former_texts`).Scan(&left))
	if got := of(ann, time.Time{}, 10); len(got) != 0 || left != 0 {
		t.Errorf("of a deleted post %+v is shown, %d are left", got, left)
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		was, is string
		want    []edits.Span
	}{
		{"a boat", "a boat", []edits.Span{{edits.Same, "a boat"}}},
		{"", "a boat", []edits.Span{{edits.Inserted, "a boat"}}},
		{"the last boat leaves", "the first boat leaves", []edits.Span{{edits.Same, "the "}, {edits.Deleted, "last"}, {edits.Inserted, "first"}, {edits.Same, " boat leaves"}}},
		{"see you at ten", "see them before noon", []edits.Span{{edits.Same, "see "}, {edits.Deleted, "you at ten"}, {edits.Inserted, "them before noon"}}},
		{"лодка ушла", "лодка пришла.", []edits.Span{{edits.Same, "лодка "}, {edits.Deleted, "ушла"}, {edits.Inserted, "пришла."}}},
	} {
		if d := cmp.Diff(c.want, edits.Compare(c.was, c.is)); d != "" {
			t.Errorf("%q to %q (-want +got):\n%s", c.was, c.is, d)
		}
	}
}

// The spans make up both texts, whatever they are.
func TestCompareLosesNothing(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "boat", " ", "\n", "ё", "🛶", "e\u0301", "-", ", "}), 0, 40).Draw(t, "words"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		was, is := text.Draw(t, "was"), text.Draw(t, "is")
		var old, now strings.Builder
		for _, s := range edits.Compare(was, is) {
			if s.Op != edits.Inserted {
				old.WriteString(s.Text)
			}
			if s.Op != edits.Deleted {
				now.WriteString(s.Text)
			}
		}
		if old.String() != was || now.String() != is {
			t.Fatalf("%q to %q makes %q to %q", was, is, old.String(), now.String())
		}
	})
}

// The longest posts with nothing in common are compared in a bounded time.
func BenchmarkCompareLongest(b *testing.B) {
	long := func(word string) string {
		var t strings.Builder
		for i := 0; t.Len() < timelines.MaxPostRunes; i++ {
			fmt.Fprint(&t, word, i*7919%5000, " ")
		}
		return t.String()
	}
	was, is := long("a"), long("b")
	for b.Loop() {
		edits.Compare(was, is)
	}
}
