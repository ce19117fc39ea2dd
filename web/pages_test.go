package web

import (
	"encoding/json"
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
)

func TestSignUpInAndOut(t *testing.T) {
	s := newLiveSite(t, nil)
	v := s.visitor()
	v.get("/").wants(200).has("/signup", "/login", "/everything")
	v.post("/signup", "username", "A B", "password", "quite long enough").wants(422).has("A B", "3 to 35 characters")
	v.post("/signup", "username", "zed-", "password", "quite long enough").wants(422).has("Start and end with a letter or digit")
	v.post("/signup", "username", "settings", "password", "quite long enough").wants(422).has("reserved for the site")
	v.post("/signup", "username", "anna", "password", "short").wants(422).has(`value="anna"`, "Use at least 8 characters").lacks("short\"")
	v.post("/signup", "username", "anna", "password", "quite long enough", "title", "Anna Livia").leadsTo("/")
	v.get("/").wants(200).has("Anna Livia", "composer", "data-river=", `data-page="/?mode=activity"`)
	s.visitor().post("/signup", "username", "anna", "password", "quite long enough").wants(422).has("taken")

	v.post("/logout").leadsTo("/")
	v.get("/").wants(200).has("/signup")
	v.get("/settings").leadsTo("/login?back=%2Fsettings")
	v.post("/login", "username", "anna", "password", "wrong one").wants(422).has("wrong", `value="anna"`).lacks("wrong one")
	v.post("/login", "username", "Anna ", "password", "quite long enough", "back", "/settings").leadsTo("/settings")
	v.get("/settings").wants(200)
	v.post("/login", "username", "anna", "password", "quite long enough", "back", "//example.org").leadsTo("/")
}

func TestSessionCookie(t *testing.T) {
	s := newLiveSite(t, nil)
	s.person("anna")
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
			s.server.sessionAge = tt.age
		}
		address, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		s.server.url = address
		cookie := s.visitor().post("/login", "username", "anna", "password", "a long enough one").leadsTo("/").header.Get("Set-Cookie")
		if !strings.HasPrefix(cookie, tt.name+"=") || !strings.HasSuffix(cookie, "; "+tt.flags) {
			t.Errorf("%s: cookie %q, want %s=…; %s", tt.url, cookie, tt.name, tt.flags)
		}
	}
}

func TestWritingWithoutScripts(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna").visitor(), s.person("bob").visitor()

	anna.get("/").wants(200).has("This page shows what")
	anna.post("/posts", "body", "Hello <b>river</b>", "key", "k1").leadsTo("/")
	anna.post("/posts", "body", "Hello <b>river</b>", "key", "k1").leadsTo("/")
	home := anna.get("/").wants(200).has("Hello &lt;b&gt;river&lt;/b&gt;", "Your post").lacks("This page shows what")
	if n := strings.Count(home.body, `<article`); n != 1 {
		t.Errorf("the same form twice made %d posts, want 1", n)
	}
	code := home.code()
	anna.post("/posts", "body", "  ", "key", "k2").wants(422).has("Write something first", `value="k2"`)
	anna.post("/posts", "body", "kept text", "to", "nobody-here").wants(422).has("kept text", "nobody-here", "Nobody here is called")

	bob.post("/p/"+code+"/like", "back", "/anna#p-"+code).leadsTo("/anna#p-" + code)
	bob.get("/p/"+code).wants(200).has("Unlike", "Liked by")
	bob.post("/p/" + code + "/unlike").leadsTo("/p/" + code)
	bob.get("/p/"+code).wants(200).lacks("Unlike", "Liked by")

	bob.post("/p/"+code+"/comments", "body", "", "key", "c0").wants(422)
	bob.post("/p/"+code+"/comments", "body", "A remark", "key", "c1", "back", "/").leadsTo("/")
	bob.post("/p/"+code+"/comments", "body", "A remark", "key", "c1", "back", "/").leadsTo("/")
	page := anna.get("/p/" + code).wants(200).has("A remark")
	ids := commentIDs.FindAllStringSubmatch(page.body, -1)
	if len(ids) != 1 {
		t.Fatalf("the same comment twice made %d, want 1", len(ids))
	}
	comment := "/p/" + code + "/comments/" + ids[0][1]
	bob.get(comment+"/edit").wants(200).has("A remark", comment+"/edit", comment+"/delete")
	anna.get(comment+"/edit").wants(200).has("A remark", comment+"/delete").lacks(comment + "/edit\"")
	s.person("carol").visitor().get(comment + "/edit").wants(403)
	anna.post(comment+"/edit", "body", "Not mine").wants(403)
	bob.post(comment+"/edit", "body", " ").wants(422)
	bob.post(comment+"/edit", "body", "A better remark").leadsTo("/p/" + code + "#c-" + ids[0][1])
	anna.get("/p/"+code).has("A better remark", "edited")
	anna.post(comment + "/delete").leadsTo("/p/" + code)
	bob.get("/p/" + code).lacks("A better remark")

	bob.get("/p/" + code + "/edit").wants(403)
	anna.get("/p/"+code+"/edit").wants(200).has("Hello &lt;b&gt;river", "/p/"+code+"/delete")
	anna.post("/p/"+code+"/edit", "body", "").wants(422)
	anna.post("/p/"+code+"/edit", "body", "Hello sea").leadsTo("/p/" + code)
	bob.get("/anna").wants(200).has("Hello sea")
	bob.post("/p/" + code + "/delete").wants(403)
	anna.post("/p/"+code+"/delete", "back", "/p/"+code).leadsTo("/")
	anna.get("/p/" + code).wants(404)
	anna.get("/").lacks("Hello sea")
}

// Addresses as people write them lead to the page, and none anywhere else.
func TestAddressesLeadOn(t *testing.T) {
	s := newLiveSite(t, nil)
	s.person("anna")
	v := s.visitor()
	for from, to := range map[string]string{
		"/ANNA": "/anna", "/Anna?order=created": "/anna?order=created", "/Anna/likes": "/anna/likes", "/Anna/members": "/anna/members", "/Anna/manage?x=1": "/anna/manage?x=1", "/anna/": "/anna",
		"/anna/?order=created": "/anna?order=created", "/Anna/": "/anna", "/nobody-here/": "/nobody-here",
	} {
		if a := v.get(from).wants(301); a.header.Get("Location") != to {
			t.Errorf("%s leads to %q, want %q", from, a.header.Get("Location"), to)
		}
	}
	for _, address := range []string{"/Anna_Lee", "/%2Fevil.example/", "/%5Cevil.example/", "/ab/%2Fevil.example/", "/Анна", "/a.example/", "/groups/", "/feeds/", "/p/", "/anna/likes/"} {
		v.get(address).wants(404)
	}
	v.post("/anna/").wants(404)
}

// What a form's maxlength lets through arrives and is taken, whatever the alphabet:
// three bytes of each of UTF-16's units are nine of a form.
func TestLongestTexts(t *testing.T) {
	s := newLiveSite(t, nil)
	anna := s.person("anna").visitor()
	for _, char := range []string{"я", "€", "\U00020000", "a\n"} {
		units := len(utf16.Encode([]rune(char)))
		longest := func(n int) string { return strings.Repeat(char, n/units-1) + strings.Repeat("z", units) }
		sent := func(body string) string { return strings.ReplaceAll(body, "\n", "\r\n") }
		anna.get("/").has(fmt.Sprintf(`maxlength="%d"`, timelines.MaxPostRunes))
		anna.post("/posts", "body", sent(longest(timelines.MaxPostRunes)), "key", char).leadsTo("/")
		code := anna.get("/").code()
		anna.get("/p/" + code + "/edit").has(fmt.Sprintf(`maxlength="%d"`, timelines.MaxPostRunes))
		anna.post("/p/"+code+"/edit", "body", sent("!"+longest(timelines.MaxPostRunes)[len(char):])).leadsTo("/p/" + code)
		anna.get("/p/" + code).has(fmt.Sprintf(`maxlength="%d"`, timelines.MaxCommentRunes))
		anna.post("/p/"+code+"/comments", "body", sent(longest(timelines.MaxCommentRunes)), "key", "c"+char).wants(303)
	}
	long := strings.Repeat("я", timelines.MaxPostRunes+1)
	anna.post("/posts", "body", long).wants(422).has("This text is too long. The limit is 100,000 characters.", long)
	code := anna.get("/").code()
	anna.post("/p/"+code+"/edit", "body", long).wants(422).has("The limit is 100,000 characters", long)
	anna.post("/p/"+code+"/comments", "body", long).wants(422).has("The limit is 20,000 characters", long)
}

func TestDestinations(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, carol := s.person("anna").visitor(), s.person("bob").visitor(), s.person("carol").visitor()
	bob.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "private").leadsTo("/chess-club")
	bob.post("/groups", "name", "chess-club", "title", "Again", "access", "public").wants(422).has("taken", "Again")
	bob.post("/groups", "name", "other", "title", "T", "access", "secret").wants(422)
	bob.get("/groups").wants(200).has("Chess Club", "My groups")
	bob.get("/chess-club").wants(200).has("composer", "private", "You’re an administrator")

	bob.post("/posts", "body", "For the club", "to", "chess-club", "to", "").leadsTo("/")
	bob.get("/chess-club").wants(200).has("For the club")
	carol.get("/chess-club").wants(403).has("Only members can read", "/chess-club/follow", "Request to join").lacks("For the club")
	carol.post("/chess-club/follow").leadsTo("/chess-club")
	carol.get("/chess-club").wants(403).has("Request sent")
	bob.get("/settings").wants(200).has("/carol/accept", `value="chess-club"`, "@chess-club", `href="/chess-club/manage"`)
	bob.post("/carol/accept", "group", "chess-club").leadsTo("/settings")
	carol.get("/chess-club").wants(200).has("For the club")

	anna.post("/posts", "body", "Between us", "to", " @bob, ", "direct", "1").leadsTo("/")
	anna.post("/posts", "body", "To whom?", "to", " ", "direct", "1").wants(422).has("at least one person", "To whom?")
	code := bob.get("/filter/messages").wants(200).has("Between us", "direct").code()
	bob.get("/").has("Between us", "A message")
	carol.get("/p/" + code).wants(404)
	// A message is on nobody's page: sent from there, it leads to where it is.
	carol.get("/anna").has(`action="/posts">`, `name="back" value="/filter/messages"`).lacks("Between us", "data-live")
	carol.get("/carol").has(`action="/posts" data-live>`)
	bob.get("/filter/discussions").wants(200).has("For the club").lacks("Between us")
	carol.get("/filter/discussions").wants(200).has("appear here")
	bob.post("/p/" + code + "/like")
	bob.get("/filter/discussions").has("Between us")
}

func TestUnreadableAndMissingPostsLookTheSame(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna"), s.person("bob").visitor()
	secret := anna.post("Secret", "anna")
	anna.visitor().post("/settings/access", "level", "private").leadsTo("/settings?saved")
	code := regexp.MustCompile(`[0-9A-Z]{8}\.`) // the request's
	for _, v := range []*visitor{bob, s.visitor()} {
		there := v.get("/p/" + secret.Code).wants(404)
		missing := v.get("/p/0000000000").wants(404)
		if got, want := code.ReplaceAllString(there.body, ""), code.ReplaceAllString(missing.body, ""); got != want {
			t.Errorf("an unreadable post and a missing one differ:\n%s\n%s", got, want)
		}
		for _, act := range []string{"like", "unlike", "edit", "delete", "comments"} {
			a, b := v.post("/p/"+secret.Code+"/"+act, "body", "x"), v.post("/p/0000000000/"+act, "body", "x")
			if a.status != b.status {
				t.Errorf("POST %s: status %d for an unreadable post, %d for a missing one", act, a.status, b.status)
			}
		}
	}
}

func TestPrivateAccount(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, nobody := s.person("anna").visitor(), s.person("bob").visitor(), s.visitor()
	anna.post("/posts", "body", "Mine alone").leadsTo("/")
	bob.get("/anna").wants(200).has("Mine alone")
	anna.post("/settings/access", "level", "nonsense").wants(422)
	anna.post("/settings/access", "level", "private").leadsTo("/settings?saved")
	for _, page := range []string{"/anna", "/anna/likes", "/anna/comments"} {
		bob.get(page).wants(403).has("/anna/follow").lacks("Mine alone")
		nobody.get(page).wants(403).has("/login?back=").lacks("Mine alone")
	}
	bob.post("/anna/follow").leadsTo("/anna")
	anna.get("/people").wants(200).has("bob", "/bob/accept")
	anna.post("/bob/accept", "back", "/people").leadsTo("/people")
	bob.get("/anna").wants(200).has("Mine alone", "Unfollow")
	bob.get("/").has("Mine alone", "You follow")
	bob.post("/anna/unfollow").leadsTo("/anna")
	bob.get("/anna").wants(403).lacks("Mine alone")
	bob.get("/").lacks("Mine alone")
	anna.post("/settings/access", "level", "protected").leadsTo("/settings?saved")
	bob.get("/anna").wants(200).has("Mine alone")
	nobody.get("/anna").wants(403).has("signed in")
}

func TestSettings(t *testing.T) {
	s := newLiveSite(t, nil)
	p := s.person("anna")
	anna, other := p.visitor(), p.visitor()
	anna.post("/settings", "title", "", "language", "en").wants(422).has("Fill this in")
	anna.post("/settings", "title", "Анна", "about", "Пишу.", "language", "ru").leadsTo("/settings?saved")
	anna.get("/settings?saved").wants(200).has("Сохранено", "Анна", "Пишу.", `<html lang="ru">`)
	anna.get("/anna").has("Анна", "Пишу.")
	anna.post("/settings", "title", "Анна", "language", "tlh").wants(422)

	anna.post("/settings/password", "present", "not it", "password", "another long one").wants(422)
	anna.post("/settings/password", "present", "a long enough one", "password", "short").wants(422)
	anna.post("/settings/password", "present", "a long enough one", "password", "another long one").leadsTo("/settings?saved")
	anna.get("/settings").wants(200)
	other.get("/settings").leadsTo("/login?back=%2Fsettings")
	s.visitor().post("/login", "username", "anna", "password", "a long enough one").wants(422)
	s.visitor().post("/login", "username", "anna", "password", "another long one").leadsTo("/")
}

func TestOlderEntries(t *testing.T) {
	s := newLiveSite(t, nil)
	anna := s.person("anna")
	const posts = 60
	for i := range posts {
		anna.post("Post number " + strconv.Itoa(i) + ".")
	}
	older := regexp.MustCompile(`class="older"[^>]*href="([^"]*)"`)
	for _, order := range []string{"", "?order=created"} {
		v, address, seen, pages := s.visitor(), "/anna"+order, map[string]bool{}, 0
		for address != "" {
			page := v.get(address).wants(200)
			if pages++; pages > 5 {
				t.Fatalf("%s: still older entries after %d pages", address, pages)
			}
			if first := pages == 1; strings.Contains(page.body, `data-newest="1"`) != first {
				t.Errorf("%s: data-newest is wrong", address)
			}
			for _, m := range firstCode.FindAllStringSubmatch(page.body, -1) {
				if seen[m[1]] {
					t.Errorf("%s: entry %s again", address, m[1])
				}
				seen[m[1]] = true
			}
			address = ""
			if m := older.FindStringSubmatch(page.body); m != nil {
				address = html.UnescapeString(m[1])
			}
		}
		if len(seen) != posts || pages != 3 {
			t.Errorf("order %q: %d entries on %d pages, want %d on 3", order, len(seen), pages, posts)
		}
	}
	s.visitor().get("/anna?before=nonsense").wants(404)
	// A place below everything, and a post that never was: nothing older.
	s.visitor().get("/anna?before=1.0000000000").wants(200)
}

// TestCursorTellsNothing pages from a place with the code of a post that may not
// be read: it does what the code of no post does.
func TestCursorTellsNothing(t *testing.T) {
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	s.person("bob")
	ann.post("an older one")
	secret, gone := ann.post("for bob alone", "bob"), ann.post("soon gone")
	last := ann.post("the last one")
	ann.remove(gone.Code)
	var place int64
	err := s.db.Primary.QueryRow(t.Context(), `SELECT fresh_at FROM posts WHERE id = $1`, last.PostID).Scan(&place)
	if err != nil {
		t.Fatal(err)
	}
	v := s.visitor()
	from := func(code string) *answer {
		return v.get("/everything?before=" + strconv.FormatInt(place, 10) + "." + code).wants(200)
	}
	from(last.Code).has("an older one").lacks("the last one")
	for _, code := range []string{secret.Code, gone.Code, "0000000000"} {
		from(code).has("an older one", "the last one")
	}
}

// TestManyDestinations sends a form whose one field holds as many names as a form
// can: it is refused with what was typed, in the time of a form.
func TestManyDestinations(t *testing.T) {
	s := newLiveSite(t, nil)
	anna := s.person("anna").visitor()
	var names []byte
	for i := 0; len(names) < maxForm/2; i++ {
		names = append(strconv.AppendInt(names, int64(i), 36), ' ')
	}
	began := time.Now()
	anna.post("/posts", "body", "x", "to", string(names)).wants(422).has("zzz ")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestUnfolding(t *testing.T) {
	t.Parallel()
	s := newLiveSite(t, nil)
	anna := s.person("anna")
	code := anna.post("Much discussed").Code
	const comments = 120
	for i := range comments {
		anna.comment(code, "Remark "+strconv.Itoa(i)+".")
	}
	for i := range 6 {
		s.person("liker-" + strconv.Itoa(i)).like(code)
	}
	v := anna.visitor()
	v.get("/anna").has("Remark 0.", "117 more comments", "Remark 118.", "Remark 119.").lacks("Remark 1.", "Remark 117.")
	v.get("/p/"+code).has("Remark 0.", "Remark 60.", "Remark 119.").lacks("more comments")

	unfold := regexp.MustCompile(`data-unfold="(/p/[0-9a-z]+/comments[^"]*)"`)
	step := unfold.FindStringSubmatch(v.get("/anna").body)[1]
	v.get(step).leadsTo("/p/" + code)
	v.header.Set("X-River-Page", "/anna")
	for i, want := range []struct {
		n    int
		more string
	}{{50, "67 more comments"}, {50, "17 more comments"}, {17, ""}} {
		a := v.get(step).wants(200).lacks("<html", "<article")
		if n := len(commentIDs.FindAllString(a.body, -1)); n != want.n {
			t.Errorf("step %d: %d comments, want %d", i+1, n, want.n)
		}
		if want.more == "" {
			a.lacks("more comment")
			continue
		}
		a.has(want.more)
		step = unfold.FindStringSubmatch(a.body)[1]
	}
	v.get("/p/" + code + "/comments?between=1-99999").wants(404)
	v.get("/p/" + code + "/comments?between=x").wants(400)
	v.get("/p/" + code + "/likes?shown=x").wants(400)
	v.get("/p/"+code+"/likes?shown=103").wants(200).has("liker-0", "liker-5").lacks("others", "<html")
	s.visitor().get("/p/" + code + "/likes?shown=103").leadsTo("/p/" + code)
}

// TestReplyWithoutARiver acts on a page whose river was thrown away, or is not as
// deep any more: the reply carries the entry all the same (R3).
func TestReplyWithoutARiver(t *testing.T) {
	s := newLiveSite(t, nil)
	p := s.person("anna")
	anna := p.visitor()
	anna.header.Set("Accept", "application/json")
	anna.header.Set("X-River-Page", "/anna")
	deep := p.post("deep down")
	for i := range 200 {
		p.post("above " + strconv.Itoa(i))
	}
	last := p.post("the last one")
	anna.get("/anna").wants(200)
	for _, lost := range []string{
		`UPDATE rivers SET state = 'retired', retired_at = clock_timestamp() WHERE state = 'live'`,
		`TRUNCATE entries`,
		`TRUNCATE folds`,
	} {
		for _, post := range []timelines.Change{last, deep} {
			if _, err := s.db.Secondary.Exec(t.Context(), lost); err != nil {
				t.Fatal(err)
			}
			anna.post("/p/"+post.Code+"/like").wants(200).has(`"t":"entry"`, `"post":"`+post.Code+`"`, "/unlike")
			anna.post("/p/"+post.Code+"/unlike").wants(200).has(`"t":"entry"`, `"post":"`+post.Code+`"`)
		}
	}
	anna.header.Set("X-River-Page", "/filter/messages")
	anna.post("/p/" + last.Code + "/like").wants(200).has(`"t":"gone"`)
}

func TestRepliesForScripts(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, stranger := s.person("anna").visitor(), s.visitor()
	for _, v := range []*visitor{anna, stranger} {
		v.header.Set("Accept", "application/json")
		v.header.Set("X-River-Page", "/")
	}
	stranger.post("/posts", "body", "x").wants(401).has(`"error"`)
	anna.get("/")
	type frame struct{ T, River, Post, Version, HTML string }
	reply := func(a *answer) frame {
		t.Helper()
		var f frame
		if err := json.Unmarshal([]byte(a.wants(200).body), &f); err != nil {
			t.Fatalf("%s: %v in %s", a.what, err, a.body)
		}
		return f
	}
	made := reply(anna.post("/posts", "body", "Hello"))
	if made.T != "entry" || !strings.Contains(made.HTML, `<article id="p-`+made.Post) || !strings.Contains(made.HTML, "Hello") {
		t.Errorf("a new post: got %+v, want its entry", made)
	}
	liked := reply(anna.post("/p/" + made.Post + "/like"))
	if !strings.Contains(liked.HTML, "Unlike") || liked.Version == made.Version {
		t.Errorf("a like: got %+v, want an entry newer than %s that can be unliked", liked, made.Version)
	}
	anna.post("/posts", "body", "").wants(422).has(`"field":"body"`, `"error":`)
	anna.get("/filter/messages").wants(200)
	anna.header.Set("X-River-Page", "/filter/messages")
	if gone := reply(anna.post("/posts", "body", "Not here")); gone.T != "gone" {
		t.Errorf("a post that the page does not hold: got %+v, want gone", gone)
	}
	anna.header.Set("X-River-Page", "/")
	if gone := reply(anna.post("/p/" + made.Post + "/delete")); gone.T != "gone" || gone.Post != made.Post {
		t.Errorf("a delete: got %+v, want gone %s", gone, made.Post)
	}
	anna.header.Set("X-River-Page", "//elsewhere.example/")
	anna.post("/posts", "body", "Odd page").wants(200)
	// What was done is done, whatever page it is said to be done on.
	for _, page := range []string{"/nobody-here", "/filter/nothing", "/p/0000000000", "/anna/likes/more", "/%zz"} {
		anna.header.Set("X-River-Page", page)
		if gone := reply(anna.post("/posts", "body", "No such page")); gone.T != "gone" {
			t.Errorf("a post from %s: got %+v, want gone", page, gone)
		}
	}
}

func TestHeadersAndOrigins(t *testing.T) {
	s := newLiveSite(t, nil)
	v := s.visitor()
	a := v.get("/")
	if got := a.header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || strings.Contains(got, "unsafe") {
		t.Errorf("policy %q", got)
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-cache"} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	style := regexp.MustCompile(`/static/site\.[0-9a-f]+\.css`).FindString(a.body)
	if got := v.get(style).wants(200).header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("style sheet: Cache-Control %q", got)
	}
	v.header.Set("Origin", "https://elsewhere.example")
	v.post("/login", "username", "a", "password", "b").wants(403).has("another site")
	v.header.Set("Origin", v.base)
	v.post("/login", "username", "a", "password", "b").wants(422)
	v.header.Set("Sec-Fetch-Site", "cross-site")
	v.header.Set("Origin", "null")
	v.post("/login", "username", "a", "password", "b").wants(403)
}

// TestNothingElseIsAllowed asks addresses of ours with methods they do not have.
func TestNothingElseIsAllowed(t *testing.T) {
	s := newLiveSite(t, nil)
	v := s.person("anna").visitor()
	for _, tt := range []struct{ method, address, allow string }{
		{"DELETE", "/", "GET"},
		{"GET", "/p/0123456789/like", "POST"},
		{"DELETE", "/p/0123456789/comments", "GET, POST"},
		{"POST", "/everything", "GET"},
	} {
		a := v.do(tt.method, tt.address, nil).wants(405)
		if got := a.header.Get("Allow"); got != tt.allow {
			t.Errorf("%s %s: allows %q, want %q", tt.method, tt.address, got, tt.allow)
		}
	}
	v.do("GET", "/p/0123456789/nothing", nil).wants(404)
	v.do("POST", "/nothing/of/ours", nil).wants(404)
}

func TestLimitsAnswer429(t *testing.T) {
	s := newLiveSite(t, nil)
	s.server.limits = newLimits(Limits{Writes: 2, SignIns: 3, SignUps: 1})
	anna := s.person("anna").visitor()
	anna.post("/posts", "body", "1").leadsTo("/")
	anna.post("/posts", "body", "2").leadsTo("/")
	if a := anna.post("/posts", "body", "3").wants(429).has("tried too often", ">3</textarea>"); a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	v := s.visitor()
	v.post("/signup", "username", "one", "password", "quite long enough").leadsTo("/")
	v.post("/signup", "username", "two", "password", "quite long enough").wants(429)
	v.post("/posts", "body", strings.Repeat("x", maxForm)).wants(413)
}
