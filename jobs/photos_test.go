package jobs

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/jobs/fetch"
	"riverrun/timelines"
	"riverrun/timelines/sources"
)

// A source that waits for pictures has its news on pages with them: the load stops, the pictures are fetched, and the
// load goes on.
func TestNewsComesWithItsPictures(t *testing.T) {
	var news atomic.Bool
	gate := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/quay.png" {
			select {
			case <-gate:
			case <-r.Context().Done():
				return
			}
			var b bytes.Buffer
			_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20)))
			_, _ = w.Write(b.Bytes())
			return
		}
		fmt.Fprint(w, `<rss version="2.0"><channel><title>A blog</title><item><guid>1</guid><title>One</title></item>`)
		if news.Load() {
			fmt.Fprintf(w, `<item><guid>2</guid><title>Two</title><description>&lt;img src="http://%s/quay.png"></description></item>`, r.Host)
		}
		fmt.Fprint(w, `</channel></rss>`)
	}))
	t.Cleanup(s.Close)
	pool := prepare(t)
	cfg := config(t, pool, &calls{})
	posts := timelines.Open(pool, announcer(t), timelines.DefaultOptions())
	cfg.Sources = sources.Open(posts)
	cfg.DueEvery = 100 * time.Millisecond
	var err error
	if cfg.Fetch, err = fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}); err != nil {
		t.Fatal(err)
	}
	ann, err := posts.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Title: "Ann", Password: "wharf-otter-lamp"})
	if err != nil {
		t.Fatal(err)
	}
	source, err := cfg.Sources.Add(t.Context(), ann.ID, sources.New{
		Owner: "ann", Way: sources.Link, URL: s.URL + "/feed", Settings: sources.Settings{WaitPictures: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	start(t, cfg)
	await(t, "the first load", func() bool { return count(t, pool, `SELECT count(*) FROM loads WHERE state = 'done'`) == 1 })
	news.Store(true)
	if _, err := pool.Exec(t.Context(), `DELETE FROM fetch_hosts`); err != nil { // it was asked just now
		t.Fatal(err)
	}
	if _, err := cfg.Sources.FetchNow(t.Context(), ann.ID, source.Code); err != nil {
		t.Fatal(err)
	}
	await(t, "the picture to be asked for", func() bool { return count(t, pool, `SELECT count(*) FROM item_pictures WHERE tries > 0`) == 1 })
	if n := count(t, pool, `SELECT count(*) FROM posts`); n != 1 {
		t.Errorf("%d posts before the picture, want 1", n)
	}
	close(gate)
	await(t, "the news", func() bool { return count(t, pool, `SELECT count(*) FROM loads WHERE state = 'done'`) == 2 })
	if n := count(t, pool, `SELECT count(*) FROM posts p JOIN files f ON f.post_id = p.id WHERE p.body LIKE 'Two%' AND f.state = 'picture'`); n != 1 {
		t.Errorf("%d pictures of the news, want 1", n)
	}
}

// Pictures of items are made when no upload waits, and no other large picture is being made on this node.
func TestUploadsComeFirst(t *testing.T) {
	pool := prepare(t)
	store := timelines.Open(pool, announcer(t), timelines.DefaultOptions())
	cfg := config(t, pool, &calls{})
	cfg.Files = store.Files
	j, err := New(cfg) // nobody works the queue
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, j) })
	announce(t, pool, timelines.Prepare{FileID: 1})
	turns := make(chan func(), 1)
	go func() {
		done, err := j.turn(t.Context())
		if err != nil {
			t.Errorf("turn: %v", err)
			done = func() {}
		}
		turns <- done
	}()
	if done, err := j.large(t.Context()); err != nil { // an upload is being made
		t.Error(err)
	} else {
		select {
		case <-turns:
			t.Error("its turn came while an upload is made")
		case <-time.After(300 * time.Millisecond):
		}
		done()
	}
	select {
	case <-turns:
		t.Error("its turn came while an upload waits")
	case <-time.After(300 * time.Millisecond):
	}
	if _, err := pool.Exec(t.Context(), `UPDATE queue.river_job SET state = 'completed', finalized_at = now() WHERE kind = 'picture'`); err != nil {
		t.Fatal(err)
	}
	receive(t, "its turn", turns)()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.turn(ended); err == nil {
		t.Error("a turn though the node stops")
	}
}
