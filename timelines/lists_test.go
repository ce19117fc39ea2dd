package timelines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

func (w *town) list(a Account, title string, members ...string) List {
	w.Helper()
	l, _, err := w.Lists.Create(w.Context(), NewList{Actor: a.ID, Title: title})
	w.must(err)
	if len(members) > 0 {
		_, err := w.Lists.Edit(w.Context(), a.ID, l.Slug, title, members)
		w.must(err)
	}
	return l
}

// lists are an account's lists, by title.
func (w *town) lists(a Account) []List {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), `
		SELECT l.id, l.slug, l.title, ARRAY(SELECT m.account_id FROM list_members m WHERE m.list_id = l.id ORDER BY 1) AS members
		FROM lists l WHERE l.account_id = $1 ORDER BY l.title, l.id`, a.ID)
	w.must(err)
	lists, err := pgx.CollectRows(rows, pgx.RowToStructByName[List])
	w.must(err)
	return lists
}

func (w *town) apart(a Account) []int64 {
	w.Helper()
	return value[[]int64](w, `SELECT array_agg(account_id ORDER BY 1) FROM subscriptions WHERE subscriber_id = $1 AND NOT in_home`, a.ID)
}

func TestLists(t *testing.T) {
	w := newTown(t)
	ann, bob, cid := w.user("ann"), w.user("bob"), w.user("cid")
	club := w.group(cid, "club", Public)
	w.subscribe(ann, "bob")
	w.subscribe(ann, "club")
	before := w.clock()
	w.heard.take()

	l, c, err := w.Lists.Create(t.Context(), NewList{Actor: ann.ID, Title: " Close  friends "})
	w.must(err)
	w.same("made", l, List{ID: l.ID, Slug: "close-friends", Title: "Close friends", Members: []int64{}})
	w.same("change", c, Change{Actor: ann.ID, Clock: before + 1})
	w.same("announced: there is no river of it yet", w.heard.take(), []Event(nil))
	w.same("logged", w.logged(before), []Invalidation{{N: before + 1, AccountID: ann.ID, Kind: "viewer"}})

	wrong := Replace{ViewerID: ann.ID, Kinds: []string{"list"}, TheirIDs: []int64{l.ID}}
	c, err = w.Lists.Edit(t.Context(), ann.ID, l.Slug, "Friends", []string{"bob", "club", "bob"})
	w.must(err)
	w.same("members set", c, Change{Actor: ann.ID, Clock: before + 2, Replace: []Replace{wrong}})
	w.same("announced", w.heard.take(), []Event{wrong})
	w.same("lists", w.lists(ann), []List{{ID: l.ID, Slug: "close-friends", Title: "Friends", Members: ids(bob.ID, club.ID)}})
	w.same("another's lists", w.lists(bob), []List{})

	c, err = w.Lists.Edit(t.Context(), ann.ID, l.Slug, "Friends", []string{"club", "bob"})
	w.must(err)
	w.same("the same again", c, Change{Actor: ann.ID, Clock: before + 2, Replace: []Replace{wrong}})
	c, err = w.Lists.Edit(t.Context(), ann.ID, l.Slug, "Others", []string{"club", "bob"})
	w.must(err)
	w.same("renamed: its rivers stay", c, Change{Actor: ann.ID, Clock: before + 3})
	w.heard.take()

	for what, e := range map[string]struct {
		title, slug string
		code        string
	}{
		"no title":         {" ", "", "title_empty"},
		"long title":       {strings.Repeat("x", 101), "", "title_long"},
		"odd slug":         {"Some", "Some", "slug_format"},
		"long slug":        {"Some", strings.Repeat("x", 36), "slug_format"},
		"slug taken":       {"Some", "close-friends", "slug_taken"},
		"title taken":      {"Others", "", "list_taken"},
		"unprintable text": {"a\x00", "", "text_invalid"},
	} {
		_, _, err := w.Lists.Create(t.Context(), NewList{Actor: ann.ID, Title: e.title, Slug: e.slug})
		w.invalid(what, err, e.code)
	}
	w.list(ann, "Close friends!", "bob")
	_, err = w.Lists.Edit(t.Context(), ann.ID, l.Slug, "Close friends!", nil)
	w.invalid("another's title", err, "list_taken")
	_, err = w.Lists.Edit(t.Context(), ann.ID, l.Slug, "Others", []string{"cid"})
	w.invalid("not followed", err, "member_unknown")
	_, err = w.Lists.Edit(t.Context(), ann.ID, l.Slug, "Others", []string{"ann"})
	w.invalid("oneself", err, "member_unknown")
	_, err = w.Lists.Edit(t.Context(), ann.ID, l.Slug, "Others", []string{"\x00"})
	w.invalid("no name", err, "member_unknown")
	for _, slug := range []string{"none", "", "\x00"} {
		_, err = w.Lists.Edit(t.Context(), ann.ID, slug, "Others", nil)
		w.fails("edit no list", err, ErrNotFound)
	}
	_, err = w.Lists.Edit(t.Context(), bob.ID, l.Slug, "Mine", nil)
	w.fails("edit another's list", err, ErrNotFound)
	_, err = w.Lists.Delete(t.Context(), bob.ID, l.Slug)
	w.fails("delete another's list", err, ErrNotFound)

	w.heard.take()
	c, err = w.Lists.Delete(t.Context(), ann.ID, l.Slug)
	w.must(err)
	w.same("deleted", c.Replace, []Replace{wrong})
	w.same("announced", w.heard.take(), []Event{wrong})
	w.same("left", len(w.lists(ann)), 1)
	w.same("nobody is unsubscribed from", w.relation(ann, bob), Relation{Subscribed: true})
	_, err = w.Lists.Delete(t.Context(), ann.ID, l.Slug)
	w.fails("deleted again", err, ErrNotFound)
	w.sound()
}

// A subscription that ends takes its account out of all lists, and those rivers
// are replaced with the home feed, and no other's.
func TestUnsubscribeLeavesLists(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.user("cid")
	w.subscribe(ann, "bob")
	w.subscribe(ann, "cid")
	one, two := w.list(ann, "one", "bob", "cid"), w.list(ann, "two", "cid")
	three := w.list(ann, "three", "bob")
	c, err := w.Lists.Place(t.Context(), ann.ID, "bob", false, []string{"one", "three"})
	w.must(err)
	home := Replace{ViewerID: ann.ID, Kinds: []string{"home"}}
	w.same("home alone", c.Replace, []Replace{home})
	w.heard.take()

	c, err = w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	want := []Replace{home, {ViewerID: ann.ID, Kinds: []string{"list"}, TheirIDs: ids(one.ID, three.ID)}}
	w.same("replaced", c.Replace, want)
	w.same("announced", len(w.heard.take()), 2)
	for _, l := range w.lists(ann) {
		w.same("bob in "+l.Title, l.Includes(bob.ID), false)
		w.same("members of "+l.Title, len(l.Members), map[int64]int{one.ID: 1, two.ID: 1, three.ID: 0}[l.ID])
	}
	c, err = w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	w.same("again: whichever lists it was", c.Replace, []Replace{{ViewerID: ann.ID, Kinds: []string{"home", "list"}}})

	// It begins anew: in the home feed, in no list.
	w.subscribe(ann, "bob")
	w.same("apart", w.apart(ann), []int64(nil))
	w.same("rows", value[int](w, `SELECT count(*)::int FROM list_members`), 2)
	w.sound()
}

func TestPlace(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.user("cid")
	w.subscribe(ann, "bob")
	one, two := w.list(ann, "one"), w.list(ann, "two")
	home := Replace{ViewerID: ann.ID, Kinds: []string{"home"}}
	list := func(lists ...int64) Replace {
		return Replace{ViewerID: ann.ID, Kinds: []string{"list"}, TheirIDs: lists}
	}
	for i, step := range []struct {
		inHome bool
		slugs  []string
		wrong  []Replace
		apart  []int64
	}{
		{true, []string{"two"}, []Replace{list(two.ID)}, nil},
		{false, []string{"one", "two", "one"}, []Replace{home, list(one.ID)}, ids(bob.ID)},
		{false, []string{"one", "two"}, []Replace{{ViewerID: ann.ID, Kinds: []string{"home", "list"}}}, ids(bob.ID)},
		{false, nil, []Replace{list(one.ID, two.ID)}, ids(bob.ID)},
		{true, nil, []Replace{home}, nil},
	} {
		what := fmt.Sprintf("step %d: ", i)
		c, err := w.Lists.Place(t.Context(), ann.ID, "bob", step.inHome, step.slugs)
		w.must(err)
		w.same(what+"replaced", c.Replace, step.wrong)
		w.same(what+"clock", c.Clock, w.clock())
		w.same(what+"apart", w.apart(ann), step.apart)
		for _, l := range w.lists(ann) {
			w.same(what+"in "+l.Title, l.Includes(bob.ID), slices.Contains(step.slugs, l.Slug))
		}
	}
	_, err := w.Lists.Place(t.Context(), ann.ID, "bob", true, []string{"three"})
	w.invalid("no such list", err, "list_unknown")
	for _, name := range []string{"cid", "nobody", "ann", "", "\x00"} {
		_, err := w.Lists.Place(t.Context(), ann.ID, name, true, nil)
		w.fails("place "+name, err, ErrNotFound)
	}
	w.sound()
}

// However many are made at once, each has an address of its own, and there are
// no more than may be.
func TestListsAtOnce(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	for i := range MaxLists - 4 {
		w.list(ann, fmt.Sprintf("list %d", i))
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, _, err := w.Lists.Create(t.Context(), NewList{Actor: ann.ID, Title: "Ж" + strings.Repeat("!", i)})
			var bad *InvalidError
			if err != nil && (!errors.As(err, &bad) || bad.Code != "lists_many") {
				t.Errorf("one of many: %v", err)
			}
		})
	}
	all.Wait()
	w.same("lists", len(w.lists(ann)), MaxLists)
	w.same("addresses", value[[]string](w, `SELECT array_agg(slug ORDER BY slug) FROM lists WHERE slug LIKE 'zh%'`),
		[]string{"zh", "zh-2", "zh-3", "zh-4"})
}

// An account that is put into a list while the subscription ends is not in it afterwards,
// whichever comes first, and the list's rivers are replaced.
func TestListedWhileUnsubscribing(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	w.user("bob")
	for i := range 20 {
		w.subscribe(ann, "bob")
		l := w.list(ann, fmt.Sprintf("list %d", i))
		wait := during(func() error {
			_, err := w.Lists.Edit(t.Context(), ann.ID, l.Slug, l.Title, []string{"bob"})
			return err
		})
		c, err := w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
		w.must(err)
		listed := wait()
		if listed != nil {
			w.invalid("listed too late", listed, "member_unknown")
		}
		told := slices.ContainsFunc(c.Replace, func(r Replace) bool { return slices.Contains(r.TheirIDs, l.ID) })
		w.same("the list was entered and its rivers are told that bob left", told, listed == nil)
		w.same("members", value[int](w, `SELECT count(*)::int FROM list_members`), 0)
	}
	w.sound()
}

func TestSlugs(t *testing.T) {
	for title, want := range map[string]string{
		"Close friends":                "close-friends",
		"  ¡Olé!  ":                    "ol",
		"Друзья и щи":                  "druzya-i-schi",
		"東京":                           "list",
		"A--b -- c-":                   "a-b-c",
		strings.Repeat("длинный ", 9):  "dlinnyi-dlinnyi-dlinnyi-dlinnyi-dli",
		strings.Repeat("x", 34) + " y": strings.Repeat("x", 34),
	} {
		if got := slugOf(title); got != want || !slugForm.MatchString(got) {
			t.Errorf("slug of %q: got %q, want %q", title, got, want)
		}
	}
	long := strings.Repeat("x", 35)
	if got, want := freeSlug(long, []List{{Slug: long}}), strings.Repeat("x", 33)+"-2"; got != want {
		t.Errorf("a second of %q: got %q, want %q", long, got, want)
	}
}

func TestFriendsOnly(t *testing.T) {
	w := newTown(t)
	ann, before := w.user("ann"), w.clock()
	chosen := func() bool {
		return value[bool](w, `SELECT friends_only FROM accounts WHERE id = $1`, ann.ID)
	}
	w.same("at first", chosen(), false)
	for i, only := range []bool{true, true, false} {
		c, err := w.Accounts.SetFriendsOnly(t.Context(), ann.ID, only)
		w.must(err)
		w.same("change", c, Change{Actor: ann.ID, Clock: before + []int64{1, 1, 2}[i]})
		w.same("chosen", chosen(), only)
	}
	w.same("announced", w.heard.take(), []Event(nil))
}
