package jobs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/jobs/fetch"
	"riverrun/timelines"
	"riverrun/timelines/files"
	"riverrun/timelines/sources"
)

// feedOf is a site with one person, ann, whose source is a feed of one item. Its jobs are not started.
func feedOf(t *testing.T) (Config, *pgxpool.Pool, timelines.Account, sources.Source) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `<rss version="2.0"><channel><title>A blog</title><item><guid>1</guid><title>One</title></item></channel></rss>`)
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
	source, err := cfg.Sources.Add(t.Context(), ann.ID, sources.New{Owner: "ann", Way: sources.Link, URL: s.URL + "/feed"})
	if err != nil {
		t.Fatal(err)
	}
	return cfg, pool, ann, source
}

// F7, F9, F10: a source that is added is fetched and loaded by itself, and again when it is due; F12: so is
// a load that somebody else left behind.
func TestSourcesFlowIn(t *testing.T) {
	cfg, pool, ann, source := feedOf(t)
	start(t, cfg)
	done := func(loads int) func() bool {
		return func() bool { return count(t, pool, `SELECT count(*) FROM loads WHERE state = 'done'`) == loads }
	}
	await(t, "the first load", done(1))
	if n := count(t, pool, `SELECT count(*) FROM posts WHERE body LIKE 'One%'`); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
	if n := count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'load'`); n != 1 {
		t.Errorf("%d jobs for a load, want the one that was announced", n)
	}
	// Its settings change: the same file is another load.
	if _, err := cfg.Sources.Change(t.Context(), ann.ID, source.Code, "Other", sources.Settings{}); err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Sources.FetchNow(t.Context(), ann.ID, source.Code); err != nil {
		t.Fatal(err)
	}
	await(t, "the second load", done(2))
	// Nobody announced this one.
	_, err := pool.Exec(t.Context(), `
		WITH s AS (UPDATE sources SET loads = loads + 1 RETURNING loads)
		INSERT INTO loads (source_id, no, version, way, state, file, bytes, updated_at)
		SELECT source_id, s.loads, version, way, 'waiting', file, bytes, now() - interval '1 hour' FROM loads, s WHERE no = 1`)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the load that was left behind", done(3))
}

// F4, F32: a source that is removed goes with its posts, its loads, and itself; one whose removal was left
// behind goes as well.
func TestSourcesGo(t *testing.T) {
	cfg, pool, ann, source := feedOf(t)
	start(t, cfg)
	there := func(want int) func() bool {
		return func() bool { return count(t, pool, `SELECT count(*) FROM posts WHERE deleted_at IS NULL`) == want }
	}
	loaded := func() bool { return count(t, pool, `SELECT count(*) FROM loads WHERE state = 'done'`) == 1 }
	gone := func() bool { return count(t, pool, `SELECT count(*) FROM sources`) == 0 }
	await(t, "the first load", loaded)
	file := func(referred, swept int) {
		t.Helper()
		report, err := files.Check(t.Context(), pool, cfg.Blobs)
		if err != nil || report.Blobs != referred || len(report.Missing) != 0 {
			t.Errorf("check: got %+v (%v), want %d blobs and none missing", report, err, referred)
		}
		if n, err := files.Sweep(t.Context(), pool, cfg.Blobs, time.Now().Add(time.Hour)); n != swept || err != nil {
			t.Errorf("the sweep removed %d blobs (%v), want %d", n, err, swept)
		}
	}
	file(1, 0)
	if _, err := cfg.Sources.Remove(t.Context(), ann.ID, source.Code, sources.Delete); err != nil {
		t.Fatal(err)
	}
	await(t, "the source to go", gone)
	file(0, 1)
	if !there(0)() {
		t.Error("the posts of a source that is gone are there")
	}

	source, err := cfg.Sources.Add(t.Context(), ann.ID, sources.New{Owner: "ann", Way: sources.Link, URL: source.URL})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the load of the second source", loaded)
	if _, err := pool.Exec(t.Context(), `UPDATE sources SET status = 'removing', settings = '{"gone": "keep"}'`); err != nil {
		t.Fatal(err)
	}
	await(t, "the source to go without a message", gone)
	if !there(1)() {
		t.Errorf("the post of source %s is not kept", source.Code)
	}
}

// Somebody who adds a source, or asks for a preview, does not wait until a node looks for what is due.
func TestAskedSources(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `<rss version="2.0"><channel><title>A blog</title><item><guid>1</guid><title>One</title></item></channel></rss>`)
	}))
	t.Cleanup(s.Close)
	pool := prepare(t)
	cfg := config(t, pool, &calls{})
	posts := timelines.Open(pool, announcer(t), timelines.DefaultOptions())
	cfg.Sources = sources.Open(posts)
	cfg.DueEvery = time.Hour
	var err error
	if cfg.Fetch, err = fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}); err != nil {
		t.Fatal(err)
	}
	ann, err := posts.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Title: "Ann", Password: "wharf-otter-lamp"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO fetch_hosts (host, next_at) VALUES ('old.example', now() - interval '2 days')`); err != nil {
		t.Fatal(err)
	}
	start(t, cfg)
	// The look at the start finds what was due before. This source becomes due after it.
	await(t, "the first look", func() bool {
		return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'due' AND state = 'completed'`) > 0
	})
	source, err := cfg.Sources.Add(t.Context(), ann.ID, sources.New{Owner: "ann", Way: sources.Link, URL: s.URL + "/feed"})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the first load", func() bool { return count(t, pool, `SELECT count(*) FROM loads WHERE state = 'done'`) == 1 })
	if _, err := cfg.Sources.AskPreview(t.Context(), ann.ID, source.Code); err != nil {
		t.Fatal(err)
	}
	await(t, "the preview", func() bool {
		return count(t, pool, `SELECT count(*) FROM loads l JOIN sources s ON s.id = l.source_id WHERE l.state = 'previewed' AND s.preview = ''`) == 1
	})
	// While somebody else fetches it, a preview waits.
	fetching, err := cfg.Sources.Fetching(t.Context(), source.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Sources.AskPreview(t.Context(), ann.ID, source.Code); err != nil {
		t.Fatal(err)
	}
	await(t, "a preview that waits", func() bool {
		return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'asked' AND metadata ? 'snoozes'`) == 1
	})
	if err := fetching.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "the second preview", func() bool {
		return count(t, pool, `SELECT count(*) FROM loads l JOIN sources s ON s.id = l.source_id WHERE l.state = 'previewed' AND s.preview = ''`) == 2
	})

	// The host asks for some minutes, which the preview waits, and then for longer than anybody waits.
	pause := func(minutes int) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), `UPDATE fetch_hosts SET next_at = now() + $1 * interval '1 minute'`, minutes); err != nil {
			t.Fatal(err)
		}
		if _, err := cfg.Sources.AskPreview(t.Context(), ann.ID, source.Code); err != nil {
			t.Fatal(err)
		}
	}
	pause(3)
	await(t, "a preview that waits for minutes", func() bool {
		return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'asked' AND state = 'scheduled' AND scheduled_at > now() + interval '2 minutes'`) == 1
	})
	if _, err := pool.Exec(t.Context(), `UPDATE sources SET preview = ''`); err != nil {
		t.Fatal(err)
	}
	pause(60)
	await(t, "a preview that ends", func() bool { return count(t, pool, `SELECT count(*) FROM sources WHERE preview = 'too_often'`) == 1 })
}
