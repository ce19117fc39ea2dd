package strategies

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Select notes in the secondary store that the servers make home feeds by the strategy of that
// name from now on. Each server calls it before it works jobs. If another strategy was selected
// before, the stored feeds of all strategies are retired: those of this one lack what happened
// meanwhile, and those of the other will lack what happens from now on. Their readers fill them
// anew. Nothing is lost by that, as all feeds are made from the primary store. It takes
// some seconds for a hundred thousand feeds, and waits until no process remembers the former strategy.
//
// The servers of a site must all have the same strategy. See Homes.
func Select(ctx context.Context, secondary *pgxpool.Pool, name string) error {
	const note = `
		INSERT INTO home_strategy (strategy) VALUES (@strategy)
		ON CONFLICT (one) DO UPDATE SET strategy = excluded.strategy WHERE home_strategy.strategy <> excluded.strategy`
	const retire = `
		UPDATE home_feeds SET state = 'retired', retired_at = clock_timestamp()
		WHERE id IN (SELECT id FROM home_feeds WHERE state <> 'retired' ORDER BY id FOR UPDATE) AND state <> 'retired'`
	was, err := Selected(ctx, secondary)
	if err != nil {
		return err
	}
	changed := false
	err = pgx.BeginFunc(ctx, secondary, func(tx pgx.Tx) error {
		// A server that starts at the same time waits here, and then finds nothing to change.
		tag, err := tx.Exec(ctx, note, pgx.StrictNamedArgs{"strategy": name})
		if changed = tag.RowsAffected() > 0; err != nil || !changed {
			return err
		}
		_, err = tx.Exec(ctx, retire)
		return err
	})
	// A feed that was filled while others still worked by the old note may lack what they worked on.
	if err == nil && changed && was != "" {
		err = forgotten(ctx)
	}
	if err == nil && changed {
		_, err = secondary.Exec(ctx, retire)
	}
	if err != nil {
		return fmt.Errorf("select the strategy of home feeds: %w", err)
	}
	return nil
}

// forgotten returns when all processes have asked again what is selected.
func forgotten(ctx context.Context) error {
	t := time.NewTimer(remembered)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// selectFirst is Select if no strategy is selected, as after a loss of the secondary store.
func selectFirst(ctx context.Context, secondary *pgxpool.Pool, name string) error {
	const note = `INSERT INTO home_strategy (strategy) VALUES (@strategy) ON CONFLICT (one) DO NOTHING`
	if _, err := secondary.Exec(ctx, note, pgx.StrictNamedArgs{"strategy": name}); err != nil {
		return fmt.Errorf("select the strategy of home feeds: %w", err)
	}
	return nil
}

// Selected returns the name of the strategy that the servers make home feeds by, "" if that is not
// known, as after a loss of the secondary store.
func Selected(ctx context.Context, secondary *pgxpool.Pool) (name string, err error) {
	err = secondary.QueryRow(ctx, `SELECT strategy FROM home_strategy`).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the strategy of home feeds: %w", err)
	}
	return name, nil
}
