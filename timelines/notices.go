package timelines

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/notices"
)

// SetKinds sets which kinds of notifications the actor does not want. It applies to what
// happens from now on, and to the number of those unread.
func (s Notices) SetKinds(ctx context.Context, actor int64, off notices.Off) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		const query = `UPDATE accounts SET notices_off = @off WHERE id = @actor AND notices_off <> @off`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"actor": actor, "off": int16(off)})
		if err != nil {
			return Change{}, fmt.Errorf("change account: %w", err)
		}
		c := Change{Actor: actor}
		if tag.RowsAffected() == 0 {
			return s.acknowledgeTx(ctx, tx, c)
		}
		c.Clock, err = tickTx(ctx, tx, Invalidation{Kind: InvalidSets, AccountID: actor})
		return c, err
	})
}

// Mute ends notifications of a post for the actor: it writes no more of them and shows none of
// those there are. The result is that of Hides.HidePost, and so are the errors, with
// "mutes_many" for very many.
func (s Notices) Mute(ctx context.Context, actor int64, code string) (post int64, c Change, err error) {
	return Hides(s).addPost(ctx, mutedPosts, actor, code)
}

// Unmute undoes Mute. For a post that is not muted it succeeds and changes nothing. ErrNotFound
// if there is no such post.
func (s Notices) Unmute(ctx context.Context, actor int64, code string) (post int64, c Change, err error) {
	return Hides(s).removePost(ctx, mutedPosts, actor, code)
}

// Muted returns at most limit of the posts the actor has muted and may still read, the last
// muted first, as Hides.Posts does.
func (s Notices) Muted(ctx context.Context, actor int64, before HiddenPost, limit int) ([]HiddenPost, error) {
	return Hides(s).listPosts(ctx, mutedPosts, actor, before, limit)
}

// Read says that a person has seen what happened to a post up to a time, in microseconds.
type Read struct{ AccountID, PostID, Upto int64 }

// MarkRead marks as read what these people have seen, in one statement. It takes no lock of the
// posts: nothing else relies on the mark. Rows are locked in the order of their keys, as those
// who take events back do.
func (s Notices) MarkRead(ctx context.Context, reads []Read) error {
	accounts, posts, upto := make([]int64, len(reads)), make([]int64, len(reads)), make([]int64, len(reads))
	for i, r := range reads {
		accounts[i], posts[i], upto[i] = r.AccountID, r.PostID, r.Upto
	}
	const query = `
		WITH seen AS MATERIALIZED (
			SELECT n.ctid AS row_at
			FROM unnest(@accounts::bigint[], @posts::bigint[], @upto::bigint[]) r(account_id, post_id, upto)
			JOIN notifications n ON n.account_id = r.account_id AND n.post_id = r.post_id AND n.at <= r.upto AND NOT n.read
			ORDER BY n.post_id, n.comment_id, n.account_id, n.kind, n.actor_id
			FOR NO KEY UPDATE OF n
		)
		UPDATE notifications n SET read = true FROM seen WHERE n.ctid = seen.row_at`
	return s.mark(ctx, query, pgx.StrictNamedArgs{"accounts": accounts, "posts": posts, "upto": upto})
}

// MarkAllRead marks everything as read for the actor.
func (s Notices) MarkAllRead(ctx context.Context, actor int64) error {
	const query = `
		WITH seen AS MATERIALIZED (
			SELECT n.ctid AS row_at FROM notifications n
			WHERE n.account_id = @actor AND NOT n.read
			ORDER BY n.post_id, n.comment_id, n.account_id, n.kind, n.actor_id
			FOR NO KEY UPDATE OF n
		)
		UPDATE notifications n SET read = true FROM seen WHERE n.ctid = seen.row_at`
	return s.mark(ctx, query, pgx.StrictNamedArgs{"actor": actor})
}

// SeenAlerts notes that the actor has seen the alerts of sources up to a time, in microseconds.
func (s Notices) SeenAlerts(ctx context.Context, actor, upto int64) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		tag, err := tx.Exec(ctx, `UPDATE accounts SET alerts_seen = @upto WHERE id = @actor AND alerts_seen < @upto`,
			pgx.StrictNamedArgs{"actor": actor, "upto": upto})
		if err != nil {
			return Change{}, fmt.Errorf("note what was seen: %w", err)
		}
		c := Change{Actor: actor}
		if tag.RowsAffected() == 0 {
			return s.acknowledgeTx(ctx, tx, c)
		}
		c.Clock, err = tickTx(ctx, tx, Invalidation{Kind: InvalidSets, AccountID: actor})
		return c, err
	})
}

func (s Notices) mark(ctx context.Context, query string, args pgx.StrictNamedArgs) error {
	_, err := inTx(ctx, s.core, func(tx pgx.Tx) (struct{}, error) {
		_, err := tx.Exec(ctx, query, args)
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("mark notifications read: %w", err)
	}
	return nil
}

// olderThan is the time of a place in a list of hidden posts, nil for its beginning.
func olderThan(before HiddenPost) *time.Time {
	if before.Code == "" {
		return nil
	}
	return &before.HiddenAt
}
