package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// What a flush decided before a ban, and what waited while the page was visited
// after it, does not come back onto the page the visit took it from: nothing
// would take it off again before the next comparison.
func TestOldUpdateDoesNotUndoASync(t *testing.T) {
	entered, release, asked := make(chan struct{}), make(chan struct{}), make(flushes, 100)
	paused := &pausedRivers{flushed: func(posts []int64, _ []rivers.Seen) { asked <- posts }}
	s := newLiveSite(t, func(c *HubConfig) {
		paused.HubRivers = c.Rivers
		c.Rivers, c.Hear, c.Beat = paused, deaf, make(chan time.Time)
		c.StaleAfter = patience // however slow this machine is
	})
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	bobs := bob.post("from bob")
	page := s.open(ann, "/everything")
	name := rivers.Name{UserID: ann.account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	paused.before = func() {
		entered <- struct{}{}
		<-release
	}
	s.tell(tiers.Message{All: true})
	<-entered
	bob.edit(bobs.Code, "from bob, edited")
	// When the hub goes on to the next, which is no post, it has offered the first.
	for _, post := range []int64{bobs.PostID, -1} {
		s.hearOf(post)
		asked.await(t, post)
	}
	ann.ban("bob")
	paused.before = nil
	close(release)
	page.untilGone(bobs.Code)
	page.until("ok", func(f frame) bool { return f.T == "ok" })
	for range 2 { // the first may be sent together with what waited, in any order
		other := cat.post("from cat")
		s.followUp()
		s.hearOf(other.PostID)
		page.untilEntry(other.Code)
	}
	if f, shows := page.shown[bobs.Code]; shows {
		t.Errorf("bob's post came back: %+v", f)
	}
	page.sameAsReload(s, ann, name)
}

// Who administers a group sees there who banned them, if they chose to see banned
// people; an open page follows when that office ends, though no post and no ban
// changes.
func TestDemotionReachesOpenPages(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	cat.act(func(ctx context.Context) (timelines.Change, error) {
		_, c, err := s.store.CreateGroup(ctx, timelines.NewGroup{Actor: cat.account.ID, Name: "club", Title: "Club"})
		return c, err
	})
	ann.subscribe("club")
	office := func(set func(ctx context.Context, actor int64, group, name string) (timelines.Change, error)) {
		t.Helper()
		cat.act(func(ctx context.Context) (timelines.Change, error) { return set(ctx, cat.account.ID, "club", "ann") })
	}
	office(s.store.Promote)
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.ShowBanned(ctx, ann.account.ID, "club", true)
	})
	bobs := bob.post("from bob", "club")
	bob.ban("ann")
	page := s.open(ann, "/everything")
	if _, shows := page.shown[bobs.Code]; !shows {
		t.Fatal("an administrator does not see who banned them")
	}
	office(s.store.Demote)
	beat <- time.Now()
	page.untilGone(bobs.Code)
	page.until("ok", func(f frame) bool { return f.T == "ok" })
	office(s.store.Promote)
	beat <- time.Now()
	page.untilEntry(bobs.Code)
}

// Who begins to keep order in a group is offered to take comments away on the pages
// that are open, and no longer when that ends; also if somebody likes the post before
// the page has heard of it.
func TestOfficeReachesOpenPages(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
	ann, bob, cat := s.person("ann"), s.person("bob"), s.person("cat")
	for name, of := range map[string]*person{"club": cat, "den": ann} {
		of.act(func(ctx context.Context) (timelines.Change, error) {
			_, c, err := s.store.CreateGroup(ctx, timelines.NewGroup{Actor: of.account.ID, Name: name, Title: name})
			return c, err
		})
	}
	ann.subscribe("club")
	post := bob.post("from bob", "club")
	said := bob.comment(post.Code, "a word")
	s.followUp()
	page := s.open(ann, "/everything")
	offer := string(view.CommentURL(post.Code, said.CommentID, "edit"))
	for i := range 4 {
		set, offers := s.store.Promote, i%2 == 0
		if !offers {
			set = s.store.Demote
		}
		cat.act(func(ctx context.Context) (timelines.Change, error) { return set(ctx, cat.account.ID, "club", "ann") })
		if i > 1 {
			bob.like(post.Code)
			s.followUp()
			s.hearOf(post.PostID)
		}
		beat <- time.Now()
		page.until("comments", func(f frame) bool {
			return f.Post == post.Code && strings.Contains(f.HTML+f.Parts["comments"], "a word")
		})
		if got := strings.Contains(page.parts[post.Code]["comments"], offer); got != offers {
			t.Errorf("round %d: offered to take a comment away: %v, want %v", i, got, offers)
		}
	}
}
