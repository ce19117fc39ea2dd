package rivers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/snapshot"
)

// Report is the result of a check.
type Report struct {
	Rivers, Entries int64 // that were compared
	Differences     []Difference
}

// Difference is one disagreement between a live river and a river that is built now.
type Difference struct {
	Name   Name
	River  int64
	PostID int64 // 0: the river as a whole
	What   string
}

func (d Difference) String() string {
	s := fmt.Sprintf("river %d (%s %q of %d for %d, %s)", d.River, d.Name.Kind, d.Name.Term, d.Name.TheirID, d.Name.UserID, d.Name.Order)
	if d.PostID != 0 {
		s += fmt.Sprintf(" post %d", d.PostID)
	}
	return s + ": " + d.What
}

// Check compares every live river with one rebuilt from nothing, down to its floor or as
// far as a scan goes, and every fold it links with one folded now (R1). At rest, with the
// queues empty, there is no difference. While writers work, a river may be behind for a
// moment. Writers do not look up searches, so Check brings each one up to date first, as a
// visit would.
func (s *Store) Check(ctx context.Context) (Report, error) {
	var report Report
	after := int64(0)
	for {
		const next = `
			SELECT id, user_id, kind, their_id, term, ord, floor, finished FROM rivers
			WHERE state = 'live' AND epoch = (SELECT epoch FROM clock) AND id > @after ORDER BY id LIMIT 500`
		var batch []live
		var l live
		dest := []any{&l.id, &l.name.UserID, &l.name.Kind, &l.name.TheirID, &l.name.Term, &l.name.Order, &l.floor, &l.finished}
		args := pgx.StrictNamedArgs{"after": after}
		if err := s.forEach(ctx, "check", next, args, dest, func() { batch = append(batch, l) }); err != nil {
			return report, err
		}
		if len(batch) == 0 {
			return report, nil
		}
		for _, l := range batch {
			n, differences, err := s.checkOne(ctx, l)
			if err != nil {
				return report, err
			}
			report.Rivers++
			report.Entries += n
			report.Differences = append(report.Differences, differences...)
			after = l.id
		}
	}
}

type live struct {
	id       int64
	name     Name
	floor    int64
	finished bool
}

// checkedScans is how many times further a check may scan than a build: nobody waits for
// it.
const checkedScans = 50

// checkOne compares one river. If the river does not live any more when differences were
// found, nobody sees them and they do not count: it was swapped meanwhile, or was a search
// too far behind to be brought up to date.
func (s *Store) checkOne(ctx context.Context, l live) (int64, []Difference, error) {
	n, differences, err := s.compareOne(ctx, l)
	if err != nil || len(differences) == 0 {
		return n, nil, err
	}
	var lives bool
	const query = `SELECT EXISTS (SELECT FROM rivers WHERE id = @id AND state = 'live')`
	if err := s.db.QueryRow(ctx, query, pgx.StrictNamedArgs{"id": l.id}).Scan(&lives); err != nil {
		return n, nil, fmt.Errorf("check: %w", err)
	}
	if !lives {
		return 0, nil, nil
	}
	return n, differences, nil
}

func (s *Store) compareOne(ctx context.Context, l live) (int64, []Difference, error) {
	// A search too far behind is retired, or open and about to be searched anew.
	if left, err := s.BringUp(ctx, []Name{l.name}); err != nil || len(left) > 0 {
		return 0, nil, err
	}
	g, err := s.generation(ctx, l.name, l.id)
	if err != nil {
		return 0, nil, err
	}
	stored, err := s.storedEntries(ctx, l)
	if err != nil {
		return 0, nil, err
	}
	now, err := s.rebuild(ctx, l, g)
	if err != nil {
		return 0, nil, err
	}
	c := comparison{live: l}
	if !maps.Equal(setOf(now.timelineIDs), g.listed) {
		c.differ(0, "is made of %d timelines, should be of %d", len(g.listed), len(now.timelineIDs))
	}
	if l.finished && !now.scanned.Finished && now.floor == l.floor {
		c.differ(0, "says nothing older exists, but it does")
	}
	c.entries(stored, now)
	have, err := s.readFolds(ctx, postIDs(now.entries))
	if err != nil {
		return 0, nil, err
	}
	for _, f := range now.folds {
		// A missing fold is made on demand. A stored one that differs is a difference.
		if h := have[f.PostID]; h != nil && !sameJSON(h, f) {
			c.differ(f.PostID, "fold of version %d differs from the post at version %d", h.Version, f.Version)
		}
	}
	return c.compared, c.differences, nil
}

// rebuilt is what a river would hold if it were built now, down to a floor.
type rebuilt struct {
	chunkOf
	timelineIDs []int64
	floor       int64
}

func (s *Store) rebuild(ctx context.Context, l live, g generation) (now rebuilt, err error) {
	err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		if now.timelineIDs, err = g.content().timelineIDs(ctx, sn, l.name); err != nil {
			return err
		}
		now.scanned, err = g.content().scan(ctx, sn, l.name, snapshot.Scan{
			Viewer: l.name.UserID, Timelines: now.timelineIDs, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
			Limit: 1, Down: l.floor, ByCreation: l.name.Order == Created, MaxRows: checkedScans * s.scanRows,
		})
		if err != nil {
			return err
		}
		now.floor = max(l.floor, now.scanned.Floor)
		var posts []int64
		for _, p := range now.scanned.Posts {
			if p.Place >= now.floor {
				posts = append(posts, p.PostID)
			}
		}
		now.entries, now.folds, err = s.compute(ctx, sn, g, posts, allFolds)
		return err
	})
	return now, err
}

// comparison gathers the differences of one river.
type comparison struct {
	live
	compared    int64 // entries
	differences []Difference
}

func (c *comparison) differ(post int64, format string, args ...any) {
	c.differences = append(c.differences, Difference{Name: c.name, River: c.id, PostID: post, What: fmt.Sprintf(format, args...)})
}

// entries compares the stored entries with those of the rebuilt river, above its floor.
func (c *comparison) entries(stored map[int64]entry, now rebuilt) {
	want := make(map[int64]struct{}, len(now.entries))
	for _, e := range now.entries {
		want[e.PostID] = struct{}{}
		have, ok := stored[e.PostID]
		switch {
		case !ok:
			c.differ(e.PostID, "missing, should stand at %d", e.Place)
		case have.Place != e.Place:
			c.differ(e.PostID, "stands at %d, should stand at %d", have.Place, e.Place)
		case !sameJSON(have.Overlay, e.Overlay):
			c.differ(e.PostID, "overlay is %v, should be %v", have.Overlay, e.Overlay)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		if stored[id].Place < now.floor {
			continue
		}
		c.compared++
		if _, ok := want[id]; !ok {
			c.differ(id, "stands at %d, should not be here", stored[id].Place)
		}
	}
}

// storedEntries returns the entries that readers of the river see.
func (s *Store) storedEntries(ctx context.Context, l live) (map[int64]entry, error) {
	const query = `
		SELECT post_id, version, fresh_at, per_river_folded FROM entries
		WHERE river_id = @id AND NOT deleted AND fresh_at >= @floor`
	stored := map[int64]entry{}
	e := entry{River: l.id}
	args := pgx.StrictNamedArgs{"id": l.id, "floor": l.floor}
	err := s.forEach(ctx, "check", query, args, []any{&e.PostID, &e.Version, &e.Place, &e.Overlay}, func() {
		stored[e.PostID] = e
		e.Overlay = overlay{}
	})
	return stored, err
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
