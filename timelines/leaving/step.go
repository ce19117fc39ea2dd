package leaving

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Step does one part of a deletion that has begun, and reports whether it is to be called again. It may
// be called any number of times, at once too, and a process may end anywhere within it.
//
// The first parts are those of a removal (admin.Store.RemovalStep), which also says what carry and
// distribute are. When nothing is left that pages show, the rest follows.
func (s *Store) Step(ctx context.Context, account int64,
	carry func(context.Context, timelines.Change, error) (timelines.Change, error),
	distribute func(context.Context, []timelines.Touched) error,
) (more bool, err error) {
	var removing bool
	err = s.timelines.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT FROM removals WHERE account_id = @account)`,
		pgx.StrictNamedArgs{"account": account}).Scan(&removing)
	if err != nil {
		return false, fmt.Errorf("read removal: %w", err)
	}
	if removing {
		_, err := s.staff.RemovalStep(ctx, account, carry, distribute)
		return true, err
	}
	c, err := s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		more, drop, err = s.forgetTx(ctx, tx, account)
		return c, drop, err
	})
	_, err = carry(ctx, c, err)
	return more, err
}

// forgetTx deletes a block of rows, or if none is left makes the account one that is gone.
func (s *Store) forgetTx(ctx context.Context, tx pgx.Tx, account int64) (more bool, drop []timelines.Invalidation, err error) {
	args := pgx.StrictNamedArgs{"account": account}
	// A part deletes there, and its lock comes before those of accounts.
	if _, err := tx.Exec(ctx, `LOCK TABLE staff IN ROW EXCLUSIVE MODE`); err != nil {
		return false, nil, fmt.Errorf("lock staff: %w", err)
	}
	// This waits for all who have written something with the account, or have looked for it to do so
	// (timelines.findAccounts), so the statements below see what they wrote. Those who come later find
	// the account gone.
	var kind string
	err = tx.QueryRow(ctx, `SELECT kind FROM accounts WHERE id = @account FOR UPDATE`, args).Scan(&kind)
	if err != nil {
		return false, nil, fmt.Errorf("lock account: %w", err)
	}
	var begun bool
	err = tx.QueryRow(ctx, `SELECT begun FROM leaving WHERE account_id = @account FOR UPDATE`, args).Scan(&begun)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !begun {
		return false, nil, nil // it is done, or was never begun
	}
	if err != nil {
		return false, nil, fmt.Errorf("read when an account is deleted: %w", err)
	}
	// A request, a load or an import that was under way when the account was hidden may have committed later.
	const late = `
		INSERT INTO removals (account_id, whole)
		SELECT @account, true WHERE EXISTS (SELECT FROM posts WHERE author_id = @account AND deleted_at IS NULL)
			OR EXISTS (SELECT FROM comments WHERE author_id = @account AND deleted_at IS NULL)
			OR EXISTS (SELECT FROM likes WHERE account_id = @account) OR EXISTS (SELECT FROM faves WHERE account_id = @account)
			OR EXISTS (SELECT FROM comment_likes WHERE account_id = @account)
			OR EXISTS (SELECT FROM approvals WHERE group_id = @account AND refused_at IS NULL)
			OR EXISTS (SELECT FROM timeline_entries WHERE timeline_id = (
				SELECT id FROM timelines WHERE kind = 'group' AND their_id = @account AND term = ''))
		ON CONFLICT DO NOTHING`
	tag, err := tx.Exec(ctx, late, args)
	if err != nil {
		return false, nil, fmt.Errorf("look for late posts: %w", err)
	}
	if tag.RowsAffected() > 0 {
		return true, nil, nil
	}
	for _, part := range parts {
		rows, err := tx.Query(ctx, part.query, pgx.StrictNamedArgs{"account": account, "limit": part.limit()})
		if err != nil {
			return false, nil, fmt.Errorf("delete rows of %s: %w", part.table, err)
		}
		others, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return false, nil, fmt.Errorf("delete rows of %s: %w", part.table, err)
		}
		if part.drops != "" {
			for _, id := range others {
				drop = append(drop, timelines.Invalidation{Kind: part.drops, AccountID: id})
			}
		}
		if part.homes {
			if err := s.announceHomesTx(ctx, tx, others); err != nil {
				return false, nil, err
			}
		}
		if len(others) == part.limit() {
			return true, drop, nil
		}
	}
	const gone = `
		UPDATE accounts SET kind = 'gone', name = '-' || md5(random()::text), title = '—', about = '', language = '', picture = '', listings_in = '',
			created_at = now(), friends_only = false, notices_off = 0, alerts_seen = 0, rules_agreed = 0
		WHERE id = @account`
	for _, query := range []string{gone, `DELETE FROM leaving WHERE account_id = @account`} {
		if _, err := tx.Exec(ctx, query, args); err != nil {
			return false, nil, fmt.Errorf("end a deletion: %w", err)
		}
	}
	// Rivers of pages of the account, and those of its own viewer.
	err = s.timelines.AnnounceTx(ctx, tx, timelines.Replace{AccountID: account}, timelines.Replace{ViewerID: account})
	drop = append(drop, timelines.Invalidation{Kind: timelines.InvalidAccount, AccountID: account},
		timelines.Invalidation{Kind: timelines.InvalidSets, AccountID: account})
	if kind == timelines.Group { // the staff's sets named it while it was a group
		drop = append(drop, timelines.Invalidation{Kind: timelines.InvalidUnseen, AccountID: account})
	}
	return false, drop, err
}

func (s *Store) announceHomesTx(ctx context.Context, tx pgx.Tx, viewers []int64) error {
	events := make([]timelines.Event, len(viewers))
	for i, id := range viewers {
		events[i] = timelines.Replace{ViewerID: id, Kinds: []string{timelines.RiverHome, timelines.RiverList}}
	}
	return s.timelines.AnnounceTx(ctx, tx, events...)
}
