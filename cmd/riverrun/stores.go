package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/jobs"
	"riverrun/migrations"
	"riverrun/migrations/localpg"
	"riverrun/timelines/outage"
)

// stores are connections to both stores.
type stores struct {
	primary, secondary *pgxpool.Pool
	// neighbour is a database of the same server, from which the secondary one is made again if
	// it is lost; empty if the operator made it.
	neighbour string
	// cluster is the local PostgreSQL they stand in; nil if the operator runs one.
	cluster *localpg.Cluster
}

// ownership says how to react if another process runs the local PostgreSQL.
type ownership bool

const (
	// host: refuse. The server stops with the riverrun that started it, so a riverrun that
	// serves people must start it itself.
	host ownership = true
	// guest: use it.
	guest ownership = false
)

// openStores connects to both stores. With no DATABASE_URL it brings the local
// PostgreSQL up first. It makes the secondary database if it may.
func openStores(ctx context.Context, c *config, log *slog.Logger, as ownership) (_ *stores, err error) {
	s, err := openPrimary(ctx, c, log, as)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(context.WithoutCancel(ctx), c))
		}
	}()
	secondary := c.secondary
	if secondary == nil {
		secondary = s.primary.Config()
		s.neighbour = secondary.ConnConfig.Database
		secondary.ConnConfig.Database += "_rivers"
		if err := migrations.Create(ctx, secondary.ConnConfig, s.neighbour); err != nil {
			return nil, fmt.Errorf("secondary store (or set RIVERS_DATABASE_URL): %w", err)
		}
	}
	// Rivers can be made again from timelines, so none of their writes waits for a disk.
	secondary.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	if s.secondary, err = c.pool(ctx, secondary); err != nil {
		return nil, fmt.Errorf("secondary store: %w", err)
	}
	return s, nil
}

// openPrimary connects to the primary store alone, for commands that have to do without the
// other one.
func openPrimary(ctx context.Context, c *config, log *slog.Logger, as ownership) (_ *stores, err error) {
	s := &stores{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(context.WithoutCancel(ctx), c))
		}
	}()
	primary := c.primary
	if primary == nil {
		if primary, err = s.local(ctx, c, log, as); err != nil {
			return nil, err
		}
	} else {
		log.InfoContext(ctx, "using the database of DATABASE_URL", "host", primary.ConnConfig.Host, "database", primary.ConnConfig.Database)
	}
	if s.primary, err = c.pool(ctx, primary); err != nil {
		return nil, fmt.Errorf("primary store: %w", err)
	}
	return s, nil
}

// local starts the local PostgreSQL, or finds the server that another process runs, and
// returns how to reach the primary store in it.
func (s *stores) local(ctx context.Context, c *config, log *slog.Logger, as ownership) (*pgxpool.Config, error) {
	start := localpg.Open
	if as == host {
		start = localpg.Start
	} else if err := c.oneTown(); err != nil {
		return nil, err
	}
	log.InfoContext(ctx, "using the local PostgreSQL", "data_directory", c.data)
	cluster, err := start(ctx, localpg.Config{Dir: c.data, Log: log})
	if err != nil {
		return nil, err
	}
	s.cluster = cluster
	primary, err := pgxpool.ParseConfig(cluster.URL("riverrun"))
	if err != nil {
		return nil, err
	}
	return primary, migrations.Create(ctx, primary.ConnConfig, "postgres")
}

// oneTown refuses to begin a second, empty site beside a running one, whose server another
// user started and whose data is elsewhere.
func (c *config) oneTown() error {
	if _, running := localpg.Running(c.data); running {
		return nil
	}
	for _, dir := range c.otherData {
		if owner, running := localpg.Running(dir); running {
			return fmt.Errorf("%s runs with the data in %s, and nothing runs with the data in %s: "+
				"run this command as the user who started that one, or set RIVERRUN_DATA to the directory you mean", owner, dir, c.data)
		}
	}
	return nil
}

// pool connects, so that a wrong address is an error now.
func (c *config) pool(ctx context.Context, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	cfg = cfg.Copy()
	cfg.MaxConns = int32(c.connections)
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "riverrun"
	}
	// Statements take milliseconds. If the planner overestimates one, as it may for a table it
	// knows little about, compiling would take far longer than running it.
	if cfg.ConnConfig.RuntimeParams["jit"] == "" {
		cfg.ConnConfig.RuntimeParams["jit"] = "off"
	}
	// Nearly all statements have one good plan, whatever their arguments, and to plan them anew would take longer than
	// most of them take. Searches ask for plans of their own (timelines/snapshot).
	if cfg.ConnConfig.RuntimeParams["plan_cache_mode"] == "" {
		cfg.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	}
	// A connection under way holds its place in the pool even if nobody waits for it any more.
	// The time of an answer is bounded by the context of the statement.
	if own := cfg.ConnConfig.ConnectTimeout; own == 0 || own > c.databaseTimeout {
		cfg.ConnConfig.ConnectTimeout = c.databaseTimeout
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// migrate brings both stores up to date.
func (s *stores) migrate(ctx context.Context) error {
	return errors.Join(migrations.Primary(ctx, s.primary, jobs.Migrate), migrations.Secondary(ctx, s.secondary))
}

// advise adds to an error about a store of an earlier build what to do.
func (s *stores) advise(c *config, err error) error {
	if !errors.Is(err, migrations.ErrEarlierBuild) {
		return err
	}
	const again = "drop the database %s and create it again, empty"
	anew := fmt.Sprintf(again, s.primary.Config().ConnConfig.Database)
	if s.cluster != nil {
		anew = fmt.Sprintf("stop every riverrun that uses the directory %s and move the directory away", c.data)
	}
	if s.cluster == nil || s.neighbour == "" {
		anew += "; " + fmt.Sprintf(again, s.secondary.Config().ConnConfig.Database)
	}
	return fmt.Errorf("%w\nNothing was changed: the build that made the data still works with it, and no command brings it over.\n"+
		"To begin with an empty site: %s", err, anew)
}

// restoreTimeout bounds making the secondary store again. Making a database may take some
// seconds.
const restoreTimeout = time.Minute

// restore makes the secondary store again if its tables are lost, or its database if riverrun
// made that. If nothing is lost it costs one statement.
func (s *stores) restore(ctx context.Context, log *slog.Logger) error {
	restored, err := migrations.RestoreSecondary(ctx, s.secondary)
	if s.neighbour != "" && outage.Missing(err) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
		defer cancel()
		if err := migrations.Create(ctx, s.secondary.Config().ConnConfig, s.neighbour); err != nil {
			return fmt.Errorf("secondary store: %w", err)
		}
		restored, err = migrations.RestoreSecondary(ctx, s.secondary)
	}
	if restored {
		log.WarnContext(ctx, "the secondary store was lost and has been made again")
	}
	return err
}

// close gives all connections back, then stops the local PostgreSQL. It takes
// about c.stopTimeout at most.
func (s *stores) close(ctx context.Context, c *config) error {
	ctx, cancel := context.WithTimeout(ctx, c.stopTimeout)
	defer cancel()
	var errs []error
	for name, pool := range map[string]*pgxpool.Pool{"primary": s.primary, "secondary": s.secondary} {
		if pool == nil {
			continue
		}
		closed := make(chan struct{})
		go func() {
			pool.Close() // waits for connections that are in use
			close(closed)
		}()
		select {
		case <-closed:
		case <-ctx.Done():
			errs = append(errs, fmt.Errorf("%s store: %d connections are still in use", name, pool.Stat().AcquiredConns()))
		}
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Stop(ctx))
	}
	return errors.Join(errs...)
}
