package rivers

import (
	"context"
	"errors"
	"maps"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
)

// Watch is a page open in a browser: its viewer, its river, and which generation of that is
// on the screen (0: whichever stands).
type Watch struct {
	Viewer timelines.Viewer
	Name   Name
	River  int64
	// Beyond: the page shows posts below the depth to which the river is kept, and posts
	// there are looked for too, in the primary store. It is meant for few posts.
	Beyond bool
	// Still: the page follows no river. Seen says nothing of posts then, and is never Swapped.
	Still bool
}

// Seen is what a watch may see now of the posts it was asked about.
type Seen struct {
	// River is the generation that stands, 0 if none does.
	River int64
	// Swapped says that the generation on the screen is not the present one, or that there
	// is none. The page must visit again; nothing else here is filled.
	Swapped bool
	// SignedOut: the viewer's session ended.
	SignedOut bool
	// Closed: the viewer may not open this page any more.
	Closed bool
	// Items are the posts that the river holds for this viewer. Gone are posts that it held
	// and holds no more, or that the viewer may not see.
	Items []Item
	Gone  []Gone
	Sets  *access.Sets
	// Label is what the viewer's notifications were; see Unread.
	Label notices.Label
	// Began is when the deciding statement was sent.
	Began time.Time
}

// Gone is an entry to take off the screen.
type Gone struct {
	PostID int64
	Code   string
	Stamp  Stamp
}

// stands reports whether the watch may see the generation that is on its screen.
func (s *Seen) stands() bool { return !s.SignedOut && !s.Closed && !s.Swapped }

// watchedRivers are the distinct rivers of some watches, with what a statement read of
// each. A river stands twice if some of its watches look beyond its depth.
type watchedRivers struct {
	watches []Watch
	index   []int // the river of each watch, in the lists below

	// These stand side by side, one of each river.
	names  []Name
	beyond []bool
	raws   []rawPage
	sets   []*access.Sets // those it is decided with; nil if no watch may see it

	began time.Time // when the statement was sent
	loads uint64    // how much the caches had loaded before it
	newer bool      // something was read after it
}

func watchedBy(watches []Watch) *watchedRivers {
	type river struct {
		name   Name
		beyond bool
	}
	at := make(map[river]int, len(watches))
	r := &watchedRivers{watches: watches, index: make([]int, len(watches))}
	for i, w := range watches {
		key := river{w.Name, w.Beyond}
		k, ok := at[key]
		if !ok {
			k = len(r.names)
			at[key] = k
			r.names, r.beyond = append(r.names, w.Name), append(r.beyond, w.Beyond)
		}
		r.index[i] = k
	}
	r.sets = make([]*access.Sets, len(r.names))
	return r
}

// readWatched runs a statement over the rivers' names with these arguments.
func (s *Store) readWatched(ctx context.Context, r *watchedRivers, query string, args pgx.StrictNamedArgs) (err error) {
	maps.Copy(args, namesArgs(r.names))
	r.loads, r.began = s.loads(), time.Now()
	if r.raws, err = s.readRivers(ctx, query, args, len(r.names)); err != nil {
		return err
	}
	for k := range r.raws {
		if err := r.raws[k].decode(); err != nil {
			return err
		}
	}
	return nil
}

// decideWatched decides the entries that were read. For each watch it decides whether its
// viewer may see the river now; the result stands in the order of the watches. It decides
// the entries of a river once for all its watches, and calls each for every one of them, as
// decideMany does. It reports whether the decision is consistent.
func (s *Store) decideWatched(ctx context.Context, r *watchedRivers, each func(k int, it Item, shown bool)) (
	seen []Seen, consistent bool, err error,
) {
	seen = make([]Seen, len(r.watches))
	if len(seen) == 0 {
		return seen, true, nil
	}
	var all []undecided
	var of []int // the river of each undecided
	for i, w := range r.watches {
		k := r.index[i]
		if err := s.seeRiver(ctx, w, r.raws[k], &seen[i]); err != nil {
			return nil, false, err
		}
		seen[i].Began = r.began
		if r.sets[k] == nil && seen[i].stands() && !w.Still {
			r.sets[k] = seen[i].Sets
			all = append(all, undecided{name: w.Name, sets: r.sets[k], label: r.raws[k].label(), entries: r.raws[k].entries})
			of = append(of, k)
		}
	}
	newer, err := s.decideMany(ctx, all, func(i int, it Item, shown bool) { each(of[i], it, shown) })
	if err != nil {
		return nil, false, err
	}
	consistent, err = s.consistent(ctx, r.raws[0].clock, r.loads, newer || r.newer)
	return seen, consistent, err
}

// seeRiver fills in whether a watch may see the river that was read, and with which sets.
func (s *Store) seeRiver(ctx context.Context, w Watch, raw rawPage, seen *Seen) (err error) {
	seen.River, seen.Label = raw.river, raw.label()
	seen.Sets, err = s.admit(ctx, w.Viewer, w.Name, raw.clock)
	switch {
	case errors.Is(err, timelines.ErrSignedOut):
		seen.Sets, seen.SignedOut = nil, true
	case errors.Is(err, ErrForbidden), errors.Is(err, ErrNotFound):
		seen.Sets, seen.Closed = nil, true
	case err != nil:
		return err
	default:
		seen.Swapped = !w.Still && (!raw.found || w.River != 0 && w.River != raw.river)
	}
	return nil
}

func namesArgs(list []Name) pgx.StrictNamedArgs {
	size := len(list)
	users, theirs := make([]int64, size), make([]int64, size)
	kinds, terms, orders := make([]string, size), make([]string, size), make([]string, size)
	for i, x := range list {
		users[i], kinds[i], theirs[i], terms[i], orders[i] = x.UserID, string(x.Kind), x.TheirID, x.Term, string(x.Order)
	}
	return pgx.StrictNamedArgs{"users": users, "kinds": kinds, "theirs": theirs, "terms": terms, "orders": orders}
}

// watched is the FROM clause of a statement over many rivers by name. In this form each
// river is found for itself, and so are the rows that such statements join to it, whatever
// the server knows of the tables. Until it has counted them, as after a crash, it would
// otherwise join all rivers, and all entries of a post.
const watched = `
	FROM clock c
	CROSS JOIN unnest(@users::bigint[], @kinds::text[], @theirs::bigint[], @terms::text[], @orders::text[])
		WITH ORDINALITY AS w(user_id, kind, their_id, term, ord, i)
	LEFT JOIN LATERAL (
		SELECT * FROM rivers r
		WHERE r.user_id = w.user_id AND r.kind = w.kind AND r.their_id = w.their_id
			AND r.term = w.term AND r.ord = w.ord AND r.state = 'live' AND r.epoch = c.epoch
		LIMIT 1) r ON true
	LEFT JOIN notice_clocks k ON k.account_id = w.user_id`

// Flush returns what each watch may see now of these posts, in the order of the watches. It
// is one statement for all watches and posts, decided as a page is, so that a push shows
// nothing that a page would not. With no posts it still says which viewers were signed out
// and which rivers were swapped. Entries of searches are updated first if their posts
// changed; posts that a search may newly find are left to BringUp.
func (s *Store) Flush(ctx context.Context, watches []Watch, posts []int64) ([]Seen, error) {
	return s.flush(ctx, watches, posts, math.MaxInt64)
}

// flush is Flush, down to the river's floor or to depth, whichever is lower.
func (s *Store) flush(ctx context.Context, watches []Watch, posts []int64, depth int64) ([]Seen, error) {
	return untilConsistent(watches, func(watches []Watch) ([]Seen, bool, error) {
		return s.flushOnce(ctx, watches, posts, depth)
	})
}

// flushOnce is flush, and reports whether what it decided is consistent.
func (s *Store) flushOnce(ctx context.Context, watches []Watch, posts []int64, depth int64) ([]Seen, bool, error) {
	const query = `
		SELECT w.i, ` + rawColumns + watched + `
		LEFT JOIN LATERAL (
			SELECT * FROM entries e
			WHERE e.river_id = r.id AND e.post_id = ANY(@posts::bigint[])
				AND (e.fresh_at >= least(r.floor, @depth::bigint) OR e.deleted)
			LIMIT cardinality(@posts::bigint[])) e ON true
		ORDER BY w.i, e.fresh_at DESC, e.post_id DESC`
	r := watchedBy(watches)
	if err := s.bringUpShown(ctx, r.names, posts); err != nil {
		return nil, false, err
	}
	if err := s.readWatched(ctx, r, query, pgx.StrictNamedArgs{"posts": posts, "depth": depth}); err != nil {
		return nil, false, err
	}
	for k, n := range r.names {
		if r.beyond[k] {
			r.newer = true
			if err := s.addBeyond(ctx, n, &r.raws[k], posts); err != nil {
				return nil, false, err
			}
		}
	}
	items, gone := make([][]Item, len(r.names)), make([][]Gone, len(r.names))
	seen, consistent, err := s.decideWatched(ctx, r, func(k int, it Item, shown bool) {
		if shown {
			items[k] = append(items[k], it)
			return
		}
		g := Gone{PostID: it.PostID, Stamp: it.Stamp}
		if it.Fold != nil {
			g.Code = it.Fold.Text.Code
		}
		gone[k] = append(gone[k], g)
	})
	for i := range seen {
		if seen[i].stands() {
			seen[i].Items, seen[i].Gone = items[r.index[i]], gone[r.index[i]]
		}
	}
	return seen, consistent, err
}

// FirstPages returns the first page of each watch's river, decided, in one statement; nil
// if the generation on the screen does not stand any more or the viewer may not see it. It
// builds and extends nothing. It is for comparing open pages with their rivers from time to
// time. Posts that changed since a search was updated are not on its page.
func (s *Store) FirstPages(ctx context.Context, watches []Watch) ([]*Page, error) {
	return untilConsistent(watches, func(watches []Watch) ([]*Page, bool, error) { return s.firstPagesOnce(ctx, watches) })
}

// firstPagesOnce is FirstPages, and reports whether what it decided is consistent.
func (s *Store) firstPagesOnce(ctx context.Context, watches []Watch) ([]*Page, bool, error) {
	const query = `
		SELECT w.i, ` + rawColumns + watched + `
		LEFT JOIN LATERAL (
			SELECT post_id, version, fresh_at, deleted, per_river_folded FROM entries
			WHERE river_id = r.id AND NOT deleted AND fresh_at >= r.floor
			ORDER BY fresh_at DESC, post_id DESC LIMIT @limit) e ON true
		ORDER BY w.i, e.fresh_at DESC, e.post_id DESC`
	r := watchedBy(watches)
	if err := s.readWatched(ctx, r, query, pgx.StrictNamedArgs{"limit": PageSize + 1}); err != nil {
		return nil, false, err
	}
	pages := make([]*Page, len(r.names))
	for k, n := range r.names {
		raw := &r.raws[k]
		pages[k] = &Page{Name: n, River: raw.river, More: !raw.finished, Began: r.began, At: Moment{raw.clock, r.loads}, Label: raw.label()}
		if len(raw.entries) > PageSize {
			raw.entries, pages[k].More = raw.entries[:PageSize], true
		}
	}
	seen, consistent, err := s.decideWatched(ctx, r, func(k int, it Item, shown bool) {
		if shown {
			pages[k].Items = append(pages[k].Items, it)
			pages[k].Next = Cursor{Place: it.Place, PostID: it.PostID}
		}
	})
	of := make([]*Page, len(seen))
	for i := range seen {
		if k := r.index[i]; seen[i].stands() {
			of[i], pages[k].Sets = pages[k], r.sets[k]
		}
	}
	return of, consistent, err
}
