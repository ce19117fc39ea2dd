package web

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

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
