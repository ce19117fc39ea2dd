package testdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Dir returns a temporary directory that a cluster can stand in: unlike
// t.TempDir's it is short enough for a socket's path and open to the user
// PostgreSQL runs as where the tests run as root.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := makeDir()
	if err != nil {
		t.Fatalf("testdb.Dir: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("testdb.Dir: %v", err)
		}
	})
	return dir
}

// Where directories are made: in memory if there is plenty, else on disk, and not
// under os.TempDir, since TMPDIR is long on macOS and closed to others in many
// set-ups. Each test makes and deletes hundreds of files, and ext4 looks at all
// inodes deleted in the last minute before it gives another out: half a second for
// each test.
const (
	memory  = "/dev/shm"
	disk    = "/tmp"
	pattern = "riverrun-test-*"
	// plenty is how many bytes must be free in memory: a cluster of tests takes some
	// 100 MB, and a few run at once.
	plenty = 2 << 30
)

// root is the directory in which directories are made.
func root() string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(memory, &s); err == nil && uint64(s.Bavail)*uint64(s.Bsize) >= plenty {
		return memory
	}
	return disk
}

func makeDir() (string, error) {
	dir, err := os.MkdirTemp(root(), pattern)
	if errors.Is(err, fs.ErrPermission) {
		dir, err = os.MkdirTemp(disk, pattern)
	}
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// sweep removes what test binaries of this user that were killed left behind:
// directories whose cluster nobody owns any more. A young one may be about to be
// owned.
func sweep() error {
	for _, root := range []string{memory, disk} {
		dirs, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			if err := sweepOne(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // others sweep too
				return fmt.Errorf("sweep %s: %w", dir, err)
			}
		}
	}
	return nil
}

func sweepOne(dir string) error {
	path := filepath.Join(dir, "riverrun.lock")
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != os.Geteuid() || time.Since(info.ModTime()) < time.Minute {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() // only locked
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil // in use
	}
	return os.RemoveAll(dir)
}
