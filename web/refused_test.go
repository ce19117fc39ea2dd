package web_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"riverrun/web"
	"riverrun/web/webtest"
)

// read counts what is read of a body.
type read struct {
	io.Reader
	n int64
}

func (r *read) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += int64(n)
	return n, err
}

func (*read) Close() error { return nil }

// recorder is a ResponseRecorder of a connection with deadlines.
type recorder struct{ *httptest.ResponseRecorder }

func (recorder) SetReadDeadline(time.Time) error  { return nil }
func (recorder) SetWriteDeadline(time.Time) error { return nil }

// An upload that will be refused is not read: neither its file nor what follows it. The answer
// has the text that came before, and ends the connection.
func TestRefusedUploadsAreNotRead(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, full := s.Person("ann"), s.Person("full")
	v, fullV, other, nobody := ann.Visitor(), full.Visitor(), s.Person("bob").Visitor(), s.Visitor()
	v.Post("/groups", "name", "rowers", "access", "public", "title", "Rowers").LeadsTo("/rowers")
	s.Server.SetArriving(full.Account.ID, 4)
	const size = 9_000_000
	form := func(fields ...string) (kind string, body *bytes.Buffer) {
		body = new(bytes.Buffer)
		f := multipart.NewWriter(body)
		for i := 0; i+1 < len(fields); i += 2 {
			if err := f.WriteField(fields[i], fields[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		part, err := f.CreateFormFile("file", "big.bin")
		if err == nil {
			_, err = part.Write(make([]byte, size))
		}
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
		return f.FormDataContentType(), body
	}
	for _, tt := range []struct {
		what    string
		sender  *webtest.Visitor
		address string
		fields  []string
		length  int64 // what the request says; 0: the truth
		header  []string
		status  int
		says    string
		most    int64 // bytes that may be read
	}{
		{"of nobody", nobody, "/posts", []string{"body", "Written with care"}, 0, nil, 401, "Written with care", 32 << 10},
		{"of nobody, of unknown length", nobody, "/posts", []string{"body", "Written with care"}, -1, nil, 401, "Written with care", 32 << 10},
		{"while others arrive", fullV, "/posts", []string{"body", "Written with care"}, 0, nil, 429, "Written with care", 32 << 10},
		{"from another's page", v, "/posts", []string{"viewer", "full", "body", "Written with care"}, 0, nil, 409, "Written with care", 32 << 10},
		{"by a script, while others arrive", fullV, "/files", nil, 0, []string{"Accept", "application/json"}, 429, "error", 32 << 10},
		{"larger than any", v, "/posts", nil, 1 << 40, nil, 413, "<h1", 0},
		{"from another site", v, "/posts", nil, 0, []string{"Sec-Fetch-Site", "cross-site"}, 403, "<h1", 0},
		{"without the right", other, "/rowers/manage", nil, 0, nil, 403, "<h1", 32 << 10},
		{"for a source of nobody", v, "/sources/0000000000/file", nil, 0, nil, 404, "<h1", 0},
		{"for a source, larger than any", v, "/settings/sources", nil, 1 << 40, nil, 413, "<h1", 0},
		{"where no file may come", v, "/login", nil, 0, nil, 413, "<h1", 0},
	} {
		kind, content := form(tt.fields...)
		body := &read{Reader: content}
		r := httptest.NewRequest("POST", s.HTTP.URL+tt.address, body)
		if r.ContentLength = int64(content.Len()); tt.length != 0 {
			r.ContentLength = tt.length
		}
		r.Header.Set("Content-Type", kind)
		for i := 0; i+1 < len(tt.header); i += 2 {
			r.Header.Set(tt.header[i], tt.header[i+1])
		}
		for _, c := range tt.sender.Client.Jar.Cookies(r.URL) {
			r.AddCookie(c)
		}
		w := recorder{httptest.NewRecorder()}
		s.Server.Handler().ServeHTTP(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s: status %d, want %d that says %q: %.2000s", tt.what, w.Code, tt.status, tt.says, w.Body)
		}
		if body.n > tt.most {
			t.Errorf("%s: %d bytes of the body were read, want %d at most", tt.what, body.n, tt.most)
		}
		if got := w.Header().Get("Connection"); got != "close" {
			t.Errorf("%s: Connection is %q, want close", tt.what, got)
		}
	}
}

// A form that hardly arrives is ended, and gives its place to another.
func TestATricklingUploadEnds(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	s.Server.SetUploadGrace(100 * time.Millisecond)
	v := s.Person("ann").Visitor()
	body, pipe := io.Pipe()
	defer pipe.Close()
	form := multipart.NewWriter(pipe)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.Base+"/files", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Accept", "application/json")
	answered := make(chan string, 1)
	go func() {
		reply, err := v.Client.Do(r)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		answered <- fmt.Sprint(reply.StatusCode, string(text), err)
	}()
	part, err := form.CreateFormFile("file", "slow.txt")
	if err == nil {
		_, err = part.Write([]byte("a"))
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-answered:
		if !strings.HasPrefix(got, "408") || !strings.Contains(got, "error") {
			t.Errorf("a form that stands still is answered %s, want 408 with an error", got)
		}
	case <-time.After(webtest.Patience):
		t.Fatal("a form that stands still has no end")
	}
}

// A form that arrives at the lowest rate goes on, and one that falls behind it does not. Only the time
// counts in which the form was waited for: what the site itself takes is not the sender's.
func TestPaceOfAForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			got          int
			waited, want time.Duration
		}{
			{0, 0, 30 * time.Second},
			{1000, 0, 31 * time.Second},
			{60_000, time.Minute, 30 * time.Second},
			{1000, 30 * time.Second, time.Second},
			{10_000_000, 0, 10 * time.Minute},
		} {
			if got := web.NextBytesWithin(tt.got, tt.waited); got != tt.want {
				t.Errorf("after %d bytes that were waited for %v the next must come within %v, want %v", tt.got, tt.waited, got, tt.want)
			}
		}
	})
}
