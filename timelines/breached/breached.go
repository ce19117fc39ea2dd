// Package breached knows the most common passwords of those that were stolen and published.
//
// It has the 100,000 most common ones of 8 characters or more, and a few that are famous.
// LIST.md says where they come from. They are in the program as a sorted row of hashes of
// 5 bytes, half a megabyte that is searched where it lies: nothing is loaded, and no
// password can be read from it. One in 11 million of all other passwords has the hash of one
// in the list, and is taken for it.
package breached

import (
	"crypto/sha256"
	_ "embed"
	"sort"
	"strings"
	"unicode/utf8"
)

// shortest is the length of the shortest passwords in the list, in characters. Shorter ones
// are refused for their length.
const shortest = 8

// size is the length of one hash, in bytes.
const size = 5

//go:embed passwords.bin
var list string

// Has reports whether a password is in the list, in whatever case it is written. Passwords
// of fewer than 8 characters are not. It can be called concurrently.
func Has(password string) bool {
	if utf8.RuneCountInString(password) < shortest {
		return false
	}
	bytes := hashOf(password)
	hash := string(bytes[:])
	_, found := sort.Find(len(list)/size, func(i int) int {
		return strings.Compare(hash, list[i*size:(i+1)*size])
	})
	return found
}

func hashOf(password string) (hash [size]byte) {
	sum := sha256.Sum256([]byte(strings.ToLower(password)))
	copy(hash[:], sum[:])
	return hash
}
