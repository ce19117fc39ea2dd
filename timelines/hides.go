package timelines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/marks"
	"riverrun/timelines/rights"
)

// Bounds of what one account may hide.
const (
	maxTermRunes      = 50
	maxHiddenTerms    = 200
	maxHiddenAccounts = 1000
	maxHiddenPosts    = 10_000
)

// HidePost hides a post from the actor's pages, except the post's own page, and returns
// its id. The Change names no post, since the post did not change. Hiding it twice
// changes nothing. ErrNotFound if the actor cannot read it; InvalidError
// "hides_many" if the actor hides very many.
func (s Hides) HidePost(ctx context.Context, actor int64, code string) (post int64, c Change, err error) {
	code, ok := ParseCode(code)
	if !ok {
		return 0, Change{}, ErrNotFound
	}
	c, err = s.set(ctx, actor, func(tx pgx.Tx) (int64, error) {
		const find = `SELECT p.id FROM posts p WHERE p.code = @code AND p.deleted_at IS NULL AND ` + rights.SeenPost
		err := tx.QueryRow(ctx, find, pgx.StrictNamedArgs{"code": code, "viewer": actor}).Scan(&post)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, ErrNotFound
		}
		if err != nil {
			return 0, err
		}
		return hideTx(ctx, tx, `INSERT INTO hidden_posts (account_id, post_id) VALUES (@actor, @what) ON CONFLICT DO NOTHING`,
			`SELECT count(*) FROM hidden_posts WHERE account_id = @actor`, maxHiddenPosts, actor, post)
	})
	return post, c, err
}

// UnhidePost undoes Hides.HidePost. For a post that is not hidden it succeeds and changes
// nothing. ErrNotFound if there is no such post.
func (s Hides) UnhidePost(ctx context.Context, actor int64, code string) (post int64, c Change, err error) {
	code, ok := ParseCode(code)
	if !ok {
		return 0, Change{}, ErrNotFound
	}
	c, err = s.set(ctx, actor, func(tx pgx.Tx) (int64, error) {
		// An actor who can no longer read the post may only learn whether it was hidden.
		const query = `
			WITH found AS (
				SELECT p.id, h.post_id IS NOT NULL AS hidden
				FROM posts p LEFT JOIN hidden_posts h ON h.post_id = p.id AND h.account_id = @viewer
				WHERE p.code = @code AND (h.post_id IS NOT NULL OR p.deleted_at IS NULL AND ` + rights.SeenPost + `)
			), shown AS (
				DELETE FROM hidden_posts h USING found f WHERE h.account_id = @viewer AND h.post_id = f.id
			)
			SELECT id, hidden FROM found`
		var hidden bool
		err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": code, "viewer": actor}).Scan(&post, &hidden)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, ErrNotFound
		}
		if err != nil || !hidden {
			return 0, err
		}
		return 1, nil
	})
	return post, c, err
}

// HideAccount hides the posts of a person, or of a group, from the actor's pages, except
// that account's own page. Hiding twice changes nothing. ErrNotFound if there
// is no such account, ErrForbidden if it is the actor's own; InvalidError
// "hides_many".
func (s Hides) HideAccount(ctx context.Context, actor int64, name string) (Change, error) {
	return s.set(ctx, actor, func(tx pgx.Tx) (int64, error) {
		to, err := lockTargetTx(ctx, tx, name)
		if err != nil {
			return 0, err
		}
		if to.AccountID == actor {
			return 0, ErrForbidden
		}
		return hideTx(ctx, tx,
			`INSERT INTO hidden_accounts (account_id, hidden_id) VALUES (@actor, @what) ON CONFLICT DO NOTHING`,
			`SELECT count(*) FROM hidden_accounts WHERE account_id = @actor`, maxHiddenAccounts, actor, to.AccountID)
	})
}

// UnhideAccount undoes Hides.HideAccount. For an account that is not hidden it succeeds and
// changes nothing. ErrNotFound if there is no such account.
func (s Hides) UnhideAccount(ctx context.Context, actor int64, name string) (Change, error) {
	return s.set(ctx, actor, func(tx pgx.Tx) (int64, error) {
		to, err := lockTargetTx(ctx, tx, name)
		if err != nil {
			return 0, err
		}
		tag, err := tx.Exec(ctx, `DELETE FROM hidden_accounts WHERE account_id = @actor AND hidden_id = @what`,
			pgx.StrictNamedArgs{"actor": actor, "what": to.AccountID})
		return tag.RowsAffected(), err
	})
}

// HideTerm hides posts with a word, several in a row, or a #tag in their text.
// InvalidError: "term_empty", "term_long", "term_person" for an @name (Hides.HideAccount hides
// people), "text_invalid", "hides_many".
func (s Hides) HideTerm(ctx context.Context, actor int64, term string) (Change, error) {
	if name, at := strings.CutPrefix(strings.TrimSpace(marks.Fold(term)), "@"); at && nameForm.MatchString(name) {
		return Change{}, &InvalidError{Field: "term", Code: "term_person", Value: name}
	}
	term, err := cleanTerm(term)
	if err != nil {
		return Change{}, err
	}
	return s.set(ctx, actor, func(tx pgx.Tx) (int64, error) {
		return hideTx(ctx, tx, `INSERT INTO hidden_terms (account_id, term) VALUES (@actor, @what) ON CONFLICT DO NOTHING`,
			`SELECT count(*) FROM hidden_terms WHERE account_id = @actor`, maxHiddenTerms, actor, term)
	})
}

// UnhideTerm undoes Hides.HideTerm. For a term that is not hidden it succeeds and changes
// nothing.
func (s Hides) UnhideTerm(ctx context.Context, actor int64, term string) (Change, error) {
	term, err := storedTerm(term)
	if err != nil {
		return Change{}, err
	}
	return s.set(ctx, actor, func(tx pgx.Tx) (int64, error) {
		tag, err := tx.Exec(ctx, `DELETE FROM hidden_terms WHERE account_id = @actor AND term = @what`,
			pgx.StrictNamedArgs{"actor": actor, "what": term})
		return tag.RowsAffected(), err
	})
}

// cleanTerm returns the term as it is stored: its words with one space between, at most
// maxTermRunes characters. They are counted after folding: ㌖ is six.
func cleanTerm(term string) (string, error) {
	term, err := storedTerm(term)
	if err == nil && utf8.RuneCountInString(term) > maxTermRunes {
		return "", &InvalidError{Field: "term", Code: "term_long"}
	}
	return term, err
}

// storedTerm is cleanTerm without the bound on its length.
func storedTerm(term string) (string, error) {
	if !storable(term) {
		return "", &InvalidError{Field: "term", Code: "text_invalid"}
	}
	words := marks.Words(term)
	if len(words) == 0 {
		return "", &InvalidError{Field: "term", Code: "term_empty"}
	}
	return strings.Join(words, " "), nil
}

// hideTx inserts a hide, unless there are too many.
func hideTx[T any](ctx context.Context, tx pgx.Tx, insert, count string, most, actor int64, what T) (int64, error) {
	tag, err := tx.Exec(ctx, insert, pgx.StrictNamedArgs{"actor": actor, "what": what})
	if err != nil || tag.RowsAffected() == 0 {
		return 0, err
	}
	var n int64
	if err := tx.QueryRow(ctx, count, pgx.StrictNamedArgs{"actor": actor}).Scan(&n); err != nil {
		return 0, err
	}
	if n > most {
		return 0, &InvalidError{Code: "hides_many"}
	}
	return tag.RowsAffected(), nil
}

// set runs set, which changes the actor's hides and returns how many rows it changed,
// and makes the nodes drop what they remember of them.
func (s Hides) set(ctx context.Context, actor int64, set func(pgx.Tx) (rows int64, err error)) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		rows, err := set(tx)
		if err != nil {
			return Change{}, fmt.Errorf("hide: %w", err)
		}
		c := Change{Actor: actor}
		if rows == 0 {
			return s.acknowledgeTx(ctx, tx, c)
		}
		c.Clock, err = tickTx(ctx, tx, Invalidation{Kind: InvalidSets, AccountID: actor})
		return c, err
	})
}

// Accounts returns at most limit of the people and groups the actor hides, by name,
// after the name given; an empty name is the beginning.
func (s Hides) Accounts(ctx context.Context, actor int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `SELECT hidden_id FROM hidden_accounts WHERE account_id = @of`, actor, after, limit)
}

// Terms returns all words and tags the actor hides, in order. There are at most
// maxHiddenTerms.
func (s Hides) Terms(ctx context.Context, actor int64) ([]string, error) {
	rows, err := s.pool.Query(ctx, `SELECT term FROM hidden_terms WHERE account_id = @viewer ORDER BY term`,
		pgx.StrictNamedArgs{"viewer": actor})
	if err != nil {
		return nil, fmt.Errorf("read hidden terms: %w", err)
	}
	terms, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read hidden terms: %w", err)
	}
	return terms, nil
}

// HiddenPost is a hidden post as a list shows it.
type HiddenPost struct {
	Code      string
	AuthorID  int64
	Beginning string // of the text, at most 200 characters
	Markup    bool   // the text is read as markup
	HiddenAt  time.Time
}

// Posts returns at most limit of the posts the actor hides and may still read, the
// last hidden first. They are those hidden before the given one, of which only the code
// and HiddenAt are used; the zero HiddenPost stands for the beginning.
func (s Hides) Posts(ctx context.Context, actor int64, before HiddenPost, limit int) ([]HiddenPost, error) {
	return s.posts(ctx, "hidden_posts", actor, before, limit)
}

// posts is Posts of one of the two tables of posts that a person does not want to hear of.
func (s Hides) posts(ctx context.Context, table string, actor int64, before HiddenPost, limit int) ([]HiddenPost, error) {
	query := `
		SELECT p.code, p.author_id, left(p.body, 200) AS beginning, p.markup, h.created_at AS hidden_at
		FROM ` + table + ` h JOIN posts p ON p.id = h.post_id
		WHERE h.account_id = @viewer AND p.deleted_at IS NULL AND ` + rights.SeenPost + `
			AND (h.created_at, h.post_id) < (coalesce(@before::timestamptz, 'infinity'), coalesce((SELECT id FROM posts WHERE code = @code), 0))
		ORDER BY h.created_at DESC, h.post_id DESC LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{
		"viewer": actor, "before": olderThan(before), "code": before.Code, "limit": limit,
	})
	if err != nil {
		return nil, fmt.Errorf("read hidden posts: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[HiddenPost])
	if err != nil {
		return nil, fmt.Errorf("read hidden posts: %w", err)
	}
	return list, nil
}
