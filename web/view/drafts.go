package view

import (
	"cmp"
	"crypto/rand"
	"net/url"
	"strconv"
	"strings"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/drafts"
)

// DraftField is the field in which a form names the place of its draft.
const DraftField = "draft"

// SavedField is the field in which a form names which draft of that place it has: the one it was
// filled from, or was last saved as.
const SavedField = "saved"

// SavedAs is the value of that field, empty for none.
func SavedAs(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.UnixMicro(), 10)
}

// SavedOf returns the time that SavedAs was given. It returns the zero time for any other text.
func SavedOf(value string) time.Time {
	at, err := strconv.ParseInt(value, 10, 64)
	if err != nil || at <= 0 {
		return time.Time{}
	}
	return time.UnixMicro(at).UTC()
}

// KeepField is the button that keeps a form as a draft in place of sending it. Its value is that
// of SavedField if another draft, which the form shows, is to be replaced.
const KeepField = "keep"

// KeepAnother is its value if the draft is to be put aside for an empty form.
const KeepAnother = "another"

// ComposerOf is the form for a post with the text of a draft. It has no destinations and files
// yet.
func ComposerOf(d drafts.Draft) Composer {
	back := d.Place
	if group := d.ListingIn(); group != "" {
		back = "/" + group
	}
	c := NewComposer(back)
	c.Body, c.Lang, c.Place, c.Saved, c.Open, c.Listing = d.Body, d.Language, d.Place, d.SavedAt, true, d.Listing
	c.Direct = strings.HasPrefix(d.Place, "/filter/messages")
	return c
}

// DraftComment is the form for a comment with the text of a draft.
func DraftComment(d drafts.Draft) CommentForms {
	return CommentForms{Address: d.Place + "/comments", Back: d.Place, Body: d.Body, Key: rand.Text(), Place: d.Place, Saved: d.SavedAt}
}

// alone is the composer as the one form of a page.
func (c Composer) alone() Composer {
	c.onPage = true
	return c
}

// DraftURL leads to the form with the draft of that place.
func DraftURL(place string) string { return "/drafts/edit?place=" + url.QueryEscape(place) }

// WritePath is the address of the form for a post.
const WritePath = "/posts/new"

// WriteURL leads to the form for a post of that place.
func WriteURL(place string) string { return WritePath + "?place=" + url.QueryEscape(place) }

// FormURL leads to the form of that place.
func FormURL(place string) string {
	if group := (drafts.Draft{Place: place}).ListingIn(); group != "" {
		return OfferURL(group)
	}
	if drafts.IsPostPlace(place) {
		return WriteURL(place)
	}
	return place
}

// OfferURL leads to the form for a listing in a group.
func OfferURL(group string) string { return WritePath + "?listing=1&to=" + url.QueryEscape(group) }

// writeURL is where "Write" leads to. For somebody who is not signed in, on the page of a group that
// takes posts of all, it is a form for that group.
func (p *Base) writeURL() string {
	at := p.RiverName
	if g := p.Names[at.TheirID]; !p.signedIn() && at.Kind == rivers.Group && g.Writers == timelines.WritersAnyone {
		return WriteURL("/" + g.Name)
	}
	return WritePath
}

// mayBegin reports whether somebody who is not signed in may begin to write.
func (p *Base) mayBegin() bool { return !p.signedIn() && !p.NoSignUp && !p.Site.Shut }

// Visitor is the form for a post of somebody who is not signed in.
type Visitor struct {
	Composer
	Others   []drafts.VisitorDraft // their other drafts
	JustKept bool
}

// VisitorOf is that form with the text of a draft.
func VisitorOf(d drafts.Draft) Visitor {
	v := Visitor{Composer: ComposerOf(d)}
	v.People = strings.Join(d.Destinations, " ")
	return v
}

// groupTitle is the title of a group that the viewer reads, and the name of any other place.
func (p *Base) groupTitle(name string) string { return cmp.Or(p.GroupTitles[name], name) }

// draftTitle says what the draft is to become.
func draftTitle(p *Base, d drafts.Listed) string {
	path, to, _ := strings.Cut(d.Place, "?to=")
	switch {
	case d.Closed():
		return p.Locale.T("drafts.closed")
	case d.ListingIn() != "":
		return p.Locale.T("drafts.listing", "place", p.groupTitle(d.ListingIn()))
	case d.CommentOn() != "":
		return p.Locale.T("drafts.comment", "post", p.Account(d.PostAuthor).Title+": "+firstLine(PlainText(d.Beginning, d.Markup)))
	case to != "":
		return p.Locale.T("drafts.message.to", "who", "@"+to)
	case path == "/filter/messages":
		return p.Locale.T("drafts.message")
	case path == "/filter/only-me":
		return p.Locale.T("compose.to.eyes")
	case path == "/":
		return p.Locale.T("compose.title")
	}
	return p.Locale.T("drafts.post.to", "place", p.groupTitle(strings.TrimPrefix(path, "/")))
}

// draftBeginning is how the draft's text begins, or, without text, that it has files, or what was typed of
// its listing.
func draftBeginning(p *Base, d drafts.Listed) string {
	switch l := d.Listing; {
	case strings.TrimSpace(d.Body) != "":
		return d.Body
	case l == nil || len(d.Uploads) > 0:
		return p.Locale.T("entry.files")
	case strings.TrimSpace(l.Price) == "":
		return l.Place
	default:
		return strings.Trim(l.Price+" "+l.Currency+" · "+l.Place, " ·")
	}
}
