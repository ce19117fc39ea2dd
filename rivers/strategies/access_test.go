package strategies_test

import (
	"errors"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
)

// narrowings are what takes away from ann that she sees a post of bob, which stands in bob's
// feed or, where before says so, elsewhere.
var narrowings = []struct {
	what       string
	to         string // where the post stands; bob's feed if empty
	before, do func(w *town, ann, bob, cat timelines.Viewer, code string)
}{
	{"the post deleted", "", nil, func(w *town, _, bob, _ timelines.Viewer, code string) {
		w.act(named(w.store.Posts.Delete, bob, code))
	}},
	{"a feed gone private", "", func(w *town, ann, bob, cat timelines.Viewer, code string) {
		w.does(named(w.store.Subscriptions.Unsubscribe, ann, "bob"))
		w.does(w.following(ann, "cat"))
		w.does(w.liking(cat, code))
	}, func(w *town, _, bob, _ timelines.Viewer, _ string) {
		w.act(w.levelling(bob, "", timelines.Private))
	}},
	{"the author banned", "", nil, func(w *town, ann, _, _ timelines.Viewer, _ string) {
		w.act(named(w.store.Bans.Ban, ann, "bob"))
	}},
	{"the viewer banned", "", nil, func(w *town, _, bob, _ timelines.Viewer, _ string) {
		w.act(named(w.store.Bans.Ban, bob, "ann"))
	}},
	{"the liker banned", "", func(w *town, ann, _, cat timelines.Viewer, code string) {
		w.does(named(w.store.Subscriptions.Unsubscribe, ann, "bob"))
		w.does(w.following(ann, "cat"))
		w.does(w.liking(cat, code))
	}, func(w *town, ann, _, _ timelines.Viewer, _ string) {
		w.act(named(w.store.Bans.Ban, ann, "cat"))
	}},
	{"the liker's feed gone private", "", func(w *town, ann, _, cat timelines.Viewer, code string) {
		w.does(named(w.store.Subscriptions.Unsubscribe, ann, "bob"))
		w.does(w.following(ann, "cat"))
		w.does(w.liking(cat, code))
		w.does(w.levelling(cat, "", timelines.Private))
	}, func(w *town, _, _, cat timelines.Viewer, _ string) {
		w.act(reader(w.store.Feeds.Remove, cat, "", "ann"))
	}},
	{"a reader removed from a sub-feed", "bob/private", func(w *town, _, bob, _ timelines.Viewer, _ string) {
		w.does(reader(w.store.Feeds.Admit, bob, "private", "ann"))
	}, func(w *town, _, bob, _ timelines.Viewer, _ string) {
		w.act(reader(w.store.Feeds.Remove, bob, "private", "ann"))
	}},
	{"a reader excluded", "", func(w *town, _, bob, _ timelines.Viewer, _ string) {
		w.does(w.levelling(bob, "", timelines.Protected))
	}, func(w *town, _, bob, _ timelines.Viewer, _ string) {
		w.act(reader(w.store.Feeds.Exclude, bob, "", "ann"))
	}},
	{"a member removed from a group", "club", func(w *town, ann, _, cat timelines.Viewer, _ string) {
		w.does(named(w.store.Subscriptions.Unsubscribe, ann, "bob"))
		w.does(w.following(ann, "club"))
		w.does(w.levelling(cat, "club", timelines.Private))
	}, func(w *town, _, _, cat timelines.Viewer, _ string) {
		w.act(reader(w.store.Groups.RemoveMember, cat, "club", "ann"))
	}},
}

// After the acknowledgement of a narrowing no page of any strategy shows what it took away,
// though its Apply never ran (R4). A strategy that goes on showing it is found out.
func TestNothingNarrowedIsShown(t *testing.T) {
	for _, n := range narrowings {
		t.Run(n.what, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
			w.group(cat, "club", timelines.Public)
			w.does(w.following(ann, "bob"))
			to := []string{"bob"}
			if n.to != "" {
				to[0] = n.to
			}
			code := w.does(w.posting(bob, "secret", to...)).Code
			w.does(w.posting(ann, "my own"))
			if n.before != nil {
				n.before(w, ann, bob, cat, code)
			}
			broken, viewers := newForgetful(w), []timelines.Viewer{ann}
			for _, s := range w.all {
				if d := w.differences(s, viewers); len(d) > 0 {
					t.Fatalf("before: %s", d)
				}
			}
			if got := len(w.oracle(ann)); got != 2 {
				t.Fatalf("ann sees %d posts before, want both", got)
			}
			if d := w.differences(broken, viewers); len(d) > 0 {
				t.Fatalf("before: %s", d)
			}
			n.do(w, ann, bob, cat, code)
			for name, s := range w.all {
				for _, leak := range w.leaks(s, viewers) {
					t.Errorf("%s: %s", name, leak)
				}
			}
			if len(w.leaks(broken, viewers)) == 0 {
				t.Error("a strategy that shows what it showed before leaks nothing: nothing was narrowed")
			}
		})
	}
}

// A page is refused to those who are not signed in, or are not any more.
func TestOnlySignedInViewersHaveAHome(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ann := w.person("ann")
	for name, s := range w.all {
		if _, err := s.Page(w.ctx, timelines.Viewer{}, rivers.Cursor{}, 5); !errors.Is(err, rivers.ErrSignInNeeded) {
			t.Errorf("%s: anonymous: got %v, want %v", name, err, rivers.ErrSignInNeeded)
		}
		gone := timelines.Viewer{AccountID: ann.AccountID, Session: timelines.Session{1}}
		if _, err := s.Page(w.ctx, gone, rivers.Cursor{}, 5); !errors.Is(err, timelines.ErrSignedOut) {
			t.Errorf("%s: signed out: got %v, want %v", name, err, timelines.ErrSignedOut)
		}
	}
}
