package timelines

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/marks"
)

// Bounds of what one account may hide.
const (
	maxTermRunes      = 50
	maxHiddenTerms    = 200
	maxHiddenAccounts = 1000
)

// HidePost hides a post from the actor's pages, except the post's own page, and returns
// its id. The Change names no post, since the post did not change. Hiding it twice
// changes nothing. ErrNotFound if the actor cannot read it; InvalidError
// "hides_many" if the actor hides very many.
func (s Hides) HidePost(ctx context.Context, actor int64, code string) (post int64, c Change, err error) {
	return s.addPost(ctx, hiddenPosts, actor, code)
}

// UnhidePost undoes Hides.HidePost. For a post that is not hidden it succeeds and changes
// nothing. ErrNotFound if there is no such post.
func (s Hides) UnhidePost(ctx context.Context, actor int64, code string) (post int64, c Change, err error) {
	return s.removePost(ctx, hiddenPosts, actor, code)
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
			`SELECT count(*) FROM hidden_accounts WHERE account_id = @actor`, maxHiddenAccounts, "hides_many", actor, to.AccountID)
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
			`SELECT count(*) FROM hidden_terms WHERE account_id = @actor`, maxHiddenTerms, "hides_many", actor, term)
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

// hideTx inserts a hide, unless there are too many: then the error is an InvalidError tooMany.
func hideTx[T any](ctx context.Context, tx pgx.Tx, insert, count string, most int64, tooMany string, actor int64, what T) (int64, error) {
	tag, err := tx.Exec(ctx, insert, pgx.StrictNamedArgs{"actor": actor, "what": what})
	if err != nil || tag.RowsAffected() == 0 {
		return 0, err
	}
	var n int64
	if err := tx.QueryRow(ctx, count, pgx.StrictNamedArgs{"actor": actor}).Scan(&n); err != nil {
		return 0, err
	}
	if n > most {
		return 0, &InvalidError{Code: tooMany}
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
	Beginning string // of the text, some 200 characters
	Markup    bool   // the text is read as markup
	HiddenAt  time.Time
}

// Posts returns at most limit of the posts the actor hides and may still read, the last
// hidden first. They were hidden before the given one. Posts uses only its code and its
// HiddenAt; the zero HiddenPost stands for the beginning.
func (s Hides) Posts(ctx context.Context, actor int64, before HiddenPost, limit int) ([]HiddenPost, error) {
	return s.listPosts(ctx, hiddenPosts, actor, before, limit)
}
