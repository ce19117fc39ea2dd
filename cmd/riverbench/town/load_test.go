package town

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/timelines"
)

// small is a town small enough to be made step by step, with a private group.
var small = Size{Accounts: 20, Groups: 8, Posts: 100, Comments: 450, Likes: 700}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func options() timelines.Options {
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1 // people sign up fast
	return o
}

// loaded are the tables of a store, with names and moments instead of ids.
//
// It leaves out what must differ between a town that was imported and one that was lived in: notifications,
// which an import does not write; versions, as an import draws one for each post and people draw one for
// each thing they do; the dates of accounts and subscriptions, which come from the import itself; keys of
// the source; passwords; and guessed languages, as an import guesses at its end, when it knows all posts of
// an author. If a post became one of the best more than a month after it was written, the two note another
// date for that, which lifts it nowhere. So best-of is compared by the places of its posts alone. If somebody
// liked a post and commented on it, one of them more than a month after it was written, an import places it in
// their discussions by the earlier of two places, whatever the order of its files, and people by what they did first.
func loaded(t *testing.T, pool *pgxpool.Pool) map[string][]string {
	t.Helper()
	const (
		post  = `(SELECT to_char(called.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') FROM posts called WHERE called.id = %s)`
		whose = `(SELECT called.name FROM accounts called WHERE called.id = %s)`
	)
	postOf := func(id string) string { return fmt.Sprintf(post, id) }
	name := func(id string) string { return fmt.Sprintf(whose, id) }
	place := `concat(t.kind, ' ', CASE t.kind WHEN 'post' THEN ` + postOf("t.their_id") + ` ELSE ` + name("t.their_id") + ` END, ' ', t.term)`
	tables := map[string][]string{}
	_, err := pool.Exec(t.Context(), `ANALYZE`)
	must(t, err)
	for table, query := range map[string]string{
		"accounts":      `SELECT concat_ws('|', kind, name, title, about, language) FROM accounts`,
		"subscriptions": `SELECT concat_ws('|', ` + name("subscriber_id") + `, ` + name("account_id") + `, in_home) FROM subscriptions`,
		"requests":      `SELECT concat_ws('|', ` + name("subscriber_id") + `, ` + name("account_id") + `) FROM subscription_requests`,
		"readers":       `SELECT concat_ws('|', ` + place + `, ` + name("r.account_id") + `, r.admitted) FROM readers r JOIN timelines t ON t.id = r.timeline_id`,
		"group_admins":  `SELECT concat_ws('|', ` + name("group_id") + `, ` + name("account_id") + `) FROM group_admins`,
		"timelines": `SELECT concat_ws('|', ` + place + `, t.access, t.writers, t.base, (SELECT g.kind FROM timelines g WHERE g.id = t.gate_id))
			FROM timelines t`,
		"posts": `SELECT concat_ws('|', ` + postOf("p.id") + `, ` + name("p.author_id") + `, p.fresh_at, p.is_public, CASE WHEN p.lang_guessed THEN '' ELSE p.lang END, p.markup, p.body, p.edited_at,
				(SELECT string_agg(` + place + `, ', ' ORDER BY t.kind) FROM timelines t WHERE t.id = ANY(p.decisive)))
			FROM posts p`,
		"timeline_entries": `WITH late AS MATERIALIZED (
				SELECT DISTINCT l.post_id, l.account_id FROM likes l
				JOIN comments c ON c.post_id = l.post_id AND c.author_id = l.account_id JOIN posts p ON p.id = l.post_id
				WHERE greatest(l.created_at, c.created_at) > p.created_at + interval '30 days'
			)
			SELECT concat_ws('|', ` + place + `, ` + postOf("e.post_id") + `,
				CASE WHEN t.kind <> 'best' AND late.post_id IS NULL THEN e.entered_at END, CASE WHEN late.post_id IS NULL THEN e.fresh_at END,
				e.created_at, e.withdrawn)
			FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id JOIN posts p ON p.id = e.post_id
			LEFT JOIN late ON t.kind = 'discussions' AND late.post_id = p.id AND late.account_id = t.their_id
			WHERE t.kind <> 'notifications' AND NOT (p.lang_guessed AND t.term = p.lang)`,
		"comments": `SELECT concat_ws('|', ` + postOf("c.post_id") + `, c.created_at AT TIME ZONE 'UTC', ` + name("c.author_id") + `, c.body, c.markup) FROM comments c`,
		"likes":    `SELECT concat_ws('|', ` + postOf("l.post_id") + `, l.created_at AT TIME ZONE 'UTC', ` + name("l.account_id") + `) FROM likes l`,
	} {
		rows, err := pool.Query(t.Context(), `SELECT row FROM (`+query+`) q (row) ORDER BY 1`)
		must(t, err)
		tables[table], err = pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
	return tables
}

// checkRivers builds each person's home feed and checks that it holds what it should.
func checkRivers(t *testing.T, of *Town, db *testdb.DB) {
	t.Helper()
	store := timelines.Open(db.Primary, nil, options())
	made := rivers.Open(db.Secondary, store, slog.New(slog.DiscardHandler), rivers.DefaultOptions())
	must(t, made.Start(t.Context()))
	defer func() { must(t, made.Stop(context.Background())) }()
	for _, p := range of.People() {
		a, err := store.Accounts.ByName(t.Context(), p.Name)
		must(t, err)
		page, err := made.Visit(t.Context(), timelines.Viewer{AccountID: a.ID}, rivers.Name{UserID: a.ID, Kind: rivers.Home, Order: rivers.Fresh}, rivers.Cursor{})
		must(t, err)
		if len(page.Items) == 0 {
			t.Errorf("the home feed of %s is empty", p.Name)
		}
	}
	report, err := made.Check(t.Context())
	must(t, err)
	if int(report.Rivers) < len(of.People()) || len(report.Differences) > 0 {
		t.Errorf("check of %d people's rivers: got %+v", len(of.People()), report)
	}
}

func load(t *testing.T, of *Town, db *testdb.DB) {
	t.Helper()
	must(t, of.Load(t.Context(), timelines.Open(db.Primary, nil, options()), nil))
}

// Load leaves the same town as its people do who sign up, follow, write, comment and like: a small
// one, and one of scale 0.02 when tests are to take long.
func TestLoadIsAsLived(t *testing.T) {
	t.Parallel()
	size := small
	if _, times := testdb.Chance(t); times > 1 { // it takes minutes
		size = SizeOf(0.02)
	}
	of := NewSized(3, size, evening)
	imported, lived := testdb.New(t), testdb.New(t)
	load(t, of, imported)
	live(t, of, lived)
	got, want := loaded(t, imported.Primary), loaded(t, lived.Primary)
	for table := range want {
		if diff := gocmp.Diff(want[table], got[table]); diff != "" {
			t.Errorf("%s (-lived +loaded):\n%s", table, diff)
		}
	}
	for table, least := range map[string]int{
		"posts": size.Posts, "comments": size.Comments / 2, "likes": size.Likes / 2, "readers": size.Accounts * (size.Accounts - 1),
	} {
		if len(got[table]) < least {
			t.Errorf("%s: got %d rows, want at least %d", table, len(got[table]), least)
		}
	}
	checkRivers(t, of, imported)
}

// A second Load finds everything.
func TestLoadTwice(t *testing.T) {
	t.Parallel()
	of, db := NewSized(3, small, evening), testdb.New(t)
	load(t, of, db)
	dump := func() []string {
		var rows []string
		for _, table := range []string{
			"accounts", "timelines", "readers", "subscriptions", "group_admins", "posts", "timeline_entries", "comments",
			"likes", "origins", "access_clock", "access_log",
		} {
			found, err := db.Primary.Query(t.Context(), `SELECT t::text FROM `+table+` t ORDER BY 1`)
			must(t, err)
			list, err := pgx.CollectRows(found, pgx.RowTo[string])
			must(t, err)
			rows = append(rows, list...)
		}
		return rows
	}
	before := dump()
	load(t, of, db)
	if diff := gocmp.Diff(before, dump()); diff != "" {
		t.Errorf("the second time changed the store (-before +after):\n%s", diff)
	}
}

// failing is an announcer that fails when it is told of posts.
type failing struct{ err error }

func (f failing) AnnounceTx(_ context.Context, _ pgx.Tx, events ...timelines.Event) error {
	for _, e := range events {
		if _, ok := e.(timelines.TouchedBatch); ok {
			return f.err
		}
	}
	return nil
}

// A load that was cut short goes on.
func TestLoadGoesOn(t *testing.T) {
	t.Parallel()
	of, cut, whole := NewSized(3, small, evening), testdb.New(t), testdb.New(t)
	var said []string
	full := failing{errors.New("disk full")}
	err := of.Load(t.Context(), timelines.Open(cut.Primary, full, options()), func(s string) { said = append(said, s) })
	if !errors.Is(err, full.err) {
		t.Fatalf("cut short: got error %v, want %v", err, full.err)
	}
	want := []string{"20 people and 8 groups", fmt.Sprintf("%d subscriptions", len(slices.Collect(of.pairs)))}
	if diff := gocmp.Diff(want, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	load(t, of, cut)
	load(t, of, whole)
	if diff := gocmp.Diff(loaded(t, whole.Primary), loaded(t, cut.Primary)); diff != "" {
		t.Errorf("cut short (-whole +cut):\n%s", diff)
	}
}

// People and Groups name accounts of the store, or Load fails.
func TestLoadBesideOthers(t *testing.T) {
	t.Parallel()
	of, db := NewSized(3, small, evening), testdb.New(t)
	store := timelines.Open(db.Primary, nil, options())
	_, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: of.People()[3].Name, Password: "correct horse"})
	must(t, err)
	if err := of.Load(t.Context(), store, nil); !errors.Is(err, ErrNames) {
		t.Errorf("a name is taken: got error %v, want %v", err, ErrNames)
	}
}

// clock is a store's clock that a test sets. The store reads the database's; these functions
// stand before the database's own in the search path.
type clock struct{ pool *pgxpool.Pool }

func newClock(t *testing.T, db *testdb.DB) clock {
	t.Helper()
	_, err := db.Primary.Exec(t.Context(), `
		CREATE SCHEMA told;
		CREATE TABLE told.moment (at timestamptz NOT NULL);
		INSERT INTO told.moment VALUES (now());
		CREATE FUNCTION told.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM told.moment';
		CREATE FUNCTION told.now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM told.moment'`)
	must(t, err)
	cfg, err := pgxpool.ParseConfig(db.PrimaryURL)
	must(t, err)
	cfg.ConnConfig.RuntimeParams["search_path"] = "told, pg_catalog, public"
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	must(t, err)
	t.Cleanup(pool.Close)
	return clock{pool}
}

func (c clock) set(t *testing.T, at time.Time) {
	t.Helper()
	_, err := c.pool.Exec(t.Context(), `UPDATE told.moment SET at = $1`, at)
	must(t, err)
}

// live makes the town by what people do on a site, one thing after the other.
func live(t *testing.T, of *Town, db *testdb.DB) {
	t.Helper()
	c := newClock(t, db)
	store := timelines.Open(c.pool, nil, options())
	ctx := t.Context()
	ids := map[string]int64{}
	for _, p := range of.people {
		a, err := store.Accounts.SignUp(ctx, timelines.SignUp{Name: p.Name, Title: p.Title, Password: "correct horse"})
		must(t, err)
		ids[p.Name] = a.ID
		if p.Private {
			_, err := store.Feeds.SetAccess(ctx, a.ID, "", timelines.Private)
			must(t, err)
		}
	}
	admin := map[string]int64{}
	for _, g := range of.groups {
		level := timelines.Public
		if g.Private {
			level = timelines.Private
		}
		admin[g.Name] = ids[g.Admin]
		_, _, err := store.Groups.Create(ctx, timelines.NewGroup{Actor: ids[g.Admin], Name: g.Name, Title: g.Title, Access: level})
		must(t, err)
	}
	for f := range of.pairs {
		_, requested, err := store.Subscriptions.Subscribe(ctx, ids[f.who], f.whom)
		must(t, err)
		if !requested {
			continue
		}
		owner, group := ids[f.whom], ""
		if admin[f.whom] != 0 {
			owner, group = admin[f.whom], f.whom
		}
		_, err = store.Subscriptions.Accept(ctx, owner, f.who, group)
		must(t, err)
	}
	codes := map[string]string{}
	for _, d := range deeds(of, store, ids, codes) {
		c.set(t, d.at)
		if err := d.do(ctx); err != nil {
			t.Fatalf("at %v: %v", d.at, err)
		}
	}
}

// deed is something that somebody does at a moment.
type deed struct {
	at time.Time
	do func(context.Context) error
}

// deeds are all posts, comments and likes, in the order of time.
func deeds(of *Town, store *timelines.Store, ids map[string]int64, codes map[string]string) []deed {
	var all []deed
	for _, p := range of.Posts(0, of.Size().Posts) {
		all = append(all, deed{p.CreatedAt, func(ctx context.Context) error {
			c, err := store.Posts.Create(ctx, timelines.NewPost{Author: ids[p.Author.Name], Body: p.Body, To: []string{p.To[0].Name}, Plain: true})
			codes[p.ExternalID] = c.Code
			return err
		}})
		for _, said := range p.Comments {
			all = append(all, deed{said.CreatedAt, func(ctx context.Context) error {
				_, err := store.Comments.Create(ctx, timelines.NewComment{
					Author: ids[said.Author.Name], Code: codes[p.ExternalID], Body: said.Body, Plain: true,
				})
				return err
			}})
		}
		for _, l := range p.Likes {
			all = append(all, deed{l.CreatedAt, func(ctx context.Context) error {
				_, err := store.Posts.Like(ctx, ids[l.Account.Name], codes[p.ExternalID])
				return err
			}})
		}
	}
	slices.SortStableFunc(all, func(x, y deed) int { return cmp.Or(x.at.Compare(y.at)) })
	return all
}
