package friendfeed

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Name maps a name of the source to a username of riverrun: 3 to 35 of [a-z0-9-]. The same
// name always has the same result, and a name that is a username already stays the same.
// Different names may have the same result: the caller must keep them apart, and must not
// use reserved names.
//
// Letters become lower case and lose their accents; "_", "." and space become "-"; all other
// characters are removed. If the result is too short for a name, it gets "-ff". If nothing
// is left, it is "ff-" and a part of the name's hash.
func Name(original string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(original)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			b.WriteRune(r)
		case r == '_', r == '.', unicode.IsSpace(r):
			b.WriteByte('-')
		}
	}
	name := b.String()
	if len(name) > 35 {
		name = name[:35]
	}
	if name != original || len(name) < 3 {
		name = strings.Trim(name, "-")
	}
	switch len(name) {
	case 0:
		return "ff-" + digest(original)
	case 1, 2:
		return name + "-ff"
	}
	return name
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}
