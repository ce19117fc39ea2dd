package tiers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

// search is a query in the oracle's plain terms. The words of these tests have no
// endings to be taken off, and none is too common to be kept.
type search struct {
	text          string
	all           []string // side by side; of one word, that word
	not           string
	from, notFrom string // who wrote it, who must not have
	in, notIn     string
	is, notIs     string // state of a listing
	below         int64  // its highest price, in hundredths of a euro; 0: any
}

// searches are what people of these tests look for.
var searches = []search{
	{text: `"edit 0"`, all: []string{"edit 0"}},
	{text: "text", all: []string{"text"}},
	{text: "Post -3", all: []string{"post"}, not: "3"},
	{text: "comment from:bob", all: []string{"comment"}, from: "bob"},
	{text: "from:ann", from: "ann"},
	{text: "text -from:ann", all: []string{"text"}, notFrom: "ann"},
	{text: "in:club-private", in: "club-private"},
	{text: "edit in:club-public -in:bob", all: []string{"edit"}, in: "club-public", notIn: "bob"},
	{text: "text -in:club-private", all: []string{"text"}, notIn: "club-private"},
	{text: "in:nowhere text", all: []string{"text"}, in: "nowhere"},
	{text: "in:bob/photos", in: "bob/photos"},
	{text: "is:active", is: "active"},
	{text: "in:club-public is:active price:..50eur", in: "club-public", is: "active", below: 5000},
	{text: "text is:closed", all: []string{"text"}, is: "closed"},
	{text: "in:club-private -is:expired", in: "club-private", notIs: "expired"},
	{text: "text -in:ann/private", all: []string{"text"}, notIn: "ann/private"},
}

// searchNamed is the search of a river's term.
func searchNamed(term string) search {
	i := slices.IndexFunc(searches, func(s search) bool { return termOf(s.text) == term })
	return searches[i]
}

func termOf(text string) string {
	q, problem := snapshot.ParseQuery(text)
	if problem != "" {
		panic(problem)
	}
	return q.String()
}

// says: has the text these words, whole and side by side?
func says(text, words string) bool {
	plain := strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
	return strings.Contains(" "+plain+" ", " "+words+" ")
}

// found says by which of the places asked for the viewer finds the post, if at all.
func (o *oracle) found(n rivers.Name, p post) (places []int64, ok bool) {
	s := searchNamed(n.Term)
	if s.is != "" && p.State != s.is || s.notIs != "" && p.State == s.notIs || s.below > 0 && (p.Price == nil || *p.Price > s.below || p.Currency != "EUR") {
		return nil, false
	}
	allowed := func(author int64, text string) bool {
		return (s.not == "" || !says(text, s.not)) && (s.notFrom == "" || o.accounts[author].Name != s.notFrom)
	}
	has := func(author int64, text string) bool {
		if s.from != "" && o.accounts[author].Name != s.from {
			return false
		}
		return !slices.ContainsFunc(s.all, func(words string) bool { return !says(text, words) })
	}
	finds := has(p.AuthorID, p.Body)
	for _, c := range o.comments[p.ID] {
		seen := !o.veils(n.UserID, c.AuthorID, p) && (c.AuthorID == p.AuthorID || !o.hidPeople[pair{n.UserID, c.AuthorID}])
		finds = finds || seen && has(c.AuthorID, c.Body) && allowed(c.AuthorID, c.Body)
	}
	if !finds || !allowed(p.AuthorID, p.Body) {
		return nil, false
	}
	for _, id := range p.Decisive {
		t := o.timelines[id]
		ofFeed := slices.Contains([]string{kinds.Feed, kinds.Subfeed, kinds.Group}, t.Kind)
		if !ofFeed || !o.opens(n.UserID, id) {
			continue
		}
		is := func(place string) bool {
			name := o.accounts[t.TheirID].Name
			return place == name || place == name+"/"+t.Term && t.Term != ""
		}
		if is(s.notIn) {
			return nil, false
		}
		if is(s.in) && !o.apart(n.UserID, t.TheirID) {
			places = append(places, id)
		}
	}
	slices.Sort(places)
	return places, s.in == "" || len(places) > 0
}

// hits says which of these items were found by what a narrowing, acknowledged
// before they were asked for, took away.
func (w *workload) hits(v timelines.Viewer, n rivers.Name, items []rivers.Item, since int64) []string {
	b := w.board
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	s := searchNamed(n.Term)
	for _, it := range items {
		if e, ok := b.edited[it.PostID]; ok && e.when <= since && e.number > 0 && s.text == `"edit 0"` {
			out = append(out, fmt.Sprintf("post %d is found by its text before edit %d", it.PostID, e.number))
		}
		for _, a := range w.people {
			mine, byMe := b.banned[pair{v.AccountID, a.id}]
			theirs, byThem := b.banned[pair{a.id, v.AccountID}]
			if a.name == s.from && (byMe && mine <= since || byThem && theirs <= since) {
				out = append(out, fmt.Sprintf("post %d is found by the words of %d, from whom a ban keeps %d", it.PostID, a.id, v.AccountID))
			}
		}
	}
	return out
}

// A search on another node than the change is as right, with no worker and no bus.
func TestSearchesOnAllNodes(t *testing.T) {
	w := newTown(t)
	n, other := w.quiet(), w.quiet()
	ann, bob := w.quick("ann"), w.quick("bob")
	one := w.post(n, ann, "one word")
	w.shows(w.visit(other, bob, rivers.Search, "word"), "one word")
	w.post(n, ann, "another word")
	w.shows(w.visit(other, bob, rivers.Search, "word"), "another word", "one word")
	w.remove(n, ann, one.Code)
	w.shows(w.visit(other, bob, rivers.Search, "word"), "another word")
	w.ban(n, ann, "bob")
	w.shows(w.visit(other, bob, rivers.Search, "word"))
	w.shows(w.visit(n, bob, rivers.Search, "word"))
	w.shows(w.visit(other, ann, rivers.Search, "word"), "another word")
	w.queue.drain(w.ctx, w.chance(), n, other)
	w.sound(n, "at rest")
}
