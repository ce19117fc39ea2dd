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

	"riverrun/timelines"
)

// Report is what a check found.
type Report struct {
	Rivers, Entries int64 // compared
	Differences     []Difference
}

// Difference is one disagreement between a live river and the one that would be
// built now.
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

// Check compares every live river, down to its floor or as far as a scan goes, with
// one rebuilt from nothing, and every fold it links with one folded now (R1). At rest, with the
// queues empty, there is no difference; while writers are at work a river may be
// behind for a moment. A search, to which no writer routes, is brought up first, as
// a visit would.
func (s *Store) Check(ctx context.Context) (Report, error) {
	var report Report
	after := int64(0)
	for {
		const next = `
			SELECT id, user_id, kind, their_id, term, ord, floor, finished FROM rivers
			WHERE state = 'live' AND epoch = (SELECT epoch FROM clock) AND id > @after ORDER BY id LIMIT 500`
		rows, err := s.db.Query(ctx, next, pgx.StrictNamedArgs{"after": after})
		if err != nil {
			return report, fmt.Errorf("check: %w", err)
		}
		var batch []live
		var l live
		dest := []any{&l.id, &l.name.UserID, &l.name.Kind, &l.name.TheirID, &l.name.Term, &l.name.Order, &l.floor, &l.finished}
		if _, err := pgx.ForEachRow(rows, dest, func() error { batch = append(batch, l); return nil }); err != nil {
			return report, fmt.Errorf("check: %w", err)
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

// checkedScans is how many times further than the scan of a build that of a check may
// go: nobody waits for it.
const checkedScans = 50

// checkOne compares one river. One that does not live any more when differences were
// found has none that anybody sees: it was swapped meanwhile, or was a search too far
// behind to be brought up.
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
	var ids []int64
	var scanned timelines.Scanned
	var entries []entry
	var folds []*Fold
	var floor int64 // down to which can be compared
	err = s.primary.InSnapshot(ctx, func(sn *timelines.Snapshot) error {
		if ids, err = g.content().timelineIDs(ctx, sn, l.name); err != nil {
			return err
		}
		scanned, err = g.content().scan(ctx, sn, l.name, timelines.Scan{
			Viewer: l.name.UserID, Timelines: ids, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
			Limit: 1, Down: l.floor, ByCreation: l.name.Order == Created, MaxRows: checkedScans * s.scanRows,
		})
		if err != nil {
			return err
		}
		floor = max(l.floor, scanned.Floor)
		posts := make([]int64, 0, len(scanned.Posts)+len(stored))
		for _, p := range scanned.Posts {
			if p.Place >= floor {
				posts = append(posts, p.PostID)
			}
		}
		entries, folds, err = s.compute(ctx, sn, g, posts, ofAll)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	var out []Difference
	differ := func(post int64, format string, args ...any) {
		out = append(out, Difference{Name: l.name, River: l.id, PostID: post, What: fmt.Sprintf(format, args...)})
	}
	if !maps.Equal(setOf(ids), g.listed) {
		differ(0, "is made of %d timelines, should be of %d", len(g.listed), len(ids))
	}
	if l.finished && !scanned.Finished && floor == l.floor {
		differ(0, "says nothing older exists, but it does")
	}
	want := make(map[int64]struct{}, len(entries))
	posts := make([]int64, 0, len(entries))
	for _, e := range entries {
		want[e.PostID] = struct{}{}
		posts = append(posts, e.PostID)
		have, ok := stored[e.PostID]
		switch {
		case !ok:
			differ(e.PostID, "missing, should stand at %d", e.Place)
		case have.Place != e.Place:
			differ(e.PostID, "stands at %d, should stand at %d", have.Place, e.Place)
		case !sameJSON(have.Overlay, e.Overlay):
			differ(e.PostID, "overlay is %v, should be %v", have.Overlay, e.Overlay)
		}
	}
	compared := int64(0)
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		if stored[id].Place >= floor {
			compared++
		}
		if _, ok := want[id]; !ok && stored[id].Place >= floor {
			differ(id, "stands at %d, should not be here", stored[id].Place)
		}
	}
	have, err := s.readFolds(ctx, posts)
	if err != nil {
		return 0, nil, err
	}
	for _, f := range folds {
		// A missing fold is made on demand; a wrong one is a difference.
		if h := have[f.PostID]; h != nil && !sameJSON(h, f) {
			differ(f.PostID, "fold of version %d differs from the post at version %d", h.Version, f.Version)
		}
	}
	return compared, out, nil
}

// storedEntries are what readers of the river see.
func (s *Store) storedEntries(ctx context.Context, l live) (map[int64]entry, error) {
	const query = `
		SELECT post_id, version, fresh_at, per_river_folded FROM entries
		WHERE river_id = @id AND NOT deleted AND fresh_at >= @floor`
	rows, err := s.db.Query(ctx, query, pgx.StrictNamedArgs{"id": l.id, "floor": l.floor})
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	stored := map[int64]entry{}
	e := entry{River: l.id}
	_, err = pgx.ForEachRow(rows, []any{&e.PostID, &e.Version, &e.Place, &e.Overlay}, func() error {
		stored[e.PostID] = e
		e.Overlay = overlay{}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	return stored, nil
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
