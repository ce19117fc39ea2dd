package reports

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
)

// errDone: nothing can be done to a report that is done.
var errDone = &timelines.InvalidError{Code: "report_done"}

// actTx begins an act of a moderator on a report that is not done.
func actTx(ctx context.Context, tx pgx.Tx, by admin.By, code string) (admin.By, locked, error) {
	by, err := admin.RequireTx(ctx, tx, by, admin.Moderator)
	if err != nil {
		return by, locked{}, err
	}
	r, err := lockTx(ctx, tx, code)
	switch {
	case err != nil:
	case r.State == Done:
		err = errDone
	case r.AccountID == by.AccountID: // nobody answers reports about themselves
		err = admin.ErrSelf
	default:
		err = admin.AboutTx(ctx, tx, by, r.AccountID)
	}
	return by, r, err
}

// Take says that a moderator works on a report, whoever took it before.
func (s *Store) Take(ctx context.Context, by admin.By, code string) (timelines.Change, error) {
	return timelines.Change{Actor: by.AccountID}, s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		by, r, err := actTx(ctx, tx, by, code)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE reports SET state = 'taken', taken_by = nullif(@by::bigint, 0) WHERE id = @id`,
			pgx.StrictNamedArgs{"by": by.AccountID, "id": r.ID})
		if err != nil {
			return fmt.Errorf("take report: %w", err)
		}
		return admin.RecordTx(ctx, tx, by, admin.Act{Kind: admin.TakeReport, Account: r.AccountID, Subject: r.Code})
	})
}

// AddNote writes a note about a report, done or not.
func (s *Store) AddNote(ctx context.Context, by admin.By, code, text string) (timelines.Change, error) {
	c := timelines.Change{Actor: by.AccountID}
	text, err := checkText("note", text, true)
	if err != nil {
		return c, err
	}
	return c, s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		by, err := admin.RequireTx(ctx, tx, by, admin.Moderator)
		if err != nil {
			return err
		}
		r, err := lockTx(ctx, tx, code)
		if err != nil {
			return err
		}
		const query = `
			INSERT INTO report_notes (report_id, by_id, by_name, body) VALUES (@report, nullif(@by::bigint, 0), @name, @body)`
		_, err = tx.Exec(ctx, query, pgx.StrictNamedArgs{"report": r.ID, "by": by.AccountID, "name": by.Name, "body": text})
		if err != nil {
			return fmt.Errorf("write note: %w", err)
		}
		return admin.RecordTx(ctx, tx, by, admin.Act{Kind: admin.NoteReport, Account: r.AccountID, Subject: r.Code})
	})
}

// End ends a report. Its reporter is told, with the answer, which may be empty. An InvalidError "report_blocked" if it is an appeal
// against the block of a post, the outcome is that this was lifted, and the post is blocked still.
func (s *Store) End(ctx context.Context, by admin.By, code string, outcome Outcome, answer string) (timelines.Change, error) {
	if !slices.Contains(Outcomes, outcome) {
		return timelines.Change{}, &timelines.InvalidError{Field: "outcome", Code: "report_outcome"}
	}
	answer, err := checkText("answer", answer, false)
	if err != nil {
		return timelines.Change{}, err
	}
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		by, r, err := actTx(ctx, tx, by, code)
		if err != nil {
			return c, nil, err
		}
		if outcome == Restored {
			const still = `
				SELECT EXISTS (SELECT FROM reports r JOIN posts p ON p.id = r.post_id WHERE r.id = @id AND r.kind = 'appeal' AND p.status = 2)`
			var blocked bool
			if err := tx.QueryRow(ctx, still, pgx.StrictNamedArgs{"id": r.ID}).Scan(&blocked); err != nil {
				return c, nil, fmt.Errorf("look for a block: %w", err)
			}
			if blocked {
				return c, nil, &timelines.InvalidError{Field: "outcome", Code: "report_blocked"}
			}
		}
		const query = `
			UPDATE reports SET state = 'done', done_at = now(), done_by = nullif(@by::bigint, 0), outcome = @outcome, answer = @answer
			WHERE id = @id`
		_, err = tx.Exec(ctx, query, pgx.StrictNamedArgs{"by": by.AccountID, "outcome": outcome, "answer": answer, "id": r.ID})
		if err != nil {
			return c, nil, fmt.Errorf("end report: %w", err)
		}
		if r.ReporterID != 0 {
			drop = told(r.ReporterID)
		}
		return c, drop, admin.RecordTx(ctx, tx, by, admin.Act{Kind: admin.CloseReport, Account: r.AccountID, Subject: r.Code, Detail: string(outcome)})
	})
}
