package formats

import (
	"encoding/json"
	"strings"
	"testing"

	"riverrun/timelines/rules"
)

// TestItemsKeepTheRules: G6. Each rule of items is a code of the table here, of the level that its effect
// has, and both say whether there is a bound.
func TestItemsKeepTheRules(t *testing.T) {
	t.Parallel()
	for _, r := range rules.For(rules.Item) {
		want := LevelWarning
		if r.AtSource == rules.Refused {
			want = LevelError
		}
		if got := levels[Code(r.Code)]; got != want {
			t.Errorf("%s has the level %q, want %q", r.Code, got, want)
		}
		for _, c := range Codes {
			if c.Code == Code(r.Code) && strings.Contains(c.Means, "{most}") != (r.Most > 0) {
				t.Errorf("%s says %q, and its bound is %d", r.Code, c.Means, r.Most)
			}
		}
		if r.Field != "" && r.Field != "body" && r.Field != "to" {
			if _, known := fieldNamed[r.Field]; !known {
				t.Errorf("%s is about %q, which items have not", r.Code, r.Field)
			}
		}
	}
}

// atAndOver returns a value at the bound of a rule, and one over it, as our own NDJSON has them.
func atAndOver(r rules.Rule) (at, over any) {
	fill := func(n int) any { return strings.Repeat("я", n) }
	switch {
	case r.Unit == rules.Bytes && r.Field == "url":
		fill = func(n int) any { return "https://a.example/" + strings.Repeat("x", n-len("https://a.example/")) }
	case r.Unit == rules.Bytes:
		fill = func(n int) any { return strings.Repeat("x", n) }
	case r.Unit == rules.Values:
		fill = func(n int) any {
			list := make([]string, n)
			for i := range list {
				list[i] = "https://a.example/" + strings.Repeat("x", i)
			}
			return list
		}
	case r.Field == "categories":
		fill = func(n int) any { return []string{strings.Repeat("я", n)} }
	}
	return fill(r.Most), fill(r.Most + 1)
}

// TestItemsAreReadToTheBound: G6. A value at the bound is read as it is. One over it has the code of the
// rule, and is what the rule says: cut, left out, or the end of the item.
func TestItemsAreReadToTheBound(t *testing.T) {
	t.Parallel()
	for _, r := range rules.For(rules.Item) {
		if r.Most == 0 || r.Field == "body" {
			continue
		}
		read := func(value any) *Item {
			fields := map[string]any{"id": "1", "title": "a"}
			fields[r.Field] = value
			line, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			items, err := readAll(string(line), Options{Format: NDJSON})
			if err != nil || len(items) != 1 {
				t.Fatalf("%s: %d items, %v", r.Code, len(items), err)
			}
			return items[0]
		}
		at, over := atAndOver(r)
		if it := read(at); len(it.Problems) > 0 {
			t.Errorf("%s at the bound: %+v", r.Code, it.Problems)
		}
		it := read(over)
		if len(it.Problems) != 1 || it.Problems[0].Code != Code(r.Code) || it.Bad != (r.AtSource == rules.Refused) {
			t.Errorf("%s over the bound: bad %v, %+v", r.Code, it.Bad, it.Problems)
		}
		values := map[string]any{
			"title": it.Title, "text": it.Text, "url": it.URL, "author": it.Author, "categories": len(it.Categories),
			"place": it.Place == nil, "pictures": len(it.Pictures), "files": len(it.Files),
		}
		switch got := values[r.Field].(type) {
		case string:
			if n := len([]rune(got)); r.AtSource == rules.Cut && (n > r.Most || !strings.HasSuffix(got, "…")) || r.AtSource == rules.LeftOut && n > 0 {
				t.Errorf("%s over the bound is %s, and was read with %d characters", r.Code, r.AtSource, n)
			}
		case int:
			if want := map[rules.Unit]int{rules.Values: r.Most, rules.Characters: 0}[r.Unit]; got != want {
				t.Errorf("%s over the bound was read with %d values, want %d", r.Code, got, want)
			}
		case bool:
			if !got {
				t.Errorf("%s over the bound was read", r.Code)
			}
		}
	}
}
