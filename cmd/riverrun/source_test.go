package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/sources"
)

// blog is a site with a page, and a feed with entries entries.
type blog struct {
	*httptest.Server
	entries atomic.Int64
	gone    atomic.Bool
}

func newBlog(t *testing.T, entries int64) *blog {
	t.Helper()
	b := &blog{}
	b.entries.Store(entries)
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case b.gone.Load():
			http.NotFound(w, r)
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!DOCTYPE html><title>Harbour</title><link rel="alternate" type="application/rss+xml" href="/feed.xml">`)
		default:
			w.Header().Set("Content-Type", "application/rss+xml")
			fmt.Fprint(w, `<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour</title><link>http://harbour.example/</link>`)
			for i := range b.entries.Load() {
				fmt.Fprintf(w, `<item><guid>%d</guid><title>Boat %[1]d</title></item>`, i)
			}
			fmt.Fprint(w, `</channel></rss>`)
		}
	}))
	t.Cleanup(b.Close)
	return b
}

var addedForm = regexp.MustCompile(`(?m)^added ([0-9a-z]{10})$`)

// sourceCode is the code of the source that a command says it added.
func sourceCode(t *testing.T, out string) string {
	t.Helper()
	m := addedForm.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no code in %q", out)
	}
	return m[1]
}

func saved(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func refusal(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

// TestSourceCommand: a host adds, fetches and removes sources while nothing is served.
func TestSourceCommand(t *testing.T) {
	vars, db := onDatabase(t)
	vars["RIVERRUN_FETCH_ALLOW"] = "127.0.0.0/8"
	b := newBlog(t, 12)
	if _, err := once(t, vars, "correct horse\n", "account", "create", "alice"); err != nil {
		t.Fatal(err)
	}
	shown := func() (n int) {
		t.Helper()
		if err := db.Primary.QueryRow(t.Context(), `SELECT count(*) FROM posts WHERE deleted_at IS NULL`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}

	out, err := once(t, vars, "", "source", "add", "--dry-run", "-to", "alice", b.URL)
	must(t, "12 new, 0 changed, 0 would go\n", out, err)
	out, err = once(t, vars, "", "source", "list")
	must(t, "", out, err)
	out, err = once(t, vars, "", "source", "add", b.URL+"/", "-to", "alice", "-title", "Harbour news")
	code := sourceCode(t, out)
	must(t, "added "+code+"\nload 1: 12 new, 0 changed, 0 went\n", out, err)
	if n := shown(); n != 12 {
		t.Errorf("%d posts, want 12", n)
	}
	out, err = once(t, vars, "", "source", "list", "alice")
	must(t, code+"  alice  append  active  "+b.URL+"/feed.xml  Harbour news\n", out, err)
	all, err := once(t, vars, "", "source", "list")
	must(t, out, all, err)
	_, err = once(t, vars, "", "source", "add", "-to", "alice", b.URL+"/feed.xml")
	refusal(t, err, "this address is a source there already")

	out, err = once(t, vars, "", "source", "fetch", code)
	must(t, "nothing is new\n", out, err)
	b.entries.Store(15)
	out, err = once(t, vars, "", "source", "fetch", code, "--dry-run")
	must(t, "3 new, 0 changed, 0 would go\n", out, err)
	if n := shown(); n != 12 {
		t.Errorf("after a dry run: %d posts, want 12", n)
	}
	out, err = once(t, vars, "", "source", "fetch", strings.ToUpper(code))
	must(t, "load 3: 3 new, 0 changed, 0 went\n", out, err)
	b.gone.Store(true)
	_, err = once(t, vars, "", "source", "fetch", code)
	refusal(t, err, "There is nothing at that address (404).")
	b.gone.Store(false)

	// A full list as a file.
	const first = "id,title\na,First\nb,Second\nc,Third\n"
	list := saved(t, "list.csv", first)
	out, err = once(t, vars, "", "source", "add", "--dry-run", list, "-to", "alice")
	must(t, "3 new, 0 changed, 0 would go\n", out, err)
	out, err = once(t, vars, "", "source", "add", list, "-to", "alice")
	lists := sourceCode(t, out)
	must(t, "added "+lists+"\nload 1: 3 new, 0 changed, 0 went\n", out, err)
	out, err = once(t, vars, "", "source", "add", "--dry-run", "-to", "alice", saved(t, "wrong.csv", "id,title,date\na,First,never\nb,,never\n"))
	must(t, "1 new, 0 changed, 0 would go; errors 1, warnings 2\n", out, err)
	next := saved(t, "list.csv", "id,title,date\na,First,\nb,Second corrected,never\nd,Fourth,\n")
	out, err = once(t, vars, "", "source", "fetch", "--dry-run", lists, next)
	must(t, "1 new, 1 changed, 1 would go; errors 0, warnings 1\n", out, err)
	out, err = once(t, vars, "", "source", "fetch", lists, next)
	must(t, "load 3: 1 new, 1 changed, 1 went; errors 0, warnings 1\n", out, err)
	_, err = once(t, vars, "", "source", "fetch", lists, saved(t, "broken.xml", `<?xml version="1.0"?><rss><channel>`))
	refusal(t, err, "load 4 failed: The file ends too early.")
	_, err = once(t, vars, "", "source", "fetch", lists)
	refusal(t, err, "source fetch "+lists+" FILE")
	out, err = once(t, vars, "", "source", "list", "alice")
	if want := lists + "  alice  sync    active (truncated)  file"; err != nil || !strings.Contains(out, want) {
		t.Errorf("list: got %q (%v), want %q", out, err, want)
	}

	// Links of an OPML file wait for the site.
	opml := saved(t, "feeds.OPML", `<opml version="2.0"><body><outline text="One" xmlUrl="`+b.URL+`/one.xml"/><outline text="Again" xmlUrl="`+b.URL+`/feed.xml"/></body></opml>`)
	out, err = once(t, vars, "", "source", "add", opml, "-to", "alice")
	must(t, "added "+b.URL+"/one.xml\nis there already: "+b.URL+"/feed.xml\nadded 1 of 2 feeds; the site fetches them while it is served\n", out, err)

	// F26: a partner's program pushes, and its errors are not for pages here.
	out, err = once(t, vars, "", "source", "add", "-to", "alice", "-push", "-title", "Parsed", "-origin", "Parsers")
	code2 := sourceCode(t, out)
	_, token, _ := strings.Cut(out, "\ntoken ")
	partner, findErr := sources.Open(timelines.Open(db.Primary, nil, timelines.DefaultOptions())).Pushed(t.Context(), code2, strings.TrimSpace(token))
	if err != nil || findErr != nil || partner.Origin != "Parsers" || partner.ErrorsVisible {
		t.Errorf("a partner's source: %+v, %v, %v", partner, err, findErr)
	}

	out, err = once(t, vars, "", "source", "remove", code, "-posts", "delete")
	must(t, "removed "+code+"\n", out, err)
	out, err = once(t, vars, "", "source", "remove", lists, "-posts", "keep")
	must(t, "removed "+lists+"\n", out, err)
	if n := shown(); n != 3 {
		t.Errorf("after both were removed: %d posts, want the 3 that are kept", n)
	}
}

// A group's source is of one of its administrators.
func TestSourceOfAGroup(t *testing.T) {
	vars, db := onDatabase(t)
	vars["RIVERRUN_FETCH_ALLOW"] = "127.0.0.0/8"
	b := newBlog(t, 2)
	for _, name := range []string{"alice", "bob"} {
		if _, err := once(t, vars, "correct horse\n", "account", "create", name); err != nil {
			t.Fatal(err)
		}
	}
	store := timelines.Open(db.Primary, nil, timelines.DefaultOptions())
	bob, err := store.Accounts.ByName(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Groups.Create(t.Context(), timelines.NewGroup{Actor: bob.ID, Name: "sailors", Title: "Sailors"}); err != nil {
		t.Fatal(err)
	}
	out, err := once(t, vars, "", "source", "add", "-to", "sailors", b.URL+"/feed.xml")
	must(t, "added "+sourceCode(t, out)+"\nload 1: 2 new, 0 changed, 0 went\n", out, err)
	var n int
	err = db.Primary.QueryRow(t.Context(), `SELECT count(*) FROM posts WHERE author_id = $1`, bob.ID).Scan(&n)
	if err != nil || n != 2 {
		t.Errorf("%d posts (%v), want 2 of the administrator", n, err)
	}
	if _, err := db.Primary.Exec(context.WithoutCancel(t.Context()), `DELETE FROM group_admins`); err != nil {
		t.Fatal(err)
	}
	_, err = once(t, vars, "", "source", "add", "-to", "sailors", b.URL+"/other.xml")
	refusal(t, err, "nobody administers the group sailors")
}

// TestSourceCommandBesideTheServer: a source that is due is fetched by the site as well, and each item
// is posted once.
func TestSourceCommandBesideTheServer(t *testing.T) {
	vars := map[string]string{"RIVERRUN_DATA": testdb.Dir(t), "RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_FETCH_ALLOW": "127.0.0.0/8"}
	server := background(t, vars)
	defer server.end(t)
	url := strings.TrimPrefix(server.said, "riverrun serves ")
	b := newBlog(t, 7)
	if _, err := once(t, vars, "correct horse\n", "account", "create", "alice"); err != nil {
		t.Fatal(err)
	}
	out, err := once(t, vars, "", "source", "add", b.URL, "-to", "alice")
	code := sourceCode(t, out)
	must(t, "added "+code+"\nload 1: 7 new, 0 changed, 0 went\n", out, err)
	if status, page := get(t, url+"/alice"); status != http.StatusOK || strings.Count(page, `data-post="`) != 7 {
		t.Errorf("the page: status %d, %d entries, want 7", status, strings.Count(page, `data-post="`))
	}
	b.entries.Store(9)
	out, err = once(t, vars, "", "source", "fetch", code)
	must(t, "load 2: 2 new, 0 changed, 0 went\n", out, err)
	out, err = once(t, vars, "", "source", "remove", "-posts", "delete", code)
	must(t, "removed "+code+"\n", out, err)
	if status, page := get(t, url+"/alice"); status != http.StatusOK || strings.Contains(page, "Boat 1") {
		t.Errorf("after its removal: status %d\n%s", status, page)
	}
}

// TestSourceUsage checks that mistakes in the command line are reported before anything has begun.
func TestSourceUsage(t *testing.T) {
	vars := map[string]string{"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "RIVERRUN_DATA": t.TempDir()}
	for line, want := range map[string]string{
		"source":                                            "say add, list, fetch or remove",
		"source steal":                                      `there is no "steal"`,
		"source add":                                        "say what",
		"source add https://a.example":                      "-to NAME",
		"source add -to a -push feed.csv":                   "with -push",
		"source add https://a.example x -to a":              `"x" is one too many`,
		"source add https://a.example -to a -mode x":        "want append or sync",
		"source add https://a.example -to":                  `"-to" is one too many`,
		"source list a b":                                   `"b" is one too many`,
		"source fetch":                                      "CODE",
		"source fetch a b c":                                `"c" is one too many`,
		"source remove abc":                                 "want delete, discussed or keep",
		"source remove abc -posts burn":                     "want delete, discussed or keep",
		"source remove -posts keep":                         "CODE",
		"source remove --dry-run abc -posts keep --":        "flag provided but not defined",
		"source fetch -- a b c":                             `"c" is one too many`,
		"source add -title Boats -to=a https://x.example y": `"y" is one too many`,
	} {
		_, err := once(t, vars, "", strings.Fields(line)...)
		var usage *usageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a mistake with %q", line, err, want)
		}
	}
	_, err := once(t, vars, "", "source", "add", "-to", "alice", "/nowhere/feed.xml")
	refusal(t, err, "neither an address (https://…) nor a file")
}

func TestLinkOf(t *testing.T) {
	for given, want := range map[string]string{
		"https://example.com/feed.xml": "https://example.com/feed.xml",
		"feed://example.com/feed.xml":  "https://example.com/feed.xml",
		"blog.example.com":             "https://blog.example.com",
		"example.com/feed.xml":         "", // as a file is called
		"feeds.opml":                   "",
		"source.go":                    "", // which is here
		"../feeds":                     "",
	} {
		got, ok := linkOf(given)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("linkOf(%q) is %q, want %q", given, got, want)
		}
	}
}
