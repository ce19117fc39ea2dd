package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/rules"
)

// barred finds those of @posts that stand in a group where @author may not post, with the name of one.
var barred = `
	WITH places AS MATERIALIZED (
		SELECT DISTINCT d.id FROM posts p CROSS JOIN LATERAL unnest(p.decisive) AS d (id) WHERE p.id = ANY(@posts)
	), closed AS MATERIALIZED (
		SELECT t.id, a.name
		FROM places JOIN timelines t USING (id) JOIN accounts a ON a.id = t.their_id
		WHERE t.kind = 'group' AND t.access <> 3 AND NOT ` + writable + `
	)
	SELECT p.id, min(c.name) FROM posts p JOIN closed c ON c.id = ANY(p.decisive)
	WHERE p.id = ANY(@posts) GROUP BY p.id`

// barredTx returns those of these posts that their author may not change, with the name of a group
// that forbids it. A caller that changes posts has locked them. An author may change the words of a
// post, by form and by source alike, only if they may post in each group where the post stands then.
// So somebody who is blocked, or was removed, says nothing more there. They may delete the post, and
// take it out of the group. A group that was deleted forbids nothing: nobody reads the post there.
//
// A message can be changed whatever its recipients allow now: somebody who wants to see no more of
// its author bans them, which hides it, and the author is not to learn of that by an edit.
//
// The groups are not locked: their turn was before the posts'. A change that began before somebody
// was blocked may still come in.
func barredTx(ctx context.Context, tx pgx.Tx, author int64, posts []int64) (map[int64]string, error) {
	by := map[int64]string{}
	rows, err := tx.Query(ctx, barred, pgx.StrictNamedArgs{"author": author, "posts": posts})
	if err == nil {
		var post int64
		var place string
		_, err = pgx.ForEachRow(rows, []any{&post, &place}, func() error {
			by[post] = place
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("find posts in groups where their author may not post: %w", err)
	}
	return by, nil
}

// checkBarredTx returns an InvalidError "to_closed" for a locked post that its author may not change,
// with the name of a group that forbids it.
func checkBarredTx(ctx context.Context, tx pgx.Tx, author, post int64) error {
	by, err := barredTx(ctx, tx, author, []int64{post})
	if err != nil {
		return err
	}
	if place := by[post]; place != "" {
		return rules.ToClosed.Broken(place)
	}
	return nil
}
