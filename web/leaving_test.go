package web_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/leaving"
	"riverrun/timelines/reports"
	"riverrun/web/webtest"
)

// Nothing else has this number, name or these words.
const (
	leaverID   = 7_777_777
	leaverName = "annabelle"
	leaverSaid = "zanzibar"
)

// leaver is somebody who did about all that one can do on a site.
func leaver(t *testing.T, s *webtest.Site, bob, mia *webtest.Person) (ann *webtest.Person, hers, his timelines.Change, file string) {
	ctx := t.Context()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := s.DB.Primary.Exec(ctx, query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`ALTER TABLE accounts ALTER COLUMN id RESTART WITH ` + fmt.Sprint(leaverID))
	ann = s.Person(leaverName)
	a, b := ann.Visitor(), bob.Visitor()
	a.PostFiles("/settings", []webtest.Upload{{Name: leaverSaid + ".png", Content: webtest.Photo(300, 200)}}, "title", leaverSaid+" Ann", "about", leaverSaid).Wants(303)
	bob.Subscribe(leaverName)
	ann.Subscribe("bob")
	ann.Subscribe("mia")
	a.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public").Wants(303)
	bob.Subscribe("sailing")
	a.PostFiles("/sailing/edit", []webtest.Upload{{Name: "boat.png", Content: webtest.Photo(300, 200)}}, "title", "Sailing")
	s.MakePictures()

	his = bob.Post("hello @" + leaverName + " #sea")
	note := bob.Comment(his.Code, "and a word")
	hers = ann.Post(leaverSaid + " for @bob #sea")
	a.PostFiles("/posts", []webtest.Upload{{Name: "sea.png", Content: webtest.Photo(400, 300)}}, "body", leaverSaid+" with a picture").Wants(303)
	s.MakePictures()
	ann.Post(leaverSaid+" in the group", "sailing")
	ann.Post(leaverSaid+" between us", "bob")
	bob.Post("a message for you", leaverName)
	ann.Edit(hers.Code, leaverSaid+" for @bob, mended #sea")
	ann.Comment(his.Code, leaverSaid+" comment @mia #sea")
	ann.Like(his.Code)
	ann.LikeComment(his.Code, note.CommentID)
	mia.Like(his.Code)
	a.Post("/p/" + his.Code + "/fave").Wants(303)
	bob.Comment(hers.Code, "a comment on hers")
	bob.Like(hers.Code)
	a.Post("/"+leaverName+"/feeds", "slug", "boats", "title", leaverSaid, "access", "public")
	b.Get("/").Wants(200)
	a.Get("/").Wants(200)
	for _, table := range []string{
		`INSERT INTO drafts (account_id, saved_at, place, language, body, destinations, uploads) VALUES ($1, now(), '/', 'en', $2, '{}', '{}')`,
		`INSERT INTO scheduled_posts (account_id, due_at, saved_at, code, zone, place, language, body, destinations, uploads)
			VALUES ($1, now() + interval '1 day', now(), 'later' || $1::bigint, 'UTC', '/', 'en', $2, '{}', '{}')`,
		`INSERT INTO lists (account_id, slug, title) VALUES ($1, 'friends', $2)`,
		`INSERT INTO list_members (list_id, subscriber_id, account_id) SELECT l.id, $1, a.id FROM lists l, accounts a WHERE a.name = 'bob' AND $2::text <> ''`,
		`INSERT INTO hidden_terms (account_id, term) VALUES ($1, $2)`,
		`INSERT INTO dictionary_words (owner_id, no, tag, word, first) VALUES ($1, 1, $2, $2, $2)`,
		`INSERT INTO sources (owner_id, added_by, code, way, mode, title) VALUES ($1, $1, '0000000001', 'file', 'append', $2)`,
		`INSERT INTO source_items (source_id, external_id, hash) SELECT id, $2, decode(repeat('00', 16), 'hex') FROM sources WHERE owner_id = $1`,
		`INSERT INTO loads (source_id, no, version, way, state, base) SELECT id, 1, 1, 'file', 'done', $2 FROM sources WHERE owner_id = $1`,
		`INSERT INTO invitations (by_id, expires_at, uses, code, note) VALUES ($1, now(), 1, repeat('A', 26), $2)`,
		`INSERT INTO origins (their_id, source, kind, external_id) VALUES ($1, 'friendfeed', 'account', $2)`,
		`INSERT INTO strangers (account_id, ends_at) SELECT $1::bigint, now() WHERE $2::text <> '' ON CONFLICT DO NOTHING`,
		`INSERT INTO hidden_accounts (account_id, hidden_id) SELECT a.id, $1 FROM accounts a WHERE a.name = 'mia' AND $2::text <> ''`,
		`INSERT INTO muted_posts (account_id, post_id) SELECT $1, max(id) FROM posts WHERE $2::text <> ''`,
		`INSERT INTO hidden_posts (account_id, post_id) SELECT $1, max(id) FROM posts WHERE $2::text <> ''`,
		`INSERT INTO subscription_requests (subscriber_id, account_id) SELECT $1, id FROM accounts WHERE name = 'mia' AND $2::text <> ''`,
		`INSERT INTO bans (account_id, banned_id) SELECT $1, id FROM accounts WHERE name = 'eve' AND $2::text <> ''`,
	} {
		exec(table, leaverID, leaverSaid)
	}
	for page, as := range map[string]string{"/" + leaverName + "/likes": "bob", "/bob": leaverName} {
		if err := admin.Open(s.Store).RecordRebuild(ctx, admin.By{}, page, as); err != nil {
			t.Fatal(err)
		}
	}
	_, err := reports.Open(s.Store).File(ctx, ann.Account.ID, reports.Thing{Name: "mia"}, reports.Spam, leaverSaid)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DB.Primary.QueryRow(ctx, `SELECT code FROM files WHERE name = 'sea.png'`).Scan(&file); err != nil {
		t.Fatal(err)
	}
	return ann, hers, his, file
}

// inLog reports whether a table is of the log of changes, which has numbers alone, for some days.
func inLog(table string) bool { return table == "outbox" || strings.HasPrefix(table, "changes_") }

// rest lists the rows that still have the number, the name or a text of the leaver, but for those that
// stay on purpose: package leaving says which.
func rest(t *testing.T, s *webtest.Site, bob *webtest.Person) (found []string) {
	t.Helper()
	ctx := t.Context()
	rows, err := s.DB.Primary.Query(ctx, `
		SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname !~ '^river_' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) < 60 {
		t.Fatalf("%d tables", len(tables))
	}
	stay := map[string]string{ // the number, and nothing else
		"accounts": `kind = 'gone'`, "posts": `deleted_at IS NOT NULL`, "comments": `deleted_at IS NOT NULL`,
		"timelines": `kind <> 'subfeed'`, "unseen_accounts": `cause = 'leaving'`, "access_log": `true`, // trimmed after a week
		"origins": `external_id LIKE 'sha256:%'`,
	}
	for _, table := range tables {
		query := `SELECT r::text FROM ` + pgx.Identifier{table}.Sanitize() + ` r WHERE (r::text ~* @words OR r::text ~ @id AND NOT (@stays))`
		stays := "false"
		if which, ok := stay[table]; ok {
			stays = which
		}
		if inLog(table) {
			stays = "true"
		}
		query = strings.ReplaceAll(query, "@stays", stays)
		switch table {
		case "posts", "texts", "comments": // texts of others mention the name
			query += fmt.Sprintf(" AND author_id <> %d", bob.Account.ID)
		}
		rows, err := s.DB.Primary.Query(ctx, query, pgx.StrictNamedArgs{"words": leaverName + "|" + leaverSaid, "id": fmt.Sprintf(`(^|\D)%d(\D|$)`, leaverID)})
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

// After the end no table has the number, the name or a text of the person, others' pages are right, and
// nobody gets the name.
func TestAnAccountIsGone(t *testing.T) {
	s := webtest.NewLively(t)
	ctx := t.Context()
	bob, mia, _ := s.Person("bob"), s.Person("mia"), s.Person("eve")
	inCharge(mia, admin.Administrator)
	ann, hers, his, file := leaver(t, s, bob, mia)
	b, m := bob.Visitor(), mia.Visitor()
	for _, address := range []string{"/", "/everything", "/" + leaverName, "/" + leaverName + "/likes", "/p/" + his.Code, "/tag/sea", "/filter/notifications", "/sailing", "/most-faved"} {
		b.Get(address)
		m.Get(address)
	}
	if found := rest(t, s, bob); len(found) < 40 {
		t.Fatalf("the person is in %d rows before:\n%s", len(found), strings.Join(found, "\n"))
	}
	store := leaving.Open(s.Store)
	mia.Act(func(ctx context.Context) (timelines.Change, error) {
		return store.Delete(ctx, admin.By{}, leaverName, leaverSaid, true)
	})
	mia.Act(func(ctx context.Context) (timelines.Change, error) { // again
		return store.Delete(ctx, admin.By{}, leaverName, leaverSaid, true)
	})
	webtest.Await(t, "the end of the deletion", func() bool {
		is, err := store.Find(ctx, ann.Account.ID)
		return err == nil && is == nil
	})
	if found := rest(t, s, bob); len(found) > 0 {
		t.Errorf("left of the person:\n%s", strings.Join(found, "\n"))
	}
	var differ error
	webtest.Await(t, "all rivers", func() bool {
		report, err := s.Rivers.Check(ctx)
		differ = fmt.Errorf("%v %w", report.Differences, err)
		return err == nil && len(report.Differences) == 0
	}, func() string { return differ.Error() })

	for _, v := range []*webtest.Visitor{b, m, s.Visitor()} {
		v.Get("/") // brings what the node remembers up to now
		v.Get("/" + leaverName).Wants(404)
		v.Get("/p/" + hers.Code).Wants(404)
		v.Get("/files/" + file).Wants(404)
		v.Get("/p/"+his.Code).Wants(200).Has("hello", "and a word").Lacks(leaverSaid)
		v.Get("/search?q=" + leaverSaid).Lacks("in the group")
		v.Get("/feeds/" + leaverName + ".atom").Wants(404)
	}
	b.Get("/filter/messages").Lacks(leaverSaid)
	b.Get("/sailing").Wants(200).Lacks(leaverSaid)
	m.Get("/admin/people/" + leaverName).Wants(404)
	m.Get("/admin/people").Wants(200).Lacks(leaverName, "—</b>")
	m.Get("/admin/acts").Wants(200).Has("deletes the account @—")
	s.Visitor().Post("/login", "username", leaverName, "password", webtest.Password).Wants(422)
	var likes int
	if err := s.DB.Primary.QueryRow(ctx, `SELECT count(*) FROM likes WHERE post_id = $1`, s.PostID(his.Code)).Scan(&likes); err != nil || likes != 1 {
		t.Errorf("likes left: %d, %v", likes, err)
	}

	for what, err := range map[string]error{
		"sign-up": func() error {
			_, err := s.Store.Accounts.SignUp(ctx, timelines.SignUp{Name: leaverName, Password: webtest.Password})
			return err
		}(),
		"group": func() error {
			_, _, err := s.Store.Groups.Create(ctx, timelines.NewGroup{Actor: bob.Account.ID, Name: leaverName, Title: "x"})
			return err
		}(),
	} {
		if !errors.Is(err, timelines.ErrNameTaken) {
			t.Errorf("%s takes the name: %v", what, err)
		}
	}
}

// R4 of leaving, and everything comes back with "keep".
func TestLeavingAndComingBack(t *testing.T) {
	s := webtest.New(t, nil)
	bob, mia, _ := s.Person("bob"), s.Person("mia"), s.Person("eve")
	inCharge(mia, admin.Administrator)
	ann, hers, his, file := leaver(t, s, bob, mia)
	a, b, m, nobody := ann.Visitor(), bob.Visitor(), mia.Visitor(), s.Visitor()
	pages := []string{"/", "/everything", "/p/" + his.Code, "/tag/sea", "/sailing", "/search?q=" + leaverSaid, "/people", "/bob", "/settings", "/filter/messages"}
	before := map[string]string{}
	for _, address := range pages { // what is new is old afterwards
		b.Get(address)
	}
	for _, address := range pages {
		before[address] = webtest.ReadText([]byte(b.Get(address).Body))
	}
	b.Get("/files/" + file).Wants(200)
	open := s.Open(bob, "/")
	if !open.Shows(hers.Code) {
		t.Fatal("the page does not show the post")
	}

	nobody.Get("/settings/delete").Wants(303)
	a.Get("/settings").Wants(200).Has("/settings/delete")
	a.Get("/settings/delete").Wants(200).Has("/settings/data", "@sailing", "@"+leaverName+" again")
	a.Post("/settings/delete", "present", "not the one").Wants(422).Has("Wrong password")
	a.Post("/settings/delete", "present", webtest.Password).Wants(303)
	a.Get("/settings").Wants(303)
	says := []string{leaverSaid + " Ann", leaverSaid + " for", leaverSaid + " with", leaverSaid + " in the", leaverSaid + " between", leaverSaid + " comment"}
	gone := func(v *webtest.Visitor) {
		t.Helper()
		for _, address := range pages {
			v.Get(address).Lacks(says...)
		}
		v.Get("/p/" + hers.Code).Wants(404)
		v.Get("/files/" + file).Wants(404)
		v.Get("/" + leaverName).Wants(403).Lacks(leaverSaid)
		if got := v.Get("/feeds/" + leaverName + ".atom"); strings.Contains(got.Body, leaverSaid) {
			t.Error("the feed shows it")
		}
	}
	gone(b)
	gone(nobody)
	s.FollowUp()
	open.UntilGone(hers.Code)
	m.Get("/admin/people/"+leaverName).Wants(200).Has("To be deleted", "The person wished so", "Keep the account")

	nobody.Post("/login", "username", leaverName, "password", "not the one").Wants(422).Lacks("Keep my account")
	link := keepLink.FindStringSubmatch(nobody.Post("/login", "username", leaverName, "password", webtest.Password).Wants(403).Has("will be deleted on").Body)
	if link == nil {
		t.Fatal("no way back")
	}
	nobody.Get("/login/left?until=1").Wants(200).Has("You are signed out")
	nobody.Get("/login/left?until=x").Wants(404)
	nobody.Post("/login/keep", "link", link[1]).Wants(200).Has("stays as it was")
	nobody.Post("/login/keep", "link", link[1]).Wants(404)
	for _, address := range pages {
		b.Get(address)
		if got := webtest.ReadText([]byte(b.Get(address).Body)); got != before[address] {
			t.Errorf("%s after coming back:\n%s\nwant:\n%s", address, got, before[address])
		}
	}
	b.Get("/files/" + file).Wants(200)
	nobody.Post("/login", "username", leaverName, "password", webtest.Password).LeadsTo("/")
	nobody.Get("/settings").Wants(200)
}

var keepLink = regexp.MustCompile(`name="link" value="([^"]+)"`)

// The staff delete accounts, within bounds, and keep them; the last administrator stays.
func TestTheStaffDelete(t *testing.T) {
	s := webtest.New(t, nil)
	ann, max, mia, eve := s.Person("ann"), s.Person("max"), s.Person("mia"), s.Person("eve")
	inCharge(ann, admin.Administrator)
	inCharge(mia, admin.Moderator)
	a, m, e := ann.Visitor(), mia.Visitor(), eve.Visitor()
	a.Post("/settings/delete", "present", webtest.Password).Wants(403).Has("last administrator")
	m.Get("/admin/people/eve").Wants(200).Lacks("/admin/people/eve/delete")
	m.Post("/admin/people/eve/delete", "leave_reason", "spam").Wants(404)
	a.Post("/admin/people/ann/delete", "leave_reason", "spam").Wants(403)
	a.Post("/admin/people/eve/delete", "leave_reason", " ").Wants(422)
	a.Post("/admin/people/eve/delete", "leave_reason", "ads only").LeadsTo("/admin/people/eve?done=leaving")
	e.Get("/settings").Wants(303)
	e.Post("/login", "username", "eve", "password", webtest.Password).Wants(403).Has("ads only", "Those in charge").Lacks("Keep my account")
	a.Get("/admin/people/eve").Wants(200).Has("To be deleted", "ads only", "@ann: deletes the account @eve").Lacks("/people/eve/delete")
	a.Post("/admin/people/eve/keep").LeadsTo("/admin/people/eve?done=kept")
	a.Get("/admin/people/eve").Has("@ann: kept the account @eve", "/people/eve/delete")
	s.Visitor().Get("/eve").Wants(200)

	inCharge(max, admin.Administrator)
	a.Post("/admin/people/max/delete", "leave_reason", "retired").Wants(303)
	a.Post("/settings/delete", "present", webtest.Password).Wants(403).Has("last administrator")
}

// A process may end after any commit of a deletion, before pages follow it.
func TestADeletionThatIsKilled(t *testing.T) {
	s := webtest.New(t, nil)
	ctx, store := t.Context(), leaving.Open(s.Store)
	bob, mia, _ := s.Person("bob"), s.Person("mia"), s.Person("eve")
	ann, hers, his, _ := leaver(t, s, bob, mia)
	b := bob.Visitor()
	act := func(do func(context.Context) (timelines.Change, error)) {
		t.Helper()
		c, err := do(ctx)
		if _, err := s.Tiers.Carry(ctx, c, err); err != nil {
			t.Fatal(err)
		}
	}
	act(func(ctx context.Context) (c timelines.Change, err error) {
		c, _, err = store.Leave(ctx, ann.Account.ID)
		return c, err
	})
	if n, err := store.Due(ctx, 10); n != 0 || err != nil {
		t.Fatalf("%d are due too early, %v", n, err)
	}
	if more, err := store.Step(ctx, ann.Account.ID, s.Tiers.Carry, s.Tiers.Distribute); more || err != nil {
		t.Fatalf("a step too early: %t, %v", more, err)
	}
	if _, err := s.DB.Primary.Exec(ctx, `UPDATE leaving SET ends_at = now()`); err != nil {
		t.Fatal(err)
	}
	if n, err := store.Due(ctx, 10); n != 1 || err != nil {
		t.Fatalf("%d are due, %v; want 1", n, err)
	}
	_, err := store.Keep(ctx, admin.By{}, leaverName)
	if !errors.Is(err, leaving.ErrBegun) {
		t.Errorf("kept too late: %v", err)
	}
	died := errors.New("died")
	dies := func(_ context.Context, _ timelines.Change, err error) (timelines.Change, error) {
		if err != nil {
			return timelines.Change{}, err
		}
		return timelines.Change{}, died
	}
	steps := 0
	for more := true; more; steps++ {
		if _, err := store.Step(ctx, ann.Account.ID, dies, s.Tiers.Distribute); err != nil && !errors.Is(err, died) {
			t.Fatal(err)
		}
		b.Get("/").Lacks(leaverSaid)
		b.Get("/p/" + hers.Code).Wants(404)
		b.Get("/p/" + his.Code).Wants(200).Lacks(leaverSaid)
		if more, err = store.Step(ctx, ann.Account.ID, s.Tiers.Carry, s.Tiers.Distribute); err != nil {
			t.Fatal(err)
		}
		if steps > 50 {
			t.Fatal("no end")
		}
	}
	if found := rest(t, s, bob); len(found) > 0 {
		t.Errorf("left of the person:\n%s", strings.Join(found, "\n"))
	}
	// A message to somebody who is gone stays with its author.
	b.Get("/filter/messages").Wants(200).Has("a message for you")
}

// Somebody who was not let in is deleted a month later.
func TestTheRefusedAreDeleted(t *testing.T) {
	s := webtest.New(t, nil)
	ctx, eve := t.Context(), s.Person("eve")
	_, err := s.DB.Primary.Exec(ctx, `
		INSERT INTO applications (account_id, refused_at, sentence) SELECT id, now() - interval '31 days', 'hello' FROM accounts WHERE name = 'eve'`)
	if err != nil {
		t.Fatal(err)
	}
	store := leaving.Open(s.Store)
	if n, err := store.Due(ctx, 10); n != 1 || err != nil {
		t.Fatalf("%d are due, %v; want 1", n, err)
	}
	for more := true; more; {
		if more, err = store.Step(ctx, eve.Account.ID, s.Tiers.Carry, s.Tiers.Distribute); err != nil {
			t.Fatal(err)
		}
	}
	s.Visitor().Get("/eve").Wants(404)
	if n, err := store.Due(ctx, 10); n != 0 || err != nil {
		t.Errorf("%d are due again, %v", n, err)
	}
}
