package web

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
)

// A page's word for what stood around it is known again, and says nothing: a page with
// nothing around it has one too, and it is never the same.
func TestSeal(t *testing.T) {
	s := newLiveSite(t, nil)
	ann, bob := s.person("ann"), s.person("bob")
	around := func(p *person, address string) Fingerprint {
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
		now, err := s.server.pages.Fingerprint(t.Context(), n, sets)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	for _, address := range []string{"/everything", "/bob"} {
		now := around(ann, address)
		word := s.server.pages.Token(now)
		if !s.server.pages.TokenFits(word, now) || word == s.server.pages.Token(now) || len(word) != 2*sealSize {
			t.Errorf("the word is %q", word)
		}
		for _, wrong := range []string{"", "x", word[:8], word + "00", strings.Repeat("0", len(word))} {
			if s.server.pages.TokenFits(wrong, now) {
				t.Errorf("%q is taken for a seal", wrong)
			}
		}
	}
	word := s.server.pages.Token(around(ann, "/bob"))
	bob.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetProfile(ctx, bob.account.ID, "Robert", "")
	})
	if s.server.pages.TokenFits(word, around(ann, "/bob")) {
		t.Error("the word of before bob took another name is taken for that of now")
	}
}

// An open page of an account names its sub-feeds as they are now, and none that
// closed to its reader.
func TestTabsFollow(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
	ann, bob := s.person("ann"), s.person("bob")
	ann.post("a word")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.CreateSubfeed(ctx, ann.account.ID, "photos", "My photos", timelines.Public)
	})
	bob.visitor().get("/ann").wants(200).has("My photos")
	pages := []*page{s.open(bob, "/ann"), s.open(bob, "/ann/likes"), s.open(ann, "/ann/faves")}
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
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
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
	bob.visitor().post("/ann/subscribe").leadsTo("/ann")
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
		sights, err := other.pages.Fingerprints(t.Context(), names, sets)
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
