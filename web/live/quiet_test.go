package live_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// fence makes a post that stands on the pages, and returns the frames that they get until they
// show it, one list for each.
//
// A comparison that was under way may find the first post before the flush does; then an ok
// follows the entry. It comes before the second post, which no comparison has seen.
func fence(s *webtest.Site, by *webtest.Person, pages ...*webtest.Page) [][]string {
	s.T.Helper()
	told := make([][]string, len(pages))
	for _, second := range []bool{false, true} {
		post := by.Post("a fence")
		s.FollowUp()
		s.HearOf(post.PostID)
		for i, g := range pages {
			g.Until("the fence", func(f webtest.Frame) bool {
				if f.T == "entry" && f.Post == post.Code {
					return true
				}
				if !second || f.T != "ok" {
					told[i] = append(told[i], f.T+" "+f.Post)
				}
				return false
			})
		}
	}
	return told
}

// The open pages of a banned person say nothing from which to learn when the ban began: they are
// decided again, and a page that shows nothing of either person is sent nothing.
func TestBanIsNotHeardWhereNothingDiffers(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	vic, eve, cat, dan := s.Person("vic"), s.Person("eve"), s.Person("cat"), s.Person("dan")
	talk := cat.Post("from cat")
	dan.Comment(talk.Code, "a word of dan's")
	dan.Like(talk.Code)
	everything := rivers.Name{UserID: vic.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	pages := []*webtest.Page{s.Open(vic, "/everything"), s.Open(vic, "/cat")}
	for _, act := range []struct {
		what string
		do   func()
	}{{"ban", func() { eve.Ban("vic") }}, {"end of the ban", func() { eve.Unban("vic") }}} {
		s.DecidedAnew(vic, beat, len(pages), act.do)
		for i, told := range fence(s, cat, pages...) {
			if len(told) > 0 {
				t.Errorf("of the %s %s is told by %q", act.what, pages[i].Address, told)
			}
		}
	}
	pages[0].SameAsReload(s, vic, everything)
	// A client that comes back, or asks again and again, with the token it was sent, is not told
	// either.
	for _, act := range []struct {
		what string
		do   func()
	}{{"ban", func() { eve.Ban("vic") }}, {"end of the ban", func() { eve.Unban("vic") }}} {
		page := pages[0]
		_ = page.Conn.CloseNow()
		page.Follow(s, vic)
		page.Token = page.SaidToken
		act.do()
		for _, again := range []func(){page.Subscribe, func() { page.Connect(s, vic) }} {
			again()
			page.Until("ok", func(f webtest.Frame) bool {
				if f.T != "ok" {
					t.Errorf("of the %s who asks again is told by %s %s", act.what, f.T, f.Post)
				}
				return f.T == "ok"
			})
		}
	}
}

// A ban has only those entries sent that it changes: by a comment, a like, or a comment that is
// folded away and may have been unfolded.
func TestBanSendsOnlyWhatDiffers(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	vic, eve, cat, dan := s.Person("vic"), s.Person("eve"), s.Person("cat"), s.Person("dan")
	var of, other []string // eve's doings, and none
	for i := range 7 {
		post := cat.Post("from cat")
		dan.Comment(post.Code, "a word of dan's")
		switch i {
		case 1:
			eve.Comment(post.Code, "a word of eve's")
		case 2:
			eve.Like(post.Code)
		case 3:
			eve.Comment(post.Code, "a word of eve's")
			for range 5 {
				dan.Comment(post.Code, "and another")
			}
		case 6:
			for range 4 {
				dan.Comment(post.Code, "and another")
			}
			eve.LikeComment(post.Code, dan.Comment(post.Code, "liked where it is folded away").CommentID)
			for range 4 {
				dan.Comment(post.Code, "and another")
			}
		default:
			other = append(other, post.Code)
			continue
		}
		of = append(of, post.Code)
	}
	everything := rivers.Name{UserID: vic.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	page := s.Open(vic, "/everything")
	page.Token = page.SaidToken
	_ = page.Conn.CloseNow()
	page.Follow(s, vic) // what it shows the server has not sent on this connection
	want := []string{"ok "}
	for _, code := range of {
		want = append(want, "entry "+code)
	}
	slices.Sort(want)
	for _, act := range []func(){func() { eve.Ban("vic") }, func() { eve.Unban("vic") }, func() { eve.Ban("vic") }} {
		s.DecidedAnew(vic, beat, 1, act)
		told := fence(s, cat, page)[0]
		slices.Sort(told)
		if !slices.Equal(told, want) {
			t.Errorf("told of %q, want %q; %q do not differ", told, want, other)
		}
		page.SameAsReload(s, vic, everything)
	}
	for _, code := range of {
		if strings.Contains(page.Shown[code].HTML, `"/eve"`) {
			t.Errorf("%s still says of eve\n%s", code, page.Shown[code].HTML)
		}
	}
	// They are sent whole, too, if the post changed as well and none of the comments it shows.
	s.DecidedAnew(vic, beat, 1, func() {
		dan.Like(of[2])
		s.FollowUp()
		eve.Unban("vic")
	})
	fence(s, cat, page)
	if f := page.Shown[of[2]]; f.HTML == "" {
		t.Errorf("what was unfolded stays as it is: %v", f.Parts)
	}
}

// Somebody bans the reader of a long page after it was visited and before what the visit
// does not hold is asked for: their words go all the same.
func TestBanBetweenVisitAndInquire(t *testing.T) {
	beat := make(chan time.Time)
	paused := &pausedRivers{}
	s := webtest.New(t, func(c *live.Config) {
		c.Hear, c.Beat = webtest.Deaf, beat
		paused.Rivers = c.Rivers
		c.Rivers = paused
	})
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	old := cat.Post("from cat")
	bob.Comment(old.Code, "a word of bob's")
	page := s.Open(ann, "/everything")
	page.Token = page.SaidToken
	_ = page.Conn.CloseNow()
	for range rivers.PageSize + 3 {
		cat.Post("more of cat")
	}
	s.FollowUp()
	once := false
	paused.after = func() {
		if !once {
			once = true
			bob.Ban("ann")
		}
	}
	page.Follow(s, ann)
	for range 3 {
		beat <- time.Now()
	}
	webtest.Await(t, "the page to be visited after the ban", func() bool {
		return slices.ContainsFunc(s.Decisions(ann), func(people string) bool { return people != "" })
	})
	fence(s, cat, page)
	if strings.Contains(page.Shown[old.Code].HTML, "a word of bob") {
		t.Errorf("bob's word stays on the page for good")
	}
}

// A page that unfolded comments is told to fetch them again when one of those changed, though
// nothing that stands on all pages did.
func TestFoldedCommentsFollow(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, make(chan time.Time) })
	ann, bob := s.Person("ann"), s.Person("bob")
	post := ann.Post("a word")
	var said []timelines.Change
	for range 5 {
		said = append(said, bob.Comment(post.Code, "and another"))
	}
	s.FollowUp()
	page := s.Open(ann, "/everything")
	told := func() []string {
		t.Helper()
		s.FollowUp()
		s.HearOf(post.PostID)
		var version int64
		if err := s.DB.Primary.QueryRow(t.Context(), `SELECT version FROM posts WHERE id = $1`, post.PostID).Scan(&version); err != nil {
			t.Fatal(err)
		}
		parts := map[string]string{}
		page.Until("the entry", func(f webtest.Frame) bool { // one that says another version alone may come before it
			if f.T != "entry" || f.Post != post.Code {
				return false
			}
			maps.Copy(parts, f.Parts)
			v, ok := view.ParseVersion(f.Version)
			return ok && v.Stamp.Fold >= version
		})
		return slices.Sorted(maps.Keys(parts))
	}
	ann.Like(post.Code) // from here on the server knows what the page shows
	told()
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Comments.Edit(ctx, bob.Account.ID, post.Code, said[1].CommentID, "otherwise")
	})
	if got := told(); !slices.Equal(got, []string{"comments"}) {
		t.Errorf("of an edit among the folded comments the page is sent %q", got)
	}
	ann.LikeComment(post.Code, said[2].CommentID)
	if got := told(); !slices.Equal(got, []string{"comments"}) {
		t.Errorf("of a like among the folded comments the page is sent %q", got)
	}
	bob.Like(post.Code)
	if got := told(); slices.Contains(got, "comments") {
		t.Errorf("of a like of the post the page is sent %q", got)
	}
	// An edit that comes together with another change is not lost in it.
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Comments.Edit(ctx, bob.Account.ID, post.Code, said[1].CommentID, "nothing")
	})
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Posts.Unlike(ctx, bob.Account.ID, post.Code)
	})
	if got := told(); !slices.Contains(got, "comments") {
		t.Errorf("of an edit among the folded comments and a like the page is sent %q", got)
	}
}

// A ban that ends while the page is visited because of it leaves the page as it was,
// whatever was decided between the two.
func TestABanThatEndsDuringTheVisit(t *testing.T) {
	paused := &pausedRivers{}
	s := webtest.New(t, func(c *live.Config) {
		c.Hear, c.Beat = webtest.Deaf, make(chan time.Time)
		paused.Rivers = c.Rivers
		c.Rivers = paused
	})
	vic, eve, cat := s.Person("vic"), s.Person("eve"), s.Person("cat")
	post := eve.Post("from eve")
	everything := rivers.Name{UserID: vic.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	page := s.Open(vic, "/everything")
	var once sync.Once
	paused.before = func() {
		// Meanwhile the update that caused the visit is offered.
		once.Do(func() { eve.Unban("vic") })
	}
	eve.Ban("vic")
	s.HearOf(post.PostID)
	fence(s, cat, page)
	page.SameAsReload(s, vic, everything)
}
