package rivers

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines"
)

// No single request stores the whole history, however deep its cursor.
func TestADeepCursorStoresNoWholeHistory(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	const total = (maxExtensions + 3) * chunk
	for _, query := range []string{
		`INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive)
		SELECT a.id, 1000000::bigint * i, to_timestamp(i), true, lpad(to_hex(i), 10, '0'), 'post ' || i, ARRAY[t.id]
		FROM accounts a JOIN timelines t ON t.kind = 'feed' AND t.their_id = a.id, generate_series(1, $1::int) i`,
		`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT decisive[1], id, fresh_at, fresh_at, fresh_at FROM posts WHERE id <= (SELECT min(id) FROM posts) + $1`,
	} {
		if _, err := w.db.Primary.Exec(w.ctx, query, total); err != nil {
			t.Fatal(err)
		}
	}
	name := w.name(ann, User, "ann")
	deep := Cursor{Place: 2_500_000, PostID: 1}
	p, err := w.rivers.Visit(w.ctx, ann, name, deep)
	if err != nil || len(p.Items) > 0 || !p.More || p.Next != deep {
		t.Errorf("a page below everything: got %+v, %v; want it empty, and the same again for more", p, err)
	}
	if got, most := w.count(`SELECT count(*) FROM entries`), (maxExtensions+1)*chunk; got > most {
		t.Errorf("%d entries stored by one request, want at most %d", got, most)
	}
	p, err = w.rivers.Visit(w.ctx, ann, name, p.Next)
	if err != nil || p.More {
		t.Errorf("the same again: %+v, %v", p, err)
	}
	w.shows(p, "post 2", "post 1")
	p, err = w.rivers.Visit(w.ctx, ann, name, Cursor{Place: 1000000 * (total - PageSize), PostID: 1})
	if err != nil || len(p.Items) != PageSize {
		t.Errorf("the second page: %v, %v", p, err)
	}
}

// A stranger reads pages of posts that are nearly all private, and no request reads them
// all. Paging on comes to the readable ones, without holes.
func TestAStrangerPagesThroughPrivatePosts(t *testing.T) {
	w := newTown(t)
	w.rivers.scanRows = 200
	ann, wren, fan, reader := w.person("ann"), w.person("wren"), w.person("fan"), w.person("reader")
	for _, name := range []string{"ann", "fan"} {
		_, c, err := w.store.Subscriptions.Subscribe(w.ctx, reader.AccountID, name)
		must(w, c, err)
	}
	c, err := w.store.Feeds.SetAccess(w.ctx, wren.AccountID, "", timelines.Private)
	must(w, c, err)
	for _, query := range []string{
		`INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive)
		SELECT a.id, 1000000::bigint * i, to_timestamp(i), name = 'ann', lpad(to_hex(i), 10, '0'), 'post ' || i, ARRAY[t.id]
		FROM generate_series(1, 4000) i
		JOIN accounts a ON a.name = CASE WHEN i % 1500 = 1 THEN 'ann' ELSE 'wren' END
		JOIN timelines t ON t.kind = 'feed' AND t.their_id = a.id`,
		`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT t.id, p.id, p.fresh_at, p.fresh_at, p.fresh_at
		FROM posts p JOIN timelines t ON t.id = p.decisive[1] OR t.kind = 'everything' OR t.kind = 'likes' AND t.their_id = ` +
			strconv.FormatInt(fan.AccountID, 10),
		`INSERT INTO likes (post_id, account_id, created_at) SELECT id, ` + strconv.FormatInt(fan.AccountID, 10) + `, created_at FROM posts`,
	} {
		if _, err := w.db.Primary.Exec(w.ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	w.drain()
	for _, tc := range []struct {
		viewer timelines.Viewer
		kind   Kind
	}{
		{timelines.Viewer{}, Everything},
		{reader, Home},
	} {
		name := w.name(tc.viewer, tc.kind, "")
		var got []string
		pages := 0
		for at := (Cursor{}); pages < 40; {
			p, err := w.rivers.Visit(w.ctx, tc.viewer, name, at)
			if err != nil {
				t.Fatal(err)
			}
			pages++
			for _, it := range p.Items {
				got = append(got, it.Fold.Text.Body)
			}
			if !p.More {
				break
			}
			if p.Next == at {
				t.Fatalf("%s: page %d leads to itself", tc.kind, pages)
			}
			at = p.Next
		}
		if want := []string{"post 3001", "post 1501", "post 1"}; !slices.Equal(got, want) || pages == 1 {
			t.Errorf("%s: got %q on %d pages, want %q on several", tc.kind, got, pages, want)
		}
	}
	w.shows(w.visit(ann, User, "ann"), "post 3001", "post 1501", "post 1")
	w.sound()
}

// A build stores all that the second page needs, and no more than that is read from the primary store.
func TestTheSecondPageIsBuiltWithTheFirst(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	for i := range 4 * PageSize {
		w.post(ann, numbered(i))
	}
	w.forget()
	p := w.visit(ann, Home, "")
	stored := func() int { return w.count(`SELECT count(*) FROM entries WHERE river_id = $1`, p.River) }
	built := stored()
	second, err := w.rivers.Visit(w.ctx, ann, p.Name, p.Next)
	if second := must(w, second, err); len(second.Items) != PageSize || !second.More || stored() != built {
		t.Errorf("the second page has %d entries, more: %t, and %d are stored; want %d, true, and the %d of the build",
			len(second.Items), second.More, stored(), PageSize, built)
	}
	third, err := w.rivers.Visit(w.ctx, ann, p.Name, second.Next)
	if third := must(w, third, err); len(third.Items) != PageSize || stored() <= built {
		t.Errorf("the third page has %d entries, and %d are stored; want %d, and more than the build's %d", len(third.Items), stored(), PageSize, built)
	}
}

// Home feeds and lists are kept to a depth, and their pages go on below it to the end: the
// same entries with the same stamps, without holes or doubles, and nothing more stored.
func TestHomeGoesOnBeyondItsDepth(t *testing.T) {
	w := newTown(t)
	deeper := w.node()
	w.rivers.opts.Depth = 1
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.told(w.follow(ann, "bob"))
	w.list(ann, "Some", "bob")
	const total = 2*chunk + 40
	for i := range total {
		c := w.post(bob, numbered(i))
		if i%40 == 0 {
			w.remove(bob, c.Code)
			stranger := w.post(cat, "stranger "+numbered(i))
			w.like(bob, stranger.Code)
		}
	}
	w.forget()
	read := func(s *Store, n Name) (items []Item, beyond int) {
		t.Helper()
		for at := (Cursor{}); ; {
			p, err := s.Visit(w.ctx, ann, n, at)
			if err != nil {
				t.Fatal(err)
			}
			if p.Beyond {
				beyond++
			}
			items = append(items, p.Items...)
			if !p.More {
				return items, beyond
			}
			if len(p.Items) != PageSize {
				t.Errorf("a page of %d with more to come", len(p.Items))
			}
			at = p.Next
		}
	}
	for _, order := range []Order{Fresh, Created} {
		for _, of := range []struct {
			kind Kind
			slug string
		}{{Home, ""}, {List, "some"}} {
			n, err := w.rivers.Resolve(w.ctx, ann, of.kind, of.slug, order)
			got, beyond := read(w.rivers, must(w, n, err))
			if stored := w.count(`SELECT count(*) FROM entries e JOIN rivers r ON r.id = e.river_id AND r.kind = $1 AND r.ord = $2`,
				of.kind, order); stored != firstChunk || beyond < (total-firstChunk)/PageSize {
				t.Errorf("%s by %s: %d entries stored, %d pages beyond, want %d and the rest", of.kind, order, stored, beyond, firstChunk)
			}
			// A node that keeps all entries shows the same.
			want, none := read(deeper, n)
			if none > 0 || len(want) != total {
				t.Errorf("%s by %s: %d entries and %d pages beyond on the other node, want %d and 0", of.kind, order, len(want), none, total)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s by %s, beyond the depth (-kept +read):\n%s", of.kind, order, diff)
			}
		}
	}
	w.sound()
	if got := w.name(ann, User, "ann"); specs[got.Kind].followBased {
		t.Errorf("pages of one timeline are kept to a depth")
	}
}

// Entries beyond the depth are decided by what holds now (R4), though no job runs. A page
// that shows some can ask for them by post.
func TestBeyondTheDepthIsDecidedNow(t *testing.T) {
	w := newTown(t)
	w.rivers.opts.Depth = 1
	ann, bob := w.person("ann"), w.person("bob")
	w.group(bob, "club", timelines.Public)
	w.told(w.follow(ann, "club"))
	var made []timelines.Change
	for i := range chunk + 10 {
		made = append(made, w.post(bob, numbered(i), "club"))
	}
	w.forget()
	n := w.name(ann, Home, "")
	at := Cursor{}
	for range chunk / PageSize {
		p, err := w.rivers.Visit(w.ctx, ann, n, at)
		at = must(w, p, err).Next
	}
	below := func() *Page {
		t.Helper()
		p, err := w.rivers.Visit(w.ctx, ann, n, at)
		return must(w, p, err)
	}
	first := below()
	if !first.Beyond || len(first.Items) != 10 {
		t.Fatalf("got %d entries, beyond %v; want 10 beyond the depth", len(first.Items), first.Beyond)
	}
	seen := func(post timelines.Change) Seen {
		t.Helper()
		all, err := w.rivers.Flush(w.ctx, []Watch{
			{Viewer: ann, Name: n, River: first.River},
			{Viewer: ann, Name: n, River: first.River, Beyond: true},
		}, []int64{post.PostID, made[len(made)-1].PostID})
		if len(must(w, all, err)[0].Items) != 1 {
			t.Errorf("a page that shows nothing beyond the depth is told of it: %+v", all[0])
		}
		return all[1]
	}
	deep := made[3]
	c, err := w.store.Posts.Edit(w.ctx, bob.AccountID, deep.Code, "edited")
	must(w, c, err)
	if got := seen(deep); len(got.Items) != 2 || got.Items[1].Fold.Text.Body != "edited" || got.Items[1].Stamp.Entry != 2 {
		t.Errorf("an edited post beyond the depth: got %+v", got)
	}
	if p := below(); !slices.Contains(bodies(p), "edited") {
		t.Errorf("the page does not show the edit: %q", bodies(p))
	}
	w.remove(bob, deep.Code)
	if got := seen(deep); len(got.Items) != 1 {
		t.Errorf("a deleted post beyond the depth: got %+v", got)
	}
	if p := below(); len(p.Items) != 9 {
		t.Errorf("%d entries after one was deleted, want 9: %q", len(p.Items), bodies(p))
	}
	// The group closes, and ann leaves it: only the clock says so.
	c, err = w.store.Feeds.SetAccess(w.ctx, bob.AccountID, "club", timelines.Private)
	must(w, c, err)
	c, err = w.store.Subscriptions.Unsubscribe(w.ctx, ann.AccountID, "club")
	if err := w.rivers.PublishClock(w.ctx, must(w, c, err).Clock); err != nil {
		t.Fatal(err)
	}
	if p := below(); len(p.Items) != 0 {
		t.Errorf("a closed group's posts beyond the depth: %q", bodies(p))
	}
}

// 000 leaves open what its depth limit does to bumping: a post that was cut off below could
// come in "for the first time" again. Here a place is computed from everything that ever
// brought the post, kept in the river or not. An old post comes in at its place in time
// (RIVERRUN_LOCAL_BUMP_MAX_AGE).
func TestNothingIsLiftedTwiceFromBeyondTheDepth(t *testing.T) {
	w := newTown(t)
	w.rivers.opts.Depth = 1
	ann, bob, cat, dan := w.person("ann"), w.person("bob"), w.person("cat"), w.person("dan")
	w.told(w.follow(ann, "bob"))
	w.told(w.follow(ann, "cat"))
	lifted, old := w.post(dan, "lifted once"), w.post(dan, "from long ago")
	const longAgo = int64(31 * 24 * time.Hour / time.Microsecond)
	for _, query := range []string{
		`UPDATE posts SET fresh_at = fresh_at - $2, created_at = created_at - $2 * interval '1 microsecond' WHERE id = $1`,
		`UPDATE timeline_entries SET fresh_at = fresh_at - $2, entered_at = entered_at - $2, created_at = created_at - $2 WHERE post_id = $1`,
	} {
		if _, err := w.db.Primary.Exec(w.ctx, query, old.PostID, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	w.like(bob, lifted.Code)
	for i := range chunk + 5 {
		w.post(bob, numbered(i))
	}
	w.forget()
	want := make([]string, chunk+6, chunk+7)
	for i := range chunk + 5 {
		want[chunk+4-i] = numbered(i)
	}
	want[chunk+5] = "lifted once"
	read := func() (all []string) {
		t.Helper()
		for at := (Cursor{}); ; {
			p, err := w.rivers.Visit(w.ctx, ann, w.name(ann, Home, ""), at)
			all = append(all, bodies(must(w, p, err))...)
			if !p.More {
				return all
			}
			at = p.Next
		}
	}
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("before: got %q, want %q", got, want)
	}
	w.unlike(bob, lifted.Code)
	w.like(cat, lifted.Code)
	w.like(bob, lifted.Code)
	w.like(cat, old.Code)
	w.drain()
	if got, want := read(), append(want, "from long ago"); !slices.Equal(got, want) {
		t.Errorf("after other likes: got %q, want %q", got, want)
	}
	w.sound()
}
