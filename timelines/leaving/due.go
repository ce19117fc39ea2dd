package leaving

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Due begins at most limit deletions whose time has come, and returns how many. Those who were not let
// in (package doors) are deleted a month after that.
func (s *Store) Due(ctx context.Context, limit int) (int, error) {
	var due []int64
	err := s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		const refused = `
			WITH old AS (
				SELECT p.account_id FROM applications p
				WHERE p.refused_at < now() - interval '30 days' AND NOT EXISTS (SELECT FROM leaving l WHERE l.account_id = p.account_id)
				-- Somebody whom the staff let in just now is skipped.
				ORDER BY p.account_id LIMIT @limit FOR UPDATE OF p SKIP LOCKED
			), noted AS (
				-- The staff may delete one of them just now.
				INSERT INTO leaving (account_id, ends_at, by_staff) SELECT account_id, now(), true FROM old
				ON CONFLICT DO NOTHING RETURNING account_id
			)
			INSERT INTO acts (by_name, kind, account_id, subject, detail)
			SELECT '', @kind, a.id, a.name, 'was not let in 30 days ago' FROM noted JOIN accounts a ON a.id = noted.account_id`
		if _, err := tx.Exec(ctx, refused, pgx.StrictNamedArgs{"limit": limit, "kind": actDelete}); err != nil {
			return fmt.Errorf("find those not let in: %w", err)
		}
		const over = `
			SELECT account_id FROM leaving WHERE ends_at <= now() AND NOT begun ORDER BY ends_at LIMIT @limit FOR UPDATE SKIP LOCKED`
		rows, err := tx.Query(ctx, over, pgx.StrictNamedArgs{"limit": limit})
		if err != nil {
			return fmt.Errorf("find accounts to delete: %w", err)
		}
		if due, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
			return fmt.Errorf("find accounts to delete: %w", err)
		}
		return s.beginTx(ctx, tx, due)
	})
	return len(due), err
}

// beginTx makes deletions begin: from now on nobody can keep these accounts.
func (s *Store) beginTx(ctx context.Context, tx pgx.Tx, accounts []int64) error {
	var begin pgx.Batch
	for _, query := range []string{
		`UPDATE leaving SET begun = true WHERE account_id = ANY(@accounts)`,
		// Before the accounts give their names up: timelines.isLeft says why.
		`INSERT INTO left_names (sum) SELECT sha256(convert_to(name, 'UTF8')) FROM accounts WHERE id = ANY(@accounts) ON CONFLICT DO NOTHING`,
		`INSERT INTO unseen_accounts (account_id, cause) SELECT id, 'leaving' FROM unnest(@accounts::bigint[]) id ON CONFLICT DO NOTHING`,
		`INSERT INTO removals (account_id, whole) SELECT id, true FROM unnest(@accounts::bigint[]) id
			ON CONFLICT (account_id) DO UPDATE SET whole = true`,
	} {
		begin.Queue(query, pgx.StrictNamedArgs{"accounts": accounts})
	}
	if err := tx.SendBatch(ctx, &begin).Close(); err != nil {
		return fmt.Errorf("begin to delete accounts: %w", err)
	}
	events := make([]timelines.Event, len(accounts))
	for i, id := range accounts {
		events[i] = timelines.Leave{AccountID: id}
	}
	return s.timelines.AnnounceTx(ctx, tx, events...)
}
