package web_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/links"
	"riverrun/web/webtest"
)

// This file observes what is kept beside posts: addresses of files and of the pictures of cards,
// drafts, former texts.

// kept is what somebody keeps of an answer: its address, and a copy with its entity tag.
type kept struct{ address, tag, body string }

// mostKept is how many addresses a reader remembers.
const mostKept = 40

// keep remembers addresses that stood on a page.
func (rd *reader) keep(addresses ...string) {
	for _, address := range addresses {
		rd.kept = append(rd.kept, &kept{address: address})
	}
	rd.kept = rd.kept[max(0, len(rd.kept)-mostKept):]
}

// tryKept asks again, now and then, for what somebody has kept the address of: anybody may, at
// any time, and a browser says which copy it has.
func (rd *reader) tryKept(who *resident) {
	rd.keep(rd.newLoose()...)
	if len(rd.kept) == 0 || rd.rng.IntN(3) > 0 {
		return
	}
	k := rd.kept[rd.rng.IntN(len(rd.kept))]
	asks := k
	if rd.rng.IntN(2) == 0 {
		asks = &kept{} // somebody without a copy
	}
	if body, tag := rd.getAgain(rd.node, who, k.address, "", asks); tag != "" {
		k.body, k.tag = body, tag
	}
}

// newLoose are the addresses of files in drafts that nobody was told of yet.
func (w *observed) newLoose() []string {
	w.hotMu.Lock()
	defer w.hotMu.Unlock()
	found := w.loose
	w.loose = nil
	return found
}

// Cards. The page that a text links to says the text's own token, and so does the picture of the
// card. So what is true of the text is true of the card: it goes when the text does.

const linkHost = "127.0.0.1:9"

func linkOf(token string) string { return "http://" + linkHost + "/" + token }

// readLink records what the page says that a text links to, as the job does that reads it.
func (a *actor) readLink(w *writing, body, token string) {
	address := linkOf(token)
	if w.post != nil || w.item || !strings.Contains(body, address) {
		return
	}
	ctx, node := a.t.Context(), a.on[a.rng.IntN(len(a.on))]
	var id int64
	if err := a.db.Primary.QueryRow(ctx, `SELECT coalesce((SELECT id FROM links WHERE url = $1), 0)`, address).Scan(&id); err != nil {
		a.t.Error(err)
	}
	if id == 0 {
		a.t.Errorf("%s: no link of %q was noted", a.name, body)
		return
	}
	sum, n, err := node.Blobs.Put(ctx, strings.NewReader(token), 1000)
	if err != nil {
		a.t.Error(err)
		return
	}
	err = node.Store.Links.Record(ctx, id, links.Page{
		Title: token + " says the page", About: token, Host: linkHost, Picture: &sum, Bytes: n, Width: 640, Height: 320, Type: "image/png",
	})
	if err != nil {
		a.t.Errorf("%s: record a page: %v", a.name, err)
	}
}

// unsent is what somebody wrote at a place and has not sent.
type unsent struct {
	owner, place string
	text         history[string] // a token, empty if there is none
}

// draftOf is the account's draft of a place. It is called with mu held.
func (f *facts) draftOf(owner, place string) *unsent {
	key := tie{a: owner, b: place}
	if f.drafts[key] == nil {
		f.drafts[key] = &unsent{owner: owner, place: place}
	}
	return f.drafts[key]
}

// draftPlace is a place where somebody may have a draft.
func (w *observed) draftPlace(rng *rand.Rand) string {
	w.facts.mu.RLock()
	var on []string // posts on which there are drafts
	for key, d := range w.facts.drafts {
		if strings.HasPrefix(key.b, "/p/") && d.text.last() != "" {
			on = append(on, key.b)
		}
	}
	w.facts.mu.RUnlock()
	slices.Sort(on)
	if len(on) > 0 && rng.IntN(2) == 0 {
		return on[rng.IntN(len(on))]
	}
	places := []string{"/", "/filter/only-me", "/filter/messages", "/filter/messages?to=" + w.someone(rng), "/" + w.someGroup(rng)}
	return places[rng.IntN(len(places))]
}

func (a *actor) keepDraft() {
	place := a.draftPlace(a.rng)
	if p := a.pick(a.rng, nil); p != nil && a.rng.IntN(2) == 0 {
		place = "/p/" + p.code
	}
	a.keepDraftOf(place, a.rng.IntN(3) == 0)
}

// keepDraftOf keeps a draft, perhaps with a file, for destinations that need not be the sender's
// to write to, nor to know. It returns the file's address.
func (a *actor) keepDraftOf(place string, withFile bool) (file string, ok bool) {
	f := a.facts
	f.mu.Lock()
	d := f.draftOf(a.name, place)
	f.mu.Unlock()
	token := a.token(said{draft: d})
	form := url.Values{"body": {token + " is not ready"}, "draft": {place}, "saved": {a.savedAt(place)}, "to": {a.another() + "/photos", a.someGroup(a.rng), a.another()}}
	if withFile {
		inFile := a.token(said{draft: d, loose: true})
		if code := a.upload(inFile+".txt", inFile); code != "" {
			form.Set("upload", code)
			file = "/files/" + code
			a.hotMu.Lock()
			a.loose = append(a.loose, file, file)
			a.hotMu.Unlock()
		}
	}
	f.mu.Lock()
	now := begin(f, &d.text, token)
	f.mu.Unlock()
	_, _, ok = a.send("/drafts", form, token, now)
	return file, ok
}

// scheduled is the place of what somebody has scheduled, as far as facts are concerned: nobody else may ever see it.
const scheduledPlace = "/scheduled#"

// schedulePost schedules a post, perhaps with a file, which nobody else is to know of before its time.
func (a *actor) schedulePost() {
	f := a.facts
	f.mu.Lock()
	d := f.draftOf(a.name, fmt.Sprint(scheduledPlace, len(f.drafts)))
	f.mu.Unlock()
	token := a.token(said{draft: d})
	form := url.Values{
		"body": {token + " is for later #later @" + a.another()}, "to": {a.name},
		"due": {time.Now().UTC().Add(48 * time.Hour).Format(timelines.DueForm)}, "zone": {"UTC"},
	}
	f.mu.Lock()
	now := begin(f, &d.text, token)
	f.mu.Unlock()
	a.send("/posts", form, token, now)
}

func (a *actor) discardDraft() {
	a.facts.mu.Lock()
	var mine []*unsent
	for _, d := range a.facts.drafts {
		if d.owner == a.name && d.text.last() != "" && !strings.HasPrefix(d.place, scheduledPlace) {
			mine = append(mine, d)
		}
	}
	if len(mine) == 0 {
		a.facts.mu.Unlock()
		return
	}
	slices.SortFunc(mine, func(x, y *unsent) int { return strings.Compare(x.place, y.place) })
	d := mine[a.rng.IntN(len(mine))]
	gone := begin(a.facts, &d.text, "")
	a.facts.mu.Unlock()
	a.send("/drafts/discard", url.Values{"draft": {d.place}, "saved": {a.savedAt(d.place)}}, "", gone)
}

// savedAt names the draft that a form of that place has which was filled from it.
func (a *actor) savedAt(place string) string {
	v := a.visitors[a.rng.IntN(len(a.visitors))]
	return savedAt(&webtest.Visitor{T: v.T, Base: v.Base, Client: v.Client}, place)
}

// fromDraft has a form say that it was written in the draft of a place, if there is one. The
// draft goes with what it became.
func (a *actor) fromDraft(form url.Values, place string) settle {
	saved := a.savedAt(place)
	a.facts.mu.Lock()
	defer a.facts.mu.Unlock()
	d := a.facts.drafts[tie{a: a.name, b: place}]
	if d == nil || d.text.last() == "" {
		return func(bool) {}
	}
	form.Set("draft", place)
	form.Set("saved", saved)
	return begin(a.facts, &d.text, "")
}

var codeInJSON = regexp.MustCompile(`"code":"(\w+)"`)

// upload uploads a file that is not attached yet, and returns its code.
func (a *actor) upload(name, content string) string {
	v := a.visitors[a.rng.IntN(len(a.visitors))]
	v = &webtest.Visitor{T: v.T, Base: v.Base, Client: v.Client, Header: http.Header{"Accept": {"application/json"}}}
	r := v.PostFiles("/files", []webtest.Upload{{Name: name, Content: []byte(content)}})
	code := codeInJSON.FindStringSubmatch(r.Body)
	if code == nil {
		a.t.Errorf("%s: an upload is answered with %d %.200s", a.name, r.Status, r.Body)
		return ""
	}
	return code[1]
}

var (
	historyLink = regexp.MustCompile(`href="/p/([0-9a-z]{10})/history"`)
	draftForm   = regexp.MustCompile(`name="draft" value="/p/([0-9a-z]{10})"`)
	varies      = regexp.MustCompile(`(?s)<time.*?</time>|<span class="badge">Current</span> |name="saved" value="\d+"|zqxjv\d+k`)
)

// alike reports whether something looks as the first of its kind did.
func (f *facts) alike(kind, looks string) bool {
	f.noteMu.Lock()
	defer f.noteMu.Unlock()
	if f.closed[kind] == "" {
		f.closed[kind] = looks
	}
	return f.closed[kind] == looks && !codesForm.MatchString(looks)
}

// note counts what was judged, so that a run can say that there was something.
func (f *facts) note(what string) {
	f.noteMu.Lock()
	defer f.noteMu.Unlock()
	f.notes[what]++
}

// noted returns how often each thing was judged. Followers go on meanwhile.
func (f *facts) noted() map[string]int {
	f.noteMu.Lock()
	defer f.noteMu.Unlock()
	return maps.Clone(f.notes)
}

// judgeKept says what is wrong with pages of former texts and of drafts, and with what leads
// there. It is called with mu held.
func (f *facts) judgeKept(s serving, on showing, body string) (wrong []string) {
	complain := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s of %s for %q, decided between %d and %d: ", s.how, s.address, s.viewer, s.from, s.to)+
			fmt.Sprintf(format, args...))
	}
	// Only its author is led to the former texts of a post.
	for _, m := range historyLink.FindAllStringSubmatch(body, -1) {
		if p := f.codes[m[1]]; p != nil && p.author != s.viewer {
			complain("leads to the former texts of %s by %s", p.id, p.author)
		}
	}
	if on.kind != onDrafts {
		return wrong
	}
	// If a post is closed by now, the page of its draft says nothing about it: neither whose it
	// is, nor whether it is still there. So all such drafts look alike.
	between, until := "<li>", "</li>"
	if strings.HasPrefix(s.address, "/drafts/edit") {
		between, until = "<main", "</main>"
	}
	for _, text := range strings.Split(body, between)[1:] {
		text, _, _ = strings.Cut(text, until)
		m := draftForm.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		p := f.codes[m[1]]
		if p == nil || f.ever(s.from, s.to, func(at instant) bool { return f.reads(at, s.viewer, p) }) {
			continue
		}
		f.note("drafts on closed posts")
		if looks := strings.ReplaceAll(varies.ReplaceAllString(text, ""), m[1], ""); !f.alike(between, looks) {
			complain("the draft of a comment on %s, which is closed, does not look as others do:\n%s", p.id, looks)
		}
	}
	return wrong
}
