package reports

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/rights"
)

// Store has the reports. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the reports of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// Reason is why something is reported.
type Reason string

// The reasons.
const (
	Spam    Reason = "spam"
	Abuse   Reason = "abuse"
	Private Reason = "private" // it shows what is private of somebody
	Other   Reason = "other"
)

// Reasons are all of them, in the order of the form.
var Reasons = []Reason{Spam, Abuse, Private, Other}

// Bounds of reports.
const (
	maxText = 2000 // characters of a sentence, a note or an answer
	// MostADay is how many reports one person may make within 24 hours.
	MostADay = 20
)

// Thing is what is reported: a post, or a comment of it, by the post's code, or an account by its
// name.
type Thing struct {
	Code    string
	Comment int64 // 0: the post
	Name    string
}

// Subject is what a Thing names, as somebody may see it.
type Subject struct {
	AccountID int64
	PostID    int64 // 0: the account
	CommentID int64
	Said      string
}

const (
	ofAccount = `
		SELECT a.id AS account_id, 0::bigint AS post_id, 0::bigint AS comment_id, '' AS said
		FROM accounts a
		WHERE a.name = @name AND NOT EXISTS (SELECT FROM unseen_accounts u WHERE u.account_id = a.id)`
	ofPost = `
		SELECT p.author_id AS account_id, p.id AS post_id, 0::bigint AS comment_id, p.body AS said
		FROM posts p WHERE p.code = @code AND p.deleted_at IS NULL AND ` + rights.SeenPost
)

var ofComment = `
		SELECT c.author_id AS account_id, p.id AS post_id, c.id AS comment_id, c.body AS said
		FROM posts p JOIN comments c ON c.post_id = p.id
		WHERE p.code = @code AND p.deleted_at IS NULL AND c.id = @comment AND c.deleted_at IS NULL
			AND ` + rights.SeenPost + ` AND ` + rights.UnbannedAs("c.author_id")

// querier is the pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Subject returns what somebody is about to report, or timelines.ErrNotFound if they do not see
// it.
func (s *Store) Subject(ctx context.Context, reporter int64, t Thing) (Subject, error) {
	return subject(ctx, s.timelines.Pool(), reporter, t)
}

func subject(ctx context.Context, db querier, reporter int64, t Thing) (Subject, error) {
	query, args := ofAccount, pgx.StrictNamedArgs{"name": t.Name}
	if t.Name == "" {
		code, ok := timelines.ParseCode(t.Code)
		if !ok {
			return Subject{}, timelines.ErrNotFound
		}
		query, args = ofPost, pgx.StrictNamedArgs{"code": code, "viewer": reporter}
		if t.Comment != 0 {
			query, args["comment"] = ofComment, t.Comment
		}
	} else if !timelines.IsName(t.Name) {
		return Subject{}, timelines.ErrNotFound
	}
	rows, err := db.Query(ctx, query, args)
	if err != nil {
		return Subject{}, fmt.Errorf("read what is reported: %w", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Subject])
	if errors.Is(err, pgx.ErrNoRows) {
		return Subject{}, timelines.ErrNotFound
	}
	if err != nil {
		return Subject{}, fmt.Errorf("read what is reported: %w", err)
	}
	return found, nil
}

// checkText returns the trimmed text of a form, or an InvalidError of that field.
func checkText(field, text string, needed bool) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case needed && text == "":
		return "", &timelines.InvalidError{Field: field, Code: "text_empty"}
	case utf8.RuneCountInString(text) > maxText:
		return "", &timelines.InvalidError{Field: field, Code: "text_long", Most: maxText}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", &timelines.InvalidError{Field: field, Code: "text_invalid"}
	}
	return text, nil
}

// File makes a report and returns its code. timelines.ErrNotFound if the reporter does not see the
// thing; an InvalidError if it is their own, if they have reported it already and that is not done,
// or if they made MostADay reports within a day.
func (s *Store) File(ctx context.Context, reporter int64, t Thing, reason Reason, text string) (code string, err error) {
	if !slices.Contains(Reasons, reason) {
		return "", &timelines.InvalidError{Field: "reason", Code: "report_reason"}
	}
	if text, err = checkText("text", text, false); err != nil {
		return "", err
	}
	err = s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		// The reporter's row orders their reports, so that none slips past the count.
		if _, err := tx.Exec(ctx, `SELECT FROM accounts WHERE id = @reporter FOR NO KEY UPDATE`, pgx.StrictNamedArgs{"reporter": reporter}); err != nil {
			return fmt.Errorf("lock reporter: %w", err)
		}
		what, err := subject(ctx, tx, reporter, t)
		if err != nil {
			return err
		}
		if what.AccountID == reporter {
			return &timelines.InvalidError{Code: "report_self"}
		}
		var today int
		const count = `
			SELECT count(*) FROM reports WHERE reporter_id = @reporter AND kind = 'report' AND created_at > now() - interval '1 day'`
		if err := tx.QueryRow(ctx, count, pgx.StrictNamedArgs{"reporter": reporter}).Scan(&today); err != nil {
			return fmt.Errorf("count reports: %w", err)
		}
		if today >= MostADay {
			return &timelines.InvalidError{Code: "reports_many", Most: MostADay}
		}
		code, err = insertTx(ctx, tx, reporter, "report", what, reason, text)
		return err
	})
	return code, err
}

// AppealLink makes a token by which a person may Appeal, and ends earlier ones of theirs.
func (s *Store) AppealLink(ctx context.Context, account int64) (token string, err error) {
	err = s.timelines.InTx(ctx, func(tx pgx.Tx) (err error) {
		_, err = tx.Exec(ctx, `DELETE FROM account_links WHERE account_id = @account AND purpose = @purpose`,
			pgx.StrictNamedArgs{"account": account, "purpose": timelines.LinkAppeal})
		if err != nil {
			return fmt.Errorf("withdraw links: %w", err)
		}
		token, err = timelines.NewLinkTx(ctx, tx, account, timelines.LinkAppeal)
		return err
	})
	return token, err
}

// Appeal makes an appeal of the person of an AppealLink, and uses that up. timelines.ErrNotFound if the token is none,
// was used or is too old, or if there is nothing to appeal against: no suspension and no deletion by the
// staff, or the deletion has begun. An InvalidError if they have made one already that is not done.
func (s *Store) Appeal(ctx context.Context, token, text string) (code string, err error) {
	if text, err = checkText("text", text, true); err != nil {
		return "", err
	}
	err = s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		account, err := timelines.TakeLinkTx(ctx, tx, token, timelines.LinkAppeal)
		if err != nil {
			return err
		}
		const may = `
			SELECT NOT EXISTS (SELECT FROM leaving WHERE account_id = @account AND begun) AND (
				EXISTS (SELECT FROM suspensions WHERE account_id = @account)
				OR EXISTS (SELECT FROM leaving WHERE account_id = @account AND by_staff))`
		var against bool
		if err := tx.QueryRow(ctx, may, pgx.StrictNamedArgs{"account": account}).Scan(&against); err != nil {
			return fmt.Errorf("read what an appeal is against: %w", err)
		}
		if !against {
			return timelines.ErrNotFound
		}
		code, err = insertTx(ctx, tx, account, "appeal", Subject{AccountID: account}, "", text)
		return err
	})
	return code, err
}

// AppealPost makes an appeal of the author of a post against its block. timelines.ErrNotFound if it is not theirs, or not
// blocked. An InvalidError "appeal_again" if they have made one already that is not done.
func (s *Store) AppealPost(ctx context.Context, author int64, code, text string) (report string, err error) {
	if text, err = checkText("text", text, true); err != nil {
		return "", err
	}
	code, ok := timelines.ParseCode(code)
	if !ok {
		return "", timelines.ErrNotFound
	}
	err = s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		// The lock keeps the block as it is.
		const query = `
			SELECT id, body FROM posts
			WHERE code = @code AND author_id = @author AND status = 2 AND deleted_at IS NULL FOR SHARE`
		what := Subject{AccountID: author}
		err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": code, "author": author}).Scan(&what.PostID, &what.Said)
		if errors.Is(err, pgx.ErrNoRows) {
			return timelines.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("find a blocked post: %w", err)
		}
		report, err = insertTx(ctx, tx, author, "appeal", what, "", text)
		return err
	})
	return report, err
}

func insertTx(ctx context.Context, tx pgx.Tx, reporter int64, kind string, what Subject, reason Reason, text string) (string, error) {
	const query = `
		INSERT INTO reports (reporter_id, account_id, post_id, comment_id, code, kind, reason, body, said)
		VALUES (@reporter, @account, nullif(@post::bigint, 0), nullif(@comment::bigint, 0), @code, @kind, @reason, @body, @said)
		ON CONFLICT (reporter_id, account_id, coalesce(post_id, 0), coalesce(comment_id, 0), kind) WHERE state <> 'done' DO NOTHING`
	code := timelines.NewCode()
	tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{
		"reporter": reporter, "account": what.AccountID, "post": what.PostID, "comment": what.CommentID,
		"code": code, "kind": kind, "reason": reason, "body": text, "said": what.Said,
	})
	if err != nil {
		return "", fmt.Errorf("insert report: %w", err)
	}
	if tag.RowsAffected() == 0 {
		if kind == "appeal" {
			return "", &timelines.InvalidError{Code: "appeal_again"}
		}
		return "", &timelines.InvalidError{Code: "report_again"}
	}
	return code, nil
}
