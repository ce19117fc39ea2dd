package timelines

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"riverrun/timelines/friendfeed"
	"riverrun/timelines/kinds"
)

// archiveDirs hold archives: small ones of our own writing, and the real ones
// where RIVERRUN_ARCHIVES points.
func archiveDirs() []string {
	dirs := []string{filepath.Join("friendfeed", "testdata")}
	if dir := os.Getenv("RIVERRUN_ARCHIVES"); dir != "" {
		dirs = append(dirs, dir)
	}
	return dirs
}

func archiveFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("archives in %s: %v, %v", dir, files, err)
	}
	return files
}

func readArchive(t *testing.T, file string) []Imported {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var posts []Imported
	for r := friendfeed.NewReader(f, file); ; {
		e, err := r.Next()
		if err == io.EOF {
			return posts
		}
		if err != nil {
			t.Fatal(err)
		}
		posts = append(posts, FromFriendFeed(e))
	}
}

// importPosts runs one import, size posts at a time.
func (w *town) importPosts(size int, posts ...Imported) (Tally, []Change) {
	w.Helper()
	im, err := w.Imports.Start(w.Context(), FriendFeedSource)
	w.must(err)
	var changes []Change
	for batch := range slices.Chunk(posts, size) {
		c, err := im.Add(w.Context(), batch)
		w.must(err)
		changes = append(changes, c)
	}
	for more := true; more; {
		more, err = im.GuessLanguages(w.Context())
		w.must(err)
	}
	w.must(im.Close(w.Context()))
	return im.Tally(), changes
}

// rawEntry is an entry as it stands in the file, for the oracle.
type rawEntry struct {
	ID   string `json:"_id"`
	From rawAccount
	To   []struct {
		rawAccount
		Direct bool
	}
	Date     time.Time
	Comments []rawTalk
	Likes    []rawTalk
}

// rawTalk is a comment or a like, which has no ID.
type rawTalk struct {
	ID   string
	From rawAccount
	Date time.Time
}

type rawAccount struct {
	ID, Type string
	Private  bool
}

// oracle is what a store should hold after some files, worked out the long way.
type oracle struct {
	tally   Count
	entries map[string]int64 // "kind:account:post" -> entered_at
	fresh   map[string]int64 // post -> fresh_at
	private map[string]bool  // accounts
	public  map[string]bool  // posts
}

func newOracle(t *testing.T, files []string, maxAge time.Duration) oracle {
	t.Helper()
	posts := map[string]*rawEntry{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []rawEntry
		if err := json.Unmarshal([]byte(strings.TrimPrefix(string(data), "\ufeff")), &list); err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			have := posts[e.ID]
			if have == nil {
				posts[e.ID] = &e
				continue
			}
			for _, c := range e.Comments {
				if !slices.ContainsFunc(have.Comments, func(d rawTalk) bool { return d.ID == c.ID }) {
					have.Comments = append(have.Comments, c)
				}
			}
			for _, l := range e.Likes {
				if !slices.ContainsFunc(have.Likes, func(m rawTalk) bool { return m.From.ID == l.From.ID }) {
					have.Likes = append(have.Likes, l)
				}
			}
			have.To = append(have.To, e.To...)
		}
	}
	o := oracle{entries: map[string]int64{}, fresh: map[string]int64{}, private: map[string]bool{}, public: map[string]bool{}}
	accountKinds := map[string]string{}
	see := func(a rawAccount) {
		accountKinds[a.ID] = a.Type
		o.private[a.ID] = o.private[a.ID] || a.Private
	}
	for _, e := range posts {
		see(e.From)
		for _, to := range e.To {
			see(to.rawAccount)
		}
		for _, c := range e.Comments {
			see(c.From)
		}
		for _, l := range e.Likes {
			see(l.From)
		}
	}
	for _, kind := range accountKinds {
		if kind == Group {
			o.tally.Groups++
		} else {
			o.tally.Accounts++
		}
	}
	for _, e := range posts {
		o.tally.Posts++
		o.tally.Comments += int64(len(e.Comments))
		o.tally.Likes += int64(len(e.Likes))
		o.expectPost(e, accountKinds, maxAge)
	}
	return o
}

func (o *oracle) expectPost(e *rawEntry, accountKinds map[string]string, maxAge time.Duration) {
	enter := func(kind, account string, at int64) {
		key := kind + ":" + account + ":" + e.ID
		if had, ok := o.entries[key]; !ok || at < had {
			o.entries[key] = at
		}
	}
	base := func(id string) string {
		if accountKinds[id] == Group {
			return kinds.Group
		}
		return kinds.Feed
	}
	at := e.Date.UnixMicro()
	o.public[e.ID] = false
	open := false // somewhere else than in messages
	if len(e.To) == 0 {
		enter(base(e.From.ID), e.From.ID, at)
		open = true
		o.public[e.ID] = !o.private[e.From.ID]
	}
	for _, to := range e.To {
		if to.Direct {
			enter(kinds.Directs, to.ID, at)
			enter(kinds.Directs, e.From.ID, at)
			continue
		}
		enter(base(to.ID), to.ID, at)
		open = true
		o.public[e.ID] = o.public[e.ID] || !o.private[to.ID]
	}
	if open {
		enter(kinds.Everything, "", at)
	}
	enter(kinds.Post, "", at)
	if accountKinds[e.From.ID] != Group {
		enter(kinds.Discussions, e.From.ID, at)
	}
	// Freshness: every comment asks how many there were in the day before it.
	freshAt := func(until time.Time) int64 {
		comments := slices.Clone(e.Comments)
		slices.SortStableFunc(comments, func(a, b rawTalk) int { return a.Date.Compare(b.Date) })
		fresh := at
		for i, c := range comments {
			if c.Date.After(until) {
				break
			}
			recent := 0
			for _, d := range comments[:i+1] {
				if c.Date.Sub(d.Date) < 24*time.Hour {
					recent++
				}
			}
			if c.Date.Sub(e.Date) < 24*time.Hour || recent > 2 {
				fresh = max(c.Date.UnixMicro(), fresh+1)
			}
		}
		return fresh
	}
	o.fresh[e.ID] = freshAt(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	stamp := func(d time.Time) int64 {
		if maxAge > 0 && d.Sub(e.Date) > maxAge {
			return freshAt(d)
		}
		return d.UnixMicro()
	}
	for _, c := range e.Comments {
		enter(kinds.Comments, c.From.ID, stamp(c.Date))
		enter(kinds.Discussions, c.From.ID, stamp(c.Date))
	}
	for _, l := range e.Likes {
		enter(kinds.Likes, l.From.ID, stamp(l.Date))
		enter(kinds.Discussions, l.From.ID, stamp(l.Date))
	}
}

// all reads all rows of a query.
func all[T any](w *town, row pgx.RowToFunc[T], sql string, args ...any) []T {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), sql, args...)
	w.must(err)
	list, err := pgx.CollectRows(rows, row)
	if err != nil {
		w.Fatalf("%s %v: %v", sql, args, err)
	}
	return list
}

// held reads the same from the store.
func (w *town) held() oracle {
	w.Helper()
	o := oracle{entries: map[string]int64{}, fresh: map[string]int64{}, private: map[string]bool{}, public: map[string]bool{}}
	type entry struct {
		Key       string
		EnteredAt int64
	}
	for _, e := range all(w, pgx.RowToStructByName[entry], `
		SELECT t.kind || ':' || coalesce(a.external_id, '') || ':' || p.external_id AS key, e.entered_at
		FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id
		JOIN origins p ON p.kind = 'post' AND p.their_id = e.post_id
		LEFT JOIN origins a ON a.kind = 'account' AND a.their_id = t.their_id AND t.kind NOT IN ('post', 'everything')
		WHERE t.kind NOT IN ('hashtag', 'mentions', 'best', 'mostfaved') AND t.term = ''`) { // sound judges those
		o.entries[e.Key] = e.EnteredAt
	}
	type post struct {
		Key      string
		FreshAt  int64
		IsPublic bool
	}
	for _, p := range all(w, pgx.RowToStructByName[post], `
		SELECT o.external_id AS key, p.fresh_at, p.is_public
		FROM posts p JOIN origins o ON o.kind = 'post' AND o.their_id = p.id`) {
		o.fresh[p.Key], o.public[p.Key] = p.FreshAt, p.IsPublic
	}
	type account struct {
		Key     string
		Private bool
	}
	for _, a := range all(w, pgx.RowToStructByName[account], `
		SELECT o.external_id AS key, t.access = 2 AS private
		FROM origins o JOIN timelines t ON t.their_id = o.their_id AND t.kind IN ('feed', 'group')
		WHERE o.kind = 'account'`) {
		o.private[a.Key] = a.Private
	}
	o.tally = Count{
		Accounts: value[int64](w, `SELECT count(*) FROM accounts WHERE kind = 'user'`),
		Groups:   value[int64](w, `SELECT count(*) FROM accounts WHERE kind = 'group'`),
		Posts:    value[int64](w, `SELECT count(*) FROM posts`),
		Comments: value[int64](w, `SELECT count(*) FROM comments`),
		Likes:    value[int64](w, `SELECT count(*) FROM likes`),
	}
	return o
}

func diffOracle(want, got oracle) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(oracle{}))
}

// TestImport imports every file there is and compares the store with what plain
// Go makes of the JSON; then imports everything again.
func TestImport(t *testing.T) {
	for _, dir := range archiveDirs() {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			w := newTown(t)
			files := archiveFiles(t, dir)
			want := newOracle(t, files, w.opts.LocalBumpMaxAge)
			var posts []Imported
			for _, file := range files {
				posts = append(posts, readArchive(t, file)...)
			}
			tally, _ := w.importPosts(50, posts...)
			if diff := cmp.Diff(Tally{New: want.tally}, tally); diff != "" {
				t.Errorf("tally: -want +got\n%s", diff)
			}
			if diff := diffOracle(want, w.held()); diff != "" {
				t.Errorf("store: -want +got\n%s", diff)
			}
			w.sound()
			if n := value[int](w, `SELECT count(*)::int FROM credentials`); n != 0 {
				t.Errorf("%d imported accounts can sign in", n)
			}
			announced := map[int64]bool{}
			for _, e := range announcedPosts(w.heard.take()) { // the other events are first uses of tags
				announced[e.PostID] = true
			}
			if int64(len(announced)) != want.tally.Posts {
				t.Errorf("announced: %d posts, want %d", len(announced), want.tally.Posts)
			}

			before := w.dump()
			tally, changes := w.importPosts(50, posts...)
			if diff := cmp.Diff(Tally{There: want.tally}, tally); diff != "" {
				t.Errorf("tally of the second time: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(before, w.dump()); diff != "" {
				t.Errorf("the second time changed the store: -before +after\n%s", diff)
			}
			if events := w.heard.take(); events != nil {
				t.Errorf("the second time announced %v", events)
			}
			for _, c := range changes {
				if diff := cmp.Diff(Change{}, c); diff != "" {
					t.Errorf("change of the second time: -want +got\n%s", diff)
				}
			}
		})
	}
}

// dump is the whole store but for secrets.
func (w *town) dump() map[string][]string {
	w.Helper()
	tables := map[string][]string{}
	for _, table := range []string{
		"accounts", "timelines", "readers", "subscriptions", "group_admins", "posts", "timeline_entries", "comments",
		"likes", "attachments", "text_marks", "origins", "access_clock", "access_log",
	} {
		tables[table] = all(w, pgx.RowTo[string], fmt.Sprintf(`SELECT t::text FROM %s t ORDER BY t::text`, table))
	}
	return tables
}

// TestImportAnyOrder: however the files are cut and ordered, the store is the
// same.
func TestImportAnyOrder(t *testing.T) {
	files := archiveFiles(t, archiveDirs()[0])
	slices.Reverse(files)
	var posts []Imported
	for _, file := range files {
		posts = append(posts, readArchive(t, file)...)
	}
	slices.Reverse(posts)
	for _, size := range []int{1, 3, 1000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			w := newTown(t)
			want := newOracle(t, files, w.opts.LocalBumpMaxAge)
			tally, _ := w.importPosts(size, posts...)
			if diff := cmp.Diff(Tally{New: want.tally}, tally); diff != "" {
				t.Errorf("tally: -want +got\n%s", diff)
			}
			if diff := diffOracle(want, w.held()); diff != "" {
				t.Errorf("store: -want +got\n%s", diff)
			}
			w.sound()
		})
	}
}
