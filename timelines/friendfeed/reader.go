package friendfeed

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxEntry is the most bytes of JSON that one entry may take.
const MaxEntry = 32 << 20

// Reader reads one archive, entry by entry. It is not safe for concurrent use.
type Reader struct {
	name    string
	in      *meter
	dec     *json.Decoder
	bom     int64
	element int
	started bool
	err     error
	names   names
}

// NewReader returns a reader of the archive in r. Errors call it by its name.
func NewReader(r io.Reader, name string) *Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	var bom int64
	if mark, err := b.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		bom = 3
		// Peek has buffered them already, so this cannot fail.
		_, _ = b.Discard(3)
	}
	in := &meter{r: b}
	return &Reader{name: name, in: in, dec: json.NewDecoder(in), bom: bom, names: names{}}
}

// Offset returns the number of bytes of the file that have been decoded.
func (r *Reader) Offset() int64 { return r.bom + r.dec.InputOffset() }

// Next returns the next entry, or io.EOF after the last. Any other error is an *Error. If it
// is Broken, the rest of the file cannot be read, and each further call returns the same
// error. Otherwise it concerns one entry, and the next call reads the one after it.
func (r *Reader) Next() (*Entry, error) {
	if r.err != nil {
		return nil, r.err
	}
	e, err := r.next()
	var at *Error
	if err != nil && (!errors.As(err, &at) || at.Broken) {
		r.err = err
	}
	return e, err
}

func (r *Reader) next() (*Entry, error) {
	r.in.limit = r.dec.InputOffset() + MaxEntry
	if !r.started {
		open, err := r.dec.Token()
		if err == io.EOF {
			return nil, r.broken(errors.New("the file is empty, want a JSON array of entries"))
		}
		if err != nil {
			return nil, r.broken(err)
		}
		if open != json.Delim('[') {
			return nil, &Error{
				File: r.name, Broken: true,
				Err: fmt.Errorf("want a JSON array of entries, got %s", jsonKind(open)),
			}
		}
		r.started = true
	}
	if !r.dec.More() {
		return nil, r.end()
	}
	r.element++
	var raw json.RawMessage
	if err := r.dec.Decode(&raw); err != nil {
		return nil, r.broken(err)
	}
	offset := r.Offset() - int64(len(raw))
	e, err := decodeEntry(raw, r.names)
	if err != nil {
		at := &Error{File: r.name, Offset: offset, Element: r.element, Err: err}
		var fe *fieldError
		if errors.As(err, &fe) {
			at.ID, at.Field, at.Err = fe.id, fe.field, fe.err
		}
		return nil, at
	}
	e.Offset, e.Element = offset, r.element
	return e, nil
}

// end reads the closing bracket and makes sure that nothing follows it. Otherwise the second
// of two archives in one file would be lost silently.
func (r *Reader) end() error {
	if _, err := r.dec.Token(); err != nil {
		return r.broken(err)
	}
	_, err := r.dec.Token()
	if err == io.EOF {
		return io.EOF
	}
	if err == nil {
		err = errors.New("something follows the end of the array")
	}
	r.element = 0
	return r.broken(err)
}

// broken returns the error that ends the file, with its offset.
func (r *Reader) broken(err error) *Error {
	offset := r.Offset()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		offset += r.fault()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		offset = r.bom + r.in.n
		err = errors.New("the file ends before the array does")
	}
	return &Error{File: r.name, Offset: offset, Element: r.element, Broken: true, Err: err}
}

// fault returns how far after the offset the JSON breaks. A Decoder's own SyntaxError does
// not count the bytes between values, so the bytes of this one are scanned once more.
func (r *Reader) fault() int64 {
	rest, err := io.ReadAll(r.dec.Buffered())
	if err != nil {
		return 0
	}
	var syntax *json.SyntaxError
	var value json.RawMessage
	if errors.As(json.Unmarshal(rest, &value), &syntax) && syntax.Offset > 0 && syntax.Offset < int64(len(rest)) {
		return syntax.Offset - 1
	}
	return 0
}

// Error says what is wrong with an archive, and where.
type Error struct {
	File string
	// Offset is a position in bytes: the beginning of the entry, or of the broken JSON.
	Offset int64
	// Element is the entry's number in the array, from 1. It is 0 outside of any entry.
	Element int
	// ID is the entry's key, Field the path of the field with the error. They are empty if
	// they are unknown.
	ID, Field string
	// Broken says that the rest of the file cannot be read.
	Broken bool
	Err    error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File + ": byte " + strconv.FormatInt(e.Offset, 10))
	if e.Element > 0 {
		b.WriteString(", element " + strconv.Itoa(e.Element))
	}
	if e.ID != "" {
		b.WriteString(" (" + cut(e.ID, 80) + ")")
	}
	if e.Field != "" {
		b.WriteString(": " + e.Field)
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// meter counts the bytes that were read and refuses to read past limit, so that an entry
// without an end cannot fill the memory.
type meter struct {
	r        io.Reader
	n, limit int64
}

var errTooLong = fmt.Errorf("one entry takes more than %d MiB", MaxEntry>>20)

func (m *meter) Read(p []byte) (int, error) {
	if m.n >= m.limit {
		return 0, errTooLong
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	return n, err
}
