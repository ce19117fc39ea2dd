package web_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

const unreadOne = "<title>(1) "

// An event is told in a sentence, with its kind, and counted in the title and the places of
// every page. The page itself still marks what was unread; the next one does not.
func TestNotifications(t *testing.T) {
	s := webtest.New(t, nil)
	bob, ann, cid := s.Person("bob"), s.Person("ann"), s.Person("cid")
	b := bob.Visitor()
	const page = view.NotificationsPath
	s.Visitor().Get(page).Wants(303)
	b.Get(page).Wants(200).Has("will show up here").Lacks(unreadOne)

	code := bob.Post("Hello there").Code
	b.Get("/everything").Lacks(unreadOne)
	ann.Like(code)
	for _, address := range []string{"/", "/everything", "/p/" + ann.Post("of ann's").Code, "/settings", "/people", "/help/keys"} {
		b.Get(address).Wants(200).Has(unreadOne, `<span>1</span>`)
	}
	s.FollowUp()
	b.Get(page).Has(">ann</a>", "liked your post", "Hello there", `class="fresh`, unreadOne)
	b.Get("/everything").Lacks(unreadOne)
	b.Get(page).Has("liked your post").Lacks(`class="fresh`)

	cid.Like(code)
	own := bob.Comment(code, "a word of mine")
	said := cid.Comment(code, "an answer")
	ann.Comment(code, "another")
	s.FollowUp()
	b.Get(page).Has(">ann</a>", "commented on your post", "another", "liked your post", unreadOne)
	ann.LikeComment(code, own.CommentID)
	other := ann.Post("over there, @bob").Code
	ann.Post("a message", "bob")
	s.FollowUp()
	b.Get(page).Has("liked your comment", "mentioned you", "wrote to you", "<title>(3) ")
	// A post's own page is as good as that.
	b.Get("/p/" + other)
	b.Get(page)
	b.Get("/").Lacks("<title>(")

	// In each language, and all at once.
	cid.Comment(code, "and more")
	cid.Comment(code, "and more")
	s.FollowUp()
	b.Header.Set("Accept-Language", "ru")
	b.Get(page).Has("комментари", "Уведомления")
	b.Header.Del("Accept-Language")
	cid.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Comments.Delete(ctx, cid.Account.ID, code, said.CommentID)
	})
	b.Get(page).Lacks("an answer")
	ann.Comment(code, "the last")
	b.Get("/").Has(unreadOne)
	b.Post(page + "/read").Wants(303)
	b.Get("/").Lacks(unreadOne)
}

// A page that is fetched before it is asked for, or by a script for what stands around the
// entries, is not read by anybody.
func TestFetchedAheadIsNotRead(t *testing.T) {
	s := webtest.New(t, nil)
	bob, ann := s.Person("bob"), s.Person("ann")
	code := bob.Post("Hello there").Code
	ann.Like(code)
	b := bob.Visitor()
	for _, page := range []string{"/p/" + code, view.NotificationsPath} {
		for name, value := range map[string]string{"Sec-Purpose": "prefetch", "Sec-Fetch-Mode": "cors"} {
			b.Header.Set(name, value)
			b.Get(page).Wants(200)
			b.Header.Del(name)
			b.Get("/everything").Has(unreadOne)
		}
	}
	b.Get(view.NotificationsPath).Wants(200)
	b.Get("/everything").Lacks(unreadOne)
}

// Nothing that was taken back, or that its reader may not see any more, is shown or counted once
// that is acknowledged, though nothing else follows (R4).
func TestNothingNarrowedIsTold(t *testing.T) {
	for name, narrow := range map[string]func(s *webtest.Site, bob, ann *webtest.Person, code string){
		"a like taken back": func(s *webtest.Site, _, ann *webtest.Person, code string) {
			ann.Act(func(ctx context.Context) (timelines.Change, error) {
				return s.Store.Posts.Unlike(ctx, ann.Account.ID, code)
			})
		},
		"a post deleted": func(_ *webtest.Site, bob, _ *webtest.Person, code string) { bob.Remove(code) },
		"a ban":          func(_ *webtest.Site, bob, _ *webtest.Person, _ string) { bob.Ban("ann") },
		"a ban by others": func(_ *webtest.Site, _, ann *webtest.Person, _ string) {
			ann.Ban("bob")
		},
		"a person hidden": func(s *webtest.Site, bob, _ *webtest.Person, _ string) {
			bob.Act(func(ctx context.Context) (timelines.Change, error) {
				return s.Store.Hides.HideAccount(ctx, bob.Account.ID, "ann")
			})
		},
		"a post muted": func(_ *webtest.Site, bob, _ *webtest.Person, code string) {
			bob.Visitor().Post("/p/" + code + "/mute").Wants(303)
		},
		"a kind not wanted": func(_ *webtest.Site, bob, _ *webtest.Person, _ string) {
			bob.Visitor().Do("POST", "/settings/notices", url.Values{"kind": {"2", "3"}}).Wants(303)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := webtest.New(t, nil)
			bob, ann := s.Person("bob"), s.Person("ann")
			code := bob.Post("Hello there").Code
			ann.Like(code)
			s.FollowUp()
			b := bob.Visitor()
			b.Get("/everything").Has(unreadOne)
			b.Get("/filter/discussions").Has(unreadOne)
			narrow(s, bob, ann, code)
			for _, address := range []string{"/everything", "/settings"} {
				b.Get(address).Wants(200).Lacks(unreadOne)
			}
			if name != "a kind not wanted" {
				b.Get(view.NotificationsPath).Lacks("liked your post")
			}
		})
	}
}

// In a group that closes, and from which its reader is taken, nothing is told any more; nor of a
// post that is moved away.
func TestNothingIsToldFromOutside(t *testing.T) {
	s := webtest.New(t, nil)
	bob, ann := s.Person("bob"), s.Person("ann")
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").Wants(303)
	bob.Subscribe("chess-club")
	code := ann.Post("a game", "chess-club").Code
	bob.Comment(code, "e4")
	ann.Comment(code, "secret-move")
	moved := ann.Post("@bob come here").Code
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.SetAccess(ctx, ann.Account.ID, "chess-club", timelines.Private)
	})
	s.FollowUp()
	b := bob.Visitor()
	b.Get("/everything").Has("<title>(2) ")
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Groups.RemoveMember(ctx, ann.Account.ID, "chess-club", "bob")
	})
	b.Get("/everything").Has(unreadOne)
	b.Get("/settings").Has(unreadOne)
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Posts.Revise(ctx, ann.Account.ID, moved, timelines.Revision{To: []string{timelines.ToEyes}})
	})
	b.Get("/everything").Lacks(unreadOne)
	b.Get(view.NotificationsPath).Lacks("secret-move", "come here")
}

// A muted post is listed where it can be undone, and its menu offers that.
func TestMute(t *testing.T) {
	s := webtest.New(t, nil)
	bob, ann := s.Person("bob"), s.Person("ann")
	code := bob.Post("Hello there").Code
	b := bob.Visitor()
	b.Get("/p/" + code).Has("/p/" + code + "/mute").Lacks("/unmute")
	b.Post("/p/" + code + "/mute").Wants(303)
	b.Get("/p/" + code).Has("/p/" + code + "/unmute")
	ann.Like(code)
	b.Get("/everything").Lacks(unreadOne)
	b.Get("/settings/hidden").Has("Muted posts", "Hello there", "/p/"+code+"/unmute")
	b.Post("/p/" + code + "/unmute").Wants(303)
	b.Get("/settings/hidden").Lacks("/p/" + code + "/unmute")
	ann.Comment(code, "are you there?")
	b.Get("/everything").Has(unreadOne)
	// Muting takes back what bob was told of the post before.
	b.Post("/p/" + code + "/mute").Wants(303)
	b.Get("/everything").Lacks(unreadOne)
	b.Get("/push/news").Wants(200).Has(`"unread":0`).Lacks("ann")
	ann.Visitor().Post("/p/0000000000/mute").Wants(404)
	ann.Visitor().Post("/p/" + bob.Post("mine", "~eyes").Code + "/mute").Wants(404)
}

// The number moves on an open page of another river, follows what is read in another browser,
// and forgets what its reader may not see.
func TestNumberOfUnreadIsLive(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	bob, ann, cid := s.Person("bob"), s.Person("ann"), s.Person("cid")
	code := bob.Post("Hello there").Code
	tab := s.Tab(browser, "bob")
	tab.SignIn("bob")
	tab.Visit("/best")
	tab.Live()
	title := func(prefix string) {
		t.Helper()
		tab.Await("the title to begin with "+prefix, `document.title.startsWith('`+prefix+`')`)
	}
	title("Best")
	ann.Like(code)
	title("(1) Best")
	if got := webtest.Eval[string](tab, `[...document.querySelectorAll('.unread')].map((x) => x.hidden + x.firstElementChild.textContent).join()`); got != "false1,false1" {
		t.Errorf("badges: %s", got)
	}
	other := ann.Post("over there, @bob").Code
	title("(2) Best")

	// Read elsewhere, one by one and all of it.
	b := bob.Visitor()
	b.Get("/p/" + other)
	title("(1) Best")
	b.Get(view.NotificationsPath)
	title("Best")
	// A request counts until it is answered.
	bob.SetAccess("", timelines.Private)
	cid.Visitor().Post("/bob/follow").Wants(303)
	title("(1) Best")
	b.Get(view.NotificationsPath)
	b.Get("/settings").Wants(200).Has(unreadOne)
	b.Post("/cid/accept").Wants(303)
	title("Best")
	bob.SetAccess("", timelines.Public)
	ann.Comment(code, "are you there?")
	title("(1) Best")
	bob.Ban("ann")
	title("Best")
	bob.Unban("ann")
	title("(1) Best")

	// An answer is written and seen in its place.
	tab.Visit(view.NotificationsPath)
	tab.Live()
	tab.Await("the entry", `document.querySelector('#p-`+code+` .fresh')`)
	tab.Comment(code, "I am")
	tab.Shows(code, "comments", "I am")
	title("Notifications")
	if !strings.Contains(tab.Text(), "commented on your post") {
		t.Error("the entry went")
	}
	tab.Do(chromedp.Click(chromedp.CSS(`form[action$="/read"] button`)))
	tab.Await("the page again", `document.readyState === 'complete' && !document.querySelector('.fresh')`)
}

// TestRequestsAndArrivals checks that requests count until they are answered, and that the page
// says who came. It leaves out people who are banned, hidden or gone again.
func TestRequestsAndArrivals(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	bob, ann, cat, dan := s.Person("bob"), s.Person("ann"), s.Person("cat"), s.Person("dan")
	b, a := bob.Visitor(), ann.Visitor()
	ann.SetAccess("", timelines.Private)
	a.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "private").Wants(303)
	b.Post("/ann/follow").Wants(303)
	b.Post("/chess-club/follow").Wants(303)
	a.Get("/settings").Wants(200).Has("<title>(2) ")
	a.Get(view.NotificationsPath).Wants(200).Has("wants to follow you", "wants to join").Lacks("follows you")
	a.Get("/settings").Wants(200).Has("<title>(2) ") // to look is no answer

	a.Post("/bob/accept").Wants(303)
	a.Post("/bob/accept", "group", "chess-club").Wants(303)
	cat.Subscribe("bob")
	dan.Subscribe("bob")
	a.Get(view.NotificationsPath).Wants(200).Has(`/bob"`, "follows you", "joined").Lacks("<title>(")
	page := b.Get(view.NotificationsPath).Wants(200).Has("You can read", "You are in", "Chess Club", `/cat"`, `/dan"`, "follow you")
	if strings.Count(page.Body, "follow you") != 1 {
		t.Error("the two followers are not told of together")
	}
	b.Post("/cat/ban").Wants(303)
	b.Post("/dan/hide").Wants(303)
	a.Post("/chess-club/remove", "name", "bob").Wants(303)
	b.Get(view.NotificationsPath).Wants(200).Has("You can read").Lacks(`href="/cat"`, `href="/dan"`, "You are in", "follow you", "follows you")
	b.Post("/ann/unfollow").Wants(303)
	b.Get(view.NotificationsPath).Wants(200).Lacks("You can read")
}

// An event that arrives while somebody looks at its page is read: on the post's own page and on
// that of notifications. No other page tells of it.
func TestNotificationsAreReadLive(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	bob, ann := s.Person("bob"), s.Person("ann")
	code := bob.Post("Hello there").Code
	ann.Like(code)
	tab := s.Tab(browser, "bob")
	tab.SignIn("bob")
	unread := func() (n int) {
		t.Helper()
		if err := s.DB.Primary.QueryRow(t.Context(), `SELECT count(*) FROM notifications WHERE NOT read`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, page := range []string{"/p/" + code, view.NotificationsPath} {
		tab.Visit(page)
		tab.Live()
		webtest.Await(t, "what the page was served with to be read", func() bool { return unread() == 0 })
		for _, text := range []string{"the first on " + page, "the second on " + page} {
			ann.Comment(code, text)
			tab.Await("the comment", `document.querySelector('main').textContent.includes('`+text+`')`)
			webtest.Await(t, "it to be read on "+page, func() bool { return unread() == 0 })
			tab.Await("no number", `!document.title.startsWith('(')`)
		}
	}
	// On other pages it is not.
	tab.Visit("/bob")
	tab.Live()
	ann.Comment(code, "the last")
	tab.Await("the number", `document.title.startsWith('(1) ')`)
}
