package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress is one line with the progress of a command. It shows only on a terminal and
// changes a few times a second.
type progress struct {
	w     io.Writer // nil: nobody watches
	shown time.Time
	drawn bool
}

func newProgress(w io.Writer) *progress {
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return &progress{w: w}
	}
	return &progress{}
}

const redrawEvery = 200 * time.Millisecond

func (p *progress) show(format string, args ...any) {
	if p.w == nil || time.Since(p.shown) < redrawEvery {
		return
	}
	p.shown, p.drawn = time.Now(), true
	// To the line's beginning, the text, and away with what is left of the old one.
	fmt.Fprintf(p.w, "\r"+format+"\x1b[K", args...)
}

// clear makes room for other output.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.drawn = false
}
