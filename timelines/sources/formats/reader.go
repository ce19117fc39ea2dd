package formats

import (
	"errors"
	"io"
	"mime"
	"net/url"
	"slices"
	"time"
)

// Limits bound what is read. A field that is zero has its default.
type Limits struct {
	Bytes     int64 // of the file, after it was opened if it is compressed: 2 GiB
	Items     int   // 1,000,000
	ItemBytes int   // of one item: 1 MiB; from 1 KiB to 64 MiB
	Depth     int   // of elements: 100
}

func (l Limits) filled() Limits {
	if l.Bytes <= 0 {
		l.Bytes = 2 << 30
	}
	if l.Items <= 0 {
		l.Items = 1_000_000
	}
	if l.ItemBytes <= 0 {
		l.ItemBytes = 1 << 20
	}
	l.ItemBytes = min(max(l.ItemBytes, 1<<10), 64<<20)
	if l.Depth <= 0 {
		l.Depth = 100
	}
	return l
}

// Options say how a file is read.
type Options struct {
	// Format of the file; "" to tell it from the file.
	Format Format
	// MediaType is the type that came with the file, "" if none did. Charset is given if it is not
	// part of MediaType. A byte order mark wins over it. So does the encoding that the file itself
	// declares, if the bytes decode only in that.
	MediaType, Charset string
	// Base is the address from which relative addresses start: the feed's own.
	Base string
	// Now is the time that dates are compared with. It must be the same whenever the same file is
	// read, because warnings, and so the canonical file, depend on it. The zero time stands for the
	// time of the call.
	Now time.Time
	// Shared are the hashes of addresses that items of this source share (HashAddress), in their
	// order: an item without an id that has one of these is known by address and title.
	// Summary.Sharing has those of a file.
	Shared []int64
	Limits Limits
}

// Reader reads the items of one file, one after the other. Its memory is bounded by the two largest
// items, and at most 32 bytes for each item that was read. It is not safe for concurrent use.
type Reader struct {
	src     *source
	limits  Limits
	format  Format
	base    *url.URL
	now     time.Time
	feed    Feed
	items   formatReader
	known   idSet
	read    int
	langs   map[string]string // the language for each language as given
	err     error
	ahead   *draft  // the next item
	shared  []int64 // Options.Shared
	byLink  int     // items that are known by their addresses
	sharing []int64 // hashes of addresses that several of them have
	notes   []Code  // problems of the file, which the next item gets
}

// formatReader reads items of a format into a draft. It returns io.EOF after the last item.
type formatReader interface {
	next(*draft) error
}

// NewReader returns a reader of a file. It reads the beginning. Its errors are those of Next.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	l := o.Limits.filled()
	if _, params, err := mime.ParseMediaType(o.MediaType); err == nil && o.Charset == "" {
		o.Charset = params["charset"]
	}
	f := &Reader{limits: l, format: o.Format, now: o.Now, shared: o.Shared, langs: make(map[string]string)}
	text, err := open(r, l.Bytes, o.Charset, func() { f.note(EncodingGuessed) })
	if err != nil {
		return nil, err
	}
	f.src = newSource(text)
	if f.now.IsZero() {
		f.now = time.Now()
	}
	if base, err := url.Parse(o.Base); err == nil && base.Host != "" {
		f.base = base
	}
	begin := f.src.peek(headBytes)
	if len(begin) == 0 && !errors.Is(f.src.err, io.EOF) {
		return nil, f.src.failed()
	}
	if f.format == "" {
		if f.format, err = detect(begin, o.MediaType); err != nil {
			if len(begin) < headBytes && !errors.Is(f.src.err, io.EOF) {
				return nil, f.src.failed() // the rest of the beginning did not come
			}
			return nil, err
		}
	}
	switch f.format {
	case RSS, Atom:
		if n := warned(begin); n > 0 {
			f.src.advance(n)
			f.note(TextAround)
		}
		f.items = newXMLFeed(f)
	case XML:
		f.items = newOwnXML(f)
	case JSONFeed:
		f.items = newJSONFeed(f)
	case CSV:
		f.items, err = newCSV(f)
	case NDJSON:
		f.items = &ndjson{r: f}
	default:
		return nil, &Fatal{Code: NotAFeed, Detail: "the format " + string(f.format) + " is not known"}
	}
	return f, err
}

// Format returns the format of the file.
func (r *Reader) Format() Format { return r.format }

// Feed returns what the file says about the feed, as far as it was read. Some files say it behind
// their items, so it is complete only after io.EOF.
func (r *Reader) Feed() Feed { return r.feed }

// Next returns the next item, with its problems. It returns io.EOF after the last item, a *Fatal if
// the file cannot be used, and another error if the reader that it was given failed. Each further
// call returns the same error.
func (r *Reader) Next() (*Item, error) {
	// The reader is one item ahead, so that the last item can note what follows it.
	d := r.ahead
	if d == nil {
		d = r.more()
	}
	if d == nil {
		return nil, r.err
	}
	r.ahead = r.more()
	d.at = 0
	for _, c := range r.notes {
		d.problem(c, "", "")
	}
	r.notes = nil
	return &d.Item, nil
}

// more reads an item. It returns nil if there is an error, and keeps the error.
func (r *Reader) more() *draft {
	if r.err != nil {
		return nil
	}
	d := &draft{reader: r}
	if r.err = r.items.next(d); r.err != nil {
		return nil
	}
	if r.read++; r.read > r.limits.Items {
		r.err = r.src.fatal(TooMany, "the file has more than %d items", r.limits.Items)
		return nil
	}
	d.finish()
	return d
}

// note notes a problem of the file without failing its items.
func (r *Reader) note(c Code) {
	if !slices.Contains(r.notes, c) {
		r.notes = append(r.notes, c)
	}
}
