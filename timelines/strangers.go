package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/rules"
)

// Somebody who signed up on the page is a stranger for the first day (Options.FirstDay): they may
// write little in an hour, and what they write reaches only people who follow them or are in a
// group with them. So an account that is a minute old can neither fill a page that all see, nor
// call on people who have never heard of it. Accounts made by an import or by a command are no
// strangers, nor are the staff.

// FirstDayComments is how many comments a stranger may write in an hour.
const FirstDayComments = 30

// StrangerError says that a stranger has written as much as a stranger may in an hour.
type StrangerError struct {
	Comments bool // comments, not posts
	Most     int
	After    time.Duration // when one more may be written
}

func (e *StrangerError) Error() string {
	return fmt.Sprintf("a stranger has written %d in an hour", e.Most)
}

// stranger is true if @author is a stranger now.
const stranger = `EXISTS (SELECT FROM strangers n WHERE n.account_id = @author::bigint AND n.ends_at > now()
	AND NOT EXISTS (SELECT FROM staff f WHERE f.account_id = n.account_id))`

// acquainted is true for an account a that follows @author or is in a group with them.
const acquainted = `(a.id = @author::bigint
	OR EXISTS (SELECT FROM subscriptions s WHERE s.subscriber_id = a.id AND s.account_id = @author)
	OR EXISTS (SELECT FROM subscriptions mine
		JOIN subscriptions theirs ON theirs.subscriber_id = a.id AND theirs.account_id = mine.account_id
		JOIN accounts g ON g.id = mine.account_id AND g.kind = 'group'
		WHERE mine.subscriber_id = @author))`

// beginFirstDayTx makes a new account a stranger.
func (s *core) beginFirstDayTx(ctx context.Context, tx pgx.Tx, account int64) error {
	if s.opts.FirstDay == 0 {
		return nil
	}
	const query = `INSERT INTO strangers (account_id, ends_at) VALUES (@account, now() + @day::interval)`
	if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"account": account, "day": s.opts.FirstDay}); err != nil {
		return fmt.Errorf("begin first day: %w", err)
	}
	return nil
}

// countPostTx counts a post that its author makes in this transaction, and returns a *StrangerError
// if the author is a stranger and it is one too many. Deleting posts makes no room for others.
func (s *core) countPostTx(ctx context.Context, tx pgx.Tx, author int64) error {
	const read = `SELECT posts, clock_timestamp() FROM strangers WHERE account_id = @author AND ` + stranger + ` FOR UPDATE`
	const write = `UPDATE strangers SET posts = @times WHERE account_id = @author`
	return s.countTx(ctx, tx, author, read, write, StrangerError{Most: s.opts.FirstDayPosts})
}

// countCommentTx is countPostTx for a comment.
func (s *core) countCommentTx(ctx context.Context, tx pgx.Tx, author int64) error {
	const read = `SELECT comments, clock_timestamp() FROM strangers WHERE account_id = @author AND ` + stranger + ` FOR UPDATE`
	const write = `UPDATE strangers SET comments = @times WHERE account_id = @author`
	return s.countTx(ctx, tx, author, read, write, StrangerError{Comments: true, Most: FirstDayComments})
}

// countTx holds the author's row until the transaction ends. So of several texts that come at the
// same time, on whatever nodes, each finds those before it counted.
func (s *core) countTx(ctx context.Context, tx pgx.Tx, author int64, read, write string, limit StrangerError) error {
	if s.opts.FirstDay == 0 {
		return nil
	}
	var times []time.Time
	var now time.Time
	err := tx.QueryRow(ctx, read, pgx.StrictNamedArgs{"author": author}).Scan(&times, &now)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what a stranger wrote: %w", err)
	}
	times = slices.DeleteFunc(times, func(t time.Time) bool { return now.Sub(t) >= time.Hour })
	if len(times) >= limit.Most {
		limit.After = time.Hour - now.Sub(times[len(times)-limit.Most])
		return &limit
	}
	if _, err := tx.Exec(ctx, write, pgx.StrictNamedArgs{"author": author, "times": append(times, now)}); err != nil {
		return fmt.Errorf("count what a stranger wrote: %w", err)
	}
	return nil
}

// checkReachTx returns an InvalidError "to_stranger" for a person among the destinations whom the
// author, a stranger, may not write to.
func (s *core) checkReachTx(ctx context.Context, tx pgx.Tx, author int64, found []destination) error {
	var names []string
	for _, d := range found {
		if d.Kind == kinds.Directs {
			names = append(names, d.Name)
		}
	}
	reached, err := s.reachedTx(ctx, tx, author, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(reached, name) {
			return rules.ToStranger.Broken(name)
		}
	}
	return nil
}

// reachedTx returns those of the names whom a text of the author reaches: all, unless the author is
// a stranger.
func (s *core) reachedTx(ctx context.Context, tx pgx.Tx, author int64, names []string) ([]string, error) {
	if s.opts.FirstDay == 0 || len(names) == 0 {
		return names, nil
	}
	const query = `SELECT a.name FROM accounts a WHERE a.name = ANY(@names) AND (NOT ` + stranger + ` OR ` + acquainted + `)`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"author": author, "names": names})
	if err != nil {
		return nil, fmt.Errorf("read whom a text reaches: %w", err)
	}
	reached, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read whom a text reaches: %w", err)
	}
	return reached, nil
}

// ExpireStrangers removes the rows of those whose first day is over.
func (s Maintenance) ExpireStrangers(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM strangers WHERE ends_at < now()`); err != nil {
		return fmt.Errorf("expire strangers: %w", err)
	}
	return nil
}
