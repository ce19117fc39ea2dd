package rivers

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// A push asks searches about posts that changed. If a search finds one of them newly, that
// may wait for its next update. If it holds one already, that may not wait: the change may
// have taken the post away, or part of it, or moved it, and until the entry is updated it
// is not shown. So each push updates just these entries, by the posts' ids. It does not
// search the text index, and a post that stands in no open search costs one look-up among
// their entries.

// bringUpShown updates the entries of posts that changed and stand in a search of these
// names, above the floor and below, as writers do.
func (s *Store) bringUpShown(ctx context.Context, names []Name, posts []int64) error {
	searches := searchesAmong(names)
	if len(searches) == 0 || len(posts) == 0 {
		return nil
	}
	for {
		late, asof, err := s.staleInSearches(ctx, searches, posts)
		if err != nil {
			return err
		}
		// Nothing is marked as seen, because the searches may lack other posts.
		inTime, err := s.bringUpOnce(ctx, late, readPoint{asof: asof})
		if err != nil || inTime {
			return err
		}
	}
}

// staleInSearches returns the searches in which some of the posts stand at older versions than
// their folds.
func (s *Store) staleInSearches(ctx context.Context, names []Name, posts []int64) (late []lateSearch, asof moment, err error) {
	const query = `
		SELECT r.id, w.user_id, w.kind, w.their_id, w.term, w.ord, e.posts, statement_timestamp(), c.epoch` + watched + `
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
		err = row.Scan(&r.id, &n.UserID, &n.Kind, &n.TheirID, &n.Term, &n.Order, &r.posts, &asof.time, &asof.epoch)
		return r, err
	})
	return late, asof, err
}
