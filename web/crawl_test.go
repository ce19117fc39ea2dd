package web

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
)

// TestCrawl follows every link of every page, signed in and not: nothing breaks
// and nothing leads nowhere.
func TestCrawl(t *testing.T) {
	t.Parallel()
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob")
	s.person("closed").visitor().post("/settings/access", "level", "private")
	anna.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public")
	bob.visitor().post("/anna/follow")
	bob.visitor().post("/settings/hidden", "term", "nothing")
	bob.visitor().post("/chess-club/hide")
	bob.visitor().post("/lists", "title", "Some")
	for i := range 30 {
		anna.post("Post " + strconv.Itoa(i) + " @bob #x https://example.org/")
	}
	bob.visitor().post("/chess-club/follow")
	s.person("eve").visitor().post("/chess-club/follow")
	anna.visitor().post("/chess-club/block", "name", "eve")
	code := anna.post("In the club", "chess-club").Code
	for range 6 {
		bob.comment(code, "A remark")
	}
	bob.like(code)
	anna.post("Direct", "bob")
	anna.visitor().post("/settings/pages", "slug", "photos", "title", "Photos", "access", "protected")
	anna.visitor().post("/settings/pages/admit", "feed", "private", "name", "bob")
	anna.post("A picture", "anna/photos", "anna")
	anna.post("A secret", "anna/private")
	anna.post("Nobody's business", "~eyes")
	bob.post("By bob in the club", "chess-club")
	link := regexp.MustCompile(`(?:href|action|src|data-unfold)="(/[^"]*)"`)
	for name, v := range map[string]*visitor{"nobody": s.visitor(), "anna": anna.visitor(), "bob": bob.visitor()} {
		seen, todo := map[string]bool{}, []string{
			"/", "/everything", "/search", "/search?q=post", "/groups", "/people", "/signup", "/login", "/settings", "/settings/hidden", "/filter/messages", "/filter/discussions",
			"/anna", "/closed", "/chess-club", "/chess-club/manage", "/p/" + code, "/healthz", "/readyz", "/robots.txt",
		}
		for len(todo) > 0 {
			address := todo[0]
			todo = todo[1:]
			if address, _, _ = strings.Cut(address, "#"); seen[address] || address == "/logout" {
				continue
			}
			seen[address] = true
			a := v.get(address)
			switch {
			case a.status == 403 && (strings.HasPrefix(address, "/closed") || name != "anna" && address == "/chess-club/manage"):
			case a.status == 303 && (name == "nobody" || strings.HasPrefix(address, "/signup") || strings.Contains(address, "/comments?between=") || strings.Contains(address, "/likes?")):
			case a.status != 200 && !isForm(address):
				t.Errorf("%s: GET %s: status %d", name, address, a.status)
			case a.status >= 500:
				t.Errorf("%s: GET %s: status %d", name, address, a.status)
			}
			for _, m := range link.FindAllStringSubmatch(a.body, -1) {
				todo = append(todo, html.UnescapeString(m[1]))
			}
		}
		if len(seen) < 20 {
			t.Errorf("%s: crawled %d addresses only", name, len(seen))
		}
	}
}

// isForm reports whether the address takes forms only.
func isForm(address string) bool {
	return regexp.MustCompile(`/(like|unlike|save|unsave|delete|destinations|admit|remove|exclude|unexclude|rename|comments|follow|unfollow|place|accept|decline|promote|demote|block|unblock|home|access|writing|ban|unban|hide|unhide|show-banned|hide-banned|password|posts)$`).MatchString(address)
}

// TestBadInput: whatever is sent, the answer is the sender's fault.
func TestBadInput(t *testing.T) {
	t.Parallel()
	s := newLiveSite(t, nil)
	p := s.person("anna")
	code := p.post("Hello").Code
	p.visitor().post("/groups", "name", "ours", "title", "Ours", "access", "public")
	for name, v := range map[string]*visitor{"nobody": s.visitor(), "anna": p.visitor()} {
		for _, address := range []string{
			"/no", "/nobody-here", "/ANNA", "/anna/nothing", "/anna/likes/more", "/chess-club", "/filter/x", "/p/x", "/p/" + strings.ToUpper(code) + "x",
			"/static/none.css", "/%00", "/%ff", "/anna%00", "/p/%00", "/p/" + code + "/comments/x/edit", "/p/" + code + "/comments/99999999999999999999/edit",
			"/everything?before=%00", "/everything?before=9999999999999999999999." + code, "/everything?before=-1." + code, "/a/b/c/d", "/posts", "/logout",
			"/search?q=%00", "/search?q=%ff%fe", "/search?q=a%00b&before=1", "/search?q=-x", "/search?q=x&before=-1", "/search?q=%27%5C%26%7C%21%28%3A%2A",
			"/search?q=" + strings.Repeat("x%20", 1000), "/search?q=" + strings.Repeat("x", 3000), "/search/x", "/feeds/search.atom?q=x",
			"/everything?lang=xx", "/best?lang=%00", "/best/saved?lang=%ff", "/tag/%00", "/tag/%ff", "/tag/a%2Fb",
			"/groups?after=%00%ff", "/people?after=%ff", "/anna/members", "/anna/manage", "/nobody-here/members", "/%ff/manage",
			"/ours/members?after=%ff", "/ours/members?after=A", "/lists/%00", "/lists/none", "/lists/none/edit", "/lists/%ff/edit", "/lists/a/b/c",
			"/anna/%00", "/anna/%ff", "/anna/~eyes", "/p/x/remove", "/settings/pages/x",
		} {
			if a := v.get(address); a.status >= 500 || a.status == 200 && !strings.Contains(address, "?") {
				t.Errorf("%s: GET %s: status %d", name, address, a.status)
			}
		}
		for _, address := range []string{
			"/signup", "/login", "/posts", "/groups", "/settings", "/settings/access", "/settings/password", "/nobody-here/follow",
			"/anna/follow", "/anna/accept", "/anna/decline", "/anna/nothing", "/settings/writing",
			"/ours/manage", "/ours/promote", "/ours/demote", "/ours/block", "/ours/unblock", "/ours/remove", "/anna/promote", "/nobody-here/block", "/p/x/like", "/p/" + code + "/comments", "/p/" + code + "/edit",
			"/p/" + code + "/comments/1/edit", "/p/" + code + "/comments/1/delete", "/p/" + code + "/nothing", "/x/y/z",
			"/settings/pages", "/settings/pages/rename", "/settings/pages/access", "/settings/pages/delete", "/settings/pages/admit",
			"/settings/pages/remove", "/settings/pages/exclude", "/settings/pages/unexclude", "/settings/pages/nothing",
			"/p/" + code + "/remove", "/p/x/edit", "/p/x/remove",
			"/settings/home", "/lists", "/lists/none/edit", "/lists/%00/delete", "/bob/place",
		} {
			for _, bad := range []string{"", "\x00", "\xff\xfe", strings.Repeat("x", 200_000)} {
				a := v.post(address, "body", bad, "username", bad, "password", bad, "name", bad, "title", bad, "to", bad, "key", bad,
					"level", bad, "mode", bad, "language", bad, "group", bad, "member", bad, "list", bad, "present", bad, "back", bad,
					"writers", bad, "about", bad, "slug", bad, "feed", bad)
				if a.status < 400 && a.header.Get("Location") != "/login?back=%2F" || a.status >= 500 {
					t.Errorf("%s: POST %s with %.10q: status %d, to %q", name, address, bad, a.status, a.header.Get("Location"))
				}
			}
		}
	}
	p.visitor().do(http.MethodPost, "/posts?%zz", nil).wants(400)
}

func TestLanguages(t *testing.T) {
	s := newLiveSite(t, nil)
	v := s.visitor()
	v.header.Set("Accept-Language", "ru")
	for _, address := range []string{"/", "/login", "/signup", "/groups", "/everything", "/nobody-here"} {
		a := v.get(address).has(`<html lang="ru">`)
		text := readText([]byte(regexp.MustCompile(`(?s)<head>.*</head>`).ReplaceAllString(a.body, "")))
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
