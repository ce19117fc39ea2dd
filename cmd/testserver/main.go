// Testserver keeps a PostgreSQL for tests between calls of make quick, which would otherwise
// start one each time. It ends by itself when no test has used it for half an hour.
//
//	testserver start   starts it if it does not run, and prints its address
//	testserver stop    ends it, with all its files
//
// Its files are in the user's cache directory; root's are in /var/cache, as the user that
// root's PostgreSQL runs as may not enter root's home.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/localpg"
	"riverrun/migrations/testdb"
)

// idle is how long the server stays when nobody uses it.
const idle = 30 * time.Minute

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "testserver:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	dir, err := directory()
	if err != nil {
		return err
	}
	switch strings.Join(args, " ") {
	case "start":
		return start(dir)
	case "serve":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		return serve(ctx, dir)
	case "stop":
		return stop(dir)
	}
	return errors.New("want start or stop")
}

func directory() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/cache/riverrun-testserver", nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "riverrun-testserver"), err
}

// start starts a process that serves, and prints the address that it says. A process that
// finds another one serving says that one's address and ends, so two starts at once are fine.
func start(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	// Its errors go to a file. If it held make's output open, a pipe behind make would wait for
	// its end.
	log, err := os.OpenFile(filepath.Join(dir, "testserver.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	server := exec.Command(self, "serve")
	server.Stderr = log
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives make and its terminal
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("the server did not start; see %s", log.Name()), server.Wait())
	}
	fmt.Print(address)
	return nil
}

// serve runs the server until ctx ends or nobody has used it for a while.
func serve(ctx context.Context, dir string) error {
	cluster, err := localpg.Start(ctx, testdb.Config(dir))
	if errors.Is(err, localpg.ErrInUse) {
		if cluster, err = localpg.Open(ctx, testdb.Config(dir)); err == nil {
			fmt.Println(cluster.URL("postgres"))
		}
		return err
	}
	if err != nil {
		return err
	}
	fmt.Println(cluster.URL("postgres"))
	err = untilIdle(ctx, cluster.URL("postgres"))
	return errors.Join(err, cluster.Stop(context.WithoutCancel(ctx)), os.RemoveAll(filepath.Join(dir, "postgresql")))
}

// untilIdle returns when ctx ends, or when there has been no new session for a while and none
// is open.
func untilIdle(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	look := time.NewTicker(time.Minute)
	defer look.Stop()
	used, sessions := time.Now(), int64(-1)
	for time.Since(used) < idle {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		var seen int64
		var open bool
		if err := conn.QueryRow(ctx, `
			SELECT sum(sessions)::bigint, EXISTS (SELECT FROM pg_stat_activity
				WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())
			FROM pg_stat_database`).Scan(&seen, &open); err != nil {
			return err
		}
		if open || seen != sessions {
			used, sessions = time.Now(), seen
		}
	}
	return nil
}

// stop ends the process that serves, and waits for its end.
func stop(dir string) error {
	owner, running := localpg.Running(dir)
	if !running {
		return nil
	}
	var pid int
	if _, err := fmt.Sscanf(owner, "process %d ", &pid); err != nil {
		return fmt.Errorf("%s runs with %s", owner, dir)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(30 * time.Second); running; <-look.C {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not end", owner)
		}
		_, running = localpg.Running(dir)
	}
	return nil
}
