package web

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/html"

	"riverrun/rivers"
	"riverrun/timelines"
)

// TestRules is the proof table of who may see what: every viewer (a relation, a
// ban, a hide) looks at every address that may show a post, for every post (an
// author's level, a set of destinations), and each answer is compared, byte for
// marker, with the statement of the rules in rules_expect_test.go: pages in both
// orders with all that is older, posts' own pages, what unfolds, replies to one's
// own acts, feed files, and what is pushed to open pages.
func TestRules(t *testing.T) {
	s := newRuleSite(t)
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

// A ruleCheck is one viewer looking around.
type ruleCheck struct {
	t       *testing.T
	s       *ruleSite
	v       *ruleViewer
	i       int // the viewer's number: picks samples
	browser *visitor
	checks  *atomic.Int64 // how often a row was looked for in an answer
}

// all looks everywhere. What is closed costs next to nothing and is all looked at;
// of what is open, and so has a river built for it, a part: every page by a third of
// the viewers and those that hold most by all, every post on its own page by a
// quarter and at an address beside it by all.
func (c *ruleCheck) all() {
	for i, p := range c.s.pages {
		if p.status(c.v) == http.StatusOK && !p.often && (c.i+i)%3 != 0 {
			continue
		}
		order := ""
		if (c.i+i)%2 == 0 {
			order = string(rivers.Created)
		}
		c.page(p, order)
	}
	for i, r := range c.s.rows {
		if !c.v.mayRead(r) || (c.i+i)%4 == 0 {
			c.post(r)
		}
		c.likers(r)
		if (c.i+i)%4 == 1 {
			c.aside(r)
		}
	}
	c.replies()
}

func (c *ruleCheck) errorf(a *answer, format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("%s sees %s: %s", c.v, a.what, fmt.Sprintf(format, args...))
}

// get asks for an address and checks what is true of every answer.
func (c *ruleCheck) get(address string, status int) *answer {
	c.t.Helper()
	a := c.browser.get(address)
	if a.status != status {
		c.errorf(a, "status %d, want %d", a.status, status)
	}
	c.private(a)
	return a
}

// private: nobody's cache keeps for others what was made for one.
func (c *ruleCheck) private(a *answer) {
	c.t.Helper()
	if a.status == http.StatusSeeOther {
		return // says nothing, and is not kept unless it says it may be
	}
	if got := a.header.Get("Cache-Control"); got != "private, no-cache" && !strings.Contains(got, "no-store") {
		c.errorf(a, "Cache-Control %q", got)
	}
}

var (
	markers   = regexp.MustCompile(`zq([a-z])(\d+)z`)
	olderLink = regexp.MustCompile(`class="older"[^>]*href="([^"]*)"`)
)

// page reads an address with all that is older and compares it with the table.
func (c *ruleCheck) page(p *rulePage, order string) {
	c.t.Helper()
	address := p.address
	if order != "" {
		address += querySign(address) + "order=" + order
	}
	status := p.status(c.v)
	seen := map[*ruleRow]bool{}
	for pages := 0; address != ""; pages++ {
		a := c.get(address, status)
		if a.status != http.StatusOK {
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
		if m := olderLink.FindStringSubmatch(a.body); m != nil {
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
func (c *ruleCheck) nothing(a *answer) {
	c.t.Helper()
	c.margin(a, a.body, nil)
}

// entries compares each entry of a page with what the table says of it, and the rest
// of the page with nothing, and returns the rows.
func (c *ruleCheck) entries(a *answer, p *rulePage) []*ruleRow {
	c.t.Helper()
	var rows []*ruleRow
	rest, first := "", true
	for _, piece := range strings.Split(a.body, "<article ") {
		if first {
			rest, first = piece, false
			continue
		}
		article, after, _ := strings.Cut(piece, "</article>")
		rest += after
		m := firstCode.FindStringSubmatch(article)
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
func (c *ruleCheck) margin(a *answer, text string, p *rulePage) {
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
		switch m[1] {
		case "n":
			name := c.s.names[n]
			if c.v.apart(name) && !strings.Contains(a.what, "/"+name) {
				c.errorf(a, "names %s outside of entries", name)
			}
		case "s":
			owner, i := ruleAuthors[n/10], n%10
			place := rulePlace{kind: timelines.KindSubfeed, owner: owner, slug: ruleSlugs[i], level: ruleLevels[min(i, 2)]}
			if !c.v.reads(place) || c.v.apart(owner) {
				c.errorf(a, "names the sub-feed %s/%s", owner, ruleSlugs[i])
			}
		default:
			c.errorf(a, "%s outside of entries", m[0])
		}
	}
}

// parts cuts an entry into its parts.
func (c *ruleCheck) parts(a *answer, r *ruleRow, article string) map[string]string {
	c.t.Helper()
	parts, last := map[string]string{}, "head"
	for _, name := range append(slices.Clone(partNames[:]), "box") {
		text, after, ok := strings.Cut(article, `<div id="p-`+r.code+"-"+name+`"`)
		if !ok {
			c.errorf(a, "%s has no %s", r, name)
			return parts
		}
		parts[last], last, article = text, name, after
	}
	parts[last] = article
	return parts
}

// entry compares an entry the viewer may see with what the table says it says.
func (c *ruleCheck) entry(a *answer, p *rulePage, r *ruleRow, article string) {
	c.t.Helper()
	parts := c.parts(a, r, article)
	full := strings.HasPrefix(p.address, "/p/")
	c.body(a, p, r, parts["body"])
	c.likes(a, r, parts["likes"], full)
	c.comments(a, r, parts["comments"], full)
	// Why it is here names no places and people but those that bring it here.
	for _, m := range markers.FindAllStringSubmatch(parts["why"], -1) {
		n, _ := strconv.Atoi(m[2])
		name := ""
		if m[1] == "n" {
			name = c.s.names[n]
		}
		if !p.whys || !c.v.follows(name) || !c.v.sees(name, r) || c.v.hides == "talker" && name == ruleTalker {
			c.errorf(a, "%s is here because of %s %s", r, m[0], name)
		}
		brings := slices.ContainsFunc(c.v.knows(r), func(at rulePlace) bool { return at.owner == name }) ||
			name == ruleTalker && slices.Contains(talkersOf(r), name)
		if !brings {
			c.errorf(a, "%s is here because of %s, who has nothing to do with it", r, name)
		}
	}
	for _, part := range []string{"head", "acts", "box"} {
		if m := markers.FindString(parts[part]); m != "" {
			c.errorf(a, "%s says %s in its %s", r, m, part)
		}
	}
}

// marks compares the markers of some kinds in a text with those wanted.
func (c *ruleCheck) marks(a *answer, r *ruleRow, what, text string, want ...string) {
	c.t.Helper()
	var got []string
	for _, m := range markers.FindAllString(text, -1) {
		if !slices.Contains(got, m) {
			got = append(got, m)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		c.errorf(a, "%s says %v in its %s, want %v", r, c.spelt(got), what, c.spelt(want))
	}
}

// spelt adds to markers of titles whose they are.
func (c *ruleCheck) spelt(marks []string) []string {
	spelt := slices.Clone(marks)
	for i, m := range spelt {
		if name, ok := strings.CutPrefix(m, "zqn"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(name, "z"))
			spelt[i] += "=" + c.s.names[n]
		}
	}
	return spelt
}

// body: the text, the attachment, the author, and those places the viewer knows of.
func (c *ruleCheck) body(a *answer, p *rulePage, r *ruleRow, text string) {
	c.t.Helper()
	want := []string{marker('b', r.n), marker('f', r.n), c.s.titleMark(r.author)}
	if r.edited {
		want = append(want, marker('e', r.n))
	}
	known := c.v.knows(r)
	for _, at := range known {
		here := len(known) == 1 && at.owner == p.own && at.slug == p.slug
		switch {
		case here:
		case at.kind == timelines.KindGroup:
			want = append(want, c.s.titleMark(at.owner))
		case at.kind == timelines.KindSubfeed && at.slug != timelines.PrivateSlug:
			want = append(want, subfeedMark(at.owner, at.slug))
		case at.kind == timelines.KindDirects:
			want = append(want, c.s.titleMark(ruleTalker))
			for _, v := range c.s.viewers {
				if v.rel == recipient {
					want = append(want, c.s.titleMark(v.name))
				}
			}
		}
	}
	c.marks(a, r, "body", text, want...)
	for _, at := range r.places {
		if link := `"/` + at.owner + "/" + at.slug + `"`; at.slug != "" && strings.Contains(text, link) && !slices.Contains(known, at) {
			c.errorf(a, "%s leads to %s", r, link)
		}
	}
}

// likes: who is not seen is neither named nor counted; of the others as many are
// named as fit, and the rest is counted.
func (c *ruleCheck) likes(a *answer, r *ruleRow, text string, full bool) {
	c.t.Helper()
	var seen []string
	for _, name := range slices.Backward(r.likers) {
		if c.v.sees(name, r) {
			seen = append(seen, name)
		}
	}
	// Oneself, then whom one follows, then the newest.
	rank := func(name string) int {
		switch {
		case name == c.v.name:
			return 0
		case c.v.follows(name):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(seen, func(a, b string) int { return rank(a) - rank(b) })
	named, others := seen, 0
	if most := foldedLikes; !full && len(seen) > most+1 {
		named, others = seen[:most], len(seen)-most
	}
	var want []string
	for _, name := range named {
		if name != c.v.name {
			want = append(want, c.s.titleMark(name))
		}
	}
	c.marks(a, r, "likes", text, want...)
	if got := countIn(text, `(\d+) others?`); got != others {
		c.errorf(a, "%s is liked by %d others, want %d", r, got, others)
	}
	if liked := strings.Contains(text, "♥"); liked != (len(seen) > 0) {
		c.errorf(a, "%s is liked: %v, by %v", r, liked, seen)
	}
	if got := countIn(text, `Saved by (\d+) `); got != len(r.favers) {
		c.errorf(a, "%s is saved by %d, want %d", r, got, len(r.favers))
	}
}

func countIn(text, pattern string) int {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// comments: all, or the first and the last two; those of whom the viewer does not
// see are counted and leave a nameless placeholder.
func (c *ruleCheck) comments(a *answer, r *ruleRow, text string, full bool) {
	c.t.Helper()
	shown, more := make([]int, 0, len(r.comments)), 0
	for i := range r.comments {
		if full || len(r.comments) <= 3 || i == 0 || i >= len(r.comments)-2 {
			shown = append(shown, i)
		} else {
			more++
		}
	}
	c.someComments(a, r, text, shown)
	if got := countIn(text, `(\d+) more comments?`); got != more {
		c.errorf(a, "%s has %d more comments, want %d", r, got, more)
	}
}

func (c *ruleCheck) someComments(a *answer, r *ruleRow, text string, shown []int) {
	c.t.Helper()
	var want []string
	placeholders, hearts := 0, 0
	for _, i := range shown {
		said := r.comments[i]
		if !strings.Contains(text, `id="c-`+strconv.FormatInt(said.id, 10)+`"`) {
			c.errorf(a, "%s lacks its comment %d", r, i)
		}
		if !c.v.sees(said.by, r) {
			placeholders++
			continue
		}
		want = append(want, marker('c', commentMarks*r.n+i), c.s.titleMark(said.by))
		for _, name := range said.likers {
			if c.v.sees(name, r) {
				hearts++
			}
		}
	}
	c.marks(a, r, "comments", text, want...)
	if got := strings.Count(text, "Hidden comment"); got != placeholders {
		c.errorf(a, "%s has %d placeholders, want %d", r, got, placeholders)
	}
	if got := countIn(text, `Liked by (\d+) `); got != hearts {
		c.errorf(a, "a comment of %s is liked by %d, want %d", r, got, hearts)
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
	if a.status != http.StatusOK {
		c.nothing(a)
		return
	}
	if rows := c.entries(a, p); len(rows) != 1 || rows[0] != r {
		c.errorf(a, "shows %v, want %s", rows, r)
	}
}

// fragment asks for a piece of an entry, as river.js does.
func (c *ruleCheck) fragment(r *ruleRow, address string) (a *answer, reads bool) {
	c.t.Helper()
	c.browser.header.Set("X-River-Page", "/everything")
	defer c.browser.header.Del("X-River-Page")
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
		c.likes(a, r, a.body, true)
	}
}

// aside asks the address behind "N more", and the forms.
func (c *ruleCheck) aside(r *ruleRow) {
	c.t.Helper()
	if len(r.comments) > 2 {
		if a, reads := c.fragment(r, "/comments?before="+strconv.FormatInt(r.comments[2].id, 10)); reads {
			c.someComments(a, r, a.body, []int{1})
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
	keeps := c.v.rel == admin && slices.ContainsFunc(r.places, func(p rulePlace) bool { return p.kind == timelines.KindGroup })
	status := want(403)
	switch seen := c.v.sees(ruleTalker, r); {
	case reads && !seen:
		status = 404 // a placeholder says no more
	case reads && (keeps || r.author == c.v.name):
		status = 200
	}
	form := c.get(at+"/comments/"+strconv.FormatInt(r.comments[0].id, 10)+"/edit", status)
	if status == 200 {
		c.marks(form, r, "form", form.body, append(pageMarks(c, form), marker('c', commentMarks*r.n))...)
	} else {
		c.nothing(form)
	}
}

// pageMarks are the markers of people that a page without a river has: who looks.
func pageMarks(c *ruleCheck, a *answer) []string {
	var marks []string
	for _, m := range markers.FindAllString(a.body, -1) {
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
	c.browser.header.Set("Accept", "application/json")
	for i, r := range c.s.rows {
		likes := slices.Contains(r.likers, c.v.name)
		if c.v.mayRead(r) && !likes || !likes && (c.i+i)%5 != 0 {
			continue
		}
		p := c.s.pages[(c.i+i)%len(c.s.pages)]
		if p.status(c.v) != 200 {
			p = c.s.pages[3]
		}
		c.browser.header.Set("X-River-Page", p.address)
		c.checks.Add(1)
		a := c.browser.post("/p/" + r.code + "/like")
		c.private(a)
		if !c.v.mayRead(r) {
			if a.status != http.StatusNotFound {
				c.errorf(a, "%s: status %d, want 404", r, a.status)
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
	c.browser.header.Del("Accept")
	c.browser.header.Del("X-River-Page")
}
