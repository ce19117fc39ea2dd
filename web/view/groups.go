package view

import (
	"riverrun/timelines"
)

// DirectoryPage is how many accounts a directory shows at once.
const DirectoryPage = 100

// Groups is the directory of groups as components see it.
type Groups struct {
	*Base
	Directory
	Mine []timelines.Account
	Form GroupForm
	Gone bool // the viewer has just deleted one
}

// Directory is a page of people or groups: all by title, or those that are asked for.
type Directory struct {
	Query string // what is asked for
	Error string // what is wrong with it
	All   []timelines.Account
	After string // where this page begins
	Next  string // where the next one does, "" if there is none
}

// whole reports whether this is the first page of all.
func (d Directory) whole() bool { return d.After == "" && d.Query == "" }

// GroupForm is the form for a new group, empty or as it was sent.
type GroupForm struct {
	Name, Title, About string
	Access             timelines.Level
	Error              FormError
}

// FirstPage cuts a list of accounts by name, of up to DirectoryPage+1, to a page, and returns
// the name after which the next page begins, "" if there is none.
func FirstPage(list []timelines.Account) (page []timelines.Account, next string) {
	if len(list) <= DirectoryPage {
		return list, ""
	}
	page = list[:DirectoryPage]
	return page, page[DirectoryPage-1].Name
}

// LevelOf reads a level out of a form. It has to be chosen: InvalidError
// "level_unknown".
func LevelOf(text string) (timelines.Level, error) {
	level, ok := timelines.ParseLevel(text)
	if !ok {
		return 0, &timelines.InvalidError{Field: "level", Code: "level_unknown"}
	}
	return level, nil
}

const (
	// suggestedAlone is how many accounts an empty home page suggests.
	suggestedAlone = 6
	// suggestedBesides is how many the column beside a page has room for.
	suggestedBesides = 3
)

// few are at most three of a list.
func few(list []timelines.Account) []timelines.Account { return list[:min(3, len(list))] }

// MayFollow reports whether the viewer may read an account that is suggested to them, and does
// not hide it.
func (p *Base) MayFollow(a timelines.Account) bool {
	act, _, _ := p.followAct(a)
	return act == "follow" && !p.hides(a.ID)
}

// followAct is what the button beside an account in a list does, what it says and how it
// looks; act is empty if there is no button.
func (p *Base) followAct(a timelines.Account) (act, label, class string) {
	reads := p.Sets.Reads(a.FeedID, a.Access)
	switch group := a.Kind == timelines.Group; {
	case !p.signedIn() || p.isMe(a.ID) || p.Sets.BlockedBetween(a.ID):
		return "", "", ""
	case p.follows(a.ID) && group && a.Access == timelines.Private:
		return "", "", ""
	case p.follows(a.ID) && group:
		return "unfollow", p.Locale.T("account.leave"), "quiet"
	case p.follows(a.ID):
		return "unfollow", p.Locale.T("account.unfollow"), "quiet"
	case !reads || p.shuts(a):
		return "", "", "" // its page offers what can be done
	case group:
		return "follow", p.Locale.T("account.join"), ""
	}
	return "follow", p.Locale.T("account.follow"), ""
}
