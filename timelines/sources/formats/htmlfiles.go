package formats

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"riverrun/timelines/rules"
)

// file takes the first file of an audio or video element. The others are other forms of it.
func (h *htmlReader) file(src, mediaType string) {
	address, ok := webAddress(src, h.base)
	if !ok || h.played || len(h.files) == maxFound || len(address) > rules.ItemURLLong.Most {
		return
	}
	// WordPress adds a number to the same address for each player of a page.
	if at := strings.LastIndex(address, "?_="); at > 0 && strings.Trim(address[at+3:], "0123456789") == "" {
		address = address[:at]
	}
	mediaType, _, _ = strings.Cut(oneLine(mediaType), ";")
	if mediaType, _ = cutRunes(mediaType, 100); mediaType == "" && h.playing != 0 {
		mediaType = h.playing.String()
	}
	h.files = append(h.files, File{URL: address, Type: mediaType})
	h.played = h.playing != 0
}

// stop ends an audio or video element.
func (h *htmlReader) stop() {
	if h.muted {
		h.silent = max(h.silent-1, 0)
	}
	h.playing, h.played, h.muted = 0, false, false
}

// embedded takes the address of a player, or of another file, in a page.
func (h *htmlReader) embedded(t html.Token) {
	src := ""
	switch t.DataAtom {
	case atom.Iframe, atom.Embed:
		src = attrOf(t, "src")
	case atom.Object:
		src = attrOf(t, "data")
	case atom.Param:
		if name := attrOf(t, "name"); strings.EqualFold(name, "movie") || strings.EqualFold(name, "src") {
			src = attrOf(t, "value")
		}
	}
	address, ok := webAddress(src, h.base)
	if !ok || h.held && h.mute == atom.Object || h.silent > 0 || len(h.files) == maxFound || len(address) > rules.ItemURLLong.Most ||
		isSmall(attrOf(t, "width")) || isSmall(attrOf(t, "height")) || hidden(attrOf(t, "style")) {
		return
	}
	mediaType, _ := cutRunes(oneLine(attrOf(t, "type")), 100)
	switch {
	case isPicture(address, mediaType, ""):
		h.pictures = append(h.pictures, Picture{URL: address})
		return // an object may hold a film too
	case mediaType == "" || mediaType == flash:
		mediaType = Player
	}
	h.held = true
	h.files = append(h.files, File{URL: address, Type: mediaType})
}
