package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/site"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// This file observes what the staff do: they suspend people and let them back, remove what was
// written, make the site private, and let newcomers in. Guests are those to whom it happens. Plays do
// all of it, one after the other; everybody else goes on meanwhile.

// inOffice is an administrator of the site, to whom nobody is hidden.
const inOffice = "mia"

// clubOfGuests is the group that invitations bring guests into.
const clubOfGuests = "club-private"

// regular is the guest who comes before anybody looks, and is suspended again and again.
const regular = "guest"

func guestName(n int) string { return fmt.Sprintf("%s%d", regular, n) }

func applicantName(n int) string { return fmt.Sprintf("asker%d", n) }

// makeOffice puts somebody in charge of a site that lets in whom it knows, and makes room for its
// guests: one for each time of a play, and one more.
func (w *observed) makeOffice() {
	w.t.Helper()
	w.office = w.resident(inOffice, len(w.people)+1)
	inCharge(w.office.Person, admin.Administrator)
	setDoors(w.nodes[0], site.ByApproval, false)
	w.guests = []string{regular}
	for n := range w.scale {
		w.guests = append(w.guests, guestName(n), applicantName(n))
	}
	f := w.facts
	for _, name := range w.guests {
		w.gates[name] = &sync.Mutex{}
		f.residents = append(f.residents, name)
		f.addPlace(name, name, timelines.Public)
		f.addPlace(name+"/private", name, timelines.Private)
		f.addPlace(directsOf+name, name, timelines.Private)
		f.addPlace(eyesOf+name, name, timelines.Private)
		if strings.HasPrefix(name, applicantName(0)[:5]) {
			f.relations[tie{unseen, name, ""}] = &history[bool]{first: true}
		}
	}
}

// wasShut: was the site ever private?
func (f *facts) wasShut() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	h := f.relations[tie{isShut, "", ""}]
	return h != nil && len(h.changes) > 0
}

// wrote: might one of the two have written to the other, or both been written to? That message
// names whom it is to.
func (f *facts) wrote(at instant, viewer, person string) bool {
	return slices.ContainsFunc(f.begun, func(p *writing) bool {
		return p.text.each(at, func(text string) bool { return text != "" }) && f.stands(at, p, func(places []string) bool {
			return slices.Contains(places, directsOf+person) && slices.Contains(places, directsOf+viewer)
		})
	})
}

// newcomer signs a guest up by an invitation of a group's administrator. From then on the guest is a
// member, on every node.
func (w *observed) newcomer(name string, on []*webtest.Site) *resident {
	w.t.Helper()
	defer w.actor(w.people[0], on).gate(clubOfGuests)()
	inviter := w.people[slices.IndexFunc(w.people, func(r *resident) bool { return w.facts.is(leads, r.name, clubOfGuests) })]
	v := inviter.visitors[0]
	v.Post("/settings/invitations", "uses", "1", "days", "7", "group", clubOfGuests).Wants(http.StatusSeeOther)
	link := invitationLink.FindStringSubmatch(v.Get("/settings/invitations").Body)
	if link == nil {
		w.t.Errorf("%s made no invitation", inviter.name)
		return nil
	}
	title := w.token(said{person: name})
	r := w.stranger(name)
	r.title = title
	joined := w.facts.set(setting{follows, name, clubOfGuests, true}, setting{brings, name, clubOfGuests, true}, setting{admits, clubOfGuests, name, true})
	r.visitors[slices.Index(w.nodes, on[0])].Post("/signup", "username", name, "title", title, "password", newPassword, "invitation", link[2]).LeadsTo("/welcome/you")
	joined(true)
	w.signIn(r)
	for _, v := range r.visitors {
		v.Get("/" + clubOfGuests).Wants(http.StatusOK)
	}
	return r
}

// stranger is somebody with a browser on every node who is not signed up.
func (w *observed) stranger(name string) *resident {
	r := &resident{name: name, rng: w.chance(9, uint64(w.serial.Add(1)))}
	for _, n := range w.nodes {
		r.visitors = append(r.visitors, n.Visitor())
	}
	return r
}

// signIn signs a guest in, on every node.
func (w *observed) signIn(r *resident) {
	w.t.Helper()
	for _, v := range r.visitors {
		v.Post("/login", "username", r.name, "password", newPassword).Wants(http.StatusSeeOther)
	}
	v := r.visitors[0]
	base, err := url.Parse(v.Base)
	if err != nil {
		w.t.Fatal(err)
	}
	account, err := w.nodes[0].Store.Accounts.ByName(w.t.Context(), r.name)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Person = &webtest.Person{Site: w.nodes[0], Account: account}
	for _, cookie := range v.Client.Jar.Cookies(base) {
		if cookie.Name == webtest.Cookie {
			r.Token = cookie.Value
		}
	}
}

// guest is the regular guest, who is there and may be seen.
func (s *scene) guest() *actor {
	g := s.actor(s.regular, s.author.on)
	if s.suspended {
		s.restore(g)
	}
	s.reconcile(g.name)
	return g
}

// reconcile has the cast see somebody.
func (s *scene) reconcile(name string) {
	for _, a := range []*actor{s.author, s.friend, s.stranger} {
		if s.facts.is(bans, a.name, name) {
			s.must("unban", a.ban(name, false))
		}
		if s.facts.is(hidesA, a.name, name) {
			_, _, ok := a.send("/"+name+"/unhide", nil, "", s.facts.set(setting{hidesA, a.name, name, false}))
			s.must("unhide", ok)
		}
	}
}

// byOffice sends a form of the administrator's.
func (s *scene) byOffice(address string, form url.Values, settles ...settle) {
	s.t.Helper()
	_, _, ok := s.actor(s.office, s.author.on).send(address, form, "", settles...)
	s.must(address, ok)
}

// suspendGuest suspends the regular guest. Their open pages are closed, and they are signed out.
func (s *scene) suspendGuest(g *actor, hide bool, days string) {
	var open []*webtest.Page
	for _, n := range s.watched {
		open = append(open, n.Open(g.Person, "/everything"))
	}
	form := url.Values{"reason": {"a play"}, "days": {days}}
	settles := []settle{s.facts.set()}
	if hide {
		form.Set("hide", "1")
		settles = append(settles, s.facts.set(setting{unseen, g.name, "", true}))
	}
	s.byOffice("/admin/people/"+g.name+"/suspend", form, settles...)
	s.suspended = true
	for _, page := range open {
		if got := page.Closed(); got.Code != live.CloseSignedOut {
			s.t.Errorf("%s: a page of somebody suspended is closed with %v", s.play.name, got)
		}
	}
	for _, v := range g.visitors {
		v.Get("/settings").LeadsTo("/login?back=%2Fsettings")
		v.Post("/login", "username", g.name, "password", newPassword).Wants(http.StatusForbidden)
	}
}

// restore lets the guest back, who signs in.
func (s *scene) restore(g *actor) {
	s.byOffice("/admin/people/"+g.name+"/restore", nil, s.facts.set(setting{unseen, g.name, "", false}))
	s.back(g)
}

func (s *scene) back(g *actor) {
	s.suspended = false
	s.signIn(g.resident)
}

// shows fails unless everybody of these is shown a text at an address, on each node. A nil is nobody.
func (s *scene) shows(address, text string, all ...*resident) {
	s.t.Helper()
	for i, n := range s.nodes {
		for _, who := range all {
			v := n.Visitor()
			if who != nil {
				v = who.visitors[i]
			}
			if a := v.Get(address); a.Status != http.StatusOK || !strings.Contains(a.Body, text) {
				s.t.Errorf("%s: node %d shows %q on %s no %s (status %d)", s.play.name, i, nameOf(who), address, text, a.Status)
			}
		}
	}
}

// everywhere has all kinds of viewers look at all that may show something of a person, or of a post.
func (s *scene) everywhere(name string, p *writing) {
	pages := []string{
		"/" + name, "/" + name + "/likes", "/" + name + "/comments", "/" + name + "/followers", "/p/" + p.code, "/p/" + p.code + "/preview",
		"/p/" + p.code + "/likes?shown=1", "/p/" + p.code + "/history", s.page(), s.page() + "/likes?shown=1", "/" + onStage, "/everything", "/best", "/search?q=says", "/people",
		"/feeds/" + name + ".atom", "/feeds/" + name + "/likes.json", "/feeds/everything.atom", "/feeds/p/" + p.code + ".json", "/feeds/p/" + s.post.code + ".atom",
	}
	mine := []string{"/", "/filter/notifications", "/filter/discussions", "/push/news", "/settings/hidden", "/" + clubOfGuests + "/members", "/" + clubOfGuests}
	// Nobody asks for all of it each time.
	some := func(pages []string) []string {
		s.author.rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		return pages[:len(pages)/5]
	}
	for _, who := range []*resident{s.stranger.resident, s.friend.resident, s.quiet, s.office} {
		s.look(who, some(slices.Concat(pages, mine))...)
	}
	s.look(nil, some(pages)...)
	s.look(nil, some(pages)...)
	s.bell(s.stranger.resident)
	s.bell(s.author.resident)
}

// suspend: a guest whom the stranger follows, and who takes part in what others read, is hidden until
// they are restored, or every other time until the time of it is over. In the end they are hidden.
func (s *scene) suspend() {
	g := s.guest()
	s.stranger.subscribe(g.name)
	first := []string{"", "1"}[s.played.Load()%2]
	for _, days := range []string{first, "30"} {
		p := g.publish([]string{g.name, clubOfGuests}, []string{g.name, clubOfGuests}, false)
		if p == nil {
			s.must("write", false)
			return
		}
		s.comment(g)
		for _, of := range []*writing{p, s.post} {
			s.must("like", g.likeIt(of))
		}
		s.must("like", s.friend.likeIt(p))
		if days == first {
			s.watch(s.stranger.resident, "/", "/everything", "/"+g.name, s.page())
			s.watch(s.friend.resident, "/p/"+p.code)
			s.watch(nil, "/everything", s.page())
		}
		page, text := "/p/"+p.code, p.text.last()
		s.shows(page, text, s.stranger.resident, nil)
		s.suspendGuest(g, true, days)
		s.heat(g.name, page[1:], s.page()[1:])
		s.everywhere(g.name, p)
		s.shows(page, text, s.office)
		s.shows("/"+g.name, g.title, s.office)
		s.comment(s.author)
		switch days {
		case "":
			s.restore(g)
		case "1":
			s.lapse(g)
		default:
			return
		}
		s.shows(page, text, s.stranger.resident, s.friend.resident, nil)
		s.shows("/"+g.name, g.title, s.stranger.resident, s.friend.resident, nil)
	}
}

// depart: a guest deletes their account, so that only the staff see anything of it, and keeps it after
// all.
func (s *scene) depart() {
	g := s.guest()
	s.stranger.subscribe(g.name)
	p := g.publish([]string{g.name, clubOfGuests}, []string{g.name, clubOfGuests}, false)
	if p == nil {
		s.must("write", false)
		return
	}
	s.comment(g)
	s.must("like", g.likeIt(s.post))
	s.watch(s.stranger.resident, "/", "/everything", "/"+g.name, s.page())
	s.watch(s.friend.resident, "/p/"+p.code)
	s.watch(nil, "/everything", s.page())
	page, text := "/p/"+p.code, p.text.last()
	s.shows(page, text, s.stranger.resident, nil)
	var open []*webtest.Page
	for _, n := range s.watched {
		open = append(open, n.Open(g.Person, "/everything"))
	}
	v := g.visitors[slices.Index(s.nodes, s.author.on[0])]
	hidden := s.facts.set(setting{unseen, g.name, "", true})
	v.Post("/settings/delete", "present", newPassword).Wants(http.StatusSeeOther)
	hidden(true)
	s.suspended = true // until they are back
	for _, page := range open {
		if got := page.Closed(); got.Code != live.CloseSignedOut {
			s.t.Errorf("%s: a page of somebody who leaves is closed with %v", s.play.name, got)
		}
	}
	s.heat(g.name, page[1:], s.page()[1:])
	s.everywhere(g.name, p)
	s.shows(page, text, s.office)
	s.comment(s.author)
	link := keepLink.FindStringSubmatch(v.Post("/login", "username", g.name, "password", newPassword).Wants(http.StatusForbidden).Body)
	if link == nil {
		s.must("offer to keep the account", false)
		return
	}
	seen := s.facts.set(setting{unseen, g.name, "", false})
	v.Post("/login/keep", "link", link[1]).Wants(http.StatusOK)
	seen(true)
	s.back(g)
	s.shows(page, text, s.stranger.resident, s.friend.resident, nil)
	s.shows("/"+g.name, g.title, s.stranger.resident, s.friend.resident, nil)
}

// lapse lets the time of a suspension be over, and does what the job does then.
func (s *scene) lapse(g *actor) {
	ctx, node := s.t.Context(), s.author.on[0]
	seen := s.facts.set(setting{unseen, g.name, "", false})
	const over = `UPDATE suspensions SET ends_at = now() - interval '1 second' WHERE account_id = (SELECT id FROM accounts WHERE name = $1)`
	if _, err := s.db.Primary.Exec(ctx, over, g.name); err != nil {
		s.t.Error(err)
	}
	c, err := admin.Open(node.Store).CleanUp(ctx)
	if _, err := node.Tiers.Carry(ctx, c, err); err != nil {
		s.t.Error(err)
	}
	seen(true)
	s.back(g)
}

// silence: a guest who is not hidden may not act, and stays to be read; then the staff remove a post
// and a comment of theirs.
func (s *scene) silence() {
	g := s.guest()
	p, c := g.publish([]string{g.name}, []string{g.name}, false), s.comment(g)
	if p == nil || c == nil {
		s.must("write", false)
		return
	}
	s.watch(s.stranger.resident, "/"+g.name, s.page(), "/p/"+p.code)
	s.watch(nil, "/everything")
	s.suspendGuest(g, false, "7")
	s.shows("/p/"+p.code, p.text.last(), s.stranger.resident, s.friend.resident, nil)
	s.shows(s.page(), c.text.last(), s.stranger.resident, s.friend.resident, nil)
	for _, v := range g.visitors {
		v.Post("/posts", "body", "not by me", "to", g.name).Wants(http.StatusUnauthorized)
	}
	gone := func(w *writing, address string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		s.facts.mu.Lock()
		removed := begin(s.facts, &w.text, "")
		s.facts.mu.Unlock()
		s.byOffice(address, nil, removed)
		s.heat("p/"+w.of().code, g.name)
	}
	if c.number != 0 && c.text.last() != "" {
		gone(c, commentAddress(c, "moderate"))
	}
	gone(p, "/p/"+p.code+"/moderate")
	s.everywhere(g.name, p)
	for i, n := range s.nodes {
		n.Visitor().Get("/p/" + p.code).Wants(http.StatusNotFound)
		s.office.visitors[i].Get("/p/" + p.code).Wants(http.StatusNotFound)
	}
	s.restore(g)
}

// removeAll: a newcomer writes, and the staff remove all of it, block by block.
func (s *scene) removeAll() {
	r := s.newcomer(guestName(int(s.played.Load())), s.author.on)
	if r == nil {
		return
	}
	g := s.actor(r, s.author.on)
	s.reconcile(g.name)
	all := []*writing{
		g.publish([]string{g.name}, []string{g.name}, false), g.publish([]string{clubOfGuests}, []string{clubOfGuests}, false), s.comment(g),
	}
	if slices.Contains(all, nil) {
		s.must("write", false)
		return
	}
	s.must("like", g.likeIt(s.post))
	s.stranger.subscribe(g.name)
	s.watch(s.stranger.resident, "/", "/"+g.name, s.page())
	s.watch(nil, "/everything", s.page())
	texts := make([]string, len(all))
	f := s.facts
	var settles []settle
	for i, w := range all {
		w.mu.Lock()
		defer w.mu.Unlock()
		texts[i] = w.text.last()
		f.mu.Lock()
		settles = append(settles, begin(f, &w.text, ""))
		f.mu.Unlock()
	}
	settles = append(settles, f.set(setting{unseen, g.name, "", true}, setting{removal, g.name, "", true}))
	over := func() settle { return f.set(setting{unseen, g.name, "", false}, setting{removal, g.name, "", false}) }
	var done settle
	if s.lively {
		done = over() // its job may be that fast
	}
	s.byOffice("/admin/people/"+g.name+"/remove-posts", nil, settles...)
	s.heat(g.name, "p/"+all[0].code, s.page()[1:])
	s.everywhere(g.name, all[0])
	staff := admin.Open(s.author.on[0].Store)
	if !s.lively {
		s.shows("/p/"+all[0].code, texts[0], s.office)
		for more := true; more; {
			wrote, err := staff.Wrote(s.t.Context(), g.Account.ID)
			if err == nil && wrote.Left() == 0 && done == nil {
				s.everywhere(g.name, all[0])
				done = over()
			}
			if err == nil {
				more, err = staff.RemovalStep(s.t.Context(), g.Account.ID, s.author.on[0].Tiers.Carry, s.author.on[0].Tiers.Distribute)
			}
			if err != nil {
				s.t.Error(err)
				return
			}
		}
	}
	webtest.Await(s.t, "a removal to end", func() bool {
		wrote, err := staff.Wrote(s.t.Context(), g.Account.ID)
		if err != nil {
			s.t.Fatal(err)
		}
		return !wrote.Removing && wrote.Left() == 0
	})
	done(true)
	s.everywhere(g.name, all[0])
	s.shows(s.page(), `href="/`+g.name+`"`, s.stranger.resident, nil) // as somebody who likes it
}

// closeSite: the site becomes private. Those who are not signed in are shown nothing, and members
// lose nothing. Somebody asks to be let in, is refused, and is let in after all.
func (s *scene) closeSite() {
	text := s.post.text.last()
	s.shows(s.page(), text, s.stranger.resident, nil)
	var open []*webtest.Page
	for _, n := range s.watched {
		open = append(open, n.Open(nil, "/everything"))
	}
	private := func(on bool) {
		what := map[bool]string{true: "on", false: "off"}[on]
		s.byOffice("/admin/doors", url.Values{"signup": {string(site.ByApproval)}, "private": {what}}, s.facts.set(setting{isShut, "", "", on}))
	}
	private(true)
	for _, page := range open {
		if got := page.Closed(); got.Code != live.CloseSignedOut {
			s.t.Errorf("%s: an open page is closed with %v", s.play.name, got)
		}
	}
	s.everywhere(s.friend.name, s.post)
	for _, n := range s.nodes {
		v := n.Visitor()
		v.Get("/").LeadsTo("/login?back=%2F")
		v.Get(s.page()).Wants(http.StatusSeeOther)
		v.Get("/feeds/everything.atom").Wants(http.StatusUnauthorized)
	}
	s.shows(s.page(), text, s.stranger.resident, s.friend.resident, s.office)
	for _, n := range s.watched {
		n.Open(s.friend.Person, "/"+onStage)
	}
	s.apply()
	private(false)
	s.shows(s.page(), text, s.stranger.resident, nil)
	s.watch(nil, s.page())
}

// apply: somebody asks to be let in. Only the staff see them until they are.
func (s *scene) apply() {
	name := applicantName(int(s.played.Load()))
	r, title := s.observed.stranger(name), s.token(said{person: name})
	v := r.visitors[0]
	v.Post("/signup", "username", name, "title", title, "password", newPassword, "sentence", "It is me.").LeadsTo("/signup?asked=1")
	s.everywhere(name, s.post)
	s.shows("/admin/signups", title, s.office)
	s.byOffice("/admin/signups/"+name+"/refuse", url.Values{"answer": {"Not now."}})
	s.everywhere(name, s.post)
	v.Post("/login", "username", name, "password", newPassword).Wants(http.StatusForbidden)
	s.byOffice("/admin/signups/"+name+"/admit", nil, s.facts.set(setting{unseen, name, "", false}))
	s.signIn(r)
	s.shows(s.page(), s.post.text.last(), r)
	s.shows("/"+name, title, s.stranger.resident)
}
