package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// feedTime is the time for a feed, with all redirects. Each feedPace bytes that come add one
	// second: a large file may take long, and a server that drips may not.
	feedTime = 30 * time.Second
	feedPace = 64 << 10
	// feedWhole is the time for the largest feed.
	feedWhole = 30 * time.Minute
	// maxValidator is the length of the longest ETag that is kept, in bytes.
	maxValidator = 1024
)

// feedTypes is the Accept header, for servers that have several forms of a feed. Any type is read.
var feedTypes = []string{
	"application/atom+xml", "application/rss+xml", "application/feed+json",
	"application/xml;q=0.9", "text/xml;q=0.9", "*/*;q=0.5",
}

// Feed is the answer to a request for a feed. Its texts are of printable ASCII.
type Feed struct {
	// Status is the status after the redirects, which may be any. Only 200 and 203 bring content.
	Status int
	// URL is the address after all redirects. Permanent says that there were redirects, and that all
	// were permanent (301, 308).
	URL       string
	Permanent bool
	// ETag and LastModified are for the next Request.
	ETag, LastModified string
	// Type and Charset describe the content, in lower case; empty if they are not stated.
	Type, Charset string
	// Bytes is the size of the content, decompressed.
	Bytes int64
	// RetryAfter is how long the server asks to be left alone. MaxAge is how long it says that the
	// content stays the same. 0: it does not say.
	RetryAfter, MaxAge time.Duration
}

// Feed fetches an address and writes its content, as it comes, to w. It ignores Request.Accept. Any
// status is an answer and no error. The errors are those of Get, or of w. After an error w may have a
// part of the content.
//
// Config.Timeout does not count: there are 30 seconds, and one more for each 64 kB, up to half an
// hour.
func (c *Client) Feed(ctx context.Context, r Request, w io.Writer) (Feed, error) {
	r.Accept = feedTypes
	return c.File(ctx, r, w)
}

// File fetches any other file as Feed does. It sends Request.Accept, but reads any type.
func (c *Client) File(ctx context.Context, r Request, w io.Writer) (Feed, error) {
	address, err := parse(r.URL)
	if err != nil {
		return Feed{}, fmt.Errorf("fetch: %w", err)
	}
	ctx, end, err := c.begin(ctx, feedWhole)
	if err != nil {
		return Feed{}, fmt.Errorf("fetch: %w", err)
	}
	defer end()
	ctx, late := context.WithCancelCause(ctx)
	defer late(nil)
	pace := &pace{began: time.Now(), first: c.times.feed}
	pace.timer = time.AfterFunc(pace.first, func() { late(ErrTimeout) })
	defer pace.timer.Stop()

	out := &output{Writer: w}
	feed, err := c.feed(ctx, address, r, out, pace)
	switch {
	case err == nil:
		return feed, nil
	case out.err != nil:
		return Feed{}, fmt.Errorf("keep a feed: %w", out.err)
	case errors.Is(context.Cause(ctx), ErrTimeout):
		err = ErrTimeout // net/http says that it was cancelled
	}
	return Feed{}, typed(ctx, address.Hostname(), err)
}

func (c *Client) feed(ctx context.Context, address *url.URL, r Request, w io.Writer, pace *pace) (f Feed, err error) {
	answer, err := c.ask(ctx, address, r)
	if err != nil {
		return f, err
	}
	// The body may not be read to its end. The rest is of no use, so the connection is closed.
	defer func() { _ = answer.Body.Close() }()
	f = Feed{
		Status: answer.StatusCode, Permanent: permanent(answer.Request),
		ETag: printable(answer.Header.Get("ETag"), maxValidator), LastModified: printable(answer.Header.Get("Last-Modified"), maxValidator),
		RetryAfter: retryAfter(answer.Header, time.Now()), MaxAge: maxAge(answer.Header),
	}
	final := *answer.Request.URL
	final.Fragment, final.RawFragment = "", ""
	if f.URL = printable(final.String(), maxAddress); f.URL == "" {
		// The address was read, but cannot be stored.
		f.URL, f.Permanent = address.String(), false
	}
	kind, params, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err == nil || errors.Is(err, mime.ErrInvalidMediaParameter) {
		f.Type, f.Charset = printable(kind, 100), printable(strings.ToLower(params["charset"]), 100)
	}
	if f.Status != http.StatusOK && f.Status != http.StatusNonAuthoritativeInfo {
		return f, nil
	}
	body, err := content(answer, kind, Request{MaxBytes: r.MaxBytes})
	if err != nil {
		return f, err
	}
	pace.Reader = body
	f.Bytes, err = io.Copy(w, pace)
	return f, err
}

// permanent reports whether a request ends a chain of redirects that are all permanent.
func permanent(r *http.Request) bool {
	redirected := r.Response != nil
	for ; r.Response != nil; r = r.Response.Request {
		if s := r.Response.StatusCode; s != http.StatusMovedPermanently && s != http.StatusPermanentRedirect {
			return false
		}
	}
	return redirected
}

// printable returns a text that can be stored and sent as it is; "" if it cannot, or is too long.
func printable(text string, most int) string {
	if len(text) > most || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return text
}

// longest is the longest time that a server may ask for, which fits into a duration.
const longest = 10 * 365 * 24 * time.Hour

// retryAfter returns how long a server asks to be left alone, given in seconds or as a date. The date
// is compared with the server's own clock, if the answer has it.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if at, err := http.ParseTime(value); err == nil {
		if date, err := http.ParseTime(h.Get("Date")); err == nil {
			now = date
		}
		return min(max(at.Sub(now), 0), longest)
	}
	return seconds(value)
}

// maxAge returns how long a server says that its answer stays the same, less the time that the answer
// has spent in caches.
func maxAge(h http.Header) time.Duration {
	for _, line := range h.Values("Cache-Control") {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			if strings.EqualFold(strings.TrimSpace(name), "max-age") {
				age := seconds(strings.Trim(strings.TrimSpace(value), `"`))
				return max(age-seconds(strings.TrimSpace(h.Get("Age"))), 0)
			}
		}
	}
	return 0
}

// seconds returns a number of seconds; 0 for any other text.
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return time.Duration(min(n, uint64(longest/time.Second))) * time.Second
}

// pace ends a request that is too slow.
type pace struct {
	io.Reader
	began time.Time
	first time.Duration
	timer *time.Timer
	came  int64
}

func (p *pace) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.came += int64(n)
	left := p.first + time.Duration(p.came/feedPace)*time.Second - time.Since(p.began)
	// A timer that has ended does not begin again.
	if p.timer.Stop() {
		p.timer.Reset(left)
	}
	return n, err
}

// output remembers that it failed, so that its failure does not count as one of the server.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil {
		o.err = err
	}
	return n, err
}
