package web

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
)

// present is what one response or frame is rendered with: who looks, in which
// language, at what instant, and the names of everybody who occurs in it. Ids
// become names only here, at render (R4): nothing shared holds a name that a
// settings form can change. It belongs to one response; components read it.
type present struct {
	loc    *locale
	viewer timelines.Viewer
	sets   *timelines.Sets // never nil
	names  map[int64]timelines.Account
	// subfeeds are those that occur, by timeline, and all the viewer's own where
	// there is a composer.
	subfeeds map[int64]timelines.Subfeed
	now      time.Time
	river    rivers.Name // the page's river; zero on other pages
	page     string      // path and query of the page, where forms lead back to
	feed     string      // the page's feed file without its format, "" if it has none
	hushed   bool        // search engines are asked not to list the page
	code     string      // the request's quotable code
	asset    func(name string) string // see renderer
}

// subfeedTitle is what a sub-feed is called.
func (p *present) subfeedTitle(f timelines.Subfeed) string {
	if f.Slug == timelines.PrivateSlug {
		return p.loc.T("feeds.private")
	}
	return f.Title
}

// mySubfeeds are the viewer's own, the private one first, then by title.
func (p *present) mySubfeeds() []timelines.Subfeed {
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
func namedIn(ids []int64, sets *timelines.Sets, it *rivers.Item) []int64 {
	f := it.Fold
	ids = append(ids, f.Text.Author)
	for i := range f.Comments.Shown {
		if author := f.Comments.Shown[i].Author; !it.Hides(author) {
			ids = append(ids, author)
		}
	}
	named, _ := foldLikes(sets.AccountID, sets, it.Likes(), likesShown(it.Full))
	ids = append(ids, named...)
	for _, t := range it.Why {
		if t.Kind != timelines.KindPost { // whose id is the post's, which no account has
			ids = append(ids, t.TheirID)
		}
	}
	for _, t := range it.To {
		ids = append(ids, t.TheirID)
	}
	return ids
}

// account returns the account of an id. One that is not known any more has no
// name to link to and a title that says so.
func (p *present) account(id int64) timelines.Account {
	if a, ok := p.names[id]; ok {
		return a
	}
	return timelines.Account{ID: id, Title: p.loc.T("account.unknown")}
}

// me is the viewer's account, the zero one if anonymous.
func (p *present) me() timelines.Account {
	if p.viewer.Anonymous() {
		return timelines.Account{}
	}
	return p.account(p.viewer.AccountID)
}

func (p *present) signedIn() bool { return !p.viewer.Anonymous() }

func (p *present) isMe(id int64) bool { return p.signedIn() && p.viewer.AccountID == id }

func (p *present) follows(id int64) bool { _, ok := p.sets.Follows[id]; return ok }

// hides reports whether the viewer hides that account.
func (p *present) hides(id int64) bool { _, ok := p.sets.Hides.Accounts[id]; return ok }

func (p *present) administers(id int64) bool { _, ok := p.sets.Administers[id]; return ok }

// shuts reports whether the viewer can neither subscribe to the account nor ask to.
func (p *present) shuts(a timelines.Account) bool {
	_, out := p.sets.Excluded[a.FeedID]
	return out
}

// leftOut reports whether the viewer is one of those whom an account that they may not
// read leaves out: of no use to ask.
func (p *present) leftOut(a timelines.Account) bool {
	return p.signedIn() && a.Access == timelines.Protected || p.shuts(a)
}

// asked says what somebody waits for who asked this account.
func (p *present) asked(a timelines.Account) string {
	if a.Kind == timelines.Group {
		return p.loc.T("account.asked.group")
	}
	return p.loc.T("account.asked", "who", a.Title)
}

func (p *present) blockedBy(id int64) bool { _, ok := p.sets.BlockedBy[id]; return ok }

// mayPostTo reports whether the viewer may post to a group that they may read.
func (p *present) mayPostTo(g timelines.Account) bool {
	if !p.signedIn() || p.blockedBy(g.ID) {
		return false
	}
	switch g.Writers {
	case timelines.WritersAnyone:
		return true
	case timelines.WritersMembers:
		return p.follows(g.ID) || p.administers(g.ID)
	case timelines.WritersAdmins:
		return p.administers(g.ID)
	}
	return false
}

// groups are the groups the viewer is a member of, by title.
func (p *present) groups() []timelines.Account {
	return p.followed(timelines.Group)
}

// people are whom the viewer follows, by title, but for those a ban stands
// between.
func (p *present) people() []timelines.Account {
	return p.followed(timelines.User)
}

func (p *present) followed(kind string) []timelines.Account {
	var found []timelines.Account
	for id := range p.sets.Follows {
		if a, ok := p.names[id]; ok && a.Kind == kind && !p.sets.Apart(id) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b timelines.Account) int {
		if c := strings.Compare(a.Title, b.Title); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return found
}

// formKey makes the key that lets a form be sent twice and do its work once.
func formKey() string {
	b := make([]byte, 15)
	rand.Read(b) // never fails, as crypto/rand promises
	return base64.RawURLEncoding.EncodeToString(b)
}
