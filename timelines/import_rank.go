package timelines

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// enterAggregate notes that the post enters an aggregate, and that of its language.
func (b *batch) enterAggregate(p *importPost, kind string, at int64) {
	p.enter(b.aggregates[kind][""], at)
	if id, ok := b.aggregates[kind][p.lang]; ok {
		p.enter(id, at)
	}
}

// enterRanked notes which posts of the batch belong to best-of and most-faved. They enter at the
// time at which enough people had liked, commented on or saved them (see updateAggregatesTx). The
// batch has all likes and comments of a new post.
func (b *batch) enterRanked(ctx context.Context) error {
	for _, p := range b.posts {
		if p.new && b.isLevelled(p) {
			if at, ok := b.bestAt(p); ok {
				b.enterRank(p, kinds.Best, at)
			}
		}
	}
	if len(b.ids(gaining)) == 0 {
		return nil
	}
	return b.enterRankedAgain(ctx)
}

// isLevelled reports whether a new post stands in a base timeline that is not only for the people
// named.
func (b *batch) isLevelled(p *importPost) bool {
	return len(p.To) > 0 || slices.ContainsFunc(p.Direct, func(to ImportedAccount) bool {
		return b.accounts[to.ExternalID].Kind == Group
	})
}

// bestAt returns when a new post had become one of the best.
func (b *batch) bestAt(p *importPost) (int64, bool) {
	author, most := b.accounts[p.Author.ExternalID], b.core.opts.BestOf
	if len(p.activity) < most {
		return 0, false
	}
	seen := map[*importAccount]bool{author: true}
	for _, t := range p.activity { // in the order of time
		if !seen[t.account] {
			seen[t.account] = true
			if len(seen)-1 == most {
				return Micros(t.at), true
			}
		}
	}
	return 0, false
}

// enterRank enters the post into a ranking. If that was long after it was written, it lifts nothing.
func (b *batch) enterRank(p *importPost, kind string, at int64) {
	created, maxAge := Micros(p.CreatedAt), b.core.opts.LocalBumpMaxAge.Microseconds()
	if maxAge > 0 && at > created+maxAge {
		at = created
	}
	b.enterAggregate(p, kind, at)
}

// enterRankedAgain does the same for posts that were there. It reads what makeActivity and
// updatePosts wrote.
func (b *batch) enterRankedAgain(ctx context.Context) error {
	query := `
		SELECT p.id, (extract(epoch FROM best.at) * 1000000)::bigint, (extract(epoch FROM kept.at) * 1000000)::bigint
		FROM posts p
		CROSS JOIN LATERAL (
			SELECT (array_agg(came.at ORDER BY came.at))[@best::int] AS at FROM (
				SELECT min(t.created_at) AS at FROM (
					SELECT l.account_id, l.created_at FROM likes l WHERE l.post_id = p.id
					UNION ALL
					SELECT c.author_id, c.created_at FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL) t
				WHERE t.account_id <> p.author_id
				GROUP BY t.account_id) came) best
		CROSS JOIN LATERAL (
			SELECT (array_agg(f.created_at ORDER BY f.created_at))[@most::int] AS at FROM faves f WHERE f.post_id = p.id) kept
		WHERE p.id = ANY(@posts) AND EXISTS (SELECT FROM timelines d WHERE d.id = ANY(p.decisive) AND d.kind IN ` + kinds.SQL(kinds.Spec.IsLevelled) + `)`
	byID := map[int64]*importPost{}
	var ids []int64
	for _, p := range b.posts {
		if gaining(p) {
			byID[p.ID] = p
			ids = append(ids, p.ID)
		}
	}
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{
		"posts": ids, "best": b.core.opts.BestOf, "most": b.core.opts.MostFaved,
	})
	if err != nil {
		return fmt.Errorf("rank posts: %w", err)
	}
	var id int64
	var best, kept *int64
	_, err = pgx.ForEachRow(rows, []any{&id, &best, &kept}, func() error {
		for kind, at := range map[string]*int64{kinds.Best: best, kinds.MostFaved: kept} {
			if at != nil {
				b.enterRank(byID[id], kind, *at)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("rank posts: %w", err)
	}
	return nil
}
