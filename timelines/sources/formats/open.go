package formats

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// open returns the text of a file as UTF-8. It unpacks a gzip file, reads at most limit bytes after
// that, and finds the encoding (encodingOf). Bytes that are not UTF-8 become U+FFFD, or end the file
// if they are many. open calls guessed, while the text is read, if the encoding is another one than
// was declared.
func open(r io.Reader, limit int64, transport string, guessed func()) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 4096)
	head, err := in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read: %w", err)
	}
	var bytesOf io.Reader = in
	if string(head) == "\x1f\x8b" {
		if bytesOf, err = openGzip(in); err != nil {
			return nil, err
		}
	}
	in = bufio.NewReaderSize(&bounded{in: bytesOf, left: limit}, windowBytes)
	begin, err := in.Peek(headBytes)
	if err != nil && len(begin) == 0 && !errors.Is(err, io.EOF) {
		var f *Fatal
		if errors.As(err, &f) {
			return nil, f
		}
		return nil, fmt.Errorf("read: %w", err)
	}
	d := encodingOf(begin, transport)
	if d.other {
		guessed()
	}
	switch {
	case !d.sure:
		return &deciding{in: in, d: d, guessed: guessed}, nil
	case d.encoding != nil:
		return d.encoding.NewDecoder().Reader(in), nil
	}
	if bytes.HasPrefix(begin, utf8BOM) {
		if _, err := in.Discard(len(utf8BOM)); err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
	}
	return &utf8Reader{in: in}, nil
}

var utf8BOM = []byte("\xef\xbb\xbf")

// bounded ends a file with too_large after left bytes.
type bounded struct {
	in   io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if b.left <= 0 {
		// A file is too large only if more bytes follow.
		var one [1]byte
		n, err := io.ReadFull(b.in, one[:])
		if n > 0 {
			return 0, &Fatal{Code: TooLarge, Detail: "the file has more bytes than are allowed"}
		}
		return 0, err
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// openGzip opens a file that is itself compressed.
func openGzip(r io.Reader) (io.Reader, error) {
	g := &gunzip{below: &remembering{in: r}}
	z, err := gzip.NewReader(g.below)
	if err != nil {
		return nil, g.meaning(err)
	}
	g.z = z
	return g, nil
}

type gunzip struct {
	below *remembering
	z     *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = g.meaning(err)
	}
	return n, err
}

// meaning returns the error of the file that an error of gzip stands for.
func (g *gunzip) meaning(err error) error {
	if g.below.err != nil {
		return fmt.Errorf("read: %w", g.below.err)
	}
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &Fatal{Code: Truncated, Detail: "the compressed file ends too early"}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return &Fatal{Code: Malformed, Detail: "the compressed file is broken"}
	}
	return err
}

// remembering keeps the error of a reader, unless it is io.EOF.
type remembering struct {
	in  io.Reader
	err error
}

func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// utf8Reader passes on UTF-8. A byte that is not UTF-8 becomes U+FFFD: many programs cut texts in the
// middle of a character. If there are more such bytes than characters outside of ASCII, the text is
// in another encoding, and reading ends.
type utf8Reader struct {
	in        *bufio.Reader
	rest      []byte // text that was made and not passed on yet
	made      []byte
	bad, good int
	err       error
}

// fewBad is the number of bytes up to which bad UTF-8 among good is no sign of another encoding.
const fewBad = 8

func (u *utf8Reader) Read(p []byte) (int, error) {
	if len(u.rest) == 0 && u.err == nil {
		u.more()
	}
	if len(u.rest) > 0 {
		n := copy(p, u.rest)
		u.rest = u.rest[n:]
		return n, nil
	}
	return 0, u.err
}

// more makes the next bytes.
func (u *utf8Reader) more() {
	if u.in.Buffered() < utf8.UTFMax {
		if _, err := u.in.Peek(utf8.UTFMax); err != nil {
			u.err = err // the rest is passed on before
		}
	}
	b, _ := u.in.Peek(u.in.Buffered()) // it is there
	u.made = u.made[:0]
	i := 0
	for i < len(b) {
		if b[i] < utf8.RuneSelf {
			j := i + 1
			for j < len(b) && b[j] < utf8.RuneSelf {
				j++
			}
			u.made = append(u.made, b[i:j]...)
			i = j
			continue
		}
		if u.err == nil && !utf8.FullRune(b[i:]) {
			break
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			if u.bad++; u.bad > fewBad && u.bad > u.good {
				u.err = &Fatal{Code: Encoding, Detail: "the text is neither UTF-8 nor in an encoding that is declared"}
				break
			}
		} else {
			u.good++
		}
		u.made = utf8.AppendRune(u.made, r)
		i += size
	}
	_, _ = u.in.Discard(i) // it is there
	u.rest = u.made
}
