package site_test

import (
	"errors"
	"strings"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/admin"
	"riverrun/timelines/site"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestSet(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := timelines.Open(testdb.New(t).Primary, nil, timelines.DefaultOptions())
	settings, cache := site.Open(store), access.New(store)
	read := func() site.Site {
		t.Helper()
		s, err := cache.Site(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	set := func(change func(*site.Site)) error {
		c, err := settings.Set(ctx, admin.By{}, change)
		if err == nil {
			err = cache.Advance(ctx, timelines.Clock{Epoch: 1, N: c.Clock})
		}
		return err
	}
	if s := read(); s.Title() != site.DefaultName || !s.Indexed || s.SignUp != nil || s.Private != nil {
		t.Errorf("a new site: %+v", s)
	}
	invitation, private := site.ByInvitation, true
	if err := set(func(s *site.Site) { s.Name, s.SignUp, s.Private = " The Club ", &invitation, &private }); err != nil {
		t.Fatal(err)
	}
	if s := read(); s.Name != "The Club" || s.SignUp == nil || *s.SignUp != site.ByInvitation || s.Private == nil || !*s.Private {
		t.Errorf("a node that remembers the site: %+v", s)
	}
	acts, err := admin.Open(store).Acts(ctx, "", 0, 10)
	if err != nil || len(acts) != 1 || acts[0].Detail != "name The Club, signup invitation, private true" {
		t.Errorf("acts: %+v, %v", acts, err)
	}
	if err := set(func(s *site.Site) { s.SignUp = nil }); err != nil || read().SignUp != nil {
		t.Errorf("as configured again: %v, %+v", err, read())
	}
	wrong := site.SignUp("perhaps")
	for code, change := range map[string]func(*site.Site){
		"site_long":        func(s *site.Site) { s.Name = strings.Repeat("x", 61) },
		"mark_long":        func(s *site.Site) { s.Mark = "abc" },
		"contact_format":   func(s *site.Site) { s.Contact = "javascript:alert(1)" },
		"language_unknown": func(s *site.Site) { s.Language = "tlh" },
		"signup_unknown":   func(s *site.Site) { s.SignUp = &wrong },
		"text_invalid":     func(s *site.Site) { s.Purpose = "two\nlines" },
	} {
		var invalid *timelines.InvalidError
		if err := set(change); !errors.As(err, &invalid) || invalid.Code != code {
			t.Errorf("want %s, got %v", code, err)
		}
	}
	if err := set(func(s *site.Site) { s.Contact = "http://club.example/" }); err == nil {
		t.Error("a contact without TLS is taken")
	}
	for _, mark := range []string{"🎾", "👨‍👩‍👧‍👦", "🇫🇷", "Ш", "é́", "RC", ""} {
		if err := set(func(s *site.Site) { s.Mark = mark }); err != nil || read().Mark != mark {
			t.Errorf("mark %q: %v, %+v", mark, err, read())
		}
	}
	a, err := store.Accounts.SignUp(ctx, timelines.SignUp{Name: "bob", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Set(ctx, admin.By{AccountID: a.ID}, func(s *site.Site) { s.Name = "Bob's" }); !errors.Is(err, timelines.ErrForbidden) {
		t.Errorf("by somebody without a role: %v", err)
	}
}

// The rules are asked about when they are first set, and when the host says so again; each person
// agrees once.
func TestRules(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := timelines.Open(testdb.New(t).Primary, nil, timelines.DefaultOptions())
	settings, cache, staff := site.Open(store), access.New(store), admin.Open(store)
	did := func(c timelines.Change, err error) {
		t.Helper()
		if err == nil {
			err = cache.Advance(ctx, timelines.Clock{Epoch: 1, N: c.Clock})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ann, err := store.Accounts.SignUp(ctx, timelines.SignUp{Name: "ann", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	did(staff.SetRole(ctx, admin.By{}, "ann", admin.Administrator))
	bob, err := store.Accounts.SignUp(ctx, timelines.SignUp{Name: "bob", Password: "a long enough one", RulesAgreed: 1})
	if err != nil {
		t.Fatal(err)
	}
	wants := func(asks, ann0, bob0 int) {
		t.Helper()
		s, err := cache.Site(ctx)
		if err != nil {
			t.Fatal(err)
		}
		a, errA := cache.Sets(ctx, ann.ID)
		b, errB := cache.Sets(ctx, bob.ID)
		if errA != nil || errB != nil || s.Asks() != asks || a.RulesAgreed != ann0 || b.RulesAgreed != bob0 {
			t.Errorf("version %d, agreed %d and %d, want %d, %d and %d (%v, %v)", s.Asks(), a.RulesAgreed, b.RulesAgreed, asks, ann0, bob0, errA, errB)
		}
	}
	wants(0, 0, 1)
	rules := func(text string, again bool) {
		t.Helper()
		did(settings.Set(ctx, admin.By{AccountID: ann.ID}, func(s *site.Site) { s.SetRules(text, again) }))
	}
	rules("Be kind.", false)
	wants(1, 1, 1)
	rules("Be kinder.", false)
	wants(1, 1, 1)
	rules("Be kinder, please.", true)
	wants(2, 2, 1)
	did(settings.Agree(ctx, bob.ID, 2))
	did(settings.Agree(ctx, bob.ID, 1))
	wants(2, 2, 2)
	rules("", false)
	wants(0, 2, 2)
}
