package testdb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestSweep(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	leave := func(at time.Time) (string, *os.File) {
		t.Helper()
		dir := Dir(t)
		lock, err := os.Create(filepath.Join(dir, "riverrun.lock"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { lock.Close() })
		if err := os.Chtimes(lock.Name(), at, at); err != nil {
			t.Fatal(err)
		}
		return dir, lock
	}
	abandoned, _ := leave(old)
	young, _ := leave(time.Now())
	owned, lock := leave(old)
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	for what, dir := range map[string]string{"young": young, "owned": owned} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s directory: got %v, want it left alone", what, err)
		}
	}
	if _, err := os.Stat(abandoned); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("abandoned directory: got %v, want it removed", err)
	}
}
