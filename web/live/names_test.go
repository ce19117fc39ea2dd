package live_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// at is the same person at another node.
func at(p *webtest.Person, s *webtest.Site) *webtest.Person {
	other := *p
	other.Site = s
	return &other
}

// Open pages call people as a reload does, wherever they name them and whichever node heard of
// it: the author, those who commented or like the post, why it is there, and where it stands.
func TestNamesFollow(t *testing.T) {
	t.Parallel()
	// No comparison comes to help, and no beat: the clock is heard to move.
	quiet := func(c *live.Config) { c.Beat = make(chan time.Time) }
	here := webtest.New(t, quiet)
	there := webtest.NewNode(t, here.DB, 0, rivers.DefaultOptions(), quiet)
	ann, bob, cat := here.Person("ann"), here.Person("bob"), here.Person("cat")
	bob.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	ann.Subscribe("cat")
	post := bob.Post("a #word", "chess-club", "bob")
	cat.Comment(post.Code, "indeed")
	cat.Like(post.Code)
	here.FollowUp()
	of := func(kind rivers.Kind) rivers.Name {
		return rivers.Name{UserID: ann.Account.ID, Kind: kind, Order: rivers.Fresh}
	}
	group, err := here.Store.Accounts.ByName(t.Context(), "chess-club")
	if err != nil {
		t.Fatal(err)
	}
	club, word, search := of(rivers.Group), of(rivers.Hashtag), of(rivers.Search)
	club.TheirID, word.Term, search.Term = group.ID, "word", "word"
	one := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Post, TheirID: post.PostID, Order: rivers.Fresh}
	type opened struct {
		*webtest.Page
		name rivers.Name
	}
	pages := map[string]opened{}
	for address, name := range map[string]rivers.Name{
		"/": of(rivers.Home), "/everything": of(rivers.Everything), "/chess-club": club, "/tag/word": word,
		"/search?q=word": search, "/p/" + post.Code: one,
	} {
		pages[address] = opened{there.Open(at(ann, there), address), name}
	}
	calls := func(what, title string) {
		t.Helper()
		for address, g := range pages {
			f := g.UntilEntry(post.Code)
			if html := f.HTML + strings.Join([]string{f.Parts["why"], f.Parts["body"], f.Parts["likes"], f.Parts["comments"]}, ""); !strings.Contains(html, ">"+title+"<") {
				t.Errorf("%s: %s is sent without %q:\n%s", what, address, title, html)
			}
			g.SameAsReload(there, at(ann, there), g.name)
		}
	}
	bob.Rename("Robert")
	calls("the author", "Robert")
	cat.Rename("Catherine")
	calls("who commented and likes it", "Catherine")
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return here.Store.Groups.SetProfile(ctx, bob.Account.ID, "chess-club", "Chess and Go", "")
	})
	for address, g := range pages {
		if address == "/chess-club" {
			g.Until("tabs", func(f webtest.Frame) bool { return f.T == "tabs" }) // the entry does not say it there
			continue
		}
		if _, said := g.Parts[post.Code]; said {
			g.UntilEntry(post.Code)
		}
		g.SameAsReload(there, at(ann, there), g.name)
	}
	// A change of the post at the same time brings the name with it.
	cat.Rename("Kate")
	bob.Edit(post.Code, "another #word")
	for address, g := range pages {
		g.Until("both", func(f webtest.Frame) bool {
			is := g.Parts[post.Code]
			return strings.Contains(is["body"], "another") && strings.Contains(is["comments"], ">Kate<")
		})
		if got := g.Parts[post.Code]["likes"]; !strings.Contains(got, ">Kate<") {
			t.Errorf("%s names those who like it as\n%s", address, got)
		}
	}
}

// Those who like a post stand in the order that a reload has, as their reader begins and
// ceases to follow them, and as they like it and cease to.
func TestLikersFollow(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, func(c *live.Config) { c.Beat = make(chan time.Time) })
	ann, bob := s.Person("ann"), s.Person("bob")
	post := bob.Post("liked by many")
	var likers []*webtest.Person
	for i := range 6 {
		p := s.Person(fmt.Sprint("liker-", i))
		p.Like(post.Code)
		likers = append(likers, p)
	}
	s.FollowUp()
	everything := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Everything, Order: rivers.Fresh}
	g := s.Open(ann, "/everything")
	one := s.Open(ann, "/p/"+post.Code)
	follows := func(what string, do func()) {
		t.Helper()
		do()
		for _, g := range []*webtest.Page{g, one} {
			g.Until(what, func(f webtest.Frame) bool { return f.HTML != "" || f.Parts["likes"] != "" })
		}
		g.SameAsReload(s, ann, everything)
		one.SameAsReload(s, ann, rivers.Name{UserID: ann.Account.ID, Kind: rivers.Post, TheirID: post.PostID, Order: rivers.Fresh})
	}
	first := likers[0] // the last to be named: others came later
	follows("one follows somebody", func() { ann.Subscribe(first.Account.Name) })
	if html := g.Parts[post.Code]["likes"]; !strings.Contains(html, ">"+first.Account.Name+"<") {
		t.Errorf("a friend is not named among those who like it:\n%s", html)
	}
	follows("one ceases to follow somebody", func() { ann.Unsubscribe(first.Account.Name) })
	follows("one follows somebody else", func() { ann.Subscribe(likers[1].Account.Name) })
	follows("one of them likes it no more", func() {
		first.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Posts.Unlike(ctx, first.Account.ID, post.Code)
		})
	})
	follows("and likes it again", func() { first.Like(post.Code) })
}
