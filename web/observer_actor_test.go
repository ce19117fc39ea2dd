package web_test

import (
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// actor is a resident doing one thing after another.
type actor struct {
	*observed
	*resident
	on []*webtest.Site
}

func (w *observed) actor(r *resident, on []*webtest.Site) *actor { return &actor{w, r, on} }

// deed is something to do, as often as its weight says.
type deed struct {
	weight int
	do     func(*actor)
}

// narrowingActs are those that take something from somebody's sight, often
// enough, and what they need to have something to take.
var narrowingActs = []deed{
	{6, (*actor).edit},
	{5, (*actor).remove},
	{5, (*actor).deal},
	{6, (*actor).editComment},
	{6, (*actor).removeComment},
	{8, (*actor).unlike},
	{8, (*actor).setLevel},
	{8, (*actor).setReader},
	{6, (*actor).unsubscribe},
	{6, (*actor).moderate},
	{12, (*actor).setBan},
	{4, (*actor).setShown},
	{10, (*actor).hide},
	{10, (*actor).move},
	{6, (*actor).takeOut},
	{2, (*actor).fave},
	{6, (*actor).mute},
	{12, (*actor).keepDraft},
	{3, (*actor).discardDraft},
	{2, (*actor).schedulePost},
	{10, (*actor).flow},
}

// lastingActs replace nobody's rivers.
var lastingActs = []deed{
	{6, (*actor).write},
	{6, (*actor).comment},
	{4, (*actor).edit},
	{8, (*actor).remove},
	{4, (*actor).removeComment},
	{4, (*actor).like},
	{4, (*actor).unlike},
	{4, (*actor).likeComment},
	{4, (*actor).fave},
	{8, (*actor).move},
	{6, (*actor).setBan},
	{6, (*actor).hide},
	{6, (*actor).flow},
}

// allActs are what people do.
var allActs = append([]deed{
	{28, (*actor).write},
	{28, (*actor).comment},
	{12, (*actor).like},
	{8, (*actor).likeComment},
	{12, (*actor).follow},
	{8, (*actor).settleRequest},
	{4, (*actor).fave},
	{3, (*actor).list},
}, narrowingActs...)

func (a *actor) step(acts []deed) {
	all := 0
	for _, x := range acts {
		all += x.weight
	}
	k := a.rng.IntN(all)
	for _, x := range acts {
		if k -= x.weight; k < 0 {
			x.do(a)
			return
		}
	}
}

// send sends a form to a node, now and then as river.js does from some page, and
// judges the answer. ok is false if it was rightly refused.
func (a *actor) send(address string, form url.Values, sent string, settles ...settle) (body, location string, ok bool) {
	a.done.Add(1)
	node := a.on[a.rng.IntN(len(a.on))]
	v := a.visitors[slices.Index(a.nodes, node)]
	s := serving{viewer: a.name, address: "/", how: "answer to " + address, about: address, except: sent}
	header := http.Header{}
	if sent != "" || a.rng.IntN(2) == 0 {
		s.address = a.anyPage(a.rng, a.name)
		header = http.Header{"Accept": {"application/json"}, "X-River-Page": {s.address}}
	} else {
		s.address = "/p/x" // a page that says what is wrong: no list
	}
	v = &webtest.Visitor{T: v.T, Base: v.Base, Client: v.Client, Header: header}
	s.node, s.from = node, a.facts.now()
	r := v.Do(http.MethodPost, address, form)
	s.to = a.facts.now()
	ok = r.Status == http.StatusOK || r.Status == http.StatusSeeOther
	if !ok {
		a.refused.Add(1)
		a.facts.refuse(fmt.Sprintf("%s of %s: status %d (%d-%d)", address, a.name, r.Status, s.from, s.to))
	}
	for _, settled := range settles {
		settled(ok)
	}
	if r.Status >= 500 || r.Status == http.StatusBadRequest || r.Status == http.StatusTooManyRequests || r.Status == http.StatusUnauthorized {
		a.t.Errorf("%s: POST %s %v: status %d", a.name, address, form, r.Status)
	}
	if ok {
		s.except = ""
	} else if text := form.Get("body"); text != "" {
		// A refused form gives its sender the text back.
		r.Body = strings.ReplaceAll(r.Body, html.EscapeString(text), "")
	}
	a.judge(s, allOf(r))
	a.complain(judgeHeader(s, r))
	if !a.lively {
		a.ask()
	}
	return r.Body, r.Header.Get("Location"), ok
}

// ask has the hubs look at all posts: no bus tells them.
func (w *observed) ask() {
	var posts []int64
	w.facts.mu.RLock()
	for _, p := range w.facts.posts {
		posts = append(posts, p.number)
	}
	w.facts.mu.RUnlock()
	for _, n := range w.nodes {
		n.HearOf(posts...)
	}
}

// plain makes of JSON with HTML in it what it means.
func plain(body string) string {
	if !strings.HasPrefix(body, "{") {
		return body
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\"`, `"`, `\n`, "\n").Replace(body)
}

// heat makes readers look at pages that have just been narrowed, named as places
// are.
func (w *observed) heat(pages ...string) {
	w.hotMu.Lock()
	defer w.hotMu.Unlock()
	for _, page := range pages {
		switch {
		case strings.HasPrefix(page, directsOf):
			page = "filter/messages"
		case strings.HasPrefix(page, eyesOf):
			page = "filter/only-me"
		}
		w.hot = append(w.hot, "/"+page)
	}
	w.hot = slices.Clone(w.hot[max(0, len(w.hot)-keptHot):])
}

// keptHot is how many pages are looked at most.
const keptHot = 12

// pick chooses a post.
func (w *observed) pick(rng *rand.Rand, suits func(*writing) bool) *writing {
	w.facts.mu.RLock()
	defer w.facts.mu.RUnlock()
	posts := w.facts.posts
	// New posts are talked about.
	if len(posts) > 12 && rng.IntN(2) == 0 {
		posts = posts[len(posts)-12:]
	}
	for range 20 {
		if len(posts) == 0 {
			break
		}
		p := posts[rng.IntN(len(posts))]
		if p.text.last() != "" && p.code != "" && (suits == nil || suits(p)) {
			return p
		}
	}
	return nil
}

// mine: it is the actor's to change as they like.
func (a *actor) mine(w *writing) bool { return w.author == a.name && !w.of().staged }

// someone is a person of any kind, a guest now and then.
func (w *observed) someone(rng *rand.Rand) string {
	if rng.IntN(8) == 0 {
		return w.guests[rng.IntN(len(w.guests))]
	}
	return w.people[rng.IntN(len(w.people))].name
}

func (w *observed) someGroup(rng *rand.Rand) string { return w.groups[rng.IntN(len(w.groups))] }

// another is somebody else.
func (a *actor) another() string {
	for {
		if name := a.someone(a.rng); name != a.name {
			return name
		}
	}
}

// anyone is a person or group but oneself.
func (a *actor) anyone() string {
	if a.rng.IntN(3) == 0 {
		return a.someGroup(a.rng)
	}
	return a.another()
}

// hideable are what people hide.
var hideable = []string{"apple", "pear", "plum", "#tea", "#river"}

// text makes a text with a token of its own.
func (a *actor) text(w *writing) (body, token string) {
	if w.of().staged {
		token = a.token(said{writing: w, names: []string{quiet}})
		return token + " says so to @" + quiet + " " + linkOf(token), token
	}
	word := hideable[a.rng.IntN(len(hideable))]
	of := said{writing: w, words: []string{word}}
	token = a.token(of)
	body = token + " says " + word
	if a.rng.IntN(3) == 0 {
		of.names = []string{append([]string{quiet}, a.facts.residents...)[a.rng.IntN(1+len(a.facts.residents))]}
		body += " @" + of.names[0]
	}
	if a.rng.IntN(3) == 0 {
		body += " " + linkOf(token)
	}
	a.facts.mu.Lock()
	a.facts.tokens[token] = of
	a.facts.mu.Unlock()
	return body, token
}

// destinations returns where a post is to stand, as forms spell it and as places.
func (a *actor) destinations() (to, places []string) {
	add := func(name string, stands ...string) {
		if !slices.Contains(to, name) {
			to, places = append(to, name), append(places, stands...)
		}
	}
	if a.rng.IntN(14) == 0 {
		return []string{timelines.ToEyes}, []string{eyesOf + a.name}
	}
	for range 1 + a.rng.IntN(5)/3 {
		switch k := a.rng.IntN(12); {
		case k < 4:
			add(a.name, a.name)
		case k < 7:
			name := a.name + "/" + []string{"private", "photos"}[a.rng.IntN(2)]
			add(name, name)
		case k < 10:
			name := a.someGroup(a.rng)
			add(name, name)
		default:
			name := a.another()
			add(name, directsOf+name, directsOf+a.name)
		}
	}
	return to, places
}

var (
	codeForm      = regexp.MustCompile(`"post":"([0-9a-z]{10})"`)
	commentIDForm = regexp.MustCompile(`#c-(\d+)$`)
)

// withFile adds to a form, now and then, a file that holds the same token as the text. The form
// names all files there are, so the file goes when the text does.
func (a *actor) withFile(form url.Values, token string) url.Values {
	form.Set("files", "1")
	if a.rng.IntN(3) > 0 {
		return form
	}
	if code := a.upload(token+".txt", token); code != "" {
		form.Set("upload", code)
	}
	return form
}

func (a *actor) write() {
	to, places := a.destinations()
	a.publish(to, places, false)
}

// publish writes a post, or returns nil.
func (a *actor) publish(to, places []string, staged bool) *writing {
	f := a.facts
	p := &writing{id: fmt.Sprintf("post %d", a.serial.Add(1)), author: a.name, staged: staged}
	p.places.first = strings.Join(places, ",")
	body, token := a.text(p)
	f.mu.Lock()
	f.tookPart[tie{likes, a.name, p.id}] = true
	f.begun = append(f.begun, p)
	made := begin(f, &p.text, token)
	f.mu.Unlock()
	form := a.withFile(url.Values{"body": {body}, "to": to}, token)
	if p.sold = slices.ContainsFunc(to, func(name string) bool { return slices.Contains(a.groups, name) }) && a.rng.IntN(2) == 0; p.sold {
		form.Set("listing", "1")
		form.Set("price", strconv.Itoa(a.rng.IntN(20)))
		form.Set("currency", "EUR")
	}
	answer, _, ok := a.send("/posts", form, token, made, a.fromDraft(form, "/"))
	if !ok {
		return nil
	}
	a.readLink(p, body, token)
	m := codeForm.FindStringSubmatch(answer)
	if m == nil {
		a.t.Errorf("%s: a new post is answered with %.200s", a.name, answer)
		return nil
	}
	id, err := a.nodes[0].Store.Posts.ID(a.t.Context(), m[1])
	if err != nil {
		a.t.Errorf("%s: a new post: %v", a.name, err)
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p.number, p.code, f.codes[m[1]] = id, m[1], p
	f.posts = append(f.posts, p)
	return p
}

func (a *actor) comment() {
	if p := a.pick(a.rng, nil); p != nil {
		a.commentOn(p)
	}
}

// commentOn writes a comment, or returns nil. Where the answer does not show it, its
// number stays unknown.
func (a *actor) commentOn(p *writing) *writing {
	f := a.facts
	c := &writing{id: fmt.Sprintf("comment %d", a.serial.Add(1)), author: a.name, post: p}
	body, token := a.text(c)
	f.mu.Lock()
	f.tookPart[tie{likes, a.name, p.id}] = true
	f.comments[p] = append(f.comments[p], c)
	made := begin(f, &c.text, token)
	f.mu.Unlock()
	form := a.withFile(url.Values{"body": {body}}, token)
	answer, location, ok := a.send("/p/"+p.code+"/comments", form, "", made, a.fromDraft(form, "/p/"+p.code))
	if !ok {
		return nil
	}
	// The number stands in the redirect, or in the entry that river.js is sent.
	m := commentIDForm.FindStringSubmatch(location)
	if m == nil {
		// If several came at once, the entry may show only the newer ones.
		before, _, shown := strings.Cut(plain(answer), token)
		if at := strings.LastIndex(before, `id="c-`); shown && at >= 0 {
			m = regexp.MustCompile(`^id="c-(\d+)"`).FindStringSubmatch(before[at:])
		}
	}
	if m != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		c.number, _ = strconv.ParseInt(m[1], 10, 64) // digits
	}
	return c
}

// remark chooses a comment that suits.
func (a *actor) remark(suits func(*writing) bool) *writing {
	var found *writing
	a.pick(a.rng, func(p *writing) bool {
		for _, c := range a.facts.comments[p] {
			if c.number != 0 && c.text.last() != "" && suits(c) {
				found = c
			}
		}
		return found != nil
	})
	return found
}

// rewrite changes a writing's text, or takes it away.
func (a *actor) rewrite(w *writing, address string, remove bool) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	form, token := url.Values{}, ""
	if !remove {
		var body string
		body, token = a.text(w)
		form.Set("body", body)
		form = a.withFile(form, token)
	}
	defer a.heat("p/"+w.of().code, w.author+"/comments")
	a.facts.mu.Lock()
	if w.text.last() == "" {
		a.facts.mu.Unlock()
		return false
	}
	changed := begin(a.facts, &w.text, token)
	a.facts.mu.Unlock()
	if _, _, ok = a.send(address, form, token, changed); ok {
		a.readLink(w, form.Get("body"), token)
	}
	return ok
}

func (a *actor) edit() {
	if p := a.pick(a.rng, a.mine); p != nil {
		a.rewrite(p, "/p/"+p.code+"/edit", false)
	}
}

// deal renews a listing, or closes it for ever.
func (a *actor) deal() {
	if p := a.pick(a.rng, func(p *writing) bool { return a.mine(p) && p.sold }); p != nil {
		if a.rng.IntN(3) == 0 {
			a.send("/p/"+p.code+"/renew", nil, "")
			return
		}
		a.heat("search?q=is:active", "search?q=is:closed")
		a.send("/p/"+p.code+"/close", url.Values{"how": {"sold"}, "sold": {"5"}}, "")
	}
}

func (a *actor) remove() {
	if p := a.pick(a.rng, a.mine); p != nil {
		a.rewrite(p, "/p/"+p.code+"/delete", true)
	}
}

func commentAddress(c *writing, what string) string {
	return string(view.CommentURL(c.post.code, c.number, what))
}

func (a *actor) editComment() {
	if c := a.remark(a.mine); c != nil {
		a.rewrite(c, commentAddress(c, "edit"), false)
	}
}

func (a *actor) removeComment() {
	if c := a.remark(func(c *writing) bool { return a.mine(c) || a.mine(c.post) || a.rng.IntN(4) == 0 }); c != nil {
		a.rewrite(c, commentAddress(c, "delete"), true)
	}
}

func (a *actor) likeComment() {
	if c := a.remark(func(*writing) bool { return true }); c != nil {
		a.heart(c, a.rng.IntN(3) > 0)
	}
}

// heart likes a comment, or takes that back.
func (a *actor) heart(c *writing, want bool) (ok bool) {
	what := map[bool]string{true: "like", false: "unlike"}[want]
	_, _, ok = a.send(commentAddress(c, what), nil, "", a.facts.set(setting{likes, a.name, c.id, want}))
	return ok
}

func (a *actor) like() {
	if p := a.pick(a.rng, nil); p != nil {
		a.likeIt(p)
	}
}

func (a *actor) likeIt(p *writing) (ok bool) {
	a.facts.mu.Lock()
	a.facts.tookPart[tie{likes, a.name, p.id}] = true
	a.facts.mu.Unlock()
	return a.mark(p, "like", setting{likes, a.name, p.id, true})
}

func (a *actor) unlike() {
	if p := a.pick(a.rng, func(p *writing) bool { return a.facts.relations[tie{likes, a.name, p.id}].last() }); p != nil {
		a.mark(p, "unlike", setting{likes, a.name, p.id, false})
	}
}

func (a *actor) fave() {
	if p := a.pick(a.rng, nil); p != nil {
		a.keep(p, !a.facts.is(keeps, a.name, p.id))
	}
}

func (a *actor) keep(p *writing, want bool) (ok bool) {
	return a.mark(p, map[bool]string{true: "save", false: "unsave"}[want], setting{keeps, a.name, p.id, want})
}

func (a *actor) mark(p *writing, what string, s setting) (ok bool) {
	if what == "unlike" {
		defer a.heat(a.name + "/likes")
	}
	_, _, ok = a.send("/p/"+p.code+"/"+what, nil, "", a.facts.set(s))
	return ok
}

// mute mutes a thread, or hears of it again.
func (a *actor) mute() {
	if p := a.pick(a.rng, nil); p != nil {
		want := a.rng.IntN(3) > 0
		a.mark(p, map[bool]string{true: "mute", false: "unmute"}[want], setting{mutes, a.name, p.id, want})
	}
}

// hide hides a post, an account or a word, or shows it again.
func (a *actor) hide() {
	want := a.rng.IntN(3) > 0
	what := map[bool]string{true: "hide", false: "unhide"}[want]
	switch a.rng.IntN(4) {
	case 0, 1:
		if p := a.pick(a.rng, func(p *writing) bool { return p.author != a.name }); p != nil {
			a.mark(p, what, setting{hidesP, a.name, p.id, want})
		}
	case 2:
		name := a.anyone()
		a.send("/"+name+"/"+what, nil, "", a.facts.set(setting{hidesA, a.name, name, want}))
	default:
		word := hideable[a.rng.IntN(len(hideable))]
		address := map[bool]string{true: "/settings/hidden", false: "/settings/hidden/remove"}[want]
		a.send(address, url.Values{"term": {word}}, "", a.facts.set(setting{hidesT, a.name, word, want}))
	}
}
