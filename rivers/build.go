package rivers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/snapshot"
)

// buildTimeout ends a build. The writers' deadline bounds it anyway.
const buildTimeout = 45 * time.Second

// A builder gives a sign of life every builderAlive, however long its snapshot takes. One
// that is silent for builderDead is taken over. Visitors wait that long for a page that a
// killed node was building, and should have it within five seconds.
const (
	builderDead  = 4 * time.Second
	builderAlive = builderDead / 5
)

// errJoined rolls back a registration that came too late.
var errJoined = errors.New("already built")

// errAgain: the river's timelines or its building row changed during the build, or its
// deadline passed.
var errAgain = errors.New("build overtaken")

// build makes the river of a name (protocol, step 5). One builder in all nodes works on a
// name, and others wait for it. With replace it makes a new generation though one is live,
// at least down to that place.
//
// It runs to its end even if the visitor who began it leaves, because others may wait.
func (s *Store) build(ctx context.Context, n Name, why BuildCause, replace *int64) error {
	return s.oncePerKey(ctx, buildKey(n, replace != nil), func(ctx context.Context) error {
		return s.buildHere(ctx, n, why, replace)
	})
}

// oncePerKey runs fn once for all callers on this node who ask for the same key at the same
// time, for up to buildTimeout, even if the first caller leaves. It returns when fn is done
// or ctx ends. Stop ends fn.
func (s *Store) oncePerKey(ctx context.Context, key string, fn func(context.Context) error) error {
	done := s.builds.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), buildTimeout)
		defer cancel()
		leave, err := s.building.enter(cancel)
		if err != nil {
			return nil, err
		}
		defer leave()
		return nil, fn(ctx)
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// underway is the work that goes on for several callers, and that ends with the store.
type underway struct {
	ending context.Context
	end    context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex // locked to begin work, and to stop
}

func newUnderway() *underway {
	u := &underway{}
	u.ending, u.end = context.WithCancel(context.Background())
	return u
}

// enter registers work that cancel ends. It fails once the store stops.
func (u *underway) enter(cancel context.CancelFunc) (leave func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ending.Err() != nil {
		return nil, fmt.Errorf("the store is stopped: %w", ErrUnavailable)
	}
	u.wg.Add(1)
	forget := context.AfterFunc(u.ending, cancel)
	return func() {
		forget()
		u.wg.Done()
	}, nil
}

// stop ends the work and waits for it, or for the end of ctx.
func (u *underway) stop(ctx context.Context) error {
	u.mu.Lock()
	u.end()
	u.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		u.wg.Wait()
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop building rivers: %w", ctx.Err())
	}
}

// buildKey keeps builds that replace apart from those that do not. The latter do nothing if
// a river is live; the former begin there.
func buildKey(n Name, replace bool) string { return fmt.Sprintf("build %v %t", n, replace) }

func (s *Store) buildHere(ctx context.Context, n Name, why BuildCause, replace *int64) error {
	down := int64(math.MaxInt64)
	if replace != nil {
		down = *replace
	}
	began := time.Now()
	wait := 5 * time.Millisecond
	for {
		id, joined, err := s.register(ctx, n, why, replace != nil)
		if err != nil {
			return err
		}
		if !joined {
			count, err := s.fill(ctx, n, id, down)
			if err == nil {
				s.opts.Metrics.Built(n.Kind, why, count, time.Since(began))
				return nil
			}
			if !errors.Is(err, errAgain) {
				return errors.Join(err, s.abandon(context.WithoutCancel(ctx), id))
			}
			if err := s.abandon(ctx, id); err != nil {
				return err
			}
			continue
		}
		if live, err := isLive(ctx, s.db, n); err != nil || live {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("wait for another's build of %s: %w", n.Kind, ctx.Err())
		case <-timer.C:
		}
		wait = min(wait*2, 100*time.Millisecond)
	}
}

// register commits the building row with its timelines, before any snapshot that entries
// are read from. The row also says which transactions the snapshot of the timelines sees;
// the later snapshots see them too. joined means that somebody else builds this name or,
// unless a live generation is to be replaced, has just built it. A builder that is silent
// for builderDead, or of another epoch, is retired and replaced.
func (s *Store) register(ctx context.Context, n Name, why BuildCause, replace bool) (id int64, joined bool, err error) {
	asof, err := s.now(ctx)
	if err != nil {
		return 0, false, err
	}
	var ids []int64
	var knows string
	err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		if knows, err = sn.Sees(ctx); err != nil {
			return err
		}
		ids, err = specs[n.Kind].content.timelineIDs(ctx, sn, n)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	pause(ctx, beforeRegister)
	id = newID()
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if joined, err = insertBuilding(ctx, tx, n, why, id, knows, asof); err != nil || joined {
			return err
		}
		if !replace {
			// This statement must come after the insert, which may have waited for another
			// builder's swap: only a later statement sees what that swap made live.
			if joined, err = isLive(ctx, tx, n); err != nil {
				return err
			}
			if joined {
				return errJoined
			}
		}
		const list = `
			INSERT INTO rivers_timelines (river_id, timeline_id)
			SELECT @id, t FROM unnest(@timelines::bigint[]) t`
		_, err = tx.Exec(ctx, list, pgx.StrictNamedArgs{"id": id, "timelines": ids})
		return err
	})
	if err != nil && !errors.Is(err, errJoined) {
		return 0, false, fmt.Errorf("register %s river: %w", n.Kind, err)
	}
	if joined {
		// A lost clock row also looks like this: nothing was inserted.
		if _, err := s.clock(ctx); err != nil {
			return 0, false, err
		}
		return 0, true, nil
	}
	pause(ctx, afterRegister)
	return id, false, nil
}

// insertBuilding inserts a building row, in the place of a builder's that is dead. joined
// means that another builder's row stands, or that the epoch is over.
func insertBuilding(ctx context.Context, tx pgx.Tx, n Name, why BuildCause, id int64, knows string, asof moment) (joined bool, err error) {
	const takeOver = retireThose + named + ` AND r.state = 'building'
		AND (r.updated_at < clock_timestamp() - @dead::interval OR r.epoch IS DISTINCT FROM (SELECT epoch FROM clock))`
	args := nameArgs(n)
	args["dead"] = builderDead
	if _, err := tx.Exec(ctx, takeOver, args); err != nil {
		return false, err
	}
	const insert = `
		INSERT INTO rivers (id, user_id, kind, their_id, term, ord, knows, cause, epoch, state)
		SELECT @id, @user, @kind, @their, @term, @ord, @knows::text::pg_snapshot, @cause, epoch, 'building' FROM clock WHERE epoch = @epoch
		ON CONFLICT (user_id, kind, their_id, term, ord) WHERE state = 'building' DO NOTHING`
	args = nameArgs(n)
	args["id"], args["knows"], args["cause"], args["epoch"] = id, knows, why, asof.epoch
	tag, err := tx.Exec(ctx, insert, args)
	return err == nil && tag.RowsAffected() == 0, err
}

// named is the condition that a river r has the name in nameArgs. At most one such river is
// live, and at most one is being built.
const named = `r.user_id = @user AND r.kind = @kind AND r.their_id = @their AND r.term = @term AND r.ord = @ord`

// retireThose begins a statement that retires the rivers r for which the condition after it
// holds.
const retireThose = `UPDATE rivers r SET state = 'retired', retired_at = clock_timestamp() WHERE `

func nameArgs(n Name) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"user": n.UserID, "kind": n.Kind, "their": n.TheirID, "term": n.Term, "ord": n.Order}
}

// fill builds the registered river and swaps it in.
func (s *Store) fill(ctx context.Context, n Name, id, down int64) (int, error) {
	defer s.keepAlive(ctx, id)()
	asof, err := s.now(ctx) // before anything that it will write is read
	if err != nil {
		return 0, err
	}
	g, err := s.generation(ctx, n, id)
	if err != nil {
		return 0, err
	}
	c, err := s.readChunk(ctx, g, stretch{
		place: math.MaxInt64, post: math.MaxInt64, down: down, limit: firstChunk, first: true, folds: staleFolds,
	})
	if err != nil {
		return 0, err
	}
	pause(ctx, afterSnapshot)
	if err := s.storeChunk(ctx, c, asof); err != nil {
		return 0, err
	}
	return len(c.entries), s.swap(ctx, n, id, c.scanned, asof)
}

// keepAlive gives the builder's sign of life until stop is called. Without it, two nodes
// that each need longer than builderDead would take over from each other without end.
func (s *Store) keepAlive(ctx context.Context, id int64) (stop func()) {
	const query = `UPDATE rivers SET updated_at = clock_timestamp() WHERE id = @id AND state = 'building'`
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(builderAlive)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if _, err := s.db.Exec(ctx, query, pgx.StrictNamedArgs{"id": id}); err != nil && ctx.Err() == nil {
				// At worst another builder does the work again.
				s.log.WarnContext(ctx, "builder gave no sign of life", "error", err)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// swap puts the built river in the place of the live one of its name, if its row still
// stands, its epoch is still the store's, and its deadline holds. Pages that are open on the
// live river may show more than the built one holds, so it counts as extended if that does.
func (s *Store) swap(ctx context.Context, n Name, id int64, scanned snapshot.Scanned, asof moment) error {
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		const lock = `
			SELECT coalesce(bool_or(extended AND id <> @id), false)
			FROM (SELECT * FROM rivers r WHERE r.id = @id OR ` + named + ` AND r.state = 'live' ORDER BY r.id FOR UPDATE) r`
		args := nameArgs(n)
		args["id"] = id
		var extended bool
		if err := tx.QueryRow(ctx, lock, args).Scan(&extended); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, retireThose+named+` AND r.state = 'live'`, nameArgs(n)); err != nil {
			return err
		}
		const live = `
			UPDATE rivers SET state = 'live', finished = @finished, floor = @floor, extended = @extended, updated_at = @asof
			WHERE id = @id AND state = 'building' AND epoch = (SELECT epoch FROM clock)
				AND clock_timestamp() < @deadline`
		tag, err := tx.Exec(ctx, live, pgx.StrictNamedArgs{
			"id": id, "finished": scanned.Finished, "floor": scanned.Floor, "extended": extended, "asof": asof.time, "deadline": asof.time.Add(s.deadline),
		})
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return errAgain
		}
		return nil
	})
	if err != nil && !errors.Is(err, errAgain) {
		return fmt.Errorf("swap in %s river: %w", n.Kind, err)
	}
	return err
}

func (s *Store) abandon(ctx context.Context, id int64) error {
	const query = retireThose + `r.id = @id AND r.state = 'building'`
	if _, err := s.db.Exec(ctx, query, pgx.StrictNamedArgs{"id": id}); err != nil {
		return fmt.Errorf("abandon building river: %w", err)
	}
	return nil
}

func isLive(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, n Name,
) (bool, error) {
	const query = `
		SELECT EXISTS (SELECT FROM rivers r WHERE ` + named + ` AND r.state = 'live' AND r.epoch = (SELECT epoch FROM clock))`
	var live bool
	if err := db.QueryRow(ctx, query, nameArgs(n)).Scan(&live); err != nil {
		return false, fmt.Errorf("look for %s river: %w", n.Kind, err)
	}
	return live, nil
}
