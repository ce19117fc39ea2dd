package web_test

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/tokens"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

var shownToken = regexp.MustCompile(`value="(rr_[\w-]{43})"`)

// newToken makes a token on the page, and returns it.
func newToken(t *testing.T, v *webtest.Visitor, fields ...string) string {
	t.Helper()
	page := v.Post("/settings/tokens", append([]string{"days", "30", "present", webtest.Password}, fields...)...).Wants(200)
	m := shownToken.FindStringSubmatch(page.Body)
	if m == nil {
		t.Fatalf("no token in %s", page.Body)
	}
	if got := page.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("the page with a token may be kept: %q", got)
	}
	return m[1]
}

// People make tokens, see them once, and revoke them; the password is asked for each.
func TestTokensPage(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	v, there := ann.Visitor(), s.Visitor()
	there.Post("/login", "username", "ann", "password", webtest.Password).LeadsTo("/")
	v.Get("/settings").Has(`href="/settings/tokens"`)
	v.Get("/settings/tokens").Wants(200).Has("There are no tokens", `value="moderation"`).Lacks("whole_site")

	good := []string{"name", "A <bot>", "scope", "read", "scope", "changes", "days", "7", "present", webtest.Password}
	with := func(field, value string) []string {
		form := append([]string{}, good...)
		for i := 0; i < len(form); i += 2 {
			if form[i] == field {
				form[i+1] = value
			}
		}
		return form
	}
	for says, form := range map[string][]string{
		"Wrong password.":                    with("present", "not the one"),
		"Fill this in.":                      with("name", " "),
		"The name is too long":               with("name", strings.Repeat("x", tokens.MaxName+1)),
		"Choose how long the token":          with("days", "8"),
		"Choose what the program may do.":    with("scope", "everything"),
		"A token for the whole site needs":   append(with("scope", "read"), "whole_site", "1"),
		"The text has characters that can’t": with("name", "a\x00b"),
	} {
		v.Post("/settings/tokens", form...).Wants(422).Has(says).Lacks("rr_")
	}
	v.Post("/settings/tokens", append(good, "whole_site", "1")...).Wants(403)
	v.Get("/settings/tokens").Has("There are no tokens")

	text := newToken(t, v, "name", "A <bot>", "scope", "read", "scope", "changes")
	page := v.Get("/settings/tokens").Wants(200).Has("A &lt;bot&gt;", "read, changes", "not used yet").Lacks("rr_")
	there.Get("/").Has("New app token: A &lt;bot&gt;,", `href="/settings/tokens"`)
	v.Get("/").Lacks("New app token")
	v.Get("/settings/sessions").Wants(200).Has("an unknown browser").Lacks("bot")
	if got, err := s.Rivers.Access().Token(t.Context(), text); err != nil || got.Viewer.AccountID != ann.Account.ID || !got.May(tokens.Changes) || got.May(tokens.Write) {
		t.Errorf("got %+v, %v", got, err)
	}
	v.Header.Set("Accept-Language", "ru")
	v.Get("/settings/tokens").Wants(200).Has("Токены приложений", "ещё не использован", "читать, следить за изменениями")
	v.Header.Del("Accept-Language")

	id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(page.Body)[1]
	bob := s.Person("bob").Visitor()
	bob.Post("/settings/tokens/revoke", "id", id).LeadsTo("/settings/tokens?saved")
	v.Get("/settings/tokens").Has("bot")
	v.Post("/settings/tokens/revoke", "id", id).LeadsTo("/settings/tokens?saved")
	v.Get("/settings/tokens?saved").Wants(200).Has("The token is revoked.", "There are no tokens")
	v.Post("/settings/tokens/revoke", "id", id).LeadsTo("/settings/tokens?saved")
	v.Post("/settings/tokens/revoke", "id", "x").Wants(404)
	there.Get("/").Has("App token revoked: A &lt;bot&gt;,")

	for i := range tokens.Most {
		newToken(t, bob, "name", strconv.Itoa(i), "scope", "read")
	}
	bob.Post("/settings/tokens", good...).Wants(422).Has("You have 20 tokens")
	s.Visitor().Get("/settings/tokens").LeadsTo("/login?back=" + url.QueryEscape("/settings/tokens"))
}

// A token in the place of a cookie is nobody's, and a token that was revoked on one node has ended on another that
// has not heard of it.
func TestTokensElsewhere(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	v := ann.Visitor()
	text := newToken(t, v, "name", "A bot", "scope", "read")
	for _, cookie := range []string{text, strings.TrimPrefix(text, "rr_")} {
		thief := s.Visitor()
		thief.Header.Set("Cookie", webtest.Cookie+"="+cookie)
		thief.Get("/settings").LeadsTo("/login?back=%2Fsettings")
		thief.Get("/everything").Wants(200).Lacks("/logout")
	}

	other := webtest.NewNode(t, s.DB, 0, rivers.DefaultOptions(), func(c *live.Config) { c.Hear = webtest.Deaf })
	token, err := other.Rivers.Access().Token(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	name := rivers.Name{UserID: ann.Account.ID, Kind: rivers.Home, Order: rivers.Fresh}
	if _, err := other.Rivers.Visit(t.Context(), token.Viewer, name, rivers.Cursor{}); err != nil {
		t.Fatalf("a river by a token: %v", err)
	}
	id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(v.Get("/settings/tokens").Body)[1]
	v.Post("/settings/tokens/revoke", "id", id).LeadsTo("/settings/tokens?saved")
	if _, err := other.Rivers.Visit(t.Context(), token.Viewer, name, rivers.Cursor{}); !errors.Is(err, timelines.ErrSignedOut) {
		t.Errorf("a river by a token that was revoked: %v, want ErrSignedOut", err)
	}
}

// An administrator makes a token that reads the whole site.
func TestTokenForTheWholeSite(t *testing.T) {
	s := webtest.New(t, nil)
	zoe := s.Person("zoe")
	zoe.Act(func(ctx context.Context) (timelines.Change, error) {
		return admin.Open(s.Store).SetRole(ctx, admin.By{}, "zoe", admin.Administrator)
	})
	v := zoe.Visitor()
	v.Get("/settings/tokens").Wants(200).Has("whole_site")
	v.Post("/settings/tokens", "name", "a", "scope", "read", "days", "7", "whole_site", "1", "present", webtest.Password).Wants(422).Has("A token for the whole site needs")
	text := newToken(t, v, "name", "An indexer", "scope", "changes", "whole_site", "1")
	v.Get("/settings/tokens").Has("changes, the whole site")
	if got, err := s.Rivers.Access().Token(t.Context(), text); err != nil || !got.WholeSite {
		t.Errorf("got %+v, %v", got, err)
	}
}
