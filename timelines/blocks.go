package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/rights"
)

// unblocked is true for a group's timeline t that does not block @author.
const unblocked = `NOT EXISTS (
	SELECT FROM group_blocks b WHERE b.group_id = t.their_id AND b.account_id = @author)`

// heard is true if @author may comment on the post @post, which they may read: at least
// one decisive timeline through which they read it is not a group's that blocks them. A
// group cannot close a post that stands elsewhere too.
var heard = `EXISTS (
	SELECT FROM posts p JOIN timelines t ON t.id = ANY(p.decisive)
	WHERE p.id = @post AND (t.kind <> 'group' OR ` + unblocked + `) AND ` + rights.OpenTo("t", "@author::bigint") + `)`

// Block keeps a person, member or not, from posting to the group and from commenting on posts that
// they can read only through it. They can delete their posts and comments there and take them out,
// but not change them (see barredTx). They go on reading and liking. A post, a comment or a change
// that began before may still come in. The errors are those of Promote, except that nobody need be
// a member, and "admin_demote" for an administrator.
func (s Groups) Block(ctx context.Context, actor int64, group, name string) (Change, error) {
	return s.moderate(ctx, actor, group, name, func(tx pgx.Tx, g governed, who standing) (Change, error) {
		switch {
		case who.Admin:
			return Change{}, &InvalidError{Field: "name", Code: "admin_demote", Value: name}
		case who.Blocked:
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		_, err := tx.Exec(ctx, `INSERT INTO group_blocks (group_id, account_id) VALUES (@group, @who)`,
			pgx.StrictNamedArgs{"group": g.ID, "who": who.ID})
		if err != nil {
			return Change{}, fmt.Errorf("block: %w", err)
		}
		return forgetViewerTx(ctx, tx, actor, who.ID)
	})
}

// Unblock undoes Block. Unblocking a person who is not blocked changes nothing.
func (s Groups) Unblock(ctx context.Context, actor int64, group, name string) (Change, error) {
	return s.moderate(ctx, actor, group, name, func(tx pgx.Tx, g governed, who standing) (Change, error) {
		if !who.Blocked {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		_, err := tx.Exec(ctx, `DELETE FROM group_blocks WHERE group_id = @group AND account_id = @who`,
			pgx.StrictNamedArgs{"group": g.ID, "who": who.ID})
		if err != nil {
			return Change{}, fmt.Errorf("unblock: %w", err)
		}
		return forgetViewerTx(ctx, tx, actor, who.ID)
	})
}

// Blocked returns at most limit of the people the group blocks, by name, after the name
// given; an empty name is the beginning. It is for the group's administrators.
func (s Groups) Blocked(ctx context.Context, group int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `SELECT account_id FROM group_blocks WHERE group_id = @of`, group, after, limit)
}
