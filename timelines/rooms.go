package timelines

import (
	"context"
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
// Change.Clock, each node has dropped these. Tiers.Act brings it there. If fn returns none, it
// found its work done, perhaps by a request that is not answered yet, and the change carries the
// clock as it stands.
func (s *Store) Narrow(ctx context.Context, fn func(pgx.Tx) (Change, []Invalidation, error)) (Change, error) {
	return inTx(ctx, s.core, func(tx pgx.Tx) (Change, error) {
		c, drop, err := fn(tx)
		if err != nil {
			return Change{}, err
		}
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
