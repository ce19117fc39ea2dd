package formats

import (
	"strings"
	"time"

	"riverrun/timelines/rules"
)

// Kind is the kind of values that a field holds.
type Kind string

const (
	KindID       Kind = "id"
	KindLine     Kind = "line" // a text of one line
	KindText     Kind = "text"
	KindHTML     Kind = "html"
	KindAddress  Kind = "address"
	KindDate     Kind = "date"
	KindLanguage Kind = "language"
	KindDegrees  Kind = "degrees"
)

// Field is a row of the table of fields, by which our own formats are read: XML, CSV and NDJSON. The
// schema, the examples and the help page are made from it.
type Field struct {
	// Name is the name of the element in XML, the column in CSV and the key in NDJSON.
	Name string
	Kind Kind
	// Each is the element that holds one value of a field with several. In CSV the sign | separates
	// them, and in NDJSON they are in an array.
	Each     string
	Required bool
	Longest  int // characters; 0 for rules.ItemURLLong.Most, a date and the like
	Most     int // values, if there can be several
	Doc      string
	Example  []string
}

// Fields is the table. An item needs at least a title, a text, an address, a picture or a file. No
// schema can say this.
var Fields = []Field{
	{Name: "id", Kind: KindID, Required: true, Longest: rules.ItemIDLong.Most, Doc: "The key of the item in this file. It stays the same when the item changes.", Example: []string{"harbour-17"}},
	{Name: "title", Kind: KindLine, Longest: rules.ItemTitle.Most, Doc: "One line of plain text.", Example: []string{"The harbour opens again"}},
	{Name: "text", Kind: KindText, Longest: rules.ItemText.Most, Doc: "Plain text. Line breaks are kept.", Example: []string{"From Monday on, boats may land here.\n\nThe quay is new; the ropes are not."}},
	{Name: "html", Kind: KindHTML, Doc: "The text as HTML, escaped or in CDATA. It is only read if there is no text.", Example: nil},
	{Name: "url", Kind: KindAddress, Doc: "The page of the item.", Example: []string{"https://harbour.example/news/17"}},
	{Name: "date", Kind: KindDate, Doc: "When it was published: 2026-11-24T10:00:00Z, or 2026-11-24. Without a zone it is UTC. Items without a date come to the top as they arrive, but those of a first load stand a month back.", Example: []string{"2025-11-24T10:00:00+03:00"}},
	{Name: "updated", Kind: KindDate, Doc: "When it was last changed.", Example: []string{"2025-11-25"}},
	{Name: "author", Kind: KindLine, Longest: rules.ItemAuthor.Most, Doc: "Who wrote it.", Example: []string{"Ines"}},
	{Name: "language", Kind: KindLanguage, Doc: "Its language, as in BCP 47: en, ru, pt-BR.", Example: []string{"en"}},
	{Name: "categories", Kind: KindLine, Each: "category", Longest: rules.ItemCategoryLong.Most, Most: rules.ItemCategoryMany.Most, Doc: "What it is about.", Example: []string{"news", "boats"}},
	{Name: "place", Kind: KindLine, Longest: rules.ItemPlace.Most, Doc: "The name of a place.", Example: []string{"Old harbour"}},
	{Name: "latitude", Kind: KindDegrees, Doc: "Decimal degrees, -90 to 90. Longitude must be given too.", Example: []string{"59.9"}},
	{Name: "longitude", Kind: KindDegrees, Doc: "Decimal degrees, -180 to 180.", Example: []string{"30.25"}},
	{Name: "pictures", Kind: KindAddress, Each: "picture", Most: rules.ItemPictureMany.Most, Doc: "Addresses of pictures.", Example: []string{"https://harbour.example/17/quay.jpg", "https://harbour.example/17/ropes.jpg"}},
	{Name: "files", Kind: KindAddress, Each: "file", Most: rules.ItemFileMany.Most, Doc: "Addresses of other files: audio, video, documents.", Example: []string{"https://harbour.example/17/tides.pdf"}},
}

// RootAttributes are the facts about the feed that the root of our own XML may state.
var RootAttributes = []Field{
	{Name: "title", Kind: KindLine, Longest: rules.ItemTitle.Most, Doc: "The name of the feed.", Example: []string{"Harbour news"}},
	{Name: "site", Kind: KindAddress, Doc: "The page of the feed.", Example: []string{"https://harbour.example/"}},
	{Name: "language", Kind: KindLanguage, Doc: "The language of items that do not say theirs.", Example: []string{"en"}},
}

var fieldNamed = func() map[string]int {
	m := make(map[string]int, len(Fields))
	for i, f := range Fields {
		m[f.Name] = i
	}
	return m
}()

// record takes the fields of one item of our own formats.
type record struct {
	d        *draft
	seen     [32]bool
	html     string
	lat, lon string
	date     func(string) (time.Time, bool)
}

// begin notes that the item has a field, and reports whether this is the first time.
func (r *record) begin(i int) bool {
	if r.seen[i] {
		r.d.problem(FieldTwice, Fields[i].Name, "")
		return false
	}
	r.seen[i] = true
	return true
}

// take takes a value of the field.
func (r *record) take(i int, value string) {
	f := &Fields[i]
	switch d := r.d; f.Name {
	case "id":
		d.setID(f.Name, value)
	case "title":
		d.setTitle(f.Name, value)
	case "text":
		d.setText(f.Name, value)
	case "html":
		r.html = value
	case "url":
		d.setURL(f.Name, value, nil)
	case "date":
		d.At = d.date(f.Name, value, r.date)
	case "updated":
		d.Updated = d.date(f.Name, value, r.date)
	case "author":
		d.setAuthor(f.Name, value)
	case "language":
		d.setLanguage(f.Name, value)
	case "categories":
		d.addCategory(f.Name, value)
	case "place":
		d.setPlace(f.Name, value, "", "")
	case "latitude":
		r.lat = value
	case "longitude":
		r.lon = value
	case "pictures":
		d.takePicture(f.Name, value, "", nil)
	case "files":
		d.takeFile(f.Name, enclosed{address: value}, nil)
	}
}

// end completes the item.
func (r *record) end() {
	r.d.at = 0
	if strings.TrimSpace(r.lat+r.lon) != "" {
		r.d.setPlace("latitude", "", r.lat, r.lon)
	}
	if r.d.Text == "" && r.html != "" {
		r.d.setHTML("html", r.html, nil)
	}
}
