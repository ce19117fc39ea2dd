package sources_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// workAll works all waiting loads of a source.
func (w *world) workAll(source int64) {
	w.Helper()
	k, err := w.sources.Take(w.Context(), source)
	w.must(err)
	defer func() { w.must(k.Close(w.Context())) }()
	l, err := k.Next(w.Context())
	w.must(err)
	w.end(k, &l)
}

// A held load is outdated when a later full list has all items again.
func TestConfirmOfAnOldLoadRemovesWhatIsThere(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "list", sources.Sync, `{}`)
	all := items("entry", 60)
	w.load(source, 100, all...)
	held := w.load(source, 100, all[:10]...) // the list was cut
	w.same("state of the cut list", held.State, sources.Held)
	again := w.load(source, 100, all...) // it is whole again
	w.same("state of the whole list", again.State, sources.Done)
	w.same("counts of the whole list", again.Counts, sources.Counts{Same: 60})
	if err := w.sources.Confirm(t.Context(), source, held.No); err == nil {
		w.workAll(source)
	}
	w.same("posts of items that are all in the list", len(w.shown()), 60)
}

// The guard takes its share of the items that were there before, not of those that the load brings.
func TestGuardCountsWhatTheLoadBrings(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "list", sources.Sync, `{}`)
	w.load(source, 100, items("entry", 100)...)
	l := w.load(source, 100, items("another", 500)...) // another file by mistake, or all ids are others
	w.same("state of a load that removes all there was", l.State, sources.Held)
	w.same("posts of before", value[int64](w, `SELECT count(*) FROM posts WHERE body LIKE 'entry%' AND deleted_at IS NULL`), int64(100))
}

func TestGuardCountsWhatIsNotPosted(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "list", sources.Sync, `{"rules": {"only": ["wanted"]}}`)
	all := items("entry", 100)
	wanted := items("wanted", 20)
	w.load(source, 100, append(append([]*formats.Item{}, all...), wanted...)...)
	w.same("posts", len(w.shown()), 20)
	l := w.load(source, 100, all...)
	w.same("state of a load that removes all posts there are", l.State, sources.Held)
	w.same("posts", len(w.shown()), 20)
}

// admins makes ann and bob administrators of a group.
func (w *world) admins() (ann, bob timelines.Account) {
	w.Helper()
	ann, bob = w.person("ann"), w.person("bob")
	g := w.group(ann, "sailing")
	_, err := w.pool.Exec(w.Context(), `INSERT INTO subscriptions (subscriber_id, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, bob.ID, g.ID)
	w.must(err)
	_, err = w.posts.Groups.Promote(w.Context(), ann.ID, "sailing", "bob")
	w.must(err)
	return ann, bob
}

// Another administrator may not delete the posts that a source made in somebody's own feed before it
// was moved to a group.
func TestAnotherAdministratorDeletesPostsOfAFeed(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.admins()
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Title: "My diary"})
	w.load(s.ID, 100, items("entry", 30)...)
	_, err := w.sources.Move(t.Context(), ann.ID, s.Code, "sailing", "")
	w.must(err)
	if _, err := w.sources.Remove(t.Context(), bob.ID, s.Code, sources.Delete); err == nil {
		k, err := w.sources.Take(t.Context(), s.ID)
		w.must(err)
		for gone := false; !gone; {
			_, gone, err = k.Remove(t.Context())
			w.must(err)
		}
		w.must(k.Close(t.Context()))
	}
	w.same("posts in ann's own feed after bob removed the source", len(w.shown()), 30)
}

// The token that an administrator made ends when they are no administrator any more, so that nobody
// posts in another person's name.
func TestTokenOfARemovedAdministrator(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.admins()
	s := w.add(ann, sources.New{Owner: "sailing", Way: sources.Push, Title: "Log book"})
	token, err := w.sources.Token(t.Context(), bob.ID, s.Code)
	w.must(err)
	_, err = w.posts.Groups.Demote(t.Context(), ann.ID, "sailing", "bob")
	w.must(err)
	_, err = w.posts.Groups.Block(t.Context(), ann.ID, "sailing", "bob")
	w.must(err)
	if _, err := w.sources.Pushed(t.Context(), s.Code, token); err == nil {
		l, err := w.sources.Receive(t.Context(), s.ID)
		w.must(err)
		k, err := w.sources.Take(t.Context(), s.ID)
		w.must(err)
		_, _, err = k.Push(t.Context(), l.No, sources.Batch{No: 1, Asked: [32]byte{1}, Lines: w.lines(item("a", "I resign. Ann", time.Hour))})
		w.must(err)
		w.must(k.Close(t.Context()))
	}
	w.same("posts by ann that the blocked bob wrote", w.list(`SELECT split_part(p.body, E'\n', 1) || ' by ' || a.name FROM posts p JOIN accounts a ON a.id = p.author_id`), []string{})
}

// The token that an administrator made ends with the appointment, however that ends, and does not
// come back with a new one. The tokens of other administrators, and of people's own sources, stay.
func TestTokensEndWithTheRole(t *testing.T) {
	for name, end := range map[string]func(w *world, ann, bob timelines.Account){
		"demoted": func(w *world, ann, _ timelines.Account) {
			_, err := w.posts.Groups.Demote(w.Context(), ann.ID, "sailing", "bob")
			w.must(err)
		},
		"demoted by oneself": func(w *world, _, bob timelines.Account) {
			_, err := w.posts.Groups.Demote(w.Context(), bob.ID, "sailing", "bob")
			w.must(err)
		},
		"demoted, removed and blocked": func(w *world, ann, _ timelines.Account) {
			for _, act := range []func(context.Context, int64, string, string) (timelines.Change, error){
				w.posts.Groups.Demote, w.posts.Groups.RemoveMember, w.posts.Groups.Block,
			} {
				_, err := act(w.Context(), ann.ID, "sailing", "bob")
				w.must(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ann, bob := w.admins()
			made := func(maker timelines.Account, owner, title string) (code, token string) {
				s := w.add(ann, sources.New{Owner: owner, Way: sources.Push, Title: title})
				token, err := w.sources.Token(t.Context(), maker.ID, s.Code)
				w.must(err)
				return s.Code, token
			}
			his, token := made(bob, "sailing", "Log book")
			hers, stays := made(ann, "sailing", "Weather")
			own, staysToo := made(ann, "ann", "Diary")
			works := func(when, code, token string, want bool) {
				t.Helper()
				s, err := w.sources.Pushed(t.Context(), code, token)
				if (err == nil) != want || err == nil && !s.HasToken {
					t.Errorf("%s: got %v, want the token to work: %v", when, err, want)
				}
				found, err := w.sources.Find(t.Context(), ann.ID, code)
				w.must(err)
				w.same(when+": has a token", found.HasToken, want)
			}
			works("an administrator", his, token, true)
			end(w, ann, bob)
			works("none any more", his, token, false)
			_, _, err := w.posts.Subscriptions.Subscribe(t.Context(), bob.ID, "sailing")
			w.must(err)
			_, err = w.posts.Groups.Promote(t.Context(), ann.ID, "sailing", "bob")
			w.must(err)
			works("an administrator again", his, token, false)
			works("of another administrator", hers, stays, true)
			works("of somebody's own source", own, staysToo, true)
			another, err := w.sources.Token(t.Context(), bob.ID, his)
			w.must(err)
			works("another token", his, another, true)
		})
	}
}

// A source of a group has no rules that lead to other groups, even if it was moved there. Its
// settings can still be saved.
func TestMovedSourceKeepsGroupRules(t *testing.T) {
	w := newWorld(t)
	ann, _ := w.admins()
	w.group(ann, "rowing")
	rules := sources.Settings{Rules: sources.Rules{Groups: []sources.GroupRule{{Category: "boats", Group: "rowing"}}}}
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Title: "Blog", Settings: rules})
	moved, err := w.sources.Move(t.Context(), ann.ID, s.Code, "sailing", "")
	w.must(err)
	// The form of a group's source has no field for groups, so it sends settings whose groups stay.
	if _, err := w.sources.Change(t.Context(), ann.ID, s.Code, "A better name", moved.Settings); err != nil {
		t.Errorf("save the settings: %v", err)
	}
	it := item("1", "A boat", time.Hour)
	it.Categories = []string{"boats"}
	w.load(s.ID, 10, it)
	w.same("where the item of the group sailing went", value[string](w, `
		SELECT a.name FROM posts p JOIN timelines t ON t.id = ANY(p.decisive) JOIN accounts a ON a.id = t.their_id`), "sailing")
}

// Items without a date in a later file do not all come to the top.
func TestManyUndatedItemsLift(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "list", sources.Append, `{}`)
	undated := func(prefix string, n int) []*formats.Item {
		list := items(prefix, n)
		for _, it := range list {
			it.At = time.Time{}
		}
		return list
	}
	w.load(source, 500, undated("first", 3)...)
	_, err := w.posts.Posts.Create(t.Context(), timelines.NewPost{Author: ann.ID, Body: "written here"})
	w.must(err)
	w.load(source, 500, undated("second", 1000)...)
	for i, text := range w.shown() {
		if text == "written here" {
			if i > 100 {
				t.Errorf("what somebody wrote stands below %d items of one file", i)
			}
			return
		}
	}
}

// In a first load, items without a date or with a date in the future stand below what others posted
// lately. They keep their order, and stand before the items whose dates are known. In a later load,
// items with a date in the future do not all come to the top.
func TestUndatedItemsOfAFirstLoad(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	blog := w.source(bob, "blog", sources.Append, `{}`)
	page := items("lately", 25) // an hour after the other, and one a week ago
	page = append(page, item("week", "a week ago", 7*24*time.Hour))
	w.load(blog, 500, page...)
	before := w.shown()

	list := items("row", 300)
	for i, it := range list {
		if it.At = (time.Time{}); i%2 == 0 {
			it.At = time.Now().AddDate(1, 0, 0)
		}
	}
	w.load(w.source(ann, "list", sources.Append, `{}`), 100, list...)
	w.same("posts", w.shown(), append(before, titles(list)...))

	dated := item("known", "of a known date", 2*365*24*time.Hour)
	other := []*formats.Item{{ID: "1", Title: "undated 1"}, dated, {ID: "2", Title: "undated 2"}}
	source := w.source(ann, "other", sources.Append, `{}`)
	w.load(source, 500, other...)
	all := w.shown()
	w.same("the end", all[len(all)-3:], []string{"of a known date", "undated 1", "undated 2"})

	_, err := w.posts.Posts.Create(t.Context(), timelines.NewPost{Author: ann.ID, Body: "written here"})
	w.must(err)
	for i, it := range list {
		it.ID, it.At = fmt.Sprint("new-", i), time.Now().AddDate(1, 0, 0)
	}
	w.load(source, 500, list...)
	if at := slices.Index(w.shown(), "written here"); at > 100 {
		t.Errorf("what somebody wrote stands below %d items that are dated in the future", at)
	}
}

// A preview is outdated when something was loaded after it.
func TestOldPreviewIsApplied(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "list", sources.Sync, `{}`)
	all := items("entry", 40)
	w.load(source, 100, all[4:]...)
	preview := value[int64](w, `
		WITH s AS (UPDATE sources SET loads = loads + 1 WHERE id = $1 RETURNING *)
		INSERT INTO loads (source_id, no, version, way, state, settings, dry, file, bytes)
		SELECT id, loads, version, way, 'previewed', settings, true, decode(repeat('01', 32), 'hex'), 1 FROM s RETURNING no`, source)
	w.load(source, 100, all...) // the list got four more items meanwhile
	no, err := w.sources.ApplyPreview(t.Context(), source, preview)
	if err != nil {
		return
	}
	t.Errorf("the file of preview %d is loaded again, as load %d, after a newer one", preview, no)
	k, err := w.sources.Take(t.Context(), source)
	w.must(err)
	l, err := k.Next(t.Context())
	w.must(err)
	w.must(k.Begin(t.Context(), &l, formats.Summary{Lines: 36}, [32]byte{9}))
	_, err = k.Apply(t.Context(), &l, w.lines(all[4:]...))
	w.must(err)
	w.end(k, &l)
	w.must(k.Close(t.Context()))
	w.same("posts", len(w.shown()), 40)
}

// A picture that kills the processes that read it is given up after some tries (see Try).
func TestPictureThatEndsProcesses(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "A blog", sources.Append, `{}`)
	w.load(source, 10, with(item("1", "One", time.Hour), "a.png"))
	for n := range 30 {
		list, err := w.photos().Claim(t.Context(), "img.example", 10)
		w.must(err)
		if len(list) == 0 {
			return
		}
		waits, err := w.photos().Try(t.Context(), list[0].ID)
		w.must(err)
		if !waits {
			return
		}
		_ = n // the process ends here, and the lease after five minutes
		_, err = w.pool.Exec(t.Context(), `UPDATE item_pictures SET next_at = now()`)
		w.must(err)
	}
	t.Error("after 30 ends of processes it is tried again")
}

// The guard asks for a list of few items, too, if the list is empty now or has other items.
func TestSmallListsGoWithoutAQuestion(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "list", sources.Sync, `{}`)
	w.load(source, 100, items("entry", 5)...)
	l := w.load(source, 100) // a CSV file with its first line alone
	w.same("state", l.State, sources.Held)
	w.same("posts", len(w.shown()), 5)
}

// A post that was edited here stays as it is, even when its item goes.
func TestEditedPostGoes(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "list", sources.Sync, `{"gone": "discussed"}`)
	all := items("entry", 40)
	w.load(source, 100, all...)
	code := value[string](w, `SELECT p.code FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.external_id = 'entry-0'`)
	_, err := w.posts.Posts.Edit(t.Context(), ann.ID, code, "in my own words, for an hour")
	w.must(err)
	w.load(source, 100, all[1:]...)
	w.same("the post that ann wrote anew", value[int64](w, `SELECT count(*) FROM posts WHERE body = 'in my own words, for an hour' AND deleted_at IS NULL`), int64(1))
}

// A feed shows only its last update. Two short updates with one address within an hour are two posts.
func TestRenamedFalsePositive(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "status", sources.Append, `{}`)
	first, second := item("a", "All trains run", 40*time.Minute), item("b", "No train runs", 5*time.Minute)
	first.URL, second.URL = "https://example.org/status", "https://example.org/status"
	w.load(source, 10, first)
	w.load(source, 10, second)
	w.same("posts", w.shown(), []string{"No train runs", "All trains run"})
}

// The program of a paused source can push nothing, even if it has a load open.
func TestPausedSourceIsPushed(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.Push, Title: "Log book"})
	l, err := w.sources.Receive(t.Context(), s.ID)
	w.must(err)
	_, err = w.sources.Pause(t.Context(), ann.ID, s.Code)
	w.must(err)
	k, err := w.sources.Take(t.Context(), s.ID)
	w.must(err)
	defer func() { w.must(k.Close(t.Context())) }()
	for n := int64(1); n <= 3; n++ {
		if _, _, err := k.Push(t.Context(), l.No, sources.Batch{No: n, Asked: [32]byte{byte(n)}, Lines: w.lines(item(string(rune('a'+n)), "noise", time.Hour))}); err != nil {
			return
		}
	}
	w.same("posts since it was paused", w.shown(), []string{})
}
