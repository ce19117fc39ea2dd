package web_test

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// play is something that servers of this kind are known to have done wrong. Its cast do
// by forms what leads to it, at a moment of the run's seed and amid all that others do,
// before open pages of those whom it concerns. It asserts nothing about what is shown:
// that is for the observer to find.
type play struct {
	name string
	// lasting: it replaces nobody's rivers, so that it is played again while all comes to
	// rest, and its open pages must equal a reload by pushes alone.
	lasting bool
	act     func(*scene)

	places []string    // where its post is written
	cast   []*resident // author, friend, stranger, and others who are not in it
	post   *writing
	played atomic.Int64
}

// Groups that only plays change: two stay public, the last goes private.
const onStage, offStage, backstage = "stage", "wings", "backstage"

// stage gives every play its cast and its post, before anybody looks.
func (w *observed) stage() {
	w.t.Helper()
	founder := w.people[0]
	for _, name := range []string{onStage, offStage, backstage} {
		founder.visitors[0].Post("/groups", "name", name, "title", name, "access", "public").Wants(303)
		w.facts.addPlace(name, name, timelines.Public)
		w.facts.groups[name] = true
		for _, t := range []tie{{admits, name, founder.name}, {follows, founder.name, name}, {brings, founder.name, name}, {leads, founder.name, name}} {
			w.facts.relations[t] = &history[bool]{first: true}
		}
		w.gates[name] = &sync.Mutex{}
		for _, r := range w.people {
			if name != backstage {
				w.actor(r, w.nodes[:1]).subscribe(name)
			}
		}
	}
	w.regular = w.newcomer(regular, w.nodes[:1])
	if w.regular == nil {
		w.t.Fatal("nobody came")
	}
	w.plays = []*play{
		{name: "a private post's body pushed to a friend of its liker", act: (*scene).likePrivate, places: []string{"/private"}},
		{name: "a post that left a feed staying on the open page", act: (*scene).leave, lasting: true, places: []string{onStage, offStage}},
		{name: "a fold wrong after its last visible comment was deleted", act: (*scene).unfold, lasting: true, places: []string{onStage}},
		{name: "a viewer's placeholder delivered to others", act: (*scene).veil, lasting: true, places: []string{onStage}},
		{name: "a new comment of a banned person shown because the shared fold moved first", act: (*scene).banAndComment, lasting: true, places: []string{onStage}},
		{name: "a group gone private still readable through somebody's likes page", act: (*scene).shut, places: []string{backstage}},
		{name: "a former text shown to a reader", act: (*scene).former, lasting: true, places: []string{onStage}},
		{name: "a comment counted as new that its reader may not see", act: (*scene).tell, lasting: true, places: []string{onStage}},
		{name: "somebody hidden by a suspension shown on a page, in a feed or in a push", act: (*scene).suspend, lasting: true, places: []string{onStage}},
		{name: "somebody who deletes their account shown, or not shown again who keeps it", act: (*scene).depart, places: []string{onStage}},
		{name: "a post that the staff removed still shown", act: (*scene).silence, places: []string{onStage}},
		{name: "a post that moderators blocked still shown", act: (*scene).block, lasting: true, places: []string{onStage}},
		{name: "posts shown again while all of somebody's are being removed", act: (*scene).removeAll, places: []string{onStage}},
		{name: "a private site that shows something to those who are not signed in", act: (*scene).closeSite, places: []string{onStage}},
	}
	for i, p := range w.plays {
		// The author leads the groups.
		rng := w.chance(7, uint64(i))
		p.cast = []*resident{founder}
		for _, k := range rng.Perm(len(w.people) - 1) {
			p.cast = append(p.cast, w.people[k+1])
		}
		if p.places[0] == "/private" {
			p.places[0] = founder.name + p.places[0]
		}
		p.post = w.actor(founder, w.nodes[:1]).publish(p.places, p.places, true)
		if p.post == nil {
			w.t.Fatalf("no post for %s", p.name)
		}
		if p.lasting {
			// More people like it than are named.
			for _, r := range p.cast[3:] {
				w.actor(r, w.nodes[:1]).likeIt(p.post)
			}
		}
		if p.places[0] == backstage {
			w.actor(p.cast[1], w.nodes[:1]).subscribe(backstage)
		}
	}
}

// turn is one of the acts of somebody.
type turn struct {
	who string
	act int
}

// schedule draws when plays are played: each once in each stretch of acts acts, before
// one of somebody's. There are times stretches.
func (w *observed) schedule(which uint64, acts, times int, plays []*play) map[turn][]*play {
	rng, due := w.chance(which, 0), map[turn][]*play{}
	for i := range times {
		for _, p := range plays {
			at := turn{w.people[rng.IntN(len(w.people))].name, i*acts + rng.IntN(acts)}
			due[at] = append(due[at], p)
		}
	}
	return due
}

// perform plays a play. Its cast do nothing else meanwhile; the others do what they like.
func (w *observed) perform(p *play, on, from, watched []*webtest.Site) {
	for _, r := range w.people {
		if slices.Contains(p.cast[:3], r) {
			r.busy.Lock()
			defer r.busy.Unlock()
		}
	}
	s := &scene{
		observed: w, play: p, from: from, watched: watched,
		author: w.actor(p.cast[0], on), friend: w.actor(p.cast[1], on), stranger: w.actor(p.cast[2], on),
	}
	all := []*actor{s.author, s.friend, s.stranger}
	for _, a := range all {
		for _, b := range all {
			if w.facts.is(bans, a.name, b.name) {
				s.must("unban", a.ban(b.name, false))
			}
			if w.facts.is(hidesA, a.name, b.name) {
				_, _, ok := a.send("/"+b.name+"/unhide", nil, "", w.facts.set(setting{hidesA, a.name, b.name, false}))
				s.must("unhide", ok)
			}
		}
		if w.facts.is(hidesP, a.name, p.post.id) {
			s.must("unhide the post", a.mark(p.post, "unhide", setting{hidesP, a.name, p.post.id, false}))
		}
	}
	p.act(s)
	p.played.Add(1)
}

// scene is a play being played.
type scene struct {
	*observed
	*play
	author, friend, stranger *actor
	from, watched            []*webtest.Site
	opened                   int
}

// must says that a form of the play was refused, without which there is no play.
func (s *scene) must(what string, ok bool) {
	if !ok {
		s.t.Errorf("%s: refused to %s", s.play.name, what)
	}
}

// watch opens pages for somebody, nil being nobody, one after the other on each node,
// and waits until they are followed. They stay open, as long as there are not too many.
func (s *scene) watch(who *resident, addresses ...string) {
	var opening sync.WaitGroup
	for _, address := range addresses {
		s.opened++
		fl := &follower{
			observed: s.observed, who: who, rng: s.chance(8, uint64(s.serial.Add(1))), stays: true,
			from: s.from, nodes: []*webtest.Site{s.watched[s.opened%len(s.watched)]}, ready: make(chan struct{}),
		}
		opening.Go(func() { s.seat(fl, address) })
	}
	opening.Wait()
}

// keptWatching is how many pages opened for plays stay open: those of two plays and more.
const keptWatching = 14

func (s *scene) seat(fl *follower, address string) {
	ready := fl.ready
	if !fl.loadPage(address) {
		s.t.Errorf("%s: %q is not shown %s", s.play.name, nameOf(fl.who), address)
		return
	}
	if !fl.connect() {
		return
	}
	s.watchMu.Lock()
	s.watching = append(s.watching, fl)
	var oldest *follower
	if len(s.watching) > keptWatching {
		oldest, s.watching = s.watching[0], s.watching[1:]
	}
	s.watchMu.Unlock()
	if oldest != nil {
		oldest.end()
	}
	select {
	case <-ready:
	case <-fl.ended:
	case <-time.After(webtest.Patience):
		s.t.Errorf("%s: %q on %s is told nothing", s.play.name, nameOf(fl.who), address)
	}
}

// look has somebody ask for addresses, on any of the nodes, and ask does so with a copy.
func (s *scene) look(who *resident, addresses ...string) {
	for _, address := range addresses {
		s.ask(who, &kept{address: address})
	}
	s.callAs(who, addresses...)
}

// callAs has somebody's programs ask for the posts whose pages these are, and read the log, on any of the nodes.
func (s *scene) callAs(who *resident, addresses ...string) {
	for _, p := range s.programsOf(who) {
		node := s.from[s.author.rng.IntN(len(s.from))]
		for _, address := range addresses {
			if code, ok := strings.CutPrefix(address, "/p/"); ok && !strings.Contains(code, "/") {
				s.call(node, p, s.operationAt("/api/posts/{code}"), "/api/posts/"+code, "")
			}
		}
		s.follow(node, p)
	}
}

func (s *scene) ask(who *resident, k *kept) *kept {
	node := s.from[s.author.rng.IntN(len(s.from))]
	body, tag := s.getAgain(node, who, k.address, "", k)
	return &kept{k.address, tag, body}
}

// bell asks, on all nodes, what the job that tells browsers asks before it does: without
// something unread nothing is pushed.
func (s *scene) bell(who *resident) {
	for _, n := range s.from {
		told := serving{viewer: who.name, address: "a push", how: "number", from: s.facts.now(), node: n}
		unread, _, err := n.Rivers.News(s.t.Context(), who.Account.ID)
		told.to = s.facts.now()
		if err != nil {
			s.t.Errorf("what is new for %s: %v", who.name, err)
			continue
		}
		s.facts.mu.RLock()
		wrong := s.facts.judgeUnread(told, unread, 0)
		s.facts.mu.RUnlock()
		s.complain(wrong)
	}
}

// open lets everybody read an account.
func (s *scene) open(a *actor, account string) {
	if s.facts.level(account) != timelines.Public {
		s.must("open "+account, a.levelTo(account, timelines.Public))
	}
}

func (s *scene) comment(a *actor) *writing {
	c := a.commentOn(s.post)
	s.must("comment", c != nil)
	return c
}

func (s *scene) page() string { return "/p/" + s.post.code }

// likePrivate: what the author lets only the friend read, the friend likes and comments
// on before a stranger who follows them.
func (s *scene) likePrivate() {
	s.open(s.friend, s.friend.name)
	s.author.reader("admit", "private", s.friend.name)
	if s.facts.is(admits, s.places[0], s.stranger.name) {
		s.author.reader("remove", "private", s.stranger.name)
	}
	s.stranger.subscribe(s.friend.name)
	s.watch(s.stranger.resident, "/", "/?mode=activity", "/"+s.friend.name+"/likes", "/"+s.friend.name+"/comments", "/everything")
	s.watch(s.friend.resident, "/")
	s.must("like", s.friend.likeIt(s.post))
	s.comment(s.friend)
	s.must("edit", s.author.rewrite(s.post, s.page()+"/edit", false))
	s.comment(s.author)
	s.callAs(s.stranger.resident, s.page())
}

// leave: a post leaves one of two groups.
func (s *scene) leave() {
	if all := []string{onStage, offStage}; s.post.places.last() != onStage+","+offStage {
		s.must("stand in both", s.author.moveTo(s.post, all, all))
	}
	s.watch(s.stranger.resident, "/"+onStage, "/")
	s.watch(nil, "/"+onStage+"?order=created")
	s.must("leave", s.author.moveTo(s.post, []string{offStage}, []string{offStage}))
	s.heat(onStage)
	s.callAs(s.stranger.resident, s.page())
	s.must("edit", s.author.rewrite(s.post, s.page()+"/edit", false))
	s.comment(s.friend)
}

// unfold: comments enough to fold are taken away again, one by one, in any order.
func (s *scene) unfold() {
	s.watch(s.stranger.resident, "/everything", "/"+onStage)
	s.watch(nil, "/"+onStage)
	var said []*writing
	for range 5 {
		said = append(said, s.comment(s.friend))
	}
	// The last one seen goes first.
	slices.Reverse(said)
	left := said[1:]
	s.author.rng.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	for _, c := range said {
		if c != nil && c.number != 0 {
			s.must("delete", s.friend.rewrite(c, commentAddress(c, "delete"), true))
		}
	}
}

// veil: somebody whom the stranger has banned comments before all.
func (s *scene) veil() {
	s.must("ban", s.stranger.ban(s.friend.name, true))
	for _, who := range []*resident{s.stranger.resident, nil, s.cast[3], s.cast[4]} {
		s.watch(who, "/"+onStage)
	}
	s.watch(s.stranger.resident, s.page())
	s.comment(s.friend)
	s.comment(s.friend)
	for _, a := range []*actor{s.friend, s.stranger, s.author} {
		s.must("like", a.likeIt(s.post))
		s.must("keep", a.keep(s.post, true))
	}
	if c := s.comment(s.author); c != nil && c.number != 0 {
		for _, a := range []*actor{s.friend, s.stranger} {
			s.must("like a comment", a.heart(c, true))
		}
	}
	s.comment(s.stranger)
	s.callAs(s.stranger.resident, s.page())
	s.callAs(s.friend.resident, s.page())
}

// banAndComment: somebody comments at the very moment they are banned, and again.
func (s *scene) banAndComment() {
	s.comment(s.friend)
	s.watch(s.stranger.resident, "/"+onStage, "/everything", s.page())
	s.watch(s.friend.resident, "/"+onStage)
	s.must("ban", s.stranger.ban(s.friend.name, true))
	for range 2 {
		s.comment(s.friend)
		s.must("like", s.friend.likeIt(s.post))
		s.comment(s.author)
		s.callAs(s.stranger.resident, s.page())
	}
	s.heat(onStage, s.page()[1:], s.author.name)
}

// former: a post is edited, and who may read it asks what it said before.
func (s *scene) former() {
	history := s.page() + "/history"
	s.watch(s.stranger.resident, s.page(), "/"+onStage)
	for range 2 {
		s.must("edit", s.author.rewrite(s.post, s.page()+"/edit", false))
		for _, who := range []*resident{s.author.resident, s.friend.resident, s.stranger.resident, nil} {
			s.look(who, history, s.page())
		}
	}
}

// tell: the stranger is told of comments by somebody whom they then ban, of one that is
// deleted, and of those below a post that they then mute.
func (s *scene) tell() {
	stranger := s.stranger.resident
	looks := func() {
		s.look(stranger, "/push/news", "/"+onStage, "/filter/notifications?order=created", "/settings/hidden")
		s.bell(stranger)
	}
	if s.facts.is(mutes, s.stranger.name, s.post.id) {
		s.must("unmute", s.stranger.mark(s.post, "unmute", setting{mutes, s.stranger.name, s.post.id, false}))
	}
	s.comment(s.stranger)
	s.watch(stranger, "/"+onStage, "/filter/notifications")
	for _, n := range s.from {
		s.get(n, stranger, s.page(), "")
	}
	first := s.comment(s.friend)
	s.comment(s.author)
	looks()
	s.must("ban", s.stranger.ban(s.author.name, true))
	looks()
	if first != nil && first.number != 0 {
		s.must("delete", s.friend.rewrite(first, commentAddress(first, "delete"), true))
	}
	looks()
	s.look(stranger, s.page())
	s.must("unban", s.stranger.ban(s.author.name, false))
	s.must("ban", s.stranger.ban(s.friend.name, true))
	s.comment(s.friend)
	s.look(stranger, s.page())
	s.must("mute", s.stranger.mark(s.post, "mute", setting{mutes, s.stranger.name, s.post.id, true}))
	s.comment(s.author)
	looks()
	s.look(s.quiet, "/push/news", "/filter/notifications", s.page(), "/")
	s.bell(s.quiet)
}

// shut: a group goes private in which the friend liked and commented.
func (s *scene) shut() {
	s.open(s.friend, s.friend.name)
	s.open(s.author, backstage)
	s.must("like", s.friend.likeIt(s.post))
	s.comment(s.friend)
	liked, said := "/"+s.friend.name+"/likes", "/"+s.friend.name+"/comments"
	place := url.QueryEscape(s.page())
	file, ok := s.stranger.keepDraftOf(s.page(), true)
	s.must("keep a draft", ok)
	drafts := []string{"/drafts", "/drafts/edit?place=" + place, "/drafts?place=" + place, file}
	for _, who := range []*resident{s.stranger.resident, s.friend.resident, s.author.resident} {
		s.look(who, drafts...)
	}
	card := s.page() + "/preview"
	keeps := []*kept{s.ask(s.stranger.resident, &kept{address: card}), s.ask(nil, &kept{address: card})}
	s.watch(nil, liked, said+"?order=created")
	s.watch(s.stranger.resident, liked, said, s.page())
	s.watch(s.friend.resident, said)
	s.must("shut", s.author.levelTo(backstage, timelines.Private))
	s.heat(liked[1:], said[1:], s.page()[1:])
	s.callAs(s.stranger.resident, s.page())
	for i, who := range []*resident{s.stranger.resident, nil} {
		s.ask(who, keeps[i])
		s.look(who, card)
	}
	s.look(s.stranger.resident, append(drafts, "/push/news", "/")...)
	s.comment(s.friend)
	s.look(s.stranger.resident, "/push/news", "/")
	s.bell(s.stranger.resident)
	s.must("edit", s.author.rewrite(s.post, s.page()+"/edit", false))
}
