package site

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/jobs"
	"riverrun/migrations"
)

// Stand is a PostgreSQL with both stores, for what is measured within this process. What Keep has kept of
// the primary store Restore brings back. Its methods are not safe for concurrent use.
type Stand struct {
	Primary, Secondary *pgxpool.Pool

	site  *Site
	told  *pgxpool.Pool // the secondary store, for the counters
	empty int64         // how many bytes that takes when it is empty
}

// The databases of a stand.
const (
	standing       = "stand"
	standingRivers = standing + "_rivers"
	kept           = "_kept" // follows the name of the database that was copied
)

// OpenStand starts the PostgreSQL in c.Dir, and makes the primary store anew. Anew makes the other.
func OpenStand(ctx context.Context, c Config) (_ *Stand, err error) {
	s := &Stand{site: &Site{config: c}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
		}
	}()
	if err := s.site.startCluster(ctx); err != nil {
		return nil, err
	}
	if err := s.site.drop(ctx, standing, standing+kept, standingRivers, standingRivers+kept); err != nil {
		return nil, err
	}
	if s.Primary, err = s.create(ctx, standing); err != nil {
		return nil, err
	}
	if err := migrations.Primary(ctx, s.Primary, jobs.Migrate); err != nil {
		return nil, err
	}
	empty, err := s.create(ctx, standingRivers+kept)
	if err != nil {
		return nil, err
	}
	defer empty.Close()
	return s, migrations.Secondary(ctx, empty)
}

// Keep keeps the primary store as it is now. Nobody may use it until Restore.
func (s *Stand) Keep(ctx context.Context) error {
	if _, err := s.Primary.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		return err
	}
	s.Primary.Close()
	s.Primary = nil
	_, err := s.site.admin.Exec(ctx, "ALTER DATABASE "+standing+" RENAME TO "+standing+kept)
	return err
}

// Restore makes the primary store what it was at Keep. Nobody may use it meanwhile.
func (s *Stand) Restore(ctx context.Context) (err error) {
	s.close()
	if s.Primary != nil {
		s.Primary.Close()
		s.Primary = nil
	}
	if err := s.copy(ctx, standing); err != nil {
		return err
	}
	s.Primary, err = s.open(ctx, standing, nil)
	return err
}

// Anew makes the secondary store anew, empty. Nobody may use the old one any more.
func (s *Stand) Anew(ctx context.Context) (err error) {
	s.close()
	if err := s.copy(ctx, standingRivers); err != nil {
		return err
	}
	// As riverrun opens it.
	if s.Secondary, err = s.open(ctx, standingRivers, map[string]string{"synchronous_commit": "off"}); err != nil {
		return err
	}
	if s.told, err = s.site.pool(ctx, standingRivers); err != nil {
		return err
	}
	s.empty = 0
	s.empty, err = s.Stored(ctx)
	return err
}

// close closes what Anew opened.
func (s *Stand) close() {
	for _, pool := range []*pgxpool.Pool{s.Secondary, s.told} {
		if pool != nil {
			pool.Close()
		}
	}
	s.Secondary, s.told = nil, nil
}

// create makes an empty database and opens it.
func (s *Stand) create(ctx context.Context, database string) (*pgxpool.Pool, error) {
	cfg, err := pgx.ParseConfig(s.site.cluster.URL(database))
	if err != nil {
		return nil, err
	}
	if err := migrations.Create(ctx, cfg, "postgres"); err != nil {
		return nil, err
	}
	return s.open(ctx, database, nil)
}

// copy makes a database anew, as its copy that is kept.
func (s *Stand) copy(ctx context.Context, database string) error {
	if err := s.site.drop(ctx, database); err != nil {
		return err
	}
	_, err := s.site.admin.Exec(ctx, "CREATE DATABASE "+database+" TEMPLATE "+database+kept)
	return err
}

func (s *Stand) open(ctx context.Context, database string, settings map[string]string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(s.site.cluster.URL(database))
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 20
	cfg.ConnConfig.RuntimeParams["jit"] = "off"
	cfg.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	maps.Copy(cfg.ConnConfig.RuntimeParams, settings)
	return pgxpool.NewWithConfig(ctx, cfg)
}

// Close stops all that OpenStand started.
func (s *Stand) Close(ctx context.Context) error {
	s.close()
	if s.Primary != nil {
		s.Primary.Close()
	}
	return s.site.Close(ctx)
}

// Processor returns the processor time of this process and of PostgreSQL since they started.
func (s *Stand) Processor() (Usage, error) {
	var u Usage
	postmaster, err := s.site.postmaster()
	if err != nil {
		return u, err
	}
	var errs [2]error
	u.PostgreSQL, errs[0] = processor(postmaster, true)
	u.Own, errs[1] = own()
	return u, errors.Join(errs[:]...)
}

// Written returns how many rows of the secondary store were inserted, updated and deleted since it
// was made. It closes that store's connections, because PostgreSQL counts what one wrote when it
// ends, or some seconds later.
func (s *Stand) Written(ctx context.Context) (rows int64, err error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		// Each time anew: the upkeep of rivers may have opened a connection since, which would stay open.
		s.Secondary.Reset()
		const query = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = @database AND application_name <> @ours AND backend_type = 'client backend')`
		args := pgx.StrictNamedArgs{"database": standingRivers, "ours": role}
		var open bool
		if err := s.site.admin.QueryRow(ctx, query, args).Scan(&open); err != nil {
			return 0, err
		}
		if !open {
			break
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
	}
	const query = `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint FROM pg_stat_user_tables`
	return rows, s.told.QueryRow(ctx, query).Scan(&rows)
}

// Stored returns how many bytes the secondary store takes beyond what it takes when it is empty.
func (s *Stand) Stored(ctx context.Context) (bytes int64, err error) {
	const query = `SELECT pg_database_size(current_database())`
	err = s.told.QueryRow(ctx, query).Scan(&bytes)
	return bytes - s.empty, err
}
