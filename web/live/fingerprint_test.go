package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// A ban changes both sides' open pages though the bus stands still and no post
// changed: posts go, comments leave nameless placeholders, and lifting it brings
// everything back to where it stood.
func TestBanReachesOpenPages(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	first := cat.Post("older, from cat")
	bobs := bob.Post("from bob")
	cats := cat.Post("from cat")
	bob.Comment(cats.Code, "a word of bob's")
	bob.Like(cats.Code)
	anns := ann.Post("from ann")

	page := s.Open(ann, "/everything")
	other := s.Open(bob, "/everything")
	third := s.Open(cat, "/everything")
	all := map[string]string{} // what ann's page says of each post's comments
	for code, f := range page.Shown {
		all[code] = f.HTML
	}
	if len(page.Shown) != 4 || !strings.Contains(all[cats.Code], "a word of bob") {
		t.Fatalf("to begin with ann sees %v", all)
	}
	everything := func(p *webtest.Person) rivers.Name {
		return rivers.Name{UserID: p.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	}

	ann.Ban("bob")
	beat <- time.Now()
	page.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
	other.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
	page.SameAsReload(s, ann, everything(ann))
	other.SameAsReload(s, bob, everything(bob))
	if _, shows := page.Shown[bobs.Code]; shows {
		t.Error("ann's page still shows bob's post")
	}
	if _, shows := other.Shown[anns.Code]; shows {
		t.Error("bob's page still shows ann's post")
	}
	now := page.Shown[cats.Code].HTML
	for _, name := range []string{"a word of bob", "/bob", ">bob<", "Liked by"} {
		if strings.Contains(now, name) {
			t.Errorf("ann's page still says %q of bob in cat's post:\n%s", name, now)
		}
	}
	if !strings.Contains(now, "Hidden comment") {
		t.Errorf("bob's comment left no placeholder:\n%s", now)
	}
	if n := third.Frames; n != 0 {
		if _, shows := third.Shown[bobs.Code]; !shows {
			t.Error("cat's page lost bob's post")
		}
	}

	// A comment of bob's while the ban stands says nothing of him.
	bob.Comment(first.Code, "another word")
	s.FollowUp()
	s.HearOf(first.PostID)
	f := page.UntilEntry(first.Code)
	if said := f.HTML + f.Parts["comments"]; strings.Contains(said, "another word") || !strings.Contains(said, "Hidden comment") {
		t.Errorf("a new comment of bob's is pushed to ann as:\n%s", said)
	}

	ann.Unban("bob")
	beat <- time.Now()
	page.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
	page.SameAsReload(s, ann, everything(ann))
	if got := page.Shown[cats.Code].HTML; !strings.Contains(got, "a word of bob") {
		t.Errorf("after the ban was lifted, cat's post is:\n%s", got)
	}
}

// A page served before a ban and opened after it is brought up by its own
// subscription, whatever its stamps say.
func TestSubscribeWithAnOldToken(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, make(chan time.Time) })
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	cats := cat.Post("from cat")
	bob.Comment(cats.Code, "a word of bob's")
	page := s.Open(ann, "/everything")
	ann.Ban("bob")
	// The page comes back as one in a browser that was away: with its stamps and the token of before.
	page.Follow(s, ann)
	if got := page.Shown[cats.Code].HTML; strings.Contains(got, "a word of bob") || !strings.Contains(got, "Hidden comment") {
		t.Errorf("cat's post is still\n%s", got)
	}
	frames := page.Frames
	page.Token = page.SaidToken
	page.Follow(s, ann)
	if sent := page.Frames - frames; sent != 1 {
		t.Errorf("with the sight of now %d frames were sent, want ok alone", sent)
	}
}

// Hiding a post takes it off the viewer's open pages, and the word that hides
// another keeps it away while it comes in.
func TestHideReachesOpenPages(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	ann, bob := s.Person("ann"), s.Person("bob")
	post := bob.Post("from bob")
	page := s.Open(ann, "/everything")
	name := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		_, c, err := s.Store.Hides.HidePost(ctx, ann.Account.ID, post.Code)
		return c, err
	})
	beat <- time.Now()
	page.UntilGone(post.Code)
	page.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
	s.DecidedAnew(ann, beat, 1, func() {
		ann.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Hides.HideTerm(ctx, ann.Account.ID, "football")
		})
	})
	ball := bob.Post("Football again")
	other := bob.Post("chess")
	s.FollowUp()
	s.HearOf(ball.PostID, other.PostID)
	page.UntilEntry(other.Code)
	page.SameAsReload(s, ann, name)
	if _, shows := page.Shown[ball.Code]; shows {
		t.Error("a post with a hidden word was pushed")
	}
}

// On a page that has grown longer than a first one, what may be seen again comes back
// wherever it stands, and what is older than the page does not.
func TestUnhidingReachesBelowTheFirstPage(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	ann, bob := s.Person("ann"), s.Person("bob")
	older := bob.Post("older")
	var codes []string
	for range rivers.PageSize {
		codes = append(codes, bob.Post("from bob").Code)
	}
	page := s.Open(ann, "/everything")
	for range 10 {
		post := bob.Post("and another")
		s.FollowUp()
		s.HearOf(post.PostID)
		page.UntilEntry(post.Code)
	}
	among := codes[2]
	for _, form := range []func(context.Context, int64, string) (int64, timelines.Change, error){s.Store.Hides.HidePost, s.Store.Hides.UnhidePost} {
		ann.Act(func(ctx context.Context) (timelines.Change, error) {
			_, c, err := form(ctx, ann.Account.ID, among)
			return c, err
		})
		beat <- time.Now()
		page.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
	}
	if _, shows := page.Shown[among]; !shows {
		t.Errorf("the page, of %d entries, lacks what is hidden no more", len(page.Shown))
	}
	if _, shows := page.Shown[older.Code]; shows {
		t.Error("what is older than the page came to it")
	}
}
