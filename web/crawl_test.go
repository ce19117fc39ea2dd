package web_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"riverrun/timelines"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// TestCrawl follows every link of every page, signed in and not: nothing breaks
// and nothing leads nowhere.
func TestCrawl(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	s.Person("closed").Visitor().Post("/settings/access", "level", "private")
	anna.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public")
	bob.Visitor().Post("/anna/follow")
	bob.Visitor().Post("/settings/hidden", "term", "nothing")
	bob.Visitor().Post("/chess-club/hide")
	bob.Visitor().Post("/lists", "title", "Some")
	for i := range 30 {
		anna.Post("Post " + strconv.Itoa(i) + " @bob #x https://example.org/")
	}
	bob.Visitor().Post("/chess-club/follow")
	s.Person("eve").Visitor().Post("/chess-club/follow")
	anna.Visitor().Post("/chess-club/block", "name", "eve")
	code := anna.Post("In the club", "chess-club").Code
	for range 6 {
		bob.Comment(code, "A remark")
	}
	bob.Like(code)
	anna.Post("Direct", "bob")
	anna.Visitor().Post("/settings/pages", "slug", "photos", "title", "Photos", "access", "protected")
	anna.Visitor().Post("/settings/pages/admit", "feed", "private", "name", "bob")
	anna.Post("A picture", "anna/photos", "anna")
	anna.Post("A secret", "anna/private")
	anna.Post("Nobody's business", "~eyes")
	bob.Post("By bob in the club", "chess-club")
	anna.Visitor().Post("/settings/sources", "way", "link", "url", "https://example.org/feed")
	anna.Visitor().Post("/chess-club/sources", "way", "push")
	anna.Visitor().PostFiles("/settings/sources", upload("file", "a.csv", "id,title\n1,A\n"), "way", "file")
	link := regexp.MustCompile(`(?:href|src|data-unfold|role="search" action)="(/[^"]*)"`)
	form := regexp.MustCompile(`(?:method="post" action|formaction)="(/[^"]*)"`)
	for name, v := range map[string]*webtest.Visitor{"nobody": s.Visitor(), "anna": anna.Visitor(), "bob": bob.Visitor()} {
		forms := map[string]bool{}
		seen, todo := map[string]bool{}, []string{
			"/", "/everything", "/search", "/search?q=post", "/groups", "/people", "/signup", "/login", "/settings", "/settings/hidden", "/filter/messages", "/filter/discussions", "/welcome/you",
			"/anna", "/closed", "/chess-club", "/chess-club/manage", "/p/" + code, "/healthz", "/readyz", "/robots.txt",
		}
		for len(todo) > 0 {
			address := todo[0]
			todo = todo[1:]
			if address, _, _ = strings.Cut(address, "#"); seen[address] {
				continue
			}
			seen[address] = true
			a := v.Get(address)
			switch {
			case a.Status == 403 && (strings.HasPrefix(address, "/closed") || name != "anna" && address == "/chess-club/manage"):
			case a.Status == 303 && (name == "nobody" || strings.HasPrefix(address, "/signup") || strings.Contains(address, "/comments?between=") || strings.Contains(address, "/likes?")):
			case a.Status != 200:
				t.Errorf("%s: GET %s: status %d", name, address, a.Status)
			}
			for _, m := range link.FindAllStringSubmatch(a.Body, -1) {
				todo = append(todo, html.UnescapeString(m[1]))
			}
			for _, m := range form.FindAllStringSubmatch(a.Body, -1) {
				forms[html.UnescapeString(m[1])] = true
			}
		}
		for address := range forms { // somebody may open one as a page
			if a := v.Get(address); a.Status >= 500 {
				t.Errorf("%s: GET %s: status %d", name, address, a.Status)
			}
		}
		if len(seen) < 20 || name == "anna" && len(forms) < 20 {
			t.Errorf("%s: crawled %d addresses and %d forms only", name, len(seen), len(forms))
		}
	}
}

// TestBadInput: whatever is sent, the answer is the sender's fault.
func TestBadInput(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	p := s.Person("anna")
	code := p.Post("Hello").Code
	p.Visitor().Post("/groups", "name", "ours", "title", "Ours", "access", "public")
	for name, v := range map[string]*webtest.Visitor{"nobody": s.Visitor(), "anna": p.Visitor()} {
		for _, address := range []string{
			"/no", "/nobody-here", "/ANNA", "/anna/nothing", "/anna/likes/more", "/chess-club", "/filter/x", "/p/x", "/p/" + strings.ToUpper(code) + "x",
			"/static/none.css", "/%00", "/%ff", "/anna%00", "/p/%00", "/p/" + code + "/comments/x/edit", "/p/" + code + "/comments/99999999999999999999/edit",
			"/everything?before=%00", "/everything?before=9999999999999999999999." + code, "/everything?before=-1." + code, "/a/b/c/d", "/posts", "/logout",
			"/search?q=%00", "/search?q=%ff%fe", "/search?q=a%00b&before=1", "/search?q=-x", "/search?q=x&before=-1", "/search?q=%27%5C%26%7C%21%28%3A%2A",
			"/search?q=" + strings.Repeat("x%20", 1000), "/search?q=" + strings.Repeat("x", 3000), "/search/x", "/feeds/search.atom?q=x",
			"/everything?lang=xx", "/best?lang=%00", "/best/saved?lang=%ff", "/tag/%00", "/tag/%ff", "/tag/a%2Fb",
			"/groups?after=%00%ff", "/people?after=%ff", "/anna/members", "/anna/manage", "/ours/waiting?after=%ff", "/anna/waiting", "/nobody-here/waiting", "/nobody-here/members", "/%ff/manage",
			"/ours/members?after=%ff", "/ours/members?after=A", "/lists/%00", "/lists/none", "/lists/none/edit", "/lists/%ff/edit", "/lists/a/b/c",
			"/anna/%00", "/anna/%ff", "/anna/~eyes", "/p/x/remove", "/settings/pages/x",
			"/sources/x", "/sources/%00", "/sources/0000000000", "/sources/0000000000/loads/1", "/sources/0000000000/loads/1.csv", "/sources/%ff/loads/%ff",
			"/anna/sources", "/nobody-here/sources", "/%ff/sources", "/sources",
		} {
			if a := v.Get(address); a.Status >= 500 || a.Status == 200 && !strings.Contains(address, "?") {
				t.Errorf("%s: GET %s: status %d", name, address, a.Status)
			}
		}
		for _, address := range []string{
			"/signup", "/login", "/posts", "/groups", "/settings", "/settings/access", "/settings/password", "/nobody-here/follow",
			"/anna/follow", "/anna/accept", "/anna/decline", "/anna/nothing", "/settings/writing", "/settings/approval", "/ours/waiting/x/approve", "/anna/waiting/x/refuse", "/%ff/waiting/%00/approve",
			"/ours/manage", "/ours/promote", "/ours/demote", "/ours/block", "/ours/unblock", "/ours/remove", "/anna/promote", "/nobody-here/block", "/p/x/like", "/p/" + code + "/comments", "/p/" + code + "/edit",
			"/p/" + code + "/comments/1/edit", "/p/" + code + "/comments/1/delete", "/p/" + code + "/nothing", "/x/y/z",
			"/settings/sources", "/ours/sources", "/anna/sources", "/nobody-here/sources", "/sources/x/remove", "/sources/0000000000/fetch", "/sources/0000000000/file", "/sources/%00/x",
			"/settings/pages", "/settings/pages/rename", "/settings/pages/access", "/settings/pages/delete", "/settings/pages/admit",
			"/settings/pages/remove", "/settings/pages/exclude", "/settings/pages/unexclude", "/settings/pages/nothing",
			"/p/" + code + "/remove", "/p/x/edit", "/p/x/remove",
			"/settings/home", "/lists", "/lists/none/edit", "/lists/%00/delete", "/bob/place",
		} {
			for _, bad := range []string{"", "\x00", "\xff\xfe", strings.Repeat("x", 200_000)} {
				a := v.Post(address, "body", bad, "username", bad, "password", bad, "name", bad, "title", bad, "to", bad, "key", bad,
					"level", bad, "mode", bad, "language", bad, "group", bad, "member", bad, "list", bad, "present", bad, "back", bad,
					"writers", bad, "about", bad, "slug", bad, "feed", bad)
				if a.Status < 400 && a.Header.Get("Location") != "/login?back=%2F" || a.Status >= 500 {
					t.Errorf("%s: POST %s with %.10q: status %d, to %q", name, address, bad, a.Status, a.Header.Get("Location"))
				}
			}
		}
	}
	p.Visitor().Do(http.MethodPost, "/posts?%zz", nil).Wants(400)
}

func TestLanguages(t *testing.T) {
	s := webtest.New(t, nil)
	v := s.Visitor()
	v.Header.Set("Accept-Language", "ru")
	for _, address := range []string{"/", "/login", "/signup", "/groups", "/everything", "/nobody-here"} {
		a := v.Get(address).Has(`<html lang="ru">`)
		text := webtest.ReadText([]byte(regexp.MustCompile(`(?s)<head>.*</head>`).ReplaceAllString(a.Body, "")))
		for _, word := range []string{"Sign", "Home", "Every", "Group", "page"} {
			if strings.Contains(text, word) {
				t.Errorf("GET %s in Russian says %q:\n%s", address, word, text)
			}
		}
	}
}

// TestFirstSegmentsAreReserved: no account can take a name that an address of
// ours begins with.
func TestFirstSegmentsAreReserved(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`"(?:GET|POST) /([a-z-]+)[/"]`)
	found := map[string]bool{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pattern.FindAllStringSubmatch(string(b), -1) {
			found[m[1]] = true
		}
	}
	for _, page := range view.Pages {
		if first := strings.Split(page.Path, "/")[1]; first != "" && first != "{name}" {
			found[first] = true
		}
	}
	if len(found) < 15 {
		t.Errorf("found the first segments %v only; does the test still know how routes are written?", found)
	}
	for segment := range found {
		if !slices.Contains(timelines.ReservedNames, segment) {
			t.Errorf("an account could be called %q", segment)
		}
	}
}
