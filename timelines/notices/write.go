package notices

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// maxAfter is how many people get a notification about a comment because they commented
// before: those who did so last, among the last lookedAt comments. Without the bound each
// comment under a post with thousands of commenters would write thousands of rows under the
// post's lock. 200 take about ten milliseconds. marks.Most bounds the people that a text
// names.
const (
	maxAfter = 200
	lookedAt = 1000
)

// Doing is something that was done to a post. Its author, Actor, is never told of it.
type Doing struct {
	Post, Actor int64
	Comment     int64 // 0: it is about the post itself
	// Stamp is when, in microseconds, of the order of freshness.
	Stamp int64
}

func (d Doing) args() pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"post": d.Post, "actor": d.Actor, "comment": d.Comment, "stamp": d.Stamp}
}

// These are the people whom each kind of doing concerns, as SELECTs of (account_id, kind).
const (
	likedPost    = `SELECT author_id, 1 FROM posts WHERE id = @post`
	likedComment = `SELECT author_id, 2 FROM comments WHERE id = @comment`
	parties      = `SELECT t.their_id, 6 FROM posts p JOIN timelines t ON t.id = ANY(p.decisive) AND t.kind = 'directs'
			WHERE p.id = @post AND t.their_id <> p.author_id`
	named = `SELECT t.their_id, 5 FROM text_marks m JOIN timelines t ON t.id = m.timeline_id AND t.kind = 'mentions'
			WHERE m.post_id = @post AND m.comment_id = @comment`
	newParts  = `SELECT their_id, 6 FROM timelines WHERE id = ANY(@timelines) AND kind = 'directs'`
	newNamed  = `SELECT their_id, 5 FROM timelines WHERE id = ANY(@timelines) AND kind = 'mentions'`
	wrote     = parties + ` UNION ALL ` + named
	commented = `SELECT author_id, 3 FROM posts WHERE id = @post
		UNION ALL ` + parties + ` UNION ALL ` + named + `
		UNION ALL (
			SELECT c.author_id, 4 FROM (
				SELECT author_id, created_at FROM comments
				WHERE post_id = @post AND deleted_at IS NULL AND id <> @comment
				ORDER BY created_at DESC, id DESC LIMIT @looked_at) c
			JOIN posts p ON p.id = @post
			WHERE c.author_id NOT IN (p.author_id, @actor)
			GROUP BY c.author_id ORDER BY max(c.created_at) DESC LIMIT @most)`
)

// Statement is one in two parts, `WITH With Do`. Its rows are timeline_id. Whom selects the accounts that it tells of
// something new, if it does.
type Statement struct{ With, Do, Whom string }

func (s Statement) String() string { return `WITH ` + s.With + s.Do }

// As returns the statement as a part of a larger one, under a name. There a WITH that writes must not be nested.
func (s Statement) As(name string) string {
	if s.With != "" {
		return s.With + `, ` + name + ` AS (` + s.Do + `)`
	}
	return name + ` AS (` + s.Do + `)`
}

// Liked tells the author of @post that @actor likes it, at @stamp. Its rows are the recipients' timelines in which the
// post moved. Like the functions below, it is one statement under the post's lock, and does not tell people who do not
// want events of that kind, or have muted the post.
var Liked = telling(likedPost, `0`)

// TellCommentLike tells the author of d.Comment of a like.
func TellCommentLike(ctx context.Context, tx pgx.Tx, d Doing) ([]int64, error) {
	return tell(ctx, tx, likedComment, d.args())
}

// TellPost tells of a new post: those to whom it is sent as a message, and those into whose
// mentions its text brought it.
func TellPost(ctx context.Context, tx pgx.Tx, d Doing) ([]int64, error) {
	return tell(ctx, tx, wrote, d.args())
}

// TellComment tells of the new comment d.Comment: the post's author, the parties of a message,
// those into whose mentions its text brought the post, and at most maxAfter of those who commented
// before.
func TellComment(ctx context.Context, tx pgx.Tx, d Doing) ([]int64, error) {
	args := d.args()
	args["most"], args["looked_at"] = maxAfter, lookedAt
	return tell(ctx, tx, commented, args)
}

// TellNamed tells the owners of these timelines of mentions that a text names them now.
func TellNamed(ctx context.Context, tx pgx.Tx, d Doing, mentions []int64) ([]int64, error) {
	args := d.args()
	args["timelines"] = mentions
	return tell(ctx, tx, newNamed, args)
}

// TellParties tells the owners of those of these timelines that hold messages that the post is
// now sent to them.
func TellParties(ctx context.Context, tx pgx.Tx, d Doing, directs []int64) ([]int64, error) {
	args := d.args()
	args["timelines"] = directs
	return tell(ctx, tx, newParts, args)
}

func tell(ctx context.Context, tx pgx.Tx, whom string, args pgx.StrictNamedArgs) ([]int64, error) {
	return ids(ctx, tx, "tell people", telling(whom, `@comment`).String(), args)
}

// telling tells those whom a SELECT finds of what @actor did to @post or that comment.
func telling(whom, comment string) Statement {
	return Statement{With: `concerned (account_id, kind) AS (` + whom + `
		), noticed AS (
			INSERT INTO notifications (account_id, post_id, kind, actor_id, comment_id, at)
			SELECT DISTINCT c.account_id, @post::bigint, c.kind::smallint, @actor::bigint, ` + comment + `::bigint, @stamp::bigint
			FROM concerned c JOIN accounts a ON a.id = c.account_id
			WHERE a.kind = 'user' AND a.id <> @actor AND a.notices_off & (1 << (c.kind - 1)) = 0
				AND NOT EXISTS (SELECT FROM muted_posts m WHERE m.account_id = a.id AND m.post_id = @post)
			ORDER BY 1, 3
			ON CONFLICT DO NOTHING
			RETURNING account_id
		)`, Do: `
		INSERT INTO timeline_entries AS e (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT t.id, @post, @stamp, @stamp, (SELECT (extract(epoch FROM created_at) * 1000000)::bigint FROM posts WHERE id = @post)
		FROM (SELECT DISTINCT account_id FROM noticed) n
		JOIN timelines t ON t.kind = 'notifications' AND t.their_id = n.account_id AND t.term = ''
		ORDER BY t.id
		ON CONFLICT (timeline_id, post_id) DO UPDATE
		SET withdrawn = false, entered_at = greatest(e.entered_at, excluded.entered_at),
			fresh_at = greatest(e.entered_at, excluded.entered_at)
		RETURNING timeline_id`, Whom: `SELECT account_id FROM noticed`}
}

// Unliked takes back what Liked told. Like the functions below it is one statement, about the recipients' timelines, in
// which the post stands again where their last event left puts it, or no more.
var Unliked = untelling(`n.comment_id = 0 AND n.kind = 1 AND n.actor_id = @actor`)

// UntellCommentLike takes back what TellCommentLike told.
func UntellCommentLike(ctx context.Context, tx pgx.Tx, d Doing) ([]int64, error) {
	return untell(ctx, tx, `n.comment_id = @comment AND n.kind = 2 AND n.actor_id = @actor`,
		pgx.StrictNamedArgs{"post": d.Post, "comment": d.Comment, "actor": d.Actor})
}

// UntellComment takes back all that was told of a comment.
func UntellComment(ctx context.Context, tx pgx.Tx, d Doing) ([]int64, error) {
	return untell(ctx, tx, `n.comment_id = @comment`, pgx.StrictNamedArgs{"post": d.Post, "comment": d.Comment})
}

// UntellComments is UntellComment of many comments of locked posts. Its rows are (post, timeline).
func UntellComments(ctx context.Context, tx pgx.Tx, posts, comments []int64) (pgx.Rows, error) {
	const query = `
		WITH gone AS (
			DELETE FROM notifications n WHERE n.post_id = ANY(@posts) AND n.comment_id = ANY(@comments)
			RETURNING n.account_id, n.post_id
		), left_over AS MATERIALIZED (
			SELECT t.id AS timeline_id, g.post_id, (
				SELECT max(n.at) FROM notifications n
				WHERE n.account_id = g.account_id AND n.post_id = g.post_id AND n.comment_id <> ALL(@comments)) AS at
			FROM (SELECT DISTINCT account_id, post_id FROM gone) g
			JOIN timelines t ON t.kind = 'notifications' AND t.their_id = g.account_id AND t.term = ''
		)
		UPDATE timeline_entries e
		SET withdrawn = l.at IS NULL, entered_at = coalesce(l.at, e.entered_at), fresh_at = coalesce(l.at, e.fresh_at)
		FROM left_over l WHERE e.timeline_id = l.timeline_id AND e.post_id = l.post_id
		RETURNING e.post_id, e.timeline_id`
	return tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts, "comments": comments})
}

// UntellBy takes back all that was told of what somebody did to locked posts. Its rows are (post, timeline).
func UntellBy(ctx context.Context, tx pgx.Tx, posts []int64, actor int64) (pgx.Rows, error) {
	const query = `
		WITH gone AS (
			DELETE FROM notifications n WHERE n.post_id = ANY(@posts) AND n.actor_id = @actor
			RETURNING n.account_id, n.post_id
		), left_over AS MATERIALIZED (
			SELECT t.id AS timeline_id, g.post_id, (
				SELECT max(n.at) FROM notifications n
				WHERE n.account_id = g.account_id AND n.post_id = g.post_id AND n.actor_id <> @actor) AS at
			FROM (SELECT DISTINCT account_id, post_id FROM gone) g
			JOIN timelines t ON t.kind = 'notifications' AND t.their_id = g.account_id AND t.term = ''
		)
		UPDATE timeline_entries e
		SET withdrawn = l.at IS NULL, entered_at = coalesce(l.at, e.entered_at), fresh_at = coalesce(l.at, e.fresh_at)
		FROM left_over l WHERE e.timeline_id = l.timeline_id AND e.post_id = l.post_id
		RETURNING e.post_id, e.timeline_id`
	return tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts, "actor": actor})
}

// UntellNamed takes back that a text names the owners of these timelines of mentions.
func UntellNamed(ctx context.Context, tx pgx.Tx, d Doing, mentions []int64) ([]int64, error) {
	return untell(ctx, tx, `n.comment_id = @comment AND n.kind = 5 AND n.account_id IN (
			SELECT their_id FROM timelines WHERE id = ANY(@timelines) AND kind = 'mentions')`,
		pgx.StrictNamedArgs{"post": d.Post, "comment": d.Comment, "timelines": mentions})
}

// UntellParties takes back that the post was sent to the owners of those of these timelines
// that hold messages.
func UntellParties(ctx context.Context, tx pgx.Tx, d Doing, directs []int64) ([]int64, error) {
	return untell(ctx, tx, `n.kind = 6 AND n.account_id IN (
			SELECT their_id FROM timelines WHERE id = ANY(@timelines) AND kind = 'directs')`,
		pgx.StrictNamedArgs{"post": d.Post, "timelines": directs})
}

func untell(ctx context.Context, tx pgx.Tx, what string, args pgx.StrictNamedArgs) ([]int64, error) {
	return ids(ctx, tx, "take back what people were told", untelling(what).String(), args)
}

func untelling(what string) Statement {
	// A statement does not see what it deletes itself, so it leaves those rows out by key. The
	// timelines' rows are looked up in the form that bump.go of package timelines explains.
	return Statement{With: `gone AS (
			DELETE FROM notifications n WHERE n.post_id = @post AND ` + what + `
			RETURNING n.account_id, n.comment_id, n.kind, n.actor_id
		), left_over AS (
			SELECT g.account_id, max(n.at) AS at
			FROM (SELECT DISTINCT account_id FROM gone) g
			LEFT JOIN notifications n ON n.account_id = g.account_id AND n.post_id = @post
				AND NOT EXISTS (SELECT FROM gone x WHERE (x.account_id, x.comment_id, x.kind, x.actor_id)
					= (n.account_id, n.comment_id, n.kind, n.actor_id))
			GROUP BY g.account_id
		), noticed AS MATERIALIZED (
			SELECT e.row_at, l.at FROM left_over l
			JOIN timelines t ON t.kind = 'notifications' AND t.their_id = l.account_id AND t.term = ''
			CROSS JOIN LATERAL (
				SELECT e.ctid AS row_at FROM timeline_entries e WHERE e.post_id = @post AND e.timeline_id = t.id LIMIT 1) e
		)`, Do: `
		UPDATE timeline_entries e
		SET withdrawn = n.at IS NULL, entered_at = coalesce(n.at, e.entered_at), fresh_at = coalesce(n.at, e.fresh_at)
		FROM noticed n WHERE e.ctid = n.row_at
		RETURNING e.timeline_id`}
}

// Timelines returns the timelines of kind notifications that hold a post.
func Timelines(ctx context.Context, tx pgx.Tx, post int64) ([]int64, error) {
	return ids(ctx, tx, "read who was told", `
		SELECT t.id FROM (SELECT DISTINCT account_id FROM notifications WHERE post_id = @post) n
		JOIN timelines t ON t.kind = 'notifications' AND t.their_id = n.account_id AND t.term = ''`,
		pgx.StrictNamedArgs{"post": post})
}

func ids(ctx context.Context, tx pgx.Tx, what, query string, args pgx.StrictNamedArgs) ([]int64, error) {
	rows, err := tx.Query(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return found, nil
}
