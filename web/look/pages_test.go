package look_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/web/webtest"
)

// shot is a page as somebody sees it on some screen.
type shot struct {
	path  string
	as    string // nobody: not signed in
	width int64
	dark  bool
}

func (s shot) String() string {
	theme := "light"
	if s.dark {
		theme = "dark"
	}
	return fmt.Sprintf("%s for %s, %d wide, %s", s.path, s.as, s.width, theme)
}

// nobody is not signed in.
const nobody = "nobody"

// town is a site with something of everything on it, and the pages that people look at.
func town(t *testing.T) (s *webtest.Site, pages map[string][]string) {
	s = webtest.New(t, nil)
	anna, bob, carl := s.Person("anna"), s.Person("bob"), s.Person("carl")
	v, w := anna.Visitor(), bob.Visitor()
	v.Post("/settings", "title", "Anna Lind", "about", "Paints ferries.\n\nhttps://example.org/ferries")
	w.Post("/settings", "title", "Боб Гай")
	v.Post("/groups", "name", "ferry", "title", "Ferry", "about", "Both banks of one river.", "access", "public")
	w.Post("/groups", "name", "closed-club", "title", "Closed Club", "access", "private")
	carl.SetAccess("", timelines.Private)
	v.Post("/bob/follow")
	w.Post("/anna/follow")
	w.Post("/ferry/follow")
	s.Person("eve").Visitor().Post("/ferry/follow")
	s.Person("dora").Visitor().Post("/anna/hide")
	v.Post("/lists", "title", "Close friends")
	v.Post("/settings/hidden", "term", "weather")
	v.Post("/settings/pages", "slug", "photos", "title", "Photos", "access", "protected")
	v.Post("/settings/pages/admit", "feed", "private", "name", "bob")
	v.Post("/dora/ban")
	code := bob.Post("From Monday the last boat leaves at 22:40, says @anna. #ferry https://example.org/a/rather/long/address?of=a&page=1\n\nWhat would it break?", "bob", "ferry").Code
	for i := range 6 {
		bob.Comment(code, "The choir ends at half past ten. "+strconv.Itoa(i))
	}
	said := anna.Comment(code, "We would have to run.")
	bob.LikeComment(code, said.CommentID)
	bob.Comment(code, "Then run.")
	v.Post("/drafts", "draft", "/", "body", "Half a thought about the last boat", "to", "ferry")
	v.Post("/drafts", "draft", "/p/"+code, "body", "And half an answer")
	v.Post("/posts", "body", "A boat for tomorrow", "to", "ferry", "due", time.Now().UTC().Add(24*time.Hour).Format(timelines.DueForm), "zone", "Europe/Berlin").LeadsTo("/scheduled")
	edited := anna.Post("The first boat leaves at six").Code
	anna.Edit(edited, "The first boat leaves at seven, and not at six")
	for _, name := range []string{"fay", "gus", "hal", "ivy", "joy", "kim"} {
		p := s.Person(name)
		p.Like(code)
		bob.Comment(anna.Post("A post for "+name).Code, "Seen, "+name)
	}
	anna.Like(code)
	v.Post("/p/" + code + "/save")
	anna.Post("Between us", "bob")
	anna.Post("To remember", "~eyes")
	anna.Post("A picture", "anna/photos")
	hidden := bob.Post("Too much").Code
	v.Post("/p/" + hidden + "/hide")
	carl.Visitor().Post("/anna/follow")
	w.Post("/settings/access", "level", "public")
	lake := webtest.Upload{Name: "lake.jpg", Content: webtest.Photo(900, 600)}
	w.PostFiles("/settings", []webtest.Upload{lake})
	w.PostFiles("/posts", []webtest.Upload{lake, lake, {Name: "notes.txt", Content: []byte("notes")}}, "body", "Fog on the ferry.", "to", "ferry")
	s.MakePictures()
	v.PostFiles("/posts", []webtest.Upload{lake}, "body", "One that is being made.", "to", "ferry")
	v.PostFiles("/p/"+code+"/comments", []webtest.Upload{lake}, "body", "")
	drawn := anna.Post("To be changed").Code
	v.PostFiles("/p/"+drawn+"/edit", []webtest.Upload{lake}, "body", "A drawing", "files", "1")
	list := webtest.Upload{Field: "file", Name: "boats.csv", Content: []byte("id,title,date\n1,A boat,2026-10-01\n2,Another,some day\n1,The first again,\n")}
	boats := v.PostFiles("/settings/sources", []webtest.Upload{list}, "way", "file").Header.Get("Location")
	v.PostFiles("/ferry/sources", []webtest.Upload{list}, "way", "file")
	s.LoadSources()
	waiting := v.Post("/settings/sources", "way", "link", "url", "https://blog.example/feed").Header.Get("Location")
	s.FollowUp()
	v.Post("/settings/approval", "group", "ferry", "approves", "1").Wants(303)
	bob.Visitor().PostFiles("/posts", []webtest.Upload{lake, lake}, "body", "May this stand here? https://example.org/a/rather/long/address/of/a/page/that/has/no/end", "to", "ferry").Wants(303)
	s.MakePictures()
	bob.Post(strings.Repeat("A long tale of the ferry. ", 100), "ferry")
	refused := bob.Post("Cheap oars for sale", "ferry").Code
	v.Post("/ferry/waiting/"+refused+"/refuse", "reason", "The market is at @flea.").Wants(303)
	v.Post("/groups", "name", "flea", "title", "Flea Market", "access", "public")
	v.Post("/settings/listings", "group", "flea", "currency", "EUR").Wants(303)
	offer := func(body, price string) string {
		v.PostFiles("/posts", []webtest.Upload{lake}, "body", body, "to", "flea", "listing", "1", "price", price, "currency", "EUR", "condition", "good", "place", "East bank",
			"until", time.Now().UTC().Add(10*24*time.Hour).Format(time.DateOnly)).Wants(303)
		return regexp.MustCompile(`/p/([0-9a-z]{10})/listing`).FindStringSubmatch(v.Get("/flea?state=active").Body)[1]
	}
	v.Post("/p/"+offer("A pair of oars", "40")+"/close", "how", "sold", "sold", "35.50").Wants(303)
	boat := offer("A boat that needs an owner", "1250")
	w.Post("/filter/mine", "act", "move", "to", "ferry", "post", code).LeadsTo("/filter/mine")
	v.Post("/settings/hooks", "url", "https://program.example/a/rather/long/address/of/a/webhook?of=anna", "present", webtest.Password).Wants(200)
	pages = map[string][]string{"bob": {"/filter/mine", "/filter/mine?show=waiting", "/filter/notifications", "/ferry"}, "kim": {"/filter/mine"}, "anna": {
		"/filter/mine", "/filter/mine?sure", "/filter/mine?show=closed", "/flea", "/flea?state=active&from=10&to=2000", "/flea?state=expired", "/flea?state=closed", "/flea?state=active&from=much",
		"/posts/new?listing=1&to=flea", "/p/" + boat, "/p/" + boat + "/listing", "/p/" + boat + "/edit", "/flea/manage", "/posts/new?later",
		"/p/" + drawn + "/edit",
		"/", "/filter/discussions", "/filter/mentions", "/filter/notifications", "/filter/messages", "/filter/saved", "/filter/only-me", "/everything", "/best",
		"/search", "/search?q=ferry", "/tag/ferry", "/anna", "/bob", "/bob/likes", "/carl", "/closed-club", "/ferry", "/ferry/members", "/ferry/manage", "/ferry/waiting",
		"/p/" + code, "/p/" + code + "/comments/" + strconv.FormatInt(said.CommentID, 10) + "/edit", "/posts/new", "/drafts", "/scheduled", "/drafts/edit?place=%2Fp%2F" + code,
		"/p/" + edited + "/history", "/groups", "/people", "/lists", "/lists/close-friends", "/lists/close-friends/edit",
		"/settings", "/settings/pages", "/settings/tags", "/ferry/tags", "/settings/hidden", "/settings/sources", "/ferry/sources", boats, boats + "/loads/1", waiting, "/help/keys", "/help/feeds", "/help/api", "/help/posts", "/nobody-here",
		"/welcome/you", "/welcome/people", "/welcome/post", "/settings/sessions", "/settings/tokens", "/settings/hooks", "/settings/invitations", "/settings/reports?sent",
		"/p/" + code + "/report", "/people/eve/report",
	}, nobody: {
		"/", "/about", "/login", "/signup", "/posts/new", "/everything", "/groups", "/bob", "/carl", "/ferry", "/p/" + code, "/search?q=ferry", "/nobody-here",
	}}
	pages["zoe"] = inCharge(s, code)
	return s, pages
}

// inCharge has zoe be an administrator with something of everything to do, and returns her pages.
// There is a post of that code.
func inCharge(s *webtest.Site, code string) []string {
	zoe := s.Person("zoe")
	zoe.Act(func(ctx context.Context) (timelines.Change, error) {
		return admin.Open(s.Store).SetRole(ctx, admin.By{}, "zoe", admin.Administrator)
	})
	z := zoe.Visitor()
	z.Post("/admin/site", "name", "The Ferry", "purpose", "Talk of both banks.", "about", "Since *1904*.", "contact", "zoe@example.org", "indexed", "1").Wants(303)
	z.Post("/admin/invitations", "uses", "5", "days", "7").Wants(303)
	z.Post("/admin/doors", "signup", "approval", "private", "off").Wants(303)
	s.Visitor().Post("/signup", "username", "newcomer", "password", webtest.Password, "sentence", "I row every Sunday.").Wants(303)
	s.Person("spammer").Post("Cheap oars")
	z.Post("/admin/people/spammer/suspend", "reason", "spam", "days", "7", "hide", "1").Wants(303)
	s.Person("dan").Visitor().Post("/p/"+code+"/report", "reason", "abuse", "text", "Look at this").Wants(303)
	report := regexp.MustCompile(`/admin/reports/[0-9a-z]{10}`).FindString(z.Get("/admin/reports").Body)
	return []string{
		"/everything", "/eve", "/spammer", "/admin", "/admin/people", "/admin/people?which=suspended", "/admin/people/spammer", "/admin/people/anna", "/admin/reports",
		report, "/admin/signups", "/admin/invitations", "/admin/doors", "/admin/site", "/admin/acts", "/p/" + code + "/remove", "/settings/tokens", "/settings/hooks",
	}
}

// show looks at a page in a tab that somebody signed in to, or not.
func show(b *webtest.Tab, of shot) {
	b.T.Helper()
	scheme := "light"
	if of.dark {
		scheme = "dark"
	}
	b.Do(
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}),
		chromedp.EmulateViewport(of.width, 800),
	)
	b.Visit(of.path)
	if press, is := presses[of.path]; is {
		webtest.Eval[bool](b, press.do+`; true`)
		b.Await("the page once it is pressed", press.until)
	}
}

// presses are what leads on from the pages of these addresses to those that have none of their own.
var presses = map[string]struct{ do, until string }{
	"/filter/mine?sure": {`document.querySelector('[name=post]').click(); document.querySelector('[value=delete]').click()`, `document.querySelector('[name=sure]') && document.readyState === 'complete'`},
	"/posts/new?later":  {`document.querySelector('.later > summary').click()`, `document.querySelector('#due').offsetHeight`},
}

// seeded returns a source of chance whose seed is logged, and can be given.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if given := os.Getenv("RIVERRUN_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("RIVERRUN_SEED: %v", err)
		}
	}
	t.Logf("RIVERRUN_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// full reports whether all pages are looked at, and not a share of them.
func full() bool { return os.Getenv("RIVERRUN_LOOK") != "" }

// share is how many pages a test run looks at.
const share = 12

// TestPagesAreAccessible: axe-core finds nothing on any page, and no page is wider than the
// screen.
func TestPagesAreAccessible(t *testing.T) {
	script := axe(t)
	browser := webtest.Chromium(t)
	s, pages := town(t)
	tabs := map[string]*webtest.Tab{}
	var shots []shot
	for _, as := range slices.Sorted(maps.Keys(pages)) {
		tabs[as] = s.Tab(browser, as)
		if as != nobody {
			tabs[as].SignIn(as)
		}
		for _, path := range pages[as] {
			for _, width := range []int64{360, 1280} {
				shots = append(shots, shot{path, as, width, false}, shot{path, as, width, true})
			}
		}
	}
	if !full() {
		rng := seeded(t)
		rng.Shuffle(len(shots), func(i, j int) { shots[i], shots[j] = shots[j], shots[i] })
		shots = shots[:share]
	}
	for _, of := range shots {
		b := tabs[of.as]
		show(b, of)
		if webtest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
			t.Errorf("%v: the page is wider than the screen", of)
		}
		webtest.Eval[bool](b, script+`; true`)
		b.Await("axe", `(window.found ??= (axe.run().then((r) => { window.report = r; }), true)) && window.report`)
		found := webtest.Eval[[]string](b, `report.violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.html.slice(0, 300)))`)
		if len(found) > 0 {
			t.Errorf("%v:\n%s", of, strings.Join(found, "\n"))
		}
	}
}

// TestTabStops: the Tab key leads past an entry of a river in six steps at most. On the post's
// own page it leads to everything.
func TestTabStops(t *testing.T) {
	browser := webtest.Chromium(t)
	s, _ := town(t)
	b := s.Tab(browser, "anna")
	b.SignIn("anna")
	const stops = `[...document.querySelectorAll('#river > [data-post]')].filter((e) => e.checkVisibility()).map((e) =>
		[...e.querySelectorAll('a[href], button, summary, textarea, input:not([type=hidden])')].filter((x) => x.tabIndex >= 0 && x.checkVisibility()).length)`
	for _, path := range []string{"/", "/everything", "/bob"} {
		b.Visit(path)
		webtest.Eval[bool](b, `document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Tab', bubbles: true}))`)
		for i, n := range webtest.Eval[[]int](b, stops) {
			if n > 6 || n < 5 {
				t.Errorf("%s: the Tab key stops %d times in entry %d, want 6 at most", path, n, i)
			}
		}
	}
	code := webtest.Eval[string](b, `document.querySelector('[data-post]').dataset.post`)
	b.Visit("/p/" + code)
	webtest.Eval[bool](b, `document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Tab', bubbles: true}))`)
	out := webtest.Eval[[]string](b, `[...document.querySelectorAll('#river a[href], #river button')].filter((x) => x.tabIndex < 0 && !x.matches('.avatar')).map((x) => x.outerHTML)`)
	if len(out) > 0 {
		t.Errorf("the Tab key passes over, on the post's own page:\n%s", strings.Join(out, "\n"))
	}
}
