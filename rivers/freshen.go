package rivers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/snapshot"
)

// Freshen writes the first chunk of a live river again from one snapshot, tombstones
// included (protocol, step 9). A page that is opened while the tiers are far behind asks
// for it. A river that does not stand is left to its next visit, and a search too, which
// each visit brings up to date.
func (s *Store) Freshen(ctx context.Context, n Name) error {
	const query = `SELECT r.id FROM rivers r JOIN clock c ON c.epoch = r.epoch WHERE r.state = 'live' AND ` + named
	for {
		var id int64
		err := s.db.QueryRow(ctx, query, nameArgs(n)).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("freshen %s river: %w", n.Kind, err)
		}
		inTime, err := s.freshenOnce(ctx, n, id)
		if err != nil || inTime {
			return err
		}
	}
}

func (s *Store) freshenOnce(ctx context.Context, n Name, id int64) (bool, error) {
	asof, err := s.now(ctx)
	if err != nil {
		return false, err
	}
	g, err := s.generation(ctx, n, id)
	if err != nil || len(g.listed) == 0 {
		return true, err // a river of no timelines holds nothing that a writer could bring
	}
	// These are the posts that stand there now. Those that should not get tombstones.
	const query = `
		SELECT post_id FROM entries WHERE river_id = @id AND NOT deleted
		ORDER BY fresh_at DESC, post_id DESC LIMIT @limit`
	standing, err := collect(ctx, s, "freshen river", query, pgx.StrictNamedArgs{"id": id, "limit": chunk}, pgx.RowTo[int64])
	if err != nil {
		return false, err
	}
	var entries []entry
	var folds []*Fold
	err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) error {
		scanned, err := g.content().scan(ctx, sn, n, snapshot.Scan{
			Viewer: n.UserID, Timelines: g.timelineIDs(), BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
			Limit: chunk, Down: math.MaxInt64, ByCreation: n.Order == Created,
		})
		if err != nil {
			return err
		}
		posts := setOf(standing)
		for _, p := range scanned.Posts {
			posts[p.PostID] = struct{}{}
		}
		entries, folds, err = s.compute(ctx, sn, g, slices.Collect(maps.Keys(posts)), staleFolds)
		return err
	})
	if err != nil {
		return false, err
	}
	return s.write(ctx, entries, folds, asof)
}
