package web_test

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"riverrun/migrations/testdb"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
	"riverrun/web/webtest"
)

var (
	homeEntry = regexp.MustCompile(`(?s)<article id="p-[^"]*" data-post="([^"]+)" data-version="[^"]*"\s+data-place="(\d+)".*?</article>`)
	olderPage = regexp.MustCompile(`<a class="older" rel="next" href="([^"]+)"`)
)

// homePages returns what somebody reads on each page of the home feed, from the top to the end: the
// entries with their places, and their texts.
func homePages(p *webtest.Person) (pages [][]string) {
	p.Site.T.Helper()
	visitor := p.Visitor()
	for address := "/"; address != ""; {
		body := visitor.Get(address).Wants(200).Body
		var page []string
		for _, entry := range homeEntry.FindAllStringSubmatch(body, -1) {
			page = append(page, fmt.Sprintf("%s at %s: %s", entry[1], entry[2], webtest.ReadText([]byte(entry[0]))))
		}
		pages, address = append(pages, page), ""
		if older := olderPage.FindStringSubmatch(body); older != nil {
			address = strings.ReplaceAll(older[1], "&amp;", "&")
		}
	}
	return pages
}

// at is the same person at another node of the site.
func at(s *webtest.Site, p *webtest.Person) *webtest.Person {
	same := *p
	same.Site = s
	return &same
}

// Each strategy serves the same home page as rivers, to its end.
func TestHomePagesOfStrategies(t *testing.T) {
	for _, name := range strategies.Names()[1:] {
		t.Run(name, func(t *testing.T) {
			ordinary := webtest.New(t, nil)
			s := webtest.NewHome(t, ordinary.DB, name)
			ann, bob, cat, dan := s.Person("ann"), s.Person("bob"), s.Person("cat"), s.Person("dan")
			ann.Subscribe("bob")
			ann.Subscribe("dan")
			compare := func(when string, pages int) {
				t.Helper()
				s.FollowUp()
				want, got := homePages(at(ordinary, ann)), homePages(ann)
				if diff := cmp.Diff(want, got); diff != "" || len(got) < pages {
					t.Errorf("%s: %d pages, want %d or more; rivers, then %s:\n%s", when, len(got), pages, name, diff)
				}
			}
			compare("an empty feed", 1)
			var codes []string
			for i := range 30 {
				codes = append(codes, bob.Post(fmt.Sprintf("number %d of bob", i)).Code, dan.Post(fmt.Sprintf("number %d of dan", i)).Code)
			}
			strange := cat.Post("of a stranger")
			compare("posts", 3)
			bob.Like(strange.Code)
			cat.Comment(codes[2], "up with it")
			cat.Comment(codes[2], "and again")
			dan.Like(codes[0])
			compare("likes and comments", 3)
			bob.Remove(codes[4])
			cat.Follow(ann)
			ann.Follow(cat)
			cat.Post("of a friend now")
			compare("a friend", 3)
			ann.Visitor().Post("/p/" + codes[6] + "/hide")
			compare("a hidden post", 3)
			ann.Unsubscribe("dan")
			compare("one left", 2)
		})
	}
}

// A person's own change shows in the reply and after a reload, whether or not any job was worked (R3).
func TestOwnChangesOnHomePagesOfStrategies(t *testing.T) {
	for _, name := range strategies.Names()[1:] {
		t.Run(name, func(t *testing.T) {
			s := webtest.NewHome(t, testdb.New(t), name)
			ann, bob := s.Person("ann"), s.Person("bob")
			ann.Subscribe("bob")
			code := bob.Post("of bob").Code
			bob.Post("left behind")
			s.FollowUp()
			a := ann.Visitor()
			a.Get("/").Wants(200).Has("of bob", "left behind")
			if frame := a.AsRiver("/p/"+code+"/like", "/"); !strings.Contains(frame, `"t":"entry"`) || !strings.Contains(frame, "of bob") {
				t.Errorf("reply to a like: got %s", frame)
			}
			a.Post("/p/"+code+"/comments", "body", "my word on it").Wants(303)
			a.Post("/posts", "body", "of my own").Wants(303)
			a.Get("/").Wants(200).Has("of my own", "my word on it", `aria-pressed="true"`)
			a.Post("/bob/unfollow").Wants(303)
			a.Get("/").Wants(200).Has("of my own", "my word on it").Lacks("left behind")
		})
	}
}

// A post that was taken from a reader is not on the next page, though no job was worked (R4).
func TestNarrowingsOnHomePagesOfStrategies(t *testing.T) {
	for _, name := range strategies.Names()[1:] {
		t.Run(name, func(t *testing.T) {
			s := webtest.NewHome(t, testdb.New(t), name)
			ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
			ann.Subscribe("bob")
			ann.Subscribe("cat")
			gone, kept := bob.Post("soon deleted").Code, bob.Post("by one soon banned").Code
			cat.Post("behind a door")
			cat.Comment(kept, "a word of cat")
			s.FollowUp()
			a := ann.Visitor()
			a.Get("/").Wants(200).Has("soon deleted", "by one soon banned", "behind a door", "a word of cat")
			bob.Remove(gone)
			a.Get("/").Wants(200).Lacks("soon deleted")
			cat.SetAccess("", timelines.Private)
			cat.Exclude("", "ann")
			a.Get("/").Wants(200).Lacks("behind a door")
			bob.Ban("ann")
			a.Get("/").Wants(200).Lacks("by one soon banned", "a word of cat")
		})
	}
}

// The page of another strategy says that it is not live. Its socket costs no river; it is told of
// notifications, and nothing of entries.
func TestTheSocketOfAStillHomePage(t *testing.T) {
	s := webtest.NewHome(t, testdb.New(t), strategies.NameTimed)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Subscribe("bob")
	code := ann.Post("of ann").Code
	a := ann.Visitor()
	body := a.Get("/").Wants(200).Has("Reload it to see").Body
	a.Get("/?order=created").Wants(200).Lacks("Reload it to see")
	g := &webtest.Page{T: t, Address: "/?" + url.Values{"mode": {"activity"}}.Encode(), River: "0", Shown: map[string]webtest.Frame{}}
	if sight := regexp.MustCompile(`data-sight="([^"]*)"`).FindStringSubmatch(body); sight != nil {
		g.Token = sight[1]
	}
	conn, status, err := s.Dial(ann, nil)
	if err != nil {
		t.Fatalf("dial: %v (status %d)", err, status)
	}
	g.Conn = conn
	g.Say(map[string]any{
		"t": "subscribe", "page": g.Address, "lang": "en", "river": "0", "sight": g.Token, "unread": 0,
		"entries": map[string]string{code: "1.1"},
	})
	first, err := g.Read()
	if err != nil || first.T != "ok" {
		t.Fatalf("after subscribing: got %+v (%v), want ok alone", first, err)
	}
	bob.Post("nobody is pushed this")
	bob.Comment(code, "a comment for ann")
	next, err := g.Read()
	if err != nil || next.T != "unread" {
		t.Errorf("after a comment: got %+v (%v), want unread alone", next, err)
	}
	var rivers int
	const query = `SELECT count(*) FROM rivers WHERE kind = 'home' AND ord = 'fresh'`
	if err := s.DB.Secondary.QueryRow(context.Background(), query).Scan(&rivers); err != nil || rivers != 0 {
		t.Errorf("got %d home rivers (%v), want none", rivers, err)
	}
	ann.SignOut()
	if closed := g.Closed(); closed.Code != 4001 {
		t.Errorf("after signing out: closed with %v, want 4001", closed)
	}
}

// An open page whose reader chooses the other mode elsewhere becomes the page that is not live, and
// the other way round, and keeps what is half written.
func TestAPageBecomesStillInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.NewHome(t, testdb.New(t), strategies.NameSized)
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	bob.Visitor().Post("/ann/follow").LeadsTo("/ann")
	liked := cat.Post("what ann likes").Code
	ann.Like(liked)
	s.FollowUp()
	friendsOnly(bob, true)
	b := s.Tab(browser, "bob")
	b.SignIn("bob")
	b.Visit("/")
	b.Live()
	friendsOnly(bob, false)
	b.Await("the post that ann likes", `document.querySelector('#p-`+liked+`') && document.querySelector('.since')`)
	friendsOnly(bob, true)
	b.Await("a live page", `!document.querySelector('#p-`+liked+`') && !document.querySelector('.since')`)
	b.Live()
	b.Do(chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "half a thought"))
	webtest.Eval[string](b, `document.querySelector('.titled').innerHTML = ''`)
	friendsOnly(bob, false)
	b.Await("what stands around the list", `document.querySelector('.titled').innerHTML`)
	if got := webtest.Eval[string](b, `document.querySelector('#composer textarea').value`); got != "half a thought" {
		t.Errorf("what was half written became %q", got)
	}
}
