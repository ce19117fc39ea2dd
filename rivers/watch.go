package rivers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/access"
)

// Watch is a page open in a browser: who looks at which river, and which
// generation of it is on the screen (0: whichever stands).
type Watch struct {
	Viewer timelines.Viewer
	Name   Name
	River  int64
	// Beyond: posts below the depth to which the river is kept are looked for too,
	// in the primary store. For few posts, of a page that shows such.
	Beyond bool
}

// Seen is what a watch may see now of the posts asked about.
type Seen struct {
	// River is the generation that stands, 0 if none does.
	River int64
	// Swapped: the generation on the screen is not the one that stands (or none
	// is). Visit again; nothing else here is filled.
	Swapped bool
	// SignedOut: the viewer's session ended.
	SignedOut bool
	// Closed: the viewer may not open this page any more.
	Closed bool
	// Items are those of the posts that the river holds for this viewer; Gone those
	// it held and does not, or that the viewer may not see.
	Items []Item
	Gone  []Gone
	Sets  *access.Sets
	// Began is when the statement was sent that the decision begins with.
	Began time.Time
}

// Gone is an entry to be taken off the screen.
type Gone struct {
	PostID int64
	Code   string
	Stamp  Stamp
}

// names gathers the distinct river names of some watches, apart for those that
// look beyond the depth.
type names struct {
	list   []Name
	beyond []bool // side by side with list
	index  []int  // of each watch into list
}

func namesOf(watches []Watch) names {
	type looked struct {
		name   Name
		beyond bool
	}
	at := make(map[looked]int, len(watches))
	n := names{index: make([]int, len(watches))}
	for i, w := range watches {
		key := looked{w.Name, w.Beyond}
		k, ok := at[key]
		if !ok {
			k = len(n.list)
			at[key] = k
			n.list, n.beyond = append(n.list, w.Name), append(n.beyond, w.Beyond)
		}
		n.index[i] = k
	}
	return n
}

func (n names) args() pgx.StrictNamedArgs { return namesArgs(n.list) }

func namesArgs(list []Name) pgx.StrictNamedArgs {
	size := len(list)
	users, theirs := make([]int64, size), make([]int64, size)
	kinds, terms, orders := make([]string, size), make([]string, size), make([]string, size)
	for i, x := range list {
		users[i], kinds[i], theirs[i], terms[i], orders[i] = x.UserID, string(x.Kind), x.TheirID, x.Term, string(x.Order)
	}
	return pgx.StrictNamedArgs{"users": users, "kinds": kinds, "theirs": theirs, "terms": terms, "orders": orders}
}

// watched is the FROM clause of a statement over many rivers by name. In this form, as
// in that of what such statements join to it, each river is found for itself, whatever
// the server makes of how many there are: until it has counted them, as after a crash, it
// would join all there are, and all entries of a post.
const watched = `
	FROM clock c
	CROSS JOIN unnest(@users::bigint[], @kinds::text[], @theirs::bigint[], @terms::text[], @orders::text[])
		WITH ORDINALITY AS w(user_id, kind, their_id, term, ord, i)
	LEFT JOIN LATERAL (
		SELECT * FROM rivers r
		WHERE r.user_id = w.user_id AND r.kind = w.kind AND r.their_id = w.their_id
			AND r.term = w.term AND r.ord = w.ord AND r.state = 'live' AND r.epoch = c.epoch
		LIMIT 1) r ON true`

// Flush returns what each watch may see now of these posts: one statement for
// all watches and posts, decided as a page is, so that a push cannot show what a
// page would not. With no posts it still says who was signed out and whose river
// was swapped. What changed of what stands in searches is looked at first; what they may
// find besides is for BringUp. The result stands in the order of the watches.
func (s *Store) Flush(ctx context.Context, watches []Watch, posts []int64) ([]Seen, error) {
	return s.flush(ctx, watches, posts, math.MaxInt64)
}

// flush is Flush, down to the river's floor or depth, whichever is lower.
func (s *Store) flush(ctx context.Context, watches []Watch, posts []int64, depth int64) ([]Seen, error) {
	return untilHeld(watches, func(watches []Watch) ([]Seen, bool, error) {
		return s.flushOnce(ctx, watches, posts, depth)
	})
}

// flushOnce is flush, and reports whether what it decided holds.
func (s *Store) flushOnce(ctx context.Context, watches []Watch, posts []int64, depth int64) ([]Seen, bool, error) {
	const query = `
		SELECT c.epoch, c.n, w.i, r.id, r.finished, r.floor, e.post_id, e.version, e.fresh_at, e.deleted, e.per_river_folded,
			(SELECT version FROM folds f WHERE f.post_id = e.post_id)` +
		watched + `
		LEFT JOIN LATERAL (
			SELECT * FROM entries e
			WHERE e.river_id = r.id AND e.post_id = ANY(@posts::bigint[])
				AND (e.fresh_at >= least(r.floor, @depth::bigint) OR e.deleted)
			LIMIT cardinality(@posts::bigint[])) e ON true
		ORDER BY w.i, e.fresh_at DESC, e.post_id DESC`
	n := namesOf(watches)
	if err := s.bringUpShown(ctx, n.list, posts); err != nil {
		return nil, false, err
	}
	args := n.args()
	args["posts"], args["depth"] = posts, depth
	loads, began := s.loads(), time.Now()
	raws, err := s.readMany(ctx, query, args, len(n.list))
	if err != nil {
		return nil, false, err
	}
	later := false // some of it was read after that statement
	for k := range n.list {
		if n.beyond[k] {
			later = true
			if err := s.addBeyond(ctx, n.list[k], &raws[k], posts); err != nil {
				return nil, false, err
			}
		}
	}
	seen := make([]Seen, len(watches))
	decidedAt := make([]int, len(n.list)) // which watch's admission decided the river; -1 none
	for i := range decidedAt {
		decidedAt[i] = -1
	}
	var all []undecided
	var of []int // the river each undecided is of
	for i, w := range watches {
		k := n.index[i]
		raw := raws[k]
		seen[i].River, seen[i].Began = raw.river, began
		sets, err := s.admit(ctx, w.Viewer, w.Name, raw.clock)
		switch {
		case errors.Is(err, timelines.ErrSignedOut):
			seen[i].SignedOut = true
			continue
		case errors.Is(err, ErrForbidden), errors.Is(err, ErrNotFound):
			seen[i].Closed = true
			continue
		case err != nil:
			return nil, false, err
		}
		seen[i].Sets = sets
		if !raw.found || w.River != 0 && w.River != raw.river {
			seen[i].Swapped = true
		}
		if decidedAt[k] < 0 && raw.found {
			decidedAt[k] = len(all)
			all = append(all, undecided{name: w.Name, sets: sets, entries: raw.entries})
			of = append(of, k)
		}
	}
	items, gone := make([][]Item, len(n.list)), make([][]Gone, len(n.list))
	newer, err := s.decideMany(ctx, all, func(river, _ int, it Item, shown bool) {
		k := of[river]
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
	if err != nil {
		return nil, false, err
	}
	for i := range watches {
		if !seen[i].SignedOut && !seen[i].Closed && !seen[i].Swapped {
			seen[i].Items, seen[i].Gone = items[n.index[i]], gone[n.index[i]]
		}
	}
	if len(watches) == 0 {
		return seen, true, nil
	}
	held, err := s.held(ctx, raws[0].clock, loads, newer || later)
	return seen, held, err
}

// Fronts returns the first page of each watch's river in one statement, decided;
// nil where the generation on the screen does not stand any more or the viewer
// may not see it. It builds and extends nothing: it is for comparing open pages with
// their rivers from time to time. Posts that changed since a search was brought up are
// not on its page.
func (s *Store) Fronts(ctx context.Context, watches []Watch) ([]*Page, error) {
	return untilHeld(watches, func(watches []Watch) ([]*Page, bool, error) { return s.frontsOnce(ctx, watches) })
}

// frontsOnce is Fronts, and reports whether what it decided holds.
func (s *Store) frontsOnce(ctx context.Context, watches []Watch) ([]*Page, bool, error) {
	const query = `
		SELECT c.epoch, c.n, w.i, r.id, r.finished, r.floor, e.post_id, e.version, e.fresh_at, false, e.per_river_folded,
			(SELECT version FROM folds f WHERE f.post_id = e.post_id)` +
		watched + `
		LEFT JOIN LATERAL (
			SELECT post_id, version, fresh_at, per_river_folded FROM entries
			WHERE river_id = r.id AND NOT deleted AND fresh_at >= r.floor
			ORDER BY fresh_at DESC, post_id DESC LIMIT @limit) e ON true
		ORDER BY w.i, e.fresh_at DESC, e.post_id DESC`
	n := namesOf(watches)
	args := n.args()
	args["limit"] = PageSize + 1
	loads, began := s.loads(), time.Now()
	raws, err := s.readMany(ctx, query, args, len(n.list))
	if err != nil {
		return nil, false, err
	}
	pages := make([]*Page, len(watches))
	decided := make([]*Page, len(n.list))
	var all []undecided
	var of []int
	for i, w := range watches {
		k := n.index[i]
		raw := raws[k]
		sets, err := s.admit(ctx, w.Viewer, w.Name, raw.clock)
		if errors.Is(err, timelines.ErrSignedOut) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		if !raw.found || w.River != 0 && w.River != raw.river {
			continue
		}
		if decided[k] == nil {
			decided[k] = &Page{Name: w.Name, River: raw.river, Sets: sets, More: !raw.finished, Began: began, At: Moment{raw.clock, loads}}
			if len(raw.entries) > PageSize {
				raw.entries = raw.entries[:PageSize]
				decided[k].More = true
			}
			all = append(all, undecided{name: w.Name, sets: sets, entries: raw.entries})
			of = append(of, k)
		}
		pages[i] = decided[k]
	}
	newer, err := s.decideMany(ctx, all, func(river, _ int, it Item, shown bool) {
		if shown {
			p := decided[of[river]]
			p.Items = append(p.Items, it)
			p.Next = Cursor{Place: it.Place, PostID: it.PostID}
		}
	})
	if err != nil || len(watches) == 0 {
		return pages, true, err
	}
	held, err := s.held(ctx, raws[0].clock, loads, newer)
	return pages, held, err
}

// readMany runs a statement over rivers by name and returns a raw page for each
// of size rivers.
func (s *Store) readMany(ctx context.Context, query string, args pgx.StrictNamedArgs, size int) ([]rawPage, error) {
	for range 3 {
		rows, err := s.db.Query(ctx, query, args)
		if err != nil {
			return nil, fmt.Errorf("read rivers: %w", err)
		}
		raws := make([]rawPage, size)
		found := false
		for rows.Next() {
			found = true
			var clock timelines.Clock
			var i int
			var river, floor, post, version, place, fold *int64
			var deleted, finished *bool
			var folded []byte
			if err := rows.Scan(&clock.Epoch, &clock.N, &i, &river, &finished, &floor,
				&post, &version, &place, &deleted, &folded, &fold); err != nil {
				rows.Close()
				return nil, fmt.Errorf("read rivers: %w", err)
			}
			p := &raws[i-1]
			p.clock = clock
			if river == nil {
				continue
			}
			p.found, p.river, p.finished, p.floor = true, *river, *finished, *floor
			if post == nil {
				continue
			}
			e := rawEntry{PostID: *post, Version: *version, Place: *place, Deleted: *deleted}
			if fold != nil {
				e.Fold = *fold
			}
			if err := json.Unmarshal(folded, &e.Overlay); err != nil {
				rows.Close()
				return nil, fmt.Errorf("read overlay of post %d: %w", *post, err)
			}
			p.entries = append(p.entries, e)
		}
		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("read rivers: %w", err)
		}
		if found || size == 0 {
			return raws, nil
		}
		if _, err := s.clock(ctx); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("clock row keeps vanishing: %w", ErrUnavailable)
}
