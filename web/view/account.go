package view

import (
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/markup"
)

// OpenSubfeed is a sub-feed the viewer may open.
type OpenSubfeed struct {
	timelines.Subfeed
	Access timelines.Level
}

// Account is an account's page as components see it.
type Account struct {
	*River
	Who      timelines.Account
	Access   timelines.Level   // of the page
	Subfeeds []OpenSubfeed     // those the viewer may open
	Subfeed  timelines.Subfeed // whose page this is; zero on other pages
	// Requested: the viewer asked to follow the account and waits for an answer.
	Requested bool
	// Filter is what of a group's listings the page shows; zero: all posts. Wrong is the error of its form.
	Filter ListingFilter
	Wrong  FormError
	// Profile is empty if the viewer may not read the account itself.
	Profile Profile
}

func (v Account) isSubfeed() bool { return v.Subfeed.Slug != "" }

func (v Account) IsGroup() bool { return v.Who.Kind == timelines.Group }

// IsFeed reports whether the page shows the account's posts.
func (v Account) IsFeed() bool { return v.At.Kind == rivers.User || v.IsGroup() }

// Reads reports whether the viewer may read the account itself: on the page of one of
// its sub-feeds it may be closed.
func (v Account) Reads() bool { return v.Sets.Reads(v.Who.FeedID, v.Who.Access) }

// shut returns the text that says that the viewer can neither follow nor ask to.
func (v Account) shut() string {
	if v.IsGroup() {
		return v.Locale.T("account.shut.group")
	}
	return v.Locale.T("account.shut", "who", v.Who.Title)
}

// title is what the page is called.
func (v Account) title() string {
	if v.At.Filtered {
		return v.Who.Title + " · " + v.Filter.title(v.Locale)
	}
	return v.River.title()
}

// empty returns the text in place of entries.
func (v Account) empty() string {
	if mine := v.isMe(v.Who.ID); mine && v.isSubfeed() {
		return v.Locale.T("empty.subfeed.me")
	} else if mine && v.IsFeed() {
		return v.Locale.T("empty.user.me")
	}
	return v.River.empty()
}

func (v Account) accessTitle() string {
	if v.IsGroup() {
		return v.Locale.T("groups.access")
	}
	return v.Locale.T("account.access")
}

func (v Account) writersTitle() string {
	if v.IsGroup() {
		return v.Locale.T("writers.title.group")
	}
	return v.Locale.T("account.writers")
}

// mayPost reports whether the viewer may write here: on the own page, and in a group if its
// rule allows it.
func (v Account) mayPost() bool {
	if !v.signedIn() || !v.IsFeed() && !v.isSubfeed() || !v.Top() || v.At.Filtered {
		return false
	}
	if v.IsGroup() {
		return v.MayPostTo(v.Who)
	}
	return v.isMe(v.Who.ID)
}

// unheard returns the reason why the viewer cannot post to this group; "" if there is none.
func (v Account) unheard() string {
	switch {
	case !v.signedIn() || !v.IsGroup() || !v.Top() || v.mayPost() || v.At.Filtered:
		return ""
	case v.blockedBy(v.Who.ID):
		return v.Locale.T("account.unheard.blocked")
	case v.Who.Writers == timelines.WritersAdmins:
		return v.Locale.T("account.unheard.admins")
	}
	return v.Locale.T("account.unheard.members")
}

// mayWriteTo reports whether the viewer may write to this person directly, as far as the page
// knows. Whether the person follows the viewer is checked when the form is sent.
func (v Account) mayWriteTo() bool {
	if !v.signedIn() || !v.IsFeed() || !v.Top() || v.IsGroup() || v.isMe(v.Who.ID) {
		return false
	}
	switch v.Who.Writers {
	case timelines.WritersNobody:
		return false
	case timelines.WritersMutual:
		return v.follows(v.Who.ID)
	}
	return true
}

// Composer is the page's form for a post to this account. ok: there is one.
func (v Account) Composer() (c Composer, ok bool) {
	if !v.mayPost() {
		return Composer{}, false
	}
	if v.isSubfeed() {
		return NewComposer(v.Address()).within(v.Who.Name + "/" + v.Subfeed.Slug), true
	}
	return NewComposer(v.Address(), v.Who), true
}

type Closed struct {
	*Base
	Who       timelines.Account
	Subfeed   string        // the slug of the sub-feed that is closed; empty: the account
	Subfeeds  []OpenSubfeed // those that are open
	Requested bool
	Banned    bool // by the viewer
}

// BlockedBetween reports whether a ban closes the page, on either side.
func (c Closed) BlockedBetween() bool { return c.Banned || c.Sets.BlockedBetween(c.Who.ID) }

// path is the path of the closed page.
func (c Closed) path() string { return string(accountURL(c.Who, c.Subfeed)) }

func (c Closed) isGroup() bool { return c.Who.Kind == timelines.Group }

// reason says why the page is closed.
func (c Closed) reason() string {
	switch {
	case c.Banned:
		return c.Locale.T("account.banned", "who", c.Who.Title)
	case c.BlockedBetween():
		return c.Locale.T("account.apart", "who", c.Who.Title)
	case c.leftOut(c.Who) && c.isGroup():
		return c.Locale.T("account.excluded.group", "who", c.Who.Title)
	case c.leftOut(c.Who):
		return c.Locale.T("account.excluded", "who", c.Who.Title)
	case c.Subfeed != "":
		return c.Locale.T("account.protected.page")
	case c.Who.Access == timelines.Protected:
		return c.Locale.T("account.protected.signin", "who", c.Who.Title)
	case c.isGroup():
		return c.Locale.T("account.private.group")
	}
	return c.Locale.T("account.private.user", "who", c.Who.Title)
}

// cutAbout returns the rest of a long description, after the part that firstLine shows above
// every page.
func cutAbout(text string) (rest string, long bool) {
	const most = 400 // bytes: about five lines on a phone
	if len(text) <= most {
		return "", false
	}
	first, rest, _ := strings.Cut(text, "\n")
	if firstLine(text) != first {
		return text, true
	}
	return rest, true
}

// firstLine returns the beginning of a longer text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return ShortText(line, 120)
}

// ShortText returns at most n characters of a text, without characters that turn the
// direction of the text behind them.
func ShortText(text string, n int) string { return markup.ShortText(text, n) }
