package fetch

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"code.dny.dev/ssrf"
)

const (
	// MaxRedirects is how many redirects are followed.
	MaxRedirects = 5
	// maxHeader bounds the header of a response, in bytes.
	maxHeader = 64 << 10
	// maxFraming is how much longer a compressed body may be than the body itself: gzip has
	// a header, and bytes of its own for each block.
	maxFraming = 64 << 10
)

// Config says how to fetch. The zero Config is ready.
type Config struct {
	// Version and Site (an address) are for the User-Agent: "riverrun/1.0 (+https://river.example)".
	Version, Site string
	// Allow are networks that may be reached although they are not public, on all ports.
	// See ParseAllow. With 64:ff9b::/96 a machine that has only IPv6 reaches IPv4 by NAT64,
	// if the gateway itself refuses private addresses.
	Allow []netip.Prefix
	// Proxy, if not nil, makes all connections: http://host:port or socks5://host:port, with
	// a user and a password if it wants them. See the package's comment.
	Proxy *url.URL
	// Timeout is the time for everything, from looking up the name to the end of the body,
	// with all redirects; 0: 20 seconds. Connecting, TLS and the header have at most
	// 5, 5 and 10 seconds each.
	Timeout time.Duration
	// Resolver looks up names; nil: net.DefaultResolver.
	Resolver *net.Resolver
}

// Client fetches addresses. It may be used by several goroutines at the same time.
type Client struct {
	http      *http.Client
	transport *http.Transport
	userAgent string

	guardian *ssrf.Guardian
	allow    []netip.Prefix
	proxy    *url.URL
	dialer   *net.Dialer
	roots    *x509.CertPool // nil: the system's
	times    times

	mu      sync.Mutex           // guards what follows
	running map[*func()]struct{} // each ends a request or a dial
	closed  bool
}

type times struct{ whole, dial, tls, header, feed time.Duration }

// CheckProxy returns an error if an address cannot be Config.Proxy.
func CheckProxy(p *url.URL) error {
	if p.Scheme != "http" && p.Scheme != "socks5" || p.Hostname() == "" || p.Port() == "" {
		return fmt.Errorf("proxy %q: want http://host:port or socks5://host:port", p.Redacted())
	}
	return nil
}

// New returns a client, or an error if it cannot use the proxy. Close ends the client.
func New(cfg Config) (*Client, error) {
	if cfg.Proxy != nil {
		if err := CheckProxy(cfg.Proxy); err != nil {
			return nil, err
		}
	}
	c := &Client{
		userAgent: "riverrun/" + cfg.Version,
		guardian:  ssrf.New(),
		allow:     cfg.Allow,
		proxy:     cfg.Proxy,
		times:     times{whole: cfg.Timeout, dial: 5 * time.Second, tls: 5 * time.Second, header: 10 * time.Second, feed: feedTime},
		running:   map[*func()]struct{}{},
	}
	if cfg.Site != "" {
		c.userAgent += " (+" + cfg.Site + ")"
	}
	if c.times.whole == 0 {
		c.times.whole = 20 * time.Second
	}
	c.dialer = &net.Dialer{Control: c.control, Resolver: cfg.Resolver}
	c.transport = &http.Transport{
		DialContext:            c.dial,
		DialTLSContext:         c.dialTLS,
		ResponseHeaderTimeout:  c.times.header,
		MaxResponseHeaderBytes: maxHeader,
		// A page's picture is often on the server of the page.
		IdleConnTimeout:     5 * time.Second,
		MaxIdleConns:        16,
		MaxIdleConnsPerHost: 1,
	}
	c.http = &http.Client{Transport: c.transport, CheckRedirect: follow}
	return c, nil
}

// Close ends every request and connection, also those under way, which fail with ErrClosed.
// It does not wait for their callers. It may be called more than once.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	for end := range c.running {
		(*end)()
	}
	c.mu.Unlock()
	c.transport.CloseIdleConnections()
}

// begin returns a context that ends with ctx, after a time, or with the client. The caller must call
// its end.
func (c *Client) begin(ctx context.Context, within time.Duration) (context.Context, func(), error) {
	ctx, cancel := context.WithCancelCause(ctx)
	ctx, stop := context.WithTimeout(ctx, within)
	closing := func() { cancel(ErrClosed) }
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		stop()
		closing()
		return nil, nil, ErrClosed
	}
	c.running[&closing] = struct{}{}
	return ctx, func() {
		c.mu.Lock()
		delete(c.running, &closing)
		c.mu.Unlock()
		stop()
		cancel(nil)
	}, nil
}

// follow is called before each redirect.
func follow(next *http.Request, before []*http.Request) error {
	next.Header.Del("Referer")
	if len(before) > MaxRedirects {
		return ErrRedirects
	}
	if err := check(next.URL); err != nil {
		return fmt.Errorf("redirect: %w", err)
	}
	if before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return ErrDowngrade
	}
	return nil
}

// Request says what to fetch.
type Request struct {
	URL string
	// Accept are the wanted types of content, as in "text/html" or "image/*"; none: any.
	Accept []string
	// MaxBytes is the size of the largest body, after decompression.
	MaxBytes int64
	// ETag and LastModified are those of the response that the caller has. The server may then answer
	// 304 without a body.
	ETag, LastModified string
}

// Response is an answer of status 2xx or 304.
type Response struct {
	Status int
	// FinalURL is the address after all redirects.
	FinalURL *url.URL
	// Type is the type of the content in lower case, as in "text/html", or empty if it is not stated.
	Type   string
	Header http.Header
	// Body is the decompressed body. Reading more than MaxBytes of it fails with ErrTooLarge. Other
	// failures have the types of those of Get. The caller must close it.
	Body io.ReadCloser
}

// Get fetches an address. Its errors are those of errors.go. A body that nobody reads any more ends
// after Config.Timeout at the latest.
func (c *Client) Get(ctx context.Context, r Request) (*Response, error) {
	address, err := parse(r.URL)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	ctx, end, err := c.begin(ctx, c.times.whole)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	response, err := c.get(ctx, address, r)
	if err != nil {
		err = typed(ctx, address.Hostname(), err)
		end()
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, end: end, typed: func(err error) error {
		return typed(ctx, address.Hostname(), err)
	}}
	return response, nil
}

// ask sends a request and returns the last answer after its redirects, whatever its status.
func (c *Client) ask(ctx context.Context, address *url.URL, r Request) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	for name, value := range map[string]string{
		"Accept":            strings.Join(r.Accept, ", "),
		"Accept-Encoding":   "gzip", // if http.Transport asks for it itself, compressed data has no bound
		"If-Modified-Since": r.LastModified,
		"If-None-Match":     r.ETag,
		"User-Agent":        c.userAgent,
	} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	return c.http.Do(request)
}

func (c *Client) get(ctx context.Context, address *url.URL, r Request) (*Response, error) {
	answer, err := c.ask(ctx, address, r)
	if err != nil {
		return nil, err
	}
	// A malformed type counts as none, which is accepted if any type is wanted.
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		kind = ""
	}
	response := &Response{Status: answer.StatusCode, FinalURL: answer.Request.URL, Type: kind, Header: answer.Header}
	if response.Body, err = content(answer, kind, r); err != nil {
		answer.Body.Close()
		return nil, err
	}
	return response, nil
}

// content returns the body of an answer of a kind, if it is wanted.
func content(answer *http.Response, kind string, r Request) (io.ReadCloser, error) {
	if answer.StatusCode == http.StatusNotModified {
		return answer.Body, nil
	}
	if answer.StatusCode/100 != 2 {
		return nil, &StatusError{answer.StatusCode}
	}
	if !accepted(kind, r.Accept) {
		return nil, fmt.Errorf("%w: %.100q", ErrType, answer.Header.Get("Content-Type"))
	}
	switch encoding := strings.ToLower(answer.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return http.MaxBytesReader(nil, answer.Body, r.MaxBytes), nil
	case "gzip", "x-gzip":
		// Compressed data can be endless without any content.
		packed := http.MaxBytesReader(nil, answer.Body, r.MaxBytes+maxFraming)
		unpacked, err := gzip.NewReader(packed)
		if err != nil {
			return nil, err
		}
		return http.MaxBytesReader(nil, &unzipped{Reader: unpacked, packed: packed}, r.MaxBytes), nil
	default:
		return nil, fmt.Errorf("%w: encoded as %.100q", ErrType, encoding)
	}
}

// accepted reports whether a type of content is a wanted one.
func accepted(kind string, wanted []string) bool {
	for _, w := range wanted {
		if group, ok := strings.CutSuffix(w, "*"); kind == w || ok && strings.HasPrefix(kind, group) {
			return true
		}
	}
	return len(wanted) == 0
}

// unzipped is a decompressed body, which closes the compressed one.
type unzipped struct {
	*gzip.Reader
	packed io.Closer
}

func (u *unzipped) Close() error { return u.packed.Close() }

// body is the body of a response: its errors are typed, and closing it ends the request.
type body struct {
	io.ReadCloser
	typed func(error) error
	end   func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = b.typed(err)
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

// Do sends a request that a library made, such as a Web Push, within the limits of Get. It returns
// the status of the answer without its body, which nobody here reads. It follows no redirect. The
// errors are those of Get, but any status is an answer.
func (c *Client) Do(request *http.Request) (*http.Response, error) {
	address, err := parse(request.URL.String())
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	ctx, end, err := c.begin(request.Context(), c.times.whole)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	defer end()
	request = request.Clone(ctx)
	request.URL, request.Host = address, ""
	request.Header.Set("User-Agent", c.userAgent)
	answer, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, typed(ctx, address.Hostname(), err)
	}
	// The rest of a short answer is read so that the connection can be used again.
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxFraming))
	_ = answer.Body.Close()
	answer.Body = http.NoBody
	return answer, nil
}
