package blobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"strings"
)

// Sum is the SHA-256 sum of a blob's content, and its name.
type Sum [sha256.Size]byte

// ErrBadSum says that a text is no sum.
var ErrBadSum = errors.New("not a blob's sum: want 64 hexadecimal digits in lower case")

// ParseSum returns the sum of a text as String writes it, or ErrBadSum. It takes no
// capitals, so that each blob has one address.
func ParseSum(text string) (Sum, error) {
	var sum Sum
	if len(text) != hex.EncodedLen(len(sum)) || strings.ToLower(text) != text {
		return Sum{}, ErrBadSum
	}
	if _, err := hex.Decode(sum[:], []byte(text)); err != nil {
		return Sum{}, ErrBadSum
	}
	return sum, nil
}

// String returns the sum as 64 hexadecimal digits in lower case.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// path returns where the blob is below a store's root: ab/cd/abcd… Both stores lay blobs
// out alike, so that any program that copies files moves them from one to the other.
func (s Sum) path() string {
	text := s.String()
	return text[:2] + "/" + text[2:4] + "/" + text
}

// sumOfPath returns the sum of the blob at a path below a store's root. ok is false if
// no blob is stored there.
func sumOfPath(p string) (sum Sum, ok bool) {
	sum, err := ParseSum(path.Base(p))
	return sum, err == nil && sum.path() == p
}
