package timelines

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// follow makes subscriptions in one call of one import.
func (w *town) follow(follows ...ImportedFollow) (Change, error) {
	w.Helper()
	im, err := w.Imports.Start(w.Context(), "town")
	w.must(err)
	c, err := im.Follow(w.Context(), follows)
	w.must(im.Close(context.Background()))
	return c, err
}

// following returns all subscriptions, requests and readers, by name and without dates.
func (w *town) following() map[string][]string {
	w.Helper()
	found := map[string][]string{}
	for table, query := range map[string]string{
		"subscriptions": `SELECT format('%s %s %s', s.name, a.name, f.in_home) FROM subscriptions f
			JOIN accounts s ON s.id = f.subscriber_id JOIN accounts a ON a.id = f.account_id ORDER BY 1`,
		"requests": `SELECT format('%s %s', s.name, a.name) FROM subscription_requests f
			JOIN accounts s ON s.id = f.subscriber_id JOIN accounts a ON a.id = f.account_id ORDER BY 1`,
		"readers": `SELECT format('%s %s %s %s', s.name, t.kind, a.name, r.admitted) FROM readers r
			JOIN accounts s ON s.id = r.account_id JOIN timelines t ON t.id = r.timeline_id JOIN accounts a ON a.id = t.their_id ORDER BY 1`,
	} {
		found[table] = all(w, pgx.RowTo[string], query)
	}
	return found
}

// neighbours are accounts of all levels, and ann, who knows some of them already.
func neighbours(w *town) map[string]Account {
	w.Helper()
	known := map[string]Account{}
	for _, name := range []string{"ann", "bob", "open", "shut", "asked", "known", "banned", "banning", "excluding", "half"} {
		known[name] = w.user(name)
	}
	bob, ann := known["bob"], known["ann"]
	for name, level := range map[string]Level{"pub": Public, "den": Private, "hall": Private} {
		known[name] = w.group(bob, name, level)
	}
	w.setAccess(known["half"], "", Protected)
	for _, name := range []string{"shut", "asked"} {
		w.setAccess(known[name], "", Private)
	}
	w.subscribe(ann, "asked") // a request
	w.subscribe(ann, "known")
	w.act(w.Groups.Admit, bob, "hall", "ann")
	w.must(second(w.Bans.Ban(w.Context(), ann.ID, "banned")))
	w.must(second(w.Bans.Ban(w.Context(), known["banning"].ID, "ann")))
	w.must(second(w.Feeds.Exclude(w.Context(), known["excluding"].ID, "", "ann")))
	w.heard.take()
	return known
}

// An import's follows leave the rows that people leave who follow, ask and accept.
func TestImportFollow(t *testing.T) {
	live, w := newTown(t), newTownAlone(t)
	theirs := neighbours(live)
	for _, name := range []string{"open", "half", "shut", "pub", "den", "hall"} {
		live.subscribe(theirs["ann"], name)
	}
	live.subscribe(theirs["bob"], "ann")
	for _, name := range []string{"shut", "asked"} {
		live.must(second(live.Subscriptions.Accept(t.Context(), theirs[name].ID, "ann", "")))
	}
	live.must(second(live.Subscriptions.Accept(t.Context(), theirs["bob"].ID, "ann", "den")))

	known := neighbours(w)
	ann, bob, before := known["ann"].ID, known["bob"].ID, w.clock()
	follows := []ImportedFollow{{bob, ann}, {ann, known["open"].ID}}
	for _, name := range []string{"hall", "den", "pub", "open", "half", "shut", "asked", "known", "ann", "banned", "banning", "excluding"} {
		follows = append(follows, ImportedFollow{ann, known[name].ID})
	}
	c, err := w.follow(follows...)
	w.must(err)
	w.same("who follows, asks and reads", w.following(), live.following())
	w.sound()

	replaced := []Replace{{ViewerID: ann}, {ViewerID: bob, Kinds: []string{RiverHome}}}
	w.same("change", c, Change{Clock: before + 1, Replace: replaced})
	w.same("announced", w.heard.take(), replacements(replaced))
	logged := []Invalidation{{N: before + 1, Kind: InvalidSets, AccountID: ann}, {N: before + 1, Kind: InvalidSets, AccountID: bob}}
	for _, name := range []string{"ann", "open", "shut", "asked", "pub", "den", "hall", "half"} {
		logged = append(logged, Invalidation{N: before + 1, Kind: InvalidCounts, AccountID: known[name].ID})
	}
	byKind := cmp.Transformer("set", func(list []Invalidation) map[string]map[int64]int {
		set := map[string]map[int64]int{InvalidSets: {}, InvalidCounts: {}}
		for _, i := range list {
			set[i.Kind][i.AccountID]++
		}
		return set
	})
	if diff := cmp.Diff(logged, w.logged(before), byKind); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}

	// The second time there is nothing left to do.
	dump := w.dump()
	c, err = w.follow(follows...)
	w.must(err)
	w.same("change, again", c, Change{})
	w.same("announced, again", w.heard.take(), []Event(nil))
	w.same("the store, again", w.dump(), dump)
}

// A batch of many followers is one event, however many pairs it has.
func TestImportFollowOfMany(t *testing.T) {
	w := newTown(t)
	open, shut := w.user("open"), w.user("shut")
	w.setAccess(shut, "", Private)
	w.heard.take()
	people := w.people("p", manyReaders+1)
	for account, want := range map[int64]Replace{
		open.ID: {Everybody: true, Kinds: []string{RiverHome}},
		shut.ID: {Everybody: true},
	} {
		var follows []ImportedFollow
		for _, p := range people {
			follows = append(follows, ImportedFollow{p, account})
		}
		c, err := w.follow(follows...)
		w.must(err)
		w.same("replaced", c.Replace, []Replace{want})
		w.same("announced", w.heard.take(), []Event{want})
		w.same("followers", value[int](w, `SELECT count(*)::int FROM subscriptions WHERE account_id = $1`, account), len(people))
	}
	w.sound()
}

// Ids must be of accounts, and only people follow.
func TestImportFollowErrors(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	pub := w.group(bob, "pub", Public)
	w.heard.take()
	before := w.dump()
	for name, f := range map[string]ImportedFollow{
		"nobody follows": {ann.ID + 1000, bob.ID}, "follows nobody": {ann.ID, bob.ID + 1000}, "a group follows": {pub.ID, bob.ID},
	} {
		_, err := w.follow(ImportedFollow{ann.ID, bob.ID}, f)
		w.fails(name, err, ErrNotFound)
	}
	w.same("the store", w.dump(), before)
	w.same("announced", w.heard.take(), []Event(nil))
}

// Somebody who asks to follow a private account while an import makes them follow it waits,
// and leaves no request beside the subscription.
func TestImportFollowAgainstSubscribe(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.setAccess(bob, "", Private)
	following := w.pauseInside()
	followed := during(func() error {
		im, err := w.Imports.Start(t.Context(), "town")
		if err != nil {
			return err
		}
		_, err = im.Follow(t.Context(), []ImportedFollow{{ann.ID, bob.ID}})
		return errors.Join(err, im.Close(context.Background()))
	})
	following.reached(t)
	asked := during(func() error {
		_, requested, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
		if err == nil && requested {
			err = errors.New("ann asked for what she had")
		}
		return err
	})
	w.waitBlocked(1)
	following.release()
	w.must(followed())
	w.must(asked())
	w.same("relation", w.relation(ann, bob), Relation{Subscribed: true})
	w.sound()
}

// A feed that goes private while an import makes somebody follow it keeps that follower, and
// the level waits.
func TestImportFollowAgainstSetAccess(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.post(bob, "hello")
	following := w.pauseInside()
	followed := during(func() error { return second(w.follow(ImportedFollow{ann.ID, bob.ID})) })
	following.reached(t)
	set := during(func() error { return second(w.Feeds.SetAccess(t.Context(), bob.ID, "", Private)) })
	w.waitBlocked(1)
	following.release()
	w.must(followed())
	w.must(set())
	w.same("ann reads", w.reads(ann, w.timeline(kinds.Feed, bob.ID)), true)
	w.sound()
}
