package timelines

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"riverrun/timelines/snapshot"
)

func (w *town) subfeed(owner Account, slug string, level Level) int64 {
	w.Helper()
	_, err := w.Feeds.Create(w.Context(), owner.ID, slug, "My "+slug, level)
	w.must(err)
	return w.subfeedID(owner, slug)
}

func (w *town) subfeedID(owner Account, slug string) int64 {
	w.Helper()
	return value[int64](w, `SELECT id FROM timelines WHERE kind = 'subfeed' AND their_id = $1 AND term = $2`, owner.ID, slug)
}

// mayRead reports whether somebody may read a post, as a snapshot says.
func (w *town) mayRead(viewer int64, post int64) (ok bool) {
	w.Helper()
	w.must(w.InSnapshot(w.Context(), func(sn *snapshot.Snapshot) (err error) {
		ok, err = sn.MayRead(w.Context(), viewer, post)
		return err
	}))
	return ok
}

func TestSubfeeds(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	club := w.group(bob, "club", Public)
	w.heard.take()
	clock := w.clock()
	c, err := w.Feeds.Create(t.Context(), bob.ID, "photos", " My  photos ", Protected)
	w.must(err)
	id := w.subfeedID(bob, "photos")
	wrong := []Replace{
		{ViewerID: bob.ID, Kinds: []string{"home", "list"}},
		{ViewerID: bob.ID, Kinds: []string{"user", "subfeed"}, TheirIDs: []int64{bob.ID}},
		{AccountID: bob.ID, Kinds: []string{"home", "list", "user", "subfeed"}},
	}
	w.same("change", c, Change{Actor: bob.ID, Clock: clock + 1, Replace: wrong})
	everybody := replacements(wrong[2:]) // bob among them, whose job would do the same again
	w.same("announced", w.heard.take(), everybody)
	w.same("logged", w.logged(clock), []Invalidation{
		{N: clock + 1, AccountID: bob.ID, Kind: "account"}, {N: clock + 1, AccountID: bob.ID, Kind: "viewer"},
	})
	w.same("title", value[string](w, `SELECT title FROM subfeeds WHERE timeline_id = $1`, id), "My photos")

	for _, tc := range []struct {
		slug, title string
		level       Level
		code        string
	}{
		{"photos", "Again", Public, "slug_taken"},
		{"private", "Mine", Public, "slug_reserved"},
		{"likes", "Mine", Public, "slug_reserved"},
		{"subscribe", "Mine", Public, "slug_reserved"},
		{"", "Mine", Public, "slug_format"},
		{"Photos", "Mine", Public, "slug_format"},
		{"a/b", "Mine", Public, "slug_format"},
		{"\x00", "Mine", Public, "slug_format"},
		{strings.Repeat("a", 36), "Mine", Public, "slug_format"},
		{"good", " ", Public, "title_empty"},
		{"good", "Mine", 3, "level_unknown"},
	} {
		_, err := w.Feeds.Create(t.Context(), bob.ID, tc.slug, tc.title, tc.level)
		w.invalid(fmt.Sprintf("%q, %q, %v", tc.slug, tc.title, tc.level), err, tc.code)
	}
	_, err = w.Feeds.Create(t.Context(), club.ID, "photos", "Photos", Public)
	w.fails("a group's", err, ErrNotFound)

	// It gets another title, for somebody who remembers the old one.
	clock = w.clock()
	c, err = w.Feeds.Rename(t.Context(), bob.ID, "photos", "Pictures")
	w.must(err)
	w.same("renamed", c, Change{Actor: bob.ID, Clock: clock + 1})
	w.same("logged", w.logged(clock), []Invalidation{{N: clock + 1, AccountID: bob.ID, Kind: "account"}})
	w.same("title", value[string](w, `SELECT title FROM subfeeds WHERE timeline_id = $1`, id), "Pictures")

	// The fixed one stays as it is, and what is another's or nobody's is not found.
	_, err = w.Feeds.Rename(t.Context(), bob.ID, "private", "x")
	w.fails("renaming the private one", err, ErrForbidden)
	_, err = w.Feeds.Delete(t.Context(), bob.ID, "private")
	w.fails("deleting the private one", err, ErrForbidden)
	_, err = w.Feeds.SetSubfeedAccess(t.Context(), bob.ID, "private", Public)
	w.fails("opening the private one", err, ErrForbidden)
	ann := w.user("ann")
	for _, slug := range []string{"photos", "", "\x00", "A"} {
		_, err = w.Feeds.Rename(t.Context(), ann.ID, slug, "x")
		w.fails("renaming what is not there", err, ErrNotFound)
		_, err = w.Feeds.SetSubfeedAccess(t.Context(), ann.ID, slug, Public)
		w.fails("opening what is not there", err, ErrNotFound)
	}

	// Full, and empty again.
	p := w.post(bob, "a picture", "bob/photos")
	_, err = w.Feeds.Delete(t.Context(), bob.ID, "photos")
	w.invalid("deleting a full one", err, "subfeed_full")
	_, err = w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"bob"}})
	w.must(err)
	w.heard.take()
	c, err = w.Feeds.Delete(t.Context(), bob.ID, "photos")
	w.must(err)
	w.same("deleted", c, Change{Actor: bob.ID, Clock: w.clock(), Replace: wrong})
	w.same("deleted: announced", w.heard.take(), everybody)
	w.same("rows left", value[int](w, `SELECT count(*)::int FROM timeline_entries WHERE timeline_id = $1`, id), 0)
	_, err = w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "late", To: []string{"bob/photos"}})
	w.invalid("a post to what was deleted", err, "to_unknown")
	w.sound()
}

// A private sub-feed concerns its readers only: at first nobody else, in the end
// those admitted meanwhile, and more of them who follow its owner.
func TestPrivateSubfeedsConcernTheirReaders(t *testing.T) {
	w := newTown(t)
	bob, ann, cat, dan := w.user("bob"), w.user("ann"), w.user("cat"), w.user("dan")
	w.subscribe(ann, "bob")
	w.subscribe(dan, "bob")
	pages := func(viewer Account) Replace {
		return Replace{ViewerID: viewer.ID, Kinds: []string{"user", "subfeed"}, TheirIDs: []int64{bob.ID}}
	}
	homes := func(viewer Account) Replace {
		return Replace{ViewerID: viewer.ID, Kinds: []string{"home", "list"}}
	}
	w.heard.take()
	c, err := w.Feeds.Create(t.Context(), bob.ID, "diary", "Diary", Private)
	w.must(err)
	own := []Replace{homes(bob), pages(bob)}
	w.same("made", c.Replace, own)
	w.same("made: announced", w.heard.take(), replacements(own))
	for _, name := range []string{"ann", "cat"} {
		_, err = w.Feeds.Admit(t.Context(), bob.ID, "diary", name)
		w.must(err)
	}
	w.heard.take()
	c, err = w.Feeds.Delete(t.Context(), bob.ID, "diary")
	w.must(err)
	readers := append(own, homes(ann), pages(ann), pages(cat))
	w.same("deleted", c.Replace, readers)
	w.same("deleted: announced", w.heard.take(), replacements(readers))

	// Very many readers are not named one by one.
	diary := w.subfeed(bob, "diary", Private)
	w.exec(`
		WITH made AS (
			INSERT INTO accounts (kind, name, title) SELECT 'user', 'fan-' || i, 'fan' FROM generate_series(1, $2) i RETURNING id)
		INSERT INTO readers (timeline_id, account_id) SELECT $1, id FROM made`, diary, manyReaders+1)
	c, err = w.Feeds.Delete(t.Context(), bob.ID, "diary")
	w.must(err)
	w.same("deleted for many", c.Replace, ofMyFeeds(bob.ID))
	w.sound()
}

// If many create the last allowed sub-feed at once, one succeeds.
func TestAsManySubfeedsAsAllowed(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	for i := range MaxSubfeeds - 1 {
		w.subfeed(bob, fmt.Sprint("page-", i), Public)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			_, err := w.Feeds.Create(context.WithoutCancel(t.Context()), bob.ID, fmt.Sprint("last-", i), "Last", Public)
			if err != nil {
				w.invalid("one more", err, "subfeeds_many")
			}
		})
	}
	all.Wait()
	w.same("sub-feeds", value[int](w, `SELECT count(*)::int FROM timelines WHERE kind = 'subfeed'`), MaxSubfeeds+1)
}

func TestSubfeedAccess(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	photos := w.subfeed(bob, "photos", Public)
	p := w.post(bob, "a picture", "bob/photos")
	both := w.post(bob, "a picture and a word", "bob/photos", "bob")
	w.heard.take()
	for _, tc := range []struct {
		level        Level
		post, both   bool
		ann, nobody  bool
		bothToNobody bool
		wrong        Replace
	}{
		{Protected, false, true, true, false, true, Replace{ViewerID: 0}},
		{Private, false, true, false, false, true, Replace{Everybody: true}},
		{Public, true, true, true, true, true, Replace{Everybody: true}},
	} {
		clock := w.clock()
		c, err := w.Feeds.SetSubfeedAccess(t.Context(), bob.ID, "photos", tc.level)
		w.must(err)
		w.same("change", c, Change{Actor: bob.ID, Clock: clock + 1, Replace: []Replace{tc.wrong}})
		w.same("announced", w.heard.take(), []Event{tc.wrong})
		w.same("logged", w.logged(clock), []Invalidation{{N: clock + 1, TimelineID: photos, Kind: "level"}})
		w.same("flags with "+tc.level.String(), []bool{w.isPublic(p.PostID), w.isPublic(both.PostID)}, []bool{tc.post, tc.both})
		w.same("who reads with "+tc.level.String(),
			[]bool{w.mayRead(ann.ID, p.PostID), w.mayRead(0, p.PostID), w.mayRead(0, both.PostID), w.mayRead(bob.ID, p.PostID)},
			[]bool{tc.ann, tc.nobody, tc.bothToNobody, true})
	}
	w.sound()
}

func TestReaders(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.group(bob, "club", Public)
	secret := w.post(bob, "a secret", "bob/private")
	w.same("read before", []bool{w.mayRead(ann.ID, secret.PostID), w.mayRead(bob.ID, secret.PostID), w.mayRead(0, secret.PostID)}, []bool{false, true, false})
	w.heard.take()
	step := func(what string, set func(context.Context, int64, string, string) (Change, error), slug string, reads bool, post int64) {
		t.Helper()
		clock := w.clock()
		c, err := set(t.Context(), bob.ID, slug, "ann")
		w.must(err)
		w.same(what, c, Change{Actor: bob.ID, Clock: clock + 1, Replace: []Replace{{ViewerID: ann.ID}}})
		w.same(what+": announced", w.heard.take(), []Event{Replace{ViewerID: ann.ID}})
		w.same(what+": logged", w.logged(clock), []Invalidation{
			{N: clock + 1, AccountID: bob.ID, Kind: "members"}, {N: clock + 1, AccountID: ann.ID, Kind: "viewer"},
		})
		w.same(what+": ann reads", w.mayRead(ann.ID, post), reads)
		c, err = set(t.Context(), bob.ID, slug, "ann")
		w.must(err)
		w.same(what+", again", c, Change{Actor: bob.ID, Clock: clock + 1})
		w.same(what+", again: announced", w.heard.take(), []Event(nil))
	}
	step("admitted", w.Feeds.Admit, "private", true, secret.PostID)
	step("removed", w.Feeds.Remove, "private", false, secret.PostID)

	w.subfeed(bob, "garden", Protected)
	bean := w.post(bob, "a bean", "bob/garden")
	w.heard.take()
	step("excluded", w.Feeds.Exclude, "garden", false, bean.PostID)
	feeds, err := w.Feeds.Own(t.Context(), bob.ID)
	w.must(err)
	type fact struct {
		slug               string
		empty              bool
		readers, excluded  int
		excludedAreNamedAs []string
	}
	var got []fact
	for _, f := range feeds {
		var names []string
		for _, a := range f.Excluded {
			names = append(names, a.Name)
		}
		got = append(got, fact{f.Slug, f.Empty, f.ReadersTotal, f.ExcludedTotal, names})
	}
	w.same("own feeds", fmt.Sprint(got), fmt.Sprint([]fact{
		{"", true, 0, 0, nil}, {"private", false, 0, 0, nil}, {"garden", false, 0, 1, []string{"ann"}},
	}))
	step("let in again", w.Feeds.Unexclude, "garden", true, bean.PostID)

	// The own feed: who is admitted does not follow; who is removed does not either.
	mine := w.post(bob, "mine")
	w.setAccess(bob, "", Private)
	w.heard.take()
	step("admitted to the feed", w.Feeds.Admit, "", true, mine.PostID)
	w.same("follows", value[int](w, `SELECT count(*)::int FROM subscriptions WHERE subscriber_id = $1`, ann.ID), 0)
	w.subscribe(ann, "bob")
	w.heard.take()
	step("removed from the feed", w.Feeds.Remove, "", false, mine.PostID)
	w.same("follows", value[int](w, `SELECT count(*)::int FROM subscriptions WHERE subscriber_id = $1`, ann.ID), 0)
	w.sound()

	for _, set := range []func(context.Context, int64, string, string) (Change, error){
		w.Feeds.Admit, w.Feeds.Remove, w.Feeds.Exclude, w.Feeds.Unexclude,
	} {
		for _, name := range []string{"nobody", "club", "", "\x00", "\xff"} {
			_, err := set(t.Context(), bob.ID, "private", name)
			w.invalid(fmt.Sprintf("%q", name), err, "to_unknown")
		}
		_, err := set(t.Context(), bob.ID, "private", "bob")
		w.invalid("oneself", err, "reader_self")
		for _, slug := range []string{"nothing", "\x00"} {
			_, err = set(t.Context(), bob.ID, slug, "ann")
			w.fails("no such sub-feed", err, ErrNotFound)
		}
	}
}

// Each change of a set at each level, whatever other set the person is in: their
// rivers are wrong if they read more or less from then on, and else those are that had
// the feed for a subscription that ended by it. Nodes forget what they may do always.
func TestWhomAReaderConcerns(t *testing.T) {
	for _, level := range []Level{Public, Protected, Private} {
		for _, slug := range []string{"", "photos"} {
			for _, follows := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v %q follows=%v", level, slug, follows), func(t *testing.T) {
					w := newTown(t)
					bob, ann := w.user("bob"), w.user("ann")
					w.subfeed(bob, "photos", Public)
					place := strings.TrimSuffix("bob/"+slug, "/")
					p := w.post(bob, "a picture", place)
					if follows {
						w.subscribe(ann, "bob")
						_, _, err := w.Lists.Create(t.Context(), NewList{Actor: ann.ID, Title: "some"})
						w.must(err)
						w.must(second(w.Lists.Edit(t.Context(), ann.ID, "some", "some", []string{"bob"})))
					}
					if slug == "" {
						w.setAccess(bob, "", level)
					} else {
						w.must(second(w.Feeds.SetSubfeedAccess(t.Context(), bob.ID, slug, level)))
					}
					everything := []Replace{{ViewerID: ann.ID}}
					ended := []Replace{
						{ViewerID: ann.ID, Kinds: []string{"home"}},
						{ViewerID: ann.ID, Kinds: []string{"list"}, TheirIDs: value[[]int64](w, `SELECT array_agg(id) FROM lists`)},
					}
					step := func(what string, set groupAct, changes bool, otherwise []Replace) {
						t.Helper()
						w.heard.take()
						before, read := w.clock(), w.mayRead(ann.ID, p.PostID)
						want := otherwise
						if changes {
							want = everything
						}
						c, err := set(t.Context(), bob.ID, slug, "ann")
						w.must(err)
						w.same(what, c, Change{Actor: bob.ID, Clock: before + 1, Replace: want})
						announced := replacements(want)
						if len(want) == 0 {
							announced = nil
						}
						w.same(what+": announced", w.heard.take(), announced)
						w.same(what+": logged", w.logged(before), []Invalidation{
							{N: before + 1, AccountID: bob.ID, Kind: "members"}, {N: before + 1, AccountID: ann.ID, Kind: "viewer"},
						})
						w.same(what+": reads otherwise", w.mayRead(ann.ID, p.PostID) != read, changes)
						w.sound()
					}
					protected, private := level == Protected, level == Private
					if follows && slug == "" { // a reader, by the subscription
						step("excluded, following", w.Feeds.Exclude, protected || private, ended)
						step("let in again", w.Feeds.Unexclude, protected, nil)
					}
					step("admitted", w.Feeds.Admit, private, nil)
					step("excluded, being admitted", w.Feeds.Exclude, protected || private, nil)
					step("admitted, being excluded", w.Feeds.Admit, protected || private, nil)
					step("removed", w.Feeds.Remove, private, nil)
					step("excluded", w.Feeds.Exclude, protected, nil)
					step("let in again", w.Feeds.Unexclude, protected, nil)
				})
			}
		}
	}
}

// Somebody follows while being removed: whichever comes first, they read no more.
func TestRemoveReaderAgainstSubscribe(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.setAccess(bob, "", Private)
	_, err := w.Feeds.Admit(t.Context(), bob.ID, "", "ann")
	w.must(err)
	subscribing := w.pauseInside()
	subscribed := during(func() error {
		_, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
		return err
	})
	subscribing.reached(t)
	removed := during(func() error {
		_, err := w.Feeds.Remove(t.Context(), bob.ID, "", "ann")
		return err
	})
	w.waitBlocked(1)
	subscribing.release()
	w.must(subscribed())
	w.must(removed())
	w.same("readers and followers", value[int](w, `SELECT count(*)::int FROM (
		SELECT subscriber_id FROM subscriptions WHERE subscriber_id = $1
		UNION ALL SELECT account_id FROM readers WHERE account_id = $1 AND timeline_id = $2) x`, ann.ID, bob.FeedID), 0)
	w.sound()
}
