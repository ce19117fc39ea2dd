package sources_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"riverrun/timelines/sources/hosts"
)

// A host redirects to a server. The answer of that server does not decide how long the host is left
// alone.
func TestRedirectSilencesAHost(t *testing.T) {
	s := newSite(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(other.Close)
	s.mu.Lock()
	s.answers["/out"] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) } // as many sites have
	s.mu.Unlock()
	evil := s.link(s.server.URL + "/out")
	_, err := s.fetcher.Fetch(t.Context(), evil)
	s.must(err)
	var left time.Duration
	s.must(s.pool.QueryRow(t.Context(), `SELECT next_at - now() FROM fetch_hosts WHERE host = $1`, hosts.Host(s.server.URL)).Scan(&left))
	if left > time.Minute {
		t.Errorf("all feeds of %s wait %v for what %s said", strings.TrimPrefix(s.server.URL, "http://"), left, other.URL)
	}
}

// A load that fails each time ends as failed, with a reason (F15: "retry with backoff, then failed
// with its reason").
func TestALoadIsTriedForEver(t *testing.T) {
	s := newSite(t)
	_, err := s.pool.Exec(t.Context(), `
		WITH s AS (UPDATE sources SET loads = loads + 1 WHERE id = $1 RETURNING *)
		INSERT INTO loads (source_id, no, version, way, state, file, bytes) SELECT id, loads, version, way, 'waiting', decode(repeat('ab', 32), 'hex'), 10 FROM s`, s.source)
	s.must(err)
	tries := 0
	for ; tries < 100; tries++ {
		if err := s.run.Run(t.Context(), s.source); err == nil {
			break
		}
	}
	var state string
	var attempts int
	s.must(s.pool.QueryRow(t.Context(), `SELECT state, attempts FROM loads WHERE source_id = $1`, s.source).Scan(&state, &attempts))
	if state != "failed" {
		t.Errorf("after %d tries the load is %s, and attempts says %d", tries, state, attempts)
	}
}
