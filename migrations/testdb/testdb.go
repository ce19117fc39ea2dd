// Package testdb gives each test two empty databases, migrated, in a real
// PostgreSQL. Nothing is skipped: without PostgreSQL the tests fail and say how
// to install it.
//
// Main starts one throw-away cluster per test binary, on a socket in a
// temporary directory, and removes it at the end. It is volatile (fsync,
// full_page_writes and synchronous_commit are off): what a test shows about
// durability, it shows about our statements, not about the disk. In it the
// schemas are applied once, to two templates; New copies them file by file. A pair
// that a test leaves in order is emptied and serves the next one (reuse.go):
// new databases and connections take longer than most tests.
//
// RIVERRUN_TEST_DATABASE_URL names a server to use instead; its role must be
// allowed to create databases. There, too, everything made is dropped. make quick
// sets it to a server that stays between calls (cmd/testserver).
package testdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations"
	"riverrun/migrations/localpg"
)

// DB is a test's own pair of stores.
type DB struct {
	Primary, Secondary       *pgxpool.Pool
	PrimaryURL, SecondaryURL string
}

// server is where the databases are made: one per test binary.
type server struct {
	url    string // of a database that always exists
	prefix string // of the names of all databases of this binary

	templates [2]template // of the primary and of the secondary store

	mu    sync.Mutex // guards what follows
	admin *pgx.Conn
	n     int
	free  []*DB                      // emptied
	spare map[string][]*pgxpool.Pool // of Open, by address
}

// running is what Main started. It is the one global: testing offers no way to
// hand a value from TestMain to tests.
var running *server

// Main runs the tests with a server to make databases in, calls what is to be done after
// the last of them, and exits. A package's TestMain calls it and does nothing after.
func Main(m *testing.M, after ...func() error) {
	os.Exit(run(m, after))
}

func run(m *testing.M, after []func() error) (code int) {
	ctx := context.Background()
	fail := func(doing string, err error) {
		fmt.Fprintf(os.Stderr, "testdb: %s: %v\n", doing, err)
		code = 1
	}
	address := os.Getenv("RIVERRUN_TEST_DATABASE_URL")
	if address == "" {
		cluster, dir, err := startCluster(ctx)
		if err != nil {
			fail("start PostgreSQL", err)
			return code
		}
		defer func() {
			if err := cluster.Stop(ctx); err != nil {
				fail("stop PostgreSQL", err)
			}
			if err := os.RemoveAll(dir); err != nil {
				fail("clean up", err)
			}
		}()
		address = cluster.URL("postgres")
	}
	s, err := connect(ctx, address)
	if err != nil {
		fail("prepare the templates", err)
		return code
	}
	defer func() {
		if err := s.close(ctx); err != nil {
			fail("drop the templates", err)
		}
	}()
	running = s
	code = m.Run()
	for _, end := range after {
		if err := end(); err != nil {
			fail("after the tests", err)
		}
	}
	return code
}

func startCluster(ctx context.Context) (_ *localpg.Cluster, dir string, err error) {
	if err := sweep(); err != nil {
		return nil, "", err
	}
	dir, err = makeDir()
	if err != nil {
		return nil, "", err
	}
	cluster, err := localpg.Start(ctx, Config(dir))
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(dir))
	}
	return cluster, dir, nil
}

// Config is that of a cluster for tests.
func Config(dir string) localpg.Config {
	return localpg.Config{
		Dir:      dir,
		Volatile: true,
		Settings: map[string]string{
			"max_connections": "300", // many tests at once, a pool or two each
			// Some tests count statements where the server counts them.
			"shared_preload_libraries": "pg_stat_statements",
			"autovacuum":               "off", // no database here lives long enough
			"jit":                      "off", // as on every connection of riverrun
		},
	}
}

// connect opens the server and makes the templates.
func connect(ctx context.Context, address string) (*server, error) {
	admin, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	s := &server{url: address, admin: admin, prefix: "riverrun_test_" + strings.ToLower(rand.Text()[:8]), spare: map[string][]*pgxpool.Pool{}}
	for i, migrate := range []func(context.Context, *pgxpool.Pool) error{
		func(ctx context.Context, pool *pgxpool.Pool) error { return migrations.Primary(ctx, pool) },
		migrations.Secondary,
	} {
		var err error
		if s.templates[i], err = s.makeTemplate(ctx, s.prefix+stores[i], migrate); err != nil {
			return nil, errors.Join(err, s.close(ctx))
		}
	}
	return s, nil
}

// stores are the endings of the names of a pair's databases.
var stores = [2]string{"_primary", "_secondary"}

func (s *server) makeTemplate(ctx context.Context, name string, migrate func(context.Context, *pgxpool.Pool) error) (template, error) {
	if _, err := s.admin.Exec(ctx, "CREATE DATABASE "+quote(name)); err != nil {
		return template{}, err
	}
	pool, err := pgxpool.New(ctx, s.urlOf(name))
	if err != nil {
		return template{}, err
	}
	defer pool.Close() // a template with a connection open cannot be copied
	if err := migrate(ctx, pool); err != nil {
		return template{}, err
	}
	return describe(ctx, pool)
}

func (s *server) close(ctx context.Context) error {
	var errs []error
	for _, db := range s.free {
		for _, pool := range append(s.pools(db, db.PrimaryURL), s.pools(db, db.SecondaryURL)...) {
			pool.Close()
		}
		errs = append(errs, s.drop(ctx, db))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, store := range stores {
		_, err := s.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+quote(s.prefix+store))
		errs = append(errs, err)
	}
	return errors.Join(append(errs, s.admin.Close(ctx))...)
}

// copyTemplates makes the next pair of databases.
func (s *server) copyTemplates(ctx context.Context) (primary, secondary string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	primary = fmt.Sprintf("%s_%d%s", s.prefix, s.n, stores[0])
	secondary = fmt.Sprintf("%s_%d%s", s.prefix, s.n, stores[1])
	for name, template := range map[string]string{primary: s.prefix + stores[0], secondary: s.prefix + stores[1]} {
		if _, err := s.admin.Exec(ctx, "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(template)+" STRATEGY FILE_COPY"); err != nil {
			return "", "", err
		}
	}
	return primary, secondary, nil
}

func (s *server) drop(ctx context.Context, db *DB) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.spare, db.PrimaryURL)
	delete(s.spare, db.SecondaryURL)
	var errs []error
	for _, pool := range []*pgxpool.Pool{db.Primary, db.Secondary} {
		_, err := s.admin.Exec(ctx, "DROP DATABASE "+quote(pool.Config().ConnConfig.Database)+" WITH (FORCE)")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *server) urlOf(database string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		panic(err) // pgx connected with it
	}
	u.Path = "/" + database
	return u.String()
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// New returns two databases of t's own, migrated and empty, with a pool to each.
// They are emptied or dropped when t and its subtests are done. It may be called
// from parallel tests. The job queue's tables are not in them: jobs.Migrate
// makes those where a test needs them.
func New(t testing.TB) *DB {
	t.Helper()
	if running == nil {
		t.Fatal("testdb.New: this package's TestMain does not call testdb.Main")
	}
	ctx := context.Background()
	db := running.take()
	if db == nil {
		primary, secondary, err := running.copyTemplates(ctx)
		if err != nil {
			t.Fatalf("testdb.New: %v", err)
		}
		db = &DB{PrimaryURL: running.urlOf(primary), SecondaryURL: running.urlOf(secondary)}
		db.Primary, db.Secondary = newPool(t, db.PrimaryURL), newPool(t, db.SecondaryURL)
	}
	t.Cleanup(func() { running.giveBack(ctx, t, db) })
	return db
}

// Open returns another pool to a database of t's, with connections enough for
// tests that hold several back; t has it until it is done. The test of the pair may get
// the pool of an earlier one.
func Open(t testing.TB, address string) *pgxpool.Pool {
	t.Helper()
	pool := running.takePool(address)
	if pool == nil {
		pool = newPool(t, address)
	}
	t.Cleanup(func() { running.givePool(t, address, pool) })
	return pool
}

func newPool(t testing.TB, address string) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatalf("testdb: open %q: %v", address, err)
	}
	cfg.MaxConns = 16
	cfg.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan" // as on every connection of riverrun
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		t.Fatalf("testdb: open %q: %v", address, err)
	}
	return pool
}

// closePatience is how long a test's connections may take to come back at its
// end; a connection that never does is a leak, and is reported as one.
const closePatience = 10 * time.Second

func closePool(t testing.TB, pool *pgxpool.Pool) {
	closed := make(chan struct{})
	go func() {
		pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closePatience):
		t.Errorf("testdb: %d connections were never given back", pool.Stat().AcquiredConns())
	}
}
