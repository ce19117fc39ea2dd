package sources

import "strings"

// canonical returns the settings in the one form of all that say the same. In it they are stored and
// hashed, so that a form that is saved as it was shown changes nothing: what is usual is left out,
// texts are as a form's lines give them back, and no list is empty.
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

// oneLine is a text with one space between its words; categories and words are compared so.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// each returns a new list, nil if it is empty.
func each[T any](list []T, of func(T) T) (all []T) {
	for _, v := range list {
		all = append(all, of(v))
	}
	return all
}
