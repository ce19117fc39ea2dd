package rivers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/access"
)

// Visit returns a page of a river (source: 004; protocol, steps 7 and 8). It builds the
// river on its first visit and extends it when older entries are asked for, down to the
// river's depth. Entries below that come from the primary store (see depth.go). A warm page
// is one SQL statement.
//
// A page may come out short, even empty, though older entries exist, if finding them would
// take too long (see maxExtensions). More and Next say how to go on.
//
// Errors: ErrForbidden (the page exists and is closed to this viewer), ErrNotFound,
// timelines.ErrSignedOut (the viewer's session ended), snapshot.ErrBroad (of a search).
func (s *Store) Visit(ctx context.Context, v timelines.Viewer, n Name, before Cursor) (*Page, error) {
	if err := s.catchUpSearch(ctx, n); err != nil {
		return nil, err
	}
	r := visit{store: s, viewer: v, name: n, before: before, at: before, page: &Page{Name: n}}
	for full := false; !full; {
		loads, began := s.loads(), time.Now()
		raw, err := s.readUndecoded(ctx, n, r.at, PageSize+1)
		if err != nil {
			return nil, err
		}
		sets, err := s.admit(ctx, v, n, raw.clock)
		if err != nil {
			return nil, err
		}
		// While the caches are at the page's clock, as for a decision.
		if label, _ := s.access.Label(); raw.found && r.page.River == 0 && label == raw.clock {
			if page := s.decided.get(decidedKey{n, before}, &raw, sets, began, loads); page != nil {
				s.maintenance.visited(page.River)
				return page, nil
			}
		}
		if err := raw.decode(); err != nil {
			return nil, err
		}
		switch {
		case !raw.found:
			err = r.build(ctx)
		case r.overtaken(raw):
			err = r.restart()
		case r.outdated(raw):
			err = s.catchUpSearch(ctx, n)
		default:
			if r.page.Began.IsZero() {
				r.page.Began = began
			}
			full, err = r.take(ctx, raw, sets, loads)
		}
		if err != nil {
			return nil, err
		}
	}
	if specs[n.Kind].page == ofPost && len(r.page.Items) == 0 {
		return nil, ErrNotFound
	}
	s.maintenance.visited(r.page.River)
	return r.page, nil
}

// maxExtensions bounds how much older a page may be than the stored entries (3,000 posts),
// so that no single request stores the whole history, least of all an anonymous one with a
// made-up cursor. maxInVain bounds how many extensions a request waits for that bring
// nothing its viewer may read. A visit builds at most maxBuilds rivers that vanish again,
// and updates a search at most maxUpdates times after the first. After
// patientRestarts a page ends with its next reading.
const (
	maxExtensions   = 40
	maxInVain       = 3
	maxBuilds       = 5
	maxUpdates      = 3
	patientRestarts = 5
)

// visit is a page under way: what was read of it so far, and where it goes on.
type visit struct {
	store  *Store
	viewer timelines.Viewer
	name   Name
	before Cursor // where the page begins
	at     Cursor // where to read on
	page   *Page
	clock  timelines.Clock // of everything on the page

	builds, extensions, inVain, updates, restarts int // how often each was done
}

// build makes the river, if there may be one.
func (r *visit) build(ctx context.Context) error {
	if r.builds++; r.builds > maxBuilds {
		return fmt.Errorf("%s river keeps vanishing: %w", r.name.Kind, ErrUnavailable)
	}
	if err := r.store.preflight(ctx, r.name); err != nil {
		return err
	}
	return r.store.build(ctx, r.name, ForVisit, nil)
}

// overtaken reports whether earlier readings of this visit belong to another generation,
// swapped between two statements, or were decided before a change of access that was
// acknowledged meanwhile. A page is of one moment (see consistent).
func (r *visit) overtaken(raw rawPage) bool {
	return r.page.River != 0 && (r.page.River != raw.river || r.clock != raw.clock)
}

// restart forgets what was read, so that the page begins again.
func (r *visit) restart() error {
	if r.restarts++; r.restarts > maxOvertaken {
		return errOvertaken
	}
	r.page, r.at = &Page{Name: r.name}, r.before
	return nil
}

// outdated reports whether posts changed since the search was updated. Posts that change
// all the time are left out of the page at last.
func (r *visit) outdated(raw rawPage) bool {
	if r.updates == maxUpdates || !slices.ContainsFunc(raw.entries, rawEntry.outdated) {
		return false
	}
	r.updates++
	return true
}

// take adds to the page what its viewer may see of a reading. It reports whether the page
// is full, or all there is for now.
func (r *visit) take(ctx context.Context, raw rawPage, sets *access.Sets, loads uint64) (full bool, err error) {
	first := r.page.River == 0
	r.page.River, r.page.Sets, r.clock = raw.river, sets, raw.clock
	r.page.Label = raw.label()
	items, newer, err := r.store.decide(ctx, r.name, sets, raw.label(), raw.entries)
	if err != nil {
		return false, err
	}
	r.page.At = Moment{raw.clock, r.store.loads()} // anything loaded from here on may be newer
	if ok, err := r.store.consistent(ctx, raw.clock, loads, newer); err != nil || !ok {
		return false, errors.Join(err, r.restart())
	}
	full = r.page.add(items)
	// A search says by itself whether its rows are still right, notifications are read in memory first, and an
	// empty page costs nothing.
	alone := full || raw.finished && len(raw.entries) <= PageSize
	if first && alone && !newer && len(items) > 0 && !r.name.Kind.IsSearch() && !specs[r.name.Kind].notices {
		r.store.decided.put(decidedKey{r.name, r.before}, raw, r.page)
	}
	if full {
		return true, nil
	}
	if k := len(raw.entries); k > 0 {
		last := raw.entries[k-1]
		r.at = Cursor{Place: last.Place, PostID: last.PostID}
	}
	switch {
	case len(raw.entries) > PageSize && r.restarts >= patientRestarts:
		r.endAt(r.at.Place)
		return true, nil
	case len(raw.entries) > PageSize:
		// Some entries were not for this viewer, so read on.
		pause(ctx, betweenReads)
		return false, nil
	case raw.finished:
		return true, nil
	}
	return r.deepen(ctx, raw, len(items))
}

// endAt ends a page before it is full. Above that place nothing is left for its viewer.
func (r *visit) endAt(place int64) { r.page.More, r.page.Next = true, NextBelow(place, r.before) }

// deepen goes on below the floor. It extends the river or, if the river is as deep as it is
// kept, fills the page up from the primary store. taken is how many entries the last
// reading brought. If the page would take too long it ends here, and says where it goes on.
func (r *visit) deepen(ctx context.Context, raw rawPage, taken int) (full bool, err error) {
	remaining, err := r.store.remaining(ctx, r.name, raw.river)
	if err != nil {
		return false, err
	}
	if remaining <= 0 {
		return r.readBeyond(ctx, raw.floor)
	}
	// The last extension brought nothing for this viewer.
	if r.extensions > 0 && taken == 0 && r.at.Place >= raw.floor {
		r.inVain++
	}
	if r.extensions++; r.extensions > maxExtensions || r.inVain > maxInVain {
		r.page.More, r.page.Next = true, r.before
		if r.before.Top() || r.before.Place >= raw.floor {
			r.page.Next = NextBelow(raw.floor, r.at)
		}
		return true, nil
	}
	return false, r.store.extend(ctx, r.name, raw.river, raw.floor, remaining)
}
