package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/cmd/riverbench/town"
	"riverrun/jobs"
	"riverrun/migrations"
	"riverrun/migrations/localpg"
	"riverrun/timelines"
)

// Config says what to measure.
type Config struct {
	// Dir keeps the PostgreSQL and the towns between runs. A town is made once for each seed, size,
	// generator and schema, and copied for each run.
	Dir string
	// Riverrun is the path of the program.
	Riverrun string
	Seed     uint64
	Scale    float64
	// Posts is how many posts the town has, 0 if that is by Scale.
	Posts int
	// Env are settings of riverrun ("RIVERRUN_WORKERS=4").
	Env []string
	// Log gets a line about everything that takes long.
	Log io.Writer
}

// Size is how much there is in the town.
func (c Config) Size() town.Size {
	size := town.SizeOf(c.Scale)
	if c.Posts > 0 {
		size = size.WithPosts(c.Posts)
	}
	return size
}

// Password is everybody's.
const Password = "correct horse"

// The databases of the run: a copy of the town, and its rivers.
const (
	served = "riverrun"
	rivers = served + "_rivers"
)

// Site is a running site. Its methods are safe for concurrent use, except Restart, Crash and Close.
type Site struct {
	// URL is where it is served. Restart changes it.
	URL string
	// Town is who lives there.
	Town *town.Town

	config  Config
	cluster *localpg.Cluster
	admin   *pgxpool.Pool // as our own role, so that our statements can be told from the site's
	served  *pgxpool.Pool // the same, in the database that is served
	rivers  *pgxpool.Pool // the same, in that of its rivers
	server  *server
}

// Open starts a site with a fresh copy of the town, which it makes first if there is none.
func Open(ctx context.Context, c Config) (_ *Site, err error) {
	s := &Site{config: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
		}
	}()
	if err := s.startCluster(ctx); err != nil {
		return nil, err
	}
	// The database's ids are new in each run, so that the statements of earlier ones only take room.
	if _, err := s.admin.Exec(ctx, `SELECT pg_stat_statements_reset()`); err != nil {
		return nil, err
	}
	s.Town = town.NewSized(c.Seed, c.Size(), time.Now())
	original, err := s.make(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the town: %w", err)
	}
	if err := s.drop(ctx, served, rivers); err != nil {
		return nil, err
	}
	if _, err := s.admin.Exec(ctx, "CREATE DATABASE "+served+" TEMPLATE "+original+" STRATEGY FILE_COPY"); err != nil {
		return nil, err
	}
	return s, s.serve(ctx, anywhere)
}

// startCluster starts the PostgreSQL.
func (s *Site) startCluster(ctx context.Context) (err error) {
	if s.cluster, err = localpg.Start(ctx, localpg.Config{
		Dir: s.config.Dir,
		Settings: map[string]string{
			"shared_preload_libraries": "pg_stat_statements",
			"max_connections":          "200",
		},
		Log: slog.New(slog.NewTextHandler(s.config.Log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}); err != nil {
		return err
	}
	if s.admin, err = s.pool(ctx, "postgres"); err != nil {
		return err
	}
	_, err = s.admin.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`)
	return err
}

// anywhere is an address with a port that is free.
const anywhere = "127.0.0.1:0"

// serve starts riverrun at an address.
func (s *Site) serve(ctx context.Context, listen string) (err error) {
	if s.server, err = start(ctx, s.config, s.cluster.URL(served), listen); err != nil {
		return err
	}
	s.URL = s.server.url
	if s.served, err = s.pool(ctx, served); err != nil {
		return err
	}
	s.rivers, err = s.pool(ctx, rivers)
	return err
}

// Restart ends the server, and starts one with the same town. People remain signed in.
func (s *Site) Restart(ctx context.Context) error {
	if err := s.stop(); err != nil {
		return err
	}
	return s.serve(ctx, anywhere)
}

// Crash kills the server, and starts one with the same town at the same address.
func (s *Site) Crash(ctx context.Context) error {
	if s.server != nil {
		s.server.kill()
		s.server = nil
	}
	return errors.Join(s.stop(), s.serve(ctx, strings.TrimPrefix(s.URL, "http://")))
}

// stop ends it.
func (s *Site) stop() error {
	for _, pool := range []*pgxpool.Pool{s.served, s.rivers} {
		if pool != nil {
			pool.Close()
		}
	}
	s.served, s.rivers = nil, nil
	if s.server == nil {
		return nil
	}
	err := s.server.stop()
	s.server = nil
	return err
}

// Close stops all that Open started, and drops the copy of the town. The town stays as it was made.
func (s *Site) Close(ctx context.Context) error {
	err := s.stop()
	if s.admin != nil {
		err = errors.Join(err, s.drop(ctx, served, rivers))
		s.admin.Close()
	}
	if s.cluster != nil {
		err = errors.Join(err, s.cluster.Stop(ctx))
	}
	return err
}

// role is who we are in PostgreSQL.
const role = "riverbench"

// pool opens a database as our role.
func (s *Site) pool(ctx context.Context, database string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(s.cluster.URL(database))
	if err != nil {
		return nil, err
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = role
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `
			DO $$ BEGIN
				IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '`+role+`') THEN
					CREATE ROLE `+role+` SUPERUSER;
				END IF;
			END $$;
			SET ROLE `+role)
		return err
	}
	return pgxpool.NewWithConfig(ctx, cfg)
}

func (s *Site) drop(ctx context.Context, databases ...string) error {
	for _, name := range databases {
		if _, err := s.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return nil
}

// make returns the name of the database of a town that nobody has looked at yet, which it makes unless
// there is one. A town that was made halfway has another name, and so have towns of another generator
// or schema. Those of the same size are dropped before a new one is made.
func (s *Site) make(ctx context.Context) (name string, err error) {
	newest, err := migrations.Newest()
	if err != nil {
		return "", err
	}
	size := s.Town.Size()
	counts := fmt.Sprintf("%d_%d_%d_%d", size.Accounts, size.Groups, size.Posts, size.Likes)
	made := fmt.Sprintf("_%d_%d", town.Version, newest)
	name = fmt.Sprintf("town_%d_%s%s", s.config.Seed, counts, made)
	var there bool
	if err := s.admin.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&there); err != nil || there {
		return name, err
	}
	rows, err := s.admin.Query(ctx, `SELECT datname FROM pg_database WHERE datname ~ $1 AND datname !~ $2`,
		"^town_[0-9]+_"+counts+"(_[0-9]+_[0-9]+)?$", counts+made+"$")
	if err != nil {
		return name, err
	}
	old, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return name, err
	}
	if err := s.drop(ctx, old...); err != nil {
		return name, err
	}
	return name, s.makeAs(ctx, name)
}

// makeAs makes a town under the name of the database that is served, and renames it at the end.
func (s *Site) makeAs(ctx context.Context, name string) error {
	began := time.Now()
	if err := s.drop(ctx, served, rivers); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, s.cluster.URL(served))
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := migrations.Create(ctx, pool.Config().ConnConfig, "postgres"); err != nil {
		return err
	}
	if err := migrations.Primary(ctx, pool, jobs.Migrate); err != nil {
		return err
	}
	if err := s.load(ctx, pool); err != nil {
		return err
	}
	// The site does what comes of all this before it is measured.
	if err := s.serve(ctx, anywhere); err != nil {
		return err
	}
	if err := errors.Join(s.quiet(ctx, quietFirst), s.stop()); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, `VACUUM ANALYZE`); err != nil {
		return err
	}
	pool.Close()
	if err := s.drop(ctx, rivers); err != nil {
		return err
	}
	if _, err := s.admin.Exec(ctx, "ALTER DATABASE "+served+" RENAME TO "+name); err != nil {
		return err
	}
	_, err = s.admin.Exec(ctx, "CHECKPOINT")
	fmt.Fprintf(s.config.Log, "the town was made in %v\n", time.Since(began).Round(time.Second))
	return err
}

func (s *Site) load(ctx context.Context, pool *pgxpool.Pool) error {
	announcer, err := jobs.NewAnnouncer(slog.New(slog.NewTextHandler(s.config.Log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	options := timelines.DefaultOptions()
	options.HashCost.Memory, options.HashCost.Iterations = 64, 1 // thousands of people get a password
	store := timelines.Open(pool, announcer, options)
	if err := s.Town.Load(ctx, store, func(text string) { fmt.Fprintln(s.config.Log, text) }); err != nil {
		return err
	}
	for _, p := range s.Town.People() {
		if _, err := store.Accounts.ChangePassword(ctx, p.Name, Password); err != nil {
			return err
		}
	}
	return nil
}

// Directory is where a user's towns are kept. PostgreSQL does not run as root, and its user may not
// enter root's home.
func Directory() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/cache/riverbench", nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "riverbench"), err
}
