package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kinds of acts. Pages and "riverrun acts" translate them.
const (
	SetRole    = "role"
	SetSite    = "site"
	Suspend    = "suspend"
	Restore    = "restore"
	RemovePost = "remove_post"
	// RemoveComment has the post's code, # and the comment's id as its subject.
	RemoveComment = "remove_comment"
	RemovePosts   = "remove_posts"
	// Opinions of the staff on a post (package moderation).
	BlockPost = "block_post"
	AllowPost = "allow_post"
	NotePost  = "note_post"
	MakeLink  = "link"
	// RebuildRiver has the address of a page as its subject, and whose view of it as its detail.
	RebuildRiver = "rebuild_river"
	// Acts on a report (package reports).
	TakeReport  = "report_take"
	NoteReport  = "report_note"
	CloseReport = "report_done"
)

// Act is one row of the audit log.
type Act struct {
	ID      int64
	At      time.Time
	By      string // the name at that time; empty: the command line
	Kind    string
	Account int64  // whom it concerned, 0: nobody
	Subject string // the name of an account, or the code of a post, a report or an invitation
	Detail  string // never a password or a token
}

// RecordTx writes an act of by into the audit log.
func RecordTx(ctx context.Context, tx pgx.Tx, by By, a Act) error {
	const query = `
		INSERT INTO acts (by_id, by_name, kind, account_id, subject, detail)
		VALUES (nullif(@by_id::bigint, 0), @by_name, @kind, nullif(@account::bigint, 0), @subject, @detail)`
	_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{
		"by_id": by.AccountID, "by_name": by.Name, "kind": a.Kind, "account": a.Account, "subject": a.Subject, "detail": a.Detail,
	})
	if err != nil {
		return fmt.Errorf("record act: %w", err)
	}
	return nil
}

// RecordRebuild writes that by has the river of a page made anew, as that person sees it; as is empty for
// somebody who is not signed in. Only administrators may.
func (s *Store) RecordRebuild(ctx context.Context, by By, page, as string) error {
	return pgx.BeginFunc(ctx, s.timelines.Pool(), func(tx pgx.Tx) error {
		by, err := RequireTx(ctx, tx, by, Administrator)
		if err != nil {
			return err
		}
		act := Act{Kind: RebuildRiver, Subject: page}
		if as != "" {
			act.Detail = "@" + as
		}
		return RecordTx(ctx, tx, by, act)
	})
}

// Acts returns at most limit acts, newest first, those before the one of that id; 0 begins with the
// newest. about, if not empty, is the name of the person whom they concerned, or who did them.
func (s *Store) Acts(ctx context.Context, about string, before int64, limit int) ([]Act, error) {
	query := `
		SELECT id, created_at AS at, by_name AS by, kind, coalesce(account_id, 0) AS account, subject, detail
		FROM acts WHERE @before::bigint = 0 OR id < @before ORDER BY id DESC LIMIT @limit`
	args := pgx.StrictNamedArgs{"before": before, "limit": limit}
	if about != "" {
		query = `
			WITH person AS (SELECT id FROM accounts WHERE name = @name)
			SELECT id, created_at AS at, by_name AS by, kind, coalesce(account_id, 0) AS account, subject, detail
			FROM (
				(SELECT * FROM acts WHERE account_id = (SELECT id FROM person) AND (@before::bigint = 0 OR id < @before)
					ORDER BY id DESC LIMIT @limit)
				UNION
				(SELECT * FROM acts WHERE by_id = (SELECT id FROM person) AND (@before::bigint = 0 OR id < @before)
					ORDER BY id DESC LIMIT @limit)) a
			ORDER BY id DESC LIMIT @limit`
		args["name"] = about
	}
	rows, err := s.timelines.Pool().Query(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("read acts: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Act])
	if err != nil {
		return nil, fmt.Errorf("read acts: %w", err)
	}
	return list, nil
}
