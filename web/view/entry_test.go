package view

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"riverrun/rivers"
	"riverrun/rivers/bytecache"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
)

var updateGolden = flag.Bool("update", false, "write the golden files of the components anew")

// Accounts of the components' tests.
const (
	anna int64 = 1 + iota
	bob
	kirill
	dee
	eve
	finn
	chess
)

var testNow = time.Date(2026, 3, 12, 15, 0, 0, 0, time.UTC)

func minutesAgo(n int) int64 { return testNow.Add(-time.Duration(n) * time.Minute).UnixMicro() }

func testRenderer(t testing.TB) *Renderer {
	t.Helper()
	return &Renderer{epoch: func() int64 { return 1 }, asset: func(name string) string { return "/static/" + name }, parts: bytecache.New[sharedKey, sharedParts](1 << 20), own: bytecache.New[ownKey, ownParts](1 << 20), now: func() time.Time { return testNow }}
}

// testPresent is what somebody sees with: anna follows bob and dee and
// administers the chess club; everybody has a name.
func testPresent(t testing.TB, s *Renderer, viewer int64, lang string) *Base {
	t.Helper()
	p := s.NewBase(LocaleOf(lang))
	p.Viewer = timelines.Viewer{AccountID: viewer}
	p.Sets = &access.Sets{AccountID: viewer}
	if viewer == anna {
		p.Sets.Follows = access.NewIDs(bob, dee, chess)
		p.Sets.Administers = access.NewIDs(chess)
	}
	for id, name := range map[int64]string{
		anna: "anna Anna Livia", bob: "bob Bob", kirill: "kirill Кирилл", dee: "dee Deirdre O’Hara",
		eve: "eve Eve <the> & first", finn: "finn Finn",
	} {
		name, title, _ := strings.Cut(name, " ")
		p.Names[id] = timelines.Account{ID: id, Kind: timelines.User, Name: name, Title: title, Writers: timelines.WritersAnyone}
	}
	p.Names[chess] = timelines.Account{ID: chess, Kind: timelines.Group, Name: "chess-club", Title: "Chess Club", Writers: timelines.WritersAnyone}
	p.Member = followed(p.Sets, p.Names, timelines.Group)
	p.subfeeds[300] = timelines.Subfeed{TimelineID: 300, AccountID: bob, Slug: "photos", Title: "Photos"}
	p.PageAddress = "/"
	p.RiverName = rivers.Name{UserID: viewer, Kind: rivers.Home}
	return p
}

func feedOf(id int64) timelines.Timeline {
	return timelines.Timeline{ID: 100 + id, Kind: kinds.Feed, TheirID: id}
}

func ofKind(kind string, id int64) timelines.Timeline {
	return timelines.Timeline{ID: 200 + id, Kind: kind, TheirID: id}
}

// testItem is a folded entry with a little of everything.
func testItem() rivers.Item {
	return rivers.Item{
		PostID: 7, Place: minutesAgo(3), Stamp: rivers.Stamp{Entry: 12, Fold: 14},
		Fold: &rivers.Fold{
			PostID: 7, Version: 14,
			Text: rivers.Text{
				Code: "d0w2eapjbg", Author: bob, Body: "Tonight: the <i>Evans</i> Gambit.\n\nSee https://example.org/ @anna #chess",
				CreatedAt: minutesAgo(90), EditedAt: minutesAgo(80), Via: "Feeds & Co", ViaURL: "https://example.org/feed", Place: "Old <harbour>",
			},
			Likes: rivers.LikesFold{Total: 6, IDs: []int64{finn, eve, kirill, dee, anna, bob}},
			Comments: rivers.CommentsFold{Total: 5, Folded: []int64{bob, eve}, Shown: []rivers.Comment{
				{ID: 31, Author: dee, Body: "First.", CreatedAt: minutesAgo(60)},
				{ID: 34, Author: anna, Body: "Fourth.\n\nWith <b>more</b>.", CreatedAt: minutesAgo(4), EditedAt: minutesAgo(3)},
				{ID: 35, Author: kirill, Body: "Пятый.", CreatedAt: minutesAgo(0)},
			}},
			Attached: []rivers.Attachment{
				{URL: "https://example.org/a.pdf", Title: "Notes"}, {URL: "https://example.org/b.pdf"}, {URL: "javascript:alert(1)", Title: "No link"},
			},
		},
		Why: []timelines.Timeline{ofKind(kinds.Group, chess), ofKind(kinds.Comments, dee)},
		To:  []timelines.Timeline{feedOf(bob), ofKind(kinds.Group, chess)},
	}
}

// random are keys and hashes, which differ from one rendering to the next.
var random = regexp.MustCompile(`name="key" value="[^"]*"`)

// golden compares HTML with what it was when somebody last looked at it.
func golden(t *testing.T, name string, html []byte) {
	t.Helper()
	got := random.ReplaceAll(html, []byte(`name="key" value="KEY"`))
	got = bytes.ReplaceAll(got, []byte("><"), []byte(">\n<")) // a line a tag, to read differences
	path := filepath.Join("testdata", "golden", name+".html")
	if *updateGolden {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; look at it, then run with -update (-want +got):\n%s", path, diff)
	}
}

func goldenComponent(t *testing.T, name string, c templ.Component) {
	t.Helper()
	html, err := Bytes(c)
	if err != nil {
		t.Fatal(err)
	}
	html = drawings.ReplaceAll(html, nil)
	if !slices.Contains(wholePages, name) {
		html = around.ReplaceAll(html, nil)
	}
	golden(t, name, html)
}

// wholePages are kept as a whole, to look at what stands around every page; of the others only what
// is their own is kept. around is the rest.
var (
	wholePages = []string{"home", "signup_ru"}
	around     = regexp.MustCompile(`(?s)^<!doctype html>.*?</header>|<nav class="bar".*$`)
)

// drawings are those of the icons, the same on each page.
var drawings = regexp.MustCompile(`(?s)<symbol.*</symbol>`)

func TestEntry(t *testing.T) {
	direct := testItem()
	direct.To = []timelines.Timeline{ofKind(kinds.Directs, bob), ofKind(kinds.Directs, anna)}
	direct.Why = []timelines.Timeline{ofKind(kinds.Directs, anna)}
	direct.Fold.Comments, direct.Fold.Likes, direct.Fold.Attached = rivers.CommentsFold{}, rivers.LikesFold{}, nil
	direct.Fold.Text.Via, direct.Fold.Text.EditedAt = "", 0

	mine := testItem()
	mine.Liked, mine.Fold.Text.Author = true, anna
	mine.Fold.Text.Cut, mine.Fold.Comments.Shown[0].Cut = true, true
	mine.Fold.Text.Via, mine.Fold.Text.ViaURL = "javascript", "javascript:alert(1)"
	mine.Why = []timelines.Timeline{feedOf(anna)}

	full := testItem()
	full.Full = true

	stranger := testItem()
	stranger.Fold.Text.Author = 99

	album := testItem()
	album.To = []timelines.Timeline{feedOf(bob), {ID: 300, Kind: kinds.Subfeed, TheirID: bob, Term: "photos"}}

	eyes := mine
	eyes.To = []timelines.Timeline{ofKind(kinds.Eyes, anna)}
	eyes.Why = eyes.To

	linked := testItem()
	linked.Fold.Text.Markup, linked.Fold.Text.Via, linked.Fold.Text.ViaURL = true, "Harbour notes", "https://harbour.example/"
	linked.Fold.Text.Body = `[The \*ferry\* \[again\](javascript:alert(1)) & evil.example](https://harbour.example/ferry)` + "\n\nThe 8:40 is late.\n\n[Audio, 42 min, 38 MB](https://harbour.example/1.mp3)"

	for _, tt := range []struct {
		name   string
		viewer int64
		lang   string
		item   rivers.Item
	}{
		{"entry_anonymous", 0, "en", testItem()},
		{"entry_follower", anna, "en", testItem()},
		{"entry_russian", anna, "ru", testItem()},
		{"entry_author", anna, "en", mine},
		{"entry_direct", anna, "en", direct},
		{"entry_subfeed", kirill, "en", album},
		{"entry_eyes", anna, "ru", eyes},
		{"entry_full", kirill, "en", full},
		{"entry_unknown_author", 0, "en", stranger},
		{"entry_linked_title", anna, "en", linked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testRenderer(t)
			html, err := s.Article(testPresent(t, s, tt.viewer, tt.lang), tt.item)
			if err != nil {
				t.Fatal(err)
			}
			goldenComponent(t, tt.name, html)
		})
	}
}

func TestWhy(t *testing.T) {
	for _, tt := range []struct {
		name   string
		author int64
		why    []timelines.Timeline
		want   string
	}{
		{"nothing", bob, nil, ""},
		{"friend", bob, []timelines.Timeline{feedOf(bob), ofKind(kinds.Likes, dee)}, "You follow Bob"},
		{"mine", bob, []timelines.Timeline{feedOf(anna), feedOf(bob)}, "Your post"},
		{"group", bob, []timelines.Timeline{ofKind(kinds.Group, chess)}, "In Chess Club"},
		{"liked", bob, []timelines.Timeline{ofKind(kinds.Likes, bob), ofKind(kinds.Comments, dee), ofKind(kinds.Likes, finn)}, "Liked by Bob, Finn"},
		{"liked by many", bob, []timelines.Timeline{
			ofKind(kinds.Likes, bob), ofKind(kinds.Likes, dee), ofKind(kinds.Likes, finn), ofKind(kinds.Likes, eve),
		}, "Liked by Bob, Deirdre O’Hara, Finn"},
		{"I like it", bob, []timelines.Timeline{ofKind(kinds.Likes, anna)}, "You like this"},
		{"commented", bob, []timelines.Timeline{ofKind(kinds.Comments, dee)}, "Commented on by Deirdre O’Hara"},
		{"I commented", bob, []timelines.Timeline{ofKind(kinds.Comments, anna)}, "You commented on this"},
		{"mine, of which I take part", bob, []timelines.Timeline{ofKind(kinds.Discussions, anna), feedOf(anna)}, "Your post"},
		{"friend's, liked before it came", bob, []timelines.Timeline{ofKind(kinds.Likes, dee), feedOf(bob)}, "You follow Bob"},
		{"liked, and I take part", bob, []timelines.Timeline{ofKind(kinds.Discussions, anna), ofKind(kinds.Likes, dee)}, "Liked by Deirdre O’Hara"},
		{"direct", bob, []timelines.Timeline{ofKind(kinds.Directs, anna)}, "A message"},
		{"discussion", bob, []timelines.Timeline{ofKind(kinds.Discussions, anna)}, "You’re in this discussion"},
		{"discussion of my post", anna, []timelines.Timeline{ofKind(kinds.Discussions, anna)}, "Your post"},
		{"my post, liked", anna, []timelines.Timeline{ofKind(kinds.Discussions, anna), ofKind(kinds.Likes, dee)}, "Liked by Deirdre O’Hara"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testRenderer(t)
			it := testItem()
			it.Why = tt.why
			it.Fold.Text.Author = tt.author
			e := &Entry{Base: testPresent(t, s, anna, "en"), Item: &it}
			html, err := Bytes(e.why())
			if err != nil {
				t.Fatal(err)
			}
			if got := read(html); got != tt.want {
				t.Errorf("why %v: got %q, want %q", tt.why, got, tt.want)
			}
			e.RiverName.Kind = rivers.Everything
			if html, err = Bytes(e.why()); err != nil || len(html) != 0 {
				t.Errorf("why on another page: got %q, %v, want nothing", html, err)
			}
		})
	}
}

var htmlTags = regexp.MustCompile(`<[^>]*>`)

// read is the text of HTML as a browser shows it, on one line.
func read(html []byte) string {
	return strings.Join(strings.Fields(string(htmlTags.ReplaceAll(html, nil))), " ")
}

func TestFoldLikes(t *testing.T) {
	follows := &access.Sets{Follows: access.NewIDs(bob, dee)}
	for _, tt := range []struct {
		name   string
		me     int64
		likes  rivers.LikesFold
		shown  int
		want   []int64
		others int
	}{
		{"none", anna, rivers.LikesFold{}, 3, nil, 0},
		{"four are all named", anna, rivers.LikesFold{Total: 4, IDs: []int64{finn, eve, kirill, dee}}, 3, []int64{dee, finn, eve, kirill}, 0},
		{"of five, three", anna, rivers.LikesFold{Total: 5, IDs: []int64{finn, eve, kirill, bob, dee}}, 3, []int64{bob, dee, finn}, 2},
		{"mine first", anna, rivers.LikesFold{Total: 5, IDs: []int64{finn, eve, kirill, bob, anna}}, 3, []int64{anna, bob, finn}, 2},
		{"anonymous: the newest", 0, rivers.LikesFold{Total: 5, IDs: []int64{finn, eve, kirill, bob, anna}}, 3, []int64{finn, eve, kirill}, 2},
		{"more than the fold knows", anna, rivers.LikesFold{Total: 5000, IDs: []int64{finn, eve}}, 3, []int64{finn, eve}, 4998},
		{"unfolded", anna, rivers.LikesFold{Total: 5, IDs: []int64{finn, eve, kirill, bob, anna}}, 103, []int64{anna, bob, finn, eve, kirill}, 0},
		{"nobody known", anna, rivers.LikesFold{Total: 12}, 3, nil, 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sets := follows
			if tt.me == 0 {
				sets = &access.Sets{}
			}
			named, others := foldLikes(tt.me, sets, tt.likes, tt.shown)
			if diff := cmp.Diff(tt.want, named); diff != "" || others != tt.others {
				t.Errorf("foldLikes(%d, %+v, %d): %d others, want %d; named (-want +got):\n%s", tt.me, tt.likes, tt.shown, others, tt.others, diff)
			}
		})
	}
}

// TestSharedPartsShowNothingOfTheViewer checks that parts that are kept for others have the
// same bytes, no matter for whom they are rendered first. Two viewers without special rights
// differ in everything a viewer can differ in.
func TestSharedPartsShowNothingOfTheViewer(t *testing.T) {
	renderFor := func(viewer int64, change func(*Base, *rivers.Item)) sharedParts {
		s := testRenderer(t) // a cache of its own
		it := testItem()
		p := testPresent(t, s, viewer, "en")
		if change != nil {
			change(p, &it)
		}
		made, err := s.shared(&Entry{Base: p, Item: &it})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	want := renderFor(eve, nil)
	got := renderFor(finn, func(p *Base, it *rivers.Item) {
		p.Sets.Follows = access.NewIDs(bob, kirill)
		p.Sets.Readable = access.NewIDs(101)
		p.Viewer.Session = timelines.Session{1}
		p.PageAddress, p.Code = "/finn/likes?before=secret", "CODE"
		p.RiverName = rivers.Name{UserID: finn, Kind: rivers.Home}
		it.Liked = true
		it.Place++
		it.Stamp.Entry++
		it.Why = []timelines.Timeline{ofKind(kinds.Likes, bob)}
	})
	if diff := cmp.Diff(string(want.body)+string(want.comments), string(got.body)+string(got.comments)); diff != "" {
		t.Errorf("shared parts differ between two members (-eve +finn):\n%s", diff)
	}
	if open := renderFor(0, nil); bytes.Contains(open.comments, []byte("<form")) || !bytes.Equal(open.body, want.body) {
		t.Errorf("an anonymous viewer gets forms, or another body: %s", open.comments)
	}
	// And rights do make a difference, which the key knows.
	if mine := renderFor(anna, nil); bytes.Equal(mine.comments, want.comments) {
		t.Error("anna's own comment has no link to edit it")
	}
}

func TestSharedPartsAreKeptApart(t *testing.T) {
	s := testRenderer(t)
	const one, another = 1001, 1002 // who like comments are not named
	base := testItem()
	liked := *base.Fold
	liked.Comments.Shown = slices.Clone(liked.Comments.Shown)
	liked.Comments.Shown[0].Likes = rivers.LikesFold{Total: 3, IDs: []int64{one, another, bob}}
	liked.Comments.Shown[1].Likes = rivers.LikesFold{Total: 1, IDs: []int64{another}}
	base.Fold = &liked
	shared := func(viewer int64, lang string, it rivers.Item, change func(*Base)) []byte {
		t.Helper()
		p := testPresent(t, s, viewer, lang)
		if change != nil {
			change(p)
		}
		made, err := s.shared(&Entry{Base: p, Item: &it})
		if err != nil {
			t.Fatal(err)
		}
		return append(bytes.Clone(made.body), made.comments...)
	}
	first := shared(0, "en", base, nil)
	member := shared(finn, "en", base, nil)
	if bytes.Equal(member, first) {
		t.Error("a member gets what anonymous got, without the forms")
	}
	if got := shared(eve, "en", base, nil); !bytes.Equal(got, member) {
		t.Errorf("eve got %s, want what finn got", got)
	}
	newer := base
	newer.Stamp.Fold++
	fold := *base.Fold
	fold.Text.Body = "Changed"
	newer.Fold = &fold
	elsewhere := base
	elsewhere.To = base.To[:1]
	inGroup := base
	inGroup.To = base.To[1:]
	if got := shared(0, "en", inGroup, nil); !bytes.Contains(got, []byte("Chess Club")) {
		t.Errorf("a post in the group only, elsewhere: does not name the group in %s", got)
	}
	// A person whom one does not see is neither heard nor counted, not even for a like.
	without := func(person int64) rivers.Item {
		it := base
		it.HiddenUsers = []int64{person}
		return it
	}
	kept := map[string][]byte{
		"nobody's":             first,
		"any member's":         member,
		"a commenter's rights": shared(dee, "en", base, nil),
		"another commenter's":  shared(kirill, "en", base, nil),
		"one who comments and keeps order": shared(kirill, "en", base, func(p *Base) {
			p.Sets.Administers = access.NewIDs(chess)
		}),
		"without a commenter":  shared(0, "en", without(dee), nil),
		"without a liker":      shared(0, "en", without(one), nil),
		"without another":      shared(0, "en", without(another), nil),
		"another version":      shared(0, "en", newer, nil),
		"another language":     shared(0, "ru", base, nil),
		"an author's rights":   shared(bob, "en", base, nil),
		"the group's own page": shared(0, "en", inGroup, func(p *Base) { p.RiverName = rivers.Name{Kind: rivers.Group, TheirID: chess} }),
		"somebody called anew": shared(0, "en", base, func(p *Base) { p.Names[bob] = timelines.Account{ID: bob, Name: "bob", Title: "Robert"} }),
	}
	// On the group's own page it looks like this, too.
	if got := shared(0, "en", elsewhere, nil); bytes.Equal(got, first) {
		t.Error("fewer destinations: got what was kept for more")
	}
	for name, got := range kept {
		for other, kept := range kept {
			if name < other && bytes.Equal(got, kept) {
				t.Errorf("%s: got what was kept for %s", name, other)
			}
		}
	}
}

// BenchmarkPage renders the entries of a page, shared parts from the cache.
func BenchmarkPage(b *testing.B) {
	s := testRenderer(b)
	p := testPresent(b, s, anna, "en")
	items := make([]rivers.Item, rivers.PageSize)
	for i := range items {
		items[i] = testItem()
		items[i].PostID = int64(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, it := range items {
			if _, err := s.Article(p, it); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A comment that follows one by the same person does not say the name again, unless something
// is folded away between them.
func TestACommentAfterAFoldSaysItsAuthor(t *testing.T) {
	r := testRenderer(t)
	p := testPresent(t, r, anna, "en")
	it := &rivers.Item{Fold: &rivers.Fold{Text: rivers.Text{Code: "abc", Author: anna}}, Full: true}
	for i := range 6 {
		it.Fold.Comments.Shown = append(it.Fold.Comments.Shown, rivers.Comment{ID: int64(i + 1), Author: bob, Body: "said"})
	}
	it.Fold.Comments.Total = 6
	e := &Entry{Base: p, Item: it}
	named := func(after, from, to int) int {
		html, err := Bytes(CommentStep(e, after, from, to))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(html, []byte(`class="who"`))
	}
	if got := named(0, 1, 5); got != 0 {
		t.Errorf("right after a comment by the same person the name stands %d times, want none", got)
	}
	if got := named(0, 3, 5); got != 1 {
		t.Errorf("after a fold the name stands %d times, want once", got)
	}
}
