package formats

import (
	"strings"
	"time"
)

// parseDate reads the dates of feeds: RFC 3339, RFC 822 and 1123, and what programs write
// instead of them. A date without a zone is UTC.
//
// It reads the parts of a date wherever they stand. With time.Parse it would have to try two hundred
// layouts. 3/4/2006 is the third of April, if there is such a day and no pm.
func parseDate(s string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, true
	}
	if len(s) > 100 {
		return time.Time{}, false
	}
	p := dateParts{year: -1, month: -1, day: -1}
	for rest := s; rest != ""; {
		n, ok := p.take(rest)
		if !ok {
			return time.Time{}, false
		}
		rest = rest[n:]
	}
	return p.time()
}

// dateParts are the parts of a date. A part that did not come is -1.
type dateParts struct {
	year, month, day       int
	hour, minute, second   int
	nanosecond             int
	hasTime, pm, am, zoned bool
	slashed                bool // 3/4/2006: which is the month?
	offset                 int  // seconds
}

// take reads the next part and returns its length.
func (p *dateParts) take(s string) (n int, ok bool) {
	switch c := s[0]; {
	case c == ' ', c == ',', c == '\t', c == ':' && p.hasTime:
		return 1, true
	case '0' <= c && c <= '9':
		return p.takeNumber(s)
	case (c == '+' || c == '-') && p.hasTime:
		return p.takeOffset(s)
	case c == '(': // (Moscow Standard Time)
		if i := strings.IndexByte(s, ')'); i > 0 && p.hasTime {
			return i + 1, true
		}
		return 0, false
	case isLetter(c):
		n = 1
		for n < len(s) && (isLetter(s[n]) || s[n] == '.' && n+1 < len(s) && isLetter(s[n+1])) {
			n++
		}
		ok = p.takeWord(strings.ToLower(s[:n]))
		if n < len(s) && s[n] == '.' {
			n++
		}
		return n, ok
	case c == '-' && p.day >= 0 && p.year < 0, c == '-' && p.year >= 0 && !p.hasTime, c == '/', c == '.':
		return 1, true // 24-Nov-2026, 01/01/2026 - 10:00
	}
	return 0, false
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func digits(s string) (value, n int) {
	for n < len(s) && n < 9 && '0' <= s[n] && s[n] <= '9' {
		value = value*10 + int(s[n]-'0')
		n++
	}
	return value, n
}

func (p *dateParts) takeNumber(s string) (int, bool) {
	a, n := digits(s)
	if n == len(s) || !strings.ContainsRune(":-/.", rune(s[n])) {
		return n, p.takeLone(a, n)
	}
	sep := s[n]
	b, m := digits(s[n+1:])
	if m == 0 {
		return n, p.takeLone(a, n)
	}
	if sep == ':' {
		return p.takeTime(s, a, b, n+1+m)
	}
	end := n + 1 + m
	if end >= len(s) || s[end] != sep {
		return n, p.takeLone(a, n)
	}
	c, k := digits(s[end+1:])
	if k == 0 || p.year >= 0 || p.month >= 0 {
		return n, p.takeLone(a, n)
	}
	end += 1 + k
	switch {
	case n == 4:
		p.year, p.month, p.day = a, b, c
	case k == 4 || k == 2:
		p.day, p.month, p.year = a, b, fullYear(c, k)
		p.slashed = sep == '/'
		if sep != '.' && b > 12 {
			p.day, p.month, p.slashed = b, a, false
		}
	default:
		return 0, false
	}
	return end, true
}

// fullYear completes a year of two digits.
func fullYear(y, digits int) int {
	if digits > 2 {
		return y
	}
	if y < 69 {
		return 2000 + y
	}
	return 1900 + y
}

// takeLone takes a number that stands alone: a day or a year.
func (p *dateParts) takeLone(v, digits int) bool {
	switch {
	case digits == 4 && p.year < 0:
		p.year = v
	case digits <= 2 && p.day < 0:
		p.day = v
	case digits == 2 && p.year < 0:
		p.year = fullYear(v, 2)
	case digits == 5 && p.year < 0: // the year 10000 or later, in which no post was written
		p.year = v
	default:
		return false
	}
	return true
}

func (p *dateParts) takeTime(s string, hour, minute, n int) (int, bool) {
	if p.hasTime {
		return 0, false
	}
	p.hasTime, p.hour, p.minute = true, hour, minute
	if n < len(s) && s[n] == ':' {
		second, m := digits(s[n+1:])
		if m == 0 {
			return 0, false
		}
		p.second = second
		n += 1 + m
		if n < len(s) && (s[n] == '.' || s[n] == ',') {
			_, m := digits(s[n+1:])
			if m > 0 {
				unit := 100_000_000
				for _, c := range s[n+1 : n+1+m] {
					p.nanosecond += int(c-'0') * unit
					unit /= 10
				}
				n += 1 + m
			}
		}
	}
	return n, true
}

func (p *dateParts) takeOffset(s string) (int, bool) {
	sign := 1
	n := 0
	for n < len(s) && (s[n] == '+' || s[n] == '-') { // some write --0700
		if s[n] == '-' {
			sign = -1
		}
		n++
	}
	if n > 2 {
		return 0, false
	}
	v, m := digits(s[n:])
	hours, minutes := v, 0
	n += m
	switch m {
	case 1, 2:
		if n+2 < len(s) && s[n] == ':' {
			mm, k := digits(s[n+1:])
			if k != 2 {
				return 0, false
			}
			minutes = mm
			n += 3
			if n+2 < len(s) && s[n] == ':' { // +03:00:00
				n += 3
			}
		}
	case 3, 4:
		hours, minutes = v/100, v%100
	default:
		return 0, false
	}
	if hours > 15 || minutes > 59 {
		return 0, false
	}
	p.zoned, p.offset = true, sign*(hours*3600+minutes*60)
	return n, true
}

func (p *dateParts) takeWord(w string) bool {
	if len(w) >= 3 {
		for i, m := range months {
			if strings.HasPrefix(m, w) || w == "sept" && i == 8 {
				if p.month >= 0 {
					return false
				}
				p.month = i + 1
				return true
			}
		}
		for _, d := range weekdays {
			if strings.HasPrefix(d, w) || w == "tues" || w == "thur" || w == "thurs" {
				return true
			}
		}
	}
	switch w {
	case "am", "a.m":
		p.am = true
		return p.hasTime
	case "pm", "p.m":
		p.pm = true
		return p.hasTime
	case "t", "at":
		return !p.hasTime
	case "st", "nd", "rd", "th":
		return p.day >= 0
	}
	offset, ok := zones[w]
	if !p.hasTime {
		return false
	}
	if ok && !p.zoned {
		p.zoned, p.offset = true, offset*3600
	}
	// A zone that is not known counts as UTC, as in feed readers.
	return len(w) <= 5
}

var months = [...]string{
	"january", "february", "march", "april", "may", "june", "july", "august", "september",
	"october", "november", "december",
}

var weekdays = [...]string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// zones says how many hours each zone of RFC 822, and some more, is ahead of UTC. CST is that of
// America, and BST that of Britain.
var zones = map[string]int{
	"ut": 0, "utc": 0, "gmt": 0, "z": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2,
	"eet": 2, "eest": 3, "msk": 3, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
	"pst": -8, "pdt": -7, "jst": 9,
}

func (p *dateParts) time() (time.Time, bool) {
	if p.slashed && (p.am || p.pm) && p.day <= 12 {
		p.day, p.month = p.month, p.day // people who write pm put the month first
	}
	if p.year < 0 || p.month < 1 || p.month > 12 || p.day < 1 || p.hour > 24 || p.minute > 59 || p.second > 60 {
		return time.Time{}, false
	}
	if p.pm && p.hour < 12 {
		p.hour += 12
	} else if p.am && p.hour == 12 {
		p.hour = 0
	}
	t := time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second, p.nanosecond, time.UTC)
	if day := time.Date(p.year, time.Month(p.month), p.day, 0, 0, 0, 0, time.UTC); day.Day() != p.day {
		return time.Time{}, false // the 31st of June
	}
	return t.Add(-time.Duration(p.offset) * time.Second), true
}

// parseOwnDate reads the dates of our own formats: RFC 3339, or a day. A time without a zone is in
// UTC.
func parseOwnDate(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// parseTableDate also reads the dates that spreadsheets write.
func parseTableDate(s string) (time.Time, bool) {
	if t, ok := parseOwnDate(s); ok {
		return t, true
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
