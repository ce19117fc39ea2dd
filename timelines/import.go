package timelines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unique"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Imported is a post from elsewhere with its comments, likes and attachments.
type Imported struct {
	// ExternalID is its key at the source. A later import finds the post by it.
	ExternalID string
	URL        string
	Body       string
	CreatedAt  time.Time
	Author     ImportedAccount
	// To lists the feeds and groups it was posted to, Direct the people it was sent to.
	To, Direct []ImportedAccount
	// ToAssumed says that the source did not say where. To is then a guess, used for a new
	// post only.
	ToAssumed   bool
	Via, ViaURL string
	Attachments []ImportedAttachment
	Comments    []ImportedComment
	Likes       []ImportedLike
}

// ImportedAccount is a person or a group as the source mentions it. If several mentions
// differ, it is private, or a group, if any of them says so, and a title that is not Vague
// wins.
type ImportedAccount struct {
	ExternalID string
	Kind       string // User or Group
	// Name is its username, if that is neither taken nor reserved here. Otherwise it gets
	// another.
	Name  string
	Title string
	// Vague says that Title is a guess.
	Vague bool
	About string
	// Private makes its feed private. False does not make a private feed public.
	Private bool
	// Admin is the ExternalID of the user who administers a group that is new. The user
	// must be mentioned too. If it is empty, the group has no administrator.
	Admin string
}

// ImportedAttachment is a link to a file on another server.
type ImportedAttachment struct {
	URL, Title string
	Bytes      int64
}

// ImportedComment is a comment. Its ExternalID is unique in the whole source.
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

// ErrImporting says that another import from the same source is running.
var ErrImporting = errors.New("another import from the same source is under way")

// Import imports posts batch by batch. Each post gets the place that it would have if it
// had been written here at its own time: it keeps the dates of the source, and the bump rule
// is replayed over them. Posts that were imported before are found by their keys. They keep
// their edits, deletions and withdrawn likes, and gain the comments and likes that they did
// not have.
//
// New accounts have no password. They have no subscriptions but those that Follow makes, except
// that authors of posts in groups that are not public, and administrators of new groups, become
// members.
//
// Only one import per source may run at a time. It keeps a connection of the pool until
// Close, and is not safe for concurrent use.
type Import struct {
	store  *core
	source string
	conn   *pgxpool.Conn
	tally  Tally
	// first and known are what spares a batch statements.
	first firstIDs
	known knownTimelines
	// unsure are the posts without a language, by id.
	unsure map[int64]unsure
	// left are the people whom Tally.Left counts.
	left map[string]bool
	// guessing are those of them whose turn comes, those of one author together.
	guessing []int64
}

// unsure is a post whose language is to be guessed: its author, and the languages it can be in, joined
// by spaces.
type unsure struct {
	author int64
	fits   unique.Handle[string]
}

// Count is the number of different accounts, posts and so on that an import met.
type Count struct{ Accounts, Groups, Posts, Comments, Likes int64 }

// Tally counts what an import created (New) and what was there before (There). A thing that
// it met twice counts once.
type Tally struct {
	New, There Count
	// Left are people who were skipped with all that they wrote, since their accounts are to be deleted
	// here, or were deleted.
	Left int64
}

// importLocks is the first key of the advisory locks of imports. The second is the hash of
// the source's name.
const importLocks = 7245_002

// Start begins an import from a source ("friendfeed"). Keys are unique within a source. It
// returns ErrImporting if an import from it is running.
func (s Imports) Start(ctx context.Context, source string) (*Import, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("start import: %w", err)
	}
	// The lock and the temporary tables belong to the connection. They go with it, however
	// this process ends.
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
	im := &Import{store: s.core, source: source, conn: conn, first: firstIDs{}, known: knownTimelines{accounts: map[int64]map[string]int64{}}, unsure: map[int64]unsure{}, left: map[string]bool{}}
	for kind, table := range map[string]string{User: "accounts", originPost: "posts", originComment: "comments"} {
		var id int64
		err := conn.QueryRow(ctx, `SELECT nextval(pg_get_serial_sequence(@table, 'id'))`, pgx.StrictNamedArgs{"table": table}).Scan(&id)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start import: %w", err), conn.Hijack().Close(ctx))
		}
		im.first[kind] = id
	}
	im.first[Group] = im.first[User]
	return im, nil
}

// Close ends the import, even if ctx has ended, so that another may start.
func (im *Import) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	// The server may notice late that a connection was closed, so the lock is released
	// first. A broken connection has lost it, or will.
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

// Tally counts what the committed batches met.
func (im *Import) Tally() Tally { return im.tally }

// Add stores a batch in one transaction and announces its changes. A post may occur several
// times, in one batch or in many. Its comments, likes and destinations are then merged. The
// caller gives the Change to the tiers. It carries a Clock if an account went private, got
// another description, or became an administrator of a group.
//
// Memory and locks grow with the batch. Two thousand posts with forty thousand comments and likes
// are a good size: the more there are, the less each costs. If a post cannot
// be stored, nothing of the batch is, and the InvalidError names the post's key.
func (im *Import) Add(ctx context.Context, posts []Imported) (Change, error) {
	return im.run(ctx, func(b *batch) error { return b.addPosts(posts) })
}

// Accounts creates the accounts that are missing and returns the ids of all, by ExternalID, but for
// those who left (Tally).
// The Change is like that of Add.
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

// run stores one batch. gather fills it.
func (im *Import) run(ctx context.Context, gather func(*batch) error, after ...func(*batch)) (Change, error) {
	type outcome struct {
		change Change
		tally  Tally
		batch  *batch
	}
	done, err := inTxOn(ctx, im.conn, func(tx pgx.Tx) (outcome, error) {
		b := newBatch(im.store, im.source, tx)
		b.first, b.known = im.first, im.known
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
	maps.Copy(im.left, done.batch.left)
	im.tally.Left = int64(len(im.left))
	im.known.keep(done.batch)
	for _, p := range done.batch.posts {
		if len(p.fits) > 0 {
			author := done.batch.accounts[p.Author.ExternalID].ID
			im.unsure[p.ID] = unsure{author, unique.Make(strings.Join(p.fits, " "))}
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

// Recall returns the ids, by key, that an import or Remember recorded for the source and
// this kind ("post", "comment").
func (s Imports) Recall(ctx context.Context, source, kind string) (map[string]int64, error) {
	rows, err := s.pool.Query(ctx, `SELECT external_id, their_id FROM origins WHERE source = @source AND kind = @kind`,
		pgx.StrictNamedArgs{"source": source, "kind": kind})
	return collectOrigins(rows, err)
}

// collectOrigins reads rows of a key and an id.
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

// Remember records ids by key for the source. A key that is recorded keeps its id.
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
