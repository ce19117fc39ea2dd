package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// jsonScanner cuts values of JSON out of a stream. It knows only enough of JSON to find their ends;
// encoding/json decides whether a value is well-formed.
type jsonScanner struct {
	src      *source
	maxDepth int
	most     int // bytes of a value
	kept     store
}

// expect reads one of these signs behind white space.
func (j *jsonScanner) expect(signs string) (byte, error) {
	j.src.skipSpace()
	w := j.src.window()
	if len(w) == 0 {
		return 0, j.src.ended(j.src.fatal(Truncated, "the file ends where one of %s is expected", signs))
	}
	if strings.IndexByte(signs, w[0]) < 0 {
		return 0, j.src.fatal(Malformed, "one of %s is expected", signs)
	}
	c := w[0]
	j.src.advance(1)
	return c, nil
}

// value reads a value. If the value has more than the most bytes, it is read to its end, but only its
// beginning is returned, and large is true. The bytes are valid until the next call.
func (j *jsonScanner) value() (raw []byte, large bool, err error) {
	j.src.skipSpace()
	at := *j.src // finds the place of an error in the value; the buffer of the copy is not read
	j.kept = store{b: j.kept.b[:0], limit: j.most}
	depth, quoted, escaped := 0, false, false
	for {
		w := j.src.window()
		if len(w) == 0 {
			return nil, false, j.src.ended(j.src.fatal(Truncated, "the file ends inside of a value"))
		}
		i, done := 0, false
	scan:
		for i < len(w) {
			c := w[i]
			if quoted {
				switch {
				case escaped:
					escaped = false
				case c == '\\':
					escaped = true
				case c == '"':
					quoted = false
					if depth == 0 {
						i++
						done = true
						break scan
					}
				default:
					if n := bytes.IndexAny(w[i:], "\"\\"); n > 0 {
						i += n
						continue
					} else if n < 0 {
						i = len(w)
						continue
					}
				}
				i++
				continue
			}
			switch c {
			case '"':
				quoted = true
			case '{', '[':
				if depth++; depth > j.maxDepth {
					j.src.advance(i)
					return nil, false, j.src.fatal(TooDeep, "values are nested deeper than %d", j.maxDepth)
				}
			case '}', ']':
				if depth == 0 { // the end of the value around it
					done = true
					break scan
				}
				if depth--; depth == 0 {
					i++
					done = true
					break scan
				}
			case ',', ':', ' ', '\n', '\r', '\t':
				if depth == 0 {
					done = true
					break scan
				}
			}
			i++
		}
		j.kept.add(w[:i])
		j.src.advance(i)
		if !done {
			continue
		}
		if j.kept.full {
			return j.kept.b, true, nil
		}
		if !json.Valid(j.kept.b) {
			return nil, false, j.wrong(&at)
		}
		return j.kept.b, false, nil
	}
}

// wrong returns the error for a value that is not JSON.
func (j *jsonScanner) wrong(at *source) error {
	return jsonError(j.kept.b, at.line, at.offset()-at.lineBegan)
}

func jsonError(raw []byte, line int, column int64) *Fatal {
	var v json.RawMessage
	err := json.Unmarshal(raw, &v)
	f := &Fatal{Code: Malformed, Line: line, Column: int(column) + 1}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		n := min(max(int(syntax.Offset)-1, 0), len(raw))
		f.Detail = syntax.Error()
		f.Excerpt = excerptOf(raw[max(0, n-60):n], raw[n:min(len(raw), n+60)])
		if lines := bytes.Count(raw[:n], newline); lines > 0 {
			f.Line += lines
			f.Column = n - bytes.LastIndexByte(raw[:n], '\n')
		} else {
			f.Column += n
		}
	} else if len(raw) == 0 {
		f.Detail = "a value is missing"
	}
	return f
}

// members calls yield with the members of a valid object, in their order.
func members(raw []byte, yield func(key string, value []byte)) {
	i := skipJSONSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return
	}
	for i++; ; i++ {
		if i = skipJSONSpace(raw, i); raw[i] == '}' {
			return
		}
		end := valueEnd(raw, i)
		key := text(raw[i:end])
		i = skipJSONSpace(raw, skipJSONSpace(raw, end)+1)
		end = valueEnd(raw, i)
		yield(key, raw[i:end])
		if i = skipJSONSpace(raw, end); raw[i] == '}' {
			return
		}
	}
}

// elements calls yield with the elements of a valid array, or once with any other value.
func elements(raw []byte, yield func(value []byte)) {
	i := skipJSONSpace(raw, 0)
	if i >= len(raw) {
		return
	}
	if raw[i] != '[' {
		yield(raw)
		return
	}
	for i++; ; i++ {
		if i = skipJSONSpace(raw, i); raw[i] == ']' {
			return
		}
		end := valueEnd(raw, i)
		yield(raw[i:end])
		if i = skipJSONSpace(raw, end); raw[i] == ']' {
			return
		}
	}
}

func skipJSONSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// valueEnd returns where a valid value ends.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// text returns a valid string, or a number as it is written; "" for null.
func text(raw []byte) string {
	s, _ := scalar(raw)
	return s
}

// scalar is text, and reports whether the value is a string, a number or null.
func scalar(raw []byte) (string, bool) {
	if len(raw) == 0 {
		return "", true
	}
	switch c := raw[0]; {
	case c == '"':
		if bytes.IndexByte(raw, '\\') < 0 {
			return string(raw[1 : len(raw)-1]), true
		}
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", false
		}
		return s, true
	case c == '-' || '0' <= c && c <= '9':
		return string(raw), true
	case c == 'n':
		return "", true
	}
	return "", false
}

// idOf returns the id of an object whose beginning alone is known, "" if the id is not in it.
func idOf(begin []byte) string {
	d := json.NewDecoder(bytes.NewReader(begin))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for {
		key, err := d.Token()
		if err != nil || key == json.Delim('}') {
			return ""
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return ""
		}
		if key == "id" {
			if len(value) > 0 && value[0] == '"' { // a number may be cut off
				return text(value)
			}
			return ""
		}
	}
}

// ndjson reads a file with one JSON object a line. A line that is not one is a wrong item, since the
// lines after it can still be read.
type ndjson struct {
	r    *Reader
	kept store // the line
}

func (n *ndjson) next(d *draft) error {
	src := n.r.src
	src.skipSpace()
	if len(src.window()) == 0 {
		if src.err != io.EOF {
			return src.failed()
		}
		return io.EOF
	}
	d.Line = src.line
	column := src.offset() - src.lineBegan
	line, ended, large, err := n.line()
	if err != nil {
		return err
	}
	if large {
		d.large = true
		d.setID("id", idOf(line))
		return nil
	}
	if !json.Valid(line) {
		f := jsonError(line, d.Line, column)
		if !ended {
			f.Code = Truncated
			return f
		}
		if n.r.read == 0 {
			return f
		}
		d.problem(ItemInvalid, "", string(line[:min(len(line), 1000)]))
		return nil
	}
	if line[0] != '{' {
		d.problem(ItemInvalid, "", string(line[:min(len(line), 1000)]))
		return nil
	}
	if tooDeep(line, n.r.limits.Depth) {
		d.problem(ItemInvalid, "", string(line[:min(len(line), 1000)]))
		return nil
	}
	r := record{d: d, date: parseTableDate}
	members(line, func(key string, value []byte) {
		i, ok := fieldNamed[key]
		if !ok {
			d.problem(FieldUnknown, oneLine(shortened(key)), string(value[:min(len(value), 1000)]))
			return
		}
		if !r.begin(i) {
			return
		}
		if Fields[i].Each == "" {
			n.take(&r, i, value)
			return
		}
		elements(value, func(value []byte) { n.take(&r, i, value) })
	})
	r.end()
	return nil
}

func (n *ndjson) take(r *record, i int, value []byte) {
	s, ok := scalar(value)
	if !ok {
		r.d.problem(FieldInvalid, Fields[i].Name, string(value[:min(len(value), 1000)]))
		return
	}
	r.take(i, s)
}

// line reads a line, without its end. A large one is read to its end and not kept.
func (n *ndjson) line() (line []byte, ended, large bool, err error) {
	src := n.r.src
	n.kept = store{b: n.kept.b[:0], limit: n.r.limits.ItemBytes}
	kept := &n.kept
	for {
		w := src.window()
		if len(w) == 0 {
			if src.err != io.EOF {
				return nil, false, false, src.failed()
			}
			return bytes.TrimRight(kept.b, " \t\r"), false, kept.full, nil
		}
		i := bytes.IndexByte(w, '\n')
		if i >= 0 {
			kept.add(w[:i])
			src.advance(i + 1)
			return bytes.TrimRight(kept.b, " \t\r"), true, kept.full, nil
		}
		kept.add(w)
		src.advance(len(w))
	}
}

// tooDeep reports whether a valid value is nested deeper than it may be.
func tooDeep(raw []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '{', c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}
