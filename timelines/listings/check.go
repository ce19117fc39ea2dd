package listings

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of a listing's fields.
const (
	MostPlaceRunes = 100
	// MostDays is how many days ahead its last day may be, and DefaultDays how many it is if nothing
	// is said, and when the listing is renewed.
	MostDays, DefaultDays = 180, 30
	// mostPrice is the highest price, in hundredths.
	mostPrice = 999_999_999_99
)

// Currencies are the codes of those that a listing may have. All have hundredths.
var Currencies = []string{
	"EUR", "USD", "GBP", "AMD", "BYN", "CHF", "CZK", "GEL", "ILS", "KZT", "NOK", "PLN", "RSD", "RUB", "SEK", "TRY", "UAH",
}

// Conditions are the states that a thing may be in, the best first.
var Conditions = []string{"new", "good", "used", "broken"}

// The ways a listing is closed.
const (
	Sold  = "sold"
	Given = "given"
)

// dateForm is a day as forms have it.
const dateForm = time.DateOnly

// Fields are those of a listing as a form has them. An empty price waits for offers; an empty day is
// DefaultDays ahead, and an empty condition is "used".
type Fields struct {
	Price, Currency, Place, Condition, Until string
}

// Sale says how a listing was closed, as a form has it: Sold or Given, and, if it was sold, the price
// it went for, or nothing.
type Sale struct{ How, Price string }

// Fault says what is wrong with a field, by a stable code: "price_format", "price_range",
// "currency_unknown", "place_long", "place_invalid", "condition_unknown", "until_format", "until_past",
// "until_far", "how_unknown", "state_unknown".
type Fault struct {
	Field, Code string
	Most        int // of "place_long" and "until_far"
}

func (f *Fault) Error() string { return "invalid " + f.Field + ": " + f.Code }

// IsCurrency reports whether a listing may have the currency.
func IsCurrency(code string) bool { return slices.Contains(Currencies, code) }

// Day returns the day of an instant in UTC.
func Day(at time.Time) time.Time {
	y, m, d := at.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// lastDay is the last day of a listing that ends at an instant.
func lastDay(until time.Time) time.Time { return Day(until.Add(-time.Microsecond)) }

// ends is the instant at which a listing ends whose last day that is.
func ends(day time.Time) time.Time { return day.AddDate(0, 0, 1) }

// FormatDay writes the last day of a listing that ends at an instant, as forms have it.
func FormatDay(until time.Time) string { return lastDay(until).Format(dateForm) }

// Offer is a listing's fields, checked.
type Offer struct {
	Price                      *int64 // nil: its author waits for offers
	Currency, Place, Condition string
	Until                      time.Time
}

// Check returns the offer that the fields make, or all their faults. kept is the day that the listing
// has already, which may be past; zero: it is new.
func (f Fields) Check(now, kept time.Time) (o Offer, faults []*Fault) {
	note := func(fault *Fault) {
		if fault != nil {
			faults = append(faults, fault)
		}
	}
	var fault *Fault
	o.Price, fault = ParsePrice("price", f.Price)
	note(fault)
	if o.Currency = strings.ToUpper(strings.TrimSpace(f.Currency)); !IsCurrency(o.Currency) {
		note(&Fault{Field: "currency", Code: "currency_unknown"})
	}
	o.Place, fault = place(f.Place)
	note(fault)
	if o.Condition = f.Condition; o.Condition == "" {
		o.Condition = "used"
	}
	if !slices.Contains(Conditions, o.Condition) {
		note(&Fault{Field: "condition", Code: "condition_unknown"})
	}
	o.Until, fault = until(f.Until, now, kept)
	note(fault)
	return o, faults
}

func place(text string) (string, *Fault) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
		return "", &Fault{Field: "place", Code: "place_invalid"}
	}
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > MostPlaceRunes {
		return "", &Fault{Field: "place", Code: "place_long", Most: MostPlaceRunes}
	}
	return text, nil
}

func until(text string, now, kept time.Time) (time.Time, *Fault) {
	today, text := Day(now), strings.TrimSpace(text)
	if text == "" {
		if !kept.IsZero() {
			return kept, nil
		}
		return ends(today.AddDate(0, 0, DefaultDays)), nil
	}
	day, err := time.Parse(dateForm, text)
	switch {
	case err != nil:
		return time.Time{}, &Fault{Field: "until", Code: "until_format"}
	case !kept.IsZero() && day.Equal(lastDay(kept)):
		return kept, nil
	case !day.After(today):
		return time.Time{}, &Fault{Field: "until", Code: "until_past"}
	case day.After(today.AddDate(0, 0, MostDays)):
		return time.Time{}, &Fault{Field: "until", Code: "until_far", Most: MostDays}
	}
	return ends(day), nil
}

// priceForm is a price as it is typed, without spaces.
var priceForm = regexp.MustCompile(`^-?[0-9]+([.,][0-9]{1,2})?$`)

// ParsePrice reads a price of a form's field, in hundredths; nil if nothing is typed.
func ParsePrice(field, text string) (*int64, *Fault) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	if text == "" {
		return nil, nil
	}
	if !priceForm.MatchString(text) {
		return nil, &Fault{Field: field, Code: "price_format"}
	}
	whole, part, _ := strings.Cut(strings.ReplaceAll(text, ",", "."), ".")
	price, err := strconv.ParseInt(whole+(part + "00")[:2], 10, 64)
	if err != nil || price < 0 || price > mostPrice || strings.HasPrefix(whole, "-") {
		return nil, &Fault{Field: field, Code: "price_range"}
	}
	return &price, nil
}

// FormatPrice writes a price as forms have it.
func FormatPrice(hundredths int64) string {
	text := strconv.FormatInt(hundredths/100, 10)
	if part := hundredths % 100; part != 0 {
		text += "." + strconv.FormatInt(100+part, 10)[1:]
	}
	return text
}

// CheckState checks the state that a filter asks for; empty: any.
func CheckState(state string) *Fault {
	if state != "" && !slices.Contains(States, State(state)) {
		return &Fault{Field: "state", Code: "state_unknown"}
	}
	return nil
}

// Check returns the price that a sale was made at, nil if it is not told or nothing was paid.
func (s Sale) Check() (price *int64, faults []*Fault) {
	switch s.How {
	case Given:
		return nil, nil
	case Sold:
		price, fault := ParsePrice("sold", s.Price)
		if fault != nil {
			faults = append(faults, fault)
		}
		return price, faults
	}
	return nil, []*Fault{{Field: "how", Code: "how_unknown"}}
}
