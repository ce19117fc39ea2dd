package timelines

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// An import meets changes that people have made meanwhile, and leaves them alone.

var noon = time.Date(2009, 6, 1, 12, 0, 0, 0, time.UTC)

func person(id string) ImportedAccount {
	return ImportedAccount{ExternalID: id, Kind: User, Name: id, Title: "Some " + id}
}

func club(id string) ImportedAccount {
	return ImportedAccount{ExternalID: id, Kind: Group, Name: id, Title: "The " + id}
}

// tale is a post by ann in the group "club".
func tale(id string) Imported {
	return Imported{ExternalID: id, Body: "tale " + id, CreatedAt: noon, Author: person("ann"), To: []ImportedAccount{club("club")}}
}

func remark(id, author string, after time.Duration) ImportedComment {
	return ImportedComment{ExternalID: id, Body: "remark " + id, CreatedAt: noon.Add(after), Author: person(author)}
}

func thumb(author string, after time.Duration) ImportedLike {
	return ImportedLike{CreatedAt: noon.Add(after), Account: person(author)}
}

// imported returns the id that the key was imported as.
func (w *town) imported(kind, key string) int64 {
	w.Helper()
	return value[int64](w, `SELECT their_id FROM origins WHERE source = 'friendfeed' AND kind = $1 AND external_id = $2`, kind, key)
}

func (w *town) importedAccount(key string) Account {
	w.Helper()
	list, err := w.Accounts.ByID(w.Context(), []int64{w.imported(originAccount, key)})
	w.must(err)
	return list[0]
}

func TestImportNames(t *testing.T) {
	w := newTown(t)
	w.user("ann")
	w.user("ann-2")
	long := "a-name-of-thirty-five-characters-ok"
	w.user(long)
	var posts []Imported
	for _, a := range []ImportedAccount{
		{ExternalID: "ann", Name: "ann"},
		{ExternalID: "Ann", Name: "ann"},
		{ExternalID: "login", Name: "login"},
		{ExternalID: long, Name: long},
		{ExternalID: "zed", Name: "zed"},
		{ExternalID: "-wyn-", Name: "-wyn-"},
	} {
		a.Kind, a.Title = User, "T"
		p := tale("by " + a.ExternalID)
		p.Author, p.To = a, []ImportedAccount{a}
		posts = append(posts, p)
	}
	w.importPosts(10, posts...)
	got := map[string]string{}
	for _, p := range posts {
		got[p.Author.ExternalID] = w.importedAccount(p.Author.ExternalID).Name
	}
	w.same("names", got, map[string]string{
		"Ann": "ann-3", "ann": "ann-4", "login": "login-2", long: "a-name-of-thirty-five-characters--2", "zed": "zed", "-wyn-": "-wyn-",
	})
	// The last of its choices is the account's own.
	for _, taken := range []string{"ben", "ben-2", "ben-3", "ben-4", "ben-5"} {
		w.user(taken)
	}
	p := tale("by ben")
	p.Author = person("ben")
	w.importPosts(1, p)
	if name := w.importedAccount("ben").Name; len(name) != len("ben-")+12 || !importable(name) {
		t.Errorf("the last choice: got %q, want ben- and 12 digits", name)
	}
}

func TestImportKeepsText(t *testing.T) {
	w := newTown(t)
	p := tale("1")
	p.URL, p.Via, p.ViaURL, p.Body = "http://source.example/1", "Phone", "http://phone.example/", "two\n\nlines <b>"
	p.Attachments = []ImportedAttachment{{URL: "http://files.example/a.pdf", Title: "a.pdf", Bytes: 7}, {URL: "http://files.example/b", Title: "b"}}
	c := remark("1/c", "ben", time.Hour)
	c.Via = "Mail"
	p.Comments = []ImportedComment{c}
	p.Author.About = "gardener"
	w.importPosts(1, p)
	post := w.imported(originPost, "1")
	w.same("post", all(w, pgx.RowTo[string], `SELECT format('%s|%s|%s|%s|%s', body, via, via_url, o.title, version)
		FROM posts p JOIN origins o ON o.kind = 'post' AND o.their_id = p.id`),
		[]string{"two\n\nlines <b>|Phone|http://phone.example/|http://source.example/1|1"})
	w.same("attachments", all(w, pgx.RowTo[string], `SELECT format('%s|%s|%s|%s', position, url, title, bytes) FROM attachments WHERE post_id = $1 ORDER BY 1`, post),
		[]string{"0|http://files.example/a.pdf|a.pdf|7", "1|http://files.example/b|b|0"})
	w.same("comment", all(w, pgx.RowTo[string], `SELECT format('%s|%s|%s', body, via, created_at AT TIME ZONE 'UTC') FROM comments`),
		[]string{"remark 1/c|Mail|2009-06-01 13:00:00"})
	w.same("about", w.importedAccount("ann").About, "gardener")
	if _, ok := ParseCode(value[string](w, `SELECT code FROM posts`)); !ok {
		t.Error("the post's code is none")
	}
}

// TestImportLeavesLaterChangesAlone: what people did since the first import stands.
func TestImportLeavesLaterChangesAlone(t *testing.T) {
	w := newTown(t)
	p, q := tale("1"), tale("2")
	p.Comments = []ImportedComment{remark("1/a", "ben", time.Hour), remark("1/b", "ben", 2*time.Hour)}
	p.Likes = []ImportedLike{thumb("cat", time.Hour), thumb("dan", time.Hour)}
	q.Comments = []ImportedComment{remark("2/a", "ben", time.Hour)}
	q.Likes = []ImportedLike{thumb("cat", time.Hour)}
	w.importPosts(10, p, q)
	ann, ben, cat := w.importedAccount("ann"), w.importedAccount("ben"), w.importedAccount("cat")
	code := value[string](w, `SELECT code FROM posts WHERE id = $1`, w.imported(originPost, "1"))
	must := func(_ Change, err error) { w.must(err) }
	must(w.Posts.Edit(w.Context(), ann.ID, code, "edited"))
	must(w.Comments.Delete(w.Context(), ben.ID, code, w.imported(originComment, "1/a")))
	must(w.Posts.Unlike(w.Context(), cat.ID, code))
	must(w.Comments.Create(w.Context(), NewComment{Author: ann.ID, Code: code, Body: "live"}))
	must(w.Posts.Delete(w.Context(), ann.ID, value[string](w, `SELECT code FROM posts WHERE id = $1`, w.imported(originPost, "2"))))
	w.must(second(w.Accounts.ChangePassword(w.Context(), ann.Name, "correct horse")))
	before := w.dump()
	w.heard.take()
	tally, _ := w.importPosts(10, p, q)
	w.same("the store", w.dump(), before)
	w.same("events", w.heard.take(), []Event(nil))
	// The likes of a deleted post went with it, and are not missed.
	w.same("tally", tally, Tally{There: Count{Accounts: 4, Groups: 1, Posts: 2, Comments: 3, Likes: 3}})
	w.sound()
}

// TestImportAddsToExistingPosts: a post that is talked about here gains what an
// archive still has of it, and stays where people have put it here.
func TestImportAddsToExistingPosts(t *testing.T) {
	w := newTown(t)
	p := tale("1")
	p.Comments = []ImportedComment{remark("1/b", "ben", 3*time.Hour)}
	w.importPosts(10, p)
	post := w.imported(originPost, "1")
	w.same("fresh after the first import", w.freshAt(post), Micros(noon.Add(3*time.Hour)))
	ann, ben := w.importedAccount("ann"), w.importedAccount("ben")
	w.exec(`UPDATE posts SET created_at = now() - interval '1 hour' WHERE id = $1`, post)
	live := w.comment(ann, value[string](w, `SELECT code FROM posts`))
	w.exec(`UPDATE posts SET created_at = $2 WHERE id = $1`, post, noon)
	w.exec(`UPDATE timeline_entries SET created_at = $2 WHERE post_id = $1`, post, Micros(noon))
	fresh, version := w.freshAt(post), w.version(post)
	if fresh <= Micros(noon.Add(24*time.Hour)) || live.PostID != post {
		t.Fatalf("the live comment did not bump: %d", fresh)
	}
	w.heard.take()

	p.Comments = append(p.Comments, remark("1/a", "ben", time.Hour), remark("1/c", "cat", 5*time.Hour))
	p.Likes = []ImportedLike{thumb("dan", 40*24*time.Hour)}
	p.To = append(p.To, club("pub"))
	tally, _ := w.importPosts(10, p)
	w.same("tally", tally, Tally{
		New:   Count{Accounts: 2, Groups: 1, Comments: 2, Likes: 1},
		There: Count{Accounts: 2, Groups: 1, Posts: 1, Comments: 1},
	})
	w.same("freshness", w.freshAt(post), fresh)
	w.same("version", w.version(post), version+1)
	w.same("ben's first comment", w.row(w.timeline(kinds.Comments, ben.ID), post), row{EnteredAt: Micros(noon.Add(time.Hour)), FreshAt: fresh})
	// A like too late to lift: the post's place of that moment.
	w.same("dan's late like", w.row(w.timeline(kinds.Likes, w.imported(originAccount, "dan")), post).EnteredAt, Micros(noon.Add(5*time.Hour)))
	w.same("everything the post stands in was announced", touchedBy(w.heard.take()),
		all(w, pgx.RowTo[int64], `SELECT timeline_id FROM timeline_entries WHERE post_id = $1 ORDER BY 1`, post))
	w.sound()

	// A guess at where it stood adds nothing.
	p.To, p.ToAssumed = []ImportedAccount{person("ann")}, true
	tally, _ = w.importPosts(10, p)
	w.same("tally with a guess", tally.New, Count{})
	w.same("places", value[int](w, `SELECT cardinality(decisive) FROM posts`), 2)
}

func TestImportPrivacy(t *testing.T) {
	w := newTown(t)
	p := tale("1") // in a group that goes private later, and in ann's feed
	p.To = append(p.To, person("ann"))
	hidden := club("hidden")
	hidden.Private = true
	q := tale("2")
	q.To = []ImportedAccount{hidden}
	_, changes := w.importPosts(10, p, q)
	w.same("clock of new accounts", changes[0].Clock, int64(0))
	feeds := func() map[string]Level {
		return map[string]Level{
			"ann": w.importedAccount("ann").Access, "club": w.importedAccount("club").Access, "hidden": w.importedAccount("hidden").Access,
		}
	}
	w.same("levels", feeds(), map[string]Level{"ann": Public, "club": Public, "hidden": Private})
	w.same("who wrote into a private group is a member", all(w, pgx.RowTo[int64], `SELECT subscriber_id FROM subscriptions WHERE account_id = $1`,
		w.imported(originAccount, "hidden")), []int64{w.imported(originAccount, "ann")})

	// Another who wrote there is counted from then on.
	was := w.clock()
	r := tale("3")
	r.Author, r.To = person("ben"), q.To
	_, changes = w.importPosts(10, r)
	w.same("clock of a member more", changes[0].Clock, was+1)
	w.same("logged", w.logged(was), []Invalidation{{N: was + 1, AccountID: w.imported(originAccount, "hidden"), Kind: "members"}})

	// A later archive has the marks.
	w.heard.take()
	clock := value[int64](w, `SELECT n FROM access_clock`)
	p.Author.Private, p.To[0].Private = true, true
	_, changes = w.importPosts(10, p)
	w.same("levels", feeds(), map[string]Level{"ann": Private, "club": Private, "hidden": Private})
	w.same("flags", all(w, pgx.RowTo[bool], `SELECT is_public FROM posts`), []bool{false, false, false})
	if len(changes) != 1 || changes[0].Clock != clock+1 || !slices.Equal(changes[0].Replace[0].Kinds, nil) || !changes[0].Replace[0].Everybody {
		t.Errorf("change: got %+v, want clock %d and everybody's rivers replaced", changes, clock+1)
	}
	w.same("events", w.heard.take(), []Event{Replace{Everybody: true}})
	w.sound()

	// People decide about an account that they have taken over.
	ann := w.importedAccount("ann")
	w.must(second(w.Accounts.ChangePassword(w.Context(), ann.Name, "correct horse")))
	w.setAccess(ann, "", Public)
	w.importPosts(10, p)
	w.same("level of a feed taken over", w.importedAccount("ann").Access, Public)
}

func TestImportDescribesLater(t *testing.T) {
	w := newTown(t)
	p := tale("1")
	w.importPosts(1, p)
	p.To[0].About = "where tales are told"
	_, changes := w.importPosts(1, p)
	w.same("about", w.importedAccount("club").About, "where tales are told")
	if changes[0].Clock == 0 {
		t.Error("nodes were not told to forget the account")
	}
	p.To[0].About = "something else"
	_, changes = w.importPosts(1, p)
	w.same("about, again", w.importedAccount("club").About, "where tales are told")
	w.same("change", changes[0], Change{})
}

func TestImportDirects(t *testing.T) {
	w := newTown(t)
	p := tale("1")
	p.To, p.Direct = nil, []ImportedAccount{person("ben")}
	w.importPosts(1, p)
	w.same("timelines", all(w, pgx.RowTo[string], `
		SELECT t.kind || ' ' || coalesce(a.name, '') FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id
		LEFT JOIN accounts a ON a.id = t.their_id AND t.kind <> 'post' ORDER BY 1`),
		[]string{"directs ann", "directs ben", "discussions ann", "post "})
	w.same("flags", all(w, pgx.RowTo[bool], `SELECT is_public FROM posts`), []bool{false})
}

func TestImportAccountsAndAdmins(t *testing.T) {
	w := newTown(t)
	g := club("club")
	g.Admin = "ann"
	im, err := w.Imports.Start(w.Context(), "town")
	w.must(err)
	defer func() { w.must(im.Close(context.Background())) }()
	ids, c, err := im.Accounts(w.Context(), []ImportedAccount{person("ann"), g})
	w.must(err)
	w.same("change", c, Change{})
	relation, err := w.Subscriptions.Relation(w.Context(), ids["ann"], ids["club"])
	w.must(err)
	w.same("relation", relation, Relation{Subscribed: true, Admin: true})
	again, _, err := im.Accounts(w.Context(), []ImportedAccount{g, person("ann")})
	w.must(err)
	w.same("ids", again, ids)
	w.same("tally", im.Tally(), Tally{New: Count{Accounts: 1, Groups: 1}})
	w.sound()
}

func TestImportOneAtATime(t *testing.T) {
	w := newTown(t)
	im, err := w.Imports.Start(w.Context(), FriendFeedSource)
	w.must(err)
	_, err = w.Imports.Start(w.Context(), FriendFeedSource)
	w.fails("a second import of the source", err, ErrImporting)
	other, err := w.Imports.Start(w.Context(), "elsewhere")
	w.must(err)
	w.must(other.Close(w.Context()))
	w.must(im.Close(w.Context()))
	w.importPosts(1, tale("1"))
}

// TestImportBatchWhole: a batch that cannot be stored leaves nothing behind, and
// the next goes in.
func TestImportBatchWhole(t *testing.T) {
	w := newTown(t)
	im, err := w.Imports.Start(w.Context(), FriendFeedSource)
	w.must(err)
	bad := tale("2")
	bad.Comments = []ImportedComment{{ExternalID: "2/a", Body: "a\x00b", CreatedAt: noon, Author: person("ben")}}
	_, err = im.Add(w.Context(), []Imported{tale("1"), bad})
	w.invalid("a text that cannot be stored", err, "text_invalid")
	down := errors.New("down")
	w.heard.inside(func(context.Context, pgx.Tx, []Event) error { return down })
	_, err = im.Add(w.Context(), []Imported{tale("1")})
	w.fails("a queue that is down", err, down)
	w.heard.inside(nil)
	w.same("posts", value[int](w, `SELECT count(*)::int FROM posts`), 0)
	w.same("tally", im.Tally(), Tally{})
	_, err = im.Add(w.Context(), []Imported{tale("1")})
	w.must(err)
	w.same("tally", im.Tally(), Tally{New: Count{Accounts: 1, Groups: 1, Posts: 1}})
	w.must(im.Close(w.Context()))
}

// TestImportMeetsAComment checks that an import of a post waits for a process that
// changes it, and computes everything from the result.
func TestImportMeetsAComment(t *testing.T) {
	w := newTown(t)
	p := tale("1")
	w.importPosts(1, p)
	post := w.imported(originPost, "1")
	held := w.hold()
	if _, err := held.Exec(w.Context(), `UPDATE posts SET version = version + 1, fresh_at = fresh_at + 1000 WHERE id = $1`, post); err != nil {
		t.Fatal(err)
	}
	p.Likes = []ImportedLike{thumb("ben", time.Minute)}
	wait := during(func() error {
		im, err := w.Imports.Start(w.Context(), FriendFeedSource)
		if err != nil {
			return err
		}
		_, err = im.Add(w.Context(), []Imported{p})
		return errors.Join(err, im.Close(w.Context()))
	})
	w.waitBlocked(1)
	w.must(held.Commit(w.Context()))
	w.must(wait())
	w.same("version", w.version(post), int64(3))
	w.same("freshness", w.freshAt(post), Micros(noon)+1000)
	w.sound()
}

func TestRemember(t *testing.T) {
	w := newTown(t)
	w.must(w.Imports.Remember(w.Context(), "replay:1", originPost, map[string]int64{"a": 1, "b": 2}))
	w.must(w.Imports.Remember(w.Context(), "replay:1", originPost, map[string]int64{"b": 3, "c": 4}))
	w.must(w.Imports.Remember(w.Context(), "replay:1", originComment, nil))
	got, err := w.Imports.Recall(w.Context(), "replay:1", originPost)
	w.must(err)
	if diff := cmp.Diff(map[string]int64{"a": 1, "b": 2, "c": 4}, got); diff != "" {
		t.Errorf("recalled: -want +got\n%s", diff)
	}
}

// Tags and names in what is imported bring posts to their timelines at the dates of
// the texts, once, and what people use already goes on.
func TestImportMarks(t *testing.T) {
	w := newTown(t)
	zoe := w.user("zoe")
	w.post(zoe, "a #river of now")
	first := tale("1")
	first.Body = "the #River at https://example.org/#lock"
	said := remark("c1", "bob", time.Hour)
	said.Body = "#river #weir"
	first.Comments = []ImportedComment{said}
	w.importPosts(10, first, tale("2"))
	w.heard.take()
	late := remark("c2", "cid", 40*24*time.Hour)
	late.Body = "still a #weir, and a #mill, @ann and @zoe"
	soon := remark("c3", "cid", 2*time.Hour)
	soon.Body = "#Boat"
	first.Comments = append(first.Comments, late, soon)
	w.importPosts(10, first)
	id := w.imported(originPost, "1")
	fresh := Micros(noon.Add(2 * time.Hour))
	w.same("freshness", w.freshAt(id), fresh)
	for term, entered := range map[string]int64{
		"river": Micros(noon), "weir": Micros(noon.Add(time.Hour)), "boat": fresh, "mill": fresh,
	} {
		w.same(term, w.row(w.hashtag(term), id), row{EnteredAt: entered, FreshAt: fresh})
	}
	for name, author := range map[string]int64{"ann": w.importedAccount("ann").ID, "zoe": zoe.ID} {
		w.same("mentions of "+name, w.row(w.timeline(kinds.Mentions, author), id), row{EnteredAt: fresh, FreshAt: fresh})
	}
	w.same("timelines of tags", value[int](w, `SELECT count(*)::int FROM timelines WHERE kind = 'hashtag'`), 4)
	w.same("first uses announced", w.heard.take()[0],
		Event(Replace{Everybody: true, Kinds: []string{"hashtag"}, Terms: []string{"boat", "mill"}}))
	before := w.dump()
	w.importPosts(10, first)
	if diff := cmp.Diff(before, w.dump()); diff != "" {
		t.Errorf("once more: -before +after\n%s", diff)
	}
	w.sound()
}
