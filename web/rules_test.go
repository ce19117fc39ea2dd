package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/html"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// TestRules is the proof table of who may see what: every viewer (a relation, a
// ban, a hide) looks at addresses that may show a post, for posts of every kind (an
// author's level, a set of destinations), and each answer is compared, byte for
// marker, with the statement of the rules in rules_expect_test.go: pages in both
// orders with all that is older, posts' own pages, what unfolds, replies to one's
// own acts, feed files, and what is pushed to open pages.
func TestRules(t *testing.T) {
	s := newRuleSite(t)
	t.Run("no page is missing", s.checkPages)
	var checks atomic.Int64
	t.Run("pages", func(t *testing.T) {
		for i, v := range s.viewers {
			t.Run(v.String(), func(t *testing.T) {
				t.Parallel()
				c := &ruleCheck{t: t, s: s, v: v, i: i, browser: s.browser(t, v), checks: &checks}
				c.all()
			})
		}
	})
	t.Run("feeds", func(t *testing.T) { s.checkFeeds(t, &checks) })
	t.Run("pushes", func(t *testing.T) { s.checkPushes(t, &checks) })
	t.Logf("%d rows, %d viewers, %d addresses: %d verdicts", len(s.rows), len(s.viewers), len(s.pages), checks.Load())
}

// checkPages: each row of riverPages is the page behind some address of the table, or
// a post's own.
func (s *ruleSite) checkPages(t *testing.T) {
	viewed := map[string]bool{}
	for _, p := range s.pages {
		u, err := url.Parse(p.address)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range s.viewers {
			if p.status(v) != http.StatusOK {
				continue
			}
			var viewer timelines.Viewer
			if v.signedIn() {
				viewer = s.people[v.name].Viewer
			}
			if at, _, err := s.Server.RiverAt(s.ctx(), viewer, u.Path, u.Query()); err == nil {
				viewed[string(at.Kind)+at.Path] = true
			}
		}
	}
	for _, at := range view.Pages {
		if at.Kind != rivers.Post && at.Path != "/{name}/faves" && !viewed[string(at.Kind)+at.Path] {
			t.Errorf("no address of rulePages leads to the %s page at %s", at.Kind, at.Path)
		}
	}
}

// A ruleCheck is one viewer looking around.
type ruleCheck struct {
	t       *testing.T
	s       *ruleSite
	v       *ruleViewer
	i       int // the viewer's number: picks samples, together with the site's offset
	browser *webtest.Visitor
	api     *webtest.Visitor // a program of the viewer's; nil for nobody
	checks  *atomic.Int64    // how often a row was looked for in an answer
}

// all looks at a share of everything that the seed chooses, so that a few runs look
// everywhere, or everywhere if RIVERRUN_SOAK is set: at an eighth of the pages in each
// order (a quarter of them if the viewer hides something), and at a quarter of the posts.
func (c *ruleCheck) all() {
	share := 8
	if c.v.hides != "" {
		share = 4
	}
	for i, p := range c.s.pages {
		for j, order := range []string{"", string(rivers.Created)} {
			if c.turn(i+2*j, share) {
				c.page(p, order)
			}
		}
	}
	if c.v.signedIn() {
		c.program()
	}
	for i, r := range c.s.rows {
		if c.turn(i, 4) {
			c.post(r)
			if c.api != nil {
				c.asProgram(r)
			}
			c.likers(r)
			c.aside(r)
		}
	}
	c.replies()
}

// turn reports whether the viewer looks at the nth of something in this run, if one
// in share is looked at.
func (c *ruleCheck) turn(n, share int) bool {
	return c.s.soaks || (c.i+n+c.s.offset)%share == 0
}

func (c *ruleCheck) errorf(a *webtest.Answer, format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("%s sees %s: %s", c.v, a.What, fmt.Sprintf(format, args...))
}

// get asks for an address and checks what is true of every answer.
func (c *ruleCheck) get(address string, status int) *webtest.Answer {
	c.t.Helper()
	a := c.browser.Get(address)
	if a.Status != status {
		c.errorf(a, "status %d, want %d", a.Status, status)
	}
	c.private(a)
	return a
}

// private checks that no cache keeps a page for others that was made for one person.
func (c *ruleCheck) private(a *webtest.Answer) {
	c.t.Helper()
	if a.Status == http.StatusSeeOther {
		return // says nothing, and is not kept unless it says it may be
	}
	if got := a.Header.Get("Cache-Control"); got != "private, no-cache" && !strings.Contains(got, "no-store") {
		c.errorf(a, "Cache-Control %q", got)
	}
}

var (
	markers   = regexp.MustCompile(markerPrefix + `([a-z])(\d+)z`)
	olderLink = regexp.MustCompile(`class="older"[^>]*href="([^"]*)"`)
)

// page reads an address with all that is older and compares it with the table.
func (c *ruleCheck) page(p *rulePage, order string) {
	c.t.Helper()
	address := p.address
	if order != "" {
		address += view.QuerySign(address) + "order=" + order
	}
	status := p.status(c.v)
	seen := map[*ruleRow]bool{}
	for pages := 0; address != ""; pages++ {
		a := c.get(address, status)
		if a.Status != http.StatusOK {
			c.nothing(a)
			return
		}
		if pages > len(c.s.rows) {
			c.errorf(a, "there is always more")
			return
		}
		for _, r := range c.entries(a, p) {
			if seen[r] {
				c.errorf(a, "%s is there twice", r)
			}
			seen[r] = true
		}
		address = ""
		if m := olderLink.FindStringSubmatch(a.Body); m != nil {
			address = html.UnescapeString(m[1])
		}
	}
	for _, r := range c.s.rows {
		c.checks.Add(1)
		if want := p.shows(c.v, r); want != seen[r] {
			c.t.Errorf("%s, %s%s: %s: shown %v, want %v", c.v, p.address, order, r, seen[r], want)
		}
	}
}

// nothing: an answer without entries tells nothing of any post, nor of who may not
// be seen, but for whom its address names.
func (c *ruleCheck) nothing(a *webtest.Answer) {
	c.t.Helper()
	c.margin(a, a.Body, nil)
}

// entries compares each entry of a page with what the table says of it, and the rest
// of the page with nothing, and returns the rows.
func (c *ruleCheck) entries(a *webtest.Answer, p *rulePage) []*ruleRow {
	c.t.Helper()
	var rows []*ruleRow
	rest, first := "", true
	for _, piece := range strings.Split(a.Body, "<article ") {
		if first {
			rest, first = piece, false
			continue
		}
		article, after, _ := strings.Cut(piece, "</article>")
		rest += after
		m := webtest.FirstCode.FindStringSubmatch(article)
		r := c.s.byCode[m[1]]
		if r == nil {
			c.errorf(a, "an entry of a post that is none of the table's: %s", m[1])
			continue
		}
		rows = append(rows, r)
		if c.v.mayRead(r) {
			c.entry(a, p, r, article)
		}
	}
	c.margin(a, rest, p)
	return rows
}

// margin checks what of a page is no entry: it has nothing of any post, names no
// sub-feed the viewer does not read, and nobody a ban stands between.
func (c *ruleCheck) margin(a *webtest.Answer, text string, p *rulePage) {
	c.t.Helper()
	// The title of a post's own page is who wrote it, and how it begins.
	var titled *ruleRow
	if p != nil {
		titled = c.s.byCode[strings.TrimPrefix(p.address, "/p/")]
	}
	for _, m := range markers.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[2])
		if titled != nil && (m[0] == marker('b', titled.n) || m[0] == c.s.titleMark(titled.author)) {
			continue
		}
		// The page tells authors of blocked posts, with their beginnings.
		if p != nil && p.told && m[1] == "b" && n < len(c.s.rows) && c.s.rows[n].held && c.s.rows[n].author == c.v.name {
			continue
		}
		switch m[1] {
		case "n":
			name := c.s.names[n]
			if c.v.apart(name) && !strings.Contains(a.What, "/"+name) {
				c.errorf(a, "names %s outside of entries", name)
			}
		case "s":
			owner, i := ruleAuthors[n/10], n%10
			place := rulePlace{kind: kinds.Subfeed, owner: owner, slug: ruleSlugs[i], level: ruleLevels[min(i, 2)]}
			if !c.v.reads(place) || c.v.apart(owner) {
				c.errorf(a, "names the sub-feed %s/%s", owner, ruleSlugs[i])
			}
		default:
			c.errorf(a, "%s outside of entries", m[0])
		}
	}
}

// post looks at the post's own page.
func (c *ruleCheck) post(r *ruleRow) {
	c.t.Helper()
	p := &rulePage{address: "/p/" + r.code, whole: true}
	status := http.StatusNotFound
	if c.v.mayRead(r) {
		status = http.StatusOK
	}
	a := c.get(p.address, status)
	c.checks.Add(1)
	if a.Status != http.StatusOK {
		c.nothing(a)
		return
	}
	if rows := c.entries(a, p); len(rows) != 1 || rows[0] != r {
		c.errorf(a, "shows %v, want %s", rows, r)
	}
}

// fragment asks for a piece of an entry, as river.js does.
func (c *ruleCheck) fragment(r *ruleRow, address string) (a *webtest.Answer, reads bool) {
	c.t.Helper()
	c.browser.Header.Set("X-River-Page", "/everything")
	defer c.browser.Header.Del("X-River-Page")
	c.checks.Add(1)
	if c.v.mayRead(r) {
		return c.get("/p/"+r.code+address, http.StatusOK), true
	}
	a = c.get("/p/"+r.code+address, http.StatusNotFound)
	c.nothing(a)
	return a, false
}

// likers asks the address behind "N others".
func (c *ruleCheck) likers(r *ruleRow) {
	c.t.Helper()
	if a, reads := c.fragment(r, "/likes?shown=103"); reads {
		c.likes(a, r, a.Body, true)
	}
}

// aside asks the address behind "N more", and the forms.
func (c *ruleCheck) aside(r *ruleRow) {
	c.t.Helper()
	if len(r.comments) > 2 {
		if a, reads := c.fragment(r, "/comments?between="+strconv.FormatInt(r.comments[0].id, 10)+"-"+strconv.FormatInt(r.comments[2].id, 10)); reads {
			c.someComments(a, r, a.Body, []int{1})
		}
	}
	at, reads := "/p/"+r.code, c.v.mayRead(r)
	want := func(seen int) int {
		c.checks.Add(1)
		if !reads {
			return http.StatusNotFound
		}
		return seen
	}
	if !c.v.signedIn() {
		return
	}
	switch wrote := r.author == c.v.name; {
	case wrote:
		c.get(at+"/edit", 200)
	default:
		c.nothing(c.get(at+"/edit", want(403)))
	}
	if len(r.comments) == 0 {
		return
	}
	keeps := c.v.rel == administers && slices.ContainsFunc(r.places, func(p rulePlace) bool { return p.kind == kinds.Group })
	status := want(403)
	switch seen := c.v.sees(ruleTalker, r); {
	case reads && !seen:
		status = 404 // a placeholder says no more
	case reads && (keeps || r.author == c.v.name):
		status = 200
	}
	form := c.get(at+"/comments/"+strconv.FormatInt(r.comments[0].id, 10)+"/edit", status)
	if status == 200 {
		around, main, _ := strings.Cut(form.Body, "<main")
		c.margin(form, around, nil)
		c.marks(form, r, "form", main, append(pageMarks(c, main), marker('c', commentMarks*r.n))...)
	} else {
		c.nothing(form)
	}
}

// pageMarks are the markers of people that the text of a page without a river has: who looks.
func pageMarks(c *ruleCheck, text string) []string {
	var marks []string
	for _, m := range markers.FindAllString(text, -1) {
		if m == c.s.titleMark(c.v.name) {
			marks = append(marks, m)
		}
	}
	return marks
}

// replies acts on posts as river.js does: what is answered shows no more than a
// page. Liking again what one likes changes nothing, so others are not disturbed.
func (c *ruleCheck) replies() {
	c.t.Helper()
	if !c.v.signedIn() {
		return
	}
	c.browser.Header.Set("Accept", "application/json")
	for i, r := range c.s.rows {
		likes := slices.Contains(r.likers, c.v.name)
		if c.v.mayRead(r) && !likes {
			continue
		}
		p := c.s.pages[(c.i+i+c.s.offset)%len(c.s.pages)]
		if p.status(c.v) != 200 {
			p = c.s.pages[3]
		}
		c.browser.Header.Set("X-River-Page", p.address)
		c.checks.Add(1)
		a := c.browser.Post("/p/" + r.code + "/like")
		c.private(a)
		if !c.v.mayRead(r) {
			if a.Status != http.StatusNotFound {
				c.errorf(a, "%s: status %d, want 404", r, a.Status)
			}
			c.nothing(a)
			continue
		}
		f := frameIn(c.t, a)
		if want := p.shows(c.v, r); want != (f.T == "entry") {
			c.errorf(a, "%s on %s: answered with %s, shown there %v", r, p.address, f.T, want)
		}
		if f.T == "entry" {
			c.entry(a, p, r, f.HTML)
		} else {
			c.nothing(a)
		}
	}
	c.browser.Header.Del("Accept")
	c.browser.Header.Del("X-River-Page")
}
