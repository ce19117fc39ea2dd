package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// What stands around the entries of a page, and how their places are called, is of the
// moment the entries are of: who was excluded before something was opened to the others is told neither its
// title nor what its owner wrote there since, though the page was begun before.
func TestAPageIsOfOneMoment(t *testing.T) {
	const secret = "not for ann"
	for _, c := range []struct {
		name, address string
		closed        func(bob *person) // as it is when the page is begun
		meanwhile     func(bob *person) // after the entries were decided
	}{
		{"title of a sub-feed", "/bob", func(bob *person) {
			bob.act(func(ctx context.Context) (timelines.Change, error) {
				return bob.site.store.CreateSubfeed(ctx, bob.account.ID, "photos", "photos", timelines.Private)
			})
		}, func(bob *person) {
			bob.exclude("photos", "ann")
			bob.act(func(ctx context.Context) (timelines.Change, error) {
				return bob.site.store.RenameSubfeed(ctx, bob.account.ID, "photos", secret)
			})
			bob.act(func(ctx context.Context) (timelines.Change, error) {
				return bob.site.store.SetSubfeedAccess(ctx, bob.account.ID, "photos", timelines.Protected)
			})
		}},
		{"about", "/bob/photos", func(bob *person) {
			bob.act(func(ctx context.Context) (timelines.Change, error) {
				return bob.site.store.CreateSubfeed(ctx, bob.account.ID, "photos", "photos", timelines.Public)
			})
			bob.setAccess("", timelines.Private)
		}, func(bob *person) {
			bob.exclude("", "ann")
			bob.act(func(ctx context.Context) (timelines.Change, error) {
				return bob.site.store.SetProfile(ctx, bob.account.ID, "Bob", secret)
			})
			bob.setAccess("", timelines.Protected)
		}},
		{"title of a place", "/everything", func(bob *person) {
			bob.act(func(ctx context.Context) (timelines.Change, error) {
				return bob.site.store.CreateSubfeed(ctx, bob.account.ID, "photos", "photos", timelines.Protected)
			})
			bob.post("a picture", "bob/photos")
		}, func(bob *person) {
			bob.exclude("photos", "ann")
			bob.act(func(ctx context.Context) (timelines.Change, error) {
				return bob.site.store.RenameSubfeed(ctx, bob.account.ID, "photos", secret)
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, make(chan time.Time) })
			bob, ann, dan := s.person("bob"), s.person("ann"), s.person("dan")
			c.closed(bob)
			// Everything is known to this node, as on a site that is used.
			for _, p := range []*person{ann, dan} {
				p.visitor().get(c.address).wants(http.StatusOK)
			}
			// The clock is read for the first time when the entries have been decided.
			met := false
			now := func() time.Time {
				if !met {
					met = true
					c.meanwhile(bob)
					// Somebody else's page brings this node's caches to the newest clock.
					get(s, dan, c.address)
				}
				return time.Now()
			}
			s.server.view = view.NewRenderer(view.Config{Access: s.rivers.Access(), Asset: s.server.static.url, Now: now})
			page := get(s, ann, c.address)
			if !met {
				t.Fatal("nothing happened meanwhile")
			}
			if page.Code != http.StatusOK {
				t.Fatalf("answered %d", page.Code)
			}
			if body := page.Body.String(); strings.Contains(body, secret) {
				_, body, _ = strings.Cut(body, "<main")
				t.Errorf("ann, who was never to know, is told\n%s", body)
			}
			if body := get(s, dan, c.address).Body.String(); !strings.Contains(body, secret) {
				t.Errorf("dan is not told\n%s", body)
			}
		})
	}
}

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

// exclude keeps somebody out of one's own feed or sub-feed.
func (p *person) exclude(slug, name string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.ExcludeReader(ctx, p.account.ID, slug, name)
	})
}

// get answers a request on this goroutine.
func get(s *liveSite, p *person, address string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, s.http.URL+address, nil)
	r.AddCookie(&http.Cookie{Name: cookie, Value: p.token})
	w := httptest.NewRecorder()
	s.server.Handler().ServeHTTP(w, r)
	return w
}
