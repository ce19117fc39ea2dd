package web_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/net/html"

	"riverrun/timelines"
	"riverrun/web"
	"riverrun/web/webtest"
)

func TestSignUpInAndOut(t *testing.T) {
	s := webtest.New(t, nil)
	v := s.Visitor()
	v.Get("/").Wants(200).Has("/signup", "/login", "/everything")
	v.Post("/signup", "username", "A B", "password", "quite long enough").Wants(422).Has("A B", "3 to 35 characters")
	v.Post("/signup", "username", "zed-", "password", "quite long enough").Wants(422).Has("Start and end with a letter or digit")
	v.Post("/signup", "username", "settings", "password", "quite long enough").Wants(422).Has("reserved for the site")
	v.Post("/signup", "username", "anna", "password", "short").Wants(422).Has(`value="anna"`, "Use at least 8 characters").Lacks("short\"")
	v.Post("/signup", "username", "anna", "password", "quite long enough", "title", "Anna Livia").LeadsTo("/welcome/you")
	v.Get("/").Wants(200).Has("Anna Livia", "composer", "data-river=", `data-page="/?mode=activity"`)
	s.Visitor().Post("/signup", "username", "anna", "password", "quite long enough").Wants(422).Has("taken")

	v.Post("/logout").LeadsTo("/")
	v.Get("/").Wants(200).Has("/signup")
	v.Get("/settings").LeadsTo("/login?back=%2Fsettings")
	v.Post("/login", "username", "anna", "password", "wrong one").Wants(422).Has("wrong", `value="anna"`).Lacks("wrong one")
	v.Post("/login", "username", "Anna ", "password", "quite long enough", "back", "/settings").LeadsTo("/settings")
	v.Get("/settings").Wants(200)
	v.Post("/login", "username", "anna", "password", "quite long enough", "back", "//example.org").LeadsTo("/")
}

func TestSessionCookie(t *testing.T) {
	s := webtest.New(t, nil)
	s.Person("anna")
	for _, tt := range []struct {
		url         string
		age         time.Duration
		name, flags string
	}{
		{"http://river.example", 0, "riverrun", "Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax"},
		{"https://river.example", 0, "__Host-riverrun", "Path=/; Max-Age=7776000; HttpOnly; Secure; SameSite=Lax"},
		{"http://river.example", 365 * 24 * time.Hour, "riverrun", "Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"},
	} {
		if tt.age != 0 {
			s.Server.SetSessionAge(tt.age)
		}
		address, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		s.Server.SetURL(address)
		cookie := s.Visitor().Post("/login", "username", "anna", "password", "a long enough one").LeadsTo("/").Header.Get("Set-Cookie")
		if !strings.HasPrefix(cookie, tt.name+"=") || !strings.HasSuffix(cookie, "; "+tt.flags) {
			t.Errorf("%s: cookie %q, want %s=…; %s", tt.url, cookie, tt.name, tt.flags)
		}
	}
}

func TestWritingWithoutScripts(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna").Visitor(), s.Person("bob").Visitor()

	anna.Get("/").Wants(200).Has("This page shows what")
	anna.Post("/posts", "body", "Hello <b>river</b>", "key", "k1").LeadsTo("/")
	anna.Post("/posts", "body", "Hello <b>river</b>", "key", "k1").LeadsTo("/")
	home := anna.Get("/").Wants(200).Has("Hello &lt;b&gt;river&lt;/b&gt;", "Your post").Lacks("This page shows what")
	if n := strings.Count(home.Body, `<article`); n != 1 {
		t.Errorf("the same form twice made %d posts, want 1", n)
	}
	code := home.Code()
	anna.Post("/posts", "body", "  ", "key", "k2").Wants(422).Has("Write something first", `value="k2"`)
	anna.Post("/posts", "body", "kept text", "to", "nobody-here").Wants(422).Has("kept text", "nobody-here", "Nobody here is called")

	bob.Post("/p/"+code+"/like", "back", "/anna#p-"+code).LeadsTo("/anna#p-" + code)
	bob.Get("/p/"+code).Wants(200).Has("Unlike", "Liked by")
	bob.Post("/p/" + code + "/unlike").LeadsTo("/p/" + code)
	bob.Get("/p/"+code).Wants(200).Lacks("Unlike", "Liked by")

	bob.Post("/p/"+code+"/comments", "body", "", "key", "c0").Wants(422)
	bob.Post("/p/"+code+"/comments", "body", "A remark", "key", "c1", "back", "/").LeadsTo("/")
	bob.Post("/p/"+code+"/comments", "body", "A remark", "key", "c1", "back", "/").LeadsTo("/")
	page := anna.Get("/p/" + code).Wants(200).Has("A remark")
	ids := webtest.CommentIDs.FindAllStringSubmatch(page.Body, -1)
	if len(ids) != 1 {
		t.Fatalf("the same comment twice made %d, want 1", len(ids))
	}
	comment := "/p/" + code + "/comments/" + ids[0][1]
	bob.Get(comment+"/edit").Wants(200).Has("A remark", comment+"/edit", comment+"/delete")
	anna.Get(comment+"/edit").Wants(200).Has("A remark", comment+"/delete").Lacks(comment + "/edit\"")
	s.Person("carol").Visitor().Get(comment + "/edit").Wants(403)
	anna.Post(comment+"/edit", "body", "Not mine").Wants(403)
	bob.Post(comment+"/edit", "body", " ").Wants(422)
	bob.Post(comment+"/edit", "body", "A better remark").LeadsTo("/p/" + code + "#c-" + ids[0][1])
	anna.Get("/p/"+code).Has("A better remark", "edited")
	anna.Post(comment + "/delete").LeadsTo("/p/" + code)
	bob.Get("/p/" + code).Lacks("A better remark")

	bob.Get("/p/" + code + "/edit").Wants(403)
	anna.Get("/p/"+code+"/edit").Wants(200).Has("Hello &lt;b&gt;river", "/p/"+code+"/delete")
	anna.Post("/p/"+code+"/edit", "body", "").Wants(422)
	anna.Post("/p/"+code+"/edit", "body", "Hello sea").LeadsTo("/p/" + code)
	bob.Get("/anna").Wants(200).Has("Hello sea")
	bob.Post("/p/" + code + "/delete").Wants(403)
	anna.Post("/p/"+code+"/delete", "back", "/p/"+code).LeadsTo("/")
	anna.Get("/p/" + code).Wants(404)
	anna.Get("/").Lacks("Hello sea")
}

// Addresses as people write them lead to the page, and none anywhere else.
func TestAddressesLeadOn(t *testing.T) {
	s := webtest.New(t, nil)
	s.Person("anna")
	v := s.Visitor()
	for from, to := range map[string]string{
		"/ANNA": "/anna", "/Anna?order=created": "/anna?order=created", "/Anna/likes": "/anna/likes", "/Anna/members": "/anna/members", "/Anna/manage?x=1": "/anna/manage?x=1", "/anna/": "/anna",
		"/anna/?order=created": "/anna?order=created", "/Anna/": "/anna", "/nobody-here/": "/nobody-here",
	} {
		if a := v.Get(from).Wants(301); a.Header.Get("Location") != to {
			t.Errorf("%s leads to %q, want %q", from, a.Header.Get("Location"), to)
		}
	}
	for _, address := range []string{"/Anna_Lee", "/%2Fevil.example/", "/%5Cevil.example/", "/ab/%2Fevil.example/", "/Анна", "/a.example/", "/groups/", "/feeds/", "/p/", "/anna/likes/"} {
		v.Get(address).Wants(404)
	}
	v.Post("/anna/").Wants(404)
}

// A text that a form's maxlength allows arrives and is accepted, in any alphabet: three
// bytes for each UTF-16 unit are nine in a form.
func TestLongestTexts(t *testing.T) {
	s := webtest.New(t, nil)
	anna := s.Person("anna").Visitor()
	for _, char := range []string{"я", "€", "\U00020000", "a\n"} {
		units := len(utf16.Encode([]rune(char)))
		longest := func(n int) string { return strings.Repeat(char, n/units-1) + strings.Repeat("z", units) }
		sent := func(body string) string { return strings.ReplaceAll(body, "\n", "\r\n") }
		anna.Get("/").Has(fmt.Sprintf(`maxlength="%d"`, timelines.MaxPostRunes))
		anna.Post("/posts", "body", sent(longest(timelines.MaxPostRunes)), "key", char).LeadsTo("/")
		code := anna.Get("/").Code()
		anna.Get("/p/" + code + "/edit").Has(fmt.Sprintf(`maxlength="%d"`, timelines.MaxPostRunes))
		anna.Post("/p/"+code+"/edit", "body", sent("!"+longest(timelines.MaxPostRunes)[len(char):])).LeadsTo("/p/" + code)
		anna.Get("/p/" + code).Has(fmt.Sprintf(`maxlength="%d"`, timelines.MaxCommentRunes))
		anna.Post("/p/"+code+"/comments", "body", sent(longest(timelines.MaxCommentRunes)), "key", "c"+char).Wants(303)
	}
	long := strings.Repeat("я", timelines.MaxPostRunes+1)
	anna.Post("/posts", "body", long).Wants(422).Has("This text is too long. The limit is 100,000 characters.", long)
	code := anna.Get("/").Code()
	anna.Post("/p/"+code+"/edit", "body", long).Wants(422).Has("The limit is 100,000 characters", long)
	anna.Post("/p/"+code+"/comments", "body", long).Wants(422).Has("The limit is 20,000 characters", long)
}

func TestDestinations(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, carol := s.Person("anna").Visitor(), s.Person("bob").Visitor(), s.Person("carol").Visitor()
	bob.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "private").LeadsTo("/chess-club")
	bob.Post("/groups", "name", "chess-club", "title", "Again", "access", "public").Wants(422).Has("taken", "Again")
	bob.Post("/groups", "name", "other", "title", "T", "access", "secret").Wants(422)
	bob.Get("/groups").Wants(200).Has("Chess Club", "My groups")
	bob.Get("/chess-club").Wants(200).Has("composer", "private", "You’re an administrator")

	bob.Post("/posts", "body", "For the club", "to", "chess-club", "to", "").LeadsTo("/")
	bob.Get("/chess-club").Wants(200).Has("For the club")
	carol.Get("/chess-club").Wants(403).Has("Only members can read", "/chess-club/follow", "Request to join").Lacks("For the club")
	carol.Post("/chess-club/follow").LeadsTo("/chess-club")
	carol.Get("/chess-club").Wants(403).Has("Request sent")
	bob.Get("/settings").Wants(200).Has("/carol/accept", `value="chess-club"`, "@chess-club", `href="/chess-club/manage"`)
	bob.Post("/carol/accept", "group", "chess-club").LeadsTo("/settings")
	carol.Get("/chess-club").Wants(200).Has("For the club")

	anna.Post("/posts", "body", "Between us", "to", " @bob, ", "direct", "1").LeadsTo("/")
	anna.Post("/posts", "body", "To whom?", "to", " ", "direct", "1").Wants(422).Has("at least one person", "To whom?")
	code := bob.Get("/filter/messages").Wants(200).Has("Between us", "direct").Code()
	bob.Get("/").Has("Between us", "A message")
	carol.Get("/p/" + code).Wants(404)
	// A message is on nobody's page: it is written where it will stand.
	carol.Get("/anna").Has(`href="/filter/messages?to=anna"`).Lacks("Between us", `action="/posts"`)
	carol.Get("/filter/messages?to=anna").Has(`name="direct" value="1"`, `value="anna"`)
	carol.Get("/carol").Has(`action="/posts" data-live>`)
	bob.Get("/filter/discussions").Wants(200).Has("For the club").Lacks("Between us")
	carol.Get("/filter/discussions").Wants(200).Has("appear here")
	bob.Post("/p/" + code + "/like")
	bob.Get("/filter/discussions").Has("Between us")
}

func TestUnreadableAndMissingPostsLookTheSame(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob").Visitor()
	secret := anna.Post("Secret", "anna")
	anna.Visitor().Post("/settings/access", "level", "private").LeadsTo("/settings?saved")
	code := regexp.MustCompile(`[0-9A-Z]{8}\.`) // the request's
	for _, v := range []*webtest.Visitor{bob, s.Visitor()} {
		there := v.Get("/p/" + secret.Code).Wants(404)
		missing := v.Get("/p/0000000000").Wants(404)
		if got, want := code.ReplaceAllString(there.Body, ""), code.ReplaceAllString(missing.Body, ""); got != want {
			t.Errorf("an unreadable post and a missing one differ:\n%s\n%s", got, want)
		}
		for _, act := range []string{"like", "unlike", "edit", "delete", "comments"} {
			a, b := v.Post("/p/"+secret.Code+"/"+act, "body", "x"), v.Post("/p/0000000000/"+act, "body", "x")
			if a.Status != b.Status {
				t.Errorf("POST %s: status %d for an unreadable post, %d for a missing one", act, a.Status, b.Status)
			}
		}
	}
}

func TestPrivateAccount(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, nobody := s.Person("anna").Visitor(), s.Person("bob").Visitor(), s.Visitor()
	anna.Post("/posts", "body", "Mine alone").LeadsTo("/")
	bob.Get("/anna").Wants(200).Has("Mine alone")
	anna.Post("/settings/access", "level", "nonsense").Wants(422)
	anna.Post("/settings/access", "level", "private").LeadsTo("/settings?saved")
	for _, page := range []string{"/anna", "/anna/likes", "/anna/comments"} {
		bob.Get(page).Wants(403).Has("/anna/follow").Lacks("Mine alone")
		nobody.Get(page).Wants(403).Has("/login?back=").Lacks("Mine alone")
	}
	bob.Post("/anna/follow").LeadsTo("/anna")
	anna.Get("/people").Wants(200).Has("bob", "/bob/accept")
	anna.Post("/bob/accept", "back", "/people").LeadsTo("/people")
	bob.Get("/anna").Wants(200).Has("Mine alone", "Unfollow")
	bob.Get("/").Has("Mine alone", "You follow")
	bob.Post("/anna/unfollow").LeadsTo("/anna")
	bob.Get("/anna").Wants(403).Lacks("Mine alone")
	bob.Get("/").Lacks("Mine alone")
	anna.Post("/settings/access", "level", "protected").LeadsTo("/settings?saved")
	bob.Get("/anna").Wants(200).Has("Mine alone")
	nobody.Get("/anna").Wants(403).Has("signed in")
}

func TestSettings(t *testing.T) {
	s := webtest.New(t, nil)
	p := s.Person("anna")
	anna, other := p.Visitor(), p.Visitor()
	anna.Post("/settings", "title", "", "language", "en").Wants(422).Has("Fill this in")
	anna.Post("/settings", "title", "Анна", "about", "Пишу.", "language", "ru").LeadsTo("/settings?saved")
	anna.Get("/settings?saved").Wants(200).Has("Сохранено", "Анна", "Пишу.", `<html lang="ru">`)
	anna.Get("/anna").Has("Анна", "Пишу.")
	anna.Post("/settings", "title", "Анна", "language", "tlh").Wants(422)

	anna.Post("/settings/password", "present", "not it", "password", "another long one").Wants(422)
	anna.Post("/settings/password", "present", "a long enough one", "password", "short").Wants(422)
	anna.Post("/settings/password", "present", "a long enough one", "password", "another long one").LeadsTo("/settings?saved")
	anna.Get("/settings").Wants(200)
	other.Get("/settings").LeadsTo("/login?back=%2Fsettings")
	s.Visitor().Post("/login", "username", "anna", "password", "a long enough one").Wants(422)
	s.Visitor().Post("/login", "username", "anna", "password", "another long one").LeadsTo("/")
}

func TestOlderEntries(t *testing.T) {
	s := webtest.New(t, nil)
	anna := s.Person("anna")
	const posts = 60
	for i := range posts {
		anna.Post("Post number " + strconv.Itoa(i) + ".")
	}
	older := regexp.MustCompile(`class="older"[^>]*href="([^"]*)"`)
	for _, order := range []string{"", "?order=created"} {
		v, address, seen, pages := s.Visitor(), "/anna"+order, map[string]bool{}, 0
		for address != "" {
			page := v.Get(address).Wants(200)
			if pages++; pages > 5 {
				t.Fatalf("%s: still older entries after %d pages", address, pages)
			}
			if first := pages == 1; strings.Contains(page.Body, `data-newest="1"`) != first {
				t.Errorf("%s: data-newest is wrong", address)
			}
			for _, m := range webtest.FirstCode.FindAllStringSubmatch(page.Body, -1) {
				if seen[m[1]] {
					t.Errorf("%s: entry %s again", address, m[1])
				}
				seen[m[1]] = true
			}
			address = ""
			if m := older.FindStringSubmatch(page.Body); m != nil {
				address = html.UnescapeString(m[1])
			}
		}
		if len(seen) != posts || pages != 3 {
			t.Errorf("order %q: %d entries on %d pages, want %d on 3", order, len(seen), pages, posts)
		}
	}
	s.Visitor().Get("/anna?before=nonsense").Wants(404)
	// A place below everything, and a post that never was: nothing older.
	s.Visitor().Get("/anna?before=1.0000000000").Wants(200)
}

// TestCursorTellsNothing pages from a place with the code of a post that may not
// be read: it does what the code of no post does.
func TestCursorTellsNothing(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("bob")
	ann.Post("an older one")
	secret, gone := ann.Post("for bob alone", "bob"), ann.Post("soon gone")
	last := ann.Post("the last one")
	ann.Remove(gone.Code)
	var place int64
	err := s.DB.Primary.QueryRow(t.Context(), `SELECT fresh_at FROM posts WHERE id = $1`, last.PostID).Scan(&place)
	if err != nil {
		t.Fatal(err)
	}
	v := s.Visitor()
	from := func(code string) *webtest.Answer {
		return v.Get("/everything?before=" + strconv.FormatInt(place, 10) + "." + code).Wants(200)
	}
	from(last.Code).Has("an older one").Lacks("the last one")
	for _, code := range []string{secret.Code, gone.Code, "0000000000"} {
		from(code).Has("an older one", "the last one")
	}
}

// TestManyDestinations sends a form whose one field holds as many names as a form
// can: it is refused with what was typed, in the time of a form.
func TestManyDestinations(t *testing.T) {
	s := webtest.New(t, nil)
	anna := s.Person("anna").Visitor()
	var names []byte
	for i := 0; len(names) < web.MaxForm/2; i++ {
		names = append(strconv.AppendInt(names, int64(i), 36), ' ')
	}
	began := time.Now()
	anna.Post("/posts", "body", "x", "to", string(names)).Wants(422).Has("zzz ")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestUnfolding(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	anna := s.Person("anna")
	code := anna.Post("Much discussed").Code
	const comments = 120
	for i := range comments {
		anna.Comment(code, "Remark "+strconv.Itoa(i)+".")
	}
	for i := range 6 {
		s.Person("liker-" + strconv.Itoa(i)).Like(code)
	}
	v := anna.Visitor()
	v.Get("/anna").Has("Remark 0.", "117 more comments", "Remark 118.", "Remark 119.").Lacks("Remark 1.", "Remark 117.")
	v.Get("/p/"+code).Has("Remark 0.", "Remark 60.", "Remark 119.").Lacks("more comments")

	unfold := regexp.MustCompile(`data-unfold="(/p/[0-9a-z]+/comments[^"]*)"`)
	step := unfold.FindStringSubmatch(v.Get("/anna").Body)[1]
	v.Get(step).LeadsTo("/p/" + code)
	v.Header.Set("X-River-Page", "/anna")
	for i, want := range []struct {
		n    int
		more string
	}{{50, "67 more comments"}, {50, "17 more comments"}, {17, ""}} {
		a := v.Get(step).Wants(200).Lacks("<html", "<article")
		if n := len(webtest.CommentIDs.FindAllString(a.Body, -1)); n != want.n {
			t.Errorf("step %d: %d comments, want %d", i+1, n, want.n)
		}
		if want.more == "" {
			a.Lacks("more comment")
			continue
		}
		a.Has(want.more)
		step = unfold.FindStringSubmatch(a.Body)[1]
	}
	v.Get("/p/" + code + "/comments?between=1-99999").Wants(404)
	v.Get("/p/" + code + "/comments?between=x").Wants(400)
	v.Get("/p/" + code + "/likes?shown=x").Wants(400)
	v.Get("/p/"+code+"/likes?shown=103").Wants(200).Has("liker-0", "liker-5").Lacks("others", "<html")
	s.Visitor().Get("/p/" + code + "/likes?shown=103").LeadsTo("/p/" + code)
}

func TestHeadersAndOrigins(t *testing.T) {
	s := webtest.New(t, nil)
	v := s.Visitor()
	a := v.Get("/")
	if got := a.Header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || strings.Contains(got, "unsafe") {
		t.Errorf("policy %q", got)
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-cache"} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	style := regexp.MustCompile(`/static/site\.[0-9a-f]+\.css`).FindString(a.Body)
	if got := v.Get(style).Wants(200).Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("style sheet: Cache-Control %q", got)
	}
	// Caches share a file, so it must say nothing to one browser.
	ended := s.Visitor()
	ended.Header.Set("Cookie", "riverrun="+strings.Repeat("a", 43))
	if got := ended.Get("/").Header.Get("Set-Cookie"); got == "" {
		t.Error("a page leaves the cookie of an ended session")
	}
	if got := ended.Get(style).Wants(200).Header; got.Get("Set-Cookie") != "" || got.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("style sheet: headers %v", got)
	}
	v.Header.Set("Origin", "https://elsewhere.example")
	v.Post("/login", "username", "a", "password", "b").Wants(403).Has("another site")
	v.Header.Set("Origin", v.Base)
	v.Post("/login", "username", "a", "password", "b").Wants(422)
	v.Header.Set("Sec-Fetch-Site", "cross-site")
	v.Header.Set("Origin", "null")
	v.Post("/login", "username", "a", "password", "b").Wants(403)
}

// TestOtherMethodsAreRefused asks addresses of ours with methods they do not have.
func TestOtherMethodsAreRefused(t *testing.T) {
	s := webtest.New(t, nil)
	v := s.Person("anna").Visitor()
	for _, tt := range []struct{ method, address, allow string }{
		{"DELETE", "/", "GET"},
		{"GET", "/p/0123456789/like", "POST"},
		{"DELETE", "/p/0123456789/comments", "GET, POST"},
		{"POST", "/everything", "GET"},
		{"GET", "/api/posts/0123456789/like", "PUT, DELETE"},
	} {
		a := v.Do(tt.method, tt.address, nil).Wants(405)
		if got := a.Header.Get("Allow"); got != tt.allow {
			t.Errorf("%s %s: allows %q, want %q", tt.method, tt.address, got, tt.allow)
		}
	}
	v.Do("GET", "/p/0123456789/nothing", nil).Wants(404)
	v.Do("POST", "/nothing/of/ours", nil).Wants(404)
}

func TestLimitsAnswer429(t *testing.T) {
	s := webtest.New(t, nil)
	s.Server.SetLimits(web.Limits{Writes: 2, SignIns: 3, SignUps: 1})
	anna := s.Person("anna").Visitor()
	anna.Post("/posts", "body", "1").LeadsTo("/")
	anna.Post("/posts", "body", "2").LeadsTo("/")
	if a := anna.Post("/posts", "body", "3").Wants(429).Has("tried too often", ">3</textarea>"); a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	v := s.Visitor()
	v.Post("/signup", "username", "one", "password", "quite long enough").LeadsTo("/welcome/you")
	v.Post("/signup", "username", "two", "password", "quite long enough").Wants(429)
	v.Post("/posts", "body", strings.Repeat("x", web.MaxForm)).Wants(413)
}
