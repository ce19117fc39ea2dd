package formats

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// now is the time that the tests compare dates with.
var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// readAll returns the items of a file, as far as they could be read.
func readAll(text string, o Options) ([]*Item, error) {
	items, _, err := readFeed(text, o)
	return items, err
}

func readFeed(text string, o Options) ([]*Item, Feed, error) {
	if o.Now.IsZero() {
		o.Now = now
	}
	r, err := NewReader(strings.NewReader(text), o)
	if err != nil {
		return nil, Feed{}, err
	}
	var items []*Item
	for {
		i, err := r.Next()
		if errors.Is(err, io.EOF) {
			return items, r.Feed(), nil
		}
		if err != nil {
			return items, r.Feed(), err
		}
		items = append(items, i)
	}
}

// problemsOf lists the codes of the problems of items.
func problemsOf(items []*Item) string {
	var codes []string
	for _, i := range items {
		for _, p := range i.Problems {
			codes = append(codes, string(p.Code))
		}
	}
	return strings.Join(codes, " ")
}

// Each code is in the table once, and has its texts.
func TestCodes(t *testing.T) {
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := regexp.MustCompile(`(?m)^\t\w+ +Code = "(\w+)"`).FindAllSubmatch(source, -1)
	if len(constants) != len(Codes) {
		t.Errorf("%d constants, and %d rows", len(constants), len(Codes))
	}
	for _, c := range constants {
		if levels[Code(c[1])] == "" {
			t.Errorf("%s has no row", c[1])
		}
	}
	seen := map[Code]bool{}
	for _, c := range Codes {
		if seen[c.Code] || c.Means == "" || c.Do == "" || c.Level == "" {
			t.Errorf("%+v", c)
		}
		seen[c.Code] = true
	}
}

var errBroken = errors.New("the store is away")

// An error of the reader is passed on unchanged: the same file may be read later.
func TestReaderFails(t *testing.T) {
	for _, f := range []string{string(Example(XML)), string(Example(CSV)), string(Example(NDJSON)), wordpress, jsonFeed11} {
		for n := range len(f) {
			in := io.MultiReader(strings.NewReader(f[:n]), failing{})
			_, err := Canonical(io.Discard, in, Options{Now: now})
			if !errors.Is(err, errBroken) {
				t.Fatalf("after %d bytes of %.20q: %v", n, f, err)
			}
		}
		if _, err := Canonical(failing{}, strings.NewReader(f), Options{Now: now}); !errors.Is(err, errBroken) {
			t.Fatalf("%.20q: %v, want the error of the writer", f, err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errBroken }
func (failing) Write([]byte) (int, error) { return 0, errBroken }

// The lines are the same, however the bytes arrive.
func TestBytesArriveOneByOne(t *testing.T) {
	for name, f := range goodFeeds {
		var want, got bytes.Buffer
		if _, err := Canonical(&want, strings.NewReader(f.text), f.options); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := Canonical(&got, oneByOne{strings.NewReader(f.text)}, f.options); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.String() != want.String() {
			t.Errorf("%s: got\n%swant\n%s", name, &got, &want)
		}
	}
}

type oneByOne struct{ in io.Reader }

func (o oneByOne) Read(p []byte) (int, error) { return o.in.Read(p[:min(1, len(p))]) }
