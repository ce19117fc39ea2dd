package web_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// Posts that a change of access or subscription takes away leave an open page on another
// node within a second of its answer. New ones come by the jobs and the bus, as they run.
func TestAccessChangesArriveWithinASecond(t *testing.T) {
	w := newObserved(t, true, 0)
	w.beat = make(chan time.Time) // which would bring what the bus is late with
	for range 2 {
		w.addNode()
	}
	here, there := w.nodes[0], w.nodes[1]
	ann, bob := here.Person("ann"), here.Person("bob")
	annsForms, bobsForms := ann.Visitor(), bob.Visitor()
	onOther := func(p *webtest.Person, address string) *webtest.Page { return there.Open(p, address) }
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		_, c, err := here.Store.Groups.Create(ctx, timelines.NewGroup{Actor: ann.Account.ID, Name: "den", Title: "den", Access: timelines.Private})
		return c, err
	})
	for _, slug := range []string{"photos", "vault"} {
		ann.Act(func(ctx context.Context) (timelines.Change, error) {
			return here.Store.Feeds.Create(ctx, ann.Account.ID, slug, slug, timelines.Private)
		})
	}
	post := ann.Post("a word of ann's on marzipan #harvest")
	inPhotos, inVault := ann.Post("a word in photos", "ann/photos"), ann.Post("a word in the vault", "ann/vault")
	inDen := ann.Post("a word in the den", "den")

	type form struct {
		by      *webtest.Visitor
		address string
		fields  []string
	}
	for _, c := range []struct {
		what   string
		page   string
		code   string
		before []form // not measured
		takes  form   // what takes the post from bob's page
		gives  form
		stands []form // makes takes possible again
	}{
		{
			what: "level", page: "/everything", code: post.Code,
			takes: form{annsForms, "/settings/access", []string{"level", "private"}},
			gives: form{annsForms, "/settings/access", []string{"level", "public"}},
		}, {
			what: "readers", page: "/everything", code: post.Code,
			before: []form{{annsForms, "/settings/access", []string{"level", "protected"}}},
			takes:  form{annsForms, "/settings/pages/exclude", []string{"feed", "", "name", "bob"}},
			gives:  form{annsForms, "/settings/pages/unexclude", []string{"feed", "", "name", "bob"}},
		}, {
			what: "ban", page: "/everything", code: post.Code,
			takes: form{annsForms, "/bob/ban", nil},
			gives: form{annsForms, "/bob/unban", nil},
		}, {
			what: "hide", page: "/everything", code: post.Code,
			takes: form{bobsForms, "/ann/hide", nil},
			gives: form{bobsForms, "/ann/unhide", nil},
		}, {
			what: "hidden post", page: "/everything", code: post.Code,
			takes: form{bobsForms, "/p/" + post.Code + "/hide", nil},
			gives: form{bobsForms, "/p/" + post.Code + "/unhide", nil},
		}, {
			what: "hidden word", page: "/everything", code: post.Code,
			takes: form{bobsForms, "/settings/hidden", []string{"term", "marzipan"}},
			gives: form{bobsForms, "/settings/hidden/remove", []string{"term", "marzipan"}},
		}, {
			what: "hidden tag", page: "/everything", code: post.Code,
			takes: form{bobsForms, "/settings/hidden", []string{"term", "#harvest"}},
			gives: form{bobsForms, "/settings/hidden/remove", []string{"term", "#harvest"}},
		}, {
			what: "sub-feed's level", page: "/everything", code: inPhotos.Code,
			before: []form{{annsForms, "/settings/pages/access", []string{"feed", "photos", "level", "public"}}},
			takes:  form{annsForms, "/settings/pages/access", []string{"feed", "photos", "level", "private"}},
			gives:  form{annsForms, "/settings/pages/access", []string{"feed", "photos", "level", "public"}},
		}, {
			what: "admission", page: "/ann", code: inVault.Code,
			before: []form{{annsForms, "/settings/pages/admit", []string{"feed", "vault", "name", "bob"}}},
			takes:  form{annsForms, "/settings/pages/remove", []string{"feed", "vault", "name", "bob"}},
			gives:  form{annsForms, "/settings/pages/admit", []string{"feed", "vault", "name", "bob"}},
		}, {
			what: "subscription", page: "/", code: post.Code,
			before: []form{{bobsForms, "/ann/follow", nil}},
			takes:  form{bobsForms, "/ann/unfollow", nil},
			gives:  form{bobsForms, "/ann/follow", nil},
		}, {
			what: "destinations", page: "/everything", code: post.Code,
			takes: form{annsForms, "/p/" + post.Code + "/edit", []string{"to", "den"}},
			gives: form{annsForms, "/p/" + post.Code + "/edit", []string{"to", "ann"}},
		}, {
			what: "membership", page: "/", code: inDen.Code,
			before: []form{{bobsForms, "/den/follow", nil}, {annsForms, "/bob/accept", []string{"group", "den"}}},
			takes:  form{annsForms, "/den/remove", []string{"name", "bob"}},
			stands: []form{{bobsForms, "/den/follow", nil}},
			gives:  form{annsForms, "/bob/accept", []string{"group", "den"}},
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			send := func(f form) {
				t.Helper()
				if a := f.by.Post(f.address, f.fields...); a.Status != http.StatusSeeOther {
					t.Fatalf("%s %v: %d", f.address, f.fields, a.Status)
				}
			}
			for _, f := range c.before {
				send(f)
			}
			w.rest()
			g := onOther(bob, c.page)
			g.T = t
			if _, shown := g.Shown[c.code]; !shown {
				t.Fatalf("%s does not show the post to begin with: %v", c.page, g.Shown)
			}
			var took [2][]time.Duration
			for range 3 {
				for i, f := range []form{c.takes, c.gives} {
					if i == 1 {
						for _, f := range c.stands {
							send(f)
						}
					}
					send(f)
					answered := time.Now()
					for {
						if _, shown := g.Shown[c.code]; shown == (i == 1) {
							break
						}
						if _, err := g.Read(); err != nil {
							t.Fatal(err)
						}
					}
					took[i] = append(took[i], time.Since(answered))
				}
			}
			t.Logf("goes after %v, comes after %v", took[0], took[1])
			for _, times := range took {
				if worst := slices.Max(times); worst > time.Second {
					t.Errorf("arrives after %v at worst", worst)
				}
			}
		})
	}
}

// A page that closes to its reader on another node does so within a second of the answer
// to the form that closes it: the bus tells of it, and no beat.
func TestPagesCloseWithinASecond(t *testing.T) {
	w := newObserved(t, true, 0)
	w.beat = make(chan time.Time)
	for range 2 {
		w.addNode()
	}
	here, there := w.nodes[0], w.nodes[1]
	ann, bob := here.Person("ann"), here.Person("bob")
	annsForms := ann.Visitor()
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return here.Store.Feeds.Create(ctx, ann.Account.ID, "photos", "photos", timelines.Public)
	})
	post, inPhotos := ann.Post("a word of ann's"), ann.Post("a word in photos", "ann/photos")
	for _, c := range []struct {
		page   string
		form   string
		fields []string
		back   []string
	}{
		{"/ann", "/settings/access", []string{"level", "private"}, []string{"level", "public"}},
		{"/p/" + post.Code, "/settings/access", []string{"level", "private"}, []string{"level", "public"}},
		{"/ann/photos", "/settings/pages/access", []string{"feed", "photos", "level", "private"}, []string{"feed", "photos", "level", "public"}},
		{"/p/" + inPhotos.Code, "/settings/pages/access", []string{"feed", "photos", "level", "private"}, []string{"feed", "photos", "level", "public"}},
	} {
		for name, who := range map[string]*webtest.Person{"bob": bob, "nobody": nil} {
			t.Run(c.page+" of "+name, func(t *testing.T) {
				w.rest()
				g := there.Open(who, c.page)
				g.T = t
				if a := annsForms.Post(c.form, c.fields...); a.Status != http.StatusSeeOther {
					t.Fatalf("%s %v: %d", c.form, c.fields, a.Status)
				}
				answered := time.Now()
				if got := g.Closed(); got.Code != live.CloseNoPage {
					t.Errorf("closed with %v, want %d", got, live.CloseNoPage)
				}
				took := time.Since(answered)
				t.Logf("closes after %v", took)
				if took > time.Second {
					t.Errorf("closes after %v", took)
				}
				if a := annsForms.Post(c.form, c.back...); a.Status != http.StatusSeeOther {
					t.Fatalf("%s %v: %d", c.form, c.back, a.Status)
				}
			})
		}
	}
}

// Opening a feed brings its posts to the pages of all who are not signed in. Each page is a
// river that is built anew: ms/page is the time until the last one has it, per page.
func BenchmarkOpensToManyPages(b *testing.B) {
	many := 100
	if testing.Short() { // to see that it runs
		many = 10
	}
	w := newObserved(b, true, 1)
	s := w.nodes[0]
	ann := s.Person("ann")
	forms := ann.Visitor()
	post := ann.Post("a word of ann's")
	var pages []*webtest.Page
	for i := range many {
		reader := s.Person(fmt.Sprintf("reader%d", i))
		reader.Like(post.Code)
		pages = append(pages, s.Open(nil, "/"+reader.Account.Name+"/likes"))
	}
	level := func(level string) {
		if a := forms.Post("/settings/access", "level", level); a.Status != http.StatusSeeOther {
			b.Fatalf("level %s: %d", level, a.Status)
		}
	}
	until := func(shown bool) {
		for _, g := range pages {
			for {
				if _, there := g.Shown[post.Code]; there == shown {
					break
				}
				if _, err := g.Read(); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	n := 0
	for b.Loop() {
		b.StopTimer()
		level("protected")
		until(false)
		w.rest()
		b.StartTimer()
		level("public")
		until(true)
		n++
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(n*many), "ms/page")
}
