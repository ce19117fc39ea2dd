package localpg

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A killed process leaves its lock, for a moment, to the program that it was starting. The next
// start waits for that moment, and for no owner that lives.
func TestLockOfAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	left, err := os.Create(filepath.Join(dir, "riverrun.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer left.Close()
	if err := syscall.Flock(int(left.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	owned := func(pid int) {
		t.Helper()
		if err := write(left, fmt.Sprintf(ownerForm+"(riverrun serve)\n", pid)); err != nil {
			t.Fatal(err)
		}
	}
	owned(os.Getpid())
	if _, err := acquire(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "riverrun serve") {
		t.Fatalf("a lock whose owner lives: got %v, want an error that names it", err)
	}
	if err := left.Truncate(0); err != nil {
		t.Fatal(err)
	}
	owned(dead.Process.Pid)
	time.AfterFunc(100*time.Millisecond, func() { left.Close() })
	l, err := acquire(t.Context(), dir)
	if err != nil {
		t.Fatalf("a lock whose owner is dead: %v", err)
	}
	if err := l.release(); err != nil {
		t.Error(err)
	}
}
