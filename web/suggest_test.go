package web_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// An empty home page leads on to those whom most follow, as far as its reader could follow
// them. It fails for nobody's popularity.
func TestSuggestions(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat, dan, eve := s.Person("ann"), s.Person("bob"), s.Person("cat"), s.Person("dan"), s.Person("eve")
	ann.Visitor().Post("/groups", "name", "club", "title", "Club", "access", "public").LeadsTo("/club")
	dan.SetAccess("", timelines.Public)
	for _, name := range []string{"fay", "gus"} {
		p := s.Person(name)
		for _, whom := range []string{"bob", "cat", "dan", "club"} {
			p.Subscribe(whom)
		}
	}
	dan.SetAccess("", timelines.Private)
	cat.Ban("eve")
	v := eve.Visitor()
	v.Get("/").Wants(200).Has("The river starts with people", `action="/bob/follow"`, `action="/club/follow"`, `name="back" value="/`).
		Lacks(`href="/dan"`, `href="/cat"`, `action="/eve/follow"`)
	// Followed from there, it is suggested no more.
	v.Post("/bob/follow", "back", "/").LeadsTo("/")
	v.Get("/").Lacks(`action="/bob/follow"`).Has(`action="/club/follow"`)
	bob.Post("Not empty any more")
	s.FollowUp()
	v.Get("/").Has("Not empty any more", "Who to follow", `action="/club/follow"`).Lacks("The river starts with people")
	v.Post("/club/hide")
	v.Get("/").Lacks("Who to follow", `action="/club/follow"`)
}

// Somebody who comes to a site that was empty a moment ago finds those who came meanwhile.
func TestSuggestionsOfANewSite(t *testing.T) {
	s := webtest.New(t, nil)
	now := time.Now()
	s.Server.SetClock(func() time.Time { return now })
	ann, bob := s.Person("ann"), s.Person("bob")
	v := ann.Visitor()
	v.Get("/welcome/people").Wants(200).Lacks(`action="/cat/follow"`)
	s.Person("cat")
	bob.Subscribe("cat")
	now = now.Add(15 * time.Second)
	v.Get("/welcome/people").Wants(200).Has(`action="/cat/follow"`)
}

// A count that failed is not tried again by each page: it may take as long as a request has.
func TestSuggestionsThatFail(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	fay, gus := s.Person("fay"), s.Person("gus")
	fay.Subscribe(gus.Account.Name)
	ann.Subscribe("fay")
	now := time.Now()
	s.Server.SetClock(func() time.Time { return now })
	v := ann.Visitor()
	v.Get("/").Wants(200).Has(`action="/gus/follow"`)
	var log bytes.Buffer
	s.Server.SetLog(slog.New(slog.NewTextHandler(&log, nil)))
	rename := func(from, to string) {
		t.Helper()
		if _, err := s.DB.Primary.Exec(t.Context(), `ALTER TABLE `+from+` RENAME TO `+to); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Hour)
	rename("subscriptions", "away")
	for times := 1; times <= 2; times++ {
		for range 3 {
			v.Get("/").Wants(200).Has(`action="/gus/follow"`)
		}
		if got := strings.Count(log.String(), "counting"); got != 2*times { // all followers, and those of friends
			t.Errorf("%d counts failed, want %d:\n%s", got, 2*times, &log)
		}
		now = now.Add(2 * time.Minute)
	}
	rename("away", "subscriptions")
}

// Suggestions that could not be made are made again for the next page, though nothing changed meanwhile.
func TestSuggestionsAreNotKeptMissing(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, gus, hal := s.Person("ann"), s.Person("bob"), s.Person("gus"), s.Person("hal")
	ann.Subscribe("bob")
	bob.Subscribe("gus")
	bob.Post("a post")
	s.FollowUp()
	v := ann.Visitor()
	v.Get("/").Wants(200).Has(`action="/gus/follow"`)
	hal.Subscribe("gus") // who follows gus has to be read again
	rename := func(from, to string) {
		t.Helper()
		if _, err := s.DB.Primary.Exec(t.Context(), `ALTER TABLE `+from+` RENAME TO `+to); err != nil {
			t.Fatal(err)
		}
	}
	rename("subscriptions", "away")
	v.Get("/").Wants(200).Has("a post").Lacks(`action="/gus/follow"`)
	rename("away", "subscriptions")
	v.Get("/").Wants(200).Has(`action="/gus/follow"`)
	gus.Ban("ann")
	v.Get("/").Wants(200).Lacks(`action="/gus/follow"`)
}

// Suggestions that are kept are in the language of their reader, and their buttons lead back to their page.
func TestKeptSuggestionsAreOfThePage(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	s.Person("gus")
	ann.Subscribe("bob")
	bob.Subscribe("gus")
	bob.Post("a post")
	s.FollowUp()
	v := ann.Visitor()
	for range 2 {
		for address, back := range map[string]string{"/": "/?mode=activity", "/?order=created": "/?mode=activity&amp;order=created"} {
			for language, title := range map[string]string{"en": "Who to follow", "ru": "На кого подписаться"} {
				v.Header.Set("Accept-Language", language)
				v.Get(address).Wants(200).Has(title, `action="/gus/follow"><input type="hidden" name="back" value="`+back+`"`)
			}
		}
	}
}

// Whom most of the people follow whom I follow comes first, with their names, as far as I may
// know of them: bans, closed pages and hides count at once.
func TestSuggestionsOfFriends(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat, dan := s.Person("ann"), s.Person("bob"), s.Person("cat"), s.Person("dan")
	star, pal := s.Person("star"), s.Person("pal")
	for _, name := range []string{"fay", "gus", "hal", "ida"} {
		s.Person(name).Subscribe("star") // most followed, by nobody whom ann follows
	}
	for _, p := range []*webtest.Person{bob, cat, dan} {
		ann.Subscribe(p.Account.Name)
		p.Subscribe("pal")
	}
	bob.Post("a post")
	s.FollowUp()
	v := ann.Visitor()
	page := v.Get("/").Wants(200).Has(`action="/pal/follow"`, `action="/star/follow"`, "Followed by", "1 other you follow")
	if a, b := strings.Index(page.Body, `action="/pal/follow"`), strings.Index(page.Body, `action="/star/follow"`); a > b {
		t.Error("the most followed comes before whom friends follow")
	}
	// The page of pal shows the names too, and the numbers.
	v.Get("/pal").Wants(200).Has("<b>3</b> followers", "Followed by", "1 other you follow")
	s.Visitor().Get("/pal").Wants(200).Has("<b>3</b> followers").Lacks("Followed by")
	bob.Ban("ann")
	v.Get("/pal").Wants(200).Has("<b>3</b> followers", "Followed by").Lacks("other you follow", `href="/bob"`)
	cat.SetAccess("", timelines.Protected)
	cat.Exclude("", "ann")
	v.Get("/pal").Wants(200).Has("Followed by", `href="/dan"`).Lacks(`href="/cat"`)
	v.Get("/").Wants(200).Has("Followed by").Lacks("other you follow")
	dan.Unsubscribe("pal")
	v.Get("/pal").Wants(200).Has("<b>2</b> followers").Lacks("Followed by")
	v.Get("/").Wants(200).Lacks("Followed by")
	pal.SetAccess("", timelines.Private)
	star.Ban("ann")
	v.Get("/").Wants(200).Lacks(`action="/pal/follow"`, `action="/star/follow"`)
	v.Get("/pal").Wants(403).Lacks("followers</li>", "<b>2</b>")
}

// Somebody who was taken out of a group does not see it in the list of their groups, also on a page that says no.
func TestGroupsThatOneHasLeft(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	for _, name := range []string{"club", "cellar"} {
		ann.Visitor().Post("/groups", "name", name, "title", "The "+name, "access", "public").LeadsTo("/" + name)
		bob.Subscribe(name)
	}
	ann.SetAccess("", timelines.Private)
	v := bob.Visitor()
	v.Get("/ann").Wants(403).Has("The club", "The cellar")
	ann.Visitor().Post("/cellar/remove", "name", "bob").LeadsTo("/cellar/members")
	v.Get("/ann").Wants(403).Has("The club").Lacks("The cellar")
}

// People who may open the groups of a person see them.
func TestGroupsOfAPerson(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Visitor().Post("/groups", "name", "club", "title", "Open Club", "access", "public").LeadsTo("/club")
	ann.Visitor().Post("/groups", "name", "cellar", "title", "Closed Cellar", "access", "private").LeadsTo("/cellar")
	bob.Subscribe("ann")
	ann.Subscribe("bob")
	ann.Visitor().Get("/ann").Has("<b>2</b> groups", "Open Club", "Closed Cellar", "<b>1</b> follower", "<b>1</b> following")
	v := bob.Visitor()
	v.Get("/ann").Wants(200).Has("<b>1</b> group", "Open Club", "Follows you").Lacks("Closed Cellar", `href="/cellar"`)
	v.Get("/club").Wants(200).Has("Among the members", `href="/ann"`)
	ann.SetAccess("club", timelines.Private)
	v.Get("/ann").Wants(200).Lacks("Open Club", "<b>1</b> group")
	v.Get("/club").Wants(403).Lacks("Among the members", `title="ann"`)
}

// BenchmarkHomeWithSuggestions is a home page beside which accounts to follow stand: a hundred
// could be suggested, each of whom twenty friends of its reader follow.
func BenchmarkHomeWithSuggestions(b *testing.B) {
	s := webtest.New(b, nil)
	ann := s.Person("ann")
	var others []string
	for i := range 100 {
		others = append(others, s.Person(fmt.Sprintf("other%d", i)).Account.Name)
	}
	for i := range 20 {
		friend := s.Person(fmt.Sprintf("friend%d", i))
		ann.Subscribe(friend.Account.Name)
		for _, name := range others {
			friend.Subscribe(name)
		}
		if i < 3 {
			friend.Post("a post")
		}
	}
	s.FollowUp()
	v := ann.Visitor()
	v.Get("/").Wants(200).Has("Who to follow", "18 others you follow")
	b.ReportAllocs()
	for b.Loop() {
		v.Get("/")
	}
}
