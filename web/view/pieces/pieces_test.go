package pieces_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/a-h/templ/runtime"

	"riverrun/web/view/pieces"
)

// own is HTML of a page alone, as a templ file makes it: through a buffer.
func own(html string) templ.Component {
	return runtime.GeneratedTemplate(func(in runtime.GeneratedComponentInput) error {
		b, outer := runtime.GetBuffer(in.Writer)
		if !outer {
			defer func() { _ = runtime.ReleaseBuffer(b) }()
		}
		_, err := b.WriteString(html)
		return err
	})
}

// around is a component with another in its midst.
func around(before string, in templ.Component, after string) templ.Component {
	return runtime.GeneratedTemplate(func(g runtime.GeneratedComponentInput) (err error) {
		b, outer := runtime.GetBuffer(g.Writer)
		if !outer {
			defer func() {
				if failed := runtime.ReleaseBuffer(b); err == nil {
					err = failed
				}
			}()
		}
		if _, err := b.WriteString(before); err != nil {
			return err
		}
		if err := in.Render(g.Context, b); err != nil {
			return err
		}
		_, err = b.WriteString(after)
		return err
	})
}

func kept(html ...string) pieces.Kept {
	var list [][]byte
	for _, piece := range html {
		list = append(list, []byte(piece))
	}
	return pieces.Keep(list...)
}

func pageOf(t *testing.T, parts ...templ.Component) *pieces.Page {
	t.Helper()
	p := &pieces.Page{}
	if err := templ.Join(parts...).Render(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p
}

func htmlOf(t *testing.T, p *pieces.Page) string {
	t.Helper()
	var b bytes.Buffer
	if n, err := p.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatal(n, err)
	}
	return b.String()
}

// Kept HTML stands where it was rendered, in a page and in any other writer.
func TestOrder(t *testing.T) {
	page := around("<main>", templ.Join(own("<h1>A</h1>"), kept("<p>", "b", "</p>"), own("c"), kept("d"), kept("e")), "</main>")
	const want = "<main><h1>A</h1><p>b</p>cde</main>"
	if got := htmlOf(t, pageOf(t, page)); got != want {
		t.Errorf("a page has %s, want %s", got, want)
	}
	if got := htmlOf(t, pageOf(t, kept("x"), page, kept("y"))); got != "x"+want+"y" {
		t.Errorf("a page with kept HTML at its ends has %s", got)
	}
	var b strings.Builder
	if err := page.Render(t.Context(), &b); err != nil || b.String() != want {
		t.Errorf("another writer got %s, %v, want %s", b.String(), err, want)
	}
}

// Pages that are rendered in the same way have the same sums, and all others have different ones.
func TestSums(t *testing.T) {
	pages := map[string]func() *pieces.Page{
		"empty":         func() *pieces.Page { return pageOf(t) },
		"own":           func() *pieces.Page { return pageOf(t, own("ab")) },
		"another":       func() *pieces.Page { return pageOf(t, own("ac")) },
		"kept":          func() *pieces.Page { return pageOf(t, kept("ab")) },
		"kept after":    func() *pieces.Page { return pageOf(t, own("a"), kept("b")) },
		"another after": func() *pieces.Page { return pageOf(t, own("a"), kept("c")) },
		"kept before":   func() *pieces.Page { return pageOf(t, kept("b"), own("a")) },
		"twice":         func() *pieces.Page { return pageOf(t, kept("b"), kept("b")) },
		"an end":        func() *pieces.Page { return pageOf(t, own("a"), kept("b"), own("c")) },
		"other order":   func() *pieces.Page { return pageOf(t, kept("b"), own("ac")) },
	}
	tags, secrets := map[uint64]string{}, map[uint64]string{}
	for name, made := range pages {
		sums := made().Sums()
		if again := made().Sums(); again != sums {
			t.Errorf("%s has the sums %v and %v", name, sums, again)
		}
		if tags[sums.Tag] != "" || secrets[sums.Secret] != "" {
			t.Errorf("%s has a sum of %s%s", name, tags[sums.Tag], secrets[sums.Secret])
		}
		tags[sums.Tag], secrets[sums.Secret] = name, name
	}
	if kept("ab", "c").Size() <= kept("ab").Size() {
		t.Error("a piece more counts nothing")
	}
	if pageOf(t, kept("ab", "c")).Sums() != pageOf(t, kept("a", "bc")).Sums() {
		t.Error("the same kept HTML in other pieces has other sums")
	}
}

// The tag is the same on each node, and after each start.
func TestTagsAreThoseOfEveryNode(t *testing.T) {
	if got, want := pageOf(t, own("<p>a</p>"), kept("b")).Sums().Tag, uint64(0x6ec01eae2a6d3185); got != want {
		t.Errorf("got the tag %#x, want %#x: browsers fetch all pages again", got, want)
	}
}

func TestAPageIsUsedAgain(t *testing.T) {
	p := pageOf(t, own("a"), kept("b"))
	p.Reset()
	if got := htmlOf(t, p); got != "" || p.Sums() != pageOf(t).Sums() {
		t.Errorf("after Reset the page has %q", got)
	}
	if err := own("c").Render(context.Background(), p); err != nil || htmlOf(t, p) != "c" {
		t.Errorf("then it has %q, %v", htmlOf(t, p), err)
	}
}

// Kept HTML is neither copied into a page nor hashed again.
func TestKeptHTMLIsNotCopied(t *testing.T) {
	html := []byte("a")
	large := pieces.Keep(html)
	p := pageOf(t, own("<p>"), large)
	sums := p.Sums()
	html[0] = 'b' // which nobody else may do
	if got := htmlOf(t, p); got != "<p>b" {
		t.Errorf("the page has a copy: %s", got)
	}
	if pageOf(t, own("<p>"), large).Sums() != sums {
		t.Error("kept HTML was hashed again")
	}
}

// A page tells where writing it failed.
func TestWriteToFails(t *testing.T) {
	r, w := io.Pipe()
	_ = r.Close()
	if n, err := pageOf(t, own("a"), kept("b")).WriteTo(w); !errors.Is(err, io.ErrClosedPipe) || n != 0 {
		t.Errorf("got %d, %v, want 0, %v", n, err, io.ErrClosedPipe)
	}
}
