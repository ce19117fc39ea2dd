package live

import (
	"context"

	"riverrun/rivers"
)

// drop forgets what the client took off the screen by itself. An entry that was
// sent anew meanwhile may or may not be there again: it is treated as shown, but
// long ago, so that a comparison sends it whole. If the last ok said that there is no
// more below, another takes that back, as the two may have crossed; unless one is owed.
func (v *shownPage) drop(ctx context.Context, f *dropFrame) error {
	if f.river != v.river {
		return nil
	}
	below := v.more
	var highest rivers.Cursor // of those dropped
	for id, e := range v.shown {
		at, dropped := f.entries[e.code]
		if !dropped {
			continue
		}
		v.more = true
		if stood := (rivers.Cursor{Place: e.position, PostID: id}); highest.Top() || stood.Above(highest) {
			highest = stood
		}
		if newer(e.stamp, at.Stamp) {
			e.forget()
		} else {
			delete(v.shown, id)
		}
	}
	if !highest.Top() && (!below || !v.floor.Above(highest)) {
		v.floor = v.lowestAbove(highest)
	}
	if v.more == below || v.owed {
		return nil
	}
	return v.sendOK(ctx)
}

// lowestAbove is the lowest entry that is shown above some place; the top if none is.
func (v *shownPage) lowestAbove(above rivers.Cursor) rivers.Cursor {
	var found rivers.Cursor
	for id, e := range v.shown {
		at := rivers.Cursor{Place: e.position, PostID: id}
		if at.Above(above) && (found.Top() || found.Above(at)) {
			found = at
		}
	}
	return found
}
