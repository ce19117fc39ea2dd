package web_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"riverrun/rivers"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

func frameIn(t testing.TB, a *webtest.Answer) webtest.Frame {
	t.Helper()
	var f webtest.Frame
	if err := json.Unmarshal([]byte(a.Body), &f); err != nil {
		t.Fatalf("%s: %v in %.300s", a.What, err, a.Body)
	}
	return f
}

// checkFeeds reads every page's feed file, as nobody and as somebody who may read
// more: both get what nobody may see, the newest first.
func (s *ruleSite) checkFeeds(t *testing.T, checks *atomic.Int64) {
	none := s.viewers[0]
	i := slices.IndexFunc(s.viewers, func(v *ruleViewer) bool { return v.rel == insider })
	for _, v := range []*ruleViewer{none, s.viewers[i]} {
		browser := s.browser(t, v)
		pages := s.pages
		for _, r := range s.rows {
			pages = append(pages, &rulePage{address: "/p/" + r.code, feed: true, whole: true, holds: func(_ *ruleViewer, at *ruleRow) bool { return at == r }})
		}
		for _, p := range pages {
			if strings.HasPrefix(p.address, "/search") {
				continue // has none
			}
			for _, format := range []string{".atom", ".json"} {
				s.checkFeed(t, checks, browser, none, p, format)
			}
		}
	}
}

func (s *ruleSite) checkFeed(t *testing.T, checks *atomic.Int64, browser *webtest.Visitor, none *ruleViewer, p *rulePage, format string) {
	t.Helper()
	address := (&view.Base{FeedAddress: "/feeds" + p.address}).FeedFile(format)
	a := browser.Get(address)
	status := p.status(none)
	var want []*ruleRow
	for _, r := range slices.Backward(s.rows) {
		checks.Add(1)
		if p.shows(none, r) && len(want) < rivers.PageSize {
			want = append(want, r)
		}
	}
	if !p.feed || len(p.address) > 3 && p.address[:3] == "/p/" && len(want) == 0 {
		status = http.StatusNotFound
	}
	if a.Status != status {
		t.Errorf("%s: status %d, want %d", a.What, a.Status, status)
	}
	if got := a.Header.Get("Cache-Control"); got != "no-cache" && a.Status == 200 || a.Status != 200 && got != "private, no-cache" && got != "no-store" {
		t.Errorf("%s: Cache-Control %q with status %d", a.What, got, a.Status)
	}
	allowed := map[string]bool{}
	for _, r := range want {
		allowed[marker('b', r.n)], allowed[marker('f', r.n)], allowed[s.titleMark(r.author)] = true, true, true
		if r.offers() {
			allowed[marker('l', r.n)] = true
		}
		if p.address == "/p/"+r.code {
			for i, said := range r.comments {
				allowed[marker('c', commentMarks*r.n+i)], allowed[s.titleMark(said.by)] = true, true
			}
		}
	}
	found := map[string]bool{}
	for _, m := range markers.FindAllString(a.Body, -1) {
		found[m] = true
		// The file names the person whose page it is.
		if !allowed[m] && m[len(markerPrefix)] != 'n' && m[len(markerPrefix)] != 's' {
			t.Errorf("%s: says %s", a.What, m)
		}
	}
	for m := range allowed {
		if a.Status == http.StatusOK && !found[m] {
			t.Errorf("%s: lacks %s", a.What, m)
		}
	}
}
