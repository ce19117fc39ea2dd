package web

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"riverrun/timelines"
)

// actor is a resident doing one thing after another.
type actor struct {
	*observed
	*resident
	on []*liveSite
}

func (w *observed) actor(r *resident, on []*liveSite) *actor { return &actor{w, r, on} }

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
	{8, (*actor).move},
	{6, (*actor).setBan},
	{6, (*actor).hide},
}

// allActs are what people do.
var allActs = append([]deed{
	{28, (*actor).write},
	{28, (*actor).comment},
	{12, (*actor).like},
	{4, (*actor).likeComment},
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
	s := serving{viewer: a.name, address: "/", how: "answer to " + address, except: sent}
	header := http.Header{}
	if sent != "" || a.rng.IntN(2) == 0 {
		s.address = a.anyPage(a.rng, a.name)
		header = http.Header{"Accept": {"application/json"}, "X-River-Page": {s.address}}
	} else {
		s.address = "/p/x" // a page that says what is wrong: no list
	}
	v = &visitor{t: v.t, base: v.base, client: v.client, header: header}
	s.from = a.facts.now()
	r := v.do(http.MethodPost, address, form)
	s.to = a.facts.now()
	ok = r.status == http.StatusOK || r.status == http.StatusSeeOther
	if !ok {
		a.refused.Add(1)
	}
	for _, settled := range settles {
		settled(ok)
	}
	if r.status >= 500 || r.status == http.StatusBadRequest || r.status == http.StatusTooManyRequests || r.status == http.StatusUnauthorized {
		a.t.Errorf("%s: POST %s %v: status %d", a.name, address, form, r.status)
	}
	if ok {
		s.except = ""
	}
	a.judge(s, plain(r.body))
	if !a.lively {
		a.ask()
	}
	return r.body, r.header.Get("Location"), ok
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
		for _, sh := range n.server.hub.shards {
			sh.ask(posts)
		}
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
			page = "filter/directs"
		case strings.HasPrefix(page, eyesOf):
			page = "filter/eyes"
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
	// What is new is talked about.
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

func (a *actor) mine(p *writing) bool { return p.author == a.name }

func (w *observed) someone(rng *rand.Rand) string { return w.people[rng.IntN(len(w.people))].name }

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
	word := hideable[a.rng.IntN(len(hideable))]
	of := said{writing: w, words: []string{word}}
	token = a.token(of)
	body = token + " says " + word
	if a.rng.IntN(4) == 0 {
		body += " @" + a.someone(a.rng)
	}
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

func (a *actor) write() {
	f := a.facts
	to, places := a.destinations()
	p := &writing{id: fmt.Sprintf("post %d", a.serial.Add(1)), author: a.name}
	p.places.first = strings.Join(places, ",")
	body, token := a.text(p)
	f.mu.Lock()
	f.tookPart[tie{likes, a.name, p.id}] = true
	made := begin(f, &p.text, token)
	f.mu.Unlock()
	answer, _, ok := a.send("/posts", url.Values{"body": {body}, "to": to}, token, made)
	if !ok {
		return
	}
	m := codeForm.FindStringSubmatch(answer)
	if m == nil {
		a.t.Errorf("%s: a new post is answered with %.200s", a.name, answer)
		return
	}
	id, err := a.nodes[0].store.PostID(a.t.Context(), m[1])
	if err != nil {
		a.t.Errorf("%s: a new post: %v", a.name, err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p.number, p.code, f.codes[m[1]] = id, m[1], p
	f.posts = append(f.posts, p)
}

func (a *actor) comment() {
	p := a.pick(a.rng, nil)
	if p == nil {
		return
	}
	f := a.facts
	c := &writing{id: fmt.Sprintf("comment %d", a.serial.Add(1)), author: a.name, post: p}
	body, token := a.text(c)
	f.mu.Lock()
	f.tookPart[tie{likes, a.name, p.id}] = true
	f.comments[p] = append(f.comments[p], c)
	made := begin(f, &c.text, token)
	f.mu.Unlock()
	// The number stands in the redirect: not as river.js sends it.
	_, location, ok := a.send("/p/"+p.code+"/comments", url.Values{"body": {body}}, "", made)
	if m := commentIDForm.FindStringSubmatch(location); ok && m != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		c.number, _ = strconv.ParseInt(m[1], 10, 64) // digits
	}
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
func (a *actor) rewrite(w *writing, address string, remove bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	form, token := url.Values{}, ""
	if !remove {
		var body string
		body, token = a.text(w)
		form.Set("body", body)
	}
	defer a.heat("p/"+w.of().code, w.author+"/comments")
	a.facts.mu.Lock()
	if w.text.last() == "" {
		a.facts.mu.Unlock()
		return
	}
	changed := begin(a.facts, &w.text, token)
	a.facts.mu.Unlock()
	a.send(address, form, token, changed)
}

func (a *actor) edit() {
	if p := a.pick(a.rng, a.mine); p != nil {
		a.rewrite(p, "/p/"+p.code+"/edit", false)
	}
}

func (a *actor) remove() {
	if p := a.pick(a.rng, a.mine); p != nil {
		a.rewrite(p, "/p/"+p.code+"/delete", true)
	}
}

func commentAddress(c *writing, what string) string {
	return string(commentURL(c.post.code, c.number, what))
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
		a.send(commentAddress(c, []string{"like", "unlike"}[a.rng.IntN(2)]), nil, "")
	}
}

func (a *actor) like() {
	p := a.pick(a.rng, nil)
	if p == nil {
		return
	}
	a.facts.mu.Lock()
	a.facts.tookPart[tie{likes, a.name, p.id}] = true
	a.facts.mu.Unlock()
	a.mark(p, "like", setting{likes, a.name, p.id, true})
}

func (a *actor) unlike() {
	if p := a.pick(a.rng, func(p *writing) bool { return a.facts.relations[tie{likes, a.name, p.id}].last() }); p != nil {
		a.mark(p, "unlike", setting{likes, a.name, p.id, false})
	}
}

func (a *actor) fave() {
	if p := a.pick(a.rng, nil); p != nil {
		keep := !a.facts.is(keeps, a.name, p.id)
		a.mark(p, map[bool]string{true: "fave", false: "unfave"}[keep], setting{keeps, a.name, p.id, keep})
	}
}

func (a *actor) mark(p *writing, what string, s setting) {
	if what == "unlike" {
		defer a.heat(a.name + "/likes")
	}
	a.send("/p/"+p.code+"/"+what, nil, "", a.facts.set(s))
}

// hide hides a post, an account or a word, or shows it again.
func (a *actor) hide() {
	want := a.rng.IntN(3) > 0
	what := map[bool]string{true: "hide", false: "unhide"}[want]
	switch a.rng.IntN(4) {
	case 0, 1:
		if p := a.pick(a.rng, func(p *writing) bool { return !a.mine(p) }); p != nil {
			a.mark(p, what, setting{hidesP, a.name, p.id, want})
		}
	case 2:
		name := a.anyone()
		a.send("/"+name+"/"+what, nil, "", a.facts.set(setting{hidesA, a.name, name, want}))
	default:
		word := hideable[a.rng.IntN(len(hideable))]
		address := map[bool]string{true: "/settings/unseen", false: "/settings/unseen/remove"}[want]
		a.send(address, url.Values{"term": {word}}, "", a.facts.set(setting{hidesT, a.name, word, want}))
	}
}

// setBan bans somebody or lifts that.
func (a *actor) setBan() {
	name := a.another()
	want := a.rng.IntN(3) > 0
	what := map[bool]string{true: "ban", false: "unban"}[want]
	defer a.heat("everything", a.name, name)
	a.send("/"+name+"/"+what, nil, "", a.facts.set(setting{bans, a.name, name, want}))
}

func (a *actor) setShown() {
	group, want := a.someGroup(a.rng), a.rng.IntN(2) == 0
	what := map[bool]string{true: "show-banned", false: "hide-banned"}[want]
	a.send("/"+group+"/"+what, nil, "", a.facts.set(setting{shows, a.name, group, want}))
}

// gate holds all that decides who may read an account's places.
func (a *actor) gate(account string) (release func()) {
	a.gates[account].Lock()
	return a.gates[account].Unlock
}

func (a *actor) subscribe(name string) {
	if name == a.name {
		return
	}
	defer a.gate(name)()
	f := a.facts
	var settles []settle
	// A private account is asked first, unless it lets one read already; who is
	// subscribed is among the readers.
	if !f.is(follows, a.name, name) && (f.level(name) != timelines.Private || f.is(admits, name, a.name)) {
		settles = append(settles, f.set(setting{follows, a.name, name, true}, setting{brings, a.name, name, true}, setting{admits, name, a.name, true}))
	}
	a.send("/"+name+"/subscribe", nil, "", settles...)
}

func (a *actor) follow() { a.subscribe(a.anyone()) }

func (a *actor) unsubscribe() {
	name := a.anyone()
	defer a.gate(name)()
	defer a.heat(name)
	f := a.facts
	var settles []settle
	settles = append(settles, f.set(setting{brings, a.name, name, false}))
	if f.is(follows, a.name, name) {
		lost := []setting{{follows, a.name, name, false}}
		if !f.is(leads, a.name, name) {
			lost = append(lost, setting{admits, name, a.name, false})
		}
		settles = append(settles, f.set(lost...))
	}
	a.send("/"+name+"/unsubscribe", nil, "", settles...)
}

// answer accepts somebody's request or declines it.
func (a *actor) answer(name, group string, accept bool) {
	of := group
	if of == "" {
		of = a.name
	}
	defer a.gate(of)()
	form := url.Values{}
	if group != "" {
		form.Set("group", group)
	}
	if !accept {
		a.send("/"+name+"/decline", form, "")
		return
	}
	// Refused if there is no request.
	a.send("/"+name+"/accept", form, "", a.facts.set(setting{follows, name, of, true}, setting{brings, name, of, true}, setting{admits, of, name, true}))
}

func (a *actor) settleRequest() {
	group := ""
	if i := slices.IndexFunc(a.groups, func(g string) bool { return a.founder(g).name == a.name }); i >= 0 && a.rng.IntN(2) == 0 {
		group = a.groups[i]
	}
	for _, other := range a.people {
		of := group
		if of == "" {
			of = a.name
		}
		if other.name != a.name && !a.facts.is(follows, other.name, of) {
			a.answer(other.name, group, a.rng.IntN(4) > 0)
			return
		}
	}
}

func (a *actor) setLevel() {
	level := timelines.Level(a.rng.IntN(3))
	switch k := a.rng.IntN(3); {
	case k == 0:
		defer a.gate(a.name)()
		defer a.heat(a.name, a.name+"/likes")
		a.send("/settings/access", url.Values{"level": {level.String()}}, "", a.facts.setLevel(a.name, level))
	case k == 1:
		defer a.gate(a.name)()
		defer a.heat(a.name + "/photos")
		a.send("/settings/feeds/access", url.Values{"feed": {"photos"}, "level": {level.String()}}, "",
			a.facts.setLevel(a.name+"/photos", level))
	default:
		group := a.someGroup(a.rng)
		defer a.gate(group)()
		defer a.heat(group)
		a.send("/settings/access", url.Values{"group": {group}, "level": {level.String()}}, "", a.facts.setLevel(group, level))
	}
}

// setReader changes the explicit sets of one's own feeds.
func (a *actor) setReader() {
	a.reader([]string{"admit", "remove", "remove", "exclude", "exclude", "unexclude"}[a.rng.IntN(6)],
		[]string{"", "photos", "private"}[a.rng.IntN(3)], a.another())
}

func (a *actor) reader(what, slug, name string) {
	feed := a.name
	if slug != "" {
		feed += "/" + slug
	}
	defer a.gate(a.name)()
	defer a.heat(feed)
	var s []setting
	switch what {
	case "admit":
		s = []setting{{admits, feed, name, true}}
	case "remove":
		s = []setting{{admits, feed, name, false}}
		if slug == "" {
			s = append(s, setting{follows, name, a.name, false})
		}
	case "exclude":
		s = []setting{{excludes, feed, name, true}}
	case "unexclude":
		s = []setting{{excludes, feed, name, false}}
	}
	a.send("/settings/feeds/"+what, url.Values{"feed": {slug}, "name": {name}}, "", a.facts.set(s...))
}

// moderate does what an administrator may.
func (a *actor) moderate() {
	group, name := a.someGroup(a.rng), a.another()
	if i := slices.IndexFunc(a.groups, func(g string) bool { return a.facts.is(leads, a.name, g) }); i >= 0 && a.rng.IntN(4) > 0 {
		group = a.groups[i]
	}
	defer a.gate(group)()
	defer a.heat(group)
	f := a.facts
	var settles []settle
	all := []string{"promote", "demote", "demote", "remove", "remove", "block", "unblock", "exclude", "exclude", "unexclude", "admit", "dismiss"}
	what := all[a.rng.IntN(len(all))]
	member := f.is(follows, name, group)
	switch what {
	case "promote":
		settles = append(settles, f.set(setting{leads, name, group, true}))
	case "demote":
		s := []setting{{leads, name, group, false}}
		if !member && f.is(leads, name, group) {
			s = append(s, setting{admits, group, name, false})
		}
		settles = append(settles, f.set(s...))
	case "remove":
		if member {
			settles = append(settles, f.set(setting{follows, name, group, false}, setting{admits, group, name, false}))
		}
	case "exclude", "admit": // refused, or nothing new, if they are a member or an administrator
		settles = append(settles, f.set(setting{admits, group, name, what == "admit"}, setting{excludes, group, name, what == "exclude"}))
	case "unexclude":
		settles = append(settles, f.set(setting{excludes, group, name, false}))
	case "dismiss":
		settles = append(settles, f.set(setting{admits, group, name, false}))
	}
	a.send("/"+group+"/"+what, url.Values{"name": {name}}, "", settles...)
}

// move puts a post of one's own elsewhere.
func (a *actor) move() {
	p := a.pick(a.rng, a.mine)
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	to, places := a.destinations()
	a.facts.mu.Lock()
	was := p.places.last()
	moved := begin(a.facts, &p.places, strings.Join(places, ","))
	a.facts.mu.Unlock()
	defer a.heat(strings.Split(was, ",")...)
	a.send("/p/"+p.code+"/destinations", url.Values{"to": to}, "", moved)
}

// takeOut takes a post out of a group.
func (a *actor) takeOut() {
	group := a.someGroup(a.rng)
	if i := slices.IndexFunc(a.groups, func(g string) bool { return a.facts.is(leads, a.name, g) }); i >= 0 && a.rng.IntN(4) > 0 {
		group = a.groups[i]
	}
	in := func(p *writing) bool { return slices.Contains(strings.Split(p.places.last(), ","), group) }
	p := a.pick(a.rng, in)
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a.facts.mu.Lock()
	if !in(p) {
		a.facts.mu.Unlock()
		return
	}
	left := slices.DeleteFunc(strings.Split(p.places.last(), ","), func(place string) bool { return place == group })
	if len(left) == 0 {
		left = []string{eyesOf + p.author} // nothing is lost, and nobody else sees it
	}
	moved := begin(a.facts, &p.places, strings.Join(left, ","))
	a.facts.mu.Unlock()
	defer a.heat(group)
	a.send("/p/"+p.code+"/remove", url.Values{"group": {group}}, "", moved)
}

// list chooses who is in one's list.
func (a *actor) list() {
	a.send("/lists/some/edit", url.Values{"title": {"Some"}, "member": {a.anyone()}}, "")
}
