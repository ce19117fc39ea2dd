package web_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// crowd makes people with accounts and nothing else, who all stand to something as
// the statement says: of an account $who and the id named.
func crowd(s *webtest.Site, n int, statement string, args ...any) []string {
	s.T.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("m-", 1000+i)
	}
	const people = `
		WITH a AS (INSERT INTO accounts (kind, name, title) SELECT 'user', n, n FROM unnest($1::text[]) n RETURNING id)
		INSERT INTO timelines (kind, their_id, writers) SELECT k, id, CASE k WHEN 'directs' THEN 'anyone' ELSE '' END
		FROM a, unnest(ARRAY['feed', 'directs']) k`
	if _, err := s.DB.Primary.Exec(s.T.Context(), people, names); err != nil {
		s.T.Fatal(err)
	}
	if _, err := s.DB.Primary.Exec(s.T.Context(), statement, args...); err != nil {
		s.T.Fatal(err)
	}
	return names
}

var nextLink = regexp.MustCompile(`<a rel="next" href="([^"]*)"`)

// Every list that grows without bound is shown in parts, which lead from one to the
// next, and whose forms lead back to where they stand.
func TestListsInParts(t *testing.T) {
	const more = view.DirectoryPage + 5
	for what, tc := range map[string]struct {
		statement string // makes the crowd what it is; $1 is anna, $2 her group
		address   string
		level     timelines.Level
		list      string // the parameter
		act       string // a form of each of them
	}{
		"administrators": {`INSERT INTO group_admins (group_id, account_id)
			SELECT $2, id FROM accounts WHERE name LIKE 'm-%' AND $1::bigint > 0`, "/chess-club/members", timelines.Public, "admins", "/chess-club/demote"},
		"blocked": {`INSERT INTO group_blocks (group_id, account_id)
			SELECT $2, id FROM accounts WHERE name LIKE 'm-%' AND $1::bigint > 0`, "/chess-club/manage", timelines.Public, "blocked", "/chess-club/unblock"},
		"excluded from a group": {
			`INSERT INTO excluded (timeline_id, account_id)
			SELECT t.id, a.id FROM accounts a, timelines t WHERE a.name LIKE 'm-%' AND t.their_id = $2 AND t.kind = 'group' AND $1::bigint > 0`,
			"/chess-club/manage", timelines.Protected, "excluded", "/chess-club/unexclude",
		},
		"admitted to a group": {
			`INSERT INTO readers (timeline_id, account_id, admitted)
			SELECT t.id, a.id, true FROM accounts a, timelines t WHERE a.name LIKE 'm-%' AND t.their_id = $2 AND t.kind = 'group' AND $1::bigint > 0`,
			"/chess-club/manage", timelines.Private, "admitted", "/chess-club/dismiss",
		},
		"requests to a group": {`INSERT INTO subscription_requests (subscriber_id, account_id)
			SELECT id, $2 FROM accounts WHERE name LIKE 'm-%' AND $1::bigint > 0`, "/chess-club/manage", timelines.Private, "requests", "/accept"},
		"requests": {`INSERT INTO subscription_requests (subscriber_id, account_id)
			SELECT id, $1 FROM accounts WHERE name LIKE 'm-%' AND $2::bigint > 0`, "/settings", timelines.Public, "requests", "/accept"},
		"requests beside people": {`INSERT INTO subscription_requests (subscriber_id, account_id)
			SELECT id, $2 FROM accounts WHERE name LIKE 'm-%' AND $1::bigint > 0`, "/people", timelines.Private, "requests", "/accept"},
		"banned": {`INSERT INTO bans (account_id, banned_id)
			SELECT $1, id FROM accounts WHERE name LIKE 'm-%' AND $2::bigint > 0`, "/settings/hidden", timelines.Public, "banned", "/unban"},
		"hidden": {`INSERT INTO hidden_accounts (account_id, hidden_id)
			SELECT $1, id FROM accounts WHERE name LIKE 'm-%' AND $2::bigint > 0`, "/settings/hidden", timelines.Public, "accounts", "/unhide"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := webtest.New(t, nil)
			person := s.Person("anna")
			anna := person.Visitor()
			anna.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", tc.level.String()).LeadsTo("/chess-club")
			club, err := s.Store.Accounts.ByName(t.Context(), "chess-club")
			if err != nil {
				t.Fatal(err)
			}
			want := crowd(s, more, tc.statement, person.Account.ID, club.ID)
			found := readParts(t, anna, tc.address, tc.list, tc.act)
			if !slices.Equal(found, want) {
				t.Errorf("%d of %d are shown: %v", len(found), len(want), found)
			}
			anna.Get(tc.address + "?" + tc.list + "=%00").Wants(404)
			anna.Get(tc.address + "?" + tc.list + "=1.m-1.%00").Wants(404)
		})
	}
}

// readParts follows a list from part to part and returns whom its forms are about.
func readParts(t *testing.T, v *webtest.Visitor, address, list, act string) (found []string) {
	t.Helper()
	for parts := 0; address != ""; parts++ {
		if parts > 3 {
			t.Fatal("there is always more")
		}
		a := v.Get(address).Wants(200)
		section := section(t, a.Body, list)
		forms := strings.Split(section, "<form ")[1:]
		n := 0
		for _, form := range forms {
			if !strings.Contains(form, act+`"`) {
				continue
			}
			form, _, _ = strings.Cut(form, "</form>")
			name := regexp.MustCompile(`m-\d{4}`).FindString(form)
			if name == "" {
				continue // anna herself, among administrators
			}
			n++
			found = append(found, name)
			back := regexp.MustCompile(`name="back" value="([^"]*)"`).FindStringSubmatch(form)
			if back != nil && !strings.HasPrefix(strings.ReplaceAll(back[1], "&amp;", "&"), address) {
				t.Errorf("in the part at %s a form leads back to %s", address, back[1])
			}
		}
		if n == 0 || n > view.DirectoryPage {
			t.Errorf("the part at %s has %d forms", address, n)
		}
		address = ""
		if m := nextLink.FindStringSubmatch(section); m != nil {
			var id string
			address, id, _ = strings.Cut(strings.ReplaceAll(m[1], "&amp;", "&"), "#")
			if id != list {
				t.Errorf("the next part is at %s, want it at #%s", m[1], list)
			}
		}
	}
	return found
}

// section returns the part of a page that has this id: up to what follows it.
func section(t *testing.T, body, id string) string {
	t.Helper()
	_, rest, ok := strings.Cut(body, `id="`+id+`"`)
	if !ok {
		t.Fatalf("no %q in %s", id, body)
	}
	for _, end := range []string{"</section>", "<h2>Members"} {
		rest, _, _ = strings.Cut(rest, end)
	}
	return rest
}

// A feed's own page of readers shows as many as it always did, and then the rest.
func TestReadersOfFeedsInParts(t *testing.T) {
	for _, level := range []timelines.Level{timelines.Private, timelines.Protected} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			s := webtest.New(t, nil)
			person := s.Person("anna")
			anna := person.Visitor()
			anna.Post("/settings/pages", "title", "Photos", "slug", "photos", "access", level.String()).Wants(303)
			table, act := "readers", "/settings/pages/remove"
			if level == timelines.Protected {
				table, act = "excluded", "/settings/pages/unexclude"
			}
			want := crowd(s, timelines.ShownReaders+view.DirectoryPage+5, `INSERT INTO `+table+` (timeline_id, account_id)
				SELECT t.id, a.id FROM accounts a, timelines t WHERE a.name LIKE 'm-%' AND t.their_id = $1 AND t.term = 'photos'`, person.Account.ID)
			found, address := []string(nil), "/settings/pages"
			for parts := 0; address != "" && parts < 5; parts++ {
				section := section(t, anna.Get(address).Wants(200).Body, "page-photos")
				for _, form := range strings.Split(section, `action="`+act+`"`)[1:] {
					found = append(found, regexp.MustCompile(`m-\d{4}`).FindString(form))
				}
				address = ""
				if m := nextLink.FindStringSubmatch(section); m != nil {
					address, _, _ = strings.Cut(m[1], "#")
				}
			}
			if !slices.Equal(found, want) {
				t.Errorf("%d of %d are shown: %v", len(found), len(want), found)
			}
			anna.Get("/settings/pages?page-photos=%00").Wants(404)
		})
	}
}

// Hidden posts are listed with the last hidden first.
func TestHiddenPostsInParts(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	const more = view.DirectoryPage + 3
	var want []string
	for range more {
		code := bob.Post("to be hidden").Code
		want = append(want, code)
		if _, _, err := s.Store.Hides.HidePost(t.Context(), anna.Account.ID, code); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(want)
	v := anna.Visitor()
	first := section(t, v.Get("/settings/hidden").Wants(200).Body, "posts")
	next := nextLink.FindStringSubmatch(first)
	if next == nil {
		t.Fatal("no way to the rest")
	}
	address, _, _ := strings.Cut(next[1], "#")
	rest := section(t, v.Get(address).Wants(200).Body, "posts")
	var found []string
	for _, m := range regexp.MustCompile(`action="/p/([0-9a-z]{10})/unhide"`).FindAllStringSubmatch(first+rest, -1) {
		found = append(found, m[1])
	}
	if !slices.Equal(found, want) {
		t.Errorf("%d of %d are shown: %v", len(found), more, found)
	}
	v.Post("/p/"+want[more-1]+"/unhide", "back", address).LeadsTo(address)
	for _, bad := range []string{"x", "1", "1.%00", "-1." + want[0], "99999999999999999999." + want[0]} {
		v.Get("/settings/hidden?posts=" + bad).Wants(404)
	}
}
