package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrInUse says that another process owns the data directory. The error that wraps it names
// the process.
var ErrInUse = errors.New("the data directory is in use")

// lock is the ownership of a data directory, held from acquire to release or
// to the end of the process.
type lock struct{ file *os.File }

// acquire takes the ownership of dir, or returns an error that names its owner. The file is
// never removed, because a lock on an unlinked file excludes nobody.
func acquire(ctx context.Context, dir string) (*lock, error) {
	path := filepath.Join(dir, "riverrun.lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if err := flock(ctx, file); err != nil {
		defer file.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return nil, fmt.Errorf("%w: %s runs with %s", ErrInUse, ownerIn(file), dir)
	}
	owner := fmt.Sprintf(ownerForm+"(%s)\n", os.Getpid(), strings.Join(commandName(os.Args), " "))
	if err := errors.Join(file.Truncate(0), write(file, owner)); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &lock{file: file}, nil
}

// afterKill is how long a lock is waited for whose owner does not live any more.
const afterKill = 3 * time.Second

// flock locks a file for this process alone. A process that is killed while it starts a program
// leaves its lock to that for the moment until the program begins.
func flock(ctx context.Context, file *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, afterKill)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || !isDead(ownerIn(file)) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-again.C:
		}
	}
}

// isDead reports whether the owner that a lock names is a process that has ended.
func isDead(owner string) bool {
	var pid int
	if _, err := fmt.Sscanf(owner, ownerForm, &pid); err != nil {
		return false
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// ownerForm is how an owner's name begins.
const ownerForm = "process %d "

// Running reports whether a process owns dir, even one of another user, and which.
func Running(dir string) (owner string, running bool) {
	file, err := os.Open(filepath.Join(dir, "riverrun.lock"))
	if err != nil {
		return "", false // none has ever run there, or not so that we may know
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return "", false
	}
	return ownerIn(file), true
}

// ownerIn returns what the owner of a lock wrote into it.
func ownerIn(file *os.File) string {
	owner, err := io.ReadAll(io.NewSectionReader(file, 0, 200))
	if err != nil || len(owner) == 0 {
		return "another process"
	}
	return strings.TrimSpace(string(owner))
}

func write(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// commandName returns the program and its subcommand. Later arguments may be private.
func commandName(args []string) []string {
	name := []string{filepath.Base(args[0])}
	if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		name = append(name, args[1])
	}
	return name
}

func (l *lock) release() error { return l.file.Close() }
