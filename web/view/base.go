package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"riverrun/rivers"
	"riverrun/rivers/bytecache"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
	"riverrun/timelines/reads"
	"riverrun/timelines/site"
)

// Base is the common data of one response or frame: the viewer, the language, the time, and
// the names of everybody who occurs in it. Ids become names only here, at render (R4): nothing
// shared holds a name that somebody can change. A Base belongs to one response; components
// only read it.
type Base struct {
	Locale *Locale
	Viewer timelines.Viewer
	Sets   *access.Sets // never nil
	Names  map[int64]timelines.Account
	// Member are the groups that the viewer is a member of, by title, or was a moment before Sets. The list is shared, and
	// must not be changed.
	Member []timelines.Account
	// GroupTitles are the titles of groups, by name, on pages of what is not sent yet.
	GroupTitles map[string]string
	// subfeeds are those that occur, by timeline, and all the viewer's own where
	// there is a composer.
	subfeeds    map[int64]timelines.Subfeed
	audiences   audiences   // by destination, where there is a composer
	followed    Component   // the list of whom the viewer follows, if it is rendered already
	marks       reads.Marks // the viewer's
	Now         time.Time
	RiverName   rivers.Name                                    // the page's river; zero on other pages
	shown       uint64                                         // a hash of the versions of the page's entries, 0 on other pages
	PageAddress string                                         // path and query of the page, where forms lead back to
	FeedAddress string                                         // the page's feed file without its format, "" if it has none
	Heading     string                                         // what the head of the page says on a phone, "" the page's title
	Theme       string                                         // "light" or "dark", "" as the device has it
	KeysOff     bool                                           // one-letter keys do nothing in this browser
	Site        site.Site                                      // what the host says of the site
	Public      *Public                                        // nil unless everybody may read the page
	NoIndex     bool                                           // search engines are asked not to list the page
	NoSignUp    bool                                           // nobody can sign up
	Code        string                                         // the request's quotable code
	Unread      int                                            // how many notifications are unread, at most rivers.MaxCounted
	asset       func(name string) string                       // see renderer
	fragments   *bytecache.Cache[fragmentKey, bytecache.Value] // nil on pages without a river; see Renderer.At
	moment      fragmentKey
}

// subfeedTitle returns the title of a sub-feed.
func (p *Base) subfeedTitle(f timelines.Subfeed) string {
	if f.Slug == kinds.PrivateTerm {
		return p.Locale.T("feeds.private")
	}
	return f.Title
}

// mySubfeeds are the viewer's own, the private one first, then by title.
func (p *Base) mySubfeeds() []timelines.Subfeed {
	var mine []timelines.Subfeed
	for _, f := range p.subfeeds {
		if p.isMe(f.AccountID) {
			mine = append(mine, f)
		}
	}
	slices.SortFunc(mine, func(a, b timelines.Subfeed) int {
		return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.Slug, b.Slug))
	})
	return mine
}

// namedIn appends the accounts an entry names to the viewer of these sets, in its order.
func namedIn(ids []int64, sets *access.Sets, it *rivers.Item) []int64 {
	f := it.Fold
	ids = append(ids, f.Text.Author)
	for i := range f.Comments.Shown {
		if author := f.Comments.Shown[i].Author; !it.Hides(author) {
			ids = append(ids, author)
		}
	}
	for _, author := range f.Comments.Folded {
		if !it.Hides(author) {
			ids = append(ids, author)
		}
	}
	named, _ := foldLikes(sets.AccountID, sets, it.Likes(), likesShown(it.Full))
	ids = append(ids, named...)
	if it.Notice != nil {
		for i := range it.Notice.Groups {
			ids = append(ids, shownActors(&it.Notice.Groups[i])...)
		}
	}
	for _, t := range it.Why {
		if t.Kind != kinds.Post { // whose id is the post's, which no account has
			ids = append(ids, t.TheirID)
		}
	}
	for _, t := range it.To {
		ids = append(ids, t.TheirID)
	}
	return ids
}

// Account returns the account of an id. One that is not known any more has no
// name to link to and a title that says so.
func (p *Base) Account(id int64) timelines.Account {
	if a, ok := p.Names[id]; ok {
		return a
	}
	return timelines.Account{ID: id, Title: p.Locale.T("account.unknown")}
}

// me is the viewer's account, the zero one if anonymous.
func (p *Base) me() timelines.Account {
	if p.Viewer.Anonymous() {
		return timelines.Account{}
	}
	return p.Account(p.Viewer.AccountID)
}

func (p *Base) signedIn() bool { return !p.Viewer.Anonymous() }

func (p *Base) isMe(id int64) bool { return p.signedIn() && p.Viewer.AccountID == id }

func (p *Base) follows(id int64) bool { return p.Sets.Follows.Has(id) }

// hides reports whether the viewer hides that account.
func (p *Base) hides(id int64) bool { return p.Sets.Hides.Accounts.Has(id) }

func (p *Base) Administers(id int64) bool { return p.Sets.Administers.Has(id) }

// shuts reports whether the viewer can neither follow the account nor ask to.
func (p *Base) shuts(a timelines.Account) bool { return p.Sets.Excluded.Has(a.FeedID) }

// leftOut reports whether an account that the viewer may not read excludes the viewer, so
// that a request is of no use.
func (p *Base) leftOut(a timelines.Account) bool {
	return p.signedIn() && a.Access == timelines.Protected || p.shuts(a)
}

// asked returns the text for a viewer whose request to this account waits.
func (p *Base) asked(a timelines.Account) string {
	if a.Kind == timelines.Group {
		return p.Locale.T("account.asked.group")
	}
	return p.Locale.T("account.asked", "who", a.Title)
}

func (p *Base) blockedBy(id int64) bool { return p.Sets.BlockedBy.Has(id) }

// barPlaces are the pages that the bar at the bottom of a phone's screen leads to. On all others
// the head leads back.
var barPlaces = []string{"/", "/filter/discussions", "/filter/messages", "/filter/mentions", "/best", "/everything", "/groups"}

// inner reports whether the head of a page leads back on a phone.
func (p *Base) inner(here string) bool {
	return !slices.Contains(barPlaces, here) || p.signedIn() && slices.Contains(barPlaces[4:], here)
}

// heading is what the head of a page says on a phone, "" for the mark of the site.
func (p *Base) heading(title, here string) string {
	switch {
	case here == "/":
		return ""
	case p.Heading != "":
		return p.Heading
	}
	return Unturned(title)
}

// MayPostTo reports whether the viewer may post to a group that they may read.
func (p *Base) MayPostTo(g timelines.Account) bool {
	if !p.signedIn() || p.blockedBy(g.ID) {
		return false
	}
	switch g.Writers {
	case timelines.WritersAnyone:
		return true
	case timelines.WritersMembers:
		return p.follows(g.ID) || p.Administers(g.ID)
	case timelines.WritersAdmins:
		return p.Administers(g.ID)
	}
	return false
}

// Groups are the groups the viewer is a member of, by title.
func (p *Base) Groups() []timelines.Account {
	return slices.DeleteFunc(slices.Clone(p.Member), func(g timelines.Account) bool {
		return !p.follows(g.ID) || p.Sets.BlockedBetween(g.ID)
	})
}

// people are the people the viewer follows, by title, except those with a ban between.
func (p *Base) people() []timelines.Account { return followed(p.Sets, p.Names, timelines.User) }

// followed are the accounts of a kind that the viewer of these sets follows, by title, except those with a ban between.
func followed(sets *access.Sets, names map[int64]timelines.Account, kind string) []timelines.Account {
	var found []timelines.Account
	for _, id := range sets.Follows {
		if a, ok := names[id]; ok && a.Kind == kind && !sets.BlockedBetween(id) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b timelines.Account) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Name, b.Name))
	})
	return found
}
