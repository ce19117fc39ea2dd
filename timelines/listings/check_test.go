package listings

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"riverrun/timelines/rules"
)

// wrong lists what errors that are joined say, as "field: code".
func wrong(err error) (all []string) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, wrong(e)...)
		}
		return all
	}
	if invalid, ok := err.(*rules.InvalidError); ok {
		return []string{invalid.Field + ": " + invalid.Code}
	}
	return nil
}

// G6: the fields of a listing are checked by the table of rules, and all that is wrong is named at once.
func TestCheck(t *testing.T) {
	now := time.Date(2026, 3, 10, 22, 0, 0, 0, time.UTC)
	past := ends(Day(now).AddDate(0, 0, -3))
	for name, tc := range map[string]struct {
		fields Fields
		kept   time.Time
		want   []string
	}{
		"nothing but a currency": {fields: Fields{Currency: "EUR"}},
		"all of it":              {Fields{"1 200,50", "RUB", "Berlin", "good", "2026-03-11"}, past, nil},
		"the last day there is":  {fields: Fields{Currency: "EUR", Until: "2026-09-06"}},
		"its own day":            {fields: Fields{Currency: "EUR", Until: "2026-03-07"}, kept: past},
		"words as a price":       {fields: Fields{Price: "ten", Currency: "EUR"}, want: []string{"price: price_format"}},
		"below nothing":          {fields: Fields{Price: "-1", Currency: "EUR"}, want: []string{"price: price_format"}},
		"too much":               {fields: Fields{Price: "1000000000", Currency: "EUR"}, want: []string{"price: price_range"}},
		"no currency":            {want: []string{"currency: currency_unknown"}},
		"a place that is no text": {
			fields: Fields{Currency: "EUR", Place: "\xff"}, want: []string{"place: text_invalid"},
		},
		"today":            {fields: Fields{Currency: "EUR", Until: "2026-03-10"}, want: []string{"until: until_past"}},
		"another past day": {fields: Fields{Currency: "EUR", Until: "2026-03-06"}, kept: past, want: []string{"until: until_past"}},
		"a day too far":    {fields: Fields{Currency: "EUR", Until: "2026-09-07"}, want: []string{"until: until_far"}},
		"all of it is wrong": {Fields{"x", "QQQ", strings.Repeat("x", 101), "x", "x"}, past, []string{
			"price: price_format", "currency: currency_unknown", "place: place_long", "condition: condition_unknown", "until: until_format",
		}},
	} {
		if _, err := tc.fields.Check(now, tc.kept); !slices.Equal(wrong(err), tc.want) {
			t.Errorf("%s: got %q, want %q", name, wrong(err), tc.want)
		}
	}
}

// G6: so is what somebody says who closes a listing.
func TestCheckSale(t *testing.T) {
	for sale, want := range map[Sale][]string{
		{Sold, "9,50"}:       nil,
		{Sold, ""}:           nil,
		{Given, "x"}:         nil, // nothing was paid
		{Sold, "x"}:          {"sold: price_format"},
		{Sold, "1000000000"}: {"sold: price_range"},
		{"lost", ""}:         {"how: how_unknown"},
	} {
		if _, err := sale.Check(); !slices.Equal(wrong(err), want) {
			t.Errorf("%v: got %q, want %q", sale, wrong(err), want)
		}
	}
}

// The states and the ways of the table are those that the statements write.
func TestWordsOfTheTable(t *testing.T) {
	if want := []string{string(Active), string(Expired), string(Closed)}; !slices.Equal(rules.StateUnknown.Words, want) {
		t.Errorf("states %q, want %q", rules.StateUnknown.Words, want)
	}
	if want := []string{Sold, Given}; !slices.Equal(rules.HowUnknown.Words, want) {
		t.Errorf("ways %q, want %q", rules.HowUnknown.Words, want)
	}
}

// Prices are read in both ways of writing them, and exactly.
func TestPrices(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "5": 500, "0.1": 10, "7,05": 705, "1 200,5": 120050, "999999999.99": 99999999999} {
		got, err := ParsePrice("price", text)
		if err != nil || got == nil || *got != want {
			t.Errorf("%q: got %v (%v), want %d", text, got, err, want)
		}
	}
	if got, err := ParsePrice("price", " "); got != nil || err != nil {
		t.Errorf("nothing typed: got %v (%v)", got, err)
	}
}

func FuzzPrices(f *testing.F) {
	f.Add("1 200,50")
	f.Add("-0.0")
	f.Fuzz(func(t *testing.T, text string) {
		price, err := ParsePrice("price", text)
		if err != nil || price == nil {
			return
		}
		again, err := ParsePrice("price", FormatPrice(*price))
		if err != nil || *again != *price || *price < 0 || *price > int64(rules.PriceRange.Most) {
			t.Errorf("%q is %s, and that is %s", text, strconv.FormatInt(*price, 10), FormatPrice(*price))
		}
	})
}
