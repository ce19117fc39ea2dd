package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// written is a log that tests wait for.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	select {
	case w.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (w *written) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Split(strings.TrimSuffix(w.text.String(), "\n"), "\n")
}

func newWritten() (*written, slog.Handler) {
	w := &written{more: make(chan struct{}, 1)}
	return w, slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
}

// An outage is told once, then counted; nothing is left uncounted in the end.
func TestRepeatedErrorsAreCounted(t *testing.T) {
	w, to := newWritten()
	h := newRepeats(to, time.Hour)
	log := slog.New(h)
	for i := range 700 {
		log.With("node", 1).Error("request failed", "code", i, "error", fmt.Errorf("read tcp 127.0.0.1:%d->127.0.0.1:5432: reset", 40000+i))
	}
	log.Error("request failed", "error", errors.New("something else"))
	log.Warn("request failed", "error", errors.New("something else"))
	for range 2 {
		log.Error("without an error")
		log.Info("request", "error", errors.New("of no weight"))
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		log.Error("request failed", "error", errors.New("after the end"))
	}
	want := []string{
		`level=ERROR msg="request failed" node=1 code=0 error="read tcp 127.0.0.1:40000->127.0.0.1:5432: reset"`,
		`level=ERROR msg="request failed" error="something else"`,
		`level=WARN msg="request failed" error="something else"`,
		`level=ERROR msg="without an error"`, `level=INFO msg=request error="of no weight"`,
		`level=ERROR msg="without an error"`, `level=INFO msg=request error="of no weight"`,
		`level=ERROR msg="request failed" node=1 code=699 error="read tcp 127.0.0.1:40699->127.0.0.1:5432: reset" repeated=699`,
		`level=ERROR msg="request failed" error="after the end"`, `level=ERROR msg="request failed" error="after the end"`,
	}
	if got := w.lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The count is said while the outage lasts, and what comes after a quiet time is said anew.
func TestRepeatedErrorsAreToldWhileTheyLast(t *testing.T) {
	w, to := newWritten()
	h := newRepeats(to, 10*time.Millisecond)
	log := slog.New(h)
	fail := func() { log.Error("failed", "error", errors.New("away")) }
	fail()
	<-w.more
	fail()
	<-w.more
	if got := w.lines(); len(got) != 2 || got[1] != `level=ERROR msg=failed error=away repeated=1` && got[1] != got[0] {
		t.Errorf("got %q", got)
	}
	for quiet := false; !quiet; {
		h.state.mu.Lock()
		quiet = len(h.state.said) == 0
		h.state.mu.Unlock()
	}
	fail()
	<-w.more
	if got := w.lines(); got[len(got)-1] != `level=ERROR msg=failed error=away` {
		t.Errorf("after a quiet time: got %q", got)
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
}

// However many kinds of errors there are, few are remembered, and all are said.
func TestRepeatedErrorsAreBounded(t *testing.T) {
	w, to := newWritten()
	h := newRepeats(to, time.Hour)
	log := slog.New(h)
	for i := range 3 * maxAlike {
		log.Error(fmt.Sprintf("failed %d", i), "error", errors.New("away"))
	}
	if n := len(h.state.said); n != maxAlike {
		t.Errorf("%d kinds are remembered, want %d", n, maxAlike)
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	if n := len(w.lines()); n != 3*maxAlike {
		t.Errorf("%d lines, want %d", n, 3*maxAlike)
	}
}
