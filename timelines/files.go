package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/files"
	"riverrun/timelines/rules"
)

// Prepare says that an upload waits to be made a picture (Files.Finish).
type Prepare struct {
	FileID int64
	// Waiting is how many others of its owner do, at most files.MostWaiting.
	Waiting int
}

func (Prepare) event() {}

// Add records an upload whose blob is stored, and returns its code. If the upload begins like
// a picture, a job, which Add announces, makes a picture of it. With New.Account it becomes
// that account's picture as soon as it is made; the owner must be the account, or administer
// the group: else ErrForbidden. An InvalidError "files_loose" says that too many files of the
// owner are not attached.
func (s Files) Add(ctx context.Context, n files.New) (code string, err error) {
	return inTx(ctx, s.core, func(tx pgx.Tx) (string, error) {
		if n.Account != 0 {
			if err := mayPortray(ctx, tx, n.Owner, n.Account); err != nil {
				return "", err
			}
		}
		for range maxAttempts {
			code := newCode()
			added, taken, err := files.Add(ctx, tx, code, n)
			switch {
			case errors.Is(err, files.ErrTooMany):
				return "", rules.FilesLoose.Broken("")
			case err != nil:
				return "", err
			case taken:
				continue
			case !n.Picture:
				return code, nil
			}
			return code, s.announceTx(ctx, tx, Prepare{FileID: added.ID, Waiting: added.Waiting})
		}
		return "", errors.New("no unused code for an upload")
	})
}

// MayAdd returns the error that Add would return, as far as it is known before the blob is
// stored, so that none is stored in vain. account is that of New.
func (s Files) MayAdd(ctx context.Context, owner, account int64) error {
	if account != 0 {
		return mayPortray(ctx, s.pool, owner, account)
	}
	n, err := files.CountLoose(ctx, s.pool, owner)
	if err == nil && n >= files.Loose {
		err = rules.FilesLoose.Broken("")
	}
	return err
}

// Describe keeps what forms say of the owner's files that are not attached yet.
func (s Files) Describe(ctx context.Context, owner int64, list []files.Attachment) error {
	attach := &attached{list, rules.FilesMany.With(len(list))}
	if err := attach.check(); err != nil {
		return err
	}
	return files.Describe(ctx, s.pool, owner, list)
}

// mayPortray returns ErrForbidden unless the actor may choose the account's picture.
func mayPortray(ctx context.Context, db files.DB, actor, account int64) error {
	if actor == account {
		return nil
	}
	const query = `SELECT EXISTS (SELECT FROM group_admins WHERE group_id = @account AND account_id = @actor)`
	var leads bool
	if err := db.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account, "actor": actor}).Scan(&leads); err != nil {
		return fmt.Errorf("read administrators: %w", err)
	}
	if !leads {
		return ErrForbidden
	}
	return nil
}

// RemovePicture gives an account its initials back; the rights are those of Add. Without a
// picture it changes nothing, but for one that is still being made.
func (s Files) RemovePicture(ctx context.Context, actor, account int64) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		if err := mayPortray(ctx, tx, actor, account); err != nil {
			return Change{}, err
		}
		const query = `
			WITH gone AS (DELETE FROM files WHERE account_id = @account)
			UPDATE accounts SET picture = '' WHERE id = @account`
		if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"account": account}); err != nil {
			return Change{}, fmt.Errorf("remove a picture: %w", err)
		}
		clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidAccount, AccountID: account})
		return Change{Actor: actor, Clock: clock}, err
	})
}

// Pending returns a file that waits to be made a picture, or files.ErrNotFound.
func (s Files) Pending(ctx context.Context, id int64) (files.Pending, error) {
	return files.FindPending(ctx, s.pool, id)
}

// Finish records what a job made of an upload. If the file is attached, its post changes; if
// it is an account's picture, the account does. done is false if the file has been attached
// since it was found: then it must be found again. If the file is gone, Finish records
// nothing.
func (s Files) Finish(ctx context.Context, p files.Pending, m files.Made) (c Change, done bool, err error) {
	c, err = s.change(ctx, func(tx pgx.Tx) (Change, error) {
		if p.PostID != 0 {
			// The post's version comes first, as in all changes. The actor has no rights to show:
			// the upload was accepted.
			const lock = `UPDATE posts SET version = version + 1 WHERE id = @post AND deleted_at IS NULL`
			if _, err := tx.Exec(ctx, lock, pgx.StrictNamedArgs{"post": p.PostID}); err != nil {
				return Change{}, fmt.Errorf("lock post: %w", err)
			}
		}
		if done, err = files.Finish(ctx, tx, p.ID, p.PostID, m); err != nil {
			return Change{}, err
		}
		switch {
		case !done:
			return Change{}, &unchanged{}
		case p.PostID != 0:
			return s.touchTx(ctx, tx, Change{PostID: p.PostID, Code: p.PostCode}, nil)
		case p.AccountID != 0 && !m.Failed:
			return s.portrayTx(ctx, tx, p)
		}
		return Change{}, nil
	})
	return c, done, err
}

// portrayTx makes a file the picture of its account. The last one that was uploaded wins.
func (s Files) portrayTx(ctx context.Context, tx pgx.Tx, p files.Pending) (Change, error) {
	const query = `
		WITH latest AS (
			SELECT f.id, f.code FROM files f WHERE f.id = @id
				AND (f.owner_id = @account OR EXISTS (SELECT FROM group_admins a WHERE a.group_id = @account AND a.account_id = f.owner_id))
				AND NOT EXISTS (SELECT FROM files l WHERE l.account_id = @account AND l.id > f.id AND l.state = 'picture')
		), gone AS (
			DELETE FROM files f USING latest l WHERE f.account_id = @account AND f.id < l.id
		)
		UPDATE accounts a SET picture = latest.code FROM latest WHERE a.id = @account`
	if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"id": p.ID, "account": p.AccountID}); err != nil {
		return Change{}, fmt.Errorf("set a picture: %w", err)
	}
	clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidAccount, AccountID: p.AccountID})
	return Change{Clock: clock}, err
}

// Find returns one size of a file as far as the viewer may read it now, or files.ErrNotFound.
func (s Files) Find(ctx context.Context, viewer int64, code, size string) (files.Content, error) {
	return files.Find(ctx, s.pool, viewer, code, size)
}

// MostOfPost is how many files a post may have.
func (s Files) MostOfPost() int { return s.opts.PostFiles }

// MostOfComment is how many files a comment may have.
func (s Files) MostOfComment() int { return s.opts.CommentFiles }

// Owned returns the owner's files of these codes, in the order of the codes.
func (s Files) Owned(ctx context.Context, owner int64, codes []string) ([]files.File, error) {
	return files.Owned(ctx, s.pool, owner, codes)
}

// Loose returns the owner's files of these codes that are not attached, in their order.
func (s Files) Loose(ctx context.Context, owner int64, codes []string) ([]files.File, error) {
	return files.Loosely(ctx, s.pool, owner, codes)
}

// Of returns the files of a post, or of its comment if that is not 0. The caller has checked
// that they may be read.
func (s Files) Of(ctx context.Context, post, comment int64) ([]files.File, error) {
	return files.Of(ctx, s.pool, post, comment)
}

// Discard removes the owner's file if it is not attached, or returns files.ErrNotFound.
func (s Files) Discard(ctx context.Context, owner int64, code string) error {
	return files.Discard(ctx, s.pool, owner, code)
}

// ExpireFiles removes files that were not attached to anything within this time.
func (s Maintenance) ExpireFiles(ctx context.Context, olderThan time.Duration) (int64, error) {
	return files.Expire(ctx, s.pool, olderThan)
}

// attached are the files of a post or a comment, for a change of it; nil leaves them as they are.
type attached struct {
	list []files.Attachment
	many rules.Rule
}

func (s *core) attachedToPost(list []files.Attachment) *attached {
	return &attached{list, rules.FilesMany.With(s.opts.PostFiles)}
}

func (s *core) attachedToComment(list []files.Attachment) *attached {
	return &attached{list, rules.CommentFilesMany.With(s.opts.CommentFiles)}
}

// check returns an InvalidError "files_many" or "alt_long".
func (a *attached) check() error {
	if a == nil {
		return nil
	}
	if err := a.many.Count(len(a.list)); err != nil {
		return err
	}
	for _, f := range a.list {
		if !storable(f.Alt) {
			return rules.AltLong.Broken("")
		}
		if err := rules.AltLong.Text(f.Alt); err != nil {
			return err
		}
	}
	return nil
}

// setTx attaches the files to a locked post, or to its comment if that is not 0, and reports
// whether that changed anything. An InvalidError "file_unknown" says that one is gone.
func (a *attached) setTx(ctx context.Context, tx pgx.Tx, owner, post, comment int64) (changed bool, err error) {
	if a == nil {
		return false, nil
	}
	changed, err = files.Set(ctx, tx, owner, post, comment, a.list)
	if errors.Is(err, files.ErrNotFound) {
		return false, rules.FileUnknown.Broken("")
	}
	return changed, err
}

// addTx is setTx for what has just been made, and has no files yet.
func (a *attached) addTx(ctx context.Context, tx pgx.Tx, owner, post, comment int64) error {
	if len(a.list) == 0 {
		return nil
	}
	_, err := a.setTx(ctx, tx, owner, post, comment)
	return err
}

// askedTx describes the files for the hash of a form (keys.go): the same uploads, sent again,
// have other codes.
func askedTx(ctx context.Context, tx pgx.Tx, owner int64, list []files.Attachment) ([]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	found, err := files.Owned(ctx, tx, owner, files.Codes(list))
	if err != nil {
		return nil, err
	}
	asked := []string{"files"}
	for _, a := range list {
		i := slices.IndexFunc(found, func(f files.File) bool { return f.Code == a.Code })
		if i < 0 {
			return nil, rules.FileUnknown.Broken("")
		}
		asked = append(asked, found[i].Sum.String(), found[i].Name, a.Alt)
	}
	return asked, nil
}

// editedBody returns a text that changes as it is stored. It may be empty where files stand: attach has
// them, or else hasFilesTx must say so.
func editedBody(attach *attached, body string, long rules.Rule) (string, error) {
	return rules.Body(body, long, attach == nil || len(attach.list) > 0)
}

// hasFilesTx returns an InvalidError "body_empty" unless the post, or its comment, has files.
func hasFilesTx(ctx context.Context, tx pgx.Tx, post, comment int64) error {
	found, err := files.Of(ctx, tx, post, comment)
	if err == nil && len(found) == 0 {
		err = rules.BodyEmpty.Broken("")
	}
	return err
}

// refileTx sets the files of a locked post; another list of files is an edit.
func (s *core) refileTx(ctx context.Context, tx pgx.Tx, p lockedPost, attach *attached) (changed bool, err error) {
	changed, err = attach.setTx(ctx, tx, p.AuthorID, p.ID, 0)
	if err != nil || !changed {
		return false, err
	}
	_, err = tx.Exec(ctx, `UPDATE posts SET edited_at = clock_timestamp() WHERE id = @post`, pgx.StrictNamedArgs{"post": p.ID})
	if err != nil {
		return false, fmt.Errorf("edit post: %w", err)
	}
	return true, nil
}
