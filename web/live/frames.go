package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/coder/websocket"

	"riverrun/rivers"
	"riverrun/web/view"
)

// PROTOCOL.md describes the frames of the socket to outside programs. Every message is one JSON
// object with its type in "t". Ids of rivers are strings, because they have 63 bits and a
// JavaScript number has 53.

// Limits of what a client may send. A frame beyond them ends the connection.
const (
	// maxFrame is the size of a client's message in bytes: it holds maxEntries entries and the
	// other fields.
	maxFrame = 64 << 10
	// maxEntries is how many entries a page may claim to show.
	maxEntries = 500
	maxAddress = 2048
	maxCode    = 64
)

// The codes that sockets are closed with. Each says what the client is to do; PROTOCOL.md has the
// table.
const (
	// CloseReconnect: the server stops or could not go on; come back after the number of
	// milliseconds in the reason.
	CloseReconnect websocket.StatusCode = 4000
	// CloseSignedOut: the session ended, or the page was made for another account.
	CloseSignedOut websocket.StatusCode = 4001
	// CloseMalformed: the client sent something that is no frame of the protocol.
	CloseMalformed websocket.StatusCode = 4002
	// CloseNoPage: there is no such page, or not any more for this viewer.
	CloseNoPage websocket.StatusCode = 4004
	// CloseTooFast: the client sent more frames than a page has reasons to send.
	CloseTooFast websocket.StatusCode = 4008
	// CloseSilent: the client did not subscribe in time.
	CloseSilent websocket.StatusCode = 4009
)

// A malformedError says why a client's message is no frame of the protocol.
type malformedError struct{ why string }

func (e *malformedError) Error() string { return "malformed frame: " + e.why }

func malformed(format string, args ...any) error {
	return &malformedError{fmt.Sprintf(format, args...)}
}

// A clientFrame is a message of a client. Exactly one of the fields is set.
type clientFrame struct {
	subscribe *subscribeFrame
	drop      *dropFrame
	seen      bool // the reader has seen what the page shows
}

// A subscribeFrame asks for all changes of a page, beginning with the difference between the page
// as it is and as the client shows it.
type subscribeFrame struct {
	// path and query are the page's address.
	path  string
	query url.Values
	// lang is the language that its entries are rendered in.
	lang string
	// viewer is the name of the account that the page was made for, "" for an anonymous
	// viewer. If an outside program leaves it out, it is not compared with the session's.
	viewer *string
	// river is the id of the generation that the page shows, 0 if it shows nothing yet.
	river int64
	// token is the page's word for what stands around its entries; see Pages.Token.
	token string
	// entries are the versions of the entries that are shown, by their posts' codes.
	entries map[string]view.Version
	// lowestPosition and lowestCode say where the page ends: they are of its lowest entry, 0
	// and empty if the client does not say.
	lowestPosition int64
	lowestCode     string
	// unread is how many unread notifications the page shows, unasked if it shows none.
	unread int64
}

// A dropFrame says that the client took entries off the lower end of the page by itself, so that
// the page does not grow for ever.
type dropFrame struct {
	river int64
	// entries are their last versions, by their posts' codes.
	entries map[string]view.Version
}

// parseFrame reads a client's message. It ignores unknown fields, so that newer clients can talk
// to older servers. Anything else that is not as PROTOCOL.md says is a *malformedError. It does
// not keep message.
func parseFrame(message []byte) (clientFrame, error) {
	var raw struct {
		T       string          `json:"t"`
		Page    string          `json:"page"`
		Lang    string          `json:"lang"`
		Viewer  *string         `json:"viewer"`
		River   string          `json:"river"`
		Sight   string          `json:"sight"`
		Entries json.RawMessage `json:"entries"`
		Down    string          `json:"down"`
		Unread  *int64          `json:"unread"`
	}
	if len(message) > maxFrame {
		return clientFrame{}, malformed("%d bytes", len(message))
	}
	if err := json.Unmarshal(message, &raw); err != nil {
		return clientFrame{}, malformed("not the JSON expected")
	}
	river, err := parseRiver(raw.River)
	if err != nil {
		return clientFrame{}, err
	}
	switch raw.T {
	case "subscribe":
		f := &subscribeFrame{lang: raw.Lang, viewer: raw.Viewer, river: river, token: raw.Sight, unread: unasked}
		if raw.Unread != nil {
			if f.unread = *raw.Unread; f.unread < 0 {
				return clientFrame{}, malformed("unread")
			}
		}
		if f.path, f.query, err = parseAddress(raw.Page); err != nil {
			return clientFrame{}, err
		}
		if f.entries, err = parseEntries(raw.Entries); err != nil {
			return clientFrame{}, err
		}
		if raw.Down != "" {
			place, code, ok := strings.Cut(raw.Down, ".")
			if f.lowestPosition, err = strconv.ParseInt(place, 10, 64); err != nil || !ok || f.lowestPosition <= 0 || !validCode(code) {
				return clientFrame{}, malformed("down %.80q", raw.Down)
			}
			f.lowestCode = code
		}
		if len(f.lang) > 16 {
			return clientFrame{}, malformed("lang")
		}
		if len(f.token) > 64 {
			return clientFrame{}, malformed("sight")
		}
		return clientFrame{subscribe: f}, nil
	case "drop":
		f := &dropFrame{river: river}
		if f.entries, err = parseEntries(raw.Entries); err != nil {
			return clientFrame{}, err
		}
		return clientFrame{drop: f}, nil
	case "seen":
		return clientFrame{seen: true}, nil
	}
	return clientFrame{}, malformed("type %.80q", raw.T)
}

func parseRiver(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id < 0 {
		return 0, malformed("river %.80q", s)
	}
	return id, nil
}

// parseAddress reads a page's path and query as the page's data-page has them.
func parseAddress(s string) (string, url.Values, error) {
	if len(s) == 0 || len(s) > maxAddress || s[0] != '/' || strings.HasPrefix(s, "//") {
		return "", nil, malformed("page %.80q", s)
	}
	u, err := url.Parse(s)
	if err != nil || u.Host != "" || u.Fragment != "" || !utf8.ValidString(u.Path) || strings.ContainsRune(u.Path, 0) {
		return "", nil, malformed("page %.80q", s)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", nil, malformed("query of page %.80q", s)
	}
	return u.Path, query, nil
}

func parseEntries(raw json.RawMessage) (map[string]view.Version, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var texts map[string]string
	if err := json.Unmarshal(raw, &texts); err != nil {
		return nil, malformed("entries are no object of versions")
	}
	if len(texts) > maxEntries {
		return nil, malformed("%d entries", len(texts))
	}
	entries := make(map[string]view.Version, len(texts))
	for code, text := range texts {
		at, ok := view.ParseVersion(text)
		if !ok || !validCode(code) {
			return nil, malformed("entry %.80q at %.80q", code, text)
		}
		entries[code] = at
	}
	return entries, nil
}

// validCode reports whether s may be a post's public code. Only the store knows whether it is
// one.
func validCode(s string) bool {
	if s == "" || len(s) > maxCode {
		return false
	}
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_' {
			return false
		}
	}
	return true
}

// The server's frames are written by hand around JSON strings that are made once for each part,
// so that HTML for a thousand connections is encoded once.

// frameRiver says that the frames from here on belong to another generation of the river. All
// entries of the new generation follow, and then an ok.
func frameRiver(river int64) []byte {
	return []byte(`{"t":"river","river":"` + strconv.FormatInt(river, 10) + `"}`)
}

// frameOK ends the answer to a subscribe: the client now shows the page as it was at some moment
// after it asked. more says that older entries exist. The token goes into the client's next
// subscribe.
func frameOK(river int64, more bool, token string) []byte {
	return []byte(`{"t":"ok","river":"` + strconv.FormatInt(river, 10) + `","more":` + strconv.FormatBool(more) +
		`,"sight":"` + token + `"}`) // hexadecimal: nothing to escape
}

// frameStill is frameOK for a page that is not followed: nothing is known of older entries.
func frameStill(river int64, token string) []byte {
	return []byte(`{"t":"ok","river":"` + strconv.FormatInt(river, 10) + `","sight":"` + token + `"}`)
}

// frameTabs says that what stands around the entries of a page has changed. The client fetches it
// from the page.
func frameTabs(river int64) []byte {
	return []byte(`{"t":"tabs","river":"` + strconv.FormatInt(river, 10) + `"}`)
}

// frameUnread says how many notifications the viewer has not read.
func frameUnread(count int) []byte {
	return []byte(`{"t":"unread","n":` + strconv.Itoa(count) + `}`)
}

// frameBeat says only that the connection is alive.
var frameBeat = []byte(`{"t":"beat"}`)

// frameGone takes an entry off the page.
func frameGone(river int64, code string, stamp rivers.Stamp) []byte {
	b := appendHead(nil, "gone", river, code, view.Version{Stamp: stamp})
	return append(b, '}')
}

// frameParts brings the parts of a shown entry that changed. set holds JSON strings, and nil for
// parts that stay.
func frameParts(river int64, code string, at view.Version, place int64, set [view.PartCount]json.RawMessage) []byte {
	b := appendHead(nil, "entry", river, code, at)
	b = appendPlace(b, place)
	b = append(b, `,"parts":{`...)
	first := true
	for p, text := range set {
		if text == nil {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, '"')
		b = append(b, view.PartNames[p]...)
		b = append(b, `":`...)
		b = append(b, text...)
	}
	return append(b, "}}"...)
}

// frameWhole brings a whole article, for an entry that is not on the page or moves on it. html is
// a JSON string.
func frameWhole(river int64, code string, at view.Version, place int64, html json.RawMessage) []byte {
	b := appendHead(nil, "entry", river, code, at)
	b = appendPlace(b, place)
	b = append(b, `,"html":`...)
	b = append(b, html...)
	return append(b, '}')
}

// EntryFrame is what a reply to a form says of a post that its page shows: html is the
// whole article. It names no generation of the river, as the reply is about the page that
// sent the form.
func EntryFrame(code string, at view.Version, place int64, html []byte) ([]byte, error) {
	text, err := jsonHTML(html)
	if err != nil {
		return nil, err
	}
	return frameWhole(0, code, at, place, text), nil
}

// GoneFrame is what a reply to a form says of a post that its page does not show. It has no
// version: whatever the river itself says next is newer.
func GoneFrame(code string) []byte { return frameGone(0, code, rivers.Stamp{}) }

// ElsewhereFrame is a GoneFrame with the address where the post can be seen, which needs no escaping.
func ElsewhereFrame(code, to string) []byte {
	b := appendHead(nil, "gone", 0, code, view.Version{})
	return append(append(append(b, `,"to":"`...), to...), `"}`...)
}

func appendHead(b []byte, t string, river int64, code string, at view.Version) []byte {
	b = append(b, `{"t":"`...)
	b = append(b, t...)
	b = append(b, `","river":"`...)
	b = strconv.AppendInt(b, river, 10)
	b = append(b, `","post":"`...)
	b = append(b, code...) // validCode: nothing to escape
	b = append(b, `","version":"`...)
	b = append(b, at.String()...)
	return append(b, '"')
}

func appendPlace(b []byte, place int64) []byte {
	return strconv.AppendInt(append(b, `,"place":`...), place, 10)
}

// jsonHTML encodes HTML as a JSON string. It leaves out the escapes that json.Marshal adds for
// pages that embed JSON, as no page embeds a frame.
func jsonHTML(html []byte) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(html)); err != nil {
		return nil, fmt.Errorf("encoding a part of an entry: %w", err)
	}
	return json.RawMessage(bytes.TrimRight(b.Bytes(), "\n")), nil
}
