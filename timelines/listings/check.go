package listings

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"riverrun/timelines/rules"
)

// DefaultDays is how many days ahead the last day of a listing is if nothing is said, and when it is renewed.
const DefaultDays = 30

// The ways a listing is closed.
const (
	Sold  = "sold"
	Given = "given"
)

// Fields are those of a listing as a form has them. An empty price waits for offers; an empty day is
// DefaultDays ahead, and an empty condition is "used".
type Fields struct {
	Price     string `json:"price"`
	Currency  string `json:"currency"`
	Place     string `json:"place"`
	Condition string `json:"condition"`
	Until     string `json:"until"`
}

// Sale says how a listing was closed, as a form has it: Sold or Given, and, if it was sold, the price
// it went for, or nothing.
type Sale struct{ How, Price string }

// Day returns the day of an instant in UTC.
func Day(at time.Time) time.Time {
	y, m, d := at.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// ends is the instant at which a listing ends whose last day that is.
func ends(day time.Time) time.Time { return day.AddDate(0, 0, 1) }

// FormatDay writes the last day of a listing that ends at an instant, as forms have it.
func FormatDay(until time.Time) string {
	return Day(until.Add(-time.Microsecond)).Format(time.DateOnly)
}

// Offer is a listing's fields, checked.
type Offer struct {
	Price                      *int64 // nil: its author waits for offers
	Currency, Place, Condition string
	Until                      time.Time
}

// Check returns the offer that the fields make, or all that is wrong with them: errors of package rules,
// joined. kept is the end that the listing has already, which may be past; zero: it is new.
func (f Fields) Check(now, kept time.Time) (Offer, error) {
	o := Offer{Currency: f.Currency, Condition: f.Condition}
	if o.Condition == "" {
		o.Condition = "used"
	}
	var price, place, day error
	o.Price, price = ParsePrice("price", f.Price)
	o.Place, place = rules.Place(f.Place)
	o.Until, day = until(f.Until, now, kept)
	return o, errors.Join(price, rules.Currency(o.Currency), place, rules.Condition(o.Condition), day)
}

func until(text string, now, kept time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch {
	case !kept.IsZero() && (text == "" || text == FormatDay(kept)):
		return kept, nil
	case text == "":
		return ends(Day(now).AddDate(0, 0, DefaultDays)), nil
	}
	day, err := rules.Until(text, now.UTC())
	if err != nil {
		return time.Time{}, err
	}
	return ends(day), nil
}

// ParsePrice reads a price of a form's field, in hundredths; nil if nothing is typed. The errors are those
// of rules.Price.
func ParsePrice(field, text string) (*int64, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	price, err := rules.Price(field, text)
	if err != nil {
		return nil, err
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

// Check returns the price that a sale was made at, nil if it is not told or nothing was paid. The errors
// are HowUnknown, SoldFormat and SoldRange of package rules.
func (s Sale) Check() (price *int64, err error) {
	if err := rules.HowUnknown.OneOf(s.How); err != nil || s.How != Sold {
		return nil, err
	}
	return ParsePrice(rules.SoldFormat.Field, s.Price)
}
