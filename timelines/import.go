package timelines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Imported is a post from elsewhere with its comments, likes and attachments.
type Imported struct {
	// ExternalID is its key at the source, by which a later import finds it.
	ExternalID string
	URL        string
	Body       string
	CreatedAt  time.Time
	Author     ImportedAccount
	// To are the feeds and groups it was put into, Direct the people it was sent to.
	To, Direct []ImportedAccount
	// ToAssumed: the source did not say where; To is a guess, used for a new post only.
	ToAssumed   bool
	Via, ViaURL string
	Attachments []ImportedAttachment
	Comments    []ImportedComment
	Likes       []ImportedLike
}

// ImportedAccount is a person or a group as the source mentions it. Of several
// mentions, a private one, one as a group and one that is not Vague win.
type ImportedAccount struct {
	ExternalID string
	Kind       string // User or Group
	// Name is the name it would have here; it gets another if that is taken or
	// reserved.
	Name  string
	Title string
	// Vague: Title is a guess.
	Vague bool
	About string
	// Private: its feed is to be private. It never opens one that is.
	Private bool
	// Admin is the ExternalID of the user who administers a group that is new; the
	// user must be mentioned too. Empty: nobody does.
	Admin string
}

// ImportedAttachment is a link to a file that stands elsewhere.
type ImportedAttachment struct {
	URL, Title string
	Bytes      int64
}

// ImportedComment is a comment; ExternalID is unique in the whole source.
type ImportedComment struct {
	ExternalID string
	Body       string
	CreatedAt  time.Time
	Author     ImportedAccount
	Via        string
}

// ImportedLike is a like.
type ImportedLike struct {
	CreatedAt time.Time
	Account   ImportedAccount
}

// ErrImporting: another import from the same source is under way.
var ErrImporting = errors.New("another import from the same source is under way")

// Import brings in posts from elsewhere, batch by batch. Each stands where it would stand
// if it had been written here at its own time: the dates are the source's, the bump rule is
// replayed over them, and nothing moves to the present. Posts imported before are found by
// their keys and stay as they are, with their edits, deletions and withdrawn likes; a known
// post gains the comments and likes that it did not have.
//
// Accounts made by it have no password, and no subscriptions, except that the author of a
// post in a private group is a member of it.
//
// One import at a time may run per source. It keeps a connection of the pool
// until Close, and is not safe for concurrent use.
type Import struct {
	store  *core
	source string
	conn   *pgxpool.Conn
	tally  Tally
	// unsure are the posts without a language, with the languages they can be in.
	unsure map[int64][]string
}

// Count is how many different accounts, posts and so on an import met.
type Count struct{ Accounts, Groups, Posts, Comments, Likes int64 }

// Tally counts what an import made (New) and what it found (There). A thing that it met
// twice counts once.
type Tally struct{ New, There Count }

// importLocks is the first key of the advisory locks of imports; the second is
// the source's hash.
const importLocks = 7245_002

// Start begins an import from a source, which is a name that keys are
// unique in ("friendfeed"). ErrImporting if one is under way.
func (s Imports) Start(ctx context.Context, source string) (*Import, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("start import: %w", err)
	}
	// The lock is the session's: it is gone with the connection, however this
	// process ends. Temporary tables are, too.
	const lock = `SELECT pg_try_advisory_lock(@locks, hashtext(@source))`
	const met = `
		CREATE TEMPORARY TABLE import_met (
			their_id bigint  NOT NULL,
			of_id    bigint  NOT NULL,
			fresh    boolean NOT NULL,
			kind     text    NOT NULL,
			PRIMARY KEY (kind, their_id, of_id)
		)`
	var locked bool
	err = conn.QueryRow(ctx, lock, pgx.StrictNamedArgs{"locks": importLocks, "source": source}).Scan(&locked)
	if err == nil && !locked {
		conn.Release()
		return nil, ErrImporting
	}
	if err == nil {
		_, err = conn.Exec(ctx, met)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start import: %w", err), conn.Hijack().Close(ctx))
	}
	return &Import{store: s.core, source: source, conn: conn, unsure: map[int64][]string{}}, nil
}

// Close ends the import, whatever became of it and of ctx: another may start.
func (im *Import) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	// The server may notice a closed connection late, so the lock is released first. A
	// broken connection has lost it, or will.
	if !im.conn.Conn().IsClosed() {
		_, err := im.conn.Exec(ctx, `SELECT pg_advisory_unlock(@locks, hashtext(@source))`,
			pgx.StrictNamedArgs{"locks": importLocks, "source": im.source})
		if err != nil {
			return errors.Join(fmt.Errorf("close import: %w", err), im.conn.Hijack().Close(ctx))
		}
	}
	if err := im.conn.Hijack().Close(ctx); err != nil {
		return fmt.Errorf("close import: %w", err)
	}
	return nil
}

// Tally returns what the committed batches met.
func (im *Import) Tally() Tally { return im.tally }

// Add stores a batch in one transaction and announces its changes. A post may come
// several times, in one batch or in many: its comments, likes and destinations are united.
// The Change goes through the tiers: it carries a Clock if an account went private, got
// another description, or became administrator of a group.
//
// It takes memory and locks in proportion to the batch: some hundred posts are
// a good size. An InvalidError names the key of a post that cannot be stored; then the
// whole batch is not stored.
func (im *Import) Add(ctx context.Context, posts []Imported) (Change, error) {
	return im.run(ctx, func(b *batch) error { return b.addPosts(posts) })
}

// Accounts makes the missing accounts and returns the ids of all, by ExternalID. The Change
// is as that of Add.
func (im *Import) Accounts(ctx context.Context, accounts []ImportedAccount) (map[string]int64, Change, error) {
	var ids map[string]int64
	c, err := im.run(ctx, func(b *batch) error {
		ids = make(map[string]int64, len(accounts))
		for _, a := range accounts {
			if err := b.mention(a); err != nil {
				return err
			}
		}
		return nil
	}, func(b *batch) {
		for id, a := range b.accounts {
			ids[id] = a.ID
		}
	})
	return ids, c, err
}

// run stores one batch, which gather fills.
func (im *Import) run(ctx context.Context, gather func(*batch) error, after ...func(*batch)) (Change, error) {
	type outcome struct {
		change Change
		tally  Tally
		batch  *batch
	}
	done, err := inTxOn(ctx, im.conn, func(tx pgx.Tx) (outcome, error) {
		b := newBatch(im, tx)
		if err := gather(b); err != nil {
			return outcome{}, err
		}
		c, err := b.store(ctx)
		return outcome{c, b.tally, b}, err
	})
	if err != nil {
		return Change{}, fmt.Errorf("import: %w", err)
	}
	im.tally.New.add(done.tally.New)
	im.tally.There.add(done.tally.There)
	for _, p := range done.batch.posts {
		if len(p.fits) > 0 {
			im.unsure[p.ID] = p.fits
		}
	}
	for _, fn := range after {
		fn(done.batch)
	}
	return done.change, nil
}

func (c *Count) add(d Count) {
	c.Accounts += d.Accounts
	c.Groups += d.Groups
	c.Posts += d.Posts
	c.Comments += d.Comments
	c.Likes += d.Likes
}

// Recall returns the ids, by key, that an import or Remember has recorded for the source and
// this kind ("post", "comment").
func (s Imports) Recall(ctx context.Context, source, kind string) (map[string]int64, error) {
	rows, err := s.pool.Query(ctx, `SELECT external_id, their_id FROM origins WHERE source = @source AND kind = @kind`,
		pgx.StrictNamedArgs{"source": source, "kind": kind})
	return collectOrigins(rows, err)
}

// collectOrigins reads key and id.
func collectOrigins(rows pgx.Rows, err error) (map[string]int64, error) {
	if err != nil {
		return nil, fmt.Errorf("recall origins: %w", err)
	}
	known := map[string]int64{}
	var key string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&key, &id}, func() error {
		known[key] = id
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("recall origins: %w", err)
	}
	return known, nil
}

// Remember records the ids for keys of the source. Recorded keys stay as they are.
func (s Imports) Remember(ctx context.Context, source, kind string, ids map[string]int64) error {
	if len(ids) == 0 {
		return nil
	}
	keys, theirs := make([]string, 0, len(ids)), make([]int64, 0, len(ids))
	for key, id := range ids {
		keys, theirs = append(keys, key), append(theirs, id)
	}
	const query = `
		INSERT INTO origins (their_id, source, kind, external_id)
		SELECT o.id, @source, @kind, o.key FROM unnest(@ids::bigint[], @keys::text[]) AS o (id, key)
		ON CONFLICT DO NOTHING`
	_, err := s.pool.Exec(ctx, query, pgx.StrictNamedArgs{"source": source, "kind": kind, "ids": theirs, "keys": keys})
	if err != nil {
		return fmt.Errorf("remember origins: %w", err)
	}
	return nil
}
