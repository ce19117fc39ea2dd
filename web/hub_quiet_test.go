package web

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
)

// fence makes a post that stands on the pages and returns what they are told until
// they show it, one list for each.
func fence(s *liveSite, by *person, pages ...*page) [][]string {
	s.t.Helper()
	post := by.post("a fence")
	s.followUp()
	s.hearOf(post.PostID)
	told := make([][]string, len(pages))
	for i, g := range pages {
		g.until("the fence", func(f frame) bool {
			if f.T != "entry" || f.Post != post.Code {
				told[i] = append(told[i], f.T+" "+f.Post)
				return false
			}
			return true
		})
	}
	return told
}

// Who bans whom tells the banned one nothing by which to know the moment: their open
// pages are decided again, and nothing is sent of those that show nothing of either.
func TestBanIsNotHeardWhereNothingDiffers(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
	vic, eve, cat, dan := s.person("vic"), s.person("eve"), s.person("cat"), s.person("dan")
	talk := cat.post("from cat")
	dan.comment(talk.Code, "a word of dan's")
	dan.like(talk.Code)
	everything := rivers.Name{UserID: vic.account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	pages := []*page{s.open(vic, "/everything"), s.open(vic, "/cat")}
	for _, act := range []struct {
		what string
		do   func()
	}{{"ban", func() { eve.ban("vic") }}, {"end of the ban", func() { eve.unban("vic") }}} {
		s.decidedAnew(vic, beat, len(pages), act.do)
		for i, told := range fence(s, cat, pages...) {
			if len(told) > 0 {
				t.Errorf("of the %s %s is told by %q", act.what, pages[i].address, told)
			}
		}
	}
	pages[0].sameAsReload(s, vic, everything)
	// Nor is it told to who comes back, or asks again and again, with what it was told of.
	for _, act := range []struct {
		what string
		do   func()
	}{{"ban", func() { eve.ban("vic") }}, {"end of the ban", func() { eve.unban("vic") }}} {
		page := pages[0]
		_ = page.conn.CloseNow()
		page.follow(s, vic)
		page.sight = page.said
		act.do()
		for _, again := range []func(){page.subscribe, func() { page.connect(s, vic) }} {
			again()
			page.until("ok", func(f frame) bool {
				if f.T != "ok" {
					t.Errorf("of the %s who asks again is told by %s %s", act.what, f.T, f.Post)
				}
				return f.T == "ok"
			})
		}
	}
}

// Of the entries of a page those alone are sent that a ban changes: a comment, a like,
// or a comment that is folded away and may have been unfolded.
func TestBanSendsOnlyWhatDiffers(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
	vic, eve, cat, dan := s.person("vic"), s.person("eve"), s.person("cat"), s.person("dan")
	var of, other []string // eve's doings, and none
	for i := range 7 {
		post := cat.post("from cat")
		dan.comment(post.Code, "a word of dan's")
		switch i {
		case 1:
			eve.comment(post.Code, "a word of eve's")
		case 2:
			eve.like(post.Code)
		case 3:
			eve.comment(post.Code, "a word of eve's")
			for range 5 {
				dan.comment(post.Code, "and another")
			}
		case 6:
			for range 4 {
				dan.comment(post.Code, "and another")
			}
			eve.likeComment(post.Code, dan.comment(post.Code, "liked where it is folded away").CommentID)
			for range 4 {
				dan.comment(post.Code, "and another")
			}
		default:
			other = append(other, post.Code)
			continue
		}
		of = append(of, post.Code)
	}
	everything := rivers.Name{UserID: vic.account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	page := s.open(vic, "/everything")
	page.sight = page.said
	_ = page.conn.CloseNow()
	page.follow(s, vic) // what it shows the server has not sent on this connection
	want := []string{"ok "}
	for _, code := range of {
		want = append(want, "entry "+code)
	}
	slices.Sort(want)
	for _, act := range []func(){func() { eve.ban("vic") }, func() { eve.unban("vic") }, func() { eve.ban("vic") }} {
		s.decidedAnew(vic, beat, 1, act)
		told := fence(s, cat, page)[0]
		slices.Sort(told)
		if !slices.Equal(told, want) {
			t.Errorf("told of %q, want %q; %q do not differ", told, want, other)
		}
		page.sameAsReload(s, vic, everything)
	}
	for _, code := range of {
		if strings.Contains(page.shown[code].HTML, `"/eve"`) {
			t.Errorf("%s still says of eve\n%s", code, page.shown[code].HTML)
		}
	}
	// Whole, too, where the post changed as well and none of the comments it shows.
	s.decidedAnew(vic, beat, 1, func() {
		dan.like(of[2])
		s.followUp()
		eve.unban("vic")
	})
	fence(s, cat, page)
	if f := page.shown[of[2]]; f.HTML == "" {
		t.Errorf("what was unfolded stays as it is: %v", f.Parts)
	}
}

// Somebody bans the reader of a long page after it was visited and before what the visit
// does not hold is asked for: their words go all the same.
func TestBanBetweenVisitAndInquire(t *testing.T) {
	beat := make(chan time.Time)
	paused := &pausedRivers{}
	s := newLiveSite(t, func(c *HubConfig) {
		c.Hear, c.Beat = deaf, beat
		paused.HubRivers = c.Rivers
		c.Rivers = paused
	})
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	old := cat.post("from cat")
	bob.comment(old.Code, "a word of bob's")
	page := s.open(ann, "/everything")
	page.sight = page.said
	_ = page.conn.CloseNow()
	for range rivers.PageSize + 3 {
		cat.post("more of cat")
	}
	s.followUp()
	once := false
	paused.after = func() {
		if !once {
			once = true
			bob.ban("ann")
		}
	}
	page.follow(s, ann)
	for range 3 {
		beat <- time.Now()
	}
	await(t, "the page to be visited after the ban", func() bool {
		return slices.ContainsFunc(s.decisions(ann), func(people string) bool { return people != "" })
	})
	fence(s, cat, page)
	if strings.Contains(page.shown[old.Code].HTML, "a word of bob") {
		t.Errorf("bob's word stays on the page for good")
	}
}

// Who unfolded comments is told to unfold them again when one of those changed, though
// nothing that stands on all pages did.
func TestFoldedCommentsFollow(t *testing.T) {
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, make(chan time.Time) })
	ann, bob := s.person("ann"), s.person("bob")
	post := ann.post("a word")
	var said []timelines.Change
	for range 5 {
		said = append(said, bob.comment(post.Code, "and another"))
	}
	s.followUp()
	page := s.open(ann, "/everything")
	told := func() []string {
		t.Helper()
		s.followUp()
		s.hearOf(post.PostID)
		f := page.until("the entry", func(f frame) bool { return f.T == "entry" && f.Post == post.Code })
		return slices.Sorted(maps.Keys(f.Parts))
	}
	ann.like(post.Code) // from here on the server knows what the page shows
	told()
	bob.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.EditComment(ctx, bob.account.ID, post.Code, said[1].CommentID, "otherwise")
	})
	if got := told(); !slices.Equal(got, []string{"comments"}) {
		t.Errorf("of an edit among the folded comments the page is sent %q", got)
	}
	ann.likeComment(post.Code, said[2].CommentID)
	if got := told(); !slices.Equal(got, []string{"comments"}) {
		t.Errorf("of a like among the folded comments the page is sent %q", got)
	}
	bob.like(post.Code)
	if got := told(); slices.Contains(got, "comments") {
		t.Errorf("of a like of the post the page is sent %q", got)
	}
	// What comes with another change is not lost in it.
	bob.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.EditComment(ctx, bob.account.ID, post.Code, said[1].CommentID, "nothing")
	})
	bob.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.Unlike(ctx, bob.account.ID, post.Code)
	})
	if got := told(); !slices.Contains(got, "comments") {
		t.Errorf("of an edit among the folded comments and a like the page is sent %q", got)
	}
}

// A ban that ends while the page is visited because of it leaves the page as it was,
// whatever was decided between the two.
func TestABanThatEndsDuringTheVisit(t *testing.T) {
	paused := &pausedRivers{}
	s := newLiveSite(t, func(c *HubConfig) {
		c.Hear, c.Beat = deaf, make(chan time.Time)
		paused.HubRivers = c.Rivers
		c.Rivers = paused
	})
	vic, eve, cat := s.person("vic"), s.person("eve"), s.person("cat")
	post := eve.post("from eve")
	everything := rivers.Name{UserID: vic.account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	page := s.open(vic, "/everything")
	var once sync.Once
	paused.before = func() {
		// What the flush found, by which the page came to be visited, is offered meanwhile.
		once.Do(func() { eve.unban("vic") })
	}
	eve.ban("vic")
	s.hearOf(post.PostID)
	fence(s, cat, page)
	page.sameAsReload(s, vic, everything)
}
