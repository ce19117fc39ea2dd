package jobs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"riverrun/jobs/fetch"
	"riverrun/timelines"
	"riverrun/timelines/sources"
)

// F7, F9, F10: a source that is added is fetched and loaded by itself, and again when it is due; F12: so is
// a load that somebody else left behind.
func TestSourcesFlowIn(t *testing.T) {
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
	_, err = pool.Exec(t.Context(), `
		WITH s AS (UPDATE sources SET loads = loads + 1 RETURNING loads)
		INSERT INTO loads (source_id, no, version, way, state, file, bytes, updated_at)
		SELECT source_id, s.loads, version, way, 'waiting', file, bytes, now() - interval '1 hour' FROM loads, s WHERE no = 1`)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the load that was left behind", done(3))
}
