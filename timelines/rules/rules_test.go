package rules_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"riverrun/timelines/rules"
)

// breaks reports which rule an error breaks, as "field code", or "".
func breaks(err error) string {
	if err == nil {
		return ""
	}
	invalid, ok := errors.AsType[*rules.InvalidError](err)
	if !ok {
		return err.Error()
	}
	return invalid.Field + " " + invalid.Code
}

var today = time.Date(2026, 11, 24, 15, 30, 0, 0, time.UTC)

// shape is a check of a rule without a bound, with values that keep the rule, and others that break it.
type shape struct {
	check          func(string) error
	keep, breaking []string
}

func priceShape(field string) shape {
	return shape{
		func(s string) error { _, err := rules.Price(field, s); return err },
		[]string{"0", "12", "12.5", "12,50", "1 200.00", " 7 ", "007"},
		[]string{"", "-1", "1.234", "1,234,567", "12.", ".5", "1e3", "٣", "free", "+1", "NaN"},
	}
}

// shapes are those that this package checks.
var shapes = map[string]shape{
	"body text_invalid": {
		func(s string) error { _, err := rules.Body(s, rules.PostLong, false); return err },
		[]string{"a", "слово", "\r\n."},
		[]string{"a\x00", "\xff"},
	},
	"body body_empty": {
		func(s string) error { _, err := rules.Body(s, rules.CommentLong, false); return err },
		[]string{"a", "👍"},
		[]string{"", " \n\t", "\u200b", "\u3164"},
	},
	"price price_format": priceShape("price"),
	"sold price_format":  priceShape("sold"),
	"place text_invalid": {
		func(s string) error { _, err := rules.Place(s); return err },
		[]string{"", "Old harbour", "море"},
		[]string{"a\x00", "\xff"},
	},
	"until until_format": {
		func(s string) error { _, err := rules.Until(s, today); return err },
		[]string{"2026-11-25", " 2026-12-01 "},
		[]string{"", "tomorrow", "2026-02-30", "25.11.2026", "2026-11-25T00:00:00Z", "+2026-11-25"},
	},
}

// TestBoundsHold: G6. A row's check takes a value at the bound and refuses one over it, with the row's code.
func TestBoundsHold(t *testing.T) {
	t.Parallel()
	days := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	for _, r := range rules.Table {
		name := r.Field + " " + r.Code
		if r.Set != "" {
			r = r.With(7)
		}
		var at, over error
		switch r.Unit {
		case rules.Characters:
			at, over = r.Text(strings.Repeat("я", r.Most)), r.Text(strings.Repeat("я", r.Most)+"a")
		case rules.Bytes:
			at, over = r.Text(strings.Repeat("x", r.Most)), r.Text(strings.Repeat("я", r.Most/2)+"a")
		case rules.Values, rules.Megabytes:
			at, over = r.Count(r.Most), r.Count(r.Most+1)
		case rules.Words:
			for _, word := range r.Words {
				at = errors.Join(at, r.OneOf(word))
			}
			over = r.OneOf("QQQ")
		case rules.Cents:
			cents, err := rules.Price(r.Field, "999,999,999.99")
			if breaks(err) != r.Field+" price_format" {
				t.Errorf("a price with commas: %v, %v", cents, err)
			}
			cents, at = rules.Price(r.Field, "999 999 999.99")
			if cents != int64(r.Most) {
				t.Errorf("the dearest price is read as %d, want %d", cents, r.Most)
			}
			_, over = rules.Price(r.Field, "1000000000")
			if _, err := rules.Price(r.Field, strings.Repeat("9", 30)); breaks(err) != name {
				t.Errorf("a price of 30 digits: %v, want %s", err, name)
			}
		case rules.DaysLeast:
			_, at = rules.Until(days(r.Most), today)
			_, over = rules.Until(days(r.Most-1), today)
		case rules.DaysMost:
			_, at = rules.Until(days(r.Most), today)
			_, over = rules.Until(days(r.Most+1), today)
		case rules.MinutesLeast:
			least := time.Duration(r.Most) * time.Minute
			at, over = rules.Due(today.Add(least), today), rules.Due(today.Add(least-1), today)
		case rules.YearsMost:
			last := today.AddDate(r.Most, 0, 0)
			at, over = rules.Due(last, today), rules.Due(last.Add(1), today)
		case rules.Shape:
			s := shapes[name] // others are checked where their values are: web.TestRulesHold
			for _, value := range s.keep {
				if err := s.check(value); err != nil {
					t.Errorf("%s of %q: %v, want none", name, value, err)
				}
			}
			for _, value := range s.breaking {
				if err := s.check(value); breaks(err) != name {
					t.Errorf("%q: %v, want %s", value, err, name)
				}
			}
			continue
		case rules.Standing:
			continue
		default:
			t.Errorf("%s has an unknown unit %q", name, r.Unit)
			continue
		}
		if at != nil || breaks(over) != name {
			t.Errorf("%s: at the bound %v, over it %v, want none and %s", name, at, over, name)
		}
	}
}

// TestRowsAreSound: a row says what it is about, and by which ways; what happens to items is said of those
// that have any.
func TestRowsAreSound(t *testing.T) {
	t.Parallel()
	bounded := []rules.Unit{rules.Characters, rules.Bytes, rules.Megabytes, rules.Values, rules.Cents, rules.DaysLeast, rules.DaysMost, rules.MinutesLeast, rules.YearsMost}
	var seen []string
	for _, r := range rules.Table {
		name := r.Field + " " + r.Code
		if len(r.Of) == 0 || r.Ways == 0 || r.Code == "" {
			t.Errorf("%s: of %v, by %b", name, r.Of, r.Ways)
		}
		if has := r.Most > 0 || r.Set != ""; has != slices.Contains(bounded, r.Unit) {
			t.Errorf("%s: a bound of %d in %q", name, r.Most, r.Unit)
		}
		if (len(r.Words) > 0) != (r.Unit == rules.Words) {
			t.Errorf("%s: words %v, unit %q", name, r.Words, r.Unit)
		}
		if (r.Ways&rules.Items != 0) != (r.AtSource != "") {
			t.Errorf("%s: by %b, and items are %q", name, r.Ways, r.AtSource)
		}
		for _, of := range r.Of {
			if !slices.Contains(rules.Things, of) {
				t.Errorf("%s is about %q", name, of)
			}
			key := string(of) + " " + name
			if slices.Contains(seen, key) {
				t.Errorf("%s stands twice", key)
			}
			seen = append(seen, key)
		}
	}
	for _, of := range rules.Things {
		if len(rules.For(of)) == 0 {
			t.Errorf("no rule is about a %s", of)
		}
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		most int
		in   string
		want string
		code string
	}{
		{"kept", 100, "  one\n\n two ", "  one\n\n two", ""},
		{"line ends", 100, "one\r\ntwo\rthree\r\n\r\n", "one\ntwo\nthree", ""},
		{"never HTML", 100, "<b>&amp;", "<b>&amp;", ""},
		{"empty", 100, "", "", "body_empty"},
		{"blank", 100, " \r\n\t\u00a0\u2003", "", "body_empty"},
		{"as long as may be", 5, "12345\n", "12345", ""},
		{"too long", 5, "123456", "", "body_long"},
		{"measured in characters", 5, "яяя€\U0001f600", "яяя€\U0001f600", ""},
		{"too many characters", 5, "яяяяяя", "", "body_long"},
		{"NUL", 100, "a\x00b", "", "text_invalid"},
		{"not UTF-8", 100, "a\xffb", "", "text_invalid"},
	} {
		got, err := rules.Body(tc.in, rules.PostLong.With(tc.most), false)
		if code := strings.TrimPrefix(breaks(err), "body "); got != tc.want || code != tc.code {
			t.Errorf("%s: %.40q is stored as %.40q, %q; want %.40q, %q", tc.name, tc.in, got, code, tc.want, tc.code)
		}
	}
	if got, err := rules.Body(" \n", rules.PostLong, true); got != "" || err != nil {
		t.Errorf("nothing beside a file: %q, %v", got, err)
	}
	if got, err := rules.Unfinished("a\r\n ", rules.PostLong); got != "a\n " || err != nil {
		t.Errorf("a draft is stored as %q, %v", got, err)
	}
}

// FuzzBody: what is accepted can be stored, and cleaning it again changes
// nothing, so that an edit form sent back unread is no edit.
func FuzzBody(f *testing.F) {
	for _, s := range []string{"", "a", "a\r\n", "\r\r\n\n", "a\x00", "\xff", " \u2028 ", strings.Repeat("я", 60)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := rules.Body(in, rules.PostLong.With(100), false)
		if err != nil {
			return
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\r") || got == "" || utf8.RuneCountInString(got) > 100 {
			t.Errorf("Body(%q): got %q, want text that can be stored", in, got)
		}
		if again, err := rules.Body(got, rules.PostLong.With(100), false); err != nil || again != got {
			t.Errorf("Body(%q): got %q, %v; want it unchanged", got, again, err)
		}
	})
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "12": 1200, "12.5": 1250, "12,05": 1205, "1 200": 120000, "1\u00a0200,99": 120099} {
		if got, err := rules.Price("price", text); got != want || err != nil {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
}

// TestUntil: a day is that of whoever writes, also where clocks change.
func TestUntil(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("UTC+1", 3600)
	late := time.Date(2026, 11, 24, 23, 50, 0, 0, time.UTC).In(berlin) // the 25th there
	if _, err := rules.Until("2026-11-25", late); breaks(err) != "until until_past" {
		t.Errorf("today: %v", err)
	}
	first, last := rules.UntilDays(late)
	if first != "2026-11-26" || last != "2027-05-24" {
		t.Errorf("from %s to %s", first, last)
	}
	for _, day := range []string{first, last} {
		if got, err := rules.Until(day, late); err != nil || got.Format(time.DateOnly) != day || got.Location() != berlin {
			t.Errorf("%s is %v, %v", day, got, err)
		}
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	if got, err := rules.Place("  Old \n harbour "); got != "Old harbour" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := rules.Place("a\x00"); breaks(err) != "place text_invalid" {
		t.Errorf("NUL: %v", err)
	}
	if got := rules.PlaceLong.Maxlength(); got != strconv.Itoa(rules.PlaceLong.Most) {
		t.Errorf("maxlength %s", got)
	}
}
