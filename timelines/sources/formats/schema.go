package formats

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"

	"riverrun/timelines/rules"
)

// XSD returns the schema of our own XML, made from Fields. The schema cannot say that an item needs a
// title, a text, an address, a picture or a file, that an id has at most 1024 bytes rather than
// characters, that latitude and longitude come together, nor which dates are too early or too late.
func XSD() []byte {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p(`<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="%[1]s" targetNamespace="%[1]s" elementFormDefault="qualified">
  <xs:element name="items">
    <xs:complexType>
      <xs:sequence>
        <xs:element name="item" type="item" minOccurs="0" maxOccurs="unbounded"/>
      </xs:sequence>
`, Namespace)
	for _, f := range RootAttributes {
		p("      <xs:attribute name=%q>\n%s      </xs:attribute>\n", f.Name, schemaType("        ", &f))
	}
	p(`    </xs:complexType>
    <xs:unique name="ids">
      <xs:selector xpath="i:item" xmlns:i="%[1]s"/>
      <xs:field xpath="i:id" xmlns:i="%[1]s"/>
    </xs:unique>
  </xs:element>
  <xs:complexType name="item">
    <xs:all>
`, Namespace)
	for _, f := range Fields {
		least := 0
		if f.Required {
			least = 1
		}
		p("      <xs:element name=%q minOccurs=\"%d\">\n        <xs:annotation><xs:documentation>%s</xs:documentation></xs:annotation>\n", f.Name, least, escaped(f.Doc))
		if f.Each == "" {
			b.WriteString(schemaType("        ", &f))
		} else {
			p("        <xs:complexType>\n          <xs:sequence>\n            <xs:element name=%q minOccurs=\"0\" maxOccurs=\"%d\">\n", f.Each, f.Most)
			b.WriteString(schemaType("              ", &f))
			p("            </xs:element>\n          </xs:sequence>\n        </xs:complexType>\n")
		}
		p("      </xs:element>\n")
	}
	p("    </xs:all>\n  </xs:complexType>\n</xs:schema>\n")
	return []byte(b.String())
}

// schemaType returns the type of a field. A field that is not required may be empty.
func schemaType(indent string, f *Field) string {
	base, facets := "xs:string", ""
	facet := func(name, value string) { facets += fmt.Sprintf(`<xs:%s value="%s"/>`, name, escaped(value)) }
	switch f.Kind {
	case KindID, KindLine:
		base = "xs:token"
	case KindAddress:
		base = "xs:token"
		facet("pattern", `([hH][tT][tT][pP][sS]?://[^\s/?#\\]+([/?#].*)?)?`)
		facet("maxLength", fmt.Sprint(rules.ItemURLLong.Most))
	case KindDate:
		return indent + "<xs:simpleType>\n" +
			indent + `  <xs:union memberTypes="xs:dateTime xs:date"><xs:simpleType><xs:restriction base="xs:token"><xs:length value="0"/></xs:restriction></xs:simpleType></xs:union>` + "\n" +
			indent + "</xs:simpleType>\n"
	case KindLanguage:
		base = "xs:token"
		facet("pattern", `([a-zA-Z]{2,8}([-_][a-zA-Z0-9]{1,8})*)?`)
	case KindDegrees:
		base = "xs:token"
		if f.Name == "latitude" {
			facet("pattern", `([+\-]?((90(\.0*)?)|([0-8]?[0-9](\.[0-9]*)?)))?`)
		} else {
			facet("pattern", `([+\-]?((180(\.0*)?)|((1[0-7][0-9]|[0-9]?[0-9])(\.[0-9]*)?)))?`)
		}
	}
	if f.Required {
		facet("minLength", "1")
	}
	if f.Longest > 0 {
		facet("maxLength", fmt.Sprint(f.Longest))
	}
	return indent + "<xs:simpleType>\n" + indent + fmt.Sprintf("  <xs:restriction base=%q>%s</xs:restriction>\n", base, facets) + indent + "</xs:simpleType>\n"
}

func escaped(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a Builder does not fail
	}
	return b.String()
}

// Example returns a file of one of our own formats, XML, CSV or NDJSON, that is read without a
// problem. It returns nil for other formats.
func Example(f Format) []byte {
	switch f {
	case XML:
		return exampleXML()
	case CSV:
		return exampleCSV()
	case NDJSON:
		return exampleNDJSON()
	}
	return nil
}

// second is the other item of the examples: it has only what an item needs, and HTML.
var second = map[string]string{"id": "harbour-18", "html": `<p>Tides <b>and</b> times: <a href="https://harbour.example/tides">here</a></p>`}

func exampleXML() []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<items xmlns=\"" + Namespace + `"`)
	for _, a := range RootAttributes {
		fmt.Fprintf(&b, " %s=\"%s\"", a.Name, escaped(a.Example[0]))
	}
	b.WriteString(">\n  <item>\n")
	for _, f := range Fields {
		switch {
		case len(f.Example) == 0:
		case f.Each == "":
			fmt.Fprintf(&b, "    <%s>%s</%[1]s>\n", f.Name, strings.ReplaceAll(escaped(f.Example[0]), "&#xA;", "\n"))
		default:
			fmt.Fprintf(&b, "    <%s>\n", f.Name)
			for _, v := range f.Example {
				fmt.Fprintf(&b, "      <%s>%s</%[1]s>\n", f.Each, escaped(v))
			}
			fmt.Fprintf(&b, "    </%s>\n", f.Name)
		}
	}
	fmt.Fprintf(&b, "  </item>\n  <item>\n    <id>%s</id>\n    <html><![CDATA[%s]]></html>\n  </item>\n</items>\n", second["id"], second["html"])
	return []byte(b.String())
}

func exampleCSV() []byte {
	var b strings.Builder
	w := csv.NewWriter(&b)
	var header, first, last []string
	for _, f := range Fields {
		header = append(header, f.Name)
		first = append(first, strings.Join(f.Example, "|"))
		last = append(last, second[f.Name])
	}
	if err := w.WriteAll([][]string{header, first, last}); err != nil {
		panic(err) // a Builder does not fail
	}
	return []byte(b.String())
}

func exampleNDJSON() []byte {
	var b strings.Builder
	line := func(value func(Field) (any, bool)) {
		sep := "{"
		for _, f := range Fields {
			if v, ok := value(f); ok {
				var out strings.Builder
				e := json.NewEncoder(&out)
				e.SetEscapeHTML(false)
				if err := e.Encode(v); err != nil {
					panic(err) // strings have no value without JSON
				}
				fmt.Fprintf(&b, "%s%q:%s", sep, f.Name, strings.TrimSpace(out.String()))
				sep = ","
			}
		}
		b.WriteString("}\n")
	}
	line(func(f Field) (any, bool) {
		if f.Each != "" {
			return f.Example, true
		}
		return strings.Join(f.Example, ""), len(f.Example) > 0
	})
	line(func(f Field) (any, bool) { return second[f.Name], second[f.Name] != "" })
	return []byte(b.String())
}
