package sources

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"riverrun/timelines"
	"riverrun/timelines/sources/dictionary"
	"riverrun/timelines/sources/formats"
)

// Rules say how the items of a source become posts (F16). By the zero Rules a post has the title and
// the beginning of the text.
type Rules struct {
	// Title is the form of the first line. {title}, {author} and {source} stand for those of the item.
	// Empty: "{title}".
	Title string `json:"title,omitempty"`
	// LinkedTitle makes the title of an item a link to its address, which is written out otherwise.
	// Sources that were added before there was this rule do without it, and their posts stay as they are.
	LinkedTitle bool `json:"linked_title,omitempty"`
	// Text says how much of the text is shown below: TextBeginning if empty.
	Text string `json:"text,omitempty"`
	// AllTags makes a tag of each category. Tags gives tags to some categories, also if AllTags is
	// set; an empty tag stands for no tag.
	AllTags bool      `json:"all_tags,omitempty"`
	Tags    []TagRule `json:"tags,omitempty"`
	// Groups sends items of some categories to groups instead of the person's feed. The first rule
	// that fits an item counts. A source of a group has no such rules.
	Groups []GroupRule `json:"groups,omitempty"`
	// Only lets in items that have one of these words or phrases in their title, text or categories.
	// Without keeps out items that have one. Neither regards upper and lower case.
	Only    []string `json:"only,omitempty"`
	Without []string `json:"without,omitempty"`
}

// TagRule gives a tag to a category.
type TagRule struct {
	Category string `json:"category"`
	Tag      string `json:"tag"`
}

// GroupRule sends the items of a category to a group, by its name.
type GroupRule struct {
	Category string `json:"category"`
	Group    string `json:"group"`
}

// How much of an item's text is shown.
const (
	TextNone      = "none"
	TextBeginning = "beginning"
	TextWhole     = "whole"
)

// Bounds of rules.
const (
	maxRules       = 100
	maxRuleRunes   = 100
	beginningRunes = 400
	maxTags        = 20 // of one post
	maxGroups      = 10 // different ones
)

// check returns an InvalidError "rules_invalid" whose Value names the field.
func (r Rules) check() error {
	invalid := func(field string) error {
		return &timelines.InvalidError{Field: "rules", Code: "rules_invalid", Value: field}
	}
	long := func(s string) bool { return s == "" || len([]rune(s)) > maxRuleRunes || strings.ContainsRune(s, 0) }
	switch {
	case len([]rune(r.Title)) > maxRuleRunes || r.Title != "" && !strings.Contains(r.Title, "{title}"):
		return invalid("title")
	case !slices.Contains([]string{"", TextNone, TextBeginning, TextWhole}, r.Text):
		return invalid("text")
	case len(r.Tags) > maxRules || slices.ContainsFunc(r.Tags, func(t TagRule) bool { return long(t.Category) || t.Tag != "" && dictionary.Tag(t.Tag) == "" }):
		return invalid("tags")
	case len(r.Groups) > maxRules || len(r.groups()) > maxGroups || slices.ContainsFunc(r.Groups, func(g GroupRule) bool { return long(g.Category) || g.Group == "" }):
		return invalid("groups")
	case len(r.Only) > maxRules || slices.ContainsFunc(r.Only, long):
		return invalid("only")
	case len(r.Without) > maxRules || slices.ContainsFunc(r.Without, long):
		return invalid("without")
	}
	return nil
}

// groups returns the names of the groups that items may go to.
func (r Rules) groups() []string {
	var names []string
	for _, g := range r.Groups {
		if !slices.Contains(names, g.Group) {
			names = append(names, g.Group)
		}
	}
	return names
}

// checkGroupsTx returns an InvalidError "rules_invalid" if the owner is a group and the rules lead to
// groups. It returns "to_unknown" for the first group that does not exist.
func (r Rules) checkGroupsTx(ctx context.Context, tx pgx.Tx, owner int64) error {
	names := r.groups()
	if len(names) == 0 {
		return nil
	}
	const query = `
		SELECT (SELECT kind = 'group' FROM accounts WHERE id = @owner),
			ARRAY(SELECT n FROM unnest(@names::text[]) WITH ORDINALITY AS n (n, no)
				WHERE NOT EXISTS (SELECT FROM accounts WHERE name = n AND kind = 'group') ORDER BY no)`
	var group bool
	var unknown []string
	if err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"owner": owner, "names": names}).Scan(&group, &unknown); err != nil {
		return fmt.Errorf("find the groups of rules: %w", err)
	}
	switch {
	case group:
		return &timelines.InvalidError{Field: "rules", Code: "rules_invalid", Value: "groups"}
	case len(unknown) > 0:
		return &timelines.InvalidError{Field: "rules", Code: "to_unknown", Value: unknown[0]}
	}
	return nil
}

// writer writes posts by the rules of one load. It is not safe for concurrent use.
type writer struct {
	rules         Rules
	source        string
	fold          cases.Caser
	tags          map[string]string // by category, folded
	groups        map[string]string // by category, folded
	only, without []string
	dictionary    *dictionary.Matcher
	mark          [32]byte
}

func newWriter(r Rules, source string, words *dictionary.Matcher) (*writer, error) {
	w := &writer{rules: r, source: source, dictionary: words, fold: cases.Fold(), tags: map[string]string{}, groups: map[string]string{}}
	for _, t := range r.Tags {
		w.tags[w.folded(t.Category)] = dictionary.Tag(t.Tag)
	}
	for _, g := range r.Groups {
		if c := w.folded(g.Category); w.groups[c] == "" {
			w.groups[c] = g.Group
		}
	}
	for _, s := range r.Only {
		w.only = append(w.only, w.folded(s))
	}
	for _, s := range r.Without {
		w.without = append(w.without, w.folded(s))
	}
	// A load may have settings that were stored before there was a canonical form.
	text, err := json.Marshal(r.canonical())
	if err != nil {
		return nil, err
	}
	// A source with a new name need not be applied again unless its posts show the name.
	if strings.Contains(r.Title, "{source}") {
		text = append(text, source...)
	}
	if words.Mark != [32]byte{} {
		text = append(text, words.Mark[:]...)
	}
	w.mark = sha256.Sum256(text)
	return w, nil
}

func (w *writer) folded(s string) string {
	return oneLine(w.fold.String(s))
}

// hash returns the hash of the post that an item becomes by these rules. With other rules the hash
// differs, so the item is applied again.
func (w *writer) hash(item [16]byte) [16]byte {
	sum := sha256.Sum256(append(item[:], w.mark[:]...))
	return [16]byte(sum[:16])
}

// wants reports whether the filters let an item in.
func (w *writer) wants(it *formats.Item) bool {
	if len(w.only)+len(w.without) == 0 {
		return true
	}
	all := " " + w.folded(it.Title+" "+it.Text+" "+strings.Join(it.Categories, " ")) + " "
	has := func(s string) bool { return hasWords(all, s) }
	return !slices.ContainsFunc(w.without, has) && (len(w.only) == 0 || slices.ContainsFunc(w.only, has))
}

// hasWords looks for whole words: "art" is not in "party".
func hasWords(text, words string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], words)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(words):])
		if !isWord(before) && !isWord(after) {
			return true
		}
		from = at + len(words)
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func (w *writer) text(it *formats.Item) string {
	switch w.rules.Text {
	case TextNone:
		if it.Title != "" {
			return ""
		}
	case TextWhole:
		return it.Text
	}
	text := []rune(it.Text)
	if len(text) <= beginningRunes {
		return it.Text
	}
	// It ends between two words, if there is a good place.
	begins := string(text[:beginningRunes])
	if at := strings.LastIndexFunc(begins, unicode.IsSpace); at > len(begins)/2 {
		begins = begins[:at]
	}
	return strings.TrimSpace(begins) + " …"
}

// tagsOf returns tags, with their #, for an item's categories, and for the words in it that stand in
// the owner's dictionary.
func (w *writer) tagsOf(it *formats.Item) []string {
	var tags []string
	add := func(tag string) {
		if tag = "#" + tag; tag != "#" && !slices.Contains(tags, tag) && len(tags) < maxTags {
			tags = append(tags, tag)
		}
	}
	for _, c := range it.Categories {
		tag, ruled := w.tags[w.folded(c)]
		if !ruled && w.rules.AllTags {
			tag = dictionary.Tag(c)
		}
		add(tag)
	}
	for _, tag := range w.dictionary.Tags(append([]string{it.Title, it.Text}, it.Categories...)...) {
		add(tag)
	}
	return tags
}

// groupOf returns the group that an item goes to, or "".
func (w *writer) groupOf(it *formats.Item) string {
	if len(w.groups) == 0 {
		return ""
	}
	for _, c := range it.Categories {
		if group := w.groups[w.folded(c)]; group != "" {
			return group
		}
	}
	return ""
}

// languageOf returns the language that the source names, as a code by which posts are stored.
func languageOf(it *formats.Item) string {
	tag, err := language.Parse(it.Language)
	if err != nil {
		return "" // the text shows it
	}
	base, _ := tag.Base()
	return base.String()
}

// placeOf returns the place of an item as it is shown (F18): its name, or else its coordinates.
func placeOf(it *formats.Item) string {
	switch {
	case it.Place == nil:
		return ""
	case it.Place.Name != "":
		return it.Place.Name
	case it.Place.Latitude != "":
		return it.Place.Latitude + ", " + it.Place.Longitude
	}
	return ""
}
