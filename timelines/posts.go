package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riverrun/timelines/edits"
	"riverrun/timelines/files"
	"riverrun/timelines/kinds"
	"riverrun/timelines/listings"
	"riverrun/timelines/notices"
	"riverrun/timelines/publishing"
	"riverrun/timelines/rights"
	"riverrun/timelines/rules"
)

// lockedPost is a post that is locked for a change, and what the actor is to it.
type lockedPost struct {
	ID       int64
	Code     string
	AuthorID int64
	// Stamp is the next place in the order of freshness: not before the clock, and later than
	// all bumps so far. The change uses it for its bump and its entrances.
	Stamp int64
	// Administers: the actor administers a group the post stands in.
	Administers bool
}

// change returns a Change of the post, still without the touched timelines.
func (p lockedPost) change(actor int64) Change {
	return Change{Actor: actor, PostID: p.ID, Code: p.Code}
}

// doing is something that the actor does to the post, or to one of its comments.
func (p lockedPost) doing(actor, comment int64) notices.Doing {
	return notices.Doing{Post: p.ID, Actor: actor, Comment: comment, Stamp: p.Stamp}
}

// lockPostTx begins the change of a post: it draws the post's next version, which locks
// it, and reads what the actor is to it. ErrNotFound if there is no such post, the actor
// cannot read it, or there is a ban between its author and the actor.
func lockPostTx(ctx context.Context, tx pgx.Tx, actor int64, code string) (lockedPost, error) {
	return lockPostIfTx(ctx, tx, actor, code, rights.SeenPost)
}

// lockPostIfTx is lockPostTx with another condition for the post p and @viewer than that the actor
// may read it.
func lockPostIfTx(ctx context.Context, tx pgx.Tx, actor int64, code, condition string) (lockedPost, error) {
	return lockPostReadingTx(ctx, tx, actor, code, condition, "")
}

// lockPostNearTx is lockPostTx, and reads how near the post is to that aggregate.
func (s *core) lockPostNearTx(ctx context.Context, tx pgx.Tx, actor int64, code, aggregate string) (lockedPost, *belonging, error) {
	columns, b := s.belongs(aggregate)
	p, err := lockPostReadingTx(ctx, tx, actor, code, rights.SeenPost, `, `+columns, b.dest()...)
	return p, b, err
}

// lockPostReadingTx is lockPostIfTx, and reads more columns of the post p.
func lockPostReadingTx(ctx context.Context, tx pgx.Tx, actor int64, code, condition, columns string, dest ...any) (lockedPost, error) {
	p := lockedPost{}
	var ok bool
	if p.Code, ok = ParseCode(code); !ok {
		return p, ErrNotFound
	}
	const lock = `
		UPDATE posts SET version = version + 1
		WHERE code = @code AND deleted_at IS NULL`
	// This is a statement of its own. The first one may have waited, so its snapshot and
	// clock may be old: two comments at the same time would get the same stamp, and a right
	// that ended meanwhile would still count.
	stand := `
		SELECT p.id, p.author_id, greatest(` + clockMicros + `, p.fresh_at + 1),
			EXISTS (
				SELECT FROM group_admins a JOIN timelines t ON t.kind = 'group' AND t.their_id = a.group_id
				WHERE a.account_id = @viewer AND t.id = ANY(p.decisive))` + columns + `
		FROM posts p WHERE p.code = @code AND p.deleted_at IS NULL AND ` + condition
	b := &pgx.Batch{}
	b.Queue(lock, pgx.StrictNamedArgs{"code": p.Code}).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return pgx.ErrNoRows
		}
		return nil
	})
	b.Queue(stand, pgx.StrictNamedArgs{"code": p.Code, "viewer": actor}).QueryRow(func(row pgx.Row) error {
		return row.Scan(append([]any{&p.ID, &p.AuthorID, &p.Stamp, &p.Administers}, dest...)...)
	})
	err := tx.SendBatch(ctx, b).Close()
	if errors.Is(err, pgx.ErrNoRows) {
		return p, ErrNotFound
	}
	if err != nil {
		return p, fmt.Errorf("lock post: %w", err)
	}
	return p, nil
}

// touchTx ends the change of a post: it announces the timelines that the post entered,
// left or was bumped in, and what else is to be announced. Without any, only the fold changed, which is announced too.
func (s *core) touchTx(ctx context.Context, tx pgx.Tx, c Change, touched []int64, also ...Event) (Change, error) {
	c.Touched = union(touched, nil)
	return c, s.announceTx(ctx, tx, append(also, Touched{PostID: c.PostID, Timelines: c.Touched})...)
}

// Edit changes the text of the actor's own post; it bumps nothing. The post enters
// the timelines of its new tags and mentions and leaves those of the former ones. Its
// language is detected again unless the author chose it. The errors are those of Revise. The same
// text changes nothing.
func (s Posts) Edit(ctx context.Context, actor int64, code, body string) (Change, error) {
	return s.Revise(ctx, actor, code, Revision{Body: &body})
}

// Revision is a change of a post by its author; what is not set stays.
type Revision struct {
	Body *string
	// Language is a choice as in NewPost; nil keeps the one there is, if there is one. Another
	// choice is a change too.
	Language *string
	// To are all destinations from now on, in the form of NewPost.To, and at least one; nil: they
	// stay. A post may stay in a group it once stood in: if nothing else changes, only new ones are
	// checked for the right to write. A person who is left out can no longer read the post. It is lifted nowhere.
	To []string
	// Files are all files from now on, if SetFiles: those that the post keeps, and uploads of
	// the author's.
	Files    []files.Attachment
	SetFiles bool
	// Listing are the fields of the listing from now on; nil: they stay. See Fields.Check and
	// listings.SetTx.
	Listing *listings.Fields
}

// Revise makes all of a revision, or nothing. ErrNotFound if the actor cannot read the post,
// ErrForbidden if it is another's; the InvalidErrors are those of Create, "to_none", and "to_closed"
// with the name of a group where the post stands after it and the author may not post any more, unless the
// revision only moves it (see barredTx); "listing_place" if a listing moves to where no group takes listings; with Listing also "listing_none" and "listing_closed".
func (s Posts) Revise(ctx context.Context, actor int64, code string, r Revision) (Change, error) {
	var attach *attached
	if r.SetFiles {
		attach = s.attachedToPost(r.Files)
	}
	var t *text
	if r.Body != nil {
		language := ""
		if r.Language != nil {
			language = *r.Language
		}
		made, err := newText(attach, *r.Body, language)
		if err != nil {
			return Change{}, err
		}
		made.keep = r.Language == nil
		t = &made
	}
	to, err := r.To, error(nil)
	if to != nil {
		to, err = newDestinations(to)
	}
	if err := errors.Join(err, attach.check()); err != nil {
		return Change{}, err
	}
	return s.revise(ctx, actor, code, t, to, attach, r.Listing)
}

// revise changes the actor's own post: its text unless that is nil, its
// destinations unless there are none, its files unless attach is nil, its listing unless fields is.
func (s *core) revise(ctx context.Context, actor int64, code string, t *text, to []string, attach *attached, fields *listings.Fields) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		var where address
		var found []destination
		var err error
		if len(to) > 0 { // the timelines first, then the post: the order of everybody else
			if where, found, err = addressTx(ctx, tx, actor, to); err != nil {
				return Change{}, err
			}
		}
		p, err := lockPostTx(ctx, tx, actor, code)
		if err != nil {
			return Change{}, err
		}
		if p.AuthorID != actor {
			return Change{}, ErrForbidden
		}
		c := p.change(actor)
		var touched, left []int64
		var rewritten, moved bool
		if t != nil {
			if touched, rewritten, err = s.rewriteTx(ctx, tx, &c, p, *t); err != nil {
				return Change{}, err
			}
		}
		if len(to) > 0 {
			if left, moved, err = s.resendTx(ctx, tx, p, found, where.decisive); err != nil {
				return Change{}, err
			}
		}
		refiled, err := s.refileTx(ctx, tx, p, attach)
		if err != nil {
			return Change{}, err
		}
		var counts publishing.Counts
		relisted, err := s.relistTx(ctx, tx, p, fields, &counts)
		if err != nil {
			return Change{}, err
		}
		if t != nil && t.body == "" && attach == nil {
			if err := hasFilesTx(ctx, tx, p.ID, 0); err != nil {
				return Change{}, err
			}
		}
		if !rewritten && !moved && !refiled && !relisted {
			return Change{}, &unchanged{c}
		}
		if rewritten || refiled || relisted {
			if err := checkBarredTx(ctx, tx, actor, p.ID); err != nil {
				return Change{}, err
			}
		}
		if err := counts.ApplyTx(ctx, tx); err != nil {
			return Change{}, err
		}
		return s.touchTx(ctx, tx, c, slices.Concat(touched, left))
	})
}

// text is the new text of a post.
type text struct {
	body     string
	textLang postLanguage
	keep     bool // the choice of language there is, if there is one
}

func newText(attach *attached, body, language string) (t text, err error) {
	if t.body, err = editedBody(attach, body, rules.PostLong); err != nil {
		return text{}, err
	}
	t.textLang, err = languageOf(t.body, language)
	return t, err
}

// rewriteTx changes the text of a locked post, and returns the timelines touched.
func (s *core) rewriteTx(ctx context.Context, tx pgx.Tx, c *Change, p lockedPost, t text) (touched []int64, changed bool, err error) {
	const edit = `
		UPDATE posts p SET body = @body, lang = n.lang, lang_chosen = n.chosen, lang_guessed = n.guessed,
			edited_at = CASE WHEN p.body <> @body THEN clock_timestamp() ELSE p.edited_at END
		FROM (
			SELECT CASE WHEN stays THEN lang ELSE @lang END AS lang,
				CASE WHEN stays THEN lang_chosen ELSE @chosen END AS chosen,
				CASE WHEN stays THEN lang_guessed ELSE @guessed END AS guessed
			FROM (
				-- The language stays if somebody chose to keep it, or if the text is the same:
				-- then nothing new is guessed.
				SELECT *, CASE WHEN lang_chosen THEN @keep ELSE NOT @chosen AND body = @body END AS stays
				FROM posts WHERE id = @post) was) n
		WHERE p.id = @post AND (p.body, p.lang, p.lang_chosen) <> (@body, n.lang, n.chosen)
		RETURNING p.markup`
	textLang := t.textLang
	if len(textLang.fits) > 0 {
		var decisive []int64
		err := tx.QueryRow(ctx, `SELECT decisive FROM posts WHERE id = @post`, pgx.StrictNamedArgs{"post": p.ID}).Scan(&decisive)
		if err != nil {
			return nil, false, fmt.Errorf("read places of a post: %w", err)
		}
		if textLang, err = textLang.guess(ctx, tx, p.AuthorID, decisive); err != nil {
			return nil, false, err
		}
	}
	if err := edits.KeepTx(ctx, tx, p.ID, t.body); err != nil {
		return nil, false, err
	}
	written := writing{body: t.body}
	err = tx.QueryRow(ctx, edit, pgx.StrictNamedArgs{
		"post": p.ID, "body": t.body, "keep": t.keep, "lang": textLang.lang, "chosen": textLang.chosen, "guessed": textLang.guessed,
	}).Scan(&written.markup)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("edit post: %w", err)
	}
	touched, err = s.indexTextTx(ctx, tx, c, p, ownText, written, true)
	if err != nil {
		return nil, false, err
	}
	if err := s.linkTx(ctx, tx, p.ID, written, true); err != nil {
		return nil, false, err
	}
	// A post in another language belongs to other aggregates.
	aggregates, err := s.updateAggregatesTx(ctx, tx, p, kinds.Where(kinds.Spec.IsAggregate)...)
	if err != nil {
		return nil, false, err
	}
	// The terms that a person hides decide by the text whether an unread entry counts.
	told, err := notices.Timelines(ctx, tx, p.ID)
	if err != nil {
		return nil, false, err
	}
	return slices.Concat(touched, aggregates, told), true, nil
}

// Delete removes the actor's own post. ErrNotFound if the actor cannot read it,
// ErrForbidden if it is another's. Deleting again changes nothing: an actor who was told
// that the pages are behind (tiers.ErrBehind) may repeat it.
//
// Its text, comments and likes are removed, so that no query that forgets to check can
// show them. The empty row stays, with its version, which tells rivers that the post is
// gone. Its code, its keys and its origin stay too, so that nothing makes it again. It
// leaves all timelines, and leaves no withdrawn rows, which scans would go on meeting; all
// timelines that held it are touched. With 10,000 likes and as many comments this takes a
// quarter of a second (BenchmarkDeleteOfACrowd), nearly all of it for emptying the
// comments.
func (s Posts) Delete(ctx context.Context, actor int64, code string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		p, err := lockPostTx(ctx, tx, actor, code)
		if errors.Is(err, ErrNotFound) {
			return Change{}, deletedBefore(ctx, tx, actor, code)
		}
		if err != nil {
			return Change{}, err
		}
		if p.AuthorID != actor {
			return Change{}, ErrForbidden
		}
		return s.emptyTx(ctx, tx, actor, p)
	})
}

// emptyTx ends the deletion of a locked post.
func (s *core) emptyTx(ctx context.Context, tx pgx.Tx, actor int64, p lockedPost) (Change, error) {
	told, err := alertedTx(ctx, tx, []int64{p.ID})
	if err != nil {
		return Change{}, err
	}
	var counts publishing.Counts
	left, err := emptyPostsTx(ctx, tx, []int64{p.ID}, &counts)
	if err != nil {
		return Change{}, err
	}
	if err := counts.ApplyTx(ctx, tx); err != nil {
		return Change{}, err
	}
	c, err := s.touchTx(ctx, tx, p.change(actor), left[p.ID])
	if err != nil || len(told) == 0 {
		return c, err
	}
	c.Clock, err = tickTx(ctx, tx, recount(told)...)
	return c, err
}

// emptyPostsTx leaves of locked posts what Posts.Delete says, and returns for each the timelines
// it was in. The caller applies what it counts.
func emptyPostsTx(ctx context.Context, tx pgx.Tx, posts []int64, counts *publishing.Counts) (left map[int64][]int64, err error) {
	args := pgx.StrictNamedArgs{"posts": posts}
	var empty pgx.Batch
	const end = `
		UPDATE posts p SET deleted_at = clock_timestamp(), body = '', via = '', via_url = '', place = '',
			lang = '', lang_chosen = false, lang_guessed = false, is_public = false, status = 5
		FROM posts was
		WHERE p.id = ANY(@posts) AND was.id = p.id AND p.deleted_at IS NULL
		RETURNING p.author_id, was.status, p.imported`
	empty.Queue(end, args).Query(counts.Deleted)
	for _, query := range []string{
		`UPDATE comments SET deleted_at = clock_timestamp(), body = '', via = ''
			WHERE post_id = ANY(@posts) AND deleted_at IS NULL`,
		`DELETE FROM comment_likes l USING comments c WHERE c.post_id = ANY(@posts) AND l.comment_id = c.id`,
		`DELETE FROM likes WHERE post_id = ANY(@posts)`,
		`DELETE FROM faves WHERE post_id = ANY(@posts)`,
		`DELETE FROM attachments WHERE post_id = ANY(@posts)`,
		`DELETE FROM files WHERE post_id = ANY(@posts)`,
		`DELETE FROM post_links WHERE post_id = ANY(@posts)`,
		`DELETE FROM text_marks WHERE post_id = ANY(@posts)`,
		`DELETE FROM notifications WHERE post_id = ANY(@posts)`,
		`DELETE FROM post_states WHERE post_id = ANY(@posts)`,
		`DELETE FROM held_posts WHERE post_id = ANY(@posts)`,
		`DELETE FROM approvals WHERE post_id = ANY(@posts)`,
	} {
		empty.Queue(query, args)
	}
	if err := tx.SendBatch(ctx, &empty).Close(); err != nil {
		return nil, fmt.Errorf("delete posts: %w", err)
	}
	if err := errors.Join(edits.RemoveTx(ctx, tx, posts), listings.RemoveTx(ctx, tx, posts)); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		WITH gone AS (DELETE FROM timeline_entries WHERE post_id = ANY(@posts) RETURNING post_id, timeline_id, withdrawn)
		SELECT post_id, timeline_id FROM gone WHERE NOT withdrawn`, args)
	left = map[int64][]int64{}
	if err == nil {
		var post, timeline int64
		_, err = pgx.ForEachRow(rows, []any{&post, &timeline}, func() error {
			left[post] = append(left[post], timeline)
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("timelines of deleted posts: %w", err)
	}
	return left, nil
}

// deletedBefore returns the error that ends the deletion of a post that its author has
// deleted already. For everybody else it is ErrNotFound, as for a post that never was.
func deletedBefore(ctx context.Context, tx pgx.Tx, actor int64, code string) error {
	c := Change{Actor: actor}
	var ok bool
	if c.Code, ok = ParseCode(code); !ok {
		return ErrNotFound
	}
	const query = `SELECT id FROM posts WHERE code = @code AND author_id = @actor AND deleted_at IS NOT NULL`
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": c.Code, "actor": actor}).Scan(&c.PostID)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("find what was deleted: %w", err)
	}
	return &unchanged{c}
}

// ID returns the id of the post with that code, or ErrNotFound if there is none or it
// was deleted. It does not check who may read it.
func (s Posts) ID(ctx context.Context, code string) (int64, error) {
	code, ok := ParseCode(code)
	if !ok {
		return 0, ErrNotFound
	}
	var id int64
	err := s.pool.QueryRow(ctx, `SELECT id FROM posts WHERE code = @code AND deleted_at IS NULL`,
		pgx.StrictNamedArgs{"code": code}).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("find post: %w", err)
	}
	return id, nil
}

// Body returns the text of the actor's own post, for the edit form; the
// errors are those of Posts.Edit.
func (s Posts) Body(ctx context.Context, actor int64, code string) (string, error) {
	code, ok := ParseCode(code)
	if !ok {
		return "", ErrNotFound
	}
	const query = `
		SELECT p.author_id, p.body FROM posts p
		WHERE p.code = @code AND p.deleted_at IS NULL AND ` + rights.SeenPost
	return s.ownBody(ctx, actor, query, pgx.StrictNamedArgs{"viewer": actor, "code": code})
}

// Language returns the language the actor chose for their own post, or "" if it is
// detected from the text, for the edit form. The errors are those of Posts.Edit.
func (s Posts) Language(ctx context.Context, actor int64, code string) (string, error) {
	code, ok := ParseCode(code)
	if !ok {
		return "", ErrNotFound
	}
	const query = `
		SELECT p.author_id, CASE WHEN p.lang_chosen THEN p.lang ELSE '' END FROM posts p
		WHERE p.code = @code AND p.deleted_at IS NULL AND ` + rights.SeenPost
	return s.ownBody(ctx, actor, query, pgx.StrictNamedArgs{"viewer": actor, "code": code})
}

// ownBody runs a query for (author, body) of something the actor can read.
func (s *core) ownBody(ctx context.Context, actor int64, query string, args pgx.StrictNamedArgs) (string, error) {
	var author int64
	var body string
	err := s.pool.QueryRow(ctx, query, args).Scan(&author, &body)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", ErrNotFound
	case err != nil:
		return "", fmt.Errorf("read body: %w", err)
	case author != actor:
		return "", ErrForbidden
	}
	return body, nil
}
