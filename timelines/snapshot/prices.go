package snapshot

import (
	"strings"

	"riverrun/timelines/listings"
)

// priceTerm returns the bounds of a price in their canonical form, "" if they are none: two prices with
// .. between them (one may be left out), or one price.
func priceTerm(text string) string {
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		high = low
	}
	from, lowErr := listings.ParsePrice("", low)
	to, highErr := listings.ParsePrice("", high)
	if lowErr != nil || highErr != nil || from == nil && to == nil {
		return ""
	}
	return PriceTerm(from, to)
}

// PriceTerm is the text of a term that asks for a price within these bounds, where nil is no bound.
func PriceTerm(lowest, highest *int64) string {
	var low, high string
	if lowest != nil {
		low = listings.FormatPrice(*lowest)
	}
	if highest != nil {
		high = listings.FormatPrice(*highest)
	}
	return low + ".." + high
}

// priceBounds are the bounds that priceTerm wrote.
func priceBounds(term string) (lowest, highest *int64) {
	low, high, _ := strings.Cut(term, "..")
	lowest, _ = listings.ParsePrice("", low) // it is sound
	highest, _ = listings.ParsePrice("", high)
	return lowest, highest
}
