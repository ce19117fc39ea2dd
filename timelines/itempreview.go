package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Differ returns how many of these posts Edit would change, and those that are barred, as Edit does. It
// changes and locks none.
func (x *ItemsTx) Differ(ctx context.Context, posts []ItemPost) (n int64, barred map[int64]string, err error) {
	if len(posts) == 0 {
		return 0, nil, nil
	}
	ids := make([]int64, len(posts))
	bodies, places, markups := make([]string, len(posts)), make([]string, len(posts)), make([]bool, len(posts))
	for i, p := range posts {
		ids[i], bodies[i], places[i], markups[i] = p.ID, p.Body, p.Place, p.Markup
	}
	const query = `
		SELECT p.id, NOT p.lang_chosen AND (p.body, p.lang, p.markup, p.place) <> (n.body, n.lang, n.markup, n.place)
		FROM posts p
		JOIN unnest(@ids::bigint[], @bodies::text[], @langs::text[], @markups::boolean[], @places::text[]) AS n (id, body, lang, markup, place) ON n.id = p.id
		WHERE p.author_id = @author AND p.deleted_at IS NULL AND p.edited_at IS NULL`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{
		"author": x.place.Author, "ids": ids, "bodies": bodies, "langs": languagesOf(posts), "markups": markups, "places": places,
	})
	var open, differ []int64
	if err == nil {
		var id int64
		var differs bool
		_, err = pgx.ForEachRow(rows, []any{&id, &differs}, func() error {
			open = append(open, id)
			if differs {
				differ = append(differ, id)
			}
			return nil
		})
	}
	if err != nil {
		return 0, nil, fmt.Errorf("compare posts of a source: %w", err)
	}
	barred, err = barredTx(ctx, x.tx, x.place.Author, open)
	for _, id := range differ {
		if barred[id] == "" {
			n++
		}
	}
	return n, barred, err
}
