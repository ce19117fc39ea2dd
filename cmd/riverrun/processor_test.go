package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// processorOf returns the processor time that a process has taken, and with its children that of those that
// live and those that ended. The kernel must be Linux.
func processorOf(t testing.TB, process int, children bool) time.Duration {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var ticks int64
	for _, file := range processes {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// The fields after the name, which stands in brackets: state, parent, ...
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid, parent := filepath.Base(filepath.Dir(file)), fields[1]
		times := fields[11:13] // user, system
		switch self := strconv.Itoa(process); {
		case pid == self && children:
			times = fields[11:15] // and those of ended children
		case pid == self:
		case parent == self && children:
		default:
			continue
		}
		for _, part := range times {
			n, err := strconv.ParseInt(part, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			ticks += n
		}
	}
	const second = 100 // the kernel's unit, the same on all machines
	return time.Duration(ticks) * time.Second / second
}

// postmasterOf returns the process of the PostgreSQL that stands in a data directory.
func postmasterOf(t testing.TB, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "postgresql", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
