package view

import (
	"net/url"

	"riverrun/rivers"
	"riverrun/timelines/access"
)

// The modes as addresses name them.
const (
	ModeActivity = "activity"
	ModeFriends  = "friends"
)

// modeOf returns the mode of the page at an address. An address without one shows, at its
// top, the mode that the viewer of the sets chose. An older page keeps the mode it began in,
// and so do its socket and its forms, which have no sets.
func modeOf(sets *access.Sets, query url.Values) rivers.Mode {
	switch query.Get("mode") {
	case ModeFriends:
		return rivers.FriendsOnly
	case ModeActivity:
		return rivers.WithActivity
	}
	if sets != nil && sets.FriendsOnly && !query.Has("before") {
		return rivers.FriendsOnly
	}
	return rivers.WithActivity
}

// InMode is the river of the same page in the mode of its address, if it has modes.
func InMode(n rivers.Name, sets *access.Sets, query url.Values) rivers.Name {
	if !n.Kind.HasModes() {
		return n
	}
	return n.In(modeOf(sets, query))
}

// ModeParam returns the parameter for the mode in the addresses of a page and of its links.
// They always have it, so that the socket, the forms and the links concern the page that was
// shown, whatever its viewer chooses for addresses without a mode.
func ModeParam(n rivers.Name) string {
	switch {
	case !n.Kind.HasModes():
		return ""
	case n.Mode() == rivers.FriendsOnly:
		return ModeFriends
	}
	return ModeActivity
}

// inMode returns the address of the same page in a mode.
func (v *River) inMode(m rivers.Mode) string {
	return RiverAddress(v.Path, v.Order, ModeParam(v.Page.Name.In(m)), "")
}
