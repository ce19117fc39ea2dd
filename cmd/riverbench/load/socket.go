package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Socket follows a page. Close ends it.
type Socket struct {
	conn   *websocket.Conn
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // why the reading ended; read it after ended is closed

	mu sync.Mutex // guards waits
	// waits are for the next frame about a post.
	waits map[string]chan time.Time
}

// subscribeWithin bounds opening a socket, until the page is known to be true.
const subscribeWithin = time.Minute

// Follow loads a page, and follows it until ctx ends or Close. It returns when the site has said that
// the page is true.
func (p *Person) Follow(ctx context.Context, path string) (*Socket, Page, error) {
	html, err := p.Get(ctx, path)
	if err != nil {
		return nil, Page{}, err
	}
	page, err := ReadPage(html)
	if err != nil {
		return nil, Page{}, err
	}
	s, err := p.subscribe(ctx, page)
	return s, page, err
}

func (p *Person) subscribe(ctx context.Context, page Page) (*Socket, error) {
	opening, cancelOpening := context.WithTimeout(ctx, subscribeWithin)
	defer cancelOpening()
	header := http.Header{}
	if p.Cookie != "" {
		header.Set("Cookie", p.Cookie)
	}
	conn, response, err := websocket.Dial(opening, "ws"+strings.TrimPrefix(p.Site.url, "http")+"/ws", &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		return nil, err
	}
	if response.Body != nil {
		_ = response.Body.Close() // it is empty
	}
	conn.SetReadLimit(4 << 20)
	reading, cancel := context.WithCancel(ctx)
	s := &Socket{conn: conn, cancel: cancel, ended: make(chan struct{}), waits: map[string]chan time.Time{}}
	ok := make(chan struct{})
	go s.read(reading, ok)
	say, err := json.Marshal(map[string]any{
		"t": "subscribe", "page": page.Address, "lang": "en", "viewer": p.Name, "river": page.River, "entries": page.Versions,
	})
	if err == nil {
		err = conn.Write(opening, websocket.MessageText, say)
	}
	if err == nil {
		select {
		case <-ok:
			return s, nil
		case <-s.ended:
			err = s.err
		case <-opening.Done():
			err = opening.Err()
		}
	}
	return nil, errors.Join(fmt.Errorf("follow %s as %q: %w", page.Address, p.Name, err), s.Close())
}

// read takes frames until the socket ends, and closes ok at the first frame ok.
func (s *Socket) read(ctx context.Context, ok chan struct{}) {
	defer close(s.ended)
	for opened := false; ; {
		_, text, err := s.conn.Read(ctx)
		if err != nil {
			s.err = err
			return
		}
		at := time.Now()
		var frame struct{ T, Post string }
		if err := json.Unmarshal(text, &frame); err != nil {
			s.err = err
			return
		}
		switch {
		case frame.T == "ok" && !opened:
			opened = true
			close(ok)
		case frame.Post != "":
			s.mu.Lock()
			if wait := s.waits[frame.Post]; wait != nil {
				wait <- at // it has room for one
				delete(s.waits, frame.Post)
			}
			s.mu.Unlock()
		}
	}
}

// Next returns a channel that receives when the next frame about a post has come. It must be asked
// for before what causes the frame. The last call for a post counts.
func (s *Socket) Next(post string) <-chan time.Time {
	wait := make(chan time.Time, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[post] = wait
	return wait
}

// Close ends the socket, and returns when nothing of it runs any more.
func (s *Socket) Close() error {
	s.cancel()
	err := s.conn.CloseNow()
	<-s.ended
	if errors.Is(err, websocket.CloseError{}) || errors.Is(err, context.Canceled) || err != nil && strings.Contains(err.Error(), "closed") {
		return nil // the end of ctx had closed it
	}
	return err
}
