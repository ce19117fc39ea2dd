package view

import (
	"time"

	"riverrun/rivers"
	"riverrun/timelines/reads"
)

// awayAfter is how long a person must be gone from the home page until it says what is new.
const awayAfter = time.Hour

// lastVisit is when the viewer last looked at the home page, in microseconds; 0 if this is
// another page, if that was a short while ago, or if it is not known.
func (v *River) lastVisit() int64 {
	if v.RiverName.Kind != rivers.Home || !v.Top() {
		return 0
	}
	at, ok := v.marks.Seen(reads.Home)
	if !ok || v.Now.Sub(time.UnixMicro(at)) < awayAfter {
		return 0
	}
	return at
}

// seenBefore is the index of the first entry that did not move since the viewer's last visit,
// the number of entries if all did, and 0 if none did or nobody was away.
func (v *River) seenBefore() int {
	at := v.lastVisit()
	if at == 0 {
		return 0
	}
	for i := range v.Page.Items {
		if v.Page.Items[i].Place <= at {
			return i
		}
	}
	return len(v.Page.Items)
}

// away says how many entries came or moved up since the viewer's last visit, "" if none did.
func (v *River) away() string {
	switch n := v.seenBefore(); {
	case n == 0:
		return ""
	case n == len(v.Page.Items) && v.Page.More:
		return v.Locale.T("away.more", "n", v.Locale.Number(n))
	default:
		return v.Locale.N("away", n)
	}
}
