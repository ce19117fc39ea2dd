package timelines

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

func TestSignUp(t *testing.T) {
	w := newTown(t)
	w.user("taken")
	long := strings.Repeat("x", 201)
	for _, tc := range []struct {
		name string
		in   SignUp
		code string
	}{
		{"short name", SignUp{Name: "ab", Password: "quite long enough"}, "name_format"},
		{"reserved name", SignUp{Name: "groups", Password: "quite long enough"}, "name_reserved"},
		{"short password", SignUp{Name: "bob", Password: "яяяяяяя"}, "password_short"},
		{"long password", SignUp{Name: "bob", Password: long}, "password_long"},
		{"long title", SignUp{Name: "bob", Title: long, Password: "quite long enough"}, "title_long"},
		{"unknown language", SignUp{Name: "bob", Language: "tlh", Password: "quite long enough"}, "language_unknown"},
	} {
		_, err := w.Accounts.SignUp(t.Context(), tc.in)
		w.invalid(tc.name, err, tc.code)
	}
	_, err := w.Accounts.SignUp(t.Context(), SignUp{Name: "taken", Password: "quite long enough"})
	w.fails("a taken name", err, ErrNameTaken)

	got, err := w.Accounts.SignUp(t.Context(), SignUp{Name: "bob", Title: " Bob  B. ", Password: "ягодыбыл", Language: "ru"})
	w.must(err)
	want := Account{
		ID: got.ID, CreatedAt: got.CreatedAt, Kind: User, Name: "bob", Title: "Bob B.", Language: "ru",
		FeedID: w.timeline(kinds.Feed, got.ID), Access: Public, Writers: WritersAnyone,
	}
	w.same("account", got, want)
	untitled, err := w.Accounts.SignUp(t.Context(), SignUp{Name: "eve", Password: "quite long enough"})
	w.must(err)
	w.same("title of who gave none", untitled.Title, "eve")
}

type madeTimeline struct {
	Kind   string
	Gate   string
	Access Level
	Reads  bool // its owner stands among the readers
}

func (w *town) timelinesOf(account int64) []madeTimeline {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), `
		SELECT t.kind, g.kind AS gate, t.access,
			EXISTS (SELECT FROM readers r WHERE r.timeline_id = t.id AND r.account_id = $1) AS reads
		FROM timelines t JOIN timelines g ON g.id = t.gate_id AND g.their_id = t.their_id
		WHERE t.their_id = $1 AND t.kind <> 'post' ORDER BY t.kind`, account)
	w.must(err)
	made, err := pgx.CollectRows(rows, pgx.RowToStructByName[madeTimeline])
	w.must(err)
	return made
}

func TestFixedTimelines(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	w.same("a user's", w.timelinesOf(bob.ID), []madeTimeline{
		{kinds.Comments, kinds.Feed, Public, false},
		{kinds.Directs, kinds.Directs, Private, true},
		{kinds.Discussions, kinds.Discussions, Private, true},
		{kinds.Eyes, kinds.Eyes, Private, true},
		{kinds.Faves, kinds.Faves, Private, true},
		{kinds.Feed, kinds.Feed, Public, true},
		{kinds.Likes, kinds.Feed, Public, false},
		{kinds.Mentions, kinds.Mentions, Private, true},
		{kinds.Notifications, kinds.Notifications, Private, true},
		{kinds.Subfeed, kinds.Subfeed, Private, true},
	})
	g, c, err := w.Groups.Create(t.Context(), NewGroup{Actor: bob.ID, Name: "club", Title: "The Club", About: "us", Access: Private})
	w.must(err)
	w.same("a group's", w.timelinesOf(g.ID), []madeTimeline{{kinds.Group, kinds.Group, Private, false}})
	w.same("group", g, Account{
		ID: g.ID, CreatedAt: g.CreatedAt, Kind: Group, Name: "club", Title: "The Club", About: "us",
		FeedID: w.timeline(kinds.Group, g.ID), Access: Private, Writers: WritersMembers,
	})
	home := []Replace{{ViewerID: bob.ID, Kinds: []string{"home"}}}
	w.same("change", c, Change{Actor: bob.ID, Clock: w.clock(), Replace: home})
	w.same("announced", w.heard.take(), []Event{home[0]})
	w.same("logged", w.logged(c.Clock-1), []Invalidation{
		{N: c.Clock, AccountID: g.ID, Kind: "members"}, {N: c.Clock, AccountID: bob.ID, Kind: "viewer"},
	})
	founder := value[[]bool](w, `SELECT ARRAY[
		EXISTS (SELECT FROM readers WHERE account_id = $1 AND timeline_id = $2),
		EXISTS (SELECT FROM subscriptions WHERE subscriber_id = $1 AND account_id = $3),
		EXISTS (SELECT FROM group_admins WHERE account_id = $1 AND group_id = $3)]`, bob.ID, g.FeedID, g.ID)
	w.same("founder reads, follows, administers", founder, []bool{true, true, true})
	w.sound()
}

func TestCreateGroupErrors(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	for _, tc := range []struct {
		name string
		in   NewGroup
		code string
	}{
		{"name", NewGroup{Name: "x", Title: "x"}, "name_format"},
		{"title", NewGroup{Name: "club", Title: " "}, "title_empty"},
		{"about", NewGroup{Name: "club", Title: "x", About: strings.Repeat("a", 5001)}, "body_long"},
		{"level", NewGroup{Name: "club", Title: "x", Access: 3}, "level_unknown"},
	} {
		tc.in.Actor = bob.ID
		_, _, err := w.Groups.Create(t.Context(), tc.in)
		w.invalid(tc.name, err, tc.code)
	}
	_, _, err := w.Groups.Create(t.Context(), NewGroup{Actor: bob.ID, Name: "bob", Title: "x"})
	w.fails("a person's name", err, ErrNameTaken)
	w.same("accounts", value[int](w, `SELECT count(*)::int FROM accounts`), 1)
}

// If many want one name at once, one of them gets it.
func TestNameRace(t *testing.T) {
	w := newTown(t)
	var all sync.WaitGroup
	errs := make([]error, 8)
	bob := w.user("bob")
	for i := range errs {
		all.Go(func() {
			_, _, errs[i] = w.Groups.Create(t.Context(), NewGroup{Actor: bob.ID, Name: "wanted", Title: "x"})
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			w.fails("who lost", err, ErrNameTaken)
		}
	}
	w.same("winners", won, 1)
	w.sound()
}

func TestAccountsRead(t *testing.T) {
	w := newTown(t)
	bob, ann, cid := w.user("bob"), w.user("ann"), w.user("cid")
	club := w.group(bob, "club", Protected)

	got, err := w.Accounts.ByName(t.Context(), "club")
	w.must(err)
	w.same("AccountByName", got, club)
	for _, name := range []string{"nobody", "", "Bob", "b\x00b", "\xff\xff\xff"} {
		_, err := w.Accounts.ByName(t.Context(), name)
		w.fails("AccountByName of nobody", err, ErrNotFound)
	}
	list, err := w.Accounts.ByID(t.Context(), []int64{club.ID, ann.ID, 999, ann.ID})
	w.must(err)
	w.same("AccountsByID", list, []Account{ann, club})

	names := func(kind, after string, limit int) []string {
		list, err := w.Accounts.List(t.Context(), kind, after, limit)
		w.must(err)
		out := []string{}
		for _, a := range list {
			out = append(out, a.Name)
		}
		return out
	}
	w.same("all", names("", "", 10), []string{ann.Name, bob.Name, cid.Name, club.Name})
	w.same("people, first page", names(User, "", 2), []string{"ann", "bob"})
	w.same("people, second page", names(User, "bob", 2), []string{"cid"})
	w.same("groups", names(Group, "", 2), []string{"club"})
	w.same("past the end", names(Group, "club", 2), []string{})
}

func TestSetProfile(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	before := w.clock()
	c, err := w.Accounts.SetProfile(t.Context(), bob.ID, " Bobby ", "builds\r\n", "ru")
	w.must(err)
	w.same("change", c, Change{Actor: bob.ID, Clock: before + 1})
	got, err := w.Accounts.ByName(t.Context(), "bob")
	w.must(err)
	want := bob
	want.Title, want.About, want.Language = "Bobby", "builds", "ru"
	w.same("account", got, want)
	w.same("logged", w.logged(before), []Invalidation{
		{N: before + 1, AccountID: bob.ID, Kind: "account"},
	})
	_, err = w.Accounts.SetProfile(t.Context(), bob.ID, "", "", "")
	w.invalid("no title", err, "title_empty")
	_, err = w.Accounts.SetProfile(t.Context(), bob.ID, "Bob", "", "de")
	w.invalid("language", err, "language_unknown")
	_, err = w.Accounts.SetProfile(t.Context(), 999, "Bob", "", "en")
	w.fails("nobody", err, ErrNotFound)
}

func TestInsertTimelinesForManyAtOnce(t *testing.T) {
	w := newTown(t)
	made := value[[]int64](w, `
		WITH made AS (
			INSERT INTO accounts (kind, name, title)
			SELECT CASE WHEN i % 10 = 0 THEN 'group' ELSE 'user' END, 'acc-' || i, 'x' FROM generate_series(1, 100) i
			RETURNING id)
		SELECT array_agg(id) FROM made`)
	_, err := inTx(t.Context(), w.core, func(tx pgx.Tx) (struct{}, error) {
		return struct{}{}, insertTimelinesTx(t.Context(), tx, made)
	})
	w.must(err)
	list, err := w.Accounts.ByID(t.Context(), made)
	w.must(err)
	slices.Sort(made)
	got := make([]int64, 0, len(list))
	for _, a := range list {
		got = append(got, a.ID)
	}
	w.same("accounts with a feed", got, made)
	w.same("timelines", value[int](w, `SELECT count(*)::int FROM timelines WHERE their_id <> 0`), 90*10+10)
	w.same("readers", value[int](w, `SELECT count(*)::int FROM readers`), 90*8)
}
