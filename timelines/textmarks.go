package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/marks"
	"riverrun/timelines/markup"
	"riverrun/timelines/notices"
)

// A writing is a text as it is stored.
type writing struct {
	body   string
	markup bool
}

// prose is what may name people and tags in the text.
func (w writing) prose() string {
	if w.markup {
		return markup.Prose(w.body)
	}
	return w.body
}

// ownText stands in the place of a comment's id for a post's own text.
const ownText = 0

// indexTextTx updates the tags and mentions of a post after one of its texts, its own or a
// comment's, changed. The post enters the timelines of tags, and the mentions of people,
// that are new in it, fresh there as after a like, and leaves those that none of its texts
// names any more. The zero writing is that of a removed text. It returns the timelines entered
// and left. It adds to c, and announces, the rivers that the first use of a tag
// invalidates.
//
// A mention needs no permission: whether the person may read the post is decided where
// mentions are read, as for any timeline (004). A stranger's mention reaches few
// (strangers.go). An account that gets the name later is not mentioned.
//
// An edit tells people of notifications that it names them now, and takes back that it did.
//
// text_marks records which text names which timeline. So one statement reads the reasons,
// under the post's lock, however many comments there are. A text without marks costs
// nothing if it is new, and one statement if it changed.
func (s *core) indexTextTx(ctx context.Context, tx pgx.Tx, c *Change, p lockedPost, comment int64, written writing, edited bool) ([]int64, error) {
	prose := written.prose()
	tags, names := marks.Tags(prose), marks.Names(prose)
	if len(tags)+len(names) == 0 && !edited {
		return nil, nil
	}
	names, err := s.reachedTx(ctx, tx, c.Actor, names)
	if err != nil {
		return nil, err
	}
	if err := s.makeHashtagsTx(ctx, tx, c, tags); err != nil {
		return nil, err
	}
	const mark = `
		WITH named AS MATERIALIZED (
			SELECT id FROM timelines WHERE kind = 'hashtag' AND their_id = 0 AND term = ANY(@tags)
			UNION ALL
			SELECT t.id FROM accounts a JOIN timelines t ON t.kind = 'mentions' AND t.their_id = a.id AND t.term = ''
			WHERE a.name = ANY(@names)
		), unnamed AS (
			DELETE FROM text_marks
			WHERE post_id = @post AND comment_id = @comment AND NOT timeline_id = ANY(ARRAY(SELECT id FROM named))
			RETURNING timeline_id
		), marked AS (
			INSERT INTO text_marks (post_id, comment_id, timeline_id)
			SELECT @post, @comment, id FROM named
			ON CONFLICT DO NOTHING
			RETURNING timeline_id
		)
		SELECT ARRAY(SELECT timeline_id FROM marked), ARRAY(SELECT timeline_id FROM unnamed)`
	var marked, unnamed []int64
	err = tx.QueryRow(ctx, mark, pgx.StrictNamedArgs{
		"post": p.ID, "comment": comment, "tags": tags, "names": names,
	}).Scan(&marked, &unnamed)
	if err != nil {
		return nil, fmt.Errorf("mark text: %w", err)
	}
	var touched []int64
	if len(marked) > 0 {
		if touched, err = s.enterNamedTx(ctx, tx, p, marked); err != nil {
			return nil, err
		}
	}
	if len(unnamed) > 0 {
		left, err := withdrawUnnamedTx(ctx, tx, p.ID, unnamed)
		if err != nil {
			return nil, err
		}
		touched = append(touched, left...)
	}
	if !edited {
		return touched, nil // who tells of the new text tells those it names
	}
	d := p.doing(c.Actor, comment)
	if len(marked) > 0 {
		told, err := notices.TellNamed(ctx, tx, d, marked)
		if err != nil {
			return nil, err
		}
		touched = append(touched, told...)
	}
	if len(unnamed) > 0 {
		untold, err := notices.UntellNamed(ctx, tx, d, unnamed)
		if err != nil {
			return nil, err
		}
		touched = append(touched, untold...)
	}
	return touched, nil
}

// makeHashtagsTx makes the timelines of tags that have none. It invalidates rivers of these
// tags, which were built without a timeline; the actor's own before the reply.
func (s *core) makeHashtagsTx(ctx context.Context, tx pgx.Tx, c *Change, tags []string) error {
	made, err := insertHashtagsTx(ctx, tx, tags)
	if err != nil || len(made) == 0 {
		return err
	}
	all := Replace{Everybody: true, Kinds: []string{kinds.Hashtag}, Terms: made}
	c.Replace = append(c.Replace, Replace{ViewerID: c.Actor, Kinds: all.Kinds, Terms: made})
	return s.announceTx(ctx, tx, all)
}

// insertHashtagsTx makes the timelines of tags that have none and returns their terms. Two
// transactions that use a new tag at the same time meet here; the order of the terms
// prevents a deadlock.
func insertHashtagsTx(ctx context.Context, tx pgx.Tx, tags []string) ([]string, error) {
	if len(tags) == 0 {
		return nil, nil
	}
	// OFFSET 0 looks each tag up by itself, whatever the planner knows of the table.
	const query = `
		INSERT INTO timelines (kind, their_id, term)
		SELECT 'hashtag', 0, n.term FROM unnest(@tags::text[]) AS n (term)
		WHERE NOT EXISTS (SELECT FROM timelines t WHERE t.kind = 'hashtag' AND t.their_id = 0 AND t.term = n.term OFFSET 0)
		ORDER BY n.term
		ON CONFLICT DO NOTHING
		RETURNING term`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"tags": tags})
	if err != nil {
		return nil, fmt.Errorf("make hashtags: %w", err)
	}
	made, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("make hashtags: %w", err)
	}
	return made, nil
}

// withdrawUnnamedTx takes the post out of the timelines, among these, that none of its
// texts names any more, and returns them.
func withdrawUnnamedTx(ctx context.Context, tx pgx.Tx, post int64, timelines []int64) ([]int64, error) {
	const query = `
		WITH pointless AS (
			SELECT id FROM unnest(@timelines::bigint[]) AS t (id)
			WHERE NOT EXISTS (SELECT FROM text_marks m WHERE m.post_id = @post AND m.timeline_id = t.id)
		), ` + standingPointless + withdrawStanding
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"post": post, "timelines": timelines})
	return collectIDs(rows, err, "timelines left")
}
