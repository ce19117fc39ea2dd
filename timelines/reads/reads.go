package reads

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Home stands for the home page in place of a post: its mark says when the page was last
// looked at.
const Home int64 = 0

// Mark says that an account was shown the comments of a post up to an instant, in
// microseconds.
type Mark struct {
	Account int64 `json:"a"`
	Post    int64 `json:"p"`
	Seen    int64 `json:"s"`
}

// maxMarks is how many marks of a person a node remembers, the latest.
const maxMarks = 3000

// load reads the latest marks of these accounts, in one statement.
func load(ctx context.Context, pool *pgxpool.Pool, accounts []int64) (map[int64]map[int64]int64, error) {
	const query = `
		SELECT a.id AS account, r.post_id AS post, r.seen
		FROM unnest(@accounts::bigint[]) a (id)
		CROSS JOIN LATERAL (SELECT post_id, seen FROM reads WHERE account_id = a.id ORDER BY read_at DESC LIMIT @most) r
		UNION ALL
		SELECT account_id, 0, seen FROM home_visits WHERE account_id = ANY(@accounts)`
	rows, err := pool.Query(ctx, query, pgx.StrictNamedArgs{"accounts": accounts, "most": maxMarks})
	if err != nil {
		return nil, fmt.Errorf("load read marks: %w", err)
	}
	found := make(map[int64]map[int64]int64, len(accounts))
	for _, id := range accounts {
		found[id] = map[int64]int64{}
	}
	var m Mark
	_, err = pgx.ForEachRow(rows, []any{&m.Account, &m.Post, &m.Seen}, func() error {
		found[m.Account][m.Post] = m.Seen
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load read marks: %w", err)
	}
	return found, nil
}

// write stores marks, those of posts in one statement and those of home pages in another, in
// the order of keys. A mark never goes back.
// Accounts that are gone are left out, as they would keep all others from being written.
func write(ctx context.Context, pool *pgxpool.Pool, marks []Mark) error {
	accounts, posts, seen := make([]int64, len(marks)), make([]int64, len(marks)), make([]int64, len(marks))
	for i, m := range marks {
		accounts[i], posts[i], seen[i] = m.Account, m.Post, m.Seen
	}
	const posted = `
		INSERT INTO reads (account_id, post_id, seen, read_at)
		SELECT m.account, m.post, m.seen, clock_timestamp()
		FROM unnest(@accounts::bigint[], @posts::bigint[], @seen::bigint[]) m (account, post, seen)
		JOIN accounts a ON a.id = m.account JOIN posts p ON p.id = m.post
		ORDER BY m.account, m.post
		ON CONFLICT (account_id, post_id) DO UPDATE
			SET seen = greatest(reads.seen, excluded.seen), read_at = excluded.read_at`
	const visited = `
		INSERT INTO home_visits (account_id, seen)
		SELECT m.account, m.seen
		FROM unnest(@accounts::bigint[], @posts::bigint[], @seen::bigint[]) m (account, post, seen)
		JOIN accounts a ON a.id = m.account
		WHERE m.post = @home
		ORDER BY m.account
		ON CONFLICT (account_id) DO UPDATE SET seen = greatest(home_visits.seen, excluded.seen)`
	var batch pgx.Batch
	batch.Queue(posted, pgx.StrictNamedArgs{"accounts": accounts, "posts": posts, "seen": seen})
	batch.Queue(visited, pgx.StrictNamedArgs{"accounts": accounts, "posts": posts, "seen": seen, "home": Home})
	if err := pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("write read marks: %w", err)
	}
	return nil
}

// sorted returns marks in the order in which they are written.
func sorted(pending map[key]int64) []Mark {
	marks := make([]Mark, 0, len(pending))
	for k, seen := range pending {
		marks = append(marks, Mark{k.account, k.post, seen})
	}
	slices.SortFunc(marks, func(a, b Mark) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Post, b.Post))
	})
	return marks
}
