package localpg

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config describes a cluster to run.
type Config struct {
	// Dir is the data directory, in which the cluster keeps all its files. It is created if
	// it is missing.
	Dir string
	// Volatile gives up durability for speed. It is for clusters of tests, which are thrown
	// away.
	Volatile bool
	// Settings are added to the server's, as in postgresql.conf.
	Settings map[string]string
	// Log gets messages about everything that takes long; nil discards them.
	Log *slog.Logger
}

// Cluster is a PostgreSQL server on a socket of its own. Its methods are safe
// for concurrent use.
type Cluster struct {
	sockets string // the directory of the socket
	data    string // PGDATA; empty for a guest
	lock    *lock  // nil for a guest
	log     *slog.Logger

	// Only keep uses the rest until kept is closed.
	*server
	quit context.CancelFunc // ends keep
	kept chan struct{}
}

// server is one run of the cluster's PostgreSQL.
type server struct {
	cmd    *exec.Cmd
	stderr *tail
	done   chan struct{} // closed when it ended; nil for a guest
	exit   error         // why; to be read after done
}

// superuser is the cluster's only role. Everybody who can enter the socket's directory has
// it.
const superuser = "riverrun"

// Start creates the cluster if there is none and starts its server, which runs until Stop or
// the end of this process. If the server ends by itself, it is started again (see keep). ctx
// bounds only the start, which may have to wait for recovery after a crash. Errors:
// ErrInUse, ErrNotInstalled, ErrVersion.
func Start(ctx context.Context, cfg Config) (_ *Cluster, err error) {
	cfg, err = cfg.complete()
	if err != nil {
		return nil, err
	}
	if err := makeDataDir(cfg.Dir); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	held, err := acquire(ctx, cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, held.release())
		}
	}()
	c := &Cluster{
		sockets: socketDir(cfg.Dir),
		data:    filepath.Join(cfg.Dir, "postgresql"),
		lock:    held,
		log:     cfg.Log,
	}
	who, err := ownerOf(c.data)
	if err != nil {
		return nil, err
	}
	if err := who.reach(cfg.Dir); err != nil {
		return nil, err
	}
	programs, err := c.initialise(ctx, cfg, who)
	if err != nil {
		return nil, err
	}
	if err := who.mkdir(c.sockets); err != nil {
		return nil, fmt.Errorf("directory of the socket: %w", err)
	}
	begin := func(ctx context.Context) error {
		if err := c.evict(ctx); err != nil {
			return err
		}
		if err := c.launch(programs, cfg, who); err != nil {
			return err
		}
		return c.ready(ctx)
	}
	if err := begin(ctx); err != nil {
		if c.server != nil {
			err = errors.Join(err, c.end(syscall.SIGQUIT))
		}
		return nil, err
	}
	ctx, c.quit = context.WithCancel(context.WithoutCancel(ctx))
	c.kept = make(chan struct{})
	go c.keep(ctx, begin)
	return c, nil
}

// makeDataDir creates a missing data directory so that the server's user may pass through
// it, whatever the umask. It leaves an existing one unchanged.
func makeDataDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// Open does the same as Start, but if another process owns the data directory, it uses that
// one's server as a guest. So commands work beside a running riverrun. A guest's Stop leaves
// the server alone.
func Open(ctx context.Context, cfg Config) (*Cluster, error) {
	c, err := Start(ctx, cfg)
	if !errors.Is(err, ErrInUse) {
		return c, err
	}
	cfg, completeErr := cfg.complete()
	if completeErr != nil {
		return nil, completeErr
	}
	guest := &Cluster{sockets: socketDir(cfg.Dir), server: &server{stderr: &tail{}}, log: cfg.Log}
	// The owner may just be starting, or may hold the lock and never answer.
	ctx, cancel := context.WithTimeoutCause(ctx, guestPatience, err)
	defer cancel()
	if err := guest.ready(ctx); err != nil {
		return nil, err
	}
	return guest, nil
}

// guestPatience is how long a guest waits for its host to answer.
const guestPatience = 30 * time.Second

func (cfg Config) complete() (Config, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return cfg, fmt.Errorf("data directory: %w", err)
	}
	cfg.Dir = dir
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg, nil
}

// port is part of the name of the socket's file. Nothing listens on a network.
const port = "5432"

// maxSocket is the length in bytes of the longest path of a socket: 103 on macOS, 107 on
// Linux.
const maxSocket = 103

// socketDir returns the directory of the socket of the cluster in dir. It is within dir, or,
// if that path is too long, at a place derived from it, so that guests find it too.
func socketDir(dir string) string {
	inside := filepath.Join(dir, "socket")
	if len(filepath.Join(inside, ".s.PGSQL."+port)) <= maxSocket {
		return inside
	}
	return fmt.Sprintf("/tmp/riverrun-%x", sha256.Sum256([]byte(dir)))[:len("/tmp/riverrun-")+16]
}

// URL returns the connection string of a database in the cluster.
func (c *Cluster) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(superuser),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {c.sockets}, "port": {port}}.Encode(),
	}
	return u.String()
}

// ended returns an error that says why the server ended by itself, with its last output. It
// must be called after done is closed.
func (c *Cluster) ended() error {
	where := ""
	if _, err := os.Stat(filepath.Join(c.data, "log")); err == nil { // a volatile one has none
		where = "; its log is in " + filepath.Join(c.data, "log")
	}
	return fmt.Errorf("PostgreSQL ended by itself (%w)%s; its last output: %s", c.exit, where, c.stderr)
}

// Stop stops the server, breaks connections that are still open, and gives up the data
// directory. If ctx ends first, the server is killed and recovers at the next start. A
// second call does nothing.
func (c *Cluster) Stop(ctx context.Context) error {
	if c.lock == nil {
		return nil
	}
	c.quit()
	<-c.kept
	select {
	case <-c.done:
	default:
		if err := c.signal(syscall.SIGINT); err != nil {
			return err
		}
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if err := c.end(syscall.SIGQUIT); err != nil {
			return err
		}
	}
	if err := c.lock.release(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("give up the data directory: %w", err)
	}
	return nil
}

func (c *Cluster) signal(sig syscall.Signal) error {
	if err := c.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal PostgreSQL: %w", err)
	}
	return nil
}

// end signals the server and waits for its end.
func (c *Cluster) end(sig syscall.Signal) error {
	if err := c.signal(sig); err != nil {
		return err
	}
	<-c.done
	return nil
}

// launch starts the server as a child.
func (c *Cluster) launch(programs Programs, cfg Config, who owner) error {
	settings := map[string]string{
		"listen_addresses":        "",
		"port":                    port,
		"unix_socket_directories": c.sockets,
		"unix_socket_permissions": "0700",
	}
	if cfg.Volatile {
		settings["fsync"] = "off"
		settings["full_page_writes"] = "off"
		settings["synchronous_commit"] = "off"
	} else {
		settings["fsync"] = "on"
		// Logs are kept for a week, one file a day, in the cluster's directory log.
		settings["logging_collector"] = "on"
		settings["log_filename"] = "postgresql-%a.log"
		settings["log_truncate_on_rotation"] = "on"
		settings["log_rotation_size"] = "0"
	}
	maps.Copy(settings, cfg.Settings)
	args := []string{"-D", c.data}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	s := &server{stderr: &tail{}, done: make(chan struct{})}
	// The server outlives the context it was started with, so this is no CommandContext.
	s.cmd = exec.Command(filepath.Join(programs.Dir, "postgres"), args...)
	s.cmd.Dir = c.data
	s.cmd.Stderr = s.stderr
	s.cmd.WaitDelay = 5 * time.Second // for a backend that outlives its postmaster
	s.cmd.SysProcAttr = who.attr()
	endWithParent(s.cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		// See endWithParent. The thread is never unlocked. It ends with the goroutine, which
		// ends with the server.
		runtime.LockOSThread()
		err := s.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		if s.exit = s.cmd.Wait(); s.exit == nil {
			s.exit = errors.New("exit status 0")
		}
		close(s.done)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	c.server = s
	return nil
}

// ready waits until the server accepts connections.
func (c *Cluster) ready(ctx context.Context) error {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	report := time.NewTicker(10 * time.Second)
	defer report.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-c.done:
			return c.ended()
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL did not answer (%w): %w", err, context.Cause(ctx))
		case <-report.C:
			c.log.WarnContext(ctx, "PostgreSQL does not take connections yet; it may be recovering", "error", err)
		case <-retry.C:
		}
	}
}
