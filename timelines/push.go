package timelines

import (
	"context"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/push"
)

// Push says that browsers of the account are to be told that something is new.
type Push struct{ AccountID int64 }

func (Push) event() {}

// Keys returns the site's keys, which made makes at the first use.
func (s Pushes) Keys(ctx context.Context, made func() (push.Keys, error)) (push.Keys, error) {
	return push.SiteKeys(ctx, s.pool, made)
}

// Subscribe records the viewer's browser, or returns push.ErrInvalid.
func (s Pushes) Subscribe(ctx context.Context, v Viewer, sub push.Subscription) error {
	_, err := inTx(ctx, s.core, func(tx pgx.Tx) (struct{}, error) {
		return struct{}{}, push.Subscribe(ctx, tx, v.AccountID, v.Session[:], sub)
	})
	return err
}

// Unsubscribe forgets a browser of the account.
func (s Pushes) Unsubscribe(ctx context.Context, account int64, endpoint string) error {
	return push.Unsubscribe(ctx, s.pool, account, endpoint)
}

// Take begins the push for an account and returns its browsers.
func (s Pushes) Take(ctx context.Context, account int64) ([]push.Subscription, error) {
	return push.Take(ctx, s.pool, account)
}

// Forget forgets subscriptions that are over.
func (s Pushes) Forget(ctx context.Context, ids []int64) error { return push.Forget(ctx, s.pool, ids) }

// pushTx has the browsers of these accounts told that something is new.
func (s *core) pushTx(ctx context.Context, tx pgx.Tx, accounts []int64) error {
	if len(accounts) == 0 {
		return nil
	}
	due, err := push.Want(ctx, tx, accounts)
	if err != nil {
		return err
	}
	events := make([]Event, len(due))
	for i, account := range due {
		events[i] = Push{AccountID: account}
	}
	return s.announceTx(ctx, tx, events...)
}
