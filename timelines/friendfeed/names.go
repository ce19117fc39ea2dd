package friendfeed

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Name maps a name of the source onto riverrun's alphabet: [a-z0-9-], 3 to 35.
// The same name gives the same result for ever, and a name that is already
// ours stays as it is. Different names may meet in one; who stores them keeps
// them apart, and keeps reserved names out.
//
// Letters are folded to lower case and their marks dropped, "_", "." and space
// become "-", anything else goes. A result too short for a name gets "-ff"; if
// nothing is left, it is "ff-" and a piece of the name's hash.
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
