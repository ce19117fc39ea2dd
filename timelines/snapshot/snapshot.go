package snapshot

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/kinds"
	"riverrun/timelines/rights"
)

// Snapshot reads the primary store as it stood at one instant. A writer of rivers looks up
// the rivers first, then takes a snapshot, then writes what it read there, so that of two
// writers the one with the greater stamp is right (ARCHITECTURE.md, the protocol). It is not
// safe for concurrent use.
type Snapshot struct {
	tx     pgx.Tx
	limits Limits
}

// begin begins a snapshot's transaction in one round trip. Every question of a
// snapshot has its index, and is asked for hundreds of posts at once. If a table has only a
// few pages, reading it whole for each of them would look as good to the server.
const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ` + byIndex

// byIndex is no SET LOCAL, as that would warn in a batch, which is a transaction without BEGIN.
const byIndex = `SELECT set_config('enable_seqscan', 'off', true)`

// Read calls fn with a snapshot: one read-only transaction at REPEATABLE READ. The
// instant is that of its beginning.
func Read(ctx context.Context, pool *pgxpool.Pool, limits Limits, fn func(*Snapshot) error) error {
	return pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{BeginQuery: begin}, func(tx pgx.Tx) error {
		return fn(&Snapshot{tx: tx, limits: limits})
	})
}

// Tx returns the snapshot's transaction, for statements of the caller's own at the same
// instant.
func (sn *Snapshot) Tx() pgx.Tx { return sn.tx }

// Sees returns which transactions the snapshot sees, as PostgreSQL writes it
// (pg_snapshot). See Replace.Tx.
func (sn *Snapshot) Sees(ctx context.Context) (seen string, err error) {
	if err := sn.tx.QueryRow(ctx, `SELECT pg_current_snapshot()::text`).Scan(&seen); err != nil {
		return "", fmt.Errorf("read snapshot: %w", err)
	}
	return seen, nil
}

// readableGate is true for a timeline t whose gate @viewer may pass: the fourth
// of 004's checks. A base timeline is its own gate, and is not looked up again.
var readableGate = `CASE WHEN t.base THEN ` + rights.OpenTo("t", "@viewer::bigint") + ` ELSE t.gate_id IS NULL OR EXISTS (
	SELECT FROM timelines g WHERE g.id = t.gate_id AND ` + rights.OpenGate + `) END`

// Named returns the ids of the timelines of these kinds that belong to theirID
// and that the viewer may open, in id order.
func (sn *Snapshot) Named(ctx context.Context, viewer, theirID int64, kinds ...string) ([]int64, error) {
	query := `
		SELECT t.id FROM timelines t
		WHERE t.kind = ANY(@kinds) AND t.their_id = @their AND t.term = '' AND ` + readableGate + `
		ORDER BY t.id`
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{"kinds": kinds, "their": theirID, "viewer": viewer})
	return collectIDs(rows, err, "timelines by name")
}

// Feeds returns the account's feed and sub-feeds as far as the viewer may open
// them, in id order; with a slug, that sub-feed alone.
func (sn *Snapshot) Feeds(ctx context.Context, viewer, account int64, slug string) ([]int64, error) {
	query := `
		SELECT t.id FROM timelines t
		WHERE t.kind IN ` + kinds.SQL(kinds.Spec.IsLevelled) + ` AND t.their_id = @account AND (@slug = '' OR t.term = @slug) AND ` + readableGate + `
		ORDER BY t.id`
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{"account": account, "slug": slug, "viewer": viewer})
	return collectIDs(rows, err, "feeds of an account")
}

// Termed returns the id of the timeline of that kind and term which is nobody's,
// if there is one that the viewer may open.
func (sn *Snapshot) Termed(ctx context.Context, viewer int64, kind, term string) ([]int64, error) {
	query := `
		SELECT t.id FROM timelines t
		WHERE t.kind = @kind AND t.their_id = 0 AND t.term = @term AND ` + readableGate
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{"kind": kind, "term": term, "viewer": viewer})
	return collectIDs(rows, err, "timeline by term")
}

// Home returns the timelines that the viewer's home feed is made of (source: 000, friend
// feed; 004, "about three timelines per subscription"), as far as the viewer may open them,
// in id order. They are the feeds, sub-feeds, likes and comments of the viewer and of
// followed accounts, except those kept out of it; the feeds of groups; the viewer's
// messages and discussions; and posts for the viewer's eyes only. friendsOnly leaves out
// the timelines that bring posts of strangers: likes, comments, discussions.
func (sn *Snapshot) Home(ctx context.Context, viewer int64, friendsOnly bool) ([]int64, error) {
	query := `
		SELECT t.id
		FROM (SELECT account_id FROM subscriptions WHERE subscriber_id = @viewer AND in_home
		      UNION ALL SELECT @viewer::bigint) f
		JOIN timelines t ON t.their_id = f.account_id AND t.kind = ANY(@kinds)
		WHERE ` + readableGate + `
		UNION
		SELECT t.id FROM timelines t
		WHERE t.kind = ANY(@own) AND t.their_id = @viewer
		ORDER BY 1`
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{
		"viewer": viewer, "kinds": kinds.OfHome(kinds.OfFollowers, friendsOnly), "own": kinds.OfHome(kinds.OfOwner, friendsOnly),
	})
	return collectIDs(rows, err, "home timelines")
}

// List returns the timelines of one of the viewer's lists: those that the home feed takes
// from its members.
func (sn *Snapshot) List(ctx context.Context, viewer, list int64, friendsOnly bool) ([]int64, error) {
	query := `
		SELECT t.id
		FROM list_members m
		JOIN timelines t ON t.their_id = m.account_id AND t.kind = ANY(@kinds)
		WHERE m.list_id = @list AND m.subscriber_id = @viewer AND ` + readableGate + `
		ORDER BY t.id`
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{
		"viewer": viewer, "list": list, "kinds": kinds.OfHome(kinds.OfFollowers, friendsOnly),
	})
	return collectIDs(rows, err, "list's timelines")
}

// OwnsList reports whether the list is the viewer's and still there.
func (sn *Snapshot) OwnsList(ctx context.Context, viewer, list int64) (bool, error) {
	const query = `SELECT EXISTS (SELECT FROM lists WHERE id = @list AND account_id = @viewer)`
	var ok bool
	if err := sn.tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"viewer": viewer, "list": list}).Scan(&ok); err != nil {
		return false, fmt.Errorf("read list: %w", err)
	}
	return ok, nil
}

func collectIDs(rows pgx.Rows, err error, what string) ([]int64, error) {
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return ids, nil
}

// PostState is the state of one post that its entries are computed from.
type PostState struct {
	ID        int64
	Version   int64
	FreshAt   int64 // microseconds
	CreatedAt int64 // microseconds
	Deleted   bool
	// Memberships are the timelines that hold or once held the post, in order of entrance.
	Memberships []Membership
	// Overflows says that the post is in too many timelines, so that Memberships is empty;
	// see MembershipsAmong.
	Overflows bool
	// Readers are the viewers asked about who may read the post.
	Readers map[int64]struct{}
	// Likers are the viewers asked about who like the post, Favers those who keep it.
	Likers, Favers map[int64]struct{}
}

// Membership is one row of timeline_entries: a timeline that holds the post, or held it
// until it was removed.
type Membership struct {
	TimelineID int64
	EnteredAt  int64 // microseconds
	Removed    bool
}

// ViewerPairs are pairs of posts and viewers (0 for anonymous), side by side. A pair may
// stand there more than once.
type ViewerPairs struct{ Posts, Viewers []int64 }

// Add adds a pair.
func (l *ViewerPairs) Add(post, viewer int64) {
	l.Posts = append(l.Posts, post)
	l.Viewers = append(l.Viewers, viewer)
}

// States returns the present state of these posts, by id, for the viewers of each. It
// leaves out the memberships of posts that overflow. It is one
// statement, whatever the number of posts.
func (sn *Snapshot) States(ctx context.Context, posts []int64, viewers ViewerPairs) (map[int64]*PostState, error) {
	batch := &pgx.Batch{}
	states := queueStates(batch, posts, viewers, nil)
	if err := sn.tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read post states: %w", err)
	}
	return states, nil
}

// StatesAmong is States for a river made of these timelines, and leaves out the memberships
// of others. A post that a hundred like stands in two hundred timelines, and in a few of a
// river's. It leaves out all memberships of posts that overflow, too.
func (sn *Snapshot) StatesAmong(ctx context.Context, posts []int64, viewers ViewerPairs, timelines []int64) (map[int64]*PostState, error) {
	batch := &pgx.Batch{}
	states := queueStates(batch, posts, viewers, append([]int64{}, timelines...)) // nil would be all
	if err := sn.tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read post states among timelines: %w", err)
	}
	return states, nil
}

// StatesAndContents is States and Contents in one statement.
func (sn *Snapshot) StatesAndContents(ctx context.Context, posts []int64, viewers ViewerPairs, d Depth) (
	map[int64]*PostState, map[int64]*Content, error,
) {
	batch := &pgx.Batch{}
	states, contents := queueBoth(batch, posts, viewers, d)
	if err := sn.tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, nil, fmt.Errorf("read posts: %w", err)
	}
	return states, contents, nil
}

// ReadPosts is StatesAndContents, or States if no contents are asked for, in one round trip. One
// statement reads all, so what it sees is a snapshot. The setting before it lasts as long as the batch.
func ReadPosts(ctx context.Context, pool *pgxpool.Pool, posts []int64, viewers ViewerPairs, withContents bool, d Depth) (
	states map[int64]*PostState, contents map[int64]*Content, err error,
) {
	batch := &pgx.Batch{}
	batch.Queue(byIndex)
	if withContents {
		states, contents = queueBoth(batch, posts, viewers, d)
	} else {
		states = queueStates(batch, posts, viewers, nil)
	}
	if err := pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, nil, fmt.Errorf("read posts: %w", err)
	}
	return states, contents, nil
}

// queueBoth adds the statement to a batch that fills both maps.
func queueBoth(batch *pgx.Batch, posts []int64, viewers ViewerPairs, d Depth) (map[int64]*PostState, map[int64]*Content) {
	type row struct {
		Content
		stateRow
	}
	states, contents := make(map[int64]*PostState, len(posts)), make(map[int64]*Content, len(posts))
	query := `SELECT ` + contentColumns + `, ` + stateColumns + contentJoins + stateJoins + contentWhere
	batch.Queue(query, stateArgs(contentArgs(posts, d), viewers, nil)).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[row])
		for _, r := range found {
			c := &r.Content
			states[c.PostID], contents[c.PostID] = r.state(c.PostID, c.Version, c.CreatedAt, c.Deleted), c.finish(d)
		}
		return err
	})
	return states, contents
}

// MaxMemberships is in how many timelines a post may stand for all its memberships to be read. A
// post that thousands like stands in the likes and discussions of each of them, and a river
// is made of only a few of those.
const MaxMemberships = 400

// MembershipsAmong fills in the memberships of the posts that overflow among these states,
// as far as they are of these timelines: one look-up by primary key for each pair.
func (sn *Snapshot) MembershipsAmong(ctx context.Context, states map[int64]*PostState, timelines []int64) error {
	var overflowing []int64
	for id, st := range states {
		if st.Overflows {
			overflowing = append(overflowing, id)
		}
	}
	if len(overflowing) == 0 {
		return nil
	}
	const query = `
		SELECT e.post_id, e.timeline_id, e.entered_at, e.withdrawn
		FROM unnest(@posts::bigint[]) p(id) CROSS JOIN unnest(@timelines::bigint[]) t(id)
		CROSS JOIN LATERAL (
			SELECT e.* FROM timeline_entries e WHERE e.post_id = p.id AND e.timeline_id = t.id LIMIT 1) e -- looked up, in any plan
		ORDER BY e.post_id, e.entered_at, e.timeline_id`
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": overflowing, "timelines": timelines})
	if err != nil {
		return fmt.Errorf("read memberships: %w", err)
	}
	var post int64
	var h Membership
	_, err = pgx.ForEachRow(rows, []any{&post, &h.TimelineID, &h.EnteredAt, &h.Removed}, func() error {
		states[post].Memberships = append(states[post].Memberships, h)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read memberships: %w", err)
	}
	return nil
}

// stateColumns and stateJoins add to a statement over posts p what a stateRow has.
//
// The viewers are asked only about their own posts. Hundreds of posts with thousands of viewers, a few
// each, would be millions of pairs that nobody needs.
const stateColumns = `p.fresh_at, held.rows > @memberships::bigint AS overflows, held.timelines, held.entered, held.withdrawn, asked.readers, asked.likers, asked.favers`

var stateJoins = `
		CROSS JOIN LATERAL (
			SELECT count(*) AS rows,
				array_agg(e.timeline_id ORDER BY e.entered_at, e.timeline_id) FILTER (WHERE e.asked) AS timelines,
				array_agg(e.entered_at ORDER BY e.entered_at, e.timeline_id) FILTER (WHERE e.asked) AS entered,
				array_agg(e.withdrawn ORDER BY e.entered_at, e.timeline_id) FILTER (WHERE e.asked) AS withdrawn
			FROM (
				SELECT e.timeline_id, e.entered_at, e.withdrawn,
					@among::bigint[] IS NULL OR e.timeline_id IN (SELECT unnest(@among::bigint[])) AS asked
				FROM timeline_entries e WHERE e.post_id = p.id LIMIT @memberships::bigint + 1) e) held
		LEFT JOIN (
			SELECT v.post_id, array_agg(v.id) FILTER (WHERE v.reads) AS readers,
				array_agg(v.id) FILTER (WHERE v.likes) AS likers, array_agg(v.id) FILTER (WHERE v.faves) AS favers
			FROM (
				SELECT p.id AS post_id, v.id,
					p.deleted_at IS NULL AND (p.is_public AND ` + rights.Flagged + ` OR EXISTS (
						SELECT FROM timelines g WHERE g.id = ANY(p.decisive) AND ` + rights.OpenTo("g", "v.id") + `)) AS reads,
					EXISTS (SELECT FROM likes l WHERE l.post_id = p.id AND l.account_id = v.id) AS likes,
					EXISTS (SELECT FROM faves f WHERE f.post_id = p.id AND f.account_id = v.id) AS faves
				FROM (SELECT DISTINCT * FROM unnest(@posts_of::bigint[], @viewers::bigint[])) v(post_id, id)
				JOIN (SELECT * FROM posts WHERE id = ANY(@posts) OFFSET 0) p ON p.id = v.post_id -- read once, not for each viewer
				) v
			GROUP BY v.post_id) asked ON asked.post_id = p.id`

// stateRow is what stateColumns select: memberships side by side, and those of the viewers asked about
// who read, like and keep the post.
type stateRow struct {
	FreshAt                 int64
	Overflows               bool
	Timelines, Entered      []int64
	Withdrawn               []bool
	Readers, Likers, Favers []int64
}

// stateArgs adds the arguments of stateJoins. Only memberships in the timelines in among are asked
// for, or all if it is nil.
func stateArgs(args pgx.StrictNamedArgs, viewers ViewerPairs, among []int64) pgx.StrictNamedArgs {
	args["among"] = among
	args["posts_of"], args["viewers"], args["memberships"] = viewers.Posts, viewers.Viewers, MaxMemberships
	return args
}

func (r stateRow) state(post, version, createdAt int64, deleted bool) *PostState {
	st := &PostState{
		ID: post, Version: version, FreshAt: r.FreshAt, CreatedAt: createdAt, Deleted: deleted,
		Readers: setOf(r.Readers), Likers: setOf(r.Likers), Favers: setOf(r.Favers),
		Overflows: r.Overflows,
	}
	if !st.Overflows && len(r.Timelines) > 0 {
		st.Memberships = make([]Membership, len(r.Timelines))
		for i := range r.Timelines {
			st.Memberships[i] = Membership{r.Timelines[i], r.Entered[i], r.Withdrawn[i]}
		}
	}
	return st
}

func setOf(ids []int64) map[int64]struct{} {
	set := make(map[int64]struct{}, len(ids))
	for _, id := range ids {
		set[id] = struct{}{}
	}
	return set
}

// queueStates adds the statement of StatesAmong to a batch, which fills the map.
func queueStates(batch *pgx.Batch, posts []int64, viewers ViewerPairs, among []int64) map[int64]*PostState {
	query := `
		SELECT p.id, p.version, (extract(epoch FROM p.created_at) * 1000000)::bigint AS created_at,
			p.deleted_at IS NOT NULL AS deleted, ` + stateColumns + `
		FROM posts p` + stateJoins + `
		WHERE p.id = ANY(@posts)`
	type row struct {
		ID, Version, CreatedAt int64
		Deleted                bool
		stateRow
	}
	states := make(map[int64]*PostState, len(posts))
	batch.Queue(query, stateArgs(pgx.StrictNamedArgs{"posts": posts}, viewers, among)).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
		for _, r := range found {
			states[r.ID] = r.state(r.ID, r.Version, r.CreatedAt, r.Deleted)
		}
		return err
	})
	return states
}
