package view

import (
	"net/url"

	"riverrun/timelines"
)

// A ListPart is one page of a list on a page that may have several. Its address has the
// list's name for a parameter, which says after what it begins, and for a fragment:
// the list's section has it for an id.
type ListPart struct {
	Path, List  string
	After, Next string // where this part begins and the next one does; "" is the beginning, or none
}

// at is the address of the part that begins there.
func (p ListPart) at(after string) string {
	if after == "" {
		return p.Path
	}
	return p.Path + "?" + url.Values{p.List: {after}}.Encode() + "#" + p.List
}

// here is the address to which forms of the part lead back.
func (p ListPart) here() string { return p.at(p.After) }

// further is the address of the next part.
func (p ListPart) further() string { return p.at(p.Next) }

// Cut takes off the account that was read beyond the part, if there are DirectoryPage+1 of
// them.
func (p *ListPart) Cut(list []timelines.Account) []timelines.Account {
	list, p.Next = FirstPage(list)
	return list
}
