package timelines

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"riverrun/timelines/kinds"
)

// Every list of accounts that grows without bound is read in parts, to its end and
// without what is another's.
func TestListsOfAccountsComeInParts(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	club := w.group(ann, "club", Public)
	w.group(bob, "pub", Public)
	w.subfeed(ann, "photos", Protected)
	w.subfeed(ann, "garden", Protected)
	w.subfeed(bob, "photos", Protected)
	lead := []string{"ann"}
	var people []string
	for _, i := range []int{4, 1, 3, 5, 2} {
		name := fmt.Sprint("p-", i)
		who := w.user(name)
		people, lead = append(people, name), append(lead, name)
		w.subscribe(who, "club")
		w.act(w.Groups.Promote, ann, "club", name)
		w.must(second(w.Feeds.Admit(t.Context(), ann.ID, "photos", name)))
		w.must(second(w.Feeds.Exclude(t.Context(), ann.ID, "garden", name)))
		w.must(second(w.Bans.Ban(t.Context(), ann.ID, name)))
		w.must(second(w.Hides.HideAccount(t.Context(), ann.ID, name)))
		other := w.user("x" + name)
		w.must(second(w.Bans.Ban(t.Context(), bob.ID, other.Name)))
		w.must(second(w.Hides.HideAccount(t.Context(), bob.ID, other.Name)))
		w.must(second(w.Groups.Block(t.Context(), ann.ID, "club", other.Name)))
		w.must(second(w.Groups.Block(t.Context(), bob.ID, "pub", name)))
		w.must(second(w.Feeds.Exclude(t.Context(), bob.ID, "photos", other.Name)))
	}
	slices.Sort(people)
	slices.Sort(lead)
	var others []string
	for _, name := range people {
		others = append(others, "x"+name)
	}
	photos, garden := w.timeline(kinds.Subfeed, ann.ID, "photos"), w.timeline(kinds.Subfeed, ann.ID, "garden")
	for what, tc := range map[string]struct {
		read func(context.Context, int64, string, int) ([]Account, error)
		of   int64
		want []string
	}{
		"administrators": {w.Groups.Administrators, club.ID, lead},
		"blocked":        {w.Groups.Blocked, club.ID, others},
		"banned":         {w.Bans.Banned, ann.ID, people},
		"hidden":         {w.Hides.Accounts, ann.ID, people},
		"readers":        {w.Feeds.Readers, photos, people},
		"excluded":       {w.Feeds.Excluded, garden, people},
	} {
		for _, limit := range []int{1, 2, 100} {
			w.same(fmt.Sprint(what, ", by ", limit), inPages(w, tc.read, tc.of, limit), tc.want)
		}
	}
}

// Requests come oldest first, those of one instant by name, to the actor and to the
// actor's groups, or to one group alone; each once, however they are cut.
func TestRequestsComeInParts(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.setAccess(ann, "", Private)
	club, den := w.group(ann, "club", Private), w.group(ann, "den", Private)
	foreign := w.group(bob, "pub", Private)
	var all, clubs []string
	ask := func(at int, name string, to Account) {
		t.Helper()
		w.exec(`INSERT INTO subscription_requests (subscriber_id, account_id, created_at)
			SELECT id, $2, timestamptz '2026-01-01' + $3 * interval '1 microsecond' FROM accounts WHERE name = $1`, name, to.ID, at)
	}
	for i := range 4 {
		w.user(fmt.Sprint("p-", i))
	}
	for at, names := range [][]string{{"p-3", "p-0", "p-2"}, {"p-1"}} {
		slices.Sort(names)
		for _, name := range names {
			for _, to := range []Account{ann, club, den} {
				all = append(all, fmt.Sprint(at, name, to.Name))
				if to.ID == club.ID {
					clubs = append(clubs, fmt.Sprint(at, name, to.Name))
				}
			}
		}
		slices.Reverse(names)
		for _, name := range names {
			for _, to := range []Account{den, foreign, club, ann} {
				ask(at, name, to)
			}
		}
	}
	for what, tc := range map[string]struct {
		group int64
		want  []string
	}{"all": {0, all}, "one group": {club.ID, clubs}, "another's group": {foreign.ID, nil}, "a person": {ann.ID, nil}} {
		for _, limit := range []int{1, 2, 5, 100} {
			var got []string
			var after RequestPlace
			for {
				page, err := w.Subscriptions.Requests(t.Context(), ann.ID, tc.group, after, limit)
				w.must(err)
				if len(page) == 0 {
					break
				}
				if len(page) > limit {
					t.Fatalf("%s: %d requests, want %d at most", what, len(page), limit)
				}
				for _, r := range page {
					got = append(got, fmt.Sprint(Micros(r.CreatedAt)%1e6, r.From.Name, r.To.Name))
				}
				after = page[len(page)-1].Place()
			}
			w.same(fmt.Sprint(what, ", by ", limit), got, tc.want)
		}
	}
}

// Hidden posts come last hidden first, and those that were hidden at one instant
// each once.
func TestHiddenPostsComeInParts(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	var want []string
	for i := range 7 {
		p := w.post(bob, fmt.Sprint("text ", i))
		for who, code := range map[int64]string{ann.ID: p.Code, bob.ID: w.post(bob, "another's hide").Code} {
			_, _, err := w.Hides.HidePost(t.Context(), who, code)
			w.must(err)
		}
		want = append(want, p.Code)
	}
	w.exec(`UPDATE hidden_posts h SET created_at = timestamptz '2026-01-01' + (SELECT count(*) / 3 FROM hidden_posts o
		WHERE o.account_id = h.account_id AND o.post_id < h.post_id) * interval '1 microsecond'`)
	slices.Reverse(want)
	for _, limit := range []int{1, 2, 3, 100} {
		var got []string
		var last HiddenPost
		for {
			page, err := w.Hides.Posts(t.Context(), ann.ID, last, limit)
			w.must(err)
			if len(page) == 0 {
				break
			}
			for _, p := range page {
				got = append(got, p.Code)
			}
			last = page[len(page)-1]
		}
		w.same(fmt.Sprint("by ", limit), got, want)
	}
}
