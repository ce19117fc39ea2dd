package web_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/web"
	"riverrun/web/webtest"
)

// newcomer signs up on the page.
func newcomer(s *webtest.Site, name string) *webtest.Visitor {
	v := s.Visitor()
	v.Post("/signup", "username", name, "password", webtest.Password).LeadsTo("/welcome/you")
	return v
}

// An account that is a minute old writes 62 posts at two nodes, and is told when it may write more.
func TestStrangerFloods(t *testing.T) {
	s := webtest.New(t, nil)
	other := webtest.NewHome(t, s.DB, "")
	eve := newcomer(s, "eve")
	there := other.Visitor()
	there.Post("/login", "username", "eve", "password", webtest.Password)
	made := 0
	for i := range 62 {
		v := eve
		if i%2 == 1 {
			v = there
		}
		a := v.Post("/posts", "body", fmt.Sprintf("look here %d", i))
		if a.Status == 303 {
			made++
			continue
		}
		if a.Wants(429).Has("you can write 5 posts an hour. Try again in 1 hour.", fmt.Sprintf(">look here %d</textarea>", i)); a.Header.Get("Retry-After") != "3600" {
			t.Fatalf("Retry-After %q", a.Header.Get("Retry-After"))
		}
	}
	if made != 5 {
		t.Errorf("%d posts were made, want 5", made)
	}
	eve.Header.Set("Accept-Language", "ru")
	eve.Post("/posts", "body", "ещё").Wants(429).Has("можно писать 5 записей в час. Попробуйте снова через 1 час.")
}

// A stranger's message to somebody who does not know them says whom it may go to.
func TestStrangerWrites(t *testing.T) {
	s := webtest.New(t, nil)
	bob, fan := s.Person("bob"), s.Person("fan")
	eve := newcomer(s, "eve")
	fan.Subscribe("eve")
	eve.Post("/posts", "body", "psst", "to", "fan", "direct", "1").LeadsTo("/")
	eve.Post("/posts", "body", "psst", "to", "bob", "direct", "1").Wants(422).Has("“bob” does neither", ">psst</textarea>")
	eve.Header.Set("Accept-Language", "ru")
	eve.Post("/posts", "body", "psst", "to", "bob", "direct", "1").Wants(422).Has("С «bob» так не получится")
	eve.Post("/posts", "body", "@bob @fan").LeadsTo("/")
	for p, want := range map[*webtest.Person]bool{bob: false, fan: true} {
		page := p.Visitor().Get("/filter/notifications").Wants(200)
		if want {
			page.Has("@fan")
			continue
		}
		page.Lacks("mentioned")
		p.Visitor().Get("/filter/mentions").Wants(200).Lacks("data-post")
	}
}

var tryAgain = regexp.MustCompile(`Try again in (\d+) seconds?\.`)

// The answer to somebody who is too fast says when, in words and in its header.
func TestTooFastSaysWhen(t *testing.T) {
	s := webtest.New(t, nil)
	s.Server.SetLimits(web.Limits{Writes: 4})
	anna := s.Person("anna").Visitor()
	for range 4 {
		anna.Post("/posts", "body", "hello").LeadsTo("/")
	}
	for address, form := range map[string][]string{"/posts": {"body", "hello"}, "/bob/follow": nil} {
		a := anna.Post(address, form...).Wants(429)
		m := tryAgain.FindStringSubmatch(a.Body)
		if m == nil || a.Header.Get("Retry-After") != m[1] {
			t.Fatalf("%s: Retry-After %q, text %q\n%s", address, a.Header.Get("Retry-After"), m, a.Body)
		}
		if n, err := strconv.Atoi(m[1]); err != nil || n < 5 || n > 15 {
			t.Errorf("%s: again in %q seconds, want nearly 15", address, m[1])
		}
	}
}

// rows are the texts of a page's entries that are shown, and of the lines for those that are not.
func rows(t *testing.T, html string) (shown, lines []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?s)<article[^>]*>.*?</article>`).FindAllString(html, -1) {
		if head, _, _ := strings.Cut(m, ">"); !strings.Contains(head, "data-over") {
			shown = append(shown, regexp.MustCompile(`(eve|bob) \d`).FindString(m))
		}
	}
	for _, m := range regexp.MustCompile(`<p class="more"><a href="([^"]*)">([^<]*)</a>`).FindAllStringSubmatch(html, -1) {
		lines = append(lines, m[1]+" "+m[2])
	}
	return shown, lines
}

// Everything shows two of many posts in a row by one person, and notifications two of many mentions;
// the badge counts somebody who is not followed once. Other pages are as they were.
func TestManyInARow(t *testing.T) {
	s := webtest.New(t, nil)
	bob, eve, ann := s.Person("bob"), s.Person("eve"), s.Person("ann")
	ann.Subscribe("bob")
	for i := range 5 {
		eve.Post(fmt.Sprintf("eve %d @ann", i))
		if i == 1 {
			bob.Post("bob 1 @ann")
		}
	}
	bob.Post("bob 2 @ann")
	ask, err := s.Rivers.Notices(t.Context(), ann.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := s.Rivers.Unread(t.Context(), []rivers.UnreadAsk{ask})
	if err != nil || counts[0] != 3 {
		t.Errorf("the badge counts %d, %v, want 3: eve, and two of bob's posts", counts[0], err)
	}
	v := ann.Visitor()
	for page, line := range map[string]string{"/everything": "/eve 1 more by @eve", "/filter/notifications": "/filter/mentions 1 more by @eve"} {
		html := v.Get(page).Wants(200).Body
		shown, lines := rows(t, html)
		if want := []string{"bob 2", "eve 4", "eve 3", "bob 1", "eve 1", "eve 0"}; !slices.Equal(shown, want) || !slices.Equal(lines, []string{line}) {
			t.Errorf("%s shows %q and %q", page, shown, lines)
		}
		if n := strings.Count(html, "data-post="); n != 7 {
			t.Errorf("%s has %d entries, want all 7", page, n)
		}
	}
	for _, page := range []string{"/eve", "/filter/mentions"} {
		if _, lines := rows(t, v.Get(page).Wants(200).Body); len(lines) > 0 {
			t.Errorf("%s says %q", page, lines)
		}
	}
	v.Header.Set("Accept-Language", "ru")
	v.Get("/everything").Has("Ещё 1 от @eve")
}

// An open page gathers what comes as a reload would.
func TestManyInARowWhileOpen(t *testing.T) {
	s := webtest.New(t, nil)
	bob, eve := s.Person("bob"), s.Person("eve")
	s.Person("ann")
	between := bob.Post("bob 1 @ann")
	b := s.Tab(webtest.Chromium(t), "everything")
	b.Visit("/everything")
	b.Live()
	n := s.Tab(webtest.Chromium(t), "notifications")
	n.SignIn("ann")
	n.Visit("/filter/notifications")
	n.Live()
	const rows = `[...document.querySelectorAll('#river > *')].map((e) => e.dataset.post ? e.dataset.post + ('over' in e.dataset) : e.innerHTML)`
	says := func(entries int, line string) {
		t.Helper()
		s.FollowUp()
		for _, tab := range []*webtest.Tab{b, n} {
			tab.Await(line, fmt.Sprintf(`document.querySelector('#news button').click() ?? document.querySelectorAll('#river > [data-post]').length
				+ ' ' + [...document.querySelectorAll('#river > .more')].map((l) => l.textContent) === '%d %s'`, entries, line))
		}
		b.EqualsReload()
		// That notifications were read shows with the next page alone.
		live := webtest.Eval[[]string](n, rows)
		n.Visit("/filter/notifications")
		n.Live()
		if now := webtest.Eval[[]string](n, rows); !slices.Equal(live, now) {
			t.Errorf("open notifications show\n%q, a reload\n%q", live, now)
		}
	}
	var last string
	for i := range 4 {
		last = eve.Post(fmt.Sprintf("eve %d @ann", i)).Code
	}
	says(5, "2 more by @eve")
	bob.Post("bob 2 @ann")
	eve.Post("eve 4 @ann")
	says(7, "2 more by @eve")
	eve.Remove(last)
	says(6, "1 more by @eve")
	bob.Remove(between.Code)
	says(5, "1 more by @eve")
}

// A page that became short because most of it is gathered holds no more than a reload would.
func TestManyInARowAreTrimmed(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	bob, eve := s.Person("bob"), s.Person("eve")
	for i := range rivers.PageSize {
		bob.Post(fmt.Sprintf("bob %d", i))
		eve.Post(fmt.Sprintf("eve before %d", i))
	}
	b := s.Tab(webtest.Chromium(t), "reader")
	b.Visit("/everything")
	b.Live()
	for i := range rivers.PageSize {
		eve.Post(fmt.Sprintf("eve %d", i))
	}
	b.Await("the newest", `document.querySelector('#news button').click() ?? document.getElementById('river').textContent.includes('eve 24')`)
	b.EqualsReload()
}
