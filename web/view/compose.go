package view

import (
	"crypto/rand"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/timelines/files"
	"riverrun/timelines/listings"
)

// Composer is the form for a new post as it is shown: empty, made ready for a
// destination, or as it was sent.
type Composer struct {
	Body   string
	To     []timelines.Account // chosen among the boxes
	Own    []string            // the writer's own places chosen, as destinations are spelt
	People string              // names typed
	Open   bool                // the page was opened to write: the destinations are unfolded, the caret is in the text
	Lang   string              // chosen, "" automatic
	Direct bool                // to people only, and to at least one
	// Place names the draft that the form is written in; empty: it has none. onPage: the form
	// stands alone, and can be kept without scripts.
	Place  string
	Saved  time.Time     // of the draft it was filled from; see SavedField
	Newer  *drafts.Draft // another draft of that place, which was not replaced
	onPage bool
	shows  bool   // what is sent will be seen on the page it is sent from
	Key    string // "": the page has one
	Back   string
	Files  []files.File // uploaded and not sent yet
	Later  Later        // when it is to be published
	// Listing: the form makes a listing; nil: a post.
	Listing *listings.Fields
	Error   FormError
}

func NewComposer(back string, to ...timelines.Account) Composer {
	place, _, _ := strings.Cut(back, "?")
	return Composer{To: to, Back: back, Place: place, shows: true}
}

// directComposer is a composer of messages. It never means the writer's own page, even if it
// names nobody.
func directComposer(back string) Composer {
	c := NewComposer(back)
	c.Direct = true
	return c
}

// Naming is the composer with the names of people typed, if there are any.
func (c Composer) Naming(people string) Composer {
	c.People, c.Open = people, people != ""
	if to := c.Place + "?to=" + people; people != "" && drafts.IsPlace(to) {
		c.Place = to
	}
	return c
}

// eyesComposer is a composer of posts that nobody else sees.
func eyesComposer(back string) Composer { return NewComposer(back).within(timelines.ToEyes) }

// within is the composer with one of the writer's own places chosen.
func (c Composer) within(place string) Composer {
	c.Own = append(slices.Clone(c.Own), place)
	return c
}

// OwnPlace is one of the writer's own places besides the own page: name as
// destinations are spelt.
type OwnPlace struct{ Name, title string }

// OwnPlaces are the viewer's own places to choose among: the sub-feeds, and the author's eyes
// only.
func (p *Base) OwnPlaces() []OwnPlace {
	var all []OwnPlace
	for _, f := range p.mySubfeeds() {
		all = append(all, OwnPlace{p.me().Name + "/" + f.Slug, p.subfeedTitle(f)})
	}
	return append(all, OwnPlace{timelines.ToEyes, p.Locale.T("compose.to.eyes")})
}

// icon is a lock for what nobody else sees.
func (o OwnPlace) icon() string {
	if o.Name == timelines.ToEyes {
		return "lock"
	}
	return "person"
}

func (c Composer) chosen(name string) bool {
	return slices.Contains(c.Own, name) || slices.ContainsFunc(c.To, func(a timelines.Account) bool { return a.Name == name })
}

// title is what the form is for.
func (c Composer) title(loc *Locale) string {
	if c.Later.edits() {
		return loc.T("scheduled.edit.title")
	}
	if c.Direct {
		return loc.T("compose.message")
	}
	if c.Listing != nil {
		return loc.T("listings.new")
	}
	return loc.T("compose.title")
}

// send is the word on its button.
func (c Composer) send(loc *Locale) string {
	switch {
	case c.Later.edits():
		return loc.T("scheduled.save")
	case c.Direct:
		return loc.T("compose.send")
	}
	return loc.T("compose.post")
}

func (c Composer) placeholder(loc *Locale) string {
	if c.Direct {
		return loc.T("compose.message.hint")
	}
	if c.Listing != nil {
		return loc.T("listings.text")
	}
	if len(c.To) == 1 && len(c.Own) == 0 && c.To[0].Kind == timelines.Group {
		return loc.T("compose.placeholder.group", "group", c.To[0].Title)
	}
	return loc.T("compose.placeholder")
}

// boxes are the groups to choose among: first those already chosen that are not the viewer's
// (some groups take posts from everybody who is signed in), then the viewer's groups that
// take their posts.
func (c Composer) boxes(p *Base) []timelines.Account {
	groups := slices.DeleteFunc(p.Groups(), func(g timelines.Account) bool { return !p.MayPostTo(g) })
	for _, a := range c.To {
		if a.Kind == timelines.Group && !slices.ContainsFunc(groups, func(g timelines.Account) bool { return g.ID == a.ID }) {
			groups = append([]timelines.Account{a}, groups...)
		}
	}
	return groups
}

// keyOf is the key of the composer on a page.
func (p *Base) keyOf(c Composer) string {
	switch {
	case c.Key != "":
		return c.Key
	case p.shown == 0:
		return rand.Text()
	}
	return visitKey(strconv.FormatUint(p.shown^xxhash.Sum64String(c.Place), 36))
}
