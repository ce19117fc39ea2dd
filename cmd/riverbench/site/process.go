package site

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the kernel's unit of processor time, the same on all machines.
const tick = time.Second / 100

// processor returns the processor time that a process has taken; with its children also that of
// those that live and those that ended. The kernel must be Linux.
func processor(process int, children bool) (time.Duration, error) {
	files := []string{fmt.Sprintf("/proc/%d/stat", process)}
	if children {
		all, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil {
			return 0, err
		}
		files = all
	}
	self, ticks := strconv.Itoa(process), int64(0)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if children && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)) {
			continue // it has ended
		}
		if err != nil {
			return 0, err
		}
		// The fields after the name, which stands in brackets: state, parent, ...
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		times := fields[11:13] // user, system
		switch {
		case filepath.Base(filepath.Dir(file)) == self && children:
			times = fields[11:15] // and those of ended children
		case filepath.Base(filepath.Dir(file)) != self && fields[1] != self:
			continue
		}
		for _, part := range times {
			n, err := strconv.ParseInt(part, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", file, err)
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * tick, nil
}

// memory returns how many bytes of a process are in memory.
func memory(process int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/%d/statm: %q", process, text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// own returns the processor time that this process has taken.
func own() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
