package view

import (
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"riverrun/timelines"
	"riverrun/timelines/files"
	"riverrun/timelines/pictures"
	"riverrun/timelines/site"
)

// Addresses of what the site says of itself.
const (
	AboutPath = "/about"
	RulesPath = AboutPath + "#rules"
	AgreePath = "/rules/agree"
	MarkPath  = "/mark.svg"
)

// AgreeField has the version of the rules that the sender of a form agrees to.
const AgreeField = "agree"

// SiteName is how the site is called.
func (p *Base) SiteName() string { return Unturned(p.Site.Title()) }

// windowTitle is the title of a page, as tabs of a browser have it.
func (p *Base) windowTitle(title string) string {
	if title == "" {
		return p.SiteName()
	}
	return Unturned(title) + " · " + p.SiteName()
}

// MarkURL is the address of the site's mark, "" if it has none. Another mark has another address.
func MarkURL(s site.Site) string {
	if s.Mark == "" {
		return ""
	}
	return MarkPath + "?" + url.Values{"v": {s.Mark}}.Encode()
}

// MarkSVG draws the site's mark. The letters are those of the reader's system.
func MarkSVG(s site.Site) string {
	size := 40
	if s.WideMark() {
		size = 28
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#0f5c69"/>`+
		`<text x="32" y="34" font-size="%d" font-family="system-ui, sans-serif" font-weight="700" text-anchor="middle" dominant-baseline="central" fill="#fff">%s</text></svg>`,
		size, html.EscapeString(s.Mark))
}

// contactURL is where the site's contact leads, "" if there is none. The store takes only addresses of
// mail and of pages with https.
func (p *Base) contactURL() templ.SafeURL {
	switch contact := p.Site.Contact; {
	case strings.HasPrefix(contact, "https://"):
		return templ.URL(contact)
	case strings.Contains(contact, "@"):
		return templ.URL("mailto:" + contact)
	}
	return ""
}

// asks is the version of the rules, as forms have it.
func (p *Base) asks() string { return strconv.Itoa(p.Site.Asks()) }

// Agree is the form by which somebody agrees to the rules.
type Agree struct {
	Back  string
	Kept  *KeptForm // the form that is sent by agreeing, nil: a page
	Error FormError
}

func (a Agree) action() templ.SafeURL {
	if a.Kept != nil {
		return templ.SafeURL(a.Kept.Address)
	}
	return AgreePath
}

// Public is what a page that everybody may read says of itself to search engines and to programs that
// show links. It is the same for all readers.
type Public struct {
	Title, Description string
	Type               string // of Open Graph
	Address, Picture   string // whole
}

// Longest description, in characters.
const described = 200

// AsPublic returns that of a post's page. base is the site's address. Spoilers stay hidden.
func (e *Entry) AsPublic(base string) *Public {
	t := &e.Item.Fold.Text
	p := publicOf(base, e.author())
	p.Title, p.Type, p.Address = e.Title(), "article", base+e.path()
	p.Description = line(PlainText(t.Body, t.Markup))
	for _, file := range e.Item.Fold.Attached {
		if file.State == string(files.Picture) {
			p.Picture = base + nearest(file.Code, file.Width, file.Height, mediumSide)
			break
		}
	}
	return p
}

// AsPublic returns that of the page of an account.
func (v Account) AsPublic(base string) *Public {
	p := publicOf(base, v.Who)
	p.Title, p.Type, p.Address = v.title(), "profile", base+"/"+v.Who.Name
	p.Description = line(v.Who.About)
	return p
}

func publicOf(base string, a timelines.Account) *Public {
	p := &Public{}
	if a.Picture != "" {
		p.Picture = base + fileURL(a.Picture, pictures.AvatarLarge)
	}
	return p
}

// line is a text in one line, cut.
func line(text string) string { return ShortText(strings.Join(strings.Fields(text), " "), described) }

// The kind of card that programs show for a link.
const card = "summary"
