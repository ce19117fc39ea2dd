package reports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// State is how far a report is.
type State string

// The states.
const (
	Waiting State = "open"
	Taken   State = "taken" // by one of the staff
	Done    State = "done"
)

// Outcome is what came of a report.
type Outcome string

// Outcomes are all of them, in the order of the form.
var Outcomes = []Outcome{"removed", "suspended", Restored, "nothing", "other"}

// Restored is the outcome of an appeal that was granted.
const Restored Outcome = "restored"

// Report is a report as the staff see it.
type Report struct {
	ID       int64
	Code     string
	Appeal   bool
	At       time.Time
	Reporter string // empty: deleted
	Account  string // the name of the account that it is about
	// Group: the account is a group.
	Group   bool
	Post    string // the code, empty: it is about the account
	Comment int64  // 0: it is about the post itself
	// Gone: the post or comment is deleted since.
	Gone    bool
	Reason  Reason
	Body    string
	Said    string
	State   State
	TakenBy string
	DoneBy  string
	DoneAt  *time.Time
	Outcome Outcome
	Answer  string
}

const columns = `
	SELECT r.id, r.code, r.kind = 'appeal' AS appeal, r.created_at AS at,
		coalesce((SELECT name FROM accounts WHERE id = r.reporter_id), '') AS reporter,
		a.name AS account, a.kind = 'group' AS "group",
		coalesce(p.code, '') AS post, coalesce(r.comment_id, 0) AS comment,
		p.deleted_at IS NOT NULL OR c.deleted_at IS NOT NULL AS gone,
		r.reason, r.body, r.said, r.state,
		coalesce((SELECT name FROM accounts WHERE id = r.taken_by), '') AS taken_by,
		coalesce((SELECT name FROM accounts WHERE id = r.done_by), '') AS done_by,
		r.done_at, r.outcome, r.answer
	FROM reports r JOIN accounts a ON a.id = r.account_id
	LEFT JOIN posts p ON p.id = r.post_id LEFT JOIN comments c ON c.id = r.comment_id`

// Filter is which reports a list has.
type Filter string

// The filters.
const (
	NotDone Filter = ""     // those not taken first, then the oldest first
	Ended   Filter = "done" // the latest first
)

// Filters are all of them, in the order of the page.
var Filters = []Filter{NotDone, Ended}

// List returns at most limit reports that a filter lets through, those after the one of that code; an
// empty code is the beginning. A filter that is not known is NotDone.
func (s *Store) List(ctx context.Context, which Filter, after string, limit int) ([]Report, error) {
	query := columns + `
		WHERE r.state <> 'done' AND (@after = '' OR (r.state = 'taken', r.id) > (
			SELECT l.state = 'taken', l.id FROM reports l WHERE l.code = @after))
		ORDER BY r.state = 'taken', r.id LIMIT @limit`
	if which == Ended {
		query = columns + `
			WHERE r.state = 'done' AND (@after = '' OR r.id < (SELECT id FROM reports WHERE code = @after))
			ORDER BY r.id DESC LIMIT @limit`
	}
	return s.list(ctx, query, pgx.StrictNamedArgs{"after": after, "limit": limit})
}

// About returns at most limit reports about an account, the latest first.
func (s *Store) About(ctx context.Context, account string, limit int) ([]Report, error) {
	return s.list(ctx, columns+`
		WHERE r.account_id = (SELECT id FROM accounts WHERE name = @name) ORDER BY r.id DESC LIMIT @limit`,
		pgx.StrictNamedArgs{"name": account, "limit": limit})
}

// Own returns at most limit reports that somebody made, the latest first.
func (s *Store) Own(ctx context.Context, reporter int64, limit int) ([]Report, error) {
	return s.list(ctx, columns+` WHERE r.reporter_id = @reporter ORDER BY r.id DESC LIMIT @limit`,
		pgx.StrictNamedArgs{"reporter": reporter, "limit": limit})
}

// LatestAppeal returns the latest appeal of a person against their present suspension or deletion, or
// timelines.ErrNotFound. One that is not done counts always: there cannot be another one beside it.
func (s *Store) LatestAppeal(ctx context.Context, account int64) (Report, error) {
	list, err := s.list(ctx, columns+`
		WHERE r.reporter_id = @account AND r.kind = 'appeal' AND r.post_id IS NULL AND (r.state <> 'done' OR r.created_at >= least(
			(SELECT created_at FROM suspensions WHERE account_id = @account), (SELECT created_at FROM leaving WHERE account_id = @account)))
		ORDER BY r.id DESC LIMIT 1`,
		pgx.StrictNamedArgs{"account": account})
	if err == nil && len(list) == 0 {
		err = timelines.ErrNotFound
	}
	if err != nil {
		return Report{}, err
	}
	return list[0], nil
}

func (s *Store) list(ctx context.Context, query string, args pgx.StrictNamedArgs) ([]Report, error) {
	rows, err := s.timelines.Pool().Query(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("read reports: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Report])
	if err != nil {
		return nil, fmt.Errorf("read reports: %w", err)
	}
	return list, nil
}

// Get returns a report, or timelines.ErrNotFound.
func (s *Store) Get(ctx context.Context, code string) (Report, error) {
	code, ok := timelines.ParseCode(code)
	if !ok {
		return Report{}, timelines.ErrNotFound
	}
	list, err := s.list(ctx, columns+` WHERE r.code = @code`, pgx.StrictNamedArgs{"code": code})
	if err == nil && len(list) == 0 {
		err = timelines.ErrNotFound
	}
	if err != nil {
		return Report{}, err
	}
	return list[0], nil
}

// Note is what one of the staff wrote to the others about a report.
type Note struct {
	At   time.Time
	By   string // empty: the command line
	Body string
}

// Notes returns the notes about a report, the oldest first.
func (s *Store) Notes(ctx context.Context, report int64) ([]Note, error) {
	rows, err := s.timelines.Pool().Query(ctx, `SELECT created_at AS at, by_name AS by, body FROM report_notes WHERE report_id = @report ORDER BY id`,
		pgx.StrictNamedArgs{"report": report})
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Note])
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	return list, nil
}

// Open returns how many reports are not done.
func (s *Store) Open(ctx context.Context) (n int, err error) {
	if err := s.timelines.Pool().QueryRow(ctx, `SELECT count(*) FROM reports WHERE state <> 'done'`).Scan(&n); err != nil {
		return 0, fmt.Errorf("count reports: %w", err)
	}
	return n, nil
}

// Seen notes that somebody has seen all answers to their reports.
func (s *Store) Seen(ctx context.Context, reporter int64) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = reporter
		tag, err := tx.Exec(ctx, `UPDATE reports SET answer_seen = true WHERE reporter_id = @reporter AND state = 'done' AND NOT answer_seen`,
			pgx.StrictNamedArgs{"reporter": reporter})
		if err != nil {
			return c, nil, fmt.Errorf("note that answers were seen: %w", err)
		}
		if tag.RowsAffected() > 0 {
			drop = told(reporter)
		}
		return c, drop, nil
	})
}

// told are what nodes must drop of somebody whose answers changed.
func told(reporter int64) []timelines.Invalidation {
	return []timelines.Invalidation{{Kind: timelines.InvalidCounts, AccountID: reporter}}
}

// lockTx locks a report, or returns timelines.ErrNotFound.
func lockTx(ctx context.Context, tx pgx.Tx, code string) (locked, error) {
	code, ok := timelines.ParseCode(code)
	if !ok {
		return locked{}, timelines.ErrNotFound
	}
	rows, err := tx.Query(ctx, `
		SELECT r.id, r.code, r.account_id, coalesce(r.reporter_id, 0) AS reporter_id, r.state
		FROM reports r WHERE r.code = @code FOR NO KEY UPDATE`, pgx.StrictNamedArgs{"code": code})
	if err != nil {
		return locked{}, fmt.Errorf("lock report: %w", err)
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[locked])
	if errors.Is(err, pgx.ErrNoRows) {
		return locked{}, timelines.ErrNotFound
	}
	if err != nil {
		return locked{}, fmt.Errorf("lock report: %w", err)
	}
	return r, nil
}

// locked is a report that is locked for an act.
type locked struct {
	ID, AccountID, ReporterID int64
	Code                      string
	State                     State
}
