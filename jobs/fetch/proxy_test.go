package fetch

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var quiet = log.New(io.Discard, "", 0)

// fakeProxy is a proxy by CONNECT or SOCKS5. It writes down which addresses it is asked for,
// and connects to the same server for each.
type fakeProxy struct {
	net.Listener
	to    string
	mu    sync.Mutex // guards asked
	asked []string
}

func newProxy(t *testing.T, to string, greet func(*bufio.Reader, io.Writer) (string, error)) *fakeProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &fakeProxy{Listener: l, to: to}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.pass(conn, greet) })
		}
	})
	t.Cleanup(func() { l.Close(); running.Wait() })
	return p
}

func (p *fakeProxy) pass(conn net.Conn, greet func(*bufio.Reader, io.Writer) (string, error)) {
	defer conn.Close()
	from := bufio.NewReader(conn)
	target, err := greet(from, conn)
	p.mu.Lock()
	p.asked = append(p.asked, target)
	p.mu.Unlock()
	if err != nil {
		return
	}
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { io.Copy(conn, server); conn.Close() })
	io.Copy(server, from)
	server.Close()
	back.Wait()
}

func byConnect(from *bufio.Reader, to io.Writer) (string, error) {
	r, err := http.ReadRequest(from)
	if err != nil {
		return "", err
	}
	if r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != "Basic YW5uOnBhc3N3b3Jk" {
		io.WriteString(to, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
		return r.Method + " " + r.RequestURI, errors.New("refused")
	}
	_, err = io.WriteString(to, "HTTP/1.1 200 OK\r\n\r\n")
	return r.RequestURI, err
}

func bySOCKS(from *bufio.Reader, to io.Writer) (string, error) {
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(from, b); err != nil {
			return make([]byte, n)
		}
		return b
	}
	read(int(read(2)[1]))  // the ways to sign in
	to.Write([]byte{5, 2}) // by password
	read(int(read(2)[1]))  // the user
	if string(read(int(read(1)[0]))) != "password" {
		to.Write([]byte{1, 1})
		return "", errors.New("refused")
	}
	to.Write([]byte{1, 0})
	kind := read(4)[3]
	if kind != 1 {
		return "not an IPv4 address", errors.New("refused")
	}
	ip, _ := netip.AddrFromSlice(read(4))
	at := netip.AddrPortFrom(ip, binary.BigEndian.Uint16(read(2)))
	_, err := to.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return at.String(), err
}

func TestProxy(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return
		}
		io.WriteString(w, r.Host)
	})
	for name, greet := range map[string]func(*bufio.Reader, io.Writer) (string, error){"http": byConnect, "socks5": bySOCKS} {
		for _, tt := range []struct {
			url   string
			want  error
			asked []string
		}{
			{"http://page.test/", nil, []string{"93.184.216.34:80"}},
			// The second answer would be a private one.
			{"http://rebound.test/", nil, []string{"93.184.216.35:80"}},
			{"http://page.test/?to=http://rebound.test/", nil, []string{"93.184.216.34:80", "93.184.216.35:80"}},
			{"http://mixed.test/", nil, []string{"93.184.216.36:80"}},
			{"http://inside.test:8080/", nil, []string{"10.7.0.1:8080"}},
			{"https://page.test/", ErrTLS, []string{"93.184.216.34:443"}}, // the server has none
			{"http://page.test/?to=http://private.test/", ErrForbidden, []string{"93.184.216.34:80"}},
			{"http://page.test/?to=http://[::1]/", ErrForbidden, []string{"93.184.216.34:80"}},
			{"http://private.test/", ErrForbidden, nil},
			{"https://private.test/", ErrForbidden, nil},
			{"http://127.0.0.1/", ErrForbidden, nil},
			{"http://[::ffff:10.0.0.1]/", ErrForbidden, nil},
			{"http://localhost/", ErrForbidden, nil},
			{"http://page.test:8080/", ErrForbidden, nil},
			{"http://nowhere.test/", ErrDNS, nil},
		} {
			p := newProxy(t, s.Listener.Addr().String(), greet)
			c, dialled := newClient(t, Config{
				Allow: []netip.Prefix{netip.MustParsePrefix("10.7.0.0/16")},
				Proxy: &url.URL{Scheme: name, User: url.UserPassword("ann", "password"), Host: p.Addr().String()},
			}, map[string][]string{
				"page.test":    {"93.184.216.34"},
				"rebound.test": {"93.184.216.35", "127.0.0.1"},
				"mixed.test":   {"10.0.0.1 93.184.216.36 fd00::1"},
				"private.test": {"192.168.0.1"},
				"inside.test":  {"10.7.0.1"},
			})
			_, text, err := get(t, c, Request{URL: tt.url, MaxBytes: 100})
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: Get(%q): got %v, want %v", name, tt.url, err, tt.want)
			}
			if u, _ := url.Parse(tt.url); err == nil && u.RawQuery == "" && text != u.Host {
				t.Errorf("%s: Get(%q): the server was asked for %q", name, tt.url, text)
			}
			p.mu.Lock()
			if diff := cmp.Diff(tt.asked, p.asked); diff != "" {
				t.Errorf("%s: Get(%q): what the proxy was asked for (-want +got):\n%s", name, tt.url, diff)
			}
			p.mu.Unlock()
			if got := dialled.all(); len(got) > 0 {
				t.Errorf("%s: Get(%q): connected to %q beside the proxy", name, tt.url, got)
			}
		}
	}
}

func TestProxyFails(t *testing.T) {
	t.Parallel()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts for it, and nothing follows
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	says := func(answer string) *fakeProxy {
		return newProxy(t, "", func(from *bufio.Reader, to io.Writer) (string, error) {
			from.Peek(1)
			io.WriteString(to, answer)
			return "", errors.New("refused")
		})
	}
	for _, at := range []net.Addr{
		gone.Addr(),
		silent.Addr(),
		says("").Addr(),
		says("HTTP/1.1 403 Forbidden\r\n\r\n").Addr(),
		says("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n").Addr(),
		says("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n").Addr(),
	} {
		for _, scheme := range []string{"http", "socks5"} {
			c, _ := newClient(t, Config{Proxy: &url.URL{Scheme: scheme, Host: at.String()}}, nil)
			if at.String() == silent.Addr().String() {
				c.times.dial /= 100
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			if _, err := c.Get(ctx, Request{URL: "http://93.184.216.34/"}); !errors.Is(err, ErrProxy) || ctx.Err() != nil {
				t.Errorf("%s: got %v, want ErrProxy, and not by the deadline of the caller", scheme, err)
			}
			cancel()
		}
	}
	for _, address := range []string{"https://proxy.test:3128", "http://proxy.test", "proxy.test:3128", "http://:3128", ""} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(Config{Proxy: u}); err == nil || !strings.Contains(err.Error(), "want http://host:port") {
			t.Errorf("New with the proxy %q: got %v, want an error", address, err)
		}
	}
}
