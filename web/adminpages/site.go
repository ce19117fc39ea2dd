package adminpages

import (
	"riverrun/timelines/site"
	"riverrun/web/view"
)

// siteView is the form of what the site says of itself.
type siteView struct {
	*view.Base
	is    site.Site // as it stands, or as it was sent
	again bool
	saved string
	err   view.FormError
}

// languages are the choices of the site's language; "" is none.
func languages() []string {
	all := []string{""}
	for _, l := range view.Locales {
		all = append(all, l.Lang)
	}
	return all
}

func (v siteView) languageName(language string) string {
	if language == "" {
		return v.Locale.T("admin.site.language.none")
	}
	return view.LanguageNames[language]
}

// siteLine is one line, or one text, of the form.
type siteLine struct {
	name, value string
	most        string
}

func (l siteLine) id() string { return "site-" + l.name }

func (p *Pages) site(c Call) error {
	v := siteView{Base: c.Base()}
	v.is = v.Site
	if c.Request().URL.Query().Get("done") == "site" {
		v.saved = v.Locale.T("admin.site.saved")
	}
	return c.Show(sitePage(v))
}

func (p *Pages) setSite(c Call) error {
	r := c.Request()
	again := r.PostFormValue("again") != ""
	rules := r.PostFormValue("rules")
	form := site.Site{
		Name: r.PostFormValue("name"), Mark: r.PostFormValue("mark"), Purpose: r.PostFormValue("purpose"), About: r.PostFormValue("about"),
		Contact: r.PostFormValue("contact"), Language: r.PostFormValue("language"), Indexed: r.PostFormValue("indexed") != "",
	}
	err := c.MayChange()
	if err == nil {
		err = c.Carry(p.settings.Set(r.Context(), c.By(), func(s *site.Site) {
			s.Name, s.Mark, s.Purpose, s.About = form.Name, form.Mark, form.Purpose, form.About
			s.Contact, s.Language, s.Indexed = form.Contact, form.Language, form.Indexed
			s.SetRules(rules, again)
		}))
	}
	if err != nil {
		return c.Again(err, func(is view.FormError) (view.Component, error) {
			form.Rules = rules
			return sitePage(siteView{Base: c.Base(), is: form, again: again, err: is}), nil
		})
	}
	return c.Done(sitePath + "?done=site")
}
