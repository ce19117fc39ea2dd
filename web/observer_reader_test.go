package web_test

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"riverrun/web/webtest"
)

// reader looks at random pages as random viewers, one after the other, and shows
// the observer all it is served.
type reader struct {
	*observed
	node *webtest.Site
	rng  *rand.Rand
	kept []*kept // the newest last
}

// usedTags are those of some texts.
var usedTags = []string{"tea", "river"}

// anyPage is the address of a page that a viewer may ask for, "" being nobody.
func (w *observed) anyPage(rng *rand.Rand, viewer string) string {
	w.hotMu.Lock()
	hot := w.hot // a list of its own each time
	w.hotMu.Unlock()
	if len(hot) > 0 && rng.IntN(3) == 0 {
		if page := hot[rng.IntN(len(hot))]; viewer != "" || !strings.HasPrefix(page, "/filter/") {
			return page
		}
	}
	order := ""
	if rng.IntN(4) == 0 {
		order = "?order=created"
	}
	person, group := w.someone(rng), w.someGroup(rng)
	pages := []string{
		"/everything", "/everything", "/best", "/best/saved", "/tag/" + usedTags[rng.IntN(len(usedTags))],
		"/search?q=" + []string{"says", "apple", "is:active", "is:closed", "price:..9eur", "-is:active+says"}[rng.IntN(6)],
		"/" + person, "/" + person, "/" + person + "/likes", "/" + person + "/comments",
		"/" + person + "/photos", "/" + person + "/private", "/" + group, "/" + group,
		"/" + group + "?state=" + []string{"active", "closed"}[rng.IntN(2)],
	}
	if viewer != "" {
		pages = append(pages, "/", "/", "/", "/?mode=friends", "/filter/messages", "/filter/discussions", "/filter/only-me", "/filter/mentions", "/filter/notifications",
			"/filter/saved", "/lists/some")
	}
	if p := w.pick(rng, nil); p != nil {
		pages = append(pages, "/p/"+p.code, "/p/"+p.code)
	}
	page := pages[rng.IntN(len(pages))]
	if strings.Contains(page, "?") {
		return page
	}
	return page + order
}

// otherAddress is one that is no river's page but shows texts.
func (rd *reader) otherAddress(viewer string) string {
	format := []string{".atom", ".json"}[rd.rng.IntN(2)]
	pages := []string{
		"/feeds/everything" + format, "/feeds/" + rd.someone(rd.rng) + format, "/feeds/" + rd.someGroup(rd.rng) + format,
		"/feeds/" + rd.someone(rd.rng) + "/likes" + format, "/feeds/best" + format,
	}
	if viewer != "" {
		if place := url.QueryEscape(rd.draftPlace(rd.rng)); rd.rng.IntN(2) == 0 {
			pages = []string{"/drafts", "/drafts/edit?place=" + place, "/drafts?place=" + place, "/scheduled", "/filter/mine", "/filter/mine?show=published", "/push/news", "/push/news"}
		}
		pages = append(pages, "/settings/hidden", "/settings/pages", "/groups", "/lists", "/"+rd.someGroup(rd.rng)+"/members", "/people", "/"+rd.someone(rd.rng)+"/followers")
	}
	if p := rd.pick(rd.rng, nil); p != nil {
		pages = append(pages, "/feeds/p/"+p.code+format, "/p/"+p.code+"/edit", "/p/"+p.code+"/remove", "/p/"+p.code+"/likes?shown=1",
			"/p/"+p.code+"/history", "/p/"+p.code+"/history", "/p/"+p.code+"/preview")
	}
	return pages[rd.rng.IntN(len(pages))]
}

var (
	olderForm  = regexp.MustCompile(`href="([^"]*before=[^"]*)"`)
	unfoldForm = regexp.MustCompile(`data-unfold="([^"]*)"`)
	editForm   = regexp.MustCompile(`href="(/p/[^"]*/edit)"`)
	fileForm   = regexp.MustCompile(`(?:href|src)="(/files/[^"]*|/p/[^"]*/preview)"`)
)

// warm looks at all that has a list, as everybody, so that what follows meets
// rivers and memories of before.
func (rd *reader) warm() {
	pages := []string{"/everything", "/best"}
	for _, r := range rd.people {
		for _, page := range []string{"", "/likes", "/comments", "/photos", "/private"} {
			pages = append(pages, "/"+r.name+page)
		}
	}
	for _, g := range rd.groups {
		pages = append(pages, "/"+g)
	}
	for _, who := range append(slices.Clone(rd.people), nil) {
		for _, page := range pages {
			rd.get(rd.node, who, page, "")
		}
		if who != nil {
			for _, page := range []string{"/", "/filter/messages", "/filter/only-me", "/filter/saved"} {
				rd.get(rd.node, who, page, "")
			}
		}
	}
}

func (rd *reader) look() {
	who := rd.anybody(rd.rng)
	rd.tryKept(who)
	rd.anyCall()
	rd.anyCall()
	if rd.rng.IntN(4) == 0 {
		rd.get(rd.node, who, rd.otherAddress(nameOf(who)), "")
		return
	}
	address := rd.anyPage(rd.rng, nameOf(who))
	for range 3 {
		body := rd.get(rd.node, who, address, "")
		rd.keep(linksIn(body, fileForm)...)
		for _, form := range []*regexp.Regexp{unfoldForm, editForm} {
			if more := linksIn(body, form); len(more) > 0 && rd.rng.IntN(2) == 0 {
				// An unfolded list stands in an entry of a page, but not as a list does.
				rd.get(rd.node, who, more[rd.rng.IntN(len(more))], "/everything")
			}
		}
		older := linksIn(body, olderForm)
		if len(older) == 0 {
			return
		}
		address = older[0]
	}
}

// anybody is a resident, or nil for nobody.
func (w *observed) anybody(rng *rand.Rand) *resident {
	switch k := rng.IntN(len(w.people) + 3); k {
	case 0:
		return nil
	case 1:
		return w.quiet
	case 2:
		return w.office
	default:
		return w.people[k-3]
	}
}

func nameOf(r *resident) string {
	if r == nil {
		return ""
	}
	return r.name
}

// get asks a node for an address and judges the answer. within is the page from
// which river.js asks, if it does.
func (w *observed) get(n *webtest.Site, who *resident, address, within string) string {
	had := &kept{}
	if key := nameOf(who) + " " + address; within == "" {
		if found, ok := w.copies.Load(key); ok {
			had = found.(*kept) // as a browser has it
		}
		body, tag := w.getAgain(n, who, address, within, had)
		if tag != "" {
			w.copies.Store(key, &kept{tag: tag, body: body})
		}
		return body
	}
	body, _ := w.getAgain(n, who, address, within, had)
	return body
}

// getAgain is get by somebody who has kept a copy. It returns the entity tag, too.
func (w *observed) getAgain(n *webtest.Site, who *resident, address, within string, copy *kept) (body, tag string) {
	var v *webtest.Visitor
	if who == nil {
		v = n.Visitor()
	} else {
		v = who.visitors[slices.Index(w.nodes, n)]
	}
	v = &webtest.Visitor{T: v.T, Base: v.Base, Client: v.Client, Header: http.Header{}}
	if within != "" {
		v.Header.Set("X-River-Page", within)
	}
	if strings.HasPrefix(address, "/drafts?") {
		v.Header.Set("Accept", "application/json")
	}
	if copy.tag != "" {
		v.Header.Set("If-None-Match", copy.tag)
	}
	s := serving{viewer: nameOf(who), address: address, how: "page", about: address, from: w.facts.now(), node: n}
	a := v.Get(address)
	s.to = w.facts.now()
	if a.Status == http.StatusNotModified {
		a.Body = copy.body // that is what it says
	}
	if a.Status >= 500 || a.Status == http.StatusBadRequest {
		w.t.Errorf("GET %s for %q: status %d", address, s.viewer, a.Status)
	}
	w.judge(s, allOf(a))
	w.complain(judgeHeader(s, a))
	if a.Status != http.StatusOK && a.Status != http.StatusNotModified {
		return "", ""
	}
	if within != "" {
		w.complain(w.facts.judgeFragment(s, a.Body))
	}
	w.facts.opened(s)
	return a.Body, a.Header.Get("ETag")
}
