package formats

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines/rules"
)

// xmllint returns the verdict of the schema on each file: true for a valid one.
func xmllint(t *testing.T, files map[string]string) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	schema := filepath.Join(dir, "items.xsd")
	if err := os.WriteFile(schema, XSD(), 0o600); err != nil {
		t.Fatal(err)
	}
	valid := map[string]bool{}
	args := []string{"--noout", "--nonet", "--schema", schema}
	names := map[string]string{}
	for name, text := range files {
		path := filepath.Join(dir, fmt.Sprintf("%d.xml", len(names)))
		names[path] = name
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out, err := exec.Command("xmllint", args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("xmllint, of the package libxml2-utils: %v", err)
	}
	if bytes.Contains(out, []byte("failed to compile")) {
		t.Fatalf("the schema is none:\n%s", out)
	}
	for path, name := range names {
		valid[name] = bytes.Contains(out, []byte(path+" validates"))
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
	return valid
}

// ownItems returns a file of our own XML with these items.
func ownItems(items string) string {
	return `<items xmlns="` + Namespace + `">` + items + `</items>`
}

func ownItem(fields string) string {
	return ownItems("<item><id>1</id><title>a</title>" + fields + "</item>")
}

// xmllint and the reader both judge validFiles and invalidFiles, and must agree.
var validFiles = map[string]string{
	"example":                string(Example(XML)),
	"no items":               ownItems(""),
	"least":                  ownItems("<item><id>1</id><title>a</title></item>"),
	"any order":              ownItems("<item><text>b</text><title>a</title><id>1</id></item>"),
	"prefix":                 `<r:items xmlns:r="` + Namespace + `"><r:item><r:id>1</r:id><r:title>a</r:title></r:item></r:items>`,
	"empty fields":           ownItem("<url/><date></date><language/><latitude/><longitude/><categories/><pictures><picture/></pictures>"),
	"comments":               `<?xml version="1.0"?><!-- a --><?b c?>` + ownItems("<!-- d --><item><id>1</id><!-- e --><title>a<!-- f -->b</title></item>") + "<!-- g -->",
	"cdata":                  ownItem("<html><![CDATA[<p>a & b</p>]]></html>"),
	"references":             ownItem("<text>&lt;&amp;&gt;&quot;&apos;&#65;&#x42;</text>"),
	"dates":                  ownItem("<date>2020-02-29T23:59:59.123Z</date><updated>2021-01-01</updated>"),
	"date without zone":      ownItem("<date>2020-02-29T23:59:59</date>"),
	"date with zone":         ownItem("<date>2020-02-28T23:59:59-07:00</date>"),
	"language with country":  ownItem("<language>pt-BR</language>"),
	"degrees":                ownItem("<latitude>-90</latitude><longitude>+179.99999</longitude>"),
	"space around":           ownItem("<url> https://a.example/ </url>"),
	"fifty categories":       ownItem("<categories>" + many("<category>c%d</category>", 50) + "</categories>"),
	"twenty pictures":        ownItem("<pictures>" + many("<picture>https://a.example/%d.jpg</picture>", 20) + "</pictures>"),
	"long title":             ownItems("<item><id>1</id><title>" + strings.Repeat("é", rules.ItemTitle.Most) + "</title></item>"),
	"long id":                ownItems("<item><id>" + strings.Repeat("x", rules.ItemIDLong.Most) + "</id><title>a</title></item>"),
	"document type":          `<!DOCTYPE items>` + ownItem(""),
	"utf-16":                 utf16File(ownItem("<text>тест</text>")),
	"windows-1251":           "<?xml version='1.0' encoding='windows-1251'?>" + ownItem("<text>\xf2\xe5\xf1\xf2</text>"),
	"root attributes":        `<items xmlns="` + Namespace + `" title="a" site="https://a.example/" language="en"><item><id>1</id><title>a</title></item></items>`,
	"ids that differ":        ownItems("<item><id>1</id><title>a</title></item><item><id>2</id><title>a</title></item>"),
	"line break in a title":  ownItems("<item><id>1</id><title>a\n b</title></item>"),
	"quotes of both kinds":   `<items xmlns='` + Namespace + `' title='a"b'><item><id>1</id><title>a</title></item></items>`,
	"closing tag with space": "<items xmlns=\"" + Namespace + "\"\n ><item ><id>1</id\n><title>a</title></item></items >\n",
}

var invalidFiles = map[string]string{
	"no id":                      ownItems("<item><title>a</title></item>"),
	"empty id":                   ownItems("<item><id> </id><title>a</title></item>"),
	"id too long":                ownItems("<item><id>" + strings.Repeat("x", rules.ItemIDLong.Most+1) + "</id><title>a</title></item>"),
	"id twice":                   ownItems("<item><id>1</id><title>a</title></item><item><id>1</id><title>b</title></item>"),
	"title too long":             ownItems("<item><id>1</id><title>" + strings.Repeat("x", rules.ItemTitle.Most+1) + "</title></item>"),
	"text too long":              ownItem("<text>" + strings.Repeat("x", rules.ItemText.Most+1) + "</text>"),
	"author too long":            ownItem("<author>" + strings.Repeat("x", rules.ItemAuthor.Most+1) + "</author>"),
	"place too long":             ownItem("<place>" + strings.Repeat("x", rules.ItemAuthor.Most+1) + "</place>"),
	"category too long":          ownItem("<categories><category>" + strings.Repeat("x", rules.ItemCategoryLong.Most+1) + "</category></categories>"),
	"too many categories":        ownItem("<categories>" + many("<category>c%d</category>", 51) + "</categories>"),
	"too many pictures":          ownItem("<pictures>" + many("<picture>https://a.example/%d.jpg</picture>", 21) + "</pictures>"),
	"too many files":             ownItem("<files>" + many("<file>https://a.example/%d.pdf</file>", 21) + "</files>"),
	"unknown field":              ownItem("<colour>red</colour>"),
	"unknown attribute":          ownItems(`<item kind="x"><id>1</id><title>a</title></item>`),
	"unknown attribute of root":  `<items xmlns="` + Namespace + `" kind="x"/>`,
	"attribute of a field":       ownItem(`<text kind="x">a</text>`),
	"field twice":                ownItem("<title>b</title>"),
	"field in another namespace": ownItem(`<text xmlns="urn:x">a</text>`),
	"element in a text":          ownItem("<text>a <b>c</b></text>"),
	"words between fields":       ownItem("words"),
	"words between items":        ownItems("words"),
	"something else for an item": ownItems("<thing/>"),
	"item in an item":            ownItem("<item><id>2</id><title>b</title></item>"),
	"category without its list":  ownItem("<category>a</category>"),
	"other in a list":            ownItem("<categories><name>a</name></categories>"),
	"words in a list":            ownItem("<categories>a, b</categories>"),
	"relative address":           ownItem("<url>/a</url>"),
	"javascript":                 ownItem("<url>javascript:alert(1)</url>"),
	"data":                       ownItem("<pictures><picture>data:image/png;base64,AA</picture></pictures>"),
	"ftp":                        ownItem("<files><file>ftp://a.example/b</file></files>"),
	"address too long":           ownItem("<url>https://a.example/" + strings.Repeat("x", rules.ItemURLLong.Most) + "</url>"),
	"date of another kind":       ownItem("<date>Tue, 24 Nov 2020 10:00:00 GMT</date>"),
	"no such day":                ownItem("<date>2021-02-29</date>"),
	"language of one letter":     ownItem("<language>e</language>"),
	"language in words":          ownItem("<language>in English</language>"),
	"latitude too large":         ownItem("<latitude>90.1</latitude><longitude>0</longitude>"),
	"longitude too large":        ownItem("<latitude>0</latitude><longitude>-180.5</longitude>"),
	"degrees and minutes":        ownItem("<latitude>59°30'</latitude><longitude>30</longitude>"),
	"no namespace":               "<items><item><id>1</id><title>a</title></item></items>",
	"another namespace":          `<items xmlns="urn:riverrun:items:2"><item><id>1</id><title>a</title></item></items>`,
	"another root":               `<item xmlns="` + Namespace + `"><id>1</id><title>a</title></item>`,
	"two roots":                  ownItem("") + ownItem(""),
	"words behind the root":      ownItem("") + "words",
	"cut off":                    strings.TrimSuffix(ownItem(""), "</items>"),
	"cut off in a tag":           strings.TrimSuffix(ownItem(""), "tems>"),
	"wrong end tag":              ownItem("<text>a</title>"),
	"end tags crossed":           ownItem("<text>a</item></text>"),
	"unknown entity":             ownItem("<text>&nbsp;</text>"),
	"bare ampersand":             ownItem("<text>a & b</text>"),
	"bare less-than":             ownItem("<text>a < b</text>"),
	"undeclared prefix":          ownItem("<x:text>a</x:text>"),
	"attribute twice":            `<items xmlns="` + Namespace + `" title="a" title="b"/>`,
	"attribute without quotes":   `<items xmlns="` + Namespace + `" title=a/>`,
	"attribute without value":    `<items xmlns="` + Namespace + `" title/>`,
	"less-than in an attribute":  `<items xmlns="` + Namespace + `" title="a<b"/>`,
	"control character":          ownItem("<text>a\x01b</text>"),
	"reference to a control":     ownItem("<text>&#1;</text>"),
	"reference too large":        ownItem("<text>&#x110000;</text>"),
	"reference to a surrogate":   ownItem("<text>&#xd800;</text>"),
	"end of CDATA":               ownItem("<text>a]]>b</text>"),
	"CDATA without end":          ownItems("<item><id>1</id><title><![CDATA[a</title></item>"),
	"dashes in a comment":        ownItem("<!-- a -- b -->"),
	"no UTF-8":                   ownItem("<text>\xff</text>"),
	"empty":                      "",
	"words":                      "words",
}

func many(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func utf16File(s string) string {
	var b strings.Builder
	b.WriteString("\xff\xfe")
	for _, r := range s {
		b.WriteByte(byte(r))
		b.WriteByte(byte(r >> 8))
	}
	return b.String()
}

// F6: the schema is made from the table of fields. It and the reader agree on which files are right.
func TestSchemaAndReaderAgree(t *testing.T) {
	for want, files := range map[bool]map[string]string{true: validFiles, false: invalidFiles} {
		schema := xmllint(t, files)
		for name, text := range files {
			if schema[name] != want {
				t.Errorf("%s: xmllint says valid=%v, want %v", name, schema[name], want)
			}
			items, err := readAll(text, Options{Format: XML})
			right := err == nil && !slices.ContainsFunc(items, func(i *Item) bool { return len(i.Problems) > 0 })
			if right != want {
				t.Errorf("%s: the reader says valid=%v, want %v: %v %v", name, right, want, err, problemsOf(items))
			}
		}
	}
}

// The reader finds the mistakes that the schema cannot express.
func TestBeyondTheSchema(t *testing.T) {
	files := map[string]string{
		"nothing to show":  ownItems("<item><id>1</id></item>"),
		"date ahead":       ownItem("<date>2999-01-01</date>"),
		"date long ago":    ownItem("<date>1805-01-01</date>"),
		"one coordinate":   ownItem("<latitude>1</latitude>"),
		"id in many bytes": ownItems("<item><id>" + strings.Repeat("é", rules.ItemIDLong.Most) + "</id><title>a</title></item>"),
		"unknown language": ownItem("<language>qq-Zzzz</language>"),
	}
	want := map[string]string{
		"nothing to show":  "title_and_text_missing",
		"date ahead":       "date_future",
		"date long ago":    "date_old",
		"one coordinate":   "place_invalid",
		"id in many bytes": "id_long",
		"unknown language": "language_unknown",
	}
	got := map[string]string{}
	for name, valid := range xmllint(t, files) {
		if !valid {
			t.Errorf("%s: the schema refuses it", name)
		}
		items, err := readAll(files[name], Options{Format: XML})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got[name] = problemsOf(items)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The three examples have the same two items.
func TestExamples(t *testing.T) {
	var want []*Item
	for _, f := range []Format{XML, CSV, NDJSON} {
		items, err := readAll(string(Example(f)), Options{})
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, i := range items {
			if len(i.Problems) > 0 {
				t.Errorf("%s: %v", f, i.Problems)
			}
			i.Line = 0
		}
		if len(items) != 2 {
			t.Fatalf("%s: %d items, want 2", f, len(items))
		}
		items[1].Language = "en" // only XML names a language for the feed
		if want == nil {
			want = items
		} else if diff := cmp.Diff(want, items); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
	}
	if i := want[0]; i.Title == "" || i.Text == "" || i.At.IsZero() || i.Updated.IsZero() || i.Author == "" || i.Place == nil ||
		i.Place.Latitude == "" || len(i.Pictures) != 2 || len(i.Files) != 1 || len(i.Categories) != 2 || i.URL == "" {
		t.Errorf("the example leaves something out: %+v", i)
	}
}
