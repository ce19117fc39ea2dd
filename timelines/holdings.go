package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// Hold is a post in a timeline.
type Hold struct{ PostID, TimelineID int64 }

// Holding describes a Hold that stands.
type Holding struct {
	// Authors are the people whose texts bring the post to a hashtag's timeline or to
	// somebody's mentions. Other timelines have none.
	Authors []int64
}

// Holdings returns the pairs whose timeline holds the post now: one statement, which looks
// up each row by its key.
func (s *Store) Holdings(ctx context.Context, pairs []Hold) (map[Hold]Holding, error) {
	query := `
		SELECT a.post_id, a.timeline_id, CASE WHEN t.kind IN ` + kinds.SQL(kinds.Spec.IsByText) + ` THEN ARRAY(
			SELECT DISTINCT coalesce(c.author_id, p.author_id)
			FROM text_marks m JOIN posts p ON p.id = m.post_id LEFT JOIN comments c ON c.id = m.comment_id
			WHERE m.post_id = a.post_id AND m.timeline_id = a.timeline_id) END
		FROM (SELECT DISTINCT * FROM unnest(@posts::bigint[], @timelines::bigint[])) a(post_id, timeline_id)
		JOIN timelines t ON t.id = a.timeline_id
		CROSS JOIN LATERAL (
			SELECT e.withdrawn FROM timeline_entries e WHERE e.post_id = a.post_id AND e.timeline_id = a.timeline_id LIMIT 1) e
		WHERE NOT e.withdrawn`
	posts, timelines := make([]int64, len(pairs)), make([]int64, len(pairs))
	for i, h := range pairs {
		posts[i], timelines[i] = h.PostID, h.TimelineID
	}
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts, "timelines": timelines})
	if err != nil {
		return nil, fmt.Errorf("read what timelines hold: %w", err)
	}
	found := make(map[Hold]Holding, len(pairs))
	var h Hold
	var held Holding
	_, err = pgx.ForEachRow(rows, []any{&h.PostID, &h.TimelineID, &held.Authors}, func() error {
		found[h] = held
		held.Authors = nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what timelines hold: %w", err)
	}
	return found, nil
}
