package timelines

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Snapshot reads the primary store as it stood at one instant. A writer of rivers looks up
// the rivers first, then takes a snapshot, then writes what it read there, so that of two
// writers the one with the greater stamp is right (ARCHITECTURE.md, the protocol). It is not
// safe for concurrent use.
type Snapshot struct {
	tx pgx.Tx
	// Bounds of a search.
	maxTexts, maxFound int64
	searchTimeout      time.Duration
}

// beginSnapshot begins a snapshot's transaction in one round trip. Every statement of a
// snapshot has its index and asks for hundreds of posts at once; for a table of a few pages
// the server would consider it as good to read the whole table for each post. The
// statements have one good plan, whatever their arguments. Planning each anew would take
// longer than running most of them, and for one post three times as long.
const beginSnapshot = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_seqscan = off; SET LOCAL plan_cache_mode = force_generic_plan`

// InSnapshot calls fn with a snapshot: one REPEATABLE READ, read-only
// transaction. The instant is that of fn's first statement.
func (s *Store) InSnapshot(ctx context.Context, fn func(*Snapshot) error) error {
	opts := pgx.TxOptions{BeginQuery: beginSnapshot}
	return pgx.BeginTxFunc(ctx, s.pool, opts, func(tx pgx.Tx) error {
		return fn(&Snapshot{tx: tx, maxTexts: s.maxTexts, maxFound: s.maxFound, searchTimeout: s.searchTimeout})
	})
}

// Sees returns which transactions the snapshot sees, as PostgreSQL writes it
// (pg_snapshot). See Replace.Tx.
func (sn *Snapshot) Sees(ctx context.Context) (seen string, err error) {
	if err := sn.tx.QueryRow(ctx, `SELECT pg_current_snapshot()::text`).Scan(&seen); err != nil {
		return "", fmt.Errorf("read snapshot: %w", err)
	}
	return seen, nil
}

// readableGate is true for a timeline t whose gate @viewer may pass: the fourth
// of 004's checks.
const readableGate = `(t.gate_id IS NULL OR EXISTS (
	SELECT FROM timelines g WHERE g.id = t.gate_id AND ` + openGate + `))`

// Named returns the ids of the timelines of these kinds that belong to theirID
// and that the viewer may open, in id order.
func (sn *Snapshot) Named(ctx context.Context, viewer, theirID int64, kinds ...string) ([]int64, error) {
	const query = `
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
		WHERE t.kind IN ` + sqlKinds(isLevelled) + ` AND t.their_id = @account AND (@slug = '' OR t.term = @slug) AND ` + readableGate + `
		ORDER BY t.id`
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{"account": account, "slug": slug, "viewer": viewer})
	return collectIDs(rows, err, "feeds of an account")
}

// Termed returns the id of the timeline of that kind and term which is nobody's,
// if there is one that the viewer may open.
func (sn *Snapshot) Termed(ctx context.Context, viewer int64, kind, term string) ([]int64, error) {
	const query = `
		SELECT t.id FROM timelines t
		WHERE t.kind = @kind AND t.their_id = 0 AND t.term = @term AND ` + readableGate
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{"kind": kind, "term": term, "viewer": viewer})
	return collectIDs(rows, err, "timeline by term")
}

// Home returns the timelines of the viewer's home feed (source: 000, friend feed; 004,
// "about three timelines per subscription"): the feeds, sub-feeds, likes and comments of
// the viewer and of the accounts subscribed to, except those kept out of it, the groups'
// feeds, and the viewer's directs, discussions and eyes. It leaves out timelines that the
// viewer may not open, and sorts by id. friendsOnly also leaves out the timelines that
// bring posts of strangers: likes, comments, discussions.
func (sn *Snapshot) Home(ctx context.Context, viewer int64, friendsOnly bool) ([]int64, error) {
	const query = `
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
		"viewer": viewer, "kinds": homeKinds(ofFollowers, friendsOnly), "own": homeKinds(ofOwner, friendsOnly),
	})
	return collectIDs(rows, err, "home timelines")
}

// List returns the timelines of one of the viewer's lists: those that the home feed takes
// from its members.
func (sn *Snapshot) List(ctx context.Context, viewer, list int64, friendsOnly bool) ([]int64, error) {
	const query = `
		SELECT t.id
		FROM list_members m
		JOIN timelines t ON t.their_id = m.account_id AND t.kind = ANY(@kinds)
		WHERE m.list_id = @list AND m.subscriber_id = @viewer AND ` + readableGate + `
		ORDER BY t.id`
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{
		"viewer": viewer, "list": list, "kinds": homeKinds(ofFollowers, friendsOnly),
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

// PostState is the part of a post's state from which its entries are computed.
type PostState struct {
	ID        int64
	Version   int64
	FreshAt   int64 // microseconds
	CreatedAt int64 // microseconds
	Deleted   bool
	// Held are the post's rows, withdrawn ones included, in order of entrance.
	Held []Held
	// Crowded: the post stands in so many timelines that Held has none of them; see
	// HeldAmong.
	Crowded bool
	// Readers are the viewers asked about who may read it.
	Readers map[int64]struct{}
	// Likers are the viewers asked about who like it, Favers those who save it.
	Likers, Favers map[int64]struct{}
}

// Held is one row of timeline_entries.
type Held struct {
	TimelineID int64
	EnteredAt  int64 // microseconds
	Withdrawn  bool
}

// Looks are pairs of a post and a viewer (0 is anonymous) to ask about. A pair may come
// more than once.
type Looks struct{ Posts, Viewers []int64 }

// Add adds a pair.
func (l *Looks) Add(post, viewer int64) {
	l.Posts = append(l.Posts, post)
	l.Viewers = append(l.Viewers, viewer)
}

// States returns the state of these posts, by id, for these viewers, without the
// timelines of crowded posts. It takes three statements in one round trip, whatever the
// number of posts.
func (sn *Snapshot) States(ctx context.Context, posts []int64, looks Looks) (map[int64]*PostState, error) {
	batch := &pgx.Batch{}
	states := queueStates(batch, posts, looks)
	if err := sn.tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read post states: %w", err)
	}
	return states, nil
}

// StatesAndContents is States and Contents in one round trip.
func (sn *Snapshot) StatesAndContents(ctx context.Context, posts []int64, looks Looks, d Depth) (
	map[int64]*PostState, map[int64]*Content, error,
) {
	batch := &pgx.Batch{}
	states := queueStates(batch, posts, looks)
	contents := queueContents(batch, posts, d)
	if err := sn.tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, nil, fmt.Errorf("read posts: %w", err)
	}
	return states, contents, nil
}

// crowd is the largest number of timelines of a post whose rows are all read. A post that
// thousands like stands in the likes and discussions of each of them, and a river needs
// only a few of these.
const crowd = 400

// HeldAmong fills in Held of the crowded posts among these states, as far as the
// rows are of these timelines: one lookup by primary key for each pair.
func (sn *Snapshot) HeldAmong(ctx context.Context, states map[int64]*PostState, timelines []int64) error {
	var crowded []int64
	for id, st := range states {
		if st.Crowded {
			crowded = append(crowded, id)
		}
	}
	if len(crowded) == 0 {
		return nil
	}
	// For this form the primary key is the only possible plan; see bump.go.
	const query = `
		SELECT e.post_id, e.timeline_id, e.entered_at, e.withdrawn
		FROM unnest(@posts::bigint[]) p(id) CROSS JOIN unnest(@timelines::bigint[]) t(id)
		CROSS JOIN LATERAL (
			SELECT e.* FROM timeline_entries e
			WHERE e.timeline_id = t.id AND e.post_id >= p.id
			ORDER BY e.post_id LIMIT 1) e
		WHERE e.post_id = p.id
		ORDER BY e.post_id, e.entered_at, e.timeline_id`
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": crowded, "timelines": timelines})
	if err != nil {
		return fmt.Errorf("read timelines of crowded posts: %w", err)
	}
	var post int64
	var h Held
	_, err = pgx.ForEachRow(rows, []any{&post, &h.TimelineID, &h.EnteredAt, &h.Withdrawn}, func() error {
		states[post].Held = append(states[post].Held, h)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read timelines of crowded posts: %w", err)
	}
	return nil
}

// queueStates adds the statements of States to a batch, which fills the map.
func queueStates(batch *pgx.Batch, posts []int64, looks Looks) map[int64]*PostState {
	const postsQuery = `
		SELECT id, version, fresh_at, (extract(epoch FROM created_at) * 1000000)::bigint AS created_at,
			deleted_at IS NOT NULL AS deleted
		FROM posts WHERE id = ANY(@posts)`
	const heldQuery = `
		SELECT h.post_id, h.timeline_id, h.entered_at, h.withdrawn
		FROM (SELECT DISTINCT unnest(@posts::bigint[]) AS id) p
		CROSS JOIN LATERAL (
			SELECT * FROM timeline_entries e WHERE e.post_id = p.id LIMIT @crowd::bigint + 1) h
		ORDER BY h.post_id, h.entered_at, h.timeline_id`
	// It asks only about these pairs: hundreds of posts and thousands of viewers, each of whom
	// looks at a few, would be millions of combinations.
	viewersQuery := `
		SELECT p.id, v.id,
			p.deleted_at IS NULL AND (p.is_public AND ` + flagged + ` OR EXISTS (
				SELECT FROM timelines g WHERE g.id = ANY(p.decisive) AND ` + openTo("g", "v.id") + `)),
			EXISTS (SELECT FROM likes l WHERE l.post_id = p.id AND l.account_id = v.id),
			EXISTS (SELECT FROM faves f WHERE f.post_id = p.id AND f.account_id = v.id)
		FROM (SELECT DISTINCT * FROM unnest(@posts::bigint[], @viewers::bigint[])) v(post_id, id)
		JOIN posts p ON p.id = v.post_id`
	states := make(map[int64]*PostState, len(posts))
	batch.Queue(postsQuery, pgx.StrictNamedArgs{"posts": posts}).Query(func(rows pgx.Rows) error {
		var st PostState
		_, err := pgx.ForEachRow(rows, []any{&st.ID, &st.Version, &st.FreshAt, &st.CreatedAt, &st.Deleted}, func() error {
			state := st
			state.Readers, state.Likers, state.Favers = map[int64]struct{}{}, map[int64]struct{}{}, map[int64]struct{}{}
			states[st.ID] = &state
			return nil
		})
		return err
	})
	batch.Queue(heldQuery, pgx.StrictNamedArgs{"posts": posts, "crowd": crowd}).Query(func(rows pgx.Rows) error {
		var post int64
		var h Held
		_, err := pgx.ForEachRow(rows, []any{&post, &h.TimelineID, &h.EnteredAt, &h.Withdrawn}, func() error {
			if st := states[post]; st != nil && !st.Crowded {
				if st.Held = append(st.Held, h); len(st.Held) > crowd {
					st.Held, st.Crowded = nil, true
				}
			}
			return nil
		})
		return err
	})
	batch.Queue(viewersQuery, pgx.StrictNamedArgs{"posts": looks.Posts, "viewers": looks.Viewers}).Query(func(rows pgx.Rows) error {
		var post, viewer int64
		var reads, likes, faves bool
		_, err := pgx.ForEachRow(rows, []any{&post, &viewer, &reads, &likes, &faves}, func() error {
			st := states[post]
			if st != nil && reads {
				st.Readers[viewer] = struct{}{}
			}
			if st != nil && likes {
				st.Likers[viewer] = struct{}{}
			}
			if st != nil && faves {
				st.Favers[viewer] = struct{}{}
			}
			return nil
		})
		return err
	})
	return states
}

// Versions returns the present versions of these posts, by id.
func (s *Store) Versions(ctx context.Context, posts []int64) (map[int64]int64, error) {
	const query = `SELECT id, version FROM posts WHERE id = ANY(@posts)`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts})
	if err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	versions := make(map[int64]int64, len(posts))
	var id, version int64
	_, err = pgx.ForEachRow(rows, []any{&id, &version}, func() error {
		versions[id] = version
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	return versions, nil
}
