package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// The parts of a page around its entries are of the same moment as the entries, and so are
// the names of its places. A person who was excluded before something was opened to the others
// learns neither its title nor what its owner wrote there since, even if the page was begun
// before.
func TestAPageIsOfOneMoment(t *testing.T) {
	const secret = "not for ann"
	for _, c := range []struct {
		name, address string
		closed        func(bob *webtest.Person) // as it is when the page is begun
		meanwhile     func(bob *webtest.Person) // after the entries were decided
	}{
		{"title of a sub-feed", "/bob", func(bob *webtest.Person) {
			bob.Act(func(ctx context.Context) (timelines.Change, error) {
				return bob.Site.Store.Feeds.Create(ctx, bob.Account.ID, "photos", "photos", timelines.Private)
			})
		}, func(bob *webtest.Person) {
			bob.Exclude("photos", "ann")
			bob.Act(func(ctx context.Context) (timelines.Change, error) {
				return bob.Site.Store.Feeds.Rename(ctx, bob.Account.ID, "photos", secret)
			})
			bob.Act(func(ctx context.Context) (timelines.Change, error) {
				return bob.Site.Store.Feeds.SetSubfeedAccess(ctx, bob.Account.ID, "photos", timelines.Protected)
			})
		}},
		{"about", "/bob/photos", func(bob *webtest.Person) {
			bob.Act(func(ctx context.Context) (timelines.Change, error) {
				return bob.Site.Store.Feeds.Create(ctx, bob.Account.ID, "photos", "photos", timelines.Public)
			})
			bob.SetAccess("", timelines.Private)
		}, func(bob *webtest.Person) {
			bob.Exclude("", "ann")
			bob.Act(func(ctx context.Context) (timelines.Change, error) {
				return bob.Site.Store.Accounts.SetProfile(ctx, bob.Account.ID, "Bob", secret, "")
			})
			bob.SetAccess("", timelines.Protected)
		}},
		{"title of a place", "/everything", func(bob *webtest.Person) {
			bob.Act(func(ctx context.Context) (timelines.Change, error) {
				return bob.Site.Store.Feeds.Create(ctx, bob.Account.ID, "photos", "photos", timelines.Protected)
			})
			bob.Post("a picture", "bob/photos")
		}, func(bob *webtest.Person) {
			bob.Exclude("photos", "ann")
			bob.Act(func(ctx context.Context) (timelines.Change, error) {
				return bob.Site.Store.Feeds.Rename(ctx, bob.Account.ID, "photos", secret)
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, make(chan time.Time) })
			bob, ann, dan := s.Person("bob"), s.Person("ann"), s.Person("dan")
			c.closed(bob)
			// Everything is known to this node, as on a site that is used.
			for _, p := range []*webtest.Person{ann, dan} {
				p.Visitor().Get(c.address).Wants(http.StatusOK)
			}
			// The clock is read for the first time when the entries have been decided.
			met := false
			now := func() time.Time {
				if !met {
					met = true
					c.meanwhile(bob)
					// Somebody else's page brings this node's caches to the newest clock.
					webtest.Get(s, dan, c.address)
				}
				return time.Now()
			}
			s.Server.SetRenderer(view.NewRenderer(view.Config{Access: s.Rivers.Access(), Asset: s.Server.Asset, Now: now}))
			page := webtest.Get(s, ann, c.address)
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
			if body := webtest.Get(s, dan, c.address).Body.String(); !strings.Contains(body, secret) {
				t.Errorf("dan is not told\n%s", body)
			}
		})
	}
}
