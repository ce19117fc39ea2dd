package view

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"riverrun/timelines"
	"riverrun/timelines/pictures"
)

// palette is how many colours initials stand on; the style sheet has a class for each.
const palette = 12

// avatarClass is the class of an account's avatar: its size in CSS pixels, its shape, and the
// colour of its initials.
func avatarClass(a timelines.Account, size int) string {
	class := "avatar a" + strconv.Itoa(size) + " c" + strconv.Itoa(colour(a.Title))
	if a.Kind == timelines.Group {
		class += " square"
	}
	return class
}

// faceURL is the address of an account's picture for that many CSS pixels.
func faceURL(a timelines.Account, size int) string {
	if size > 48 {
		return fileURL(a.Picture, pictures.AvatarLarge)
	}
	return fileURL(a.Picture, pictures.AvatarSmall)
}

// colour is the number of the colour that belongs to a title.
func colour(title string) int {
	h := uint32(306)
	for _, r := range title {
		h = h*31 + uint32(r)
	}
	return int(h % palette)
}

// initials are the first letters of the first two words of an account's title, or only of
// the first where there is no room for two. A title without letters has those of the name.
func initials(a timelines.Account, size int) string {
	most := 2
	if size <= 20 {
		most = 1
	}
	if found := firstLetters(a.Title, most); found != "" {
		return found
	}
	return firstLetters(a.Name, most)
}

func firstLetters(text string, most int) string {
	var b strings.Builder
	for _, word := range strings.Fields(text) {
		word = strings.TrimLeftFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		r, size := utf8.DecodeRuneInString(word)
		if size == 0 {
			continue
		}
		b.WriteRune(unicode.ToUpper(r))
		if most--; most == 0 {
			break
		}
	}
	return b.String()
}
