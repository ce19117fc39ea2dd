package formats

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"
)

// The bounds of the problems of an item. The bounds of what it shows are in package rules.
const (
	MaxProblems   = 50
	MaxValueRunes = 200
)

// Item is one item of a source, in one form whatever format it came in.
//
// All texts are plain: valid UTF-8 in NFC without control characters, whose lines end with LF. They
// are not markup: *, _ and the like stand for themselves.
type Item struct {
	// ID is the item's key within its source, 1 to 1024 bytes: the guid, or else the address. It is
	// empty only if the item has the problem id_missing, id_long or id_control. Then nobody can say
	// which stored item this is. It is in NFC and has no control characters, but it may turn the
	// direction of writing, so pages show it isolated.
	ID string `json:"id"`
	// Bad says that the item has an error: it is present, but not to be posted.
	Bad bool `json:"bad,omitzero"`

	Title string `json:"title,omitzero"` // one line
	Text  string `json:"text,omitzero"`
	URL   string `json:"url,omitzero"`
	// At is when the item was published, Updated when it was changed; zero if unknown. Both are in
	// UTC, in whole microseconds.
	At         time.Time `json:"at,omitzero"`
	Updated    time.Time `json:"updated,omitzero"`
	Author     string    `json:"author,omitzero"`
	Categories []string  `json:"categories,omitempty"` // as given, each once
	Language   string    `json:"language,omitzero"`    // BCP 47, of the item or of the feed
	Place      *Place    `json:"place,omitzero"`
	Pictures   []Picture `json:"pictures,omitempty"`
	Files      []File    `json:"files,omitempty"`

	// Line is where the item began in the text of the file, from 1; 0 if unknown.
	Line     int       `json:"line,omitzero"`
	Problems []Problem `json:"problems,omitempty"`
}

// Place is where an item was made, or the place that it is about, as the source gave it.
type Place struct {
	Name string `json:"name,omitzero"`
	// The degrees are decimal numbers within -90..90 and -180..180. Both are given, or both are empty.
	Latitude  string `json:"latitude,omitzero"`
	Longitude string `json:"longitude,omitzero"`
}

// Picture is the address of a picture, absolute and with http or https, and a description.
type Picture struct {
	URL  string `json:"url"`
	Text string `json:"text,omitzero"`
}

// File is an enclosure that is no picture: audio, video, a document, or the page of a player.
type File struct {
	URL string `json:"url"`
	// Type is the media type as given. It is audio or video if no more is known, and Player for the
	// page of a player.
	Type    string `json:"type,omitzero"`
	Bytes   int64  `json:"bytes,omitzero"`   // as given; 0 if unknown
	Title   string `json:"title,omitempty"`  // of the attachment of a JSON Feed
	Seconds int64  `json:"seconds,omitzero"` // how long it plays, as given; 0 if unknown
}

// Player is the type of a page that plays something inside other pages.
const Player = "text/html"

// Hash returns a hash of all that an item shows, which is everything but Line and Problems. Two items
// with one id and the same hash are the same.
func (i *Item) Hash() [16]byte { return hashOf(i.body()) }

func hashOf(body []byte) [16]byte {
	sum := sha256.Sum256(body)
	return [16]byte(sum[:16])
}

// body returns the canonical form without Line and Problems.
func (i *Item) body() []byte {
	shown := *i
	shown.Line, shown.Problems = 0, nil
	return marshal(&shown)
}

// Has reports whether the item has a problem of this code.
func (i *Item) Has(c Code) bool {
	return slices.ContainsFunc(i.Problems, func(p Problem) bool { return p.Code == c })
}

// Feed is what a file says about its feed.
type Feed struct {
	Title    string `json:"title,omitzero"`
	About    string `json:"about,omitzero"`
	Site     string `json:"site,omitzero"` // address of the page it is the feed of
	Language string `json:"language,omitzero"`
	Picture  string `json:"picture,omitzero"`
	Hub      string `json:"hub,omitzero"`  // WebSub
	Self     string `json:"self,omitzero"` // the address by which the hub knows the feed
	// TTL is how long the feed asks to be left alone; 0 if it does not say.
	TTL time.Duration `json:"ttl,omitzero"`
	// Moved is the address that the feed has moved to (itunes:new-feed-url).
	Moved string `json:"moved,omitzero"`
	// Complete says that the file has all items of the feed (RFC 5005).
	Complete bool `json:"complete,omitzero"`
}

// Format is the format of a file.
type Format string

const (
	RSS      Format = "rss" // all versions, and RDF
	Atom     Format = "atom"
	JSONFeed Format = "jsonfeed"
	XML      Format = "xml" // our own: see Fields
	CSV      Format = "csv"
	NDJSON   Format = "ndjson"
)

// Formats are all formats.
var Formats = []Format{RSS, Atom, JSONFeed, XML, CSV, NDJSON}

// Sync reports whether files of this format are full lists. An item that is absent from a full list
// is gone. Files of the other formats are windows on the newest items. A source follows this unless
// its settings say otherwise.
func (f Format) Sync() bool { return f == XML || f == CSV || f == NDJSON }

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // these types have no value without JSON
	}
	return b
}
