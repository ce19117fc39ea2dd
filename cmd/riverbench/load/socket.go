package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Socket follows a page. Close ends it.
type Socket struct {
	by     *Person
	page   Page
	conn   *websocket.Conn
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // why the reading ended; read it after ended is closed

	mu sync.Mutex // guards what follows
	// frames are those that came, by post, and came is closed and made anew with each.
	frames map[string][]frame
	came   chan struct{}
}

// frame is what a frame said of a post, and when it came.
type frame struct {
	fold int64
	at   time.Time
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

// pauses are how long a page whose socket broke waits for another one: a random part of these (river.js).
var pauses = []time.Duration{time.Second / 2, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second}

// Return waits until the socket breaks, and then follows its page by another one, as a script does: some pauses
// later, until the site takes it. The new one ends with ctx or Close.
func (s *Socket) Return(ctx context.Context) (*Socket, error) {
	select {
	case <-s.ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(subscribeWithin)
	for turn := 0; ; turn++ {
		wait := time.NewTimer(rand.N(pauses[min(turn, len(pauses)-1)]))
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil, ctx.Err()
		case <-wait.C:
		}
		again, err := s.by.subscribe(ctx, s.page)
		if err == nil {
			return again, nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, err
		}
	}
}

// Ended reports whether the socket is closed, by whichever end.
func (s *Socket) Ended() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
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
	s := &Socket{by: p, page: page, conn: conn, cancel: cancel, ended: make(chan struct{}), frames: map[string][]frame{}, came: make(chan struct{})}
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
		var said struct{ T, Post, Version string }
		if err := json.Unmarshal(text, &said); err != nil {
			s.err = err
			return
		}
		switch {
		case said.T == "ok" && !opened:
			opened = true
			close(ok)
		case said.Post != "":
			fold, err := Fold(said.Version)
			if err != nil {
				s.err = err
				return
			}
			s.mu.Lock()
			s.frames[said.Post] = append(s.frames[said.Post], frame{fold, at})
			close(s.came)
			s.came = make(chan struct{})
			s.mu.Unlock()
		}
	}
}

// Fold returns how new a version of an entry is, of versions of one post.
func Fold(version string) (int64, error) {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return 0, fmt.Errorf("the version %q has one part", version)
	}
	return strconv.ParseInt(parts[1], 10, 64)
}

// Shown waits until the page shows a post as new as that, and returns when it did.
func (s *Socket) Shown(ctx context.Context, post string, fold int64) (time.Time, error) {
	for {
		s.mu.Lock()
		frames, came := s.frames[post], s.came
		s.mu.Unlock()
		for _, f := range frames {
			if f.fold >= fold {
				return f.at, nil
			}
		}
		select {
		case <-came:
		case <-s.ended:
			return time.Time{}, s.err
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("an open page has not shown post %s: %w", post, ctx.Err())
		}
	}
}

// Close ends the socket, and returns when nothing of it runs any more.
func (s *Socket) Close() error {
	s.cancel()
	err := s.conn.CloseNow()
	<-s.ended
	if errors.Is(err, net.ErrClosed) {
		return nil // the site or the end of ctx had closed it
	}
	return err
}
