package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// An update that a flush decided before a ban, and that waited while the page was visited after
// it, does not bring back what the visit took off: nothing would take it off again before the
// next comparison.
func TestOldUpdateDoesNotUndoASync(t *testing.T) {
	entered, release, asked := make(chan struct{}), make(chan struct{}), make(flushes, 100)
	paused := &pausedRivers{flushed: func(posts []int64, _ []rivers.Seen) { asked <- posts }}
	s := webtest.New(t, func(c *live.Config) {
		paused.Rivers = c.Rivers
		c.Rivers, c.Hear, c.Beat = paused, webtest.Deaf, make(chan time.Time)
		c.StaleAfter = webtest.Patience // however slow this machine is
	})
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	bobs := bob.Post("from bob")
	page := s.Open(ann, "/everything")
	name := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	paused.before = func() {
		entered <- struct{}{}
		<-release
	}
	s.Tell(tiers.Message{All: true})
	<-entered
	bob.Edit(bobs.Code, "from bob, edited")
	// When the hub goes on to the next, which is no post, it has offered the first.
	for _, post := range []int64{bobs.PostID, -1} {
		s.HearOf(post)
		asked.await(t, post)
	}
	ann.Ban("bob")
	paused.before = nil
	close(release)
	page.UntilGone(bobs.Code)
	page.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
	for range 2 { // the first may be sent together with what waited, in any order
		other := cat.Post("from cat")
		s.FollowUp()
		s.HearOf(other.PostID)
		page.UntilEntry(other.Code)
	}
	if f, shows := page.Shown[bobs.Code]; shows {
		t.Errorf("bob's post came back: %+v", f)
	}
	page.SameAsReload(s, ann, name)
}

// An administrator of a group sees people there who banned them, if they chose to see banned
// people. An open page follows when that office ends, though no post and no ban changes.
func TestDemotionReachesOpenPages(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	cat.Act(func(ctx context.Context) (timelines.Change, error) {
		_, c, err := s.Store.Groups.Create(ctx, timelines.NewGroup{Actor: cat.Account.ID, Name: "club", Title: "Club"})
		return c, err
	})
	ann.Subscribe("club")
	office := func(set func(ctx context.Context, actor int64, group, name string) (timelines.Change, error)) {
		t.Helper()
		cat.Act(func(ctx context.Context) (timelines.Change, error) { return set(ctx, cat.Account.ID, "club", "ann") })
	}
	office(s.Store.Groups.Promote)
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Bans.ShowBanned(ctx, ann.Account.ID, "club", true)
	})
	bobs := bob.Post("from bob", "club")
	bob.Ban("ann")
	page := s.Open(ann, "/everything")
	if _, shows := page.Shown[bobs.Code]; !shows {
		t.Fatal("an administrator does not see who banned them")
	}
	office(s.Store.Groups.Demote)
	beat <- time.Now()
	page.UntilGone(bobs.Code)
	page.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
	office(s.Store.Groups.Promote)
	beat <- time.Now()
	page.UntilEntry(bobs.Code)
}

// A person who becomes an administrator of a group is offered to delete comments on open pages,
// and no longer when that ends; also if somebody likes the post before the page has heard of it.
func TestPromotionReachesOpenPages(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	for name, of := range map[string]*webtest.Person{"club": cat, "den": ann} {
		of.Act(func(ctx context.Context) (timelines.Change, error) {
			_, c, err := s.Store.Groups.Create(ctx, timelines.NewGroup{Actor: of.Account.ID, Name: name, Title: name})
			return c, err
		})
	}
	ann.Subscribe("club")
	post := bob.Post("from bob", "club")
	said := bob.Comment(post.Code, "a word")
	s.FollowUp()
	page := s.Open(ann, "/everything")
	offer := string(view.CommentURL(post.Code, said.CommentID, "edit"))
	for i := range 4 {
		set, offers := s.Store.Groups.Promote, i%2 == 0
		if !offers {
			set = s.Store.Groups.Demote
		}
		cat.Act(func(ctx context.Context) (timelines.Change, error) { return set(ctx, cat.Account.ID, "club", "ann") })
		if i > 1 {
			bob.Like(post.Code)
			s.FollowUp()
			s.HearOf(post.PostID)
		}
		beat <- time.Now()
		page.Until("comments", func(f webtest.Frame) bool {
			return f.Post == post.Code && strings.Contains(f.HTML+f.Parts["comments"], "a word")
		})
		if got := strings.Contains(page.Parts[post.Code]["comments"], offer); got != offers {
			t.Errorf("round %d: offered to take a comment away: %v, want %v", i, got, offers)
		}
	}
}

// A decision that knows a newer text of a post, but an older entry, changes the text alone. Later
// changes of the entry are compared with what the page shows then.
func TestAnOlderEntryWithANewerText(t *testing.T) {
	paused := &pausedRivers{}
	s := webtest.New(t, func(c *live.Config) {
		paused.Rivers = c.Rivers
		c.Rivers, c.Hear, c.Beat = paused, webtest.Deaf, make(chan time.Time)
	})
	ann, bob := s.Person("ann"), s.Person("bob")
	g := s.Open(ann, "/everything")
	post := bob.Post("one")
	var first, crossed rivers.Item
	hear := func(text string, flushed func(*rivers.Item)) {
		t.Helper()
		bob.Edit(post.Code, text)
		s.FollowUp()
		paused.flushed = func(_ []int64, seen []rivers.Seen) { flushed(&seen[0].Items[0]) }
		s.HearOf(post.PostID)
		g.Until(text, func(f webtest.Frame) bool { return strings.Contains(f.HTML+f.Parts["body"], text) })
	}
	hear("two", func(it *rivers.Item) { first = *it })
	ann.Like(post.Code)
	hear("three", func(*rivers.Item) {})
	hear("four", func(it *rivers.Item) {
		it.Stamp.Entry, it.Place, it.Liked = first.Stamp.Entry, first.Place, first.Liked
		crossed = *it
	})
	if first.Stamp.Entry >= crossed.Stamp.Entry && first.Stamp.Fold >= crossed.Stamp.Fold {
		t.Fatalf("the decisions do not cross: %+v, %+v", first.Stamp, crossed.Stamp)
	}
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Posts.Unlike(ctx, ann.Account.ID, post.Code)
	})
	hear("five", func(*rivers.Item) {})
	if acts := g.Parts[post.Code]["acts"]; strings.Contains(acts, "/unlike") {
		t.Errorf("the page still offers to take the like back: %s", acts)
	}
}
