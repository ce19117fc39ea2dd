package listings

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// G6: each field of a listing has its bounds, and each fault its code and field.
func TestCheck(t *testing.T) {
	now := time.Date(2026, 3, 10, 22, 0, 0, 0, time.UTC)
	past := ends(Day(now).AddDate(0, 0, -3))
	for name, tc := range map[string]struct {
		fields Fields
		kept   time.Time
		want   []string // field: code
	}{
		"nothing but a currency": {fields: Fields{Currency: "EUR"}},
		"all of it":              {Fields{"1 200,50", "rub", "Berlin", "good", "2026-03-11"}, past, nil},
		"the last day there is":  {fields: Fields{Currency: "EUR", Until: "2026-09-06"}},
		"its own day":            {fields: Fields{Currency: "EUR", Until: "2026-03-07"}, kept: past},
		"words as a price":       {fields: Fields{Price: "ten", Currency: "EUR"}, want: []string{"price: price_format"}},
		"three decimals":         {fields: Fields{Price: "1.999", Currency: "EUR"}, want: []string{"price: price_format"}},
		"below nothing":          {fields: Fields{Price: "-1", Currency: "EUR"}, want: []string{"price: price_range"}},
		"too much":               {fields: Fields{Price: "1000000000", Currency: "EUR"}, want: []string{"price: price_range"}},
		"more than a number has": {fields: Fields{Price: strings.Repeat("9", 40), Currency: "EUR"}, want: []string{"price: price_range"}},
		"no currency":            {want: []string{"currency: currency_unknown"}},
		"a long place":           {fields: Fields{Currency: "EUR", Place: strings.Repeat("ж", 101)}, want: []string{"place: place_long"}},
		"a place that is no text": {
			fields: Fields{Currency: "EUR", Place: "\xff"}, want: []string{"place: place_invalid"},
		},
		"another condition": {fields: Fields{Currency: "EUR", Condition: "odd"}, want: []string{"condition: condition_unknown"}},
		"no day":            {fields: Fields{Currency: "EUR", Until: "tomorrow"}, want: []string{"until: until_format"}},
		"today":             {fields: Fields{Currency: "EUR", Until: "2026-03-10"}, want: []string{"until: until_past"}},
		"another past day":  {fields: Fields{Currency: "EUR", Until: "2026-03-06"}, kept: past, want: []string{"until: until_past"}},
		"a day too far":     {fields: Fields{Currency: "EUR", Until: "2026-09-07"}, want: []string{"until: until_far"}},
		"all of it is wrong": {Fields{"x", "XXX", strings.Repeat("x", 101), "x", "x"}, past, []string{
			"price: price_format", "currency: currency_unknown", "place: place_long", "condition: condition_unknown", "until: until_format",
		}},
	} {
		_, faults := tc.fields.Check(now, tc.kept)
		var got []string
		for _, f := range faults {
			got = append(got, f.Field+": "+f.Code)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// Prices are read in both ways of writing them, and exactly.
func TestPrices(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "5": 500, "0.1": 10, "7,05": 705, "1 200,5": 120050, "999999999.99": 99999999999} {
		got, fault := ParsePrice("price", text)
		if fault != nil || got == nil || *got != want {
			t.Errorf("%q: got %v (%v), want %d", text, got, fault, want)
		}
	}
	if got, fault := ParsePrice("price", " "); got != nil || fault != nil {
		t.Errorf("nothing typed: got %v (%v)", got, fault)
	}
}

func FuzzPrices(f *testing.F) {
	f.Add("1 200,50")
	f.Add("-0.0")
	f.Fuzz(func(t *testing.T, text string) {
		price, fault := ParsePrice("price", text)
		if fault != nil || price == nil {
			return
		}
		again, fault := ParsePrice("price", FormatPrice(*price))
		if fault != nil || *again != *price || *price < 0 || *price > mostPrice {
			t.Errorf("%q is %s, and that is %s", text, strconv.FormatInt(*price, 10), FormatPrice(*price))
		}
	})
}
