package rivers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
	"riverrun/timelines/storage"
)

// Inspection is one river as those who run the site see it: how it stands, and nothing of what it
// holds.
type Inspection struct {
	Name Name
	// River is the generation that stands, 0: none does, and only Building and Readers say something.
	River int64
	// Began is when its build began, and Why is why.
	Began time.Time
	Why   BuildCause
	// Visited is when its page was last visited; zero: not since it was built.
	Visited time.Time
	// Floor is the place down to which it is complete, in microseconds. Finished: nothing older
	// exists. Extended: somebody has read below the first floor.
	Floor              int64
	Finished, Extended bool
	Entries            int64
	// Timelines are the first of what it is made of, and AllTimelines is how many there are.
	Timelines    []timelines.Timeline
	AllTimelines int
	// Nodes is how many processes have it open in a browser.
	Nodes int
	// Building: a generation is under way.
	Building bool
	// Readers are the first of the accounts that have the page open, in their own rivers, at any
	// process; AllReaders is how many do.
	Readers    []int64
	AllReaders int
}

// maxInspected bounds the lists of an Inspection.
const maxInspected = 100

// Inspect looks at the river of a name. It neither builds nor visits it.
func (s *Store) Inspect(ctx context.Context, n Name) (*Inspection, error) {
	// Each part finds its rows by a key; the entries of one river are thousands at most.
	const query = `
		SELECT r.id, r.created_at, r.cause, v.visited_at, r.floor, r.finished, r.extended,
			(SELECT count(*) FROM entries e WHERE e.river_id = r.id AND NOT e.deleted AND e.fresh_at >= r.floor),
			ARRAY(SELECT timeline_id FROM rivers_timelines t WHERE t.river_id = r.id ORDER BY timeline_id LIMIT @most),
			(SELECT count(*) FROM rivers_timelines t WHERE t.river_id = r.id),
			(SELECT count(*) FROM leases l WHERE l.river_id = r.id AND l.until > clock_timestamp())
		FROM rivers r LEFT JOIN visits v ON v.river_id = r.id
		WHERE ` + named + ` AND r.state = 'live' AND r.epoch = (SELECT epoch FROM clock)`
	it := &Inspection{Name: n}
	args := nameArgs(n)
	args["most"] = maxInspected
	var ids []int64
	var visited *time.Time
	err := s.db.QueryRow(ctx, query, args).Scan(&it.River, &it.Began, &it.Why, &visited, &it.Floor, &it.Finished, &it.Extended,
		&it.Entries, &ids, &it.AllTimelines, &it.Nodes)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("inspect river: %w", err)
	}
	if visited != nil {
		it.Visited = *visited
	}
	if len(ids) > 0 {
		found, err := s.access.Timelines(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if t, ok := found[id]; ok {
				it.Timelines = append(it.Timelines, t)
			}
		}
	}
	return it, s.inspectReaders(ctx, it)
}

// inspectReaders finds out who has the page open. It begins with the leases: there are no more than
// open pages. A page of the viewer's own is nobody else's, though its name is the same for all.
func (s *Store) inspectReaders(ctx context.Context, it *Inspection) error {
	const query = `
		SELECT EXISTS (SELECT FROM rivers r WHERE ` + named + ` AND r.state = 'building'), coalesce(max(n), 0), coalesce(array_agg(user_id ORDER BY user_id), '{}')
		FROM (
			SELECT r.user_id, count(*) OVER () AS n
			FROM rivers r JOIN leases l ON l.river_id = r.id
			WHERE l.until > clock_timestamp() AND r.kind = @kind AND r.their_id = @their AND r.term = @term
				AND r.user_id <> 0 AND (NOT @own OR r.user_id = @user)
			GROUP BY r.user_id ORDER BY r.user_id LIMIT @most) readers`
	args := nameArgs(it.Name)
	args["most"], args["own"] = maxInspected, specs[it.Name.Kind].page == ofMyself
	if err := s.db.QueryRow(ctx, query, args).Scan(&it.Building, &it.AllReaders, &it.Readers); err != nil {
		return fmt.Errorf("inspect readers of river: %w", err)
	}
	return nil
}

// KindCount is how many rivers of a kind stand, at all processes together.
type KindCount struct {
	Kind Kind
	// Live stand, and Open of these are open in a browser.
	Live, Open int64
	// Entries are in them. Estimated: projected from some of the rivers.
	Entries   int64
	Estimated bool
}

// countedOfKind is of how many rivers of a kind the entries are counted. Their ids are random, so the
// first ones by id stand for all.
const countedOfKind = 100

// Counts returns what stands of each kind that has rivers, the most rivers first; storage.ErrSlow if that
// takes longer than most. It reads all live rivers by their index, and the entries of at most
// countedOfKind of each kind.
func (s *Store) Counts(ctx context.Context, most time.Duration) (counts []KindCount, err error) {
	const query = `
		SELECT r.kind, count(*) AS live,
			count(*) FILTER (WHERE EXISTS (SELECT FROM leases l WHERE l.river_id = r.id AND l.until > clock_timestamp())) AS open,
			(coalesce(sum(e.n), 0) * count(*) / least(count(*), @most))::bigint AS entries, count(*) > @most AS estimated
		FROM (
			SELECT id, kind, row_number() OVER (PARTITION BY kind ORDER BY id) AS i
			FROM rivers WHERE state = 'live' AND epoch = (SELECT epoch FROM clock)) r
		-- The bound stands inside, where it is asked before the entries are read.
		LEFT JOIN LATERAL (SELECT count(*) AS n FROM entries e WHERE r.i <= @most AND e.river_id = r.id AND NOT e.deleted) e ON true
		GROUP BY r.kind ORDER BY 2 DESC, 1`
	err = storage.Within(ctx, s.db, most, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"most": countedOfKind})
		if err == nil {
			counts, err = pgx.CollectRows(rows, pgx.RowToStructByName[KindCount])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count rivers: %w", err)
	}
	return counts, nil
}

// Accounts are the accounts that an inspection names.
func (it *Inspection) Accounts() []int64 {
	ids := slices.Clone(it.Readers)
	for _, id := range []int64{it.Name.UserID, it.Name.Account()} {
		if id != 0 {
			ids = append(ids, id)
		}
	}
	for _, t := range it.Timelines {
		if t.TheirID != 0 && t.Kind != kinds.Post {
			ids = append(ids, t.TheirID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
