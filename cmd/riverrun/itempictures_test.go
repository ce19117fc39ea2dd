package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/web/webtest"
)

// G19: the post of an item is on the page before its pictures; these come to open pages, each when it
// is there, and only to people who may read the post.
func TestPicturesComeToOpenPages(t *testing.T) {
	gates := map[string]chan struct{}{"/quick.jpg": make(chan struct{}), "/late.jpg": make(chan struct{})}
	blog := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/feed" {
			fmt.Fprintf(w, `<rss version="2.0"><channel><title>A blog</title><item><guid>1</guid><title>The harbour opens</title>
				<description><![CDATA[<p>At last.</p><img src="http://%[1]s/quick.jpg" alt="the quay"><img src="http://%[1]s/late.jpg" alt="the ropes">]]></description></item></channel></rss>`, r.Host)
			return
		}
		gate := gates[r.URL.Path]
		if gate == nil {
			http.NotFound(w, r)
			return
		}
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "image/jpeg")
		size := 600 + len(r.URL.Path) // two pictures
		_, _ = w.Write(webtest.Photo(size, 400))
	}))
	defer blog.Close()

	db := testdb.New(t)
	vars := map[string]string{
		"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_LISTEN": "127.0.0.1:0",
		"RIVERRUN_DATA": testdb.Dir(t), "RIVERRUN_FETCH_ALLOW": "127.0.0.1/32",
	}
	server := background(t, vars)
	defer server.end(t)
	url := strings.TrimPrefix(server.said, "riverrun serves ")
	for _, name := range []string{"alice", "bob"} {
		out, err := once(t, vars, "correct horse\n", "account", "create", name)
		must(t, "created "+name+"\n", out, err)
	}
	posts := timelines.Open(db.Primary, nil, timelines.DefaultOptions())
	alice, err := posts.Accounts.ByName(t.Context(), "alice")
	if err == nil {
		_, err = sources.Open(posts).Add(t.Context(), alice.ID, sources.New{Owner: "alice", Way: sources.Link, URL: blog.URL + "/feed"})
	}
	if err != nil {
		t.Fatal(err)
	}

	bob := openPage(t, webtest.Chromium(t), url, "bob")
	bob.do(t, chromedp.Navigate(url+"/alice"))
	// A reload each time, until the page has it.
	bob.await(t, `document.querySelector('#river article') || location.reload()`)
	bob.await(t, `document.querySelector('#river article') && document.documentElement.dataset.live === '1' && (window.same = true)`)
	const pictures = `[...document.querySelectorAll('#river article img[src^="/files/"]')].map((p) => p.alt).join(', ')`
	bob.await(t, pictures+` === ''`)
	close(gates["/quick.jpg"])
	bob.await(t, pictures+` === 'the quay' && window.same`)
	close(gates["/late.jpg"])
	bob.await(t, pictures+` === 'the quay, the ropes' && window.same`)

	var code string
	if err := db.Primary.QueryRow(t.Context(), `SELECT code FROM files WHERE alt = 'the quay'`).Scan(&code); err != nil {
		t.Fatal(err)
	}
	if status, _ := get(t, url+"/files/"+code); status != http.StatusOK {
		t.Errorf("a picture of a public post: %d", status)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		out, err := once(t, vars, "", "check")
		if err == nil && strings.HasSuffix(out, "differences 0\n") && !strings.HasPrefix(out, "rivers 0 ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("check: %q, %v", out, err)
		}
	}
	if _, err := posts.Feeds.SetAccess(t.Context(), alice.ID, "", timelines.Private); err != nil {
		t.Fatal(err)
	}
	if status, _ := get(t, url+"/files/"+code); status != http.StatusNotFound {
		t.Errorf("a picture of a private post: %d, want 404", status)
	}
}
