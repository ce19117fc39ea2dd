package timelines

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// batch is one transaction of an import: what was gathered, and what is found
// and made on the way. Every step is one statement for the whole batch.
type batch struct {
	im    *Import
	tx    pgx.Tx
	tally Tally
	met   []meeting

	accounts map[string]*importAccount // by ExternalID
	posts    []*importPost             // in the order in which they were met
	byKey    map[string]*importPost
	// commentOf is the post each comment stands under, by key.
	commentOf map[string]string
	// aggregates are the timelines of all languages and of each, by kind and term.
	aggregates map[string]map[string]int64
	// marks are the timelines named in the batch's new texts, by #term and @name.
	marks map[string]int64
	// made are the comments made, by id.
	made map[int64]placedComment
	// closing are the feeds that stood here before and go private.
	closing []int64
	// forget goes into the access log.
	forget []Invalidation
	events []Event
}

// importAccount is an account of the batch.
type importAccount struct {
	ImportedAccount
	ID  int64
	new bool
	// claimed: somebody signs in with it, or administers it. What the source says no
	// longer decides anything.
	claimed bool
	about   string
	level   Level
	// timelines are the fixed ones, by kind.
	timelines map[string]int64
}

// feed is the timeline of the account's own posts.
func (a *importAccount) feed() int64 {
	if a.Kind == Group {
		return a.timelines[kinds.Group]
	}
	return a.timelines[kinds.Feed]
}

// importPost is a post of the batch.
type importPost struct {
	Imported
	ID      int64
	new     bool
	deleted bool
	// The stored values; for a post that was there, the union of both.
	lang     string
	fits     []string // what it may be guessed to be in where lang is not known
	freshAt  int64
	decisive []int64
	left     []int64         // where it stood before: nothing brings it back there
	entries  map[int64]int64 // timeline -> entered_at, those that are new
	// The missing rows.
	comments []ImportedComment
	likes    []ImportedLike
	talk     []talk
	// readdressed: it was there and comes into further base timelines.
	readdressed bool
	touched     []int64
}

func (p *importPost) gains() bool {
	return p.new || len(p.comments) > 0 || len(p.likes) > 0 || p.readdressed
}

// meeting is something an import met, for its Tally.
type meeting struct {
	kind   string
	id, of int64
	new    bool
}

// Kinds of import_met; all but metLike are also kinds of origins.
const (
	originAccount = "account"
	originPost    = "post"
	originComment = "comment"
	metLike       = "like"
)

func newBatch(im *Import, tx pgx.Tx) *batch {
	return &batch{im: im, tx: tx, accounts: map[string]*importAccount{}, byKey: map[string]*importPost{}, commentOf: map[string]string{}, marks: map[string]int64{}, aggregates: map[string]map[string]int64{}, made: map[int64]placedComment{}}
}

// mention takes an account into the batch, or adds what this mention knows.
func (b *batch) mention(m ImportedAccount) error {
	var err error
	if m.Title, err = importedTitle(m.Title); err != nil {
		return fmt.Errorf("account %s: %w", m.ExternalID, err)
	}
	if m.About, err = cleanAbout(m.About); err != nil {
		return fmt.Errorf("account %s: %w", m.ExternalID, err)
	}
	a, ok := b.accounts[m.ExternalID]
	if !ok {
		b.accounts[m.ExternalID] = &importAccount{ImportedAccount: m, timelines: map[string]int64{}}
		return nil
	}
	if a.Vague && !m.Vague {
		a.Title, a.Vague = m.Title, false
	}
	if m.Kind == Group {
		a.Kind = Group
	}
	a.Private = a.Private || m.Private
	a.About = cmp.Or(a.About, m.About)
	a.Admin = cmp.Or(a.Admin, m.Admin)
	return nil
}

// addPosts takes posts into the batch, several copies of one united.
func (b *batch) addPosts(posts []Imported) error {
	for _, p := range posts {
		if err := checkImported(p.Body, MaxPostRunes); err != nil {
			return fmt.Errorf("post %s: %w", p.ExternalID, err)
		}
		for _, c := range p.Comments {
			if err := checkImported(c.Body, MaxCommentRunes); err != nil {
				return fmt.Errorf("comment %s: %w", c.ExternalID, err)
			}
			if of, ok := b.commentOf[c.ExternalID]; ok && of != p.ExternalID {
				return fmt.Errorf("comment %s: stands under two posts, %s and %s: %w", c.ExternalID, of, p.ExternalID,
					&InvalidError{Field: "comments", Code: "comment_twice"})
			}
			b.commentOf[c.ExternalID] = p.ExternalID
		}
		for m := range mentions(p) {
			if err := b.mention(m); err != nil {
				return err
			}
		}
		have, ok := b.byKey[p.ExternalID]
		if !ok {
			b.byKey[p.ExternalID] = &importPost{Imported: p, entries: map[int64]int64{}}
			b.posts = append(b.posts, b.byKey[p.ExternalID])
			continue
		}
		if have.ToAssumed && !p.ToAssumed {
			have.To, have.Direct, have.ToAssumed = nil, nil, false
		}
		if !p.ToAssumed {
			have.To, have.Direct = slices.Concat(have.To, p.To), slices.Concat(have.Direct, p.Direct)
		}
		have.Comments, have.Likes = slices.Concat(have.Comments, p.Comments), slices.Concat(have.Likes, p.Likes)
	}
	for _, p := range b.posts {
		p.Comments = distinct(p.Comments, func(c ImportedComment) string { return c.ExternalID })
		p.Likes = distinct(p.Likes, func(l ImportedLike) string { return l.Account.ExternalID })
	}
	return nil
}

// mentions yields every account a post names.
func mentions(p Imported) func(yield func(ImportedAccount) bool) {
	return func(yield func(ImportedAccount) bool) {
		all := slices.Concat([]ImportedAccount{p.Author}, p.To, p.Direct)
		for _, c := range p.Comments {
			all = append(all, c.Author)
		}
		for _, l := range p.Likes {
			all = append(all, l.Account)
		}
		for _, a := range all {
			if !yield(a) {
				return
			}
		}
	}
}

// distinct returns the first of each key, in their order.
func distinct[T any](list []T, key func(T) string) []T {
	seen := make(map[string]bool, len(list))
	var out []T
	for _, x := range list {
		if k := key(x); !seen[k] {
			seen[k] = true
			out = append(out, x)
		}
	}
	return out
}

// store writes the batch. The order of the locks is the package's: accounts, then
// timelines, then posts, each by id, then what hangs on them, then subscriptions,
// then the clock.
func (b *batch) store(ctx context.Context) (Change, error) {
	var c Change
	for _, step := range []func(context.Context) error{
		b.findAccounts, b.makeAccounts, b.findTimelines, b.narrow,
		b.findPosts, b.holdLevels, b.lockPosts, b.findGains,
		b.findMarks, b.replay, b.makePosts, b.gain, b.makeTalk, b.markTexts, b.rank, b.place, b.admit,
		b.count,
	} {
		if err := step(ctx); err != nil {
			return Change{}, err
		}
	}
	for _, p := range b.posts {
		if p.gains() {
			b.events = append(b.events, Touched{PostID: p.ID, Timelines: union(p.touched, nil)})
		}
	}
	if err := b.im.store.announceTx(ctx, b.tx, b.events...); err != nil {
		return Change{}, err
	}
	for _, e := range b.events {
		if r, ok := e.(Replace); ok {
			c.Replace = append(c.Replace, r)
		}
	}
	if len(b.forget) == 0 {
		return c, nil
	}
	var err error
	c.Clock, err = tickTx(ctx, b.tx, b.forget...)
	return c, err
}

// count enters what was met and tallies what had not been met before.
func (b *batch) count(ctx context.Context) error {
	var kinds []string
	var ids, ofs []int64
	var fresh []bool
	for _, m := range b.met {
		kinds, ids, ofs, fresh = append(kinds, m.kind), append(ids, m.id), append(ofs, m.of), append(fresh, m.new)
	}
	const query = `
		WITH met AS (
			INSERT INTO import_met (kind, their_id, of_id, fresh)
			SELECT DISTINCT ON (1, 2, 3) * FROM unnest(@kinds::text[], @ids::bigint[], @ofs::bigint[], @fresh::boolean[])
			ON CONFLICT DO NOTHING
			RETURNING kind, fresh
		)
		SELECT kind, fresh, count(*) FROM met GROUP BY kind, fresh`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"kinds": kinds, "ids": ids, "ofs": ofs, "fresh": fresh})
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	var kind string
	var made bool
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&kind, &made, &n}, func() error {
		to := &b.tally.There
		if made {
			to = &b.tally.New
		}
		switch kind {
		case User:
			to.Accounts = n
		case Group:
			to.Groups = n
		case originPost:
			to.Posts = n
		case originComment:
			to.Comments = n
		case metLike:
			to.Likes = n
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	return nil
}

// draw takes n new ids of a table.
func (b *batch) draw(ctx context.Context, table string, n int) ([]int64, error) {
	rows, err := b.tx.Query(ctx, `SELECT nextval(pg_get_serial_sequence(@table, 'id')) FROM generate_series(1, @n)`,
		pgx.StrictNamedArgs{"table": table, "n": n})
	if err != nil {
		return nil, fmt.Errorf("draw ids of %s: %w", table, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("draw ids of %s: %w", table, err)
	}
	slices.Sort(ids)
	return ids, nil
}

// remember writes down where what was made came from.
func (b *batch) remember(ctx context.Context, kind string, ids []int64, keys, titles []string) error {
	if len(ids) == 0 {
		return nil
	}
	const query = `
		INSERT INTO origins (their_id, source, kind, external_id, title)
		SELECT o.id, @source, @kind, o.key, o.title
		FROM unnest(@ids::bigint[], @keys::text[], @titles::text[]) AS o (id, key, title)`
	_, err := b.tx.Exec(ctx, query, pgx.StrictNamedArgs{
		"source": b.im.source, "kind": kind, "ids": ids, "keys": keys, "titles": titles,
	})
	if err != nil {
		return fmt.Errorf("remember %s: %w", kind, err)
	}
	return nil
}

// sortedAccounts are the accounts in the order of their keys, so that names are
// given out the same way every time.
func (b *batch) sortedAccounts() []*importAccount {
	list := slices.Collect(maps.Values(b.accounts))
	slices.SortFunc(list, func(x, y *importAccount) int { return cmp.Compare(x.ExternalID, y.ExternalID) })
	return list
}
