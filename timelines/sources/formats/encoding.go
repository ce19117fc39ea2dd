package formats

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// decided is the encoding of a file, nil for UTF-8. If it is not sure, the bytes decide between
// UTF-8, this encoding, and the encoding that they look like.
type decided struct {
	encoding encoding.Encoding
	sure     bool
	// other says that the answer of the server named another encoding.
	other bool
	// header is the encoding that the answer named, if it is known.
	header string
}

// encodingOf finds the encoding of a file by its beginning. A BOM decides. After it comes the
// encoding that the file and the answer of the server name, if both name the same or only one names
// any. If they differ, the one counts that decodes the bytes; if both do, that of the answer. Many
// servers name ISO-8859-1 for all files, so the name in the file counts more than that.
func encodingOf(begin []byte, transport string) decided {
	switch {
	case bytes.HasPrefix(begin, utf8BOM):
		return decided{sure: true}
	case bytes.HasPrefix(begin, []byte("\xfe\xff")), bytes.HasPrefix(begin, []byte("\x00<\x00")), bytes.HasPrefix(begin, []byte("\x00{\x00")):
		return decided{encoding: unicode.UTF16(unicode.BigEndian, unicode.UseBOM), sure: true}
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("<\x00")), bytes.HasPrefix(begin, []byte("{\x00")):
		return decided{encoding: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), sure: true}
	}
	header, headerName := encodingNamed(transport)
	own, ownName := encoding.Encoding(nil), ""
	if m := declared.FindSubmatch(begin[warned(begin):]); m != nil {
		own, ownName = encodingNamed(string(m[1]))
	}
	d := decided{header: headerName}
	switch {
	case headerName == ownName && headerName != "", headerName == "iso-2022-jp", headerName == "" && ownName != "":
		d.sure = true
		if d.encoding = header; headerName == "" {
			d.encoding = own
		}
	case headerName == "windows-1252" && ownName != "" && ownName != "utf-8":
		d.encoding, d.sure, d.other = own, true, true
	case headerName == "utf-8" && ownName != "":
		d.encoding = own
	case headerName != "utf-8" && ownName != "" && ownName != "utf-8":
		d.encoding, d.sure = header, true
	case headerName != "utf-8":
		d.encoding = header
	}
	// JSON is always in UTF-8.
	if first := bytes.TrimLeft(begin, " \t\r\n"); d.encoding == nil && len(first) > 0 && (first[0] == '{' || first[0] == '[') {
		d.sure = true
	}
	return d
}

// encodingNamed returns an encoding and its name. The name is empty if it is not known, or if a text
// that looks like ASCII cannot have the encoding.
func encodingNamed(label string) (encoding.Encoding, string) {
	e, name := charset.Lookup(strings.TrimSpace(label))
	switch {
	case e == nil, name == "replacement", strings.HasPrefix(name, "utf-16"):
		return nil, ""
	case name == "utf-8":
		return nil, name
	}
	return e, name
}

var declared = regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// warningBefore matches what PHP writes before a feed.
var warningBefore = regexp.MustCompile(`(?is)^\s*(?:<br ?/?>\s*)*(?:<b>)?(?:PHP )?(?:warning|notice|deprecated|strict standards|fatal error|parse error)(?:</b>)?:.*?(<\?xml|<rss\b|<feed\b|<rdf:rdf\b)`)

// warned returns the length of such a warning at the beginning of a file.
func warned(begin []byte) int {
	if m := warningBefore.FindSubmatchIndex(begin); m != nil {
		return m[2]
	}
	return 0
}

// deciding is a text whose encoding is decided at its first byte outside of ASCII.
type deciding struct {
	in      *bufio.Reader
	d       decided
	guessed func() // called if the encoding is another one than was said
	out     io.Reader
}

// windowBytes is how much of the text is looked at from there on.
const windowBytes = 64 << 10

func (t *deciding) Read(p []byte) (int, error) {
	if t.out != nil {
		return t.out.Read(p)
	}
	if _, err := t.in.Peek(1); err != nil {
		return 0, err
	}
	b, _ := t.in.Peek(t.in.Buffered()) // it is there
	n := 0
	for n < len(b) && n < len(p) && b[n] < utf8.RuneSelf {
		n++
	}
	if n > 0 || len(p) == 0 {
		copy(p, b[:n])
		return t.in.Discard(n)
	}
	b, _ = t.in.Peek(windowBytes) // an error comes again behind these bytes
	e, name := t.decide(b)
	if name != t.d.header && !(t.d.header == "" && name == "utf-8") {
		t.guessed()
	}
	if e == nil {
		t.out = &utf8Reader{in: t.in}
	} else {
		t.out = e.NewDecoder().Reader(t.in)
	}
	return t.out.Read(p)
}

func (t *deciding) decide(window []byte) (encoding.Encoding, string) {
	bad, good := 0, 0
	for i := 0; i < len(window); {
		r, size := utf8.DecodeRune(window[i:])
		switch {
		case r == utf8.RuneError && size == 1 && utf8.FullRune(window[i:]):
			bad++
		case size > 1:
			good++
		}
		i += size
	}
	switch {
	case bad <= good/10 || t.d.encoding == nil && bytes.ContainsFunc(window, isBinary) || t.d.encoding == nil && (good > 0 && bad <= fewBad || bad <= good):
		return nil, "utf-8"
	case t.d.encoding != nil:
		_, name := encodingNamed(t.d.header)
		if name == "utf-8" {
			name = ""
		}
		return t.d.encoding, name
	case looksCyrillic(window):
		return charmap.Windows1251, "windows-1251"
	}
	return charmap.Windows1252, "windows-1252"
}

// isBinary reports whether a character cannot be part of a text.
func isBinary(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f", r) }

// looksCyrillic decides between windows-1251 and windows-1252: letters outside of ASCII stand beside
// each other in Cyrillic words, and mostly alone in others. A single letter is taken for one of windows-1252.
func looksCyrillic(window []byte) bool {
	letter := func(i int) bool {
		return i >= 0 && i < len(window) && (window[i] >= 0xc0 || window[i] == 0xa8 || window[i] == 0xb8)
	}
	beside, all := 0, 0
	for i := range window {
		if letter(i) {
			if all++; letter(i-1) || letter(i+1) {
				beside++
			}
		}
	}
	return 2*beside > all
}
