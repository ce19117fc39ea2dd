package view

import (
	"errors"
	"strconv"
	"strings"

	"riverrun/rivers"
)

// A Version is all that decides how an entry looks to its viewer: its stamp, and what
// the viewer's sets made of it (see Renderer.Tag).
type Version struct {
	rivers.Stamp
	Tag uint64 // 0: not known
}

// String writes a version as data-version has it: "entry.fold.tag", or without the
// last where that is not known.
func (v Version) String() string {
	s := strconv.FormatInt(v.Entry, 10) + "." + strconv.FormatInt(v.Fold, 10)
	if v.Tag != 0 {
		s += "." + strconv.FormatUint(v.Tag, 36)
	}
	return s
}

// ParseVersion is the inverse of Version.String.
func ParseVersion(s string) (Version, bool) {
	numbers := strings.Split(s, ".")
	if len(numbers) < 2 {
		return Version{}, false
	}
	var v Version
	var errs [3]error
	v.Entry, errs[0] = strconv.ParseInt(numbers[0], 10, 64)
	v.Fold, errs[1] = strconv.ParseInt(numbers[1], 10, 64)
	if len(numbers) > 2 { // and what a newer server may have put behind it
		v.Tag, errs[2] = strconv.ParseUint(numbers[2], 36, 64)
	}
	if err := errors.Join(errs[:]...); err != nil || v.Entry < 0 || v.Fold < 0 {
		return Version{}, false
	}
	return v, true
}

// A Part is one of an entry's children that change by themselves. The comment
// box is none: it holds what somebody is writing.
type Part int

const (
	PartWhy Part = iota
	PartBody
	PartActs
	PartLikes
	PartComments
	PartCount // how many there are
)

// PartNames are the parts' keys in a frame and the last words of their ids:
// p-{code}-{name}.
var PartNames = [PartCount]string{"why", "body", "acts", "likes", "comments"}
