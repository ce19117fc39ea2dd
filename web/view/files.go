package view

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines/files"
	"riverrun/timelines/pictures"
)

// The longest sides of the sizes of a picture, in pixels (package pictures).
const (
	thumbSide  = 400
	mediumSide = 1024
)

// isPicture reports whether an attachment is shown as a picture, or will be.
func isPicture(a rivers.Attachment) bool {
	return a.State == string(files.Picture) || a.State == string(files.Waiting)
}

// picturesOf are the pictures among attachments, and othersOf the rest.
func picturesOf(list []rivers.Attachment) []rivers.Attachment {
	return slices.DeleteFunc(slices.Clone(list), func(a rivers.Attachment) bool { return !isPicture(a) })
}

func othersOf(list []rivers.Attachment) []rivers.Attachment {
	return slices.DeleteFunc(slices.Clone(list), isPicture)
}

// fileURL is the address of a file, or of one size of a picture.
func fileURL(code string, size pictures.Size) string {
	if size == "" {
		return "/files/" + code
	}
	return "/files/" + code + "/" + string(size)
}

// nearest is the address of the smallest size of a picture whose longest side is at least that of
// side pixels.
func nearest(code string, width, height, side int) string {
	longest := max(width, height)
	switch {
	case side <= thumbSide && longest > thumbSide:
		return fileURL(code, pictures.Thumb)
	case side <= mediumSide && longest > mediumSide:
		return fileURL(code, pictures.Medium)
	}
	return fileURL(code, pictures.Full)
}

// TileSize is the size of a picture that suits a tile of a form.
func TileSize(f files.File) pictures.Size {
	if max(f.Width, f.Height) > thumbSide {
		return pictures.Thumb
	}
	return pictures.Full
}

// pictureSources is the srcset of a picture: the sizes there are, with their widths.
func pictureSources(a rivers.Attachment) string {
	longest := max(a.Width, a.Height)
	var sources []string
	add := func(size pictures.Size, side int) {
		sources = append(sources, fileURL(a.Code, size)+" "+strconv.Itoa(max(a.Width*side/max(longest, 1), 1))+"w")
	}
	if longest > thumbSide {
		add(pictures.Thumb, thumbSide)
	}
	if longest > mediumSide {
		add(pictures.Medium, mediumSide)
	} else {
		add(pictures.Full, longest)
	}
	return strings.Join(sources, ", ")
}

// pictureWidth is the attribute sizes of a picture that stands alone, or beside others.
func pictureWidth(alone bool) string {
	if alone {
		return "(max-width: 640px) 100vw, 560px"
	}
	return "(max-width: 640px) 50vw, 280px"
}

// blurred is a picture of some bytes that stands where a picture is loading, as an address
// that holds it, or "" if there is none. A transparent picture has none, as it would show through.
func blurred(a rivers.Attachment) string {
	if a.Type != "image/jpeg" {
		return ""
	}
	png, err := pictures.Placeholder(a.Blurhash, a.Width, a.Height)
	if err != nil {
		return "" // a picture without one is as good
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(png)
}

// pictureLabel says what a picture shows, or which of how many it is.
func pictureLabel(loc *Locale, a rivers.Attachment, i, n int) string {
	if a.Alt != "" {
		return a.Alt
	}
	if n == 1 {
		return loc.T("files.picture", "name", Unturned(a.Title))
	}
	return loc.T("files.picture.of", "i", i+1, "n", n, "name", Unturned(a.Title))
}

// fileSize is the size of a file as people read it: 12 kB, 3.4 MB.
func fileSize(loc *Locale, bytes int64) string {
	switch {
	case bytes < 1000:
		return loc.T("files.bytes", "n", bytes)
	case bytes < 999_500:
		return loc.T("files.kilobytes", "n", (bytes+500)/1000)
	}
	unit, of := "files.megabytes", 1e6
	if bytes >= 999_950_000 {
		unit, of = "files.gigabytes", 1e9
	}
	text := fmt.Sprintf("%.1f", float64(bytes)/of)
	if loc.Lang == "ru" {
		text = strings.ReplaceAll(text, ".", ",")
	}
	return loc.T(unit, "n", text)
}

// FileSize is how much room something takes, as people read it.
func FileSize(loc *Locale, bytes int64) string { return fileSize(loc, bytes) }

// headline is the first line of a text, or what stands in place of one: the name of the first of
// its files.
func headline(loc *Locale, plain string, list []rivers.Attachment) string {
	line, _, _ := strings.Cut(plain, "\n")
	if line != "" || len(list) == 0 {
		return line
	}
	if isPicture(list[0]) {
		return loc.T("files.picture", "name", Unturned(list[0].Title))
	}
	return Unturned(list[0].Title)
}

// uploadTexts are the texts of upload.js.
func uploadTexts(loc *Locale) map[string]string {
	return map[string]string{
		"remove": loc.T("files.remove"), "uploading": loc.T("files.uploading"), "unsent": loc.T("files.unsent"),
		"alt": loc.T("files.alt"), "altOf": loc.T("files.alt.of"),
	}
}

// cardURL is the address of the picture of a post's card.
func cardURL(e *Entry) string { return e.path() + "/preview" }
