package web_test

import (
	"net/url"
	"slices"
	"strings"

	"riverrun/timelines"
)

// setBan bans somebody or lifts that.
func (a *actor) setBan() {
	a.ban(a.another(), a.rng.IntN(3) > 0)
}

func (a *actor) ban(name string, want bool) (ok bool) {
	what := map[bool]string{true: "ban", false: "unban"}[want]
	defer a.heat("everything", a.name, name)
	_, _, ok = a.send("/"+name+"/"+what, nil, "", a.facts.set(setting{bans, a.name, name, want}))
	return ok
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
	// A private account is asked first, unless it lets one read already; its
	// followers are among the readers.
	if !f.is(follows, a.name, name) && (f.level(name) != timelines.Private || f.is(admits, name, a.name)) {
		settles = append(settles, f.set(setting{follows, a.name, name, true}, setting{brings, a.name, name, true}, setting{admits, name, a.name, true}))
	} else if !f.is(follows, a.name, name) {
		settles = append(settles, f.set(setting{asks, a.name, name, true}))
	}
	a.send("/"+name+"/follow", nil, "", settles...)
}

func (a *actor) follow() { a.subscribe(a.anyone()) }

func (a *actor) unsubscribe() {
	name := a.anyone()
	defer a.gate(name)()
	defer a.heat(name)
	f := a.facts
	var settles []settle
	settles = append(settles, f.set(setting{brings, a.name, name, false}, setting{asks, a.name, name, false}))
	if f.is(follows, a.name, name) {
		lost := []setting{{follows, a.name, name, false}}
		if !f.is(leads, a.name, name) {
			lost = append(lost, setting{admits, name, a.name, false})
		}
		settles = append(settles, f.set(lost...))
	}
	a.send("/"+name+"/unfollow", nil, "", settles...)
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
		a.send("/"+name+"/decline", form, "", a.facts.set(setting{asks, name, of, false}))
		return
	}
	// Refused if there is no request.
	a.send("/"+name+"/accept", form, "", a.facts.set(setting{follows, name, of, true}, setting{brings, name, of, true}, setting{admits, of, name, true}, setting{asks, name, of, false}))
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
		a.levelTo(a.name, level)
	case k == 1:
		defer a.gate(a.name)()
		defer a.heat(a.name + "/photos")
		a.send("/settings/pages/access", url.Values{"feed": {"photos"}, "level": {level.String()}}, "",
			a.facts.setLevel(a.name+"/photos", level))
	default:
		a.levelTo(a.someGroup(a.rng), level)
	}
}

// levelTo gives an account, the actor's own or a group's, a level.
func (a *actor) levelTo(account string, level timelines.Level) (ok bool) {
	defer a.gate(account)()
	defer a.heat(account)
	form := url.Values{"level": {level.String()}}
	if account == a.name {
		defer a.heat(account + "/likes")
	} else {
		form.Set("group", account)
	}
	_, _, ok = a.send("/settings/access", form, "", a.facts.setLevel(account, level))
	return ok
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
		s = []setting{{admits, feed, name, true}, {excludes, feed, name, false}}
	case "remove", "exclude": // nobody is in both sets
		s = []setting{{admits, feed, name, false}}
		if slug == "" {
			s = append(s, setting{follows, name, a.name, false})
		}
		if what == "exclude" {
			s = append(s, setting{excludes, feed, name, true})
		}
	case "unexclude":
		s = []setting{{excludes, feed, name, false}}
	}
	a.send("/settings/pages/"+what, url.Values{"feed": {slug}, "name": {name}}, "", a.facts.set(s...))
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
	to, places := a.destinations()
	a.moveTo(p, to, places)
}

func (a *actor) moveTo(p *writing, to, places []string) (ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.facts.mu.Lock()
	was := p.places.last()
	moved := begin(a.facts, &p.places, strings.Join(places, ","))
	a.facts.mu.Unlock()
	defer a.heat(strings.Split(was, ",")...)
	_, _, ok = a.send("/p/"+p.code+"/edit", url.Values{"to": to}, "", moved)
	return ok
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
