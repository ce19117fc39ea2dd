package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// childDir, when set, makes the test binary a riverrun that is killed: it starts
// the cluster there, says so and waits.
const childDir = "LOCALPG_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if _, err := Start(context.Background(), Config{Dir: dir, Volatile: true}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("started")
		select {}
	}
	os.Exit(m.Run())
}

// testDir is short enough for a socket and open to the user a root's server runs
// as; t.TempDir is neither.
func testDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "riverrun-localpg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func start(t *testing.T, dir string) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), Config{Dir: dir, Volatile: true})
	if err != nil {
		t.Fatalf("Start(%s): %v", dir, err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
	return c
}

func ask[T any](t *testing.T, c *Cluster, sql string) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	got, err := pgx.CollectOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return got
}

// TestCluster follows one data directory through what befalls it: initdb takes
// most of the time, so all share one.
func TestCluster(t *testing.T) {
	whole := t // the clusters outlive the subtests that start them
	dir := testDir(t)
	c := start(t, dir)

	for setting, want := range map[string]string{"listen_addresses": "", "fsync": "off", "server_encoding": "UTF8"} {
		if got := ask[string](t, c, "SHOW "+setting); got != want {
			t.Errorf("%s: got %q, want %q", setting, got, want)
		}
	}
	if got, want := ask[string](t, c, `SELECT lower('РЕКА')`), "река"; got != want {
		t.Errorf("lower('РЕКА'): got %q, want %q", got, want)
	}
	if info, err := os.Stat(filepath.Join(dir, "socket")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory of the socket: got mode %v (%v), want 0700", info.Mode(), err)
	}

	t.Run("owned once", func(t *testing.T) {
		_, err := Start(t.Context(), Config{Dir: dir})
		if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("process %d (", os.Getpid())) {
			t.Errorf("Start of an owned directory: got %v, want ErrInUse that names process %d", err, os.Getpid())
		}
		guest, err := Open(t.Context(), Config{Dir: dir})
		if err != nil {
			t.Fatalf("Open of an owned directory: %v", err)
		}
		if got := ask[int](t, guest, `SELECT 1`); got != 1 {
			t.Errorf("a guest's question: got %d, want 1", got)
		}
		if err := guest.Stop(t.Context()); err != nil {
			t.Errorf("a guest's Stop: %v", err)
		}
		if got := ask[int](t, c, `SELECT 2`); got != 2 {
			t.Errorf("after the guest's Stop: got %d, want 2", got)
		}
	})

	t.Run("comes back with its data", func(t *testing.T) {
		mustExec(t, c, `CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)`)
		for range 2 {
			if err := c.Stop(t.Context()); err != nil {
				t.Fatalf("Stop: %v", err)
			}
		}
		c = start(whole, dir)
		if got := ask[int](t, c, `SELECT n FROM kept`); got != 42 {
			t.Errorf("kept row: got %d, want 42", got)
		}
	})

	t.Run("stops when its server has ended", func(t *testing.T) {
		server := c.server
		if err := server.cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-server.done
		if err := c.Stop(t.Context()); err != nil {
			t.Errorf("Stop of a dead server: %v", err)
		}
	})

	t.Run("starts over a pid that is somebody else's now", func(t *testing.T) {
		who, err := ownerOf(filepath.Join(dir, "postgresql"))
		if err != nil {
			t.Fatal(err)
		}
		other := exec.CommandContext(t.Context(), "sleep", "600")
		other.SysProcAttr = who.attr()
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = other.Process.Kill(), other.Wait() }()
		path := filepath.Join(dir, "postgresql", "postmaster.pid")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("a killed server leaves its postmaster.pid: %v", err)
		}
		_, rest, _ := strings.Cut(string(text), "\n")
		if err := os.WriteFile(path, []byte(fmt.Sprintf("%d\n%s", other.Process.Pid, rest)), 0o600); err != nil {
			t.Fatal(err)
		}
		c = start(whole, dir)
		if !alive(other.Process.Pid) {
			t.Errorf("process %d, which is none of ours, was ended", other.Process.Pid)
		}
		if err := c.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("stops an orphan", func(t *testing.T) {
		c = start(whole, dir)
		args, attr := c.cmd.Args, *c.cmd.SysProcAttr
		if err := c.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The same server without the lock and without a parent that it would end
		// with: what is left where the kernel offers no such bond.
		attr = syscall.SysProcAttr{Setpgid: attr.Setpgid, Credential: attr.Credential}
		orphan := exec.Command(args[0], args[1:]...)
		orphan.SysProcAttr = &attr
		orphan.Dir = c.data
		if err := orphan.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- orphan.Wait() }()
		guest := &Cluster{sockets: c.sockets, server: &server{}, log: c.log}
		if err := guest.ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		c = start(whole, dir)
		if err := <-ended; err != nil {
			t.Errorf("the orphan's end: got %v, want a good one", err)
		}
		if err := c.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("follows a riverrun that was killed", func(t *testing.T) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childDir+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1000)
		n, err := out.Read(buf)
		if got := strings.TrimSpace(string(buf[:n])); got != "started" {
			t.Fatalf("child: got %q (%v), want started", got, err)
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := child.Wait(); err == nil {
			t.Error("a killed child ended well")
		}
		c = start(whole, dir)
		if got := ask[int](t, c, `SELECT n FROM kept`); got != 42 {
			t.Errorf("kept row: got %d, want 42", got)
		}
		if err := c.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("refuses another version's data", func(t *testing.T) {
		version := filepath.Join(dir, "postgresql", "PG_VERSION")
		if err := os.WriteFile(version, []byte("99\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Start(t.Context(), Config{Dir: dir})
		if !errors.Is(err, ErrVersion) {
			t.Errorf("Start over version 99: got %v, want ErrVersion", err)
		}
		// The failed start gave the directory back.
		if _, err := Start(t.Context(), Config{Dir: dir}); errors.Is(err, ErrInUse) {
			t.Errorf("Start after a failed one: got %v", err)
		}
	})
}

func mustExec(t *testing.T, c *Cluster, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestDurable(t *testing.T) {
	dir := testDir(t)
	c, err := Start(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "data_checksums": "on"} {
		if got := ask[string](t, c, "SHOW "+setting); got != want {
			t.Errorf("%s: got %q, want %q", setting, got, want)
		}
	}
	const known = `SELECT EXISTS (SELECT FROM pg_file_settings WHERE name = 'effective_cache_size' AND applied)`
	if !ask[bool](t, c, known) {
		t.Error("the settings do not regard the machine's memory")
	}
	// A Stop without time to spare ends the server all the same.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Stop(ended); err != nil {
		t.Errorf("hasty Stop: %v", err)
	}
	<-c.done
}

func TestReach(t *testing.T) {
	if os.Geteuid() != 0 {
		who, err := ownerOf("/nowhere")
		if err != nil || who.drop {
			t.Errorf("ownerOf as an ordinary user: got %+v (%v), want nobody else", who, err)
		}
		return
	}
	dir := testDir(t)
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Config{Dir: filepath.Join(closed, "data")})
	if err == nil || !strings.Contains(err.Error(), "chmod o+x "+closed) {
		t.Errorf("Start under a closed directory: got %v, want one that names %s", err, closed)
	}
}
