package previews

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"riverrun/jobs/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newClient returns a client that reaches the servers of tests, and no other private address.
func newClient(t *testing.T, timeout time.Duration) *fetch.Client {
	t.Helper()
	c, err := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func TestRead(t *testing.T) {
	t.Parallel()
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/news/today", http.StatusFound)
		case "/news/today":
			w.Header().Set("Content-Type", "text/html; charset=windows-1251")
			io.WriteString(w, "<title>\xcf\xf0\xe8\xe2\xe5\xf2</title><meta property=og:image content=../a.png>")
		case "/a.png":
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, "picture")
		case "/large.png":
			w.Header().Set("Content-Type", "image/png")
			w.Write(make([]byte, MaxImage+1))
		case "/empty.png":
			w.Header().Set("Content-Type", "image/png")
		case "/text":
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, "<title>x</title>")
		case "/nothing":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<title> \u200b\u202e </title><meta property=og:site_name content=Site><p>Text")
		default:
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, "<title>Not found</title>")
		}
	})
	for _, tt := range []struct {
		path string
		want Preview
		err  error
	}{
		{path: "/moved", want: Preview{Title: "Привет", Host: "127.0.0.1", ImageURL: site + "/a.png"}},
		{path: "/a.png", want: Preview{Host: "127.0.0.1", ImageURL: site + "/a.png"}},
		{path: "/text", err: fetch.ErrType},
		{path: "/nothing", err: ErrNothing},
		{path: "/missing", err: &fetch.StatusError{Code: http.StatusNotFound}},
	} {
		got, err := Read(t.Context(), newClient(t, 0), site+tt.path)
		checkError(t, "Read("+tt.path+")", err, tt.err)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Read(%s) (-want +got):\n%s", tt.path, diff)
		}
	}
	for _, tt := range []struct {
		path string
		most int64
		want string
		err  error
	}{
		{path: "/a.png", most: MaxImage, want: "picture"},
		{path: "/a.png", most: 7, want: "picture"},
		{path: "/a.png", most: 6, err: fetch.ErrTooLarge},
		{path: "/large.png", most: 10 * MaxImage, err: fetch.ErrTooLarge},
		{path: "/empty.png", most: MaxImage, err: ErrNothing},
		{path: "/news/today", most: MaxImage, err: fetch.ErrType},
		{path: "/missing", most: MaxImage, err: &fetch.StatusError{Code: http.StatusNotFound}},
	} {
		got, err := Image(t.Context(), newClient(t, 0), site+tt.path, tt.most)
		checkError(t, "Image("+tt.path+")", err, tt.err)
		if string(got) != tt.want {
			t.Errorf("Image(%s): got %.20q, want %q", tt.path, got, tt.want)
		}
	}
	for _, address := range []string{"http://127.0.0.2/", "http://[::1]/", "http://169.254.169.254/"} {
		_, err := Read(t.Context(), newClient(t, 0), address)
		checkError(t, "Read("+address+")", err, fetch.ErrForbidden)
		_, err = Image(t.Context(), newClient(t, 0), address, MaxImage)
		checkError(t, "Image("+address+")", err, fetch.ErrForbidden)
	}
}

func checkError(t *testing.T, what string, got, want error) {
	t.Helper()
	if status, ok := want.(*fetch.StatusError); ok {
		if found := new(fetch.StatusError); !errors.As(got, &found) || *found != *status {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	} else if !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// However a page is made, its preview comes in bounded memory.
func TestHostilePages(t *testing.T) {
	repeat := func(text string, size int) string { return strings.Repeat(text, size/len(text)) }
	const large = 8 << 20
	stall := make(chan struct{})
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	io.WriteString(z, "<title>Bomb</title>")
	zeros := make([]byte, 1<<20)
	for range 32 {
		z.Write(zeros)
	}
	z.Close()
	pages := map[string]struct {
		header, page, tail string // the tail is sent again and again
		stall              bool
		want               Preview
		err                error
	}{
		"endless page":        {page: "<title>Endless</title>", tail: repeat("<p>x", 4096), want: Preview{Title: "Endless"}},
		"endless head":        {page: "<head>", tail: repeat("<!-- x -->", 4096), err: ErrNothing},
		"endless comment":     {page: "<!--", tail: repeat("x", 4096), err: ErrNothing},
		"endless tag":         {page: "<meta ", tail: repeat("a=b ", 4096), err: ErrNothing},
		"endless attribute":   {page: `<meta property=og:title content="`, tail: repeat("x", 4096), err: ErrNothing},
		"endless title":       {page: "<title>", tail: repeat("word ", 4096), want: Preview{Title: repeat("word ", 195) + "word…"}},
		"endless script":      {page: "<script>", tail: repeat("<title>no</title>", 4096), err: ErrNothing},
		"endless doctype":     {page: "<!doctype ", tail: repeat("x", 4096), err: ErrNothing},
		"endless entities":    {page: "<title>", tail: repeat("&amp;", 4096), want: Preview{Title: repeat("&", 199) + "…"}},
		"endless depth":       {tail: repeat("<div>", 4096), err: ErrNothing},
		"title after 512 kB":  {page: repeat("<meta name=a>", 520<<10) + "<title>Late</title>", err: ErrNothing},
		"title within 512 kB": {page: repeat("<meta name=a>", 500<<10) + "<title>In time</title>", want: Preview{Title: "In time"}},
		"thousands of meta":   {page: repeat("<meta property=og:title content=First>", 500<<10), want: Preview{Title: "First"}},
		"thousands of names":  {page: repeat("<meta property=og:title><meta property=og:x content=y>", 400<<10) + "<title>Last</title>", want: Preview{Title: "Last"}},
		"a cut rune":          {page: strings.Repeat(" ", 2000) + "<title>Река</title>" + strings.Repeat("a", maxPage-2000-len("<title>Река</title>")-1) + "Река", want: Preview{Title: "Река"}},
		"megabytes of a word": {page: "<title>" + repeat("x", large) + "</title>", want: Preview{Title: repeat("x", 199) + "…"}},
		"gzip bomb":           {header: "gzip", page: bomb.String(), want: Preview{Title: "Bomb"}},
		"gzip of nothing":     {header: "gzip", tail: "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00", err: ErrNothing},
		"stalling page":       {page: "<title>x</title>", stall: true, err: fetch.ErrTimeout},
		"UTF-7":               {page: "<meta charset=utf-7><title>+ADw-script+AD4-</title>", want: Preview{Title: "+ADw-script+AD4-"}},
		"replaced charset":    {page: "<meta charset=iso-2022-kr><title>x</title>", err: ErrNothing},
		"unknown charset":     {page: "<meta charset=martian><title>Река</title>", want: Preview{Title: "Река"}},
		"UTF-16 in one byte":  {page: "<meta charset=utf-16le><title>Река</title>", want: Preview{Title: "Река"}},
	}
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		page := pages[r.URL.Query().Get("page")]
		w.Header().Set("Content-Type", "text/html")
		if page.header != "" {
			w.Header().Set("Content-Encoding", page.header)
		}
		io.WriteString(w, page.page)
		tail := []byte(page.tail)
		for len(tail) > 0 {
			if _, err := w.Write(tail); err != nil {
				return
			}
		}
		if page.stall {
			http.NewResponseController(w).Flush()
			select {
			case <-stall:
			case <-r.Context().Done():
			}
		}
	})
	defer close(stall)
	for name, tt := range pages {
		t.Run(name, func(t *testing.T) {
			timeout := time.Duration(0)
			if tt.stall {
				timeout = 100 * time.Millisecond
			}
			client := newClient(t, timeout)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := Read(t.Context(), client, site+"/?page="+url.QueryEscape(name))
			runtime.ReadMemStats(&after)
			checkError(t, "Read", err, tt.err)
			if tt.want != (Preview{}) {
				tt.want.Host = "127.0.0.1"
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// It counts what the server allocates, too, and everything that is free again.
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d kB", allocated>>10)
			if allocated > 8<<20 {
				t.Errorf("allocated %d kB in all, want at most 8 MB", allocated>>10)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const at = "https://example.org/a/b"
	for _, tt := range []struct {
		name, page string
		want       Preview
	}{
		{"OpenGraph", `<title>T</title><meta name=description content=D><meta property="og:title" content=OT><meta property="og:description" content=OD>
			<meta property="og:site_name" content=S><meta property="og:image" content="/i.png">`, Preview{Title: "OT", Description: "OD", SiteName: "S", ImageURL: "https://example.org/i.png"}},
		{
			"twitter", `<meta name="twitter:title" content=TT><meta name="twitter:description" content=TD><meta name="twitter:image" content="//img.example/i.png"><title>T</title>`,
			Preview{Title: "TT", Description: "TD", ImageURL: "https://img.example/i.png"},
		},
		{"plain", `<!doctype html><html><head><title>T</title><meta name=Description content=D></head><body><title>no</title>`, Preview{Title: "T", Description: "D"}},
		{"names and properties", `<meta name="og:title" content=A><meta property=description content=B>`, Preview{Title: "A", Description: "B"}},
		{"no head", `<p>x<title>T</title>`, Preview{Title: "T"}},
		{"in the body", `<body><meta property=og:title content=B><title>T</title>`, Preview{Title: "B"}},
		{"a body after the head", `<title>T</title><body><meta property=og:title content=B>`, Preview{Title: "T"}},
		{"XHTML", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><meta name="description" content="D"/></head>`, Preview{Title: "T", Description: "D"}},
		{"empty values", `<meta property=og:title content=""><meta property=og:title content=" "><meta property=og:title content=A><title></title>`, Preview{Title: "A"}},
		{"an invisible value", "<meta property=og:title content='\u200b'><title>T</title>", Preview{Title: "T"}},
		{"two titles", `<title>A</title><title>B</title>`, Preview{Title: "A"}},
		{"two attributes", `<meta property=og:title content=A content=B>`, Preview{Title: "A"}},
		{"a title in a script", `<script>"<title>no</title>"</script><style><title>no</title></style><title>T</title>`, Preview{Title: "T"}},
		{"a title in a comment", `<!-- <title>no</title> --><title>T</title>`, Preview{Title: "T"}},
		{"tags in a title", `<title><b>T</b><script>alert(1)</script></title>`, Preview{Title: "<b>T</b><script>alert(1)</script>"}},
		{"an unclosed title", `<title>T`, Preview{Title: "T"}},
		{"title as a name", `<meta name=title content=A><title>T</title>`, Preview{Title: "A"}},
		{"base as a name", `<meta name=base content="http://no.example/"><meta property=og:image content=i.png>`, Preview{ImageURL: "https://example.org/a/i.png"}},

		{"entities once", `<title>A &amp;amp;lt;b&amp;gt; &#x41;&#0;&#55296;&#1114112;&nosuch;</title>`, Preview{Title: "A &amp;lt;b&gt; A\ufffd\ufffd\ufffd&nosuch;"}},
		{"white space", "<title>\n\t A\u00a0\u2028 B\r\n</title>", Preview{Title: "A B"}},
		{"controls", "<title>A\x00\x07B\x1b[31mC\u0085D\u009b</title>", Preview{Title: "A\ufffdB[31mC D"}},
		{"controls in an attribute", "<meta property=og:title content='A\x07B&#x1b;C\u009bD'>", Preview{Title: "ABCD"}},
		{"directions", "<title>A\u202eB\u2066C\u2069D\u202c &#x202e;E&rlm;F</title>", Preview{Title: "ABCD E\u200fF"}},
		{"invalid UTF-8", "<meta charset=utf-8><title>A\xff\xc0\xafB\xed\xa0\x80</title>", Preview{Title: "A\ufffd\ufffd\ufffdB\ufffd\ufffd\ufffd"}},

		{"charset of meta", "<meta charset=koi8-r><title>\xf2\xc5\xcb\xc1</title>", Preview{Title: "Река"}},
		{"charset of http-equiv", "<meta http-equiv=content-type content='text/html; charset=windows-1251'><title>\xd0\xe5\xea\xe0</title>", Preview{Title: "Река"}},
		{"no charset, late letters", "<meta name=x content='" + strings.Repeat("x", 2000) + "'><title>Река</title>", Preview{Title: "Река"}},
		{"no charset, Latin letters", "<title>caf\xe9</title>", Preview{Title: "café"}},
		{"UTF-16", "\xff\xfe<\x00t\x00i\x00t\x00l\x00e\x00>\x00 \x04", Preview{Title: "Р"}},

		{"relative picture", `<meta property=og:image content="../i.png?a=1&amp;b=2#c">`, Preview{ImageURL: "https://example.org/i.png?a=1&b=2"}},
		{"picture with spaces", "<meta property=og:image content=' /i.png\n'>", Preview{ImageURL: "https://example.org/i.png"}},
		{"base", `<base href="/c/"><base href="/d/"><meta property=og:image content="i.png">`, Preview{ImageURL: "https://example.org/c/i.png"}},
		{"base elsewhere", `<base href="//img.example/x/"><meta property=og:image content="i.png">`, Preview{ImageURL: "https://img.example/x/i.png"}},
		{"base of a script", `<base href="javascript:alert(1)//"><meta property=og:image content="i.png">`, Preview{ImageURL: "https://example.org/a/i.png"}},
		{"base of data", `<base href="data:text/html,"><meta property=og:image content="i.png">`, Preview{ImageURL: "https://example.org/a/i.png"}},
		{"base with a password", `<base href="http://a:b@c.example/"><meta property=og:image content="i.png">`, Preview{ImageURL: "https://example.org/a/i.png"}},
		{"script as picture", `<title>T</title><meta property=og:image content="javascript:alert(1)">`, Preview{Title: "T"}},
		{"script with spaces as picture", "<title>T</title><meta property=og:image content=' java\tscript:alert(1)'>", Preview{Title: "T"}},
		{"data as picture", `<title>T</title><meta property=og:image content="data:image/svg+xml,<svg onload=alert(1)>">`, Preview{Title: "T"}},
		{"file as picture", `<title>T</title><meta property=og:image content="file:///etc/passwd">`, Preview{Title: "T"}},
		{"picture with a password", `<title>T</title><meta property=og:image content="http://a:b@c.example/i.png">`, Preview{Title: "T"}},
		{"picture without a host", `<title>T</title><meta property=og:image content="http:///i.png">`, Preview{Title: "T"}},
		{"malformed picture", `<title>T</title><meta property=og:image content="http://[::1/%zz">`, Preview{Title: "T"}},
		{"long picture", `<title>T</title><meta property=og:image content="` + strings.Repeat("a", maxImageURL) + `">`, Preview{Title: "T"}},
		{"picture that grows", `<title>T</title><meta property=og:image content="` + strings.Repeat("я", maxImageURL/2) + `">`, Preview{Title: "T"}},
		{"the next picture", `<meta property=og:image content="data:,"><link rel=image_src href="i.png">`, Preview{ImageURL: "https://example.org/a/i.png"}},
		{"quotes in a picture", `<meta property=og:image content='/i.png"><script>'>`, Preview{ImageURL: "https://example.org/i.png%22%3E%3Cscript%3E"}},

		{"long texts", "<title>" + strings.Repeat("слово ", 50) + "</title><meta name=description content='" + strings.Repeat("word ", 100) + "'><meta property=og:site_name content='" + strings.Repeat("x", 101) + "'>", Preview{
			Title:       strings.TrimSpace(strings.Repeat("слово ", 33)) + "…",
			Description: strings.TrimSpace(strings.Repeat("word ", 60)[:299]) + "…",
			SiteName:    strings.Repeat("x", 99) + "…",
		}},
		{"a long word after a short one", "<title>A " + strings.Repeat("x", 300) + "</title>", Preview{Title: "A " + strings.Repeat("x", 197) + "…"}},
		{"as long as may be", "<title>" + strings.Repeat("x", 200) + " </title>", Preview{Title: strings.Repeat("x", 200)}},
		{"nothing", "", Preview{}},
	} {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, parse([]byte(tt.page), "text/html", u)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Some servers give all pages the same charset.
func TestWrongCharset(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{"<title>Река</title>": "Река", "<title>caf\xe9</title>": "café"} {
		if got := parse([]byte(page), "text/html; charset=iso-8859-1", &url.URL{}).Title; got != want {
			t.Errorf("parse(%q): got %q, want %q", page, got, want)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"example.org":                "example.org",
		"WWW.Example.org:8080":       "example.org",
		"www.xn--e1afmkfd.xn--p1ai":  "пример.рф",
		"xn--80ak6aa92e.com":         "xn--80ak6aa92e.com",
		"xn--zzzzzzzzzzz--.xn--p1ai": "xn--zzzzzzzzzzz--.xn--p1ai",
		"127.0.0.1":                  "127.0.0.1",
		"[2606:2800::1]:443":         "2606:2800::1",
		"example.org.":               "example.org.",
	} {
		if got := shown(&url.URL{Host: host}); got != want {
			t.Errorf("shown(%q): got %q, want %q", host, got, want)
		}
	}
}

// FuzzParse: no page breaks the promises about texts and pictures.
func FuzzParse(f *testing.F) {
	f.Add([]byte("<title>A \u202e\x00&#x202e;</title><base href=//b.example><meta property=og:image content=/i.png>"), "text/html")
	f.Add([]byte("\xff\xfe<\x00"), "text/html; charset=utf-16le")
	f.Add([]byte("<meta charset=shift_jis><meta name=description content=\x82\xa0>"), "")
	f.Add([]byte(strings.Repeat("<meta property=og:title content=a a=b>", 10)), "text/html; charset=x")
	at, err := url.Parse("https://example.org/a/b")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, page []byte, contentType string) {
		p := parse(page, contentType, at)
		for text, most := range map[string]int{p.Title: 200, p.Description: 300, p.SiteName: 100} {
			if !utf8.ValidString(text) || utf8.RuneCountInString(text) > most || text != strings.TrimSpace(text) ||
				strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || turns(r) }) {
				t.Errorf("parse(%q): got the text %q", page, text)
			}
		}
		if p.ImageURL != "" {
			u, err := url.Parse(p.ImageURL)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
				t.Errorf("parse(%q): got the picture %q", page, p.ImageURL)
			}
		}
	})
}
