package adminpages

import "riverrun/web/view"

// limits shows the operator's limits.
func (p *Pages) limits(c Call) error { return c.Show(limitsPage(c.Base(), p.process.Limits)) }

// limitValue is the value as it would be written, or a dash for none.
func limitValue(l Limit) string {
	if l.Value == "" {
		return "–"
	}
	return l.Value
}

func limitMeaning(loc *view.Locale, l Limit) string { return loc.Limit(l.Setting, l.Meaning) }
