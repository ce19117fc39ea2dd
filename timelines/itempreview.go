package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Differ returns how many of an author's posts ItemsTx.Edit would change, and changes none.
func (s Items) Differ(ctx context.Context, tx pgx.Tx, author int64, posts []ItemPost) (n int64, err error) {
	if len(posts) == 0 {
		return 0, nil
	}
	ids := make([]int64, len(posts))
	bodies, places, markups := make([]string, len(posts)), make([]string, len(posts)), make([]bool, len(posts))
	for i, p := range posts {
		ids[i], bodies[i], places[i], markups[i] = p.ID, p.Body, p.Place, p.Markup
	}
	const query = `
		SELECT count(*) FROM posts p
		JOIN unnest(@ids::bigint[], @bodies::text[], @langs::text[], @markups::boolean[], @places::text[]) AS n (id, body, lang, markup, place) ON n.id = p.id
		WHERE p.author_id = @author AND p.deleted_at IS NULL AND p.edited_at IS NULL AND NOT p.lang_chosen
			AND (p.body, p.lang, p.markup, p.place) <> (n.body, n.lang, n.markup, n.place)`
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"author": author, "ids": ids, "bodies": bodies, "langs": languagesOf(posts), "markups": markups, "places": places,
	}).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("compare posts of a source: %w", err)
	}
	return n, nil
}
