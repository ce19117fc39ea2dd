package web_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"riverrun/web/webtest"
)

// This file observes what people learn: notifications and their number, what a browser shows
// after a push, and what of a page is new to its reader.

// quiet is somebody who has banned everybody, and whom everybody names: nothing that is done may
// reach them.
const quiet = "sue"

// opening is somebody's view of a post's own page, on a node: node, viewer, code.
type opening struct {
	node         *webtest.Site
	viewer, code string
}

var openedForm = regexp.MustCompile(`^/p/([0-9a-z]{10})$`)

// opened notes that somebody was served a post's own page: what was there before is read then, as
// that node knows.
func (f *facts) opened(s serving) {
	m := openedForm.FindStringSubmatch(s.address)
	if m == nil || s.viewer == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := opening{s.node, s.viewer, m[1]}
	f.openings[key] = append(f.openings[key], change[struct{}]{from: s.from, to: s.to})
}

// isNew: might the comment have been new to the viewer, and one that the viewer sees?
func (f *facts) isNew(s serving, c *writing) bool {
	if c.author == s.viewer || s.viewer == "" {
		return false
	}
	if len(c.text.changes) > 0 {
		for _, o := range f.openings[opening{s.node, s.viewer, c.post.code}] {
			if o.to <= s.from && c.text.changes[0].to <= o.from {
				return false
			}
		}
	}
	if len(c.text.changes) > 0 && c.text.changes[0].from > s.to {
		return false // nobody had written it yet
	}
	return f.ever(s.from, s.to, func(at instant) bool {
		return f.says(at, s.viewer, c, "") &&
			f.stands(at, c.post, func(places []string) bool { return f.sees(at, s.viewer, c.author, places) })
	})
}

var (
	freshForm  = regexp.MustCompile(`class="fresh" href="/p/[0-9a-z]{10}#unread"[^>]*>(\d+)`)
	unreadLine = regexp.MustCompile(`id="unread"[^>]*>[^<]*</div>\s*(?:<div class="comment" id="c-(\d+)")?`)
	awayForm   = regexp.MustCompile(`(\d+) changes? while you were away`)
	badgeForm  = regexp.MustCompile(`<span class="unread" data-unread[^>]*>\s*<span>(\d+)`)
	unreadForm = regexp.MustCompile(`data-unread="(\d+)"`)
)

// judgeNews says whether an entry tells of more new comments than there are for its viewer to
// see, or where they begin above one that is none of them. It is called with mu held.
func (f *facts) judgeNews(s serving, p *writing, text string) (wrong []string) {
	complain := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s of %s for %q, decided between %d and %d: ", s.how, s.address, s.viewer, s.from, s.to)+
			fmt.Sprintf(format, args...))
	}
	if said := countIn(text, freshForm.String()); said > 0 {
		f.note("new comments")
		most := 0
		for _, c := range f.comments[p] {
			if f.isNew(s, c) {
				most++
			}
		}
		if said > most {
			complain("%d new comments on %s %s, where there are %d at most", said, p.id, p.code, most)
		}
	}
	if m := unreadLine.FindStringSubmatch(text); m != nil {
		f.note("first unread")
		at := slices.IndexFunc(f.comments[p], func(c *writing) bool { return strconv.FormatInt(c.number, 10) == m[1] })
		switch {
		case m[1] == "":
			complain("on %s %s the line of the first unread comment stands above none", p.id, p.code)
		case at >= 0 && !f.isNew(s, f.comments[p][at]):
			c := f.comments[p][at]
			complain("on %s %s the line of the first unread comment stands above %s by %s\n%s", p.id, p.code, c.id, c.author, f.tellBetween(s.viewer, c.author))
		}
	}
	return wrong
}

// toldBy: might the viewer have been told of something that the person did about the post?
func (f *facts) toldBy(at instant, viewer, person string, p *writing) bool {
	if person == viewer || viewer == "" || !f.may(at, hidesA, viewer, person, false) ||
		!f.stands(at, p, func(places []string) bool { return f.sees(at, viewer, person, places) }) {
		return false
	}
	names := func(w *writing) bool {
		return w.text.each(at, func(text string) bool { return slices.Contains(f.tokens[text].names, viewer) })
	}
	direct := f.stands(at, p, func(places []string) bool { return slices.Contains(places, directsOf+viewer) })
	if p.author == person && (direct || names(p)) || p.author == viewer && f.may(at, likes, person, p.id, true) {
		return true
	}
	took := slices.ContainsFunc(f.comments[p], func(c *writing) bool { return c.author == viewer })
	return slices.ContainsFunc(f.comments[p], func(c *writing) bool {
		if !c.text.each(at, func(text string) bool { return text != "" }) {
			return false
		}
		return c.author == person && (p.author == viewer || direct || took || names(c)) ||
			c.author == viewer && f.may(at, likes, person, c.id, true)
	})
}

// told: might the viewer have been told of something about the post?
func (f *facts) told(at instant, viewer string, p *writing) bool {
	return slices.ContainsFunc(f.residents, func(person string) bool { return f.toldBy(at, viewer, person, p) })
}

// asking is how many requests may wait for the viewer's answer.
func (f *facts) asking(s serving) (n int) {
	for key := range f.relations {
		if key.kind != asks {
			continue
		}
		person, of := key.a, key.b
		if f.ever(s.from, s.to, func(at instant) bool {
			if !f.may(at, asks, person, of, true) {
				return false
			}
			return of == s.viewer && f.may(at, bans, of, person, false) && f.may(at, bans, person, of, false) || f.may(at, leads, s.viewer, of, true)
		}) {
			n++
		}
	}
	return n
}

// judgeUnread says whether the viewer is told of more unread notifications than there may be,
// with these requests besides. It is called with mu held.
func (f *facts) judgeUnread(s serving, number, requests int) []string {
	if number == 0 {
		return nil
	}
	f.note("unread notifications")
	on, most := showing{kind: onNotices}, requests
	if f.ever(s.from, s.to, func(at instant) bool { return f.may(at, warned, s.viewer, "", true) }) {
		most++
	}
	for _, p := range f.begun {
		if most >= number {
			break
		}
		if f.ever(s.from, s.to, func(at instant) bool { return f.reads(at, s.viewer, p) && on.holds(f, at, s.viewer, p) }) {
			most++
		}
	}
	if number > most {
		told := fmt.Sprintf("%s of %s for %q, decided between %d and %d: %d unread notifications, where there are %d at most",
			s.how, s.address, s.viewer, s.from, s.to, number, most)
		for _, p := range f.begun {
			was := f.ever(0, s.from, func(at instant) bool { return on.holds(f, at, s.viewer, p) })
			if is := f.ever(s.from, s.to, func(at instant) bool { return f.reads(at, s.viewer, p) && on.holds(f, at, s.viewer, p) }); was && !is {
				told += "\nno longer of " + f.tell(p.text.last(), said{writing: p}, s.viewer)
			}
		}
		return []string{told}
	}
	return nil
}

// judgeActors says which people an entry of notifications names who did nothing that the viewer
// may know of. It is called with mu held.
func (f *facts) judgeActors(s serving, p *writing, text string) (wrong []string) {
	for _, m := range accountForm.FindAllStringSubmatch(text, -1) {
		if !f.ever(s.from, s.to, func(at instant) bool { return f.toldBy(at, s.viewer, m[1], p) }) {
			wrong = append(wrong, fmt.Sprintf("%s of %s for %q, decided between %d and %d: told of %s on %s %s\n%s",
				s.how, s.address, s.viewer, s.from, s.to, m[1], p.id, p.code, f.tellBetween(s.viewer, m[1])))
		}
	}
	return wrong
}

// judgeTold says what is wrong with numbers that stand beside the entries of a page: of unread
// notifications, of changes while one was away, and with what a browser shows after a push. It is
// called with mu held.
func (f *facts) judgeTold(s serving, body string) (wrong []string) {
	for _, form := range []*regexp.Regexp{badgeForm, unreadForm} {
		wrong = append(wrong, f.judgeUnread(s, countIn(body, form.String()), f.asking(s))...)
	}
	if away := countIn(body, awayForm.String()); away > 0 {
		f.note("changes while away")
		above, _, _ := strings.Cut(body, `class="below"`)
		if shown := len(articleForm.FindAllString(above, -1)); away != shown {
			wrong = append(wrong, fmt.Sprintf("%s of %s for %q: %d changes while they were away, and %d entries", s.how, s.address, s.viewer, away, shown))
		}
	}
	if s.address != "/push/news" {
		return wrong
	}
	var doc struct {
		Unread           int
		Title, Body, URL string
	}
	at := strings.Index(body, "{")
	if at < 0 || json.Unmarshal([]byte(body[at:]), &doc) != nil {
		return wrong // to sign in
	}
	wrong = append(wrong, f.judgeUnread(s, doc.Unread, 0)...)
	if doc.Title != "" {
		f.note("news after a push")
	}
	quoted := f.tokens[tokenForm.FindString(doc.Body)].writing
	for _, name := range strings.FieldsFunc(doc.Title, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !slices.Contains(f.residents, name) {
			continue
		}
		if !slices.ContainsFunc(f.begun, func(p *writing) bool {
			return (quoted == nil || quoted.of() == p) && f.ever(s.from, s.to, func(at instant) bool {
				return f.reads(at, s.viewer, p) && f.toldBy(at, s.viewer, name, p)
			})
		}) {
			wrong = append(wrong, fmt.Sprintf("%s of %s for %q, decided between %d and %d: %q, and of %s there is nothing to tell\n%s",
				s.how, s.address, s.viewer, s.from, s.to, doc.Title, name, f.tellBetween(s.viewer, name)))
		}
	}
	return wrong
}
