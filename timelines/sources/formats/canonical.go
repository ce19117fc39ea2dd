package formats

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Summary says what Canonical found in a file.
type Summary struct {
	Format Format
	Feed   Feed
	Lines  int // one for each item
	Bad    int // items with an error
	// Unknown is how many items have no readable id. Each of them may be a stored one, so a load with
	// such items must not take absence for removal.
	Unknown int
	Codes   map[Code]int // problems, by code
	// ByLink is how many items have no id and are known by their address. Sharing are the hashes of
	// the addresses that several of these have, in any order, some of them repeated. This file and all
	// later ones of the source are then read with these in Options.Shared.
	ByLink  int
	Sharing []int64
}

// Problems returns the number of problems of a level.
func (s Summary) Problems(level Level) (n int64) {
	for _, c := range Codes {
		if c.Level == level {
			n += int64(s.Codes[c.Code])
		}
	}
	return n
}

// Canonical writes the items of a file as lines, and counts them. The same bytes and options give the
// same lines. It returns the errors of Reader.Next and of the writer. After an error the lines that
// it wrote must not be used.
func Canonical(w io.Writer, r io.Reader, o Options) (Summary, error) {
	in, err := NewReader(r, o)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Format: in.format, Codes: map[Code]int{}}
	out := bufio.NewWriterSize(w, 64<<10)
	for {
		item, err := in.Next()
		s.Feed = in.feed
		if errors.Is(err, io.EOF) {
			s.ByLink, s.Sharing = in.byLink, in.sharing
			if err := out.Flush(); err != nil {
				return s, fmt.Errorf("write canonical file: %w", err)
			}
			return s, nil
		}
		if err != nil {
			return s, err
		}
		if _, err := out.Write(AppendLine(out.AvailableBuffer(), item)); err != nil {
			return s, fmt.Errorf("write canonical file: %w", err)
		}
		s.Lines++
		if item.Bad {
			s.Bad++
		}
		if item.ID == "" {
			s.Unknown++
		}
		for _, p := range item.Problems {
			s.Codes[p.Code]++
		}
	}
}

// AppendLine appends the canonical line of an item, with its end:
//
//	{"hash":"<32 hexadecimal digits>","id":"…","bad":true,…,"line":17,"problems":[…]}
//
// The hash comes first, then the id, so that a comparison need not decode the rest.
func AppendLine(b []byte, i *Item) []byte {
	body := i.body()
	hash := hashOf(body)
	b = append(b, hashBegins...)
	b = hex.AppendEncode(b, hash[:])
	b = append(b, '"', ',')
	b = append(b, body[1:len(body)-1]...)
	if i.Line > 0 {
		b = fmt.Appendf(b, `,"line":%d`, i.Line)
	}
	if len(i.Problems) > 0 {
		b = append(b, `,"problems":`...)
		b = append(b, marshal(i.Problems)...)
	}
	return append(b, '}', '\n')
}

const hashBegins = `{"hash":"`

// Line is a line of a canonical file.
type Line struct {
	No   int // from 1
	ID   string
	Hash [16]byte
	Bad  bool
	// Troubled says that the item has problems. An item that is Bad has some.
	Troubled bool
	raw      []byte
}

// Clone returns a copy that stays valid.
func (l *Line) Clone() *Line {
	c := *l
	c.raw = bytes.Clone(l.raw)
	return &c
}

// Size is how many bytes the line has.
func (l *Line) Size() int { return len(l.raw) }

// Item decodes the item of the line, which must still be valid.
func (l *Line) Item() (*Item, error) {
	var i Item
	if err := json.Unmarshal(l.raw, &i); err != nil {
		return nil, fmt.Errorf("line %d of canonical file: %w", l.No, err)
	}
	return &i, nil
}

// Lines reads a canonical file. It is not safe for concurrent use.
type Lines struct {
	in   *bufio.Reader
	no   int
	line Line
	long []byte
}

// ReadCanonical reads the lines of a canonical file behind the first lines, whose number is after. It
// does not decode those.
func ReadCanonical(r io.Reader, after int) (*Lines, error) {
	l := &Lines{in: bufio.NewReaderSize(r, 64<<10)}
	for l.no < after {
		_, err := l.in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("canonical file: it has only %d lines, want more than %d: %w", l.no, after, io.ErrUnexpectedEOF)
		case err != nil:
			return nil, fmt.Errorf("canonical file: %w", err)
		default:
			l.no++
		}
	}
	return l, nil
}

// Next returns the next line, which is valid until the next call, or io.EOF.
func (l *Lines) Next() (*Line, error) {
	raw, err := l.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], raw...)
		for errors.Is(err, bufio.ErrBufferFull) {
			raw, err = l.in.ReadSlice('\n')
			l.long = append(l.long, raw...)
		}
		raw = l.long
	}
	switch {
	case errors.Is(err, io.EOF) && len(raw) == 0:
		return nil, io.EOF
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("line %d of canonical file: %w", l.no+1, io.ErrUnexpectedEOF)
	case err != nil:
		return nil, fmt.Errorf("canonical file: %w", err)
	}
	l.no++
	l.line = Line{No: l.no, raw: raw}
	if err := l.line.begin(); err != nil {
		return nil, fmt.Errorf("line %d of canonical file: %w", l.no, err)
	}
	return &l.line, nil
}

// begin decodes the beginning of a line.
func (l *Line) begin() error {
	const at = len(hashBegins)
	const idBegins = `","id":`
	if len(l.raw) < at+32+len(idBegins) || string(l.raw[:at]) != hashBegins || string(l.raw[at+32:at+32+len(idBegins)]) != idBegins {
		return errors.New("it does not begin with a hash and an id")
	}
	if _, err := hex.Decode(l.Hash[:], l.raw[at:at+32]); err != nil {
		return err
	}
	rest := l.raw[at+32+len(idBegins):]
	end := stringEnd(rest)
	if end == 0 {
		return errors.New("its id is no string")
	}
	var ok bool
	if l.ID, ok = scalar(rest[:end]); !ok {
		return errors.New("its id is no string")
	}
	l.Bad = bytes.HasPrefix(rest[end:], []byte(`,"bad":true`))
	l.Troubled = bytes.Contains(rest[end:], []byte(`,"problems":[`)) // no string holds this, as its quotes are escaped
	return nil
}

// stringEnd returns the end of the string at the beginning of b, 0 if b does not begin with one.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
