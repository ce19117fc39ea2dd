package timelines

import (
	"context"
	"slices"
	"strings"
	"testing"
)

func (w *town) setWriters(actor Account, group string, who Writers) Change {
	w.Helper()
	c, err := w.Groups.SetWriters(w.Context(), actor.ID, group, who)
	w.must(err)
	return c
}

// writes checks whether the author may post to a destination.
func (w *town) writes(author Account, to string, want bool, what string) {
	w.Helper()
	_, err := w.Posts.Create(w.Context(), NewPost{Author: author.ID, Body: "hello", To: []string{author.Name, to}})
	if want {
		if err != nil {
			w.Errorf("%s: %s to %s: got %v, want no error", what, author.Name, to, err)
		}
		return
	}
	w.invalid(what+": "+author.Name+" to "+to, err, "to_forbidden")
	if bad, ok := err.(*InvalidError); ok && bad.Value != to {
		w.Errorf("%s: refused for %q, want %q", what, bad.Value, to)
	}
}

func TestWhoMayPostToAGroup(t *testing.T) {
	for _, tc := range []struct {
		level   Level
		policy  Writers
		writers string // of stranger, excluded, member, left (an administrator who is no member), admin
	}{
		{Public, WritersAnyone, "stranger excluded member left admin"},
		{Public, WritersMembers, "member left admin"},
		{Public, WritersAdmins, "left admin"},
		{Protected, WritersAnyone, "stranger member left admin"},
		{Protected, WritersMembers, "member left admin"},
		{Protected, WritersAdmins, "left admin"},
		{Private, WritersAnyone, "member left admin"},
		{Private, WritersMembers, "member left admin"},
		{Private, WritersAdmins, "left admin"},
	} {
		t.Run(tc.level.String()+", "+string(tc.policy), func(t *testing.T) {
			w := newTown(t)
			people := map[string]Account{}
			for _, name := range []string{"stranger", "excluded", "member", "left", "admin", "blocked"} {
				people[name] = w.user(name)
			}
			club := w.group(people["admin"], "club", Public)
			for _, name := range []string{"member", "left", "blocked"} {
				w.subscribe(people[name], "club")
			}
			w.act(w.Groups.Promote, people["admin"], "club", "left")
			_, err := w.Subscriptions.Unsubscribe(t.Context(), people["left"].ID, "club")
			w.must(err)
			w.act(w.Groups.Block, people["admin"], "club", "blocked")
			w.exec(`INSERT INTO excluded (timeline_id, account_id) VALUES ($1, $2)`, club.FeedID, people["excluded"].ID)
			w.setWriters(people["admin"], "club", tc.policy)
			w.setAccess(people["admin"], "club", tc.level)
			for name, a := range people {
				w.writes(a, "club", slices.Contains(strings.Fields(tc.writers), name), tc.level.String()+", "+string(tc.policy))
			}
			w.sound()
		})
	}
}

func TestWhoMayWriteDirects(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	people := map[string]Account{}
	for _, name := range []string{"stranger", "fan", "friend", "mutual"} {
		people[name] = w.user(name)
	}
	w.subscribe(people["fan"], "bob")
	w.subscribe(people["mutual"], "bob")
	w.subscribe(bob, "friend")
	w.subscribe(bob, "mutual")
	for _, tc := range []struct {
		policy  Writers
		writers string
	}{
		{WritersAnyone, "stranger fan friend mutual"},
		{WritersFollowed, "friend mutual"},
		{WritersMutual, "mutual"},
		{WritersNobody, ""},
	} {
		before := w.clock()
		if tc.policy != WritersAnyone { // the default
			w.same("change", w.setWriters(bob, "", tc.policy), Change{Actor: bob.ID, Clock: before + 1})
			w.same("logged", w.logged(before), []Invalidation{{N: before + 1, AccountID: bob.ID, Kind: "account"}})
		}
		w.same("change, again", w.setWriters(bob, "", tc.policy), Change{Actor: bob.ID, Clock: w.clock()})
		for name, a := range people {
			w.writes(a, "bob", slices.Contains(strings.Fields(tc.writers), name), string(tc.policy))
		}
		// One's own side is no matter, and one's own name is one's own page.
		w.writes(bob, "stranger", true, string(tc.policy))
		w.post(bob, "to me", "bob")
		got, err := w.Accounts.ByName(t.Context(), "bob")
		w.must(err)
		w.same("the account's policy", got.Writers, tc.policy)
	}
	w.sound()
}

func TestSetWritersErrors(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.group(bob, "club", Public)
	for _, tc := range []struct {
		name  string
		actor int64
		group string
		who   Writers
		want  error // nil: an InvalidError
	}{
		{"a group's policy of one's own", bob.ID, "", WritersMembers, nil},
		{"a person's policy of a group", bob.ID, "club", WritersMutual, nil},
		{"no policy", bob.ID, "", "\x00", nil},
		{"who does not administer", ann.ID, "club", WritersAdmins, ErrForbidden},
		{"a person for a group", ann.ID, "bob", WritersAdmins, ErrNotFound},
		{"no group", ann.ID, "b\x00b", WritersAdmins, ErrNotFound},
		{"nobody", 999, "", WritersNobody, ErrNotFound},
	} {
		_, err := w.Groups.SetWriters(t.Context(), tc.actor, tc.group, tc.who)
		if tc.want == nil {
			w.invalid(tc.name, err, "writers_unknown")
			continue
		}
		w.fails(tc.name, err, tc.want)
	}
}

// The policy is narrowed, or the author blocked, while a post is being written.
// Whichever comes first, what was answered last holds.
func TestCreatePostAgainstSetWritersAndBlock(t *testing.T) {
	for name, narrow := range map[string]func(*town, Account) error{
		"policy": func(w *town, bob Account) error {
			_, err := w.Groups.SetWriters(w.Context(), bob.ID, "club", WritersAdmins)
			return err
		},
		"block": func(w *town, bob Account) error {
			_, err := w.Groups.Block(w.Context(), bob.ID, "club", "ann")
			return err
		},
	} {
		t.Run(name+" first", func(t *testing.T) {
			w := newTown(t)
			bob, ann := w.user("bob"), w.user("ann")
			club := w.group(bob, "club", Public)
			// The change is stopped before its last statement, the clock's.
			clock := w.hold()
			_, err := clock.Exec(t.Context(), `SELECT FROM access_clock FOR UPDATE`)
			w.must(err)
			narrowed := during(func() error { return narrow(w, bob) })
			w.waitBlocked(1)
			posted := during(func() error {
				_, err := w.Posts.Create(t.Context(), NewPost{Author: ann.ID, Body: "hello", To: []string{"club"}})
				return err
			})
			w.waitBlocked(2)
			w.must(clock.Rollback(t.Context()))
			w.must(narrowed())
			w.invalid("a post after it", posted(), "to_forbidden")
			w.same("posts", value[int](w, `SELECT count(*)::int FROM timeline_entries WHERE timeline_id = $1`, club.FeedID), 0)
		})
		t.Run("post before the "+name, func(t *testing.T) {
			w := newTown(t)
			bob, ann := w.user("bob"), w.user("ann")
			w.group(bob, "club", Public)
			posting := w.pauseInside()
			posted := during(func() error {
				_, err := w.Posts.Create(t.Context(), NewPost{Author: ann.ID, Body: "hello", To: []string{"club"}})
				return err
			})
			posting.reached(t)
			narrowed := during(func() error { return narrow(w, bob) })
			w.waitBlocked(1)
			posting.release()
			w.must(posted())
			w.must(narrowed())
		})
	}
}

// act does what an administrator does to a person in a group.
func (w *town) act(do func(ctx context.Context, actor int64, group, name string) (Change, error),
	actor Account, group, name string,
) Change {
	w.Helper()
	c, err := do(w.Context(), actor.ID, group, name)
	w.must(err)
	return c
}
