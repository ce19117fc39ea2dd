package localpg

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// told passes on what a cluster logs.
type told struct {
	slog.Handler
	lines chan string
}

func (h told) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	h.lines <- line
	return nil
}

func (h told) until(t *testing.T, text string) string {
	t.Helper()
	for {
		select {
		case line := <-h.lines:
			if strings.Contains(line, text) {
				return line
			}
		case <-time.After(time.Minute):
			t.Fatalf("nothing was logged that says %q", text)
		}
	}
}

// A server that ends by itself is started again, as often as it takes, and comes back with
// what was in it.
func TestServerIsStartedAgain(t *testing.T) {
	dir := testDir(t)
	log := told{slog.NewTextHandler(t.Output(), nil), make(chan string, 1000)}
	c, err := Start(t.Context(), Config{Dir: dir, Volatile: true, Log: slog.New(log)})
	if err != nil {
		t.Fatal(err)
	}
	first := c.cmd.Process // keep's from here on
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
	mustExec(t, c, `CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)`)
	mustExec(t, c, `CHECKPOINT`) // it is a volatile one

	// It cannot start for a while.
	path := filepath.Join(dir, "postgresql", "postgresql.conf")
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("no such setting\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := first.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if line := log.until(t, "starting PostgreSQL again"); !strings.Contains(line, "killed") {
		t.Errorf("logged %q, want it to say that the server was killed", line)
	}
	if line := log.until(t, "starting PostgreSQL again after=2s"); !strings.Contains(line, "postgresql.conf") {
		t.Errorf("logged %q, want what the server said", line)
	}
	if err := os.WriteFile(path, right, 0o600); err != nil {
		t.Fatal(err)
	}
	log.until(t, "PostgreSQL runs again")
	if got := ask[int](t, c, `SELECT n FROM kept`); got != 42 {
		t.Errorf("kept row: got %d, want 42", got)
	}
}

// A cluster whose server cannot start stops at once.
func TestStopDoesNotWaitForAStart(t *testing.T) {
	dir := testDir(t)
	log := told{slog.NewTextHandler(t.Output(), nil), make(chan string, 1000)}
	c, err := Start(t.Context(), Config{Dir: dir, Volatile: true, Log: slog.New(log)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "postgresql", "postgresql.conf"), []byte("no such setting\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	log.until(t, "starting PostgreSQL again")
	if err := c.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	again, err := acquire(t.Context(), dir)
	if err != nil {
		t.Fatalf("the data directory is still in use: %v", err)
	}
	if err := again.release(); err != nil {
		t.Error(err)
	}
}
