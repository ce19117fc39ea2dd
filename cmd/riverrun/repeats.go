package main

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"sync"
	"time"
)

// repeats is a log handler that writes a warning or an error once, and then, every so
// often, how many like it there were: during an outage each request and each round of the
// background fails in the same way. Two records are alike if their level, message and
// "error" are the same, apart from numbers in the error (ports, times). A record without an
// error is always written. For many alike it writes the last one, with "repeated" as the
// number of those it left out, so that each is counted.
//
// Rejected: samber/slog-sampling, which drops without a count.
type repeats struct {
	to    slog.Handler
	state *repeatsState // shared with the handlers made from it
}

type repeatsState struct {
	every time.Duration

	// mu guards the fields below.
	mu     sync.Mutex
	said   map[alike]*repeated
	closed bool
}

// repeatsEvery is how often a count is written. maxAlike is how many kinds are counted at a
// time; records of further kinds are written as they come.
const (
	repeatsEvery = 10 * time.Second
	maxAlike     = 200
)

type alike struct {
	level          slog.Level
	message, error string
}

// repeated counts the records of a kind that were not written.
type repeated struct {
	count int
	last  slog.Record
	to    slog.Handler // of last
	timer *time.Timer
}

func newRepeats(to slog.Handler, every time.Duration) repeats {
	return repeats{to, &repeatsState{every: every, said: map[alike]*repeated{}}}
}

// Enabled implements slog.Handler.
func (h repeats) Enabled(ctx context.Context, l slog.Level) bool { return h.to.Enabled(ctx, l) }

// WithAttrs implements slog.Handler.
func (h repeats) WithAttrs(attrs []slog.Attr) slog.Handler {
	return repeats{h.to.WithAttrs(attrs), h.state}
}

// WithGroup implements slog.Handler.
func (h repeats) WithGroup(name string) slog.Handler { return repeats{h.to.WithGroup(name), h.state} }

// Handle implements slog.Handler.
func (h repeats) Handle(ctx context.Context, r slog.Record) error {
	if kind, ok := kindOf(r); ok && h.state.count(kind, r, h.to) {
		return nil
	}
	return h.to.Handle(ctx, r)
}

var numbers = regexp.MustCompile(`\d+`)

// kindOf returns the kind of a record; false if the record is always written.
func kindOf(r slog.Record) (alike, bool) {
	if r.Level < slog.LevelWarn {
		return alike{}, false
	}
	kind := alike{level: r.Level, message: r.Message}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			kind.error = numbers.ReplaceAllString(a.Value.String(), "#")
		}
		return true
	})
	return kind, kind.error != ""
}

// count counts a record whose kind was written a moment ago; false if it must be written.
func (s *repeatsState) count(kind alike, r slog.Record, to slog.Handler) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.said[kind]; known != nil {
		known.count++
		known.last, known.to = r.Clone(), to
		return true
	}
	if !s.closed && len(s.said) < maxAlike {
		s.said[kind] = &repeated{timer: time.AfterFunc(s.every, func() { s.tell(kind) })}
	}
	return false
}

// tell writes how many of a kind there were, or forgets the kind if there were none.
func (s *repeatsState) tell(kind alike) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.said[kind]
	if known == nil {
		return
	}
	if known.count == 0 {
		delete(s.said, kind)
		return
	}
	_ = known.say() // as with any line of a log that cannot be written: nobody to tell
	known.timer.Reset(s.every)
}

// say writes the last record with the count.
func (r *repeated) say() error {
	r.last.AddAttrs(slog.Int("repeated", r.count))
	r.count = 0
	return r.to.Handle(context.Background(), r.last)
}

// close writes what is counted and counts no more.
func (h repeats) close() error {
	s := h.state
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	for kind, known := range s.said {
		known.timer.Stop()
		if known.count > 0 {
			errs = append(errs, known.say())
		}
		delete(s.said, kind)
	}
	return errors.Join(errs...)
}
