package timelines

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/snapshot"
)

// maxAccountsMet is how many of the accounts that a query finds are read to choose the
// best: very many names begin with the same letter.
const maxAccountsMet = 1000

// Find returns at most limit of the accounts of a kind (User, Group, or empty for both) that
// a query of words alone finds: each of its words begins a word of their name or title. An account of exactly
// that name comes first, then names that begin so, then the others, by name. A query that
// asks for anything else finds none, without a statement.
//
// Everybody finds all of them. As in the directories, the names of accounts are no
// secret, at whatever level they are.
func (s Accounts) Find(ctx context.Context, kind string, q snapshot.Query, limit int) ([]Account, error) {
	words := q.AccountWords()
	if len(words) == 0 {
		return nil, nil
	}
	name := ""
	if texts := q.Texts(); len(texts) == 1 {
		name = texts[0]
	}
	prefixes := make([]string, len(words))
	for i, word := range words {
		prefixes[i] = "'" + word + "':*"
	}
	query := `
		WITH met AS (
			SELECT id FROM accounts WHERE name = @name
			UNION
			(SELECT id FROM accounts WHERE account_lexemes(name, title) @@ @prefixes::text::tsquery LIMIT @met)
		), best AS (
			SELECT a.id, row_number() OVER (ORDER BY a.name = @name DESC, starts_with(a.name, @name) DESC, a.name) AS place
			FROM met JOIN accounts a USING (id)
			WHERE (@kind = '' OR a.kind = @kind) AND ` + seen + `
			ORDER BY place LIMIT @limit
		)
		SELECT ` + accountColumns + ` FROM best JOIN (` + accountTables + `) ON a.id = best.id ORDER BY best.place`
	return someAccounts(s.pool.Query(ctx, query, pgx.StrictNamedArgs{
		"name": name, "prefixes": strings.Join(prefixes, "&"), "met": maxAccountsMet, "kind": kind, "limit": limit,
	}))
}
