package snapshot

import (
	"strings"
	"testing"
)

func TestParseQuery(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"  cats   DOGS ":                 "cats dogs",
		"dogs cats":                      "cats dogs",
		"cats Cats":                      "cats",
		`"white  cat" -Black`:            `"white cat" -black`,
		`-"black cat" white`:             `white -"black cat"`,
		`"white cat`:                     `"white cat"`,
		`"cats"`:                         "cats",
		`"from:bob"`:                     `"from:bob"`,
		`"-cats" "#tag"`:                 `"#tag" "-cats"`,
		`""`:                             "",
		`" " - -- "`:                     "",
		"- cats":                         "cats",
		"--cats":                         "-cats",
		"from:Bob IN:Club -from:ann":     "from:bob in:club -from:ann",
		"from: in: from:@bob":            "from:bob",
		"in:Bob/Photos IN:/@bob/photos/": "in:bob/photos",
		"От:Bob В:club -от:ann":          "from:bob in:club -from:ann",
		"from:me от:я ОТ:Меня":           "from:me",
		"в:меня/photos in:me":            "in:me in:me/photos",
		`"от:bob" от: в: "от:меня"`:      `"от:bob" "от:меня"`,
		"отбой: вот:":                    "вот: отбой:",
		"in:bob/ in:/ -in:bob//":         "in:bob -in:bob",
		"from:bob/photos":                "from:bob/photos",
		`from:"bob"`:                     "bob",
		"#Кот -#пёс # #__":               "#кот -#пёс",
		"#one-two #three, #four#five":    "#four #one #three",
		":) !!! cat's":                   "cat's",
		`white"black cat"grey`:           `"black cat" grey white`,
		"Кошки И Ёлки":                   "и кошки ёлки",
		"https://river.example/?q=%22":   "https://river.example/?q=%22",
		"Это:АКТИВНО is:closed это:":      "это: is:active is:closed",
		"is:it -is:expired":               "is:it -is:expired",
		"price:10..50,5EUR цена:7usd":     "price:10..50.50eur price:7..7usd",
		"price:..0eur price:.. price:x..": "price:.. price:x.. price:..0eur",
		"price:7 price:8qqq price:9€":     "price:7..7 price:8..8 price:9..9",
		`"is:active"`:                     `"is:active"`,
	} {
		q, problem := ParseQuery(text)
		if problem != "" {
			t.Errorf("%q: %s", text, problem)
			continue
		}
		if got := q.String(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{"cats": true, "-cats": false, "": false, "-cats from:bob": true, "-in:club": false} {
		if q, problem := ParseQuery(text); problem != "" || q.Finds() != want {
			t.Errorf("%q: finds is %t, %q, want %t", text, q.Finds(), problem, want)
		}
	}
	for text, want := range map[string]bool{"cats": true, "price:7usd -price:..5eur": true, "price:7": false, "cats -price:7": false, "price:7usd price:5qqq": false} {
		if q, _ := ParseQuery(text); q.NamesCurrencies() != want {
			t.Errorf("%q: names currencies is %t, want %t", text, !want, want)
		}
	}
	terms := strings.Repeat("x ", 2*MaxQueryTerms)
	for i := range MaxQueryTerms + 1 {
		terms += string(rune('a'+i)) + "z "
	}
	for text, want := range map[string]string{
		strings.Repeat("я", MaxQueryRunes):   "",
		strings.Repeat("я", MaxQueryRunes+1): "query_long",
		terms:                                "query_terms",
		"a\x00b":                             "text_invalid",
		"a\xff":                              "text_invalid",
	} {
		if _, got := ParseQuery(text); got != want {
			t.Errorf("%.20q: got %q, want %q", text, got, want)
		}
	}
}

// The canonical form means the same query, and is its own.
func FuzzParseQuery(f *testing.F) {
	for _, text := range []string{`"white cat" -black from:bob in:club #tag`, `-"`, "from:-x", "#\u0301", "İ", `a"b`, "-#a-b", "from:@@", "ſ K", "in:bob/photos in:/@/x/", "от:я в:меня/x -В:me"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, problem := ParseQuery(text)
		if problem != "" {
			return
		}
		canonical := q.String()
		again, problem := ParseQuery(canonical)
		if problem != "" {
			t.Fatalf("%q became %q: %s", text, canonical, problem)
		}
		if got := again.String(); got != canonical {
			t.Fatalf("%q became %q, and that %q", text, canonical, got)
		}
		if again.Finds() != q.Finds() || len(again.terms) != len(q.terms) {
			t.Fatalf("%q became %q, which asks for something else", text, canonical)
		}
	})
}
