package sources

import "strings"

// canonical returns the one form of all settings that mean the same: defaults are left out, texts are
// as the lines of a form return them, and no list is empty. Settings are stored and hashed in it, so
// a form that is saved unchanged changes nothing.
func (s Settings) canonical() Settings {
	if s.Gone == Delete {
		s.Gone = ""
	}
	if s.MostGone == DefaultMostGone {
		s.MostGone = 0
	}
	s.Rules = s.Rules.canonical()
	return s
}

func (r Rules) canonical() Rules {
	if r.Title = strings.TrimSpace(r.Title); r.Title == "{title}" {
		r.Title = ""
	}
	if r.Text == TextBeginning {
		r.Text = ""
	}
	r.Tags = each(r.Tags, func(t TagRule) TagRule {
		return TagRule{Category: oneLine(t.Category), Tag: oneLine(strings.TrimPrefix(strings.TrimSpace(t.Tag), "#"))}
	})
	r.Groups = each(r.Groups, func(g GroupRule) GroupRule {
		return GroupRule{Category: oneLine(g.Category), Group: strings.TrimPrefix(strings.TrimSpace(g.Group), "@")}
	})
	r.Only, r.Without = each(r.Only, oneLine), each(r.Without, oneLine)
	return r
}

// oneLine returns a text with one space between its words. Categories and words are compared in this
// form.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// each returns a new list, nil if it is empty.
func each[T any](list []T, of func(T) T) (all []T) {
	for _, v := range list {
		all = append(all, of(v))
	}
	return all
}
