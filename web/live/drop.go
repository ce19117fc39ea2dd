package live

import (
	"context"

	"riverrun/rivers"
)

// drop forgets the entries that the client took off the screen by itself. An entry that was
// sent again meanwhile may or may not be there: it counts as shown at an unknown stamp, so that
// a comparison sends it whole. If the last ok said that nothing is below the page, another ok
// takes that back, as the two frames may have crossed; unless an ok is owed anyway.
func (v *shownPage) drop(ctx context.Context, f *dropFrame) error {
	if f.river != v.river {
		return nil
	}
	below := v.more
	var highest rivers.Cursor // the position of the highest entry dropped
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

// lowestAbove returns the position of the lowest entry shown above a position; the top if there
// is none.
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
