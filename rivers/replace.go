package rivers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Retire makes these rivers of one account cold, open or not: what an account's
// own change of subscriptions does at once, before the reply (DESIGN: the
// protocol, step 2). The next visit builds another generation.
func (s *Store) Retire(ctx context.Context, r timelines.Replace) error {
	concerned, args, err := s.replacedBy(ctx, r)
	if err != nil {
		return err
	}
	query := `
		UPDATE rivers SET state = 'retired', retired_at = clock_timestamp()
		WHERE id IN (
			SELECT id FROM rivers r
			WHERE ` + concerned + ` AND (state = 'live' OR state = 'building')
			ORDER BY id FOR UPDATE)`
	if _, err := s.db.Exec(ctx, query, args); err != nil {
		return fmt.Errorf("retire rivers: %w", err)
	}
	return nil
}

// replacedBy is the condition on a river r that a Replace concerns, with its
// arguments. It asks only what the Replace names: each has an index.
func (s *Store) replacedBy(ctx context.Context, r timelines.Replace) (string, pgx.StrictNamedArgs, error) {
	all, args := []string{"true"}, pgx.StrictNamedArgs{}
	switch {
	case r.Of != 0:
		// Who follows, or leaves, from now on has rivers of their own to replace.
		followers, err := s.primary.SubscriberIDs(ctx, r.Of)
		if err != nil {
			return "", nil, err
		}
		all = append(all, `(r.their_id = @of AND r.kind = ANY(@pages) OR r.user_id = ANY(@followers) AND r.kind = ANY(@homes))`)
		args["of"], args["followers"] = r.Of, append(followers, r.Of)
		args["pages"], args["homes"] = accountKinds(), homeKinds()
	case !r.Everybody:
		all = append(all, "r.user_id = @viewer")
		args["viewer"] = r.ViewerID
	}
	if len(r.Kinds) > 0 {
		all = append(all, "r.kind = ANY(@kinds)")
		args["kinds"] = r.Kinds
	}
	if len(r.Terms) > 0 {
		all = append(all, "r.term = ANY(@terms) AND r.term <> ''")
		args["terms"] = r.Terms
	}
	if len(r.TheirIDs) > 0 {
		all = append(all, "r.their_id = ANY(@theirs)")
		args["theirs"] = r.TheirIDs
	}
	return strings.Join(all, " AND "), args, nil
}

// deepest is how many entries of an open river are rebuilt at once. A river read
// to its end once, and open or visited ever since, has grown by all that came
// meanwhile: no build could bring years of everything in time. Who is deeper
// extends it again.
const deepest = 10 * chunk

// Spread begins a Replace of many viewers' rivers: closed ones and builds under way
// are retired, in one statement, and what is left to do is returned, one Replace
// for each viewer who has a page open. Each of them is short, whatever the number
// of viewers, and can be repeated without the others.
func (s *Store) Spread(ctx context.Context, r timelines.Replace) ([]timelines.Replace, error) {
	concerned, args, err := s.replacedBy(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := s.retireUnopened(ctx, concerned, args); err != nil {
		return nil, err
	}
	// Of an account, somebody may have its pages open, or a river that has it among
	// others, or both.
	pages := `false`
	if r.Of != 0 {
		pages = `r.kind = ANY(@pages)`
	}
	query := `
		SELECT DISTINCT r.user_id, ` + pages + ` FROM leases l JOIN rivers r ON r.id = l.river_id
		WHERE l.until > clock_timestamp() AND ` + concerned + `
		ORDER BY 1, 2`
	rows, err := s.db.Query(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("read whose rivers are open: %w", err)
	}
	var left []timelines.Replace
	one := timelines.Replace{Kinds: r.Kinds, Terms: r.Terms, TheirIDs: r.TheirIDs}
	var ofPages bool
	_, err = pgx.ForEachRow(rows, []any{&one.ViewerID, &ofPages}, func() error {
		switch {
		case ofPages:
			one.Kinds, one.TheirIDs = among(r.Kinds, accountKinds()), []int64{r.Of}
		case r.Of != 0:
			one.Kinds, one.TheirIDs = among(r.Kinds, homeKinds()), r.TheirIDs
		}
		left = append(left, one)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read whose rivers are open: %w", err)
	}
	return left, nil
}

// accountKinds are the kinds of an account's pages, homeKinds those made of the
// accounts somebody follows.
func accountKinds() []string {
	return kindsThat(func(sp spec) bool { return sp.page.isAccounts() })
}

func homeKinds() []string { return kindsThat(func(sp spec) bool { return sp.home }) }

func kindsThat(has func(spec) bool) (kinds []string) {
	for _, k := range Kinds() {
		if has(specs[k]) {
			kinds = append(kinds, string(k))
		}
	}
	return kinds
}

// among returns those of all that are wanted; none wanted means all.
func among(wanted, all []string) []string {
	return slices.DeleteFunc(all, func(k string) bool { return len(wanted) > 0 && !slices.Contains(wanted, k) })
}

// retireUnopened retires those of the rivers concerned that nobody has open, and
// every build of one under way, whose snapshot may be older than the change: its
// builder starts again.
func (s *Store) retireUnopened(ctx context.Context, concerned string, args pgx.StrictNamedArgs) error {
	query := `
		UPDATE rivers SET state = 'retired', retired_at = clock_timestamp()
		WHERE id IN (
			SELECT id FROM rivers r
			WHERE ` + concerned + `
				AND (state = 'building' OR state = 'live' AND NOT EXISTS (
					SELECT FROM leases l WHERE l.river_id = r.id AND l.until > clock_timestamp()))
			ORDER BY id FOR UPDATE)`
	if _, err := s.db.Exec(ctx, query, args); err != nil {
		return fmt.Errorf("retire closed rivers: %w", err)
	}
	return nil
}

// Replace makes one viewer's rivers that a change of access or subscription
// concerns anew (DESIGN: the protocol, step 6). Closed ones and builds under way
// are retired; open ones are rebuilt down to their old floor, or to a depth of
// deepest, while the old generation still serves, and swapped. It returns the
// names swapped, for the bus. What the old generation still shows meanwhile is
// decided at render with the new access sets.
//
// For everybody, and for all whom an account's feeds concern, it does so for one
// viewer after the other; see Spread.
func (s *Store) Replace(ctx context.Context, r timelines.Replace) ([]Name, error) {
	if r.Everybody || r.Of != 0 {
		left, err := s.Spread(ctx, r)
		if err != nil {
			return nil, err
		}
		var swapped []Name
		for _, one := range left {
			names, err := s.Replace(ctx, one)
			if err != nil {
				return nil, err
			}
			swapped = append(swapped, names...)
		}
		return swapped, nil
	}
	concerned, args, err := s.replacedBy(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := s.retireUnopened(ctx, concerned, args); err != nil {
		return nil, err
	}
	// What is left live is open; and a page open on a river already retired (the
	// actor's own, see Retire) is swapped too.
	open := `
		SELECT DISTINCT ON (user_id, kind, their_id, term, ord) user_id, kind, their_id, term, ord,
			(SELECT CASE WHEN count(*) > @deepest THEN min(fresh_at) ELSE r.floor END
			FROM (SELECT e.fresh_at FROM entries e WHERE e.river_id = r.id AND NOT e.deleted
				ORDER BY e.fresh_at DESC, e.post_id DESC LIMIT @deepest + 1) newest),
			state = 'live'
		FROM rivers r
		WHERE ` + concerned + `
			AND (state = 'live' OR state = 'retired' AND EXISTS (
				SELECT FROM leases l WHERE l.river_id = r.id AND l.until > clock_timestamp()))
		ORDER BY user_id, kind, their_id, term, ord, state = 'live' DESC`
	args["deepest"] = deepest
	rows, err := s.db.Query(ctx, open, args)
	if err != nil {
		return nil, fmt.Errorf("read open rivers: %w", err)
	}
	var swapped []Name
	var floors []int64
	var n Name
	var floor int64
	var live bool
	_, err = pgx.ForEachRow(rows, []any{&n.UserID, &n.Kind, &n.TheirID, &n.Term, &n.Order, &floor, &live}, func() error {
		swapped = append(swapped, n)
		if !live {
			floor = math.MaxInt64
		}
		floors = append(floors, floor)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read open rivers: %w", err)
	}
	for i, n := range swapped {
		// A build runs to its end whatever becomes of ctx: look before the next.
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// Never join a build that began before the change.
		s.builds.Forget(buildKey(n, true))
		if err := s.rebuild(ctx, n, floors[i]); err != nil {
			return nil, err
		}
	}
	return swapped, nil
}

// rebuild builds a new generation in the place of the live one; a river whose
// post or list is gone is retired instead.
func (s *Store) rebuild(ctx context.Context, n Name, down int64) error {
	err := s.preflight(ctx, n)
	if errors.Is(err, ErrNotFound) {
		return s.retireNamed(ctx, n)
	}
	if err != nil {
		return err
	}
	err = s.build(ctx, n, &down)
	if errors.Is(err, timelines.ErrBroad) {
		return s.retireNamed(ctx, n) // its next visit says so
	}
	return err
}

func (s *Store) retireNamed(ctx context.Context, n Name) error {
	const query = `
		UPDATE rivers SET state = 'retired', retired_at = clock_timestamp()
		WHERE user_id = @user AND kind = @kind AND their_id = @their AND term = @term AND ord = @ord AND state = 'live'`
	if _, err := s.db.Exec(ctx, query, nameArgs(n)); err != nil {
		return fmt.Errorf("retire river: %w", err)
	}
	return nil
}
