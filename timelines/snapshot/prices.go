package snapshot

import (
	"slices"
	"strings"
	"unicode"

	"riverrun/timelines/listings"
	"riverrun/timelines/rules"
)

// priceTerm returns the bounds of a price and its currency in their canonical form, "" if they are none:
// two prices with .. between them (one may be left out), or one price, and then the code of a currency.
// The form has no currency if none is named, or one that no price may have.
func priceTerm(text string) string {
	bounds := strings.TrimRightFunc(text, func(r rune) bool { return unicode.In(r, unicode.L, unicode.Sc) })
	currency := strings.ToUpper(text[len(bounds):])
	if rules.Currency(currency) != nil {
		currency = ""
	}
	low, high, isRange := strings.Cut(bounds, "..")
	if !isRange {
		high = low
	}
	from, lowErr := listings.ParsePrice("", low)
	to, highErr := listings.ParsePrice("", high)
	if lowErr != nil || highErr != nil || from == nil && to == nil {
		return ""
	}
	return PriceTerm(from, to, currency)
}

// PriceTerm is the text of a term that asks for a price in a currency within these bounds, where nil is no
// bound.
func PriceTerm(lowest, highest *int64, currency string) string {
	var low, high string
	if lowest != nil {
		low = listings.FormatPrice(*lowest)
	}
	if highest != nil {
		high = listings.FormatPrice(*highest)
	}
	return low + ".." + high + strings.ToLower(currency)
}

// priceBounds are the bounds that priceTerm wrote, and their currency.
func priceBounds(term string) (lowest, highest *int64, currency string) {
	bounds := strings.TrimRightFunc(term, unicode.IsLetter)
	low, high, _ := strings.Cut(bounds, "..")
	lowest, _ = listings.ParsePrice("", low) // it is sound
	highest, _ = listings.ParsePrice("", high)
	return lowest, highest, strings.ToUpper(term[len(bounds):])
}

// NamesCurrencies reports whether each price in the query has a currency. Prices in different currencies
// cannot be compared, so a price without one finds nothing and excludes nothing.
func (q Query) NamesCurrencies() bool {
	return !slices.ContainsFunc(q.terms, func(t queryTerm) bool {
		_, _, currency := priceBounds(t.text)
		return t.kind == termPrice && currency == ""
	})
}
