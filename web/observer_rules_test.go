package web_test

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"riverrun/web/view"
	"riverrun/web/webtest"
)

// showing is a page as the rules know it.
type showing struct {
	kind  string // first segment of an address, or one of those below
	whose string // account's name, or place's
	// asAll: it is the same for everybody, as nobody sees it.
	asAll bool
}

// Kinds of pages besides first segments.
const (
	onHome, onUser, onSubfeed, onGroup = "home", "user", "subfeed", "group"
	onLikes, onComments, onFaves       = "likes", "comments", "saved"
	onNotices, onDrafts, onHistory     = "notifications", "drafts", "history"
	onMine                             = "mine"
	// onNone shows posts one by one: no list they could have left.
	onNone = ""
)

// showingOf says what page an address leads to.
func (f *facts) showingOf(address string) showing {
	u, err := url.Parse(address)
	if err != nil {
		return showing{}
	}
	path, feed := strings.CutPrefix(u.Path, "/feeds")
	if feed {
		path = strings.TrimSuffix(strings.TrimSuffix(path, ".atom"), ".json")
	}
	on := showing{asAll: feed}
	first, second, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case path == "/":
		on.kind = onHome
	case path == "/push/news":
		on.kind = onNotices
	case first == onDrafts, first == "scheduled":
		on.kind = onDrafts
	case first == "p" && strings.HasSuffix(second, "/history"):
		on.kind, on.whose = onHistory, strings.TrimSuffix(second, "/history")
	case first == "filter":
		on.kind = second
	case f.groups[first] && second == "":
		on.kind, on.whose = onGroup, first
	case f.owners[first] == "":
		if slices.Contains([]string{"everything", "best", "tag", "lists", "search"}, first) {
			on.kind = first
		}
	case second == "":
		on.kind, on.whose = onUser, first
	case second == onLikes || second == onComments:
		on.kind, on.whose = second, first
	case f.owners[first+"/"+second] != "":
		on.kind, on.whose = onSubfeed, first+"/"+second
	}
	return on
}

// holds: might the page have held the post for the viewer, who could read it?
func (on showing) holds(f *facts, at instant, viewer string, p *writing) bool {
	account := ""
	in := func(is func(place string) bool) bool {
		return f.stands(at, p, func(places []string) bool { return slices.ContainsFunc(places, is) })
	}
	switch on.kind {
	case onNone, onDrafts:
		return true
	case onNotices:
		if !f.may(at, mutes, viewer, p.id, false) || !f.told(at, viewer, p) {
			return false
		}
	case "messages":
		return in(func(place string) bool { return place == directsOf+viewer })
	case onFaves:
		return f.may(at, keeps, viewer, p.id, true)
	case "only-me":
		return in(func(place string) bool { return place == eyesOf+viewer })
	case onHome:
		if !f.bringsHome(at, viewer, p) {
			return false
		}
	case onUser, onSubfeed, onGroup:
		account = f.owners[on.whose]
		if !in(func(place string) bool { return place == on.whose || on.kind == onUser && f.owners[place] == account }) {
			return false
		}
	case onLikes:
		account = on.whose
		if !f.may(at, likes, account, p.id, true) {
			return false
		}
	case onComments:
		account = on.whose
		if !f.commented(at, account, p) {
			return false
		}
	}
	if account != "" {
		// "May this viewer open this river at all?" A ban closes a person's pages.
		if !f.opens(at, viewer, on.whose) || !f.knows(at, viewer, account) || !f.may(at, bans, viewer, account, false) || !f.may(at, bans, account, viewer, false) {
			return false
		}
	}
	return f.spared(at, viewer, p, account)
}

// warns: might the page have named the post to its author as one that is blocked? It does even if
// the author muted it.
func (on showing) warns(f *facts, at instant, viewer string, p *writing) bool {
	return on.kind == onNotices && p.author == viewer && f.may(at, warned, viewer, "", true) &&
		f.stands(at, p, func(places []string) bool { return slices.Contains(places, eyesOf+viewer) })
}

// bringsHome: might there have been a reason for the post to be in the viewer's home feed?
// A post that one once wrote, liked or commented on may stay among one's discussions.
func (f *facts) bringsHome(at instant, viewer string, p *writing) bool {
	if f.tookPart[tie{likes, viewer, p.id}] {
		return true
	}
	mine := func(account string) bool { return account == viewer || f.may(at, brings, viewer, account, true) }
	if f.stands(at, p, func(places []string) bool {
		return slices.ContainsFunc(places, func(place string) bool { return f.opens(at, viewer, place) && mine(f.owners[place]) })
	}) {
		return true
	}
	for account := range f.owners {
		if mine(account) && f.knows(at, viewer, account) && (f.may(at, likes, account, p.id, true) || f.commented(at, account, p)) {
			return true
		}
	}
	return false
}

var (
	codesForm    = regexp.MustCompile(`\b[0-9a-z]{10}\b`)
	tokenForm    = regexp.MustCompile(`zqxjv\d+k`)
	articleForm  = regexp.MustCompile(`(?s)<article id="p-([0-9a-z]{10})".*?</article>`)
	likesForm    = regexp.MustCompile(`(?s)<div class="likes">(.*?)</div>`)
	whyForm      = regexp.MustCompile(`(?s)<div class="why">(.*?)</div>`)
	toForm       = regexp.MustCompile(`(?s)<span class="to">(.*?)<a class="when"`)
	fragmentForm = regexp.MustCompile(`^/p/([0-9a-z]{10})/(likes|comments)\?`)
	accountForm  = regexp.MustCompile(`<a class="who" href="/([a-z0-9-]+(?:/[a-z0-9-]+)?)"`)
)

// serving is what was served or pushed to somebody, and when it can have been
// decided.
type serving struct {
	viewer   string
	address  string // of the page it is of
	from, to instant
	how      string
	except   string // a token the viewer has just sent, which may be sent back
	about    string // what was asked for or is taken away: codes in it are known
	node     *webtest.Site
}

// judge says what is wrong with bytes that were served: every token in them, and
// every name in the parts of entries that are made of names.
func (f *facts) judge(s serving, body string) []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	on, viewer := f.showingOf(s.address), s.viewer
	if on.asAll {
		viewer = ""
	}
	wrong := append(f.judgeKept(s, on, body), f.judgeTold(s, body)...)
	complain := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s of %s for %q, decided between %d and %d: ", s.how, s.address, s.viewer, s.from, s.to)+
			fmt.Sprintf(format, args...))
	}
	tokens := tokenForm.FindAllString(body, -1)
	slices.Sort(tokens)
	for _, token := range slices.Compact(tokens) {
		of, known := f.tokens[token]
		if !known || token == s.except {
			continue
		}
		switch {
		case strings.HasSuffix(s.address, "/preview"):
			f.note("pictures of cards")
		case on.kind == onHistory && of.writing != nil && !of.writing.text.may(s.to, token):
			f.note("former texts")
		case of.draft != nil:
			f.note("drafts")
		}
		if !f.ever(s.from, s.to, func(at instant) bool { return f.shown(at, viewer, token, of, on) }) {
			complain("%s", f.tell(token, of, viewer))
		}
	}
	codes := codesForm.FindAllString(body, -1)
	slices.Sort(codes)
	for _, code := range slices.Compact(codes) {
		p := f.codes[code]
		if p == nil || strings.Contains(s.about, code) || strings.Contains(s.address, code) || on.kind == onDrafts && f.drafts[tie{a: viewer, b: "/p/" + code}] != nil {
			continue
		}
		if on.kind == onMine && p.author == viewer {
			continue // where it stands may be closed to its author by now
		}
		if !f.ever(s.from, s.to, func(at instant) bool { return f.reads(at, viewer, p) }) {
			complain("the code %s\n%s", code, f.tell(p.text.last(), said{writing: p}, viewer))
		}
	}
	for _, m := range articleForm.FindAllStringSubmatch(body, -1) {
		p := f.codes[m[1]]
		if p == nil {
			continue // its answer is not here yet
		}
		for _, line := range likesForm.FindAllStringSubmatch(m[0], -1) {
			wrong = append(wrong, f.judgeLikes(s, p, viewer, line[1])...)
		}
		wrong = append(wrong, f.judgeComments(s, p, viewer, m[0])...)
		wrong = append(wrong, f.judgeNews(s, p, m[0])...)
		if on.kind == onNotices {
			wrong = append(wrong, f.judgeActors(s, p, whyForm.FindString(m[0]))...)
		}
		f.judgePlaces(s, p, viewer, m[0], complain)
	}
	return wrong
}

// judgeComments says what is wrong with the comments of an entry but for their texts.
func (f *facts) judgeComments(s serving, p *writing, viewer, text string) []string {
	return slices.Concat(f.judgeCommentCount(s, p, text), f.judgeVeils(s, p, viewer, text), f.judgeHearts(s, p, viewer, text))
}

// judgeFragment says what is wrong with what unfolds in an entry.
func (f *facts) judgeFragment(s serving, text string) []string {
	m := fragmentForm.FindStringSubmatch(s.address)
	if m == nil {
		return nil
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	p := f.codes[m[1]]
	switch {
	case p == nil:
		return nil // its answer is not here yet
	case m[2] == "likes":
		return f.judgeLikes(s, p, s.viewer, text)
	}
	return append(f.judgeVeils(s, p, s.viewer, text), f.judgeHearts(s, p, s.viewer, text)...)
}

// judgeLikes says which names in a line of likes are wrong.
func (f *facts) judgeLikes(s serving, p *writing, viewer, line string) []string {
	var wrong []string
	for _, m := range accountForm.FindAllStringSubmatch(line, -1) {
		name := m[1]
		if !f.ever(s.from, s.to, func(at instant) bool {
			return f.may(at, likes, name, p.id, true) &&
				f.stands(at, p, func(places []string) bool { return f.sees(at, viewer, name, places) })
		}) {
			wrong = append(wrong, fmt.Sprintf("%s of %s for %q, decided between %d and %d: %s likes %s %s\n%s",
				s.how, s.address, s.viewer, s.from, s.to, name, p.id, p.code, f.tellBetween(viewer, name)))
		}
	}
	return append(wrong, f.judgeLikeCount(s, p, viewer, line)...)
}

// judgeLikeCount says whether more people, or fewer, are named and counted than the viewer
// may see like the post, or keep it: who does that is told to nobody, and everybody counts.
func (f *facts) judgeLikeCount(s serving, p *writing, viewer, line string) []string {
	least, most := bounds(f, s, f.residents, func(at instant, name string, so bool) bool { return f.mayLike(at, viewer, p, name, so) })
	if strings.Contains(s.address, view.NotificationsPath) {
		// Its entries count, and name nobody.
		return miscount(s, p, "likes", countIn(line, `Liked by (\d+) `), least, most)
	}
	wrong := miscount(s, p, "likes", len(accountForm.FindAllString(line, -1))+countIn(line, `(\d+) others?`), least, most)
	least, most = bounds(f, s, f.residents, func(at instant, name string, so bool) bool { return f.may(at, keeps, name, p.id, so) })
	return append(wrong, miscount(s, p, "keepers", countIn(line, `Saved by (\d+) `), least, most)...)
}

// mayLike: might the viewer have seen the person like the post or comment; or not?
func (f *facts) mayLike(at instant, viewer string, w *writing, name string, so bool) bool {
	if !so {
		return f.may(at, likes, name, w.id, false) || f.apart(at, viewer, name)
	}
	return f.may(at, likes, name, w.id, true) &&
		f.stands(at, w.of(), func(places []string) bool { return f.sees(at, viewer, name, places) })
}

// judgeCommentCount says whether a post is said to have more comments than it has, or
// fewer. Hidden ones count: each leaves a placeholder.
func (f *facts) judgeCommentCount(s serving, p *writing, text string) []string {
	if strings.Contains(s.address, view.NotificationsPath) {
		return nil // it shows answers alone
	}
	least, most := bounds(f, s, f.comments[p], func(at instant, c *writing, so bool) bool {
		return f.there(at, c, so)
	})
	said := len(webtest.CommentIDs.FindAllString(text, -1))
	for _, folded := range countsIn(text, `(\d+) more comments?`) { // several on the page of mentions
		said += folded
	}
	return miscount(s, p, "comments", said, least, most)
}

// judgeHearts says whether a comment is said to be liked by more, or fewer, than the
// viewer may see like it.
func (f *facts) judgeHearts(s serving, p *writing, viewer, text string) []string {
	var wrong []string
	for _, text := range strings.Split(text, `<div class="comment`)[1:] {
		m := webtest.CommentIDs.FindStringSubmatch(text)
		if m == nil || strings.HasPrefix(text, " veiled") {
			continue
		}
		for _, c := range f.comments[p] {
			if strconv.FormatInt(c.number, 10) == m[1] {
				least, most := bounds(f, s, f.residents, func(at instant, name string, so bool) bool { return f.mayLike(at, viewer, c, name, so) })
				wrong = append(wrong, miscount(s, p, "likes of "+c.id, countIn(text, `Liked by (\d+) `), least, most)...)
			}
		}
	}
	return wrong
}

func miscount(s serving, p *writing, what string, said, least, most int) []string {
	if least <= said && said <= most {
		return nil
	}
	return []string{fmt.Sprintf("%s of %s for %q, decided between %d and %d: %d %s on %s %s, who sees %d to %d of them",
		s.how, s.address, s.viewer, s.from, s.to, said, what, p.id, p.code, least, most)}
}

// judgeVeils says whether more comments are hidden than those of people who are hidden
// from the viewer: a placeholder tells of somebody's ban.
func (f *facts) judgeVeils(s serving, p *writing, viewer, text string) []string {
	said, most := strings.Count(text, `class="comment veiled"`), 0
	for _, c := range f.comments[p] {
		if f.ever(s.from, s.to, func(at instant) bool {
			return f.apart(at, viewer, c.author) && f.there(at, c, true)
		}) {
			most++
		}
	}
	if said > most {
		return []string{fmt.Sprintf("%s of %s for %q, decided between %d and %d: %d hidden comments on %s %s, where %d are hidden from them at most",
			s.how, s.address, s.viewer, s.from, s.to, said, p.id, p.code, most)}
	}
	return nil
}

// judgeHeader says what is wrong with the head of an answer but for the texts and codes
// in it: who may keep it.
func judgeHeader(s serving, a *webtest.Answer) []string {
	cache, ok := a.Header.Get("Cache-Control"), false
	feed := strings.HasPrefix(s.address, "/feeds/")
	switch {
	case feed && (a.Status == http.StatusOK || a.Status == http.StatusNotModified):
		ok = cache == "no-cache" // of nobody in particular
	case a.Status == http.StatusSeeOther && cache == "":
		ok = true
	default:
		ok = cache == "private, no-cache" || strings.Contains(cache, "no-store")
	}
	var wrong []string
	if !ok {
		wrong = append(wrong, fmt.Sprintf("%s %s for %q, status %d: Cache-Control %q", s.how, s.address, s.viewer, a.Status, cache))
	}
	// A tag is of what must be asked for again each time; the fetches of programs have strong ones.
	if tag := a.Header.Get("ETag"); tag != "" && (strings.Contains(cache, "no-store") || !strings.HasPrefix(tag, "W/")) &&
		!strings.HasPrefix(s.about, "/api/") && !strings.HasPrefix(s.address, "/files/") && !strings.HasSuffix(s.address, "/preview") {
		wrong = append(wrong, fmt.Sprintf("%s %s for %q, status %d: ETag %q", s.how, s.address, s.viewer, a.Status, tag))
	}
	return wrong
}

// allOf is all that came with an answer: its head's values and its body.
func allOf(a *webtest.Answer) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		for _, value := range a.Header[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	return b.String() + plain(a.Body)
}

// judgePlaces looks at which places, and whom, an entry names above its text.
func (f *facts) judgePlaces(s serving, p *writing, viewer, article string, complain func(string, ...any)) {
	parts := append(toForm.FindAllStringSubmatch(article, -1), whyForm.FindAllStringSubmatch(article, -1)...)
	for _, part := range parts {
		for _, m := range accountForm.FindAllStringSubmatch(part[1], -1) {
			name := m[1]
			if !f.groups[name] && !strings.Contains(name, "/") {
				continue // people are named as writers, likers and parties of messages
			}
			if !f.ever(s.from, s.to, func(at instant) bool {
				return f.opens(at, viewer, name) && f.stands(at, p, func(places []string) bool { return slices.Contains(places, name) })
			}) {
				complain("%s %s is said to stand in %s, where it stands in %v", p.id, p.code, name, tellHistory(&p.places))
			}
		}
	}
	for _, part := range whyForm.FindAllStringSubmatch(article, -1) {
		for _, m := range accountForm.FindAllStringSubmatch(part[1], -1) {
			name := m[1]
			if f.groups[name] || strings.Contains(name, "/") {
				continue
			}
			if !f.ever(s.from, s.to, func(at instant) bool {
				return f.stands(at, p, func(places []string) bool { return f.sees(at, viewer, name, places) })
			}) {
				complain("%s %s is said to be here because of %s\n%s", p.id, p.code, name, f.tellBetween(viewer, name))
			}
		}
	}
}

// tell describes a token that should not have been seen.
func (f *facts) tell(token string, of said, viewer string) string {
	if of.draft != nil {
		return fmt.Sprintf("%s in a draft of %s for %s (text %s)", token, of.draft.owner, of.draft.place, tellHistory(&of.draft.text))
	}
	if of.person != "" {
		return fmt.Sprintf("%s, the title of %s", token, f.tellPerson(of.person))
	}
	if of.writing == nil {
		return fmt.Sprintf("%s, the title of %s: level %s, admits %s, excludes %s", token, of.place, tellHistory(f.levels[of.place]),
			tellHistory(f.tie(admits, of.place, viewer)), tellHistory(f.tie(excludes, of.place, viewer)))
	}
	w, p := of.writing, of.writing.of()
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s by %s (text %s)", token, w.id, w.author, tellHistory(&w.text))
	if w != p {
		fmt.Fprintf(&b, " on %s by %s (text %s)", p.id, p.author, tellHistory(&p.text))
		b.WriteString("\n" + f.tellBetween(viewer, w.author))
	}
	fmt.Fprintf(&b, "\n  code %s, places %s\n%s", p.code, tellHistory(&p.places), f.tellBetween(viewer, p.author))
	named := map[string]bool{}
	for _, c := range append([]*change[string]{{value: p.places.first}}, p.places.changes...) {
		for _, name := range strings.Split(c.value, ",") {
			if name != "" && !named[name] {
				named[name] = true
				fmt.Fprintf(&b, "\n  %s: level %s", name, tellHistory(f.levels[name]))
				for _, kind := range []string{admits, excludes} {
					fmt.Fprintf(&b, ", %s %s", kind, tellHistory(f.relations[tie{kind, name, viewer}]))
				}
				for _, kind := range []string{shows, leads, hidesA} {
					fmt.Fprintf(&b, ", %s %s", kind, tellHistory(f.relations[tie{kind, viewer, name}]))
				}
			}
		}
	}
	fmt.Fprintf(&b, "\n  hides the post %s, likes %s, muted it %s", tellHistory(f.relations[tie{hidesP, viewer, p.id}]),
		tellHistory(f.relations[tie{likes, viewer, p.id}]), tellHistory(f.relations[tie{mutes, viewer, p.id}]))
	for _, person := range f.residents {
		if liked := f.relations[tie{likes, person, p.id}]; liked != nil && person != viewer {
			fmt.Fprintf(&b, "\n  liked by %s %s\n%s", person, tellHistory(liked), f.tellBetween(viewer, person))
		}
	}
	for _, c := range f.comments[p] {
		fmt.Fprintf(&b, "\n  %s by %s (text %s)", c.id, c.author, tellHistory(&c.text))
		for _, person := range f.residents {
			if liked := f.relations[tie{likes, person, c.id}]; liked != nil {
				fmt.Fprintf(&b, ", liked by %s %s", person, tellHistory(liked))
			}
		}
	}
	for _, r := range f.refusals {
		if p.code != "" && strings.Contains(r, p.code) {
			b.WriteString("\n  refused: " + r)
		}
	}
	return b.String()
}

func (f *facts) tellBetween(viewer, person string) string {
	return fmt.Sprintf("  %s; bans %s, banned by %s, hides %s", f.tellPerson(person), tellHistory(f.relations[tie{bans, viewer, person}]),
		tellHistory(f.relations[tie{bans, person, viewer}]), tellHistory(f.relations[tie{hidesA, viewer, person}]))
}

func (f *facts) tellPerson(name string) string {
	return fmt.Sprintf("%s, unseen %s, being removed %s, on a site that is private %s", name, tellHistory(f.relations[tie{unseen, name, ""}]),
		tellHistory(f.relations[tie{removal, name, ""}]), tellHistory(f.relations[tie{isShut, "", ""}]))
}

func tellHistory[T comparable](h *history[T]) string {
	if h == nil {
		return "never"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v", h.first)
	for _, c := range h.changes {
		fmt.Fprintf(&b, ", %v (%d-%d)", c.value, c.from, c.to)
	}
	return b.String()
}

// linksIn finds addresses in a page.
func linksIn(body string, form *regexp.Regexp) []string {
	var found []string
	for _, m := range form.FindAllStringSubmatch(body, -1) {
		found = append(found, html.UnescapeString(m[1]))
	}
	return found
}
