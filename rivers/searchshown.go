package rivers

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// A push asks searches about posts that changed. What a search finds newly among them may
// wait until it is brought up; what it holds may not: the change may have taken it away,
// or something in it, or have moved it, and until it is looked at again it is not to be
// shown (see finds). So each push looks at that alone, by the posts' ids. The text index
// is not asked, and a post that stands in no open search costs a look-up among their
// entries.

// bringUpShown brings those of the posts up that changed and stand in a search of these
// names, above the floor and below, as writers do.
func (s *Store) bringUpShown(ctx context.Context, names []Name, posts []int64) error {
	asked := searchesAmong(names)
	if len(asked) == 0 || len(posts) == 0 {
		return nil
	}
	for {
		late, asof, err := s.standing(ctx, asked, posts)
		if err != nil {
			return err
		}
		// Nothing is marked as seen: the searches may lack others.
		inTime, err := s.bringUpOnce(ctx, late, readPoint{asof: asof})
		if err != nil || inTime {
			return err
		}
	}
}

// standing reads in which of the searches which of the posts stand older than their folds.
func (s *Store) standing(ctx context.Context, names []Name, posts []int64) (late []lateSearch, asof time.Time, err error) {
	const query = `
		SELECT r.id, w.user_id, w.kind, w.their_id, w.term, w.ord, e.posts, statement_timestamp()` + watched + `
		CROSS JOIN LATERAL (
			SELECT array_agg(e.post_id) AS posts FROM (
				SELECT e.post_id FROM entries e
				WHERE e.river_id = r.id AND e.post_id = ANY(@posts::bigint[]) AND NOT e.deleted
					AND e.version < coalesce((SELECT f.version FROM folds f WHERE f.post_id = e.post_id), e.version + 1)
				LIMIT cardinality(@posts::bigint[])) e) e
		WHERE e.posts IS NOT NULL
		ORDER BY r.id`
	args := namesArgs(names)
	args["posts"] = posts
	late, err = collect(ctx, s, "read stale entries of searches", query, args, func(row pgx.CollectableRow) (r lateSearch, err error) {
		n := &r.name
		err = row.Scan(&r.id, &n.UserID, &n.Kind, &n.TheirID, &n.Term, &n.Order, &r.posts, &asof)
		return r, err
	})
	return late, asof, err
}
