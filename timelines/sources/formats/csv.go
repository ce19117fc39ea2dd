package formats

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// table reads CSV: a header with names of fields, then a row for each item, as in RFC 4180. Commas,
// semicolons or tabs separate the fields. The sign | separates the values of a field with several.
type table struct {
	r       *Reader
	csv     *csv.Reader
	in      *tableInput
	columns []int     // of Fields, -1 for a column to leave out
	pending []Problem // problems of the header, which the first item gets
}

// maxColumns bounds the header. There are far fewer names of fields.
const maxColumns = 1000

// tableInput lets the CSV reader read at most one row ahead, so that a quote that is never closed
// cannot fill the memory.
type tableInput struct {
	src  *source
	most int64
}

var errRowLarge = errors.New("the row is too large")

func (t *tableInput) Read(p []byte) (int, error) {
	if t.src.offset() >= t.most {
		return 0, errRowLarge
	}
	w := t.src.window()
	if len(w) == 0 {
		return 0, t.src.err
	}
	n := copy(p, w)
	t.src.advance(n)
	return n, nil
}

func newCSV(r *Reader) (*table, error) {
	in := &tableInput{src: r.src, most: int64(r.limits.ItemBytes) + bufferBytes}
	c := csv.NewReader(in)
	c.Comma = separator(r.src.peek(headBytes))
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	t := &table{r: r, csv: c, in: in}
	header, err := t.row()
	if errors.Is(err, io.EOF) {
		return nil, r.src.fatal(Empty, "the file has no first row")
	}
	if err != nil {
		return nil, err
	}
	if len(header) > maxColumns {
		return nil, &Fatal{Code: TooLarge, Line: 1, Column: 1, Detail: "the first row has more than 1000 fields"}
	}
	seen := map[int]bool{}
	for _, h := range header {
		i, known := fieldNamed[columnName(h)]
		switch {
		case !known:
			i = -1
			t.note(FieldUnknown, h)
		case seen[i]:
			i = -1
			t.note(FieldTwice, h)
		default:
			seen[i] = true
		}
		t.columns = append(t.columns, i)
	}
	if !seen[fieldNamed["id"]] {
		return nil, &Fatal{Code: NotAFeed, Line: 1, Column: 1, Detail: "the first row has no field id"}
	}
	return t, nil
}

func columnName(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func (t *table) note(c Code, h string) {
	if len(t.pending) < MaxProblems {
		t.pending = append(t.pending, Problem{Code: c, Line: 1, Field: shortened(h)})
	}
}

// separator returns the sign that separates the fields of a header.
func separator(begin []byte) rune {
	counts := map[byte]int{}
	quoted := false
	for _, c := range begin {
		if c == '"' {
			quoted = !quoted
		}
		if c == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte{';', '\t'} {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return rune(best)
}

// row reads a row. Its errors are those of Reader.Next.
func (t *table) row() ([]string, error) {
	began := t.csv.InputOffset()
	t.in.most = began + int64(t.r.limits.ItemBytes) + bufferBytes
	fields, err := t.csv.Read()
	var wrong *csv.ParseError
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return fields, err
	case errors.Is(err, errRowLarge):
		line, _ := t.csv.FieldPos(0)
		return nil, &Fatal{Code: TooLarge, Line: max(line, 1), Column: 1, Detail: "a row is too large; perhaps a quote is not closed"}
	case errors.As(err, &wrong):
		code := Malformed
		if t.r.src.err != nil && len(t.r.src.window()) == 0 && errors.Is(wrong.Err, csv.ErrQuote) && t.csv.InputOffset() >= t.r.src.offset() {
			code = Truncated
		}
		return nil, &Fatal{Code: code, Line: wrong.Line, Column: wrong.Column, Detail: wrong.Err.Error()}
	case t.r.src.err != nil:
		return nil, t.r.src.failed()
	}
	return nil, err
}

func (t *table) next(d *draft) error {
	fields, err := t.row()
	if err != nil {
		return err
	}
	d.Line, _ = t.csv.FieldPos(0)
	for _, p := range t.pending {
		d.at = 1
		d.problem(p.Code, p.Field, "")
	}
	t.pending = nil
	d.at = 0
	r := record{d: d, date: parseTableDate}
	shifted := false
	if len(fields) != len(t.columns) {
		if t.atEnd() {
			return t.r.src.fatal(Truncated, "the last row has %d fields instead of %d, and no end", len(fields), len(t.columns))
		}
		d.problem(NumberOfFields, "", strings.Join(fields[:min(len(fields), 20)], " "))
		shifted = true
	}
	for i, value := range fields {
		if i >= len(t.columns) || t.columns[i] < 0 || strings.TrimSpace(value) == "" {
			continue
		}
		if shifted && Fields[t.columns[i]].Name != "id" {
			continue // the columns are uncertain, but the id mostly comes first
		}
		value = strings.Clone(value) // the row is used again, and is larger
		d.at, _ = t.csv.FieldPos(i)
		f := &Fields[t.columns[i]]
		if f.Each == "" {
			r.take(t.columns[i], value)
			continue
		}
		for part := range strings.SplitSeq(value, "|") {
			r.take(t.columns[i], part)
		}
	}
	r.end()
	return nil
}

// atEnd reports whether the file ended with the row, without a line break.
func (t *table) atEnd() bool {
	src := t.r.src
	return len(src.window()) == 0 && t.csv.InputOffset() >= src.offset() && src.r > 0 && src.buf[src.r-1] != '\n'
}
