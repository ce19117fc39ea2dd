package view

import (
	"fmt"
	"slices"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/rules"
)

// PostHelpPath is the page of what a post can have. The rules about a thing stand there at #THING.
const PostHelpPath = "/help/posts"

// PostHelp is that page.
type PostHelp struct {
	*Base
	// Set has the bounds that the site sets (rules.Rule.Set).
	Set map[string]int
}

// fieldRules are the rules about one field of a thing.
type fieldRules struct {
	field string
	rules []rules.Rule
}

// about returns the rules about a thing by their fields, in the order of the table.
func (v *PostHelp) about(t rules.Thing) []fieldRules {
	var all []fieldRules
	for _, r := range rules.For(t) {
		if r.Set != "" {
			r = r.With(v.Set[r.Set])
		}
		i := slices.IndexFunc(all, func(f fieldRules) bool { return f.field == r.Field })
		if i < 0 {
			i, all = len(all), append(all, fieldRules{field: r.Field})
		}
		all[i].rules = append(all[i].rules, r)
	}
	return all
}

// fieldTitle names a field in a heading.
func (v *PostHelp) fieldTitle(field string) string {
	if field == "" {
		field = "whole"
	}
	return v.Locale.T("posthelp.field." + field)
}

// allowed says what a rule allows: its bound, or all that there is.
func (v *PostHelp) allowed(r rules.Rule) string {
	switch {
	case r.Unit == rules.Words:
		return v.Locale.T("posthelp.unit."+string(r.Unit), "list", strings.Join(v.wordsOfRule(r), ", "))
	case r.Most > 0 || r.Set != "":
		return v.Locale.T("posthelp.unit."+string(r.Unit), "n", v.Locale.bound(r.Unit, r.Most))
	}
	return ""
}

// kindNames are media types as people know them.
var kindNames = map[string]string{"image/jpeg": "JPEG", "image/png": "PNG", "image/gif": "GIF", "image/webp": "WebP"}

// wordKeys begin the texts of the words of some rules.
var wordKeys = map[string]string{
	rules.ConditionUnknown.Code: "listings.condition.", rules.HowUnknown.Code: "listings.how.", rules.StateUnknown.Code: "listings.",
}

// wordsOfRule are the words of a rule as people know them.
func (v *PostHelp) wordsOfRule(r rules.Rule) []string {
	words := slices.Clone(r.Words)
	for i, word := range words {
		if key, ok := wordKeys[r.Code]; ok {
			words[i] = v.Locale.T(key + word)
		}
		if name, ok := LanguageNames[word]; ok && r.Code == rules.LanguageUnknown.Code {
			words[i] = name
		}
		if kind, ok := kindNames[word]; ok {
			words[i] = kind
		}
	}
	return words
}

// says is what somebody is told who breaks a rule about a thing.
func (v *PostHelp) says(t rules.Thing, r rules.Rule) string {
	if t == rules.Item {
		what, todo := ProblemText(v.Locale, r.Code)
		return strings.TrimSpace(what + " " + todo)
	}
	return InvalidText(v.Locale, r.Broken("…"))
}

// effect says what becomes of an item that breaks a rule.
func (v *PostHelp) effect(t rules.Thing, r rules.Rule) string {
	if t != rules.Item {
		return ""
	}
	return v.Locale.T("posthelp.effect." + string(r.AtSource))
}

// InvalidText says what is wrong with an input.
func InvalidText(l *Locale, e *timelines.InvalidError) string {
	key := "invalid." + e.Code
	if _, ok := l.Texts[key]; !ok {
		key = "invalid.other"
	}
	return l.T(key, "value", Unturned(e.Value), "most", l.bound(e.Unit, e.Most))
}

// bound writes a bound as its unit is written.
func (l *Locale) bound(unit rules.Unit, most int) string {
	if unit != rules.Cents {
		return l.Number(most)
	}
	point := "."
	if l.Lang == "ru" {
		point = ","
	}
	return l.Number(most/100) + point + fmt.Sprintf("%02d", most%100)
}
