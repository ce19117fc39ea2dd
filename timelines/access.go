package timelines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kinds of Invalidation.
const (
	InvalidSession = "session" // the session of TokenHash
	InvalidSets    = "viewer"  // the access sets of AccountID
	InvalidLevel   = "level"   // the level of TimelineID
	InvalidAccount = "account" // name, title, picture, language and sub-feeds of AccountID
	InvalidCounts  = "members" // who follows AccountID, how many ask to, how many may read its feeds, and the alerts of its sources

	InvalidUnseen = "unseen" // who is unseen, and so what anybody sees
	InvalidSite   = "site"   // the settings of the site

	invalidNothing = "start"
)

// Invalidation is a row of the access log: something that each node drops from what it
// remembers.
type Invalidation struct {
	N          int64 // of the access clock
	Kind       string
	AccountID  int64
	TimelineID int64
	TokenHash  []byte
}

// tickTx draws the next number of the access clock and writes the invalidations under it.
// There is at least one row, so that a node which finds a number without rows knows that
// the log was trimmed.
//
// It must be the last statement of its transaction. The clock's row stays locked from here
// to the commit, so numbers are in commit order: a reader of n sees the effects of all
// numbers up to n. If a number were drawn earlier, it could be acknowledged while a lower
// one is not yet visible. A node that took the higher one for its label would never read
// the rows of the lower.
func tickTx(ctx context.Context, tx pgx.Tx, rows ...Invalidation) (int64, error) {
	const query = `
		WITH tick AS (
			UPDATE access_clock SET n = n + 1, mark = @mark RETURNING n, mark
		), logged AS (
			INSERT INTO access_log (n, mark, kind, account_id, timeline_id, token_hash)
			SELECT tick.n, tick.mark, f.kind, f.account_id, f.timeline_id, f.token_hash
			FROM tick, unnest(@kinds::text[], @accounts::bigint[], @timelines::bigint[], @hashes::bytea[])
				AS f (kind, account_id, timeline_id, token_hash)
		)
		SELECT n FROM tick`
	kinds, hashes := make([]string, len(rows)), make([][]byte, len(rows))
	accounts, timelines := make([]int64, len(rows)), make([]int64, len(rows))
	for i, r := range rows {
		kinds[i], accounts[i], timelines[i], hashes[i] = r.Kind, r.AccountID, r.TimelineID, r.TokenHash
	}
	var n int64
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"mark": newMark(), "kinds": kinds, "accounts": accounts, "timelines": timelines, "hashes": hashes,
	}).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("move access clock: %w", err)
	}
	return n, nil
}

// acknowledgeTx ends a narrowing that found its work done already. The request that did it
// may not have raised the secondary store's clock yet, and this one must not be answered
// earlier. So it carries the clock as it stands, which is at least the other's number,
// since the other's effects are visible.
func (s *core) acknowledgeTx(ctx context.Context, tx pgx.Tx, c Change) (Change, error) {
	var err error
	if c.Clock, err = readClockTx(ctx, tx); err != nil {
		return Change{}, err
	}
	return c, &unchanged{c}
}

// readClockTx reads the last number whose effects are visible.
func readClockTx(ctx context.Context, tx pgx.Tx) (n int64, err error) {
	if err := tx.QueryRow(ctx, `SELECT n FROM access_clock`).Scan(&n); err != nil {
		return 0, fmt.Errorf("read access clock: %w", err)
	}
	return n, nil
}

// AccessClock returns the last number drawn from the primary store's clock.
func (s *Store) AccessClock(ctx context.Context) (n int64, err error) {
	if err := s.pool.QueryRow(ctx, `SELECT n FROM access_clock`).Scan(&n); err != nil {
		return 0, fmt.Errorf("read access clock: %w", err)
	}
	return n, nil
}

// TrimAccessLog removes rows older than olderThan and returns how many. A node
// that had not read them finds a gap in the numbers and drops all it remembers. The newest
// of them stays: it may be the number that the secondary store was brought to, before a long
// silence, and its mark tells whether that store is of this history.
func (s Maintenance) TrimAccessLog(ctx context.Context, olderThan time.Duration) (int64, error) {
	const query = `
		DELETE FROM access_log WHERE created_at < now() - @age::interval
			AND n < (SELECT max(n) FROM access_log WHERE created_at < now() - @age::interval)`
	tag, err := s.pool.Exec(ctx, query, pgx.StrictNamedArgs{"age": olderThan})
	if err != nil {
		return 0, fmt.Errorf("trim access log: %w", err)
	}
	return tag.RowsAffected(), nil
}

// SetAccess sets the level of the actor's own feed, or of a group's if one is named.
// ErrNotFound if there is no such group, ErrForbidden if the actor does not administer it.
// Likes and comments open with the feed. The rivers of all people who read more or less
// from now on are invalidated (invalidatedByLevelTx). Followers remain when a feed goes
// private.
func (s Feeds) SetAccess(ctx context.Context, actor int64, group string, level Level) (Change, error) {
	return s.setLevel(ctx, actor, func(tx pgx.Tx) (int64, error) { return governedFeedTx(ctx, tx, actor, group) }, level)
}

// setLevel is Feeds.SetAccess of the timeline that find returns.
func (s Feeds) setLevel(ctx context.Context, actor int64, find func(pgx.Tx) (int64, error), level Level) (Change, error) {
	if level < Public || level > Private {
		return Change{}, &InvalidError{Field: "level", Code: "level_unknown"}
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		feed, err := find(tx)
		if err != nil {
			return Change{}, err
		}
		was, err := s.setLevelTx(ctx, tx, feed, level)
		if err != nil {
			return Change{}, err
		}
		c := Change{Actor: actor}
		if was == level {
			return s.acknowledgeTx(ctx, tx, c)
		}
		if c.Replace, err = invalidatedByLevelTx(ctx, tx, feed, was, level); err != nil {
			return Change{}, err
		}
		if err := s.announceReplacedTx(ctx, tx, c.Replace); err != nil {
			return Change{}, err
		}
		c.Clock, err = tickTx(ctx, tx, Invalidation{Kind: InvalidLevel, TimelineID: feed})
		return c, err
	})
}

// governedFeedTx returns the timeline whose access the actor decides: their own
// feed, or that of a group they administer.
func governedFeedTx(ctx context.Context, tx pgx.Tx, actor int64, group string) (feed int64, err error) {
	if group == "" {
		a, err := accountTx(ctx, tx, actor)
		return a.FeedID, err
	}
	if !nameForm.MatchString(group) {
		return 0, ErrNotFound
	}
	const query = `
		SELECT t.id, EXISTS (SELECT FROM group_admins g WHERE g.group_id = a.id AND g.account_id = @actor)
		FROM ` + accountTables + ` WHERE a.name = @group AND a.kind = 'group' AND t.access <> 3`
	var administers bool
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"actor": actor, "group": group}).Scan(&feed, &administers)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, ErrNotFound
	case err != nil:
		return 0, fmt.Errorf("read group: %w", err)
	case !administers:
		return 0, ErrForbidden
	}
	return feed, nil
}
