package view

import (
	"bytes"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/a-h/templ/parser/v2"
)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

func TestCataloguesSayTheSame(t *testing.T) {
	first := Locales[0]
	for _, l := range Locales[1:] {
		for key, text := range first.Texts {
			other, ok := l.Texts[key]
			if !ok {
				t.Errorf("%s: no %q", l.Lang, key)
				continue
			}
			if got, want := placeholders(other), placeholders(text); !slices.Equal(got, want) {
				t.Errorf("%s: %q has %v, want %v", l.Lang, key, got, want)
			}
		}
		for key := range l.Texts {
			if _, ok := first.Texts[key]; !ok {
				t.Errorf("%s: no %q", first.Lang, key)
			}
		}
		for key := range first.counted {
			if _, ok := l.counted[key]; !ok {
				t.Errorf("%s: no counted %q", l.Lang, key)
			}
		}
		for key := range l.counted {
			if _, ok := first.counted[key]; !ok {
				t.Errorf("%s: no counted %q", first.Lang, key)
			}
		}
	}
	for _, l := range Locales {
		for key, text := range l.Texts {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: %q is empty", l.Lang, key)
			}
		}
		for key, f := range l.counted {
			for n := range 200 {
				if !strings.Contains(f.of(l.plural(n)), "{n}") {
					t.Errorf("%s: %q for %d is %q, without {n}", l.Lang, key, n, f.of(l.plural(n)))
					break
				}
			}
		}
	}
}

func placeholders(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return found
}

func TestCatalogueIsUsed(t *testing.T) {
	var sources bytes.Buffer
	for _, pattern := range []string{"*.go", "*.templ", "../*.go", "../adminpages/*.go", "../adminpages/*.templ"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasPrefix(f, "texts") || strings.HasSuffix(f, "_test.go") || strings.HasSuffix(f, "_templ.go") {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(b)
		}
	}
	l := Locales[0]
	for _, m := range regexp.MustCompile(`\b([TN])\("([a-z.]+)"`).FindAllStringSubmatch(sources.String(), -1) {
		_, isText := l.Texts[m[2]]
		_, isCounted := l.counted[m[2]]
		if strings.HasSuffix(m[2], ".") {
			continue // put together with a variable
		}
		if m[1] == "T" && !isText || m[1] == "N" && !isCounted {
			t.Errorf("%s(%q) is in no catalogue", m[1], m[2])
		}
	}
	for key := range l.Texts {
		if strings.HasPrefix(key, "invalid.") {
			continue // put together from a code of the store
		}
		putTogether := key[:strings.LastIndex(key, ".")+1] // with the value of a variable
		if !strings.Contains(sources.String(), `"`+key+`"`) && !strings.Contains(sources.String(), `"`+putTogether+`"`) {
			t.Errorf("%q is used nowhere", key)
		}
	}
}

// TestInvalidCodesAreListed: what the store may find wrong has words.
func TestInvalidCodesAreListed(t *testing.T) {
	files, err := filepath.Glob("../../timelines/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("the store's sources: %v, %v", files, err)
	}
	web, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	words, err := filepath.Glob("../../timelines/sources/dictionary/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []string{"../../timelines/rules/*.go", "../../timelines/admin/*.go", "../../timelines/reports/*.go", "../../timelines/moderation/*.go", "../../timelines/site/*.go", "../../timelines/doors/*.go", "../../timelines/tokens/*.go", "../../timelines/hooks/*.go", "../../timelines/stages/*.go", "../../timelines/exports/*.go", "../../timelines/leaving/*.go", "../adminpages/*.go", "../../timelines/listings/*.go"} {
		more, err := filepath.Glob(room)
		if err != nil || len(more) == 0 {
			t.Fatalf("the sources of %s: %v, %v", room, more, err)
		}
		files = append(files, more...)
	}
	files = append(append(files, web...), words...)
	code := regexp.MustCompile(`Code: +"([a-z_]+)"`)
	found := 0
	var sources []byte
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, b...)
		for _, m := range code.FindAllStringSubmatch(string(b), -1) {
			found++
			if _, ok := Locales[0].Texts["invalid."+m[1]]; !ok {
				t.Errorf("%s: no words for code %q", f, m[1])
			}
		}
	}
	// Codes of sources are those of forms, and of programs that push, which read no words.
	more, err := filepath.Glob("../../timelines/sources/*.go")
	if err != nil || len(more) == 0 {
		t.Fatalf("the sources of sources: %v, %v", more, err)
	}
	for _, f := range append(more, "../../timelines/bulk/bulk.go") {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, b...)
	}
	for key := range Locales[0].Texts {
		code, ok := strings.CutPrefix(key, "invalid.")
		if ok && code != "other" && !bytes.Contains(sources, []byte(`"`+code+`"`)) && !bytes.Contains(sources, []byte(`"`+key+`"`)) {
			t.Errorf("no code for the words of %s", key)
		}
	}
	if found < 10 {
		t.Errorf("found %d codes in the store's sources; does the test still know how they are written?", found)
	}
}

// TestNoUnlistedText: whatever a component says to people comes from a
// catalogue.
func TestNoUnlistedText(t *testing.T) {
	files, err := filepath.Glob("*.templ")
	if err != nil || len(files) == 0 {
		t.Fatalf("components: %v, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range unlisted(t, f, string(b)) {
			t.Errorf("%s: %q stands in the component; put it into the catalogues", f, text)
		}
	}
	// And the test can find some.
	const wrong = `package view

templ x(on bool, name string) {
	if on {
		<p title="A tip">Hello <b>you</b></p>
	}
	<input
		name="x"
		if on {
			placeholder="Type here"
		}
		aria-label={ "Name of " + name }
		value={ "a value" }
	/>
	{ "— " + name + "says" }
	{ loc.T("entry.by", "who", "@" + name) }
}
`
	want := []string{"A tip", "Hello", "you", "Type here", "Name of", "says"}
	if got := unlisted(t, "wrong.templ", wrong); !slices.Equal(got, want) {
		t.Errorf("unlisted text in a wrong component: got %q, want %q", got, want)
	}
}

// spoken are the attributes that people read or hear.
var spoken = []string{"title", "alt", "placeholder", "aria-label", "aria-description", "content", "label"}

func unlisted(t *testing.T, name, source string) []string {
	t.Helper()
	file, err := parser.ParseString(source)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var found []string
	note := func(text string) {
		text = strings.TrimSpace(text)
		if text != "riverrun" && text != "· riverrun" && strings.ContainsFunc(text, unicode.IsLetter) {
			found = append(found, text)
		}
	}
	// written notes the strings of a Go expression; what a call is given, as the
	// keys of the catalogues are, is the business of what it calls.
	written := func(e parser.Expression) {
		expression, err := goparser.ParseExpr(e.Value)
		if err != nil {
			t.Fatalf("%s: %q: %v", name, e.Value, err)
		}
		ast.Inspect(expression, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatalf("%s: %s: %v", name, literal.Value, err)
				}
				note(text)
			}
			_, call := n.(*ast.CallExpr)
			return !call
		})
	}
	isSpoken := func(k parser.AttributeKey) bool {
		key, ok := k.(parser.ConstantAttributeKey)
		return ok && slices.Contains(spoken, key.Name)
	}
	var walk func(nodes []parser.Node)
	var attributes func([]parser.Attribute)
	attributes = func(list []parser.Attribute) {
		for _, a := range list {
			switch a := a.(type) {
			case *parser.ConstantAttribute:
				if isSpoken(a.Key) {
					note(a.Value)
				}
			case *parser.ExpressionAttribute:
				if isSpoken(a.Key) {
					written(a.Expression)
				}
			case *parser.ConditionalAttribute:
				attributes(a.Then)
				attributes(a.Else)
			}
		}
	}
	walk = func(nodes []parser.Node) {
		for _, n := range nodes {
			switch n := n.(type) {
			case *parser.Text:
				note(n.Value)
			case *parser.StringExpression:
				written(n.Expression)
			case *parser.Element:
				if n.Name != "meta" {
					attributes(n.Attributes)
				}
				walk(n.Children)
			case *parser.IfExpression:
				walk(n.Then)
				for _, elseIf := range n.ElseIfs {
					walk(elseIf.Then)
				}
				walk(n.Else)
			case *parser.ForExpression:
				walk(n.Children)
			case *parser.SwitchExpression:
				for _, c := range n.Cases {
					walk(c.Children)
				}
			case *parser.TemplElementExpression:
				walk(n.Children)
			}
		}
	}
	for _, n := range file.Nodes {
		if c, ok := n.(*parser.HTMLTemplate); ok {
			walk(c.Children)
		}
	}
	return found
}

func TestPlurals(t *testing.T) {
	for _, tt := range []struct {
		lang string
		n    int
		want string
	}{
		{"en", 0, "0 new posts"},
		{"en", 1, "1 new post"},
		{"en", 21, "21 new posts"},
		{"en", 12345, "12,345 new posts"},
		{"ru", 0, "0 новых записей"},
		{"ru", 1, "1 новая запись"},
		{"ru", 2, "2 новые записи"},
		{"ru", 5, "5 новых записей"},
		{"ru", 11, "11 новых записей"},
		{"ru", 14, "14 новых записей"},
		{"ru", 21, "21 новая запись"},
		{"ru", 112, "112 новых записей"},
		{"ru", 12345, "12\u00a0345 новых записей"},
		{"nl", 2, "2 new posts"},
	} {
		if got := LocaleOf(tt.lang).N("news", tt.n); got != tt.want {
			t.Errorf("%s: N(news, %d) = %q, want %q", tt.lang, tt.n, got, tt.want)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 3, 12, 15, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		before time.Duration
		en, ru string
	}{
		{-time.Hour, "now", "сейчас"}, // clocks differ
		{0, "now", "сейчас"},
		{59 * time.Second, "now", "сейчас"},
		{time.Minute, "1\u00a0min", "1\u00a0мин"},
		{59*time.Minute + 59*time.Second, "59\u00a0min", "59\u00a0мин"},
		{time.Hour, "1\u00a0h", "1\u00a0ч"},
		{23 * time.Hour, "23\u00a0h", "23\u00a0ч"},
		{24 * time.Hour, "11\u00a0Mar", "11\u00a0мар"},
		{80 * 24 * time.Hour, "22\u00a0Dec 2025", "22\u00a0дек 2025"},
	} {
		at := now.Add(-tt.before)
		if got := LocaleOf("en").ago(at, now); got != tt.en {
			t.Errorf("en: %v ago = %q, want %q", tt.before, got, tt.en)
		}
		if got := LocaleOf("ru").ago(at, now); got != tt.ru {
			t.Errorf("ru: %v ago = %q, want %q", tt.before, got, tt.ru)
		}
	}
}

func TestLocaleFor(t *testing.T) {
	for _, tt := range []struct{ setting, accept, site, want string }{
		{"", "", "", "en"},
		{"", "ru-RU,ru;q=0.9,en;q=0.8", "", "ru"},
		{"", "de-DE, en;q=0.5", "ru", "en"},
		{"", "nonsense;;q=", "", "en"},
		{"", "nonsense;;q=", "ru", "ru"},
		{"", "", "ru", "ru"},
		{"", "de-DE,*;q=0.5", "ru", "ru"},
		{"", "en-GB", "ru", "en"},
		{"en", "ru", "ru", "en"},
		{"ru", "en", "en", "ru"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Language", tt.accept)
		if got := LocaleFor(r, tt.setting, tt.site).Lang; got != tt.want {
			t.Errorf("setting %q, Accept-Language %q, site %q: %q, want %q", tt.setting, tt.accept, tt.site, got, tt.want)
		}
	}
}

// The empty page of messages names the field that stands above it.
func TestDirectsNameTheirField(t *testing.T) {
	for _, l := range Locales {
		if text, field := l.T("empty.messages"), l.T("compose.to.people"); !strings.Contains(text, field) {
			t.Errorf("%s: %q does not name %q", l.Lang, text, field)
		}
	}
}
