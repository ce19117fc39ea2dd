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
	s := newLiveSite(t, func(c *HubConfig) {
		c.Hear, c.Beat = deaf, make(chan time.Time)
		pages.HubPages = c.Pages
		c.Pages = pages
	})
	bob, ann, dan := s.person("bob"), s.person("ann"), s.person("dan")
	bob.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.CreateSubfeed(ctx, bob.account.ID, "photos", "Pictures", timelines.Protected)
	})
	picture := bob.post("a picture", "bob/photos")
	page := s.open(ann, "/everything")
	if f := page.shown[picture.Code]; !strings.Contains(f.HTML, "Pictures") {
		t.Fatalf("ann's page does not name the place: %s", f.HTML)
	}
	bob.edit(picture.Code, "a better picture")
	s.followUp()
	once := false
	pages.meanwhile = func() {
		if once {
			return
		}
		once = true
		bob.exclude("photos", "ann")
		bob.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.RenameSubfeed(ctx, bob.account.ID, "photos", secret)
		})
		if body := get(s, dan, "/everything").Body.String(); !strings.Contains(body, secret) {
			t.Errorf("dan is not told: %s", body)
		}
	}
	s.hearOf(picture.PostID)
	f := page.until("what becomes of it", func(f frame) bool { return f.Post == picture.Code })
	if !once {
		t.Fatal("nothing happened meanwhile")
	}
	if strings.Contains(f.HTML+f.Parts["body"], secret) {
		t.Errorf("ann, who was never to know, is sent\n%v", f)
	}
}
