package sources

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"riverrun/timelines/marks"
	"riverrun/timelines/markup"
	"riverrun/timelines/rules"
	"riverrun/timelines/sources/formats"
)

// body returns the text of the post that an item becomes: title, text, address, files and tags, each
// on lines of its own. The title may be the link to the address (Rules.LinkedTitle); an item without a
// title has its address written out.
//
// The text of a source makes no mention and no tag: its @names are people of another site, and its
// #77 is the number of an issue there. Only rules make tags. So a text with such marks is written as
// markup, in which they are escaped. A text with links behind words, of the title or of files, is markup
// too. All other texts stay plain.
func (w *writer) body(it *formats.Item) (body string, withMarkup bool) {
	body, withMarkup, _ = w.bodyOf(it)
	return body, withMarkup
}

// bodyOf is body. cut says that there was more than a post may have (rules.PostLong).
func (w *writer) bodyOf(it *formats.Item) (body string, withMarkup, cut bool) {
	text := strings.TrimSpace(w.text(it))
	linked := w.linksTitle(it)
	withMarkup = linked || len(it.Files) > 0 || hasMarks(it.Title) || hasMarks(text) || w.rules.Title != "" && (hasMarks(it.Author) || hasMarks(w.source))
	source := func(text string) string { return text }
	title := strings.TrimSpace(w.title(it, w.rules.Title, source, source))
	var before, after []string
	if text == title || linked && text == it.URL {
		text = ""
	}
	if it.URL != "" && !linked && it.URL != title && it.URL != text && !slices.ContainsFunc(it.Files, func(f formats.File) bool { return f.URL == it.URL }) {
		after = append(after, bareAddress(it.URL))
	}
	if len(it.Files) > 0 {
		links := fileLinks(it)
		cut = len(links) < len(it.Files)
		after = append(after, strings.Join(links, "\n"))
	}
	if title+text == "" && len(after) == 0 && len(it.Pictures) > 0 {
		withMarkup, after = true, []string{pictureLink(it)}
	}
	if tags := w.tagsOf(it); len(tags) > 0 {
		after = append(after, strings.Join(tags, " "))
	}
	if withMarkup {
		source = markup.Escape
		titled := source
		if linked {
			titled = func(title string) string { return linkTo(oneLine(title), it.URL) }
		}
		title = strings.TrimSpace(w.title(it, markup.EscapeMarkup(w.rules.Title), source, titled))
	}
	if title != "" {
		before = append(before, title)
	}
	if text != "" {
		room := rules.PostLong.Most
		for _, part := range slices.Concat(before, after) {
			room -= utf8.RuneCountInString(part) + len("\n\n")
		}
		kept, shortened := written(text, source, room)
		if cut = cut || shortened; kept != "" {
			before = append(before, kept)
		}
	}
	return strings.Join(append(before, after...), "\n\n"), withMarkup, cut
}

// written returns as much of a text as there is room for, and whether that is not all.
func written(text string, source func(string) string, room int) (kept string, cut bool) {
	if room <= 0 {
		return "", true
	}
	for {
		s := source(text)
		over := utf8.RuneCountInString(s) - room
		if over <= 0 {
			return s, cut
		}
		all := []rune(text)
		text, cut = strings.TrimRightFunc(string(all[:len(all)-min(over, len(all))]), unicode.IsSpace), true
	}
}

// hasMarks reports whether a text has @names or #tags.
func hasMarks(text string) bool {
	return strings.ContainsAny(text, "@#") &&
		slices.ContainsFunc(marks.In(text), func(m marks.Mark) bool { return m.Kind != marks.Link })
}

// linksTitle reports whether the title of an item is the link to its address.
func (w *writer) linksTitle(it *formats.Item) bool {
	return w.rules.LinkedTitle && it.URL != "" && strings.TrimSpace(it.Title) != "" && it.Title != it.URL && fitsLink(it.URL) &&
		!slices.ContainsFunc(it.Files, func(f formats.File) bool { return f.URL == it.URL })
}

// title returns the first line of the post. form is a rule of the owner, source escapes a text of the
// source, and titled writes the item's title.
func (w *writer) title(it *formats.Item, form string, source, titled func(string) string) string {
	if form == "" || it.Title == "" {
		return titled(it.Title)
	}
	return strings.NewReplacer("{title}", titled(it.Title), "{author}", source(it.Author), "{source}", source(w.source)).Replace(form)
}
