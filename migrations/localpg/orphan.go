package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// evict deals with the postmaster.pid of an earlier owner of the data directory. The caller
// holds the directory's lock, so that owner is dead.
//
// If its server still runs, evict stops it. If the number now belongs to another process, as
// happens after a reboot and always in containers, PostgreSQL would refuse to start. The
// file cannot be removed, because it also leads PostgreSQL to shared memory that backends of
// a killed postmaster may still use. So its number is replaced by ours: a file that names
// the parent of the new server counts as stale.
func (c *Cluster) evict(ctx context.Context) error {
	path := filepath.Join(c.data, "postmaster.pid")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("what an earlier server left: %w", err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		return nil // PostgreSQL has its own words for a file it cannot read
	}
	if !alive(pid) {
		return nil
	}
	if c.serves(ctx, pid) {
		c.log.WarnContext(ctx, "stopping a server that outlived its riverrun", "pid", pid)
		return stopOrphan(ctx, pid)
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, "%d\n%s", os.Getpid(), rest), 0o600); err != nil {
		return fmt.Errorf("what an earlier server left: %w", err)
	}
	return nil
}

// alive reports whether there is a process pid, even if we may not signal it.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// serves reports whether process pid is a server of this cluster, by its
// command line.
func (c *Cluster) serves(ctx context.Context, pid int) bool {
	var command string
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		command = strings.ReplaceAll(string(raw), "\x00", " ")
	} else {
		out, err := exec.CommandContext(ctx, "ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
		if err != nil {
			return false
		}
		command = string(out)
	}
	return strings.Contains(command, "postgres -D "+c.data+" ")
}

// orphanPatience is how long an orphan may take to end in good order.
const orphanPatience = 30 * time.Second

// stopOrphan ends a server that is not our child and waits for its end.
func stopOrphan(ctx context.Context, pid int) error {
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the server that outlived its riverrun (process %d): %w", pid, err)
	}
	hard := time.NewTimer(orphanPatience)
	defer hard.Stop()
	check := time.NewTicker(20 * time.Millisecond)
	defer check.Stop()
	for alive(pid) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop the server that outlived its riverrun (process %d): %w", pid, context.Cause(ctx))
		case <-hard.C:
			if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("stop the server that outlived its riverrun (process %d): %w", pid, err)
			}
		case <-check.C:
		}
	}
	return nil
}
