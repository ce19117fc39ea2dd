package timelines

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"github.com/ccojocar/zxcvbn-go"
	"github.com/ccojocar/zxcvbn-go/match"
	"github.com/ccojocar/zxcvbn-go/matching"
	"golang.org/x/text/unicode/norm"

	"riverrun/timelines/breached"
)

// Longest and shortest password, in characters.
const (
	MinPasswordRunes = 8
	MaxPasswordRunes = 200
)

// recommendedCost is OWASP's first recommendation. A stored hash carries its own cost, so
// raising this one later breaks no password.
var recommendedCost = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// hashing bounds the cost of passwords: one hash keeps a processor busy and takes 19 MiB.
type hashing struct {
	// slots are half of the processors, so that pages are served on the others while a
	// crowd signs in.
	slots chan struct{}
	// inside holds all hashes that are in a slot or wait for one. A hash takes some 30 ms,
	// so the last of a full queue waits about three seconds. A longer queue would only make
	// all of them late.
	inside chan struct{}
}

// queuedPerSlot is how many passwords may wait for each slot.
const queuedPerSlot = 100

func newHashing() hashing {
	slots := max(runtime.GOMAXPROCS(0)/2, 1)
	return hashing{make(chan struct{}, slots), make(chan struct{}, slots*(1+queuedPerSlot))}
}

// inSlot calls fn, which makes one hash. It waits for a slot until ctx ends; ErrBusy if too
// many wait already.
func (h hashing) inSlot(ctx context.Context, fn func() error) error {
	select {
	case h.inside <- struct{}{}:
	default:
		return ErrBusy
	}
	defer func() { <-h.inside }()
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.slots }()
	return fn()
}

// maxGuessed is how many characters of a password are judged for how easily it is guessed,
// since that takes more than linear time. A password whose beginning is hard to guess is
// hard to guess. maxRespelled is the longest password in which digits and signs are also
// read as the letters they look like, which takes seconds for some passwords of 40
// characters.
const (
	maxGuessed   = 40
	maxRespelled = 16
)

// siteName is tried by everybody, as names of people are.
const siteName = "riverrun"

// guessed reports whether a password is among the first that anybody would try: one of the
// most common, a pattern of keys, or made of public facts about its owner. It means the
// lists of package breached and the lowest of the five scores of package zxcvbn.
func guessed(password string, about ...string) bool {
	password = norm.NFC.String(password)
	plain := strings.Map(func(r rune) rune {
		if !inWord(r) {
			return -1
		}
		return r
	}, password)
	if breached.Has(password) || breached.Has(plain) || breached.Has(latinKeys.Replace(strings.ToLower(password))) || madeOf(password, siteName) {
		return true
	}
	inputs := []string{siteName}
	for _, text := range about {
		// A name is tried as a whole, with and without the characters between its parts, and in parts.
		inputs = append(inputs, strings.ToLower(norm.NFC.String(text)))
		inputs = append(inputs, words(text)...)
	}
	runes := []rune(password)
	var leaveOut []func(match.Matcher) bool
	if len(runes) > maxRespelled {
		leaveOut = append(leaveOut, matching.FilterL33tMatcher)
	}
	return zxcvbn.PasswordStrength(string(runes[:min(len(runes), maxGuessed)]), inputs, leaveOut...).Score == 0
}

// latinKeys turns each letter of a Russian keyboard into what the same key types on a Latin
// keyboard. The list of breached passwords has what Russians typed as Latin letters:
// gfhjkm123 is пароль123.
var latinKeys = strings.NewReplacer(
	"й", "q", "ц", "w", "у", "e", "к", "r", "е", "t", "н", "y", "г", "u", "ш", "i", "щ", "o", "з", "p", "х", "[", "ъ", "]",
	"ф", "a", "ы", "s", "в", "d", "а", "f", "п", "g", "р", "h", "о", "j", "л", "k", "д", "l", "ж", ";", "э", "'",
	"я", "z", "ч", "x", "с", "c", "м", "v", "и", "b", "т", "n", "ь", "m", "б", ",", "ю", ".", "ё", "`",
)

// inWord reports whether a character is part of a word.
func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// words returns the words of a text in lower case, before them all of them joined. It takes
// only the beginning of a text that is longer than any name.
func words(text string) []string {
	runes := []rune(norm.NFC.String(text))
	text = strings.ToLower(string(runes[:min(len(runes), MaxPasswordRunes)]))
	parts := strings.FieldsFunc(text, func(r rune) bool { return !inWord(r) })
	return append([]string{strings.Join(parts, "")}, parts...)
}

// madeOf reports whether a password is made of names: of their words, as often as may be,
// forwards and backwards, with fewer than MinPasswordRunes digits and signs around them.
func madeOf(password string, names ...string) bool {
	var parts []string
	for _, name := range names {
		for _, word := range words(name) {
			if utf8.RuneCountInString(word) >= 3 { // in shorter ones are too many passwords
				backwards := []rune(word)
				slices.Reverse(backwards)
				parts = append(parts, word, string(backwards))
			}
		}
	}
	// A long word goes first, since a short one may be a part of it.
	slices.SortStableFunc(parts, func(a, b string) int { return len(b) - len(a) })
	password = strings.ToLower(norm.NFC.String(password))
	rest := password
	for _, part := range parts {
		rest = strings.ReplaceAll(rest, part, "")
	}
	letters := strings.ContainsFunc(rest, func(r rune) bool { return unicode.In(r, unicode.L, unicode.M) })
	return rest != password && !letters && utf8.RuneCountInString(rest) < MinPasswordRunes
}

// repeated returns the shortest beginning of a text that, said at least twice, makes all of
// it: "abc" for "abcabcab". It returns the whole of any other text.
func repeated(text []rune) []rune {
	// borders[i] is the length of the longest beginning of text[:i+1] that is also its end,
	// and shorter.
	borders := make([]int, len(text))
	for i, n := 1, 0; i < len(text); i++ {
		for n > 0 && text[i] != text[n] {
			n = borders[n-1]
		}
		if text[i] == text[n] {
			n++
		}
		borders[i] = n
	}
	if len(text) == 0 {
		return text
	}
	if period := len(text) - borders[len(text)-1]; 2*period <= len(text) {
		return text[:period]
	}
	return text
}

// inRows reports whether a text is made of a few rows of characters: of the same, or each
// the next or the one before in its alphabet ("aaaabbbb", "abcd4321"). Few means that a row
// has four characters on average.
func inRows(text []rune) bool {
	rows := 0
	for i := 0; i < len(text); rows++ {
		i++
		if i == len(text) {
			continue
		}
		if step := text[i] - text[i-1]; step >= -1 && step <= 1 {
			for i < len(text) && text[i]-text[i-1] == step {
				i++
			}
		}
	}
	return 4*rows <= len(text)
}

// checkPassword returns an error if a new password is too short, too long or easily
// guessed. about has the public facts about its owner: name and title.
func checkPassword(password string, about ...string) error {
	invalid := func(code string) error { return &InvalidError{Field: "password", Code: code} }
	switch n := utf8.RuneCountInString(password); {
	case n < MinPasswordRunes:
		return invalid("password_short")
	case n > MaxPasswordRunes:
		return invalid("password_long")
	case !utf8.ValidString(password):
		return invalid("text_invalid")
	case madeOf(password, about...):
		return invalid("password_name")
	}
	folded := []rune(strings.ToLower(norm.NFC.String(password)))
	// To say a thing again makes it no harder to guess.
	once := repeated(folded)
	switch {
	case len(once) < MinPasswordRunes && len(once) < len(folded), inRows(folded):
		return invalid("password_pattern")
	case guessed(password, about...), len(once) < len(folded) && guessed(string(once), about...):
		return invalid("password_common")
	}
	return nil
}

// hashPassword returns the password's argon2id hash as a PHC string. Some keyboards send an
// accented letter as one character, others as two: both mean the same password.
func (s *core) hashPassword(ctx context.Context, password string) (hash string, err error) {
	err = s.hashing.inSlot(ctx, func() error {
		hash, err = argon2id.CreateHash(norm.NFC.String(password), &s.opts.HashCost)
		return err
	})
	return hash, err
}

// verifyPassword reports whether the password made the hash. With no hash (an
// unknown name, an account that cannot sign in) it does the same work and says
// no, so that the time it takes does not tell who exists.
func (s *core) verifyPassword(ctx context.Context, password, hash string) (ok bool, err error) {
	if utf8.RuneCountInString(password) > MaxPasswordRunes {
		password, hash = "", "" // nobody's; and not a megabyte to hash
	}
	if hash == "" {
		_, err := s.hashPassword(ctx, password)
		return false, err
	}
	err = s.hashing.inSlot(ctx, func() error {
		cost, _, _, err := argon2id.DecodeHash(hash)
		if err == nil && (cost.Iterations < 1 || cost.Iterations > 100 || cost.Parallelism < 1 || cost.Memory > 1<<20 || cost.SaltLength < 8 || cost.KeyLength < 16) {
			err = errors.New("no such cost")
		}
		if err == nil {
			ok, err = argon2id.ComparePasswordAndHash(norm.NFC.String(password), hash)
		}
		if err != nil { // a fault in the database, not the visitor's
			return fmt.Errorf("stored password hash: %w", err)
		}
		return nil
	})
	return ok, err
}
