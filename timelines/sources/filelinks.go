package sources

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"riverrun/timelines"
	"riverrun/timelines/language"
	"riverrun/timelines/marks"
	"riverrun/timelines/markup"
	"riverrun/timelines/sources/formats"
)

// fileWords are the words of links to files, in one language.
type fileWords struct {
	audio, video, player, picture, file string
	hours, minutes, seconds             string
	kB, MB, GB, point                   string
}

var wordsOf = map[string]fileWords{
	"en": {"Audio", "Video", "Player", "Picture", "File", "h", "min", "s", "kB", "MB", "GB", "."},
	"ru": {"Аудио", "Видео", "Плеер", "Картинка", "Файл", "ч", "мин", "с", "КБ", "МБ", "ГБ", ","},
}

// fileLinks returns links to the files of an item, in the item's language if fileWords has words in
// it.
func fileLinks(it *formats.Item) []string {
	w := wordsFor(it)
	var links []string
	room := mostFileLinks
	for _, f := range it.Files {
		link := linkTo(w.label(f), f.URL)
		if room -= utf8.RuneCountInString(link) + len("\n"); room < 0 {
			break
		}
		links = append(links, link)
	}
	return links
}

// mostFileLinks is the length of an item's links to files, in characters. Only addresses that are long and full
// of signs to encode reach it; the rest of the files are left out, so that the post does not get too long.
const mostFileLinks = timelines.MaxPostRunes * 3 / 4

// pictureLink returns a link to an item's first picture, for a post that would have no text. It does
// not matter whether the picture itself can be fetched.
func pictureLink(it *formats.Item) string {
	label := it.Pictures[0].Text
	if label == "" {
		label = wordsFor(it).picture
	}
	return linkTo(label, it.Pictures[0].URL)
}

func wordsFor(it *formats.Item) fileWords {
	lang := languageOf(it)
	if lang == "" {
		lang = language.Detect(it.Title + "\n" + it.Text)
	}
	if w, ok := wordsOf[lang]; ok {
		return w
	}
	return wordsOf["en"]
}

// label returns the words of a link to a file: "Audio, 42 min, 38 MB".
func (w fileWords) label(f formats.File) string {
	parts := []string{w.kind(f)}
	if s := w.length(f.Seconds); s != "" {
		parts = append(parts, s)
	}
	if s := w.size(f.Bytes); s != "" {
		parts = append(parts, s)
	}
	if f.Title != "" {
		return f.Title + " (" + strings.Join(parts, ", ") + ")"
	}
	return strings.Join(parts, ", ")
}

var (
	audioNames = []string{"mp3", "m4a", "m4b", "aac", "ogg", "oga", "opus", "flac", "wav", "wma"}
	videoNames = []string{"mp4", "m4v", "webm", "mov", "mkv", "avi", "ogv", "wmv", "m3u8", "mpg", "mpeg"}
)

// kind returns the word for a file, by its type or else by its name.
func (w fileWords) kind(f formats.File) string {
	kind, _, _ := strings.Cut(strings.ToLower(f.Type), ";")
	ending := ""
	if u, err := url.Parse(f.URL); err == nil {
		ending = strings.ToLower(strings.TrimPrefix(path.Ext(u.Path), "."))
	}
	switch {
	case kind == formats.Player:
		return w.player
	case strings.HasPrefix(kind, "audio"), kind == "application/ogg", slices.Contains(audioNames, ending):
		return w.audio
	case strings.HasPrefix(kind, "video"), strings.HasSuffix(kind, "mpegurl"), slices.Contains(videoNames, ending):
		return w.video
	case kind == "application/pdf":
		return "PDF"
	case len(ending) >= 2 && len(ending) <= 4 && strings.Trim(ending, "abcdefghijklmnopqrstuvwxyz0123456789") == "":
		return strings.ToUpper(ending)
	}
	return w.file
}

func (w fileWords) length(seconds int64) string {
	minutes := (seconds + 30) / 60
	switch {
	case seconds <= 0:
		return ""
	case seconds < 60:
		return fmt.Sprintf("%d %s", seconds, w.seconds)
	case minutes < 60:
		return fmt.Sprintf("%d %s", minutes, w.minutes)
	case minutes%60 == 0:
		return fmt.Sprintf("%d %s", minutes/60, w.hours)
	}
	return fmt.Sprintf("%d %s %d %s", minutes/60, w.hours, minutes%60, w.minutes)
}

// size returns "" for less than 1 kB: many feeds give a length of 0 or 1 to all their files.
func (w fileWords) size(bytes int64) string {
	switch {
	case bytes < 1000:
		return ""
	case bytes < 999_500:
		return fmt.Sprintf("%d %s", (bytes+500)/1000, w.kB)
	case bytes < 999_500_000:
		return fmt.Sprintf("%d %s", (bytes+500_000)/1_000_000, w.MB)
	}
	tenths := bytes / 100_000_000
	return fmt.Sprintf("%d%s%d %s", tenths/10, w.point, tenths%10, w.GB)
}

// mostLink is the greatest length of a link's address in markup, with room for its escapes.
const mostLink = 2000

// linkTo returns a link in markup. An address that cannot stand in a link follows the label.
func linkTo(label, address string) string {
	label = strings.ReplaceAll(markup.Escape(label), "]", `\]`)
	if !fitsLink(address) {
		return label + ": " + bareAddress(address)
	}
	return "[" + label + "](" + inLink(address) + ")"
}

// fitsLink reports whether an address can stand in a link.
func fitsLink(address string) bool {
	_, ok := markup.WebAddress(address)
	return ok && len(inLink(address)) <= mostLink && !strings.ContainsAny(address, " <>")
}

func inLink(address string) string {
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(address)
}

// bareAddress returns an address as it stands in a text, plain or markup: as one link, with no @name and
// no #tag. Most addresses are that as they are. In others the link would end before the address does,
// for example at a bracket that is never closed; their signs are percent-encoded.
func bareAddress(address string) string {
	if isLink(address) {
		return address
	}
	scheme, rest, _ := strings.Cut(address, "://")
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	rest = rest[len(host):]
	if strings.IndexAny(rest, "?#") == len(rest)-1 { // they begin nothing
		rest = strings.TrimRight(rest, "?#")
	}
	if rest == "" {
		host = strings.TrimRight(host, ".")
	}
	var b strings.Builder
	b.WriteString(scheme + "://" + host)
	end := len(strings.TrimRight(rest, emphasis))
	for i, c := range []byte(rest) {
		if isAlphanumeric(c) || i < end && (strings.IndexByte(linkSigns, c) >= 0 || i < len(rest)-1 && strings.IndexByte(signsBeforeEnd, c) >= 0) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// The signs that a link keeps anywhere, and those that it keeps only before its end.
const (
	linkSigns      = "/#%&+=$-_~"
	signsBeforeEnd = "?.,:;!*@"
	// At the end of an address these are signs of markup. One alone begins and ends nothing there.
	emphasis = "*_~|"
)

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isLink reports whether a text is one web address and nothing else, in markup too.
func isLink(text string) bool {
	in := marks.In(text)
	return len(in) == 1 && in[0] == marks.Mark{To: len(text), Kind: marks.Link} &&
		len(text)-len(strings.TrimRight(text, emphasis)) <= 1
}
