package blobs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// a moment is enough for a method that does not wait for a lock to go wrong. The tests below
// pass on any machine if it does wait.
const moment = 50 * time.Millisecond

func TestPutWaitsForADeletion(t *testing.T) {
	t.Parallel()
	s, d := inDirectory(t)
	at := d.path(s.put(t, "blob").path())
	unlock, err := lock(filepath.Dir(at), syscall.LOCK_EX) // as DeleteOlder does before it looks
	must(t, err)
	written, named := make(chan bool, 1), make(chan bool, 3)
	d.sync = func(file *os.File) error {
		if strings.Contains(file.Name(), "put-") {
			written <- true
		} else {
			named <- true
		}
		return nil
	}
	put := make(chan error)
	go func() {
		_, _, err := s.Put(t.Context(), strings.NewReader("blob"), 100)
		put <- err
	}()
	<-written
	select {
	case <-named:
		t.Error("Put gave the blob its name while a deletion was under way")
	case <-time.After(moment):
	}
	must(t, os.Remove(at))
	must(t, unlock())
	must(t, <-put)
	s.wants(t, "blob")
}

func TestDeleteOlderWaitsForAPutAndLooksAfterIt(t *testing.T) {
	t.Parallel()
	s, d := inDirectory(t)
	sum := s.put(t, "blob")
	s.age(time.Hour)
	at := d.path(sum.path())
	unlock, err := lock(filepath.Dir(at), syscall.LOCK_SH) // as Put does before it renames
	must(t, err)
	before := time.Now().Add(-time.Minute)
	done := make(chan bool, 1)
	go func() {
		deleted, err := s.DeleteOlder(t.Context(), sum, before)
		if deleted || err != nil {
			t.Errorf("DeleteOlder = %v, %v; want false", deleted, err)
		}
		done <- true
	}()
	select {
	case <-done:
		t.Fatal("DeleteOlder did not wait for a Put under way")
	case <-time.After(moment):
	}
	must(t, os.Chtimes(at, time.Time{}, time.Now()))
	must(t, unlock())
	<-done
	s.wants(t, "blob")
}

func TestPutSyncsTheFileBeforeItsNameAndTheFoldersAfterIt(t *testing.T) {
	t.Parallel()
	s, d := inDirectory(t)
	at := d.path(sumOf("blob").path())
	var got []string
	d.sync = func(file *os.File) error {
		name, err := filepath.Rel(d.root, file.Name())
		must(t, err)
		if strings.HasPrefix(name, "tmp/put-") {
			name = "the file"
		}
		if _, err := os.Stat(at); err == nil {
			name += ", named"
		}
		got = append(got, name)
		return nil
	}
	folder := filepath.Dir(sumOf("blob").path())
	// The second time, the folders may still be another Put's, which has not synced them.
	for round, want := range [][]string{
		{"the file", folder + ", named", folder[:2] + ", named", "., named"},
		{"the file, named", folder + ", named", folder[:2] + ", named", "., named"},
	} {
		got = nil
		s.put(t, "blob")
		if !slices.Equal(got, want) {
			t.Errorf("Put %d syncs %q, want %q", round, got, want)
		}
	}
}

func TestAFailedSyncIsAnErrorOfPut(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is broken")
	for at := range 4 {
		s, d := inDirectory(t)
		syncs := 0
		d.sync = func(*os.File) error {
			if syncs++; syncs > at {
				return broken
			}
			return nil
		}
		if _, _, err := s.Put(t.Context(), strings.NewReader("blob"), 100); !errors.Is(err, broken) {
			t.Errorf("sync %d fails: got %v, want %v", at, err, broken)
		}
		if at == 0 {
			s.wantsPaths(t, nil)
		} else {
			s.wantsPaths(t, []string{"blob"}) // an orphan, for a sweep
		}
	}
}

// PostgreSQL, as another user, may keep its data beside the files.
func TestOthersMayPassThroughTheDataDirectory(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	_, err := openDirectory(filepath.Join(data, "files"))
	must(t, err)
	info, err := os.Stat(data)
	must(t, err)
	if got := info.Mode().Perm(); got&0o011 != 0o011 {
		t.Errorf("the data directory has the mode %o", got)
	}
}

func TestOnlyTheOwnerMayReadTheDirectory(t *testing.T) {
	t.Parallel()
	s, d := inDirectory(t)
	at := d.path(s.put(t, "blob").path())
	for name, want := range map[string]os.FileMode{
		d.root: 0o700, d.path(temporary): 0o700, filepath.Dir(at): 0o700, at: 0o600,
	} {
		info, err := os.Stat(name)
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", name, got, want)
		}
	}
}
