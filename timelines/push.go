package timelines

import (
	"context"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/push"
)

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

// Has reports whether the viewer's browser is told.
func (s Pushes) Has(ctx context.Context, v Viewer, endpoint string) (bool, error) {
	return push.Has(ctx, s.pool, v.AccountID, v.Session[:], endpoint)
}

// Take begins the push for an account, and returns its browsers and the event that they were last
// told of.
func (s Pushes) Take(ctx context.Context, account int64) (list []push.Subscription, told int64, err error) {
	return push.Take(ctx, s.pool, account)
}

// Told notes the latest event that browsers of the account were told of, in microseconds.
func (s Pushes) Told(ctx context.Context, account, at int64) error {
	return push.Told(ctx, s.pool, account, at)
}

// Answered forgets subscriptions that are over, or that have failed for long.
func (s Pushes) Answered(ctx context.Context, a push.Answers) error {
	return push.Answered(ctx, s.pool, a)
}
