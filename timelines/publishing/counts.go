package publishing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Status is what has become of a post.
type Status int16

// The statuses. A deleted post has none of them: its column has 5.
const (
	Published Status = iota
	// Waiting for somebody's approval.
	Waiting
	// Blocked by moderators: only its author sees it.
	Blocked
	// Expired: a listing whose time is over.
	Expired
	// Closed: a listing of a thing that is sold or given away.
	Closed
)

// Statuses are all of them.
var Statuses = []Status{Published, Waiting, Blocked, Expired, Closed}

// Total is something that only grows, whatever becomes of the posts.
type Total string

// The totals. Earned is in the smallest unit of a currency.
const (
	PublishedEver Total = "published"
	ClosedEver    Total = "closed"
	Earned        Total = "earned"
)

// counter is a row of author_counters.
type counter struct {
	author   int64
	status   Status
	imported bool
}

// total is what an author has of a total.
type total struct {
	author   int64
	name     Total
	currency string
}

// Counts are changes of counters and totals that one transaction makes. The zero value has none.
type Counts struct {
	posts  map[counter]int64
	totals map[total]int64
}

// Add counts n more posts of an author, or fewer if n is negative.
func (c *Counts) Add(author int64, status Status, imported bool, n int64) {
	if c.posts == nil {
		c.posts = map[counter]int64{}
	}
	c.posts[counter{author, status, imported}] += n
}

// Publish counts n new posts of an author.
func (c *Counts) Publish(author int64, imported bool, n int64) {
	c.Add(author, Published, imported, n)
	c.Grow(author, PublishedEver, "", n)
}

// Grow adds to a total. The currency is that of Earned, and empty for the others.
func (c *Counts) Grow(author int64, name Total, currency string, by int64) {
	if c.totals == nil {
		c.totals = map[total]int64{}
	}
	c.totals[total{author, name, currency}] += by
}

// Deleted counts posts that a statement deleted: rows of author, status and origin. It is for a queue of
// statements (pgx.QueuedQuery.Query).
func (c *Counts) Deleted(rows pgx.Rows) error {
	var k counter
	_, err := pgx.ForEachRow(rows, []any{&k.author, &k.status, &k.imported}, func() error {
		c.Add(k.author, k.status, k.imported, -1)
		return nil
	})
	return err
}

// CountTx is ApplyTx of what count adds.
func CountTx(ctx context.Context, tx pgx.Tx, count func(*Counts)) error {
	var c Counts
	count(&c)
	return c.ApplyTx(ctx, tx)
}

// ApplyTx changes the counters and totals, in one statement. It comes last in its transaction, but for
// the access clock. The locks are taken in the order of the keys.
func (c *Counts) ApplyTx(ctx context.Context, tx pgx.Tx) error {
	maps.DeleteFunc(c.posts, func(_ counter, n int64) bool { return n == 0 })
	maps.DeleteFunc(c.totals, func(_ total, n int64) bool { return n == 0 })
	if len(c.posts)+len(c.totals) == 0 {
		return nil
	}
	var authors, changes, growers, growths []int64
	var statuses, slots []int16
	var imported []bool
	var names, currencies []string
	for _, k := range slices.SortedFunc(maps.Keys(c.posts), compareCounters) {
		authors, statuses, imported, changes = append(authors, k.author), append(statuses, int16(k.status)), append(imported, k.imported), append(changes, c.posts[k])
	}
	for _, k := range slices.SortedFunc(maps.Keys(c.totals), compareTotals) {
		growers, names, currencies = append(growers, k.author), append(names, string(k.name)), append(currencies, k.currency)
		slots, growths = append(slots, int16(rand.N(10))), append(growths, c.totals[k])
	}
	const apply = `
		WITH counted AS (
			INSERT INTO author_counters AS a (author_id, status, imported, posts)
			SELECT * FROM unnest(@authors::bigint[], @statuses::smallint[], @imported::boolean[], @changes::bigint[])
			ON CONFLICT (author_id, status, imported) DO UPDATE SET posts = a.posts + EXCLUDED.posts
		)
		INSERT INTO author_totals AS a (author_id, total, currency, slot, value)
		SELECT * FROM unnest(@growers::bigint[], @names::text[], @currencies::text[], @slots::smallint[], @growths::bigint[])
		ON CONFLICT (author_id, total, currency, slot) DO UPDATE SET value = a.value + EXCLUDED.value`
	_, err := tx.Exec(ctx, apply, pgx.StrictNamedArgs{
		"authors": authors, "statuses": statuses, "imported": imported, "changes": changes,
		"growers": growers, "names": names, "currencies": currencies, "slots": slots, "growths": growths,
	})
	if err != nil {
		return fmt.Errorf("count posts of authors: %w", err)
	}
	*c = Counts{}
	return nil
}

func compareCounters(a, b counter) int {
	return cmp.Or(cmp.Compare(a.author, b.author), cmp.Compare(a.status, b.status), cmp.Compare(number(a.imported), number(b.imported)))
}

func compareTotals(a, b total) int {
	return cmp.Or(cmp.Compare(a.author, b.author), cmp.Compare(a.name, b.name), cmp.Compare(a.currency, b.currency))
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// HoldTx makes a locked post wait, or blocks it, and counts what that changes. The caller applies the counts at the end
// of its transaction.
func (c *Counts) HoldTx(ctx context.Context, tx pgx.Tx, post int64, to Status) error {
	const hold = `
		UPDATE posts p SET status = @to
		FROM posts was
		WHERE p.id = @post AND was.id = p.id AND p.deleted_at IS NULL AND p.status <> @to
		RETURNING p.author_id, p.imported, was.status, p.status`
	return c.changeTx(ctx, tx, hold, pgx.StrictNamedArgs{"post": post, "to": int16(to)})
}

// LetOutTx gives a locked post that HoldTx held the status that it has by itself, and counts as HoldTx does.
func (c *Counts) LetOutTx(ctx context.Context, tx pgx.Tx, post int64) error {
	const letOut = `
		UPDATE posts p SET status = CASE (SELECT l.state FROM listings l WHERE l.post_id = p.id) WHEN 'expired' THEN 3 WHEN 'closed' THEN 4 ELSE 0 END
		FROM posts was
		WHERE p.id = @post AND was.id = p.id AND p.status IN (1, 2)
		RETURNING p.author_id, p.imported, was.status, p.status`
	return c.changeTx(ctx, tx, letOut, pgx.StrictNamedArgs{"post": post})
}

// changeTx counts what a statement changes: it returns the author, the origin, and the status before and after.
func (c *Counts) changeTx(ctx context.Context, tx pgx.Tx, query string, args pgx.StrictNamedArgs) error {
	rows, err := tx.Query(ctx, query, args)
	if err == nil {
		var author int64
		var imported bool
		var was, is Status
		_, err = pgx.ForEachRow(rows, []any{&author, &imported, &was, &is}, func() error {
			c.Add(author, was, imported, -1)
			c.Add(author, is, imported, 1)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("change status of posts: %w", err)
	}
	return nil
}

// MoveTx gives locked posts that are published or expired another status, and counts what that changes. Other posts stay
// as they are, and so do those that have it already: a closed one for ever, and one that is held until HoldTx and LetOutTx change it. The caller applies the counts at the end of its transaction.
func (c *Counts) MoveTx(ctx context.Context, tx pgx.Tx, posts []int64, to Status) error {
	// RETURNING has the new row: the former status comes from a join.
	const move = `
		UPDATE posts p SET status = @to
		FROM posts was
		WHERE p.id = ANY(@posts) AND was.id = p.id AND p.deleted_at IS NULL AND p.status IN (0, 3) AND p.status <> @to
		RETURNING p.author_id, p.imported, was.status, p.status`
	return c.changeTx(ctx, tx, move, pgx.StrictNamedArgs{"posts": posts, "to": int16(to)})
}
