package web_test

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// Faults that other servers of this kind are known to have had, each once, on open pages
// and on requested ones.

func lacksAll(t *testing.T, what, said string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(said, text) {
			t.Errorf("%s says %q:\n%s", what, text, said)
		}
	}
}

// "A private post's body pushed to a friend of its liker."
func TestPrivatePostIsNotPushedToAFriendOfItsLiker(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat := s.Person("anna"), s.Person("bob"), s.Person("cat")
	ann.SetAccess("", timelines.Private)
	bob.Follow(ann)
	cat.Subscribe("bob")
	secret := ann.Post("secret one")
	public := s.Person("dan").Post("for all")
	addresses := []string{"/", "/bob/likes", "/bob/comments", "/everything", "/?mode=activity"}
	var open []*webtest.Page
	for _, address := range addresses {
		open = append(open, s.Open(cat, address))
	}
	bobs := s.Open(bob, "/")
	bob.Like(secret.Code)
	bob.Comment(secret.Code, "secret two")
	ann.Edit(secret.Code, "secret three")
	bobs.HearPost(secret.Code, "secret three")
	s.FollowUp()
	bob.Like(public.Code)
	bob.Comment(public.Code, "a word for all")
	for i, g := range open {
		if addresses[i] == "/bob/likes" {
			lacksAll(t, addresses[i], g.Hear("the like", func(f webtest.Frame) bool { return f.Post == public.Code }), "secret", secret.Code)
			continue
		}
		lacksAll(t, addresses[i], g.HearPost(public.Code, "a word for all"), "secret", secret.Code)
	}
	v := cat.Visitor()
	for _, address := range addresses {
		v.Get(address).Wants(200).Has("for all").Lacks("secret", secret.Code)
	}
	v.Get("/p/" + secret.Code).Wants(404)
}

// "A post that left a feed staying on the open page."
func TestPostThatLeftAFeedLeavesTheOpenPage(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("anna"), s.Person("bob")
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	bob.Subscribe("anna")
	post := ann.Post("between feeds", "anna", "chess-club")
	leaves := []*webtest.Page{s.Open(nil, "/anna"), s.Open(bob, "/"), s.Open(bob, "/anna?order=created"), s.Open(ann, "/anna")}
	stays := s.Open(nil, "/chess-club")
	everywhere := s.Open(nil, "/everything")
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Posts.Revise(ctx, ann.Account.ID, post.Code, timelines.Revision{To: []string{"chess-club"}})
	})
	// No job has run: what is asked for is right all the same.
	s.Visitor().Get("/anna").Wants(200).Lacks("between feeds")
	bob.Visitor().Get("/").Wants(200).Lacks("between feeds")
	s.Visitor().Get("/feeds/anna.atom").Wants(200).Lacks("between feeds")
	for _, g := range leaves {
		g.UntilGone(post.Code)
	}
	ann.Edit(post.Code, "in the club alone")
	stays.HearPost(post.Code, "in the club alone")
	everywhere.HearPost(post.Code, "in the club alone")
	for _, g := range leaves {
		g.Subscribe()
		if said := g.Hear("ok", func(f webtest.Frame) bool { return f.T == "ok" }); strings.Contains(said, post.Code) || g.Shown[post.Code].T != "" {
			t.Errorf("%s has it again: %s", g.Address, said)
		}
	}
}

// "A fold wrong after its last visible comment was deleted."
func TestFoldAfterItsLastVisibleCommentIsDeleted(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("anna"), s.Person("bob")
	post := ann.Post("much talked about")
	var ids []int64
	for i := range 7 {
		ids = append(ids, bob.Comment(post.Code, "remark "+strconv.Itoa(i)+".").CommentID)
	}
	g := s.Open(nil, "/everything")
	// The last, the first, those that come up in their places, down to none.
	for len(ids) > 0 {
		at := len(ids) - 1
		if len(ids)%2 == 0 {
			at = 0
		}
		gone := ids[at]
		ids = append(ids[:at:at], ids[at+1:]...)
		bob.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Comments.Delete(ctx, bob.Account.ID, post.Code, gone)
		})
		var pushed string
		g.Until("the comments", func(f webtest.Frame) bool {
			text, ok := f.Parts["comments"]
			if f.HTML != "" {
				text, ok = f.HTML, true
			}
			pushed = text
			return ok && f.Post == post.Code && !strings.Contains(text, `id="`+view.CommentID(gone)+`"`)
		})
		shown, more := ids, 0
		if len(ids) > 3 {
			shown, more = []int64{ids[0], ids[len(ids)-2], ids[len(ids)-1]}, len(ids)-3
		}
		for what, text := range map[string]string{
			"the push": pushed, "the page": s.Visitor().Get("/everything").Wants(200).Body,
		} {
			var got, want []string
			for _, m := range webtest.CommentIDs.FindAllStringSubmatch(text, -1) {
				got = append(got, m[1])
			}
			for _, id := range shown {
				want = append(want, strconv.FormatInt(id, 10))
			}
			if strings.Join(got, " ") != strings.Join(want, " ") || countIn(text, `(\d+) more comments?`) != more {
				t.Errorf("%s with %d comments shows %v and %d more, want %v and %d", what, len(ids), got,
					countIn(text, `(\d+) more comments?`), want, more)
			}
		}
	}
	s.Visitor().Get("/bob/comments").Wants(200).Lacks(post.Code)
}

// "A viewer's placeholder delivered to others", and the other way round.
func TestPlaceholderIsItsViewersAlone(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat, dan := s.Person("anna"), s.Person("bob"), s.Person("cat"), s.Person("dan")
	ann.Ban("bob")
	for i, order := range [][]*webtest.Person{{ann, cat, nil}, {nil, cat, ann}, {cat, ann, nil}} {
		post := dan.Post("much talked about")
		text := "a word of bob " + strconv.Itoa(i)
		var open []*webtest.Page
		for _, p := range order {
			open = append(open, s.Open(p, "/everything"))
		}
		said := bob.Comment(post.Code, text)
		bob.Like(post.Code)
		visitor := func(p *webtest.Person) *webtest.Visitor {
			if p == nil {
				return s.Visitor()
			}
			return p.Visitor()
		}
		for j, p := range order {
			pushed := open[j].Hear("the comment", func(f webtest.Frame) bool {
				return f.Post == post.Code && strings.Contains(f.HTML+f.Parts["comments"], `id="`+view.CommentID(said.CommentID)+`"`)
			})
			answers := map[string]string{
				"push": pushed,
				"page": entryOf(visitor(p).Get("/everything").Wants(200).Body, post.Code),
				"post": visitor(p).Get("/p/" + post.Code).Wants(200).Body,
			}
			if p != nil {
				answers["reply"] = visitor(p).AsRiver("/p/"+post.Code+"/like", "/everything")
				answers["reply to the unlike"] = visitor(p).AsRiver("/p/"+post.Code+"/unlike", "/everything")
			}
			for what, body := range answers {
				if hides := p == ann; hides != strings.Contains(body, "Hidden comment") || hides == strings.Contains(body, text) {
					t.Errorf("order %d, viewer %d: the %s is\n%s", i, j, what, body)
				}
			}
		}
	}
}

// entryOf cuts an entry out of a page.
func entryOf(body, code string) string {
	_, entry, _ := strings.Cut(body, `<article id="p-`+code+`"`)
	entry, _, _ = strings.Cut(entry, "</article>")
	return entry
}

// "A new comment of a banned person shown because the shared fold moved first": the
// fold is there before the reply, the viewer's entries follow whenever they do.
func TestNewCommentOfABannedPersonComesWithTheFold(t *testing.T) {
	s := webtest.New(t, func(c *live.Config) { c.Hear = webtest.Deaf })
	ann, bob, cat := s.Person("anna"), s.Person("bob"), s.Person("cat")
	post := cat.Post("much talked about")
	bob.Comment(post.Code, "bob before")
	a := ann.Visitor()
	a.Get("/everything").Wants(200).Has("bob before")
	page := s.Open(ann, "/everything")
	ann.Ban("bob")
	for i := range 5 {
		text := "bob after " + strconv.Itoa(i)
		bob.Comment(post.Code, text)
		bob.Like(post.Code)
		for _, address := range []string{"/everything", "/p/" + post.Code, "/cat", "/filter/discussions"} {
			a.Get(address).Wants(200).Lacks("bob before", "bob after", "/bob", "Liked by")
		}
		page.Subscribe()
		said := page.Hear("ok", func(f webtest.Frame) bool { return f.T == "ok" })
		lacksAll(t, "the open page", said, "bob before", "bob after", ">bob<", "Liked by")
		cat.Visitor().Get("/everything").Wants(200).Has(text)
	}
	lacksAll(t, "the reply", a.AsRiver("/p/"+post.Code+"/save", "/everything"), "bob before", "bob after", ">bob<")
}

// "A group gone private still readable through somebody's likes page."
func TestGroupGonePrivateIsNotOnALikersPage(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, cat := s.Person("anna"), s.Person("bob"), s.Person("cat")
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	bob.Subscribe("chess-club")
	cat.Subscribe("bob")
	inClub := ann.Post("said in the club", "chess-club")
	bob.Like(inClub.Code)
	bob.Comment(inClub.Code, "answered in the club")
	for i := range rivers.PageSize + 3 { // so that it stands among the older ones too
		bob.Like(ann.Post("for all " + strconv.Itoa(i)).Code)
	}
	s.FollowUp()
	likes := s.Visitor().Get("/bob/likes").Wants(200)
	older := olderLink.FindStringSubmatch(likes.Body)
	if older == nil {
		t.Fatal("everything is on the first page")
	}
	last := strings.ReplaceAll(older[1], "&amp;", "&")
	addresses := []string{"/bob/likes", "/bob/likes?order=created", "/bob/comments", last, "/everything", "/chess-club"}
	for _, address := range addresses {
		s.Visitor().Get(address).Wants(200)
	}
	s.Visitor().Get(last).Has("said in the club")
	pages := []*webtest.Page{s.Open(nil, "/bob/comments"), s.Open(cat, "/bob/comments"), s.Open(cat, "/bob/comments?order=created")}
	members := s.Open(bob, "/bob/comments")
	shut := s.Open(nil, "/p/"+inClub.Code)

	ann.SetAccess("chess-club", timelines.Private)
	// At once, though no job has run and every river stands as it stood.
	for _, v := range []*webtest.Visitor{s.Visitor(), cat.Visitor()} {
		for _, address := range append(addresses[:5:5], "/feeds/bob/likes.atom", "/feeds/bob/comments.json", "/best", "/bob/likes?before="+cursorOf(t, last)) {
			v.Get(address).Wants(200).Lacks("in the club", inClub.Code)
		}
		v.Get("/p/" + inClub.Code).Wants(404)
		v.Header.Set("X-River-Page", "/bob/likes")
		v.Get("/p/" + inClub.Code + "/likes?shown=103").Wants(404)
	}
	bob.Visitor().Get("/bob/comments").Wants(200).Has("answered in the club")
	s.Replace(timelines.Replace{Everybody: true})
	for _, g := range pages {
		g.UntilGone(inClub.Code)
	}
	if c := shut.Closed(); c.Code != live.CloseNoPage {
		t.Errorf("the post's open page is closed with %v, want %d", c, live.CloseNoPage)
	}
	bob.Comment(inClub.Code, "and once more in the club")
	// The hubs may not have leased the new rivers yet when tier 1 looks for those that are open.
	s.FollowUp()
	members.HearPost(inClub.Code, "once more in the club")
	after := bob.Comment(ann.Post("for all").Code, "heard by all")
	s.FollowUp()
	for _, g := range pages {
		lacksAll(t, g.Address, g.HearPost(after.Code, "heard by all"), "in the club", inClub.Code)
	}
}

func cursorOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Query().Get("before") == "" {
		t.Fatalf("no cursor in %q (%v)", address, err)
	}
	return url.QueryEscape(u.Query().Get("before"))
}

// And what counters tell: whom the viewer may not see is in no "N others", not even
// where nobody else is left to count.
func TestCountersTellNobodyHidden(t *testing.T) {
	s := webtest.New(t, nil)
	ann, cat := s.Person("anna"), s.Person("cat")
	post, talk := cat.Post("well liked"), cat.Post("well commented")
	said := cat.Comment(talk.Code, "a remark")
	for i := range 7 {
		liker := s.Person("liker-" + strconv.Itoa(i))
		liker.Like(post.Code)
		liker.LikeComment(talk.Code, said.CommentID)
		liker.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Posts.Fave(ctx, liker.Account.ID, post.Code)
		})
	}
	a := ann.Visitor()
	count := func() (others int) {
		t.Helper()
		entry := entryOf(a.Get("/everything").Wants(200).Body, post.Code)
		return countIn(entry, `(\d+) others?`)
	}
	// A person is not counted who is there only by a like of a comment. A person who saves
	// a post always is, though nobody is told.
	others := func(banned int) {
		t.Helper()
		body := a.Get("/everything").Wants(200).Body
		if got := countIn(entryOf(body, talk.Code), `Liked by (\d+) `); got != 7-banned {
			t.Errorf("with %d of 7 likers banned a comment is liked by %d", banned, got)
		}
		if got := countIn(entryOf(body, post.Code), `Saved by (\d+) `); got != 7 {
			t.Errorf("with %d of 7 keepers banned a post is saved by %d", banned, got)
		}
	}
	named := regexp.MustCompile(`href="/liker-(\d)"`)
	for banned := range 7 {
		if got, want := count(), []int{4, 3, 2, 0, 0, 0, 0}[banned]; got != want {
			t.Errorf("with %d of 7 likers banned there are %d others, want %d", banned, got, want)
		}
		others(banned)
		ann.Ban("liker-" + strconv.Itoa(banned))
		entry := entryOf(a.Get("/p/"+post.Code).Wants(200).Body, post.Code)
		for _, m := range named.FindAllStringSubmatch(entry, -1) {
			if n, _ := strconv.Atoi(m[1]); n <= banned {
				t.Errorf("liker %d is banned and named", n)
			}
		}
		if got, want := len(named.FindAllString(entry, -1)), 6-banned; got != want {
			t.Errorf("%d likers are named, want %d", got, want)
		}
	}
	others(7)
	a.Get("/everything").Wants(200).Lacks("Liked by", "others")
}
