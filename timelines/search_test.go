package timelines

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines/snapshot"
)

// remark comments with a text.
func (w *town) remark(author Account, code, body string) Change {
	w.Helper()
	c, err := w.Comments.Create(w.Context(), NewComment{Author: author.ID, Code: code, Body: body})
	w.must(err)
	return c
}

func (w *town) query(text string) snapshot.Query {
	w.Helper()
	q, problem := snapshot.ParseQuery(text)
	if problem != "" {
		w.Fatalf("%q: %s", text, problem)
	}
	return q
}

// search returns what a query finds, from the top, and how it finds each.
func (w *town) search(viewer int64, text string, at snapshot.Scan) (snapshot.Scanned, map[int64]snapshot.Match, error) {
	w.Helper()
	at.Viewer = viewer
	if at.BeforePlace == 0 {
		at.BeforePlace, at.BeforePost = math.MaxInt64, math.MaxInt64
	}
	if at.Down == 0 {
		at.Down = math.MaxInt64
	}
	if at.Limit == 0 {
		at.Limit = 100
	}
	q := w.query(text)
	var out snapshot.Scanned
	var found []map[int64]snapshot.Match
	err := w.InSnapshot(w.Context(), func(sn *snapshot.Snapshot) (err error) {
		if out, err = sn.Search(w.Context(), q, at); err != nil {
			return err
		}
		posts := make([]int64, len(out.Posts))
		for i, p := range out.Posts {
			posts[i] = p.PostID
		}
		found, err = sn.Matches(w.Context(), []snapshot.ViewerQuery{{Viewer: viewer, Query: q}}, posts)
		return err
	})
	if err != nil {
		return out, nil, err
	}
	if len(found[0]) != len(out.Posts) {
		w.Errorf("%q: search finds %v, of which match %v", text, out.Posts, found[0])
	}
	return out, found[0], nil
}

// finds compares the bodies of what somebody finds, 0 for anybody, newest first.
func (w *town) finds(viewer int64, text string, want ...string) {
	w.Helper()
	out, _, err := w.search(viewer, text, snapshot.Scan{})
	w.must(err)
	got := []string{}
	for _, p := range out.Posts {
		got = append(got, value[string](w, `SELECT body FROM posts WHERE id = $1`, p.PostID))
	}
	if !slices.Equal(got, want) {
		w.Errorf("account %d asks for %q: got %q, want %q", viewer, text, got, want)
	}
}

func TestSearch(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.user("ann"), w.user("bob"), w.user("cat")
	w.group(bob, "club", Public)
	one := w.post(ann, "The white cats are sleeping on a sofa #Pets")
	w.post(bob, "A cat, which is white, barks at dogs", "club")
	w.post(ann, "Белые кошки спали на диванах, #ёлки; зелёный", "ann", "club")
	three := w.post(cat, "cat's cradle or nothing")
	w.remark(bob, one.Code, "so do all dogs")
	w.remark(cat, one.Code, "ЁЛКА #pets")
	w.remark(bob, three.Code, "pets, not tagged")
	const (
		sofa, barks, ru, cradle = "The white cats are sleeping on a sofa #Pets", "A cat, which is white, barks at dogs",
			"Белые кошки спали на диванах, #ёлки; зелёный", "cat's cradle or nothing"
	)
	// Newest first; comments have moved the others.
	for text, want := range map[string][]string{
		"cat":                     {cradle, sofa, barks},
		"CATS":                    {cradle, sofa, barks},
		"white sleep":             {sofa},
		`"white cat"`:             {sofa},
		`"cat white"`:             nil,
		`cat -"white cat"`:        {cradle, barks},
		"кошка белая":             {ru},
		"Кошками":                 {ru},
		"зеленые":                 {ru},
		"елка":                    {sofa, ru},
		"#елки":                   nil, // another tag
		"#ёлки":                   {ru},
		"#pets":                   {sofa},
		"#Pets cat":               {sofa},
		"pets":                    {cradle, sofa},
		"#pet":                    nil,
		"cat -dogs":               {cradle, sofa}, // another comment says so; the text that has cats does not
		"dogs":                    {sofa, barks},
		"dogs cats":               {barks}, // one text has both
		"dogs -sofa":              {barks}, // the post's own text counts for its comments
		"dogs -#pets":             {barks},
		"cat or":                  {cradle, sofa, barks}, // a word too common to be kept
		"cradle or sofa":          nil,
		"or":                      nil,
		"from:ann":                {sofa, ru},
		"from:bob":                {cradle, sofa, barks},
		"from:ann from:cat":       {cradle, sofa, ru},
		"from:bob dogs":           {sofa, barks},
		"from:ann dogs":           nil,
		"dogs -from:bob":          nil,
		"dogs -from:ann":          {barks},
		"from:nobody":             nil,
		"dogs from:nobody":        nil,
		"dogs -from:nobody":       {sofa, barks},
		"in:club":                 {ru, barks},
		"in:club -кошка":          {barks},
		"in:ann":                  {sofa, ru},
		"in:ann in:club":          {sofa, ru, barks},
		"in:ann -in:club":         {sofa},
		"cat in:club":             {barks},
		"cat -in:club":            {cradle, sofa},
		"cat in:nothing":          nil,
		"cat -in:nothing":         {cradle, sofa, barks},
		"in:nothing":              nil,
		"-cat":                    nil,
		"":                        nil,
		"'":                       nil,
		`\ & | ! ( ) : * cradle`:  {cradle},
		`"cat's cradle"`:          {cradle},
		"#a'b | cradle":           nil,
		"cat:* <-> cradle":        {cradle},
		"https://cat.example/?x=": nil,
	} {
		w.finds(0, text, want...)
		w.finds(ann.ID, text, want...)
	}
	// Authors and places of the posts that match.
	_, found, err := w.search(0, "dogs in:ann in:club", snapshot.Scan{})
	w.must(err)
	feed := value[int64](w, `SELECT id FROM timelines WHERE kind = 'feed' AND their_id = $1`, ann.ID)
	if diff := cmp.Diff(snapshot.Match{Authors: []int64{bob.ID}, Places: []int64{feed}}, found[one.PostID]); diff != "" {
		t.Errorf("dogs, by a comment (-want +got):\n%s", diff)
	}

	// Edited texts are found by the new words, and deleted ones not at all.
	w.must(second(w.Posts.Edit(t.Context(), cat.ID, three.Code, "silence")))
	w.finds(0, "cradle")
	w.finds(0, "silence", "silence")
	noisy := w.remark(ann, three.Code, "noise")
	w.finds(0, "noise", "silence")
	w.must(second(w.Comments.Edit(t.Context(), ann.ID, three.Code, noisy.CommentID, "murmur")))
	w.finds(0, "noise")
	w.finds(0, "murmurs", "silence")
	w.must(second(w.Comments.Delete(t.Context(), ann.ID, three.Code, noisy.CommentID)))
	w.finds(0, "murmur")
	w.must(second(w.Posts.Delete(t.Context(), cat.ID, three.Code)))
	w.finds(0, "silence")
	w.finds(cat.ID, "silence")
	w.finds(0, "tagged")
	if n := value[int](w, `SELECT count(*)::int FROM texts WHERE post_id = $1`, three.PostID); n != 0 {
		t.Errorf("%d texts of a deleted post are kept", n)
	}
}

// A post that the viewer may not read is not found, and nothing tells where it is.
func TestSearchReads(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.user("ann"), w.user("bob"), w.user("cat")
	w.setAccess(bob, "", Private)
	w.group(bob, "den", Private)
	w.group(cat, "hall", Protected)
	w.post(bob, "secret one")
	w.post(bob, "secret two", "cat")
	w.post(bob, "secret three", "den")
	w.subscribe(bob, "hall")
	w.post(cat, "secret four", "hall")
	both := w.post(bob, "secret five", "den", "hall")
	w.remark(cat, both.Code, "whispers")
	for viewer, want := range map[int64][]string{
		0:      {},
		ann.ID: {"secret five", "secret four"},
		bob.ID: {"secret five", "secret four", "secret three", "secret two", "secret one"},
		cat.ID: {"secret five", "secret four", "secret two"},
	} {
		w.finds(viewer, "secrets", want...)
	}
	// A closed place is as one that does not exist.
	w.finds(ann.ID, "in:den")
	w.finds(ann.ID, "secret in:den")
	w.finds(ann.ID, "secret -in:den", "secret five", "secret four")
	w.finds(ann.ID, "secret in:den in:hall", "secret five", "secret four")
	w.finds(ann.ID, "in:bob")
	w.finds(0, "in:hall")
	w.finds(cat.ID, "in:hall", "secret five", "secret four")
	w.finds(bob.ID, "in:den", "secret five", "secret three")
	w.finds(bob.ID, "secret -in:den", "secret four", "secret two", "secret one")
	w.finds(ann.ID, "whispers", "secret five")
	w.finds(0, "whispers")
	w.finds(0, "from:bob")
}

// Places: both orders, pages below a place, and down to one.
func TestSearchPlaces(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	posts := make([]Change, 9)
	for i := range posts {
		posts[i] = w.post(ann, "number "+strconv.Itoa(i))
	}
	w.remark(ann, posts[3].Code, "again")
	all := func(at snapshot.Scan, want ...int) snapshot.Scanned {
		t.Helper()
		out, _, err := w.search(0, "number", at)
		w.must(err)
		got := []int{}
		for _, p := range out.Posts {
			got = append(got, slices.IndexFunc(posts, func(c Change) bool { return c.PostID == p.PostID }))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: got %v, want %v", at, got, want)
		}
		return out
	}
	all(snapshot.Scan{}, 3, 8, 7, 6, 5, 4, 2, 1, 0)
	all(snapshot.Scan{ByCreation: true}, 8, 7, 6, 5, 4, 3, 2, 1, 0)
	for _, byCreation := range []bool{false, true} {
		first := all(snapshot.Scan{Limit: 4, ByCreation: byCreation}, map[bool][]int{false: {3, 8, 7, 6}, true: {8, 7, 6, 5}}[byCreation]...)
		if first.Finished || first.Floor != first.Posts[3].Place {
			t.Errorf("first four: floor %d, finished %v", first.Floor, first.Finished)
		}
		rest := map[bool][]int{false: {5, 4, 2, 1, 0}, true: {4, 3, 2, 1, 0}}[byCreation]
		out := all(snapshot.Scan{Limit: 9, ByCreation: byCreation, BeforePlace: first.Floor, BeforePost: math.MinInt64}, rest...)
		if !out.Finished || out.Floor != math.MinInt64 {
			t.Errorf("the rest: floor %d, finished %v", out.Floor, out.Finished)
		}
		all(snapshot.Scan{Limit: 1, ByCreation: byCreation, Down: first.Floor}, map[bool][]int{false: {3, 8, 7, 6}, true: {8, 7, 6, 5}}[byCreation]...)
	}
}

// A search that must reach a place goes on in rounds until it has, however much it
// passes over, and says how far it came if that is too much.
func TestSearchReachesDown(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.user("ann"), w.user("bob"), w.user("cat")
	w.setAccess(bob, "", Private)
	var open []int64
	for i := range 5 {
		open = append(open, w.post(ann, "word "+strconv.Itoa(i)).PostID)
	}
	slices.Reverse(open)
	for range 11 {
		w.post(bob, "word")
	}
	w.limits.Found = 2
	place := func(post int64) int64 { return value[int64](w, `SELECT fresh_at FROM posts WHERE id = $1`, post) }
	places := value[[]int64](w, `SELECT array_agg(fresh_at ORDER BY fresh_at DESC) FROM posts`)
	newest := func(i int) int64 { return places[i-1] }
	for name, c := range map[string]struct {
		scan  snapshot.Scan
		want  []int64
		floor int64
		ended bool
	}{
		// Rounds meet 2, 4 and 8 posts; the third ends with the third of the five.
		"no place":        {snapshot.Scan{}, nil, newest(2) + 1, false},
		"the second":      {snapshot.Scan{Limit: 1, Down: place(open[1])}, open[:2], place(open[2]) + 1, false},
		"the fourth":      {snapshot.Scan{Limit: 1, Down: place(open[3])}, open[:4], place(open[3]), false},
		"the end":         {snapshot.Scan{Limit: 1, Down: math.MinInt64}, open, math.MinInt64, true},
		"the end, by age": {snapshot.Scan{Limit: 1, Down: math.MinInt64, ByCreation: true}, open, math.MinInt64, true},
		"two rounds":      {snapshot.Scan{Limit: 1, Down: math.MinInt64, MaxRows: 6}, nil, newest(6) + 1, false},
		"three rounds":    {snapshot.Scan{Limit: 1, Down: math.MinInt64, MaxRows: 7}, open[:2], place(open[2]) + 1, false},
		"from the third": {
			snapshot.Scan{Limit: 1, Down: place(open[3]), BeforePlace: place(open[1]), BeforePost: math.MinInt64},
			open[2:4], place(open[3]), false,
		},
	} {
		out, _, err := w.search(cat.ID, "word", c.scan)
		w.must(err)
		var got []int64
		for _, p := range out.Posts {
			got = append(got, p.PostID)
		}
		if !slices.Equal(got, c.want) || out.Finished != c.ended || out.Floor != c.floor {
			t.Errorf("%s: got %v, floor %d, finished %v; want %v, %d, %v", name, got, out.Floor, out.Finished, c.want, c.floor, c.ended)
		}
	}
	// Those of one instant are met together, be they more than a round.
	at := newest(1)
	w.exec(`UPDATE posts SET fresh_at = $1 WHERE author_id = $2`, at, bob.ID)
	out, _, err := w.search(bob.ID, "word", snapshot.Scan{Limit: 1})
	w.must(err)
	if len(out.Posts) != 11 || out.Floor != at || out.Finished {
		t.Errorf("of one instant: got %+v, want 11 posts above %d", out, at)
	}
}

// A search that costs too much says so.
func TestBroadSearch(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	for range 3 {
		w.post(ann, "common")
	}
	w.limits.Texts = 2
	if _, _, err := w.search(0, "common", snapshot.Scan{}); !errors.Is(err, snapshot.ErrBroad) {
		t.Errorf("over the bound: got %v, want %v", err, snapshot.ErrBroad)
	}
	if _, _, err := w.search(0, "in:ann", snapshot.Scan{}); !errors.Is(err, snapshot.ErrBroad) {
		t.Errorf("a place over the bound: got %v, want %v", err, snapshot.ErrBroad)
	}
	w.limits.Texts = 3
	w.finds(0, "common", "common", "common", "common")
	_, err := w.pool.Exec(t.Context(), `
		ALTER TABLE texts RENAME TO texts_kept;
		CREATE VIEW texts AS SELECT t.* FROM texts_kept t, pg_sleep(1000)`)
	w.must(err)
	w.limits.Timeout = time.Millisecond
	if _, _, err := w.search(0, "common", snapshot.Scan{}); !errors.Is(err, snapshot.ErrBroad) {
		t.Errorf("too slow: got %v, want %v", err, snapshot.ErrBroad)
	}
}

// Any query of any text is a tsquery, and Search finds what Matches does.
func TestSearchAgrees(t *testing.T) {
	w := newTown(t)
	people := []Account{w.user("ann"), w.user("bob"), w.user("cat")}
	w.group(people[0], "club", Public)
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	words := []string{"cat", "кот", "white", "#tag", "#кот", "dogs", "'", `\`, ":*", "|", "!", "(", "a&b", "x'y", "email@example.com"}
	text := func() string {
		parts := []string{"text"}
		for range 1 + rng.IntN(5) {
			parts = append(parts, pick(words...))
		}
		return strings.Join(parts, " ")
	}
	var posts []int64
	for range 40 {
		c := w.post(people[rng.IntN(3)], text(), pick("club", "ann", "bob", "cat", "club"))
		posts = append(posts, c.PostID)
		for range rng.IntN(3) {
			_, err := w.Comments.Create(t.Context(), NewComment{Author: people[rng.IntN(3)].ID, Code: c.Code, Body: text()})
			if err != nil && !errors.Is(err, ErrNotFound) { // a message between others
				t.Fatal(err)
			}
		}
	}
	seen := 0
	for range 300 {
		var parts []string
		for range 1 + rng.IntN(4) {
			parts = append(parts, pick("", "", "-")+pick(append(words, `"white cat"`, `"`, "from:ann", "from:bob", "in:club", "in:cat", "from:x'y")...))
		}
		q := w.query(strings.Join(parts, " "))
		viewer := people[rng.IntN(3)].ID
		out, _, err := w.search(viewer, q.String(), snapshot.Scan{})
		w.must(err)
		var matches []map[int64]snapshot.Match
		w.must(w.InSnapshot(t.Context(), func(sn *snapshot.Snapshot) (err error) {
			matches, err = sn.Matches(context.WithoutCancel(t.Context()), []snapshot.ViewerQuery{{}, {Viewer: viewer, Query: q}}, posts)
			return err
		}))
		seen += len(out.Posts)
		// The newest are the same, however they are found.
		for most := 1; most < len(out.Posts); most *= 3 {
			some, _, err := w.search(viewer, q.String(), snapshot.Scan{Limit: most})
			w.must(err)
			if !slices.Equal(some.Posts, out.Posts[:most]) || some.Floor != out.Posts[most-1].Place || some.Finished {
				t.Errorf("%q: the first %d are %+v, want %+v", q, most, some, out.Posts[:most])
			}
		}
		readable := 0
		for post := range matches[1] {
			// Posts to a person are read by the two.
			w.must(w.InSnapshot(t.Context(), func(sn *snapshot.Snapshot) error {
				ok, err := sn.MayRead(t.Context(), viewer, post)
				if ok {
					readable++
				}
				return err
			}))
		}
		if len(matches[0]) != 0 || readable != len(out.Posts) {
			t.Errorf("%q: search finds %d, match %d", q, len(out.Posts), readable)
		}
	}
	if seen < 300 {
		t.Errorf("only %d found: the test tests little", seen)
	}
}

// BenchmarkSearch is what a search costs among 100,000 posts that all have one
// word, one of a thousand each, and a comment on every tenth.
func BenchmarkSearch(b *testing.B) {
	w := newTown(b)
	ann, bob := w.user("ann"), w.user("bob")
	w.setAccess(bob, "", Private)
	open, closed := w.post(ann, "common here"), w.post(bob, "common secret")
	for _, of := range []Change{open, closed} {
		_, err := w.pool.Exec(b.Context(), `
			WITH made AS (
				INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive)
				SELECT author_id, fresh_at / 1000000 * 1000000 + 2 * i + author_id % 2, created_at + i * interval '1 microsecond', is_public,
					translate(lpad(i::text || (id % 10), 10, '0'), '', ''),
					body || ' and the river runs through many words such as rare' || i % ($2::int / 50) || ' and others, number ' || i, decisive
				FROM posts, generate_series(1, $2::int) i WHERE id = $1
				RETURNING id, author_id)
			INSERT INTO comments (post_id, author_id, created_at, body)
			SELECT id, author_id, now(), 'common remark' FROM made WHERE id % 10 = 0`, of.PostID, large(50_000))
		w.must(err)
	}
	_, err := w.pool.Exec(b.Context(), `VACUUM ANALYZE`)
	w.must(err)
	for _, c := range []struct {
		name   string
		viewer int64
		text   string
		found  int
	}{
		{"common/all-read", bob.ID, "common", 151},
		{"common/half-read", 0, "common", 151},
		{"common/none-read", ann.ID, "secret", 0},
		{"common/not-own", 0, "remark -common", 0},
		{"phrase", 0, `"river runs"`, 151},
		{"rare", 0, "rare77", 50},
		{"from", 0, "from:ann", 151},
		{"from/rare", 0, "from:ann rare77", 50},
		{"nothing", 0, "nowhere", 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			q := w.query(c.text)
			for b.Loop() {
				w.must(w.InSnapshot(b.Context(), func(sn *snapshot.Snapshot) error {
					out, err := sn.Search(b.Context(), q, snapshot.Scan{
						Viewer: c.viewer, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 151, Down: math.MaxInt64,
					})
					if err == nil && len(out.Posts) != c.found {
						err = fmt.Errorf("%q: got %d posts, want %d", c.text, len(out.Posts), c.found)
					}
					return err
				}))
			}
		})
	}
	b.Run("match", func(b *testing.B) {
		asked := make([]snapshot.ViewerQuery, 100)
		for i := range asked {
			asked[i] = snapshot.ViewerQuery{Query: w.query("common rare" + strconv.Itoa(i))}
		}
		posts := make([]int64, 20)
		for i := range posts {
			posts[i] = open.PostID + 100 + int64(i)
		}
		for b.Loop() {
			w.must(w.InSnapshot(b.Context(), func(sn *snapshot.Snapshot) error {
				_, err := sn.Matches(b.Context(), asked, posts)
				return err
			}))
		}
	})
}
