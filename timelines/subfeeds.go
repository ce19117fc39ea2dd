package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// MaxSubfeeds is how many sub-feeds one person may make, besides the private one that
// everybody has.
const MaxSubfeeds = 20

// Subfeed is an extra feed of a person: a base timeline, its own gate, with a
// level and readers of its own (source: 004, "private sub-feed").
type Subfeed struct {
	TimelineID int64
	AccountID  int64
	Slug       string // unique with its owner, [a-z0-9-], 1 to 35
	Title      string // empty: the fixed private one, which has none
}

// ofFeeds are one viewer's rivers that are made of the owner's feeds: the owner's
// pages and, if the viewer follows the owner or is the owner, home feed and lists.
// A new or removed timeline invalidates them for everybody who may open it.
func ofFeeds(viewer, owner int64, follows bool) []Replace {
	pages := Replace{ViewerID: viewer, Kinds: []string{RiverUser, kinds.Subfeed}, TheirIDs: []int64{owner}}
	if !follows {
		return []Replace{pages}
	}
	return []Replace{{ViewerID: viewer, Kinds: []string{RiverHome, RiverList}}, pages}
}

// ofMyFeeds returns the rivers that a change of the actor's own feeds invalidates if others
// may open the feed: the actor's own, which are replaced at once, and everybody's, which
// include the actor's.
func ofMyFeeds(actor int64) []Replace {
	return append(ofFeeds(actor, actor, true), Replace{AccountID: actor, Kinds: []string{RiverHome, RiverList, RiverUser, kinds.Subfeed}})
}

// Create makes a further feed of the actor, who is a person. Followers of the actor
// have it in their home feeds if its level lets them read it. It returns an InvalidError:
// "slug_format", "slug_reserved", "slug_taken", "subfeeds_many", or one of titles and
// levels.
func (s Feeds) Create(ctx context.Context, actor int64, slug, title string, level Level) (Change, error) {
	if err := checkSlug(slug); err != nil {
		return Change{}, err
	}
	title, err := cleanTitle(title)
	if err != nil {
		return Change{}, err
	}
	if level < Public || level > Private {
		return Change{}, &InvalidError{Field: "level", Code: "level_unknown"}
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		// The account's lock, so that two requests do not both make the last one allowed.
		const lock = `SELECT FROM accounts WHERE id = @actor AND kind = 'user' FOR NO KEY UPDATE`
		held, err := tx.Exec(ctx, lock, pgx.StrictNamedArgs{"actor": actor})
		if err != nil {
			return Change{}, fmt.Errorf("lock account: %w", err)
		}
		if held.RowsAffected() == 0 {
			return Change{}, ErrNotFound
		}
		const there = `
			SELECT count(*) FILTER (WHERE term <> @private), coalesce(bool_or(term = @slug), false)
			FROM timelines WHERE kind = 'subfeed' AND their_id = @actor`
		var many int
		var taken bool
		err = tx.QueryRow(ctx, there, pgx.StrictNamedArgs{"actor": actor, "slug": slug, "private": kinds.PrivateTerm}).Scan(&many, &taken)
		switch {
		case err != nil:
			return Change{}, fmt.Errorf("count sub-feeds: %w", err)
		case taken:
			return Change{}, &InvalidError{Field: "slug", Code: "slug_taken", Value: slug}
		case many >= MaxSubfeeds:
			return Change{}, &InvalidError{Field: "slug", Code: "subfeeds_many"}
		}
		// The id is drawn first, because the timeline is its own gate.
		const insert = `
			WITH numbered AS MATERIALIZED (
				SELECT nextval(pg_get_serial_sequence('timelines', 'id')) AS id
			), made AS (
				INSERT INTO timelines (id, kind, their_id, term, access, gate_id, base)
				OVERRIDING SYSTEM VALUE
				SELECT id, 'subfeed', @actor, @slug, @level, id, true FROM numbered
				RETURNING id
			), titled AS (
				INSERT INTO subfeeds (timeline_id, title) SELECT id, @title FROM made
			)
			INSERT INTO readers (timeline_id, account_id) SELECT id, @actor FROM made`
		_, err = tx.Exec(ctx, insert, pgx.StrictNamedArgs{"actor": actor, "slug": slug, "title": title, "level": level})
		if err != nil {
			return Change{}, fmt.Errorf("insert sub-feed: %w", err)
		}
		if level == Private { // nobody else may open it yet
			return s.feedsTx(ctx, tx, actor, ofFeeds(actor, actor, true))
		}
		return s.feedsTx(ctx, tx, actor, ofMyFeeds(actor))
	})
}

// feedsTx ends a change of the list of the actor's feeds. It announces the rivers that the
// change invalidated, each once, and makes nodes drop the list and the actor's access sets.
func (s Feeds) feedsTx(ctx context.Context, tx pgx.Tx, actor int64, replaced []Replace) (Change, error) {
	c := Change{Actor: actor, Replace: replaced}
	if err := s.numberTx(ctx, tx, replaced); err != nil {
		return Change{}, err
	}
	announced := replaced
	if i := slices.IndexFunc(replaced, func(r Replace) bool { return r.AccountID == actor }); i >= 0 {
		announced = replaced[i : i+1] // all others are among these
	}
	if err := s.announceTx(ctx, tx, replacements(announced)...); err != nil {
		return Change{}, err
	}
	var err error
	c.Clock, err = tickTx(ctx, tx, Invalidation{Kind: InvalidAccount, AccountID: actor}, Invalidation{Kind: InvalidSets, AccountID: actor})
	return c, err
}

// Rename gives the actor's sub-feed another title; its address stays.
// ErrNotFound if there is no such sub-feed, ErrForbidden if it is the fixed
// private one.
func (s Feeds) Rename(ctx context.Context, actor int64, slug, title string) (Change, error) {
	title, err := cleanTitle(title)
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		id, err := ownSubfeedTx(ctx, tx, actor, slug)
		if err != nil {
			return Change{}, err
		}
		_, err = tx.Exec(ctx, `UPDATE subfeeds SET title = @title WHERE timeline_id = @id`,
			pgx.StrictNamedArgs{"id": id, "title": title})
		if err != nil {
			return Change{}, fmt.Errorf("rename sub-feed: %w", err)
		}
		clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidAccount, AccountID: actor})
		return Change{Actor: actor, Clock: clock}, err
	})
}

// Delete deletes an empty sub-feed of the actor. InvalidError "subfeed_full" if a
// post stands in it; the other errors are those of Feeds.Rename.
func (s Feeds) Delete(ctx context.Context, actor int64, slug string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		id, err := ownSubfeedTx(ctx, tx, actor, slug)
		if err != nil {
			return Change{}, err
		}
		args := pgx.StrictNamedArgs{"id": id}
		// A new post in it holds the row (lockLevelsTx): either this waits for the post, and the
		// next statement sees it, or the post waits, and finds no such place. The same holds
		// for admissions and for changes of its level.
		var level Level
		err = tx.QueryRow(ctx, `SELECT access FROM timelines WHERE id = @id FOR UPDATE`, args).Scan(&level)
		if errors.Is(err, pgx.ErrNoRows) {
			return Change{}, ErrNotFound
		}
		if err != nil {
			return Change{}, fmt.Errorf("lock sub-feed: %w", err)
		}
		replaced := ofMyFeeds(actor)
		if level == Private {
			if replaced, err = ofReadersTx(ctx, tx, id, actor); err != nil {
				return Change{}, err
			}
		}
		tag, err := tx.Exec(ctx, `
			DELETE FROM timelines WHERE id = @id
				AND NOT EXISTS (SELECT FROM timeline_entries WHERE timeline_id = @id AND NOT withdrawn)`, args)
		if err != nil {
			return Change{}, fmt.Errorf("delete sub-feed: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return Change{}, &InvalidError{Field: "slug", Code: "subfeed_full", Value: slug}
		}
		// The rows that are left are withdrawn. A foreign key with a cascade would cost a statement for each row ever written.
		if _, err := tx.Exec(ctx, `DELETE FROM timeline_entries WHERE timeline_id = @id`, args); err != nil {
			return Change{}, fmt.Errorf("delete rows of sub-feed: %w", err)
		}
		return s.feedsTx(ctx, tx, actor, replaced)
	})
}

// ofReadersTx returns the rivers that the end of a private sub-feed of the actor
// invalidates: those of its readers, since nobody else had it.
func ofReadersTx(ctx context.Context, tx pgx.Tx, subfeed, actor int64) ([]Replace, error) {
	const query = `
		SELECT r.account_id, EXISTS (SELECT FROM subscriptions s WHERE s.subscriber_id = r.account_id AND s.account_id = @actor)
		FROM readers r WHERE r.timeline_id = @subfeed AND r.account_id <> @actor
		ORDER BY 1 LIMIT @many + 1`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"subfeed": subfeed, "actor": actor, "many": manyReaders})
	if err != nil {
		return nil, fmt.Errorf("read readers: %w", err)
	}
	replaced := ofFeeds(actor, actor, true)
	var reader int64
	var follows bool
	readers, err := pgx.ForEachRow(rows, []any{&reader, &follows}, func() error {
		replaced = append(replaced, ofFeeds(reader, actor, follows)...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read readers: %w", err)
	}
	if readers.RowsAffected() > manyReaders {
		return ofMyFeeds(actor), nil
	}
	return replaced, nil
}

// ownSubfeedTx finds a sub-feed the actor has made.
func ownSubfeedTx(ctx context.Context, tx pgx.Tx, actor int64, slug string) (id int64, err error) {
	if !slugForm.MatchString(slug) {
		return 0, ErrNotFound
	}
	const query = `SELECT id FROM timelines WHERE kind = 'subfeed' AND their_id = @actor AND term = @slug`
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"actor": actor, "slug": slug}).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, ErrNotFound
	case err != nil:
		return 0, fmt.Errorf("find sub-feed: %w", err)
	case slug == kinds.PrivateTerm:
		return 0, ErrForbidden
	}
	return id, nil
}

// SetSubfeedAccess is Feeds.SetAccess of a sub-feed of the actor's; the fixed private
// one stays private (ErrForbidden).
func (s Feeds) SetSubfeedAccess(ctx context.Context, actor int64, slug string, level Level) (Change, error) {
	return s.setLevel(ctx, actor, func(tx pgx.Tx) (int64, error) { return ownSubfeedTx(ctx, tx, actor, slug) }, level)
}

// SubscriberIDs returns who follows the account, in no order.
func (s Subscriptions) SubscriberIDs(ctx context.Context, account int64) ([]int64, error) {
	rows, err := s.pool.Query(ctx, `SELECT subscriber_id FROM subscriptions WHERE account_id = @account`,
		pgx.StrictNamedArgs{"account": account})
	return collectIDs(rows, err, "subscribers")
}
