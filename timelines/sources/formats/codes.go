package formats

import (
	"fmt"
	"strings"
)

// Code names what is wrong with an item or a file. Codes are stable: they are stored, shown
// to programs, and are the keys of the texts that people read.
type Code string

// The problems of items.
const (
	IDMissing           Code = "id_missing"
	IDLong              Code = "id_long"
	IDControl           Code = "id_control"
	IDRepeated          Code = "id_repeated"
	TitleAndTextMissing Code = "title_and_text_missing"
	ItemLarge           Code = "item_large"
	ItemInvalid         Code = "item_invalid"
	NumberOfFields      Code = "number_of_fields"

	TitleLong       Code = "title_long"
	TextLong        Code = "text_long"
	TextBroken      Code = "text_broken"
	URLInvalid      Code = "url_invalid"
	URLLong         Code = "url_long"
	DateInvalid     Code = "date_invalid"
	DateFuture      Code = "date_future"
	DateOld         Code = "date_old"
	AuthorLong      Code = "author_long"
	CategoryMany    Code = "category_many"
	CategoryLong    Code = "category_long"
	LanguageUnknown Code = "language_unknown"
	PlaceInvalid    Code = "place_invalid"
	PictureInvalid  Code = "picture_invalid"
	PictureMany     Code = "picture_many"
	FileInvalid     Code = "file_invalid"
	FileMany        Code = "file_many"
	FieldUnknown    Code = "field_unknown"
	FieldTwice      Code = "field_twice"
	FieldInvalid    Code = "field_invalid"
	ProblemMany     Code = "problem_many"

	// TextAround and EncodingGuessed are about the file. They are noted with the next item.
	TextAround      Code = "text_around"
	EncodingGuessed Code = "encoding_guessed"

	// ToForbidden, Elsewhere and BodyLong come from a load: the item itself is right.
	ToForbidden Code = "to_forbidden"
	Elsewhere   Code = "elsewhere"
	BodyLong    Code = "body_long"
)

// The problems of files.
const (
	NotAFeed  Code = "not_a_feed"
	Page      Code = "page"
	Empty     Code = "empty"
	Malformed Code = "malformed"
	Truncated Code = "truncated"
	Encoding  Code = "encoding"
	Entity    Code = "entity"
	TooLarge  Code = "too_large"
	TooMany   Code = "too_many"
	TooDeep   Code = "too_deep"
	// ItemsMany, PlaceClosed and NotLoaded come from a load: its file is right.
	ItemsMany   Code = "items_many"
	PlaceClosed Code = "place_closed"
	NotLoaded   Code = "not_loaded"
)

// Level says how bad a problem is.
type Level string

const (
	LevelFatal   Level = "fatal"   // the file is not used at all
	LevelError   Level = "error"   // the item is not posted, but is present
	LevelWarning Level = "warning" // the item is posted without the wrong part
)

// CodeInfo is a row of the table of codes, for the help page and the pages of errors.
type CodeInfo struct {
	Code  Code
	Level Level
	Means string // {most} stands for the bound of the row in package rules
	Do    string // what the author of the feed can do
}

// Codes is the table of all codes, the fatal ones first.
var Codes = []CodeInfo{
	{NotAFeed, LevelFatal, "The file is no feed that is known here.", "Give the address of an RSS, Atom or JSON feed, or a file as described on the help page."},
	{Page, LevelFatal, "This is a page, not a feed.", "Give the address of the feed. A page that names its feed is enough when a source is added."},
	{Empty, LevelFatal, "The file is empty.", "Look whether the server that makes the feed works."},
	{Malformed, LevelFatal, "The file is not well-formed.", "Correct it at the line and column given. A validator for its format shows the same place."},
	{Truncated, LevelFatal, "The file ends too early.", "Send it again, whole."},
	{Encoding, LevelFatal, "The characters of the file cannot be read.", "Save it as UTF-8, or declare its encoding."},
	{Entity, LevelFatal, "The file declares entities.", "Write the characters themselves. Entities are never read."},
	{TooLarge, LevelFatal, "The file, or one element of it, is too large.", "Split it into several sources."},
	{TooMany, LevelFatal, "The file has too many items.", "Split it into several sources."},
	{NotLoaded, LevelFatal, "This site could not load the file, and has given it up after many tries.", "Tell those who run the site, and load the file again later."},
	{PlaceClosed, LevelFatal, "The author of the source may not post any more where its items go.", "Ask the administrators of the group, or remove the source and add it to another place."},
	{ItemsMany, LevelFatal, "The source would have more items than it may, with those that it has already.", "Remove the source and add it again, or split it into several sources."},
	{TooDeep, LevelFatal, "Elements are nested too deep.", "Escape the HTML inside of items."},

	{IDMissing, LevelError, "The item has no id.", "Give each item an id that stays the same."},
	{IDLong, LevelError, "The id is longer than {most} bytes.", "Use a shorter id."},
	{IDControl, LevelError, "The id has control characters.", "Use letters, digits and signs only."},
	{IDRepeated, LevelError, "An item before it has the same id. The first one counts.", "Give each item an id of its own."},
	{TitleAndTextMissing, LevelError, "The item has nothing to show: no title, text, address, picture or file.", "Give it a title or a text."},
	{ItemLarge, LevelError, "The item is too large to be read.", "Make it smaller; give addresses of pictures instead of their data."},
	{ItemInvalid, LevelError, "The item cannot be read.", "Correct it at the line given."},
	{NumberOfFields, LevelError, "The row has another number of fields than the first row.", "Quote fields that contain separators or line breaks."},

	{TitleLong, LevelWarning, "The title was cut at {most} characters.", "Shorten it."},
	{TextLong, LevelWarning, "The text was cut at {most} characters.", "Shorten it."},
	{TextBroken, LevelWarning, "Some characters could not be read.", "Save the file as UTF-8, and cut texts between characters."},
	{URLInvalid, LevelWarning, "The address is not one of the web and was left out.", "Write it in full, with https://."},
	{URLLong, LevelWarning, "The address is longer than {most} bytes and was left out.", "Use a shorter address."},
	{DateInvalid, LevelWarning, "The date cannot be read. The item is taken as new.", "Write it as 2026-11-24T10:00:00Z."},
	{DateFuture, LevelWarning, "The date is more than a day ahead. The item is taken as new.", "Set the clock or the date right."},
	{DateOld, LevelWarning, "The date is before 1970. The item is taken as new.", "Set the date right."},
	{AuthorLong, LevelWarning, "The author's name was cut at {most} characters.", "Shorten it."},
	{CategoryMany, LevelWarning, "Only the first {most} categories were taken.", "Use fewer."},
	{CategoryLong, LevelWarning, "A category of more than {most} characters was left out.", "Shorten it."},
	{LanguageUnknown, LevelWarning, "The language is unknown and was left out.", "Use a code such as en or pt-BR."},
	{PlaceInvalid, LevelWarning, "The place has a name of more than {most} characters, or coordinates that are not degrees. It was left out.", "Shorten the name; write decimal degrees, latitude and longitude."},
	{PictureInvalid, LevelWarning, "The address of a picture is not one of the web and was left out.", "Write it in full, with https://."},
	{PictureMany, LevelWarning, "Only the first {most} pictures were taken.", "Use fewer."},
	{FileInvalid, LevelWarning, "The address of a file is not one of the web and was left out.", "Write it in full, with https://."},
	{FileMany, LevelWarning, "Only the first {most} files were taken.", "Use fewer."},
	{FieldUnknown, LevelWarning, "A field has an unknown name and was left out.", "Compare its name with the table on the help page."},
	{FieldTwice, LevelWarning, "A field is given twice. The first one counts.", "Give it once."},
	{FieldInvalid, LevelWarning, "The value of a field has the wrong form.", "Compare it with the example on the help page."},
	{Elsewhere, LevelWarning, "Another source of the same owner has an item with this address. Both were posted.", "Remove one of the sources, or let a rule of one leave such items out."},
	{BodyLong, LevelWarning, "Title, text, addresses and tags make more than {most} characters. The text was cut, or files were left out.", "Shorten the text, or the addresses."},
	{ToForbidden, LevelError, "Whoever added the source may not post to the group that a category of the item leads to, or where its post is. The item was not posted, or its post not changed.", "Change the rule, take the post out of there, or ask the administrators of the group: the next load tries again."},
	{TextAround, LevelWarning, "Words or scripts stand before or behind the feed, and were left out.", "Look for warnings of the program that makes the feed, and for scripts that the server adds."},
	{EncodingGuessed, LevelWarning, "The file is in another encoding than the server says, or nothing says in which. It was told by the bytes.", "Save the file as UTF-8, or declare its encoding."},
	{ProblemMany, LevelWarning, "The item has more problems than are listed.", "Correct the first ones."},
}

var levels = func() map[Code]Level {
	m := make(map[Code]Level, len(Codes))
	for _, c := range Codes {
		m[c.Code] = c.Level
	}
	return m
}()

// Problem is something wrong with one item.
type Problem struct {
	Code  Code   `json:"code"`
	Level Level  `json:"level"`          // LevelError or LevelWarning
	Line  int    `json:"line,omitzero"`  // in the text of the file, from 1; 0 if unknown
	Field string `json:"field,omitzero"` // as the file or the table calls it
	Value string `json:"value,omitzero"` // what stood there, cut to 200 characters
}

// Fatal says that a file cannot be used. Nothing of it may be applied, and reading it again gives the
// same error. All other errors of this package came from the reader that it was given.
type Fatal struct {
	Code Code
	// The place in the text of the file: the line from 1, the column in bytes of UTF-8 from 1; 0 if
	// unknown.
	Line, Column int
	Excerpt      string // the text around that place, on one line
	Detail       string // what was wrong, in English, for logs and people who read English
}

func (f *Fatal) Error() string {
	var b strings.Builder
	b.WriteString(string(f.Code))
	if f.Line > 0 {
		fmt.Fprintf(&b, " at line %d, column %d", f.Line, f.Column)
	}
	if f.Detail != "" {
		b.WriteString(": " + f.Detail)
	}
	if f.Excerpt != "" {
		fmt.Fprintf(&b, " near %q", f.Excerpt)
	}
	return b.String()
}

// Is makes errors.Is compare only codes.
func (f *Fatal) Is(target error) bool {
	t, ok := target.(*Fatal)
	return ok && t.Code == f.Code
}

// ErrPage is the error, by errors.Is, for a file that is an HTML page. Discover may find the feeds
// that the page names.
var ErrPage error = &Fatal{Code: Page}
