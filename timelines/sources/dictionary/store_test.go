package dictionary_test

import (
	"errors"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/sources/dictionary"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// F17: a person, and the administrators of a group, edit their dictionaries. Nobody else reads them.
func TestWhoEdits(t *testing.T) {
	t.Parallel()
	posts := timelines.Open(testdb.New(t).Primary, nil, timelines.DefaultOptions())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	person := func(name string) int64 {
		t.Helper()
		a, err := posts.Accounts.SignUp(t.Context(), timelines.SignUp{Name: name, Title: name, Password: "wharf-otter-lamp"})
		must(err)
		return a.ID
	}
	ann, bob, cid := person("ann"), person("bob"), person("cid")
	_, _, err := posts.Groups.Create(t.Context(), timelines.NewGroup{Actor: ann, Name: "sailing", Title: "Sailing", Access: timelines.Private})
	must(err)
	words := dictionary.Open(posts)
	write := func(actor int64, owner, text string) error {
		t.Helper()
		entries, err := dictionary.Parse(text)
		must(err)
		return words.Write(t.Context(), actor, owner, entries)
	}
	must(write(ann, "ann", "art: painting\nboats: ship"))
	must(write(ann, "sailing", "boats: ship, vessel"))
	must(write(bob, "bob", "food: cake"))
	for name, want := range map[string]error{"ann": timelines.ErrForbidden, "sailing": timelines.ErrForbidden, "nobody": timelines.ErrNotFound} {
		if _, err := words.Read(t.Context(), bob, name); !errors.Is(err, want) {
			t.Errorf("bob reads that of %s: got %v, want %v", name, err, want)
		}
		if err := write(bob, name, "x"); !errors.Is(err, want) {
			t.Errorf("bob writes that of %s: got %v, want %v", name, err, want)
		}
	}
	entries, err := words.Read(t.Context(), ann, "sailing")
	must(err)
	same(t, "that of the group", entries, []dictionary.Entry{{Tag: "boats", Words: []string{"ship", "vessel"}}})

	// A person who writes a post is offered the tags of the places that it goes to.
	propose := func(writer int64, text string, to ...string) []string {
		t.Helper()
		tags, err := words.Propose(t.Context(), writer, to, text)
		must(err)
		return append([]string(nil), tags...) // nil if there are none
	}
	const text = "A Painting of a vessel, and cake"
	var none []string
	same(t, "own feed", propose(ann, text), []string{"art"})
	same(t, "own sub-feed and a group", propose(ann, text, "ann/photos", "sailing"), []string{"art", "boats"})
	same(t, "a tag that is there", propose(ann, text+" #Art"), none)
	same(t, "another's feed", propose(bob, text, "ann"), none)
	same(t, "a group of others", propose(bob, text, "sailing", "bob"), []string{"food"})
	same(t, "no dictionary", propose(cid, text), none)
	same(t, "no text", propose(ann, ""), none)

	must(write(ann, "ann", ""))
	same(t, "emptied", propose(ann, text), none)

	// Members are offered the tags of their group as long as they are members.
	_, _, err = posts.Groups.Create(t.Context(), timelines.NewGroup{Actor: ann, Name: "rowing", Title: "Rowing", Access: timelines.Protected})
	must(err)
	must(write(ann, "rowing", "boats: vessel"))
	same(t, "before bob is a member", propose(bob, text, "rowing"), none)
	_, _, err = posts.Subscriptions.Subscribe(t.Context(), bob, "rowing")
	must(err)
	same(t, "a member", propose(bob, text, "rowing"), []string{"boats"})
	_, err = posts.Groups.RemoveMember(t.Context(), ann, "rowing", "bob")
	must(err)
	same(t, "a member no more", propose(bob, text, "rowing"), none)
}
