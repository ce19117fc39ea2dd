package timelines

import "riverrun/timelines/language"

// tongue is the language of a post: one of language.Known, or "" if that is not
// known, and whether its author said so.
type tongue struct {
	lang   string
	chosen bool
}

// tongueOf is the language the author chose for a body, or else the one it is
// surely in. It takes its time with long bodies and so comes before the
// transaction.
func tongueOf(body, chosen string) (tongue, error) {
	switch {
	case chosen == "":
		return tongue{lang: language.Detect(body)}, nil
	case language.IsKnown(chosen):
		return tongue{lang: chosen, chosen: true}, nil
	}
	return tongue{}, &InvalidError{Field: "language", Code: "language_unknown"}
}
