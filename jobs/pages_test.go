package jobs

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"riverrun/jobs/fetch"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
)

// TestPagesAreRead reads the page of a link with its picture, and stores a copy of that; a page in
// a network that is not public is not even asked.
func TestPagesAreRead(t *testing.T) {
	pool := prepare(t)
	asked := make(chan string, 10)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		if r.URL.Path == "/picture" {
			img := image.NewRGBA(image.Rect(0, 0, 900, 600))
			for i := range img.Pix {
				img.Pix[i] = byte(i * 7)
			}
			img.Set(1, 1, color.White)
			w.Header().Set("Content-Type", "image/png")
			_ = png.Encode(w, img)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>x</title><meta property="og:title" content="A lake"><meta property="og:image" content="/picture">`)
	}))
	t.Cleanup(site.Close)
	announcer, err := NewAnnouncer(quiet)
	if err != nil {
		t.Fatal(err)
	}
	store := timelines.Open(pool, announcer, timelines.DefaultOptions())
	anna, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "anna", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t, pool, &calls{})
	cfg.Links, cfg.Files, cfg.PollInterval = store.Links, store.Files, time.Second
	if cfg.Fetch, err = fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}); err != nil {
		t.Fatal(err)
	}
	start(t, cfg)
	if _, err := store.Posts.Create(t.Context(), timelines.NewPost{Author: anna.ID, Body: "look: " + site.URL + "/page"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/page", "/picture"} {
		select {
		case got := <-asked:
			if got != want {
				t.Errorf("asked for %s, want %s", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("%s was not asked for", want)
		}
	}
	var title string
	var width int
	await(t, "the page is recorded", func() bool {
		err := pool.QueryRow(t.Context(), `SELECT title, width FROM links WHERE read_at IS NOT NULL`).Scan(&title, &width)
		return err == nil
	})
	if title != "A lake" || width != 400 {
		t.Errorf("recorded %q, %d wide", title, width)
	}
	report, err := files.Check(t.Context(), pool, cfg.Blobs)
	if err != nil || report.Blobs != 1 || len(report.Missing)+len(report.Orphaned) != 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
	var none blobs.Sum
	if n, err := files.Sweep(t.Context(), pool, cfg.Blobs, time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("the sweep removed %d blobs, %v, %v", n, err, none)
	}
	if _, err := pool.Exec(t.Context(), `DELETE FROM links`); err != nil {
		t.Fatal(err)
	}
	if n, err := files.Sweep(t.Context(), pool, cfg.Blobs, time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("the sweep removed %d blobs, %v, want 1", n, err)
	}
}

// TestPicturesAreMade uploads a picture and something that only begins like one.
func TestPicturesAreMade(t *testing.T) {
	pool := prepare(t)
	announcer, err := NewAnnouncer(quiet)
	if err != nil {
		t.Fatal(err)
	}
	store := timelines.Open(pool, announcer, timelines.DefaultOptions())
	anna, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "anna", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t, pool, &calls{})
	cfg.Files, cfg.PollInterval = store.Files, time.Second
	start(t, cfg)
	var good bytes.Buffer
	if err := png.Encode(&good, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	for want, content := range map[string][]byte{"picture": good.Bytes(), "failed": good.Bytes()[:60]} {
		sum, n, err := cfg.Blobs.Put(t.Context(), bytes.NewReader(content), 1e6)
		if err != nil {
			t.Fatal(err)
		}
		code, err := store.Files.Add(t.Context(), files.New{Owner: anna.ID, Name: "a.png", Sum: sum, Bytes: n, Picture: true})
		if err != nil {
			t.Fatal(err)
		}
		var state string
		await(t, "the picture is made", func() bool {
			err := pool.QueryRow(t.Context(), `SELECT state FROM files WHERE code = $1`, code).Scan(&state)
			return err == nil && state != "waiting"
		})
		if state != want {
			t.Errorf("got %s, want %s", state, want)
		}
	}
	// Nothing is kept of the picture that failed, and the upload of the other one is gone too.
	if n, err := files.Sweep(t.Context(), pool, cfg.Blobs, time.Now().Add(time.Hour)); n != 2 || err != nil {
		t.Errorf("the sweep removed %d blobs, %v, want 2", n, err)
	}
}
