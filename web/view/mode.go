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

// modeOf is the mode of the page at an address. One that says none shows what
// the viewer of the sets chose, at its top; an older page goes on where it began,
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

// ModeParam is what the addresses of a page and of what it leads to say of its mode.
// They always do: what is followed, answered and returned to is what was shown,
// whatever its reader chooses for addresses that say nothing.
func ModeParam(n rivers.Name) string {
	switch {
	case !n.Kind.HasModes():
		return ""
	case n.Mode() == rivers.FriendsOnly:
		return ModeFriends
	}
	return ModeActivity
}

// InMode is the address of the same page in a mode.
func (v *River) inMode(m rivers.Mode) string {
	return RiverAddress(v.Path, v.Order, ModeParam(v.Page.Name.In(m)), "")
}
