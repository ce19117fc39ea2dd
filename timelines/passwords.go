package timelines

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"github.com/ccojocar/zxcvbn-go"
	"github.com/ccojocar/zxcvbn-go/match"
	"github.com/ccojocar/zxcvbn-go/matching"
	"golang.org/x/text/unicode/norm"
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

// guessed reports whether a password is among the first that anybody would try: a common
// one, a pattern of keys, or made of public facts about its owner. It means the lowest of
// the five scores of package zxcvbn.
func guessed(password string, about ...string) bool {
	inputs := []string{"riverrun"}
	for _, text := range about {
		text = strings.ToLower(norm.NFC.String(text))
		// A name is tried as a whole and in its parts, with and without the characters between.
		words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
		inputs = append(inputs, text, strings.Join(words, ""))
		inputs = append(inputs, words...)
	}
	runes := []rune(norm.NFC.String(password))
	var leaveOut []func(match.Matcher) bool
	if len(runes) > maxRespelled {
		leaveOut = append(leaveOut, matching.FilterL33tMatcher)
	}
	return zxcvbn.PasswordStrength(string(runes[:min(len(runes), maxGuessed)]), inputs, leaveOut...).Score == 0
}

// checkPassword returns an error if a new password is too short, too long or easily
// guessed. about has the public facts about its owner.
func checkPassword(password string, about ...string) error {
	switch n := utf8.RuneCountInString(password); {
	case n < MinPasswordRunes:
		return &InvalidError{Field: "password", Code: "password_short"}
	case n > MaxPasswordRunes:
		return &InvalidError{Field: "password", Code: "password_long"}
	case !utf8.ValidString(password):
		return &InvalidError{Field: "password", Code: "text_invalid"}
	case guessed(password, about...):
		return &InvalidError{Field: "password", Code: "password_common"}
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
