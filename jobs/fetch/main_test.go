package fetch

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"
)

func TestMain(m *testing.M) {
	// Nothing listens there. A client that used it would reach nothing.
	os.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	os.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	goleak.VerifyTestMain(m)
}

// names is a DNS server for tests. A name with several answers gives one after the other, as in DNS
// rebinding, and then repeats the last.
type names struct {
	mu      sync.Mutex // guards answers
	answers map[string][]string
}

// take returns the addresses of a name in the present answer, in which spaces separate them.
func (n *names) take(name string, kind dnsmessage.Type) (found []netip.Addr, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers, known := n.answers[name]
	if !known {
		return nil, false
	}
	for text := range strings.FieldsSeq(answers[0]) {
		if at := netip.MustParseAddr(text); at.Is4() == (kind == dnsmessage.TypeA) {
			found = append(found, at)
		}
	}
	if len(answers) > 1 && len(found) > 0 {
		n.answers[name] = answers[1:]
	}
	return found, true
}

func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			for n.answer(far) == nil {
			}
		}()
		return near, nil
	}}
}

// answer answers one question, framed as in DNS by TCP.
func (n *names) answer(conn io.ReadWriter) error {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	packed := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, packed); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(packed); err != nil {
		return err
	}
	asked := m.Questions[0]
	found, known := n.take(strings.TrimSuffix(asked.Name.String(), "."), asked.Type)
	m.Response, m.Additionals = true, nil
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, at := range found {
		h := dnsmessage.ResourceHeader{Name: asked.Name, Type: asked.Type, Class: asked.Class}
		if at.Is4() {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: at.As4()}})
		} else {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: at.As16()}})
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return err
	}
	_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...))
	return err
}

// dials are the addresses that a client really connects to.
type dials struct {
	mu     sync.Mutex // guards passed
	passed []string
}

func (d *dials) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.passed)
}

// newClient returns a client that looks up names in answers, and the addresses that it connects to.
func newClient(t *testing.T, cfg Config, answers map[string][]string) (*Client, *dials) {
	t.Helper()
	cfg.Resolver = (&names{answers: answers}).resolver()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := &dials{}
	control := c.dialer.Control
	c.dialer.Control = func(network, address string, raw syscall.RawConn) error {
		err := control(network, address, raw)
		if err == nil {
			d.mu.Lock()
			d.passed = append(d.passed, address)
			d.mu.Unlock()
		}
		return err
	}
	return c, d
}

// loopback allows the address of test servers, and no other one.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// get fetches an address with its whole body.
func get(t *testing.T, c *Client, r Request) (*Response, string, error) {
	t.Helper()
	response, err := c.Get(t.Context(), r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}
