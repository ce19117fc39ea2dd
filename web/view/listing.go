package view

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/listings"
	"riverrun/timelines/rules"
	"riverrun/timelines/snapshot"
)

// Listing is the page on which its author renews or closes a listing.
type Listing struct {
	*Base
	Code    string
	Listing listings.Listing
	Sale    listings.Sale // as it was sent
	Back    string
	Error   FormError
}

func (v Listing) path(act string) string { return "/p/" + v.Code + "/" + act }

// renewed is the instant at which the listing ends if it is renewed now, and whether that is later than it does.
func (v Listing) renewed() (then time.Time, longer bool) {
	then = listings.Renewed(time.Now())
	return then, v.Listing.Until.Before(then)
}

// NewListing are the fields of a new listing in a group.
func NewListing(g timelines.Account) *listings.Fields {
	return &listings.Fields{
		Currency: g.ListingsIn, Condition: "used",
		Until: listings.Day(time.Now()).AddDate(0, 0, listings.DefaultDays).Format(time.DateOnly),
	}
}

// ListingFilter is what of a group's listings a page shows, as its form was sent.
//
// Currency is that of the prices, and empty without them.
type ListingFilter struct{ State, From, To, Currency string }

// ListingFilterOf reads a filter from the query of an address. The zero filter shows all posts.
func ListingFilterOf(query url.Values) (f ListingFilter, err error) {
	f = ListingFilter{State: query.Get("state"), From: strings.TrimSpace(query.Get("from")), To: strings.TrimSpace(query.Get("to"))}
	if f.From+f.To != "" {
		f.Currency = query.Get("currency")
	}
	if f.State != "" {
		if err := rules.StateUnknown.OneOf(f.State); err != nil {
			return ListingFilter{From: f.From, To: f.To, Currency: f.Currency}, err
		}
	}
	_, from := listings.ParsePrice("from", f.From)
	_, to := listings.ParsePrice("to", f.To)
	if f.From+f.To == "" {
		return f, nil
	}
	return f, cmp.Or(from, to, rules.Currency(f.Currency))
}

// lastDays are the first and the last day that a form with these fields takes: also the day that its
// listing has, if that is past.
func lastDays(f listings.Fields) (first, last string) {
	first, last = rules.UntilDays(time.Now().UTC())
	if _, err := time.Parse(time.DateOnly, f.Until); err == nil {
		first = min(first, f.Until)
	}
	return first, last
}

// search is the query that finds the listings in the group of that name.
func (f ListingFilter) search(name string) string {
	text := "in:" + name
	if f.State != "" {
		text += " is:" + f.State
	}
	from, _ := listings.ParsePrice("from", f.From)
	to, _ := listings.ParsePrice("to", f.To)
	if from != nil || to != nil {
		text += " price:" + snapshot.PriceTerm(from, to, f.Currency)
	}
	return text
}

// query is the filter as the query of an address, with its question mark.
func (f ListingFilter) query() string {
	values := url.Values{}
	for name, value := range map[string]string{"state": f.State, "from": f.From, "to": f.To, "currency": f.Currency} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// of is the filter for another state at the same prices.
func (f ListingFilter) of(state string) ListingFilter {
	f.State = state
	return f
}

// InCurrency is the query of an address that filters by price and names no currency, with one; "" for any
// other.
func InCurrency(query url.Values, currency string) string {
	if f, _ := ListingFilterOf(query); currency == "" || f.From+f.To == "" || f.Currency != "" {
		return ""
	}
	query.Set("currency", currency)
	return "?" + query.Encode()
}

// currency is chosen in the form of the filter: as it was sent, or that of the group.
func (v Account) currency() string {
	if rules.Currency(v.Filter.Currency) == nil {
		return v.Filter.Currency
	}
	return v.Who.ListingsIn
}

func (f ListingFilter) title(loc *Locale) string {
	if f.State == "" {
		return loc.T("listings.all")
	}
	return loc.T("listings." + f.State)
}

// Price writes an amount of hundredths of a currency as the language does: €12.50, 1 200,50 ₽.
func (l *Locale) Price(hundredths int64, currency string) string {
	sign, ok := currencySigns[currency]
	if !ok {
		sign = currency
	}
	amount := l.Number(int(hundredths / 100))
	if part := hundredths % 100; part != 0 {
		point := "."
		if l.Lang == "ru" {
			point = ","
		}
		amount += point + strconv.FormatInt(100+part, 10)[1:]
	}
	if l.Lang != "ru" && ok {
		return sign + amount
	}
	return amount + "\u00a0" + sign
}

// currencySigns are those that both languages know.
var currencySigns = map[string]string{"EUR": "€", "USD": "$", "GBP": "£", "RUB": "₽", "UAH": "₴", "KZT": "₸", "GEL": "₾", "AMD": "֏", "TRY": "₺", "ILS": "₪"}

// priceOf is what a listing asks for or, once it is sold and its author told, went for.
func priceOf(loc *Locale, l *rivers.Listing) string {
	switch {
	case l.Paid != nil:
		return loc.Price(*l.Paid, l.Currency)
	case l.How == listings.Given:
		return ""
	case l.Price == nil:
		return loc.T("listings.offers")
	case *l.Price == 0:
		return loc.T("listings.free")
	}
	return loc.Price(*l.Price, l.Currency)
}

// listingBadge says how a listing ended; "" while it is active.
func listingBadge(loc *Locale, l *rivers.Listing) string {
	switch {
	case l.How == listings.Sold:
		return loc.T("listings.sold")
	case l.How == listings.Given:
		return loc.T("listings.given")
	case l.State == string(listings.Expired):
		return loc.T("listings.over")
	}
	return ""
}

// lastDay writes the last day of a listing that ends at an instant, in microseconds.
func (l *Locale) lastDay(until int64) string {
	day := time.UnixMicro(until - 1).UTC()
	return strconv.Itoa(day.Day()) + "\u00a0" + l.months[day.Month()-1]
}
