package web

import (
	"context"
	"net/http"
	"net/url"

	"riverrun/rivers"
	"riverrun/timelines"
)

// The modes as addresses name them.
const (
	modeActivity = "activity"
	modeFriends  = "friends"
)

// modeOf is the mode of the page at an address. One that says none shows what
// the viewer of the sets chose, at its top; an older page goes on where it began,
// and so do its socket and its forms, which have no sets.
func modeOf(sets *timelines.Sets, query url.Values) rivers.Mode {
	switch query.Get("mode") {
	case modeFriends:
		return rivers.FriendsOnly
	case modeActivity:
		return rivers.WithActivity
	}
	if sets != nil && sets.FriendsOnly && !query.Has("before") {
		return rivers.FriendsOnly
	}
	return rivers.WithActivity
}

// inMode is the river of the same page in the mode of its address, if it has modes.
func inMode(n rivers.Name, sets *timelines.Sets, query url.Values) rivers.Name {
	if !n.Kind.HasModes() {
		return n
	}
	return n.In(modeOf(sets, query))
}

// sayMode is what the addresses of a page and of what it leads to say of its mode.
// They always do: what is followed, answered and returned to is what was shown,
// whatever its reader chooses for addresses that say nothing.
func sayMode(n rivers.Name) string {
	switch {
	case !n.Kind.HasModes():
		return ""
	case n.Mode() == rivers.FriendsOnly:
		return modeFriends
	}
	return modeActivity
}

// inMode is the address of the same page in a mode.
func (v *riverView) inMode(m rivers.Mode) string {
	return riverAddress(v.path, v.order, sayMode(v.page.Name.In(m)), "")
}

func (s *Server) setMode(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	mode := r.PostFormValue("mode")
	var err error = &timelines.InvalidError{Field: "mode", Code: "mode_unknown"}
	if mode == modeFriends || mode == modeActivity {
		_, err = s.act(r, func(ctx context.Context) (timelines.Change, error) {
			return s.timelines.SetFriendsOnly(ctx, r.viewer.AccountID, mode == modeFriends)
		})
	}
	if err != nil {
		return s.settingsAgain(w, r, err, func(*settingsView) {})
	}
	return s.done(w, r, "/settings?saved")
}
