package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"riverrun/timelines/admin"
	"riverrun/timelines/doors"
	"riverrun/timelines/drafts"
	"riverrun/timelines/rules"
	"riverrun/timelines/site"
	"riverrun/web"
	"riverrun/web/webtest"
)

// visitorCookie returns the visitor's cookie, "" if the browser has none.
func visitorCookie(v *webtest.Visitor) string {
	v.T.Helper()
	u, err := url.Parse(v.Base)
	if err != nil {
		v.T.Fatal(err)
	}
	for _, c := range v.Client.Jar.Cookies(u) {
		if c.Name == "visitor" {
			return c.Value
		}
	}
	return ""
}

func visitorRows(s *webtest.Site) (n int) {
	s.T.Helper()
	if err := s.DB.Primary.QueryRow(s.T.Context(), `SELECT count(*) FROM visitor_drafts`).Scan(&n); err != nil {
		s.T.Fatal(err)
	}
	return n
}

// TestVisitorWrites: a draft precedes publication, and may belong to somebody not signed in (G3). It comes
// along when they sign in.
func TestVisitorWrites(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public", "writers", "anyone").Wants(303)
	v := s.Visitor()
	v.Get("/everything").Wants(200).Has(`href="/posts/new"`)
	v.Get("/chess-club").Wants(200).Has(`href="/posts/new?place=%2Fchess-club"`)
	page := v.Get("/posts/new?place=%2Fchess-club").Wants(200).Has(`value="chess-club"`, `maxlength="20000"`, `name="draft" value="/chess-club"`).Lacks(`type="file"`)
	cookie := page.Header.Get("Set-Cookie")
	if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") || !strings.Contains(cookie, "Max-Age=2592000") {
		t.Errorf("the cookie is %q", cookie)
	}
	if visitorRows(s) != 0 {
		t.Error("something is stored before anything was written")
	}
	v.Post("/posts/new", "draft", "/chess-club", "saved", "", "body", " ").Wants(422).Has("aria-invalid")
	v.Post("/posts/new", "keep", "1", "draft", "/chess-club", "saved", "", "body", "half a <thought>", "to", "chess-club", "language", "ru").
		LeadsTo("/posts/new?place=%2Fchess-club&kept=1")
	// "Write" opens the draft again, from any page.
	v.Get("/posts/new").Wants(200).Has("half a &lt;thought&gt;", `value="ru" lang="ru" selected`, `value="chess-club"`)
	saved := func(place string) string {
		t.Helper()
		body := v.Get("/posts/new?place=" + url.QueryEscape(place)).Wants(200).Body
		_, after, _ := strings.Cut(body, `name="saved" value="`)
		value, _, _ := strings.Cut(after, `"`)
		return value
	}
	// Another tab that has not seen it does not replace it.
	v.Post("/posts/new", "keep", "1", "draft", "/chess-club", "saved", "", "body", "other words").Wants(409).Has("half a &lt;thought&gt;", "other words")
	v.Post("/posts/new", "draft", "/chess-club", "saved", "", "body", "other words").Wants(401).Has("other words", `name="resume"`, `action="/posts"`)
	// Posting it asks to sign in, or up, and says that it is kept.
	v.Post("/posts/new", "draft", "/chess-club", "saved", saved("/chess-club"), "body", "half a thought, whole", "to", "chess-club").
		LeadsTo("/login?back=%2Fposts%2Fnew%3Fplace%3D%252Fchess-club")
	v.Get("/login?back=%2Fposts%2Fnew%3Fplace%3D%252Fchess-club").Wants(200).Has("Your text is kept")
	v.Get("/signup?back=%2Fposts%2Fnew%3Fplace%3D%252Fchess-club").Wants(200).Has("Your text is kept")
	v.Post("/login", "username", "ann", "password", "wrong", "back", "/posts/new?place=%2Fchess-club").Wants(422).Has("Your text is kept")
	v.Post("/login", "username", "ann", "password", webtest.Password, "back", "/posts/new?place=%2Fchess-club").LeadsTo("/posts/new?place=%2Fchess-club")
	v.Get("/posts/new?place=%2Fchess-club").Wants(200).Has("half a thought, whole", `value="chess-club" checked`)
	v.Get("/posts/new").Wants(200).Has("half a thought, whole")
	v.Get("/drafts").Wants(200).Has("half a thought, whole", "Current")
	if visitorRows(s) != 0 || visitorCookie(v) != "" {
		t.Errorf("%d rows of visitors are left, and the cookie %q", visitorRows(s), visitorCookie(v))
	}
}

// A visitor who signs up has the text in the new account; one who waits to be let in has it at the first
// sign-in.
func TestVisitorSignsUp(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Visitor()
	begin := func() {
		t.Helper()
		v.Get("/posts/new").Wants(200)
		v.Post("/posts/new", "draft", "/", "saved", "", "body", "my first words").LeadsTo("/login?back=%2Fposts%2Fnew%3Fplace%3D%252F")
	}
	begin()
	v.Post("/signup", "username", "cat", "password", webtest.Password, "back", "/posts/new?place=%2F").LeadsTo("/posts/new?place=%2F")
	v.Get("/posts/new?place=%2F").Wants(200).Has("my first words")
	setDoors(s, site.ByApproval, false)
	v = s.Visitor()
	begin()
	v.Post("/signup", "username", "dan", "password", webtest.Password, "sentence", "I row", "back", "/posts/new?place=%2F").LeadsTo("/signup?asked=1")
	v.Post("/login", "username", "dan", "password", webtest.Password, "back", "/posts/new?place=%2F").Wants(403)
	if visitorRows(s) != 1 {
		t.Error("the text of somebody who waits to be let in is gone")
	}
	c, err := doors.Open(s.Store).Admit(t.Context(), admin.By{}, "dan")
	_, err = s.Tiers.Carry(t.Context(), c, err)
	if err != nil {
		t.Fatal(err)
	}
	v.Post("/login", "username", "dan", "password", webtest.Password).LeadsTo("/")
	v.Get("/posts/new").Wants(200).Has("my first words")
}

// A draft that another takes the place of is put aside, and opened again from the list.
func TestParkedDraftInTheList(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Visitor().Post("/drafts", "draft", "/", "body", "the older words").Wants(303)
	v := s.Visitor()
	v.Get("/posts/new").Wants(200)
	v.Post("/posts/new", "draft", "/", "body", "the newer words").Wants(303)
	v.Post("/login", "username", "ann", "password", webtest.Password, "back", "/posts/new?place=%2F").Wants(303)
	v.Get("/posts/new").Wants(200).Has("the newer words").Lacks("the older words")
	list := v.Get("/drafts").Wants(200).Has("the newer words", "the older words", "Put aside", `formaction="/drafts/open"`)
	_, code, _ := strings.Cut(list.Body, `name="code" value="`)
	code = code[:32]
	bob.Visitor().Post("/drafts/open", "code", code).Wants(404)
	v.Post("/drafts/open", "code", "nonsense").Wants(404)
	v.Post("/drafts/open", "code", code).LeadsTo("/drafts/edit?place=%2F")
	v.Get("/posts/new").Wants(200).Has("the older words").Lacks("the newer words")
	v.Get("/drafts").Wants(200).Has("the newer words", "the older words", "Put aside")
}

// Bytes that no form of ours sends name no draft.
func TestDraftsOfBadBytes(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, v := s.Person("ann").Visitor(), s.Visitor()
	v.Get("/posts/new").Wants(200)
	v.Post("/posts/new", "keep", "1", "draft", "/", "body", "kept").Wants(303)
	for _, bad := range []string{"\x00", "\xff", "", "/\x00", "/p/0123456789", strings.Repeat("0", 31) + "\x00"} {
		ann.Post("/drafts/open", "code", bad).Wants(404)
		ann.Post("/drafts/discard", "draft", bad+"\xff", "saved", "1").Wants(404)
		v.Post("/drafts/discard", "draft", bad, "saved", "1").Wants(404)
	}
	for _, saved := range []string{"\x00", "-1", "9223372036854775807", "-9223372036854775808", "99999999999999999999"} {
		ann.Post("/drafts/discard", "draft", "/", "saved", saved).Wants(303)
		v.Post("/drafts/discard", "draft", "/", "saved", saved).Wants(303)
	}
	v.Get("/posts/new").Wants(200).Has("kept")
}

// A draft that went from under its form: the form has the text, and keeps it when it is sent again.
func TestVisitorsDraftIsGone(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Visitor()
	v.Get("/posts/new").Wants(200)
	gone := []string{"draft", "/", "saved", "1700000000000000", "body", "my words"}
	for _, button := range [][]string{nil, {"keep", "1"}} {
		v.Post("/posts/new", append(button, gone...)...).Wants(409).Has("my words", "no longer here", `name="saved" value=""`)
	}
	v.Header.Set("Accept", "application/json")
	v.Post("/drafts", gone...).Wants(409).Has(`"t":"gone"`, `"saved":""`)
	v.Post("/drafts", "draft", "/", "saved", "", "body", "my words").Wants(200).Has(`"t":"done"`)
	v.Header.Del("Accept")
	v.Get("/posts/new").Wants(200).Has("my words")
}

// A cookie that this site did not sign is none: it reads nothing, and nothing is stored for it.
func TestVisitorCookie(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Visitor()
	ann.Get("/posts/new").Wants(200)
	ann.Post("/posts/new", "keep", "1", "draft", "/", "body", "words of a visitor").Wants(303)
	good := visitorCookie(ann)
	last := "A"
	if strings.HasSuffix(good, last) {
		last = "Q"
	}
	for _, forged := range []string{good[:len(good)-1] + last, "A" + good[1:], good[:len(good)-4], good + "AAAA", strings.Repeat("A", len(good)), "x", ""} {
		if forged == good {
			continue
		}
		eve := s.Visitor()
		eve.Header.Set("Cookie", "visitor="+forged)
		eve.Get("/posts/new").Wants(200).Lacks("words of a visitor")
		eve.Post("/drafts/discard", "draft", "/", "saved", "1").Wants(303)
		eve.Post("/posts/new", "keep", "1", "draft", "/", "body", "words of eve").Wants(401).Has("words of eve")
		eve.Header.Set("Accept", "application/json")
		eve.Post("/drafts", "draft", "/", "body", "words of eve").Wants(401)
	}
	if n := visitorRows(s); n != 1 {
		t.Errorf("%d rows after cookies were forged, want the one of a good cookie", n)
	}
	// Nobody else reads it: another visitor, members, the staff, an archive.
	other, bob := s.Visitor(), s.Person("bob")
	other.Get("/posts/new").Wants(200).Lacks("words of a visitor")
	other.Post("/drafts/discard", "draft", "/", "saved", "1").Wants(303)
	inCharge(bob, admin.Administrator)
	staff := bob.Visitor()
	for _, address := range []string{"/drafts", "/drafts/edit?place=%2F", "/posts/new", "/search?q=words", "/admin", "/admin/storage", "/everything"} {
		if a := staff.Get(address); strings.Contains(a.Body, "words of a visitor") {
			t.Errorf("%s has the words of a visitor", address)
		}
	}
	// The form of somebody whose session ended is not the visitor's.
	ann.Post("/drafts", "draft", "/", "body", "of a page of bob", "viewer", "bob").Wants(401)
	ann.Get("/posts/new").Wants(200).Has("words of a visitor")
	// Discarded by its form it is gone.
	body := ann.Get("/posts/new").Body
	_, saved, _ := strings.Cut(body, `name="saved" value="`)
	saved, _, _ = strings.Cut(saved, `"`)
	ann.Post("/drafts/discard", "draft", "/", "saved", saved).Wants(303)
	ann.Get("/posts/new").Wants(200).Lacks("words of a visitor")
}

// Too much of it is refused with the reason, and the text in the answer.
func TestVisitorsAreBounded(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Visitor()
	v.Get("/posts/new").Wants(200)
	long := strings.Repeat("x", rules.VisitorLong.Most+1)
	v.Post("/posts/new", "draft", "/", "body", long).Wants(422).Has("Until you sign in, a text may have at most 20,000 characters.", long)
	v.Post("/posts/new", "draft", "/p/0123456789", "body", "x").Wants(400)
	v.Get("/posts/new?place=%2Fp%2F0123456789").Wants(404)
	v.Header.Set("Accept", "application/json")
	v.Post("/drafts", "draft", "/", "body", long).Wants(422).Has("20,000", `"field":"body"`)
	v.Post("/drafts", "draft", "/", "body", "kept").Wants(200).Has(`"t":"done"`)
	v.Post("/drafts", "draft", "/", "body", "unseen").Wants(409).Has(`"t":"newer"`, "kept")
	v.Header.Del("Accept")
	for _, place := range []string{"/place1", "/place2", "/place3", "/place4"} {
		v.Post("/posts/new", "keep", "1", "draft", place, "body", "at "+place).Wants(303)
	}
	v.Get("/posts/new").Wants(200).Has("at /place4", "at /place1", "/posts/new?place=%2Fplace1")
	v.Post("/posts/new", "keep", "1", "draft", "/place5", "body", "one too many").Wants(422).Has("5 drafts", "one too many")
	v.Post("/posts/new", "draft", "/place5", "body", "one too many").Wants(401).Has("5 drafts", "one too many", `name="resume"`)
	// The site is full.
	_, err := s.DB.Primary.Exec(t.Context(), `
		INSERT INTO visitor_drafts (saved_at, owner, place, language, body, destinations)
		SELECT now(), sha256(i::text::bytea), '/', '', 'text', '{}' FROM generate_series(1, $1) i`, drafts.MostOfVisitors)
	if err != nil {
		t.Fatal(err)
	}
	other := s.Visitor()
	other.Get("/posts/new").Wants(200)
	other.Post("/posts/new", "keep", "1", "draft", "/", "body", "no room").Wants(503).Has("Sign in to keep it", "no room")
	other.Post("/posts/new", "draft", "/", "body", "no room").Wants(401).Has("Sign in to keep it", "no room", `name="resume"`)
	// New drafts of one address are limited, and so are saves.
	if _, err := s.DB.Primary.Exec(t.Context(), `TRUNCATE visitor_drafts`); err != nil {
		t.Fatal(err)
	}
	s.Server.SetLimits(web.Limits{SignUps: 1, Writes: 1})
	other.Post("/posts/new", "keep", "1", "draft", "/", "body", "the first").Wants(303)
	other.Post("/posts/new", "keep", "1", "draft", "/place1", "body", "the second").Wants(429).Has("the second")
	third := s.Visitor()
	third.Get("/posts/new").Wants(200)
	third.Post("/posts/new", "draft", "/", "body", "of another visitor").Wants(401).Has("of another visitor", `name="resume"`)
	third.Post("/posts/new", "keep", "1", "draft", "/", "body", "of another visitor").Wants(429)
}

// Without cookies nothing is kept on the server, and nothing is lost.
func TestVisitorWithoutCookies(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	s.Person("ann")
	v := s.Visitor()
	v.Client.Jar = nil
	v.Get("/posts/new").Wants(200)
	for _, keep := range [][]string{nil, {"keep", "1"}} {
		v.Post("/posts/new", append(keep, "draft", "/", "saved", "", "body", "my words", "to", "ann", "key", "k")...).
			Wants(401).Has("my words", `action="/posts"`, `name="to" value="ann"`, `name="key" value="k"`).Lacks(`name="keep"`)
	}
	v.Post("/posts", "resume", "1", "username", "ann", "password", webtest.Password, "draft", "/", "saved", "", "body", "my words", "to", "ann").
		Wants(200).Has("my words", "Nothing has been sent yet")
	if n := visitorRows(s); n != 0 {
		t.Errorf("%d rows are kept for a browser without cookies", n)
	}
}

// Somebody who signed in meanwhile, in another tab, gets the form again with the text.
func TestVisitorIsSignedInSince(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Person("ann").Visitor()
	for _, keep := range [][]string{nil, {"keep", "1"}} {
		v.Post("/posts/new", append(keep, "draft", "/", "saved", "", "body", "my words", "to", "bob")...).Wants(200).
			Has("my words", "Nothing has been sent yet", `value="bob"`, `action="/posts"`)
	}
}

// G4 (c): signing in on the way to "Write", which asks for no place, leaves the account's current draft as it is, by every road there.
func TestSignInToWrite(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	const write, login = "/posts/new", "/login?back=%2Fposts%2Fnew"
	ann := s.Person("ann")
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").Wants(303)
	ann.Visitor().Post("/drafts", "draft", "/chess-club", "body", "of the account", "to", "chess-club").Wants(303)
	signIn := func(v *webtest.Visitor) {
		t.Helper()
		v.Post("/login", "username", "ann", "password", webtest.Password, "back", write).LeadsTo(write)
		v.Get("/drafts").Wants(200).Has("of the account").Lacks("Put aside")
	}
	v := s.Visitor()
	v.Get(write).Wants(200)
	signIn(v)
	v.Get(write).Wants(200).Has("of the account", `value="chess-club" checked`)
	v = s.Visitor() // without a cookie
	v.Post(write, "draft", "/", "body", " ").LeadsTo(login)
	signIn(v)
	v.Get(write).Wants(200).Has("of the account")
	brings := s.Visitor()
	brings.Get(write).Wants(200)
	brings.Post(write, "keep", "1", "draft", "/bob", "body", "of the visitor").Wants(303)
	setDoors(s, site.OpenToAll, true)
	v = s.Visitor()
	v.Get(write).LeadsTo(login)
	signIn(v)
	v.Get(write).Wants(200).Has("of the account")
	signIn(brings)
	brings.Get(write).Wants(200).Has("of the visitor") // the later one
}

// A private site, and one where nobody can sign up, keep nothing of strangers.
func TestVisitorsOfClosedSites(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Visitor()
	v.Get("/posts/new").Wants(200)
	cookie := visitorCookie(v)
	for door, private := range map[site.SignUp]bool{site.Closed: false, site.OpenToAll: true} {
		setDoors(s, door, private)
		w := s.Visitor()
		w.Header = http.Header{"Cookie": {"visitor=" + cookie}}
		w.Get("/posts/new").LeadsTo("/login?back=%2Fposts%2Fnew")
		w.Post("/posts/new", "draft", "/", "body", "my words").Wants(401).Has("my words")
		w.Post("/drafts", "draft", "/", "body", "my words").Wants(401).Has("my words")
		if a := w.Get("/login"); strings.Contains(a.Body, `href="/posts/new"`) {
			t.Errorf("%s: there is a button that leads nowhere", door)
		}
	}
	if n := visitorRows(s); n != 0 {
		t.Errorf("%d rows are kept on a closed site", n)
	}
}
