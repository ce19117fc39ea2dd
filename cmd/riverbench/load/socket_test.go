package load

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"
)

// follow follows a page of a site that says ok to the subscription, and does that when the page is followed.
func follow(t *testing.T, ctx context.Context, then func(context.Context, *websocket.Conn) error) *Socket {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<main data-river="1" data-page="/">`) })
	followed, ended := make(chan struct{}), make(chan struct{})
	mux.HandleFunc("GET /ws", func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		_, _, err = conn.Read(r.Context())
		if err == nil {
			err = conn.Write(r.Context(), websocket.MessageText, []byte(`{"t":"ok"}`))
		}
		<-followed
		if err == nil {
			err = then(r.Context(), conn)
		}
		if err != nil {
			t.Error(err)
		}
		_ = conn.CloseNow() // the test closes its own end too
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(func() { <-ended })
	site := NewSite(server.URL, 1)
	t.Cleanup(site.Close)
	s, _, err := site.Nobody().Follow(ctx, "/")
	close(followed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A socket closes without an error, whatever had ended it.
func TestCloseOfASocket(t *testing.T) {
	untilTheEnd := func(ctx context.Context, conn *websocket.Conn) error {
		<-conn.CloseRead(ctx).Done()
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	open := follow(t, t.Context(), untilTheEnd)
	cancelled := follow(t, ctx, untilTheEnd)
	cancel()
	<-cancelled.ended
	closed := follow(t, t.Context(), func(_ context.Context, conn *websocket.Conn) error {
		return conn.Close(websocket.StatusGoingAway, "")
	})
	<-closed.ended
	broken := follow(t, t.Context(), func(_ context.Context, conn *websocket.Conn) error { return conn.CloseNow() })
	<-broken.ended
	for name, s := range map[string]*Socket{"an open one": open, "the end of its context": cancelled, "closed by the site": closed, "broken by the site": broken} {
		for range 2 {
			if err := s.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
