package live_test

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"riverrun/web/live"
	"riverrun/web/webtest"
)

// rawSocket opens a socket, and reads only the handshake from its connection. All other
// bytes, pings too, wait until somebody reads them.
func rawSocket(s *webtest.Site) *net.TCPConn {
	s.T.Helper()
	dialed, err := net.Dial("tcp", s.HTTP.Listener.Addr().String())
	if err != nil {
		s.T.Fatal(err)
	}
	conn := dialed.(*net.TCPConn)
	s.T.Cleanup(func() { _ = conn.Close() }) // it may be closed already
	if err := conn.SetReadBuffer(4 << 10); err != nil {
		s.T.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "GET /ws HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", s.HTTP.Listener.Addr())
	if err != nil {
		s.T.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		s.T.Fatalf("handshake: %+v, %v", answer, err)
	}
	return conn
}

// subscribeRaw subscribes to a page over a raw socket.
func subscribeRaw(s *webtest.Site, conn *net.TCPConn, address string) {
	s.T.Helper()
	message, err := json.Marshal(map[string]string{"t": "subscribe", "page": address, "lang": "en"})
	if err != nil {
		s.T.Fatal(err)
	}
	frame := binary.BigEndian.AppendUint16([]byte{0x81, 0x80 | 126}, uint16(len(message))) // whole, text, masked
	var mask [4]byte
	if _, err := rand.Read(mask[:]); err != nil {
		s.T.Fatal(err)
	}
	frame = append(frame, mask[:]...)
	for i, b := range message {
		frame = append(frame, b^mask[i%len(mask)])
	}
	if _, err := conn.Write(frame); err != nil {
		s.T.Fatal(err)
	}
}

// A client that never reads loses its connection. There may be nothing to send, or
// enough that it stays in the system's hands, which keep little. The server keeps
// nothing of it, and only by that can it tell such a client that it is over.
func TestNeverReading(t *testing.T) {
	for _, tc := range []struct {
		name  string
		set   func(*live.Config)
		talks bool
	}{
		{"a full pipe", func(c *live.Config) { c.SendBuffer, c.WriteTimeout = 0, 500*time.Millisecond }, true},
		{"unanswered pings", func(c *live.Config) { c.PingEvery, c.PongWithin = time.Millisecond, time.Millisecond }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := webtest.New(t, tc.set)
			stuck := rawSocket(s)
			if tc.talks {
				ann := s.Person("ann")
				post := ann.Post("long talk")
				subscribeRaw(s, stuck, "/p/"+post.Code)
				webtest.Await(t, "the socket", func() bool { return s.Figure("riverrun_frames_sent_total", "ok") == 1 })
				long := strings.Repeat("word ", 3900)
				for i := 0; i < 60 && s.Figure("riverrun_sockets_open") > 0; i++ {
					ann.Comment(post.Code, strconv.Itoa(i)+" "+long)
				}
				webtest.Await(t, "a reader who never reads to be closed", func() bool { return s.Figure("riverrun_sockets_open") == 0 })
				// Each is longer than the one before by a comment of 20 kB.
				if got := s.Figure("riverrun_frames_sent_total", "entry"); got > 12 {
					t.Errorf("the system held %v frames for a reader who never reads, want 12 at most", got)
				}
			}
			webtest.Await(t, "the socket to end", func() bool { return s.Figure("riverrun_sockets_open") == 0 })
			if n, err := io.Copy(io.Discard, stuck); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the connection ended after %d more bytes with %v, want a reset", n, err)
			}
		})
	}
}
