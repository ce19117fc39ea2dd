package web_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"riverrun/rivers"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// equalsReload waits until the page shows what a reload would, which no
// comparison brings about.
func (fl *follower) equalsReload() {
	fl.t.Helper()
	fl.mu.Lock()
	address := fl.address
	fl.mu.Unlock()
	if fl.conn == nil || address == "" {
		return
	}
	var differ string
	webtest.Await(fl.t, fmt.Sprintf("%q on %s to equal a reload", nameOf(fl.who), address), func() bool {
		select {
		case <-fl.ended:
			return true // closed: nothing is shown
		default:
		}
		body := fl.get(fl.node, fl.who, address, "")
		m := riverForm.FindStringSubmatch(body)
		fl.mu.Lock()
		defer fl.mu.Unlock()
		if m == nil {
			// A post's page that is gone need not be closed to show nothing.
			differ = "a reload shows no river"
			return len(fl.shown) == 0
		}
		now := entriesOf(body)
		if differ = fl.differs(m[1], now); differ == "" {
			differ = fl.miscounts(now)
		}
		return differ == ""
	}, func() string { return differ }, fl.story)
}

// story tells the history of the entry that differs.
func (fl *follower) story() string {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.facts.mu.RLock()
	defer fl.facts.mu.RUnlock()
	var b strings.Builder
	if p := fl.facts.codes[fl.differing]; p != nil {
		token := p.text.last()
		b.WriteString(fl.facts.tell(token, fl.facts.tokens[token], nameOf(fl.who)))
	}
	for _, said := range fl.said {
		if strings.Contains(said, fl.differing) || !strings.Contains(said, " entry ") && !strings.Contains(said, " gone ") {
			b.WriteString("\n" + said)
		}
	}
	return b.String()
}

// differs compares what is shown, as far as a first page goes, with a reload.
func (fl *follower) differs(river string, now map[string]*shownEntry) string {
	if fl.river != river {
		return fmt.Sprintf("river %s, a reload %s", fl.river, river)
	}
	codes := slices.SortedFunc(maps.Keys(fl.shown), func(a, b string) int { return int(fl.shown[b].place - fl.shown[a].place) })
	codes = codes[:min(len(codes), rivers.PageSize)]
	for _, code := range codes {
		fl.differing = code
		if now[code] == nil {
			lacks := slices.DeleteFunc(slices.Sorted(maps.Keys(now)), func(code string) bool { return fl.shown[code] != nil })
			if len(lacks) > 0 {
				fl.differing = lacks[0] // in whose place this one stands
			}
			return fmt.Sprintf("shows %s at %s, place %d, a reload does not; of its %d it lacks %v", code, fl.shown[code].version,
				fl.shown[code].place, len(now), lacks)
		}
	}
	for code, e := range now {
		fl.differing = code
		was := fl.shown[code]
		if was == nil {
			return fmt.Sprintf("lacks %s at %s", code, e.version)
		}
		if was.version != e.version || was.place != e.place {
			return fmt.Sprintf("shows %s at %s, place %d, a reload at %s, place %d", code, was.version, was.place, e.version, e.place)
		}
		for _, part := range view.PartNames {
			is, would := webtest.Lasting(was.parts[part]), webtest.Lasting(e.parts[part])
			if is != would {
				return fmt.Sprintf("%s of %s at %s are\n%s\na reload's\n%s", part, code, e.version, is, would)
			}
		}
	}
	return ""
}

// miscounts compares how many comments entries are said to have with how many they
// have, at rest. The page of notifications shows only what its viewer answered there.
func (fl *follower) miscounts(now map[string]*shownEntry) string {
	if strings.HasPrefix(fl.address, view.NotificationsPath) {
		return ""
	}
	fl.facts.mu.RLock()
	defer fl.facts.mu.RUnlock()
	for code, e := range now {
		p, has := fl.facts.codes[code], 0
		for _, c := range fl.facts.comments[p] {
			if c.text.last() != "" {
				has++
			}
		}
		text := e.parts["comments"]
		if said := len(webtest.CommentIDs.FindAllString(text, -1)) + countIn(text, `(\d+) more comments?`); said != has {
			fl.differing = code
			return fmt.Sprintf("%d comments on %s at %s, which has %d", said, code, e.version, has)
		}
	}
	return ""
}
