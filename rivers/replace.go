package rivers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// Retire makes these rivers of one account cold, open or not. An account's own change of
// subscriptions does this at once, before the reply (protocol, step 2). The next visit
// builds another generation.
func (s *Store) Retire(ctx context.Context, r timelines.Replace) error {
	concerned, args, err := s.replacedBy(ctx, r)
	if err != nil {
		return err
	}
	query := retireThose + `r.id IN (
			SELECT id FROM rivers r
			WHERE ` + concerned + ` AND (state = 'live' OR state = 'building')
			ORDER BY id FOR UPDATE)`
	if _, err := s.db.Exec(ctx, query, args); err != nil {
		return fmt.Errorf("retire rivers: %w", err)
	}
	return nil
}

// replacedBy returns the condition on a river r that a Replace concerns it, and the
// condition's arguments. The condition asks only about what the Replace names, which has
// its index.
func (s *Store) replacedBy(ctx context.Context, r timelines.Replace) (string, pgx.StrictNamedArgs, error) {
	all, args := []string{"true"}, pgx.StrictNamedArgs{}
	switch {
	case r.AccountID != 0:
		// Accounts that follow or leave from now on have their own rivers to replace.
		followers, err := s.primary.Subscriptions.SubscriberIDs(ctx, r.AccountID)
		if err != nil {
			return "", nil, err
		}
		all = append(all, `(r.their_id = @of AND r.kind = ANY(@pages) OR r.user_id = ANY(@followers) AND r.kind = ANY(@homes))`)
		args["of"], args["followers"] = r.AccountID, append(followers, r.AccountID)
		args["pages"], args["homes"] = accountKinds(), followBasedKinds()
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

// deepest is how many entries of an open river are rebuilt at once. A river that was once
// read to its end, and has been open or visited ever since, has grown by everything that
// came meanwhile, and no build could bring years of posts in time. A deeper page extends
// the new river again.
const deepest = 20 * chunk

// Stale is an open river that a change of access or subscription invalidated.
type Stale struct {
	Name Name
	// Tx is the number of the change's transaction (see timelines.Replace). A generation
	// whose snapshot sees it knows the change.
	Tx int64
}

// unawareOfTx is the condition on a river r that it was built, or is being built, from a
// state that may be older than the change of @tx. Times cannot tell: a build reads a moment
// before it stands here, and a change is committed a moment before its job looks. Nor can
// the access clock: a first tag does not move it. (A primary server that crashes may give
// out again the number of a transaction that was rolled back in its last moments. A
// generation from before that would seem to know the later one. If the secondary store is
// on another server and survives, the next change or the river's expiry replaces it.)
const unawareOfTx = `NOT pg_visible_in_snapshot(@tx::bigint::text::xid8, r.knows)`

// Spread begins to replace the rivers that a change of access or subscription invalidated
// (protocol, step 6). Rivers built since the change know it and stay. Closed rivers, and
// builds under way, are retired. Spread returns the rivers that somebody has open. Each
// must be rebuilt by Rebuild, in any order and by any node. So the work of a change has as
// many short parts as there are open rivers: no page waits for all the others, and a part
// that fails is repeated alone. Meanwhile old generations are decided at render with the
// new access sets.
func (s *Store) Spread(ctx context.Context, r timelines.Replace) ([]Stale, error) {
	tx, err := s.txOf(ctx, r.Tx)
	if err != nil {
		return nil, err
	}
	concerned, args, err := s.replacedBy(ctx, r)
	if err != nil {
		return nil, err
	}
	concerned += ` AND ` + unawareOfTx
	args["tx"] = tx
	if err := s.retireUnopened(ctx, concerned, args); err != nil {
		return nil, err
	}
	query := `SELECT DISTINCT user_id, kind, their_id, term, ord FROM rivers r WHERE ` + concerned + ` AND ` + leftOpen
	return collect(ctx, s, "read open rivers", query, args, func(row pgx.CollectableRow) (Stale, error) {
		r := Stale{Tx: tx}
		n := &r.Name
		err := row.Scan(&n.UserID, &n.Kind, &n.TheirID, &n.Term, &n.Order)
		return r, err
	})
}

// txOf returns the number of a change's transaction. If it is not known, it returns a
// number that only generations built from now on see.
func (s *Store) txOf(ctx context.Context, tx int64) (int64, error) {
	if tx != 0 {
		return tx, nil
	}
	return s.primary.TxNow(ctx)
}

// leftOpen is the condition on a river r that it must be rebuilt, once retireUnopened ran.
// A river that is still live then was open, even if its lease has ended since. And a page
// may be open on a river that is retired already (the actor's own, see Retire).
const leftOpen = `(r.state = 'live' OR r.state = 'retired' AND EXISTS (
	SELECT FROM leases l WHERE l.river_id = r.id AND l.until > clock_timestamp()))`

// accountKinds are the kinds of an account's pages; followBasedKinds, those made of what
// followed accounts do.
func accountKinds() []string {
	return kindsThat(func(sp spec) bool { return sp.page.isAccounts() })
}

func followBasedKinds() []string { return kindsThat(func(sp spec) bool { return sp.followBased }) }

func kindsThat(has func(spec) bool) (kinds []string) {
	for _, k := range Kinds() {
		if has(specs[k]) {
			kinds = append(kinds, string(k))
		}
	}
	return kinds
}

// retireUnopened retires the rivers concerned that nobody has open, and every build of one
// that is under way, whose builder starts again.
func (s *Store) retireUnopened(ctx context.Context, concerned string, args pgx.StrictNamedArgs) error {
	query := retireThose + `r.id IN (
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

// Rebuild makes a new generation of a river that Spread returned, down to its old floor or
// to a depth of deepest, and swaps it in; the old generation serves until then. It does
// nothing if that was done since, for another change or by a visit. A river that was
// closed meanwhile is retired. So is a river whose page may not be opened any more, or
// whose post or list is gone. It reports whether pages may show a generation that is not
// the present one, and must be told. It never joins a build that may have read the state
// before the change.
func (s *Store) Rebuild(ctx context.Context, r Stale) (swapped bool, _ error) {
	n := r.Name
	const invalidated = named + ` AND ` + unawareOfTx
	args := nameArgs(n)
	var err error
	if args["tx"], err = s.txOf(ctx, r.Tx); err != nil {
		return false, err
	}
	if err := s.retireUnopened(ctx, invalidated, args); err != nil {
		return false, err
	}
	const open = `
		SELECT ` + depthOf + `,
			state = 'live', EXISTS (
				SELECT FROM rivers r WHERE ` + named + ` AND NOT ` + unawareOfTx + ` AND r.state = 'live')
		FROM rivers r
		WHERE ` + invalidated + ` AND ` + leftOpen + `
		ORDER BY state = 'live' DESC LIMIT 1`
	args["deepest"] = deepest
	var floor int64
	var live, done bool
	err = s.db.QueryRow(ctx, open, args).Scan(&floor, &live, &done)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read open river: %w", err)
	}
	if done {
		return true, nil
	}
	if !live {
		floor = math.MaxInt64
	}
	s.builds.Forget(buildKey(n, true))
	err = s.mayHave(ctx, n)
	if err == nil {
		err = s.build(ctx, n, ForChange, &floor)
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForbidden) || errors.Is(err, snapshot.ErrBroad) {
		return true, s.retireNamed(ctx, n) // its next visit returns the error
	}
	return err == nil, err
}

// depthOf is how deep a river r is rebuilt: down to its floor, or to a depth of @deepest.
const depthOf = `(
	SELECT CASE WHEN count(*) > @deepest THEN min(fresh_at) ELSE r.floor END
	FROM (SELECT e.fresh_at FROM entries e WHERE e.river_id = r.id AND NOT e.deleted
		ORDER BY e.fresh_at DESC, e.post_id DESC LIMIT @deepest + 1) newest)`

// Remake makes a new generation of a river that stands, though nothing is known to be wrong with it,
// and swaps it in. A build that another process has under way does instead. A river whose page may not be
// opened any more is retired. Pages may show the former generation, and must be told. Errors: ErrNotFound
// if no river stands or its page is gone, ErrForbidden.
func (s *Store) Remake(ctx context.Context, n Name) error {
	const live = `SELECT ` + depthOf + ` FROM rivers r WHERE ` + named + ` AND r.state = 'live' AND r.epoch = (SELECT epoch FROM clock)`
	args := nameArgs(n)
	args["deepest"] = deepest
	var floor int64
	err := s.db.QueryRow(ctx, live, args).Scan(&floor)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read river: %w", err)
	}
	if err = s.mayHave(ctx, n); err == nil {
		key := buildKey(n, true)
		s.builds.Forget(key) // it may have read an older state
		err = s.build(ctx, n, ForRequest, &floor)
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForbidden) {
		if retired := s.retireNamed(ctx, n); retired != nil {
			return retired
		}
	}
	return err
}

// mayHave checks what a visit checks before it makes a river. Errors: ErrForbidden,
// ErrNotFound.
func (s *Store) mayHave(ctx context.Context, n Name) error {
	if err := s.RefreshAccess(ctx); err != nil {
		return err
	}
	sets, err := s.access.Sets(ctx, n.UserID)
	if err != nil {
		return err
	}
	if err := s.mayOpen(ctx, n, sets); err != nil {
		return err
	}
	return s.preflight(ctx, n)
}

func (s *Store) retireNamed(ctx context.Context, n Name) error {
	if _, err := s.db.Exec(ctx, retireThose+named+` AND r.state = 'live'`, nameArgs(n)); err != nil {
		return fmt.Errorf("retire river: %w", err)
	}
	return nil
}
