package jobs

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// quick answers each request with a feed, and fails the test if two come at a time.
func quick(t *testing.T) *httptest.Server {
	t.Helper()
	var one sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !one.TryLock() {
			t.Errorf("two requests of %s at a time", r.Host)
			return
		}
		defer one.Unlock()
		io.WriteString(w, `<rss version="2.0"><channel><title>A blog</title><item><guid>1</guid><title>One</title></item></channel></rss>`)
	}))
	t.Cleanup(s.Close)
	return s
}

// addMany adds feeds as those of an OPML file, while a node runs that looks for what is due as often as usual.
func addMany(t *testing.T, feeds []formats.Outline) *pgxpool.Pool {
	t.Helper()
	cfg, pool, ann, _ := feedOf(t)
	cfg.DueEvery = dueEvery
	start(t, cfg)
	added, err := cfg.Sources.AddMany(t.Context(), ann.ID, "ann", "", feeds)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range added {
		if a.As != sources.Added {
			t.Fatalf("%s: %s", a.URL, a.As)
		}
	}
	return pool
}

// The feeds of a list begin at once: those of different hosts side by side, those of one host that answers quickly
// one soon after the other.
func TestManyFeedsBeginAtOnce(t *testing.T) {
	const many = 49
	for name, host := range map[string]func() string{
		"different hosts": func() string { return quick(t).URL },
		"one host":        sync.OnceValue(func() string { return quick(t).URL }),
	} {
		t.Run(name, func(t *testing.T) {
			var feeds []formats.Outline
			for i := range many {
				feeds = append(feeds, formats.Outline{URL: fmt.Sprint(host(), "/feed/", i)})
			}
			pool := addMany(t, feeds)
			if !within(40*time.Second, func() bool {
				return count(t, pool, `SELECT count(*) FROM sources WHERE fetched_at IS NOT NULL`) == many+1
			}) {
				t.Errorf("%d of %d feeds were fetched", count(t, pool, `SELECT count(*) FROM sources WHERE fetched_at IS NOT NULL`)-1, many)
			}
		})
	}
}
