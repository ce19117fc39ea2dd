package web_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// TestMembersPage is looked at by everybody who may and may not.
func TestMembersPage(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, carol, nobody := s.Person("anna").Visitor(), s.Person("bob").Visitor(), s.Person("carol").Visitor(), s.Visitor()
	anna.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	bob.Post("/chess-club/follow").LeadsTo("/chess-club")
	acts := []string{"/chess-club/promote", "/chess-club/block", "/chess-club/remove", "/chess-club/manage"}

	anna.Get("/chess-club").Wants(200).Has("<b>2</b> members", "/chess-club/members", "/chess-club/manage")
	anna.Get("/chess-club/members").Wants(200).Has(`href="/bob"`, `href="/anna"`).Has(acts...)
	acts = append(acts, "/chess-club/demote", "A group needs an administrator")
	for _, v := range []*webtest.Visitor{bob, carol, nobody} {
		v.Get("/chess-club").Wants(200).Has("<b>2</b> members", "/chess-club/members").Lacks("/chess-club/manage")
		v.Get("/chess-club/members").Wants(200).Has(`href="/bob"`, `href="/anna"`, "Administrators").Lacks(acts...)
	}
	ru := s.Visitor()
	ru.Header.Set("Accept-Language", "ru")
	ru.Get("/chess-club").Has("<b>2</b> участника")
	ru.Get("/chess-club/members").Has("Администраторы", "Участники")

	// A closed group's members are as closed as the group.
	anna.Post("/settings/access", "group", "chess-club", "level", "private").LeadsTo("/chess-club/manage?saved")
	bob.Get("/chess-club/members").Wants(200)
	carol.Get("/chess-club/members").Wants(403).Has("/chess-club/follow").Lacks(`href="/bob"`, "2 members")
	nobody.Get("/chess-club/members").Wants(403).Has("/login").Lacks(`href="/bob"`, "2 members")
	anna.Get("/anna/members").Wants(404)
	anna.Get("/nobody-here/members").Wants(404)
}

// A group's only administrator is told why they cannot step down, and is not counted
// as a member after leaving.
func TestTheOnlyAdministrator(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna").Visitor(), s.Person("bob").Visitor()
	anna.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	const why = "You can step down when someone else is one too"
	anna.Get("/chess-club/members").Has(why, "There are no other members.").Lacks("/chess-club/demote", "Step down")
	bob.Get("/chess-club/members").Lacks(why)
	anna.Post("/chess-club/unfollow").LeadsTo("/chess-club")
	for _, v := range []*webtest.Visitor{anna, bob} {
		v.Get("/chess-club").Wants(200).Lacks("</b> member")
		v.Get("/chess-club/members").Wants(200).Has(`href="/anna"`, "There are no members.").Lacks("There are no other")
	}
	bob.Post("/chess-club/follow").LeadsTo("/chess-club")
	anna.Post("/chess-club/promote", "name", "bob").LeadsTo("/chess-club/members")
	for _, v := range []*webtest.Visitor{anna, bob} {
		v.Get("/chess-club/members").Has("/chess-club/demote", "Step down", "There are no other members.").Lacks(why)
	}
}

func TestMembersPageIsPaged(t *testing.T) {
	s := webtest.New(t, nil)
	anna := s.Person("anna").Visitor()
	anna.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	const members = view.DirectoryPage + 5
	for i := range members {
		a, err := s.DB.Primary.Exec(t.Context(), `WITH a AS (INSERT INTO accounts (kind, name, title) VALUES ('user', $1, $1) RETURNING id),
			f AS (INSERT INTO timelines (kind, their_id, writers) SELECT k, id, CASE k WHEN 'directs' THEN 'anyone' ELSE '' END
				FROM a, unnest(ARRAY['feed', 'directs']) k)
			INSERT INTO subscriptions (subscriber_id, account_id) SELECT a.id, g.id FROM a, accounts g WHERE g.name = 'chess-club'`,
			"m-"+strconv.Itoa(1000+i))
		if err != nil || a.RowsAffected() != 1 {
			t.Fatal(a, err)
		}
	}
	first := anna.Get("/chess-club/members").Wants(200).Has("Administrators", "/chess-club/members?after=m-"+strconv.Itoa(999+view.DirectoryPage))
	if n := strings.Count(first.Body, `class="who" href="/m-`); n != view.DirectoryPage {
		t.Errorf("the first page has %d members, want %d", n, view.DirectoryPage)
	}
	rest := anna.Get("/chess-club/members?after=m-"+strconv.Itoa(999+view.DirectoryPage)).Wants(200).
		Has(`name="back" value="/chess-club/members?after=m-`+strconv.Itoa(999+view.DirectoryPage)).Lacks("Administrators", `rel="next"`)
	if n := strings.Count(rest.Body, `class="who" href="/m-`); n != members-view.DirectoryPage {
		t.Errorf("the second page has %d members, want %d", n, members-view.DirectoryPage)
	}
	anna.Get("/chess-club/members?after=%00").Wants(404)
}

// People and groups are listed by what they are called, page by page, and found by it.
func TestDirectories(t *testing.T) {
	s := webtest.New(t, nil)
	v := s.Person("zoe").Visitor()
	v.Post("/settings", "title", "Anna Lind")
	s.Person("anna").Visitor().Post("/settings", "title", "zebra")
	s.Person("mid").Visitor().Post("/settings", "title", "Боб")
	page := v.Get("/people").Wants(200).Body
	if a, b, c := strings.Index(page, ">Anna Lind<"), strings.Index(page, ">zebra<"), strings.Index(page, ">Боб<"); a < 0 || a > b || b > c {
		t.Errorf("Anna Lind stands at %d, zebra at %d, Боб at %d", a, b, c)
	}
	v.Get("/people?q=ann").Wants(200).Has("@anna", "@zoe").Lacks("@mid", `rel="next"`)
	v.Get("/people?q=nobody+of+that").Wants(200).Has("Nobody is called that", "Show all")
	v.Get("/people?q=" + strings.Repeat("a", 1000)).Wants(200).Has("This search is too long")
	v.Post("/groups", "name", "zzz", "title", "Alpha", "access", "public").LeadsTo("/zzz")
	v.Post("/groups", "name", "aaa", "title", "omega", "access", "public").LeadsTo("/aaa")
	all := v.Get("/groups").Wants(200).Body
	if _, rest, _ := strings.Cut(all, "All groups"); strings.Index(rest, ">Alpha<") > strings.Index(rest, ">omega<") {
		t.Error("omega stands above Alpha")
	}
	v.Get("/groups?q=alp").Wants(200).Has(">Alpha<", `value="alp"`).Lacks("All groups", "Create a group")
	v.Get("/groups?q=ann").Wants(200).Has("No group is called that")

	// A form in a list leads back to it.
	v.Get("/people").Has(`action="/anna/follow"`, `name="back" value="/people"`)
	v.Post("/anna/follow", "back", "/people").LeadsTo("/people")
	v.Get("/people").Has(`action="/anna/unfollow"`).Lacks(`action="/zoe/follow"`)

	for i := range view.DirectoryPage + 3 {
		s.Person(fmt.Sprintf("p-%03d", i)).Visitor().Post("/settings", "title", fmt.Sprintf("Same %d", i/2))
	}
	seen := map[string]int{}
	for address := "/people"; address != ""; {
		body := v.Get(address).Wants(200).Body
		_, main, _ := strings.Cut(body, "<main")
		for _, m := range regexp.MustCompile(`class="who" href="/([a-z0-9-]+)"`).FindAllStringSubmatch(main, -1) {
			seen[m[1]]++
		}
		address = ""
		if m := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(main); m != nil {
			address = m[1]
		}
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s is listed %d times", name, n)
		}
	}
	if want := view.DirectoryPage + 6; len(seen) != want {
		t.Errorf("%d people are listed, want %d", len(seen), want)
	}
}

func TestManagingAGroup(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, carol := s.Person("anna").Visitor(), s.Person("bob").Visitor(), s.Person("carol").Visitor()
	anna.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "private").LeadsTo("/chess-club")

	// The page is the administrators'.
	anna.Get("/chess-club/manage").Wants(200).Has("Chess Club", "Who can post", "Only members", `value="members" checked`)
	bob.Get("/chess-club/manage").Wants(403)
	s.Visitor().Get("/chess-club/manage").LeadsTo("/login?back=%2Fchess-club%2Fmanage")
	anna.Get("/anna/manage").Wants(404)
	anna.Get("/settings").Wants(200).Has("/chess-club/manage").Lacks(`name="group"`)

	// Requests.
	bob.Post("/chess-club/follow").LeadsTo("/chess-club")
	carol.Post("/chess-club/follow").LeadsTo("/chess-club")
	anna.Get("/chess-club/manage").Has("/bob/accept", "/bob/decline", "/carol/accept")
	carol.Post("/bob/decline", "group", "chess-club").Wants(403)
	anna.Post("/carol/decline", "group", "chess-club", "back", "/chess-club/manage").LeadsTo("/chess-club/manage")
	anna.Post("/carol/decline", "group", "chess-club").Wants(404)
	anna.Get("/chess-club/manage").Has("/bob/accept").Lacks("/carol/")
	carol.Get("/chess-club").Wants(403).Has("Request to join").Lacks("Request sent")
	anna.Post("/bob/accept", "group", "chess-club", "back", "/chess-club/manage").LeadsTo("/chess-club/manage")
	bob.Get("/chess-club").Wants(200).Has("<b>2</b> members")

	// Words and rules.
	anna.Post("/chess-club/manage", "title", "", "about", "Kept").Wants(422).Has("Fill this in", "Kept")
	anna.Post("/chess-club/manage", "title", "Chess!", "about", "Openings.").LeadsTo("/chess-club/manage?saved")
	anna.Get("/chess-club/manage?saved").Has("Saved.", "Chess!", "Openings.")
	bob.Get("/chess-club").Has("Chess!", "Openings.", `class="composer"`)
	bob.Post("/chess-club/manage", "title", "Mine").Wants(403)
	anna.Post("/settings/writing", "group", "chess-club", "writers", "mutual").Wants(422).Has("Choose who can write", "Chess!")
	anna.Post("/settings/access", "group", "chess-club", "level", "secret").Wants(422).Has("Choose who can read", "Chess!")
	bob.Post("/settings/writing", "group", "chess-club", "writers", "anyone").Wants(403)
	bob.Post("/settings/writing", "group", "chess-club", "writers", "x").Wants(403)
	anna.Post("/settings/writing", "group", "chess-club", "writers", "admins").LeadsTo("/chess-club/manage?saved")
	bob.Get("/chess-club").Wants(200).Has("Only administrators can post here").Lacks(`class="composer"`)
	bob.Get("/").Lacks(`value="chess-club"`)
	bob.Post("/posts", "body", "Kept text", "to", "chess-club").Wants(422).Has("Kept text", "can’t write to “chess-club”")
	anna.Get("/chess-club").Has(`class="composer"`)

	// Several administrators.
	anna.Post("/chess-club/promote", "name", "carol").Wants(422).Has("“carol” isn’t a member", "Administrators")
	anna.Post("/chess-club/promote", "name", "nobody-here").Wants(422).Has("Nobody here is called “nobody-here”")
	anna.Post("/chess-club/demote", "name", "anna").Wants(422).Has("needs an administrator")
	bob.Post("/chess-club/promote", "name", "bob").Wants(403)
	anna.Post("/chess-club/promote", "name", "bob").LeadsTo("/chess-club/members")
	bob.Get("/chess-club").Has(`class="composer"`, "You’re an administrator", "/chess-club/manage")
	bob.Post("/chess-club/demote", "name", "anna").LeadsTo("/chess-club/members")
	anna.Get("/chess-club/manage").Wants(403)
	anna.Get("/chess-club").Wants(200).Lacks(`class="composer"`)
	bob.Post("/chess-club/remove", "name", "bob").Wants(422).Has("“bob” is an administrator")
	bob.Post("/chess-club/remove", "name", "anna").LeadsTo("/chess-club/members")
	anna.Get("/chess-club").Wants(403)
	bob.Get("/chess-club").Has("<b>1</b> member")
}

func TestBlocking(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna").Visitor(), s.Person("bob").Visitor()
	anna.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	anna.Post("/posts", "body", "An opening", "to", "chess-club").LeadsTo("/")
	bob.Post("/chess-club/follow")
	code := bob.Get("/chess-club").Has(`class="composer"`).Code()
	bob.Get("/").Has(`value="chess-club"`)

	anna.Post("/chess-club/block", "name", "nobody-here", "back", "/chess-club/manage").Wants(422).
		Has("Nobody here is called “nobody-here”", `value="nobody-here"`, "Blocked from writing")
	anna.Post("/chess-club/block", "name", "", "back", "/chess-club/manage").Wants(422)
	anna.Post("/chess-club/block", "name", " @Bob", "back", "/chess-club/manage").LeadsTo("/chess-club/manage")
	anna.Get("/chess-club/manage").Has(`href="/bob"`, "/chess-club/unblock")
	anna.Get("/chess-club/members").Has("can’t write")
	s.Person("carol").Visitor().Get("/chess-club/members").Lacks("can’t write")
	bob.Get("/chess-club/members").Lacks("can’t write")

	bob.Get("/chess-club").Wants(200).Has("An opening", "blocked you from writing").Lacks(`class="composer"`)
	bob.Get("/").Lacks(`value="chess-club"`)
	bob.Post("/posts", "body", "Kept text", "to", "chess-club").Wants(422).Has("Kept text", "can’t write to")
	bob.Post("/p/"+code+"/comments", "body", "But").Wants(403).Has("blocked you from writing")
	bob.Header.Set("Accept", "application/json")
	bob.Post("/p/"+code+"/comments", "body", "But").Wants(403).Has("blocked you from writing")
	bob.Header.Del("Accept")
	bob.Header.Set("Accept-Language", "ru")
	bob.Post("/p/"+code+"/comments", "body", "Но").Wants(403).Has("запретили вам писать")
	bob.Header.Del("Accept-Language")
	bob.Post("/p/" + code + "/like").LeadsTo("/p/" + code)

	anna.Post("/chess-club/unblock", "name", "bob").LeadsTo("/chess-club/members")
	bob.Get("/chess-club").Has(`class="composer"`)
	bob.Post("/p/"+code+"/comments", "body", "But", "back", "/").LeadsTo("/")
}

func TestWhoMayMessageMe(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna").Visitor(), s.Person("bob").Visitor()
	const form = `href="/filter/messages?to=anna"`
	anna.Get("/settings").Wants(200).Has("Who can send you messages", `value="anyone" checked`)
	bob.Get("/anna").Has(form)
	anna.Post("/settings/writing", "writers", "members").Wants(422).Has("Choose who can write")
	for _, tt := range []struct {
		who                   timelines.Writers
		form, stranger, after string
	}{
		{timelines.WritersFollowed, form, "can’t write to “anna”", ""},
		{timelines.WritersMutual, "", "can’t write to “anna”", "can’t write to “anna”"},
		{timelines.WritersNobody, "", "can’t write to “anna”", "can’t write to “anna”"},
		{timelines.WritersAnyone, form, "", ""},
	} {
		anna.Post("/settings/writing", "writers", string(tt.who)).LeadsTo("/settings?saved")
		anna.Get("/settings").Has(`value="` + string(tt.who) + `" checked`)
		page := bob.Get("/anna").Wants(200)
		if tt.form == "" {
			page.Lacks(form)
		} else {
			page.Has(form)
		}
		for follows, refused := range map[bool]string{false: tt.stranger, true: tt.after} {
			anna.Post("/bob/" + map[bool]string{false: "unfollow", true: "follow"}[follows])
			a := bob.Post("/posts", "body", "Between us", "to", "anna", "direct", "1", "back", "/filter/messages")
			if refused == "" {
				a.LeadsTo("/filter/messages")
			} else {
				a.Wants(422).Has("Between us", refused)
			}
		}
	}
}

// A button that takes something away asks once, without a script, and stands apart from
// those that give, which ask nothing.
func TestRemovalsAskForConfirmation(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, carol := s.Person("anna").Visitor(), s.Person("bob").Visitor(), s.Person("carol").Visitor()
	anna.Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").LeadsTo("/chess-club")
	bob.Post("/chess-club/follow").LeadsTo("/chess-club")
	carol.Post("/chess-club/follow").LeadsTo("/chess-club")
	anna.Post("/chess-club/promote", "name", "bob").LeadsTo("/chess-club/members")
	anna.Post("/settings/pages", "title", "Photos", "slug", "photos", "access", "public").LeadsTo("/settings/pages?saved#page-photos")

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
	members := anna.Get("/chess-club/members").Wants(200).Has("will no longer be an administrator", "You’ll no longer be an administrator", "carol will no longer be a member").Body
	feeds := anna.Get("/settings/pages").Wants(200).Body
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
