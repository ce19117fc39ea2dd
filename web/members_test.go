package web

import (
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/web/view"
)

// TestMembersPage is looked at by everybody who may and may not.
func TestMembersPage(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, carol, nobody := s.person("anna").visitor(), s.person("bob").visitor(), s.person("carol").visitor(), s.visitor()
	anna.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	bob.post("/chess-club/follow").leadsTo("/chess-club")
	acts := []string{"/chess-club/promote", "/chess-club/block", "/chess-club/remove", "/chess-club/manage"}

	anna.get("/chess-club").wants(200).has("2 members", "/chess-club/members", "/chess-club/manage")
	anna.get("/chess-club/members").wants(200).has(`href="/bob"`, `href="/anna"`).has(acts...)
	acts = append(acts, "/chess-club/demote", "A group needs an administrator")
	for _, v := range []*visitor{bob, carol, nobody} {
		v.get("/chess-club").wants(200).has("2 members", "/chess-club/members").lacks("/chess-club/manage")
		v.get("/chess-club/members").wants(200).has(`href="/bob"`, `href="/anna"`, "Administrators").lacks(acts...)
	}
	ru := s.visitor()
	ru.header.Set("Accept-Language", "ru")
	ru.get("/chess-club").has("2 участника")
	ru.get("/chess-club/members").has("Администраторы", "Участники")

	// A closed group's members are as closed as the group.
	anna.post("/settings/access", "group", "chess-club", "level", "private").leadsTo("/chess-club/manage?saved")
	bob.get("/chess-club/members").wants(200)
	carol.get("/chess-club/members").wants(403).has("/chess-club/follow").lacks(`href="/bob"`, "2 members")
	nobody.get("/chess-club/members").wants(403).has("/login").lacks(`href="/bob"`, "2 members")
	anna.get("/anna/members").wants(404)
	anna.get("/nobody-here/members").wants(404)
}

// A group's only administrator is told why they cannot step down, and is not counted
// as a member after leaving.
func TestTheOnlyAdministrator(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna").visitor(), s.person("bob").visitor()
	anna.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	const why = "You can step down when someone else is one too"
	anna.get("/chess-club/members").has(why, "There are no other members.").lacks("/chess-club/demote", "Step down")
	bob.get("/chess-club/members").lacks(why)
	anna.post("/chess-club/unfollow").leadsTo("/chess-club")
	for _, v := range []*visitor{anna, bob} {
		v.get("/chess-club").wants(200).has("0 members")
		v.get("/chess-club/members").wants(200).has(`href="/anna"`, "There are no members.").lacks("There are no other")
	}
	bob.post("/chess-club/follow").leadsTo("/chess-club")
	anna.post("/chess-club/promote", "name", "bob").leadsTo("/chess-club/members")
	for _, v := range []*visitor{anna, bob} {
		v.get("/chess-club/members").has("/chess-club/demote", "Step down", "There are no other members.").lacks(why)
	}
}

func TestMembersPageIsPaged(t *testing.T) {
	s := newLiveSite(t, nil)
	anna := s.person("anna").visitor()
	anna.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	const members = view.DirectoryPage + 5
	for i := range members {
		a, err := s.db.Primary.Exec(t.Context(), `WITH a AS (INSERT INTO accounts (kind, name, title) VALUES ('user', $1, $1) RETURNING id),
			f AS (INSERT INTO timelines (kind, their_id, writers) SELECT k, id, CASE k WHEN 'directs' THEN 'anyone' ELSE '' END
				FROM a, unnest(ARRAY['feed', 'directs']) k)
			INSERT INTO subscriptions (subscriber_id, account_id) SELECT a.id, g.id FROM a, accounts g WHERE g.name = 'chess-club'`,
			"m-"+strconv.Itoa(1000+i))
		if err != nil || a.RowsAffected() != 1 {
			t.Fatal(a, err)
		}
	}
	first := anna.get("/chess-club/members").wants(200).has("Administrators", "/chess-club/members?after=m-"+strconv.Itoa(999+view.DirectoryPage))
	if n := strings.Count(first.body, `href="/m-`); n != view.DirectoryPage {
		t.Errorf("the first page has %d members, want %d", n, view.DirectoryPage)
	}
	rest := anna.get("/chess-club/members?after=m-"+strconv.Itoa(999+view.DirectoryPage)).wants(200).
		has(`name="back" value="/chess-club/members?after=m-`+strconv.Itoa(999+view.DirectoryPage)).lacks("Administrators", `rel="next"`)
	if n := strings.Count(rest.body, `href="/m-`); n != members-view.DirectoryPage {
		t.Errorf("the second page has %d members, want %d", n, members-view.DirectoryPage)
	}
	anna.get("/chess-club/members?after=%00").wants(404)
}

func TestRunningAGroup(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, carol := s.person("anna").visitor(), s.person("bob").visitor(), s.person("carol").visitor()
	anna.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "private").leadsTo("/chess-club")

	// The page is the administrators'.
	anna.get("/chess-club/manage").wants(200).has("Chess Club", "Who can post", "Only members", `value="members" checked`)
	bob.get("/chess-club/manage").wants(403)
	s.visitor().get("/chess-club/manage").leadsTo("/login?back=%2Fchess-club%2Fmanage")
	anna.get("/anna/manage").wants(404)
	anna.get("/settings").wants(200).has("/chess-club/manage").lacks(`name="group"`)

	// Requests.
	bob.post("/chess-club/follow").leadsTo("/chess-club")
	carol.post("/chess-club/follow").leadsTo("/chess-club")
	anna.get("/chess-club/manage").has("/bob/accept", "/bob/decline", "/carol/accept")
	carol.post("/bob/decline", "group", "chess-club").wants(403)
	anna.post("/carol/decline", "group", "chess-club", "back", "/chess-club/manage").leadsTo("/chess-club/manage")
	anna.post("/carol/decline", "group", "chess-club").wants(404)
	anna.get("/chess-club/manage").has("/bob/accept").lacks("/carol/")
	carol.get("/chess-club").wants(403).has("Request to join").lacks("Request sent")
	anna.post("/bob/accept", "group", "chess-club", "back", "/chess-club/manage").leadsTo("/chess-club/manage")
	bob.get("/chess-club").wants(200).has("2 members")

	// Words and rules.
	anna.post("/chess-club/manage", "title", "", "about", "Kept").wants(422).has("Fill this in", "Kept")
	anna.post("/chess-club/manage", "title", "Chess!", "about", "Openings.").leadsTo("/chess-club/manage?saved")
	anna.get("/chess-club/manage?saved").has("Saved.", "Chess!", "Openings.")
	bob.get("/chess-club").has("Chess!", "Openings.", `class="composer"`)
	bob.post("/chess-club/manage", "title", "Mine").wants(403)
	anna.post("/settings/writing", "group", "chess-club", "writers", "mutual").wants(422).has("Choose who can write", "Chess!")
	anna.post("/settings/access", "group", "chess-club", "level", "secret").wants(422).has("Choose who can read", "Chess!")
	bob.post("/settings/writing", "group", "chess-club", "writers", "anyone").wants(403)
	bob.post("/settings/writing", "group", "chess-club", "writers", "x").wants(403)
	anna.post("/settings/writing", "group", "chess-club", "writers", "admins").leadsTo("/chess-club/manage?saved")
	bob.get("/chess-club").wants(200).has("Only administrators can post here").lacks(`class="composer"`)
	bob.get("/").lacks(`value="chess-club"`)
	bob.post("/posts", "body", "Kept text", "to", "chess-club").wants(422).has("Kept text", "can’t write to “chess-club”")
	anna.get("/chess-club").has(`class="composer"`)

	// Several administrators.
	anna.post("/chess-club/promote", "name", "carol").wants(422).has("“carol” isn’t a member", "Administrators")
	anna.post("/chess-club/promote", "name", "nobody-here").wants(422).has("Nobody here is called “nobody-here”")
	anna.post("/chess-club/demote", "name", "anna").wants(422).has("needs an administrator")
	bob.post("/chess-club/promote", "name", "bob").wants(403)
	anna.post("/chess-club/promote", "name", "bob").leadsTo("/chess-club/members")
	bob.get("/chess-club").has(`class="composer"`, "You’re an administrator", "/chess-club/manage")
	bob.post("/chess-club/demote", "name", "anna").leadsTo("/chess-club/members")
	anna.get("/chess-club/manage").wants(403)
	anna.get("/chess-club").wants(200).lacks(`class="composer"`)
	bob.post("/chess-club/remove", "name", "bob").wants(422).has("“bob” is an administrator")
	bob.post("/chess-club/remove", "name", "anna").leadsTo("/chess-club/members")
	anna.get("/chess-club").wants(403)
	bob.get("/chess-club").has("1 member")
}

func TestBlocking(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna").visitor(), s.person("bob").visitor()
	anna.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	anna.post("/posts", "body", "An opening", "to", "chess-club").leadsTo("/")
	bob.post("/chess-club/follow")
	code := bob.get("/chess-club").has(`class="composer"`).code()
	bob.get("/").has(`value="chess-club"`)

	anna.post("/chess-club/block", "name", "nobody-here", "back", "/chess-club/manage").wants(422).
		has("Nobody here is called “nobody-here”", `value="nobody-here"`, "Blocked from writing")
	anna.post("/chess-club/block", "name", "", "back", "/chess-club/manage").wants(422)
	anna.post("/chess-club/block", "name", " @Bob", "back", "/chess-club/manage").leadsTo("/chess-club/manage")
	anna.get("/chess-club/manage").has(`href="/bob"`, "/chess-club/unblock")
	anna.get("/chess-club/members").has("can’t write")
	s.person("carol").visitor().get("/chess-club/members").lacks("can’t write")
	bob.get("/chess-club/members").lacks("can’t write")

	bob.get("/chess-club").wants(200).has("An opening", "blocked you from writing").lacks(`class="composer"`)
	bob.get("/").lacks(`value="chess-club"`)
	bob.post("/posts", "body", "Kept text", "to", "chess-club").wants(422).has("Kept text", "can’t write to")
	bob.post("/p/"+code+"/comments", "body", "But").wants(403).has("blocked you from writing")
	bob.header.Set("Accept", "application/json")
	bob.post("/p/"+code+"/comments", "body", "But").wants(403).has("blocked you from writing")
	bob.header.Del("Accept")
	bob.header.Set("Accept-Language", "ru")
	bob.post("/p/"+code+"/comments", "body", "Но").wants(403).has("запретили вам писать")
	bob.header.Del("Accept-Language")
	bob.post("/p/" + code + "/like").leadsTo("/p/" + code)

	anna.post("/chess-club/unblock", "name", "bob").leadsTo("/chess-club/members")
	bob.get("/chess-club").has(`class="composer"`)
	bob.post("/p/"+code+"/comments", "body", "But", "back", "/").leadsTo("/")
}

func TestWhoMayWriteMe(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna").visitor(), s.person("bob").visitor()
	const form = `name="back" value="/filter/messages"`
	anna.get("/settings").wants(200).has("Who can send you messages", `value="anyone" checked`)
	bob.get("/anna").has(form)
	anna.post("/settings/writing", "writers", "members").wants(422).has("Choose who can write")
	for _, tt := range []struct {
		who                   timelines.Writers
		form, stranger, after string
	}{
		{timelines.WritersFollowed, form, "can’t write to “anna”", ""},
		{timelines.WritersMutual, "", "can’t write to “anna”", "can’t write to “anna”"},
		{timelines.WritersNobody, "", "can’t write to “anna”", "can’t write to “anna”"},
		{timelines.WritersAnyone, form, "", ""},
	} {
		anna.post("/settings/writing", "writers", string(tt.who)).leadsTo("/settings?saved")
		anna.get("/settings").has(`value="` + string(tt.who) + `" checked`)
		page := bob.get("/anna").wants(200)
		if tt.form == "" {
			page.lacks(form)
		} else {
			page.has(form)
		}
		for follows, refused := range map[bool]string{false: tt.stranger, true: tt.after} {
			anna.post("/bob/" + map[bool]string{false: "unfollow", true: "follow"}[follows])
			a := bob.post("/posts", "body", "Between us", "to", "anna", "direct", "1", "back", "/filter/messages")
			if refused == "" {
				a.leadsTo("/filter/messages")
			} else {
				a.wants(422).has("Between us", refused)
			}
		}
	}
}

// What takes something away asks once, without a script, and stands apart from what
// gives, which asks nothing.
func TestTakingAwayAsks(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, carol := s.person("anna").visitor(), s.person("bob").visitor(), s.person("carol").visitor()
	anna.post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").leadsTo("/chess-club")
	bob.post("/chess-club/follow").leadsTo("/chess-club")
	carol.post("/chess-club/follow").leadsTo("/chess-club")
	anna.post("/chess-club/promote", "name", "bob").leadsTo("/chess-club/members")
	anna.post("/settings/pages", "title", "Photos", "slug", "photos", "access", "public").leadsTo("/settings/pages?saved#page-photos")

	// asks: how often a form stands folded with a question, and how often without one.
	asks := func(body, action string) (asked, plain int) {
		parts := strings.Split(body, `action="`+action+`"`)
		before := ""
		for _, part := range parts[:len(parts)-1] {
			before += part
			if strings.LastIndex(before, `<details class="ask">`) > strings.LastIndex(before, `</details>`) {
				asked++
			} else {
				plain++
			}
		}
		return asked, plain
	}
	members := anna.get("/chess-club/members").wants(200).has("will no longer be an administrator", "You’ll no longer be an administrator", "carol will no longer be a member").body
	feeds := anna.get("/settings/pages").wants(200).body
	for _, c := range []struct {
		body, action   string
		asked, unasked int
	}{
		{members, "/chess-club/demote", 2, 0},
		{members, "/chess-club/remove", 1, 0},
		{members, "/chess-club/promote", 0, 1},
		{members, "/chess-club/block", 0, 1},
		{feeds, "/settings/pages/delete", 1, 0},
	} {
		if asked, plain := asks(c.body, c.action); asked != c.asked || plain != c.unasked {
			t.Errorf("%s: %d forms ask and %d do not, want %d and %d", c.action, asked, plain, c.asked, c.unasked)
		}
	}
}
