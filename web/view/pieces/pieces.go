// Package pieces puts pages together from HTML that many of them share. A page is a list of slices of bytes: what was
// rendered for it alone, and kept HTML, which is neither copied nor hashed again. So a page whose browser has it already
// (304), or that was compressed before, is never written out.
package pieces

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"io"

	"github.com/a-h/templ/runtime"
	"github.com/cespare/xxhash/v2"
)

// Sums are two hashes of HTML. If both are equal, the HTML is the same: nobody knows the seed of the second, which is made
// anew with each start, so nobody can write something that has the sums of something else.
type Sums struct {
	Tag    uint64 // the same on each node, for an ETag
	Secret uint64
}

var seed = maphash.MakeSeed()

// Kept is HTML that pages share. It is immutable, and a templ.Component.
type Kept struct {
	html [][]byte
	sums Sums
	size int
}

// Keep takes over the pieces of HTML, which nobody may change from now on.
func Keep(html ...[]byte) Kept {
	k := Kept{html: html}
	s := newSummer()
	for _, piece := range html {
		s.html(piece)
		k.size += len(piece)
	}
	k.sums = s.sums()
	return k
}

// Size is the number of bytes that it holds, about. It implements bytecache.Value.
func (k Kept) Size() int { return k.size + 24*len(k.html) + 256 }

// Render adds the HTML to a [Page], also through templ's buffer, and writes it to any other w. It implements
// templ.Component.
func (k Kept) Render(_ context.Context, w io.Writer) error {
	to := w
	if b, ok := w.(*runtime.Buffer); ok {
		if _, ok := b.Underlying.(*Page); ok {
			if err := b.Flush(); err != nil { // what stands before it
				return err
			}
			to = b.Underlying
		}
	}
	if page, ok := to.(*Page); ok {
		page.kept = append(page.kept, place{len(page.own), k})
		return nil
	}
	for _, piece := range k.html {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// Page is the HTML of a page. Its zero value is an empty one. It is for one goroutine.
type Page struct {
	own  []byte
	kept []place
}

// place is kept HTML, and how many bytes of the page's own stand before it.
type place struct {
	after int
	Kept
}

// Write adds a copy of HTML. It implements [io.Writer] and never fails.
func (p *Page) Write(html []byte) (int, error) {
	p.own = append(p.own, html...)
	return len(html), nil
}

// Reset empties the page.
func (p *Page) Reset() {
	clear(p.kept)
	p.own, p.kept = p.own[:0], p.kept[:0]
}

// Sums returns the hashes of the page. They differ also where the same HTML is kept in one page and not in the other.
func (p *Page) Sums() Sums {
	s, from := newSummer(), 0
	for _, k := range p.kept {
		s.html(p.own[from:k.after])
		s.kept(k.sums)
		from = k.after
	}
	s.html(p.own[from:])
	return s.sums()
}

// WriteTo implements [io.WriterTo].
func (p *Page) WriteTo(w io.Writer) (n int64, err error) {
	write := func(html []byte) {
		if err == nil && len(html) > 0 {
			var wrote int
			wrote, err = w.Write(html)
			n += int64(wrote)
		}
	}
	from := 0
	for _, k := range p.kept {
		write(p.own[from:k.after])
		for _, piece := range k.html {
			write(piece)
		}
		from = k.after
	}
	write(p.own[from:])
	return n, err
}

// summer makes both hashes.
type summer struct {
	tag    xxhash.Digest
	secret maphash.Hash
}

func newSummer() *summer {
	s := &summer{}
	s.tag.Reset()
	s.secret.SetSeed(seed)
	return s
}

func (s *summer) html(b []byte) {
	_, _ = s.tag.Write(b) // a hash never fails
	_, _ = s.secret.Write(b)
}

// kept adds the sums of kept HTML after a NUL, which pages hardly have. One that has it cannot imitate the second sum.
func (s *summer) kept(of Sums) {
	var tag, secret [9]byte
	binary.LittleEndian.PutUint64(tag[1:], of.Tag)
	binary.LittleEndian.PutUint64(secret[1:], of.Secret)
	_, _ = s.tag.Write(tag[:])
	_, _ = s.secret.Write(secret[:])
}

func (s *summer) sums() Sums { return Sums{s.tag.Sum64(), s.secret.Sum64()} }
