package main

import "testing"

// A text of a report cannot steer the terminal that shows it.
func TestPlainLines(t *testing.T) {
	if got, want := plainLines("a\x1b[2Jb\r\u009bc\nd"), "a [2Jb  c\n\td"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
