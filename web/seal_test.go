package web

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/timelines"
)

// A page's word for what stood around it is known again, and says nothing: a page with
// nothing around it has one too, and it is never the same.
func TestSeal(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	around := func(p *person, address string) sight {
		t.Helper()
		page := s.open(p, address) // brings the caches to the newest clock
		n, err := s.server.pageOf(t.Context(), p.viewer, page.address, nil)
		if err != nil {
			t.Fatal(err)
		}
		sets, err := s.rivers.Access().Sets(t.Context(), p.account.ID)
		if err != nil {
			t.Fatal(err)
		}
		now, err := s.server.seals.sightOf(t.Context(), n, sets)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	for _, address := range []string{"/everything", "/bob"} {
		now := around(ann, address)
		word := s.server.seals.seal(now)
		if !s.server.seals.isSealed(word, now) || word == s.server.seals.seal(now) || len(word) != 2*sealSize {
			t.Errorf("the word is %q", word)
		}
		for _, wrong := range []string{"", "x", word[:8], word + "00", strings.Repeat("0", len(word))} {
			if s.server.seals.isSealed(wrong, now) {
				t.Errorf("%q is taken for a seal", wrong)
			}
		}
	}
	word := s.server.seals.seal(around(ann, "/bob"))
	bob.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetProfile(ctx, bob.account.ID, "Robert", "")
	})
	if s.server.seals.isSealed(word, around(ann, "/bob")) {
		t.Error("the word of before bob took another name is taken for that of now")
	}
}

// An open page of an account names its sub-feeds as they are now, and none that
// closed to its reader.
func TestTabsFollow(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *hubConfig) { c.hear, c.beat = deaf, beat })
	ann, bob := s.person("ann"), s.person("bob")
	ann.post("a word")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.CreateSubfeed(ctx, ann.account.ID, "photos", "My photos", timelines.Public)
	})
	bob.visitor().get("/ann").wants(200).has("My photos")
	pages := []*page{s.open(bob, "/ann"), s.open(bob, "/ann/likes"), s.open(ann, "/ann/comments")}
	for _, level := range []timelines.Level{timelines.Private, timelines.Public} {
		ann.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.SetSubfeedAccess(ctx, ann.account.ID, "photos", level)
		})
		beat <- time.Now()
		for _, g := range pages {
			g.until("tabs", func(f frame) bool { return f.T == "tabs" })
		}
		again := bob.visitor().get("/ann").wants(200)
		if level == timelines.Private {
			again.lacks("My photos")
		} else {
			again.has("My photos")
		}
	}
	// So is a page that was served before and followed after.
	served := s.open(bob, "/ann")
	served.sight = served.said
	_ = served.conn.CloseNow()
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetSubfeedAccess(ctx, ann.account.ID, "photos", timelines.Private)
	})
	told := false
	served.connect(s, bob)
	served.until("ok", func(f frame) bool {
		told = told || f.T == "tabs"
		return f.T == "ok"
	})
	if !told {
		t.Error("a page followed after the change is not told of it")
	}
}

// So do the level and the name of an account, on each of its pages.
func TestHeaderFollows(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *hubConfig) { c.hear, c.beat = deaf, beat })
	ann, bob := s.person("ann"), s.person("bob")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.CreateSubfeed(ctx, ann.account.ID, "photos", "My photos", timelines.Public)
	})
	ann.visitor().post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	ann.post("a word")
	told := func(pages []*page) {
		t.Helper()
		beat <- time.Now()
		for _, g := range pages {
			g.until("tabs", func(f frame) bool { return f.T == "tabs" })
		}
	}
	pages := []*page{s.open(bob, "/ann"), s.open(bob, "/ann/likes"), s.open(bob, "/ann/photos"), s.open(ann, "/ann")}
	ann.setAccess("", timelines.Protected)
	told(pages)
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetProfile(ctx, ann.account.ID, "Ann Other", "about ann")
	})
	told(pages)
	bob.visitor().post("/ann/follow").leadsTo("/ann")
	told(pages[:3])
	// The sub-feed stays open to bob when the account closes.
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.Unsubscribe(ctx, bob.account.ID, "ann")
	})
	told(pages[:3])
	ann.setAccess("", timelines.Private)
	told(pages[2:])
	club := []*page{s.open(bob, "/chess-club"), s.open(ann, "/chess-club")}
	ann.setAccess("chess-club", timelines.Protected)
	told(club)
}

// In a browser the tab goes, and comes back.
func TestTabsInBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	set := func(level timelines.Level) {
		t.Helper()
		ann.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.SetSubfeedAccess(ctx, ann.account.ID, "photos", level)
		})
	}
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.CreateSubfeed(ctx, ann.account.ID, "photos", "My photos", timelines.Public)
	})
	ann.post("a word")
	b := s.tab(browser, "somebody")
	b.visit("/ann")
	b.live()
	const tabs = `document.querySelectorAll('nav.tabs a[href="/ann/photos"]').length`
	b.await("the tab", tabs+` === 1`)
	set(timelines.Private)
	b.await("no tab", tabs+` === 0`)
	set(timelines.Public)
	b.await("the tab again", tabs+` === 1`)
	// The server says it once: what cannot be fetched then is fetched later.
	eval[bool](b, `(() => {
		const fetches = window.fetch, answers = [() => Promise.reject(new Error('no network')), () => Promise.resolve(new Response('', { status: 503 }))];
		window.fetch = (...args) => (answers.length ? answers.shift()() : fetches(...args));
		window.failing = () => answers.length;
		return true;
	})()`)
	set(timelines.Private)
	b.await("both failures", `window.failing() === 0`)
	b.await("no tab in the end", tabs+` === 0`)
}

// In a browser the badge of an account's level follows, and what is said of who has
// just closed it goes; what is unfolded there stays so.
func TestHeaderInBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	s.person("bob")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.CreateSubfeed(ctx, ann.account.ID, "photos", "My photos", timelines.Public)
	})
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetProfile(ctx, ann.account.ID, "Ann", "about ann")
	})
	ann.post("a picture", "ann/photos")
	b := s.tab(browser, "bob")
	b.signIn("bob")
	b.visit("/ann")
	b.live()
	b.do(chromedp.Click(chromedp.CSS(`.spare summary`)))
	eval[bool](b, `window.same = true`)
	const header = `document.querySelector('header.account').textContent`
	b.await("the level", header+`.includes('public')`)
	ann.setAccess("", timelines.Protected)
	b.await("the level", header+`.includes('for signed-in people') && !`+header+`.includes('public')`)
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetProfile(ctx, ann.account.ID, "Ann Other", "about ann")
	})
	b.await("the name", header+`.includes('Ann Other') && document.title === 'Ann Other · riverrun'`)
	if !eval[bool](b, `window.same && document.querySelector('.spare').open`) {
		t.Error("what was unfolded is folded")
	}
	b.visit("/ann/photos")
	b.live()
	b.await("the tabs", `document.querySelectorAll('nav.tabs a').length === 4 && `+header+`.includes('about ann')`)
	ann.setAccess("", timelines.Private)
	b.await("what is closed to go", `document.querySelectorAll('nav.tabs a').length === 1 && !`+header+`.includes('about ann')`)
	b.await("the question", header+`.includes('Request to follow')`)
}

// A post's own page is called as the post begins now: what was edited away stays
// nowhere.
func TestPostTitleFollows(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := newLiveSite(t, nil)
	ann := s.person("ann")
	code := ann.post("a slip of the tongue\nand more").Code
	b := s.tab(browser, "somebody")
	b.visit("/p/" + code)
	b.live()
	called := func(title string) {
		t.Helper()
		b.await("the title", fmt.Sprintf(`document.title === %q && document.querySelector('h1').textContent === %q`, title+" · riverrun", title))
	}
	called("ann: a slip of the tongue")
	ann.edit(code, "better words\nand more")
	called("ann: better words")
	b.saysNone("slip")
	b.equalsReload()
	s.visitor().get("/p/"+code).wants(200).has("<title>ann: better words · riverrun</title>", "ann: better words</h1>")
}

// What many open pages are decided with costs three statements, not three each, when
// the caches were dropped.
func TestSightsAreReadTogether(t *testing.T) {
	s := newLiveSite(t, nil)
	var names []rivers.Name
	var sets []*timelines.Sets
	for i := range 5 {
		p := s.person(fmt.Sprintf("person%d", i))
		p.act(func(ctx context.Context) (timelines.Change, error) {
			return s.store.CreateSubfeed(ctx, p.account.ID, "photos", "My photos", timelines.Public)
		})
		names = append(names, rivers.Name{Kind: rivers.User, TheirID: p.account.ID, Order: rivers.Fresh})
		sets = append(sets, &timelines.Sets{})
	}
	statements := &countedStatements{}
	cfg := s.db.Primary.Config()
	cfg.ConnConfig.Tracer = statements
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	other, err := New(Config{
		Timelines: timelines.Open(pool, nil, timelines.DefaultOptions()), Tiers: s.tiers, Log: log, URL: s.http.URL,
		Rivers: rivers.Open(s.db.Secondary, timelines.Open(pool, nil, timelines.DefaultOptions()), log, rivers.DefaultOptions()),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{3, 0} { // the second time they are known
		statements.n.Store(0)
		sights, err := other.seals.sightsOf(t.Context(), names, sets)
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range sights {
			if !strings.Contains(at.tabs, "My photos") {
				t.Errorf("page %d is decided with %+v, want its tab", i, at)
			}
		}
		if got := statements.n.Load(); got != want {
			t.Errorf("%d statements, want %d", got, want)
		}
	}
}

// countedStatements is a tracer that counts what is sent.
type countedStatements struct{ n atomic.Int64 }

func (c *countedStatements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (c *countedStatements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// What a page is told of by its header's changing is what its reader may know: of a
// closed group neither what it is about nor who writes there.
func TestHeaderOfClosedSaysNothing(t *testing.T) {
	group := timelines.Account{ID: 7, FeedID: 70, Kind: timelines.Group, Title: "Club", Access: timelines.Private}
	other := group
	other.About, other.Writers = "secret", timelines.WritersAdmins
	member := &timelines.Sets{AccountID: 2, Readable: map[int64]struct{}{70: {}}}
	if headerOf(group, &timelines.Sets{AccountID: 1}) != headerOf(other, &timelines.Sets{AccountID: 1}) {
		t.Error("who may not read the group is told of changes")
	}
	if headerOf(group, member) == headerOf(other, member) {
		t.Error("a member is not told of changes")
	}
}
