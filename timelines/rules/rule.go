package rules

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Thing is what a rule is about.
type Thing string

// The things, in the order of the help page.
const (
	Post        Thing = "post"
	Destination Thing = "destination"
	File        Thing = "file"
	Listing     Thing = "listing"
	Comment     Thing = "comment"
	Draft       Thing = "draft"
	Item        Thing = "item" // of a source
	Account     Thing = "account"
)

// Things are all things.
var Things = []Thing{Post, Destination, File, Listing, Comment, Draft, Item, Account}

// Ways are the ways in for which a rule holds.
type Ways uint8

// The ways in.
const (
	Form   Ways = 1 << iota // the forms of the pages
	API                     // items that a program pushes
	Source                  // items of feeds and of files
	// Items are the ways by which items come. An item fares the same in both.
	Items = API | Source
)

// Unit is what a bound counts.
type Unit string

// The units. The last ones have no bound.
const (
	Characters Unit = "characters"
	Bytes      Unit = "bytes"
	Megabytes  Unit = "megabytes"
	Values     Unit = "values" // how many of a thing
	Cents      Unit = "cents"  // hundredths of a price
	DaysLeast  Unit = "days_least"
	DaysMost   Unit = "days_most"
	// Those of a time are from now.
	MinutesLeast Unit = "minutes_least"
	YearsMost    Unit = "years_most"
	Words        Unit = "words" // one of Rule.Words
	Shape        Unit = "shape" // the value must have a certain form
	Standing     Unit = "standing"
)

// Effect is what becomes of a thing that breaks a rule.
type Effect string

// The effects.
const (
	Refused Effect = "refused"  // nothing of it is written
	Cut     Effect = "cut"      // it is written up to the bound, and the problem is noted
	LeftOut Effect = "left_out" // it is written without the value, and the problem is noted
)

// Rule is a row of the table.
type Rule struct {
	Of []Thing
	// Field is its name in forms and errors; of an item, its name in our own formats. Empty: the whole.
	Field string
	Code  string
	Unit  Unit
	// Most is the bound, which itself is allowed; 0: there is none, or the site sets it (Set).
	Most int
	// Set names the setting that is the bound; the caller gives it (With).
	Set string
	// Words are all that is allowed, if the unit is Words.
	Words []string
	// Ways are the ways in for which the rule holds.
	Ways Ways
	// AtSource is what becomes of an item that breaks it, by whichever of Items it comes. Forms refuse
	// and are shown again.
	AtSource Effect
}

// InvalidError says that an input breaks a rule: a row of this table, or one of the rules of names,
// passwords and settings, which stand where they are checked.
type InvalidError struct {
	Field string // of the form
	Code  string // stable; the catalogues translate it
	// Value is the invalid value where it helps (a destination's name).
	Value string
	// Most is the bound, and Unit what it counts, if the text names it.
	Most int
	Unit Unit
}

func (e *InvalidError) Error() string {
	if e.Value != "" {
		return "invalid " + e.Field + ": " + e.Code + ": " + e.Value
	}
	return "invalid " + e.Field + ": " + e.Code
}

// Broken is the error of a value that breaks the rule. The value is only given where the text shows it.
func (r Rule) Broken(value string) *InvalidError {
	return &InvalidError{Field: r.Field, Code: r.Code, Value: value, Most: r.Most, Unit: r.Unit}
}

// With is the rule with the bound that a site has set.
func (r Rule) With(most int) Rule {
	r.Most = most
	return r
}

// Fits reports whether a text is at most as long as the rule allows.
func (r Rule) Fits(text string) bool {
	if len(text) <= r.Most {
		return true
	}
	return r.Unit != Bytes && utf8.RuneCountInString(text) <= r.Most
}

// Text returns an error if a text is longer than the rule allows.
func (r Rule) Text(text string) error {
	if !r.Fits(text) {
		return r.Broken("")
	}
	return nil
}

// Within returns a text, or an error if it is longer than the rule allows.
func (r Rule) Within(text string) (string, error) {
	if err := r.Text(text); err != nil {
		return "", err
	}
	return text, nil
}

// Count returns an error if there are more than the rule allows.
func (r Rule) Count(n int) error {
	if n > r.Most {
		return r.Broken("")
	}
	return nil
}

// OneOf returns an error unless the word is one of the rule's.
func (r Rule) OneOf(word string) error {
	if !slices.Contains(r.Words, word) {
		return r.Broken("")
	}
	return nil
}

// Maxlength is the attribute of that name of a field. A browser counts some characters as two, and none
// as less than one: it lets through no text that Text refuses.
func (r Rule) Maxlength() string { return strconv.Itoa(r.Most) }

// Accept is the attribute of that name of a field for files.
func (r Rule) Accept() string { return strings.Join(r.Words, ",") }

// About reports whether the rule is about a thing.
func (r Rule) About(t Thing) bool { return slices.Contains(r.Of, t) }

// For returns the rules about a thing, in the order of the table.
func For(t Thing) []Rule {
	return slices.DeleteFunc(slices.Clone(Table), func(r Rule) bool { return !r.About(t) })
}
