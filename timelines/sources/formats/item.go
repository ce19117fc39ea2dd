package formats

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"
)

// What an item may hold. What is longer is cut, what is more is left out, each with a
// warning.
const (
	MaxIDBytes       = 1024
	MaxTitleRunes    = 500
	MaxTextRunes     = 30_000
	MaxAddressBytes  = 2048
	MaxNameRunes     = 200 // of an author, a place, the text of a picture
	MaxCategoryRunes = 100
	MaxCategories    = 50
	MaxPictures      = 20
	MaxFiles         = 20
	MaxProblems      = 50
	MaxValueRunes    = 200
)

// Item is one thing of a source, in one form whatever format it came in.
//
// All texts are plain: valid UTF-8 in NFC without control characters, with lines ended by
// LF. They are no markup: a post of them is one of plain text (its column markup is false),
// in which *, _ and the like are the signs they are.
type Item struct {
	// ID is the item's key within its source, 1 to 1024 bytes. It is the guid, or else the
	// address. It is empty only if the item has the problem id_missing, id_long or id_control:
	// then nobody can say which stored item this is. It is in NFC and has no control
	// characters, but may turn the direction of writing: it is shown isolated.
	ID string `json:"id"`
	// Bad says that an error was found, so that the item is present but not to be posted.
	Bad bool `json:"bad,omitzero"`

	Title string `json:"title,omitzero"` // one line
	Text  string `json:"text,omitzero"`
	URL   string `json:"url,omitzero"`
	// At is when it was published, Updated when it was changed; zero if unknown. UTC, in
	// whole microseconds.
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

// Place is where an item was made or what it tells of, as the source gave it.
type Place struct {
	Name string `json:"name,omitzero"`
	// Degrees, as decimal numbers within -90..90 and -180..180; both or neither are empty.
	Latitude  string `json:"latitude,omitzero"`
	Longitude string `json:"longitude,omitzero"`
}

// Picture is the address of a picture, absolute and http or https, and what it shows.
type Picture struct {
	URL  string `json:"url"`
	Text string `json:"text,omitzero"`
}

// File is an enclosure that is no picture: audio, video, a document, or the page of a player.
type File struct {
	URL string `json:"url"`
	// Type is the media type as given; audio or video alone if no more is known, and Player for
	// the page of a player.
	Type    string `json:"type,omitzero"`
	Bytes   int64  `json:"bytes,omitzero"`   // as given; 0 if unknown
	Title   string `json:"title,omitempty"`  // of the attachment of a JSON Feed
	Seconds int64  `json:"seconds,omitzero"` // how long it plays, as given; 0 if unknown
}

// Player is the type of a page that plays something inside other pages.
const Player = "text/html"

// Hash is a hash of what is shown of an item: of all but Line and Problems. Two items of one
// id with the same hash are the same.
func (i *Item) Hash() [16]byte { return hashOf(i.body()) }

func hashOf(body []byte) [16]byte {
	sum := sha256.Sum256(body)
	return [16]byte(sum[:16])
}

// body is the canonical form without Line and Problems.
func (i *Item) body() []byte {
	shown := *i
	shown.Line, shown.Problems = 0, nil
	return marshal(&shown)
}

// Has reports whether the item has a problem of this code.
func (i *Item) Has(c Code) bool {
	return slices.ContainsFunc(i.Problems, func(p Problem) bool { return p.Code == c })
}

// Feed is what a file says of itself.
type Feed struct {
	Title    string `json:"title,omitzero"`
	About    string `json:"about,omitzero"`
	Site     string `json:"site,omitzero"` // address of the page it is the feed of
	Language string `json:"language,omitzero"`
	Picture  string `json:"picture,omitzero"`
	Hub      string `json:"hub,omitzero"`  // WebSub
	Self     string `json:"self,omitzero"` // the address by which the hub knows the feed
	// TTL is how long the feed asks not to be fetched again; 0 if it does not say.
	TTL time.Duration `json:"ttl,omitzero"`
	// Moved is the address that the feed has moved to (itunes:new-feed-url).
	Moved string `json:"moved,omitzero"`
	// Complete says that the file has all items there are (RFC 5005).
	Complete bool `json:"complete,omitzero"`
}

// Format is how a file is written.
type Format string

const (
	RSS      Format = "rss" // all versions, and RDF
	Atom     Format = "atom"
	JSONFeed Format = "jsonfeed"
	XML      Format = "xml" // our own: see Fields
	CSV      Format = "csv"
	NDJSON   Format = "ndjson"
)

// Formats are all there are.
var Formats = []Format{RSS, Atom, JSONFeed, XML, CSV, NDJSON}

// Sync reports whether files of this format are full lists, in which what is absent is gone.
// The others are windows on the newest items. It is what a source does unless it is told
// otherwise.
func (f Format) Sync() bool { return f == XML || f == CSV || f == NDJSON }

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // these types have no value without JSON
	}
	return b
}
