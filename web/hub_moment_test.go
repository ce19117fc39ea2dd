package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// renderingPages call meanwhile before each entry is rendered for a socket.
type renderingPages struct {
	HubPages
	meanwhile func()
}

func (r *renderingPages) Entry(ctx context.Context, l view.Context, n rivers.Name, sets *timelines.Sets, it rivers.Item) (view.Parts, []byte, error) {
	r.meanwhile()
	return r.HubPages.Entry(ctx, l, n, sets, it)
}

// So is what is pushed: a place is called as it was when that its viewer may know of it
// was decided.
func TestAFrameIsOfOneMoment(t *testing.T) {
	const secret = "not for ann"
	pages := &renderingPages{meanwhile: func() {}}
	s := NewSite(t, func(c *HubConfig) {
		c.Hear, c.Beat = Deaf, make(chan time.Time)
		pages.HubPages = c.Pages
		c.Pages = pages
	})
	bob, ann, dan := s.Person("bob"), s.Person("ann"), s.Person("dan")
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.CreateSubfeed(ctx, bob.Account.ID, "photos", "Pictures", timelines.Protected)
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
			return s.Store.RenameSubfeed(ctx, bob.Account.ID, "photos", secret)
		})
		if body := Get(s, dan, "/everything").Body.String(); !strings.Contains(body, secret) {
			t.Errorf("dan is not told: %s", body)
		}
	}
	s.HearOf(picture.PostID)
	f := page.Until("what becomes of it", func(f Frame) bool { return f.Post == picture.Code })
	if !once {
		t.Fatal("nothing happened meanwhile")
	}
	if strings.Contains(f.HTML+f.Parts["body"], secret) {
		t.Errorf("ann, who was never to know, is sent\n%v", f)
	}
}
