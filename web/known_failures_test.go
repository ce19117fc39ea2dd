package web

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// What other servers of this kind are known to have done wrong, each once, on open
// pages and on those asked for.

// hear reads what a page is told, until it is told that, and returns all of it.
func (g *page) hear(what string, is func(frame) bool) string {
	g.t.Helper()
	var b strings.Builder
	g.until(what, func(f frame) bool {
		fmt.Fprintln(&b, f.T, f.Post, f.HTML, f.Parts)
		return is(f)
	})
	return b.String()
}

// hearPost is hear until the text of a post comes.
func (g *page) hearPost(code, text string) string {
	g.t.Helper()
	return g.hear(text, func(f frame) bool {
		return f.Post == code && strings.Contains(f.HTML+f.Parts["body"]+f.Parts["comments"], text)
	})
}

func lacksAll(t *testing.T, what, said string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(said, text) {
			t.Errorf("%s says %q:\n%s", what, text, said)
		}
	}
}

func (p *person) setAccess(group string, level timelines.Level) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.SetAccess(ctx, p.account.ID, group, level)
	})
}

// follow asks, and is let in.
func (p *person) follow(whom *person) {
	p.site.t.Helper()
	p.subscribe(whom.account.Name)
	whom.visitor().post("/"+p.account.Name+"/accept", "back", "/")
}

// "A private post's body pushed to a friend of its liker."
func TestPrivatePostIsNotPushedToAFriendOfItsLiker(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob, cat := s.person("anna"), s.person("bob"), s.person("cat")
	ann.setAccess("", timelines.Private)
	bob.follow(ann)
	cat.subscribe("bob")
	secret := ann.post("secret one")
	public := s.person("dan").post("for all")
	addresses := []string{"/", "/bob/likes", "/bob/comments", "/everything", "/?mode=activity"}
	var open []*page
	for _, address := range addresses {
		open = append(open, s.open(cat, address))
	}
	bobs := s.open(bob, "/")
	bob.like(secret.Code)
	bob.comment(secret.Code, "secret two")
	ann.edit(secret.Code, "secret three")
	bobs.hearPost(secret.Code, "secret three")
	s.followUp()
	bob.like(public.Code)
	bob.comment(public.Code, "a word for all")
	for i, g := range open {
		if addresses[i] == "/bob/likes" {
			lacksAll(t, addresses[i], g.hear("the like", func(f frame) bool { return f.Post == public.Code }), "secret", secret.Code)
			continue
		}
		lacksAll(t, addresses[i], g.hearPost(public.Code, "a word for all"), "secret", secret.Code)
	}
	v := cat.visitor()
	for _, address := range addresses {
		v.get(address).wants(200).has("for all").lacks("secret", secret.Code)
	}
	v.get("/p/" + secret.Code).wants(404)
}

// "A post that left a feed staying on the open page."
func TestPostThatLeftAFeedLeavesTheOpenPage(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("anna"), s.person("bob")
	ann.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	bob.subscribe("anna")
	post := ann.post("between feeds", "anna", "chess-club")
	leaves := []*page{s.open(nil, "/anna"), s.open(bob, "/"), s.open(bob, "/anna?order=created"), s.open(ann, "/anna")}
	stays := s.open(nil, "/chess-club")
	everywhere := s.open(nil, "/everything")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetDestinations(ctx, ann.account.ID, post.Code, []string{"chess-club"})
	})
	// No job has run: what is asked for is right all the same.
	s.visitor().get("/anna").wants(200).lacks("between feeds")
	bob.visitor().get("/").wants(200).lacks("between feeds")
	s.visitor().get("/feeds/anna.atom").wants(200).lacks("between feeds")
	for _, g := range leaves {
		g.untilGone(post.Code)
	}
	ann.edit(post.Code, "in the club alone")
	stays.hearPost(post.Code, "in the club alone")
	everywhere.hearPost(post.Code, "in the club alone")
	for _, g := range leaves {
		g.subscribe()
		if said := g.hear("ok", func(f frame) bool { return f.T == "ok" }); strings.Contains(said, post.Code) || g.shown[post.Code].T != "" {
			t.Errorf("%s has it again: %s", g.address, said)
		}
	}
}

// "A fold wrong after its last visible comment was deleted."
func TestFoldAfterItsLastVisibleCommentIsDeleted(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("anna"), s.person("bob")
	post := ann.post("much talked about")
	var ids []int64
	for i := range 7 {
		ids = append(ids, bob.comment(post.Code, "remark "+strconv.Itoa(i)+".").CommentID)
	}
	g := s.open(nil, "/everything")
	// The last, the first, those that come up in their places, down to none.
	for len(ids) > 0 {
		at := len(ids) - 1
		if len(ids)%2 == 0 {
			at = 0
		}
		gone := ids[at]
		ids = append(ids[:at:at], ids[at+1:]...)
		bob.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.DeleteComment(ctx, bob.account.ID, post.Code, gone)
		})
		var pushed string
		g.until("the comments", func(f frame) bool {
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
			"the push": pushed, "the page": s.visitor().get("/everything").wants(200).body,
		} {
			var got, want []string
			for _, m := range commentIDs.FindAllStringSubmatch(text, -1) {
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
	s.visitor().get("/bob/comments").wants(200).lacks(post.Code)
}

// "A viewer's placeholder delivered to others", and the other way round.
func TestPlaceholderIsItsViewersAlone(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob, cat, dan := s.person("anna"), s.person("bob"), s.person("cat"), s.person("dan")
	ann.ban("bob")
	for i, order := range [][]*person{{ann, cat, nil}, {nil, cat, ann}, {cat, ann, nil}} {
		post := dan.post("much talked about")
		text := "a word of bob " + strconv.Itoa(i)
		var open []*page
		for _, p := range order {
			open = append(open, s.open(p, "/everything"))
		}
		said := bob.comment(post.Code, text)
		bob.like(post.Code)
		visitor := func(p *person) *visitor {
			if p == nil {
				return s.visitor()
			}
			return p.visitor()
		}
		for j, p := range order {
			pushed := open[j].hear("the comment", func(f frame) bool {
				return f.Post == post.Code && strings.Contains(f.HTML+f.Parts["comments"], `id="`+view.CommentID(said.CommentID)+`"`)
			})
			answers := map[string]string{
				"push": pushed,
				"page": entryOf(visitor(p).get("/everything").wants(200).body, post.Code),
				"post": visitor(p).get("/p/" + post.Code).wants(200).body,
			}
			if p != nil {
				answers["reply"] = visitor(p).asRiver("/p/"+post.Code+"/like", "/everything")
				answers["reply to the unlike"] = visitor(p).asRiver("/p/"+post.Code+"/unlike", "/everything")
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
	s := newLiveSite(t, func(c *hubConfig) { c.hear = deaf })
	ann, bob, cat := s.person("anna"), s.person("bob"), s.person("cat")
	post := cat.post("much talked about")
	bob.comment(post.Code, "bob before")
	a := ann.visitor()
	a.get("/everything").wants(200).has("bob before")
	page := s.open(ann, "/everything")
	ann.ban("bob")
	for i := range 5 {
		text := "bob after " + strconv.Itoa(i)
		bob.comment(post.Code, text)
		bob.like(post.Code)
		for _, address := range []string{"/everything", "/p/" + post.Code, "/cat", "/filter/discussions"} {
			a.get(address).wants(200).lacks("bob before", "bob after", "/bob", "Liked by")
		}
		page.subscribe()
		said := page.hear("ok", func(f frame) bool { return f.T == "ok" })
		lacksAll(t, "the open page", said, "bob before", "bob after", ">bob<", "Liked by")
		cat.visitor().get("/everything").wants(200).has(text)
	}
	lacksAll(t, "the reply", a.asRiver("/p/"+post.Code+"/save", "/everything"), "bob before", "bob after", ">bob<")
}

// "A group gone private still readable through somebody's likes page."
func TestGroupGonePrivateIsNotOnALikersPage(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob, cat := s.person("anna"), s.person("bob"), s.person("cat")
	ann.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	bob.subscribe("chess-club")
	cat.subscribe("bob")
	inClub := ann.post("said in the club", "chess-club")
	bob.like(inClub.Code)
	bob.comment(inClub.Code, "answered in the club")
	for i := range rivers.PageSize + 3 { // so that it stands among the older ones too
		bob.like(ann.post("for all " + strconv.Itoa(i)).Code)
	}
	s.followUp()
	likes := s.visitor().get("/bob/likes").wants(200)
	older := olderLink.FindStringSubmatch(likes.body)
	if older == nil {
		t.Fatal("everything is on the first page")
	}
	last := strings.ReplaceAll(older[1], "&amp;", "&")
	addresses := []string{"/bob/likes", "/bob/likes?order=created", "/bob/comments", last, "/everything", "/chess-club"}
	for _, address := range addresses {
		s.visitor().get(address).wants(200)
	}
	s.visitor().get(last).has("said in the club")
	pages := []*page{s.open(nil, "/bob/comments"), s.open(cat, "/bob/comments"), s.open(cat, "/bob/comments?order=created")}
	members := s.open(bob, "/bob/comments")
	shut := s.open(nil, "/p/"+inClub.Code)

	ann.setAccess("chess-club", timelines.Private)
	// At once, though no job has run and every river stands as it stood.
	for _, v := range []*visitor{s.visitor(), cat.visitor()} {
		for _, address := range append(addresses[:5:5], "/feeds/bob/likes.atom", "/feeds/bob/comments.json", "/best", "/bob/likes?before="+cursorOf(t, last)) {
			v.get(address).wants(200).lacks("in the club", inClub.Code)
		}
		v.get("/p/" + inClub.Code).wants(404)
		v.header.Set("X-River-Page", "/bob/likes")
		v.get("/p/" + inClub.Code + "/likes?shown=103").wants(404)
	}
	bob.visitor().get("/bob/comments").wants(200).has("answered in the club")
	s.replace(timelines.Replace{Everybody: true})
	for _, g := range pages {
		g.untilGone(inClub.Code)
	}
	if c := shut.closed(); c.Code != closeNoPage {
		t.Errorf("the post's open page is closed with %v, want %d", c, closeNoPage)
	}
	bob.comment(inClub.Code, "and once more in the club")
	members.hearPost(inClub.Code, "once more in the club")
	after := bob.comment(ann.post("for all").Code, "heard by all")
	for _, g := range pages {
		lacksAll(t, g.address, g.hearPost(after.Code, "heard by all"), "in the club", inClub.Code)
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
	s := newLiveSite(t, nil)
	ann, cat := s.person("anna"), s.person("cat")
	post, talk := cat.post("well liked"), cat.post("well commented")
	said := cat.comment(talk.Code, "a remark")
	for i := range 7 {
		liker := s.person("liker-" + strconv.Itoa(i))
		liker.like(post.Code)
		liker.likeComment(talk.Code, said.CommentID)
		liker.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.Fave(ctx, liker.account.ID, post.Code)
		})
	}
	a := ann.visitor()
	count := func() (others int) {
		t.Helper()
		entry := entryOf(a.get("/everything").wants(200).body, post.Code)
		return countIn(entry, `(\d+) others?`)
	}
	// Whom nothing but a like of a comment brings there is not counted either; who keeps
	// a post, which is told to nobody, always is.
	others := func(banned int) {
		t.Helper()
		body := a.get("/everything").wants(200).body
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
		ann.ban("liker-" + strconv.Itoa(banned))
		entry := entryOf(a.get("/p/"+post.Code).wants(200).body, post.Code)
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
	a.get("/everything").wants(200).lacks("Liked by", "others")
}
