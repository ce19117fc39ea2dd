package site

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// The server ends with riverbench, not with the thread that asked for it.
func TestTheServerOutlivesAThread(t *testing.T) {
	program := filepath.Join(t.TempDir(), "riverrun")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho riverrun serves http://here\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var s *server
	thread, err := 0, error(nil)
	started := make(chan struct{})
	var begin func()
	begin = func() {
		runtime.LockOSThread() // and the thread ends with the goroutine
		if thread = syscall.Gettid(); thread == os.Getpid() {
			// The first thread of a process never ends: another one, while this one is taken.
			another := make(chan struct{})
			go func() { defer close(another); begin() }()
			<-another
			return
		}
		defer close(started)
		s, err = start(t.Context(), Config{Riverrun: program, Dir: t.TempDir(), Log: t.Output()}, "postgres://nowhere", anywhere)
	}
	go begin()
	<-started
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(thread)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		<-tick.C
	}
	// A signal that had ended it before would be named instead of this one.
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err == nil || err.Error() != "riverrun serve: signal: killed" || s.url != "http://here" {
		t.Errorf("got %v of the server at %q, want that it was killed", err, s.url)
	}
}
