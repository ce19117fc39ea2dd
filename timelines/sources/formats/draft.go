package formats

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"riverrun/timelines/rules"
)

// draft is an item that is being made. Its methods take the parts of a file, keep those that are
// right, and note problems.
type draft struct {
	Item
	reader *Reader
	at     int // the line of the field that is taken
	large  bool
	wrong  bool   // the file gave an id that cannot be one
	byLink bool   // the id is the address
	shared string // the id if other items have the address too

	thumbnails []Picture // only taken if there is no other picture
}

// problem notes a problem.
func (d *draft) problem(c Code, field, value string) {
	level := levels[c]
	if level == LevelError {
		d.Bad = true
	}
	line := d.at
	if line == 0 {
		line = d.Line
	}
	p := Problem{Code: c, Level: level, Line: line, Field: field, Value: shortened(value)}
	switch n := len(d.Problems); {
	case n < MaxProblems-1 || level == LevelError && n < MaxProblems+10:
		d.Problems = append(d.Problems, p)
	case n == MaxProblems-1 || !d.Has(ProblemMany):
		d.Problems = append(d.Problems, Problem{Code: ProblemMany, Level: LevelWarning, Line: line})
	}
}

// shortened returns a value as it is shown beside a problem.
func shortened(value string) string {
	if len(value) > 4*MaxValueRunes {
		value = value[:4*MaxValueRunes]
	}
	value, _ = cutRunes(oneLine(value), MaxValueRunes)
	return value
}

// finish completes the item.
func (d *draft) finish() {
	d.at = 0
	switch {
	case d.ID == "" && !d.wrong:
		d.problem(IDMissing, "id", "")
	case d.ID != "" && d.reader.knows(d):
		d.problem(IDRepeated, "id", d.ID)
	}
	if len(d.Pictures) == 0 {
		for _, p := range d.thumbnails {
			d.addPicture(p)
		}
	}
	if d.large {
		d.problem(ItemLarge, "", "")
	} else if !rules.Shows(d.Title) && !rules.Shows(d.Text) && d.URL == "" && len(d.Pictures) == 0 && len(d.Files) == 0 && !d.Has(ItemInvalid) && !d.Has(NumberOfFields) {
		d.problem(TitleAndTextMissing, "", "")
	}
	if d.Language == "" {
		d.Language = d.reader.feed.Language
	}
	if strings.ContainsRune(d.Text, utf8.RuneError) || strings.ContainsRune(d.Title, utf8.RuneError) {
		d.problem(TextBroken, "", "")
	}
}

func (d *draft) setID(field, s string) {
	trimmed := strings.TrimSpace(s)
	switch {
	case trimmed == "" || d.ID != "":
		return
	case strings.ContainsFunc(trimmed, unicode.IsControl) || !utf8.ValidString(trimmed):
		d.problem(IDControl, field, trimmed)
		d.wrong = true
		return
	}
	trimmed = normal(trimmed)
	if !rules.ItemIDLong.Fits(trimmed) {
		d.problem(IDLong, field, trimmed)
		d.wrong = true
		return
	}
	d.ID = trimmed
}

func (d *draft) setTitle(field, plain string) {
	title, cut := cutRunes(oneLine(plain), rules.ItemTitle.Most)
	if cut {
		d.problem(TitleLong, field, title)
	}
	d.Title = title
}

// setText takes a plain text.
func (d *draft) setText(field, plain string) {
	text, cut := cutRunes(plainText(plain), rules.ItemText.Most)
	if cut {
		d.problem(TextLong, field, "")
	}
	d.Text = text
}

// setHTML takes a text written in HTML, with its pictures.
func (d *draft) setHTML(field, source string, base *url.URL) {
	text, found := htmlText(source, base)
	text, cut := cutRunes(normal(text), rules.ItemText.Most)
	if cut || found.cut {
		d.problem(TextLong, field, "")
	}
	d.Text = text
	for _, p := range found.pictures {
		d.addPicture(p)
	}
	for _, f := range found.files {
		d.addFile(f)
	}
}

// setEither takes a text that may be plain or HTML, as in RSS.
func (d *draft) setEither(field, s string, base *url.URL) {
	if looksHTML(s) {
		d.setHTML(field, s, base)
		return
	}
	d.setText(field, unescape(s))
}

// address returns a web address in full, or notes the problem.
func (d *draft) address(invalid, long Code, field, s string, base *url.URL) (string, bool) {
	if s = strings.TrimSpace(s); s == "" {
		return "", false
	}
	if !rules.ItemURLLong.Fits(s) {
		d.problem(long, field, s)
		return "", false
	}
	a, ok := webAddress(s, base)
	switch {
	case !ok:
		d.problem(invalid, field, s)
	case !rules.ItemURLLong.Fits(a):
		d.problem(long, field, s)
		ok = false
	}
	return a, ok
}

func (d *draft) setURL(field, s string, base *url.URL) {
	if a, ok := d.address(URLInvalid, URLLong, field, s, base); ok && d.URL == "" {
		d.URL = a
	}
}

// date returns a date that may be shown, or the zero time.
func (d *draft) date(field, s string, parse func(string) (time.Time, bool)) time.Time {
	if s = strings.TrimSpace(s); s == "" {
		return time.Time{}
	}
	t, ok := parse(s)
	switch {
	case !ok:
		d.problem(DateInvalid, field, s)
	case t.Before(time.Unix(0, 0)):
		d.problem(DateOld, field, s)
	case t.After(d.reader.now.Add(24 * time.Hour)):
		d.problem(DateFuture, field, s)
	default:
		return t.UTC().Truncate(time.Microsecond)
	}
	return time.Time{}
}

func (d *draft) setAuthor(field, s string) {
	author, cut := cutRunes(oneLine(s), rules.ItemAuthor.Most)
	if cut {
		d.problem(AuthorLong, field, author)
	}
	d.Author = author
}

func (d *draft) addCategory(field, s string) {
	s = oneLine(s)
	switch {
	case s == "" || slices.Contains(d.Categories, s):
	case !rules.ItemCategoryLong.Fits(s):
		d.problem(CategoryLong, field, s)
	case len(d.Categories) == rules.ItemCategoryMany.Most:
		if !d.Has(CategoryMany) {
			d.problem(CategoryMany, field, s)
		}
	default:
		d.Categories = append(d.Categories, s)
	}
}

func (d *draft) setLanguage(field, s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if l := d.reader.language(s); l != "" {
		d.Language = l
	} else {
		d.problem(LanguageUnknown, field, s)
	}
}

// language returns a language in the form of BCP 47, "" if there is no such language.
func (r *Reader) language(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "-")
	if len(s) > 35 {
		return ""
	}
	if l, ok := r.langs[s]; ok {
		return l
	}
	l := ""
	if tag, err := language.Parse(s); err == nil && tag != language.Und {
		l = tag.String()
	}
	if len(r.langs) < 100 {
		r.langs[s] = l
	}
	return l
}

// setPlace takes the name of a place, or its coordinates, or both.
func (d *draft) setPlace(field, name, latitude, longitude string) {
	var p Place
	if d.Place != nil {
		p = *d.Place
	}
	if name = oneLine(name); !rules.ItemPlace.Fits(name) {
		d.problem(PlaceInvalid, field, name)
	} else if p.Name == "" {
		p.Name = name
	}
	latitude, longitude = strings.TrimSpace(latitude), strings.TrimSpace(longitude)
	if latitude != "" || longitude != "" {
		if isDegrees(latitude, 90) && isDegrees(longitude, 180) {
			if p.Latitude == "" {
				p.Latitude, p.Longitude = latitude, longitude
			}
		} else {
			d.problem(PlaceInvalid, field, strings.TrimSpace(latitude+" "+longitude))
		}
	}
	if p != (Place{}) {
		d.Place = &p
	}
}

// isDegrees reports whether s is a decimal number within -most..most.
func isDegrees(s string, most float64) bool {
	if s == "" || len(s) > 30 || strings.Trim(s, "+-.0123456789") != "" {
		return false
	}
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && -most <= f && f <= most
}

func (d *draft) takePicture(field, address, text string, base *url.URL) {
	if a, ok := d.address(PictureInvalid, PictureInvalid, field, address, base); ok {
		d.addPicture(Picture{URL: a, Text: text})
	}
}

func (d *draft) addPicture(p Picture) {
	p.Text, _ = cutRunes(oneLine(p.Text), rules.ItemAuthor.Most)
	for i, q := range d.Pictures {
		if q.URL == p.URL {
			if q.Text == "" {
				d.Pictures[i].Text = p.Text
			}
			return
		}
	}
	if len(d.Pictures) == rules.ItemPictureMany.Most {
		if !d.Has(PictureMany) {
			d.problem(PictureMany, "", p.URL)
		}
		return
	}
	d.Pictures = append(d.Pictures, p)
}

// enclosed is what a feed says about an enclosure.
type enclosed struct {
	address, mediaType string
	medium             string // audio, video or image, if there is no type
	length, duration   string
	title              string
}

func (d *draft) takeFile(field string, e enclosed, base *url.URL) {
	a, ok := d.address(FileInvalid, FileInvalid, field, e.address, base)
	if !ok {
		return
	}
	n, err := strconv.ParseInt(strings.TrimSpace(e.length), 10, 64)
	if err != nil || n < 0 {
		n = 0 // many feeds write anything there
	}
	f := File{URL: a, Bytes: n, Seconds: secondsOf(e.duration)}
	if f.Type, _ = cutRunes(oneLine(e.mediaType), 100); f.Type == "" && (e.medium == "audio" || e.medium == "video") {
		f.Type = e.medium
	}
	f.Title, _ = cutRunes(oneLine(e.title), rules.ItemAuthor.Most)
	d.addFile(f)
}

// addFile takes a file once, and puts together what several places say about it.
func (d *draft) addFile(f File) {
	at := slices.IndexFunc(d.Files, func(g File) bool { return g.URL == f.URL })
	switch {
	case at >= 0:
		g := &d.Files[at]
		g.Type, g.Bytes, g.Title, g.Seconds = cmp.Or(g.Type, f.Type), cmp.Or(g.Bytes, f.Bytes), cmp.Or(g.Title, f.Title), cmp.Or(g.Seconds, f.Seconds)
	case len(d.Files) == rules.ItemFileMany.Most:
		if !d.Has(FileMany) {
			d.problem(FileMany, "", f.URL)
		}
	default:
		d.Files = append(d.Files, f)
	}
}

// plays sets how long the first sound or film plays that does not say it itself.
func (d *draft) plays(seconds int64) {
	at := slices.IndexFunc(d.Files, func(f File) bool { return strings.HasPrefix(f.Type, "audio") || strings.HasPrefix(f.Type, "video") })
	if at >= 0 && d.Files[at].Seconds == 0 {
		d.Files[at].Seconds = seconds
	}
}

// secondsOf reads a length of time as feeds write it: seconds, minutes:seconds or
// hours:minutes:seconds. It returns 0 if s is no such length, or is longer than a million seconds.
func secondsOf(s string) int64 {
	parts := strings.Split(strings.TrimSpace(s), ":")
	if len(parts) > 3 {
		return 0
	}
	total := 0.0
	for _, part := range parts {
		if part == "" || len(part) > 12 || strings.Trim(part, ".0123456789") != "" {
			return 0
		}
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0
		}
		total = total*60 + n
	}
	if total > 1e6 {
		return 0
	}
	return int64(total)
}

// takeEnclosure takes a picture or another file, by its type or else by its name.
func (d *draft) takeEnclosure(field string, e enclosed, base *url.URL) {
	if isPicture(e.address, e.mediaType, e.medium) {
		d.takePicture(field, e.address, e.title, base)
		return
	}
	d.takeFile(field, e, base)
}

func isPicture(address, mediaType, medium string) bool {
	switch {
	case mediaType != "":
		return strings.HasPrefix(strings.ToLower(strings.TrimSpace(mediaType)), "image/")
	case medium != "":
		return medium == "image"
	}
	path, _, _ := strings.Cut(address, "?")
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		switch strings.ToLower(path[i+1:]) {
		case "jpg", "jpeg", "png", "gif", "webp", "avif":
			return true
		}
	}
	return false
}
