package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/access"
)

// archiveDirs hold archives: small ones of our own writing, and the real ones
// where RIVERRUN_ARCHIVES points.
func archiveDirs() []string {
	dirs := []string{filepath.Join("..", "..", "timelines", "friendfeed", "testdata")}
	if dir := os.Getenv("RIVERRUN_ARCHIVES"); dir != "" {
		dirs = append(dirs, dir)
	}
	return dirs
}

func archiveFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("archives in %s: %v, %v", dir, files, err)
	}
	return files
}

// onDatabase are the variables of a riverrun on a test's own databases.
func onDatabase(t *testing.T) (map[string]string, *testdb.DB) {
	t.Helper()
	db := testdb.New(t)
	return map[string]string{
		"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL,
		"RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_DATA": "/dev/null/nowhere", "RIVERRUN_FILES": t.TempDir(),
	}, db
}

// both runs a command to its end and returns what it said.
func both(t *testing.T, vars map[string]string, args ...string) (out, said string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err = run(t.Context(), args, environment(vars), strings.NewReader(""), &stdout, &stderr)
	return stdout.String(), stderr.String(), err
}

// countArchives counts what there is in archives, in plain Go.
func countArchives(t *testing.T, files ...string) string {
	t.Helper()
	kinds, comments, likes := map[string]string{}, map[string]bool{}, map[string]bool{}
	posts := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		type account struct{ ID, Type string }
		var entries []struct {
			ID       string `json:"_id"`
			From     account
			To       []account
			Comments []struct {
				ID   string
				From account
			}
			Likes []struct{ From account }
		}
		if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &entries); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			posts[e.ID] = true
			kinds[e.From.ID] = e.From.Type
			for _, to := range e.To {
				kinds[to.ID] = to.Type
			}
			for _, c := range e.Comments {
				comments[e.ID+c.ID] = true
				kinds[c.From.ID] = c.From.Type
			}
			for _, l := range e.Likes {
				likes[e.ID+" "+l.From.ID] = true
				kinds[l.From.ID] = l.From.Type
			}
		}
	}
	groups := 0
	for _, kind := range kinds {
		if kind == "group" {
			groups++
		}
	}
	return fmt.Sprintf("accounts %d groups %d posts %d comments %d likes %d", len(kinds)-groups, groups, len(posts), len(comments), len(likes))
}

const none = "accounts 0 groups 0 posts 0 comments 0 likes 0"

// onlyNames reports whether a command wrote nothing beside its output but which database
// it uses.
func onlyNames(said string) bool {
	return strings.Contains(said, `msg="using the database of DATABASE_URL"`) && strings.Count(said, "\n") == 1
}

func TestImportCommand(t *testing.T) {
	for _, dir := range archiveDirs() {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			vars, _ := onDatabase(t)
			files := archiveFiles(t, dir)
			args := append([]string{"import", "friendfeed"}, files...)
			want := countArchives(t, files...)
			out, said, err := both(t, vars, args...)
			if out != "new: "+want+"\nthere: "+none+"\n" || !onlyNames(said) || err != nil {
				t.Errorf("import: got %q, %q, %v; want new: %s", out, said, err, want)
			}
			out, said, err = both(t, vars, args...)
			if out != "new: "+none+"\nthere: "+want+"\n" || !onlyNames(said) || err != nil {
				t.Errorf("import again: got %q, %q, %v; want there: %s", out, said, err, want)
			}
		})
	}
}

// TestImportBroken checks that an import names wrong things, and keeps right
// ones.
func TestImportBroken(t *testing.T) {
	vars, db := onDatabase(t)
	dir := t.TempDir()
	entry := func(id string) string {
		return `{"_id": "` + id + `", "body": "b", "date": "2009-05-13T15:54:18Z", "from": {"id": "ann", "type": "user", "name": "Ann"}}`
	}
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	wrong := write("wrong.json", `[`+entry("e/1")+`, {"_id": "e/2", "body": 7}, `+entry("e/3")+`]`)
	cut := write("cut.json", `[`+entry("e/4")+`, `+entry("e/5")[:40])
	empty := write("empty.json", ``)
	fine := write("fine.json", `[`+entry("e/6")+`]`)

	out, said, err := both(t, vars, "import", "friendfeed", wrong, cut, empty, fine)
	for _, want := range []string{
		"import: " + wrong + ": byte 116, element 2 (e/2): body: want a string, got a number\n",
		"import: " + cut + ": byte 156, element 2: the file ends before the array does\n",
		"import: " + empty + ": byte 0: the file is empty, want a JSON array of entries\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("said %q, want in it %q", said, want)
		}
	}
	if err == nil || report(err, &bytes.Buffer{}) != 1 || !strings.Contains(err.Error(), "the 3 named above") {
		t.Errorf("import: got error %v, want one that counts 3", err)
	}
	if want := "new: accounts 1 groups 0 posts 4 comments 0 likes 0\nthere: " + none + "\n"; out != want {
		t.Errorf("import: got %q, want %q", out, want)
	}
	var posts int
	if err := db.Primary.QueryRow(t.Context(), `SELECT count(*) FROM posts`).Scan(&posts); err != nil || posts != 4 {
		t.Errorf("posts: got %d (%v), want 4", posts, err)
	}
}

// TestImportInterrupted checks that an import keeps what it has read, and that
// the same command goes on.
func TestImportInterrupted(t *testing.T) {
	vars, db := onDatabase(t)
	const posts = 12_000
	var b strings.Builder
	for i := range posts {
		fmt.Fprintf(&b, `,{"_id": "e/%d", "body": "b", "date": "2009-05-13T15:54:18Z", "from": {"id": "ann"}}`, i)
	}
	file := filepath.Join(t.TempDir(), "long.json")
	if err := os.WriteFile(file, []byte("["+b.String()[1:]+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"import", "friendfeed", file}, environment(vars), strings.NewReader(""), &out, &logOf{t: t})
	}()
	count := 0
	for deadline := time.Now().Add(30 * time.Second); count == 0; {
		if err := db.Primary.QueryRow(t.Context(), `SELECT count(*) FROM posts`).Scan(&count); err != nil || time.Now().After(deadline) {
			t.Fatalf("the import never began: %v", err)
		}
	}
	stop()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("interrupted: got %v", err)
	}
	if err := db.Primary.QueryRow(t.Context(), `SELECT count(*) FROM posts`).Scan(&count); err != nil || count == posts {
		t.Fatalf("interrupted: got %d posts (%v), want some", count, err)
	}
	if want := fmt.Sprintf("new: accounts 1 groups 0 posts %d comments 0 likes 0\n", count); !strings.HasPrefix(out.String(), want) {
		t.Errorf("interrupted: got %q, want %q", out.String(), want)
	}
	said, _, err := both(t, vars, "import", "friendfeed", file)
	want := fmt.Sprintf("new: accounts 0 groups 0 posts %d comments 0 likes 0\nthere: accounts 1 groups 0 posts %d comments 0 likes 0\n", posts-count, count)
	if err != nil || said != want {
		t.Errorf("again: got %q, %v, want %q", said, err, want)
	}
}

func TestImportUsage(t *testing.T) {
	for _, args := range [][]string{
		{"import"},
		{"import", "friendfeed"},
		{"import", "mokum", "x.json"},
		{"import", "friendfeed", "-nonsense", "x"},
		{"replay", "x.json"},
		{"replay", "-into", "g"},
		{"replay", "-into", "g", "-speed", "fast", "x.json"},
		{"replay", "-into", "g", "x.json", "y.json"},
		{"demo", "town"},
	} {
		if _, _, err := both(t, nil, args...); report(err, &bytes.Buffer{}) != 2 {
			t.Errorf("run(%q): got %v, want a mistake of usage", args, err)
		}
	}
	for _, args := range [][]string{{"import", "friendfeed", "/nowhere.json"}, {"replay", "-into", "g", "/nowhere.json"}} {
		if _, _, err := both(t, nil, args...); err == nil || !strings.Contains(err.Error(), "/nowhere.json") {
			t.Errorf("run(%q): got %v, want an error that names the file", args, err)
		}
	}
}

// TestImportThenSignIn: imported people sign in once they have a password.
func TestImportThenSignIn(t *testing.T) {
	vars, db := onDatabase(t)
	if _, _, err := both(t, vars, append([]string{"import", "friendfeed"}, archiveFiles(t, archiveDirs()[0])...)...); err != nil {
		t.Fatal(err)
	}
	store := timelines.Open(db.Primary, nil, timelines.DefaultOptions())
	if _, _, err := store.Accounts.SignIn(t.Context(), "annlee", "correct horse"); err == nil {
		t.Error("annlee signed in without ever having had a password")
	}
	if _, err := once(t, vars, "correct horse\n", "account", "password", "annlee"); err != nil {
		t.Fatal(err)
	}
	if _, a, err := store.Accounts.SignIn(t.Context(), "annlee", "correct horse"); err != nil || a.Title != "Ann Lee" {
		t.Errorf("sign in: got %+v, %v; want Ann Lee", a, err)
	}
}

var playedForm = regexp.MustCompile(`^played: posts (\d+) comments (\d+) likes (\d+)\nthere: posts (\d+) comments (\d+) likes (\d+)\n`)

// TestReplay plays an archive, beside a server, twice.
func TestReplay(t *testing.T) {
	vars, db := onDatabase(t)
	server := background(t, vars)
	garden := filepath.Join(archiveDirs()[0], "garden.json")
	out, said, err := both(t, vars, "replay", "-speed", "max", "-into", "live", garden)
	if want := "played: posts 6 comments 7 likes 5\nthere: posts 0 comments 0 likes 0\n"; out != want || err != nil {
		t.Errorf("replay: got %q, %q, %v; want %q", out, said, err, want)
	}
	out, _, err = both(t, vars, "replay", "--speed", "0", "--into", "live", garden)
	if want := "played: posts 0 comments 0 likes 0\nthere: posts 6 comments 7 likes 5\n"; out != want || err != nil {
		t.Errorf("replay again: got %q, %v; want %q", out, err, want)
	}
	var posts, fresh, wrongOrder, admins int
	err = db.Primary.QueryRow(t.Context(), `
		SELECT count(*), count(*) FILTER (WHERE p.created_at > now() - interval '1 hour'),
			(SELECT count(*) FROM comments c JOIN posts p ON p.id = c.post_id WHERE c.created_at <= p.created_at),
			(SELECT count(*) FROM group_admins g JOIN accounts a ON a.id = g.account_id WHERE a.name = 'annlee')
		FROM posts p JOIN timelines t ON p.decisive = ARRAY[t.id] JOIN accounts a ON a.id = t.their_id
		WHERE t.kind = 'group' AND a.name = 'live'`).Scan(&posts, &fresh, &wrongOrder, &admins)
	if err != nil || posts != 6 || fresh != 6 || wrongOrder != 0 || admins != 1 {
		t.Errorf("played: %d posts in the group, %d dated now, %d comments before their post, %d founders annlee (%v); want 6, 6, 0, 1",
			posts, fresh, wrongOrder, admins, err)
	}
	server.end(t)
	if out, err := once(t, vars, "", "check"); err != nil || !strings.HasSuffix(out, "differences 0\n") {
		t.Errorf("check: got %q, %v", out, err)
	}

	// Into another group it is played anew; private posts stay out.
	harbour := filepath.Join(archiveDirs()[0], "harbour.json")
	out, _, err = both(t, vars, "replay", "-speed", "max", "-owner", "nobody", "-into", "other", harbour)
	if err == nil || !strings.Contains(err.Error(), "there is no user nobody") {
		t.Errorf("replay for nobody: got %q, %v", out, err)
	}
	out, _, err = both(t, vars, "replay", "-speed", "max", "-into", "other", harbour)
	if want := "played: posts 3 comments 11 likes 5\nthere: posts 0 comments 0 likes 0\nleft out: 3 posts that were not public\n"; out != want || err != nil {
		t.Errorf("replay of the harbour: got %q, %v; want %q", out, err, want)
	}
	if _, _, err = both(t, vars, "replay", "-speed", "max", "-into", "annlee", garden); err == nil || !strings.Contains(err.Error(), "a person, not a group") {
		t.Errorf("replay into a person: got %v", err)
	}
}

// TestReplayInterrupted: stopped between any two events and started again, it
// says nothing twice.
func TestReplayInterrupted(t *testing.T) {
	vars, db := onDatabase(t)
	harbour := filepath.Join(archiveDirs()[0], "harbour.json")
	count := func() (n int) {
		t.Helper()
		err := db.Primary.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM posts) + (SELECT count(*) FROM comments) + (SELECT count(*) FROM likes)`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// So slow that it stands still after the first event.
	ctx, stop := context.WithCancel(t.Context())
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"replay", "-speed", "0.001", "-into", "live", harbour}, environment(vars), strings.NewReader(""), &out, &logOf{t: t})
	}()
	for deadline := time.Now().Add(30 * time.Second); count() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the replay never began")
		}
	}
	stop()
	if err := <-ended; err != nil || !strings.HasSuffix(out.String(), "interrupted; the same command goes on\n") || count() != 1 {
		t.Fatalf("interrupted: got %q, %v, %d things made; want 1", out.String(), err, count())
	}
	// As if it had been killed before it wrote that down: the form's key knows.
	if _, err := db.Primary.Exec(t.Context(), `DELETE FROM origins WHERE source LIKE 'replay:%'`); err != nil {
		t.Fatal(err)
	}
	said, _, err := both(t, vars, "replay", "-speed", "max", "-into", "live", harbour)
	got := playedForm.FindStringSubmatch(said)
	if err != nil || got == nil || got[1] != "2" || got[4] != "1" || count() != 19 {
		t.Errorf("the second run: got %q, %v, %d things in all; want 2 posts played, 1 there, 19 in all", said, err, count())
	}
	// Keys are forgotten after some days; the record of the import is not.
	if _, err := db.Primary.Exec(t.Context(), `DELETE FROM keys`); err != nil {
		t.Fatal(err)
	}
	said, _, err = both(t, vars, "replay", "-speed", "max", "-into", "live", harbour)
	if err != nil || !strings.HasPrefix(said, "played: posts 0 comments 0 likes 0\nthere: posts 3 comments 11 likes 5\n") || count() != 19 {
		t.Errorf("the third run: got %q, %v, %d things in all; want nothing new", said, err, count())
	}
}

func TestDemo(t *testing.T) {
	vars, db := onDatabase(t)
	if _, err := once(t, vars, "correct horse\n", "account", "create", "sam"); err != nil {
		t.Fatal(err)
	}
	// This is what OWASP recommends; tests of other packages make cheaper hashes.
	var hash string
	err := db.Primary.QueryRow(t.Context(), `SELECT password_hash FROM credentials`).Scan(&hash)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the password is kept as %q, %v", hash, err)
	}
	out, said, err := both(t, vars, "demo", "-password", "lower weir")
	if err != nil || !onlyNames(said) || !strings.Contains(out, "password lower weir\n") || !strings.Contains(out, "  sam-2 ") {
		t.Fatalf("demo: got %q, %q, %v", out, said, err)
	}
	town, err := readTown()
	if err != nil {
		t.Fatal(err)
	}
	posts := town.posts(time.Now())
	var comments, likes int
	for _, p := range posts {
		comments, likes = comments+len(p.Comments), likes+len(p.Likes)
	}
	for _, g := range town.Groups {
		if town.accounts()[g.Admin].Kind != timelines.User {
			t.Errorf("%s has no administrator", g.Name)
		}
	}
	want := fmt.Sprintf("accounts %d groups %d posts %d comments %d likes %d", len(town.People), len(town.Groups), len(posts), comments, likes)
	if !strings.HasPrefix(out, "new: "+want+"\nthere: "+none+"\n") {
		t.Errorf("demo: got %q, want new: %s", out, want)
	}
	store := timelines.Open(db.Primary, nil, timelines.DefaultOptions())
	access := access.New(store)
	for _, p := range town.People {
		name := p.Name
		if name == "sam" {
			name = "sam-2"
		}
		_, a, err := store.Accounts.SignIn(t.Context(), name, "lower weir")
		if err != nil || (a.Access == timelines.Private) != p.Private || a.About != p.About {
			t.Errorf("sign in as %s: got %+v, %v", name, a, err)
		}
		sets, err := access.Sets(t.Context(), a.ID)
		if err != nil || len(sets.Follows) != len(p.Follows) {
			t.Errorf("%s follows %v (%v), want %s", name, sets.Follows, err, p.Follows)
		}
	}
	for _, l := range town.Market.Listings {
		if i := slices.IndexFunc(town.People, func(p townAccount) bool { return p.Name == l.By }); !slices.Contains(town.People[i].Follows, town.Market.Group) {
			t.Errorf("%s offers something in the market, and is no member", l.By)
		}
	}
	var told int
	if err := db.Primary.QueryRow(t.Context(), `SELECT count(*) FROM account_events WHERE kind = 'password'`).Scan(&told); err != nil || told != 0 {
		t.Errorf("%d people are told that their password changed (%v)", told, err)
	}
	var future, unread int
	err = db.Primary.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM comments WHERE created_at > now()) + (SELECT count(*) FROM likes WHERE created_at > now()),
			(SELECT count(*) FROM posts p WHERE NOT EXISTS (
				SELECT FROM timelines t LEFT JOIN readers r ON r.timeline_id = t.id AND r.account_id = p.author_id
				WHERE t.id = ANY(p.decisive) AND (t.access = 0 OR r.account_id IS NOT NULL)))`).Scan(&future, &unread)
	if err != nil || future != 0 || unread != 0 {
		t.Errorf("%d comments and likes of the future, %d posts their author cannot read (%v)", future, unread, err)
	}

	again, said, err := both(t, vars, "demo", "-password", "another one")
	if err != nil || !onlyNames(said) || !strings.HasPrefix(again, "new: "+none+"\nthere: "+want+"\n") {
		t.Errorf("demo again: got %q, %q, %v; want there: %s", again, said, err, want)
	}
	if _, _, err := store.Accounts.SignIn(t.Context(), "nell", "lower weir"); err != nil {
		t.Errorf("the second demo changed passwords: %v", err)
	}

	// G22: the flea market has things in each state, once; a town from before gets them.
	states := func() (of string) {
		t.Helper()
		err := db.Primary.QueryRow(t.Context(), `
			SELECT string_agg(state || ' ' || n, ', ' ORDER BY state) FROM (SELECT state, count(*) AS n FROM listings GROUP BY state) s`).Scan(&of)
		if err != nil {
			t.Fatal(err)
		}
		return of
	}
	var closed, over int
	for _, l := range town.Market.Listings {
		if l.How != "" {
			closed++
		} else if l.Over {
			over++
		}
	}
	things := fmt.Sprintf("active %d, closed %d, expired %d", len(town.Market.Listings)-closed-over, closed, over)
	if got := states(); got != things || over == 0 {
		t.Errorf("after two runs the market has %s, want %s", got, things)
	}
	for _, before := range []string{
		`DELETE FROM listings`, `UPDATE accounts SET listings_in = ''`, `DELETE FROM origins WHERE source = 'demo:made' AND kind = 'post'`,
	} {
		if _, err := db.Primary.Exec(t.Context(), before); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		if _, _, err := both(t, vars, "demo"); err != nil {
			t.Fatal(err)
		}
		if got := states(); got != things {
			t.Errorf("run %d on a town without a market: it has %s, want %s", i+1, got, things)
		}
	}
}
