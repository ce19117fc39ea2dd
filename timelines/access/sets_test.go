package access_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

// The sets that decide which forms are offered follow promotions, blocks and policies.
func TestSetsFollowModeration(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	club := w.group(bob, "club", timelines.Public)
	ann := w.member("ann", "club")
	c := access.New(w.Store)
	type offered struct{ Administers, BlockedBy access.IDs }
	look := func() offered {
		t.Helper()
		w.advance(c)
		s, err := c.Sets(t.Context(), ann.ID)
		w.must(err)
		return offered{s.Administers, s.BlockedBy}
	}
	here, none := access.NewIDs(club.ID), access.IDs{}
	w.same("at first", look(), offered{none, none})
	w.must(second(w.Groups.Block(t.Context(), bob.ID, "club", "ann")))
	w.same("blocked", look(), offered{none, here})
	w.must(second(w.Groups.Unblock(t.Context(), bob.ID, "club", "ann")))
	w.same("unblocked", look(), offered{none, none})
	w.must(second(w.Groups.Promote(t.Context(), bob.ID, "club", "ann")))
	w.same("promoted", look(), offered{here, none})
	w.must(second(w.Groups.Demote(t.Context(), bob.ID, "club", "ann")))
	w.same("demoted", look(), offered{none, none})

	policy := func() timelines.Writers {
		t.Helper()
		w.advance(c)
		a, err := c.AccountNamed(t.Context(), "club")
		w.must(err)
		return a.Writers
	}
	w.same("policy", policy(), timelines.WritersAnyone)
	w.must(second(w.Groups.SetWriters(t.Context(), bob.ID, "club", timelines.WritersAdmins)))
	w.same("policy", policy(), timelines.WritersAdmins)
}

// Each of a viewer's bans, hides and groups has a fingerprint of its own, and none once it is
// undone.
func TestFingerprint(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann, bob := w.user("ann"), w.user("bob")
	w.group(bob, "club", timelines.Public)
	code := w.post(bob).Code
	type act = func() (timelines.Change, error)
	fingerprint := func() string {
		t.Helper()
		sets, err := access.New(w.Store).Sets(ctx, ann.ID)
		w.must(err)
		return sets.Fingerprint()
	}
	found := map[string]string{fingerprint(): "nothing"}
	for _, tc := range []struct {
		what     string
		do, undo act
	}{
		{
			"a post", func() (c timelines.Change, err error) { _, c, err = w.Hides.HidePost(ctx, ann.ID, code); return c, err },
			func() (c timelines.Change, err error) {
				_, c, err = w.Hides.UnhidePost(ctx, ann.ID, code)
				return c, err
			},
		},
		{
			"a person", func() (timelines.Change, error) { return w.Hides.HideAccount(ctx, ann.ID, "bob") },
			func() (timelines.Change, error) { return w.Hides.UnhideAccount(ctx, ann.ID, "bob") },
		},
		{
			"a group", func() (timelines.Change, error) { return w.Hides.HideAccount(ctx, ann.ID, "club") },
			func() (timelines.Change, error) { return w.Hides.UnhideAccount(ctx, ann.ID, "club") },
		},
		{
			"a tag", func() (timelines.Change, error) { return w.Hides.HideTerm(ctx, ann.ID, " #Go ") },
			func() (timelines.Change, error) { return w.Hides.UnhideTerm(ctx, ann.ID, "#go") },
		},
		{
			"words", func() (timelines.Change, error) { return w.Hides.HideTerm(ctx, ann.ID, "Happy   end") },
			func() (timelines.Change, error) { return w.Hides.UnhideTerm(ctx, ann.ID, "happy end") },
		},
		{
			"a banned person", func() (timelines.Change, error) { return w.Bans.Ban(ctx, ann.ID, "bob") },
			func() (timelines.Change, error) { return w.Bans.Unban(ctx, ann.ID, "bob") },
		},
		{
			"a person who bans", func() (timelines.Change, error) { return w.Bans.Ban(ctx, bob.ID, "ann") },
			func() (timelines.Change, error) { return w.Bans.Unban(ctx, bob.ID, "ann") },
		},
	} {
		w.must(second(tc.do()))
		f := fingerprint()
		if other, ok := found[f]; ok {
			t.Errorf("%s: the fingerprint %q is that of %s", tc.what, f, other)
		}
		found[f] = tc.what
		w.must(second(tc.undo()))
		if f := fingerprint(); found[f] != "nothing" {
			t.Errorf("%s, undone: the fingerprint is %q, that of %s", tc.what, f, found[f])
		}
	}
}

// The sets decide as the statements of the primary store do.
func TestSetsDecideAsStatementsDo(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	people := []timelines.Account{w.user("ann"), w.user("bob"), w.user("cat")}
	open, closed := w.group(people[2], "open-club", timelines.Public), w.group(people[0], "closed-club", timelines.Private)
	w.post(people[2], "open-club")
	w.post(people[0], "closed-club")
	w.post(people[0], "closed-club", "open-club")
	for _, a := range people {
		w.post(a)
	}
	posts := w.posts()
	seen := 0
	for round := range 64 {
		w.exec(`TRUNCATE bans, show_banned`)
		for bit, ban := range [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}} {
			if round>>bit&1 == 1 {
				w.exec(`INSERT INTO bans (account_id, banned_id) VALUES ($1, $2)`, people[ban[0]].ID, people[ban[1]].ID)
			}
		}
		for bit, g := range []timelines.Account{open, closed} {
			if round>>(4+bit)&1 == 1 {
				for _, a := range people {
					w.exec(`INSERT INTO show_banned (account_id, group_id) VALUES ($1, $2)`, a.ID, g.ID)
				}
			}
		}
		cache := access.New(w.Store)
		for _, viewer := range people {
			sets, err := cache.Sets(ctx, viewer.ID)
			w.must(err)
			for _, p := range posts {
				levels, err := cache.Levels(ctx, p.decisive)
				w.must(err)
				var want bool
				w.must(w.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
					want, err = sn.MayRead(ctx, viewer.ID, p.id)
					return err
				}))
				hidden := levels.Hidden(sets, p.decisive).Has(p.author)
				if got := levels.OpensAny(sets, p.decisive) && !hidden; got != want {
					t.Fatalf("round %b: %s sees post %d of %d: by sets %v, by SQL %v", round, viewer.Name, p.id, p.author, got, want)
				}
				if hidden {
					seen++
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d of the cases hide anything", seen)
	}
}

type standing struct {
	id, author int64
	decisive   []int64
}

func (w *town) posts() []standing {
	w.Helper()
	rows, err := w.Pool().Query(w.Context(), `SELECT id, author_id, decisive FROM posts ORDER BY id`)
	w.must(err)
	posts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p standing, err error) {
		return p, row.Scan(&p.id, &p.author, &p.decisive)
	})
	w.must(err)
	return posts
}

// Sub-feeds come by account, the private one first, then by title.
func TestSubfeedsInOrder(t *testing.T) {
	w := newTown(t)
	bob, club := w.user("bob"), w.group(w.user("ann"), "club", timelines.Public)
	for slug, title := range map[string]string{"a": "Walks", "b": "Books"} {
		w.must(second(w.Feeds.Create(t.Context(), bob.ID, slug, title, timelines.Public)))
	}
	found, err := access.New(w.Store).Subfeeds(t.Context(), []int64{bob.ID, club.ID})
	w.must(err)
	var slugs []string
	for _, f := range found[bob.ID] {
		slugs = append(slugs, f.Slug+" "+f.Title)
	}
	w.same("bob's", slugs, []string{kinds.PrivateTerm + " ", "b Books", "a Walks"})
	w.same("the group's", len(found[club.ID]), 0)
}
