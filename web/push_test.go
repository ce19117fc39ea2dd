package web_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"riverrun/web/webtest"
)

// TestNewsForTheServiceWorker: what a browser is shown after a push is what its session may see at
// that moment, and being shown it is not having read it.
func TestNewsForTheServiceWorker(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	v := ann.Visitor()
	news := func() (doc struct {
		Unread           int
		Title, Body, URL string
	},
	) {
		t.Helper()
		if err := json.Unmarshal([]byte(v.Get("/push/news").Wants(200).Body), &doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	if got := news(); got.Unread != 0 || got.Title != "" {
		t.Errorf("nothing happened, and the news are %+v", got)
	}
	code := ann.Post("Fog & rain <today>").Code
	bob.Like(code)
	s.FollowUp()
	for range 2 { // it stays unread
		if got := news(); got.Unread != 1 || got.Title != "bob liked your post" || got.Body != "Fog & rain <today>" || got.URL != "/p/"+code {
			t.Errorf("the news are %+v", got)
		}
	}
	bob.Post("@ann, look")
	s.FollowUp()
	if got := news(); got.Unread != 2 || got.URL != "/filter/notifications" || !strings.Contains(got.Title, "bob") {
		t.Errorf("the news are %+v", got)
	}
	v.Post("/bob/ban")
	if got := news(); got.Unread != 0 || got.Title != "" {
		t.Errorf("banned, and the news are %+v", got)
	}
	v.Header = http.Header{"Accept": {"application/json"}}
	nobody := s.Visitor()
	nobody.Header = v.Header
	nobody.Get("/push/news").Wants(401)
	v.Post("/push", "endpoint", "https://push.example/x", "p256dh", "short", "auth", "short").Wants(400)
	v.Post("/push/remove", "endpoint", "https://push.example/x").Wants(200)
	manifest := s.Visitor().Get("/manifest.webmanifest").Wants(200).Has(`"start_url":"/"`, "icon-512")
	if got := manifest.Header.Get("Content-Type"); got != "application/manifest+json" {
		t.Errorf("the manifest is %q", got)
	}
	worker := s.Visitor().Get("/sw.js").Wants(200).Has("showNotification")
	if got := worker.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("the service worker: Cache-Control %q", got)
	}
}

// TestABrowserAsksWhetherItIsTold: the answer is for this session. Another one, of the same account
// or of somebody else who uses the browser, is not told.
func TestABrowserAsksWhetherItIsTold(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const endpoint = "https://push.example/x"
	asks := func(v *webtest.Visitor, want bool) {
		t.Helper()
		v.Header = http.Header{"Accept": {"application/json"}}
		got := v.Post("/push/state", "endpoint", endpoint).Wants(200).Body
		if has := strings.TrimSpace(got) == `{"on":true}`; has != want {
			t.Errorf("the answer is %s, want %t", got, want)
		}
	}
	here, there := ann.Visitor(), s.Visitor()
	there.Post("/login", "username", "ann", "password", webtest.Password).LeadsTo("/")
	asks(here, false)
	here.Post("/push", "endpoint", endpoint, "p256dh", base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()),
		"auth", base64.RawURLEncoding.EncodeToString(make([]byte, 16))).Wants(200)
	asks(here, true)
	asks(there, false)
	asks(bob.Visitor(), false)
	here.Post("/push/remove", "endpoint", endpoint).Wants(200)
	asks(here, false)
	here.Post("/push/state", "endpoint", "https://\x00\xff").Wants(200)
}
