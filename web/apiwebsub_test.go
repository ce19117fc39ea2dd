package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"riverrun/timelines/sources"
	"riverrun/web/webtest"
)

// hubbed is a site with a feed that names a hub, and that hub.
type hubbed struct {
	*httptest.Server
	items, hubless atomic.Int64
	// asked receives the requests to the hub.
	asked chan url.Values
}

func newHubbed(t *testing.T) *hubbed {
	t.Helper()
	h := &hubbed{asked: make(chan url.Values, 10)}
	h.items.Store(1)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hub" {
			if err := r.ParseForm(); err != nil {
				t.Error(err)
			}
			h.asked <- r.PostForm
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		fmt.Fprint(w, `<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Harbour</title>`)
		if h.hubless.Load() == 0 {
			fmt.Fprintf(w, `<atom:link rel="hub" href="%s/hub"/><atom:link rel="self" href="%[1]s/self.xml"/>`, h.URL)
		}
		for i := range h.items.Load() {
			fmt.Fprintf(w, `<item><guid>%d</guid><title>Boat %[1]d</title></item>`, i)
		}
		fmt.Fprint(w, `</channel></rss>`)
	}))
	t.Cleanup(h.Close)
	return h
}

// A feed names a hub, so the hub is asked. The site confirms what it has asked for, and fetches the
// feed when the hub says that something is new. It does not believe the content that the hub sends.
func TestWebSub(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann := s.Person("ann")
	h := newHubbed(t)
	store := sources.Open(s.Store)
	source, err := store.Add(t.Context(), ann.Account.ID, sources.New{Owner: "ann", Way: sources.Link, URL: h.URL + "/feed.xml"})
	if err != nil {
		t.Fatal(err)
	}
	// The site asks the hub.
	asked := <-h.asked
	callback := asked.Get("hub.callback")
	if asked.Get("hub.mode") != "subscribe" || asked.Get("hub.topic") != h.URL+"/self.xml" || asked.Get("hub.lease_seconds") != "864000" ||
		!strings.HasPrefix(callback, s.HTTP.URL+"/api/websub/"+source.Code+"/") {
		t.Fatalf("the hub is asked %v", asked)
	}
	call := func(method, address, body string, want int) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		if a.StatusCode != want {
			t.Errorf("%s %s: status %d, want %d", method, address, a.StatusCode, want)
		}
		return string(text)
	}
	confirm := func(mode, topic, challenge string) string {
		return callback + "?" + url.Values{"hub.mode": {mode}, "hub.topic": {topic}, "hub.challenge": {challenge}, "hub.lease_seconds": {"7200"}}.Encode()
	}
	exec := func(sql string) {
		t.Helper()
		if _, err := s.DB.Primary.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	// The hub gets its challenge back if it names what the site asked for.
	topic := h.URL + "/self.xml"
	if got := call("GET", confirm("subscribe", topic, "<b>abc</b>"), "", 200); got != "<b>abc</b>" {
		t.Errorf("the challenge: got %q", got)
	}
	call("GET", confirm("subscribe", topic+"x", "abc"), "", 404)
	call("GET", confirm("subscribe", "\x00\xff", "abc"), "", 404)
	call("GET", confirm("subscribe", topic, ""), "", 404)
	call("GET", confirm("subscribe", topic, strings.Repeat("x", 5000)), "", 404)
	call("GET", confirm("unsubscribe", topic, "abc"), "", 404)
	call("GET", callback, "", 404)
	other := strings.Replace(callback, source.Code, "0000000000", 1)
	for _, wrong := range []string{callback[:len(callback)-1] + "!", callback[:len(callback)-4] + "aaaa", other, s.HTTP.URL + "/api/websub/%00/%ff"} {
		call("GET", wrong+"?"+strings.SplitN(confirm("subscribe", topic, "abc"), "?", 2)[1], "", 404)
	}
	call("POST", other, "", 410)

	var until, next string
	err = s.DB.Primary.QueryRow(t.Context(), `SELECT round(extract(epoch FROM until - now()) / 60)::text, round(extract(epoch FROM next_at - now()) / 60)::text FROM source_hubs`).Scan(&until, &next)
	if err != nil || until != "120" || next != "96" {
		t.Errorf("it lasts %s minutes and is renewed in %s (%v), want 120 and 96", until, next, err)
	}

	// The hub says that something is new, and the feed is fetched long before its time. The content of
	// the call does not matter.
	webtest.Await(t, "the first load to end", func() bool {
		l, err := store.Load(t.Context(), source.ID, 1)
		return err == nil && l.State == sources.Done
	})
	page := s.Open(nil, "/everything")
	h.items.Store(2)
	exec(`UPDATE sources SET fetched_at = now() - interval '1 hour', next_at = now() + interval '1 hour'`)
	exec(`UPDATE fetch_hosts SET next_at = now()`)
	call("POST", callback, `<rss><channel><item><guid>666</guid><title>Forged</title></item></channel></rss>`, 202)
	said := page.Hear("the new item", func(f webtest.Frame) bool { return f.T == "entry" && strings.Contains(f.HTML, "Boat 1") })
	if strings.Contains(said, "Forged") {
		t.Error("what a hub sent was shown")
	}

	// The hub is asked again before its time is over, with the same address. It refuses, and the
	// source is paused.
	exec(`UPDATE source_hubs SET next_at = now()`)
	if again := <-h.asked; again.Get("hub.callback") != callback {
		t.Errorf("renewed with %q, want %q", again.Get("hub.callback"), callback)
	}
	call("GET", callback+"?hub.mode=denied&hub.topic="+url.QueryEscape(topic), "", 200)
	if _, err := store.Pause(t.Context(), ann.Account.ID, source.Code); err != nil {
		t.Fatal(err)
	}
	call("POST", callback, "", 202) // nothing is fetched while the source is paused
	call("GET", confirm("subscribe", topic, "abc"), "", 404)

	// If the feed names no hub any more, the calls of the hub are refused.
	h.hubless.Store(1)
	exec(`UPDATE fetch_hosts SET next_at = now()`)
	if _, err := store.Resume(t.Context(), ann.Account.ID, source.Code); err != nil {
		t.Fatal(err)
	}
	webtest.Await(t, "the hub to be forgotten", func() bool {
		var hubs int
		return s.DB.Primary.QueryRow(t.Context(), `SELECT count(*) FROM source_hubs`).Scan(&hubs) == nil && hubs == 0
	})
	call("POST", callback, "", 410)
}
