package web

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
)

// at is the same person at another node.
func at(p *person, s *liveSite) *person {
	other := *p
	other.site = s
	return &other
}

// Open pages call people as a reload would, wherever they name them and whichever node
// heard of it: the author, who commented, who likes it, why it is there, where it stands.
func TestNamesFollow(t *testing.T) {
	t.Parallel()
	// No comparison comes to help, and no beat: the clock is heard to move.
	quiet := func(c *HubConfig) { c.Beat = make(chan time.Time) }
	here := newLiveSite(t, quiet)
	there := newNode(t, here.db, 0, rivers.DefaultOptions(), quiet)
	ann, bob, cat := here.person("ann"), here.person("bob"), here.person("cat")
	bob.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	ann.subscribe("cat")
	post := bob.post("a #word", "chess-club", "bob")
	cat.comment(post.Code, "indeed")
	cat.like(post.Code)
	here.followUp()
	of := func(kind rivers.Kind) rivers.Name {
		return rivers.Name{UserID: ann.account.ID, Kind: kind, Order: rivers.Fresh}
	}
	group, err := here.store.AccountByName(t.Context(), "chess-club")
	if err != nil {
		t.Fatal(err)
	}
	club, word, search := of(rivers.Group), of(rivers.Hashtag), of(rivers.Search)
	club.TheirID, word.Term, search.Term = group.ID, "word", "word"
	one := rivers.Name{UserID: ann.account.ID, Kind: rivers.Post, TheirID: post.PostID, Order: rivers.Fresh}
	type opened struct {
		*page
		name rivers.Name
	}
	pages := map[string]opened{}
	for address, name := range map[string]rivers.Name{
		"/": of(rivers.Home), "/everything": of(rivers.Everything), "/chess-club": club, "/tag/word": word,
		"/search?q=word": search, "/p/" + post.Code: one,
	} {
		pages[address] = opened{there.open(at(ann, there), address), name}
	}
	calls := func(what, title string) {
		t.Helper()
		for address, g := range pages {
			f := g.untilEntry(post.Code)
			if html := f.HTML + strings.Join([]string{f.Parts["why"], f.Parts["body"], f.Parts["likes"], f.Parts["comments"]}, ""); !strings.Contains(html, ">"+title+"<") {
				t.Errorf("%s: %s is sent without %q:\n%s", what, address, title, html)
			}
			g.sameAsReload(there, at(ann, there), g.name)
		}
	}
	bob.rename("Robert")
	calls("the author", "Robert")
	cat.rename("Catherine")
	calls("who commented and likes it", "Catherine")
	bob.act(func(ctx context.Context) (timelines.Change, error) {
		return here.store.SetGroupProfile(ctx, bob.account.ID, "chess-club", "Chess and Go", "")
	})
	for address, g := range pages {
		if address == "/chess-club" {
			g.until("tabs", func(f frame) bool { return f.T == "tabs" }) // the entry does not say it there
			continue
		}
		if _, said := g.parts[post.Code]; said {
			g.untilEntry(post.Code)
		}
		g.sameAsReload(there, at(ann, there), g.name)
	}
	// What changes of the post at the same time brings the name with it.
	cat.rename("Kate")
	bob.edit(post.Code, "another #word")
	for address, g := range pages {
		g.until("both", func(f frame) bool {
			is := g.parts[post.Code]
			return strings.Contains(is["body"], "another") && strings.Contains(is["comments"], ">Kate<")
		})
		if got := g.parts[post.Code]["likes"]; !strings.Contains(got, ">Kate<") {
			t.Errorf("%s names those who like it as\n%s", address, got)
		}
	}
}

// Those who like a post stand in the order that a reload has, as their reader begins and
// ceases to follow them, and as they like it and cease to.
func TestLikersFollow(t *testing.T) {
	t.Parallel()
	s := newLiveSite(t, func(c *HubConfig) { c.Beat = make(chan time.Time) })
	ann, bob := s.person("ann"), s.person("bob")
	post := bob.post("liked by many")
	var likers []*person
	for i := range 6 {
		p := s.person(fmt.Sprint("liker-", i))
		p.like(post.Code)
		likers = append(likers, p)
	}
	s.followUp()
	everything := rivers.Name{UserID: ann.account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	g := s.open(ann, "/everything")
	one := s.open(ann, "/p/"+post.Code)
	follows := func(what string, do func()) {
		t.Helper()
		do()
		for _, g := range []*page{g, one} {
			g.until(what, func(f frame) bool { return f.HTML != "" || f.Parts["likes"] != "" })
		}
		g.sameAsReload(s, ann, everything)
		one.sameAsReload(s, ann, rivers.Name{UserID: ann.account.ID, Kind: rivers.Post, TheirID: post.PostID, Order: rivers.Fresh})
	}
	first := likers[0] // the last to be named: others came later
	follows("one follows somebody", func() { ann.subscribe(first.account.Name) })
	if html := g.parts[post.Code]["likes"]; !strings.Contains(html, ">"+first.account.Name+"<") {
		t.Errorf("a friend is not named among those who like it:\n%s", html)
	}
	follows("one ceases to follow somebody", func() { ann.unsubscribe(first.account.Name) })
	follows("one follows somebody else", func() { ann.subscribe(likers[1].account.Name) })
	follows("one of them likes it no more", func() {
		first.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.Unlike(ctx, first.account.ID, post.Code)
		})
	})
	follows("and likes it again", func() { first.like(post.Code) })
}
