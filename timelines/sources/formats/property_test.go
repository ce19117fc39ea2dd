package formats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pieces are texts that are special in one format or another. XML cannot hold a NUL, and | separates
// values in CSV.
var pieces = []string{
	"a", "word ", "\n", " ", "<b>", "</p>", "&amp;", "&", "]]>", `"`, "'", ";", ",", `\`, "\u202e", "é", "e\u0301", "😀",
	"https://a.example/x", "javascript:x", "2025-11-24", "<![CDATA[", "\t", "\ufeff", "ж", "1", "-3.5", "en", "https://b.example/ü?a=b#c",
}

func drawValue(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 5).Draw(t, "value"), "")
}

// Whatever the values of fields are, our own three formats agree on the item and on its problems. The
// same bytes give the same lines, and reading them back changes nothing.
func TestOwnFormatsAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		items := make([]map[string][]string, rapid.IntRange(0, 3).Draw(rt, "items"))
		for k := range items {
			items[k] = map[string][]string{}
			for _, f := range Fields {
				if !rapid.Bool().Draw(rt, "given") {
					continue
				}
				most := 1
				if f.Each != "" {
					most = 3
				}
				items[k][f.Name] = rapid.SliceOfN(rapid.Custom(drawValue), 1, most).Draw(rt, f.Name)
			}
		}
		var want []string
		for _, f := range []Format{NDJSON, CSV, XML} {
			text := writtenAs(f, items)
			checkLines(t, []byte(text), Options{Format: f, Now: now})
			read, err := readAll(text, Options{Format: f})
			if err != nil {
				rt.Fatalf("%s: %v in\n%s", f, err, text)
			}
			got := []string{}
			for _, i := range read {
				got = append(got, fmt.Sprintf("%s %s", i.body(), problemsOf([]*Item{i})))
			}
			if want == nil {
				want = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("%s: %s in\n%s", f, diff, text)
			}
		}
	})
}

// writtenAs writes fields in one of our own formats.
func writtenAs(f Format, items []map[string][]string) string {
	var b bytes.Buffer
	switch f {
	case NDJSON:
		for _, item := range items {
			sep := "{"
			for _, f := range Fields {
				v, ok := item[f.Name]
				if !ok {
					continue
				}
				var value any = v
				if f.Each == "" {
					value = v[0]
				}
				j, err := json.Marshal(value)
				if err != nil {
					panic(err)
				}
				fmt.Fprintf(&b, "%s%q:%s", sep, f.Name, j)
				sep = ","
			}
			if sep == "{" {
				b.WriteString(sep)
			}
			b.WriteString("}\n")
		}
	case CSV:
		w := csv.NewWriter(&b)
		rows := [][]string{nil}
		for _, f := range Fields {
			rows[0] = append(rows[0], f.Name)
		}
		for _, item := range items {
			var row []string
			for _, f := range Fields {
				row = append(row, strings.Join(item[f.Name], "|"))
			}
			rows = append(rows, row)
		}
		if err := w.WriteAll(rows); err != nil {
			panic(err)
		}
	case XML:
		b.WriteString(`<items xmlns="` + Namespace + `">`)
		for _, item := range items {
			b.WriteString("<item>")
			for _, f := range Fields {
				v, ok := item[f.Name]
				if !ok {
					continue
				}
				b.WriteString("<" + f.Name + ">")
				for _, value := range v {
					if f.Each != "" {
						value = "<" + f.Each + ">" + escaped(value) + "</" + f.Each + ">"
					} else {
						value = escaped(value)
					}
					b.WriteString(value)
				}
				b.WriteString("</" + f.Name + ">")
			}
			b.WriteString("</item>")
		}
		b.WriteString("</items>")
	}
	return b.String()
}
