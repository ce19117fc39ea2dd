package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	bufferBytes = 64 << 10
	keptBytes   = 128 // how many of the bytes read are kept for an excerpt
)

// source is the text of a file, UTF-8, read through one buffer. It knows where it is.
type source struct {
	in   io.Reader
	buf  []byte
	r, w int
	err  error // of in, once it ended; io.EOF included

	base      int64 // how many bytes stood before buf[0]
	line      int   // of the next byte, from 1
	lineBegan int64
}

func newSource(in io.Reader) *source {
	return &source{in: in, buf: make([]byte, bufferBytes), line: 1}
}

// fill reads more bytes. It returns false at the end, or if the buffer is full of unread bytes.
func (s *source) fill() bool {
	if s.err != nil {
		return false
	}
	if s.r > keptBytes && len(s.buf)-s.w < len(s.buf)/2 {
		drop := s.r - keptBytes
		copy(s.buf, s.buf[drop:s.w])
		s.base += int64(drop)
		s.r, s.w = s.r-drop, s.w-drop
	}
	if s.w == len(s.buf) {
		return false
	}
	for range 100 {
		n, err := s.in.Read(s.buf[s.w:])
		s.w += n
		s.err = err
		if n > 0 || err != nil {
			return n > 0
		}
	}
	s.err = io.ErrNoProgress
	return false
}

// window returns the bytes that come next; none at the end.
func (s *source) window() []byte {
	if s.r == s.w {
		s.fill()
	}
	return s.buf[s.r:s.w]
}

// peek returns the next n bytes, or fewer at the end. n is small.
func (s *source) peek(n int) []byte {
	for s.w-s.r < n && s.fill() {
	}
	return s.buf[s.r:min(s.r+n, s.w)]
}

// hasPrefix reports whether a short text comes next.
func (s *source) hasPrefix(p string) bool { return string(s.peek(len(p))) == p }

// advance goes on by n bytes of the window.
func (s *source) advance(n int) {
	gone := s.buf[s.r : s.r+n]
	if lines := bytes.Count(gone, newline); lines > 0 {
		s.line += lines
		s.lineBegan = s.base + int64(s.r+bytes.LastIndexByte(gone, '\n')+1)
	}
	s.r += n
}

var newline = []byte{'\n'}

// offset returns how many bytes of text were read.
func (s *source) offset() int64 { return s.base + int64(s.r) }

// ended returns the error of a text that ended here: that of the reader, or fatal.
func (s *source) ended(fatal *Fatal) error {
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		return s.failed()
	}
	return fatal
}

// failed returns the error of the reader, which is not EOF. A Fatal of a reader below, as for a file
// that is too large, gets its place.
func (s *source) failed() error {
	var f *Fatal
	if errors.As(s.err, &f) {
		return s.fatal(f.Code, "%s", f.Detail)
	}
	return fmt.Errorf("read: %w", s.err)
}

// fatal returns an error at the present place.
func (s *source) fatal(code Code, format string, args ...any) *Fatal {
	return &Fatal{
		Code: code, Line: s.line, Column: int(s.offset()-s.lineBegan) + 1,
		Excerpt: s.excerpt(), Detail: fmt.Sprintf(format, args...),
	}
}

func (s *source) excerpt() string {
	return excerptOf(s.buf[max(0, s.r-60):s.r], s.buf[s.r:min(s.w, s.r+60)])
}

// excerptOf returns the text around a place on one line.
func excerptOf(before, after []byte) string {
	text := append(append([]byte{}, before...), after...)
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	for i := 1; i <= utf8.UTFMax && i <= len(text); i++ { // half a character at the end
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) {
				text = text[:len(text)-i]
			}
			break
		}
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Cf) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "\ufffd")))
}

// skipSpace goes on to the next byte that is not white space.
func (s *source) skipSpace() {
	for {
		w := s.window()
		i := 0
		for i < len(w) && isSpace(w[i]) {
			i++
		}
		s.advance(i)
		if i < len(w) || len(w) == 0 {
			return
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// store keeps bytes up to a limit, and counts all.
type store struct {
	b     []byte
	limit int
	full  bool
}

func (s *store) add(b []byte) {
	if room := s.limit - len(s.b); len(b) > room {
		b, s.full = b[:max(room, 0)], true
	}
	s.b = append(s.b, b...)
}
