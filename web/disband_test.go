package web_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/leaving"
	"riverrun/timelines/sources/dictionary"
	"riverrun/web/webtest"
)

// Nothing else has this number, name or these words.
const (
	clubID   = 8_888_888
	clubName = "skaters-club"
	clubSaid = "quokka"
)

// club is a group with about all that a group can have. alone stands only there, also in ann's feed too,
// sent is a message to bob too. mia administers the site.
func club(t *testing.T, s *webtest.Site, level string) (ann, bob, mia, eve *webtest.Person, alone, also, sent timelines.Change, file string) {
	t.Helper()
	ann, bob, eve = s.Person("ann"), s.Person("bob"), s.Person("eve")
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := s.DB.Primary.Exec(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	mia = s.Person("mia")
	inCharge(mia, admin.Administrator)
	exec(`ALTER TABLE accounts ALTER COLUMN id RESTART WITH ` + fmt.Sprint(clubID))
	a := ann.Visitor()
	a.Post("/groups", "name", clubName, "title", clubSaid+" Club", "access", "public").Wants(303)
	bob.Subscribe(clubName)
	bob.Subscribe("ann")
	ann.Subscribe("bob")
	a.PostFiles("/"+clubName+"/manage", []webtest.Upload{{Name: "club.png", Content: webtest.Photo(300, 200)}}, "title", clubSaid+" Club", "about", clubSaid).Wants(303)
	is, _ := timelines.ParseLevel(level)
	ann.SetAccess(clubName, is)
	alone = bob.Post(clubSaid+" alone #ice", clubName)
	also = ann.Post("walrus in both #ice", clubName, "ann")
	sent = ann.Post("walrus to bob and all", clubName, "bob")
	a.PostFiles("/posts", []webtest.Upload{{Name: "ice.png", Content: webtest.Photo(400, 300)}}, "body", clubSaid+" picture", "to", clubName).Wants(303)
	s.MakePictures()
	ann.Comment(alone.Code, clubSaid+" comment")
	ann.Like(alone.Code)
	bob.Like(also.Code)
	bob.Comment(also.Code, "a word there")
	for _, table := range []string{
		`INSERT INTO sources (owner_id, added_by, code, way, mode, title) SELECT $1::bigint, id, '0000000009', 'file', 'append', $2 FROM accounts WHERE name = 'ann'`,
		`INSERT INTO dictionary_words (owner_id, no, tag, word, first) VALUES ($1, 1, $2, $2, $2)`,
		`INSERT INTO group_blocks (group_id, account_id) SELECT $1::bigint, id FROM accounts WHERE name = 'eve' AND $2::text <> ''`,
		`INSERT INTO show_banned (group_id, account_id) SELECT $1::bigint, id FROM accounts WHERE name = 'bob' AND $2::text <> ''`,
		`INSERT INTO hidden_accounts (account_id, hidden_id) SELECT id, $1::bigint FROM accounts WHERE name = 'eve' AND $2::text <> ''`,
		`INSERT INTO origins (their_id, source, kind, external_id) VALUES ($1, 'friendfeed', 'account', $2)`,
		`INSERT INTO lists (account_id, slug, title) SELECT id, 'clubs', 'Clubs' FROM accounts WHERE name = 'bob' AND $1::bigint > 0 AND $2::text <> ''`,
		`INSERT INTO list_members (list_id, subscriber_id, account_id) SELECT l.id, l.account_id, $1::bigint FROM lists l WHERE l.slug = 'clubs' AND $2::text <> ''`,
		`INSERT INTO invitations (by_id, expires_at, uses, code) SELECT id, now() + interval '1 day', 1, repeat('B', 26) FROM accounts WHERE name = 'ann' AND $1::bigint > 0 AND $2::text <> ''`,
		`INSERT INTO invitations (by_id, expires_at, uses, code) SELECT id, now() + interval '1 day', 1, repeat('S', 26) FROM accounts WHERE name = 'mia' AND $1::bigint > 0 AND $2::text <> ''`,
		`INSERT INTO invitations (expires_at, uses, code) SELECT now() + interval '1 day', 1, repeat('C', 26) WHERE $1::bigint > 0 AND $2::text <> ''`,
		`INSERT INTO invitation_groups (invitation_id, group_id) SELECT id, $1::bigint FROM invitations WHERE $2::text <> ''`,
		`INSERT INTO subscription_requests (subscriber_id, account_id) SELECT id, $1::bigint FROM accounts WHERE name = 'eve' AND $2::text <> ''`,
	} {
		exec(table, clubID, clubSaid)
	}
	if err := s.DB.Primary.QueryRow(t.Context(), `SELECT code FROM files WHERE name = 'ice.png'`).Scan(&file); err != nil {
		t.Fatal(err)
	}
	return ann, bob, mia, eve, alone, also, sent, file
}

// clubRest lists the rows that still have the number, the name or a text of the club, but for those that
// stay on purpose.
func clubRest(t *testing.T, s *webtest.Site) (found []string) {
	t.Helper()
	rows, err := s.DB.Primary.Query(t.Context(), `
		SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname !~ '^river_' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 60 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	stays := map[string]string{
		"accounts": `kind = 'gone'`, "timelines": `kind = 'group'`, "unseen_accounts": `cause = 'leaving'`,
		"access_log": `true`, "acts": `kind = 'delete_group'`, "origins": `external_id LIKE 'sha256:%' AND title = ''`,
	}
	for _, table := range tables {
		which := "false"
		if stays[table] != "" {
			which = stays[table]
		}
		if inLog(table) {
			which = "true"
		}
		rows, err := s.DB.Primary.Query(t.Context(), `SELECT r::text FROM `+pgx.Identifier{table}.Sanitize()+` r
			WHERE (r::text ~* @words OR r::text ~ @id) AND NOT (`+which+`)`,
			pgx.StrictNamedArgs{"words": clubName + "|" + clubSaid, "id": fmt.Sprintf(`(^|\D)%d(\D|$)`, clubID)})
		if err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		left, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		for _, row := range left {
			found = append(found, table+": "+row)
		}
	}
	return found
}

var errDied = errors.New("died")

// dies is a process that ends after a commit, before pages follow it.
func dies(_ context.Context, _ timelines.Change, err error) (timelines.Change, error) {
	if err != nil {
		return timelines.Change{}, err
	}
	return timelines.Change{}, errDied
}

// R4 of the deletion of a group: as of the acknowledgement nobody sees anything of it, neither a member
// nor the author nor a stranger. Posts that are elsewhere stay there. It survives a death after any commit.
func TestAGroupIsDeleted(t *testing.T) {
	for _, level := range []string{"public", "protected", "private"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			s := webtest.New(t, nil)
			ctx, store, words := t.Context(), leaving.Open(s.Store), dictionary.Open(s.Store)
			ann, bob, _, eve, alone, also, sent, file := club(t, s, level)
			a, b, e, nobody := ann.Visitor(), bob.Visitor(), eve.Visitor(), s.Visitor()
			pages := []string{
				"/", "/everything", "/best", "/groups", "/people", "/ann", "/bob", "/tag/ice", "/filter/messages", "/filter/notifications", "/filter/discussions",
				"/settings", "/search?q=" + clubSaid, "/search?q=alone", "/p/" + also.Code, "/bob/likes", "/lists/clubs", "/welcome", "/settings/hidden", "/settings/sources", "/settings/invitations",
			}
			for _, v := range []*webtest.Visitor{a, b, e, nobody} {
				for _, address := range pages {
					v.Get(address)
				}
			}
			b.Get("/").Wants(200).Has(clubSaid+" alone", "walrus in both")
			b.Get("/files/" + file).Wants(200)
			open, here := s.Open(bob, "/"), s.Open(bob, "/"+clubName)
			if !open.Shows(alone.Code) || !here.Shows(also.Code) {
				t.Fatal("the pages do not show the posts")
			}

			tags, err := words.Propose(ctx, bob.Account.ID, []string{clubName}, "a "+clubSaid)
			if err != nil || len(tags) != 1 {
				t.Fatalf("tags that are proposed: %q, %v", tags, err)
			}
			nobody.Get("/" + clubName + "/delete").Wants(303)
			b.Get("/" + clubName + "/delete").Wants(403)
			b.Post("/"+clubName+"/delete", "confirm", clubName).Wants(403)
			b.Get("/" + clubName + "/manage").Wants(403)
			a.Get("/" + clubName + "/manage").Wants(200).Has("/" + clubName + "/delete")
			a.Get("/"+clubName+"/delete").Wants(200).Has("2 posts that stand only here", "2 posts that are elsewhere too", "2 members", "1 source", "@"+clubName+" again").Lacks("Reason")
			a.Post("/"+clubName+"/delete", "confirm", "another-club").Wants(422).Has("Type "+clubName, "another-club", "2 members")
			a.Post("/"+clubName+"/delete", "confirm", "\xff").Wants(422)
			a.Post("/"+clubName+"/delete", "confirm", "@"+clubName).LeadsTo("/groups?gone")

			// While a deletion is under way: nothing of the club, and the other posts.
			gone := func() {
				t.Helper()
				for _, v := range []*webtest.Visitor{a, b, e, nobody} {
					for _, address := range pages {
						v.Get(address).Lacks(clubName, clubSaid+" alone", clubSaid+" picture", clubSaid+" comment", clubSaid+" Club")
					}
					v.Get("/" + clubName).Wants(404)
					v.Get("/" + clubName + "/members").Wants(404)
					v.Get("/p/" + alone.Code).Wants(404)
					v.Get("/files/" + file).Wants(404)
					v.Get("/feeds/" + clubName + ".atom").Wants(404)
					v.Get("/p/"+also.Code).Wants(200).Has("walrus in both", "a word there")
				}
				a.Get("/p/"+also.Code+"/edit").Wants(200).Has("walrus in both").Lacks(clubName, clubSaid)
				a.Get("/").Has("walrus in both")
				b.Get("/").Has("walrus in both", "walrus to bob")
				b.Get("/p/" + sent.Code).Wants(200)
				e.Get("/p/" + sent.Code).Wants(404)
				nobody.Get("/ann").Has("walrus in both").Lacks("walrus to bob")
			}
			gone()
			a.Post("/p/"+also.Code+"/edit", "body", "walrus in both, edited", "was", "ann", "to", "ann").Wants(303)
			if level == "protected" { // elsewhere a job takes it out
				a.Post("/p/"+also.Code+"/edit", "body", "walrus in both, moved", "to", "ann").Wants(303)
			}
			gone()
			tags, err = words.Propose(ctx, bob.Account.ID, []string{clubName}, "a "+clubSaid)
			if err != nil || len(tags) > 0 {
				t.Errorf("tags that are proposed: %q, %v", tags, err)
			}
			var left []string
			err = s.DB.Primary.QueryRow(ctx, `SELECT array_agg(left(code, 1) ORDER BY code) FROM invitations WHERE withdrawn_at IS NULL`).Scan(&left)
			if err != nil || !slices.Equal(left, []string{"C", "S"}) {
				t.Errorf("invitations that are left: %q, %v", left, err)
			}
			a.Get("/groups?gone").Has("The group is deleted")
			a.Post("/"+clubName+"/delete", "confirm", clubName).Wants(404)
			a.Post("/settings/access", "level", "public", "group", clubName).Wants(404)
			b.Post("/" + clubName + "/follow").Wants(404)
			b.Post("/posts", "body", "too late", "to", clubName).Wants(422)
			s.FollowUp()
			open.UntilGone(alone.Code)

			// Posts that had left the group before cost no transaction without an end.
			tx, err := s.DB.Primary.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			const leave = `
				WITH feed AS (SELECT id FROM timelines WHERE kind = 'group' AND their_id = $1),
				moved AS (UPDATE posts p SET decisive = '{1}' FROM feed WHERE feed.id = ANY(p.decisive))
				UPDATE timeline_entries e SET withdrawn = true FROM feed WHERE e.timeline_id = feed.id`
			if _, err := tx.Exec(ctx, leave, clubID); err != nil {
				t.Fatal(err)
			}
			for _, want := range []bool{true, false} {
				moved, more, err := s.Store.Posts.DisbandBlockTx(ctx, tx, clubID, 1)
				if err != nil || len(moved) > 0 || more != want {
					t.Errorf("a block of posts that had left: %v, more: %t, %v, want more: %t", moved, more, err, want)
				}
			}
			if err := tx.Rollback(ctx); err != nil {
				t.Fatal(err)
			}

			steps := 0
			for more := true; more; steps++ {
				if _, err := store.Step(ctx, clubID, dies, s.Tiers.Distribute); err != nil && !errors.Is(err, errDied) {
					t.Fatal(err)
				}
				gone()
				var err error
				if more, err = store.Step(ctx, clubID, s.Tiers.Carry, s.Tiers.Distribute); err != nil {
					t.Fatal(err)
				}
				if steps > 50 {
					t.Fatal("no end")
				}
			}
			gone()
			if found := clubRest(t, s); len(found) > 0 {
				t.Errorf("left of the group:\n%s", strings.Join(found, "\n"))
			}
			for code, want := range map[string][]string{also.Code: {"ann"}, sent.Code: {"bob"}} {
				to, err := s.Store.Posts.Destinations(ctx, ann.Account.ID, code)
				if err != nil || len(to) != 1 || to[0] != want[0] {
					t.Errorf("destinations: %q, %v, want %q", to, err, want)
				}
			}
			_, _, err = s.Store.Groups.Create(ctx, timelines.NewGroup{Actor: bob.Account.ID, Name: clubName, Title: "x"})
			if !errors.Is(err, timelines.ErrNameTaken) {
				t.Errorf("the name again: %v", err)
			}
		})
	}
}

// A job deletes the group, and pages are right afterwards, also if processes end after each commit; no
// author keeps what stood only there.
func TestAGroupIsGone(t *testing.T) {
	s := webtest.NewLively(t)
	ann, bob, mia, _, alone, also, _, file := club(t, s, "public")
	a, b, m := ann.Visitor(), bob.Visitor(), mia.Visitor()
	for _, address := range []string{"/", "/everything", "/" + clubName, "/" + clubName + "/best", "/p/" + alone.Code, "/bob", "/tag/ice", "/lists/clubs"} {
		a.Get(address)
		b.Get(address)
	}
	if found := clubRest(t, s); len(found) < 20 {
		t.Fatalf("the group is in %d rows before:\n%s", len(found), strings.Join(found, "\n"))
	}
	a.Post("/"+clubName+"/delete", "confirm", clubName).Wants(303)
	store := leaving.Open(s.Store)
	webtest.Await(t, "the end of the deletion", func() bool {
		if _, err := store.Step(t.Context(), clubID, dies, s.Tiers.Distribute); err != nil && !errors.Is(err, errDied) {
			t.Fatal(err)
		}
		is, err := store.Find(t.Context(), clubID)
		return err == nil && is == nil
	})
	if found := clubRest(t, s); len(found) > 0 {
		t.Errorf("left of the group:\n%s", strings.Join(found, "\n"))
	}
	var differ error
	webtest.Await(t, "all rivers", func() bool {
		report, err := s.Rivers.Check(t.Context())
		differ = fmt.Errorf("%v %w", report.Differences, err)
		return err == nil && len(report.Differences) == 0
	}, func() string { return differ.Error() })
	for _, v := range []*webtest.Visitor{a, b, m, s.Visitor()} {
		v.Get("/")
		v.Get("/" + clubName).Wants(404)
		v.Get("/p/" + alone.Code).Wants(404)
		v.Get("/files/" + file).Wants(404)
		v.Get("/bob").Wants(200).Lacks(clubSaid)
		v.Get("/p/" + also.Code).Wants(200).Has("a word there").Lacks(clubName)
	}
	b.Get("/filter/discussions").Wants(200).Lacks(clubSaid)
	b.Get("/filter/notifications").Wants(200).Lacks(clubSaid)
}

// Administrators of the site delete any group, also one that they cannot read, and say why.
func TestTheStaffDeleteAGroup(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob, mia, eve, alone, _, _, _ := club(t, s, "private")
	inCharge(eve, admin.Moderator)
	exec := func(query string) {
		t.Helper()
		if _, err := s.DB.Primary.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO subscriptions (subscriber_id, account_id) SELECT s.id, g.id FROM accounts s, accounts g WHERE s.name = 'mia' AND g.name = '` + clubName + `'`)
	var picture string
	const of = `
		SELECT a.picture || '/' || min(b.size) FROM accounts a JOIN files f ON f.code = a.picture JOIN file_blobs b ON b.file_id = f.id
		WHERE a.name = $1 AND b.size <> 'upload' GROUP BY a.picture`
	if err := s.DB.Primary.QueryRow(t.Context(), of, clubName).Scan(&picture); err != nil {
		t.Fatal(err)
	}
	m, e := mia.Visitor(), eve.Visitor()
	m.Get("/").Wants(200).Has(clubName)
	m.Get("/files/" + picture).Wants(200)
	address := "/" + clubName + "/delete"
	e.Get("/" + clubName).Wants(403).Lacks(address)
	e.Get(address).Wants(403)
	e.Post(address, "confirm", clubName, "leave_reason", "spam").Wants(403)
	m.Get("/" + clubName).Wants(403).Has(address)
	m.Get(address).Wants(200).Has("Reason")
	m.Post(address, "confirm", clubName, "leave_reason", " ").Wants(422).Has("Give a reason")
	m.Post(address, "confirm", "x", "leave_reason", "spam only").Wants(422).Has("spam only")
	m.Get("/mia/delete").Wants(404)
	m.Get("/nobody-here/delete").Wants(404)
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.Create(ctx, bob.Account.ID, "before", "Old page", timelines.Public)
	})
	exec(`UPDATE timelines SET term = 'delete' WHERE kind = 'subfeed' AND term = 'before'`)
	m.Get("/bob/delete").Wants(200).Has("Old page")
	m.Post("/mia/delete", "confirm", "mia", "leave_reason", "spam").Wants(404)
	m.Post(address, "confirm", clubName, "leave_reason", "spam only").LeadsTo("/groups?gone")
	for _, v := range []*webtest.Visitor{m, e, ann.Visitor()} {
		v.Get("/").Wants(200).Lacks(clubName, clubSaid+" Club")
		v.Get("/files/" + picture).Wants(404)
	}
	m.Get("/admin/acts").Wants(200).Has("@mia: deletes the group @"+clubName, "spam only")
	m.Get("/" + clubName).Wants(404)
	m.Get("/p/" + alone.Code).Wants(404)

	zoe := s.Person("zoe")
	zoe.Visitor().Post("/groups", "name", "open-club", "title", "Open", "access", "public").Wants(303)
	m.Get("/open-club").Wants(200).Has("/open-club/delete")
	e.Get("/open-club").Wants(200).Lacks("/open-club/delete")
}
