package sources_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/photos"
)

func (w *world) photos() *photos.Store { return photos.New(w.posts, w.pool) }

// with gives an item pictures with these addresses.
func with(it *formats.Item, names ...string) *formats.Item {
	it.Pictures = nil
	for _, name := range names {
		it.Pictures = append(it.Pictures, formats.Picture{URL: "https://img.example/" + name, Text: "a " + name})
	}
	return it
}

// made returns a picture whose content is its name.
func made(p photos.Photo, content string) photos.Outcome {
	sum := blobs.Sum(sha256.Sum256([]byte(content)))
	return photos.Outcome{
		Photo: p, Sum: sum, Bytes: int64(len(content)), ETag: `"` + content + `"`,
		Made: files.Made{Width: 30, Height: 20, Blobs: []files.MadeBlob{{Size: "full", Type: "image/png", Sum: sum, Bytes: 7}}},
	}
}

// fetchAll records an outcome for each due picture of a host, and returns their addresses.
func (w *world) fetchAll(host string, outcome func(photos.Photo) photos.Outcome) []string {
	w.Helper()
	list, err := w.photos().Claim(w.Context(), host, 100)
	w.must(err)
	by := map[int64][]photos.Outcome{}
	var names []string
	for _, p := range list {
		waits, err := w.photos().Try(w.Context(), p.ID)
		w.must(err)
		if !waits {
			w.Errorf("%s does not wait", p.URL)
		}
		by[p.SourceID] = append(by[p.SourceID], outcome(p))
		names = append(names, p.URL)
	}
	for source, all := range by {
		w.announces(func() {
			_, err := w.photos().Record(w.Context(), source, all)
			w.must(err)
		})
	}
	return names
}

func asNamed(p photos.Photo) photos.Outcome {
	return made(p, strings.TrimPrefix(p.URL, "https://img.example/"))
}

// attached returns the pictures of posts, in their order.
func (w *world) attached() []string {
	w.Helper()
	return w.list(`
		SELECT split_part(p.body, E'\n', 1) || ': ' || string_agg(f.alt || ' ' || f.name, ', ' ORDER BY f.position, f.id)
		FROM posts p JOIN files f ON f.post_id = p.id GROUP BY p.id ORDER BY p.id`)
}

// G19, G20: pictures come later than their posts. A picture whose address stays keeps its file. When
// the address goes, the file goes too. The order is the order of the item.
func TestPicturesOfItems(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "A blog", sources.Append, `{}`)
	first := with(item("1", "One", time.Hour), "a.png", "b.png")
	l := w.load(source, 10, first, item("2", "Two", time.Hour))
	w.same("counts", l.Counts, sources.Counts{Added: 2})
	w.same("before they come", w.attached(), []string{})
	due, err := w.photos().Due(t.Context(), 10)
	w.must(err)
	w.same("hosts", due, []string{"img.example"})
	waiting, err := w.photos().Waiting(t.Context(), l.ID)
	w.must(err)
	w.same("waiting", waiting, 2)

	w.heard.take()
	w.same("fetched", w.fetchAll("img.example", asNamed), []string{"https://img.example/a.png", "https://img.example/b.png"})
	w.same("attached", w.attached(), []string{"One: a a.png a.png, a b.png b.png"})
	w.same("posts announced", w.heard.take(), 1)
	l, err = w.sources.Load(t.Context(), source, l.No)
	w.must(err)
	w.same("late counts", []int64{l.Pictures, l.PictureErrors}, []int64{2, 0})
	kept := value[int64](w, `SELECT id FROM files WHERE name = 'b.png'`)
	w.same("references", w.list(`SELECT DISTINCT b.size || b.type FROM file_blobs b JOIN files f ON f.id = b.file_id`), []string{"fullimage/png"})

	// The same item again asks for nothing.
	w.load(source, 10, first)
	due, err = w.photos().Due(t.Context(), 10)
	w.must(err)
	w.same("hosts", len(due), 0)

	// One picture goes, and a new one stands before the picture that stays.
	l = w.load(source, 10, with(item("1", "One", time.Hour), "c.png", "b.png"))
	w.same("counts", l.Counts, sources.Counts{Changed: 1})
	w.same("one is gone", w.attached(), []string{"One: a b.png b.png"})
	w.same("fetched", w.fetchAll("img.example", asNamed), []string{"https://img.example/c.png"})
	w.same("attached", w.attached(), []string{"One: a c.png c.png, a b.png b.png"})
	w.same("the one that stays", value[int64](w, `SELECT id FROM files WHERE name = 'b.png'`), kept)

	// Only the order changes, and a text.
	turned := with(item("1", "One", time.Hour), "b.png", "c.png")
	turned.Pictures[0].Text = "the quay"
	w.heard.take()
	w.same("counts", w.load(source, 10, turned).Counts, sources.Counts{Changed: 1})
	w.same("turned", w.attached(), []string{"One: the quay b.png, a c.png c.png"})
	w.same("posts announced", w.heard.take(), 1)

	// The item has no pictures any more.
	w.same("counts", w.load(source, 10, item("1", "One", time.Hour)).Counts, sources.Counts{Changed: 1})
	w.same("none", w.attached(), []string{})
	w.same("rows", value[int64](w, `SELECT count(*) FROM item_pictures`), int64(0))
}

// An item may be only a picture. Its post has a link too, since the picture may never come.
func TestAPictureAlone(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "A camera", sources.Append, `{}`)
	it := with(item("1", "", time.Hour), "a.png")
	it.URL = ""
	w.same("counts", w.load(source, 10, it).Counts, sources.Counts{Added: 1})
	w.fetchAll("img.example", asNamed)
	w.same("attached", w.attached(), []string{"[a a.png](https://img.example/a.png): a a.png a.png"})
}

// Two addresses of one picture are one file. It stays while one of the addresses does. If another
// item has the same address, the picture is asked for with its stored ETag and the like, and copied.
func TestPicturesTwice(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "A blog", sources.Append, `{}`)
	w.load(source, 10, with(item("1", "One", time.Hour), "a.png", "a.png?large", "b.png"))
	w.fetchAll("img.example", func(p photos.Photo) photos.Outcome {
		o := asNamed(p)
		if strings.HasSuffix(p.URL, "large") {
			o = made(p, "a.png")
		}
		return o
	})
	w.same("attached", w.attached(), []string{"One: a a.png a.png, a b.png b.png"})
	w.load(source, 10, with(item("1", "One", time.Hour), "a.png?large", "b.png"))
	w.same("one address left", w.attached(), []string{"One: a a.png?large a.png, a b.png b.png"})

	w.load(source, 10, with(item("2", "Two", time.Hour), "b.png"))
	copied := int64(0)
	w.fetchAll("img.example", func(p photos.Photo) photos.Outcome {
		w.same("known by", p.ETag, `"b.png"`)
		copied = p.Like
		return photos.Outcome{Photo: p, Copy: p.Like, ETag: p.ETag}
	})
	w.same("copied", w.attached(), []string{"One: a a.png?large a.png, a b.png b.png", "Two: a b.png b.png"})
	w.same("blobs", value[int64](w, `SELECT count(*) FROM files f JOIN file_blobs b ON b.file_id = f.id WHERE f.name = 'b.png' AND f.width = 30`), int64(2))

	// The picture that was to be copied is gone meanwhile, so it is fetched.
	w.load(source, 10, with(item("3", "Three", time.Hour), "b.png"))
	w.fetchAll("img.example", func(p photos.Photo) photos.Outcome {
		return photos.Outcome{Photo: p, Copy: copied + 1000}
	})
	w.same("again", w.fetchAll("img.example", asNamed), []string{"https://img.example/b.png"})
}

// F30: problems of a picture are recorded with the load that brought the picture, even after the
// load's end. Problems that may pass are recorded only after more tries.
func TestPicturesThatFail(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "A blog", sources.Append, `{}`)
	w.load(source, 10, with(item("1", "One", time.Hour), "gone.png"), with(item("2", "Two", time.Hour), "away.png", "there.png"))
	outcome := func(p photos.Photo) photos.Outcome {
		switch {
		case strings.HasSuffix(p.URL, "gone.png"):
			return photos.Outcome{Photo: p, Problem: photos.NotFound}
		case strings.HasSuffix(p.URL, "away.png"):
			return photos.Outcome{Photo: p, Problem: photos.Unreachable, Passes: true}
		}
		return asNamed(p)
	}
	w.same("fetched", len(w.fetchAll("img.example", outcome)), 3)
	troubles := func() []string {
		return w.list(`SELECT format('%s %s %s %s %s %s %s', line, error, code, field, value, external_id, title) FROM load_problems ORDER BY line, no`)
	}
	w.same("problems", troubles(), []string{"0 f picture_not_found picture https://img.example/gone.png 1 One"})
	for n := range 4 {
		w.same("too soon", len(w.fetchAll("img.example", outcome)), 0)
		least := time.Minute * time.Duration([]int{1, 5, 25, 125}[n])
		w.same("later and later", value[bool](w, `SELECT next_at BETWEEN now() + $1 - interval '10 s' AND now() + $1 * 1.25 FROM item_pictures WHERE state = 'waiting'`, least), true)
		_, err := w.pool.Exec(t.Context(), `UPDATE item_pictures SET next_at = now()`)
		w.must(err)
		w.same("tried again", w.fetchAll("img.example", outcome), []string{"https://img.example/away.png"})
	}
	w.same("problems", troubles(), []string{
		"0 f picture_not_found picture https://img.example/gone.png 1 One",
		"1 f picture_unreachable picture https://img.example/away.png 2 Two",
	})
	l, err := w.sources.Load(t.Context(), source, 1)
	w.must(err)
	w.same("late counts", []int64{l.Pictures, l.PictureErrors, l.Errors, l.Warnings}, []int64{1, 2, 0, 0})
	w.same("codes", value[string](w, `SELECT codes::text FROM loads`), `{"picture_not_found": 1, "picture_unreachable": 1}`)
	w.same("attached", w.attached(), []string{"Two: a there.png there.png"})
}

// An edited post keeps its pictures: none comes or goes any more. A deleted post has none.
func TestPicturesLeaveEditedPostsAlone(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "A blog", sources.Append, `{}`)
	w.load(source, 10, with(item("1", "One", time.Hour), "a.png", "b.png"), with(item("2", "Two", time.Hour), "c.png"), with(item("3", "Three", time.Hour), "d.png"))
	code := func(body string) string {
		return value[string](w, `SELECT code FROM posts WHERE body LIKE $1 || '%'`, body)
	}
	list, err := w.photos().Claim(t.Context(), "img.example", 2) // of the first item
	w.must(err)
	_, err = w.photos().Record(t.Context(), source, []photos.Outcome{asNamed(list[0]), asNamed(list[1])})
	w.must(err)
	a := value[string](w, `SELECT code FROM files WHERE name = 'a.png'`)
	_, err = w.posts.Posts.Revise(t.Context(), ann.ID, code("One"), timelines.Revision{SetFiles: true, Files: []files.Attachment{{Code: a, Alt: "mine"}}})
	w.must(err)
	body := "Two, corrected"
	_, err = w.posts.Posts.Revise(t.Context(), ann.ID, code("Two"), timelines.Revision{Body: &body})
	w.must(err)
	_, err = w.posts.Posts.Delete(t.Context(), ann.ID, code("Three"))
	w.must(err)
	w.fetchAll("img.example", asNamed)
	want := []string{"One: mine a.png"}
	w.same("attached", w.attached(), want)
	w.load(source, 10, with(item("1", "One!", time.Hour), "e.png"), with(item("2", "Two!", time.Hour), "f.png"), with(item("3", "Three!", time.Hour), "g.png"))
	w.same("nothing is asked for", len(w.fetchAll("img.example", asNamed)), 0)
	w.same("attached", w.attached(), want)
}

// A post has no more files than it may.
func TestPicturesOfAFullPost(t *testing.T) {
	w := newWorld(t)
	options := timelines.DefaultOptions()
	options.PostFiles = 2
	w.posts = timelines.Open(w.pool, w.heard, options)
	w.sources = sources.Open(w.posts)
	source := w.source(w.person("ann"), "A blog", sources.Append, `{}`)
	w.load(source, 10, with(item("1", "One", time.Hour), "a.png", "b.png", "c.png"))
	w.same("fetched", len(w.fetchAll("img.example", asNamed)), 2)
	w.same("attached", w.attached(), []string{"One: a a.png a.png, a b.png b.png"})
}

// A picture may be read by those who may read its post; this is checked at each request. It goes with
// the source.
func TestPicturesAreAsClosedAsTheirPosts(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	s, err := w.sources.Add(t.Context(), ann.ID, sources.New{Owner: "ann", Way: sources.File, Title: "A blog"})
	w.must(err)
	w.load(s.ID, 10, with(item("1", "One", time.Hour), "a.png"))
	w.fetchAll("img.example", asNamed)
	code := value[string](w, `SELECT code FROM files`)
	find := func(viewer int64) error {
		_, err := w.posts.Files.Find(t.Context(), viewer, code, "")
		return err
	}
	w.must(find(bob.ID))
	w.must(find(0))
	_, err = w.posts.Feeds.SetAccess(t.Context(), ann.ID, "", timelines.Private)
	w.must(err)
	w.must(find(ann.ID))
	for _, viewer := range []int64{bob.ID, 0} {
		if err := find(viewer); !errors.Is(err, files.ErrNotFound) {
			t.Errorf("viewer %d reads the picture of a private post: %v", viewer, err)
		}
	}
	w.load(s.ID, 10, with(item("2", "Two", time.Hour), "b.png"))
	_, err = w.sources.Remove(t.Context(), ann.ID, s.Code, sources.Delete)
	w.must(err)
	k, err := w.sources.Take(t.Context(), s.ID)
	w.must(err)
	defer func() { w.must(k.Close(t.Context())) }()
	list, err := w.photos().Claim(t.Context(), "img.example", 10)
	w.must(err)
	for gone := false; !gone; {
		_, gone, err = k.Remove(t.Context())
		w.must(err)
	}
	// A fetch that was under way meanwhile has no effect.
	_, err = w.photos().Record(t.Context(), s.ID, []photos.Outcome{asNamed(list[0])})
	w.must(err)
	for _, table := range []string{"item_pictures", "files", "file_blobs"} {
		w.same(table, value[int64](w, `SELECT count(*) FROM `+table), int64(0))
	}
}

// Sources that share a host take turns. Claimed pictures are left alone, and given back ones are
// claimed again.
func TestPicturesAreClaimedInTurn(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	var mine []int64
	for s := range 3 {
		source := w.source(ann, fmt.Sprint("Blog ", s), sources.Append, `{}`)
		mine = append(mine, source)
		n := []int{50, 3, 1}[s]
		var list []*formats.Item
		for i := range n {
			list = append(list, with(item(fmt.Sprint(s, "-", i), fmt.Sprint("Item ", s, " ", i), time.Hour), fmt.Sprint(s, "-", i, ".png")))
		}
		w.load(source, 100, list...)
	}
	claim := func() (ids []int64, turns []int) {
		list, err := w.photos().Claim(t.Context(), "img.example", 7)
		w.must(err)
		turns = make([]int, 3)
		for _, p := range list {
			ids = append(ids, p.ID)
			turns[slices.Index(mine, p.SourceID)]++
		}
		return ids, turns
	}
	first, turns := claim()
	w.same("in turn", turns, []int{3, 3, 1})
	second, turns := claim()
	w.same("the rest", turns, []int{7, 0, 0})
	w.must(w.photos().Return(t.Context(), first, 0))
	again, _ := claim()
	if slices.ContainsFunc(second, func(id int64) bool { return slices.Contains(again, id) }) {
		t.Errorf("claimed twice: %v, %v", second, again)
	}
}

// hold works a load of items whose next lines may be held, and reports whether they are.
func (w *world) hold(source int64, l *sources.Load, items ...*formats.Item) bool {
	w.Helper()
	k, err := w.sources.Take(w.Context(), source)
	w.must(err)
	defer func() { w.must(k.Close(w.Context())) }()
	if l.ID == 0 {
		*l = w.begin(k, source, items)
	}
	lines := w.lines(items...)
	held, err := k.Hold(w.Context(), l, lines)
	w.must(err)
	if !held {
		_, err := k.Apply(w.Context(), l, lines)
		w.must(err)
		w.end(k, l)
	}
	return held
}

// G20: a source may let its news wait for their pictures, at most some minutes.
func TestNewsWaitsForPictures(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "A blog", sources.Append, `{"wait_pictures": true}`)
	old := with(item("0", "Zero", time.Hour), "0.png")
	w.same("the first load waits", w.hold(source, &sources.Load{}, old), false)
	w.fetchAll("img.example", asNamed)

	// News waits until all pictures are there or have failed.
	news := with(item("1", "One", time.Hour), "a.png", "b.png", "away.png")
	late := with(item("2", "Two", 48*time.Hour), "c.png")
	var l sources.Load
	w.same("news waits", w.hold(source, &l, news, late, old), true)
	w.same("shown", w.shown(), []string{"Zero"})
	w.heard.mu.Lock()
	w.heard.ready = nil
	w.heard.mu.Unlock()
	list, err := w.photos().Claim(t.Context(), "img.example", 2)
	w.must(err)
	_, err = w.photos().Record(t.Context(), source, []photos.Outcome{asNamed(list[0]), asNamed(list[1])})
	w.must(err)
	w.same("announced", len(w.heard.ready), 1)
	w.same("one is missing", w.hold(source, &l, news, late, old), true)
	w.same("fetched", w.fetchAll("img.example", func(p photos.Photo) photos.Outcome {
		return photos.Outcome{Photo: p, Problem: photos.Unreachable, Passes: true}
	}), []string{"https://img.example/away.png"})
	w.heard.take()
	w.same("nothing is missing", w.hold(source, &l, news, late, old), false)
	w.same("attached", w.attached(), []string{"Zero: a 0.png 0.png", "One: a a.png a.png, a b.png b.png"})
	w.same("counts", l.Counts, sources.Counts{Added: 2, Same: 1})
	w.same("posts announced", w.heard.take(), 2)
	l, err = w.sources.Load(t.Context(), source, l.No)
	w.must(err)
	w.same("pictures", l.Pictures, int64(2))
	w.same("the others come late", w.fetchAll("img.example", asNamed), []string{"https://img.example/c.png"})

	// News waits at most some minutes.
	w.same("waits", w.hold(source, &sources.Load{}, with(item("3", "Three", time.Hour), "slow.png")), true)
	_, err = w.pool.Exec(t.Context(), `UPDATE item_pictures SET created_at = created_at - interval '3 minutes'`)
	w.must(err)
	third, err := w.sources.Load(t.Context(), source, 3)
	w.must(err)
	w.same("no longer", w.hold(source, &third, with(item("3", "Three", time.Hour), "slow.png")), false)
	w.same("and then", w.fetchAll("img.example", asNamed), []string{"https://img.example/slow.png"})
	w.same("attached", len(w.attached()), 4)

	// A load that waits for pictures is cancelled, and the next load has some other pictures.
	var fourth sources.Load
	w.same("waits", w.hold(source, &fourth, with(item("4", "Four", time.Hour), "x.png", "y.png")), true)
	_, err = w.pool.Exec(t.Context(), `UPDATE loads SET state = 'cancelled' WHERE no = 4`)
	w.must(err)
	w.fetchAll("img.example", asNamed)
	var fifth sources.Load
	four := with(item("4", "Four, again", time.Hour), "y.png", "z.png")
	w.same("waits", w.hold(source, &fifth, four), true)
	w.fetchAll("img.example", asNamed)
	w.same("waits", w.hold(source, &fifth, four), false)
	w.same("attached", w.attached()[4:], []string{"Four, again: a y.png y.png, a z.png z.png"})
	w.same("rows", w.list(`SELECT DISTINCT state FROM item_pictures ORDER BY 1`), []string{"there", "waiting"})
}
