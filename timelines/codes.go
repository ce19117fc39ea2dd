package timelines

import (
	"crypto/rand"
	"strings"
)

// A post's public code is nine random Crockford base32 characters and a check
// character: it says nothing about time or order, cannot be
// counted through, and can be read out over a telephone. The check is Luhn's
// modulo 32, which finds any one mistyped character and nearly every
// transposition, so that a slip is never another post.
const (
	codeAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	codeLength   = 10
)

// newCode returns a random code. It is unique only with high probability: the insert
// relies on posts_code_key, and draws again after a conflict.
func newCode() string {
	var digits [codeLength]byte
	// This never fails: crypto/rand ends the program rather than return an error.
	_, _ = rand.Read(digits[:codeLength-1])
	for i, b := range digits[:codeLength-1] {
		digits[i] = b % 32 // 256 is a multiple of 32: no bias
	}
	digits[codeLength-1] = checkDigit(digits[:codeLength-1])
	code := make([]byte, codeLength)
	for i, d := range digits {
		code[i] = codeAlphabet[d]
	}
	return string(code)
}

// NewCode returns a random code, as posts have, for what else has one.
func NewCode() string { return newCode() }

// checkDigit is Luhn modulo 32: from the right, every other digit doubled, its
// two base-32 digits added.
func checkDigit(digits []byte) byte {
	sum, double := 0, true
	for i := len(digits) - 1; i >= 0; i-- {
		d := int(digits[i])
		if double {
			d *= 2
			d = d/32 + d%32
		}
		sum += d
		double = !double
	}
	return byte((32 - sum%32) % 32)
}

// ParseCode returns the code that a person or a link means. It understands upper case,
// hyphens, and the letters that Crockford reads as digits (O, I, L). ok is false if the
// text cannot be a post's code, its check character included.
func ParseCode(s string) (code string, ok bool) {
	if len(s) > 4*codeLength {
		return "", false
	}
	out := make([]byte, 0, codeLength)
	digits := make([]byte, 0, codeLength)
	for _, c := range []byte(strings.ToLower(s)) {
		switch c {
		case '-':
			continue
		case 'o':
			c = '0'
		case 'i', 'l':
			c = '1'
		}
		d := strings.IndexByte(codeAlphabet, c)
		if d < 0 {
			return "", false
		}
		out, digits = append(out, c), append(digits, byte(d))
	}
	if len(out) != codeLength || checkDigit(digits[:codeLength-1]) != digits[codeLength-1] {
		return "", false
	}
	return string(out), true
}
