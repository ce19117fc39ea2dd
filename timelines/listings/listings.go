package listings

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// State says how far a listing has come. All are words of rules.StateUnknown.
type State string

// The states of a listing.
const (
	Active  State = "active"
	Expired State = "expired"
	Closed  State = "closed"
)

// ErrNone: the post is no listing.
var ErrNone = errors.New("no listing")

// Listing is a listing as it stands.
type Listing struct {
	Offer
	State State
	How   string // Sold or Given, of a closed one
	Paid  *int64 // what it went for, in hundredths, if its author told
}

// Fields are the listing's fields as a form has them.
func (l Listing) Fields() Fields {
	f := Fields{Currency: l.Currency, Place: l.Place, Condition: l.Condition, Until: FormatDay(l.Until)}
	if l.Price != nil {
		f.Price = FormatPrice(*l.Price)
	}
	return f
}

// DB is a pool or a transaction.
type DB interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Find returns the listing of a post, or ErrNone.
func Find(ctx context.Context, db DB, post int64) (Listing, error) {
	const query = `
		SELECT price, currency, place, condition, until_at, state, coalesce(how, ''), sold_price FROM listings WHERE post_id = @post`
	var l Listing
	err := db.QueryRow(ctx, query, pgx.StrictNamedArgs{"post": post}).
		Scan(&l.Price, &l.Currency, &l.Place, &l.Condition, &l.Until, &l.State, &l.How, &l.Paid)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, ErrNone
	}
	if err != nil {
		return l, fmt.Errorf("read listing: %w", err)
	}
	return l, nil
}

// AddTx makes a post that is being made a listing.
func AddTx(ctx context.Context, tx pgx.Tx, post int64, o Offer) error {
	const query = `
		INSERT INTO listings (post_id, price, currency, place, condition, until_at)
		VALUES (@post, @price, @currency, @place, @condition, @until)`
	if _, err := tx.Exec(ctx, query, o.args(post)); err != nil {
		return fmt.Errorf("add listing: %w", err)
	}
	return nil
}

func (o Offer) args(post int64) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{
		"post": post, "price": o.Price, "currency": o.Currency, "place": o.Place, "condition": o.Condition, "until": o.Until,
	}
}

// SetTx changes the fields of the listing of a locked post, and reports whether that changed anything.
// With a day that is not over, an expired listing is active again. A closed one stays as it is.
func SetTx(ctx context.Context, tx pgx.Tx, post int64, o Offer) (changed, active bool, err error) {
	const query = `
		UPDATE listings SET price = @price, currency = @currency, place = @place, condition = @condition, until_at = @until,
			state = CASE WHEN @until > clock_timestamp() THEN 'active' ELSE state END
		WHERE post_id = @post AND state <> 'closed'
			AND (price, currency, place, condition, until_at) IS DISTINCT FROM (@price, @currency, @place, @condition, @until)
		RETURNING state = 'active'`
	err = tx.QueryRow(ctx, query, o.args(post)).Scan(&active)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("change listing: %w", err)
	}
	return true, active, nil
}

// Renewed is the instant at which a listing ends that is renewed now.
func Renewed(now time.Time) time.Time { return ends(Day(now).AddDate(0, 0, DefaultDays)) }

// RenewTx lets the listing of a locked post stand DefaultDays longer than today, and reports whether
// that changed anything. A later day stays. A closed listing stays as it is.
func RenewTx(ctx context.Context, tx pgx.Tx, post int64, now time.Time) (changed bool, err error) {
	const query = `
		UPDATE listings SET until_at = @until, state = 'active'
		WHERE post_id = @post AND state <> 'closed' AND (state = 'expired' OR until_at < @until)`
	tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"post": post, "until": Renewed(now)})
	if err != nil {
		return false, fmt.Errorf("renew listing: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// CloseTx closes the listing of a locked post, and reports whether it was open; ErrNone if the post is
// no listing.
func CloseTx(ctx context.Context, tx pgx.Tx, post int64, how string, price *int64) (changed bool, err error) {
	const query = `
		UPDATE listings SET state = 'closed', closed_at = clock_timestamp(), how = @how, sold_price = @price
		WHERE post_id = @post AND state <> 'closed'`
	tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"post": post, "how": how, "price": price})
	if err != nil {
		return false, fmt.Errorf("close listing: %w", err)
	}
	if tag.RowsAffected() == 0 {
		_, err = Find(ctx, tx, post)
		return false, err
	}
	return true, nil
}

// LapseTx makes the listing of a locked post expired as of an instant, and reports whether it was active.
func LapseTx(ctx context.Context, tx pgx.Tx, post int64, at time.Time) (changed bool, err error) {
	const query = `UPDATE listings SET until_at = @until, state = 'expired' WHERE post_id = @post AND state = 'active'`
	tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"post": post, "until": at})
	if err != nil {
		return false, fmt.Errorf("end listing: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// Due returns the posts of at most limit active listings whose last day is over, the oldest first.
func Due(ctx context.Context, tx pgx.Tx, limit int) ([]int64, error) {
	const query = `
		SELECT post_id FROM listings WHERE state = 'active' AND until_at <= clock_timestamp() ORDER BY until_at LIMIT @limit`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"limit": limit})
	return ids(rows, err, "find listings that are over")
}

// ExpireTx makes those listings of locked posts expired whose last day is over, and returns their
// posts. It looks again, since another node, or the author, may have been faster.
func ExpireTx(ctx context.Context, tx pgx.Tx, posts []int64) ([]int64, error) {
	const query = `
		UPDATE listings SET state = 'expired'
		WHERE post_id = ANY(@posts) AND state = 'active' AND until_at <= clock_timestamp()
		RETURNING post_id`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts})
	return ids(rows, err, "expire listings")
}

func ids(rows pgx.Rows, err error, doing string) ([]int64, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return found, nil
}

// RemoveTx removes the listings of posts that are deleted.
func RemoveTx(ctx context.Context, tx pgx.Tx, posts []int64) error {
	if _, err := tx.Exec(ctx, `DELETE FROM listings WHERE post_id = ANY(@posts)`, pgx.StrictNamedArgs{"posts": posts}); err != nil {
		return fmt.Errorf("remove listings: %w", err)
	}
	return nil
}
