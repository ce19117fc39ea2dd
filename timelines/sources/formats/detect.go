package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"regexp"
	"strings"
)

// headBytes is how much of a file is read to find its format.
const headBytes = 4096

// Detect finds the format of a file by its first bytes, at most 4096 of them. If the bytes do not
// decide, the media type does that came with the file, "" if none did. The error is a *Fatal: ErrPage
// for an HTML page, Empty, NotAFeed, or another one if the beginning itself is wrong.
func Detect(begin []byte, mediaType string) (Format, error) {
	begin = begin[:min(len(begin), headBytes)]
	charset := ""
	if _, params, err := mime.ParseMediaType(mediaType); err == nil {
		charset = params["charset"]
	}
	text, err := open(bytes.NewReader(begin), 64<<10, charset, func() {})
	if err != nil {
		return "", err
	}
	// The beginning may break off anywhere; that is no error here.
	head, err := io.ReadAll(io.LimitReader(text, headBytes))
	var f *Fatal
	if errors.As(err, &f) && (f.Code == Encoding || f.Code == Malformed && len(head) == 0) {
		return "", err
	}
	return detect(head, mediaType)
}

func detect(text []byte, mediaType string) (Format, error) {
	kind, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		kind = ""
	}
	head := bytes.TrimLeft(text[warned(text):], " \t\r\n")
	switch {
	case len(head) == 0:
		return "", &Fatal{Code: Empty}
	case head[0] == '<':
		return detectXML(head, kind)
	case head[0] == '{':
		return detectJSON(head, kind)
	case isTable(head):
		return CSV, nil
	case isPage(head), kind == "text/html":
		return "", &Fatal{Code: Page, Line: 1, Column: 1, Excerpt: excerptOf(nil, head[:min(60, len(head))])}
	}
	f := &Fatal{Code: NotAFeed, Line: 1, Column: 1, Excerpt: excerptOf(nil, head[:min(60, len(head))])}
	if head[0] == '[' {
		f.Detail = "the file is an array; JSON is read with one object a line, or as JSON Feed"
	}
	return "", f
}

func detectXML(head []byte, kind string) (Format, error) {
	src := newSource(bytes.NewReader(head))
	scan := newScanner(src, Limits{}.filled(), false)
	for {
		tok, err := scan.next()
		if err != nil {
			var f *Fatal
			errors.As(err, &f)
			switch {
			case isPage(head) || kind == "text/html" && (f == nil || f.Code != Entity):
				return "", src.fatal(Page, "")
			case f != nil && f.Code == Truncated && len(head) >= headBytes-16:
				return "", src.fatal(NotAFeed, "there is no element near the beginning")
			}
			return "", err
		}
		if tok.kind == endOfFile {
			return "", src.fatal(NotAFeed, "there is no element")
		}
		if tok.kind != startTag {
			continue
		}
		n := tok.name
		switch {
		case n.local == "rss", n.local == "RDF", n.local == "channel" && n.space == noSpace:
			return RSS, nil
		case n.local == "feed" && (n.space == atomSpace || n.space == noSpace):
			return Atom, nil
		case n.local == "items" && n.space == ownSpace:
			return XML, nil
		case n.local == "opml":
			return "", src.fatal(NotAFeed, "the file is OPML, a list of feeds")
		case isPage(head), strings.EqualFold(n.local, "html"), kind == "text/html", kind == "application/xhtml+xml":
			return "", src.fatal(Page, "the root is <%s>", n.local)
		case n.local == "items":
			return "", src.fatal(NotAFeed, "the root <items> needs xmlns=%q", Namespace)
		}
		return "", notAFeed(src, n)
	}
}

var pageBegins = regexp.MustCompile(`(?i)<(!doctype\s+html|html|head|body|meta|title|script|div|p)[\s>]`)

// isPage reports whether a text looks like an HTML page.
func isPage(head []byte) bool {
	return pageBegins.Match(head[:min(len(head), 1024)]) && !bytes.Contains(head, []byte("<rss")) && !bytes.Contains(head, []byte("<feed"))
}

var jsonFeedVersion = regexp.MustCompile(`"version"\s*:\s*"https?:\\?/\\?/(www\.)?jsonfeed\.org\\?/version`)

var jsonFeedItems = regexp.MustCompile(`"items"\s*:\s*\[`)

func detectJSON(head []byte, kind string) (Format, error) {
	if jsonFeedVersion.Match(head) || kind == "application/feed+json" {
		return JSONFeed, nil
	}
	line, _, whole := bytes.Cut(head, newline)
	if whole && json.Valid(line) || kind == "application/x-ndjson" || kind == "application/jsonl" {
		if !whole || !jsonFeedItems.Match(line) {
			return NDJSON, nil
		}
	}
	if jsonFeedItems.Match(head) {
		return JSONFeed, nil
	}
	// This is one line, whole or longer than the beginning.
	if bytes.HasPrefix(bytes.TrimLeft(head[1:], " \t"), []byte(`"`)) {
		return NDJSON, nil
	}
	return "", &Fatal{Code: NotAFeed, Line: 1, Column: 1, Excerpt: excerptOf(nil, head[:min(60, len(head))]), Detail: "the file is JSON of another kind"}
}

// isTable reports whether a text begins with a header that has the field id.
func isTable(head []byte) bool {
	line, _, _ := bytes.Cut(head, newline)
	for _, sep := range []string{",", ";", "\t"} {
		for column := range strings.SplitSeq(string(line), sep) {
			if strings.Trim(columnName(column), `"`) == "id" {
				return true
			}
		}
	}
	return false
}
