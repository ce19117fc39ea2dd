package rules

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// currencies are the codes of ISO 4217 that a price may have, each with two decimals.
var currencies = []string{
	"AMD", "AUD", "AZN", "BGN", "BRL", "BYN", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "GEL", "HKD", "HUF", "ILS", "INR", "KGS",
	"KZT", "MDL", "MXN", "NOK", "NZD", "PLN", "RON", "RSD", "RUB", "SEK", "SGD", "THB", "TJS", "TRY", "UAH", "USD", "UZS", "ZAR",
}

// priceForm is a number with at most two decimals, after a point or a comma as people write it.
var priceForm = regexp.MustCompile(`^[0-9]+([.,][0-9]{1,2})?$`)

// Price reads a price in a field of a form, 0 to 999,999,999.99, in hundredths. White space between its
// digits is left out. The errors are PriceFormat and PriceRange, in that field.
func Price(field, text string) (cents int64, err error) {
	form, bounds := PriceFormat, PriceRange
	form.Field, bounds.Field = field, field
	text = strings.Join(strings.Fields(text), "")
	if !priceForm.MatchString(text) {
		return 0, form.Broken("")
	}
	whole, decimals, _ := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	// The form leaves only one reason to fail: too many digits.
	cents, err = strconv.ParseInt(whole+(decimals + "00")[:2], 10, 64)
	if err != nil || cents > int64(bounds.Most) {
		return 0, bounds.Broken("")
	}
	return cents, nil
}

// Currency returns an error unless a price may be in the currency.
func Currency(code string) error { return CurrencyUnknown.OneOf(code) }

// Condition returns an error unless a thing may be in the condition.
func Condition(word string) error { return ConditionUnknown.OneOf(word) }

// Place returns the place of a listing as it is stored. It may be empty.
func Place(text string) (string, error) {
	if !Storable(text) {
		return "", PlaceInvalid.Broken("")
	}
	return PlaceLong.Within(strings.Join(strings.Fields(text), " "))
}

// Until reads the last day of a listing, as a browser sends a date: from tomorrow to 180 days ahead.
// today is the day of whoever writes, and so is its zone; the result is the beginning of that day in it.
// The errors are UntilFormat, UntilPast and UntilFar.
func Until(text string, today time.Time) (time.Time, error) {
	day, err := time.ParseInLocation(time.DateOnly, strings.TrimSpace(text), today.Location())
	if err != nil {
		return time.Time{}, UntilFormat.Broken("")
	}
	switch first, last := untilBounds(today); {
	case day.Before(first):
		return time.Time{}, UntilPast.Broken("")
	case day.After(last):
		return time.Time{}, UntilFar.Broken("")
	}
	return day, nil
}

// UntilDays are the first and the last day that Until takes, for the min and max of a form.
func UntilDays(today time.Time) (first, last string) {
	from, to := untilBounds(today)
	return from.Format(time.DateOnly), to.Format(time.DateOnly)
}

func untilBounds(today time.Time) (first, last time.Time) {
	year, month, day := today.Date()
	on := func(ahead int) time.Time { return time.Date(year, month, day+ahead, 0, 0, 0, 0, today.Location()) }
	return on(UntilPast.Most), on(UntilFar.Most)
}

// Due returns an error, DuePast or DueFar, unless a post can be scheduled now for that time.
func Due(at, now time.Time) error {
	switch {
	case at.Before(now.Add(time.Duration(DuePast.Most) * time.Minute)):
		return DuePast.Broken("")
	case at.After(now.AddDate(DueFar.Most, 0, 0)):
		return DueFar.Broken("")
	}
	return nil
}
