package rivers

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/snapshot"
)

// Home feeds and lists are kept to a depth (Options.Depth). Nobody reads them to their end,
// they are made of hundreds of timelines, and everybody has some. Older entries are read
// from the primary store, by the same rules, each time somebody asks. A river grows at its
// top, and is built anew when it has twice as many (retireDeep). Pages of one timeline have
// an end, and are kept as far as anybody has read.

// remaining returns how many posts an extension of a river may still store, 0 if the river
// is as deep as it may be.
func (s *Store) remaining(ctx context.Context, n Name, river int64) (int, error) {
	if !specs[n.Kind].followBased {
		return chunk, nil
	}
	const query = `
		SELECT count(*) FROM (
			SELECT FROM rivers r JOIN entries e ON e.river_id = r.id
			WHERE e.river_id = @river AND NOT e.deleted AND e.fresh_at >= r.floor
			LIMIT @depth) kept`
	var kept int
	err := s.db.QueryRow(ctx, query, pgx.StrictNamedArgs{"river": river, "depth": s.opts.Depth}).Scan(&kept)
	if err != nil {
		return 0, fmt.Errorf("measure %s river: %w", n.Kind, err)
	}
	return min(s.opts.Depth-kept, chunk), nil
}

// readBeyond fills the page with entries from below the floor of a river that is kept no
// deeper. It reads them from the primary store, and reports whether the page is done. They
// are computed and decided as the river's own, with the stamps they would have there, and
// are not stored.
func (r *visit) readBeyond(ctx context.Context, floor int64) (full bool, err error) {
	s := r.store
	r.page.Beyond = true
	at := r.at
	if at.Top() || at.Place >= floor {
		at = Cursor{Place: floor, PostID: math.MinInt64} // all posts at that place are above
	}
	g, err := s.generation(ctx, r.name, r.page.River)
	if err != nil {
		return false, err
	}
	began := at
	for scans := 1; ; scans++ {
		loads := s.loads()
		// The clock is read before the primary store, so that a narrowing acknowledged by then
		// is known (R4).
		clock, err := s.clock(ctx)
		if err != nil {
			return false, err
		}
		if clock != r.clock {
			return false, r.restart()
		}
		c, err := s.readChunk(ctx, g, stretch{
			place: at.Place, post: at.PostID, down: math.MaxInt64, limit: PageSize + 1, folds: allFolds,
		})
		if err != nil {
			return false, err
		}
		items, _, err := s.decide(ctx, r.name, r.page.Sets, r.page.Label, s.undecided(clock.Epoch, c.entries, c.folds))
		if err != nil {
			return false, err
		}
		if ok, err := s.consistent(ctx, clock, loads, true); err != nil || !ok {
			return false, errors.Join(err, r.restart())
		}
		if r.page.add(items) || c.scanned.Finished {
			return true, nil
		}
		at = Cursor{Place: c.scanned.Floor - 1, PostID: math.MaxInt64}
		if scans > maxInVain || r.restarts >= patientRestarts {
			r.page.More, r.page.Next = true, NextBelow(c.scanned.Floor, began)
			return true, nil
		}
	}
}

// add appends entries. It reports whether the page is full, and then sets where it goes on.
func (p *Page) add(items []Item) (full bool) {
	p.Items = append(p.Items, items...)
	if len(p.Items) <= PageSize {
		return false
	}
	p.Items = p.Items[:PageSize]
	last := p.Items[PageSize-1]
	p.More, p.Next = true, Cursor{Place: last.Place, PostID: last.PostID}
	return true
}

// undecided returns computed entries as if they had been stored and read, and puts their
// folds into memory.
func (s *Store) undecided(epoch int64, entries []entry, folds []*Fold) []rawEntry {
	raw := make([]rawEntry, len(entries))
	for i, e := range entries {
		folds[i].Epoch = epoch
		s.folds.put(folds[i], false)
		raw[i] = rawEntry{
			PostID: e.PostID, Version: e.Version, Place: e.Place, Deleted: e.Deleted, Overlay: e.Overlay,
			Fold: folds[i].Version,
		}
	}
	return raw
}

// addBeyond adds those of the posts that stand below the river's floor to what was read of
// it, for a page that shows such posts.
func (s *Store) addBeyond(ctx context.Context, n Name, raw *rawPage, posts []int64) error {
	if !raw.found || raw.finished || !specs[n.Kind].followBased {
		return nil
	}
	read := make(map[int64]struct{}, len(raw.entries))
	for _, e := range raw.entries {
		read[e.PostID] = struct{}{}
	}
	var rest []int64
	for _, id := range posts {
		if _, ok := read[id]; !ok {
			rest = append(rest, id)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	g, err := s.generation(ctx, n, raw.river)
	if err != nil {
		return err
	}
	var c chunkOf
	err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		c.entries, c.folds, err = s.compute(ctx, sn, g, rest, allFolds)
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range s.undecided(raw.clock.Epoch, c.entries, c.folds) {
		if !e.Deleted && e.Place < raw.floor {
			raw.entries = append(raw.entries, e)
		}
	}
	return nil
}
