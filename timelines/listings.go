package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/listings"
	"riverrun/timelines/publishing"
	"riverrun/timelines/rules"
)

// offerOf checks the fields of a new listing; nil for none.
func offerOf(f *listings.Fields) (*listings.Offer, error) {
	if f == nil {
		return nil, nil
	}
	o, err := f.Check(time.Now(), time.Time{})
	return &o, err
}

// listTx makes a new post a listing, unless the offer is nil. An InvalidError "listing_place" says that
// none of its destinations is a group that takes listings.
func listTx(ctx context.Context, tx pgx.Tx, post int64, o *listings.Offer, decisive []int64) error {
	if o == nil {
		return nil
	}
	takes, err := takeListingsTx(ctx, tx, decisive)
	if err != nil {
		return err
	}
	if !takes {
		return rules.ListingPlace.Broken("")
	}
	return listings.AddTx(ctx, tx, post, *o)
}

// takeListingsTx reports whether one of some timelines is that of a group that takes listings.
func takeListingsTx(ctx context.Context, tx pgx.Tx, among []int64) (takes bool, err error) {
	const query = `
		SELECT EXISTS (
			SELECT FROM timelines t JOIN accounts a ON a.id = t.their_id
			WHERE t.id = ANY(@among) AND t.kind = 'group' AND a.listings_in <> '')`
	if err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"among": among}).Scan(&takes); err != nil {
		return false, fmt.Errorf("find who takes listings: %w", err)
	}
	return takes, nil
}

// checkListingMoveTx returns an InvalidError "listing_place" if a locked post is a listing, and none of
// the timelines where it is to stand is that of a group that takes listings.
func checkListingMoveTx(ctx context.Context, tx pgx.Tx, post int64, decisive []int64) error {
	switch _, err := listings.Find(ctx, tx, post); {
	case errors.Is(err, listings.ErrNone):
		return nil
	case err != nil:
		return err
	}
	takes, err := takeListingsTx(ctx, tx, decisive)
	if err == nil && !takes {
		err = rules.ListingPlace.Broken("")
	}
	return err
}

// relistTx changes the listing of a locked post, unless the fields are nil. The caller applies what it counts.
func (s *core) relistTx(ctx context.Context, tx pgx.Tx, p lockedPost, f *listings.Fields, counts *publishing.Counts) (changed bool, err error) {
	if f == nil {
		return false, nil
	}
	was, err := openListingTx(ctx, tx, p)
	if err != nil {
		return false, err
	}
	o, err := f.Check(time.Now(), was.Until)
	if err != nil {
		return false, err
	}
	changed, active, err := listings.SetTx(ctx, tx, p.ID, o)
	if err != nil || !active {
		return changed, err
	}
	return true, counts.MoveTx(ctx, tx, []int64{p.ID}, publishing.Published)
}

// openListingTx returns the listing of a locked post: an InvalidError "listing_none" if it is none, and
// "listing_closed" if it is closed.
func openListingTx(ctx context.Context, tx pgx.Tx, p lockedPost) (listings.Listing, error) {
	l, err := listings.Find(ctx, tx, p.ID)
	switch {
	case errors.Is(err, listings.ErrNone):
		return l, rules.ListingNone.Broken("")
	case err == nil && l.State == listings.Closed:
		return l, rules.ListingClosed.Broken("")
	}
	return l, err
}

// Listing returns the actor's own listing, for its forms: listings.ErrNone if the post is none; the
// other errors are those of Posts.Edit.
func (s Posts) Listing(ctx context.Context, actor int64, code string) (listings.Listing, error) {
	if _, err := s.Body(ctx, actor, code); err != nil {
		return listings.Listing{}, err
	}
	id, err := s.ID(ctx, code)
	if err != nil {
		return listings.Listing{}, err
	}
	return listings.Find(ctx, s.pool, id)
}

// Renew lets the actor's own listing stand for another listings.DefaultDays from today; it lifts the
// post nowhere. It changes nothing if the listing stands longer already. The errors are those of
// Posts.Edit, and an InvalidError "listing_none" or "listing_closed", or "to_closed" as of Revise.
func (s Posts) Renew(ctx context.Context, actor int64, code string) (Change, error) {
	return s.changeListing(ctx, actor, code, func(tx pgx.Tx, p lockedPost, counts *publishing.Counts) (bool, error) {
		if _, err := openListingTx(ctx, tx, p); err != nil {
			return false, err
		}
		if err := checkBarredTx(ctx, tx, actor, p.ID); err != nil {
			return false, err
		}
		renewed, err := listings.RenewTx(ctx, tx, p.ID, time.Now())
		if err != nil || !renewed {
			return false, err
		}
		return true, counts.MoveTx(ctx, tx, []int64{p.ID}, publishing.Published)
	})
}

// Close closes the actor's own listing for ever. Closing it again, in any words, changes nothing, so it
// counts once. The errors are those of Posts.Edit, and InvalidErrors "listing_none", "how_unknown", "price_format" and
// "price_range".
func (s Posts) Close(ctx context.Context, actor int64, code string, sale listings.Sale) (Change, error) {
	price, err := sale.Check()
	if err != nil {
		return Change{}, err
	}
	return s.changeListing(ctx, actor, code, func(tx pgx.Tx, p lockedPost, counts *publishing.Counts) (bool, error) {
		l, err := listings.Find(ctx, tx, p.ID)
		if errors.Is(err, listings.ErrNone) {
			return false, rules.ListingNone.Broken("")
		}
		if err != nil {
			return false, err
		}
		closed, err := listings.CloseTx(ctx, tx, p.ID, sale.How, price)
		if err != nil || !closed {
			return false, err
		}
		counts.Grow(actor, publishing.ClosedEver, "", 1)
		if price != nil {
			counts.Grow(actor, publishing.Earned, l.Currency, *price)
		}
		return true, counts.MoveTx(ctx, tx, []int64{p.ID}, publishing.Closed)
	})
}

// Lapse makes the actor's own listing one whose last day was yesterday. A demo has such listings from the
// start. The errors are those of Posts.Edit, and an InvalidError "listing_none" or "listing_closed".
func (s Posts) Lapse(ctx context.Context, actor int64, code string) (Change, error) {
	return s.changeListing(ctx, actor, code, func(tx pgx.Tx, p lockedPost, counts *publishing.Counts) (bool, error) {
		if _, err := openListingTx(ctx, tx, p); err != nil {
			return false, err
		}
		over, err := listings.LapseTx(ctx, tx, p.ID, listings.Day(time.Now()))
		if err != nil || !over {
			return false, err
		}
		return true, counts.MoveTx(ctx, tx, []int64{p.ID}, publishing.Expired)
	})
}

// changeListing changes a listing of the actor's.
func (s *core) changeListing(ctx context.Context, actor int64, code string, set func(pgx.Tx, lockedPost, *publishing.Counts) (bool, error)) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		if p.AuthorID != actor {
			return Change{}, ErrForbidden
		}
		var counts publishing.Counts
		changed, err := set(tx, p, &counts)
		if err != nil {
			return Change{}, err
		}
		if !changed {
			return Change{}, &unchanged{p.change(actor)}
		}
		if err := counts.ApplyTx(ctx, tx); err != nil {
			return Change{}, err
		}
		return s.touchTx(ctx, tx, p.change(actor), nil)
	})
}

// ExpireListings makes at most limit listings expired whose last day is over, and reports whether there
// may be more. Several nodes may do it at once: each listing expires once.
func (s Maintenance) ExpireListings(ctx context.Context, limit int) (c Change, more bool, err error) {
	c, err = s.change(ctx, func(tx pgx.Tx) (Change, error) {
		due, err := listings.Due(ctx, tx, limit)
		if err != nil || len(due) == 0 {
			more = false
			return Change{}, err
		}
		more = len(due) == limit
		slices.Sort(due)
		rows, err := tx.Query(ctx, `SELECT id FROM posts WHERE id = ANY(@posts) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE`,
			pgx.StrictNamedArgs{"posts": due})
		if due, err = collectIDs(rows, err, "posts whose listings are over"); err != nil {
			return Change{}, err
		}
		over, err := listings.ExpireTx(ctx, tx, due)
		if err != nil || len(over) == 0 {
			return Change{}, err
		}
		if _, err := tx.Exec(ctx, `UPDATE posts SET version = version + 1 WHERE id = ANY(@posts)`, pgx.StrictNamedArgs{"posts": over}); err != nil {
			return Change{}, fmt.Errorf("versions of listings that are over: %w", err)
		}
		slices.Sort(over)
		var counts publishing.Counts
		if err := counts.MoveTx(ctx, tx, over, publishing.Expired); err != nil {
			return Change{}, err
		}
		if err := counts.ApplyTx(ctx, tx); err != nil {
			return Change{}, err
		}
		var batch TouchedBatch
		for _, id := range over {
			batch = append(batch, Touched{PostID: id})
		}
		return Change{Rewritten: batch}, s.announceTx(ctx, tx, batch)
	})
	return c, more, err
}

// SetListings lets a group take listings, for which its form proposes the currency, or, if that is
// empty, no more: ErrNotFound if there is no such group, ErrForbidden if the actor does not administer
// it, an InvalidError "currency_unknown". Listings that it has stay.
func (s Groups) SetListings(ctx context.Context, actor int64, group, currency string) (Change, error) {
	if currency != "" {
		if err := rules.Currency(currency); err != nil {
			return Change{}, err
		}
	}
	if !nameForm.MatchString(group) {
		return Change{}, ErrNotFound
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		_, err := tx.Exec(ctx, `SELECT FROM accounts WHERE name = @name AND kind = 'group' FOR NO KEY UPDATE`,
			pgx.StrictNamedArgs{"name": group})
		if err != nil {
			return Change{}, fmt.Errorf("lock account: %w", err)
		}
		g, err := lockGroupTx(ctx, tx, actor, group)
		if err != nil {
			return Change{}, err
		}
		tag, err := tx.Exec(ctx, `UPDATE accounts SET listings_in = @currency WHERE id = @group AND listings_in <> @currency`,
			pgx.StrictNamedArgs{"group": g.ID, "currency": currency})
		if err != nil {
			return Change{}, fmt.Errorf("set listings: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidAccount, AccountID: g.ID})
		return Change{Actor: actor, Clock: clock}, err
	})
}
