package web_test

import (
	"fmt"
	"slices"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// The rules of who may see what, written once more, from the documents (000, "Права на чтение
// постов"; 004, the four checks; ARCHITECTURE.md) and without the product's access sets,
// levels and folds. They are short enough to be read against the documents. rules_test.go
// holds the site to them.

// A rulePlace is one destination of a post: a base timeline.
type rulePlace struct {
	kind  string // kinds.Feed, ...
	owner string // the author, or the group; nobody in particular for messages
	slug  string // of a sub-feed
	level timelines.Level
}

// A ruleComment is a comment of the table: its n-th of a row.
type ruleComment struct {
	by     string
	id     int64
	likers []string
}

// A ruleRow is one post.
type ruleRow struct {
	n        int
	code     string
	author   string
	places   []rulePlace
	likers   []string // the oldest first
	favers   []string
	comments []ruleComment
	named    []string // whom the text mentions
	called   []string // whom the talker's first comment mentions
	body     string
	edited   bool
	// held: moderators block it when all is closed. Then it stands for its author's eyes, and on no list but that of
	// notifications.
	held bool
	// listing: it was written to where it offers something (offers).
	listing bool
}

// offers: the row is a listing, of 7 euros. Groups alone take them.
func (r *ruleRow) offers() bool {
	return r.listing || r.n%2 == 0 && slices.ContainsFunc(r.places, func(p rulePlace) bool { return p.kind == kinds.Group })
}

func (r *ruleRow) String() string {
	var places []string
	for _, p := range r.places {
		places = append(places, strings.TrimSuffix(fmt.Sprintf("%s %s/%s", p.level, p.owner, p.slug), "/"))
		if p.kind == kinds.Directs {
			places[len(places)-1] = "direct"
		}
		if p.kind == kinds.Eyes {
			places[len(places)-1] = "eyes"
		}
	}
	return fmt.Sprintf("row %d, %s to %s (%s)", r.n, r.author, strings.Join(places, " + "), r.code)
}

// A relation is how a viewer stands to the people and groups of the table.
type relation string

const (
	nobody      relation = "nobody"     // not signed in
	stranger    relation = "stranger"   // signed in, and no more
	subscriber  relation = "subscriber" // follows the authors; the private one has let them in
	excluded    relation = "excluded"   // was let in by the authors, who leave them out; follows who talks with them
	outcast     relation = "outcast"    // follows the authors; the groups leave them out
	admitted    relation = "admitted"   // is let into all that is private of the authors' and groups', and follows nobody
	member      relation = "member"     // of all groups
	administers relation = "admin"      // of all groups
	blocked     relation = "blocked"    // a member whom the groups keep from writing
	recipient   relation = "recipient"  // of all messages
	fan         relation = "fan"        // follows only the talker, who likes and comments on everything
	insider     relation = "insider"    // follows and reads everything but messages
	author      relation = "author"     // one of the three; a member of all groups
)

// A ruleViewer is one who looks, and all there is to say of them.
type ruleViewer struct {
	name  string // "" is nobody
	rel   relation
	ban   string // who has banned whom: see bans and bannedBy
	shows bool   // wants to see banned people in showingGroups
	hides string // "", post, author, group, word, tag, talker
	// others is, for an author, what stands between viewers and authors, by name.
	others map[string]string
}

func (v *ruleViewer) String() string {
	s := string(v.rel)
	if v.ban != "" {
		s += ", " + v.ban
	}
	if v.shows {
		s += ", shows banned"
	}
	if v.hides != "" {
		s += ", hides " + v.hides
	}
	return s
}

const (
	noBan         = ""
	bansAuthors   = "bans authors"
	authorsBan    = "banned by authors"
	bansTalker    = "bans talker"
	talkerBans    = "banned by talker"
	hiddenAuthor  = "ann"       // whom hides "author" means
	hiddenGroup   = "club-open" // whom hides "group" means
	ruleTalker    = "talker"
	ruleRecluse   = "recluse"   // likes as much as others; their page is private
	ruleKeeper    = "viewer-11" // an insider, who keeps some posts
	hiddenPosts   = 1           // rows n%4 are hidden one by one by who hides "post"
	hiddenWordIn  = 2           // ... have the word in them
	hiddenTagIn   = 3           // ... have the tag in them
	ruleWord      = "sunflower"
	ruleHiddenTag = "hushhush"
)

var (
	ruleAuthors   = []string{"ann", "ben", "cat"} // public, protected, private
	ruleGroups    = []string{"club-open", "club-half", "club-shut"}
	showingGroups = []string{"club-open", "club-shut"}
	ruleLevels    = []timelines.Level{timelines.Public, timelines.Protected, timelines.Private}
	ruleSlugs     = []string{"open", "half", "shut", "private"}
)

func (v *ruleViewer) signedIn() bool { return v.rel != nobody }

// follows: what of theirs makes the viewer's home feed.
func (v *ruleViewer) follows(account string) bool {
	group, writes := slices.Contains(ruleGroups, account), slices.Contains(ruleAuthors, account)
	switch v.rel {
	case subscriber, outcast:
		return writes
	case member, administers, blocked, author:
		return group
	case fan, excluded:
		return account == ruleTalker
	case insider:
		return group || writes || account == ruleTalker
	}
	return false
}

// reads is 000's right to read one base timeline.
func (v *ruleViewer) reads(p rulePlace) bool {
	switch p.kind {
	case kinds.Eyes:
		return v.name == p.owner
	case kinds.Directs: // of the one who writes and those who are written to
		return v.rel == recipient || v.name == p.owner
	}
	switch {
	case v.name == p.owner || p.level == timelines.Public:
		return true
	case !v.signedIn():
		return false
	case p.level == timelines.Protected && p.kind == kinds.Group:
		return v.rel != outcast
	case p.level == timelines.Protected:
		return v.rel != excluded
	case p.kind == kinds.Group:
		return v.follows(p.owner) || v.rel == admitted
	case p.kind == kinds.Feed:
		return v.follows(p.owner) || v.rel == admitted
	}
	return v.rel == admitted || v.rel == insider // of a private sub-feed
}

// bans and bannedBy: whom the viewer has banned, and who has banned the viewer.
// An author has banned, and is banned by, those viewers who say so.
func (v *ruleViewer) bans(person string) bool {
	return v.ban == bansAuthors && slices.Contains(ruleAuthors, person) || v.ban == bansTalker && person == ruleTalker ||
		v.rel == author && v.others[person] == authorsBan
}

func (v *ruleViewer) bannedBy(person string) bool {
	return v.ban == authorsBan && slices.Contains(ruleAuthors, person) || v.ban == talkerBans && person == ruleTalker ||
		v.rel == author && v.others[person] == bansAuthors
}

func (v *ruleViewer) apart(person string) bool { return v.bans(person) || v.bannedBy(person) }

// sees: nothing keeps the viewer from seeing what the person does in this post. In
// a group where one wants to see banned people one's own bans do not count, and
// for who keeps order there the others' do not either.
func (v *ruleViewer) sees(person string, r *ruleRow) bool {
	for _, p := range r.places {
		if v.shows && slices.Contains(showingGroups, p.owner) && v.reads(p) {
			return v.rel == administers || !v.bannedBy(person)
		}
	}
	return !v.apart(person)
}

// mayRead: the post's own page opens.
func (v *ruleViewer) mayRead(r *ruleRow) bool {
	return slices.ContainsFunc(r.places, v.reads) && v.sees(r.author, r)
}

// knows are those destinations of the post that the viewer may know of: those the
// viewer reads, and all parties of a message that the viewer is a party of.
func (v *ruleViewer) knows(r *ruleRow) []rulePlace {
	return slices.DeleteFunc(slices.Clone(r.places), func(p rulePlace) bool { return !v.reads(p) })
}

// spared: the viewer hides the post, on pages that are not the account's own which
// is hidden.
func (v *ruleViewer) spared(r *ruleRow, own string) bool {
	if r.author == v.name {
		return false
	}
	switch v.hides {
	case "post":
		return r.n%4 == hiddenPosts
	case "author":
		return r.author == hiddenAuthor && own != r.author
	case "group":
		for _, p := range v.knows(r) {
			if p.owner != hiddenGroup || own == hiddenGroup {
				return false
			}
		}
		return true
	case "word":
		return r.n%4 == hiddenWordIn
	case "tag":
		return r.n%4 == hiddenTagIn
	}
	return false
}

// A rulePage is an address that may show posts. It states who may open it and which posts
// belong there, and not who may see them.
type rulePage struct {
	address string
	// opens is the status with which it does for this viewer; nil: 200 for all.
	opens func(v *ruleViewer) int
	// holds: the post belongs there if the viewer may read it.
	holds func(v *ruleViewer, r *ruleRow) bool
	// own is the account whose page it is, "" for none.
	own string
	// slug is the sub-feed whose page it is.
	slug string
	// whole: what the viewer hides is there all the same.
	whole bool
	// feed: what is open to nobody in particular is there as a feed file too.
	feed bool
	// whys: its entries say why they are there.
	whys bool
	// told: its entries say what happened, and of the post no more than a quotation.
	told bool
}

func (p *rulePage) status(v *ruleViewer) int {
	if p.opens == nil {
		return 200
	}
	return p.opens(v)
}

// shows: the post is on the page. It needs all four of 004's checks.
func (p *rulePage) shows(v *ruleViewer, r *ruleRow) bool {
	return p.status(v) == 200 && v.mayRead(r) && (!r.held || p.told) && p.holds(v, r) && (p.whole || !v.spared(r, p.own))
}

// rulePages are the addresses that may show posts: the one place where a new page
// of the site is added to the table.
func rulePages() []*rulePage {
	mine := func(v *ruleViewer) int {
		if !v.signedIn() {
			return 303 // to sign in
		}
		return 200
	}
	home := func(v *ruleViewer) int { return 200 } // to nobody it says what this place is
	has := func(list func(*ruleRow) []string) func(*ruleViewer, *ruleRow) bool {
		return func(v *ruleViewer, r *ruleRow) bool { return slices.Contains(list(r), v.name) }
	}
	pages := []*rulePage{
		{address: "/", opens: home, holds: homeHolds, whys: true},
		{address: "/?mode=friends", opens: home, holds: friendsHold, whys: true},
		{address: "/lists/all", opens: mine, holds: listHolds, whys: true},
		{address: "/everything", holds: isForAll, feed: true},
		{address: "/everything?lang=en", holds: isForAll, feed: true},
		{address: "/best", holds: func(v *ruleViewer, r *ruleRow) bool { return isForAll(v, r) && len(talkersOf(r)) >= 5 }, feed: true},
		{address: "/best/saved", holds: func(v *ruleViewer, r *ruleRow) bool { return isForAll(v, r) && len(r.favers) >= 5 }, feed: true},
		{address: "/tag/riverproof", holds: always, feed: true},
		{address: "/tag/cormorant", holds: talkedOf, feed: true},
		{address: "/search?q=albatross", holds: always},
		{address: "/search?q=cormorant", holds: talkedOf},
		{address: "/search?q=from%3Atalker", holds: talkedOf},
		// A person whose own page is closed is found all the same, if the viewer reads it.
		{address: "/search?q=from%3A" + ruleRecluse, holds: func(_ *ruleViewer, r *ruleRow) bool {
			return slices.ContainsFunc(r.comments, func(c ruleComment) bool { return c.by == ruleRecluse })
		}},
		{address: "/search?q=albatross+in%3Aclub-shut", holds: func(v *ruleViewer, r *ruleRow) bool {
			return slices.ContainsFunc(r.places, func(p rulePlace) bool { return p.owner == "club-shut" && v.reads(p) })
		}},
		{address: "/search?q=is%3Aactive", holds: func(_ *ruleViewer, r *ruleRow) bool { return r.offers() }},
		{address: "/search?q=albatross+price%3A5..7eur", holds: func(_ *ruleViewer, r *ruleRow) bool { return r.offers() }},
		{address: "/search?q=albatross+-is%3Aactive", holds: func(_ *ruleViewer, r *ruleRow) bool { return !r.offers() }},
		{address: "/search?q=is%3Aclosed", holds: func(*ruleViewer, *ruleRow) bool { return false }},
		{address: "/filter/mentions", opens: mine, holds: func(v *ruleViewer, r *ruleRow) bool {
			return slices.Contains(r.named, v.name) || slices.Contains(r.called, v.name) && talkedOf(v, r)
		}},
		{address: "/filter/notifications", opens: mine, holds: notified, told: true},
		{address: "/filter/discussions", opens: mine, holds: discussed},
		{address: "/filter/messages", opens: mine, holds: stands(kinds.Directs), whole: true},
		{address: "/filter/only-me", opens: mine, holds: stands(kinds.Eyes)},
		{address: "/filter/saved", opens: mine, holds: has(func(r *ruleRow) []string { return r.favers }), whole: true},
	}
	for _, person := range []string{ruleTalker, ruleRecluse} {
		opens := func(v *ruleViewer) int {
			if v.apart(person) || person == ruleRecluse {
				return 403 // the recluse has let nobody in
			}
			return 200
		}
		pages = append(pages,
			&rulePage{address: "/" + person + "/likes", opens: opens, own: person, holds: func(_ *ruleViewer, r *ruleRow) bool {
				return slices.Contains(r.likers, person)
			}, feed: true},
			&rulePage{address: "/" + person + "/comments", opens: opens, own: person, holds: func(_ *ruleViewer, r *ruleRow) bool {
				return slices.ContainsFunc(r.comments, func(c ruleComment) bool { return c.by == person })
			}, feed: true})
	}
	for i, name := range ruleAuthors {
		pages = append(pages, gatedPage(rulePlace{kind: kinds.Feed, owner: name, level: ruleLevels[i]}))
		for j, slug := range ruleSlugs {
			pages = append(pages, gatedPage(rulePlace{kind: kinds.Subfeed, owner: name, slug: slug, level: ruleLevels[min(j, 2)]}))
		}
	}
	for i, name := range ruleGroups {
		all := gatedPage(rulePlace{kind: kinds.Group, owner: name, level: ruleLevels[i]})
		offered := *all
		// It is a search: its entries name the group, and have nothing of it for somebody who hides it.
		offered.address, offered.own, offered.feed = "/"+name+"?state=active&to=7&currency=EUR", "", false
		offered.holds = func(v *ruleViewer, r *ruleRow) bool { return r.offers() && all.holds(v, r) }
		pages = append(pages, all, &offered)
	}
	return pages
}

// gatedPage is the page of a base timeline: an account's with all its sub-feeds
// that the viewer reads, a sub-feed's or a group's.
func gatedPage(gate rulePlace) *rulePage {
	p := &rulePage{address: "/" + gate.owner, own: gate.owner, slug: gate.slug, feed: true}
	if gate.slug != "" {
		p.address += "/" + gate.slug
	}
	p.opens = func(v *ruleViewer) int {
		switch {
		case v.reads(gate) && !v.apart(gate.owner):
			return 200
		case gate.kind == kinds.Subfeed && gate.level == timelines.Private:
			return 404 // unknown to whom it does not admit
		}
		return 403
	}
	p.holds = func(v *ruleViewer, r *ruleRow) bool {
		return slices.ContainsFunc(r.places, func(at rulePlace) bool {
			of := at.kind == gate.kind || gate.kind == kinds.Feed && at.kind == kinds.Subfeed
			return of && at.owner == gate.owner && (gate.slug == "" || at.slug == gate.slug) && v.reads(at)
		})
	}
	return p
}

func always(*ruleViewer, *ruleRow) bool { return true }

// isForAll: not only what goes from hand to hand.
func isForAll(_ *ruleViewer, r *ruleRow) bool {
	return slices.ContainsFunc(r.places, func(p rulePlace) bool {
		return p.kind != kinds.Directs && p.kind != kinds.Eyes
	})
}

func stands(kind string) func(*ruleViewer, *ruleRow) bool {
	return func(v *ruleViewer, r *ruleRow) bool {
		return slices.ContainsFunc(r.places, func(p rulePlace) bool { return p.kind == kind && v.reads(p) })
	}
}

// talkersOf are who likes the post or comments on it, its author left out.
func talkersOf(r *ruleRow) []string {
	people := slices.Clone(r.likers)
	for _, c := range r.comments {
		people = append(people, c.by)
	}
	slices.Sort(people)
	return slices.DeleteFunc(slices.Compact(people), func(p string) bool { return p == r.author })
}

// talkedOf: the viewer sees, and wants to see, what the talker says there. A text that one
// does not see brings a post nowhere: its presence would tell what it says.
func talkedOf(v *ruleViewer, r *ruleRow) bool {
	return len(r.comments) > 0 && v.sees(ruleTalker, r) && v.hides != "talker"
}

// notified: somebody whom the viewer sees did something that concerns them.
func notified(v *ruleViewer, r *ruleRow) bool {
	heard := func(who string) bool {
		return who != v.name && v.sees(who, r) && !(v.hides == "talker" && who == ruleTalker)
	}
	switch {
	case r.author == v.name:
		return slices.ContainsFunc(talkersOf(r), heard)
	case slices.Contains(r.named, v.name), stands(kinds.Directs)(v, r):
		return heard(r.author)
	}
	return slices.Contains(r.called, v.name) && heard(ruleTalker)
}

// discussed: the viewer wrote it, likes it or commented on it.
func discussed(v *ruleViewer, r *ruleRow) bool {
	return r.author == v.name || slices.Contains(talkersOf(r), v.name)
}

// followedPlace: it stands in a feed, a sub-feed or a group that the viewer follows
// and reads.
func followedPlace(v *ruleViewer, r *ruleRow) bool {
	return slices.ContainsFunc(r.places, func(p rulePlace) bool {
		return p.kind != kinds.Directs && p.kind != kinds.Eyes && v.follows(p.owner) && v.reads(p)
	})
}

// friendsHold is a home feed of nothing but what those one follows post: and what
// is one's own, and addressed to one.
func friendsHold(v *ruleViewer, r *ruleRow) bool {
	if !v.signedIn() {
		return false
	}
	mine := slices.ContainsFunc(r.places, func(p rulePlace) bool {
		return p.owner == v.name || p.kind == kinds.Directs && v.reads(p)
	})
	return mine || followedPlace(v, r)
}

// listHolds is a list of all whom the viewer follows: what they post, like and
// comment on, as far as the viewer sees and wants to see them.
func listHolds(v *ruleViewer, r *ruleRow) bool {
	return followedPlace(v, r) || v.follows(ruleTalker) && v.hides != "talker" &&
		slices.Contains(talkersOf(r), ruleTalker) && v.sees(ruleTalker, r)
}

func homeHolds(v *ruleViewer, r *ruleRow) bool {
	return v.signedIn() && (friendsHold(v, r) || listHolds(v, r) || discussed(v, r))
}
