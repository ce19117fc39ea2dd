package timelines

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// The packages below this one that own tables change them by these functions, so that the
// steps of a change stand in one place.

// InTx runs fn in one READ COMMITTED transaction, and runs it again if it lost a race: fn must
// keep nothing from one attempt to the next.
func (s *Store) InTx(ctx context.Context, fn func(pgx.Tx) error) error {
	_, err := inTx(ctx, s.core, func(tx pgx.Tx) (struct{}, error) { return struct{}{}, fn(tx) })
	return err
}

// Narrow runs fn in a transaction as InTx does, and ends it with the next number of the access
// clock, which stands with the invalidations that fn returns: once the secondary store has
// Change.Clock, each node has dropped these. Tiers.Carry brings it there. If fn returns none, it
// found its work done, perhaps by a request that is not answered yet, and the change carries the
// clock as it stands.
func (s *Store) Narrow(ctx context.Context, fn func(pgx.Tx) (Change, []Invalidation, error)) (Change, error) {
	name := newName()
	return inTx(ctx, s.core, func(tx pgx.Tx) (Change, error) {
		c, drop, err := fn(named{tx, name})
		if err != nil {
			return Change{}, err
		}
		c.Name = name
		if len(drop) == 0 {
			c.Clock, err = readClockTx(ctx, tx)
		} else {
			c.Clock, err = tickTx(ctx, tx, drop...)
		}
		return c, err
	})
}

// EndSessionsTx ends all sessions of an account and returns what nodes must drop.
func EndSessionsTx(ctx context.Context, tx pgx.Tx, account int64) ([]Invalidation, error) {
	return endSessionsTx(ctx, tx, account)
}

// SuspendedError is what somebody gets who may not sign in. It is returned for the right
// password only, so a stranger does not learn of it.
type SuspendedError struct {
	Account Account
	Reason  string
	Ends    *time.Time // nil: for good
}

func (e *SuspendedError) Error() string { return "account " + e.Account.Name + " is suspended" }

// AnnounceTx announces events in the transaction of a change.
func (s *Store) AnnounceTx(ctx context.Context, tx pgx.Tx, events ...Event) error {
	return s.announceTx(ctx, tx, events...)
}

// WaitingError is what somebody gets who asked to be let in, and may not sign in yet, or was refused.
// It is returned for the right password only.
type WaitingError struct {
	Account Account
	Since   time.Time
	Refused *time.Time // nil: nobody has answered yet
	Answer  string     // that went with the refusal, or empty
}

func (e *WaitingError) Error() string {
	if e.Refused != nil {
		return "account " + e.Account.Name + " was not let in"
	}
	return "account " + e.Account.Name + " waits to be let in"
}

// JoinTx makes an account that was just made a member of groups, whatever their levels, and returns
// what nodes must drop. It has no rivers yet that would lack their posts.
func JoinTx(ctx context.Context, tx pgx.Tx, account int64, groups []int64) ([]Invalidation, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	const query = `SELECT their_id, id FROM timelines WHERE kind = 'group' AND term = '' AND their_id = ANY(@groups) ORDER BY 1`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"groups": groups})
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	var join admissions
	var group, feed int64
	drop := []Invalidation{{Kind: InvalidSets, AccountID: account}}
	if _, err := pgx.ForEachRow(rows, []any{&group, &feed}, func() error {
		join.add(account, group, feed)
		drop = append(drop, Invalidation{Kind: InvalidCounts, AccountID: group})
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	return drop, join.admitTx(ctx, tx)
}

// Options are the rules in force.
func (s *Store) Options() Options { return s.opts }

// MakeExport says that an archive is to be made of what somebody has (package exports).
type MakeExport struct{ ID int64 }

func (MakeExport) event() {}

// ChangeSeveral says that somebody does something to several posts at once (package bulk).
type ChangeSeveral struct{ ID int64 }

func (ChangeSeveral) event() {}
