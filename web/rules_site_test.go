package web_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
	"riverrun/timelines/listings"
	"riverrun/web/webtest"
)

// ruleSite is the one site of the table: few people, many posts.
type ruleSite struct {
	*webtest.Site
	people  map[string]*webtest.Person
	viewers []*ruleViewer
	rows    []*ruleRow
	byCode  map[string]*ruleRow
	pages   []*rulePage
	names   []string // of people and groups; a title's number is the index
	offset  int      // picks samples, by the seed
	soaks   bool     // nothing is sampled
}

// Everything that may be secret has a marker in it: a letter for its kind, and a number for
// its owner. A marker occurs nowhere else, not even by chance in a random key. So a leak is
// found in any byte of any answer.
//
//	b post's text   e the same, edited   f attachment   c comment
//	n title of a person or group   s title of a sub-feed   l place of a listing
func marker(kind byte, n int) string { return markerPrefix + string(kind) + strconv.Itoa(n) + "z" }

const markerPrefix = "zqxjv"

// commentMarks is how many markers a row's comments may have.
const commentMarks = 10

func (s *ruleSite) titleMark(name string) string { return marker('n', slices.Index(s.names, name)) }

// subfeedMark is the marker of a sub-feed's title; the fixed private one has none.
func subfeedMark(owner, slug string) string {
	return marker('s', 10*slices.Index(ruleAuthors, owner)+slices.Index(ruleSlugs, slug))
}

// ruleViewers are the relations, each with every ban that says something new with
// it, and the hides of somebody who would else see nearly everything.
func ruleViewers() []*ruleViewer {
	viewers := []*ruleViewer{{rel: nobody}}
	add := func(rel relation, ban string, shows bool, hides string) {
		viewers = append(viewers, &ruleViewer{
			name: fmt.Sprintf("viewer-%02d", len(viewers)), rel: rel, ban: ban, shows: shows, hides: hides,
		})
	}
	for _, rel := range []relation{stranger, subscriber, excluded, outcast, admitted, member, administers, blocked, recipient, fan, insider} {
		add(rel, noBan, false, "")
	}
	for _, ban := range []string{bansAuthors, authorsBan, bansTalker, talkerBans} {
		for _, rel := range []relation{stranger, subscriber, member, recipient, fan, insider} {
			add(rel, ban, false, "")
		}
		for _, rel := range []relation{member, administers} {
			add(rel, ban, true, "")
		}
		add(administers, ban, false, "")
	}
	add(stranger, bansAuthors, true, "") // shows them in a group that is closed to them, too
	for _, hides := range []string{"post", "author", "group", "word", "tag", "talker"} {
		add(insider, noBan, false, hides)
	}
	add(member, noBan, false, "group")
	add(insider, bansTalker, false, "word")
	others := map[string]string{}
	for _, v := range viewers {
		others[v.name] = v.ban
	}
	for _, name := range ruleAuthors {
		viewers = append(viewers, &ruleViewer{name: name, rel: author, others: others})
	}
	return viewers
}

// ruleRows are the destination sets: each author's feed, of its own level, alone and
// with every other kind of place; every other place alone; and the pairs where one
// place opens what the other closes.
func ruleRows() []*ruleRow {
	var rows []*ruleRow
	add := func(author string, places ...rulePlace) {
		rows = append(rows, &ruleRow{n: len(rows), author: author, places: places})
	}
	feed := func(a int) rulePlace {
		return rulePlace{kind: kinds.Feed, owner: ruleAuthors[a], level: ruleLevels[a]}
	}
	sub := func(a, i int) rulePlace {
		return rulePlace{kind: kinds.Subfeed, owner: ruleAuthors[a], slug: ruleSlugs[i], level: ruleLevels[min(i, 2)]}
	}
	group := func(i int) rulePlace {
		return rulePlace{kind: kinds.Group, owner: ruleGroups[i], level: ruleLevels[i]}
	}
	direct := func(a int) rulePlace {
		return rulePlace{kind: kinds.Directs, owner: ruleAuthors[a], level: timelines.Private}
	}
	const private = 3
	for a, name := range ruleAuthors {
		add(name, feed(a))
		for _, with := range []rulePlace{sub(a, 0), sub(a, 2), sub(a, private), direct(a), group(0), group(1), group(2)} {
			add(name, feed(a), with)
		}
		add(name, rulePlace{kind: kinds.Eyes, owner: name, level: timelines.Private})
	}
	// Without the feed its level is no matter; so each author writes a third of them.
	next := 0
	by := func(places func(a int) []rulePlace) {
		add(ruleAuthors[next%3], places(next%3)...)
		next++
	}
	for i := range ruleSlugs {
		by(func(a int) []rulePlace { return []rulePlace{sub(a, i)} })
	}
	for i := range ruleGroups {
		by(func(int) []rulePlace { return []rulePlace{group(i)} })
		by(func(a int) []rulePlace { return []rulePlace{direct(a), group(i)} })
		by(func(a int) []rulePlace { return []rulePlace{sub(a, private), group(i)} })
		by(func(a int) []rulePlace { return []rulePlace{sub(a, 1), group(i)} })
	}
	by(func(a int) []rulePlace { return []rulePlace{direct(a)} })
	by(func(a int) []rulePlace { return []rulePlace{direct(a), sub(a, private)} })
	by(func(a int) []rulePlace { return []rulePlace{direct(a), sub(a, 1)} })
	by(func(a int) []rulePlace { return []rulePlace{sub(a, 2), group(0)} })
	by(func(int) []rulePlace { return []rulePlace{group(0), group(2)} })
	by(func(int) []rulePlace { return []rulePlace{group(1), group(2)} })
	by(func(a int) []rulePlace { return []rulePlace{feed(a), group(2), group(0), direct(a)} })
	for a, name := range ruleAuthors {
		add(name, feed(a), group(0), direct(a))
		rows[len(rows)-1].held = true
	}
	return rows
}

// ruleCrowd are those who like everything that was once open to all, so that there
// are others to count.
var ruleCrowd = []string{"crowd-1", "crowd-2", "crowd-3", "crowd-4"}

// newRuleSite makes the people and the posts while everything is open to all,
// has everybody like, keep and comment, and pages looked at; then closes what the
// table says is closed, sets the bans and the hides.
func newRuleSite(t testing.TB) *ruleSite {
	t.Helper()
	s := &ruleSite{
		Site:   webtest.NewOver(t, rivers.DefaultOptions(), nil),
		people: map[string]*webtest.Person{}, viewers: ruleViewers(), rows: ruleRows(), byCode: map[string]*ruleRow{}, pages: rulePages(),
	}
	seed, times := testdb.Chance(t)
	s.offset, s.soaks = int(seed%1e6), times > 1
	for _, list := range [][]string{ruleAuthors, ruleGroups, {ruleTalker, ruleRecluse}, ruleCrowd} {
		s.names = append(s.names, list...)
	}
	for _, v := range s.viewers {
		if v.signedIn() && !slices.Contains(s.names, v.name) {
			s.names = append(s.names, v.name)
		}
	}
	for _, name := range s.names {
		if !slices.Contains(ruleGroups, name) {
			s.people[name] = s.newcomer(name)
		}
	}
	for _, name := range ruleAuthors {
		for _, slug := range ruleSlugs[:3] {
			s.must(s.Store.Feeds.Create(s.ctx(), s.id(name), slug, subfeedMark(name, slug), timelines.Public))
		}
	}
	for _, name := range ruleGroups {
		_, c, err := s.Store.Groups.Create(s.ctx(), timelines.NewGroup{Actor: s.id(ruleTalker), Name: name, Title: s.titleMark(name)})
		s.must(c, err)
		s.must(s.Store.Groups.SetListings(s.ctx(), s.id(ruleTalker), name, "EUR"))
		for _, writer := range ruleAuthors {
			s.follow(writer, name)
		}
	}
	for _, v := range s.viewers {
		s.relate(v)
	}
	// A person who talks everywhere is let in everywhere.
	for _, name := range ruleAuthors {
		s.follow(ruleTalker, name)
		for _, slug := range ruleSlugs {
			s.must(s.Store.Feeds.Admit(s.ctx(), s.id(name), slug, ruleTalker))
		}
	}
	for _, r := range s.rows {
		s.publish(r)
	}
	// Some look at some pages while all is open: rivers stand that hold what is about
	// to be closed.
	var all sync.WaitGroup
	for i, v := range s.viewers {
		browser := s.browser(t, v)
		all.Go(func() {
			for j, p := range s.pages {
				if (i+j+s.offset)%5 == 0 {
					browser.Get(p.address)
				}
			}
		})
	}
	all.Wait()
	s.narrow()
	return s
}

func (s *ruleSite) ctx() context.Context { return s.T.Context() }

func (s *ruleSite) id(name string) int64 { return s.people[name].Account.ID }

// newcomer signs somebody up and in, without the price of a password's second
// hash.
func (s *ruleSite) newcomer(name string) *webtest.Person {
	s.T.Helper()
	a, err := s.Store.Accounts.SignUp(s.ctx(), timelines.SignUp{Name: name, Title: s.titleMark(name), Password: webtest.Password})
	if err != nil {
		s.T.Fatalf("sign up %s: %v", name, err)
	}
	var b [32]byte
	_, _ = rand.Read(b[:])
	token := base64.RawURLEncoding.EncodeToString(b[:])
	session := webtest.SessionOf(s.T, token)
	const begin = `INSERT INTO sessions (token_hash, account_id, expires_at) VALUES ($1, $2, $3)`
	if _, err := s.DB.Primary.Exec(s.ctx(), begin, session[:], a.ID, time.Now().Add(time.Hour)); err != nil {
		s.T.Fatal(err)
	}
	return &webtest.Person{Site: s.Site, Account: a, Token: token, Viewer: timelines.Viewer{AccountID: a.ID, Session: session}}
}

func (s *ruleSite) browser(t testing.TB, v *ruleViewer) *webtest.Visitor {
	b := s.Visitor()
	if v.signedIn() {
		b = s.people[v.name].Visitor()
	}
	b.T = t
	return b
}

// must is for changes while nobody looks: no river stands that a tier could move.
func (s *ruleSite) must(c timelines.Change, err error) timelines.Change {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
	return c
}

func (s *ruleSite) follow(who, whom string) {
	s.T.Helper()
	c, requested, err := s.Store.Subscriptions.Subscribe(s.ctx(), s.id(who), whom)
	if s.must(c, err); requested {
		s.T.Fatalf("%s asks %s, and everything should be open", who, whom)
	}
}

// relate makes the viewer what the table says they are.
func (s *ruleSite) relate(v *ruleViewer) {
	s.T.Helper()
	if !v.signedIn() {
		return
	}
	var followed []string
	for _, name := range slices.Concat(ruleAuthors, ruleGroups, []string{ruleTalker}) {
		if v.follows(name) {
			followed = append(followed, name)
			if v.rel != author {
				s.follow(v.name, name)
			}
		}
	}
	if v.rel == administers || v.rel == blocked {
		set := s.Store.Groups.Promote
		if v.rel == blocked {
			set = s.Store.Groups.Block
		}
		for _, g := range ruleGroups {
			s.must(set(s.ctx(), s.id(ruleTalker), g, v.name))
		}
	}
	if v.rel == outcast || v.rel == admitted {
		set := s.Store.Groups.Exclude
		if v.rel == admitted {
			set = s.Store.Groups.Admit
		}
		for _, g := range ruleGroups {
			s.must(set(s.ctx(), s.id(ruleTalker), g, v.name))
		}
	}
	for _, name := range ruleAuthors {
		for _, slug := range append([]string{""}, ruleSlugs...) {
			switch {
			case v.rel == excluded:
				if slug == "" && name != ruleAuthors[2] {
					s.follow(v.name, name)
				} else {
					s.must(s.Store.Feeds.Admit(s.ctx(), s.id(name), slug, v.name))
				}
				s.must(s.Store.Feeds.Exclude(s.ctx(), s.id(name), slug, v.name))
			case v.rel == admitted, v.rel == insider && slug != "":
				s.must(s.Store.Feeds.Admit(s.ctx(), s.id(name), slug, v.name))
			}
		}
	}
	_, c, err := s.Store.Lists.Create(s.ctx(), timelines.NewList{Actor: s.id(v.name), Title: "all"})
	s.must(c, err)
	if len(followed) > 0 {
		s.must(s.Store.Lists.Edit(s.ctx(), s.id(v.name), "all", "all", followed))
	}
}

// publish posts a row and has everybody do with it what they do: the talker and
// the crowd like it and comment, some viewers like it, some keep it.
func (s *ruleSite) publish(r *ruleRow) {
	s.T.Helper()
	body := []string{marker('b', r.n), "albatross", "#riverproof"}
	switch r.n % 4 {
	case hiddenWordIn:
		body = append(body, ruleWord)
	case hiddenTagIn:
		body = append(body, "#"+ruleHiddenTag)
	}
	for i, v := range s.viewers {
		if v.signedIn() && v.rel != author && (i+r.n)%3 == 0 {
			r.named = append(r.named, v.name)
			body = append(body, "@"+v.name)
		}
	}
	var to []string
	// The viewer who reads it as it is now, with everything open except what never is.
	open, direct := false, false
	for _, p := range r.places {
		switch {
		case p.kind == kinds.Eyes:
			to = append(to, timelines.ToEyes)
		case p.kind == kinds.Directs:
			direct = true
			to = append(to, ruleTalker)
			for _, v := range s.viewers {
				if v.rel == recipient {
					to = append(to, v.name)
				}
			}
		case p.kind == kinds.Subfeed:
			to = append(to, p.owner+"/"+p.slug)
			open = open || p.slug != kinds.PrivateTerm
		default:
			to = append(to, p.owner)
			open = true
		}
	}
	r.body = strings.Join(body, " ")
	post := timelines.NewPost{Author: s.id(r.author), Body: r.body, To: to, Language: "en"}
	if r.offers() {
		post.Listing = &listings.Fields{Price: "7", Currency: "EUR", Place: marker('l', r.n)}
	}
	c := s.must(s.Store.Posts.Create(s.ctx(), post))
	r.code = c.Code
	s.byCode[r.code] = r
	const attach = `INSERT INTO attachments (post_id, position, url, title) VALUES ($1, 0, $2, $3)`
	link := "https://files.example/" + marker('f', r.n)
	if _, err := s.DB.Primary.Exec(s.ctx(), attach, c.PostID, link, marker('f', r.n)); err != nil {
		s.T.Fatal(err)
	}
	like := func(name string) {
		s.must(s.Store.Posts.Like(s.ctx(), s.id(name), r.code))
		r.likers = append(r.likers, name)
	}
	fave := func(name string) {
		s.must(s.Store.Posts.Fave(s.ctx(), s.id(name), r.code))
		r.favers = append(r.favers, name)
	}
	say := func(name string, more ...string) {
		n := commentMarks*r.n + len(r.comments)
		c := s.must(s.Store.Comments.Create(s.ctx(), timelines.NewComment{Author: s.id(name), Code: r.code, Body: strings.Join(append(more, marker('c', n)), " ")}))
		r.comments = append(r.comments, ruleComment{by: name, id: c.CommentID})
	}
	if !open && !direct {
		return // the author's own, and a few readers'
	}
	calls := []string{"#cormorant"}
	for i, v := range s.viewers {
		if v.signedIn() && v.rel != author && (i+r.n)%3 == 1 {
			r.called = append(r.called, v.name)
			calls = append(calls, "@"+v.name)
		}
	}
	like(ruleTalker)
	say(ruleTalker, calls...)
	say(ruleTalker)
	if !open {
		return
	}
	for _, name := range ruleCrowd {
		like(name)
		fave(name)
	}
	like(ruleRecluse)
	say(ruleCrowd[0])
	say(ruleRecluse)
	liked := &r.comments[2]
	for _, name := range []string{ruleTalker, ruleCrowd[1]} {
		s.must(s.Store.Comments.Like(s.ctx(), s.id(name), r.code, liked.id))
		liked.likers = append(liked.likers, name)
	}
	for i, v := range s.viewers {
		if !v.signedIn() || v.rel == author || v.rel == recipient {
			continue // the recipients of a message are a secret
		}
		if (i+r.n)%7 == 0 {
			like(v.name)
		}
		if (i+r.n)%11 == 0 {
			fave(v.name)
		}
	}
}

// narrow closes what is closed in the table. From here on every answer is held to
// it, whatever stands behind: nothing follows up.
func (s *ruleSite) narrow() {
	s.T.Helper()
	act := func(who string, change func(actor int64) (timelines.Change, error)) {
		s.T.Helper()
		s.people[who].Act(func(context.Context) (timelines.Change, error) { return change(s.id(who)) })
	}
	for i, name := range ruleAuthors {
		act(name, func(a int64) (timelines.Change, error) { return s.Store.Feeds.SetAccess(s.ctx(), a, "", ruleLevels[i]) })
		for j, slug := range ruleSlugs[:3] {
			act(name, func(a int64) (timelines.Change, error) {
				return s.Store.Feeds.SetSubfeedAccess(s.ctx(), a, slug, ruleLevels[j])
			})
		}
	}
	for i, name := range ruleGroups {
		act(ruleTalker, func(a int64) (timelines.Change, error) {
			return s.Store.Feeds.SetAccess(s.ctx(), a, name, ruleLevels[i])
		})
	}
	act(ruleRecluse, func(a int64) (timelines.Change, error) {
		return s.Store.Feeds.SetAccess(s.ctx(), a, "", timelines.Private)
	})
	for _, r := range s.rows {
		if r.held {
			s.hold(r)
		}
	}
	for _, v := range s.viewers {
		if !v.signedIn() {
			continue
		}
		for _, person := range append([]string{ruleTalker}, ruleAuthors...) {
			if v.rel == author {
				break // said of the others
			}
			if v.bans(person) {
				act(v.name, func(a int64) (timelines.Change, error) { return s.Store.Bans.Ban(s.ctx(), a, person) })
			}
			if v.bannedBy(person) {
				act(person, func(a int64) (timelines.Change, error) { return s.Store.Bans.Ban(s.ctx(), a, v.name) })
			}
		}
		for _, g := range showingGroups {
			if v.shows {
				act(v.name, func(a int64) (timelines.Change, error) { return s.Store.Bans.ShowBanned(s.ctx(), a, g, true) })
			}
		}
		switch v.hides {
		case "author", "group", "talker":
			whom := map[string]string{"author": hiddenAuthor, "group": hiddenGroup, "talker": ruleTalker}[v.hides]
			act(v.name, func(a int64) (timelines.Change, error) { return s.Store.Hides.HideAccount(s.ctx(), a, whom) })
		case "word":
			act(v.name, func(a int64) (timelines.Change, error) { return s.Store.Hides.HideTerm(s.ctx(), a, ruleWord) })
		case "tag":
			act(v.name, func(a int64) (timelines.Change, error) { return s.Store.Hides.HideTerm(s.ctx(), a, "#"+ruleHiddenTag) })
		case "post":
			for _, r := range s.rows {
				if r.n%4 == hiddenPosts && v.mayRead(r) {
					act(v.name, func(a int64) (timelines.Change, error) {
						_, c, err := s.Store.Hides.HidePost(s.ctx(), a, r.code)
						return c, err
					})
				}
			}
		}
	}
}

// hold blocks a post as moderators do.
func (s *ruleSite) hold(r *ruleRow) {
	s.T.Helper()
	s.people[r.author].Act(func(context.Context) (timelines.Change, error) {
		return s.Store.Posts.Moderate(s.ctx(), 0, r.code, func(context.Context, pgx.Tx, int64, int64) (timelines.Ruling, error) {
			return timelines.Ruling{Blocked: true, Reason: "a rule"}, nil
		})
	})
	r.listing = r.offers()
	r.places = []rulePlace{{kind: kinds.Eyes, owner: r.author, level: timelines.Private}}
}
