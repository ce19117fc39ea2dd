package timelines

import "testing"

// Whom most of the people follow whom somebody follows comes first: neither the viewer nor whom
// they follow, and nobody is asked with whom a ban stands between.
func TestFollowedByFriends(t *testing.T) {
	w := newTown(t)
	ann, bob, cat, dan := w.user("ann"), w.user("bob"), w.user("cat"), w.user("dan")
	one, two := w.user("one"), w.user("two")
	w.subscribe(ann, "bob")
	w.subscribe(ann, "cat")
	w.subscribe(bob, "ann")
	w.subscribe(bob, "cat")
	w.subscribe(bob, "one")
	w.subscribe(bob, "two")
	w.subscribe(cat, "two")
	w.subscribe(dan, "one") // whom ann does not follow
	w.subscribe(dan, "cat")
	found := func(what string, want ...int64) {
		t.Helper()
		got, err := w.Accounts.FollowedByFriends(t.Context(), ann.ID, 10)
		w.must(err)
		w.same(what, got, want)
	}
	found("by both, then by one", two.ID, one.ID)
	_, err := w.Bans.Ban(t.Context(), bob.ID, "ann")
	w.must(err)
	found("without the one who bans", two.ID)
}

func TestHasPosted(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	posted := func(what string, want bool) {
		t.Helper()
		got, err := w.Posts.HasPosted(t.Context(), ann.ID)
		w.must(err)
		w.same(what, got, want)
	}
	posted("nothing", false)
	code := w.post(ann, "hello").Code
	posted("a post", true)
	_, err := w.Posts.Delete(t.Context(), ann.ID, code)
	w.must(err)
	posted("a deleted post", false)
}
