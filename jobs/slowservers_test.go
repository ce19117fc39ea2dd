package jobs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"riverrun/timelines/sources"
)

// within reports whether a state is reached in a time.
func within(d time.Duration, reached func() bool) bool {
	end := time.After(d)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !reached() {
		select {
		case <-end:
			return false
		case <-tick.C:
		}
	}
	return true
}

// Four servers that send slowly keep no other source waiting, nor the look for what is due and stands still.
func TestSlowServersKeepOthersWaiting(t *testing.T) {
	cfg, pool, ann, source := feedOf(t)
	done := make(chan struct{})
	defer close(done)
	asked := make(chan struct{}, 10)
	for range 4 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "<rss>")
			w.(http.Flusher).Flush()
			asked <- struct{}{}
			select { // 64 kB a second would go on for half an hour; without a byte it is 30 seconds
			case <-done:
			case <-r.Context().Done():
			}
		}))
		t.Cleanup(s.Close)
		if _, err := cfg.Sources.Add(t.Context(), ann.ID, sources.New{Owner: "ann", Way: sources.Link, URL: s.URL + "/feed"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(t.Context(), `UPDATE sources SET next_at = now() + interval '1 day' WHERE id = $1`, source.ID); err != nil {
		t.Fatal(err)
	}
	start(t, cfg)
	for range 4 {
		<-asked
	}
	looks := func() int {
		return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'due' AND state = 'completed'`)
	}
	before := looks()
	if _, err := cfg.Sources.FetchNow(t.Context(), ann.ID, source.Code); err != nil {
		t.Fatal(err)
	}
	if !within(10*time.Second, func() bool { return count(t, pool, `SELECT count(*) FROM loads WHERE state = 'done'`) == 1 }) {
		t.Errorf("a source that somebody has fetched now waits for four slow servers of others; %d looks for what is due since, of about 100", looks()-before)
	}
}

// Hubs that do not answer keep no source from being fetched.
func TestHubsKeepSourcesWaiting(t *testing.T) {
	cfg, pool, ann, source := feedOf(t)
	done := make(chan struct{})
	defer close(done)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-done:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	_, err := pool.Exec(t.Context(), `UPDATE sources SET next_at = now() + interval '1 day'`)
	if err == nil {
		_, err = pool.Exec(t.Context(), `
			WITH made AS (
				INSERT INTO sources (owner_id, added_by, code, way, mode, title, url, next_at)
				SELECT $1, $1, lpad(n::text, 10, '0'), 'link', 'append', 'feed', 'https://' || n || '.example/feed', now() + interval '1 day' FROM generate_series(1, 130) n RETURNING id
			)
			INSERT INTO source_hubs (source_id, hub, topic, secret) SELECT id, $2, 'https://example.org/feed', 'secret' FROM made`, ann.ID, s.URL+"/hub")
	}
	if err != nil {
		t.Fatal(err)
	}
	cfg.Callback = "https://river.example"
	start(t, cfg)
	await(t, "hubs to be asked", func() bool {
		return count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'hub' AND state = 'available'`) >= 100
	})
	if _, err := pool.Exec(t.Context(), `UPDATE sources SET next_at = now() WHERE id = $1`, source.ID); err != nil {
		t.Fatal(err)
	}
	if !within(25*time.Second, func() bool { return count(t, pool, `SELECT count(*) FROM loads WHERE state = 'done'`) == 1 }) {
		t.Errorf("a source that is due is not even claimed: %d hubs wait", count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'hub' AND state = 'available'`))
	}
}
