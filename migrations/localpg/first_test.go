package localpg

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// A riverrun may be killed at any moment of its very first start. The next start does not wait
// for what the killed one left running, and serves.
func TestKilledAtTheFirstStart(t *testing.T) {
	// How many files and directories there are when the process is killed. A cluster has
	// about a thousand. One run tries two of them, chosen by chance.
	moments := []int{2, 10, 40, 300, 960}
	rand.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
	for _, files := range moments[:2] {
		t.Run(strconv.Itoa(files), func(t *testing.T) {
			dir := testDir(t)
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), childDir+"="+dir)
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			untilFiles(t, dir, files)
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := child.Wait(); err == nil {
				t.Error("a killed child ended well")
			}
			c := start(t, dir)
			mustExec(t, c, `CREATE DATABASE whole`)
			if got, want := ask[string](t, c, `SELECT lower('РЕКА')`), "река"; got != want {
				t.Errorf("lower('РЕКА'): got %q, want %q", got, want)
			}
			if err := c.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			// Anything that was left is gone when the next start is done, at the latest.
			c = start(t, dir)
			if err := c.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "postgresql.*")); err != nil || len(left) != 0 {
				t.Errorf("left beside the cluster: %q (%v), want nothing", left, err)
			}
		})
	}
}

// A start that was killed between the two steps in which root makes a directory for the
// server's user does not keep later ones from using it.
func TestDirectoryOfAKilledStart(t *testing.T) {
	dir := filepath.Join(testDir(t), "socket")
	who, err := ownerOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := who.mkdir(dir); err != nil {
			t.Fatalf("mkdir: %v", err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := int(info.Sys().(*syscall.Stat_t).Uid); got != who.uid {
		t.Errorf("owner: got %d, want %d", got, who.uid)
	}
}

// untilFiles waits until there are n files and directories below dir.
func untilFiles(t *testing.T, dir string, n int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		found := 0
		err := filepath.WalkDir(dir, func(string, fs.DirEntry, error) error {
			found++
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if found > n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %d files in %s; there are %d", n, dir, found)
		}
	}
}
