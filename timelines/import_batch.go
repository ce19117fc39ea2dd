package timelines

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/publishing"
	"riverrun/timelines/rules"
)

// batch is one transaction of an import: what it stores, and what it finds and creates on
// the way. Each step is one statement for the whole batch.
type batch struct {
	core *core
	// source names where the keys are from, for origins.
	source string
	tx     pgx.Tx
	tally  Tally
	met    []meeting
	// first are the first ids of the import that the batch is of, and known are timelines that it
	// knows already.
	first firstIDs
	known knownTimelines

	accounts map[string]*importAccount // by ExternalID
	left     map[string]bool           // by ExternalID, those who were deleted here
	posts    []*importPost             // in the order in which they were met
	byKey    map[string]*importPost
	// commentOf maps the key of a comment to the key of its post.
	commentOf  map[string]string
	aggregates aggregates
	// marks maps each #term and @name of the batch's new texts to its timeline.
	marks map[string]int64
	// made are the new comments that name something, by id.
	made map[int64]importComment
	// lexing is set where what the new texts are found by comes from elsewhere than their trigger.
	lexing *lexing
	// goingPrivate are feeds that were here before and go private.
	goingPrivate []int64
	// invalidations go into the access log.
	invalidations []Invalidation
	events        []Event
}

// aggregates are the aggregates' timelines, by kind and term: of all languages and of each.
type aggregates map[string]map[string]int64

// knownTimelines are what an import has read of accounts' fixed timelines, by account and kind,
// and the aggregates. No timeline of these ever becomes another's.
type knownTimelines struct {
	accounts   map[int64]map[string]int64
	aggregates aggregates
}

// keep adds those of a batch that is committed.
func (k *knownTimelines) keep(b *batch) {
	for _, a := range b.accounts {
		k.accounts[a.ID] = a.timelines
	}
	k.aggregates = b.aggregates
}

// importAccount is an account of the batch.
type importAccount struct {
	ImportedAccount
	ID  int64
	new bool
	// claimed says that somebody signs in with it, or administers it. Then the source no
	// longer changes it.
	claimed bool
	about   string
	level   Level
	// timelines are its fixed timelines, by kind.
	timelines map[string]int64
}

// feed returns the timeline of the account's own posts.
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
	held    bool // it waits or is blocked
	// markup says that the text has markup.
	markup bool
	// open says that it is for more than the people named.
	open bool
	// The values to store. For a post that was there they are those of both.
	lang     string
	place    string
	liftedAt int64    // if it comes to the top although its date is older
	fits     []string // the languages it can be in, if lang is not known
	freshAt  int64
	decisive []int64
	left     []int64         // the places it was taken out of, which it does not enter again
	entries  map[int64]int64 // the new ones: timeline -> entered_at
	// marks are those of its text, if it is new.
	marks *textMarks
	// The rows that are missing.
	comments []importComment
	likes    []*ImportedLike
	activity []activity
	// rerouted says that it was there and enters more base timelines.
	rerouted bool
	touched  []int64
}

// importComment is a new comment of a post.
type importComment struct {
	*ImportedComment
	post  *importPost
	marks *textMarks
}

func (p *importPost) gains() bool {
	return p.new || len(p.comments) > 0 || len(p.likes) > 0 || p.rerouted
}

// meeting is something that an import met, for its Tally.
type meeting struct {
	kind   string
	id, of int64
	new    bool
}

// Kinds of import_met. All but metLike are also kinds of origins.
const (
	originAccount = "account"
	originPost    = "post"
	originComment = "comment"
	metLike       = "like"
)

func newBatch(c *core, source string, tx pgx.Tx) *batch {
	return &batch{core: c, source: source, tx: tx, accounts: map[string]*importAccount{}, left: map[string]bool{}, byKey: map[string]*importPost{}, commentOf: map[string]string{}, marks: map[string]int64{}, made: map[int64]importComment{}}
}

// mention adds an account to the batch, or adds to it what this mention says.
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
		b.accounts[m.ExternalID] = &importAccount{ImportedAccount: m}
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

// addPosts adds posts to the batch, and merges several copies of one.
func (b *batch) addPosts(posts []Imported) error {
	for _, p := range posts {
		if err := checkImported(p.Body, rules.PostLong); err != nil {
			return fmt.Errorf("post %s: %w", p.ExternalID, err)
		}
		for _, c := range p.Comments {
			if err := checkImported(c.Body, rules.CommentLong); err != nil {
				return fmt.Errorf("comment %s: %w", c.ExternalID, err)
			}
			if of, ok := b.commentOf[c.ExternalID]; ok && of != p.ExternalID {
				return fmt.Errorf("comment %s: belongs to two posts, %s and %s: %w", c.ExternalID, of, p.ExternalID,
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
		p.Comments = distinct(p.Comments, func(c *ImportedComment) string { return c.ExternalID })
		p.Likes = distinct(p.Likes, func(l *ImportedLike) string { return l.Account.ExternalID })
	}
	return nil
}

// mentions yields each account that a post mentions.
func mentions(p Imported) func(yield func(ImportedAccount) bool) {
	return func(yield func(ImportedAccount) bool) {
		if !yield(p.Author) {
			return
		}
		for _, list := range [][]ImportedAccount{p.To, p.Direct} {
			for _, a := range list {
				if !yield(a) {
					return
				}
			}
		}
		for i := range p.Comments {
			if !yield(p.Comments[i].Author) {
				return
			}
		}
		for i := range p.Likes {
			if !yield(p.Likes[i].Account) {
				return
			}
		}
	}
}

// distinct returns the first element of each key, in their order: the list itself if there is one of
// each.
func distinct[T any](list []T, key func(*T) string) []T {
	seen := make(map[string]bool, len(list))
	for i := range list {
		seen[key(&list[i])] = true
	}
	if len(seen) == len(list) {
		return list
	}
	clear(seen)
	var out []T
	for i := range list {
		if k := key(&list[i]); !seen[k] {
			seen[k] = true
			out = append(out, list[i])
		}
	}
	return out
}

// store writes the batch. It locks in the order of the package: accounts, timelines, posts,
// each by id, then the rows that belong to them, then subscriptions, then the clock.
func (b *batch) store(ctx context.Context) (Change, error) {
	var c Change
	for _, step := range []func(context.Context) error{
		b.findAccounts, b.makeAccounts, b.findTimelines, b.makePrivate,
		b.findPosts, b.lockLevels, b.lockPosts, b.findMissing,
		b.findMarks, b.replay, b.makePosts, b.rememberPosts, b.updatePosts, b.makeActivity, b.markTexts, b.enterRanked, b.writeEntries, b.addMembers,
		b.count, b.countPosts,
	} {
		if err := step(ctx); err != nil {
			return Change{}, err
		}
	}
	var touched TouchedBatch
	for _, p := range b.posts {
		if p.gains() {
			touched = append(touched, Touched{PostID: p.ID, Timelines: union(p.touched, nil)})
		}
	}
	if len(touched) > 0 {
		b.events = append(b.events, touched)
	}
	if err := b.core.announceTx(ctx, b.tx, b.events...); err != nil {
		return Change{}, err
	}
	for _, e := range b.events {
		if r, ok := e.(Replace); ok {
			c.Replace = append(c.Replace, r)
		}
	}
	if len(b.invalidations) == 0 {
		return c, nil
	}
	var err error
	c.Clock, err = tickTx(ctx, b.tx, b.invalidations...)
	return c, err
}

// countPosts counts the new posts for their authors.
func (b *batch) countPosts(ctx context.Context) error {
	var counts publishing.Counts
	for _, p := range b.posts {
		if p.new {
			counts.Publish(b.accounts[p.Author.ExternalID].ID, true, 1)
		}
	}
	return counts.ApplyTx(ctx, b.tx)
}

// count tallies what was made, and what was met that had been there before the import began.
func (b *batch) count(ctx context.Context) error {
	var kinds []string
	var ids, ofs []int64
	var fresh []bool
	for _, m := range b.met {
		if m.new {
			*b.tally.New.of(m.kind)++
		}
		if b.first.since(m) {
			continue
		}
		kinds, ids, ofs, fresh = append(kinds, m.kind), append(ids, m.id), append(ofs, m.of), append(fresh, m.new)
	}
	if len(ids) == 0 {
		return nil
	}
	const query = `
		WITH met AS (
			INSERT INTO import_met (kind, their_id, of_id, fresh)
			SELECT DISTINCT ON (1, 2, 3) * FROM unnest(@kinds::text[], @ids::bigint[], @ofs::bigint[], @fresh::boolean[])
			ON CONFLICT DO NOTHING
			RETURNING kind, fresh
		)
		SELECT kind, count(*) FROM met WHERE NOT fresh GROUP BY kind`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"kinds": kinds, "ids": ids, "ofs": ofs, "fresh": fresh})
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	var kind string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&kind, &n}, func() error {
		*b.tally.There.of(kind) += n
		return nil
	})
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	return nil
}

// of returns the number of things of a kind of import_met.
func (c *Count) of(kind string) *int64 {
	switch kind {
	case User:
		return &c.Accounts
	case Group:
		return &c.Groups
	case originPost:
		return &c.Posts
	case originComment:
		return &c.Comments
	}
	return &c.Likes
}

// firstIDs are the least ids that an import can have made, by the kinds of import_met.
type firstIDs map[string]int64

// since reports whether all that is known of the thing came with this import, so that meeting it
// again tells nothing. A like is known by its post. Most of what an import meets is such, and need
// not be remembered.
func (f firstIDs) since(m meeting) bool {
	kind := m.kind
	if kind == metLike {
		kind = originPost
	}
	return m.id >= f[kind]
}

// draw reserves n new ids of a table.
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

// recall returns the ids of the keys that are recorded. It finds each key by itself: the planner,
// which may know nothing yet of a table that an import is filling, would read all that stands there
// for each batch.
func (b *batch) recall(ctx context.Context, kind string, keys []string) (map[string]int64, error) {
	const query = `
		SELECT k.key, o.their_id FROM unnest(@keys::text[]) k (key)
		CROSS JOIN LATERAL (
			SELECT their_id FROM origins
			WHERE source = @source AND kind = @kind AND external_id = k.key OFFSET 0) o`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"source": b.source, "kind": kind, "keys": keys})
	return collectOrigins(rows, err)
}

// remember records the keys at the source of new rows.
func (b *batch) remember(ctx context.Context, kind string, ids []int64, keys, titles []string) error {
	if len(ids) == 0 {
		return nil
	}
	return b.copyRows(ctx, "origins", []string{"their_id", "source", "kind", "external_id", "title"}, len(ids), func(i int, row []any) {
		row[0], row[1], row[2], row[3], row[4] = ids[i], b.source, kind, keys[i], titles[i]
	})
}

// copyRows inserts n new rows into a table, in half the time of an INSERT. It fails if one is
// there already. fill fills a row.
func (b *batch) copyRows(ctx context.Context, table string, columns []string, n int, fill func(i int, row []any)) error {
	row := make([]any, len(columns))
	_, err := b.tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(n, func(i int) ([]any, error) {
		fill(i, row)
		return row, nil
	}))
	if err != nil {
		return fmt.Errorf("copy %s: %w", table, err)
	}
	return nil
}

// sortedAccounts returns the accounts in the order of their keys, so that each run gives
// them the same names.
func (b *batch) sortedAccounts() []*importAccount {
	list := slices.Collect(maps.Values(b.accounts))
	slices.SortFunc(list, func(x, y *importAccount) int { return cmp.Compare(x.ExternalID, y.ExternalID) })
	return list
}
