package dictionary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
	"riverrun/timelines/marks"
)

// Store keeps dictionaries. It is safe for concurrent use.
type Store struct{ pool *pgxpool.Pool }

// Open returns the dictionaries of a primary store.
func Open(posts *timelines.Store) *Store { return &Store{posts.Pool()} }

// Querier is a connection or a transaction.
type Querier interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}

// Of returns the dictionary of an owner; it may be empty.
func Of(ctx context.Context, q Querier, owner int64) ([]Entry, error) {
	rows, err := q.Query(ctx, `SELECT tag, word FROM dictionary_words WHERE owner_id = @owner ORDER BY no`, pgx.StrictNamedArgs{"owner": owner})
	if err == nil {
		var entries []Entry
		if entries, err = collect(rows); err == nil {
			return entries, nil
		}
	}
	return nil, fmt.Errorf("read a dictionary: %w", err)
}

// collect reads rows with a tag and a word. The words of a tag stand together, with its name among
// them.
func collect(rows pgx.Rows) ([]Entry, error) {
	var entries []Entry
	var tag, word string
	_, err := pgx.ForEachRow(rows, []any{&tag, &word}, func() error {
		if len(entries) == 0 || entries[len(entries)-1].Tag != tag {
			entries = append(entries, Entry{Tag: tag})
		}
		if e := &entries[len(entries)-1]; word != nameOf(tag) {
			e.Words = append(e.Words, word)
		}
		return nil
	})
	return entries, err
}

// Read returns the dictionary of an owner by name: the actor, or a group that the actor administers.
// It returns timelines.ErrNotFound and timelines.ErrForbidden.
func (s *Store) Read(ctx context.Context, actor int64, owner string) (entries []Entry, err error) {
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		id, err := ownerTx(ctx, tx, actor, owner, "")
		if err == nil {
			entries, err = Of(ctx, tx, id)
		}
		return err
	})
	return entries, err
}

// Write replaces the dictionary of an owner. entries are as Parse returned them. All items of the
// owner's sources may get other tags, so each source has a new version, and a file that it has loaded
// is loaded again. Write returns the errors of Read.
func (s *Store) Write(ctx context.Context, actor int64, owner string, entries []Entry) error {
	var nos []int
	var tags, words, firsts []string
	for _, e := range entries {
		for _, word := range append([]string{nameOf(e.Tag)}, e.Words...) {
			nos, tags, words = append(nos, len(nos)+1), append(tags, e.Tag), append(words, word)
			firsts = append(firsts, parts(word)[0])
		}
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		id, err := ownerTx(ctx, tx, actor, owner, "FOR NO KEY UPDATE OF a")
		if err != nil {
			return err
		}
		before, err := Of(ctx, tx, id)
		if err != nil {
			return err
		}
		if Format(before) == Format(entries) {
			return nil
		}
		var all pgx.Batch
		args := pgx.StrictNamedArgs{"owner": id}
		all.Queue(`DELETE FROM dictionary_words WHERE owner_id = @owner`, args)
		all.Queue(`
			INSERT INTO dictionary_words (owner_id, no, tag, word, first)
			SELECT @owner, * FROM unnest(@nos::integer[], @tags::text[], @words::text[], @firsts::text[])`,
			pgx.StrictNamedArgs{"owner": id, "nos": nos, "tags": tags, "words": words, "firsts": firsts})
		all.Queue(`UPDATE sources SET version = version + 1, content = NULL WHERE owner_id = @owner AND status <> 'removing'`, args)
		if err := tx.SendBatch(ctx, &all).Close(); err != nil {
			return fmt.Errorf("write a dictionary: %w", err)
		}
		return nil
	})
}

// ownerTx finds the account with that name, and checks that it is the actor, or a group that the
// actor administers.
func ownerTx(ctx context.Context, tx pgx.Tx, actor int64, name, lock string) (id int64, err error) {
	query := `
		SELECT a.id, a.id = @actor OR EXISTS (SELECT FROM group_admins g WHERE g.group_id = a.id AND g.account_id = @actor)
		FROM accounts a WHERE a.name = @name ` + lock
	var leads bool
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"actor": actor, "name": name}).Scan(&id, &leads)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, timelines.ErrNotFound
	case err != nil:
		return 0, fmt.Errorf("find the owner of a dictionary: %w", err)
	case !leads:
		return 0, timelines.ErrForbidden
	}
	return id, nil
}

// The bounds of Propose.
const (
	mostProposed = 8
	proposeRunes = 20_000 // so much of the text is looked at
	proposeParts = 5000   // different parts that are looked at
)

// Propose returns tags for a text that somebody writes to places, which are named as in
// timelines.NewPost.To. No place stands for the writer's own feed. The tags come from the
// dictionaries of the writer, and of those groups among the places that the writer is a member of,
// unless a group was deleted.
// Tags that are in the text already are left out.
func (s *Store) Propose(ctx context.Context, writer int64, to []string, text string) ([]string, error) {
	if runes := []rune(text); len(runes) > proposeRunes {
		text = string(runes[:proposeRunes])
	}
	seen := map[string]bool{}
	firsts, names := []string{}, []string{} // an empty list, not NULL
	for _, p := range parts(text) {
		if !seen[p] && len(firsts) < proposeParts {
			seen[p] = true
			firsts = append(firsts, p)
		}
	}
	for _, name := range to {
		name, _, _ = strings.Cut(name, "/")
		names = append(names, name)
	}
	// Only words whose first part stands in the text are read.
	const query = `
		WITH owners AS MATERIALIZED (
			SELECT @writer::bigint AS id WHERE cardinality(@names::text[]) = 0
			UNION ALL
			SELECT a.id FROM accounts a
			WHERE a.name = ANY(@names::text[]) AND (a.id = @writer OR (
				EXISTS (SELECT FROM subscriptions s WHERE s.subscriber_id = @writer AND s.account_id = a.id AND a.kind = 'group')
					OR EXISTS (SELECT FROM group_admins g WHERE g.group_id = a.id AND g.account_id = @writer)
			) AND NOT EXISTS (SELECT FROM unseen_accounts u WHERE u.account_id = a.id))
		)
		SELECT w.tag, w.word FROM owners o JOIN dictionary_words w ON w.owner_id = o.id
			JOIN unnest(@firsts::text[]) f (first) ON f.first = w.first
		ORDER BY w.owner_id, w.no LIMIT @most`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"writer": writer, "names": names, "firsts": firsts, "most": Most})
	var entries []Entry
	if err == nil {
		entries, err = collect(rows)
	}
	if err != nil {
		return nil, fmt.Errorf("propose tags: %w", err)
	}
	has := marks.Tags(text)
	tags := slices.DeleteFunc(New(entries).Tags(text), func(tag string) bool { return slices.Contains(has, tag) })
	return tags[:min(len(tags), mostProposed)], nil
}
