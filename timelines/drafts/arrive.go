package drafts

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Arrival is what somebody who signs in brings along.
type Arrival struct {
	Owner Owner // of the drafts written before
	// Category is the place of what they were about to write, empty if that is not known.
	Category string
}

// held is a draft as ArriveTx decides on it.
type held struct {
	ID int64
	Candidate
}

// ArriveTx moves the drafts of a visitor to the account that they sign in to, within the transaction
// that begins the session, and makes the draft current that [Decide] says. All of them keep their ids.
// The visitor's rows are gone then, so that a second sign-in moves nothing. The account may have more
// than Most drafts afterwards, by those that the visitor had: no text is lost.
//
// Each side brings the draft of the category into the decision, if it has one, and otherwise its
// current one: a draft of the category is not passed over because another was saved later.
func ArriveTx(ctx context.Context, tx pgx.Tx, account int64, a Arrival) error {
	if !IsPostPlace(a.Category) {
		a.Category = ""
	}
	if a.Owner.Nobody() && a.Category == "" {
		return nil
	}
	if err := arriveTx(ctx, tx, account, a); err != nil {
		return fmt.Errorf("move drafts of a visitor: %w", err)
	}
	return nil
}

func arriveTx(ctx context.Context, tx pgx.Tx, account int64, a Arrival) error {
	// They are parked until it is decided whether they take a place.
	const move = `
		WITH moved AS (
			DELETE FROM visitor_drafts WHERE owner = @owner RETURNING *
		)
		INSERT INTO drafts (id, account_id, saved_at, place, language, body, destinations, uploads, parked)
		SELECT id, @account, saved_at, place, language, body, destinations, '{}', true FROM moved
		RETURNING id, place, saved_at`
	const find = `
		SELECT d.id, d.place, d.saved_at FROM drafts d LEFT JOIN current_drafts c ON c.draft_id = d.id
		WHERE d.account_id = @account AND (c.draft_id IS NOT NULL OR d.place = @category AND NOT d.parked)
		ORDER BY d.place = @category DESC, c.draft_id IS NULL LIMIT 1`
	if err := LockTx(ctx, tx, account); err != nil {
		return err
	}
	if !a.Owner.Nobody() {
		if err := lockVisitorTx(ctx, tx, a.Owner); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, removeEmpty, pgx.StrictNamedArgs{"account": account}); err != nil {
		return err
	}
	own, err := heldOf(tx.Query(ctx, find, pgx.StrictNamedArgs{"account": account, "category": a.Category}))
	if err != nil {
		return err
	}
	brought, err := heldOf(tx.Query(ctx, move, pgx.StrictNamedArgs{"account": account, "owner": a.Owner[:]}))
	if err != nil {
		return err
	}
	slices.SortFunc(brought, func(x, y held) int { return y.SavedAt.Compare(x.SavedAt) })
	latest := slices.Clone(brought)
	slices.SortStableFunc(latest, func(x, y held) int {
		return of(y, a.Category) - of(x, a.Category)
	})
	outcome := Decide(first(latest), first(own), a.Category)
	var current int64
	switch {
	case outcome.New:
		if current, err = newTx(ctx, tx, account, a.Category); err != nil {
			return err
		}
	case outcome.Visitor == Current, outcome.Visitor == Reset:
		current = latest[0].ID
	case outcome.Account == Current, outcome.Account == Reset:
		current = own[0].ID
	default:
		return nil // nothing was brought, and nothing is asked for
	}
	free := make([]int64, len(brought))
	for i, b := range brought {
		free[i] = b.ID
	}
	if outcome.Visitor == Reset || outcome.Account == Reset {
		text, err := resetTx(ctx, tx, current, a.Category)
		if err != nil {
			return err
		}
		free = append(free, text)
	}
	if err := takePlaceTx(ctx, tx, account, current); err != nil {
		return err
	}
	// If two are of one place, that saved last takes it.
	const settle = `
		UPDATE drafts SET parked = false WHERE id IN (
			SELECT DISTINCT ON (d.place) d.id FROM drafts d
			WHERE d.id = ANY(@free) AND d.parked
				AND NOT EXISTS (SELECT FROM drafts s WHERE s.account_id = @account AND s.place = d.place AND NOT s.parked)
			ORDER BY d.place, d.saved_at DESC, d.id)`
	_, err = tx.Exec(ctx, settle, pgx.StrictNamedArgs{"account": account, "free": free})
	return err
}

func heldOf(rows pgx.Rows, err error) ([]held, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[held])
}

func first(list []held) *Candidate {
	if len(list) == 0 {
		return nil
	}
	return &list[0].Candidate
}

// of is 1 for a draft of the category.
func of(d held, category string) int {
	if d.Place == category {
		return 1
	}
	return 0
}

// newTx makes an empty draft.
func newTx(ctx context.Context, tx pgx.Tx, account int64, place string) (id int64, err error) {
	const query = `
		INSERT INTO drafts (account_id, saved_at, place, language, body, destinations, uploads)
		VALUES (@account, clock_timestamp(), @place, '', '', @destinations, '{}') RETURNING id`
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account, "place": place, "destinations": DestinationsOf(place)}).Scan(&id)
	return id, err
}

// resetTx makes a draft empty and of another place, and returns the id of a parked one that has what it
// was. That one has also its time, so that a form that has the draft goes on with its text.
func resetTx(ctx context.Context, tx pgx.Tx, id int64, place string) (text int64, err error) {
	const keep = `
		INSERT INTO drafts (account_id, saved_at, place, language, body, destinations, uploads, listing, parked)
		SELECT account_id, saved_at, place, language, body, destinations, uploads, listing, true FROM drafts WHERE id = @id
		RETURNING id`
	const reset = `
		UPDATE drafts SET saved_at = greatest(clock_timestamp(), saved_at + interval '1 microsecond'), place = @place, language = '', body = '',
			destinations = @destinations, uploads = '{}', listing = NULL, parked = true
		WHERE id = @id`
	if err := tx.QueryRow(ctx, keep, pgx.StrictNamedArgs{"id": id}).Scan(&text); err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, reset, pgx.StrictNamedArgs{"id": id, "place": place, "destinations": DestinationsOf(place)})
	return text, err
}

// takePlaceTx makes a draft that of its place, and current. The draft that stood there is parked, and
// goes if it is empty. Not in one statement: both would have the place for a moment.
func takePlaceTx(ctx context.Context, tx pgx.Tx, account, id int64) error {
	const park = `
		UPDATE drafts SET parked = true
		WHERE account_id = @account AND NOT parked AND id <> @id AND place = (SELECT place FROM drafts WHERE id = @id)`
	const take = `UPDATE drafts SET parked = false WHERE id = @id AND parked`
	const choose = `
		INSERT INTO current_drafts (account_id, draft_id) VALUES (@account, @id)
		ON CONFLICT (account_id) DO UPDATE SET draft_id = excluded.draft_id`
	if _, err := tx.Exec(ctx, park, pgx.StrictNamedArgs{"account": account, "id": id}); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, take, pgx.StrictNamedArgs{"id": id}); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, choose, pgx.StrictNamedArgs{"account": account, "id": id}); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, removeEmpty+` AND id <> @id`, pgx.StrictNamedArgs{"account": account, "id": id})
	return err
}

// removeEmpty removes empty drafts of the account, which are only there to be gone on with.
const removeEmpty = `DELETE FROM drafts WHERE account_id = @account AND ` + empty

// Park puts one of the account's drafts aside, so that the form of its place is empty. It is no more the
// current one then. If it is gone, or was saved since, nothing happens.
func (s *Store) Park(ctx context.Context, account int64, v Version) error {
	const query = `
		WITH aside AS (
			UPDATE drafts SET parked = true WHERE account_id = @account AND place = @place AND saved_at = @was RETURNING id
		)
		DELETE FROM current_drafts WHERE account_id = @account AND draft_id IN (SELECT id FROM aside)`
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := LockTx(ctx, tx, account); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"account": account, "place": v.Place, "was": v.SavedAt})
		return err
	})
	if err != nil {
		return fmt.Errorf("park draft: %w", err)
	}
	return nil
}

var codeForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Reopen makes a parked draft that of its place again, and current, and returns the place. The draft that stood there is
// parked instead. ErrNotFound if the account has no parked draft of that code.
func (s *Store) Reopen(ctx context.Context, account int64, code string) (place string, err error) {
	const find = `SELECT id, place FROM drafts WHERE account_id = @account AND code = @code AND parked`
	if !codeForm.MatchString(code) {
		return "", ErrNotFound
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := LockTx(ctx, tx, account); err != nil {
			return err
		}
		var id int64
		if err := tx.QueryRow(ctx, find, pgx.StrictNamedArgs{"account": account, "code": code}).Scan(&id, &place); err != nil {
			return err
		}
		return takePlaceTx(ctx, tx, account, id)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("open a parked draft: %w", err)
	}
	return place, nil
}
