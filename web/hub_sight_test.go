package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
)

// A ban changes both sides' open pages though the bus stands still and no post
// changed: posts go, comments leave nameless placeholders, and lifting it brings
// everything back to where it stood.
func TestBanReachesOpenPages(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	first := cat.post("older, from cat")
	bobs := bob.post("from bob")
	cats := cat.post("from cat")
	bob.comment(cats.Code, "a word of bob's")
	bob.like(cats.Code)
	anns := ann.post("from ann")

	page := s.open(ann, "/everything")
	other := s.open(bob, "/everything")
	third := s.open(cat, "/everything")
	all := map[string]string{} // what ann's page says of each post's comments
	for code, f := range page.shown {
		all[code] = f.HTML
	}
	if len(page.shown) != 4 || !strings.Contains(all[cats.Code], "a word of bob") {
		t.Fatalf("to begin with ann sees %v", all)
	}
	everything := func(p *person) rivers.Name {
		return rivers.Name{UserID: p.account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	}

	ann.ban("bob")
	beat <- time.Now()
	page.until("ok", func(f frame) bool { return f.T == "ok" })
	other.until("ok", func(f frame) bool { return f.T == "ok" })
	page.sameAsReload(s, ann, everything(ann))
	other.sameAsReload(s, bob, everything(bob))
	if _, shows := page.shown[bobs.Code]; shows {
		t.Error("ann's page still shows bob's post")
	}
	if _, shows := other.shown[anns.Code]; shows {
		t.Error("bob's page still shows ann's post")
	}
	now := page.shown[cats.Code].HTML
	for _, name := range []string{"a word of bob", "/bob", ">bob<", "♥"} {
		if strings.Contains(now, name) {
			t.Errorf("ann's page still says %q of bob in cat's post:\n%s", name, now)
		}
	}
	if !strings.Contains(now, "Hidden comment") {
		t.Errorf("bob's comment left no placeholder:\n%s", now)
	}
	if n := third.frames; n != 0 {
		if _, shows := third.shown[bobs.Code]; !shows {
			t.Error("cat's page lost bob's post")
		}
	}

	// A comment of bob's while the ban stands says nothing of him.
	bob.comment(first.Code, "another word")
	s.followUp()
	s.hearOf(first.PostID)
	f := page.untilEntry(first.Code)
	if said := f.HTML + f.Parts["comments"]; strings.Contains(said, "another word") || !strings.Contains(said, "Hidden comment") {
		t.Errorf("a new comment of bob's is pushed to ann as:\n%s", said)
	}

	ann.unban("bob")
	beat <- time.Now()
	page.until("ok", func(f frame) bool { return f.T == "ok" })
	page.sameAsReload(s, ann, everything(ann))
	if got := page.shown[cats.Code].HTML; !strings.Contains(got, "a word of bob") {
		t.Errorf("after the ban was lifted, cat's post is:\n%s", got)
	}
}

// A page served before a ban and opened after it is brought up by its own
// subscription, whatever its stamps say.
func TestSubscribeWithAnOldSight(t *testing.T) {
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, make(chan time.Time) })
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	cats := cat.post("from cat")
	bob.comment(cats.Code, "a word of bob's")
	page := s.open(ann, "/everything")
	ann.ban("bob")
	// As a page in a browser that was away: its stamps, and the sight of before.
	page.follow(s, ann)
	if got := page.shown[cats.Code].HTML; strings.Contains(got, "a word of bob") || !strings.Contains(got, "Hidden comment") {
		t.Errorf("cat's post is still\n%s", got)
	}
	frames := page.frames
	page.sight = page.said
	page.follow(s, ann)
	if sent := page.frames - frames; sent != 1 {
		t.Errorf("with the sight of now %d frames were sent, want ok alone", sent)
	}
}

// Hiding a post takes it off the viewer's open pages, and the word that hides
// another keeps it away while it comes in.
func TestHideReachesOpenPages(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
	ann, bob := s.person("ann"), s.person("bob")
	post := bob.post("from bob")
	page := s.open(ann, "/everything")
	name := rivers.Name{UserID: ann.account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		_, c, err := s.store.HidePost(ctx, ann.account.ID, post.Code)
		return c, err
	})
	beat <- time.Now()
	page.untilGone(post.Code)
	page.until("ok", func(f frame) bool { return f.T == "ok" })
	s.decidedAnew(ann, beat, 1, func() {
		ann.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.HideTerm(ctx, ann.account.ID, "football")
		})
	})
	ball := bob.post("Football again")
	other := bob.post("chess")
	s.followUp()
	s.hearOf(ball.PostID, other.PostID)
	page.untilEntry(other.Code)
	page.sameAsReload(s, ann, name)
	if _, shows := page.shown[ball.Code]; shows {
		t.Error("a post with a hidden word was pushed")
	}
}

// On a page that has grown longer than a first one, what may be seen again comes back
// wherever it stands, and what is older than the page does not.
func TestUnhidingReachesBelowTheFirstPage(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
	ann, bob := s.person("ann"), s.person("bob")
	older := bob.post("older")
	var codes []string
	for range rivers.PageSize {
		codes = append(codes, bob.post("from bob").Code)
	}
	page := s.open(ann, "/everything")
	for range 10 {
		post := bob.post("and another")
		s.followUp()
		s.hearOf(post.PostID)
		page.untilEntry(post.Code)
	}
	among := codes[2]
	for _, form := range []func(context.Context, int64, string) (int64, timelines.Change, error){s.store.HidePost, s.store.UnhidePost} {
		ann.act(func(ctx context.Context) (timelines.Change, error) {
			_, c, err := form(ctx, ann.account.ID, among)
			return c, err
		})
		beat <- time.Now()
		page.until("ok", func(f frame) bool { return f.T == "ok" })
	}
	if _, shows := page.shown[among]; !shows {
		t.Errorf("the page, of %d entries, lacks what is hidden no more", len(page.shown))
	}
	if _, shows := page.shown[older.Code]; shows {
		t.Error("what is older than the page came to it")
	}
}
