package tiers_test

import (
	"regexp"
	"slices"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines/kinds"
)

// sight is the oracle's knowledge of bans, hides and requests.
type sight struct {
	bans       map[pair]bool // who, whom
	showBanned map[pair]bool // account, group
	leads      map[pair]bool // group, account
	asked      map[pair]bool // person or group, who asks
	hidPosts   map[pair]bool // account, post
	hidPeople  map[pair]bool // account, person or group
	hidTerms   map[int64][]string
}

func newSight() sight {
	return sight{
		bans: map[pair]bool{}, showBanned: map[pair]bool{}, leads: map[pair]bool{},
		asked:    map[pair]bool{},
		hidPosts: map[pair]bool{}, hidPeople: map[pair]bool{}, hidTerms: map[int64][]string{},
	}
}

func (s *sight) read(err error, each func(err error, query string, dest []any, fn func()) error) error {
	var p pair
	err = each(err, `SELECT account_id, banned_id FROM bans`, []any{&p.a, &p.b}, func() { s.bans[p] = true })
	err = each(err, `SELECT account_id, group_id FROM show_banned`, []any{&p.a, &p.b}, func() { s.showBanned[p] = true })
	err = each(err, `SELECT group_id, account_id FROM group_admins`, []any{&p.a, &p.b}, func() { s.leads[p] = true })
	err = each(err, `SELECT account_id, subscriber_id FROM subscription_requests`, []any{&p.a, &p.b}, func() { s.asked[p] = true })
	err = each(err, `SELECT account_id, post_id FROM hidden_posts`, []any{&p.a, &p.b}, func() { s.hidPosts[p] = true })
	err = each(err, `SELECT account_id, hidden_id FROM hidden_accounts`, []any{&p.a, &p.b}, func() { s.hidPeople[p] = true })
	var id int64
	var term string
	return each(err, `SELECT account_id, term FROM hidden_terms`, []any{&id, &term},
		func() { s.hidTerms[id] = append(s.hidTerms[id], term) })
}

// apart: does a ban stand between the two?
func (s *sight) apart(a, b int64) bool { return s.bans[pair{a, b}] || s.bans[pair{b, a}] }

// waiting is how many requests wait for the viewer's answer, those to groups too.
func (s *sight) waiting(viewer int64) (n int) {
	for p := range s.asked {
		if (p.a == viewer || s.leads[pair{p.a, viewer}]) && !s.apart(p.a, p.b) {
			n++
		}
	}
	return n
}

// veils: does the viewer not see the person in this post?
func (o *oracle) veils(viewer, person int64, p post) bool {
	mine, theirs := o.bans[pair{viewer, person}], o.bans[pair{person, viewer}]
	for _, id := range p.Decisive {
		t := o.timelines[id]
		if t.Kind == kinds.Group && o.opens(viewer, id) && o.showBanned[pair{viewer, t.TheirID}] {
			mine = false
			theirs = theirs && !o.leads[pair{t.TheirID, viewer}]
		}
	}
	return mine || theirs
}

// unwanted: is the timeline one of likes or comments whose owner the viewer does
// not see, or named by nobody whom the viewer sees?
func (o *oracle) unwanted(n rivers.Name, p post, t timeline) bool {
	sees := func(author int64) bool {
		return !o.veils(n.UserID, author, p) && !o.hidPeople[pair{n.UserID, author}]
	}
	switch t.Kind {
	case kinds.Hashtag:
		return !o.saysTo(p, "#"+t.Term, sees)
	case kinds.Mentions:
		return !o.saysTo(p, "@"+o.accounts[t.TheirID].Name, sees)
	}
	if t.Kind != kinds.Likes && t.Kind != kinds.Comments {
		return false
	}
	own := slices.Contains([]rivers.Kind{rivers.Likes, rivers.Comments}, n.Kind) && n.TheirID == t.TheirID
	return o.veils(n.UserID, t.TheirID, p) || !own && o.hidPeople[pair{n.UserID, t.TheirID}]
}

// conceals: does a hide keep the post off this page?
func (o *oracle) conceals(n rivers.Name, p post) bool {
	return o.hides(n, p) && !slices.Contains(wholeKinds, n.Kind)
}

// hides: does the viewer hide the post?
func (o *oracle) hides(n rivers.Name, p post) bool {
	me := n.UserID
	pageOf := int64(0)
	switch n.Kind {
	case rivers.User, rivers.Subfeed, rivers.Likes, rivers.Comments, rivers.Group:
		pageOf = n.TheirID
	}
	switch {
	case me == 0 || p.AuthorID == me:
		return false
	case o.hidPosts[pair{me, p.ID}], o.hidPeople[pair{me, p.AuthorID}] && p.AuthorID != pageOf:
		return true
	}
	seen, elsewhere := 0, 0
	for _, id := range p.Decisive {
		if t := o.timelines[id]; o.opens(me, id) {
			seen++
			if t.Kind != kinds.Group || t.TheirID == pageOf || !o.hidPeople[pair{me, t.TheirID}] {
				elsewhere++
			}
		}
	}
	if seen > 0 && elsewhere == 0 {
		return true
	}
	return slices.ContainsFunc(o.hidTerms[me], func(term string) bool {
		// The texts of these tests are ASCII.
		return regexp.MustCompile(`(^|[^\w])` + regexp.QuoteMeta(term) + `($|[^\w])`).MatchString(strings.ToLower(p.Body))
	})
}
