package rivers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
)

// rawEntry is a stored entry, not yet decided.
type rawEntry struct {
	PostID  int64
	Version int64
	Place   int64
	Deleted bool
	Overlay overlay
	doc     []byte // the overlay as it is stored, until decode
	// Fold is the version of the post's stored fold, 0 if that is missing.
	Fold int64
}

// outdated reports whether a search's entry says less than is known by now: it names the
// authors of the texts that the query was found in, and those texts may have changed with
// the post's newer fold. Entries of other rivers name no authors, and their folds may be
// newer.
func (e rawEntry) outdated() bool { return len(e.Overlay.Authors) > 0 && e.Fold > e.Version }

// rawPage is what a statement returns of one river.
type rawPage struct {
	clock    timelines.Clock
	found    bool // a live river of the store's epoch
	river    int64
	finished bool
	floor    int64
	entries  []rawEntry
	// notices is the viewer's notice clock.
	notices int64
}

// label says what the viewer's notifications were when the page was read.
func (p *rawPage) label() notices.Label { return notices.Label{Epoch: p.clock.Epoch, N: p.notices} }

// rawColumns are what readRivers reads: of the clock c, a river r and an entry e, and,
// after the LIMIT on entries, the stamp of the entry's fold; and the viewer's notice clock k.
const rawColumns = `
	c.epoch, c.n, r.id, r.finished, r.floor, e.post_id, e.version, e.fresh_at, e.deleted, e.per_river_folded,
	(SELECT version FROM folds f WHERE f.post_id = e.post_id), coalesce(k.n, 0)`

// pageQuery is the one statement of a warm page: the access clock, the river by name, its
// next entries, and the stamps of their folds. It returns at least one row while the store
// has a clock. It takes the rivers before other tables, as emptyOnce does: otherwise each could wait
// for the other.
const pageQuery = `
	SELECT 1, ` + rawColumns + `
	FROM clock c
	LEFT JOIN rivers r ON ` + named + ` AND r.state = 'live' AND r.epoch = c.epoch
	LEFT JOIN LATERAL (
		SELECT post_id, version, fresh_at, deleted, per_river_folded FROM entries
		WHERE river_id = r.id AND NOT deleted AND fresh_at >= r.floor
			AND (fresh_at, post_id) < (@place::bigint, @post::bigint)
		ORDER BY fresh_at DESC, post_id DESC LIMIT @limit) e ON true
	LEFT JOIN notice_clocks k ON k.account_id = @user
	ORDER BY e.fresh_at DESC, e.post_id DESC`

// readPage runs pageQuery.
func (s *Store) readPage(ctx context.Context, n Name, before Cursor, limit int) (rawPage, error) {
	raw, err := s.readUndecoded(ctx, n, before, limit)
	if err == nil {
		err = raw.decode()
	}
	return raw, err
}

// readUndecoded is readPage without the overlays.
func (s *Store) readUndecoded(ctx context.Context, n Name, before Cursor, limit int) (rawPage, error) {
	if before.Top() {
		before = Cursor{Place: math.MaxInt64, PostID: math.MaxInt64}
	}
	args := nameArgs(n)
	args["place"], args["post"], args["limit"] = before.Place, before.PostID, limit
	pages, err := s.readRivers(ctx, pageQuery, args, 1)
	if err != nil {
		return rawPage{}, err
	}
	return pages[0], nil
}

// decode sets the overlays of the entries.
func (p *rawPage) decode() error {
	for i := range p.entries {
		e := &p.entries[i]
		if err := json.Unmarshal(e.doc, &e.Overlay); err != nil {
			return fmt.Errorf("overlay of post %d in river %d: %w", e.PostID, p.river, err)
		}
	}
	return nil
}

// readRivers runs a statement that returns, for each of size rivers, its number from 1 on,
// and rawColumns, and leaves the overlays undecoded. The statement must return at least one row of each river while the store
// has a clock. A store without a clock gets one, with a new epoch.
func (s *Store) readRivers(ctx context.Context, query string, args pgx.StrictNamedArgs, size int) ([]rawPage, error) {
	if size > 0 {
		s.maintenance.used()
	}
	for range 3 {
		pages := make([]rawPage, size)
		found := false
		var i int
		var clock timelines.Clock
		var river, floor, post, version, place, fold *int64
		var told int64
		var finished, deleted *bool
		var doc []byte
		dest := []any{
			&i, &clock.Epoch, &clock.N, &river, &finished, &floor, &post, &version, &place, &deleted, &doc, &fold, &told,
		}
		err := s.forEach(ctx, "read rivers", query, args, dest, func() {
			found = true
			p := &pages[i-1]
			p.clock, p.notices = clock, told
			if river == nil {
				return
			}
			p.found, p.river, p.finished, p.floor = true, *river, *finished, *floor
			if post == nil {
				return
			}
			e := rawEntry{PostID: *post, Version: *version, Place: *place, Deleted: *deleted, doc: doc}
			if fold != nil {
				e.Fold = *fold
			}
			p.entries = append(p.entries, e)
		})
		if err != nil {
			return nil, err
		}
		if found || size == 0 {
			return pages, nil
		}
		if _, err := s.clock(ctx); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("clock row keeps vanishing: %w", ErrUnavailable)
}

// Entry returns one entry of a river as its viewer may see it now, with the sets it was
// decided with. The reply to one's own change carries it (R3). A river that does not stand
// is built first, as for a visit. An entry below the river's floor is found too, because
// the page that asks shows it. ErrNotFound means that the river does not hold the post or
// may not be opened.
func (s *Store) Entry(ctx context.Context, v timelines.Viewer, n Name, postID int64) (*Item, *access.Sets, error) {
	watch := []Watch{{Viewer: v, Name: n}}
	for range 5 {
		if err := s.catchUpSearch(ctx, n); err != nil {
			return nil, nil, err
		}
		all, err := s.flush(ctx, watch, []int64{postID}, math.MinInt64)
		if err != nil {
			return nil, nil, err
		}
		seen := all[0]
		switch {
		case seen.SignedOut:
			return nil, nil, timelines.ErrSignedOut
		case seen.Closed:
			return nil, nil, ErrNotFound
		case len(seen.Items) > 0:
			s.maintenance.visited(seen.River)
			return &seen.Items[0], seen.Sets, nil
		case !seen.Swapped:
			return nil, nil, ErrNotFound
		}
		if _, err := s.Visit(ctx, v, n, Cursor{}); err != nil {
			if errors.Is(err, ErrForbidden) {
				err = ErrNotFound
			}
			return nil, nil, err
		}
		// A river just built reaches only as deep as a first page. The viewer may have changed
		// a post below that.
		if err := s.Distribute(ctx, []timelines.Touched{{PostID: postID}}, Scope{Actor: v.AccountID}); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, fmt.Errorf("%s river keeps vanishing: %w", n.Kind, ErrUnavailable)
}

// Unfold returns one post with all its comments, decided for the viewer. ErrNotFound means
// that there is none the viewer may read. The item belongs to no river: Liked, Faved and
// the stamp's entry version, which rivers keep, are not set.
func (s *Store) Unfold(ctx context.Context, v timelines.Viewer, code string) (*Item, *access.Sets, error) {
	id, err := s.postID(ctx, code)
	if err != nil {
		return nil, nil, notFound(err)
	}
	n := Name{UserID: v.AccountID, Kind: Post, TheirID: id, Order: Fresh}
	for range maxOvertaken {
		it, sets, consistent, err := s.unfoldOnce(ctx, v, n)
		if err != nil || consistent {
			return it, sets, err
		}
	}
	return nil, nil, errOvertaken
}

// unfoldOnce is Unfold of the post of that name. It reports whether the decision is
// consistent.
func (s *Store) unfoldOnce(ctx context.Context, v timelines.Viewer, n Name) (_ *Item, _ *access.Sets, consistent bool, err error) {
	loads := s.loads()
	// The clock is read before the fold's stamp, so that both know every narrowing
	// acknowledged before.
	clock, err := s.clock(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	const query = `SELECT coalesce((SELECT version FROM folds WHERE post_id = @post), 0)`
	raw := rawEntry{PostID: n.TheirID}
	if err := s.db.QueryRow(ctx, query, pgx.StrictNamedArgs{"post": n.TheirID}).Scan(&raw.Fold); err != nil {
		return nil, nil, false, fmt.Errorf("unfold: %w", err)
	}
	sets, err := s.admit(ctx, v, n, clock)
	if err != nil {
		return nil, nil, false, err
	}
	// The stamp was read after the clock, so the decision counts as newer.
	items, _, err := s.decide(ctx, n, sets, notices.Label{Epoch: clock.Epoch}, []rawEntry{raw}) // the page of a post
	if err != nil {
		return nil, nil, false, err
	}
	if consistent, err = s.consistent(ctx, clock, loads, true); err != nil || !consistent {
		return nil, nil, false, err
	}
	if len(items) == 0 {
		return nil, nil, true, ErrNotFound
	}
	return &items[0], sets, true, nil
}
