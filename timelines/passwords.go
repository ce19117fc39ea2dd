package timelines

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ccojocar/zxcvbn-go"
	"github.com/ccojocar/zxcvbn-go/match"
	"github.com/ccojocar/zxcvbn-go/matching"
	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// Longest and shortest password, in characters.
const (
	MinPasswordRunes = 8
	MaxPasswordRunes = 200
)

// HashCost is the cost of one argon2id hash of a password. A stored hash carries its own
// cost, so raising this one later breaks no password.
type HashCost struct {
	MemoryKiB uint32
	Passes    uint32
	Threads   uint8
}

// recommendedCost is OWASP's first recommendation.
var recommendedCost = HashCost{MemoryKiB: 19 * 1024, Passes: 2, Threads: 1}

const (
	saltBytes = 16
	hashBytes = 32
)

// phc is how PHC strings write bytes.
var phc = base64.RawStdEncoding.Strict()

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

// derive hashes the password. It waits for a slot until ctx ends; ErrBusy if too many wait
// already.
func (s *core) derive(ctx context.Context, password string, salt []byte, c HashCost, length uint32) ([]byte, error) {
	select {
	case s.hashing.inside <- struct{}{}:
	default:
		return nil, ErrBusy
	}
	defer func() { <-s.hashing.inside }()
	select {
	case s.hashing.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.hashing.slots }()
	// Some keyboards send an accented letter as one character, others as two.
	return argon2.IDKey(norm.NFC.AppendString(nil, password), salt, c.Passes, c.MemoryKiB, c.Threads, length), nil
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

// hashPassword returns the password's argon2id hash as a PHC string.
func (s *core) hashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	sum, err := s.derive(ctx, password, salt, s.opts.HashCost, hashBytes)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version,
		s.opts.HashCost.MemoryKiB, s.opts.HashCost.Passes, s.opts.HashCost.Threads,
		phc.EncodeToString(salt), phc.EncodeToString(sum)), nil
}

// verifyPassword reports whether the password made the hash. With no hash (an
// unknown name, an account that cannot sign in) it does the same work and says
// no, so that the time it takes does not tell who exists.
func (s *core) verifyPassword(ctx context.Context, password, hash string) (bool, error) {
	if utf8.RuneCountInString(password) > MaxPasswordRunes {
		password, hash = "", "" // nobody's; and not a megabyte to hash
	}
	if hash == "" {
		_, err := s.derive(ctx, password, make([]byte, saltBytes), s.opts.HashCost, hashBytes)
		return false, err
	}
	c, salt, want, err := parseHash(hash)
	if err != nil {
		return false, err
	}
	got, err := s.derive(ctx, password, salt, c, uint32(len(want)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

// parseHash reads a PHC string. An error means a fault in the database, not the visitor's.
func parseHash(hash string) (c HashCost, salt, sum []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return c, nil, nil, fmt.Errorf("stored password hash: not argon2id")
	}
	var version int
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return c, nil, nil, fmt.Errorf("stored password hash: version %q", parts[2])
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.MemoryKiB, &c.Passes, &c.Threads); err != nil {
		return c, nil, nil, fmt.Errorf("stored password hash: cost %q: %w", parts[3], err)
	}
	if c.Passes < 1 || c.Threads < 1 || c.MemoryKiB > 1<<20 {
		return c, nil, nil, fmt.Errorf("stored password hash: cost %q", parts[3])
	}
	if salt, err = phc.DecodeString(parts[4]); err != nil {
		return c, nil, nil, fmt.Errorf("stored password hash: salt: %w", err)
	}
	if sum, err = phc.DecodeString(parts[5]); err != nil {
		return c, nil, nil, fmt.Errorf("stored password hash: sum: %w", err)
	}
	if len(salt) < 8 || len(sum) < 16 {
		return c, nil, nil, fmt.Errorf("stored password hash: too short")
	}
	return c, salt, sum, nil
}
