package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// A page's token is known again, and says nothing: a page with nothing around it has a token too,
// and each viewer has tokens of their own.
func TestToken(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	around := func(p *webtest.Person, address string) live.Fingerprint {
		t.Helper()
		page := s.Open(p, address) // brings the caches to the newest clock
		n, err := s.Live.PageOf(t.Context(), p.Viewer, page.Address, nil)
		if err != nil {
			t.Fatal(err)
		}
		sets, err := s.Rivers.Access().Sets(t.Context(), p.Account.ID)
		if err != nil {
			t.Fatal(err)
		}
		now, err := s.Live.Pages.Fingerprint(t.Context(), n, sets)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	for _, address := range []string{"/everything", "/bob"} {
		now := around(ann, address)
		word := s.Live.Pages.Token(now)
		if !s.Live.Pages.TokenFits(word, now) || word != s.Live.Pages.Token(around(ann, address)) || word == s.Live.Pages.Token(around(bob, address)) || len(word) != 2*live.TokenSize {
			t.Errorf("the word is %q", word)
		}
		for _, wrong := range []string{"", "x", word[:8], word + "00", strings.Repeat("0", len(word))} {
			if s.Live.Pages.TokenFits(wrong, now) {
				t.Errorf("%q is taken for a seal", wrong)
			}
		}
	}
	word := s.Live.Pages.Token(around(ann, "/bob"))
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Accounts.SetProfile(ctx, bob.Account.ID, "Robert", "", "")
	})
	if s.Live.Pages.TokenFits(word, around(ann, "/bob")) {
		t.Error("the word of before bob took another name is taken for that of now")
	}
}

// An open page of an account names its sub-feeds as they are now, and none that
// closed to its reader.
func TestTabsFollow(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Post("a word")
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.Create(ctx, ann.Account.ID, "photos", "My photos", timelines.Public)
	})
	bob.Visitor().Get("/ann").Wants(200).Has("My photos")
	pages := []*webtest.Page{s.Open(bob, "/ann"), s.Open(bob, "/ann/likes"), s.Open(ann, "/ann/comments")}
	for _, level := range []timelines.Level{timelines.Private, timelines.Public} {
		ann.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Feeds.SetSubfeedAccess(ctx, ann.Account.ID, "photos", level)
		})
		beat <- time.Now()
		for _, g := range pages {
			g.Until("tabs", func(f webtest.Frame) bool { return f.T == "tabs" })
		}
		again := bob.Visitor().Get("/ann").Wants(200)
		if level == timelines.Private {
			again.Lacks("My photos")
		} else {
			again.Has("My photos")
		}
	}
	// So is a page that was served before and followed after.
	served := s.Open(bob, "/ann")
	served.Token = served.SaidToken
	_ = served.Conn.CloseNow()
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.SetSubfeedAccess(ctx, ann.Account.ID, "photos", timelines.Private)
	})
	told := false
	served.Connect(s, bob)
	served.Until("ok", func(f webtest.Frame) bool {
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
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.Create(ctx, ann.Account.ID, "photos", "My photos", timelines.Public)
	})
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	ann.Post("a word")
	told := func(pages []*webtest.Page) {
		t.Helper()
		beat <- time.Now()
		for _, g := range pages {
			g.Until("tabs", func(f webtest.Frame) bool { return f.T == "tabs" })
		}
	}
	pages := []*webtest.Page{s.Open(bob, "/ann"), s.Open(bob, "/ann/likes"), s.Open(bob, "/ann/photos"), s.Open(ann, "/ann")}
	ann.SetAccess("", timelines.Protected)
	told(pages)
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Accounts.SetProfile(ctx, ann.Account.ID, "Ann Other", "about ann", "")
	})
	told(pages)
	bob.Visitor().Post("/ann/follow").LeadsTo("/ann")
	told(pages[:3])
	// The sub-feed stays open to bob when the account closes.
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Subscriptions.Unsubscribe(ctx, bob.Account.ID, "ann")
	})
	told(pages[:3])
	ann.SetAccess("", timelines.Private)
	told(pages[2:])
	club := []*webtest.Page{s.Open(bob, "/chess-club"), s.Open(ann, "/chess-club")}
	ann.SetAccess("chess-club", timelines.Protected)
	told(club)
}

// The fingerprints of many open pages cost three statements together, not three each, when the
// caches were dropped.
func TestFingerprintsAreReadTogether(t *testing.T) {
	s := webtest.New(t, nil)
	var names []rivers.Name
	var sets []*access.Sets
	for i := range 5 {
		p := s.Person(fmt.Sprintf("person%d", i))
		p.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Feeds.Create(ctx, p.Account.ID, "photos", "My photos", timelines.Public)
		})
		names = append(names, rivers.Name{Kind: rivers.User, TheirID: p.Account.ID, Order: rivers.Fresh})
		sets = append(sets, &access.Sets{})
	}
	statements := &webtest.CountedStatements{}
	cfg := s.DB.Primary.Config()
	cfg.ConnConfig.Tracer = statements
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	store := timelines.Open(pool, nil, timelines.DefaultOptions())
	other := rivers.Open(s.DB.Secondary, store, slog.New(slog.NewTextHandler(t.Output(), nil)), rivers.DefaultOptions())
	pages := live.NewPages(view.NewRenderer(view.Config{Access: other.Access()}), other.Access(), store)
	for _, want := range []int64{3, 0} { // the second time they are known
		statements.N.Store(0)
		sights, err := pages.Fingerprints(t.Context(), names, sets)
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range sights {
			if !strings.Contains(at.Surroundings(), "My photos") {
				t.Errorf("page %d is decided with %+v, want its tab", i, at)
			}
		}
		if got := statements.N.Load(); got != want {
			t.Errorf("%d statements, want %d", got, want)
		}
	}
}
