package web_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"riverrun/web"
	"riverrun/web/webtest"
)

// carried is an answer as it went over the wire, and what it says.
type carried struct {
	*http.Response
	wire, body []byte
	padding    int // bytes of jitter
}

// carry asks for an address with an Accept-Encoding of its own, "" for none, and
// further headers.
func carry(v *webtest.Visitor, method, address, accept string, headers ...string) carried {
	v.T.Helper()
	r, err := http.NewRequestWithContext(v.T.Context(), method, v.Base+address, nil)
	if err != nil {
		v.T.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept-Encoding", accept)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := *v.Client
	client.Transport = &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	response, err := client.Do(r)
	if err != nil {
		v.T.Fatal(err)
	}
	defer response.Body.Close()
	c := carried{Response: response}
	if c.wire, err = io.ReadAll(response.Body); err != nil {
		v.T.Fatal(err)
	}
	c.body, c.padding, err = unpack(response.Header.Get("Content-Encoding"), c.wire)
	if err != nil {
		v.T.Fatalf("%s %s: %v", method, address, err)
	}
	return c
}

// unpack is what was compressed, and how many bytes of padding came with it.
func unpack(encoding string, wire []byte) (body []byte, padding int, err error) {
	switch encoding {
	case "":
		return wire, 0, nil
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(wire))
		if err != nil {
			return nil, 0, err
		}
		body, err = io.ReadAll(r)
		return body, len(r.Comment), err
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(wire))
		if err != nil {
			return nil, 0, err
		}
		defer r.Close()
		if body, err = io.ReadAll(r); err != nil {
			return nil, 0, err
		}
		// A skippable frame at the end: its magic number, its size, and as many bytes.
		at := bytes.LastIndex(wire, []byte{0x50, 0x2a, 0x4d, 0x18})
		if at < 0 || int(binary.LittleEndian.Uint32(wire[at+4:])) != len(wire)-at-8 {
			return body, 0, nil
		}
		return body, len(wire) - at - 8, nil
	}
	return nil, 0, fmt.Errorf("unknown encoding %q", encoding)
}

func TestCompression(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("anna")
	for i := range 5 {
		ann.Post(strings.Repeat(fmt.Sprintf("Number %d, a heron above the weir. ", i), 20))
	}
	v := ann.Visitor()
	plain := carry(v, "GET", "/everything", "")
	for accept, want := range map[string]string{
		"zstd": "zstd", "gzip": "gzip", "gzip, deflate, br, zstd": "zstd", "gzip;q=1.0, zstd;q=0.5": "gzip", "zstd;q=0, gzip": "gzip",
		"": "", "identity": "", "br": "", "gzip;q=0": "",
	} {
		got := carry(v, "GET", "/everything", accept)
		if encoding := got.Header.Get("Content-Encoding"); got.StatusCode != 200 || encoding != want {
			t.Errorf("Accept-Encoding %q: answered %d with %q, want %q", accept, got.StatusCode, encoding, want)
		}
		// The page says the same but for what is another each time.
		if !bytes.Contains(got.body, []byte("Number 4, a heron")) || len(got.body) != len(plain.body) {
			t.Errorf("Accept-Encoding %q: %d bytes, want %d\n%.300s", accept, len(got.body), len(plain.body), got.body)
		}
		if want != "" && len(got.wire) > len(got.body)/2 {
			t.Errorf("Accept-Encoding %q: %d bytes of %d", accept, len(got.wire), len(got.body))
		}
		if vary := strings.Join(got.Header.Values("Vary"), ", "); !strings.Contains(vary, "Accept-Encoding") || !strings.Contains(vary, "Cookie") {
			t.Errorf("Accept-Encoding %q: Vary %q", accept, vary)
		}
		if n := got.ContentLength; n >= 0 && n != int64(len(got.wire)) {
			t.Errorf("Accept-Encoding %q: Content-Length %d, %d came", accept, n, len(got.wire))
		}
	}
	// These are no pages: files, feeds, answers to river.js, an error.
	for address, status := range map[string]int{
		s.Server.Asset("site.css"): 200, s.Server.Asset("river.js"): 200, "/feeds/anna.atom": 200, "/feeds/anna.json": 200, "/nobody-here": 404,
	} {
		got := carry(v, "GET", address, "zstd")
		if got.StatusCode != status || got.Header.Get("Content-Encoding") != "zstd" || !strings.Contains(strings.Join(got.Header.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("GET %s: %d with %v", address, got.StatusCode, got.Header)
		}
	}
	// Some answers are left unchanged: tiny ones, those without a body, pictures.
	for _, tt := range []struct{ method, address string }{{"GET", "/healthz"}, {"GET", "/robots.txt"}, {"HEAD", "/everything"}, {"GET", "/settings?x"}} {
		v := v
		if tt.address == "/settings?x" {
			v = s.Visitor() // sent to sign in
		}
		got := carry(v, tt.method, tt.address, "gzip, zstd")
		if got.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s %s: %d with %v", tt.method, tt.address, got.StatusCode, got.Header)
		}
	}
	picture := httptest.NewServer(web.Compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(make([]byte, 10_000))
	})))
	defer picture.Close()
	if got := carry((&webtest.Visitor{T: t, Base: picture.URL, Client: picture.Client()}), "GET", "/", "gzip, zstd"); got.Header.Get("Content-Encoding") != "" {
		t.Errorf("a picture came as %v", got.Header)
	}
}

// How long an answer is says little of what stands in it beside what somebody had it
// say (BREACH).
func TestCompressedLengthsVary(t *testing.T) {
	s := webtest.New(t, nil)
	v := s.Visitor()
	for _, encoding := range []string{"gzip", "zstd"} {
		found := map[int]int{}
		for i := range 40 {
			// Guesses that differ in one place only may differ in few bits of a checksum.
			guess := fmt.Sprintf("guess%x", sha256.Sum256([]byte{byte(i)}))
			got := carry(v, "GET", "/login?back=/"+guess, encoding)
			if !bytes.Contains(got.body, []byte(guess)) {
				t.Fatalf("no guess on the page:\n%s", got.body)
			}
			found[got.padding]++
		}
		lengths := slices.Sorted(maps.Keys(found))
		if len(lengths) < 15 || lengths[0] < 1 || lengths[len(lengths)-1] > web.MaxJitter {
			t.Errorf("%s: padded by %v, want most lengths from 1 to %d", encoding, found, web.MaxJitter)
		}
	}
}

// A reader who has a feed is told so, however it was carried: its tag is of what it says.
func TestCompressedFeedIsNotModified(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("anna")
	ann.Post(strings.Repeat("A heron above the weir. ", 100))
	v := s.Visitor()
	tags := map[string]string{}
	for _, accept := range []string{"", "gzip", "zstd"} {
		tags[accept] = carry(v, "GET", "/feeds/anna.atom", accept).Header.Get("ETag")
	}
	for had, tag := range tags {
		for accept := range tags {
			got := carry(v, "GET", "/feeds/anna.atom", accept, "If-None-Match", tag)
			if got.StatusCode != 304 || len(got.wire) != 0 || got.Header.Get("Content-Encoding") != "" || got.Header.Get("ETag") != tag {
				t.Errorf("had as %q, asked for as %q with %s: %d, %v", had, accept, tag, got.StatusCode, got.Header)
			}
		}
		// A strong tag cannot be the same for two encodings (RFC 9110, 8.8.3.3).
		if !strings.HasPrefix(tag, `W/"`) {
			t.Errorf("the tag %s is a strong one", tag)
		}
		// Caches compare weakly, and some readers say it so.
		if got := carry(v, "GET", "/feeds/anna.atom", had, "If-None-Match", strings.TrimPrefix(tag, "W/")); got.StatusCode != 304 {
			t.Errorf("asked with the tag's strong form: %d", got.StatusCode)
		}
	}
}

// A handler can do through the layer everything that it does with its connection, and what
// it has written goes out on Flush.
func TestCompressionLeavesTheConnection(t *testing.T) {
	seen := make(chan struct{})
	server := httptest.NewServer(web.Compress(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if err := control.SetReadDeadline(time.Now().Add(webtest.Patience)); err != nil {
			t.Errorf("set a deadline: %v", err)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, strings.Repeat("first ", 1000))
		if err := control.Flush(); err != nil {
			t.Errorf("flush: %v", err)
		}
		select { // the client has the first part before the second is written
		case <-seen:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "second")
	})))
	defer server.Close()
	for _, encoding := range []string{"identity", "gzip", "zstd"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", encoding)
		response, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var body io.Reader = response.Body
		switch encoding {
		case "gzip":
			if body, err = gzip.NewReader(response.Body); err != nil {
				t.Fatal(err)
			}
		case "zstd":
			decoder, err := zstd.NewReader(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			defer decoder.Close()
			body = decoder
		}
		if _, err := io.ReadFull(body, make([]byte, 6000)); err != nil {
			t.Fatalf("%s: the first part: %v", encoding, err)
		}
		seen <- struct{}{}
		rest, err := io.ReadAll(body)
		response.Body.Close()
		if err != nil || string(rest) != "second" {
			t.Errorf("%s: then came %q, %v", encoding, rest, err)
		}
	}
}

// BenchmarkCompress prints what a home page of 25 entries is on the wire, and how long
// it takes to make it so, by encoding and level.
func BenchmarkCompress(b *testing.B) {
	s := webtest.New(b, nil)
	page := talkPage(b, s)
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	})
	for _, encoding := range []string{"identity", "gzip", "zstd"} {
		levels := map[string][]int{"identity": {0}, "gzip": {1, 2, 3, 4, 5, 6, 7, 9}, "zstd": {1, 2, 3, 4}}[encoding]
		for _, level := range levels {
			name := fmt.Sprintf("%s/%d", encoding, level)
			if encoding == "gzip" && level == web.GzipLevel || encoding == "zstd" && level == web.ZstdLevel {
				name += "=used"
			}
			h := web.CompressAt(handler, max(level, 1), max(min(level, 4), 1))
			b.Run(name, func(b *testing.B) {
				r := httptest.NewRequest(http.MethodGet, "/", nil)
				r.Header.Set("Accept-Encoding", encoding)
				var size int
				for b.Loop() {
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					size = w.Body.Len()
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}

// talkPage is the home page of somebody who follows a town's talk: the demo's texts.
func talkPage(t testing.TB, s *webtest.Site) []byte {
	t.Helper()
	text, err := os.ReadFile("../cmd/riverrun/town.json")
	if err != nil {
		t.Fatal(err)
	}
	var town struct {
		Posts []struct {
			Text     string
			Comments []struct{ Text string }
		}
	}
	if err := json.Unmarshal(text, &town); err != nil {
		t.Fatal(err)
	}
	ann, bob, cat := s.Person("anna"), s.Person("bob"), s.Person("cat")
	ann.Visitor().Post("/bob/follow").Wants(303)
	for _, p := range town.Posts[:25] {
		code := bob.Post(p.Text).Code
		for _, c := range p.Comments {
			cat.Comment(code, c.Text)
		}
		cat.Like(code)
	}
	body := carry(ann.Visitor(), "GET", "/", "").body
	if n := bytes.Count(body, []byte("<article ")); n != 25 {
		t.Fatalf("the page has %d entries", n)
	}
	return body
}

// TestPagesAreSmall: what a phone has to load before it shows a home page.
func TestPagesAreSmall(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	bob.Subscribe("ann")
	for i := range 25 {
		code := ann.Post(fmt.Sprintf("From Monday the last boat leaves at 22:%02d, and not at 23:10. What would it break for you?", i)).Code
		for j := range 3 {
			bob.Comment(code, fmt.Sprintf("The choir ends at half past ten, %d. We would have to run.", i*j))
		}
		bob.Like(code)
	}
	s.FollowUp()
	v := bob.Visitor()
	if got := carry(v, "GET", "/", "gzip"); len(got.wire) > 40<<10 {
		t.Errorf("the home page takes %d bytes, want 40 kB at most", len(got.wire))
	}
	for _, page := range []string{"/", "/settings"} {
		scripts := 0
		for _, m := range regexp.MustCompile(`<script[^>]* src="([^"]*)"`).FindAllStringSubmatch(v.Get(page).Wants(200).Body, -1) {
			if strings.HasPrefix(m[1], "/static/texts.") { // data, which each page had in its HTML before
				continue
			}
			scripts += len(carry(v, "GET", m[1], "gzip").wire)
		}
		t.Logf("the scripts of %s take %d bytes", page, scripts)
		if scripts == 0 || scripts > 16<<10 {
			t.Errorf("the scripts of %s take %d bytes, want 16 kB at most", page, scripts)
		}
	}
}
