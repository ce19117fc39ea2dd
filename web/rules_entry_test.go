package web_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"riverrun/timelines/kinds"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// parts cuts an entry into its parts.
func (c *ruleCheck) parts(a *webtest.Answer, r *ruleRow, article string) map[string]string {
	c.t.Helper()
	parts, last := map[string]string{}, "head"
	for _, name := range append(slices.Clone(view.PartNames[:]), "box") {
		begin := `<div class="` + name + `"`
		if name == "box" {
			begin = `<div id="p-` + r.code + `-box"`
		}
		text, after, ok := strings.Cut(article, begin)
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
func (c *ruleCheck) entry(a *webtest.Answer, p *rulePage, r *ruleRow, article string) {
	c.t.Helper()
	parts := c.parts(a, r, article)
	if p.told {
		c.told(a, r, parts)
		return
	}
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

// told checks an entry of notifications: it names people whom the viewer sees and who had to do
// with the post, and quotes the post or a comment by one of them.
func (c *ruleCheck) told(a *webtest.Answer, r *ruleRow, parts map[string]string) {
	c.t.Helper()
	parts["acts"] = strings.ReplaceAll(parts["acts"], c.s.titleMark(r.author), "")
	for name, text := range parts {
		for _, m := range markers.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(m[2])
			ok := false
			switch m[1] {
			case "n":
				who := c.s.names[n]
				ok = c.v.sees(who, r) && !(c.v.hides == "talker" && who == ruleTalker) && (who == r.author || slices.Contains(talkersOf(r), who))
			case "b", "e":
				ok = n == r.n
			case "c":
				ok = n/commentMarks == r.n && c.v.sees(r.comments[n%commentMarks].by, r)
			}
			if name != "why" || !ok {
				c.errorf(a, "%s says %s in its %s", r, m[0], name)
			}
		}
	}
}

// marks compares the markers of some kinds in a text with those wanted.
func (c *ruleCheck) marks(a *webtest.Answer, r *ruleRow, what, text string, want ...string) {
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
		if name, ok := strings.CutPrefix(m, markerPrefix+"n"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(name, "z"))
			spelt[i] += "=" + c.s.names[n]
		}
	}
	return spelt
}

// body: the text, the attachment, the listing, the author, and those places the viewer knows of.
func (c *ruleCheck) body(a *webtest.Answer, p *rulePage, r *ruleRow, text string) {
	c.t.Helper()
	want := []string{marker('b', r.n), marker('f', r.n), c.s.titleMark(r.author)}
	if r.edited {
		want = append(want, marker('e', r.n))
	}
	if r.offers() {
		want = append(want, marker('l', r.n))
	}
	known := c.v.knows(r)
	for _, at := range known {
		here := len(known) == 1 && at.owner == p.own && at.slug == p.slug
		switch {
		case here:
		case at.kind == kinds.Group:
			want = append(want, c.s.titleMark(at.owner))
		case at.kind == kinds.Subfeed && at.slug != kinds.PrivateTerm:
			want = append(want, subfeedMark(at.owner, at.slug))
		case at.kind == kinds.Directs:
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
func (c *ruleCheck) likes(a *webtest.Answer, r *ruleRow, text string, full bool) {
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
	if most := view.FoldedLikes; !full && len(seen) > most+1 {
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
	if got := countIn(text, `"Liked by (\d+) `); got != len(seen) {
		c.errorf(a, "%s is liked by %d, want %v", r, got, seen)
	}
	if got := countIn(text, `"(\d+) comments?"`); got != len(r.comments) {
		c.errorf(a, "%s has %d comments, want %d", r, got, len(r.comments))
	}
	if got := countIn(text, `Saved by (\d+) `); got != len(r.favers) {
		c.errorf(a, "%s is saved by %d, want %d", r, got, len(r.favers))
	}
}

// patterns are those of countIn and countsIn, compiled once.
var patterns sync.Map

func patternOf(pattern string) *regexp.Regexp {
	form, known := patterns.Load(pattern)
	if !known {
		form, _ = patterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return form.(*regexp.Regexp)
}

// countIn is the first number that the pattern finds, 0 without one.
func countIn(text, pattern string) int {
	m := patternOf(pattern).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// countsIn are all numbers that the pattern finds.
func countsIn(text, pattern string) (all []int) {
	for _, m := range patternOf(pattern).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		all = append(all, n)
	}
	return all
}

// comments: all, or the first and the last two. Those whose authors the viewer does not
// see are counted and leave a nameless placeholder.
func (c *ruleCheck) comments(a *webtest.Answer, r *ruleRow, text string, full bool) {
	c.t.Helper()
	shown, folded := make([]int, 0, len(r.comments)), []int(nil)
	for i := range r.comments {
		if full || len(r.comments) <= 3 || i == 0 || i >= len(r.comments)-2 {
			shown = append(shown, i)
		} else {
			folded = append(folded, i)
		}
	}
	c.someComments(a, r, text, shown, folded...)
	if got := countIn(text, `(\d+) more comments?`); got != len(folded) {
		c.errorf(a, "%s has %d more comments, want %d", r, got, len(folded))
	}
}

// someComments are those shown, and the line of those folded, which names their authors.
func (c *ruleCheck) someComments(a *webtest.Answer, r *ruleRow, text string, shown []int, folded ...int) {
	c.t.Helper()
	var want []string
	if strings.Contains(a.What, "/filter/mentions") && !strings.Contains(text, `class="from"`) {
		folded = nil // where a mention is unfolded, the lines between name nobody
	}
	for _, i := range folded {
		if by := r.comments[i].by; c.v.sees(by, r) {
			want = append(want, c.s.titleMark(by))
		}
	}
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
