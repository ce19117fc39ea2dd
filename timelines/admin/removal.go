package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// RemovePost deletes anybody's post, by its code. Moderators may, whether or not they are readers of
// it. why says in the audit log what led to it; it may be empty.
func (s *Store) RemovePost(ctx context.Context, by By, code, why string) (timelines.Change, error) {
	return s.timelines.Posts.Remove(ctx, by.AccountID, code, s.recorded(by, Act{Kind: RemovePost, Subject: code, Detail: why}))
}

// RemoveComment deletes anybody's comment, as RemovePost does a post.
func (s *Store) RemoveComment(ctx context.Context, by By, code string, id int64, why string) (timelines.Change, error) {
	subject := code + "#" + strconv.FormatInt(id, 10)
	return s.timelines.Comments.Remove(ctx, by.AccountID, code, id, s.recorded(by, Act{Kind: RemoveComment, Subject: subject, Detail: why}))
}

// recorded allows moderators an act, and records it. Both hold only if the transaction goes through.
func (s *Store) recorded(by By, a Act) timelines.Allow {
	return func(ctx context.Context, tx pgx.Tx, author int64) error {
		by, err := RequireTx(ctx, tx, by, Moderator)
		if err != nil {
			return err
		}
		a.Account = author
		return RecordTx(ctx, tx, by, a)
	}
}

// removalBlock is how many posts, or comments, one block removes.
const removalBlock = 200

// RemovePosts begins to remove all posts and comments of a person. As of the acknowledgement only the
// staff see anything of the account; a job removes them (RemovalStep), and then it is seen again. Posts
// that the person writes meanwhile go too. Moderators may, within the bounds of Suspend. A removal under
// way goes on.
func (s *Store) RemovePosts(ctx context.Context, by By, name string) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		by, of, err := OnTx(ctx, tx, by, Moderator, name)
		if err != nil {
			return c, nil, err
		}
		tag, err := tx.Exec(ctx, `INSERT INTO removals (account_id) VALUES (@account) ON CONFLICT DO NOTHING`,
			pgx.StrictNamedArgs{"account": of.ID})
		if err != nil {
			return c, nil, fmt.Errorf("begin a removal: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return c, nil, nil
		}
		if drop, err = HideTx(ctx, tx, of.ID, CauseRemoval); err != nil {
			return c, nil, err
		}
		if err := s.timelines.AnnounceTx(ctx, tx, timelines.RemovePosts{AccountID: of.ID}); err != nil {
			return c, nil, err
		}
		return c, drop, RecordTx(ctx, tx, by, Act{Kind: RemovePosts, Account: of.ID, Subject: of.Name})
	})
}

// RemovalStep removes one block of what an account wrote, and reports whether it is to be called
// again. It may be called any number of times, at once too, and a process may end anywhere within
// it.
//
// The account is seen again after the last block only, and a block begins only when pages have
// followed the one before: until then the row of the removal has its posts. So no page shows what is
// removed.
func (s *Store) RemovalStep(ctx context.Context, account int64,
	carry func(context.Context, timelines.Change, error) (timelines.Change, error),
	distribute func(context.Context, []timelines.Touched) error,
) (more bool, err error) {
	if err := s.followRemoval(ctx, account, distribute); err != nil {
		return false, err
	}
	c, err := s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		more = false
		var after int64
		var waits bool
		var whole bool
		err = tx.QueryRow(ctx, `SELECT after, pending <> '[]', whole FROM removals WHERE account_id = @account FOR UPDATE`,
			pgx.StrictNamedArgs{"account": account}).Scan(&after, &waits, &whole)
		if errors.Is(err, pgx.ErrNoRows) {
			return c, nil, nil // it is done
		}
		if err != nil {
			return c, nil, fmt.Errorf("read removal: %w", err)
		}
		if waits { // another job's block
			more = true
			return c, nil, nil
		}
		gone, last, drop, err := s.timelines.Posts.RemoveBlockTx(ctx, tx, account, after, removalBlock)
		if err != nil {
			return c, nil, err
		}
		if len(gone) == 0 && whole {
			if gone, err = s.timelines.Posts.ForgetBlockTx(ctx, tx, account, removalBlock); err != nil {
				return c, nil, err
			}
		}
		if len(gone) == 0 && whole {
			if gone, more, err = s.timelines.Posts.DisbandBlockTx(ctx, tx, account, removalBlock); err != nil {
				return c, nil, err
			}
			if more && len(gone) == 0 {
				return c, nil, nil
			}
		}
		if len(gone) == 0 {
			if _, err := tx.Exec(ctx, `DELETE FROM removals WHERE account_id = @account`, pgx.StrictNamedArgs{"account": account}); err != nil {
				return c, nil, fmt.Errorf("end a removal: %w", err)
			}
			drop, err = ShowTx(ctx, tx, account, CauseRemoval)
			return c, drop, err
		}
		more = true
		pending, err := json.Marshal(gone)
		if err != nil {
			return c, nil, fmt.Errorf("note a block of a removal: %w", err)
		}
		_, err = tx.Exec(ctx, `UPDATE removals SET after = @after, pending = @pending::text::jsonb WHERE account_id = @account`,
			pgx.StrictNamedArgs{"account": account, "after": last, "pending": string(pending)})
		if err != nil {
			return c, nil, fmt.Errorf("note a block of a removal: %w", err)
		}
		return c, drop, nil
	})
	_, err = carry(ctx, c, err)
	return more, err
}

// followRemoval brings pages up to the last block of a removal.
func (s *Store) followRemoval(ctx context.Context, account int64, distribute func(context.Context, []timelines.Touched) error) error {
	var pending []byte
	err := s.timelines.Pool().QueryRow(ctx, `SELECT pending FROM removals WHERE account_id = @account AND pending <> '[]'`,
		pgx.StrictNamedArgs{"account": account}).Scan(&pending)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read removal: %w", err)
	}
	var gone []timelines.Touched
	if err := json.Unmarshal(pending, &gone); err != nil {
		return fmt.Errorf("read removal: %w", err)
	}
	if err := distribute(ctx, gone); err != nil {
		return err
	}
	_, err = s.timelines.Pool().Exec(ctx, `UPDATE removals SET pending = '[]' WHERE account_id = @account AND pending = @pending::text::jsonb`,
		pgx.StrictNamedArgs{"account": account, "pending": string(pending)})
	if err != nil {
		return fmt.Errorf("note that pages followed: %w", err)
	}
	return nil
}

// Wrote is how many posts and comments somebody has, and whether they are being removed.
type Wrote struct {
	Posts, Comments int
	Removing        bool
}

// Left is how many there are together.
func (w Wrote) Left() int { return w.Posts + w.Comments }

// Wrote counts what an account wrote.
func (s *Store) Wrote(ctx context.Context, account int64) (w Wrote, err error) {
	const query = `
		SELECT (SELECT count(*) FROM posts WHERE author_id = @account AND deleted_at IS NULL),
			(SELECT count(*) FROM comments WHERE author_id = @account AND deleted_at IS NULL),
			EXISTS (SELECT FROM removals WHERE account_id = @account)`
	err = s.timelines.Pool().QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account}).Scan(&w.Posts, &w.Comments, &w.Removing)
	if err != nil {
		return w, fmt.Errorf("count posts: %w", err)
	}
	return w, nil
}
