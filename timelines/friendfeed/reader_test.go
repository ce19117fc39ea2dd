package friendfeed

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// archives are the small ones of our own writing, and the real ones where
// RIVERRUN_ARCHIVES points.
func archives(t testing.TB) []string {
	dirs := []string{"testdata"}
	if dir := os.Getenv("RIVERRUN_ARCHIVES"); dir != "" {
		dirs = append(dirs, dir)
	}
	var files []string
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(found) == 0 {
			t.Fatalf("archives in %s: %v, %v", dir, found, err)
		}
		files = append(files, found...)
	}
	return files
}

func readAll(t testing.TB, r *Reader) ([]*Entry, []error) {
	t.Helper()
	var entries []*Entry
	var errs []error
	for {
		e, err := r.Next()
		if err == io.EOF {
			return entries, errs
		}
		if err != nil {
			errs = append(errs, err)
			var at *Error
			if !errors.As(err, &at) {
				t.Fatalf("Next: %v: not an *Error", err)
			}
			if at.Broken {
				return entries, errs
			}
			continue
		}
		entries = append(entries, e)
	}
}

// TestGolden reads our own archives and compares all that was understood.
func TestGolden(t *testing.T) {
	for _, name := range []string{"garden", "harbour"} {
		t.Run(name, func(t *testing.T) {
			in, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			entries, errs := readAll(t, NewReader(bytes.NewReader(in), name))
			if errs != nil {
				t.Fatalf("errors: %v", errs)
			}
			var b strings.Builder
			for _, e := range entries {
				describe(&b, e)
			}
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s: -want +got\n%s", name, diff)
			}
		})
	}
}

func describe(b *strings.Builder, e *Entry) {
	who := func(a Account) string {
		s := fmt.Sprintf("%s=%s %q", a.ID, a.Name, a.Title)
		if a.Group {
			s += " group"
		}
		if a.Private {
			s += " private"
		}
		return s
	}
	fmt.Fprintf(b, "%s #%d @%d %s by %s\n", e.ID, e.Element, e.Offset, e.Date.Format("2006-01-02T15:04:05Z"), who(e.From))
	for line := range strings.SplitSeq(e.Body, "\n") {
		fmt.Fprintf(b, "  | %s\n", line)
	}
	fmt.Fprintf(b, "  url %q via %q %q feed %s\n", e.URL, e.Via.Name, e.Via.URL, who(e.Feed))
	for _, d := range e.To {
		fmt.Fprintf(b, "  to %s direct=%t own=%t\n", who(d.Account), d.Direct, e.OwnFeed)
	}
	for _, a := range e.Attachments {
		fmt.Fprintf(b, "  attached %s %q %d\n", a.URL, a.Title, a.Bytes)
	}
	for _, c := range e.Comments {
		fmt.Fprintf(b, "  comment %s %s by %s via %q: %s\n", c.ID, c.Date.Format("2006-01-02T15:04:05Z"), who(c.From), c.Via, c.Body)
	}
	for _, l := range e.Likes {
		fmt.Fprintf(b, "  like %s by %s\n", l.Date.Format("2006-01-02T15:04:05Z"), who(l.From))
	}
	if e.Feed.About != "" {
		fmt.Fprintf(b, "  about %q\n", e.Feed.About)
	}
}

// TestArchives reads every archive there is: no errors, no markup left, nothing
// lost on the way.
func TestArchives(t *testing.T) {
	for _, file := range archives(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			entries, errs := readAll(t, NewReader(bytes.NewReader(in), file))
			if errs != nil {
				t.Fatalf("errors: %v", errs)
			}
			var comments, likes int
			for _, e := range entries {
				comments, likes = comments+len(e.Comments), likes+len(e.Likes)
				if int(e.Offset) >= len(in) || in[e.Offset] != '{' {
					t.Errorf("%s: offset %d is not where an entry begins", e.ID, e.Offset)
				}
				for _, markup := range []string{"<a ", "</a>", "<b>", "<br"} {
					if strings.Contains(e.Body, markup) {
						t.Errorf("%s: %q is left in %q", e.ID, markup, e.Body)
					}
				}
			}
			// Every entry, comment and like has exactly one date.
			got, want := len(entries)+comments+likes, bytes.Count(in, []byte(`"date"`))
			if got != want {
				t.Errorf("%d entries, %d comments, %d likes: %d dates, want %d", len(entries), comments, likes, got, want)
			}
		})
	}
}

func TestStreams(t *testing.T) {
	in, err := os.ReadFile("testdata/garden.json")
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := readAll(t, NewReader(bytes.NewReader(in), "garden"))
	bytewise, errs := readAll(t, NewReader(iotest.OneByteReader(bytes.NewReader(in)), "garden"))
	if diff := cmp.Diff(whole, bytewise); diff != "" || errs != nil {
		t.Errorf("byte by byte: errors %v, -whole +bytewise\n%s", errs, diff)
	}
}

func entry(extra string) string {
	if extra != "" {
		extra = ", " + extra
	}
	return `{"_id": "e/1", "body": "b", "date": "2009-05-13T15:54:18Z", "from": {"id": "ann", "type": "user", "name": "Ann"}` + extra + `}`
}

func TestErrors(t *testing.T) {
	ok := entry("")
	for _, c := range []struct {
		name, in string
		entries  int
		want     []string
	}{
		{"empty file", "", 0, []string{"f.json: byte 0: the file is empty, want a JSON array of entries"}},
		{"not an array", `{"_id": 1}`, 0, []string{"f.json: byte 0: want a JSON array of entries, got an object"}},
		{"a string", `"x"`, 0, []string{"f.json: byte 0: want a JSON array of entries, got a string"}},
		{"not JSON", `<html>`, 0, []string{"f.json: byte 0: invalid character '<' looking for beginning of value"}},
		{"no entries", `[]`, 0, nil},
		{"cut between entries", `[` + ok, 1, []string{"f.json: byte 114, element 1: the file ends before the array does"}},
		{"cut within one", `[` + ok + `,` + ok[:50], 1, []string{"f.json: byte 165, element 2: the file ends before the array does"}},
		{"broken within one", `[` + ok + `, {"_id" "x"}]`, 1, []string{"f.json: byte 123, element 2: invalid character '\"' after object key"}},
		{"no comma", `[` + ok + ok + `]`, 1, []string{"f.json: byte 114, element 2: expected comma after array element"}},
		{"glued", `[` + ok + `][` + ok + `]`, 1, []string{"f.json: byte 116: something follows the end of the array"}},
		{"element of another type", `[` + ok + `, 5, null, ` + ok + `]`, 2, []string{
			"f.json: byte 116, element 2: want an object, got a number",
			"f.json: byte 119, element 3: want an object, got null",
		}},
		{"no id", `[{"body": "b"}]`, 0, []string{"f.json: byte 1, element 1: _id: missing"}},
		{"long id", `[{"_id": "` + strings.Repeat("x", maxKey+1) + `"}]`, 0, []string{"f.json: byte 1, element 1 (" + strings.Repeat("x", 79) + "…): _id: want at most 500 bytes without control characters"}},
		{"control character in an id", `[` + entry(`"from": {"id": "a\u0000b"}`) + `]`, 0, []string{"f.json: byte 1, element 1 (e/1): from.id: want at most 500 bytes without control characters"}},
		{"no date", `[{"_id": "e/9", "from": {"id": "ann"}}]`, 0, []string{"f.json: byte 1, element 1 (e/9): date: missing"}},
		{"no author", `[{"_id": "e/9", "date": "2009-05-13T15:54:18Z"}]`, 0, []string{"f.json: byte 1, element 1 (e/9): from: missing"}},
		{"body", `[` + entry(`"body": 7`) + `]`, 0, []string{"f.json: byte 1, element 1 (e/1): body: want a string, got a number"}},
		{"date", `[` + entry(`"date": "13.05.2009"`) + `]`, 0, []string{`f.json: byte 1, element 1 (e/1): date: want a date as RFC 3339 writes it, got "13.05.2009"`}},
		{"to", `[` + entry(`"to": {}`) + `]`, 0, []string{"f.json: byte 1, element 1 (e/1): to: want an array, got an object"}},
		{"to's type", `[` + entry(`"to": [{"id": "x", "type": "page"}]`) + `]`, 0, []string{`f.json: byte 1, element 1 (e/1): to[0].type: want "user" or "group", got "page"`}},
		{"private", `[` + entry(`"to": [{"id": "x", "private": "yes"}]`) + `]`, 0, []string{`f.json: byte 1, element 1 (e/1): to[0].private: want true or false, got a string`}},
		{"comment", `[` + entry(`"comments": [{"id": "c", "body": "x", "date": "2009-05-13T15:54:18Z", "from": {"id": "bob"}}, {"id": "d", "date": 5}]`) + `]`, 0, []string{"f.json: byte 1, element 1 (e/1): comments[1].date: want a string, got a number"}},
		{"comment of another type", `[` + entry(`"comments": ["x"]`) + `]`, 0, []string{"f.json: byte 1, element 1 (e/1): comments[0]: want an object, got a string"}},
		{"like", `[` + entry(`"likes": [{"date": "2009-05-13T15:54:18Z", "from": {"id": null}}]`) + `]`, 0, []string{"f.json: byte 1, element 1 (e/1): likes[0].from.id: missing"}},
		{"size", `[` + entry(`"files": [{"url": "http://x.example/f", "size": "big"}]`) + `]`, 0, []string{"f.json: byte 1, element 1 (e/1): files[0].size: want a number, got a string"}},
		{"file's address", `[` + entry(`"files": [{"url": "javascript:x"}]`) + `]`, 0, []string{`f.json: byte 1, element 1 (e/1): files[0].url: want a web address, got "javascript:x"`}},
		{"via", `[` + entry(`"via": "phone"`) + `]`, 0, []string{"f.json: byte 1, element 1 (e/1): via: want an object, got a string"}},
		{"long comment", `[` + entry(`"comments": [{"id": "c", "body": "`+strings.Repeat("я", maxComment+1)+`", "date": "2009-05-13T15:54:18Z", "from": {"id": "bob"}}]`) + `]`, 0, []string{"f.json: byte 1, element 1 (e/1): comments[0].body: the text has 20001 characters, at most 20000 are kept"}},
		{"goes on", `[{"_id": 1}, ` + ok + `, {"_id": 2}]`, 1, []string{
			"f.json: byte 1, element 1: _id: want a string, got a number",
			"f.json: byte 128, element 3: _id: want a string, got a number",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(c.in), "f.json")
			entries, errs := readAll(t, r)
			var got []string
			for _, err := range errs {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(entries) != c.entries {
				t.Errorf("%s: got %d entries, want %d; errors -want +got\n%s", c.in, len(entries), c.entries, diff)
			}
			if len(errs) == 0 {
				return
			}
			var at *Error
			if _, again := r.Next(); errors.As(errs[len(errs)-1], &at) && at.Broken && again != errs[len(errs)-1] {
				t.Errorf("%s: after a broken file Next = %v, want the same error again", c.in, again)
			}
		})
	}
}

// endless is an entry that never ends.
type endless struct{ begun bool }

func (e *endless) Read(p []byte) (int, error) {
	if !e.begun {
		e.begun = true
		return copy(p, `[{"_id": "`), nil
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestEndlessEntry(t *testing.T) {
	_, errs := readAll(t, NewReader(&endless{}, "f.json"))
	if len(errs) != 1 || !errors.Is(errs[0], errTooLong) {
		t.Errorf("an entry without end: got %v, want %v", errs, errTooLong)
	}
}

func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"ann": "ann", "Bob_Marsh": "bob-marsh", "quiet.club": "quiet-club", "x": "x-ff", "--": "ff-d8156bae", "-a-": "-a-",
		"Björn Ö": "bjorn-o", "вера": "ff-03ea5901", "": "ff-e3b0c442", "admin": "admin",
		"a-very-long-name-that-nobody-could-remember": "a-very-long-name-that-nobody-could",
	} {
		if got := Name(in); got != want {
			t.Errorf("Name(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"", "[]", "[" + entry("") + "]", "[" + entry(`"to": [{"id": "bob", "direct": true}], "likes": [{}]`) + ",1]", "\ufeff[", "[[[[", "[1 2]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(bytes.NewReader(in), "f")
		element := 0
		for {
			e, err := r.Next()
			if err == io.EOF {
				return
			}
			var at *Error
			switch {
			case errors.As(err, &at):
				if at.Offset < 0 || at.Offset > int64(len(in)) {
					t.Fatalf("%q: %v lies outside of the file", in, err)
				}
				if at.Broken {
					return
				}
				element++
			case err != nil:
				t.Fatalf("%q: %v is not an *Error", in, err)
			default:
				element++
				if e.ID == "" || e.Element != element || len(e.To) == 0 || !nameOK(e.From.Name) || e.From.Title == "" || e.Date.IsZero() {
					t.Fatalf("%q: element %d is incomplete: %+v", in, element, e)
				}
			}
		}
	})
}

func nameOK(s string) bool {
	return len(s) >= 3 && len(s) <= 35 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
