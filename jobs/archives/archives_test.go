package archives_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/jobs/archives"
	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/blobs"
	"riverrun/timelines/doors"
	"riverrun/timelines/drafts"
	"riverrun/timelines/exports"
	"riverrun/timelines/files"
	"riverrun/timelines/listings"
	"riverrun/timelines/reports"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const password = "a long enough one"

// town is a site's store with people in it, and a maker of archives.
type town struct {
	*testing.T
	*timelines.Store
	exports *exports.Store
	blobs   blobs.Store
	maker   archives.Maker
	asked   *wishes
}

// wishes are the archives that jobs were announced for.
type wishes []int64

func (w *wishes) AnnounceTx(_ context.Context, _ pgx.Tx, events ...timelines.Event) error {
	for _, e := range events {
		if made, ok := e.(timelines.MakeExport); ok {
			*w = append(*w, made.ID)
		}
	}
	return nil
}

func newTown(t *testing.T) *town {
	t.Helper()
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	w := &town{T: t, asked: &wishes{}}
	w.Store = timelines.Open(testdb.New(t).Primary, w.asked, o)
	w.exports = exports.Open(w.Store)
	var err error
	w.blobs, err = blobs.Location{}.Open(t.Context(), t.TempDir())
	w.must(err)
	w.maker = archives.Maker{Exports: w.exports, Blobs: w.blobs, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	return w
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) person(name string) int64 {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Password: password})
	w.must(err)
	return a.ID
}

func (w *town) post(author int64, body string, to ...string) string {
	w.Helper()
	c, err := w.Posts.Create(w.Context(), timelines.NewPost{Author: author, Body: body, To: to})
	w.must(err)
	return c.Code
}

func (w *town) comment(author int64, code, body string) {
	w.Helper()
	_, err := w.Comments.Create(w.Context(), timelines.NewComment{Author: author, Code: code, Body: body})
	w.must(err)
}

// upload stores a file and attaches it to a new post of its owner.
func (w *town) upload(owner int64, name, content, alt string) (file string) {
	w.Helper()
	code := w.loose(owner, name, content)
	_, err := w.Posts.Create(w.Context(), timelines.NewPost{Author: owner, Body: "With " + name, Files: []files.Attachment{{Code: code, Alt: alt}}})
	w.must(err)
	return code
}

// loose uploads a file of no post.
func (w *town) loose(owner int64, name, content string) (file string) {
	w.Helper()
	sum, size, err := w.blobs.Put(w.Context(), strings.NewReader(content), 1<<20)
	w.must(err)
	code, err := w.Files.Add(w.Context(), files.New{Owner: owner, Name: name, Sum: sum, Bytes: size})
	w.must(err)
	return code
}

func (w *town) did(_ timelines.Change, err error) {
	w.Helper()
	w.must(err)
}

func (w *town) exec(query string, args ...any) {
	w.Helper()
	_, err := w.Pool().Exec(w.Context(), query, args...)
	w.must(err)
}

// ask asks for an archive and returns the wish.
func (w *town) ask(account int64, language string) int64 {
	w.Helper()
	w.must(w.exports.Ask(w.Context(), account, language))
	return (*w.asked)[len(*w.asked)-1]
}

func (w *town) find(account int64) exports.Export {
	w.Helper()
	e, err := w.exports.Find(w.Context(), account)
	w.must(err)
	return e
}

// archive makes and reads an archive: its files by name.
func (w *town) archive(account int64, language string) map[string]string {
	w.Helper()
	w.must(w.maker.Make(w.Context(), w.ask(account, language)))
	return w.read(account)
}

func (w *town) read(account int64) map[string]string {
	w.Helper()
	e := w.find(account)
	if e.State != exports.Ready || e.Done != e.Total {
		w.Fatalf("the archive is %+v", e)
	}
	blob, err := w.blobs.Open(w.Context(), e.Sum(), e.Bytes)
	w.must(err)
	content, err := io.ReadAll(blob)
	w.must(err)
	w.must(blob.Close())
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	w.must(err)
	all := map[string]string{}
	for _, f := range archive.File {
		in, err := f.Open()
		w.must(err)
		text, err := io.ReadAll(in)
		w.must(err)
		if _, twice := all[f.Name]; twice {
			w.Errorf("%s is there twice", f.Name)
		}
		all[f.Name] = string(text)
	}
	return all
}

// has and lacks are about the text of some place.
func (w *town) has(where, text string, wanted ...string) {
	w.Helper()
	for _, s := range wanted {
		if !strings.Contains(text, s) {
			w.Errorf("%s: no %q in\n%s", where, s, text)
		}
	}
}

func (w *town) lacks(where, text string, unwanted ...string) {
	w.Helper()
	for _, s := range unwanted {
		if strings.Contains(text, s) {
			w.Errorf("%s: %q in\n%s", where, s, text)
		}
	}
}

// count returns how many blobs there are.
func (w *town) count() (n int) {
	w.Helper()
	w.must(w.blobs.Walk(w.Context(), func(blobs.Sum, int64, time.Time) error { n++; return nil }))
	return n
}

// An archive has what its owner wrote, set and gathered, what others wrote to that as far as its owner may
// read it, and no secret.
func TestContents(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann, bob, eve, cat, max := w.person("ann"), w.person("bob"), w.person("eve"), w.person("cat"), w.person("max")
	_, err := admin.Open(w.Store).SetRole(ctx, admin.By{}, "max", admin.Moderator)
	w.must(err)
	_, _, err = w.Groups.Create(ctx, timelines.NewGroup{Actor: ann, Name: "sailing", Title: "Sailing", Access: timelines.Private})
	w.must(err)
	_, _, err = w.Groups.Create(ctx, timelines.NewGroup{Actor: bob, Name: "closed", Title: "Closed"})
	w.must(err)
	_, _, err = w.Subscriptions.Subscribe(ctx, ann, "closed")
	w.must(err)

	old := w.post(ann, "An old one with <script>alert(1)</script> & \"quotes\"")
	w.exec(`UPDATE posts SET created_at = '2011-03-04 05:06:07Z' WHERE code = $1`, old)
	w.comment(bob, old, "Bob answers")
	w.comment(eve, old, "Eve taunts")
	w.comment(cat, old, "Cat spams")
	for _, who := range []int64{bob, eve, cat} {
		w.did(w.Posts.Like(ctx, who, old))
	}
	w.post(ann, "Nobody else reads this", timelines.ToEyes)
	w.post(ann, "A letter to bob", "bob")
	w.post(ann, "To the sailors", "sailing")
	left := w.post(ann, "Where ann is not any more", "closed")
	w.comment(bob, left, "Behind the door")
	code := w.upload(ann, `..\..\boat.TXT`, "a boat", "a <b>boat</b>")
	gone := w.post(ann, "Deleted")
	w.did(w.Posts.Delete(ctx, ann, gone))

	theirs := w.post(bob, "Bob's own words")
	secret := w.post(eve, "Eve's own words")
	w.comment(ann, theirs, "Ann elsewhere")
	w.did(w.Posts.Like(ctx, ann, theirs))
	w.did(w.Posts.Fave(ctx, ann, theirs))
	w.did(w.Posts.Fave(ctx, ann, secret))
	_, _, err = w.Subscriptions.Subscribe(ctx, ann, "bob")
	w.must(err)
	_, _, err = w.Subscriptions.Subscribe(ctx, ann, "eve")
	w.must(err)
	for _, who := range []int64{bob, eve, cat} {
		_, _, err = w.Subscriptions.Subscribe(ctx, who, "ann")
		w.must(err)
	}
	_, _, err = w.Lists.Create(ctx, timelines.NewList{Actor: ann, Title: "Close ones", Slug: "close"})
	w.must(err)
	w.did(w.Lists.Edit(ctx, ann, "close", "Close ones", []string{"bob", "eve"}))
	w.did(w.Hides.HideTerm(ctx, ann, "lottery"))
	_, _, err = w.Hides.HidePost(ctx, ann, theirs)
	w.must(err)
	attached := w.loose(ann, "sails.txt", "sails")
	_, err = w.Posts.Schedule(ctx, timelines.NewPost{
		Author: ann, Body: "For tomorrow", Language: "ru", Files: []files.Attachment{{Code: attached, Alt: "white sails"}},
	}, timelines.When{At: time.Now().Add(24 * time.Hour), Zone: "UTC"})
	w.must(err)
	unsent := w.loose(ann, "oars.txt", "oars")
	_, err = w.Drafts.Save(ctx, ann, drafts.Draft{Place: "/", Body: "Half a thought", Language: "en", Uploads: []string{unsent}}, 1000, "")
	w.must(err)
	_, err = w.Drafts.Save(ctx, ann, drafts.Draft{Place: "/sailing?listing", Listing: &listings.Fields{Price: "12", Place: "The pier"}}, 1000, "")
	w.must(err)
	_, err = reports.Open(w.Store).File(ctx, ann, reports.Thing{Name: "cat"}, reports.Spam, "Cat is a robot")
	w.must(err)
	i, err := doors.Open(w.Store).Invite(ctx, admin.By{AccountID: ann}, doors.New{Uses: 1, Days: 7, Note: "for dan"})
	w.must(err)
	token, _, err := w.Accounts.SignIn(ctx, "ann", password)
	w.must(err)
	w.exec(`UPDATE sessions SET device = 'Firefox, Linux' WHERE account_id = $1`, ann)
	w.exec(`INSERT INTO sources (owner_id, added_by, code, way, mode, title, url, token_hash)
		VALUES ($1, $1, '0123456789', 'link', 'append', 'A feed', 'https://a.example/feed', sha256('x'))`, ann)

	// As of now ann and eve see nothing of each other, cat is seen by the staff alone, and the group is closed to ann.
	w.did(w.Bans.Ban(ctx, ann, "eve"))
	w.did(admin.Open(w.Store).Suspend(ctx, admin.By{AccountID: max}, "cat", admin.Suspension{Reason: "spam", Hide: true}))
	w.exec(`UPDATE timelines SET access = 2 WHERE kind = 'group' AND their_id = (SELECT id FROM accounts WHERE name = 'closed')`)
	w.exec(`UPDATE posts SET is_public = false WHERE code = $1`, left)
	w.exec(`DELETE FROM readers WHERE account_id = $1 AND timeline_id IN (SELECT id FROM timelines WHERE kind = 'group' AND their_id = (SELECT id FROM accounts WHERE name = 'closed'))`, ann)

	all := w.archive(ann, "en")
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range all {
			if !yield(name) {
				return
			}
		}
	})
	year := fmt.Sprintf("%d.html", time.Now().UTC().Year())
	want := []string{"2011.html", year, "data.json", "files/" + code + ".txt", "files/" + attached + ".txt", "files/" + unsent + ".txt", "index.html"}
	if slices.Sort(want); !slices.Equal(names, want) {
		t.Errorf("the archive has %q, want %q", names, want)
	}
	if got := all["files/"+code+".txt"]; got != "a boat" {
		t.Errorf("the file is %q", got)
	}
	w.has("2011.html", all["2011.html"], "2011-03-04 05:06", "An old one with &lt;script&gt;alert(1)&lt;/script&gt; &amp;", "Bob answers", "(@bob)", "Likes: 1", `lang="en"`)
	w.has(year, all[year], "Nobody else reads this", "for your eyes only", "A letter to bob", "To the sailors", "group: Sailing", "Where ann is not any more",
		`<a href="files/`+code+`.txt">`)
	w.has("index.html", all["index.html"], `<a href="2011.html">2011</a>`, "Posts: 1", "Posts: 5", "data.json")

	var data map[string]json.RawMessage
	w.must(json.Unmarshal([]byte(all["data.json"]), &data))
	for section, wanted := range map[string][]string{
		"profile": {`"ann"`}, "feeds": {`"feed"`, `"private"`},
		"posts":    {"An old one with <script>", "Bob answers", "A letter to bob", `"name": "bob"`, "Where ann is not any more", `a <b>boat</b>`, `boat.TXT`},
		"comments": {"Ann elsewhere", theirs}, "likes": {theirs}, "faves": {theirs, secret}, "subscriptions": {`"bob"`}, "subscribers": {`"bob"`},
		"lists": {"Close ones", `"bob"`}, "groups": {"sailing", "closed"}, "groups_administered": {"sailing"}, "bans": {`"eve"`},
		"hidden_words": {"lottery"}, "hidden_posts": {theirs}, "sources": {"https://a.example/feed"},
		"drafts":          {"Half a thought", `"language": "en"`, `"name": "oars.txt"`, `"path": "files/` + unsent + `.txt"`, "The pier"},
		"scheduled_posts": {"For tomorrow", `"language": "ru"`, `"name": "sails.txt"`, `"path": "files/` + attached + `.txt"`, "white sails"},
		"sessions":        {"Firefox, Linux"}, "reports": {"Cat is a robot"}, "invitations": {"for dan"},
		"comment_likes": nil, "requests_sent": nil, "requests_received": nil, "hidden_people": nil, "muted_posts": nil, "words_of_tags": nil, "account_events": nil, "app_tokens": nil, "webhooks": nil, "post_states": nil,
	} {
		if data[section] == nil {
			t.Errorf("data.json has no %s", section)
			continue
		}
		// Spaces differ between what SQL and what Go made.
		w.has(section, strings.ReplaceAll(string(data[section]), `": "`, `":"`)+strings.ReplaceAll(string(data[section]), `":"`, `": "`), wanted...)
		if section != "bans" {
			w.lacks(section, string(data[section]), `"eve"`)
		}
	}

	var hash string
	w.must(w.Pool().QueryRow(ctx, `SELECT password_hash FROM credentials WHERE account_id = $1`, ann).Scan(&hash))
	for name, text := range all {
		w.lacks(name, text, "Eve taunts", "Cat spams", "Behind the door", "Bob's own words", "Eve's own words", "Deleted",
			"hash", hash, token, i.Code, `"cat"`)
	}
	w.lacks("pages", all["2011.html"]+all[year], "<script")
}

func TestInRussian(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.post(ann, "Привет")
	all := w.archive(ann, "ru")
	w.has("index.html", all["index.html"], `lang="ru"`, "Записи по годам", "Архив")
	for name, text := range all {
		w.lacks(name, text, "Posts by year", "To the beginning", "feed:", "Archive")
	}
}

// broken is a store that fails at the n-th read of what is put: the process is about to end.
type broken struct {
	blobs.Store
	after int64
	err   error
}

func (b broken) Put(ctx context.Context, content io.Reader, limit int64) (blobs.Sum, int64, error) {
	return b.Store.Put(ctx, io.MultiReader(io.LimitReader(content, b.after), failing{b.err}), limit)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// noise is a text that no compression makes much shorter.
func noise() string {
	var b strings.Builder
	for range 120 {
		b.WriteString(rand.Text())
	}
	return b.String()
}

// A making that is cut off leaves nothing, and the next attempt makes a whole archive.
func TestCutOff(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	for i := range 120 {
		w.post(ann, fmt.Sprintf("Post %d: %s", i, noise()))
	}
	w.upload(ann, "a.txt", "a boat", "")
	uploads := w.count()
	id := w.ask(ann, "en")
	cut := errors.New("the disk is gone")
	maker := w.maker
	maker.Blobs = broken{w.blobs, 120_000, cut}
	if err := maker.Make(t.Context(), id); !errors.Is(err, cut) {
		t.Fatalf("got %v, want %v", err, cut)
	}
	if e := w.find(ann); e.State != exports.Making || e.Done == 0 || e.Done >= e.Total || !e.Working() {
		t.Errorf("in the middle: %+v", e)
	}
	if n := w.count(); n != uploads {
		t.Errorf("%d blobs besides the uploads", n-uploads)
	}
	w.must(w.maker.Make(t.Context(), id))
	w.must(w.maker.Make(t.Context(), id)) // worked twice
	if all := w.read(ann); strings.Count(all["data.json"], `"Post `) != 120 || len(all) != 4 {
		t.Errorf("%d posts, %d files", strings.Count(all["data.json"], `"Post `), len(all))
	}
	if n := w.count(); n != uploads+1 {
		t.Errorf("%d blobs besides the uploads, want 1", n-uploads)
	}
	if report, err := files.Check(t.Context(), w.Pool(), w.blobs); err != nil || len(report.Missing)+len(report.Orphaned) > 0 || report.Blobs != uploads+1 {
		t.Errorf("the check says %+v, %v", report, err)
	}
	if swept, err := files.Sweep(t.Context(), w.Pool(), w.blobs, time.Now().Add(time.Hour)); err != nil || swept != 0 {
		t.Errorf("%d swept, %v", swept, err)
	}

	// Another one is made a day later, and the last one goes; then it is too old.
	var invalid *timelines.InvalidError
	if err := w.exports.Ask(t.Context(), ann, "en"); !errors.As(err, &invalid) || invalid.Code != "export_soon" {
		t.Errorf("asked again at once: %v", err)
	}
	w.exec(`UPDATE exports SET finished_at = finished_at - interval '1 day'`)
	again := w.ask(ann, "en")
	if again == id {
		t.Error("the new wish is the old one")
	}
	w.must(w.exports.Ask(t.Context(), ann, "en")) // while it is made: nothing
	if len(*w.asked) != 2 {
		t.Errorf("%d wishes, want 2", len(*w.asked))
	}
	w.must(w.maker.Make(t.Context(), id)) // taken back
	w.must(w.maker.Make(t.Context(), again))
	if swept, err := files.Sweep(t.Context(), w.Pool(), w.blobs, time.Now().Add(time.Hour)); err != nil || swept != 1 {
		t.Errorf("%d swept, %v; want the first archive", swept, err)
	}
	w.exec(`UPDATE exports SET expires_at = now()`)
	if e := w.find(ann); e.State != "" {
		t.Errorf("too old: %+v", e)
	}
	if n, err := w.exports.Expire(t.Context()); err != nil || n != 1 {
		t.Errorf("%d removed, %v", n, err)
	}
	if swept, err := files.Sweep(t.Context(), w.Pool(), w.blobs, time.Now().Add(time.Hour)); err != nil || swept != 1 || w.count() != uploads {
		t.Errorf("%d swept, %v", swept, err)
	}
}

// A lost upload does not keep the rest from its owner.
func TestALostUpload(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	w.upload(ann, "a.txt", "lost", "")
	kept := w.upload(ann, "b.txt", "kept", "")
	w.must(w.blobs.Walk(t.Context(), func(sum blobs.Sum, size int64, _ time.Time) error {
		blob, err := w.blobs.Open(t.Context(), sum, size)
		w.must(err)
		text, err := io.ReadAll(blob)
		w.must(err)
		w.must(blob.Close())
		if string(text) == "lost" {
			return w.blobs.Delete(t.Context(), sum)
		}
		return nil
	}))
	all := w.archive(ann, "en")
	if all["files/"+kept+".txt"] != "kept" || len(all) != 4 {
		t.Errorf("the archive has %d files", len(all))
	}
}

// measured is a store that notes the most memory that was in use while something was put.
type measured struct {
	blobs.Store
	most *uint64
}

func (m measured) Put(ctx context.Context, content io.Reader, limit int64) (blobs.Sum, int64, error) {
	return m.Store.Put(ctx, &watched{content, m.most, 0}, limit)
}

type watched struct {
	io.Reader
	most  *uint64
	reads int
}

func (w *watched) Read(p []byte) (int, error) {
	if w.reads++; w.reads%50 == 1 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		*w.most = max(*w.most, m.HeapAlloc)
	}
	return w.Reader.Read(p)
}

// The memory for an archive does not grow with it.
func TestManyPosts(t *testing.T) {
	w := newTown(t)
	ann, bob := w.person("ann"), w.person("bob")
	const posts, text = 3000, 5_000
	w.exec(`
		INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive)
		SELECT $1, n, now() - n * interval '1 day', true, 'zzzzzz' || lpad(n::text, 4, '0'),
			(SELECT string_agg(md5(n::text || i), '') FROM generate_series(1, $2 / 32) i), ARRAY[(SELECT id FROM timelines WHERE kind = 'feed' AND their_id = $1)]
		FROM set_config('riverrun.texts', 'apart', true), generate_series(1, $3) n`, ann, text, posts)
	w.exec(`INSERT INTO comments (post_id, author_id, created_at, body) SELECT p.id, $1, now(), 'Comment' FROM posts p, generate_series(1, 3)`, bob)
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most uint64
	w.maker.Blobs = measured{w.blobs, &most}
	all := w.archive(ann, "en")
	if got := strings.Count(all["data.json"], `"code":`); got != posts {
		t.Errorf("%d posts, want %d", got, posts)
	}
	if got := strings.Count(all["data.json"], `"Comment"`); got != 3*posts {
		t.Errorf("%d comments, want %d", got, 3*posts)
	}
	// The texts have 15 MB, and are in it twice.
	if grown := int64(most) - int64(before.HeapAlloc); grown > 6<<20 {
		t.Errorf("the memory grew by %d bytes", grown)
	}
}
