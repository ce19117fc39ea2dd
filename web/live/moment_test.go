package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// renderingPages call meanwhile before each entry is rendered for a socket.
type renderingPages struct {
	live.Pages
	meanwhile func()
}

func (r *renderingPages) Entry(ctx context.Context, l view.Context, n rivers.Name, sets *access.Sets, it rivers.Item) (view.Parts, []byte, error) {
	r.meanwhile()
	return r.Pages.Entry(ctx, l, n, sets, it)
}

// So is what is pushed: a place is called as it was when that its viewer may know of it
// was decided.
func TestAFrameIsOfOneMoment(t *testing.T) {
	const secret = "not for ann"
	pages := &renderingPages{meanwhile: func() {}}
	s := webtest.New(t, func(c *live.Config) {
		c.Hear, c.Beat = webtest.Deaf, make(chan time.Time)
		pages.Pages = c.Pages
		c.Pages = pages
	})
	bob, ann, dan := s.Person("bob"), s.Person("ann"), s.Person("dan")
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.Create(ctx, bob.Account.ID, "photos", "Pictures", timelines.Protected)
	})
	picture := bob.Post("a picture", "bob/photos")
	page := s.Open(ann, "/everything")
	if f := page.Shown[picture.Code]; !strings.Contains(f.HTML, "Pictures") {
		t.Fatalf("ann's page does not name the place: %s", f.HTML)
	}
	bob.Edit(picture.Code, "a better picture")
	s.FollowUp()
	once := false
	pages.meanwhile = func() {
		if once {
			return
		}
		once = true
		bob.Exclude("photos", "ann")
		bob.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Feeds.Rename(ctx, bob.Account.ID, "photos", secret)
		})
		if body := webtest.Get(s, dan, "/everything").Body.String(); !strings.Contains(body, secret) {
			t.Errorf("dan is not told: %s", body)
		}
	}
	s.HearOf(picture.PostID)
	f := page.Until("what becomes of it", func(f webtest.Frame) bool { return f.Post == picture.Code })
	if !once {
		t.Fatal("nothing happened meanwhile")
	}
	if strings.Contains(f.HTML+f.Parts["body"], secret) {
		t.Errorf("ann, who was never to know, is sent\n%v", f)
	}
}
